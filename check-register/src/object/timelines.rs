//! Timelines as figures: one for the object, or for each of its parts that is not linearizable.

use super::prose::{Story, shortened};
use super::recorded::Recorded;
use crate::engine::ids::OpId;
use crate::history::Columns;
use crate::models::Spec;
use crate::{Answer, Outcome, PartAnswer};
use history_core::figure::{BARS_MAX, Bar, BarStatus, Content, Figure, ORDERS_MAX, Order, Scale, Timeline, window};
use history_core::{Artifact, Budget, Client};
use std::fmt::Write as _;

/// Timelines, at the most. Parts that are not linearizable come first.
const PAGES_MAX: usize = 8;

/// Bytes of a linearization as text, at most.
const LISTING_BYTES_MAX: usize = 32 << 20;

/// The timelines of an answer, and its linearizations as text.
pub(super) fn of<S: Spec>(
    model: &S,
    columns: &Columns<S::Op>,
    recorded: &Recorded,
    answer: &Answer,
) -> (Vec<Figure>, Vec<Artifact>) {
    let refused = answer.parts.iter().filter(|part| matches!(part.outcome, Outcome::Refused(_)));
    let linearizable = answer.parts.iter().filter(|part| matches!(part.outcome, Outcome::Linearizable(_)));
    let pages = Pages { model, columns, recorded };
    let named = |what: &str, part: &PartAnswer| {
        part.part.as_ref().map_or_else(|| what.to_owned(), |part| format!("{what} {part}"))
    };
    let figure = |part: &PartAnswer| {
        let content = Content::Timeline(Box::new(pages.timeline(part)?));
        Some(Figure { name: named("timeline", part), content })
    };
    let order = |part: &PartAnswer| {
        let Outcome::Linearizable(order) = &part.outcome else { return None };
        let path = format!("{}.txt", named("linearization", part));
        Some(Artifact { path, content: pages.listing(order).into() })
    };
    let orders = answer.parts.iter().filter_map(order).take(PAGES_MAX).collect();
    (refused.chain(linearizable).take(PAGES_MAX).filter_map(figure).collect(), orders)
}

struct Pages<'a, S: Spec> {
    model: &'a S,
    columns: &'a Columns<S::Op>,
    recorded: &'a Recorded,
}

impl<S: Spec> Pages<'_, S> {
    /// The page of a part, if there is anything to show.
    fn timeline(&self, part: &PartAnswer) -> Option<Timeline> {
        let (orders, refused): (Vec<&[usize]>, Option<usize>) = match &part.outcome {
            Outcome::Linearizable(order) => (vec![order], None),
            Outcome::Refused(refusal) => {
                (refusal.ends.iter().take(ORDERS_MAX).map(|end| &end.order[..]).collect(), Some(refusal.op))
            }
            Outcome::Unknown(_) => return None,
        };
        // The operations of this part: it is told by those that were placed or refused, which name it.
        let part_of = |op: usize| self.columns.op(OpId::new(op)).and_then(|op| self.model.part(op));
        let some = refused.or_else(|| orders.first().and_then(|order| order.first().copied()))?;
        let wanted = part.part.as_ref().and_then(|_| part_of(some));
        let ops: Vec<u32> = (0..self.recorded.len())
            .filter(|op| self.columns.op(OpId::new(*op)).is_some() && (wanted.is_none() || part_of(*op) == wanted))
            .map(|op| op as u32)
            .collect();
        let position = |op: usize| ops.binary_search(&(op as u32)).ok().map(|at| at as u32);
        let positions = |order: &&[usize]| order.iter().filter_map(|op| position(*op)).collect::<Vec<u32>>();
        let orders: Vec<Vec<u32>> = orders.iter().map(positions).collect();
        let scale = self.scale(&ops);
        let span = |at: u32| self.span(ops[at as usize] as usize, scale);
        let around = refused.and_then(position).unwrap_or(ops.len() as u32 - 1);
        let borrowed: Vec<&[u32]> = orders.iter().map(Vec::as_slice).collect();
        let window = window(ops.len(), span, around, &borrowed, BARS_MAX);

        let mut processes: Vec<Option<i64>> =
            window.ops.iter().map(|at| self.recorded.process(ops[*at as usize] as usize)).collect();
        processes.sort_unstable();
        processes.dedup();
        let whose = |process: i64| self.recorded.participants.client(process);
        let story = Story::new(self.model, self.columns, self.recorded);
        let placed = orders.first().map(|order| {
            let mut placed = vec![false; ops.len()];
            for at in order {
                placed[*at as usize] = true;
            }
            placed
        });
        let refused_at = refused.and_then(position);
        let refused_end = refused_at.and_then(|at| span(at).1);
        let returned = |at: u32| span(at).1.is_some_and(|end| refused_end.is_some_and(|until| end <= until));
        let bar = |at: &u32| {
            let op = ops[*at as usize] as usize;
            let (start, end) = span(*at);
            let status = if Some(*at) == refused_at {
                BarStatus::Refused
            } else if placed.as_ref().is_some_and(|placed| placed[*at as usize]) {
                BarStatus::Placed
            } else if refused_end.is_some_and(|until| start > until) {
                BarStatus::After
            } else if placed.is_none() && returned(*at) {
                without_order(&part.outcome)
            } else {
                BarStatus::Pending
            };
            let row = processes.binary_search(&self.recorded.process(op)).unwrap_or_default();
            let (label, detail) = (shortened(&story.what(op)), String::new());
            let completed = self.recorded.completed(op);
            Bar { row: row as u32, index: self.recorded.invoked(op), completed, start, end, label, detail, status }
        };
        let refusal =
            refused.map(|op| format!("Here {} is not possible.", shortened(&story.what(op)))).unwrap_or_default();
        let named = part.part.as_ref().map(|part| format!("{part}: ")).unwrap_or_default();
        Some(Timeline {
            title: format!("{named}{}", if refused.is_some() { "not linearizable" } else { "linearizable" }),
            summary: match refused {
                None => format!("These operations can be put in an order that a {} admits: the one shown.", S::NAME),
                Some(op) => format!(
                    "{} cannot be placed: whatever order everything before it is put in, no {} admits it.",
                    sentence(&story.what(op)),
                    S::NAME
                ),
            },
            scale,
            extent: Some(window.extent),
            rows: processes.iter().map(|process| row_name(process.map(whose))).collect(),
            bars: window.ops.iter().map(bar).collect(),
            orders: orders
                .iter()
                .map(|order| {
                    // To look for it takes as long as the order is.
                    let skipped = window.skipped(order);
                    let states = self.states(&ops, order, skipped);
                    let shown = window.order(order, |steps| states[steps - skipped].clone());
                    Order { refusal: refusal.clone(), ..shown }
                })
                .collect(),
            note: note(window.note(), orders.is_empty()),
        })
    }

    /// A linearization as text: a line an operation, and the state after it.
    fn listing(&self, order: &[usize]) -> String {
        let story = Story::new(self.model, self.columns, self.recorded);
        let ops: Vec<u32> = order.iter().map(|op| *op as u32).collect();
        let positions: Vec<u32> = (0..ops.len() as u32).collect();
        let mut text = String::new();
        for (op, state) in order.iter().zip(self.states(&ops, &positions, 1)) {
            let (index, process) = (self.recorded.invoked(*op), row_name(self.recorded.client(*op)));
            let line = format!("{index}\t{process}\t{}\t{state}\n", shortened(&story.what(*op)));
            if text.len() + line.len() > LISTING_BYTES_MAX {
                _ = writeln!(text, "... and so on: more than {LISTING_BYTES_MAX} bytes in all");
                break;
            }
            text += &line;
        }
        text
    }

    /// The states after the first `from` operations of an order, and after each further one.
    fn states(&self, ops: &[u32], order: &[u32], from: usize) -> Vec<String> {
        let budget = Budget::default();
        let mut states = vec![self.model.init()];
        let mut told = Vec::new();
        for (at, op) in order.iter().enumerate() {
            if at >= from {
                told.push(self.describe(&states));
            }
            let op = self.columns.op(OpId::new(ops[*op as usize] as usize));
            let next =
                |state: &S::State| op.map(|op| self.model.step(state, op, &budget).into_iter().collect::<Vec<_>>());
            let mut reached: Vec<S::State> = Vec::new();
            for state in states.iter().filter_map(next).flatten() {
                if !reached.contains(&state) {
                    reached.push(state);
                }
            }
            states = reached;
        }
        told.push(self.describe(&states));
        told
    }

    fn describe(&self, states: &[S::State]) -> String {
        const SHOWN: usize = 4;
        let mut told: Vec<String> =
            states.iter().take(SHOWN).map(|state| shortened(&self.model.describe_state(state))).collect();
        if states.len() > SHOWN {
            told.push(format!("{} more", states.len() - SHOWN));
        }
        told.join(" or ")
    }

    /// Times if every operation has them and they agree with the order of the history, else positions.
    fn scale(&self, ops: &[u32]) -> Scale {
        let mut events: Vec<(u64, Option<i64>)> = Vec::with_capacity(2 * ops.len());
        for op in ops {
            let op = *op as usize;
            let (invoked, completed) = self.recorded.times(op);
            events.push((self.recorded.invoked(op), invoked));
            if self.columns.returns(OpId::new(op)) {
                events.extend(self.recorded.completed(op).map(|index| (index, completed)));
            }
        }
        events.sort_unstable();
        let agree = |pair: &[(u64, Option<i64>)]| pair[0].1.is_some() && pair[0].1 <= pair[1].1;
        if events.windows(2).all(agree) { Scale::Nanoseconds } else { Scale::Positions }
    }

    fn span(&self, op: usize, scale: Scale) -> (i64, Option<i64>) {
        let returned = self.columns.returns(OpId::new(op));
        match scale {
            Scale::Nanoseconds => {
                let (start, end) = self.recorded.times(op);
                (start.unwrap_or_default(), end.filter(|_| returned))
            }
            Scale::Positions => {
                let end = self.recorded.completed(op).filter(|_| returned);
                (self.recorded.invoked(op).cast_signed(), end.map(u64::cast_signed))
            }
        }
    }
}

/// What became of an operation that returned before the refused one, where no order is known.
fn without_order(outcome: &Outcome) -> BarStatus {
    match outcome {
        Outcome::Refused(refusal) if refusal.is_first => BarStatus::Placed,
        _ => BarStatus::After,
    }
}

/// What the page does not show.
fn note(left_out: Option<String>, is_without_order: bool) -> Option<String> {
    const NO_ORDER: &str = "No order is shown: there were too many ways to put these operations in one.";
    let no_order = is_without_order.then(|| NO_ORDER.to_owned());
    let notes: Vec<String> = left_out.into_iter().chain(no_order).collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

fn row_name(process: Option<Client>) -> String {
    process.map_or_else(|| "unknown process".into(), |process| format!("process {process}"))
}

/// With its first letter in upper case.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
