//! Operations that may have happened, and may still happen: those that crashed, and those in flight, whose result is
//! unknown.
//!
//! Equal operations are one entry with a count. Three kinds of entries differ in when they are tried:
//! - An entry whose effect does not last is tried if an operation in flight can observe it: see
//!   [`Shortcuts::effect_lasts`].
//! - Another entry rests until some operation with a known result may observe it, directly or through others: before,
//!   by the law of [`Shortcuts::effect`], it affects no other operation. When it becomes active, the events since its
//!   call are processed again.
//! - From then on it is tried at every return, because the operations that may observe it later are unknown.
//!
//! [`Shortcuts::effect`]: check_register::Model::effect
//! [`Shortcuts::effect_lasts`]: check_register::Model::effect_lasts

use super::ops::{OpIx, Seq};
use super::rules::Sees;
use super::table::Table;
use check_register::engine::ids;
use check_register::engine::ids::ClassId;
use history_core::hash::HashMap;

/// Equal operations.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) class: ClassId,
    effect: Option<u64>,
    /// Whether its effect can still be observed after the state has changed again.
    lasts: bool,
    /// Whether it rests.
    rests: bool,
    /// Their calls, in order.
    pub(crate) ops: Vec<(Seq, OpIx)>,
    /// The next entry of the same effect; `NONE` if there is none.
    next: u32,
}

const NONE: u32 = u32::MAX;

/// Entries, each once.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) list: Vec<u32>,
    /// For each entry, the clearing at which it was last inserted.
    since: Vec<u32>,
    clearings: u32,
}

impl Entries {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.clearings = self.clearings.checked_add(1).unwrap_or_else(|| {
            self.since.clear();
            1
        });
    }

    pub(crate) fn put(&mut self, entry: u32) {
        let at = ids::index(entry);
        if at >= self.since.len() {
            self.since.resize(at + 1, 0);
        }
        if std::mem::replace(&mut self.since[at], self.clearings) != self.clearings {
            self.list.push(entry);
        }
    }
}

/// The operations of one part of an object.
#[derive(Debug, Default)]
pub(crate) struct Pile {
    /// Those without operations are free.
    entries: Vec<Entry>,
    free: Vec<u32>,
    by_class: HashMap<ClassId, u32>,
    by_effect: HashMap<u64, u32>,
    /// The entries that are tried at every return.
    awake: Vec<u32>,
    /// The entries whose effect has no number.
    unnumbered: Vec<u32>,
    /// The number of resting entries.
    resting: usize,
    /// The number of operations.
    len: usize,
}

impl Pile {
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn entry(&self, entry: u32) -> &Entry {
        &self.entries[ids::index(entry)]
    }

    /// The number of operations of an entry that were called before `now`.
    #[inline]
    pub(crate) fn called(&self, entry: u32, now: Seq) -> u32 {
        let ops = &self.entry(entry).ops;
        match ops.last() {
            Some((last, _)) if *last <= now => ids::number(ops.len()),
            _ => ids::number(ops.partition_point(|(call, _)| *call <= now)),
        }
    }

    /// The cost of uses if not all can be tried: it is greater for more uses of an entry, and if fewer operations of it
    /// remain. `uses`: entries with the number of operations that were used.
    pub(crate) fn price(&self, uses: &[(u32, u32)], now: Seq) -> u64 {
        const UNIT: u64 = 1 << 16;
        let of_entry = |(entry, used): &(u32, u32)| {
            let left = self.called(*entry, now).saturating_sub(*used);
            u64::from(*used) * UNIT / (u64::from(left) + 1)
        };
        uses.iter().map(of_entry).sum()
    }

    /// Adds an operation. Returns whether it rests.
    pub(crate) fn add(&mut self, table: &Table<'_>, op: OpIx, class: ClassId, call: Seq) -> bool {
        self.len += 1;
        if let Some(entry) = self.by_class.get(&class) {
            let entry = &mut self.entries[ids::index(*entry)];
            let at = entry.ops.partition_point(|(other, _)| *other < call);
            entry.ops.insert(at, (call, op));
            return entry.rests;
        }
        let (effect, lasts) = table.rules.effect(class);
        let at = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry { class, effect, lasts, rests: lasts, ops: Vec::new(), next: NONE });
            ids::number(self.entries.len()) - 1
        });
        let next = if let Some(effect) = effect {
            self.by_effect.insert(effect, at).unwrap_or(NONE)
        } else {
            self.unnumbered.push(at);
            NONE
        };
        let mut ops = std::mem::take(&mut self.entries[ids::index(at)].ops);
        ops.push((call, op));
        self.entries[ids::index(at)] = Entry { class, effect, lasts, rests: lasts, ops, next };
        self.by_class.insert(class, at);
        self.resting += usize::from(lasts);
        lasts
    }

    /// Removes an operation, if it is there. Returns its entry, and whether that rests.
    pub(crate) fn remove(&mut self, op: OpIx, class: ClassId, call: Seq) -> Option<(u32, bool)> {
        let at = *self.by_class.get(&class)?;
        let entry = &mut self.entries[ids::index(at)];
        let place = entry.ops.binary_search(&(call, op)).ok()?;
        entry.ops.remove(place);
        let rests = entry.rests;
        self.len -= 1;
        if entry.ops.is_empty() {
            self.retire(at);
        }
        Some((at, rests))
    }

    /// Removes the first `count` operations of an entry, which every remaining configuration uses.
    pub(crate) fn take_first(&mut self, at: u32, count: u32) -> Vec<OpIx> {
        let entry = &mut self.entries[ids::index(at)];
        let taken: Vec<OpIx> = entry.ops.drain(..ids::index(count)).map(|(_, op)| op).collect();
        self.len -= taken.len();
        if entry.ops.is_empty() {
            self.retire(at);
        }
        taken
    }

    /// Frees an entry without operations.
    fn retire(&mut self, at: u32) {
        let Entry { class, effect, next, rests, .. } = self.entries[ids::index(at)];
        self.resting -= usize::from(rests);
        self.by_class.remove(&class);
        self.awake.retain(|other| *other != at);
        self.unnumbered.retain(|other| *other != at);
        if let Some(effect) = effect {
            let mut before = self.by_effect[&effect];
            if before == at {
                if next == NONE {
                    self.by_effect.remove(&effect);
                } else {
                    self.by_effect.insert(effect, next);
                }
            } else {
                while self.entries[ids::index(before)].next != at {
                    before = self.entries[ids::index(before)].next;
                }
                self.entries[ids::index(before)].next = next;
            }
        }
        self.free.push(at);
    }

    fn of_effect(&self, effect: u64) -> impl Iterator<Item = u32> {
        let mut at = self.by_effect.get(&effect).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let found = (at != NONE).then_some(at)?;
            at = self.entries[ids::index(at)].next;
            Some(found)
        })
    }

    fn live(&self) -> impl Iterator<Item = u32> {
        (0..ids::number(self.entries.len())).filter(|at| !self.entry(*at).ops.is_empty())
    }

    /// Adds to `into` the entries whose effects do not last and that operations of this class can observe.
    pub(crate) fn fleeting_seen_by(&self, table: &mut Table<'_>, class: ClassId, into: &mut Entries) {
        let mut add = |at: u32| {
            if !self.entry(at).lasts {
                into.put(at);
            }
        };
        match table.sees(class) {
            Sees::NotAsked | Sees::Any => self.live().for_each(add),
            Sees::These(effects) => {
                effects.as_slice().iter().for_each(|effect| self.of_effect(*effect).for_each(&mut add));
            }
        }
    }

    /// The entries that are tried at every return.
    pub(crate) fn awake(&self) -> &[u32] {
        &self.awake
    }

    /// Activates the entries that operations of this class may observe, directly or through others. Returns the first
    /// call among them.
    pub(crate) fn wake(&mut self, table: &mut Table<'_>, class: ClassId) -> Option<Seq> {
        if self.resting == 0 {
            return None;
        }
        let (mut seers, mut seen, mut first) = (vec![class], Vec::new(), None);
        let mut found = Vec::new();
        while let Some(seer) = seers.pop() {
            match table.sees(seer) {
                Sees::NotAsked | Sees::Any => found.extend(self.live()),
                Sees::These(effects) => {
                    effects.as_slice().iter().for_each(|effect| found.extend(self.of_effect(*effect)));
                }
            }
            found.retain(|at| self.entry(*at).effect.is_some());
            found.extend(self.unnumbered.iter().filter(|at| table.rules.may_see(seer, self.entry(**at).class)));
            for at in found.drain(..) {
                if seen.contains(&at) {
                    continue;
                }
                seen.push(at);
                seers.push(self.entry(at).class);
                if self.entry(at).rests {
                    first = Some(self.entry(at).ops[0].0.min(first.unwrap_or(Seq::MAX)));
                    self.wake_one(at);
                }
            }
        }
        first
    }

    fn wake_one(&mut self, at: u32) {
        self.entries[ids::index(at)].rests = false;
        self.resting -= 1;
        let place = self.awake.partition_point(|other| *other < at);
        self.awake.insert(place, at);
    }

    /// Activates all resting entries. Returns the first call among them.
    pub(crate) fn wake_all(&mut self) -> Option<Seq> {
        let resting: Vec<u32> = self.live().filter(|at| self.entry(*at).rests).collect();
        for at in &resting {
            self.wake_one(*at);
        }
        resting.iter().map(|at| self.entry(*at).ops[0].0).min()
    }

    /// The entry of a class.
    pub(crate) fn find(&self, class: ClassId) -> Option<u32> {
        self.by_class.get(&class).copied()
    }

    /// Returns true if the entry of this class rests.
    pub(crate) fn rests(&self, class: ClassId) -> bool {
        self.find(class).is_some_and(|at| self.entry(at).rests)
    }

    /// All operations.
    pub(crate) fn ops(&self) -> impl Iterator<Item = OpIx> {
        self.entries.iter().flat_map(|entry| entry.ops.iter().map(|(_, op)| *op))
    }

    /// All classes.
    pub(crate) fn classes(&self) -> impl Iterator<Item = ClassId> {
        self.by_class.keys().copied()
    }
}
