//! Texts for reports: recorded values, orders, and what could not be checked.

use crate::decode::{Contradiction, Decoded, Holds, Mop, Row, Settled, What};
use crate::evidence::{Moment, Order};
use crate::ids::{KeyId, TxnId};
use history_core::Datum;
use history_core::cast::Cast as _;

/// A key in its recorded form.
pub(crate) fn key(run: &Decoded, key: KeyId) -> Datum {
    run.interner.datum(run.versions.key_codes[key.at()])
}

/// The last write of a transaction to a key.
pub(crate) fn written(run: &Decoded, row: Row, key: KeyId) -> Datum {
    let writes = run.rows.mops(row).iter().rev().filter(|mop| mop.key == key);
    let mut versions =
        writes.filter_map(|mop| if let What::Write(version) = mop.what() { Some(version) } else { None });
    versions.next().map_or(Datum::Nil, |version| run.interner.datum(run.versions.code(version)))
}

/// The initial value.
pub(super) fn first(run: &Decoded) -> Datum {
    match run.holds {
        Some(Holds::Lists) => Datum::Vector(Vec::new()),
        _ => run.settings.initial.clone(),
    }
}

/// A micro-op in its recorded form.
pub(crate) fn mop(run: &Decoded, mop: Mop) -> Datum {
    let datum = |version| run.interner.datum(run.versions.code(version));
    let is_lists = run.holds == Some(Holds::Lists);
    let write = if is_lists { "append" } else { "w" };
    let (f, value) = match mop.what() {
        What::Write(version) => (write, datum(version)),
        What::First => ("r", first(run)),
        What::Read(length) if is_lists => {
            let list = &run.trunks[mop.key.at()][..length.to_usize()];
            ("r", Datum::Vector(list.iter().map(|version| datum(*version)).collect()))
        }
        What::Read(number) => ("r", datum(number.into())),
        What::Contradicts(number) => {
            let Contradiction { shared, rest } = &run.contradictions[number.to_usize()];
            let list = run.trunks[mop.key.at()][..shared.to_usize()].iter().chain(rest);
            ("r", Datum::Vector(list.map(|version| datum(*version)).collect()))
        }
        What::Unseen => ("r", Datum::Nil),
    };
    Datum::Vector(vec![Datum::keyword(f), key(run, mop.key), value])
}

/// A note on why a value without a known writer may have one.
pub(crate) fn unsaid(index: u64) -> String {
    format!(
        "A value was read that no op says it wrote. Whether that is a {} is unknown: the op at index {index} may have happened, and \
         neither its invocation nor a completion says what it wrote. Give invocations their micro-ops. Reads of such values are left out.",
        super::THIN_AIR.0
    )
}

/// Why the writer of a read value is unknown, as a clause.
pub(super) fn ambiguous(run: &Decoded, case: crate::decode::Ambiguous) -> String {
    let (key, value) = (key(run, case.key), run.interner.datum(case.code));
    let index = |row: Row| run.rows.index(row);
    format!(
        "{value} was written to key {key} twice, at index {} and index {}, and the read at index {} may have seen either",
        index(case.writers[0]),
        index(case.writers[1]),
        index(case.reader)
    )
}

/// The first `max` moments of an order.
pub(super) fn order(run: &Decoded, settled: &Settled, order: &Order, max: usize) -> Vec<String> {
    let index = |txn: TxnId| run.rows.index(settled.rows[txn.at()]);
    let is_split = order.moments.iter().any(|moment| matches!(moment, Moment::Begin(_)));
    let text = |moment: &Moment| match moment {
        Moment::Begin(txn) => format!("begin {}", index(*txn)),
        Moment::Commit(txn) if is_split => format!("commit {}", index(*txn)),
        Moment::Commit(txn) => index(*txn).to_string(),
    };
    order.moments.iter().take(max).map(text).collect()
}
