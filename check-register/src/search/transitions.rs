//! The steps of a model as a table: states and operations are ids, and known steps are cached.

use super::part::Part;
use super::paths::Placed;
use crate::engine::ids;
use crate::engine::ids::{ClassId, StateId, index};
use crate::engine::rows::Rows;
use crate::engine::steps::{Next, Steps};
use crate::{Model, Moment, Settlement};
use history_core::{Budget, Spent};
use indexmap::set::Slice;
use std::any::Any;

/// The steps of a model.
///
/// Each state is stored once, and discarded when no configuration has it: see [`Transitions::sweep`].
pub(crate) struct Transitions<'m> {
    steps: Steps,
    states: Box<dyn States + 'm>,
    scratch: Vec<StateId>,
    budget: &'m Budget,
    spent: Option<Spent>,
}

impl<'m> Transitions<'m> {
    pub(crate) fn new<M: Model>(model: &'m M, classes: &'m Slice<M::Op>, budget: &'m Budget) -> Transitions<'m> {
        let states = Table { model, classes, budget, states: Rows::new() };
        Transitions { steps: Steps::new(), states: Box::new(states), scratch: Vec::new(), budget, spent: None }
    }

    /// The initial state.
    pub(crate) fn init(&mut self) -> StateId {
        self.states.init()
    }

    /// The result of `class` in `state`.
    #[inline]
    pub(crate) fn next(&mut self, state: StateId, class: ClassId) -> Next {
        match self.steps.get(state, class) {
            Some(next) => next,
            None => self.step(state, class),
        }
    }

    #[cold]
    fn step(&mut self, state: StateId, class: ClassId) -> Next {
        self.scratch.clear();
        self.states.step(state, class, &mut self.scratch);
        if let Err(spent) = self.budget.check(0, 0) {
            self.spent = Some(spent);
        }
        self.steps.insert(state, class, &self.scratch)
    }

    /// The state after the call or the return of an operation that states store.
    pub(crate) fn remember(&mut self, state: StateId, class: ClassId, moment: Moment) -> StateId {
        self.states.remember(state, class, moment)
    }

    /// Discards all states except this one, if enough are stored for a sweep.
    fn keep_only(&mut self, state: StateId) {
        if self.wants_sweep() {
            self.sweep(std::iter::once(state));
        }
    }

    /// A path in which the operations that states stored are placed where they took effect.
    pub(crate) fn settle(&mut self, part: &Part, path: &[Placed]) -> Vec<Placed> {
        let mut replay = Replay { notes: None, happened: Vec::new(), steps: Vec::with_capacity(path.len()) };
        let mut state = self.init();
        let mut begun = vec![false; part.ops.len()];
        for (at, one) in path.iter().enumerate() {
            let (class, moment) = match one {
                Placed::Op(op) => (part.ops[ids::index(*op)].class, Moment::Place),
                Placed::Crashed(class) => (part.crashed[ids::index(*class)], Moment::Place),
                Placed::Marked(op) => {
                    let returns = std::mem::replace(&mut begun[ids::index(*op)], true);
                    (part.ops[ids::index(*op)].class, part.ops[ids::index(*op)].moment(returns))
                }
                Placed::Chosen(_) => continue,
            };
            let after = match (moment, path.get(at + 1)) {
                (Moment::Place, chosen) => match (self.next(state, class), chosen) {
                    (Next::One(after), _) => after,
                    (Next::Many { first, count }, Some(Placed::Chosen(choice))) if *choice < count => {
                        self.choice(first + choice)
                    }
                    // The model gave a different answer before: nothing can be concluded about the following steps.
                    _ => break,
                },
                _ => self.remember(state, class, moment),
            };
            replay.steps.push(*one);
            self.states.settle(&mut replay, moment, class, (state, after));
            state = after;
            self.keep_only(state);
        }
        if let Some(last) = replay.steps.last() {
            let class = match last {
                Placed::Op(op) | Placed::Marked(op) => part.ops[ids::index(*op)].class,
                Placed::Crashed(class) | Placed::Chosen(class) => part.crashed[ids::index(*class)],
            };
            replay.steps.push(Placed::Chosen(0));
            self.states.settle(&mut replay, Moment::Finish, class, (state, state));
        }
        replay.order(part)
    }

    /// The budget that ran out during a step of the model, if one did. Results found since then must not be used.
    #[inline]
    pub(crate) fn spent(&self) -> Option<Spent> {
        self.spent
    }

    /// One of the states of [`Next::Many`].
    #[inline]
    pub(crate) fn choice(&self, at: u32) -> StateId {
        self.steps.choice(at)
    }

    /// Returns true if enough states are stored for [`Transitions::sweep`].
    #[inline]
    pub(crate) fn wants_sweep(&self) -> bool {
        self.states.wants_collect(self.steps.choices())
    }

    /// Discards all states except `live`, whose ids do not change.
    pub(crate) fn sweep(&mut self, live: impl Iterator<Item = StateId>) {
        let live: Vec<StateId> = live.collect();
        self.states.sweep(&live);
        self.steps.clear();
    }

    /// Memory in bytes, without heap memory of states.
    pub(crate) fn bytes(&self) -> usize {
        self.states.bytes() + self.steps.bytes()
    }

    /// The description of a state in reports.
    pub(crate) fn describe_state(&self, state: StateId) -> String {
        self.states.describe(state)
    }
}

/// A path that is being converted into an order of operations.
struct Replay {
    /// The model's notes.
    notes: Option<Box<dyn Any>>,
    /// Pairs of steps: just before the first, the operation stored at the second took effect.
    happened: Vec<(u64, u64)>,
    steps: Vec<Placed>,
}

impl Replay {
    /// The placed operations, and between them the stored operations where they took effect.
    fn order(mut self, part: &Part) -> Vec<Placed> {
        // The sort is stable: of operations before the same step, the one named first comes first.
        self.happened.sort_by_key(|(before, _)| *before);
        let mut order = Vec::with_capacity(self.steps.len());
        let mut next = self.happened.iter().peekable();
        for (step, one) in (1..).zip(&self.steps) {
            while let Some((_, began)) = next.next_if(|(before, _)| *before <= step) {
                let began = began.checked_sub(1).and_then(|at| self.steps.get(usize::try_from(at).ok()?));
                if let Some(Placed::Marked(op)) = began {
                    let this = &part.ops[ids::index(*op)];
                    order.push(if this.is_crashed() { Placed::Crashed(this.slot) } else { Placed::Op(*op) });
                }
            }
            if let Placed::Op(_) | Placed::Crashed(_) = one {
                order.push(*one);
            }
        }
        order
    }
}

/// The states of a model of any type.
trait States {
    fn init(&mut self) -> StateId;
    fn step(&mut self, state: StateId, class: ClassId, next: &mut Vec<StateId>);
    fn remember(&mut self, state: StateId, class: ClassId, moment: Moment) -> StateId;
    /// Passes the last step of `replay.steps`, from one state to another, to the model.
    fn settle(&self, replay: &mut Replay, moment: Moment, class: ClassId, states: (StateId, StateId));
    fn wants_collect(&self, more: usize) -> bool;
    fn bytes(&self) -> usize;
    fn sweep(&mut self, live: &[StateId]);
    fn describe(&self, state: StateId) -> String;
}

struct Table<'m, M: Model> {
    model: &'m M,
    classes: &'m Slice<M::Op>,
    budget: &'m Budget,
    states: Rows<M::State>,
}

impl<M: Model> Table<'_, M> {
    fn intern(&mut self, state: M::State) -> StateId {
        StateId::new(index(self.states.intern(state)))
    }

    fn state(&self, id: StateId) -> &M::State {
        self.states.get(id.number())
    }
}

impl<M: Model> States for Table<'_, M> {
    fn init(&mut self) -> StateId {
        self.intern(self.model.init())
    }

    fn step(&mut self, state: StateId, class: ClassId, next: &mut Vec<StateId>) {
        for state in self.model.step(self.state(state), &self.classes[class.at()], self.budget) {
            next.push(self.intern(state));
        }
    }

    fn remember(&mut self, state: StateId, class: ClassId, moment: Moment) -> StateId {
        let (before, op) = (self.state(state), &self.classes[class.at()]);
        let after = match moment {
            Moment::Pend => self.model.shortcuts().pend(before, op),
            Moment::Begin { flight } => self.model.shortcuts().begin(before, op, flight),
            Moment::End { flight } => Some(self.model.shortcuts().end(before, op, flight)),
            Moment::Place | Moment::Finish => None,
        };
        after.map_or(state, |after| self.intern(after))
    }

    fn settle(&self, replay: &mut Replay, moment: Moment, class: ClassId, (before, after): (StateId, StateId)) {
        self.model.shortcuts().settle(&mut Settlement {
            step: ids::count(replay.steps.len()),
            moment,
            op: &self.classes[class.at()],
            before: self.state(before),
            after: self.state(after),
            notes: &mut replay.notes,
            happened: &mut replay.happened,
        });
    }

    fn wants_collect(&self, more: usize) -> bool {
        self.states.wants_collect(more)
    }

    fn bytes(&self) -> usize {
        self.states.bytes()
    }

    fn sweep(&mut self, live: &[StateId]) {
        let mut keep = vec![false; self.states.numbers()];
        for id in live {
            keep[id.at()] = true;
        }
        self.states.collect(&keep);
    }

    fn describe(&self, state: StateId) -> String {
        self.model.describe_state(self.state(state))
    }
}
