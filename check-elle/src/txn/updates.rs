//! Lost updates: several transactions that read one version of a key and then wrote the key.
//!
//! Berenson et al., "A critique of ANSI SQL isolation levels" (SIGMOD 1995), phenomenon P4. Whatever the order of their
//! writes, one of them overwrote a version that it had not read.

use crate::ids::TxnId;

/// Groups transactions that wrote a key after they had read the same version of it: the version, and the transactions.
/// In the order of versions; O(n log n).
pub(crate) fn lost<V: Copy + Ord>(mut updates: Vec<(V, TxnId)>) -> Vec<(V, Vec<TxnId>)> {
    updates.sort_unstable();
    let groups = updates.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
    groups.map(|group| (group[0].0, group.iter().map(|(_, txn)| *txn).collect())).collect()
}
