//! Tests simulated histories: correct ones are valid, for broken ones the checker reports the fault, and several
//! checkers together have the same results as each alone.

use check_jepsen::checkers;
use history_core::{Budget, Checker, Compose, Decision, Keyed, KeyedAuto, Options, Reader, Report, Run, Verdict};
use record_simulate::{Format, Object, ObjectBug, Objects};
use std::fmt::Write as _;

/// The simulated object, its number of values, and its checker.
const WORKLOADS: &[(Object, Option<u32>, &str)] = &[
    (Object::Bank, None, "bank"),
    (Object::Counter, None, "counter"),
    (Object::Set, Some(0), "set"),
    (Object::Set, None, "set"),
    (Object::SetFull, None, "set-full"),
    (Object::SetFull, None, "set"),
    (Object::LongFork, None, "long-fork"),
    (Object::LongFork, Some(4), "long-fork"),
    (Object::Comments, None, "comments"),
    (Object::Sequential, None, "sequential"),
    (Object::Queue, None, "queue"),
    (Object::UnorderedQueue, None, "queue"),
    (Object::TotalQueue, None, "total-queue"),
    (Object::TotalQueue, None, "queue"),
    (Object::UniqueIds, None, "unique-ids"),
];

/// A bug, and the anomaly that must be found.
const BUGS: &[(Object, ObjectBug, &str, &str)] = &[
    (Object::Bank, ObjectBug::WrongRead, "bank", "wrong-total"),
    (Object::Bank, ObjectBug::ReadSkew, "bank", "wrong-total"),
    (Object::Bank, ObjectBug::HalfTransfer, "bank", "wrong-total"),
    (Object::Counter, ObjectBug::StaleRead, "counter", "out-of-bounds"),
    (Object::Counter, ObjectBug::LostWrite, "counter", "out-of-bounds"),
    (Object::Counter, ObjectBug::FalseFail, "counter", "out-of-bounds"),
    (Object::Counter, ObjectBug::WrongRead, "counter", "out-of-bounds"),
    (Object::Counter, ObjectBug::WrongSum, "counter", "out-of-bounds"),
    (Object::SetFull, ObjectBug::LostElement, "set", "lost"),
    (Object::SetFull, ObjectBug::LostElement, "set-full", "lost"),
    (Object::SetFull, ObjectBug::DuplicateElement, "set-full", "duplicated"),
    (Object::SetFull, ObjectBug::StaleRead, "set-full --linearizable", "stale"),
    (Object::LongFork, ObjectBug::ReadSkew, "long-fork", "long-fork"),
    (Object::Comments, ObjectBug::LostElement, "comments", "causal-reverse"),
    (Object::Comments, ObjectBug::ReadSkew, "comments", "causal-reverse"),
    (Object::Sequential, ObjectBug::LostWrite, "sequential", "out-of-order"),
    (Object::Sequential, ObjectBug::ReadSkew, "sequential", "out-of-order"),
    (Object::Queue, ObjectBug::WrongRead, "queue", "unexpected"),
    (Object::Queue, ObjectBug::DuplicateElement, "queue", "duplicated"),
    (Object::TotalQueue, ObjectBug::WrongRead, "total-queue", "unexpected"),
    (Object::TotalQueue, ObjectBug::LostElement, "total-queue", "lost"),
    (Object::UniqueIds, ObjectBug::RepeatedId, "unique-ids", "duplicated"),
];

fn text(parameters: &Objects, format: Format) -> Vec<u8> {
    parameters.simulation().unwrap().write(Vec::new(), format).unwrap()
}

/// The report of the checker with this name, possibly with a flag.
fn judge(how: &str, text: &[u8]) -> Report {
    let (name, flag) = how.split_once(" --").map_or((how, None), |(name, flag)| (name, Some(flag)));
    let options = flag.map_or(Options::new(), |flag| Options::new().with(flag, "true"));
    let checkers = checkers();
    let checker = checkers.iter().find(|checker| checker.name() == name).unwrap();
    run(checker.start(&options).unwrap(), Reader::new(text))
}

fn run(run: Box<dyn Run + '_>, mut reader: Reader<'_>) -> Report {
    history_core::check(run, &mut reader, &Budget::default()).unwrap()
}

#[test]
fn correct_histories_are_valid() {
    for (object, values, name) in WORKLOADS {
        for seed in 0..12 {
            let d = Objects::of(*object);
            let rough = [0.0, 0.05][seed as usize % 2];
            let (info_rate, lost_rate, fail_rate) = (rough, rough, rough);
            let (think_ns, nemesis) = ([0, 5000, 100_000][seed as usize % 3], seed % 4 == 3);
            let values = values.unwrap_or(d.values);
            let parameters = Objects { seed, values, info_rate, lost_rate, fail_rate, think_ns, nemesis, ..d };
            for format in [Format::Edn, Format::JsonLines] {
                let report = judge(name, &text(&parameters, format));
                assert_eq!(report.verdict, Verdict::Valid, "{name}: {parameters:?}: {report:?}");
            }
        }
    }
}

#[test]
fn each_bug_is_found_and_named() {
    for (object, bug, how, anomaly) in BUGS {
        // Latencies are in milliseconds, and clients that hardly pause change the set eight times in less than one.
        let think_ns = if *anomaly == "stale" { 10_000_000 } else { 100_000 };
        let parameters = |seed| Objects { seed, think_ns, bug: *bug, ..Objects::of(*object) };
        let found = |seed| {
            let report = judge(how, &text(&parameters(seed), Format::Edn));
            report.verdict == Verdict::Invalid && report.anomaly(anomaly).is_some()
        };
        assert!(
            (0..5).any(found),
            "{how} finds no {anomaly} in {object} with {bug}: {:?}",
            judge(how, &text(&parameters(0), Format::Edn)).anomalies
        );
    }
    // The table must contain all bugs of objects that have no other checker.
    for object in [Object::Bank, Object::SetFull, Object::LongFork, Object::Comments, Object::Sequential] {
        for bug in ObjectBug::of(object).skip(1) {
            assert!(BUGS.iter().any(|(other, found, ..)| (*other, *found) == (object, bug)), "{object} {bug}");
        }
    }
}

/// The verdict is the worst one, and each checker has the results that it has alone, whatever the size of the blocks in
/// which the history is read.
#[test]
fn several_checkers_say_what_each_says_alone() {
    let (all, mut verdicts) = (Compose::new(checkers()).unwrap(), [0; 3]);
    let workloads = WORKLOADS.iter().map(|(object, ..)| (*object, ObjectBug::None));
    for (object, bug) in workloads.chain(BUGS.iter().map(|(object, bug, ..)| (*object, *bug))) {
        let text = text(&Objects { ops: 200, bug, info_rate: 0.02, ..Objects::of(object) }, Format::Edn);
        let singles: Vec<Report> = checkers()
            .iter()
            .map(|checker| run(checker.start(&Options::new()).unwrap(), Reader::new(&text[..])))
            .collect();
        let worst = singles.iter().fold(Verdict::Valid, |worst, report| worst.and(report.verdict));
        for block_bytes in [1, 100, 1 << 20] {
            let report = run(all.start(&Options::new()).unwrap(), Reader::new(&text[..]).with_block_bytes(block_bytes));
            assert_eq!((report.verdict, &report.checkers), (worst, &singles), "{object} {bug}");
        }
        for verdict in singles.iter().map(|report| report.verdict).chain([worst]) {
            verdicts[verdict as usize] += 1;
        }
    }
    assert!(verdicts.iter().all(|n| *n > 10), "{verdicts:?}");
}

/// The same for keys that are checked separately.
#[test]
fn several_checkers_say_of_keys_what_each_says_alone() {
    let all = Compose::new(checkers()).unwrap();
    for (object, bug, how, anomaly) in BUGS.iter().filter(|(object, ..)| !object.has_keys()) {
        let bug_rate = (*bug != ObjectBug::WrongRead).then_some(0.5);
        let think_ns = if *anomaly == "stale" { 10_000_000 } else { 100_000 };
        let keys = Objects { ops: 400, think_ns, keyed: true, keys: 3, bug: *bug, bug_rate, ..Objects::of(*object) };
        let text = text(&keys, Format::Edn);
        let by_key = |checker: &dyn Checker, options: &Options| {
            run(Box::new(Keyed::start(checker, options).unwrap()), Reader::new(&text[..]))
        };
        let singles: Vec<Report> = checkers().iter().map(|checker| by_key(&**checker, &Options::new())).collect();
        assert_eq!(by_key(&all, &Options::new()).checkers, singles, "{object} {bug}");
        let options =
            if how.ends_with("linearizable") { Options::new().with("linearizable", "true") } else { Options::new() };
        let report = by_key(&all, &options);
        assert!(report.keys.iter().any(|key| key.anomaly_types.iter().any(|name| name == anomaly)), "{how}: {bug}");
    }
}

/// Two interleaved histories, each with its own key.
fn keyed(histories: &[Vec<u8>]) -> String {
    let texts: Vec<&str> = histories.iter().map(|text| std::str::from_utf8(text).unwrap()).collect();
    let mut lines: Vec<_> = texts.iter().map(|text| text.lines()).collect();
    let mut all = String::new();
    while let Some(ops) = lines.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() {
        for (key, op) in ops.iter().enumerate() {
            let (head, tail) = op.split_once(", :process ").unwrap();
            let (process, tail) = tail.split_once(", :f ").unwrap();
            let (f, tail) = tail.split_once(", :value ").unwrap();
            let (value, _) = tail.rsplit_once(", :time ").unwrap();
            let kind = head.rsplit_once(":type ").unwrap().1;
            _ = writeln!(all, "{{:type {kind}, :process {}{process:0>9}, :f {f}, :value [{key} {value}]}}", key + 1);
        }
    }
    all
}

/// Workloads whose ops have keys can be inside another level of keys, each of which is then checked separately.
#[test]
fn keys_around_keys_are_judged_each_on_its_own() {
    let checkers = checkers();
    for (object, name, bug, anomaly) in [
        (Object::LongFork, "long-fork", ObjectBug::ReadSkew, "long-fork"),
        (Object::Sequential, "sequential", ObjectBug::ReadSkew, "out-of-order"),
        (Object::Comments, "comments", ObjectBug::ReadSkew, "causal-reverse"),
    ] {
        let checker = checkers.iter().find(|checker| checker.name() == name).unwrap();
        let [one, two, broken] = [(1, ObjectBug::None), (2, ObjectBug::None), (3, bug)]
            .map(|(seed, bug)| text(&Objects { seed, bug, info_rate: 0.02, ..Objects::of(object) }, Format::Edn));
        for (histories, verdicts) in [
            ([one.clone(), two], [Verdict::Valid, Verdict::Valid]),
            ([one, broken], [Verdict::Valid, Verdict::Invalid]),
        ] {
            let text = keyed(&histories);
            let by_key = Keyed::start(&**checker, &Options::new()).unwrap();
            let auto = KeyedAuto::start(&**checker, &Options::new(), |decision| {
                assert!(matches!(decision, Decision::Keyed { .. }), "{name}: {decision}");
            });
            for run_by_key in [Box::new(by_key) as Box<dyn Run>, Box::new(auto.unwrap())] {
                let report = run(run_by_key, Reader::new(text.as_bytes()));
                let found: Vec<Verdict> = report.keys.iter().map(|key| key.verdict).collect();
                assert_eq!(found, verdicts, "{name}: {report:?}");
                assert_eq!(report.anomaly(anomaly).is_some(), report.verdict == Verdict::Invalid);
            }
            // Without the option for keys, the report suggests it, and there is no anomaly.
            let whole = run(checker.start(&Options::new()).unwrap(), Reader::new(text.as_bytes()));
            assert_eq!(whole.verdict, Verdict::Unknown, "{name}: {whole:?}");
        }
        // With the option, although there are only the workload's own keys, there is no anomaly either.
        let plain = text(&Objects { ops: 300, ..Objects::of(object) }, Format::Edn);
        let by_key = run(Box::new(Keyed::start(&**checker, &Options::new()).unwrap()), Reader::new(&plain[..]));
        assert_eq!(by_key.verdict, Verdict::Unknown, "{name}: {by_key:?}");
    }
}
