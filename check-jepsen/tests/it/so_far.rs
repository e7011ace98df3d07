//! Tests violations while a history is written: a certain violation is permanent, is reported at the op that proves it,
//! and holds in every continuation of the history.

use crate::common::{Item, item, random_history, read};
use check_jepsen::adya_g2::AdyaG2;
use check_jepsen::bank::Bank;
use check_jepsen::comments::Comments;
use check_jepsen::counter::Counter;
use check_jepsen::final_counter::FinalCounter;
use check_jepsen::long_fork::LongFork;
use check_jepsen::queue::Queue;
use check_jepsen::sequential::Sequential;
use check_jepsen::set::Set;
use check_jepsen::set_full::SetFull;
use check_jepsen::stats::Stats;
use check_jepsen::total_queue::TotalQueue;
use check_jepsen::unique_ids::UniqueIds;
use history_core::{
    Budget, Checker, Datum, HistoryBuilder, HistoryError, NewOp, Op, OpKind, Options, Process, Reader, Report, Run,
    Verdict,
};
use proptest::prelude::*;

/// When a checker knows a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// As soon as the history so far is invalid: no later op can repair it.
    AtOnce,
    /// As soon as the history so far is invalid, if it has invocations.
    IfInvoked,
    /// Possibly later: some violations are only found at the end.
    Sometimes,
    /// As soon as no later op can repair it; a final read that shows everything could.
    Unhealed,
    /// Only at the end: some later op can always repair it.
    Never,
}

fn checkers() -> Vec<(Box<dyn Checker>, Known)> {
    vec![
        (Box::new(Bank::default()), Known::AtOnce),
        (Box::new(Bank { allow_negative_balances: true, total_amount: Some(2), accounts: None }), Known::AtOnce),
        (Box::new(Counter::default()), Known::AtOnce),
        (Box::new(Set::default()), Known::Never),
        (Box::new(SetFull::default()), Known::Unhealed),
        (Box::new(SetFull { linearizable: true }), Known::Unhealed),
        (Box::new(LongFork::default()), Known::IfInvoked),
        (Box::new(LongFork { general: true, ..LongFork::default() }), Known::Sometimes),
        (Box::new(Comments::default()), Known::AtOnce),
        (Box::new(AdyaG2::default()), Known::AtOnce),
        (Box::new(FinalCounter::default()), Known::Never),
        (Box::new(Sequential::default()), Known::AtOnce),
        (Box::new(Queue::default()), Known::AtOnce),
        (Box::new(TotalQueue::default()), Known::Never),
        (Box::new(UniqueIds::default()), Known::AtOnce),
        (Box::new(Stats::default()), Known::Never),
    ]
}

fn start(checker: &dyn Checker) -> Box<dyn Run> {
    checker.start(&Options::new()).unwrap()
}

/// Calls `look` for each op of a history.
fn each(ops: &[NewOp<'static>], mut look: impl FnMut(&Op<'_>)) {
    let mut builder = HistoryBuilder::new();
    for op in ops {
        builder.push_op(op).unwrap();
    }
    builder.build().ops().for_each(|op| look(&op));
}

fn judge(checker: &dyn Checker, ops: &[NewOp<'static>]) -> Report {
    let mut builder = HistoryBuilder::new();
    for op in ops {
        builder.push_op(op).unwrap();
    }
    history_core::check_history(start(checker), &builder.build(), &Budget::default()).unwrap()
}

/// The number of ops until a violation was certain, and the report at that time.
fn certain(checker: &dyn Checker, ops: &[NewOp<'static>]) -> Option<(usize, Report)> {
    let mut run = start(checker);
    assert!(!run.is_violated() && run.violation().is_none(), "nothing has happened");
    let mut known: Option<(usize, Report)> = None;
    let (mut at, mut over) = (0, false);
    each(ops, |op| {
        at += 1;
        if over {
            return;
        }
        over = run.observe(op).unwrap().is_break();
        let report = run.violation();
        assert_eq!(report.is_some(), run.is_violated(), "{}", checker.name());
        match (&known, report) {
            (None, Some(report)) => known = Some((at, report)),
            (Some(_), None) => panic!("{} takes it back at op {at}", checker.name()),
            (Some((_, before)), Some(now)) => holds(before, &now),
            (None, None) => {}
        }
    });
    let last = run.finish(&Budget::default()).unwrap();
    if let Some((_, report)) = &known {
        assert_eq!(report.verdict, Verdict::Invalid);
        holds(report, &last);
    }
    known
}

/// Verifies that a certain violation remains.
fn holds(before: &Report, after: &Report) {
    assert_eq!(after.verdict, Verdict::Invalid, "{before:?}\n{after:?}");
    assert!(!before.anomalies.is_empty(), "{before:?}");
    for anomaly in &before.anomalies {
        assert!(!anomaly.witnesses.is_empty());
        let same = after.anomalies.iter().filter(|same| {
            // A known element that a read lacked is stale if it appears again, and otherwise lost.
            same.name == anomaly.name || after.checker == "set-full" && anomaly.name == "stale" && same.name == "lost"
        });
        assert!(anomaly.count <= same.map(|same| same.count).sum(), "{before:?}\n{after:?}");
    }
}

/// Adds a read of all elements that were ever added or read.
fn healed(ops: &[NewOp<'static>]) -> Vec<NewOp<'static>> {
    let mut all: Vec<Datum> = Vec::new();
    for op in ops {
        match &op.value {
            Datum::Vector(values) | Datum::Set(values) | Datum::List(values) if op.f == Some("read") => {
                all.extend(values.iter().cloned());
            }
            value => all.push(value.clone()),
        }
    }
    let mut different: Vec<Datum> = Vec::new();
    for value in all {
        if !different.contains(&value) {
            different.push(value);
        }
    }
    let time_ns = ops.iter().filter_map(|op| op.time_ns).max();
    let mut ops = ops.to_vec();
    for (kind, value) in [(OpKind::Invoke, Datum::Nil), (OpKind::Ok, Datum::Vector(different))] {
        let op = NewOp::new(kind, 1_000_000).f("read").value(value);
        ops.push(time_ns.map_or(op.clone(), |time_ns| op.time_ns(time_ns)));
    }
    ops
}

/// Compares what is certain after each number of ops with what can be known. Returns true if a violation is certain.
fn compare(checker: &dyn Checker, known: Known, ops: &[NewOp<'static>]) -> bool {
    let certain = certain(checker, ops).map(|(at, _)| at);
    for len in 0..=ops.len() {
        let (so_far, is_certain) = (&ops[..len], certain.is_some_and(|at| at <= len));
        let is_invalid = |ops: &[NewOp<'static>]| judge(checker, ops).verdict == Verdict::Invalid;
        let invoked = so_far.iter().any(|op| op.kind == OpKind::Invoke && !matches!(op.process, Process::Other(_)));
        let expected = match known {
            Known::AtOnce => is_invalid(so_far),
            Known::IfInvoked => invoked && is_invalid(so_far),
            Known::Sometimes => is_certain && is_invalid(so_far),
            Known::Unhealed => is_invalid(&healed(so_far)),
            Known::Never => false,
        };
        assert_eq!(is_certain, expected, "{} after {len} of {ops:#?}", checker.name());
    }
    certain.is_some()
}

/// Menus of operations with which each workload may violate its rules.
fn menu(checker: &str) -> Vec<Item> {
    use OpKind::{Fail, Info, Ok};
    let ints = |ints: &[i64]| Datum::Vector(ints.iter().map(|int| Datum::from(*int)).collect());
    let all = &[Ok, Fail, Info];
    match checker {
        "bank" => {
            let accounts = |balances: &[i64]| {
                let entry = |(at, balance): (usize, &i64)| (Datum::from(at as u64), Datum::from(*balance));
                Datum::Map(balances.iter().enumerate().map(entry).collect())
            };
            let results = [&[1, 1][..], &[2, 0], &[3, -1], &[1], &[1, 0], &[1, 1, 0]];
            vec![read("read", results.map(accounts).to_vec())]
        }
        "counter" => {
            let read = read("read", (-2..7).map(Datum::from).collect());
            vec![item("add", 1, all), item("add", 2, all), item("add", -1, all), item("add", 3, all), read]
        }
        "set" | "set-full" => {
            let results = [&[][..], &[1], &[2], &[1, 2], &[1, 2, 3], &[2, 3], &[1, 3], &[1, 1]];
            vec![
                item("add", 1, all),
                item("add", 2, all),
                item("add", 3, &[Ok]),
                read("read", results.map(ints).to_vec()),
            ]
        }
        "long-fork" => {
            let mop = |name: &str, key: i64, value: i64| {
                let value = if value == 0 { Datum::Nil } else { Datum::from(value) };
                Datum::Vector(vec![Datum::keyword(name), Datum::from(key), value])
            };
            let state =
                |values: [i64; 3]| Datum::Vector((0..).zip(values).map(|(key, value)| mop("r", key, value)).collect());
            let write = |key: i64, value: i64| item("write", Datum::Vector(vec![mop("w", key, value)]), all);
            let bits = (0..8).map(|bits| state([bits & 1, bits >> 1 & 1, bits >> 2]));
            let more = [[1, 2, 2], [2, 1, 2], [2, 0, 0]].map(state);
            vec![read("read", bits.collect()), read("read", more.to_vec()), write(0, 1), write(1, 1), write(1, 0)]
        }
        "comments" => {
            let results = [&[][..], &[1], &[2], &[3], &[1, 2], &[2, 3], &[3, 4], &[1, 3, 4], &[1, 1, 2, 3]];
            let mut menu = vec![read("read", results.map(ints).to_vec()), read("read", results.map(ints).to_vec())];
            menu.extend((1..5).map(|value| item("write", value, all)));
            menu
        }
        "sequential" => {
            let pair = |values: [i64; 2]| {
                let value = |value: i64| if value == 0 { Datum::Nil } else { Datum::from(value) };
                Datum::Vector(vec![Datum::from(7), Datum::Vector(values.map(value).to_vec())])
            };
            vec![read("read", [[0, 0], [0, 1], [1, 1], [1, 0]].map(pair).to_vec())]
        }
        "queue" | "total-queue" => {
            let results = || [Datum::from(1), Datum::from(2), Datum::from(3)].to_vec();
            let drained = [&[][..], &[1], &[1, 2]].map(ints).to_vec();
            vec![item("enqueue", 1, all), item("enqueue", 2, all), read("dequeue", results()), read("drain", drained)]
        }
        "adya-g2" => {
            let insert = |key: i64, ids: [Datum; 2]| Datum::Vector(vec![key.into(), Datum::Vector(ids.into())]);
            let a = |key| item("insert", insert(key, [1.into(), Datum::Nil]), all);
            vec![a(1), a(2), item("insert", insert(1, [Datum::Nil, 2.into()]), all), read("other", vec![Datum::Nil])]
        }
        "unique-ids" => vec![read("generate", (0..6).map(Datum::from).collect())],
        _ => vec![item("read", 1, all)],
    }
}

fn ops(menu: &[Item], numbers: &[(u8, u8)], step_ns: Option<i64>) -> Vec<NewOp<'static>> {
    let events = random_history(menu, 3, numbers);
    let op = |(at, event): (i64, crate::common::Event)| {
        let op = NewOp::new(event.kind, event.process).f(event.f).value(event.value);
        step_ns.map_or(op.clone(), |step_ns| op.time_ns(at * step_ns))
    };
    (0..).zip(events).map(op).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_is_certain_is_what_can_be_known(
        numbers in prop::collection::vec(any::<(u8, u8)>(), 1..40),
        others in prop::collection::vec(any::<(u8, u8)>(), 0..20),
        cut in any::<prop::sample::Index>(),
        step_ns in prop_oneof![Just(None), Just(Some(1_000_000)), Just(Some(400_000))],
    ) {
        for (checker, known) in checkers() {
            let menu = menu(checker.name());
            compare(checker.as_ref(), known, &ops(&menu, &numbers, step_ns));
            // The same prefix with another continuation.
            let other: Vec<(u8, u8)> = numbers[..cut.index(numbers.len())].iter().chain(&others).copied().collect();
            certain(checker.as_ref(), &ops(&menu, &other, step_ns));
        }
    }
}

#[test]
fn each_workload_is_violated_now_and_then() {
    // Without this, the law above might hold vacuously.
    for (checker, known) in checkers() {
        let (mut state, mut violated) = (1u64, 0);
        for _ in 0..400 {
            let number = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let [a, b, ..] = (state >> 40).to_le_bytes();
                (a, b)
            };
            let numbers: Vec<(u8, u8)> = (0..24).map(number).collect();
            violated += u32::from(compare(checker.as_ref(), known, &ops(&menu(checker.name()), &numbers, None)));
        }
        let is_some = if known == Known::Never { violated == 0 } else { violated >= 5 };
        assert!(is_some, "{} {violated}", checker.name());
    }
}

/// The number of ops of a text after which a violation is certain.
fn proven_by(checker: &dyn Checker, text: &str) -> Option<usize> {
    let mut run = start(checker);
    let (mut at, mut known) = (0, None);
    let mut reader = Reader::new(text.as_bytes());
    let read: Result<(), HistoryError> = reader.for_each(|op| {
        at += 1;
        let flow = run.observe(op)?;
        if known.is_none() && run.is_violated() {
            known = Some(at);
        }
        Ok(flow)
    });
    read.unwrap();
    known
}

#[test]
fn a_failure_proves_a_counter_wrong_while_another_add_never_ends() {
    let text = "{:process 0, :type :invoke, :f :add, :value 5}
                {:process 1, :type :invoke, :f :add, :value 3}
                {:process 2, :type :invoke, :f :read} {:process 2, :type :ok, :f :read, :value 8}
                {:process 1, :type :fail, :f :add, :value 3}
                {:process 2, :type :invoke, :f :read} {:process 2, :type :ok, :f :read, :value 5}";
    assert_eq!(proven_by(&Counter::default(), text), Some(5));
    assert_eq!(proven_by(&Counter::default(), &text.replace("value 8", "value 5")), None);
    assert_eq!(proven_by(&Counter::default(), &text.replace("value 8", "value 9")), Some(4));
}

#[test]
fn a_write_proves_a_read_wrong_that_showed_it_before() {
    let text = "{:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value 1}
                {:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value #{2}}
                {:process 0, :type :invoke, :f :write, :value 2} {:process 0, :type :ok, :f :write, :value 2}";
    assert_eq!(proven_by(&Comments::default(), text), Some(5));
    assert_eq!(proven_by(&Comments::default(), &text.replace("#{2}", "#{1 2}")), None);
    // A value that was acknowledged after the write began need not be in the read.
    let later = "{:process 1, :type :invoke, :f :read} {:process 1, :type :ok, :f :read, :value #{2}}
                 {:process 0, :type :invoke, :f :write, :value 1} {:process 1, :type :invoke, :f :write, :value 2}
                 {:process 0, :type :ok, :f :write, :value 1} {:process 1, :type :fail, :f :write, :value 2}";
    assert_eq!(proven_by(&Comments::default(), later), None);
    // But if it is written again after the first write failed, it must be in the read.
    let again = format!("{later} {{:process 1, :type :invoke, :f :write, :value 2}}");
    assert_eq!(proven_by(&Comments::default(), &again), Some(7));
}

#[test]
fn a_fork_is_certain_only_if_writes_show_when_they_begin() {
    let fork = "{:process 0, :type :ok, :f :read, :value [[:r 0 1] [:r 1 nil]]}
                {:process 0, :type :ok, :f :read, :value [[:r 0 nil] [:r 1 1]]}";
    assert_eq!(proven_by(&LongFork::default(), fork), None);
    let invoke = "{:process 0, :type :invoke, :f :read}";
    let fork = fork.lines().map(|line| format!("{invoke} {line}")).collect::<Vec<_>>().join("\n");
    assert_eq!(proven_by(&LongFork::default(), &fork), Some(4));
}
