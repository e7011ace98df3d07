//! The rules of a model, by ids: states and operations are interned here, so that all other code is compiled once for
//! all models.

use crate::OnlineModel;
use check_register::engine::ids::{ClassId, StateId, index};
use check_register::engine::rows::Rows;
use check_register::{Collection, Handling};
use history_core::hash::hash_one;
use history_core::{Budget, parallel};

/// The effects that operations of a class can observe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sees {
    /// Not determined yet.
    NotAsked,
    /// Any.
    Any,
    /// These.
    These(Effects),
}

/// Effects, most often at most one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Effects {
    None,
    One(u64),
    Many(Box<[u64]>),
}

impl Effects {
    pub(crate) fn as_slice(&self) -> &[u64] {
        match self {
            Effects::None => &[],
            Effects::One(one) => std::slice::from_ref(one),
            Effects::Many(many) => many,
        }
    }
}

/// A state, and the class of an operation to be taken in it.
pub(crate) type Step = (StateId, ClassId);

/// The queries to a model of any type.
pub(crate) trait Rules {
    /// The state at the start.
    fn init(&mut self) -> StateId;

    /// Appends the states to which `class` leads from `state`.
    fn step(&mut self, state: StateId, class: ClassId, budget: &Budget, into: &mut Vec<StateId>);

    /// Computes many steps, on several threads, and passes each with the states to which it leads to `take`, in their
    /// order.
    fn steps(&mut self, steps: &[Step], budget: &Budget, take: &mut dyn FnMut(Step, &[StateId]));

    /// Returns true if operations of a class never change the state.
    fn reads_only(&self, class: ClassId) -> bool;

    /// The effects of others that operations of a class can observe.
    fn sees(&mut self, class: ClassId) -> &Sees;

    /// Returns true if an operation of one class may observe an operation of another.
    fn may_see(&self, class: ClassId, other: ClassId) -> bool;

    /// The effect of operations of a class that others may observe, and whether they may always observe it.
    fn effect(&self, class: ClassId) -> (Option<u64>, bool);

    /// The part of the object that operations of a class belong to.
    fn part(&self, class: ClassId) -> Option<u64>;

    /// How operations of a class move an element of a collection.
    fn handling(&self, class: ClassId) -> Option<Handling<'_>>;

    /// Returns true if operations of a class insert or remove at the front, if there are two ends.
    fn is_at_front(&self, class: ClassId) -> bool;

    /// The priority of an element.
    fn priority(&self, value: i64) -> i64;

    /// The type of the collection, if the object is one, and its initial content.
    fn collection(&self) -> Option<(Collection, Vec<i64>)>;

    /// The description of a state for the reader.
    fn describe_state(&self, state: StateId) -> String;

    /// The description of an operation for the reader.
    fn describe_class(&self, class: ClassId) -> String;

    /// The description of a part for the reader.
    fn describe_part(&self, part: u64) -> String;

    /// Returns true if there are many new states, together with `choices`, or many new classes, since the last
    /// collection.
    fn wants_collect(&self, choices: usize) -> bool;

    /// Upper bounds of the numbers of states and of classes.
    fn numbers(&self) -> (usize, usize);

    /// Discards all states and classes except these.
    fn collect(&mut self, states: &[bool], classes: &[bool]);
}

/// An operation that occurs in a history.
#[derive(Debug)]
struct Class<O> {
    op: O,
    reads_only: bool,
    sees: Sees,
}

/// A model, with its operations and states in use. Memory grows with these.
pub(crate) struct ModelRules<M: OnlineModel> {
    pub(crate) model: M,
    classes: Rows<Class<M::Op>>,
    states: Rows<M::State>,
    effects: Vec<u64>,
}

impl<M: OnlineModel> ModelRules<M> {
    pub(crate) fn new(model: M) -> ModelRules<M> {
        ModelRules { model, classes: Rows::new(), states: Rows::new(), effects: Vec::new() }
    }

    fn state(&mut self, state: M::State) -> StateId {
        StateId::new(index(self.states.intern(state)))
    }

    /// The class of an operation.
    pub(crate) fn class(&mut self, op: &M::Op) -> ClassId {
        let model = &self.model;
        let new = || Class { op: op.clone(), reads_only: model.shortcuts().reads_only(op), sees: Sees::NotAsked };
        let id = self.classes.intern_with(hash_one(op), |other| other.op == *op, |class| hash_one(&class.op), new);
        ClassId::new(index(id))
    }

    #[inline]
    pub(crate) fn op(&self, class: ClassId) -> &M::Op {
        &self.classes.get(class.number()).op
    }
}

impl<M: OnlineModel> Rules for ModelRules<M> {
    fn init(&mut self) -> StateId {
        let init = self.model.init();
        self.state(init)
    }

    fn step(&mut self, state: StateId, class: ClassId, budget: &Budget, into: &mut Vec<StateId>) {
        for state in self.model.step(self.states.get(state.number()), self.op(class), budget) {
            into.push(self.state(state));
        }
    }

    fn steps(&mut self, steps: &[Step], budget: &Budget, take: &mut dyn FnMut(Step, &[StateId])) {
        let ModelRules { model, states, classes, .. } = &*self;
        // A thread takes this many in a row.
        let runs: Vec<&[Step]> = steps.chunks(256).collect();
        let taken = parallel::map(runs.len() > 1, &runs, |run| {
            let step = |(state, class): &Step| {
                let next = model.step(states.get(state.number()), &classes.get(class.number()).op, budget);
                next.into_iter().collect::<Vec<M::State>>()
            };
            run.iter().map(step).collect::<Vec<_>>()
        });
        // The results are processed in one order, independently of the threads, so that ids are the same.
        let mut reached = Vec::new();
        for (step, next) in steps.iter().zip(taken.into_iter().flatten()) {
            reached.clear();
            for state in next {
                reached.push(self.state(state));
            }
            take(*step, &reached);
        }
    }

    #[inline]
    fn reads_only(&self, class: ClassId) -> bool {
        self.classes.get(class.number()).reads_only
    }

    fn sees(&mut self, class: ClassId) -> &Sees {
        let row = self.classes.get_mut(class.number());
        if row.sees == Sees::NotAsked {
            self.effects.clear();
            row.sees = if self.model.shortcuts().sees(&row.op, &mut self.effects) {
                Sees::Any
            } else {
                Sees::These(match self.effects[..] {
                    [] => Effects::None,
                    [one] => Effects::One(one),
                    [..] => Effects::Many(self.effects.as_slice().into()),
                })
            };
        }
        &row.sees
    }

    fn may_see(&self, class: ClassId, other: ClassId) -> bool {
        self.model.shortcuts().may_see(self.op(class), self.op(other))
    }

    fn effect(&self, class: ClassId) -> (Option<u64>, bool) {
        let (shortcuts, op) = (self.model.shortcuts(), self.op(class));
        let effect = shortcuts.effect(op);
        (effect, effect.is_none() || shortcuts.effect_lasts(op))
    }

    fn part(&self, class: ClassId) -> Option<u64> {
        self.model.shortcuts().part(self.op(class))
    }

    fn handling(&self, class: ClassId) -> Option<Handling<'_>> {
        self.model.shortcuts().handling(self.op(class))
    }

    fn is_at_front(&self, class: ClassId) -> bool {
        self.model.shortcuts().is_at_front(self.op(class))
    }

    fn priority(&self, value: i64) -> i64 {
        self.model.shortcuts().priority(value)
    }

    fn collection(&self) -> Option<(Collection, Vec<i64>)> {
        let shortcuts = self.model.shortcuts();
        shortcuts.collection().map(|collection| (collection, shortcuts.contents()))
    }

    fn describe_state(&self, state: StateId) -> String {
        self.model.describe_state(self.states.get(state.number()))
    }

    fn describe_class(&self, class: ClassId) -> String {
        self.model.describe_op(self.op(class))
    }

    fn describe_part(&self, part: u64) -> String {
        self.model.describe_part(part)
    }

    #[inline]
    fn wants_collect(&self, choices: usize) -> bool {
        self.states.wants_collect(choices) || self.classes.wants_collect(0)
    }

    fn numbers(&self) -> (usize, usize) {
        (self.states.numbers(), self.classes.numbers())
    }

    fn collect(&mut self, states: &[bool], classes: &[bool]) {
        self.states.collect(states);
        self.classes.collect(classes);
    }
}
