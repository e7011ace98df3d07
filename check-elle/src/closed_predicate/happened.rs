//! The transactions that happened and the versions that they read, for levels that cycles do not decide.

use super::analysis::Universe;
use super::edges::Inferred;
use super::mop::Mop;
use super::reads::{Finding, Look, Reader, Version};
use crate::exact::{External, Happened, key_of};
use crate::ids::{KeyId, TxnId};
use crate::txn::analysis::Analysis as _;
use history_core::cast::Cast as _;

impl Universe {
    /// The transactions that happened. `None` if some read returned a value that no transaction left behind, observed
    /// one of several versions that is not determined, or observed the state before the universe.
    ///
    /// A transaction whose outcome is unknown and that was not read can be omitted, or follow all others.
    pub(super) fn transactions(&self) -> Option<Happened> {
        let Inferred { aborted, intermediate, future, garbage, mismatches, misses, early, ambiguous, spent, .. } =
            &self.inferred;
        let all_explained = [aborted.is_empty(), intermediate.is_empty(), future.is_empty(), garbage.is_empty()];
        let all_shown =
            mismatches.is_empty() && misses.is_empty() && early.is_empty() && ambiguous.is_none() && spent.is_none();
        if !all_shown || all_explained.contains(&false) {
            return None;
        }
        let mut is_seen = vec![false; self.txns.len()];
        let mut contradicts_itself = false;
        let (mut strict, mut lenient) = (Reads::default(), Reads::default());
        let mut parts = Parts::new(self);
        let mut own: Vec<(u32, External)> = Vec::new();
        let mut reader = Reader::new(&self.keys, &self.selects, &self.txns);
        for txn in self.txns.ids() {
            own.clear();
            if self.txns.is_ok(txn) {
                reader.read(txn, &mut |look, finding| match finding {
                    Finding::Of(version) => {
                        let writer = self.writer(look, version);
                        if let Some(writer) = writer {
                            is_seen[writer.at()] = true;
                        }
                        own.push((look.mop, (look.key, writer)));
                    }
                    Finding::Internal { is_own, .. } => contradicts_itself |= is_own,
                    _ => {}
                });
            }
            for looks in own.chunk_by(|a, b| a.0 == b.0) {
                parts.order(looks, &mut strict.all, &mut lenient.all);
            }
            strict.ends.push(strict.all.len());
            lenient.ends.push(lenient.all.len());
        }
        let happened = |txn| self.txns.is_ok(txn) || self.txns.is_possible(txn) && is_seen[txn.at()];
        let mut all = self.rows(happened, &strict)?;
        if strict != lenient {
            all.lenient = Some(self.rows(happened, &lenient)?.txns);
        }
        all.has_predicates = self.misses_by_predicates();
        all.contradicts_itself = contradicts_itself;
        Some(all)
    }

    /// The transactions that happened, with these reads.
    fn rows(&self, happened: impl Fn(TxnId) -> bool, reads: &Reads) -> Option<Happened> {
        let mut happened = Happened::new(&self.txns, happened, |txn, external, writes| {
            external.extend_from_slice(reads.of(txn));
            writes.extend(self.txns.mops(txn).iter().filter_map(|mop| match mop {
                Mop::Mutate { key, .. } if !self.keys.of(*key).left_out => Some(key_of(*key)),
                _ => None,
            }));
            Some(())
        })?;
        for (at, key) in self.keys.keys.iter().enumerate().filter(|(_, key)| !key.left_out) {
            for (base, mutation) in
                key.base.iter().flat_map(|base| key.external().map(move |mutation| (base, mutation)))
            {
                happened.push_order(KeyId::new(at), base.txn, mutation.txn);
            }
        }
        Some(happened)
    }

    /// The writer of a version; `None` for the state before the universe.
    fn writer(&self, look: Look, version: Version) -> Option<TxnId> {
        let key = self.keys.of(look.key);
        match version {
            Version::Before => None,
            Version::Base => key.base.map(|base| base.txn),
            Version::Mutation(at) => Some(key.mutations[at.to_usize()].txn),
        }
    }
}

/// The reads of each transaction, one after another.
#[derive(Debug, Default, PartialEq)]
struct Reads {
    ends: Vec<usize>,
    all: Vec<External>,
}

impl Reads {
    fn of(&self, txn: TxnId) -> &[External] {
        let start = txn.at().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..self.ends[txn.at()]]
    }
}

/// Finds predicate reads that observed a part of some transaction and missed another part.
///
/// A transaction's reads have an order, on which monotonic atomic view is based. A predicate read covers all keys at
/// once, so its results for two keys have no order.
struct Parts<'a> {
    universe: &'a Universe,
    /// The number of micro-ops examined.
    count: usize,
    /// For each key, the last micro-op that read it, and the number of that read.
    read: Vec<(usize, usize)>,
    /// For each transaction, the last micro-op that read a write of it.
    read_from: Vec<usize>,
    /// For each read of the micro-op, whether it missed a transaction that another of its reads observed.
    missed: Vec<bool>,
}

impl<'a> Parts<'a> {
    fn new(universe: &'a Universe) -> Parts<'a> {
        let (keys, txns) = (universe.keys.keys.len(), universe.txns.len());
        let (read, read_from) = (vec![(0, 0); keys], vec![0; txns]);
        Parts { universe, count: 0, read, read_from, missed: Vec::new() }
    }

    /// Adds the reads of a micro-op. To `strict`: each of them both before and after each other one. To `lenient`: in
    /// an order in which none misses a transaction that an earlier one observed; if there is no such order, some are
    /// omitted.
    fn order(&mut self, looks: &[(u32, External)], strict: &mut Vec<External>, lenient: &mut Vec<External>) {
        let all = || looks.iter().map(|(_, external)| *external);
        strict.extend(all());
        if !self.is_partial(looks) {
            lenient.extend(all());
            return;
        }
        strict.extend(all());
        let is_base = |key: KeyId, writer: TxnId| self.is_base(key, writer);
        let missed = || all().zip(&self.missed).filter(|(_, missed)| **missed).map(|(external, _)| external);
        lenient.extend(missed().filter(|(_, writer)| writer.is_none()));
        lenient.extend(missed().filter(|(key, writer)| writer.is_some_and(|writer| is_base(*key, writer))));
        lenient.extend(all().zip(&self.missed).filter(|(_, missed)| !**missed).map(|(external, _)| external));
    }

    /// Returns true if a read of the micro-op missed a transaction that another one observed, and marks such reads in
    /// `missed`. O(reads + writes of the transactions read from).
    fn is_partial(&mut self, looks: &[(u32, External)]) -> bool {
        self.count += 1;
        self.missed.clear();
        self.missed.resize(looks.len(), false);
        if looks.len() < 2 {
            return false;
        }
        for (at, (_, (key, _))) in looks.iter().enumerate() {
            self.read[key.at()] = (self.count, at);
        }
        let mut is_partial = false;
        for seen in looks.iter().filter_map(|(_, (_, writer))| *writer) {
            if std::mem::replace(&mut self.read_from[seen.at()], self.count) == self.count {
                continue;
            }
            for mop in self.universe.txns.mops(seen) {
                let Mop::Mutate { key, .. } = *mop else { continue };
                let (count, at) = self.read[key.at()];
                if count != self.count {
                    continue;
                }
                let (_, (_, writer)) = looks[at];
                // The transaction that replaced the first version follows it.
                let is_later = writer.is_some() && self.is_base(key, seen);
                if writer != Some(seen) && !is_later {
                    self.missed[at] = true;
                    is_partial = true;
                }
            }
        }
        is_partial
    }

    fn is_base(&self, key: KeyId, writer: TxnId) -> bool {
        self.universe.keys.of(key).base.is_some_and(|base| base.txn == writer)
    }
}
