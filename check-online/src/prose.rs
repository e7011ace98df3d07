//! A violation in words.

use crate::violation::{Configuration, Next, Step, Violation};
use check_register::engine::ids;
use history_core::{Client, Participants};
use std::fmt::{self, Write as _};

/// Operations of a configuration that are named: the last ones. How it began hardly matters.
const TAIL: usize = 4;

/// A violation as it is told: operations get names as they are mentioned.
pub(crate) struct Story<'v, O> {
    violation: &'v Violation<O>,
    /// Operations with names, in the order of their names.
    pub(crate) named: Vec<&'v Step<O>>,
    /// What stands before a time.
    unit: &'static str,
    /// The names of clients, where they have some.
    participants: Option<&'v Participants>,
}

impl<'v, O> Story<'v, O> {
    pub(crate) fn new(violation: &'v Violation<O>, unit: &'static str) -> Story<'v, O> {
        Story { violation, named: Vec::new(), unit, participants: None }
    }

    /// With the names that clients have in a history.
    pub(crate) fn of(self, participants: &'v Participants) -> Story<'v, O> {
        Story { participants: Some(participants), ..self }
    }

    /// A client as the history calls it.
    pub(crate) fn client(&self, number: i64) -> Client {
        self.participants.map_or(Client::Number(number), |participants| participants.client(number))
    }

    /// An operation's name.
    fn name(&mut self, step: &'v Step<O>) -> String {
        let is_it = |other: &&Step<O>| (other.client, other.start) == (step.client, step.start);
        let at = self.named.iter().position(is_it).unwrap_or_else(|| {
            self.named.push(step);
            self.named.len() - 1
        });
        format!("T{}", at + 1)
    }

    fn names(&mut self, steps: &'v [Step<O>]) -> Vec<String> {
        steps[steps.len().saturating_sub(TAIL)..].iter().map(|step| self.name(step)).collect()
    }

    /// The whole story.
    pub(crate) fn tell(&mut self) -> String {
        let violation = self.violation;
        let refused = self.name(&violation.refused);
        let mut then = String::new();
        if violation.common.is_empty() {
            _ = writeln!(then, "Nothing is sure to have taken effect first.");
        } else {
            let names = self.names(&violation.common);
            let before = if ids::count(names.len()) == violation.common_len { "" } else { "..., " };
            _ = writeln!(then, "What is sure to have taken effect first, in this order: {before}{}.", names.join(", "));
        }
        _ = writeln!(then, "{refused} cannot take effect before it returns:");
        violation.configurations.iter().for_each(|configuration| self.configuration(&mut then, configuration));
        let more = violation.more_configurations;
        if more > 0 {
            _ = writeln!(then, "  The state may be one of {more} more, none of which admits it.");
        }
        let part = violation.part.as_ref().map_or_else(String::new, |part| format!(", of {part}"));
        let mut told = format!("Let{part}:\n");
        for (at, step) in self.named.iter().enumerate() {
            let Step { what, client, start, finish, .. } = step;
            _ = write!(told, "  T{} = {what} by process {}, ", at + 1, self.client(*client));
            _ = match finish {
                Some(finish) => writeln!(told, "{}{start} to {finish}", self.unit),
                None => writeln!(told, "from {}{start} on, its outcome unknown", self.unit),
            };
        }
        told.push_str("\nThen:\n");
        then.lines().for_each(|line| _ = writeln!(told, "  {line}"));
        told
    }

    fn configuration(&mut self, then: &mut String, configuration: &'v Configuration<O>) {
        let Configuration { after, state, next } = configuration;
        let names = self.names(after);
        _ = if names.is_empty() {
            write!(then, "  The state may be {state}, which does not admit ")
        } else {
            let more = if after.len() > names.len() { "..., " } else { "" };
            write!(then, "  After {more}{} the state is {state}, which does not admit ", names.join(", "))
        };
        let with = |why: Next| next.iter().filter(move |(_, other)| *other == why).map(|(step, _)| step);
        let refused: Vec<String> = with(Next::NotAdmitted).map(|step| self.name(step)).collect();
        _ = write!(then, "{}", refused.join(", "));
        let leads_on: Vec<String> = with(Next::LeadsOn).map(|step| self.name(step)).collect();
        _ = if leads_on.is_empty() {
            writeln!(then, ".")
        } else {
            writeln!(then, "; {} may be next, which helps no more.", leads_on.join(" or "))
        };
    }
}

impl<O> fmt::Display for Violation<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Story::new(self, "").tell())
    }
}
