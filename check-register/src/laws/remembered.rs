//! Laws of states that store operations: such a state permits what it would permit if the operations took effect at
//! some point.

use super::{Broken, World};

/// The number of the only operation in progress.
const FLIGHT: u32 = 0;

impl World<'_> {
    pub(super) fn breaks_remembered(&self) -> Option<Broken> {
        self.breaks_kinds().or_else(|| self.breaks_pend()).or_else(|| self.breaks_begin())
    }

    fn pend(&self, state: usize, op: usize) -> Option<usize> {
        self.shortcuts.pend(&state, &op)
    }

    fn begin(&self, state: usize, op: usize) -> Option<usize> {
        self.shortcuts.begin(&state, &op, FLIGHT)
    }

    /// Operations that the search places itself.
    fn stepped(&self) -> Vec<usize> {
        let init = self.model.init();
        self.which(|op| self.shortcuts.begin(&init, op, FLIGHT).is_none())
    }

    /// Whether states store an operation depends on the operation alone, and every state admits an operation in
    /// progress.
    fn breaks_kinds(&self) -> Option<Broken> {
        let init = self.model.init();
        for op in 0..self.ops {
            let (pends, begins) = (self.pend(init, op).is_some(), self.begin(init, op).is_some());
            for state in self.states.iter().copied() {
                let say = |is: bool| if is { "a state" } else { "none" };
                let (pends_here, begins_here) = (self.pend(state, op).is_some(), self.begin(state, op).is_some());
                let law = if pends == pends_here { "begin" } else { "pend" };
                if (pends, begins) != (pends_here, begins_here) {
                    let is_here = if pends == pends_here { begins_here } else { pends_here };
                    let expected = format!("{}, as in the initial state", say(!is_here));
                    return Some(self.broken(law, state, &[op], (expected, say(is_here).into())));
                }
                if begins && !self.admits(state, &[op]) {
                    let texts = ("admitted, as an operation in flight must be".into(), "not admitted".into());
                    return Some(self.broken("begin", state, &[op], texts));
                }
            }
        }
        None
    }

    /// Returns true if a sequence is admitted with `more` inserted at a position of at most `last`.
    fn admits_with(&self, state: usize, more: usize, word: &[usize], last: usize) -> bool {
        (0..=last).any(|at| self.admits(state, &[&word[..at], &[more], &word[at..]].concat()))
    }

    /// A pending operation may take effect at any point, or never.
    fn breaks_pend(&self) -> Option<Broken> {
        let init = self.model.init();
        let pending = self.which(|op| self.shortcuts.pend(&init, op).is_some());
        let words = Self::words(&self.stepped(), self.states.len() * pending.len() * 4);
        for op in pending {
            for (word, state) in
                words.iter().flat_map(|word| self.states.iter().copied().map(move |state| (word, state)))
            {
                let Some(pends) = self.pend(state, op) else { continue };
                let is_remembered = self.admits(pends, word);
                let is_placed = self.admits(state, word) || self.admits_with(state, op, word, word.len());
                if is_remembered != is_placed {
                    let texts = texts(&self.name(op), "pending", is_placed);
                    return Some(self.broken("pend", state, word, texts));
                }
            }
        }
        None
    }

    /// An operation in progress takes effect before it ends; and an operation that may wait is permitted after that end
    /// as before it.
    fn breaks_begin(&self) -> Option<Broken> {
        let init = self.model.init();
        let begun = self.which(|op| self.shortcuts.begin(&init, op, FLIGHT).is_some());
        let words = Self::words(&self.stepped(), self.states.len() * begun.len() * 8);
        for op in begun {
            for (word, state) in
                words.iter().flat_map(|word| self.states.iter().copied().map(move |state| (word, state)))
            {
                for end in 0..=word.len() {
                    let is_remembered = self.admits_until(state, op, word, end);
                    let is_placed = self.admits_with(state, op, word, end);
                    if is_remembered != is_placed {
                        let when = format!("in flight until {end} of them took effect");
                        return Some(self.broken("end", state, word, texts(&self.name(op), &when, is_placed)));
                    }
                    if let Some(last) = end.checked_sub(1)
                        && self.shortcuts.may_wait(&word[last])
                        && is_remembered
                        && !self.admits_until(state, op, word, last)
                    {
                        let waits = self.name(word[last]);
                        let expected = format!("admitted when {} ends before {waits}, which may wait", self.name(op));
                        let texts = (expected, format!("admitted only when {} ends after it", self.name(op)));
                        return Some(self.broken("may_wait", state, word, texts));
                    }
                }
            }
        }
        None
    }

    /// Returns true if a sequence is admitted while `op` is in progress, if `op` ends after the first `end` operations.
    fn admits_until(&self, state: usize, op: usize, word: &[usize], end: usize) -> bool {
        let Some(begun) = self.begin(state, op) else { return false };
        let before = self.run(&[begun], &word[..end]);
        before.iter().any(|state| self.admits(self.shortcuts.end(state, &op, FLIGHT), &word[end..]))
    }
}

/// The expected and the actual result while states store an operation.
fn texts(op: &str, when: &str, is_placed: bool) -> (String, String) {
    let say = |is: bool| if is { "admitted" } else { "not admitted" };
    let expected =
        format!("{} while {op} is {when}, as they are with it in each position that it may take", say(is_placed));
    (expected, say(!is_placed).into())
}
