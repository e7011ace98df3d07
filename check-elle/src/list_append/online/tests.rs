//! Compares all prefixes with the batch checker, on random histories of a faulty store, both with limits so small that
//! everything is discarded as early as possible, and with limits that are never reached.

mod doubt;
mod restored;
mod taken_back;
mod unsaid;

use super::judge::ListJudge;
use crate::Exact;
use crate::list_append::ListAppend;
use crate::model::Model;
use crate::txn::expected::Expected;
use crate::txn::online::judge::Rules;
use crate::txn::online::limits::Limits;
use crate::txn::online::run::{OnlineRun, Sizes};
use crate::txn::online::tests::{self as testing, AT_ONCE, Bugs, NEVER, Random, bugs, history, sizes};
use history_core::{Checker as _, History, Report, Run as _, Verdict};

fn batch(text: &str, ops: usize, model: Model) -> Report {
    testing::batch(&checker(model), text, ops)
}

fn first_refused(text: &str, model: Model) -> Option<usize> {
    testing::first_refused(&checker(model), text)
}

fn checker(model: Model) -> ListAppend {
    ListAppend { consistency_models: vec![model], exact: Exact::No, ..ListAppend::default() }
}

fn checker_report(text: &str) -> Report {
    checker(Model::STRICT_SERIALIZABLE).check(&History::parse(text).unwrap()).unwrap()
}

fn rules() -> Rules {
    Rules::of(&Expected { exact: Exact::No, ..Expected::default() })
}

fn judge(text: &str, model: Model, sizes: Sizes) -> (Option<usize>, Verdict) {
    testing::judge::<ListJudge>(text, model, rules(), sizes)
}

fn violations(text: &str, model: Model, sizes: Sizes) -> Option<Vec<usize>> {
    testing::violations::<ListJudge>(text, model, rules(), sizes)
}

fn online(model: Model, sizes: Sizes) -> OnlineRun<ListJudge> {
    testing::online(model, rules(), sizes)
}

fn model(name: &str) -> Model {
    name.parse().unwrap()
}

/// Compares all prefixes. Returns the number of histories with a violation.
fn all_prefixes(name: &str, seeds: std::ops::Range<u64>, txns: u64) -> u32 {
    let model = model(name);
    let mut refused = 0;
    for seed in seeds {
        let mut random = Random(seed);
        let (bugs, txns) = (bugs(&mut random), 3 + random.below(txns));
        let text = history(seed, txns, bugs, false);
        let expected = first_refused(&text, model);
        let whole = batch(&text, text.lines().count(), model);
        // A later op may append an unwritten element, which only real time rules out.
        let has_times = name.starts_with("str") && !name.starts_with("strong-session");
        let first = expected.map(|at| batch(&text, at + 1, model));
        let is_garbage = |report: &Report| report.anomaly_types().any(|anomaly| anomaly == "garbage-read");
        let is_garbage = !has_times && first.is_some_and(|first| is_garbage(&first));
        refused += u32::from(expected.is_some());
        for limits in [NEVER, AT_ONCE] {
            let (found, verdict) = judge(&text, model, sizes(limits));
            if is_garbage {
                assert!(found.is_none() || found >= expected, "{name}, seed {seed}: a false alarm\n{text}");
                assert_eq!(verdict, Verdict::Invalid, "{name}, seed {seed}\n{text}");
                continue;
            }
            assert_eq!(
                found,
                expected,
                "{name}, seed {seed}, {limits:?}, {:?}\n{text}",
                whole.anomaly_types().collect::<Vec<_>>()
            );
            if verdict == Verdict::Valid {
                assert_eq!(whole.verdict, Verdict::Valid, "{name}, seed {seed}\n{text}");
            }
        }
    }
    refused
}

#[test]
fn every_prefix_at_strict_serializable() {
    let refused = all_prefixes("strict-serializable", 0..3000, 27);
    assert!((1_000..2_900).contains(&refused), "{refused}");
}

#[test]
fn every_prefix_at_other_levels() {
    for name in [
        "strong-snapshot-isolation",
        "strong-read-committed",
        "strong-session-serializable",
        "strong-session-snapshot-isolation",
        "serializable",
        "snapshot-isolation",
        "read-committed",
    ] {
        let refused = all_prefixes(name, 0..800, 27);
        assert!((150..780).contains(&refused), "{name}: {refused}");
    }
}

/// Tests long histories with rare faults: discarding changes nothing, and the batch checker agrees.
#[test]
fn discarding_transactions_makes_no_difference() {
    let mut refused = 0;
    for seed in 0..300 {
        let mut random = Random(seed + 10_000);
        let txns = 300 + random.below(700);
        let mut rarely = || if random.below(3) == 0 { 1 + random.below(4) } else { 0 };
        let bugs = Bugs { torn: 5 * rarely(), stale: rarely(), lost: rarely(), odd: 0, failed: rarely() };
        let text = history(seed, txns, bugs, false);
        let at_once = judge(&text, Model::STRICT_SERIALIZABLE, sizes(AT_ONCE));
        assert_eq!(at_once, judge(&text, Model::STRICT_SERIALIZABLE, sizes(NEVER)), "seed {seed}");
        let whole = batch(&text, text.lines().count(), Model::STRICT_SERIALIZABLE).verdict;
        assert_eq!(at_once.1, whole, "seed {seed}");
        if let Some(op) = at_once.0 {
            refused += 1;
            let before = batch(&text, op, Model::STRICT_SERIALIZABLE).verdict;
            let then = batch(&text, op + 1, Model::STRICT_SERIALIZABLE).verdict;
            assert!(before != Verdict::Invalid && then == Verdict::Invalid, "seed {seed}: {before:?} {then:?}");
        }
    }
    assert!((100..280).contains(&refused), "{refused}");
}

/// Ops from lines of process, type and micro-ops.
fn ops(lines: &[(u32, &str, &str)]) -> String {
    let line = |(process, kind, mops): &(u32, &str, &str)| {
        format!("{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}\n")
    };
    lines.iter().map(line).collect()
}

/// Two unread appends of concurrent transactions, of which one completed long ago, and a transaction between them that
/// read before the other one wrote. A read then places the appends in reverse order.
#[test]
fn transactions_between_two_unread_appends_are_kept() {
    let text = ops(&[
        (2, "invoke", "[:append y 1][:append x 2]"),
        (1, "invoke", "[:append x 1]"),
        (1, "ok", "[:append x 1]"),
        (3, "invoke", "[:r y nil]"),
        (3, "ok", "[:r y []]"),
        (4, "invoke", "[:append z 1]"),
        (2, "ok", "[:append y 1][:append x 2]"),
        (5, "invoke", "[:append z 2]"),
        (4, "ok", "[:append z 1]"),
        (6, "invoke", "[:append z 3]"),
        (5, "ok", "[:append z 2]"),
        (6, "ok", "[:append z 3]"),
        (7, "invoke", "[:r x nil]"),
        (7, "ok", "[:r x [2 1]]"),
    ]);
    assert_eq!(first_refused(&text, Model::STRICT_SERIALIZABLE), Some(13));
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(AT_ONCE)), (Some(13), Verdict::Invalid));
}

/// A crashed append is read much later.
#[test]
fn an_append_that_crashed_may_be_read_at_any_time() {
    let mut lines = vec![(0, "invoke", "[:append x 1]"), (0, "info", "[:append x 1]")];
    for _ in 0..500 {
        lines.extend([(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x []]")]);
    }
    lines.extend([(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x [1]]"), (1, "invoke", "[:r x nil]")]);
    let (good, stale) =
        ([&lines[..], &[(1, "ok", "[:r x [1]]")]].concat(), [&lines[..], &[(1, "ok", "[:r x []]")]].concat());
    assert_eq!(judge(&ops(&good), Model::STRICT_SERIALIZABLE, sizes(AT_ONCE)), (None, Verdict::Valid));
    let violated = (Some(stale.len() - 1), Verdict::Invalid);
    assert_eq!(judge(&ops(&stale), Model::STRICT_SERIALIZABLE, sizes(AT_ONCE)), violated);
}

/// While an operation is open, nothing is discarded. At the limit it is given up, and then no level is known to hold.
#[test]
fn an_operation_that_stays_open_is_given_up() {
    let values: Vec<String> = (1..2000).map(|value| format!("[:append x {value}]")).collect();
    let mut lines = vec![(0, "invoke", "[:r x nil]")];
    for value in &values {
        lines.extend([(1, "invoke", &value[..]), (1, "ok", &value[..])]);
    }
    lines.extend([(2, "invoke", "[:r x nil]"), (2, "ok", "[:r x [1]]")]);
    let few = Limits { txns: 100, pause: 1, ..AT_ONCE };
    let valid = &lines[..lines.len() - 2];
    let whole = judge(&ops(valid), Model::STRICT_SERIALIZABLE, sizes(AT_ONCE));
    assert_eq!(whole, (None, Verdict::Unknown), "no read has shown anything");
    let history = History::parse(&ops(valid)).unwrap();
    let mut run = online(Model::STRICT_SERIALIZABLE, sizes(few));
    for op in history.ops() {
        let _ = run.observe(&op).unwrap();
        assert!(run.transactions() <= 101, "{}", run.transactions());
    }
    let report = Box::new(run).finish(&history_core::Budget::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("stayed open for so long"), "{:?}", report.notes);
    // Violations are still found.
    let found = judge(&ops(&lines), Model::STRICT_SERIALIZABLE, sizes(few));
    assert_eq!(found, (Some(lines.len() - 1), Verdict::Invalid));
}

/// Only the names of unused keys are kept. A key that is used again makes the verdict unknown, but not wrongly invalid.
#[test]
fn the_name_of_a_dropped_key_is_kept() {
    let mut text = String::new();
    for key in 0..400 {
        let (append, read) = (format!("[:append {key} 1]"), format!("[:r {key} nil]"));
        text += &ops(&[(0, "invoke", &append), (0, "ok", &append), (0, "invoke", &read)]);
        text += &ops(&[(0, "ok", &format!("[:r {key} [1]]"))]);
    }
    let few = Limits { values: 20, idle: 40, pause: 1, ..AT_ONCE };
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(few)), (None, Verdict::Valid));
    let again = ops(&[(0, "invoke", "[:r 3 nil]"), (0, "ok", "[:r 3 [1]]")]);
    let (found, verdict) = judge(&(text + &again), Model::STRICT_SERIALIZABLE, sizes(few));
    assert_eq!((found, verdict), (None, Verdict::Unknown));
}

/// Appends an element that was read before its key was dropped: this may be its second append.
#[test]
fn an_element_appended_again_after_its_key_was_dropped_ends_the_check() {
    let mut text = String::new();
    for key in 0..400 {
        let (append, read) = (format!("[:append {key} 1]"), format!("[:r {key} nil]"));
        text += &ops(&[(0, "invoke", &append), (0, "ok", &append), (0, "invoke", &read)]);
        text += &ops(&[(0, "ok", &format!("[:r {key} [1]]"))]);
    }
    text += &ops(&[(0, "invoke", "[:r 3 nil]"), (0, "ok", "[:r 3 [1]]"), (0, "invoke", "[:append 3 1]")]);
    text += &ops(&[(0, "ok", "[:append 3 1]"), (0, "invoke", "[:r 3 nil]"), (0, "ok", "[:r 3 [1]]")]);
    let few = Limits { values: 20, idle: 40, pause: 1, ..AT_ONCE };
    let mut run = online(Model::STRICT_SERIALIZABLE, sizes(few));
    for op in History::parse(&text).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
    }
    assert!(!run.is_violated());
    let report = Box::new(run).finish(&history_core::Budget::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    let why = "from the op at index 1602 on it was not checked: a value was written to a key a second time";
    assert!(report.notes[0].contains(why), "{:?}", report.notes);
}

/// A read after its key was named again of an element whose append crashed before its key was dropped is no violation.
#[test]
fn an_append_to_a_key_that_was_dropped_may_be_read() {
    let mut text = ops(&[(9, "invoke", "[:append k 7]"), (9, "info", "[:append k 7]")]);
    for key in 0..400 {
        let (append, read) = (format!("[:append {key} 1]"), format!("[:r {key} nil]"));
        text += &ops(&[(0, "invoke", &append), (0, "ok", &append), (0, "invoke", &read)]);
        text += &ops(&[(0, "ok", &format!("[:r {key} [1]]"))]);
    }
    text += &ops(&[(0, "invoke", "[:append k 8]"), (0, "ok", "[:append k 8]"), (0, "invoke", "[:r k nil]")]);
    text += &ops(&[(0, "ok", "[:r k [8]]"), (0, "invoke", "[:r k nil]"), (0, "ok", "[:r k [8 7]]")]);
    let few = Limits { values: 20, idle: 40, pause: 1, ..AT_ONCE };
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(few)), (None, Verdict::Unknown));
    let mut run = online(Model::STRICT_SERIALIZABLE, sizes(few));
    for op in History::parse(&text).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
    }
    assert!(run.transactions() < 5, "{} are kept", run.transactions());
}

/// Without real time everything is kept, up to a limit. Beyond it, the level holds as long as strict serializability
/// does.
#[test]
fn a_level_without_real_time_depends_on_strict_serializability() {
    let mut lines = Vec::new();
    for _ in 0..40 {
        lines.extend([(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x [1]]")]);
    }
    let start = [(0, "invoke", "[:append x 1]"), (0, "ok", "[:append x 1]")];
    let stale = [(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x []]")];
    let few = Sizes { whole: 20, ..sizes(AT_ONCE) };
    let serializable = model("serializable");
    let at_end = [&start[..], &lines, &stale].concat();
    assert_eq!(judge(&ops(&at_end), serializable, few), (None, Verdict::Unknown), "it was no longer judged");
    assert_eq!(judge(&ops(&at_end), serializable, sizes(AT_ONCE)), (None, Verdict::Valid));
    assert_eq!(judge(&ops(&[&start[..], &lines].concat()), serializable, few), (None, Verdict::Valid));
}

/// If completions have no invocations, the process order replaces real time.
#[test]
fn every_prefix_without_invocations() {
    for name in ["strict-serializable", "strong-session-serializable", "serializable", "read-committed"] {
        let (model, mut refused) = (model(name), 0);
        for seed in 0..200 {
            let mut random = Random(seed);
            let (bugs, txns) = (bugs(&mut random), 3 + random.below(27));
            let text = history(seed, txns, bugs, false);
            let text: String =
                text.lines().filter(|line| !line.contains(":invoke")).map(|line| line.to_owned() + "\n").collect();
            if text.is_empty() {
                continue;
            }
            let expected = first_refused(&text, model);
            let is_garbage = |report: &Report| report.anomaly_types().any(|anomaly| anomaly == "garbage-read");
            if expected.is_some_and(|at| is_garbage(&batch(&text, at + 1, model))) {
                continue;
            }
            refused += u32::from(expected.is_some());
            let (found, verdict) = judge(&text, model, sizes(AT_ONCE));
            assert_eq!(found, expected, "{name}, seed {seed}\n{text}");
            let whole = batch(&text, text.lines().count(), model).verdict;
            assert!(verdict == whole || verdict == Verdict::Unknown, "{name}, seed {seed}: {verdict:?}, {whole:?}");
        }
        assert!((10..190).contains(&refused), "{name}: {refused}");
    }
}

/// No commit order allows a transaction to miss its own append. If such an order is searched, this is a violation.
#[test]
fn repeatable_read_has_no_internal_contradiction_if_orders_are_searched() {
    let text = ops(&[
        (0, "invoke", "[:append x 1][:r x nil]"),
        (1, "invoke", "[:append x 2]"),
        (0, "ok", "[:append x 1][:r x []]"),
        (1, "ok", "[:append x 2]"),
    ]);
    let level = model("repeatable-read");
    for (exact, is_violated) in [(Exact::No, false), (Exact::default(), true)] {
        let rules = Rules::of(&Expected { exact, ..Expected::default() });
        let (found, verdict) = testing::judge::<ListJudge>(&text, level, rules, sizes(AT_ONCE));
        assert_eq!(verdict == Verdict::Invalid, found.is_some());
        assert_ne!(verdict, Verdict::Valid, "no order was searched for");
        let checker = ListAppend { consistency_models: vec![level], exact, ..ListAppend::default() };
        assert_eq!(found.is_some(), is_violated && cfg!(feature = "exact"));
        assert_eq!(found, testing::first_refused(&checker, &text));
    }
}

/// Levels without rw edges do not depend on the order of unread appends.
#[test]
fn read_committed_is_known_to_hold_without_strict_serializability() {
    let text = ops(&[
        (0, "invoke", "[:append x 1]"),
        (0, "ok", "[:append x 1]"),
        (1, "invoke", "[:r x nil]"),
        (1, "ok", "[:r x [1]]"),
        (1, "invoke", "[:r x nil]"),
        (1, "ok", "[:r x []]"),
    ]);
    assert_eq!(judge(&text, model("read-committed"), sizes(AT_ONCE)), (None, Verdict::Valid));
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(AT_ONCE)), (Some(5), Verdict::Invalid));
}

/// A read that could have been wrong is evidence, as for the batch checker.
#[test]
fn a_read_of_the_empty_list_is_evidence() {
    let text = ops(&[
        (0, "invoke", "[:append x 1]"),
        (1, "invoke", "[:r x nil]"),
        (0, "ok", "[:append x 1]"),
        (1, "ok", "[:r x []]"),
    ]);
    let serializable = model("serializable");
    assert_eq!(batch(&text, 4, serializable).verdict, Verdict::Valid);
    assert_eq!(judge(&text, serializable, sizes(AT_ONCE)), (None, Verdict::Valid));
    assert_eq!(
        judge(&text.replace("[]]", "nil]").replace("r x", "r y"), serializable, sizes(AT_ONCE)).1,
        Verdict::Unknown
    );
}

/// The writes that a failed op reports do not matter.
#[test]
fn a_failed_op_may_report_other_writes() {
    let text = ops(&[
        (0, "invoke", "[:append x 1]"),
        (0, "fail", "[:append x 2]"),
        (1, "invoke", "[:append x 3]"),
        (1, "ok", "[:append x 3]"),
        (1, "invoke", "[:r x nil]"),
        (1, "ok", "[:r x [3]]"),
    ]);
    assert_eq!(batch(&text, 6, Model::STRICT_SERIALIZABLE).verdict, Verdict::Valid);
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, sizes(AT_ONCE)), (None, Verdict::Valid));
}

/// After a violation the next one is found: of two histories with disjoint keys and processes, one after the other, the
/// second is checked as if it were alone.
#[test]
fn the_next_violation_is_found() {
    let mut counts = [0; 3];
    for (name, seeds) in [("strict-serializable", 0..500), ("serializable", 0..150), ("snapshot-isolation", 0..150)] {
        let model: Model = name.parse().unwrap();
        for seed in seeds {
            let mut random = Random(seed);
            let mut one = || history(random.below(1 << 40), 3 + random.below(27), bugs(&mut random), false);
            let (first, second) = (one(), one());
            let (text, end) = (testing::one_after_another(&first, &second), first.lines().count());
            for limits in [NEVER, AT_ONCE] {
                let whole = violations(&text, model, sizes(limits));
                let Some(whole) = whole else { continue };
                let alone = |text: &str| violations(text, model, sizes(limits));
                let (of_first, of_second) = (alone(&first).unwrap(), alone(&second).unwrap());
                let of_second: Vec<usize> = of_second.into_iter().map(|at| end + at).collect();
                assert_eq!(whole, [&of_first[..], &of_second].concat(), "{name}, seed {seed}\n{text}");
                assert_eq!(of_first.first().copied(), judge(&first, model, sizes(limits)).0, "{name}, seed {seed}");
                counts[whole.len().min(2)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}: too few violations");
}
