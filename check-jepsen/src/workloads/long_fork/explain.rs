//! The report: the reads that cannot be ordered, and the explanation.

use super::forks::{self, Fork};
use super::order::{self, can_be_ordered};
use super::run::LongForkRun;
use super::seen::{NIL, Seen};
use super::smallest::{Smallest, find_smallest};
use crate::witness::{self, Extremes};
use history_core::cast::Cast as _;
use history_core::explain::with_more;
use history_core::{Datum, OpKind, Report, Verdict, Witness};
use std::fmt::Write;

/// The maximum number of keys that a table or a sentence lists.
const LISTED_MAX: usize = 16;
/// The maximum width of a column of a table; wider content is not padded.
const COLUMN_MAX: usize = 40;

impl LongForkRun {
    pub(super) fn conclude(&self, whole: bool) -> Report {
        let mut report = Report::new("long-fork", Verdict::Valid);
        let mut found = Extremes::<(), Fork>::default();
        let groups = self.seen.as_ref().map_or(0, |seen| seen.groups.len());
        if let (true, Some(seen)) = (whole || self.invocations, &self.seen) {
            let sorted = forks::sorted(seen);
            for group in sorted.chunk_by(|a, b| seen.group(*a) == seen.group(*b)) {
                let before = found.count;
                forks::find_forks(seen, group).for_each(|fork| found.push_equal(fork));
                if self.is_general() && found.count == before && !can_be_ordered(seen, group) {
                    found.push_equal(Fork { group: seen.group(group[0]), states: group.to_vec() });
                }
            }
            witness::add_anomalies(&mut report, [found.anomaly("long-fork", |fork| self.explain(seen, fork))]);
        }
        if found.count > 0 {
            report.verdict = Verdict::Invalid;
        }
        let unwritten = self.unwritten();
        if whole && unwritten > 0 {
            let keys = witness::counted(unwritten, "key");
            report.notes.push(format!("Reads show {keys} with a value that no op writes."));
        }
        report.counts = vec![
            ("read-count".into(), self.reads),
            ("early-read-count".into(), self.early),
            ("late-read-count".into(), self.late),
            ("write-count".into(), self.writes),
            ("group-count".into(), groups.to_u64()),
            ("fork-count".into(), found.count),
        ];
        report
    }

    fn explain(&self, seen: &Seen, fork: &Fork) -> Witness {
        let keys = seen.groups.row(fork.group.to_usize());
        let read = |state: &u32| {
            let mop = |(key, value): (&u32, &u32)| {
                Datum::Vector(vec![Datum::keyword("r"), self.key_datum(*key), self.value_datum(*value)])
            };
            Datum::Vector(keys.iter().zip(seen.values(*state)).map(mop).collect())
        };
        let (states, sentences, smallest) = if let [_, _] = fork.states[..] {
            (fork.states.clone(), self.fork_sentences(seen, fork, keys), true)
        } else {
            let found = find_smallest(seen, &fork.states);
            let sentences = self.order_sentences(seen, &found, keys);
            (found.states, sentences, found.least)
        };
        let op = |(at, state): (usize, &u32)| {
            seen.readers[state.to_usize()].named(&format!("R{}", at + 1), OpKind::Ok, read(state))
        };
        let ops = states.iter().enumerate().map(op).collect();
        let group = Datum::Vector(keys.iter().map(|key| self.key_datum(*key)).collect());
        let mut witness = witness::witness(ops, vec![("group", group), ("smallest", smallest.into())], &sentences);
        witness.explanation += &self.table(seen, &states, keys);
        witness
    }

    /// The sentences on why three or more reads cannot be ordered.
    fn order_sentences(&self, seen: &Seen, found: &Smallest, keys: &[u32]) -> Vec<String> {
        let count = found.states.len();
        let mut sentences = vec![
            "A value that was replaced does not come back, so reads that show the same value of a key are adjacent, \
             and those that show nil come first"
                .to_owned(),
            format!("No order of R1 to R{count} satisfies this"),
        ];
        for order in permutations(count) {
            let states: Vec<u32> = order.iter().map(|at| found.states[*at]).collect();
            let Some((key, first, last)) = order::broken_by(seen, &states) else { continue };
            let name = |place: usize| match place.checked_sub(1) {
                None => "the initial state".to_owned(),
                Some(at) => format!("R{}", order[at] + 1),
            };
            let value = self.value_datum(if first == 0 { NIL } else { seen.values(states[first - 1])[key] });
            let names: Vec<String> = (1..=count).map(name).collect();
            sentences.push(format!(
                "In the order {} the key {} is {value} in {} and in {}, and is not between them",
                names.join(" "),
                self.key_datum(keys[key]),
                name(first),
                name(last)
            ));
        }
        sentences.push(match (found.least, found.minimal) {
            (true, _) => "Any smaller set of reads of this group can be ordered".into(),
            (false, true) => {
                "Without any one of them there is an order, but a smaller set of other reads may have none".into()
            }
            (false, false) => "Some of them may not be needed: the search for a smaller set was too long".into(),
        });
        sentences
    }

    /// The sentences on why two reads contradict each other.
    fn fork_sentences(&self, seen: &Seen, fork: &Fork, keys: &[u32]) -> Vec<String> {
        let (a, b) = (seen.values(fork.states[0]), seen.values(fork.states[1]));
        let only = |mine: &[u32], other: &[u32]| -> Vec<u32> {
            let at = (0..keys.len()).filter(|at| mine[*at] != NIL && other[*at] == NIL);
            at.map(|at| keys[at]).collect()
        };
        let (first, second) = (only(a, b), only(b, a));
        let (x, y) = (self.key_datum(first[0]), self.key_datum(second[0]));
        vec![
            format!("R1 shows {}, but not {}", self.list(&first, "and"), self.list(&second, "or")),
            format!("R2 shows {}, but not {}", self.list(&second, "and"), self.list(&first, "or")),
            format!(
                "According to R1 the write of {x} came before that of {y}, according to R2 after it: no order fits \
                 both"
            ),
        ]
    }

    fn list(&self, keys: &[u32], word: &str) -> String {
        let shown = keys.iter().take(LISTED_MAX).map(|key| self.key_datum(*key).to_string());
        let text = with_more(shown.collect(), keys.len());
        match text.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
            _ => text.concat(),
        }
    }

    /// The keys on which the reads differ, one per line.
    fn table(&self, seen: &Seen, states: &[u32], keys: &[u32]) -> String {
        let value = |state: &u32, at: usize| seen.values(*state)[at];
        let differ = |at: &usize| states.iter().any(|state| value(state, *at) != value(&states[0], *at));
        let different: Vec<usize> = (0..keys.len()).filter(differ).collect();
        let mut rows = vec![vec!["key".to_owned()]];
        rows[0].extend((0..states.len()).map(|at| format!("R{}", at + 1)));
        for at in different.iter().take(LISTED_MAX) {
            let mut row = vec![self.key_datum(keys[*at]).to_string()];
            row.extend(states.iter().map(|state| self.value_datum(value(state, *at)).to_string()));
            rows.push(row);
        }
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let width = |column: usize| width(column).min(COLUMN_MAX);
        let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
        let mut text = String::from("\n");
        for row in &rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                _ = write!(line, "  {cell:width$}");
            }
            _ = writeln!(text, "{}", line.trim_end());
        }
        if different.len() > LISTED_MAX {
            _ = writeln!(text, "  ({} more keys differ.)", different.len() - LISTED_MAX);
        }
        text
    }
}

/// All orders of three things; for other numbers none.
fn permutations(count: usize) -> impl Iterator<Item = [usize; 3]> {
    let all = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    all.into_iter().filter(move |_| count == 3)
}
