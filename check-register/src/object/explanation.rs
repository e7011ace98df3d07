//! The explanation of a refusal: why an operation cannot be placed.

use super::recorded::Recorded;
use super::subject::{Subject, shortened};
use crate::{Conflict, End, Held, Refusal};
use history_core::explain::{self, Explanation, Names};
use history_core::{Datum, OpKind, Witness, WitnessOp};
use std::fmt::Write as _;

/// The maximum number of states that are listed.
const STATES_MAX: usize = 8;

/// Explains refusals of one history.
pub(super) struct Explainer<'a> {
    subject: &'a dyn Subject,
    recorded: &'a Recorded,
    named: Names<usize>,
}

impl<'a> Explainer<'a> {
    pub(super) fn new(subject: &'a dyn Subject, recorded: &'a Recorded) -> Explainer<'a> {
        Explainer { subject, recorded, named: Names::default() }
    }

    /// The name of an operation in the explanation.
    fn name(&mut self, op: usize) -> String {
        self.named.name(op, |named| *named == op)
    }

    /// The indices at which an operation was in flight.
    fn when(&self, op: usize) -> String {
        let invoked = self.recorded.invoked(op);
        match self.recorded.completed(op) {
            Some(completed) if self.subject.returns(op) => format!("index {invoked} to {completed}"),
            _ => format!("from index {invoked} on, outcome unknown"),
        }
    }

    fn by_process(&self, op: usize) -> String {
        self.recorded.client(op).map_or_else(String::new, |process| format!(" by process {process}"))
    }

    /// The witness of a refusal.
    pub(super) fn refusal(mut self, part: Option<&str>, refusal: &Refusal) -> Witness {
        let refused = self.name(refusal.op);
        let mut then = String::new();
        match refusal.last {
            None => _ = writeln!(then, "{refused} cannot be placed, although no operation returned before it."),
            Some(last) => {
                let last = self.name(last);
                _ = if refusal.is_first {
                    writeln!(
                        then,
                        "All operations that returned before {refused} returned can be ordered, up to \
                         {last}.\n{refused} is the first that cannot be placed."
                    )
                } else {
                    writeln!(
                        then,
                        "The operations up to the return of {refused} cannot be ordered. Whether those up to {last}, \
                         the last one to return before, can be ordered is unknown."
                    )
                };
            }
        }
        if let Some(conflict) = &refusal.conflict {
            self.conflict(&mut then, conflict);
        }
        if refusal.ends.is_empty() {
            _ = writeln!(then, "There are too many orders to list the states in which it could take effect.");
        } else {
            let what = self.subject.what(refusal.op);
            let from = if refusal.ends.len() == 1 { "This state admits" } else { "None of these states admits" };
            let no = match refusal.ends.len() {
                1 => "no",
                _ if what.starts_with(['a', 'e', 'i', 'o', 'u']) => "an",
                _ => "a",
            };
            _ = writeln!(then, "The states in which it could take effect are:");
            for end in refusal.ends.iter().take(STATES_MAX) {
                self.end(&mut then, end);
            }
            let more = refusal.ends.len().saturating_sub(STATES_MAX) + refusal.more_ends;
            if more > 0 {
                _ = writeln!(then, "  or one of {more} more");
            }
            if !refusal.all_ends {
                _ = writeln!(then, "There may be others: there are too many orders to list all states.");
            }
            _ = writeln!(then, "{from} {no} {what}.");
        }
        let mut explanation = part.map_or_else(Explanation::default, |part| Explanation::default().about(part));
        for (at, op) in self.named.iter().enumerate() {
            let what = format!("{}{}, {}", self.subject.what(*op), self.by_process(*op), self.when(*op));
            explanation.op(explain::name(at), what);
        }
        then.lines().for_each(|line| explanation.line(line));
        self.witness(part, refusal, explanation.to_string())
    }

    /// Writes a state, and how the history could have led to it.
    fn end(&mut self, text: &mut String, end: &End) {
        let names: Vec<String> = explain::tail(&end.order).iter().map(|op| self.name(*op)).collect();
        let state = shortened(&end.state);
        _ = if names.is_empty() {
            writeln!(text, "  {state}, the initial state")
        } else {
            writeln!(text, "  {state}, after {}", explain::after_ellipsis(&names, end.order.len() as u64))
        };
    }

    /// Writes the operations that contradict each other.
    fn conflict(&mut self, text: &mut String, conflict: &Conflict) {
        _ = match *conflict {
            Conflict::NeverWritten { read } => {
                let read = self.name(read);
                writeln!(text, "No operation had begun to write the value that {read} found.")
            }
            Conflict::BeforeWrite { read, write } => {
                let (read, write) = (self.name(read), self.name(write));
                writeln!(text, "{read} found the value of {write}, but returned before {write} was called.")
            }
            Conflict::Between { first, last, other_first, other_last } => {
                let since = match first {
                    Some(first) => format!("{} returned", self.name(first)),
                    None => "the history began".into(),
                };
                let (last, other_first, other_last) = (self.name(last), self.name(other_first), self.name(other_last));
                let others =
                    if other_first == other_last { other_first } else { format!("{other_first} and {other_last}") };
                writeln!(
                    text,
                    "{last} shows that the value did not change from the time {since} until {last} was called, but \
                     {others} have another value and can only have taken effect in between."
                )
            }
            Conflict::NeverPut { take } => {
                let take = self.name(take);
                writeln!(text, "Nobody had begun to put in what {take} returned.")
            }
            Conflict::BeforePut { take, put } => {
                let (take, put) = (self.name(take), self.name(put));
                writeln!(text, "{take} returned what {put} put in, but had returned when {put} was called.")
            }
            Conflict::TakenTwice { take, other } => {
                let (take, other) = (self.name(take), self.name(other));
                writeln!(text, "{other} and {take} took the same value, which was put in once.")
            }
            Conflict::NeverEmpty { nothing, ref values } => {
                let nothing = self.name(nothing);
                let values = self.held(values);
                writeln!(text, "While {nothing} was in flight something was there at any time, in any order: {values}.")
            }
            Conflict::Values { ref values } => {
                let values = self.held(values);
                writeln!(text, "No order of these values is possible: {values}.")
            }
            Conflict::Reads { read, other } => {
                let (read, other) = (self.name(read), self.name(other));
                writeln!(text, "{read} and {other} each show a value that the other does not; nothing leaves the set.")
            }
            Conflict::WithoutInitial { read } => {
                let read = self.name(read);
                writeln!(text, "{read} does not show a value that was there from the start.")
            }
            Conflict::Backwards { first, second, read } => {
                let (first, second) = (self.name(first), self.name(second));
                let read = read.map_or_else(String::new, |read| {
                    let read = self.name(read);
                    format!(": {read} shows the value of {first}, and not that of {second}")
                });
                writeln!(text, "{first} must come before {second}, which had returned when {first} was called{read}.")
            }
        };
    }

    /// Describes the operations on values: `the value of T1, taken by T2`.
    fn held(&mut self, values: &[Held]) -> String {
        let one = |held: &Held| {
            let put = held.put.map_or_else(
                || "a value that was there at the start".to_owned(),
                |op| format!("the value of {}", self.name(op)),
            );
            match held.take {
                Some(take) => format!("{put}, taken by {}", self.name(take)),
                None => put,
            }
        };
        values.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    fn witness(&self, part: Option<&str>, refusal: &Refusal, explanation: String) -> Witness {
        let op = |(at, op): (usize, &usize)| {
            let returned = self.subject.returns(*op);
            let (invoked_ns, completed_ns) = self.recorded.times(*op);
            WitnessOp {
                name: explain::name(at),
                index: self.recorded.completed(*op).filter(|_| returned).unwrap_or(self.recorded.invoked(*op)),
                process: self.recorded.client(*op),
                kind: if returned { OpKind::Ok } else { OpKind::Info },
                time_ns: if returned { completed_ns } else { invoked_ns },
                value: self.subject.datum(*op),
            }
        };
        let mut facts = Vec::new();
        facts.extend(part.map(|part| ("part".into(), Datum::from(part))));
        facts.push(("invoked".into(), Datum::from(self.recorded.invoked(refusal.op))));
        let states: Vec<String> = refusal.ends.iter().map(|end| shortened(&end.state)).collect();
        facts.push(("states".into(), Datum::from(states)));
        Witness::new(self.named.iter().enumerate().map(op).collect(), explanation).with_facts(facts)
    }
}
