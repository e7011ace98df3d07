//! Tests of the levels that are decided exactly: on every history of small worlds and on random larger ones, the
//! verdict is that of the axioms, and every refusal is certified.

use crate::oracle::against::{certified, check};
use crate::oracle::axioms::{Axiom, Base, Execution, LEVELS};
use crate::oracle::choices::Choices;
use crate::oracle::registers::Sources;
use crate::oracle::world::World;
use crate::oracle::worlds::{CLOCKS, Clock, FATES, Fate, Kind, Seen, Size, history};
use crate::oracle::{Question, Workload};
use check_elle::Exact;
use history_core::{History, Report, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;

type Level = (&'static str, Axiom, Base);

/// The number of histories that obey each level (true) and that violate it (false).
type Counts = BTreeMap<(&'static str, bool), u64>;

/// Compares a verdict with the axioms.
fn hold(text: &str, workload: Workload<'_>, (name, axiom, base): Level, counts: &mut Counts) -> Result<(), String> {
    let parsed = History::parse(text).map_err(|error| error.to_string())?;
    let models = [name];
    let question = Question { models: &models, workload, ..Question::default() };
    let Ok(world) = World::of(&parsed, &workload) else { return Ok(()) };
    let report = check(&parsed, &question, Exact::Full);
    // Elle's table allows a read that contradicts the transaction's own writes at these levels: that is not a G1.
    let lets_internal = name.contains("read-committed");
    let execution = if lets_internal { Execution::of_any_reads(&world) } else { Execution::of(&world) };
    let is_cyclic = world.versions.as_ref().is_some_and(|versions| versions.cyclic);
    let holds = !is_cyclic && execution.is_some_and(|execution| execution.obeys(axiom, base));
    *counts.entry((name, holds)).or_default() += 1;
    let is_wrong = match report.verdict {
        Verdict::Valid => !holds,
        Verdict::Invalid => holds,
        // The history contains nothing that could violate the level.
        Verdict::Unknown => !holds || !is_vacuous(&report),
    };
    if is_wrong {
        return Err(format!("{name} is {}, by the axioms {holds}: {report:#?}", report.verdict.name()));
    }
    if holds && (report.not.iter().chain(&report.also_not)).any(|other| other == name) {
        return Err(format!("{name} holds and is ruled out"));
    }
    for anomaly in &report.anomalies {
        for witness in &anomaly.witnesses {
            let proof = certified(&parsed, &question, &anomaly.name, witness);
            proof.map_err(|error| format!("{} is not certified: {error}\n{witness:#?}", anomaly.name))?;
        }
    }
    Ok(())
}

fn is_vacuous(report: &Report) -> bool {
    let is_empty = report.anomaly_types().any(|name| name == "empty-transaction-graph");
    is_empty || report.notes.iter().any(|note| note.starts_with("No ok transaction read a key"))
}

/// Judges every history of a world, or only `samples` of them, each at one level, in turn.
fn judge_all<'a>(
    size: &Size,
    samples: Option<u64>,
    levels: &[Level],
    workload: impl Fn(u64) -> Workload<'a>,
) -> (u64, Counts) {
    let (mut choices, mut judged, mut counts) = (Choices::first(), 0, Counts::new());
    loop {
        if samples.is_some() {
            choices = Choices::Random(judged);
        }
        let text = history(&mut choices, size);
        let level = levels[usize::try_from(judged * 7 / 3).unwrap() % levels.len()];
        if let Err(why) = hold(&text, workload(judged), level, &mut counts) {
            panic!("history {judged}: {why}\n{text}");
        }
        judged += 1;
        let more = match samples {
            Some(samples) => judged < samples,
            None => choices.advance(),
        };
        if !more {
            // Few histories of this size violate read committed.
            for (name, ..) in levels.iter().filter(|(_, axiom, _)| *axiom != Axiom::ReadCommitted) {
                let both = [true, false].map(|holds| counts.contains_key(&(*name, holds)));
                assert_eq!(both, [true, true], "{name} holds, and does not");
            }
            return (judged, counts);
        }
    }
}

/// Levels that cycles alone do not decide for lists.
fn of_lists() -> Vec<Level> {
    let by_cycles = ["read-committed", "serializable", "repeatable-read"];
    LEVELS.iter().copied().filter(|(name, ..)| !by_cycles.iter().any(|other| name.contains(other))).collect()
}

const LISTS: Size = Size {
    txns: 2,
    mops_max: 2,
    fates: FATES,
    clocks: CLOCKS,
    seen: Seen::Any,
    kind: Kind::List,
    clients_max: usize::MAX,
};
const REGISTERS: Size = Size { kind: Kind::Register, clients_max: 2, ..LISTS };

#[test]
fn lists_of_two_transactions() {
    let (judged, _) = judge_all(&LISTS, Some(40_000), &of_lists(), |_| Workload::ListAppend);
    assert_eq!(judged, 40_000);
}

#[test]
fn lists_of_three_and_four_transactions() {
    let (seen, fates) = (Seen::Possible, &[Fate::Ok, Fate::Ok, Fate::Info, Fate::Open]);
    for txns in [3, 4] {
        let size = Size { txns, fates, seen, ..LISTS };
        judge_all(&size, Some(15_000), &of_lists(), |_| Workload::ListAppend);
    }
}

#[test]
fn registers_of_two_transactions() {
    let (judged, _) = judge_all(&REGISTERS, Some(40_000), LEVELS, |_| Workload::RwRegister(Sources::default()));
    assert_eq!(judged, 40_000);
}

#[test]
fn registers_of_three_and_four_transactions() {
    let (seen, fates) = (Seen::Possible, &[Fate::Ok, Fate::Ok, Fate::Info, Fate::Open]);
    for txns in [3, 4] {
        let size = Size { txns, fates, seen, ..REGISTERS };
        judge_all(&size, Some(15_000), LEVELS, |_| Workload::RwRegister(Sources::default()));
    }
}

/// The user's assumptions about the version order are respected.
#[test]
fn registers_with_sources() {
    let size = Size { txns: 3, seen: Seen::Possible, fates: &[Fate::Ok, Fate::Ok, Fate::Info], ..REGISTERS };
    let all: Vec<Sources<'_>> = Sources::combinations().collect();
    judge_all(&size, Some(15_000), LEVELS, |number| {
        Workload::RwRegister(all[usize::try_from(number / 16).unwrap() % all.len()])
    });
}

/// Enough transactions for levels to be prepared on another thread during the search for cycles.
const MANY: usize = 20_000;

/// Makes a serial history of registers: at the end 1 is written, then 2, and then a value is read. Some of the
/// transactions before these failed, and the outcome of some is unknown.
fn serial(before: usize, read: u32) -> History {
    let mut text = String::new();
    let mut txn = |process: usize, kind: &str, mop: &str| {
        for kind in ["invoke", kind] {
            writeln!(text, "{{:process {process}, :type :{kind}, :f :txn, :value [{mop}]}}").expect("strings take all");
        }
    };
    for at in 0..before {
        let (process, kind) = if at % 7 == 3 { (100 + at, ["fail", "info"][at % 2]) } else { (2, "ok") };
        txn(process, kind, &format!("[:w :z {at}]"));
    }
    txn(0, "ok", "[:w :x 1]");
    txn(1, "ok", "[:w :x 2]");
    txn(0, "ok", &format!("[:r :x {read}]"));
    History::parse(&text).expect("a history")
}

/// Without a source of version orders a stale read is on no known cycle: the verdict follows only from the absence of a
/// commit order.
#[test]
fn what_is_prepared_beside_the_search_for_cycles_decides_the_same() {
    let workload = Workload::RwRegister(Sources::default());
    let question = Question { models: &["strict-serializable"], workload, ..Question::default() };
    for (read, verdict) in [(1, Verdict::Invalid), (2, Verdict::Valid)] {
        let types = [0, MANY].map(|before| {
            let history = serial(before, read);
            let report = check(&history, &question, Exact::Limited);
            assert_eq!(report.verdict, verdict, "{before} before the read of {read}: {report:#?}");
            assert_eq!(report.notes, [""; 0], "{before} before the read of {read}");
            for anomaly in &report.anomalies {
                for witness in &anomaly.witnesses {
                    certified(&history, &question, &anomaly.name, witness).expect("it proves the anomaly");
                }
            }
            report.anomaly_types().map(str::to_owned).collect::<Vec<_>>()
        });
        assert_eq!(types[0], types[1], "{read}");
        assert_eq!(types[0].is_empty(), verdict == Verdict::Valid, "{types:?}");
    }
}

#[test]
#[ignore = "takes some minutes"]
fn all_small_worlds() {
    let none = Workload::RwRegister(Sources::default());
    judge_all(&LISTS, None, &of_lists(), |_| Workload::ListAppend);
    judge_all(&REGISTERS, None, LEVELS, |_| none);
    let three = Size { txns: 3, fates: &[Fate::Ok], clocks: &[Clock::None], seen: Seen::Possible, ..LISTS };
    judge_all(&three, None, &of_lists(), |_| Workload::ListAppend);
    judge_all(&Size { kind: Kind::Register, clients_max: 2, ..three }, None, LEVELS, |_| none);
}
