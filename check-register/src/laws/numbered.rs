//! A model whose operations and states are numbers, so that the laws, and their search, are compiled once for all
//! models.

use super::Broken;
use crate::{Access, Collection, Handling, Model, Settlement, Shortcuts};
use history_core::Budget;
use history_core::hash::{HashMap, RandomState};
use indexmap::IndexSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A model in the form that the laws use.
pub(super) type Numbers<'m> = &'m dyn Model<State = usize, Op = usize, Next = Vec<usize>>;

/// A model with some of its operations, by their positions in a list, and all states that were reached, by number.
pub(super) struct Numbered<'m, M: Model> {
    model: &'m M,
    ops: &'m [M::Op],
    seen: Mutex<Seen<M::State>>,
}

struct Seen<S> {
    states: IndexSet<S, RandomState>,
    /// The states that an operation leads to from a state, each once.
    steps: HashMap<(usize, usize), Vec<usize>>,
}

impl<'m, M: Model> Numbered<'m, M> {
    pub(super) fn new(model: &'m M, ops: &'m [M::Op]) -> Numbered<'m, M> {
        let seen = Seen { states: IndexSet::default(), steps: HashMap::default() };
        Numbered { model, ops, seen: Mutex::new(seen) }
    }

    fn seen(&self) -> MutexGuard<'_, Seen<M::State>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn number(&self, state: M::State) -> usize {
        self.seen().states.insert_full(state).0
    }

    fn state(&self, number: usize) -> M::State {
        self.seen().states[number].clone()
    }

    fn own(&self) -> &dyn Shortcuts<M::State, M::Op> {
        self.model.shortcuts()
    }

    /// Steps must be the same whenever they are computed, and a copy of a state is equal to it.
    pub(super) fn breaks_steps(&self, states: &[usize]) -> Option<Broken> {
        let budget = Budget::default();
        for state in states.iter().map(|state| self.state(*state)) {
            for op in self.ops {
                let [once, again] = [(); 2].map(|()| self.model.step(&state.clone(), op, &budget).into_iter());
                let [once, again] = [once.collect::<Vec<_>>(), again.collect()];
                if once != again {
                    return Some(Broken {
                        law: "step",
                        state: self.model.describe_state(&state),
                        ops: vec![self.model.describe_op(op)],
                        expected: "the same states from a copy of the state".into(),
                        found: format!("{once:?} and {again:?}"),
                    });
                }
            }
        }
        None
    }
}

impl<M: Model<State: Send>> Model for Numbered<'_, M> {
    type State = usize;
    type Op = usize;
    type Next = Vec<usize>;

    fn init(&self) -> usize {
        self.number(self.model.init())
    }

    fn step(&self, state: &usize, op: &usize, budget: &Budget) -> Vec<usize> {
        if let Some(known) = self.seen().steps.get(&(*state, *op)) {
            return known.clone();
        }
        let before = self.state(*state);
        let mut next: Vec<usize> = Vec::new();
        for after in self.model.step(&before, &self.ops[*op], budget) {
            let number = self.number(after);
            if !next.contains(&number) {
                next.push(number);
            }
        }
        self.seen().steps.insert((*state, *op), next.clone());
        next
    }

    fn shortcuts(&self) -> &dyn Shortcuts<usize, usize> {
        self
    }

    fn describe_op(&self, op: &usize) -> String {
        self.model.describe_op(&self.ops[*op])
    }

    fn describe_state(&self, state: &usize) -> String {
        self.model.describe_state(&self.state(*state))
    }

    fn describe_part(&self, part: u64) -> String {
        self.model.describe_part(part)
    }
}

impl<M: Model<State: Send>> Shortcuts<usize, usize> for Numbered<'_, M> {
    fn reads_only(&self, op: &usize) -> bool {
        self.own().reads_only(&self.ops[*op])
    }

    fn effect(&self, op: &usize) -> Option<u64> {
        self.own().effect(&self.ops[*op])
    }

    fn sees(&self, op: &usize, effects: &mut Vec<u64>) -> bool {
        self.own().sees(&self.ops[*op], effects)
    }

    fn needs(&self, op: &usize) -> Option<u64> {
        self.own().needs(&self.ops[*op])
    }

    fn effect_lasts(&self, op: &usize) -> bool {
        self.own().effect_lasts(&self.ops[*op])
    }

    fn may_see(&self, op: &usize, other: &usize) -> bool {
        self.own().may_see(&self.ops[*op], &self.ops[*other])
    }

    fn pend(&self, state: &usize, op: &usize) -> Option<usize> {
        let next = self.own().pend(&self.state(*state), &self.ops[*op]);
        next.map(|next| self.number(next))
    }

    fn begin(&self, state: &usize, op: &usize, flight: u32) -> Option<usize> {
        let next = self.own().begin(&self.state(*state), &self.ops[*op], flight);
        next.map(|next| self.number(next))
    }

    fn end(&self, state: &usize, op: &usize, flight: u32) -> usize {
        let next = self.own().end(&self.state(*state), &self.ops[*op], flight);
        self.number(next)
    }

    fn may_wait(&self, op: &usize) -> bool {
        self.own().may_wait(&self.ops[*op])
    }

    fn settle(&self, settlement: &mut Settlement<'_, usize, usize>) {
        let [before, after] = [*settlement.before, *settlement.after].map(|state| self.state(state));
        self.own().settle(&mut Settlement {
            step: settlement.step,
            moment: settlement.moment,
            op: &self.ops[*settlement.op],
            before: &before,
            after: &after,
            notes: settlement.notes,
            happened: settlement.happened,
        });
    }

    fn part(&self, op: &usize) -> Option<u64> {
        self.own().part(&self.ops[*op])
    }

    fn states_are_of_parts(&self) -> bool {
        self.own().states_are_of_parts()
    }

    fn access(&self, op: &usize) -> Option<Access> {
        self.own().access(&self.ops[*op])
    }

    fn initial_access(&self) -> Option<i64> {
        self.own().initial_access()
    }

    fn collection(&self) -> Option<Collection> {
        self.own().collection()
    }

    fn collection_of(&self, ops: &mut dyn Iterator<Item = &usize>) -> Option<(Collection, Vec<i64>)> {
        self.own().collection_of(&mut ops.map(|op| &self.ops[*op]))
    }

    fn handling<'a>(&'a self, op: &'a usize) -> Option<Handling<'a>> {
        self.own().handling(&self.ops[*op])
    }

    fn priority(&self, value: i64) -> i64 {
        self.own().priority(value)
    }

    fn is_at_front(&self, op: &usize) -> bool {
        self.own().is_at_front(&self.ops[*op])
    }

    fn contents(&self) -> Vec<i64> {
        self.own().contents()
    }
}
