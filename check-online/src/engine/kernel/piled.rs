//! The configurations of a kernel that follow from operations that may have happened.

use super::{Kernel, Placed, World};
use crate::engine::ops::{OpIx, Seq};
use crate::engine::pile::{Entries, Pile};
use crate::engine::set::{Detail, Found};
use check_register::engine::ids::{self, StateId};
use check_register::engine::steps::Next;
use std::cmp::Reverse;
use std::ops::Range;

/// The states that one use of any operation leads to, for each state that was needed at one event.
#[derive(Debug, Default)]
pub(crate) struct After {
    /// The states, each with an operation that leads to it. Those of one state are adjacent.
    steps: Vec<(StateId, OpIx)>,
    /// By state: the event, and the start and end of its row.
    rows: Vec<(u32, u32, u32)>,
    event: u32,
}

impl After {
    /// Discards the results: another event follows.
    pub(super) fn start(&mut self) {
        self.steps.clear();
        self.event = self.event.checked_add(1).unwrap_or_else(|| {
            self.rows.clear();
            1
        });
    }

    fn get(&self, state: StateId) -> Option<Range<usize>> {
        let (event, first, end) = *self.rows.get(state.at())?;
        (event == self.event).then_some(ids::index(first)..ids::index(end))
    }

    /// Adds a state to the row that begins at `first`, unless the row contains it.
    fn step(&mut self, first: usize, from: StateId, state: StateId, op: OpIx) {
        if state != from && self.steps[first..].iter().all(|(other, _)| *other != state) {
            self.steps.push((state, op));
        }
    }

    /// Ends a row.
    fn put(&mut self, state: StateId, first: usize) -> Range<usize> {
        if self.rows.len() <= state.at() {
            self.rows.resize(state.at() + 1, (0, 0, 0));
        }
        self.rows[state.at()] = (self.event, ids::number(first), ids::number(self.steps.len()));
        first..self.steps.len()
    }
}

impl Kernel {
    /// All configurations with one more use of an operation that may have happened. `TooMany` if any exceeded a limit.
    pub(super) fn use_pile(&mut self, world: &mut World<'_>, pile: &Pile, now: Seq, from: usize) -> Found {
        if self.set.detail == Detail::Sum {
            return self.use_any(world, pile, now, from);
        }
        let head = self.set.heads[from];
        let mut useful = std::mem::take(&mut world.useful);
        self.useful(world, pile, head.state, Some(from), &mut useful);
        if self.set.detail.leaves_out() {
            // The first configurations that are found are kept, so the entries with the most unused operations come
            // first.
            useful
                .list
                .sort_by_cached_key(|entry| Reverse(pile.called(*entry, now) - world.uses.count(head.uses, *entry)));
        }
        let mut found = Found::New;
        for entry in useful.list.iter().copied() {
            let called = pile.called(entry, now);
            let used = world.uses.count(head.uses, entry);
            let next =
                if used < called { world.table.next(head.state, pile.entry(entry).class) } else { Next::Nowhere };
            // A use that does not change the state changes nothing.
            if next == Next::Nowhere || next == Next::One(head.state) {
                continue;
            }
            let op = pile.entry(entry).ops[ids::index(used)].1;
            let uses = world.uses.add(head.uses, entry);
            found = found.or(self.reach(world, from, next, Placed { op, uses, slot: None }));
        }
        world.useful = useful;
        found
    }

    /// As `use_pile`, if uses are counted together: only the states that some use leads to matter.
    fn use_any(&mut self, world: &mut World<'_>, pile: &Pile, now: Seq, from: usize) -> Found {
        let head = self.set.heads[from];
        let is_of_use = !pile.awake().is_empty()
            || self
                .in_flight()
                .any(|(slot, in_flight)| !self.set.has(from, slot) && !world.table.admits(head.state, in_flight.class));
        if !is_of_use || ids::index(head.uses.number()) >= pile.len() {
            return Found::New;
        }
        let mut found = Found::New;
        for at in self.after(world, pile, now, head.state) {
            let (state, op) = world.after.steps[at];
            found = found.or(self.add(world, from, state, Placed { op, uses: head.uses.one_more(), slot: None }));
        }
        found
    }

    /// The other states that uses lead to from `state`, as positions in [`After::steps`].
    fn after(&self, world: &mut World<'_>, pile: &Pile, now: Seq, state: StateId) -> Range<usize> {
        if let Some(known) = world.after.get(state) {
            return known;
        }
        let mut useful = std::mem::take(&mut world.useful);
        self.useful(world, pile, state, None, &mut useful);
        let first = world.after.steps.len();
        for entry in useful.list.iter().copied().filter(|entry| pile.called(*entry, now) > 0) {
            let (class, (_, op)) = (pile.entry(entry).class, pile.entry(entry).ops[0]);
            match world.table.next(state, class) {
                Next::Nowhere => {}
                Next::One(next) => world.after.step(first, state, next, op),
                Next::Many { first: choice, count } => {
                    for choice in choice..choice + count {
                        let next = world.table.choice(choice);
                        world.after.step(first, state, next, op);
                    }
                }
            }
        }
        world.useful = useful;
        world.after.put(state, first)
    }

    /// The entries of the pile that may be useful in `state`, to configuration `from` or to any one, in order.
    ///
    /// An effect that does not last is useful only to operations that can observe it before the state changes again:
    /// some operation in flight that has not taken effect and that is not valid in the current state, or another
    /// operation of the pile that is itself useful. All other operations are possible without it.
    /// operation of the pile that is of use itself. All other operations are possible without it.
    fn useful(&self, world: &mut World<'_>, pile: &Pile, state: StateId, from: Option<usize>, into: &mut Entries) {
        into.clear();
        pile.awake().iter().for_each(|entry| into.put(*entry));
        for slot in self.writes.iter().chain(&self.reads) {
            let class = self.slots[ids::index(*slot)].class;
            let has_happened = from.is_some_and(|from| self.set.has(from, *slot));
            if !has_happened && !world.table.admits(state, class) {
                pile.fleeting_seen_by(&mut world.table, class, into);
            }
        }
        let mut next = 0;
        while let Some(entry) = into.list.get(next) {
            let class = pile.entry(*entry).class;
            pile.fleeting_seen_by(&mut world.table, class, into);
            next += 1;
        }
        into.list.sort_unstable();
    }
}
