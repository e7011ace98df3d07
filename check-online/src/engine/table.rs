//! The model as a table that forgets: states and operations are ids, and a step that was taken once is looked up.

use crate::OnlineModel;
use check_register::engine::ids::{ClassId, StateId, index};
use check_register::engine::rows::Rows;
use check_register::engine::steps::{Next, Steps};
use history_core::hash::{HashMap, hash_one};
use history_core::{Budget, parallel};

/// The effects that operations of a class see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sees {
    /// Nobody has asked.
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

/// An operation that some history has.
#[derive(Debug)]
struct Class<O> {
    op: O,
    reads_only: bool,
    sees: Sees,
}

/// The model, and what is in use of its operations and states. Memory follows these: see [`Table::collect`].
pub(crate) struct Table<M: OnlineModel> {
    pub(crate) model: M,
    classes: Rows<Class<M::Op>>,
    states: Rows<M::State>,
    steps: Steps,
    /// Steps that were taken ahead, while there are very many to be taken.
    ahead: HashMap<(StateId, ClassId), Next>,
    effects: Vec<u64>,
    /// Where a step leads.
    reached: Vec<StateId>,
    budget: Budget,
}

impl<M: OnlineModel> Table<M> {
    pub(crate) fn new(model: M) -> Table<M> {
        Table {
            model,
            classes: Rows::new(),
            states: Rows::new(),
            steps: Steps::new(),
            ahead: HashMap::default(),
            effects: Vec::new(),
            reached: Vec::new(),
            budget: Budget::default(),
        }
    }

    /// The state at the start.
    pub(crate) fn init(&mut self) -> StateId {
        let init = self.model.init();
        self.state(init)
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

    /// Whether operations of a class never change the state.
    #[inline]
    pub(crate) fn reads_only(&self, class: ClassId) -> bool {
        self.classes.get(class.number()).reads_only
    }

    /// What operations of a class see of the effects of others.
    pub(crate) fn sees(&mut self, class: ClassId) -> &Sees {
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

    /// Whether an operation of one class may see that one of another happened.
    pub(crate) fn may_see(&self, class: ClassId, other: ClassId) -> bool {
        self.model.shortcuts().may_see(self.op(class), self.op(other))
    }

    /// Where `class` leads from `state`.
    #[inline]
    pub(crate) fn next(&mut self, state: StateId, class: ClassId) -> Next {
        match self.steps.get(state, class) {
            Some(next) => next,
            None => self.step(state, class),
        }
    }

    fn step(&mut self, state: StateId, class: ClassId) -> Next {
        if !self.ahead.is_empty()
            && let Some(next) = self.ahead.get(&(state, class))
        {
            return *next;
        }
        let states = self.model.step(self.states.get(state.number()), self.op(class), &self.budget).into_iter();
        self.admit(state, class, states)
    }

    /// Takes many steps at one time, for [`Table::next`] to look up until [`Table::forget_ahead`].
    pub(crate) fn step_ahead(&mut self, mut steps: Vec<(StateId, ClassId)>) {
        steps.sort_unstable();
        steps.dedup();
        steps.retain(|step| !self.ahead.contains_key(step));
        let Table { model, states, classes, budget, .. } = &*self;
        // A thread takes this many in a row.
        let runs: Vec<&[(StateId, ClassId)]> = steps.chunks(256).collect();
        let taken = parallel::map(runs.len() > 1, &runs, |run| {
            let step = |(state, class): &(StateId, ClassId)| {
                let next = model.step(states.get(state.number()), &classes.get(class.number()).op, budget);
                next.into_iter().collect::<Vec<M::State>>()
            };
            run.iter().map(step).collect::<Vec<_>>()
        });
        // In one order, whoever took them, so that ids are the same.
        for ((state, class), next) in steps.into_iter().zip(taken.into_iter().flatten()) {
            let next = self.admit(state, class, next.into_iter());
            self.ahead.insert((state, class), next);
        }
    }

    /// The steps taken ahead are of no more use.
    pub(crate) fn forget_ahead(&mut self) {
        if !self.ahead.is_empty() {
            self.ahead = HashMap::default();
        }
    }

    /// Notes where a step leads.
    fn admit(&mut self, state: StateId, class: ClassId, states: impl Iterator<Item = M::State>) -> Next {
        self.reached.clear();
        for state in states {
            self.reached.push(StateId::new(index(self.states.intern(state))));
        }
        self.steps.insert(state, class, &self.reached)
    }

    /// One of the states of [`Next::Many`].
    #[inline]
    pub(crate) fn choice(&self, at: u32) -> StateId {
        self.steps.choice(at)
    }

    /// Whether a state admits operations of a class.
    #[inline]
    pub(crate) fn admits(&mut self, state: StateId, class: ClassId) -> bool {
        self.next(state, class) != Next::Nowhere
    }

    /// Whether it is time for [`Table::collect`].
    #[inline]
    pub(crate) fn wants_collect(&self) -> bool {
        self.states.wants_collect(self.steps.choices()) || self.classes.wants_collect(0)
    }

    /// Forgets all states and classes but those that `mark` marks. Ids stay.
    pub(crate) fn collect(&mut self, mark: impl FnOnce(&mut Marks<StateId>, &mut Marks<ClassId>)) {
        let mut states = Marks::new(self.states.numbers());
        let mut classes = Marks::new(self.classes.numbers());
        mark(&mut states, &mut classes);
        self.states.collect(&states.marked);
        self.classes.collect(&classes.marked);
        self.steps.clear();
    }

    /// What a reader is shown of a state.
    pub(crate) fn describe_state(&self, state: StateId) -> String {
        self.model.describe_state(self.states.get(state.number()))
    }

    /// What a reader is shown of an operation.
    pub(crate) fn describe_class(&self, class: ClassId) -> String {
        self.model.describe_op(self.op(class))
    }
}

/// Which ids are in use.
pub(crate) struct Marks<I> {
    marked: Vec<bool>,
    of: std::marker::PhantomData<I>,
}

impl<I> Marks<I> {
    fn new(len: usize) -> Marks<I> {
        Marks { marked: vec![false; len], of: std::marker::PhantomData }
    }
}

impl Marks<StateId> {
    #[inline]
    pub(crate) fn mark(&mut self, id: StateId) {
        self.marked[id.at()] = true;
    }
}

impl Marks<ClassId> {
    #[inline]
    pub(crate) fn mark(&mut self, id: ClassId) {
        self.marked[id.at()] = true;
    }
}
