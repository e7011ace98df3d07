//! The model as a table that discards unused entries: states and operations are ids, and known steps are cached.

use super::rules::{Rules, Sees, Step};
use check_register::engine::ids::{ClassId, StateId};
use check_register::engine::steps::{Next, Steps};
use history_core::Budget;
use history_core::hash::HashMap;

/// The rules of a model, and the known steps. Memory grows with the operations and states in use: see
/// [`Table::collect`].
pub(crate) struct TableOf<R: ?Sized> {
    steps: Steps,
    /// Steps that were computed ahead, if there are very many.
    ahead: HashMap<Step, Next>,
    /// The states that a step leads to.
    reached: Vec<StateId>,
    budget: Budget,
    pub(crate) rules: R,
}

/// The table of any model.
pub(crate) type Table<'m> = TableOf<dyn Rules + 'm>;

impl<R> TableOf<R> {
    pub(crate) fn new(rules: R) -> TableOf<R> {
        TableOf {
            steps: Steps::new(),
            ahead: HashMap::default(),
            reached: Vec::new(),
            budget: Budget::default(),
            rules,
        }
    }
}

impl Table<'_> {
    /// Returns true if operations of a class never change the state.
    #[inline]
    pub(crate) fn reads_only(&self, class: ClassId) -> bool {
        self.rules.reads_only(class)
    }

    /// The effects of others that operations of a class can observe.
    #[inline]
    pub(crate) fn sees(&mut self, class: ClassId) -> &Sees {
        self.rules.sees(class)
    }

    /// The result of `class` in `state`.
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
        self.reached.clear();
        self.rules.step(state, class, &self.budget, &mut self.reached);
        self.steps.insert(state, class, &self.reached)
    }

    /// Computes many steps together, for [`Table::next`] to look up until [`Table::forget_ahead`].
    pub(crate) fn step_ahead(&mut self, mut steps: Vec<Step>) {
        steps.sort_unstable();
        steps.dedup();
        steps.retain(|step| !self.ahead.contains_key(step));
        let TableOf { rules, steps: taken, ahead, budget, .. } = self;
        rules.steps(&steps, budget, &mut |(state, class), reached| {
            ahead.insert((state, class), taken.insert(state, class, reached));
        });
    }

    /// Discards the steps that were computed ahead.
    pub(crate) fn forget_ahead(&mut self) {
        if !self.ahead.is_empty() {
            self.ahead = HashMap::default();
        }
    }

    /// One of the states of [`Next::Many`].
    #[inline]
    pub(crate) fn choice(&self, at: u32) -> StateId {
        self.steps.choice(at)
    }

    /// Returns true if an operation of a class is valid in a state.
    #[inline]
    pub(crate) fn admits(&mut self, state: StateId, class: ClassId) -> bool {
        self.next(state, class) != Next::Nowhere
    }

    /// Returns true if [`Table::collect`] is worthwhile.
    #[inline]
    pub(crate) fn wants_collect(&self) -> bool {
        self.rules.wants_collect(self.steps.choices())
    }

    /// Discards all states and classes except those that `mark` marks. Ids do not change.
    pub(crate) fn collect(&mut self, mark: impl FnOnce(&mut Marks<StateId>, &mut Marks<ClassId>)) {
        let (states, classes) = self.rules.numbers();
        let (mut states, mut classes) = (Marks::new(states), Marks::new(classes));
        mark(&mut states, &mut classes);
        self.rules.collect(&states.marked, &classes.marked);
        self.steps.clear();
    }
}

/// The ids in use.
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
