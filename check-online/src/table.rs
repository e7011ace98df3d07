//! The model as a table that forgets: states and operations are ids, and a step that was taken once is looked up.

use crate::OnlineModel;
use crate::rows::{Rows, hash, id, mix};
use history_core::hash::HashMap;
use history_core::{Budget, parallel};

id! {
    /// What an operation does: equal operations are one class.
    ClassId
}
id! {
    /// A state of the model.
    StateId
}

#[cfg(test)]
impl StateId {
    /// The state at the start.
    pub(crate) const FIRST: StateId = StateId(0);
}

/// Where a step leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// The model does not admit it.
    Nowhere,
    /// The usual case.
    One(StateId),
    /// `Table::choice(first)` and so on, this many.
    Many { first: u32, count: u32 },
}

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

#[derive(Clone, Copy)]
struct Cached {
    state: StateId,
    class: ClassId,
    /// `None` if the entry is empty.
    next: Option<Next>,
}

/// Entries of the cache of steps, as a power of two.
const CACHE_BITS: u32 = 12;

/// The model, and what is in use of its operations and states. Memory follows these: see [`Table::collect`].
pub(crate) struct Table<M: OnlineModel> {
    pub(crate) model: M,
    classes: Rows<Class<M::Op>>,
    states: Rows<M::State>,
    cache: Vec<Cached>,
    /// Steps that were taken ahead, while there are very many to be taken.
    ahead: HashMap<(StateId, ClassId), Next>,
    choices: Vec<StateId>,
    scratch: Vec<u64>,
    budget: Budget,
}

impl<M: OnlineModel> Table<M> {
    pub(crate) fn new(model: M) -> Table<M> {
        let empty = Cached { state: StateId(0), class: ClassId(0), next: None };
        Table {
            model,
            classes: Rows::new(),
            states: Rows::new(),
            cache: vec![empty; 1 << CACHE_BITS],
            ahead: HashMap::default(),
            choices: Vec::new(),
            scratch: Vec::new(),
            budget: Budget::default(),
        }
    }

    /// The state at the start.
    pub(crate) fn init(&mut self) -> StateId {
        let init = self.model.init();
        self.state(init)
    }

    fn state(&mut self, state: M::State) -> StateId {
        StateId(self.states.intern(hash(&state), |other| *other == state, hash, || state.clone()))
    }

    /// The class of an operation.
    pub(crate) fn class(&mut self, op: &M::Op) -> ClassId {
        let model = &self.model;
        let new = || Class { op: op.clone(), reads_only: model.reads_only(op), sees: Sees::NotAsked };
        ClassId(self.classes.intern(hash(op), |other| other.op == *op, |class| hash(&class.op), new))
    }

    #[inline]
    pub(crate) fn op(&self, class: ClassId) -> &M::Op {
        &self.classes.get(class.0).op
    }

    /// Whether operations of a class never change the state.
    #[inline]
    pub(crate) fn reads_only(&self, class: ClassId) -> bool {
        self.classes.get(class.0).reads_only
    }

    /// What operations of a class see of the effects of others.
    pub(crate) fn sees(&mut self, class: ClassId) -> &Sees {
        let row = self.classes.get_mut(class.0);
        if row.sees == Sees::NotAsked {
            self.scratch.clear();
            row.sees = if self.model.sees(&row.op, &mut self.scratch) {
                Sees::Any
            } else {
                Sees::These(match self.scratch[..] {
                    [] => Effects::None,
                    [one] => Effects::One(one),
                    [..] => Effects::Many(self.scratch.as_slice().into()),
                })
            };
        }
        &row.sees
    }

    /// Whether an operation of one class may see that one of another happened.
    pub(crate) fn may_see(&self, class: ClassId, other: ClassId) -> bool {
        self.model.may_see(self.op(class), self.op(other))
    }

    /// Where `class` leads from `state`.
    #[inline]
    pub(crate) fn next(&mut self, state: StateId, class: ClassId) -> Next {
        let at = place(state, class);
        match &self.cache[at] {
            Cached { state: s, class: c, next: Some(next) } if *s == state && *c == class => *next,
            _ => self.step(at, state, class),
        }
    }

    fn step(&mut self, at: usize, state: StateId, class: ClassId) -> Next {
        if !self.ahead.is_empty()
            && let Some(next) = self.ahead.get(&(state, class))
        {
            return *next;
        }
        let states = self.model.step(self.states.get(state.0), self.op(class), &self.budget).into_iter();
        self.admit(at, state, class, states)
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
                let next = model.step(states.get(state.0), &classes.get(class.0).op, budget);
                next.into_iter().collect::<Vec<M::State>>()
            };
            run.iter().map(step).collect::<Vec<_>>()
        });
        // In one order, whoever took them, so that ids are the same.
        for ((state, class), next) in steps.into_iter().zip(taken.into_iter().flatten()) {
            let next = self.admit(place(state, class), state, class, next.into_iter());
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
    fn admit(&mut self, at: usize, state: StateId, class: ClassId, mut states: impl Iterator<Item = M::State>) -> Next {
        let next = match states.next() {
            None => Next::Nowhere,
            Some(one) => {
                let one = self.state(one);
                match states.next() {
                    None => Next::One(one),
                    Some(two) => {
                        let first = self.choices.len() as u32;
                        self.choices.push(one);
                        for more in std::iter::once(two).chain(states) {
                            let more = self.state(more);
                            self.choices.push(more);
                        }
                        Next::Many { first, count: self.choices.len() as u32 - first }
                    }
                }
            }
        };
        self.cache[at] = Cached { state, class, next: Some(next) };
        next
    }

    /// One of the states of [`Next::Many`].
    #[inline]
    pub(crate) fn choice(&self, at: u32) -> StateId {
        self.choices[at as usize]
    }

    /// Whether a state admits operations of a class.
    #[inline]
    pub(crate) fn admits(&mut self, state: StateId, class: ClassId) -> bool {
        self.next(state, class) != Next::Nowhere
    }

    /// Whether it is time for [`Table::collect`].
    #[inline]
    pub(crate) fn wants_collect(&self) -> bool {
        self.states.wants_collect(self.choices.len()) || self.classes.wants_collect(0)
    }

    /// Forgets all states and classes but those that `mark` marks. Ids stay.
    pub(crate) fn collect(&mut self, mark: impl FnOnce(&mut Marks<StateId>, &mut Marks<ClassId>)) {
        let mut states = Marks::new(self.states.len());
        let mut classes = Marks::new(self.classes.len());
        mark(&mut states, &mut classes);
        self.states.collect(&states.marked);
        self.classes.collect(&classes.marked);
        self.cache.iter_mut().for_each(|cached| cached.next = None);
        self.choices.clear();
    }

    /// What a reader is shown of a state.
    pub(crate) fn describe_state(&self, state: StateId) -> String {
        self.model.describe_state(self.states.get(state.0))
    }

    /// What a reader is shown of an operation.
    pub(crate) fn describe_class(&self, class: ClassId) -> String {
        self.model.describe_op(self.op(class))
    }
}

/// The entry of the cache for a step.
#[inline]
fn place(state: StateId, class: ClassId) -> usize {
    (mix((u64::from(state.0)) << 32 | u64::from(class.0)) >> (64 - CACHE_BITS)) as usize
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
