//! An object as used by explanations and timelines: its operations by number, and texts. Because this is a trait
//! object, these modules are compiled once, and not for each object.

use crate::engine::ids::{OpId, index};
use crate::history::Columns;
use crate::models::Spec;
use history_core::{Budget, Datum};

/// The texts about an object and its operations.
pub(super) trait Subject {
    /// The name of the checker.
    fn name(&self) -> &'static str;

    /// An assumption of a refusal besides the history.
    fn assumes(&self) -> Option<String>;

    /// Returns true if an operation is to be placed.
    fn has(&self, op: usize) -> bool;

    /// Returns true if an operation returned.
    fn returns(&self, op: usize) -> bool;

    /// The description of an operation.
    fn what(&self, op: usize) -> String;

    /// An operation as a value.
    fn datum(&self, op: usize) -> Datum;

    /// The part to which an operation belongs.
    fn part(&self, op: usize) -> Option<u64>;

    /// The states after the first `from` operations of an order, and after each further one. `order` contains positions
    /// in `ops`.
    fn states(&self, ops: &[u32], order: &[u32], from: usize) -> Vec<String>;
}

/// A model with the operations of a history.
pub(super) struct ModelSubject<'a, S: Spec> {
    pub(super) model: &'a S,
    pub(super) columns: &'a Columns<S::Op>,
}

impl<S: Spec> ModelSubject<'_, S> {
    fn op(&self, op: usize) -> Option<&S::Op> {
        self.columns.op(OpId::new(op))
    }

    fn describe(&self, states: &[S::State]) -> String {
        const SHOWN: usize = 4;
        let mut texts: Vec<String> =
            states.iter().take(SHOWN).map(|state| shortened(&self.model.describe_state(state))).collect();
        if states.len() > SHOWN {
            texts.push(format!("{} more", states.len() - SHOWN));
        }
        texts.join(" or ")
    }
}

impl<S: Spec> Subject for ModelSubject<'_, S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn assumes(&self) -> Option<String> {
        self.model.assumes()
    }

    fn has(&self, op: usize) -> bool {
        self.op(op).is_some()
    }

    fn returns(&self, op: usize) -> bool {
        self.columns.returns(OpId::new(op))
    }

    fn what(&self, op: usize) -> String {
        self.op(op).map_or_else(|| "nothing".into(), |op| self.model.describe_op(op))
    }

    fn datum(&self, op: usize) -> Datum {
        self.op(op).map_or(Datum::Nil, |op| self.model.datum(op))
    }

    fn part(&self, op: usize) -> Option<u64> {
        self.op(op).and_then(|op| self.model.shortcuts().part(op))
    }

    fn states(&self, ops: &[u32], order: &[u32], from: usize) -> Vec<String> {
        let budget = Budget::default();
        let mut states = vec![self.model.init()];
        let mut texts = Vec::new();
        for (at, op) in order.iter().enumerate() {
            if at >= from {
                texts.push(self.describe(&states));
            }
            let op = self.op(index(ops[index(*op)]));
            let mut reached: Vec<S::State> = Vec::new();
            for state in &states {
                for next in op.into_iter().flat_map(|op| self.model.step(state, op, &budget)) {
                    if !reached.contains(&next) {
                        reached.push(next);
                    }
                }
            }
            states = reached;
        }
        texts.push(self.describe(&states));
        texts
    }
}

/// Shortens a state's description that may be long.
pub(super) fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 120;
    match text.char_indices().nth(CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => {
            let tail = text.char_indices().rev().nth(CHARS_MAX / 4).map_or(text.len(), |(start, _)| start.max(end));
            format!("{} ... {}", &text[..end], &text[tail..])
        }
    }
}
