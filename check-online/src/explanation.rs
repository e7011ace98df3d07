//! The explanation of a violation.

use crate::violation::{Configuration, Next, Step, Violation};
use history_core::explain::{self, Explanation, Names};
use history_core::{Client, Participants};
use std::fmt::{self, Write as _};

/// An explanation under construction: operations get names in the order of mention.
pub(crate) struct Explainer<'v, O> {
    violation: &'v Violation<O>,
    /// Operations with names, in the order of their names.
    pub(crate) named: Names<&'v Step<O>>,
    /// The text that precedes a time.
    unit: &'static str,
    /// The names of the clients, if they have names.
    participants: Option<&'v Participants>,
}

impl<'v, O> Explainer<'v, O> {
    pub(crate) fn new(violation: &'v Violation<O>, unit: &'static str) -> Explainer<'v, O> {
        Explainer { violation, named: Names::default(), unit, participants: None }
    }

    /// Sets the names that the clients have in a history.
    pub(crate) fn of(self, participants: &'v Participants) -> Explainer<'v, O> {
        Explainer { participants: Some(participants), ..self }
    }

    /// A client, with its name in the history.
    pub(crate) fn client(&self, number: i64) -> Client {
        self.participants.map_or(Client::Number(number), |participants| participants.client(number))
    }

    /// The name of an operation.
    fn name(&mut self, step: &'v Step<O>) -> String {
        let is_it = |other: &&Step<O>| (other.client, other.start) == (step.client, step.start);
        self.named.name(step, is_it)
    }

    fn names(&mut self, steps: &'v [Step<O>]) -> Vec<String> {
        explain::tail(steps).iter().map(|step| self.name(step)).collect()
    }

    /// Writes the whole explanation.
    pub(crate) fn explain(&mut self) -> String {
        let violation = self.violation;
        let refused = self.name(&violation.refused);
        let mut then = String::new();
        if violation.configurations.is_empty() {
            self.conflict(&mut then, &refused);
        } else {
            self.search(&mut then, &refused);
        }

        let part = violation.part.as_ref();
        let mut explanation = part.map_or_else(Explanation::default, |part| Explanation::default().about(part));
        for (at, step) in self.named.iter().enumerate() {
            let Step { what, client, start, finish, .. } = step;
            let (who, unit) = (self.client(*client), self.unit);
            let when = match finish {
                Some(finish) => format!("{unit}{start} to {finish}"),
                None => format!("from {unit}{start} on, outcome unknown"),
            };
            explanation.op(explain::name(at), format!("{what} by process {who}, {when}"));
        }
        then.lines().for_each(|line| explanation.line(line));
        explanation.to_string()
    }

    /// Explains the result of a monitor.
    fn conflict(&mut self, then: &mut String, refused: &str) {
        let violation = self.violation;
        _ = writeln!(then, "{refused} cannot take effect before it returns.");
        if !violation.conflict.is_empty() {
            let names = violation.conflict.iter().map(|step| self.name(step)).collect::<Vec<_>>().join(", ");
            _ = writeln!(then, "These operations contradict each other, whatever else happened: {names}.");
        }
    }

    /// Explains the result of a search.
    fn search(&mut self, then: &mut String, refused: &str) {
        let violation = self.violation;
        if violation.common.is_empty() {
            _ = writeln!(then, "No operation is certain to have taken effect before.");
        } else {
            let names = self.names(&violation.common);
            let order = explain::after_ellipsis(&names, violation.common_len);
            _ = writeln!(then, "These operations are certain to have taken effect before, in this order: {order}.");
        }
        _ = writeln!(then, "{refused} cannot take effect before it returns:");
        violation.configurations.iter().for_each(|configuration| self.configuration(then, configuration));
        let more = violation.more_configurations;
        if more > 0 {
            _ = writeln!(then, "  {more} more states are possible, and none of them admits it.");
        }
    }

    fn configuration(&mut self, then: &mut String, configuration: &'v Configuration<O>) {
        let Configuration { after, state, next } = configuration;
        let names = self.names(after);
        _ = if names.is_empty() {
            write!(then, "  The state may be {state}, which does not admit ")
        } else {
            let order = explain::after_ellipsis(&names, after.len() as u64);
            write!(then, "  After {order} the state is {state}, which does not admit ")
        };
        let with = |why: Next| next.iter().filter(move |(_, other)| *other == why).map(|(step, _)| step);
        let refused: Vec<String> = with(Next::NotAdmitted).map(|step| self.name(step)).collect();
        _ = write!(then, "{}", refused.join(", "));
        let leads_on: Vec<String> = with(Next::LeadsOn).map(|step| self.name(step)).collect();
        _ = if leads_on.is_empty() {
            writeln!(then, ".")
        } else {
            writeln!(then, "; nor does it after {}, which may be next.", leads_on.join(" or "))
        };
    }
}

impl<O> fmt::Display for Violation<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Explainer::new(self, "").explain())
    }
}
