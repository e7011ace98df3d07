//! Minimized histories of simulated systems: verifies their properties by brute force.

mod about;

use super::*;
use crate::line::args::{self, Command};
use crate::line::config::Config;
use histcheck_front::Registry;
use history_core::{Datum, Op, OpKind, Options, Value};
use std::collections::BTreeMap;

/// Workloads, the bugs in them, options of the generator, and options of the checker.
const WORLDS: &[(&str, &str, &str, &str)] = &[
    ("list-append", "lost-update", "--txns 60", ""),
    ("list-append", "stale-read", "--txns 80", ""),
    ("list-append", "read-uncommitted", "--txns 60", ""),
    ("list-append", "read-committed", "--txns 60", ""),
    ("rw-register", "read-uncommitted", "--txns 60", "--wfr-keys"),
    ("rw-register", "stale-read", "--txns 80", "--linearizable-keys"),
    ("rw-register", "read-uncommitted", "--txns 60", "--sequential-keys"),
    ("cas-register", "stale-read", "--ops 80 --info-rate 0.1", ""),
    ("cas-register", "split-brain", "--ops 80 --info-rate 0.1", ""),
    ("register", "lost-write", "--ops 60 --info-rate 0.1", ""),
    ("multi-register", "stale-read", "--ops 60 --info-rate 0.05", ""),
    ("kv", "stale-read", "--ops 60", ""),
    ("fifo-queue", "reordered-element", "--ops 80 --info-rate 0.05 --bug-rate 0.3", ""),
    ("fifo-queue", "duplicate-element", "--ops 60 --info-rate 0.05", ""),
    ("unordered-queue", "duplicate-element", "--ops 60", ""),
    ("stack", "duplicate-element", "--ops 60", ""),
    ("mutex", "double-acquire", "--ops 60", ""),
    ("semaphore", "double-acquire", "--ops 60", ""),
    ("counter", "wrong-sum", "--ops 60", ""),
    ("versioned-register", "stale-read", "--ops 60", ""),
    ("queue", "duplicate-element", "--ops 60", ""),
    ("total-queue", "lost-element", "--ops 60", ""),
    ("set", "lost-element", "--ops 40", ""),
    ("set-full", "lost-element", "--ops 40", ""),
    ("bank", "read-skew", "--ops 60", ""),
    ("long-fork", "read-skew", "--ops 200", ""),
    ("comments", "read-skew", "--ops 60", ""),
    ("sequential", "read-skew", "--ops 60", ""),
    ("unique-ids", "repeated-id", "--ops 60", ""),
];

const SEEDS: u64 = 6;

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

fn generate(workload: &str, bug: &str, options: &str, seed: u64, path: &Path) {
    let mut line = words(&format!("histcheck gen {workload} {options} --bug {bug} --seed {seed} -o"));
    line.push(path.into());
    match args::parse(line, &Config::default(), &Registry::default()) {
        Ok(Command::Gen(job)) => assert_eq!(crate::r#gen::run(&job), Exit::OK),
        Ok(_) => unreachable!("gen was asked for"),
        Err(error) => panic!("{error}"),
    }
}

fn job<'c>(model: &str, options: &str, path: &Path, registry: &'c Registry) -> Minimize<'c> {
    let mut line = words(&format!("histcheck minimize -m {model} {options}"));
    line.push(path.into());
    match args::parse(line, &Config::default(), registry) {
        Ok(Command::Minimize(job)) => job,
        Ok(_) => unreachable!("minimize was asked for"),
        Err(error) => panic!("{error}"),
    }
}

/// The parts of the whole that a minimized history contains.
fn units_of(whole: &Whole<'_>, less: &History) -> BTreeSet<Unit> {
    let mut units = BTreeSet::new();
    for operation in 0..whole.operations.len() as u32 {
        let index = whole.history.op(whole.operations[operation as usize].last()).index;
        let Some(kept) = less.ops().find(|op| op.index == index) else { continue };
        let range = whole.units_of(operation);
        if whole.parts[range.start as usize].mop.is_none() {
            units.extend(range);
            continue;
        }
        let mut mops: Vec<Datum> = kept.value.as_seq().unwrap().iter().map(history_core::Value::to_datum).collect();
        mops.reverse();
        for unit in range {
            let own = whole.history.op(whole.operation_of(unit).last()).value.as_seq().unwrap();
            let own = own.iter().nth(whole.parts[unit as usize].mop.unwrap() as usize).unwrap().to_datum();
            if mops.last() == Some(&own) {
                mops.pop();
                units.insert(unit);
            }
        }
        assert!(mops.is_empty(), "micro-ops that are not in the whole, or in another order: {mops:?}");
    }
    units
}

/// Asserts that each op is an unchanged op of the whole, except for omitted micro-ops, and that no operation is split.
fn assert_is_part(whole: &History, less: &History) {
    let by_index: BTreeMap<u64, Op<'_>> = whole.ops().map(|op| (op.index, op)).collect();
    for (at, op) in less.ops().enumerate() {
        let own = by_index[&op.index];
        assert_eq!((op.process, op.kind, op.f, op.time), (own.process, own.kind, own.f, own.time));
        // Micro-ops are compared elsewhere.
        assert!(
            op.f == Some("txn") || op.value.to_string() == own.value.to_string(),
            "{} became {}",
            own.value,
            op.value
        );
        let place = (0..whole.len()).find(|place| whole.op(*place).index == op.index).unwrap();
        let partner = |history: &History, at: usize| history.partner(at).map(|at| history.op(at).index);
        assert_eq!(partner(less, at), partner(whole, place), "the other half of {}", op.index);
    }
}

/// Asserts all properties of one minimized history.
fn assert_minimized(name: &str, job: &Minimize<'_>, history: &History, report: &Report) {
    let found = minimize(job, history, report).unwrap_or_else(|why| panic!("{name}: {why}"));
    assert!(found.is_minimal, "{name}: {:?}", found.whole);
    assert_is_part(history, &found.history);

    let about = job.check.setup.checker.about();
    let reduction = &about.of(&report.checker).reduction;
    let targets = Target::candidates(report, None, about.of(&report.checker)).unwrap().unwrap();
    // The same choice as in the code: the first of those that need the fewest operations.
    let size = |target: &Target| {
        let whole = take_apart(history, reduction, target, false, Keys::Met);
        let needs = Needs::new(&whole, reduction, &job.check.setup.options, &target.kind);
        let units = parts_of(target, &whole).into_iter().chain(pinned_of(target, &whole));
        operations_of(&whole, &needs.closed(units)).len()
    };
    let target = targets.into_iter().min_by_key(size).unwrap();
    assert_eq!(target.kind, found.kind, "{name}");
    let whole = take_apart(history, reduction, &target, false, Keys::Met);
    let needs = Needs::new(&whole, reduction, &job.check.setup.options, &target.kind);
    let shows = |units: &BTreeSet<Unit>| {
        let judged = whole.history_of(units).and_then(|history| judge(job, false, &history));
        judged.is_ok_and(|report| target.is_in(&report))
    };
    let is_closed = |units: &BTreeSet<Unit>| {
        needs.common.is_subset(units)
            && units.iter().all(|unit| needs.of(*unit).iter().all(|other| units.contains(other)))
    };
    let units = units_of(&whole, &found.history);
    assert!(is_closed(&units), "{name}: what it needs is not all there");
    assert!(shows(&units), "{name}: it does not show {}", target.kind);

    // By brute force: each operation, and each micro-op, is omitted alone.
    let mut alone: Vec<BTreeSet<Unit>> = units.iter().map(|unit| BTreeSet::from([*unit])).collect();
    let operations: BTreeSet<u32> = units.iter().map(|unit| whole.parts[*unit as usize].operation).collect();
    alone.extend(operations.into_iter().map(|operation| whole.units_of(operation).collect()));
    for gone in alone {
        let rest: BTreeSet<Unit> = units.difference(&gone).copied().collect();
        let can_go = is_closed(&rest) && shows(&rest);
        assert!(!can_go || rest.is_empty(), "{name}: {gone:?} could be left out of {units:?}");
    }

    // The anomaly is not caused by the omission: if more parts of the whole are added, closed or not, it remains.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..8 {
        let mut more = units.clone();
        for unit in 0..whole.parts.len() as Unit {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if random >> 33 & 7 > round {
                more.insert(unit);
            }
        }
        if round % 2 == 0 {
            more = needs.closed(more);
        }
        let judged = whole.history_of(&more).and_then(|history| judge(job, false, &history)).unwrap();
        let notes = &judged.notes;
        assert_eq!(judged.verdict, Verdict::Invalid, "{name}: with more of the history nothing is wrong: {notes:?}");
    }
}

#[test]
fn what_is_left_is_a_part_that_shows_it_and_no_operation_can_go() {
    let registry = Registry::built_in();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    let mut never = Vec::new();
    for (workload, bug, options, of_checker) in WORLDS {
        let mut invalid = 0;
        for seed in 0..SEEDS {
            generate(workload, bug, options, seed, &path);
            let job = job(workload, of_checker, &path, &registry);
            let history = History::read(&mut job.check.inputs[0].open().unwrap()).unwrap();
            let report = judge(&job, false, &history).unwrap();
            if report.verdict == Verdict::Invalid {
                invalid += 1;
                assert_minimized(&format!("{workload} {bug} {seed}"), &job, &history, &report);
            }
        }
        if invalid == 0 {
            never.push(format!("{workload} with {bug}"));
        }
    }
    assert_eq!(never, [""; 0], "never invalid, so nothing was tested");
}

/// The minimized text of a text, without times.
fn left(model: &str, text: &str) -> String {
    left_with(model, "", text)
}

fn left_with(model: &str, options: &str, text: &str) -> String {
    let registry = Registry::built_in();
    let job = job(model, options, Path::new("unused"), &registry);
    let history = History::parse(text).unwrap();
    let report = judge(&job, false, &history).unwrap();
    assert_eq!(report.verdict, Verdict::Invalid);
    let found = minimize(&job, &history, &report).unwrap();
    assert_eq!(found.whole, None);
    let op = |op: Op<'_>| format!("{} {} {}\n", op.index, op.kind.name(), op.value);
    found.history.ops().map(op).collect()
}

fn operation(process: usize, f: &str, asked: &str, kind: &str, came: &str) -> String {
    format!(
        "{{:process {process}, :type :invoke, :f :{f}, :value {asked}}} {{:process {process}, :type :{kind}, :f :{f}, :value {came}}}\n"
    )
}

#[test]
fn a_stale_read_keeps_the_write_that_it_saw_and_the_one_that_it_missed() {
    let text = [
        operation(0, "write", "1", "ok", "1"),
        operation(0, "write", "3", "ok", "3"),
        operation(1, "read", "nil", "ok", "3"),
        operation(0, "write", "4", "ok", "4"),
        operation(2, "read", "nil", "ok", "4"),
        operation(1, "read", "nil", "ok", "3"),
        operation(1, "write", "5", "ok", "5"),
    ];
    let expected = "2 invoke 3\n3 ok 3\n6 invoke 4\n7 ok 4\n10 invoke nil\n11 ok 3\n";
    assert_eq!(left("register", &text.concat()), expected);
}

#[test]
fn a_write_that_crashed_is_kept_for_whoever_may_have_seen_it() {
    // The crashed 3 explains the first read. The second read is wrong: it returns 3 after a 4 that had ended.
    let text = [
        operation(0, "write", "3", "info", "3"),
        operation(1, "read", "nil", "ok", "3"),
        operation(1, "write", "4", "ok", "4"),
        operation(1, "read", "nil", "ok", "4"),
        operation(1, "write", "6", "ok", "6"),
        operation(1, "read", "nil", "ok", "3"),
    ];
    let kept = left("register", &text.concat());
    assert!(kept.starts_with("0 invoke 3\n1 info 3\n"), "{kept}");
    assert!(kept.contains("3 ok 3"), "without the first read the crashed write may come late: {kept}");
}

#[test]
fn a_queue_keeps_all_that_is_about_a_value() {
    // 1 is dequeued before 2. Without that dequeue, 2 would have been dequeued too early.
    let text = [
        operation(0, "enqueue", "1", "ok", "1"),
        operation(0, "enqueue", "2", "ok", "2"),
        operation(0, "enqueue", "3", "ok", "3"),
        operation(1, "dequeue", "nil", "ok", "1"),
        operation(1, "dequeue", "nil", "ok", "2"),
        operation(1, "dequeue", "nil", "ok", "2"),
    ];
    let kept = left("fifo-queue", &text.concat());
    assert_eq!(kept, "2 invoke 2\n3 ok 2\n8 invoke nil\n9 ok 2\n10 invoke nil\n11 ok 2\n");
}

#[test]
fn a_list_keeps_the_appends_of_all_its_elements() {
    let text = [
        operation(0, "txn", "[[:append :x 1] [:append :z 9]]", "ok", "[[:append :x 1] [:append :z 9]]"),
        operation(0, "txn", "[[:append :x 2] [:r :z nil]]", "ok", "[[:append :x 2] [:r :z [9]]]"),
        operation(1, "txn", "[[:r :z nil] [:r :x nil]]", "ok", "[[:r :z [9]] [:r :x [1 2]]]"),
        operation(1, "txn", "[[:r :x nil]]", "ok", "[[:r :x [1]]]"),
    ];
    let kept = left("list-append", &text.concat());
    assert!(!kept.contains(":z"), "{kept}");
    for needed in ["1 ok [[:append :x 1]]", "3 ok [[:append :x 2]]", "7 ok [[:r :x [1]]]"] {
        assert!(kept.contains(needed), "{needed} is not in {kept}");
    }
}

#[test]
fn what_a_crashed_operation_did_is_what_it_was_asked_for() {
    // The crashed 3 explains the first read of it. The second read returns it after a 5 that had ended.
    let text = [
        operation(1, "write", "1", "ok", "1"),
        operation(1, "write", "2", "ok", "2"),
        operation(0, "write", "3", "info", ":timed-out"),
        operation(2, "read", "nil", "ok", "3"),
        operation(2, "write", "5", "ok", "5"),
        operation(2, "read", "nil", "ok", "3"),
    ];
    let text = text.concat();
    // The result does not depend on whether the crash was recorded.
    let unrecorded = text.replace(" {:process 0, :type :info, :f :write, :value :timed-out}", "");
    for text in [text, unrecorded] {
        let kept = left("register", &text);
        assert!(kept.contains("4 invoke 3\n"), "the write that was seen: {kept}");
    }
}

#[test]
fn a_crashed_dequeue_may_have_taken_anything() {
    let text = [
        operation(0, "enqueue", "7", "ok", "7"),
        operation(1, "dequeue", "nil", "info", ":timed-out"),
        operation(2, "enqueue", "8", "ok", "8"),
        operation(2, "dequeue", "nil", "ok", "nil"),
    ];
    for model in ["fifo-queue", "unordered-queue"] {
        // With one value less, the crashed dequeue could have emptied the object.
        assert_eq!(left(model, &text.concat()).lines().count(), 8, "{model}");
    }
}

#[test]
fn a_crashed_add_is_about_its_element() {
    let text = [
        operation(0, "add", "5", "info", ":timed-out"),
        operation(3, "add", "6", "ok", "6"),
        operation(1, "read", "nil", "ok", "[5]"),
    ];
    for model in ["linearizable-set", "set-full"] {
        let kept = left(model, &text.concat());
        assert!(kept.contains("0 invoke 5\n1 info :timed-out\n"), "{model}: {kept}");
        assert!(kept.contains("ok 6") && kept.contains("ok [5]"), "{model}: {kept}");
    }
}

#[test]
fn nil_is_an_element_as_any_other() {
    let text = [
        operation(0, "add", "nil", "ok", "nil"),
        operation(0, "add", "2", "ok", "2"),
        operation(0, "add", "3", "ok", "3"),
        operation(0, "read", "nil", "ok", "#{nil 3}"),
    ];
    let expected = "0 invoke nil\n1 ok nil\n2 invoke 2\n3 ok 2\n4 invoke 3\n5 ok 3\n6 invoke nil\n7 ok #{nil 3}\n";
    assert_eq!(left("linearizable-set", &text.concat()), expected);
}

#[test]
fn a_part_may_show_a_weaker_cycle_than_the_whole() {
    // The part without the reads of 5 has a G1c-realtime. The whole lists this cycle as G1c.
    let txn = |process: usize, kind: &str, value: &str| {
        format!("{{:process {process}, :type :{kind}, :f :txn, :value {value}}}\n")
    };
    let text = [
        txn(15, "invoke", "[[:r 28 nil] [:r -1 nil] [:append 5 1]]"),
        txn(0, "invoke", "[[:append 28 1]]"),
        txn(15, "ok", "[[:r 28 []] [:r -1 [1]] [:append 5 1]]"),
        txn(0, "ok", "[[:append 28 1]]"),
        txn(17, "invoke", "[[:r 28 nil] [:append -1 1] [:r 5 nil]]"),
        txn(17, "ok", "[[:r 28 [1]] [:append -1 1] [:r 5 [1]]]"),
    ];
    let kept = left_with("list-append", "--anomaly G-single-item", &text.concat());
    assert!(kept.contains("[:r -1 [1]]") && kept.contains("[:r 28 []]"), "{kept}");
    assert!(kept.contains("5 ok [[:r 28 [1]] [:append -1 1]"), "{kept}");
}

#[test]
fn transactions_keep_what_they_begin_and_end_with_where_versions_follow_them() {
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:w 0 1]]} {:process 0, :type :ok, :f :txn, :value [[:w 0 1]]}
        {:process 0, :type :invoke, :f :txn, :value [[:r 0 nil] [:w 0 3]]} {:process 0, :type :ok, :f :txn, :value [[:r 0 2] [:w 0 3]]}
        {:process 0, :type :invoke, :f :txn, :value [[:r 0 nil]]} {:process 0, :type :ok, :f :txn, :value [[:r 0 3]]}
        {:process 0, :type :invoke, :f :txn, :value [[:w 0 4]]} {:process 0, :type :ok, :f :txn, :value [[:w 0 4]]}
        {:process 1, :type :invoke, :f :txn, :value [[:w 0 2]]} {:process 1, :type :ok, :f :txn, :value [[:w 0 2]]}";
    let history = History::parse(text).unwrap();
    let registry = Registry::built_in();
    let every = |_: Value<'_>| true;
    let whole = Whole::new(&history, false, &|_| true, Some(&every));
    let needed = |options: Options, unit: Unit| {
        let about = registry.find("rw-register").ok().unwrap().checker.about();
        Needs::new(&whole, &about.reduction, &options, "G0").closed([unit])
    };
    // Micro-ops are numbered in the order of the text: the write of 4 is number 4, that of 2 is number 5.
    let in_process = needed(Options::new().with("sequential-keys", "true"), 4);
    assert_eq!(in_process, BTreeSet::from([1, 2, 4, 5]), "the read of 2 with its write, and the write of 2");
    assert_eq!(needed(Options::new().with("linearizable-keys", "true"), 4), BTreeSet::from([4]));
    for option in ["wfr-keys", "linearizable-keys"] {
        let all = needed(Options::new().with(option, "true"), 2);
        assert_eq!(all, BTreeSet::from([1, 2, 5]), "{option}: without its read of 2 it would begin with 3");
    }
    assert_eq!(needed(Options::new(), 2), BTreeSet::from([2]));
    assert_eq!(needed(Options::new().with("transaction-order", "[]"), 4), BTreeSet::from([1, 2, 4, 5]));
}

#[test]
fn a_bank_keeps_the_read_that_says_the_total_and_no_other() {
    let text = [
        operation(0, "read", "nil", "ok", "{0 nil, 1 5}"),
        operation(0, "read", "nil", "ok", "{0 5, 1 5}"),
        operation(0, "read", "nil", "ok", "{0 5, 1 5}"),
        operation(0, "read", "nil", "ok", "{0 3, 1 5}"),
    ];
    let of = |options: &str| left_with("bank", &format!("--anomaly wrong-total {options}"), &text.concat());
    assert_eq!(of(""), "2 invoke nil\n3 ok {0 5, 1 5}\n6 invoke nil\n7 ok {0 3, 1 5}\n");
    assert_eq!(of("--total-amount 10"), "6 invoke nil\n7 ok {0 3, 1 5}\n");
    assert_eq!(left_with("bank", "--anomaly nil-balance", &text.concat()), "0 invoke nil\n1 ok {0 nil, 1 5}\n");
}

/// A history in which the values of crashed operations are reasons, and one element is nil.
fn made_odd(history: &History, has_nil: bool) -> History {
    let mut builder = HistoryBuilder::new();
    for op in history.ops() {
        let mut odd = NewOp::from(&op);
        if op.kind == OpKind::Info {
            odd.value = Datum::keyword("timed-out");
        }
        let is_element = matches!(op.f, Some("add" | "enqueue")) || op.f == Some("dequeue") && op.kind == OpKind::Ok;
        match &mut odd.value {
            Datum::Vector(all) | Datum::List(all) | Datum::Set(all) if has_nil && op.f == Some("read") => {
                all.iter_mut().filter(|datum| **datum == Datum::from(2)).for_each(|datum| *datum = Datum::Nil);
            }
            value if has_nil && is_element && *value == Datum::from(2) => *value = Datum::Nil,
            _ => {}
        }
        builder.push_op(&odd).unwrap();
    }
    builder.build()
}

#[test]
fn crashed_operations_that_say_why_and_nil_elements_are_no_exceptions() {
    let registry = Registry::built_in();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    for (model, workload, bug, options, has_nil) in [
        ("register", "register", "lost-write", "--ops 60 --info-rate 0.1", false),
        ("cas-register", "cas-register", "stale-read", "--ops 80 --info-rate 0.1", false),
        ("kv", "kv", "stale-read", "--ops 60 --info-rate 0.05", false),
        ("fifo-queue", "fifo-queue", "reordered-element", "--ops 80 --info-rate 0.1 --bug-rate 0.3", false),
        ("unordered-queue", "unordered-queue", "duplicate-element", "--ops 60 --info-rate 0.1", false),
        ("stack", "stack", "duplicate-element", "--ops 60 --info-rate 0.1", false),
        ("linearizable-set", "set", "lost-element", "--ops 40 --info-rate 0.1", true),
        ("set", "set", "lost-element", "--ops 40 --info-rate 0.1", true),
        ("set-full", "set-full", "lost-element", "--ops 40 --info-rate 0.1", true),
        ("queue", "queue", "duplicate-element", "--ops 60 --info-rate 0.1", true),
        // A dequeue of nil may have taken any element, so it may be unknown whether one is lost.
        ("total-queue", "total-queue", "lost-element", "--ops 60", false),
    ] {
        let (mut invalid, mut crashed, mut nils) = (0, 0, 0);
        for seed in 0..2 * SEEDS {
            generate(workload, bug, options, seed, &path);
            let job = job(model, "", &path, &registry);
            let history = made_odd(&History::read(&mut job.check.inputs[0].open().unwrap()).unwrap(), has_nil);
            crashed += history.ops().filter(|op| op.value.to_string() == ":timed-out").count();
            nils += history.ops().filter(|op| op.f == Some("add") && op.value.is_nil()).count();
            let report = judge(&job, false, &history).unwrap();
            if report.verdict == Verdict::Invalid {
                invalid += 1;
                assert_minimized(&format!("{model} {bug} {seed}"), &job, &history, &report);
            }
        }
        assert!(invalid > 0, "{model} was never invalid");
        assert!(crashed > 0 || model == "total-queue", "{model}");
        assert!(nils > 0 || !has_nil || model.ends_with("queue"), "{model}");
    }
}

#[test]
fn where_no_part_will_do_the_whole_is_written() {
    let registry = Registry::built_in();
    let text = operation(0, "write", "1", "ok", "1") + &operation(0, "read", "nil", "ok", "2");
    let mut job = job("register", "", Path::new("unused"), &registry);
    job.checks_max = 0;
    let history = History::parse(&text).unwrap();
    let report = judge(&job, false, &history).unwrap();
    let found = minimize(&job, &history, &report).unwrap();
    assert!(found.whole.unwrap().contains("no smaller part shows nonlinearizable"));
    assert_eq!(found.history.ops().map(|op| op.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn nothing_is_left_out_of_what_counts_everything() {
    let registry = Registry::built_in();
    let parts = |checker: &str| registry.find(checker).ok().map(|found| found.checker.about().reduction.parts);
    assert_eq!(parts("stats"), Some(Parts::Whole));
    for checker in registry.iter().filter(|checker| checker.name() != "linearizable") {
        assert_ne!(checker.about().reduction.parts, Parts::Unknown, "{} does not say", checker.name());
    }
    let objects = registry.find("linearizable").ok().map(|found| found.checker.about().members);
    assert_eq!(objects.map(|members| members.len()), Some(15));
}
