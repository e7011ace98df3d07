//! The transactions of an rw-register history that happened, the writers that their reads observed, and the writes that
//! the sources in use order.

mod commits;
mod explained;
pub(super) mod knots;

pub(super) use explained::is_explained;

use super::mop::{Mop, What};
use super::order::Order;
use super::versions::{Flags, Versions};
use crate::exact::{External, Happened, key_of};
use crate::ids::{KeyId, TxnId, VersionId};
use crate::txn::Txns;

/// The transactions that happened; `None` if some read shows a value that no transaction left.
///
/// One whose outcome is unknown and whose writes were not read can be omitted, or follow all others. If sources order
/// versions it is not omitted: its writes may be between two others.
pub(super) fn happened(versions: &Versions, txns: &Txns<Mop>, order: &Order) -> Option<Happened> {
    in_order(versions, txns, order, is_there(versions, txns, !order.is_trivial()))
}

/// The same, without an order of versions.
fn serial(versions: &Versions, txns: &Txns<Mop>, is_ordered: bool) -> Option<Happened> {
    let look = |txn: TxnId, key: KeyId, version: VersionId| external(versions, txn, key, version);
    of_those(versions, txns, is_there(versions, txns, is_ordered), false, look)
}

/// Returns a test of whether a transaction is known to have happened, or wrote something while versions are ordered.
fn is_there(versions: &Versions, txns: &Txns<Mop>, is_ordered: bool) -> impl Fn(TxnId) -> bool {
    let is_seen = move |txn: TxnId| {
        txns.mops(txn).iter().any(|mop| match mop.what() {
            What::Write(version) => is_ordered || versions.version[version.at()].flags.has(Flags::SEEN),
            _ => false,
        })
    };
    move |txn| txns.is_ok(txn) || txns.is_possible(txn) && is_seen(txn)
}

/// Returns all transactions that may have happened.
pub(super) fn may_have_happened(versions: &Versions, txns: &Txns<Mop>, order: &Order) -> Option<Happened> {
    in_order(versions, txns, order, |txn| txns.is_possible(txn))
}

/// Returns these transactions, and the order of versions from the sources.
fn in_order(
    versions: &Versions,
    txns: &Txns<Mop>,
    order: &Order,
    is_there: impl Fn(TxnId) -> bool,
) -> Option<Happened> {
    let look = |txn: TxnId, key: KeyId, version: VersionId| external(versions, txn, key, version);
    let of_those = |keeps_contradictions: bool| {
        let mut happened = of_those(versions, txns, &is_there, keeps_contradictions, look)?;
        if !order.is_trivial() {
            push_orders(versions, order, &mut happened);
        }
        Some(happened)
    };
    let mut happened = of_those(false)?;
    if happened.contradicts_itself {
        happened.all_reads = of_those(true).map(|happened| happened.txns);
    }
    Some(happened)
}

/// Returns these transactions. `look` returns the writer that an external read observed. If `keeps_contradictions`, a
/// read after an own write that returns another transaction's write is kept.
fn of_those(
    versions: &Versions,
    txns: &Txns<Mop>,
    is_there: impl Fn(TxnId) -> bool,
    keeps_contradictions: bool,
    mut look: impl FnMut(TxnId, KeyId, VersionId) -> Option<External>,
) -> Option<Happened> {
    // For each key, the last transaction that wrote it, and the version.
    let mut own = vec![(TxnId::NONE, VersionId::NONE); versions.key.len()];
    let mut contradicts_itself = false;
    let mut happened = Happened::new(txns, is_there, |txn, reads, writes| {
        for mop in txns.mops(txn) {
            let own = &mut own[mop.key.at()];
            match mop.what() {
                What::Write(version) => {
                    *own = (txn, version);
                    writes.push(key_of(mop.key));
                }
                // A read of an operation whose outcome is unknown is not reliable.
                What::Read(_) if !txns.is_ok(txn) => {}
                What::Read(version) if own.0 == txn => {
                    let is_contradiction = own.1 != version;
                    contradicts_itself |= is_contradiction;
                    // A value that the transaction itself wrote has no other writer.
                    let is_own = versions.version[version.at()].writer == txn;
                    if keeps_contradictions && is_contradiction && !is_own {
                        reads.push(look(txn, mop.key, version)?);
                    }
                }
                What::Read(version) => reads.push(look(txn, mop.key, version)?),
                What::Unseen => {}
            }
        }
        Some(())
    })?;
    happened.contradicts_itself = contradicts_itself;
    Some(happened)
}

/// The writer that a read of this version observed; `None` if no transaction left the version behind.
fn external(versions: &Versions, txn: TxnId, key: KeyId, version: VersionId) -> Option<External> {
    if versions.is_initial(version) {
        return Some((key, None));
    }
    let writer = versions.installer(version).filter(|writer| *writer != txn)?;
    Some((key, Some(writer)))
}

fn push_orders(versions: &Versions, order: &Order, happened: &mut Happened) {
    for version in (0..versions.version.len()).map(VersionId::new) {
        let Some(before) = versions.installer(version) else { continue };
        for next in order.after(version) {
            if let Some(after) = versions.installer(*next).filter(|after| *after != before) {
                happened.push_order(versions.version[version.at()].key, before, after);
            }
        }
    }
}
