//! Just-in-time linearization: all configurations at once, from event to event; an operation takes effect no earlier
//! than a return demands it.
//!
//! Lowe, "Testing for linearizability" (Concurrency and Computation 2017), section 3.2; the idea is Wing and Gong's. A
//! configuration is a state of the model and the set of operations in flight that have taken effect. A call adds
//! nothing to be decided. A return keeps the configurations in which its operation took effect, and in the others lets
//! operations in flight take effect, in every order that ends with this one. So memory follows what is in flight and
//! not the length of the history.
//!
//! Three things keep the sets small:
//! - An operation that only reads takes effect at the first instant that admits it: this hinders nothing later.
//! - Of operations in flight that are equal, the one that returns first takes effect first: it may take the other's
//!   place.
//! - Operations that may have happened need not take effect at all ([`pile`](super::pile)); a configuration with no
//!   more uses of any of them covers the others of its state and mask. Where many are left that do not cover each
//!   other, only a few are kept ([`Detail`]), and [`basis`](super::part) decides what these few refuse.

mod piled;

use super::ops::{OpIx, Ops, Seq};
use super::paths::Paths;
use super::pile::{Entries, Pile};
use super::rules::Rules;
use super::set::{Detail, Found, Set};
use super::table::TableOf;
use check_register::engine::IN_FLIGHT_MAX;
use check_register::engine::ids;
use check_register::engine::ids::{ClassId, StateId};
use check_register::engine::index::Index;
use check_register::engine::paths::PathId;
use check_register::engine::steps::Next;
use check_register::engine::uses::{Uses, UsesId};
use piled::After;

/// What all parts of an object share.
pub(crate) struct WorldOf<R: ?Sized> {
    pub(crate) ops: Ops,
    pub(crate) paths: Paths,
    pub(crate) uses: Uses,
    index: Index,
    /// Scratch space.
    useful: Entries,
    after: After,
    /// Kernels that are free.
    pub(crate) spare: Vec<Kernel>,
    /// As many configurations may be held of one part.
    pub(crate) configurations_max: usize,
    /// As many configurations of one state and mask are kept at first.
    pub(crate) width_min: usize,
    /// As many are kept at the most.
    pub(crate) width_max: usize,
    /// How many times as many are kept of all states and masks, where what may have happened makes them many.
    pub(crate) crowd: usize,
    /// As many events are kept since all of them were.
    pub(crate) basis_max: usize,
    pub(crate) table: TableOf<R>,
}

/// The world of an object of any model.
pub(crate) type World<'m> = WorldOf<dyn Rules + 'm>;

/// Where more configurations of one state and mask do not cover each other, further ones seldom matter.
const WIDTH_MIN: usize = 4;

/// What so many refuse is given up: the time for an event grows with the square.
const WIDTH_MAX: usize = 1 << 11;

/// States of which each is another order of what may have happened seldom matter either.
const CROWD: usize = 1 << 8;

/// About 100 bytes each, with the operations and linearizations that they refer to.
const BASIS_MAX: usize = 1 << 18;

impl<R> WorldOf<R> {
    pub(crate) fn new(rules: R, configurations_max: usize) -> WorldOf<R> {
        WorldOf {
            ops: Ops::default(),
            paths: Paths::new(),
            uses: Uses::new(),
            index: Index::default(),
            useful: Entries::default(),
            after: After::default(),
            spare: Vec::new(),
            configurations_max,
            width_min: WIDTH_MIN,
            width_max: WIDTH_MAX,
            crowd: CROWD,
            basis_max: BASIS_MAX,
            table: TableOf::new(rules),
        }
    }
}

/// An operation in flight whose result is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) op: OpIx,
    pub(crate) class: ClassId,
    /// When it returns, as far as this decides which of two does first.
    ret: u64,
}

/// Why it cannot go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// No configuration is left in which this operation took effect.
    Refused(OpIx),
    /// There are more configurations than may be held.
    Full,
    /// More is in flight than can be distinguished.
    InFlight,
    /// More configurations were found than all that may be kept, of one state and mask or in all; those before the
    /// event are left.
    Wide,
}

/// With so many configurations to be stepped from, their steps are taken at one time.
const AHEAD_MIN: usize = 1 << 11;

/// The configurations of one part between two events.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) set: Set,
    /// By slot.
    slots: Vec<InFlight>,
    free: Vec<u32>,
    /// Slots of those that may change the state: the one that returns first stands first.
    writes: Vec<u32>,
    /// Slots of those that only read, in order of their returns as well.
    reads: Vec<u32>,
}

impl Clone for Kernel {
    fn clone(&self) -> Kernel {
        let Kernel { set, slots, free, writes, reads } = self;
        Kernel {
            set: set.clone(),
            slots: slots.clone(),
            free: free.clone(),
            writes: writes.clone(),
            reads: reads.clone(),
        }
    }

    /// Without taking memory anew.
    fn clone_from(&mut self, from: &Kernel) {
        self.set.clone_from(&from.set);
        self.slots.clone_from(&from.slots);
        self.free.clone_from(&from.free);
        self.writes.clone_from(&from.writes);
        self.reads.clone_from(&from.reads);
    }
}

impl Kernel {
    pub(crate) fn new(init: StateId, width: usize) -> Kernel {
        Kernel { set: Set::at(init, width), slots: Vec::new(), free: Vec::new(), writes: Vec::new(), reads: Vec::new() }
    }

    /// Counts the uses of each configuration together from now on.
    pub(crate) fn sum_up(&mut self, world: &mut World<'_>) {
        if self.set.detail != Detail::Sum {
            self.set.sum_up(&mut world.index, &world.uses);
        }
    }

    /// The operations in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = (u32, &InFlight)> {
        self.writes.iter().chain(&self.reads).map(|slot| (*slot, &self.slots[ids::index(*slot)]))
    }

    /// An operation is called that will return at `ret`.
    pub(crate) fn call(&mut self, world: &mut World<'_>, op: OpIx, class: ClassId, ret: u64) -> Result<(), Stop> {
        let entry = InFlight { op, class, ret };
        let slot = if let Some(slot) = self.free.pop() {
            self.slots[ids::index(slot)] = entry;
            slot
        } else if self.slots.len() < IN_FLIGHT_MAX {
            self.slots.push(entry);
            ids::number(self.slots.len()) - 1
        } else {
            return Err(Stop::InFlight);
        };
        self.set.reserve(slot);
        let is_read = world.table.reads_only(class);
        let list = if is_read { &mut self.reads } else { &mut self.writes };
        let at = list.iter().rposition(|other| self.slots[ids::index(*other)].ret <= ret).map_or(0, |at| at + 1);
        list.insert(at, slot);
        if is_read {
            for at in 0..self.set.len() {
                if world.table.admits(self.set.heads[at].state, class) {
                    self.set.mark(at, slot);
                    self.set.heads[at].path = self.path(world, self.set.heads[at].path, op);
                }
            }
        }
        Ok(())
    }

    /// An operation that was called returns; it is event `now`.
    pub(crate) fn ret(&mut self, world: &mut World<'_>, pile: &Pile, now: Seq, op: OpIx) -> Result<(), Stop> {
        let place = |list: &[u32]| list.iter().position(|slot| self.slots[ids::index(*slot)].op == op);
        let (is_read, at) = match place(&self.writes) {
            Some(at) => (false, at),
            None => (true, place(&self.reads).expect("an operation returns after its call")),
        };
        let slot = if is_read { self.reads[at] } else { self.writes[at] };
        if (0..self.set.len()).all(|at| self.set.has(at, slot)) {
            // The usual case where little is in flight. They differ without this slot as well.
            self.set.keep(slot);
        } else {
            let placed = self.place(world, pile, now, slot);
            world.table.forget_ahead();
            placed?;
        }
        if is_read { &mut self.reads } else { &mut self.writes }.remove(at);
        self.free.push(slot);
        Ok(())
    }

    /// Keeps and makes the configurations in which the operation in `slot` takes effect.
    fn place(&mut self, world: &mut World<'_>, pile: &Pile, now: Seq, slot: u32) -> Result<(), Stop> {
        let (mut placed, mut crashed, mut ahead) = (0, 0, 0);
        let before = self.set.len();
        world.index.start();
        world.after.start();
        loop {
            while placed < self.set.len() {
                if self.set.len() - placed >= AHEAD_MIN && ahead <= placed {
                    ahead = self.set.len();
                    self.step_ahead(world, placed, slot);
                }
                if !self.set.has(placed, slot) {
                    let found = self.place_one(world, placed);
                    self.look(world, before, found)?;
                }
                placed += 1;
            }
            let is_enough = self.set.detail == Detail::Least && (0..self.set.len()).any(|at| self.set.has(at, slot));
            if pile.is_empty() || crashed == self.set.len() || is_enough {
                break;
            }
            if self.set.len() > self.set.crowd_max(world.width_max, world.crowd) {
                if self.set.detail == Detail::All {
                    self.set.truncate(before);
                    return Err(Stop::Wide);
                }
                break;
            }
            // One use more than in the round before, so the fewest uses are found first.
            for at in std::mem::replace(&mut crashed, self.set.len())..crashed {
                if !self.set.has(at, slot) {
                    let found = self.use_pile(world, pile, now, at);
                    self.look(world, before, found)?;
                }
            }
        }
        if !(0..self.set.len()).any(|at| self.set.has(at, slot)) {
            return Err(Stop::Refused(self.slots[ids::index(slot)].op));
        }
        self.set.keep(slot);
        if !pile.is_empty() && self.set.len() > 1 && self.set.heads.iter().any(|head| head.uses != Uses::NONE) {
            let WorldOf { index, uses, .. } = world;
            match self.set.detail {
                // What covers another has fewer uses in all.
                Detail::All => self.set.without_covered(index, uses, |used| (uses.total(used), 0)),
                Detail::Few | Detail::Least => {
                    let price = |used| (uses.total(used), pile.price(uses.get(used), now));
                    self.set.without_covered(index, uses, price);
                }
                Detail::Sum => self.set.without_covered(index, uses, |sum| (sum.number(), 0)),
            }
        }
        Ok(())
    }

    /// Whether it can go on with what was found. Otherwise leaves the configurations from `before` if they will be of
    /// use.
    #[inline]
    fn look(&mut self, world: &World<'_>, before: usize, found: Found) -> Result<(), Stop> {
        if found == Found::TooMany && self.set.detail == Detail::All {
            self.set.truncate(before);
            return Err(Stop::Wide);
        }
        if self.set.weight() > world.configurations_max {
            return Err(Stop::Full);
        }
        Ok(())
    }

    /// A linearization and one more, if linearizations are kept.
    #[inline]
    fn path(&self, world: &mut World<'_>, parent: PathId, op: OpIx) -> PathId {
        if self.set.detail == Detail::Sum { parent } else { world.paths.push(parent, op) }
    }

    /// Takes the steps of all configurations from `from` on, as far as they are not known.
    #[cold]
    fn step_ahead(&self, world: &mut World<'_>, from: usize, slot: u32) {
        let mut steps = Vec::new();
        for at in (from..self.set.len()).filter(|at| !self.set.has(*at, slot)) {
            let state = self.set.heads[at].state;
            let left = self.writes.iter().filter(|write| !self.set.has(at, **write));
            steps.extend(left.map(|write| (state, self.slots[ids::index(*write)].class)));
        }
        world.table.step_ahead(steps);
    }

    /// All configurations with one more of the operations in flight. `TooMany` if any was one too many.
    fn place_one(&mut self, world: &mut World<'_>, from: usize) -> Found {
        /// Equal operations are distinguished by so many classes. It only saves work.
        const CLASSES: usize = 16;
        let mut tried = [None; CLASSES];
        let mut next_tried = 0;
        let mut found = Found::New;
        for at in 0..self.writes.len() {
            let slot = self.writes[at];
            if self.set.has(from, slot) {
                continue;
            }
            let InFlight { op, class, .. } = self.slots[ids::index(slot)];
            if tried[..next_tried.min(CLASSES)].contains(&Some(class)) {
                continue;
            }
            tried[next_tried % CLASSES] = Some(class);
            next_tried += 1;
            let head = self.set.heads[from];
            let next = world.table.next(head.state, class);
            found = found.or(self.reach(world, from, next, Placed { op, uses: head.uses, slot: Some(slot) }));
        }
        found
    }

    /// Adds what a step leads to.
    #[inline]
    fn reach(&mut self, world: &mut World<'_>, from: usize, next: Next, placed: Placed) -> Found {
        match next {
            Next::Nowhere => Found::New,
            Next::One(state) => self.add(world, from, state, placed),
            Next::Many { first, count } => {
                let mut found = Found::New;
                for choice in first..first + count {
                    let state = world.table.choice(choice);
                    found = found.or(self.add(world, from, state, placed));
                }
                found
            }
        }
    }

    /// Adds the configuration that `placed` leads to.
    #[inline]
    fn add(&mut self, world: &mut World<'_>, from: usize, state: StateId, placed: Placed) -> Found {
        let Placed { op, uses, slot } = placed;
        let head = self.set.heads[from];
        if slot.is_none() && state == head.state {
            return Found::Covered;
        }
        let at = self.set.push_like(from, state, uses);
        if let Some(slot) = slot {
            self.set.mark(at, slot);
        }
        if state != head.state {
            for read in &self.reads {
                if !self.set.has(at, *read) && world.table.admits(state, self.slots[ids::index(*read)].class) {
                    self.set.mark(at, *read);
                }
            }
        }
        let found = self.set.keep_last(&mut world.index, &world.uses);
        if found != Found::New {
            return found;
        }
        let mut path = self.path(world, head.path, op);
        if state != head.state {
            for read in &self.reads {
                if self.set.has(at, *read) && !self.set.has(from, *read) {
                    path = self.path(world, path, self.slots[ids::index(*read)].op);
                }
            }
        }
        self.set.heads[at].path = path;
        Found::New
    }
}

/// An operation that a configuration takes a step with.
#[derive(Clone, Copy)]
struct Placed {
    op: OpIx,
    /// The uses then.
    uses: UsesId,
    /// Where it is in flight; `None` if it is of the pile.
    slot: Option<u32>,
}
