//! Tests of the number of versions in memory, and of when versions are discarded, which is not visible from outside.

use super::fold::{Fold, Keying};
use super::{VersionedRegister, registers};
use crate::versioned_register::request::Request;
use history_core::{HistoryBuilder, NewOp, OpKind, Verdict};
use std::num::NonZeroU32;

/// The ops of writes, given as version, replaced version and fate, one after another; then of a read of a version.
fn writes(writes: impl Iterator<Item = (i64, i64, OpKind)>, read: i64) -> HistoryBuilder {
    let mut builder = HistoryBuilder::new();
    let mut process = 0;
    for (id, prev, fate) in writes {
        for kind in [OpKind::Invoke, fate] {
            let op = NewOp::new(kind, process).f("write").value(0).with("write-id", id).with("prev-write-id", prev);
            builder.push_op(&op).unwrap();
        }
        process += i64::from(fate == OpKind::Info);
    }
    builder.push_op(&NewOp::new(OpKind::Invoke, process).f("read")).unwrap();
    builder.push_op(&NewOp::new(OpKind::Ok, process).f("read").value(0).with("write-id", read)).unwrap();
    builder
}

/// The maximum number of versions in memory, the verdict, and the types of anomalies.
fn judge(builder: HistoryBuilder, forget: u32) -> (usize, Verdict, Vec<String>) {
    let checker = VersionedRegister { forget: NonZeroU32::new(forget), ..VersionedRegister::default() };
    let mut fold = Fold::new(Keying::None, registers(&checker).unwrap());
    let history = builder.build();
    for op in history.ops() {
        fold.take(&op, &Request::new(&op).unwrap()).unwrap();
    }
    let rows = fold.rows();
    let report = fold.finish(0).unwrap();
    (rows, report.verdict, report.anomaly_types().map(str::to_owned).collect())
}

const N: i64 = 40_000;

fn fate(id: i64, each: i64, other: OpKind) -> OpKind {
    if id % each == 0 { OpKind::Ok } else { other }
}

#[test]
fn old_failures_are_discarded() {
    // Only each thousandth write succeeds; these form a chain.
    let all = || {
        (0..N).map(|id| (id, id / 1000 * 1000 - if id % 1000 == 0 { 1000 } else { 0 }, fate(id, 1000, OpKind::Fail)))
    };
    let (rows, verdict, _) = judge(writes(all(), N - 1000), 0);
    assert_eq!((rows, verdict), (16_384 + 42, Verdict::Valid));
    let last = judge(writes(all(), N - 1), 0);
    assert_eq!((last.1, last.2), (Verdict::Invalid, vec!["failed-write-observed".to_owned()]));
    let first = judge(writes(all(), 1), 0);
    assert_eq!((first.1, first.2), (Verdict::Invalid, vec!["garbage-read".to_owned()]));
}

#[test]
fn failures_before_anything_was_observed_are_kept() {
    // The version of the first write, read at the end, must not count as the initial one.
    let all = (0..N).map(|id| (id, -1, OpKind::Fail));
    assert_eq!(judge(writes(all, 0), 0), (N as usize + 1, Verdict::Invalid, vec!["failed-write-observed".to_owned()]));
}

#[test]
fn a_window_bounds_the_chain_and_the_crashed() {
    let chain = || (1..N).map(|id| (id, id - 1, OpKind::Ok));
    assert_eq!(judge(writes(chain(), N - 1), 10), (11, Verdict::Valid, vec![]));
    assert_eq!(judge(writes(chain(), N - 1), 0).0, N as usize);
    // Two of three writes crash on a version that is then replaced.
    let crashing = || (3..N).map(|id| (id, id / 3 * 3 - if id % 3 == 0 { 3 } else { 0 }, fate(id, 3, OpKind::Info)));
    let (rows, verdict, _) = judge(writes(crashing(), (N - 1) / 3 * 3), 100);
    assert_eq!(verdict, Verdict::Valid);
    assert!(rows < 400, "{rows}");
    assert!(judge(writes(crashing(), 0), 0).0 > 39_000);
}

#[test]
fn rows_are_no_larger_than_needed() {
    assert_eq!(size_of::<super::versions::Version>(), 136);
}
