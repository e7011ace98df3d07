//! Timelines as figures: one for the object, or for each of its parts that is not linearizable.

use super::recorded::Recorded;
use super::subject::{Subject, shortened};
use crate::engine::ids::{index, number};
use crate::{Answer, Outcome, PartAnswer};
use history_core::figure::{BARS_MAX, Bar, BarStatus, Content, Figure, ORDERS_MAX, Order, Scale, Timeline, window};
use history_core::{Artifact, Client};
use std::fmt::Write as _;

/// The maximum number of timelines. Parts that are not linearizable come first.
const PAGES_MAX: usize = 8;

/// The maximum number of bytes of a linearization as text.
const LISTING_BYTES_MAX: usize = 32 << 20;

/// The timelines of an answer, and its linearizations as text.
pub(super) fn of(subject: &dyn Subject, recorded: &Recorded, answer: &Answer) -> (Vec<Figure>, Vec<Artifact>) {
    let refused = answer.parts.iter().filter(|part| matches!(part.outcome, Outcome::Refused(_)));
    let linearizable = answer.parts.iter().filter(|part| matches!(part.outcome, Outcome::Linearizable(_)));
    let pages = Pages { subject, recorded };
    let named = |what: &str, part: &PartAnswer| {
        // A name is one part of a path.
        part.part.as_ref().map_or_else(|| what.to_owned(), |part| format!("{what} {}", part.replace('/', "_")))
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

struct Pages<'a> {
    subject: &'a dyn Subject,
    recorded: &'a Recorded,
}

/// The content of a timeline, in one sentence; `refused` is the operation that cannot be placed.
fn summary(object: &str, refused: Option<&str>) -> String {
    match refused {
        None => format!("These operations can be ordered as a {object} allows; one such order is shown."),
        Some(op) => format!(
            "{} cannot be placed: after every order of the operations before it, a {object} does not allow it.",
            sentence(op)
        ),
    }
}

impl Pages<'_> {
    /// The operations of the part to which the operation `one` belongs, in the order of their calls.
    fn ops(&self, part: &PartAnswer, one: usize) -> Vec<u32> {
        let wanted = part.part.as_ref().and_then(|_| self.subject.part(one));
        let is_wanted = |op: &usize| self.subject.has(*op) && (wanted.is_none() || self.subject.part(*op) == wanted);
        (0..self.recorded.len()).filter(is_wanted).map(number).collect()
    }

    /// The page of a part, if there is anything to show.
    fn timeline(&self, part: &PartAnswer) -> Option<Timeline> {
        let (orders, refused): (Vec<&[usize]>, Option<usize>) = match &part.outcome {
            Outcome::Linearizable(order) => (vec![order], None),
            Outcome::Refused(refusal) => {
                let orders = refusal.ends.iter().map(|end| &end.order).chain(&refusal.others);
                (orders.take(ORDERS_MAX).map(Vec::as_slice).collect(), Some(refusal.op))
            }
            Outcome::Unknown(_) => return None,
        };
        let some = refused.or_else(|| orders.first().and_then(|order| order.first().copied()))?;
        let ops = self.ops(part, some);
        let position = |op: usize| ops.binary_search(&number(op)).ok().map(number);
        let positions = |order: &&[usize]| order.iter().filter_map(|op| position(*op)).collect::<Vec<u32>>();
        let orders: Vec<Vec<u32>> = orders.iter().map(positions).collect();
        let scale = self.scale(&ops);
        let span = |at: u32| self.span(index(ops[index(at)]), scale);
        let around = refused.and_then(position).unwrap_or(number(ops.len() - 1));
        let borrowed: Vec<&[u32]> = orders.iter().map(Vec::as_slice).collect();
        let window = window(ops.len(), span, around, &borrowed, BARS_MAX);

        let in_window = window.ops.iter().map(|at| self.recorded.process(index(ops[index(*at)])));
        let mut processes: Vec<Option<i64>> = in_window.collect();
        processes.sort_unstable();
        processes.dedup();
        let whose = |process: i64| self.recorded.participants.client(process);
        let refused_at = refused.and_then(position);
        let statuses = Statuses {
            outcome: &part.outcome,
            placed: orders.first().map(|order| placed(order, ops.len())),
            refused_at,
            refused_end: refused_at.and_then(|at| span(at).1),
        };
        let bar = |at: &u32| {
            let op = index(ops[index(*at)]);
            let (start, end) = span(*at);
            let status = statuses.of(*at, (start, end));
            let row = processes.binary_search(&self.recorded.process(op)).unwrap_or_default();
            let (label, detail) = (shortened(&self.subject.what(op)), String::new());
            let completed = self.recorded.completed(op);
            Bar { row: number(row), index: self.recorded.invoked(op), completed, start, end, label, detail, status }
        };
        let refusal = refused
            .map(|op| format!("Here {} is not possible.", shortened(&self.subject.what(op))))
            .unwrap_or_default();
        let named = part.part.as_ref().map(|part| format!("{part}: ")).unwrap_or_default();
        Some(Timeline {
            title: format!("{named}{}", if refused.is_some() { "not linearizable" } else { "linearizable" }),
            key: part.part.clone(),
            summary: summary(self.subject.name(), refused.map(|op| self.subject.what(op)).as_deref()),
            scale,
            extent: Some(window.extent),
            rows: processes.iter().map(|process| row_name(process.map(whose))).collect(),
            bars: window.ops.iter().map(bar).collect(),
            orders: orders
                .iter()
                .map(|order| {
                    // The search for the skipped steps takes time linear in the length of the order.
                    let skipped = window.skipped(order);
                    let states = self.subject.states(&ops, order, skipped);
                    let shown = window.order(order, |steps| states[steps - skipped].clone());
                    Order { refusal: refusal.clone(), ..shown }
                })
                .collect(),
            note: note(window.note(), orders.is_empty()),
        })
    }

    /// A linearization as text: one line per operation, with the state after it.
    fn listing(&self, order: &[usize]) -> String {
        let ops: Vec<u32> = order.iter().copied().map(number).collect();
        let positions: Vec<u32> = (0..number(ops.len())).collect();
        let mut text = String::new();
        for (op, state) in order.iter().zip(self.subject.states(&ops, &positions, 1)) {
            let (index, process) = (self.recorded.invoked(*op), row_name(self.recorded.client(*op)));
            let line = format!("{index}\t{process}\t{}\t{state}\n", shortened(&self.subject.what(*op)));
            if text.len() + line.len() > LISTING_BYTES_MAX {
                _ = writeln!(text, "... more than {LISTING_BYTES_MAX} bytes in total");
                break;
            }
            text += &line;
        }
        text
    }

    /// Times if every operation has them and they agree with the order of the history, otherwise positions.
    fn scale(&self, ops: &[u32]) -> Scale {
        let mut events: Vec<(u64, Option<i64>)> = Vec::with_capacity(2 * ops.len());
        for op in ops {
            let op = index(*op);
            let (invoked, completed) = self.recorded.times(op);
            events.push((self.recorded.invoked(op), invoked));
            if self.subject.returns(op) {
                events.extend(self.recorded.completed(op).map(|index| (index, completed)));
            }
        }
        events.sort_unstable();
        let agree = |pair: &[(u64, Option<i64>)]| pair[0].1.is_some() && pair[0].1 <= pair[1].1;
        if events.windows(2).all(agree) { Scale::Nanoseconds } else { Scale::Positions }
    }

    fn span(&self, op: usize, scale: Scale) -> (i64, Option<i64>) {
        let returned = self.subject.returns(op);
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

/// By position: whether an order contains the operation.
fn placed(order: &[u32], count: usize) -> Vec<bool> {
    let mut placed = vec![false; count];
    for at in order {
        placed[index(*at)] = true;
    }
    placed
}

/// The data for the statuses of the operations of a part, which are given by their positions in it.
struct Statuses<'a> {
    outcome: &'a Outcome,
    /// By operation: whether the displayed order contains it; `None` if there is no order.
    placed: Option<Vec<bool>>,
    refused_at: Option<u32>,
    refused_end: Option<i64>,
}

impl Statuses<'_> {
    /// The status of an operation that lasted from `start` to `end`.
    fn of(&self, at: u32, (start, end): (i64, Option<i64>)) -> BarStatus {
        let returned = || end.is_some_and(|end| self.refused_end.is_some_and(|until| end <= until));
        if Some(at) == self.refused_at {
            BarStatus::Refused
        } else if self.placed.as_ref().is_some_and(|placed| placed[index(at)]) {
            BarStatus::Placed
        } else if self.refused_end.is_some_and(|until| start > until) {
            BarStatus::After
        } else if self.placed.is_none() && returned() {
            without_order(self.outcome)
        } else {
            BarStatus::Pending
        }
    }
}

/// The status of an operation that returned before the refused one, if no order is known.
fn without_order(outcome: &Outcome) -> BarStatus {
    match outcome {
        Outcome::Refused(refusal) if refusal.is_first => BarStatus::Placed,
        _ => BarStatus::After,
    }
}

/// Describes what the page omits.
fn note(left_out: Option<String>, is_without_order: bool) -> Option<String> {
    const NO_ORDER: &str = "No order is shown: there are too many orders of these operations.";
    let no_order = is_without_order.then(|| NO_ORDER.to_owned());
    let notes: Vec<String> = left_out.into_iter().chain(no_order).collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

fn row_name(process: Option<Client>) -> String {
    process.map_or_else(|| "unknown process".into(), |process| format!("process {process}"))
}

/// The text with its first letter in upper case.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
