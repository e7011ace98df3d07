//! Compares the checker with the definition on every history of small worlds.
//!
//! Each operation has its own process; processes with several operations would only remove orders. The ids of writes
//! are 1, 2, 3 in the order of their invocations. Writes replace, and reads return, any of these, the initial 0, and
//! with `strangers` a 9 that was never written.

use super::certify::certify;
use super::oracle::{Before, in_order, is_linearizable, never, writes_only};
use super::world::{Call, Fate, Form, INITIAL, NOBODYS, Operation, Place, history, keyed, verdict_on};
use check_register::versioned_register::{VersionedRegister, check};
use history_core::{Datum, Report, Verdict};
use std::num::NonZeroU32;

struct World {
    /// The calls in the order of their invocations: `r` or `w`.
    calls: &'static str,
    fates: &'static [Fate],
    strangers: bool,
    /// Whether reads may return values that were not written.
    liars: bool,
}

const ELSEWHERE: Operation = Operation { call: Call::Write(5, 4, 0), fate: Fate::Fail, invoked: -2, completed: -1 };

const FATES: &[Fate] = &[Fate::Ok, Fate::Fail, Fate::Info];

/// All orders of the invocations and completions of `n` operations, invoked one after another.
fn orders(n: usize) -> Vec<Vec<(i64, i64)>> {
    fn go(n: usize, at: i64, open: &mut Vec<(i64, i64)>, all: &mut Vec<Vec<(i64, i64)>>) {
        if open.len() == n && open.iter().all(|(_, end)| *end >= 0) {
            all.push(open.clone());
        }
        if open.len() < n {
            open.push((at, -1));
            go(n, at + 1, open, all);
            open.pop();
        }
        for i in 0..open.len() {
            if open[i].1 < 0 {
                open[i].1 = at;
                go(n, at + 1, open, all);
                open[i].1 = -1;
            }
        }
    }
    let mut all = Vec::new();
    go(n, 0, &mut Vec::new(), &mut all);
    all
}

/// Calls `see` for every history, or for each `stride`th one. Returns the number of these.
fn each(world: &World, stride: usize, mut see: impl FnMut(&[Operation])) -> usize {
    let mut ids: Vec<i64> = (INITIAL..).take(1 + world.calls.matches('w').count()).collect();
    if world.strangers {
        ids.push(NOBODYS);
    }
    let mut menus: Vec<Vec<(Call, Fate)>> = Vec::new();
    let mut written = 0;
    for call in world.calls.chars() {
        let mut menu = Vec::new();
        if call == 'w' {
            written += 1;
            for prev in &ids {
                menu.extend(world.fates.iter().map(|fate| (Call::Write(written, *prev, written), *fate)));
            }
        } else {
            for id in &ids {
                menu.push((Call::Read(*id, *id), Fate::Ok));
                if world.liars {
                    menu.push((Call::Read(*id, 7), Fate::Ok));
                }
            }
        }
        menus.push(menu);
    }
    let orders = orders(menus.len());
    let all: usize = menus.iter().map(Vec::len).product();
    let mut operations = Vec::new();
    let mut seen = 0;
    for number in (0..all * orders.len()).step_by(stride) {
        let (order, mut choice) = (&orders[number % orders.len()], number / orders.len());
        operations.clear();
        for (menu, (invoked, completed)) in menus.iter().zip(order) {
            let (call, fate) = menu[choice % menu.len()];
            choice /= menu.len();
            operations.push(Operation { call, fate, invoked: *invoked, completed: *completed });
        }
        see(&operations);
        seen += 1;
    }
    seen
}

fn settings(initial: Option<i64>, forget: u32) -> VersionedRegister {
    VersionedRegister {
        initial_write_id: initial.map(Datum::from),
        initial_value: initial.map(|_| Datum::from(0)),
        forget: NonZeroU32::new(forget),
        ..VersionedRegister::default()
    }
}

fn judge(operations: &[Operation], form: Form, initial: Option<i64>, forget: u32) -> Report {
    check(&history(operations, form, 1), &settings(initial, forget)).unwrap()
}

/// Checks a history in every form. Returns how often the verdict was unknown because a window was too small for a long
/// read.
fn agree(operations: &[Operation]) -> usize {
    let mut unknown = 0;
    for initial in [None, Some(INITIAL)] {
        let expected = verdict_on(operations, is_linearizable(operations, initial, in_order));
        let report = judge(operations, Form::Timed, initial, 0);
        assert_eq!(report.verdict, expected, "{operations:#?} {initial:?} {report:#?}");
        let history = history(operations, Form::Timed, 1);
        report.anomalies.iter().for_each(|anomaly| certify(&history, anomaly).unwrap());
        for form in [Form::Untimed, Form::Scattered] {
            assert_eq!(judge(operations, form, initial, 0).verdict, expected, "{form:?} {operations:#?} {initial:?}");
        }
        for forget in 1..=2 {
            let got = judge(operations, Form::Timed, initial, forget).verdict;
            unknown += usize::from(got != expected);
            assert!(got == expected || got == Verdict::Unknown, "{got:?} {forget} {operations:#?} {initial:?}");
        }
        // An op on another key at the start shows that there are keys. Reads have their key only in their completions.
        let keyed = keyed(&[(1, &[ELSEWHERE]), (2, operations)], Place::FieldOfAnswers);
        for forget in 0..=1 {
            let got = check(&keyed, &settings(initial, forget)).unwrap().verdict;
            assert!(got == expected || forget == 1 && got == Verdict::Unknown, "{got:?} {forget} {operations:#?}");
        }
        // It is unknown when these operations began.
        let before: Before = never;
        let completed: Vec<Operation> =
            operations.iter().copied().filter(|operation| operation.fate != Fate::Open).collect();
        if !completed.is_empty() {
            // The same holds for ops without processes.
            if completed.len() == operations.len() {
                let expected = verdict_on(operations, is_linearizable(operations, initial, writes_only));
                // It is unknown which of them failed.
                let expected = if expected == Verdict::Valid { Verdict::Unknown } else { expected };
                let report = judge(operations, Form::Nameless, initial, 0);
                assert_eq!(report.verdict, expected, "{operations:#?} {initial:?} {report:#?}");
            }
            let expected = verdict_on(&completed, is_linearizable(&completed, initial, before));
            let report = judge(&completed, Form::Completions, initial, 0);
            assert_eq!(report.verdict, expected, "{completed:#?} {initial:?} {report:#?}");
        }
    }
    unknown
}

fn agree_on_all(world: &World, stride: usize) -> (usize, usize) {
    let mut unknown = 0;
    let seen = each(world, stride, |operations| unknown += agree(operations));
    (seen, unknown)
}

#[test]
fn three_operations_with_unknown_versions_and_wrong_values() {
    let mut seen = 0;
    for calls in ["rrr", "rrw", "rwr", "wrr", "rww", "wrw", "wwr"] {
        seen += agree_on_all(&World { calls, fates: FATES, strangers: true, liars: true }, 7).0;
    }
    assert_eq!(seen, 9_630);
}

#[test]
fn three_writes() {
    const ALL: &[Fate] = &[Fate::Ok, Fate::Fail, Fate::Info, Fate::Open];
    let world = World { calls: "www", fates: ALL, strangers: true, liars: false };
    assert_eq!(agree_on_all(&world, 7), (17_143, 0));
}

#[test]
fn two_writes_and_two_reads() {
    let mut all = (0, 0);
    for calls in ["wwrr", "wrwr", "wrrw", "rwwr", "rwrw", "rrww"] {
        let (seen, unknown) = agree_on_all(&World { calls, fates: FATES, strangers: false, liars: false }, 31);
        all = (all.0 + seen, all.1 + unknown);
    }
    assert_eq!(all, (14_820, 1_636));
}

#[test]
fn three_writes_and_a_read() {
    let mut all = (0, 0);
    for calls in ["wwwr", "wwrw", "wrww", "rwww"] {
        let (seen, unknown) = agree_on_all(&World { calls, fates: FATES, strangers: false, liars: false }, 223);
        all = (all.0 + seen, all.1 + unknown);
    }
    assert_eq!(all, (13_020, 704));
}

#[test]
fn three_writes_and_two_reads() {
    let mut all = (0, 0);
    for calls in ["wwwrr", "wwrwr", "rwwwr", "wrwwr"] {
        let (seen, unknown) = agree_on_all(&World { calls, fates: FATES, strangers: false, liars: false }, 20_011);
        all = (all.0 + seen, all.1 + unknown);
    }
    assert_eq!(all, (5_224, 282));
}

/// All histories. Takes minutes in a debug build.
#[test]
#[ignore = "minutes: run it with --ignored after a change of what is decided"]
fn everything() {
    let plain = |calls| World { calls, fates: FATES, strangers: false, liars: false };
    for calls in ["rrr", "rrw", "rwr", "wrr", "rww", "wrw", "wwr", "www"] {
        agree_on_all(&World { strangers: true, liars: true, ..plain(calls) }, 1);
    }
    for calls in ["wwrr", "wrwr", "wrrw", "rwwr", "rwrw", "rrww"] {
        agree_on_all(&plain(calls), 1);
    }
    for calls in ["wwwr", "wwrw", "wrww", "rwww"] {
        agree_on_all(&plain(calls), 3);
    }
}
