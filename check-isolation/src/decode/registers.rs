//! The results of reads of registers: each value must have one writer, otherwise the read cannot be checked.

use super::decoded::Decoded;
use super::shown::{Ambiguous, Direct, External, Shown};
use super::versions::VersionId;
use super::{Row, What};
use crate::ids::KeyId;
use history_core::OpKind;
use history_core::cast::Cast as _;

/// The results of the rows.
pub(super) fn shown(run: &Decoded) -> Shown {
    let mut shown = Shown { is_seen: vec![false; run.rows.len()], ..Shown::default() };
    // For each key, the last row so far that wrote it, and the version.
    let mut own = vec![(Row::NONE, VersionId::NONE); run.versions.key_codes.len()];
    for row in run.rows.ids() {
        if run.rows.kind(row) == OpKind::Ok {
            for (at, mop) in run.rows.mops(row).iter().enumerate() {
                let (writer, written) = own[mop.key.at()];
                match mop.what() {
                    What::Write(version) => own[mop.key.at()] = (row, version),
                    What::Read(number) if writer == row => {
                        if written.number() != number {
                            shown.case(Direct::Internal, row, at, Row::NONE);
                        }
                    }
                    What::First if writer == row => shown.case(Direct::Internal, row, at, Row::NONE),
                    // A missing op may have written the initial value.
                    What::First if run.may_be_written(mop.key) => {}
                    What::First => shown.reads.push(External { key: mop.key, writer: Row::NONE }),
                    What::Read(number) => look(run, row, (at, mop.key), number.into(), &mut shown),
                    What::Contradicts(_) | What::Unseen => {}
                }
            }
        }
        shown.reads_end.push(shown.reads.len().to_u32());
    }
    shown
}

/// Examines an external read.
fn look(run: &Decoded, row: Row, (at, key): (usize, KeyId), version: VersionId, shown: &mut Shown) {
    if run.is_unclear(version) || run.may_be_written(key) && run.versions.writer(version) == Row::NONE {
        return;
    }
    let version = run.versions.get(version);
    let writer = version.writer;
    if version.again != Row::NONE {
        let writers = [writer, version.again];
        shown.ambiguous.get_or_insert(Ambiguous { key, code: version.code, writers, reader: row });
    }
    let wrong = if writer == Row::NONE {
        Some(Direct::ThinAirRead)
    } else if writer == row {
        Some(Direct::FutureRead)
    } else if run.rows.kind(writer) == OpKind::Fail {
        Some(Direct::G1a)
    } else if version.is_intermediate {
        Some(Direct::G1b)
    } else {
        None
    };
    match wrong {
        Some(what) if version.again == Row::NONE => shown.certain_case(what, row, at, writer),
        Some(what) => shown.case(what, row, at, writer),
        None if version.again == Row::NONE => shown.is_seen[writer.at()] = true,
        None => {}
    }
    // The source of a read of a repeated value is unknown.
    if version.again == Row::NONE {
        shown.reads.push(External { key, writer });
    }
}
