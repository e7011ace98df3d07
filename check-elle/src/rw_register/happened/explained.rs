//! Recognizes a history that a serial order explains, before any other search.
//!
//! Finding such an order takes less time than relating all transactions, and then the search for cycles would find
//! nothing. Every read returns the value of the last writer of its key before it. So no read returns a value that
//! failed, was overwritten by its own writer or was never written; no transaction contradicts itself; and of two that
//! replaced the same version the second did not read it. The serial order also orders the versions of each key. All
//! edges of the graph agree with it, and so do the edges between versions from the sources: a transaction's write is
//! after its reads, and sessions and real time are part of the order. So there is no cycle of transactions or of
//! versions.

use super::super::analysis::Registers;
use super::super::mop::Mop;
use super::super::sources::Sources;
use super::super::versions::Versions;
use super::super::within::Findings;
use super::commits;
use crate::anomaly::AnomalySet;
use crate::cycle_spec::Suffix;
use crate::exact::{Exact, has_serial_order};
use crate::model::{self, Model};
use crate::txn::expected::Expected;
use crate::txn::{Txns, report};
use check_isolation::Base;
use history_core::Budget;

const SERIALIZABLE: Model = model::named("serializable");

/// Returns true if a serial order explains the history, and nothing else was requested. Returns `false` also if a
/// search would be necessary.
pub(in crate::rw_register) fn is_explained(
    versions: &Versions,
    txns: &Txns<Mop>,
    found: &Findings,
    sources: &Sources,
    expected: &Expected,
    budget: &Budget,
) -> bool {
    let Some(base) = base_of(txns, sources, expected).filter(|_| expected.exact != Exact::No) else { return false };
    if found.internal.is_empty() && commits::are_ordered(versions, txns, &found.touches) {
        return true;
    }
    // Sources may place a version that no transaction read between two others.
    let happened = super::serial(versions, txns, sources.are_used());
    let Some(happened) = happened.filter(|happened| !happened.contradicts_itself) else { return false };
    // Otherwise transactions may be unrelated.
    let relates = happened.txns.all_reads().iter().any(|read| read.writer != check_isolation::TxnId::NONE);
    relates && has_serial_order(&happened.txns, base, expected.exact, txns.all_mops().len(), budget)
}

/// The order that a serial order must extend to answer all requests, if there is one.
fn base_of(txns: &Txns<Mop>, sources: &Sources, expected: &Expected) -> Option<Base> {
    let is_asked = |model: Model| expected.models.contains(&model);
    match report::edges_needed::<Registers>(expected, AnomalySet::EMPTY) {
        Suffix::Realtime if is_asked(Model::STRICT_SERIALIZABLE) => {
            let has_times = txns.ids().filter(|txn| txns.is_possible(*txn)).all(|txn| txns.invoked(txn).is_some());
            (has_times && sources.transaction_order.is_none()).then_some(Base::RealTime)
        }
        Suffix::None if is_asked(SERIALIZABLE) => (!sources.are_used()).then_some(Base::None),
        _ => None,
    }
}
