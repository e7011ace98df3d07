//! Which transactions happened and whom their reads saw, for levels that cycles do not decide.

use super::analysis::Universe;
use super::edges::Inferred;
use super::mop::Mop;
use super::reads::{Finding, Look, Reader, Version};
use crate::exact::{External, Happened, key_of};
use crate::ids::{KeyId, TxnId};
use history_core::cast::Cast as _;

impl Universe {
    /// The transactions that happened; `None` if some read shows what nobody left behind, or one of several versions
    /// but not any.
    ///
    /// A transaction whose end is unknown and that nobody saw can be left out, or be behind all others.
    pub(super) fn transactions(&self) -> Option<Happened> {
        let Inferred { aborted, intermediate, future, garbage, mismatches, misses, ambiguous, spent, .. } =
            &self.inferred;
        let all_explained = [aborted.is_empty(), intermediate.is_empty(), future.is_empty(), garbage.is_empty()];
        let all_shown = mismatches.is_empty() && misses.is_empty() && ambiguous.is_none() && spent.is_none();
        if !all_shown || all_explained.contains(&false) {
            return None;
        }
        let mut is_seen = vec![false; self.txns.len()];
        let mut contradicts_itself = false;
        // The reads of each transaction, one after another.
        let (mut ends, mut reads): (Vec<usize>, Vec<External>) = (Vec::new(), Vec::new());
        let mut reader = Reader::new(&self.keys, &self.selects, &self.txns);
        for txn in self.txns.ids() {
            if self.txns.is_ok(txn) {
                reader.read(txn, &mut |look, finding| match finding {
                    Finding::Of(version) => {
                        let writer = self.writer(look, version);
                        if let Some(writer) = writer {
                            is_seen[writer.at()] = true;
                        }
                        reads.push((look.key, writer));
                    }
                    Finding::Internal { is_own, .. } => contradicts_itself |= is_own,
                    _ => {}
                });
            }
            ends.push(reads.len());
        }
        let look = |txn: TxnId, external: &mut Vec<External>, writes: &mut Vec<check_isolation::KeyId>| {
            let start = txn.at().checked_sub(1).map_or(0, |before| ends[before]);
            external.extend_from_slice(&reads[start..ends[txn.at()]]);
            external.sort_unstable();
            external.dedup();
            writes.extend(self.txns.mops(txn).iter().filter_map(|mop| match mop {
                Mop::Mutate { key, .. } if !self.keys.of(*key).left_out => Some(key_of(*key)),
                _ => None,
            }));
            Some(())
        };
        let txns = &self.txns;
        let happened = |txn| txns.is_ok(txn) || txns.is_possible(txn) && is_seen[txn.at()];
        let mut happened = Happened::new(txns, happened, look)?;
        happened.contradicts_itself = contradicts_itself;
        for (at, key) in self.keys.keys.iter().enumerate().filter(|(_, key)| !key.left_out) {
            for (base, mutation) in
                key.base.iter().flat_map(|base| key.external().map(move |mutation| (base, mutation)))
            {
                happened.push_order(KeyId::new(at), base.txn, mutation.txn);
            }
        }
        Some(happened)
    }

    /// Who wrote a version; nobody what was there before all.
    fn writer(&self, look: Look, version: Version) -> Option<TxnId> {
        let key = self.keys.of(look.key);
        match version {
            Version::Before => None,
            Version::Base => key.base.map(|base| base.txn),
            Version::Mutation(at) => Some(key.mutations[at.to_usize()].txn),
        }
    }
}
