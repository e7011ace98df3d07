//! Judges levels by their axioms: is there an order of all transactions in which no read misses a visible write?
//!
//! Biswas and Enea, "On the Complexity of Checking Transactional Consistency" (OOPSLA 2019); Cerone, Bernardi and
//! Gotsman (CONCUR 2015). Every order is tried. For lists, appends have the order of their transactions, so each read
//! must show a prefix of all appends to its key.

use super::semantic::next_permutation;
use super::world::{Mop, Name, Txn, World};

/// Defines which writes are visible to a read of a transaction, in a given order of all transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axiom {
    ReadCommitted,
    MonotonicAtomicView,
    ReadAtomic,
    Causal,
    Prefix,
    ParallelSnapshot,
    Snapshot,
    Serializable,
}

/// The relation that every order must extend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Nothing,
    Session,
    RealTime,
}

use Axiom::{Causal, MonotonicAtomicView, ParallelSnapshot, Prefix, ReadAtomic, ReadCommitted, Serializable, Snapshot};

/// The levels that have an axiom, by their names in Elle's table.
pub(crate) const LEVELS: &[(&str, Axiom, Base)] = &[
    ("read-committed", ReadCommitted, Base::Nothing),
    ("monotonic-atomic-view", MonotonicAtomicView, Base::Nothing),
    ("read-atomic", ReadAtomic, Base::Nothing),
    ("causal-cerone", Causal, Base::Nothing),
    ("prefix", Prefix, Base::Nothing),
    ("parallel-snapshot-isolation", ParallelSnapshot, Base::Nothing),
    ("consistent-view", ParallelSnapshot, Base::Nothing),
    ("snapshot-isolation", Snapshot, Base::Nothing),
    ("repeatable-read", Serializable, Base::Nothing),
    ("serializable", Serializable, Base::Nothing),
    ("strong-session-read-committed", ReadCommitted, Base::Session),
    ("strong-session-snapshot-isolation", Snapshot, Base::Session),
    ("strong-session-serializable", Serializable, Base::Session),
    ("strong-read-committed", ReadCommitted, Base::RealTime),
    ("strong-snapshot-isolation", Snapshot, Base::RealTime),
    ("strict-serializable", Serializable, Base::RealTime),
];

/// An external read: the reader, the key, the transaction that it read from, and its position in the reader.
struct Read {
    reader: usize,
    key: Name,
    /// `None`: the read shows the initial state.
    writer: Option<usize>,
    /// For lists, all writers that the read shows, in order; includes the reader if it had appended to the list.
    shows: Vec<usize>,
    position: usize,
}

/// A history in the form that the axioms need.
pub(crate) struct Execution<'w> {
    world: &'w World,
    txns: Vec<&'w Txn>,
    reads: Vec<Read>,
    /// For each transaction, the keys that it writes.
    writes: Vec<Vec<Name>>,
    /// Pairs of writers of register versions that the sources order.
    assumed: Vec<(usize, usize)>,
}

impl<'w> Execution<'w> {
    /// Returns `None` if a read shows a state that no transaction left behind, or contradicts the transaction's own
    /// writes: then no level is valid.
    pub(crate) fn of(world: &'w World) -> Option<Execution<'w>> {
        Execution::with(world, false)
    }

    /// The same, but a read of a register after a write of the same transaction may show another value, as at read
    /// committed.
    pub(crate) fn of_any_reads(world: &'w World) -> Option<Execution<'w>> {
        Execution::with(world, true)
    }

    fn with(world: &'w World, lets_internal: bool) -> Option<Execution<'w>> {
        let is_seen = |txn: &Txn| {
            let mut shown = world.txns.iter().filter(|reader| reader.is_ok()).flat_map(Txn::reads);
            shown.any(|(key, list)| list.iter().any(|element| txn.writes().any(|write| write == (key, *element))))
        };
        let txns: Vec<&Txn> =
            world.txns.iter().filter(|txn| txn.is_ok() || txn.may_have_happened() && is_seen(txn)).collect();
        let writes = txns.iter().map(|txn| txn.writes().map(|(key, _)| key).collect()).collect();
        let mut execution = Execution { world, txns, reads: Vec::new(), writes, assumed: Vec::new() };
        for reader in 0..execution.txns.len() {
            execution.look(reader, lets_internal)?;
        }
        for (key, version, next) in world.versions.iter().flat_map(|versions| &versions.used) {
            let writer = |version: &Option<Name>| {
                let version = (*version)?;
                execution.txns.iter().position(|txn| txn.external_write(*key) == Some(version))
            };
            execution.assumed.extend(writer(version).zip(writer(next)).filter(|(a, b)| a != b));
        }
        Some(execution)
    }

    fn look(&mut self, reader: usize, lets_internal: bool) -> Option<()> {
        let txn = self.txns[reader];
        for (position, mop) in txn.mops.iter().enumerate().filter(|_| txn.is_ok()) {
            let Mop::Read(key, Some(seen)) = mop else { continue };
            let own = txn.mops[..position].iter().filter_map(|mop| match mop {
                Mop::Write(k, element) if k == key => Some(*element),
                _ => None,
            });
            let own: Vec<Name> = own.collect();
            let before = match (self.world.versions.is_some(), own.last()) {
                (true, Some(last)) if seen[..] == [*last] => continue,
                (true, Some(_)) if !lets_internal => return None,
                (true, Some(_)) if seen.iter().any(|seen| own.contains(seen)) => continue,
                (true, _) => &seen[..],
                (false, _) => seen.strip_suffix(&own[..])?,
            };
            let mut shows = self.writers_of(reader, *key, before)?;
            let writer = shows.last().copied();
            shows.extend((!own.is_empty()).then_some(reader));
            self.reads.push(Read { reader, key: *key, writer, shows, position });
        }
        Some(())
    }

    /// Returns the writers of what was read. Each writer must be shown with all its writes; for a register with its
    /// last write.
    fn writers_of(&self, reader: usize, key: Name, mut seen: &[Name]) -> Option<Vec<usize>> {
        let mut writers = Vec::new();
        while let Some(first) = seen.first() {
            let writer = self.txns.iter().position(|txn| txn.writes().any(|write| write == (key, *first)))?;
            let written = self.txns[writer].writes().filter(|(k, _)| *k == key).map(|(_, element)| element);
            let mut written: Vec<Name> = written.collect();
            if self.world.versions.is_some() {
                written.drain(..written.len() - 1);
            }
            seen = seen.strip_prefix(&written[..]).filter(|_| writer != reader && !writers.contains(&writer))?;
            writers.push(writer);
        }
        Some(writers)
    }

    fn precedes(&self, base: Base, a: usize, b: usize) -> bool {
        match base {
            Base::Nothing => false,
            Base::Session => self.txns[a].precedes_in_process(self.txns[b]),
            Base::RealTime => self.txns[a].precedes_in_time(self.txns[b]),
        }
    }

    /// Returns true if some order of all transactions obeys a level.
    pub(crate) fn obeys(&self, axiom: Axiom, base: Base) -> bool {
        let n = self.txns.len();
        let wr = |a: usize, b: usize| self.reads.iter().any(|read| (read.writer, read.reader) == (Some(a), b));
        let known: Vec<Vec<bool>> =
            (0..n).map(|a| (0..n).map(|b| self.precedes(base, a, b) || wr(a, b)).collect()).collect();
        let mut at: Vec<usize> = (0..n).collect();
        loop {
            if self.is_obeyed(&at, axiom, &known) {
                return true;
            }
            if !next_permutation(&mut at) {
                return false;
            }
        }
    }

    /// Returns true if this order, given as the position of each transaction, obeys the level.
    fn is_obeyed(&self, at: &[usize], axiom: Axiom, known: &[Vec<bool>]) -> bool {
        let n = at.len();
        let extends = (0..n).all(|a| (0..n).all(|b| !known[a][b] || at[a] < at[b]));
        if !extends || !self.assumed.iter().all(|(a, b)| at[*a] < at[*b]) || !self.lists_agree(at) {
            return false;
        }
        let sees = match axiom {
            Causal => closure(known.to_vec()),
            ParallelSnapshot => {
                let overwrites = |a: usize, b: usize| at[a] < at[b] && self.both_write(a, b);
                closure((0..n).map(|a| (0..n).map(|b| known[a][b] || overwrites(a, b)).collect()).collect())
            }
            _ => known.to_vec(),
        };
        self.reads.iter().all(|read| {
            let others = (0..n).filter(|other| *other != read.reader && Some(*other) != read.writer);
            others.filter(|other| self.writes[*other].contains(&read.key)).all(|other| {
                let is_visible = self.is_visible(axiom, at, known, &sees, other, read);
                !is_visible || read.writer.is_some_and(|writer| at[other] < at[writer])
            })
        })
    }

    fn is_visible(
        &self,
        axiom: Axiom,
        at: &[usize],
        known: &[Vec<bool>],
        sees: &[Vec<bool>],
        other: usize,
        read: &Read,
    ) -> bool {
        let reader = read.reader;
        let behind = |via: usize| at[other] <= at[via];
        let prefix = || (0..at.len()).any(|via| behind(via) && known[via][reader]);
        match axiom {
            ReadCommitted => false,
            MonotonicAtomicView => {
                let earlier = |one: &&Read| one.reader == reader && one.position < read.position;
                self.reads.iter().filter(earlier).any(|one| one.writer == Some(other))
            }
            ReadAtomic | Causal | ParallelSnapshot => sees[other][reader],
            Prefix => prefix(),
            Snapshot => {
                let met = |via: usize| behind(via) && at[via] < at[reader] && self.both_write(via, reader);
                prefix() || (0..at.len()).any(met)
            }
            Serializable => at[other] < at[reader],
        }
    }

    fn both_write(&self, a: usize, b: usize) -> bool {
        self.writes[a].iter().any(|key| self.writes[b].contains(key))
    }

    /// Returns true if each list that was read is a prefix of the appends in this order.
    fn lists_agree(&self, at: &[usize]) -> bool {
        self.world.versions.is_some()
            || self.reads.iter().all(|read| {
                let mut writers: Vec<usize> =
                    (0..at.len()).filter(|txn| self.writes[*txn].contains(&read.key)).collect();
                writers.sort_by_key(|writer| at[*writer]);
                writers.starts_with(&read.shows)
            })
    }
}

fn closure(mut relation: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    let n = relation.len();
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                relation[from][to] |= relation[from][via] && relation[via][to];
            }
        }
    }
    relation
}
