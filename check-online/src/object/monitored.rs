//! An object that a monitor decides instead of the search: see [`ledger`](crate::engine::part::ledger).

use super::{AnyObject, Input};
use crate::Reason;
use crate::engine::ops::{Event, Fate};
use crate::engine::part::ledger::{
    Called, FALLBACK_MAX, HELD_MAX, KEPT_MAX, LEDGER_CONFIGURATIONS_MAX, Ledger, Verdict,
};
use crate::violation;
use check_register::Handling;
use check_register::engine::ids;
use history_core::Budget;

impl AnyObject<'_> {
    /// Makes a monitor decide if it can and the search takes long. For objects whose operations are called with
    /// [`Event::Open`]; call it before the first one.
    pub(crate) fn keep_ledger(&mut self) {
        let rules = &self.world.table.rules;
        let priority = |value: i64| rules.priority(value);
        self.ledger = rules.collection().map(|(collection, contents)| Ledger::new(collection, &contents, priority));
        self.limit_search();
    }

    /// Limits the search, depending on the method that would replace it.
    fn limit_search(&mut self) {
        let most = match &self.ledger {
            None => usize::MAX,
            Some(ledger) if ledger.may_be_searched() => HELD_MAX,
            Some(_) => LEDGER_CONFIGURATIONS_MAX,
        };
        self.world.configurations_max = self.configurations_max.min(most);
    }

    /// Makes the monitor decide from the first operation on.
    #[cfg(test)]
    pub(crate) fn monitor_always(&mut self) {
        self.searched_max = 0;
    }

    /// Returns true if the monitor decides.
    #[cfg(test)]
    pub(crate) fn is_monitored(&self) -> bool {
        self.is_monitored
    }

    /// The number of operations in the ledger.
    #[cfg(test)]
    pub(crate) fn ledger_len(&self) -> usize {
        self.ledger.as_ref().map_or(0, Ledger::len)
    }

    /// Adds an input to the ledger.
    pub(super) fn enter(&mut self, input: Input) {
        let Some(ledger) = &mut self.ledger else { return };
        let Input { op, class, seq, event } = input;
        let rules = &self.world.table.rules;
        let handling = |class: Option<_>| class.and_then(|class| rules.handling(class));
        // The search has found all events before this one to be linearizable.
        if !self.is_monitored && matches!(event, Event::Completes(_)) && ledger.is_due() {
            ledger.tidy();
        }
        let before = ledger.may_be_searched();
        let goes_on = match event {
            Event::Open => {
                let handling = handling(class);
                let put = if let Some(Handling::Put(value)) = handling { value } else { 0 };
                let is_front = class.is_some_and(|class| rules.is_at_front(class));
                ledger.call(op, seq, Called { handling, priority: rules.priority(put), is_front })
            }
            Event::Completes(class) => ledger.complete(op, seq, handling(class)),
            Event::Fails => ledger.fail(op),
            Event::Crashes(class) => ledger.crash(op, handling(class)),
            Event::Known | Event::Crashed | Event::Returns => false,
        };
        let is_searched = !self.is_monitored && ledger.may_be_searched();
        let is_full = ledger.len() > if is_searched { self.lag_max.min(KEPT_MAX) } else { self.lag_max };
        let is_due = self.is_monitored && matches!(event, Event::Completes(_)) && ledger.is_due();
        let is_over = is_full || !goes_on;
        let has_changed = ledger.may_be_searched() != before;
        if self.is_monitored {
            self.note_end(input);
            if is_over {
                self.ledger = None;
                self.unknown.get_or_insert(Reason::Lag);
            } else if is_due {
                _ = self.decide(FALLBACK_MAX.min(self.configurations_max), &Budget::default());
            }
        } else if is_over || has_changed {
            self.ledger = self.ledger.take().filter(|_| !is_over);
            self.limit_search();
        }
    }

    /// Records the outcome of an operation, as the search does if it decides.
    fn note_end(&mut self, input: Input) {
        let row = self.world.ops.get_mut(input.op);
        match input.event {
            Event::Completes(class) => (row.class, row.fate) = (class, Fate::Returns),
            Event::Crashes(class) => (row.class, row.fate) = (class, Fate::Crashed),
            Event::Fails => row.fate = Fate::Failed,
            Event::Known | Event::Open | Event::Crashed | Event::Returns => {}
        }
    }

    /// Replaces the search by the monitor if it needs too many configurations, after the last input.
    pub(super) fn watch_search(&mut self, input: Input) {
        let Some(ledger) = self.ledger.as_ref().filter(|_| self.violations.is_empty()) else { return };
        let held_max = if ledger.may_be_searched() { usize::MAX } else { self.searched_max };
        let part = self.parts.get(ids::index(self.part_of[input.op.at()]));
        let held = part.map_or(0, crate::engine::part::Part::configurations);
        if self.unknown.is_some() || held > held_max || self.searched_max == 0 {
            self.monitor(input);
        }
    }

    /// Replaces the search by the monitor, after the last input.
    #[cold]
    pub(super) fn monitor(&mut self, input: Input) {
        self.is_monitored = true;
        // The search may not have recorded the end: it ignores operations that it has passed over.
        self.note_end(input);
        self.parts.clear();
        self.names.clear();
        self.by_name.clear();
        self.unplaced.clear();
        self.inputs = None;
        self.unknown = None;
        _ = self.decide(FALLBACK_MAX.min(self.configurations_max), &Budget::default());
    }

    /// Decides the events so far.
    fn decide(&mut self, configurations_max: usize, budget: &Budget) -> Result<(), Reason> {
        let Some(ledger) = &mut self.ledger else { return Ok(()) };
        match ledger.decide(configurations_max, budget) {
            Verdict::Ok => Ok(()),
            Verdict::Unknown(reason) => Err(reason),
            Verdict::Violation(contradiction) => {
                self.refused = 1;
                let violation = violation::of_conflict(&self.world, &contradiction);
                debug_assert!(violation.is_some(), "a refused operation has returned, with a known effect");
                self.violations.extend(violation);
                self.ledger = None;
                Ok(())
            }
        }
    }

    /// Makes all pending decisions: no more events will follow.
    pub(crate) fn conclude(&mut self, budget: &Budget) {
        if !self.is_monitored {
            // Events that the search has omitted are not decided any more.
            return;
        }
        if matches!(self.unknown, Some(Reason::Spent(_))) {
            self.unknown = None;
        }
        if let Err(reason) = self.decide(self.configurations_max, budget) {
            self.unknown.get_or_insert(reason);
        }
    }
}
