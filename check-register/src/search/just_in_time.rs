//! Just-in-time linearization: all configurations at once, from event to event; an operation is placed no earlier than
//! a return requires.
//!
//! Lowe, "Testing for linearizability" (Concurrency and Computation 2017), section 3.2; the idea is Wing and Gong's. A
//! configuration is a state of the model and the set of operations in flight that were already placed. A call requires
//! no decision. A return keeps the configurations in which its operation was placed. In the others it places operations
//! in flight, in every order that ends with the returning operation. Operations that have returned are part of every
//! configuration, so memory depends on the operations in flight and not on the length of the history.
//!
//! Three rules keep the sets small:
//! - An operation that only reads is placed at the first instant that admits it: this never prevents another placement.
//! - Of equal operations in flight, the one that returns first is placed first: the two are interchangeable.
//! - Crashed operations need not be placed at all, and equal ones form one class. The exact search counts the uses of
//!   each class: a configuration with no more uses of any class covers the others with the same state and mask. The
//!   relaxed search counts the uses of all classes together, and lets one class be used in place of another. A refusal
//!   by the relaxed search is correct. A linearization that it finds must be certified; if it used some class too
//!   often, the exact search decides.
//!
//! If many crashed operations differ, the exact search has too many configurations, and the relaxed search uses some of
//! them too often. A search that keeps few configurations then finds most linearizations: see [`Detail::Few`]. Its
//! refusals mean nothing.

use super::mask::Mask;
use super::open::Open;
use super::part::{Event, Kind, Part};
use super::paths::{Paths, Placed};
use super::seen::{Config, Seen};
use super::transitions::Transitions;
use super::{Limits, Progress, placing};
use crate::engine::ids;
use crate::engine::ids::StateId;
use crate::engine::paths::PathId;
use crate::engine::steps::Next;
use crate::engine::uses::{Uses, UsesId};

/// Which configurations a search keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detail {
    /// All, with their uses of each crashed class (the exact search).
    All,
    /// All, with the sum of their uses of crashed operations (the relaxed search).
    Sum,
    /// At most [`WIDTH`] of each state and mask, with their uses of each crashed class: those that use the fewest
    /// crashed operations, and prefer classes of which many operations are left.
    Few {
        /// Whether no more crashed operations are used at a return than it requires.
        is_least: bool,
    },
}

/// The maximum number of configurations of one state and mask in a search that keeps few.
const WIDTH: u32 = 16;

/// The progress of the search.
pub(crate) struct JustInTime<'p, const W: usize> {
    part: &'p Part,
    /// The next event: all events before it were processed.
    pub(crate) at: usize,
    /// The end of the search: events from here on are ignored.
    pub(crate) end: usize,
    open: Open<'p, W>,
    /// The configurations before event `at`; during a return, also those reached from them.
    seen: Seen<W>,
    pub(crate) paths: Paths,
    uses: Uses,
    detail: Detail,
    /// Scratch space.
    useful: Vec<u32>,
    /// The number of crashed classes that have ceased to matter and were removed from all `uses`.
    ended: usize,
    /// The progress of the current return, if it was interrupted.
    inside: Option<Inside>,
    /// The number of steps of the model so far.
    pub(crate) work: u64,
}

/// The kind of a return.
#[derive(Clone, Copy)]
enum Returning {
    /// The return of the operation in this slot: it must have been placed.
    Placed(u32),
    /// The return of an operation that states store: operations that may not be placed after it must have been placed.
    Remembered,
}

/// A return that was interrupted. Configurations at positions below each number were expanded.
#[derive(Clone, Copy)]
struct Inside {
    /// Expanded by placing operations in flight.
    placed: usize,
    /// Expanded by using crashed operations.
    crashed: usize,
    /// The number of configurations that existed before this return.
    before: usize,
}

impl<'p, const W: usize> JustInTime<'p, W> {
    pub(crate) fn new(part: &'p Part, kinds: &'p [Kind], init: StateId, detail: Detail) -> JustInTime<'p, W> {
        let mut seen = Seen::new();
        seen.configs.push(Config { mask: Mask::EMPTY, state: init, uses: Uses::NONE, path: PathId::ROOT });
        JustInTime {
            part,
            at: 0,
            end: part.events.len(),
            open: Open::new(part, kinds),
            seen,
            paths: Paths::new(),
            uses: Uses::new(),
            detail,
            useful: Vec::new(),
            ended: 0,
            inside: None,
            work: 0,
        }
    }

    /// Continues until the answer is known, `work` reaches `until`, or a limit is reached.
    pub(crate) fn advance(&mut self, transitions: &mut Transitions<'_>, until: u64, limits: &Limits<'_>) -> Progress {
        while let Some(event) = self.part.events[..self.end].get(self.at) {
            if self.open.is_remembered(*event) {
                if event.is_return()
                    && let Some(progress) = self.make_return(transitions, Returning::Remembered, until, limits)
                {
                    return progress;
                }
                self.remember(transitions, *event);
                self.open.forward(*event);
                self.at += 1;
                self.forget(transitions);
                continue;
            }
            if !event.is_return() {
                if let Some(slot) = self.open.forward(*event) {
                    self.place_read(transitions, slot);
                }
                self.at += 1;
                continue;
            }
            let slot = self.part.ops[event.op()].slot;
            if let Some(progress) = self.make_return(transitions, Returning::Placed(slot), until, limits) {
                return progress;
            }
            self.open.forward(*event);
            self.at += 1;
            if self.detail != Detail::Sum && self.ended != self.open.ended() {
                self.merge_ended();
            }
            self.forget(transitions);
        }
        Progress::Linearizable
    }

    /// Updates all states for the call or the return of an operation that states store.
    fn remember(&mut self, transitions: &mut Transitions<'_>, event: Event) {
        let op = &self.part.ops[event.op()];
        self.work += ids::count(self.seen.configs.len());
        let all = std::mem::take(&mut self.seen.configs);
        self.seen.invalidate_index();
        for mut config in all {
            config.state = transitions.remember(config.state, op.class, op.moment(event.is_return()));
            config.path = self.paths.push(config.path, Placed::Marked(ids::number(event.op())));
            insert(&mut self.seen, &self.uses, self.detail, config);
        }
        self.seen.invalidate_index();
    }

    /// Places a read that was called in every configuration whose state admits it.
    fn place_read(&mut self, transitions: &mut Transitions<'_>, slot: u32) {
        let op = self.open.at(slot).op;
        self.work += ids::count(self.seen.configs.len());
        for config in &mut self.seen.configs {
            if self.open.finds(transitions, config.state, slot) {
                config.mask.set(slot);
                config.path = self.paths.push(config.path, Placed::Op(op));
            }
        }
    }

    /// Keeps or creates the configurations that are ready for a return, and removes the returning operation from their
    /// masks. Returns `None` if there are any. For an operation that states store it always returns `None`, unless the
    /// search must stop.
    fn make_return(
        &mut self,
        transitions: &mut Transitions<'_>,
        returning: Returning,
        until: u64,
        limits: &Limits<'_>,
    ) -> Option<Progress> {
        let before = self.seen.configs.len();
        if let Some(progress) = self.pause(until, transitions, limits) {
            return Some(progress);
        }
        let is_done = |open: &Open<'p, W>, config: &Config<W>| match returning {
            Returning::Placed(slot) => config.mask.has(slot),
            Returning::Remembered => !open.is_any_hurried(config),
        };
        if self.inside.is_none() && self.seen.configs.iter().all(|config| is_done(&self.open, config)) {
            // The usual case if few operations are in flight. The configurations remain distinct without this slot.
            if let Returning::Placed(slot) = returning {
                self.seen.configs.iter_mut().for_each(|config| config.mask.clear(slot));
            }
            self.work += ids::count(before);
            return None;
        }
        let mut inside = self.inside.take().unwrap_or(Inside { placed: 0, crashed: 0, before });
        loop {
            while inside.placed < self.seen.configs.len() {
                let config = self.seen.configs[inside.placed];
                if !is_done(&self.open, &config) {
                    if let Some(progress) = self.pause(until, transitions, limits) {
                        self.inside = Some(inside);
                        return Some(progress);
                    }
                    self.place_one(transitions, &config);
                }
                inside.placed += 1;
            }
            let is_enough = self.detail == Detail::Few { is_least: true }
                && self.seen.configs.iter().any(|config| is_done(&self.open, config));
            if !self.open.any_crashed() || inside.crashed == self.seen.configs.len() || is_enough {
                break;
            }
            // Each round adds one use, so the fewest uses are found first.
            for at in std::mem::replace(&mut inside.crashed, self.seen.configs.len())..inside.crashed {
                let config = self.seen.configs[at];
                if !is_done(&self.open, &config) {
                    // A round may multiply the configurations by the number of crashed classes, so the limit is checked
                    // within it.
                    if let Some(progress) = self.limit(transitions, limits) {
                        return Some(progress);
                    }
                    self.use_crashed(transitions, &config);
                }
            }
        }
        if let Some(spent) = transitions.spent() {
            return Some(Progress::Spent(spent));
        }
        let Returning::Placed(slot) = returning else { return None };
        if !self.seen.configs.iter().any(|config| config.mask.has(slot)) {
            self.inside = Some(inside);
            return Some(Progress::Refused { event: self.at });
        }
        self.keep(slot);
        None
    }

    /// Keeps the configurations in which the operation in `slot` was placed, and removes the operation from their
    /// masks.
    fn keep(&mut self, slot: u32) {
        self.seen.configs.retain(|config| config.mask.has(slot));
        self.seen.configs.iter_mut().for_each(|config| config.mask.clear(slot));
        self.seen.invalidate_index();
        if !self.part.visibility.is_searched() || self.seen.configs.len() < 2 {
            return;
        }
        // Configurations with the fewest uses come first: they cover others that were found earlier.
        let mut all = std::mem::take(&mut self.seen.configs);
        let uses = &self.uses;
        match self.detail {
            Detail::All => all.sort_by_key(|config| uses.total(config.uses)),
            Detail::Sum => all.sort_by_key(|config| config.uses.number()),
            Detail::Few { .. } => all.sort_by_cached_key(|config| (uses.total(config.uses), self.price(config.uses))),
        }
        for config in all {
            insert(&mut self.seen, &self.uses, self.detail, config);
        }
        self.seen.invalidate_index();
    }

    /// The cost of uses in a search that keeps few configurations: it is greater for more uses of a class, and if fewer
    /// operations of the class are left.
    fn price(&self, uses: UsesId) -> u64 {
        const UNIT: u64 = 1 << 16;
        let of_class = |(class, used): &(u32, u32)| {
            let left = self.open.called(*class).saturating_sub(*used);
            u64::from(*used) * UNIT / (u64::from(left) + 1)
        };
        self.uses.get(uses).iter().map(of_class).sum()
    }

    /// Adds all configurations in which one more operation in flight is placed.
    fn place_one(&mut self, transitions: &mut Transitions<'_>, config: &Config<W>) {
        let mut slots = std::mem::take(&mut self.useful);
        slots.clear();
        slots.extend(self.open.placeable());
        for slot in slots.drain(..) {
            let op = *self.open.at(slot);
            if config.mask.has(slot) || !config.mask.has_all(op.before) {
                continue;
            }
            let mut mask = config.mask;
            mask.set(slot);
            let next = transitions.next(config.state, op.class);
            self.reach(transitions, &Config { mask, ..*config }, next, Placed::Op(op.op), config);
        }
        self.useful = slots;
    }

    /// Adds all configurations in which one more crashed operation is used.
    fn use_crashed(&mut self, transitions: &mut Transitions<'_>, config: &Config<W>) {
        if self.detail == Detail::Sum && config.uses.number() >= self.open.called_in_all() {
            return;
        }
        let mut useful = std::mem::take(&mut self.useful);
        self.open.useful(transitions, config, &mut useful);
        for class in &useful {
            let next = transitions.next(config.state, self.part.crashed[ids::index(*class)]);
            self.work += 1;
            if next == Next::Nowhere || next == Next::One(config.state) {
                continue;
            }
            let uses = if self.detail == Detail::Sum {
                config.uses.one_more()
            } else if self.uses.count(config.uses, *class) < self.open.called(*class) {
                self.uses.add(config.uses, *class)
            } else {
                continue;
            };
            self.reach(transitions, &Config { uses, ..*config }, next, Placed::Crashed(*class), config);
        }
        self.useful = useful;
    }

    /// Adds the configurations that a step from `from` leads to: `to` with each state that the step returns.
    #[inline]
    fn reach(
        &mut self,
        transitions: &mut Transitions<'_>,
        to: &Config<W>,
        next: Next,
        placed: Placed,
        from: &Config<W>,
    ) {
        self.work += 1;
        match next {
            Next::Nowhere => {}
            Next::One(state) => self.add(transitions, Config { state, ..*to }, (placed, None), from),
            Next::Many { first, count } => {
                for choice in 0..count {
                    let state = transitions.choice(first + choice);
                    self.add(transitions, Config { state, ..*to }, (placed, Some(choice)), from);
                }
            }
        }
    }

    /// Adds `to`, reached from `from` by placing an operation whose step had one result, or several of which one was
    /// chosen.
    fn add(
        &mut self,
        transitions: &mut Transitions<'_>,
        mut to: Config<W>,
        (placed, choice): (Placed, Option<u32>),
        from: &Config<W>,
    ) {
        if to.state != from.state {
            for slot in self.open.reads() {
                if !to.mask.has(*slot) && self.open.finds(transitions, to.state, *slot) {
                    to.mask.set(*slot);
                }
            }
        }
        if matches!(placed, Placed::Crashed(_)) && to.state == from.state {
            return;
        }
        if !insert(&mut self.seen, &self.uses, self.detail, to) {
            return;
        }
        let mut path = self.paths.push(from.path, placed);
        if let Some(choice) = choice {
            path = self.paths.push(path, Placed::Chosen(choice));
        }
        for slot in self.open.reads() {
            let op = self.open.at(*slot).op;
            if to.mask.has(*slot) && !from.mask.has(*slot) && placed != Placed::Op(op) {
                path = self.paths.push(path, Placed::Op(op));
            }
        }
        if let Some(added) = self.seen.configs.last_mut() {
            added.path = path;
        }
    }

    /// Returns the reason to stop the search here, if there is one.
    #[inline]
    fn pause(&self, until: u64, transitions: &Transitions<'_>, limits: &Limits<'_>) -> Option<Progress> {
        if let Some(spent) = transitions.spent() {
            return Some(Progress::Spent(spent));
        }
        if self.work >= until {
            return Some(Progress::Paused);
        }
        self.limit(transitions, limits)
    }

    /// Returns the limit that was reached, if any.
    #[inline]
    fn limit(&self, transitions: &Transitions<'_>, limits: &Limits<'_>) -> Option<Progress> {
        let held = self.seen.configs.len() * Mask::<W>::WEIGHT;
        limits.check(self.work, held, || self.bytes() + transitions.bytes())
    }

    /// Merges configurations that differ only in uses of classes that no longer matter.
    fn merge_ended(&mut self) {
        self.ended = self.open.ended();
        let all = std::mem::take(&mut self.seen.configs);
        for config in all {
            let uses = self.uses.without(config.uses, |class| self.open.matters(class));
            insert(&mut self.seen, &self.uses, self.detail, Config { uses, ..config });
        }
        self.seen.invalidate_index();
    }

    /// Drops states and paths that no configuration needs, if there are many.
    fn forget(&mut self, transitions: &mut Transitions<'_>) {
        if transitions.wants_sweep() {
            transitions.sweep(self.seen.configs.iter().map(|config| config.state));
        }
        if self.paths.wants_prune() {
            self.paths.prune(self.seen.configs.iter_mut().map(|config| &mut config.path), |_| ());
        }
    }

    fn bytes(&self) -> usize {
        self.seen.bytes() + self.paths.bytes() + self.uses.bytes()
    }

    /// Returns true if the search keeps all configurations, with their uses of each crashed class.
    pub(crate) fn is_exact(&self) -> bool {
        self.detail == Detail::All
    }

    /// Returns true if the exact search would also have reached this event: the operations of some configuration before
    /// the refused return can be placed.
    pub(crate) fn is_refusal_exact(&self, part: &Part, settle: impl Fn(&[Placed]) -> Vec<Placed>) -> bool {
        let can_be =
            |config: &Config<W>| placing::place(part, &settle(&self.paths.get(config.path, PathId::ROOT))).is_some();
        part.crashed.is_empty() || self.configs().0.iter().any(can_be)
    }

    /// The configurations before the current event, and those reached from them within that event.
    pub(crate) fn configs(&self) -> (&[Config<W>], &[Config<W>]) {
        let before = self.inside.map_or(self.seen.configs.len(), |inside| inside.before);
        self.seen.configs.split_at(before)
    }

    /// The number of operations that a configuration has placed and that have not returned.
    pub(crate) fn ahead(&self, config: &Config<W>) -> u32 {
        let crashed = match self.detail {
            Detail::Sum => config.uses.number(),
            Detail::All | Detail::Few { .. } => self.uses.total(config.uses),
        };
        config.mask.count() + crashed
    }

    /// Slots of the operations in flight at the current event.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = u32> {
        self.open.in_flight()
    }

    /// The operations that the first configuration found has placed, in order.
    pub(crate) fn linearization(&self) -> Vec<Placed> {
        self.seen.configs.first().map(|config| self.paths.get(config.path, PathId::ROOT)).unwrap_or_default()
    }
}

/// Adds a configuration, unless one with the same state and mask has used crashed operations no more often, or the
/// search keeps no more of them. Returns true if it was added.
fn insert<const W: usize>(seen: &mut Seen<W>, uses: &Uses, detail: Detail, config: Config<W>) -> bool {
    let mut alike = 0;
    seen.insert(config, |there| match detail {
        Detail::All => uses.at_most(there.uses, config.uses),
        Detail::Sum => there.uses.number() <= config.uses.number(),
        Detail::Few { .. } => {
            alike += 1;
            alike >= WIDTH || uses.at_most(there.uses, config.uses)
        }
    })
}
