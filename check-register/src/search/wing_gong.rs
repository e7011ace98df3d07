//! Wing and Gong's search: one linearization at a time, depth first, stepping back if it cannot continue.
//!
//! Wing and Gong, "Testing and verifying concurrent objects" (J. Parallel and Distributed Computing 1993), with Lowe's
//! memoisation: a configuration that was reached before is not expanded again. As in the other search, the placed
//! operations are represented by the position of the first return whose operation was not placed, and a bit for each
//! operation in flight there. So the size of a configuration does not depend on the length of the history. The
//! operation that returns first is tried first.
//!
//! If many operations are in flight and the history is linearizable, this search finds a linearization where
//! just-in-time linearization would explore all configurations.

use super::mask::Mask;
use super::open::Open;
use super::part::{Kind, Part};
use super::paths::{Paths, Placed};
use super::seen::Config;
use super::transitions::Transitions;
use super::{Limits, Progress};
use crate::engine::ids;
use crate::engine::ids::StateId;
use crate::engine::paths::PathId;
use crate::engine::steps::Next;
use crate::engine::uses::{Uses, UsesId};
use hashbrown::HashTable;
use history_core::hash::hash_one;

/// The progress of the search.
pub(crate) struct WingGong<'p, const W: usize> {
    part: &'p Part,
    /// The operations in flight before event `at`.
    open: Open<'p, W>,
    at: usize,
    /// The end of the search: events from here on are ignored.
    pub(crate) end: usize,
    /// The branches still to be tried, the next one last: the event before which the configuration was created, the
    /// configuration, and whether no more operations are to be placed before that event.
    stack: Vec<(u32, Config<W>, bool)>,
    met: HashTable<Met<W>>,
    pub(crate) paths: Paths,
    uses: Uses,
    /// The furthest return that the search reached: all operations that returned before it were placed.
    pub(crate) furthest: usize,
    /// The last configuration of a linearization of all events.
    found: Option<Config<W>>,
    scratch: Vec<Config<W>>,
    useful: Vec<u32>,
    /// The number of steps of the model so far.
    pub(crate) work: u64,
}

/// A configuration and the return that it reached.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Met<const W: usize> {
    mask: Mask<W>,
    state: StateId,
    uses: UsesId,
    at: u32,
}

impl<const W: usize> Met<W> {
    fn hash(&self) -> u64 {
        let place = ids::count(self.state.at()) << 32 | u64::from(self.at);
        hash_one(&(place, self.uses, self.mask))
    }
}

impl<'p, const W: usize> WingGong<'p, W> {
    pub(crate) fn new(part: &'p Part, kinds: &'p [Kind], init: StateId) -> WingGong<'p, W> {
        let start = Config { mask: Mask::EMPTY, state: init, uses: Uses::NONE, path: PathId::ROOT };
        WingGong {
            part,
            open: Open::new(part, kinds),
            at: 0,
            end: part.events.len(),
            stack: vec![(0, start, false)],
            met: HashTable::new(),
            paths: Paths::new(),
            uses: Uses::new(),
            furthest: 0,
            found: None,
            scratch: Vec::new(),
            useful: Vec::new(),
            work: 0,
        }
    }

    /// Continues until the answer is known, `work` reaches `until`, or a limit is reached.
    pub(crate) fn advance(&mut self, transitions: &mut Transitions<'_>, until: u64, limits: &Limits<'_>) -> Progress {
        loop {
            if let Some(spent) = transitions.spent() {
                return Progress::Spent(spent);
            }
            if self.work >= until {
                return Progress::Paused;
            }
            let held = (self.met.len() + self.stack.len()) * Mask::<W>::WEIGHT;
            if let Some(progress) = limits.check(self.work, held, || self.bytes() + transitions.bytes()) {
                return progress;
            }
            if self.paths.wants_prune() {
                self.paths.prune(self.stack.iter_mut().map(|(_, config, _)| &mut config.path), |_| ());
            }
            let Some((at, mut config, crosses)) = self.stack.pop() else {
                return Progress::Refused { event: self.furthest };
            };
            self.go_to(ids::index(at));
            self.go_on(transitions, &mut config, crosses);
            self.work += 1;
            if self.at == self.end {
                self.found = Some(config);
                return Progress::Linearizable;
            }
            let met = Met { mask: config.mask, state: config.state, uses: config.uses, at: ids::number(self.at) };
            if let hashbrown::hash_table::Entry::Vacant(entry) =
                self.met.entry(met.hash(), |other| *other == met, Met::hash)
            {
                entry.insert(met);
                self.furthest = self.furthest.max(self.at);
                self.branch(transitions, &config);
            }
        }
    }

    /// Moves to an event.
    fn go_to(&mut self, at: usize) {
        while self.at < at {
            self.open.forward(self.part.events[self.at]);
            self.at += 1;
        }
        while self.at > at {
            self.at -= 1;
            self.open.backward(self.part.events[self.at]);
        }
    }

    /// Moves to the next return whose operation was not placed, or whose operation is stored in states while another
    /// operation may have to be placed before it. If `crosses`, the first return of the second kind is passed.
    fn go_on(&mut self, transitions: &mut Transitions<'_>, config: &mut Config<W>, mut crosses: bool) {
        while let Some(event) = self.part.events[..self.end].get(self.at) {
            if self.open.is_remembered(*event) {
                if event.is_return() && !std::mem::take(&mut crosses) && self.open.is_any_hurried(config) {
                    return;
                }
                let op = &self.part.ops[event.op()];
                config.state = transitions.remember(config.state, op.class, op.moment(event.is_return()));
                config.path = self.paths.push(config.path, Placed::Marked(ids::number(event.op())));
                self.work += 1;
                self.open.forward(*event);
                self.at += 1;
                continue;
            }
            if event.is_return() {
                let slot = self.part.ops[event.op()].slot;
                if !config.mask.has(slot) {
                    return;
                }
                config.mask.clear(slot);
            }
            if let Some(slot) = self.open.forward(*event)
                && self.open.finds(transitions, config.state, slot)
            {
                config.mask.set(slot);
                config.path = self.paths.push(config.path, Placed::Op(ids::number(event.op())));
            }
            self.at += 1;
        }
    }

    /// Pushes all possible next configurations onto the stack.
    fn branch(&mut self, transitions: &mut Transitions<'_>, from: &Config<W>) {
        self.scratch.clear();
        let mut slots = std::mem::take(&mut self.useful);
        slots.clear();
        slots.extend(self.open.placeable());
        for slot in slots.drain(..) {
            let op = *self.open.at(slot);
            if from.mask.has(slot) || !from.mask.has_all(op.before) {
                continue;
            }
            let mut to = *from;
            to.mask.set(slot);
            let next = transitions.next(from.state, op.class);
            self.reach(transitions, to, next, Placed::Op(op.op), from);
        }
        self.useful = slots;
        if self.open.any_crashed() {
            self.use_crashed(transitions, from);
        }
        while let Some(config) = self.scratch.pop() {
            self.stack.push((ids::number(self.at), config, false));
        }
        let event = self.part.events[self.at];
        if event.is_return() && self.open.is_remembered(event) {
            self.stack.push((ids::number(self.at), *from, true));
        }
    }

    /// Collects the configurations reached by using one more crashed operation.
    fn use_crashed(&mut self, transitions: &mut Transitions<'_>, from: &Config<W>) {
        let mut useful = std::mem::take(&mut self.useful);
        self.open.useful(transitions, from, &mut useful);
        for class in &useful {
            let next = transitions.next(from.state, self.part.crashed[ids::index(*class)]);
            if next != Next::Nowhere && self.uses.count(from.uses, *class) < self.open.called(*class) {
                let to = Config { uses: self.uses.add(from.uses, *class), ..*from };
                self.reach(transitions, to, next, Placed::Crashed(*class), from);
            }
        }
        self.useful = useful;
    }

    fn reach(
        &mut self,
        transitions: &mut Transitions<'_>,
        to: Config<W>,
        next: Next,
        placed: Placed,
        from: &Config<W>,
    ) {
        self.work += 1;
        match next {
            Next::Nowhere => {}
            Next::One(state) => self.add(transitions, Config { state, ..to }, (placed, None), from),
            Next::Many { first, count } => {
                for choice in 0..count {
                    let state = transitions.choice(first + choice);
                    self.add(transitions, Config { state, ..to }, (placed, Some(choice)), from);
                }
            }
        }
    }

    /// Collects `to`, reached from `from` by placing an operation whose step had one result, or several of which one
    /// was chosen.
    fn add(
        &mut self,
        transitions: &mut Transitions<'_>,
        mut to: Config<W>,
        (placed, choice): (Placed, Option<u32>),
        from: &Config<W>,
    ) {
        if matches!(placed, Placed::Crashed(_)) && to.state == from.state {
            return;
        }
        to.path = self.paths.push(from.path, placed);
        if let Some(choice) = choice {
            to.path = self.paths.push(to.path, Placed::Chosen(choice));
        }
        for slot in self.open.reads() {
            if !to.mask.has(*slot) && self.open.finds(transitions, to.state, *slot) {
                to.mask.set(*slot);
                to.path = self.paths.push(to.path, Placed::Op(self.open.at(*slot).op));
            }
        }
        self.scratch.push(to);
    }

    fn bytes(&self) -> usize {
        self.met.capacity() * (size_of::<Met<W>>() + 1)
            + self.stack.capacity() * size_of::<(u32, Config<W>, bool)>()
            + self.paths.bytes()
            + self.uses.bytes()
    }

    /// The placed operations of the linearization that was found, in order.
    pub(crate) fn linearization(&self) -> Vec<Placed> {
        self.found.map(|config| self.paths.get(config.path, PathId::ROOT)).unwrap_or_default()
    }
}
