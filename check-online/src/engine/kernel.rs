//! Just-in-time linearization: all configurations at once, from event to event; an operation takes effect no earlier
//! than a return requires.
//!
//! Lowe, "Testing for linearizability" (Concurrency and Computation 2017), section 3.2; the idea is Wing and Gong's. A
//! configuration is a state of the model and the set of operations in flight that have taken effect. A call requires no
//! decision. A return keeps the configurations in which its operation took effect; in the others, operations in flight
//! take effect in every order that ends with this operation. So memory grows with the operations in flight and not with
//! the length of the history.
//!
//! Three rules keep the sets small:
//! - An operation that only reads takes effect at the first instant at which it is valid: this restricts no later
//!   operation.
//! - Of equal operations in flight, the one that returns first takes effect first, since they are interchangeable.
//! - Operations that may have happened need not take effect at all ([`pile`](super::pile)); a configuration that uses
//!   no more of any of them covers the others with its state and mask. If many configurations remain that do not cover
//!   each other, only a few are kept ([`Detail`]), and [`basis`](super::part) decides what these few refuse.

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
use history_core::{Budget, Spent};
use piled::After;

/// The data shared by all parts of an object.
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
    /// The maximum number of configurations of one part.
    pub(crate) configurations_max: usize,
    /// The initial maximum number of configurations of one state and mask.
    pub(crate) width_min: usize,
    /// The absolute maximum number of these.
    pub(crate) width_max: usize,
    /// The factor for the maximum number of configurations of all states and masks, if operations that may have
    /// happened create many.
    pub(crate) crowd: usize,
    /// The maximum number of events kept since all configurations were kept.
    pub(crate) basis_max: usize,
    /// The budget of a search, and the steps until it is checked again.
    pub(crate) budget: Budget,
    unchecked_left: u32,
    pub(crate) table: TableOf<R>,
}

/// The world of an object of any model.
pub(crate) type World<'m> = WorldOf<dyn Rules + 'm>;

/// The default of `width_min`. If more configurations of one state and mask do not cover each other, further ones
/// seldom matter.
const WIDTH_MIN: usize = 4;

/// The default of `width_max`. With this many, the part is given up if they refuse an operation: the time for an event
/// grows with their square.
const WIDTH_MAX: usize = 1 << 11;

/// The default of `crowd`. States that differ only in the order of operations that may have happened seldom matter
/// either.
const CROWD: usize = 1 << 8;

/// The number of configurations from which steps are taken between two checks of the budget.
const UNCHECKED_MAX: u32 = 1 << 10;

/// The default of `basis_max`. Each event takes about 100 bytes, with the operations and linearizations that it refers
/// to.
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
            budget: Budget::default(),
            unchecked_left: UNCHECKED_MAX,
            table: TableOf::new(rules),
        }
    }
}

/// An operation in flight whose result is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) op: OpIx,
    pub(crate) class: ClassId,
    /// The time of its return, as far as this determines which of two operations returns first.
    ret: u64,
}

/// Why a kernel cannot continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// No configuration is left in which this operation took effect.
    Refused(OpIx),
    /// There are more configurations than permitted.
    Full,
    /// More operations are in flight than can be distinguished.
    InFlight,
    /// The budget is exhausted.
    Spent(Spent),
    /// More configurations were found than may be kept, of one state and mask or in all; those before the event remain.
    Wide,
}

/// If steps from this many configurations are needed, they are computed together.
const AHEAD_MIN: usize = 1 << 11;

/// The configurations of one part between two events.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) set: Set,
    /// By slot.
    slots: Vec<InFlight>,
    free: Vec<u32>,
    /// Slots of the operations that may change the state, in order of their returns.
    writes: Vec<u32>,
    /// Slots of the operations that only read, in order of their returns.
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

    /// Reuses memory.
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

    /// From now on counts the uses of each configuration together.
    pub(crate) fn sum_up(&mut self, world: &mut World<'_>) {
        if self.set.detail != Detail::Sum {
            self.set.sum_up(&mut world.index, &world.uses);
        }
    }

    /// The operations in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = (u32, &InFlight)> {
        self.writes.iter().chain(&self.reads).map(|slot| (*slot, &self.slots[ids::index(*slot)]))
    }

    /// Processes the call of an operation that will return at `ret`.
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

    /// Processes the return of an operation that was called; it is event `now`.
    pub(crate) fn ret(&mut self, world: &mut World<'_>, pile: &Pile, now: Seq, op: OpIx) -> Result<(), Stop> {
        let place = |list: &[u32]| list.iter().position(|slot| self.slots[ids::index(*slot)].op == op);
        let (is_read, at) = match place(&self.writes) {
            Some(at) => (false, at),
            None => (true, place(&self.reads).expect("an operation returns after its call")),
        };
        let slot = if is_read { self.reads[at] } else { self.writes[at] };
        if (0..self.set.len()).all(|at| self.set.has(at, slot)) {
            // The usual case if few operations are in flight. The configurations remain distinct without this slot.
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

    /// Keeps or creates the configurations in which the operation in `slot` takes effect.
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
            // Each round adds one use, so the fewest uses are found first.
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
                // A configuration that covers another has fewer uses in all.
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

    /// Returns an error if the kernel cannot continue with the result. On `Stop::Wide`, only the first `before`
    /// configurations remain, because they are used again.
    #[inline]
    fn look(&mut self, world: &mut World<'_>, before: usize, found: Found) -> Result<(), Stop> {
        if found == Found::TooMany && self.set.detail == Detail::All {
            self.set.truncate(before);
            return Err(Stop::Wide);
        }
        if self.set.weight() > world.configurations_max {
            return Err(Stop::Full);
        }
        world.unchecked_left -= 1;
        if world.unchecked_left == 0 {
            world.unchecked_left = UNCHECKED_MAX;
            world.budget.check(0, 0).map_err(Stop::Spent)?;
        }
        Ok(())
    }

    /// A linearization and one more, if linearizations are kept.
    #[inline]
    fn path(&self, world: &mut World<'_>, parent: PathId, op: OpIx) -> PathId {
        if self.set.detail == Detail::Sum { parent } else { world.paths.push(parent, op) }
    }

    /// Computes the unknown steps of all configurations from `from` on.
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

    /// All configurations with one more of the operations in flight. `TooMany` if any exceeded a limit.
    fn place_one(&mut self, world: &mut World<'_>, from: usize) -> Found {
        /// The number of classes by which equal operations are recognized. This only saves work.
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

    /// Adds the configurations that a step leads to.
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

/// An operation with which a configuration takes a step.
#[derive(Clone, Copy)]
struct Placed {
    op: OpIx,
    /// The uses after the step.
    uses: UsesId,
    /// Its slot; `None` if it is an operation of the pile.
    slot: Option<u32>,
}
