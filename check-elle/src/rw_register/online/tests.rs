//! Compares all prefixes with the batch checker, on random histories of a faulty store, both with limits so small that
//! everything is discarded as early as possible, and with limits that are never reached.

mod chosen;
mod restored;

use super::judge::{Assumed, RegisterJudge};
use crate::Exact;
use crate::model::Model;
use crate::rw_register::RwRegister;
use crate::txn::expected::Expected;
use crate::txn::online::judge::Rules;
use crate::txn::online::limits::Limits;
use crate::txn::online::run::{OnlineRun, Sizes};
use crate::txn::online::tests::unsaid::{forgetting, prefixes};
use crate::txn::online::tests::{self as testing, AT_ONCE, Bugs, NEVER, Random, bugs, history, sizes};
use history_core::{Datum, History, Report, Run as _, Verdict};

/// Whether wfr, sequential and linearizable keys are assumed.
type Assumptions = [bool; 3];

const LINEARIZABLE: Assumptions = [false, false, true];

fn checker(model: Model, [wfr_keys, sequential_keys, linearizable_keys]: Assumptions) -> RwRegister {
    let consistency_models = vec![model];
    let exact = Exact::No;
    RwRegister { consistency_models, exact, wfr_keys, sequential_keys, linearizable_keys, ..RwRegister::default() }
}

fn assumed([wfr_keys, sequential_keys, linearizable_keys]: Assumptions) -> Assumed {
    let rules = Rules::of(&Expected { exact: Exact::No, ..Expected::default() });
    Assumed { rules, initial: Datum::Nil, initial_code: 0, wfr_keys, sequential_keys, linearizable_keys }
}

fn judge(text: &str, model: Model, assumptions: Assumptions, sizes: Sizes) -> (Option<usize>, Verdict) {
    testing::judge::<RegisterJudge>(text, model, assumed(assumptions), sizes)
}

fn violations(text: &str, model: Model, sizes: Sizes) -> Option<Vec<usize>> {
    testing::violations::<RegisterJudge>(text, model, assumed(LINEARIZABLE), sizes)
}

fn online(assumptions: Assumptions, sizes: Sizes) -> OnlineRun<RegisterJudge> {
    testing::online(Model::STRICT_SERIALIZABLE, assumed(assumptions), sizes)
}

fn is_garbage_read(report: &Report) -> bool {
    report.anomaly_types().any(|anomaly| anomaly == "garbage-read")
}

/// Compares all prefixes. Returns the number of histories with a violation.
fn all_prefixes(name: &str, assumptions: Assumptions, seeds: std::ops::Range<u64>) -> u32 {
    let model: Model = name.parse().unwrap();
    let checker = checker(model, assumptions);
    let mut refused = 0;
    for seed in seeds {
        let mut random = Random(seed);
        let (bugs, txns) = (bugs(&mut random), 3 + random.below(27));
        let text = history(seed, txns, bugs, true);
        let expected = testing::first_refused(&checker, &text);
        let whole = testing::batch(&checker, &text, text.lines().count());
        // A later op may write an unwritten value, which only real time rules out.
        let has_times = name.starts_with("str") && !name.starts_with("strong-session");
        let first = expected.map(|at| testing::batch(&checker, &text, at + 1));
        let is_garbage = !has_times && first.is_some_and(|first| is_garbage_read(&first));
        refused += u32::from(expected.is_some());
        for limits in [NEVER, AT_ONCE] {
            let (found, verdict) = judge(&text, model, assumptions, sizes(limits));
            let at = format!(
                "{name}, {assumptions:?}, seed {seed}, {limits:?}, {:?}",
                whole.anomaly_types().collect::<Vec<_>>()
            );
            if is_garbage {
                assert!(found.is_none() || found >= expected, "{at}: a false alarm\n{text}");
                assert_eq!(verdict, Verdict::Invalid, "{at}\n{text}");
                continue;
            }
            if found != expected {
                // This is so with real time too, if no edge depends on that read.
                let refused = |ops: &usize| testing::batch(&checker, &text, *ops).verdict == Verdict::Invalid;
                let first = (1..=text.lines().count()).find(refused).map(|ops| ops - 1);
                assert_eq!(found, first, "{at}\n{text}");
                let report = testing::batch(&checker, &text, first.map_or(0, |at| at + 1));
                assert!(is_garbage_read(&report), "{at}\n{text}");
                continue;
            }
            if verdict == Verdict::Valid {
                assert_eq!(whole.verdict, Verdict::Valid, "{at}\n{text}");
            }
        }
    }
    refused
}

#[test]
fn every_prefix_at_strict_serializable() {
    for (assumptions, seeds) in
        [(LINEARIZABLE, 0..500), ([true, false, true], 0..300), ([false; 3], 0..100), ([true, true, false], 0..150)]
    {
        let count = u32::try_from(seeds.end).unwrap();
        let refused = all_prefixes("strict-serializable", assumptions, seeds);
        assert!((count / 5..count * 19 / 20).contains(&refused), "{assumptions:?}: {refused}");
    }
}

#[test]
fn unknown_writes_may_have_happened() {
    let checker = checker(Model::STRICT_SERIALIZABLE, LINEARIZABLE);
    let refused = prefixes::<RegisterJudge>(&checker, Model::STRICT_SERIALIZABLE, &assumed(LINEARIZABLE), true, 1000);
    assert!((200..970).contains(&refused), "{refused}");
}

#[test]
fn writes_known_late_count_at_other_levels() {
    for name in ["strong-snapshot-isolation", "strong-session-serializable", "serializable", "read-committed"] {
        for assumptions in [LINEARIZABLE, [true, true, false]] {
            let model = name.parse().unwrap();
            let checker = checker(model, assumptions);
            let refused = prefixes::<RegisterJudge>(&checker, model, &assumed(assumptions), true, 300);
            assert!((40..290).contains(&refused), "{name}: {refused}");
        }
    }
}

#[test]
fn writes_known_late_are_discarded_like_the_rest() {
    let checker = checker(Model::STRICT_SERIALIZABLE, LINEARIZABLE);
    let refused = forgetting::<RegisterJudge>(&checker, &assumed(LINEARIZABLE), true, 100);
    assert!((20..95).contains(&refused), "{refused}");
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
        for assumptions in [[false; 3], [true, false, false], [false, true, false], LINEARIZABLE, [true; 3]] {
            let refused = all_prefixes(name, assumptions, 0..40);
            assert!((4..40).contains(&refused), "{name}, {assumptions:?}: {refused}");
        }
    }
}

/// Tests long histories with rare faults: discarding changes nothing, and the batch checker agrees.
#[test]
fn discarding_transactions_makes_no_difference() {
    let (strict, mut refused) = (Model::STRICT_SERIALIZABLE, 0);
    for seed in 0..40 {
        let assumptions = [seed % 2 == 0, false, true];
        let checker = checker(strict, assumptions);
        let mut random = Random(seed + 10_000);
        let txns = 300 + random.below(700);
        let mut rarely = || if random.below(3) == 0 { 1 + random.below(4) } else { 0 };
        let bugs = Bugs { torn: 5 * rarely(), stale: rarely(), lost: rarely(), odd: 0, failed: rarely() };
        let text = history(seed, txns, bugs, true);
        let at_once = judge(&text, strict, assumptions, sizes(AT_ONCE));
        let never = judge(&text, strict, assumptions, sizes(NEVER));
        assert_eq!(at_once.0, never.0, "seed {seed}");
        let ops = text.lines().count();
        let whole = testing::batch(&checker, &text, ops).verdict;
        assert_eq!(at_once.1 == Verdict::Invalid, whole == Verdict::Invalid, "seed {seed}");
        if let Some(op) = at_once.0 {
            refused += 1;
            let before = testing::batch(&checker, &text, op).verdict;
            let then = testing::batch(&checker, &text, op + 1).verdict;
            assert!(before != Verdict::Invalid && then == Verdict::Invalid, "seed {seed}: {before:?} {then:?}");
        }
    }
    assert!((8..38).contains(&refused), "{refused}");
}

/// Another transaction wrote the value that one reads and then writes: the read may have observed the other write.
#[test]
fn a_value_with_two_writers_is_not_read_too_early() {
    let first = [(3, "invoke", "[:w y 3]"), (0, "invoke", "[:r y nil][:w y 3]"), (0, "ok", "[:r y 3][:w y 3]")];
    let rest = [(3, "ok", "[:w y 3]")];
    let text = ops(&[&first[..], &rest].concat());
    assert_eq!(judge(&text, Model::STRICT_SERIALIZABLE, LINEARIZABLE, sizes(AT_ONCE)), (None, Verdict::Unknown));
    let alone = ops(&first[1..]);
    assert_eq!(judge(&alone, Model::STRICT_SERIALIZABLE, LINEARIZABLE, sizes(AT_ONCE)), (Some(1), Verdict::Invalid));
}

/// Ops from lines of process, type and micro-ops.
fn ops(lines: &[(u32, &str, &str)]) -> String {
    let line = |(process, kind, mops): &(u32, &str, &str)| {
        format!("{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}\n")
    };
    lines.iter().map(line).collect()
}

fn verdicts(lines: &[(u32, &str, &str)], name: &str) -> (Verdict, Verdict) {
    let (text, model) = (ops(lines), name.parse().unwrap());
    let searching = RwRegister { exact: Exact::default(), ..checker(model, LINEARIZABLE) };
    let whole = testing::batch(&searching, &text, lines.len()).verdict;
    (judge(&text, model, LINEARIZABLE, sizes(AT_ONCE)).1, whole)
}

/// By other keys, an unread write comes between another write and its reader; all are in flight at the same time.
#[test]
fn an_order_beside_a_version_that_was_read_is_needed() {
    let (written, between, read) = ("[:w x 1][:w y 1]", "[:r y 1][:w x 2][:w z 1]", "[:r z 1][:r x 1]");
    let begin =
        [(0, "invoke", written), (1, "invoke", "[:r y nil][:w x 2][:w z 1]"), (2, "invoke", "[:r z nil][:r x nil]")];
    let later = [(2, "invoke", "[:r q nil]"), (2, "ok", "[:r q nil]")];
    let end = [(0, "ok", written), (1, "ok", between), (2, "ok", read)];
    let (strict, searched) =
        ("strict-serializable", if cfg!(feature = "exact") { Verdict::Invalid } else { Verdict::Valid });
    for first in 0..3 {
        let mut begin = begin;
        begin.rotate_left(first);
        let (verdict, whole) = verdicts(&[&begin[..], &end, &later].concat(), strict);
        assert_eq!((verdict, whole), (Verdict::Unknown, searched), "{first}");
    }
    // If the reader observes the last write, some order explains the history.
    let end = [(0, "ok", written), (1, "ok", between), (2, "ok", "[:r z 1][:r x 2]")];
    assert_eq!(verdicts(&[&begin[..], &end, &later].concat(), strict), (Verdict::Valid, Verdict::Valid));
}

/// A crashed write turns out to have happened: by one key after another write, by another key before a read of that
/// one.
#[test]
fn a_crashed_write_may_be_beside_a_version_that_was_read() {
    let lines = [
        (0, "invoke", "[:w x 1][:w y 1]"),
        (1, "invoke", "[:r y nil]"),
        (1, "ok", "[:r y 1]"),
        (2, "invoke", "[:w x 2][:w y 2]"),
        (2, "info", "[:w x 2][:w y 2]"),
        (3, "invoke", "[:r y nil][:r x nil]"),
        (0, "ok", "[:w x 1][:w y 1]"),
        (3, "ok", "[:r y 2][:r x 1]"),
    ];
    let whole = if cfg!(feature = "exact") { Verdict::Invalid } else { Verdict::Valid };
    assert_eq!(verdicts(&lines, "strict-serializable"), (Verdict::Unknown, whole));
}

/// Two transactions that overwrite values that the other one read must not also both write a third key, in either
/// order.
#[test]
fn if_two_rw_edges_may_not_be_adjacent_each_order_is_needed() {
    let lines = [
        (0, "invoke", "[:r a nil][:w b 1][:w x 1]"),
        (1, "invoke", "[:r b nil][:w a 1][:w x 2]"),
        (0, "ok", "[:r a nil][:w b 1][:w x 1]"),
        (1, "ok", "[:r b nil][:w a 1][:w x 2]"),
    ];
    for name in ["snapshot-isolation", "strong-snapshot-isolation"] {
        assert_ne!(verdicts(&lines, name).0, Verdict::Valid, "{name}");
    }
}

/// Old values of a key and old transactions are discarded, whatever the length of the history.
#[test]
fn memory_depends_on_what_is_in_use() {
    let mut lines = Vec::new();
    let values: Vec<(String, String)> =
        (1..3000).map(|value| (format!("[:w x {value}]"), format!("[:r x {value}]"))).collect();
    for (write, read) in &values {
        lines.extend([(0, "invoke", &write[..]), (0, "ok", write), (1, "invoke", "[:r x nil]"), (1, "ok", read)]);
    }
    let few = Limits { pause: 1, ..AT_ONCE };
    let mut run = online(LINEARIZABLE, sizes(few));
    for op in History::parse(&ops(&lines)).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
        assert!(run.transactions() < 12 && run.values() < 12, "{} {}", run.transactions(), run.values());
    }
    let report = Box::new(run).finish(&history_core::Budget::default()).unwrap();
    assert_eq!((report.verdict, &report.notes[..]), (Verdict::Valid, &[][..]));
    // A read of any discarded value is recognized as stale.
    for stale in ["[:r x nil]", "[:r x 1]", "[:r x 1500]", "[:r x 2998]"] {
        let mut lines = lines.clone();
        lines.extend([(1, "invoke", "[:r x nil]"), (1, "ok", stale)]);
        let violated = (Some(lines.len() - 1), Verdict::Invalid);
        assert_eq!(judge(&ops(&lines), Model::STRICT_SERIALIZABLE, LINEARIZABLE, sizes(few)), violated, "{stale}");
    }
    // After another write of such a value, it is unknown which write a read of it observed.
    lines.extend([(0, "invoke", "[:w x 7]"), (0, "ok", "[:w x 7]")]);
    let judged = judge(&ops(&lines), Model::STRICT_SERIALIZABLE, LINEARIZABLE, sizes(few));
    assert_eq!(judged, (None, Verdict::Unknown));
}

/// Without linearizable keys nothing is discarded, so reaching a limit ends the checking, and this is reported.
#[test]
fn a_limit_ends_checks_without_a_memory_bound() {
    let mut lines = Vec::new();
    let writes: Vec<String> = (1..60).map(|value| format!("[:w x {value}]")).collect();
    for write in &writes {
        lines.extend([(0, "invoke", &write[..]), (0, "ok", write)]);
    }
    lines.extend([(0, "invoke", "[:r x nil]"), (0, "ok", "[:r x 59]")]);
    let few = Sizes { whole: 20, ..sizes(AT_ONCE) };
    let mut run = online([true, true, false], few);
    for op in History::parse(&ops(&lines)).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
    }
    let report = Box::new(run).finish(&history_core::Budget::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("more than 20 transactions"), "{:?}", report.notes);
    let enough = judge(&ops(&lines), Model::STRICT_SERIALIZABLE, [true, true, false], sizes(AT_ONCE));
    assert_eq!(enough, (None, Verdict::Valid));
}

/// A write whose outcome is unknown is read much later; the value in between is then stale.
#[test]
fn a_write_that_crashed_may_be_read_at_any_time() {
    let mut lines = vec![(0, "invoke", "[:w x 1]"), (0, "info", "[:w x 1]")];
    lines.extend([(2, "invoke", "[:w x 2]"), (2, "ok", "[:w x 2]")]);
    for _ in 0..500 {
        lines.extend([(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x 2]")]);
    }
    lines.extend([(1, "invoke", "[:r x nil]"), (1, "ok", "[:r x 1]"), (1, "invoke", "[:r x nil]")]);
    let strict = Model::STRICT_SERIALIZABLE;
    let end = |read| ops(&[&lines[..], &[(1, "ok", read)]].concat());
    assert_eq!(judge(&end("[:r x 1]"), strict, LINEARIZABLE, sizes(AT_ONCE)), (None, Verdict::Valid));
    let violated = (Some(lines.len()), Verdict::Invalid);
    assert_eq!(judge(&end("[:r x 2]"), strict, LINEARIZABLE, sizes(AT_ONCE)), violated);
}

/// A key that is named again after it was dropped makes the verdict unknown, but not wrongly invalid.
#[test]
fn the_name_of_a_dropped_key_is_kept() {
    let mut text = String::new();
    for key in 0..400 {
        let (write, read) = (format!("[:w {key} 1]"), format!("[:r {key} nil]"));
        text += &ops(&[(0, "invoke", &write), (0, "ok", &write), (0, "invoke", &read)]);
        text += &ops(&[(0, "ok", &format!("[:r {key} 1]"))]);
    }
    let few = Limits { values: 20, idle: 40, pause: 1, ..AT_ONCE };
    let strict = Model::STRICT_SERIALIZABLE;
    assert_eq!(judge(&text, strict, LINEARIZABLE, sizes(few)), (None, Verdict::Valid));
    for read in ["[:r 3 1]", "[:r 3 nil]"] {
        let again = ops(&[(0, "invoke", "[:r 3 nil]"), (0, "ok", read)]);
        assert_eq!(judge(&(text.clone() + &again), strict, LINEARIZABLE, sizes(few)), (None, Verdict::Unknown));
    }
}

/// Unused keys keep transactions in memory: two writes of each were concurrent, and neither was read. These keys are
/// dropped before those in use.
#[test]
fn unused_keys_are_dropped_before_used_ones() {
    let mut text = String::new();
    for key in 0..200 {
        let (one, other, used) = (format!("[:w {key} 1]"), format!("[:w {key} 2]"), format!("[:w x {key}]"));
        let begin = [(0, "invoke", one.as_str()), (1, "invoke", &other)];
        text += &ops(&[&begin[..], &[(0, "ok", &one), (1, "ok", &other)]].concat());
        text += &ops(&[(0, "invoke", &used), (0, "ok", &used), (0, "invoke", "[:r x nil]")]);
        text += &ops(&[(0, "ok", &format!("[:r x {key}]"))]);
    }
    let few = Limits { txns: 100, idle: 200, pause: 1, ..AT_ONCE };
    let mut run = online(LINEARIZABLE, sizes(few));
    for op in History::parse(&text).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
    }
    let report = Box::new(run).finish(&history_core::Budget::default()).unwrap();
    assert_eq!((report.verdict, &report.notes[..]), (Verdict::Valid, &[][..]), "no used key was dropped");
}

/// Writes a value that was read before its key was dropped: this may be its second write.
#[test]
fn a_value_written_again_after_its_key_was_dropped_ends_the_check() {
    let mut text = String::new();
    for key in 0..400 {
        let (write, read) = (format!("[:w {key} 1]"), format!("[:r {key} nil]"));
        text += &ops(&[(0, "invoke", &write), (0, "ok", &write), (0, "invoke", &read)]);
        text += &ops(&[(0, "ok", &format!("[:r {key} 1]"))]);
    }
    text += &ops(&[(0, "invoke", "[:r 3 nil]"), (0, "ok", "[:r 3 1]"), (0, "invoke", "[:w 3 1]")]);
    text += &ops(&[(0, "ok", "[:w 3 1]"), (0, "invoke", "[:r 3 nil]"), (0, "ok", "[:r 3 1]")]);
    let few = Limits { values: 20, idle: 40, pause: 1, ..AT_ONCE };
    let mut run = online(LINEARIZABLE, sizes(few));
    for op in History::parse(&text).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
    }
    assert!(!run.is_violated());
    let report = Box::new(run).finish(&history_core::Budget::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    let why = "from the op at index 1602 on it was not checked: a value was written to a key a second time";
    assert!(report.notes[0].contains(why), "{:?}", report.notes);
}

/// After a violation the next one is found: of two histories with disjoint keys and processes, one after the other, the
/// second is checked as if it were alone.
#[test]
fn the_next_violation_is_found() {
    let mut counts = [0; 3];
    for (name, seeds) in [("strict-serializable", 0..200), ("serializable", 0..60), ("snapshot-isolation", 0..60)] {
        let model: Model = name.parse().unwrap();
        for seed in seeds {
            let mut random = Random(seed);
            let mut one = || history(random.below(1 << 40), 3 + random.below(27), bugs(&mut random), true);
            let (first, second) = (one(), one());
            let (text, end) = (testing::one_after_another(&first, &second), first.lines().count());
            for limits in [NEVER, AT_ONCE] {
                let whole = violations(&text, model, sizes(limits));
                let Some(whole) = whole else { continue };
                let alone = |text: &str| violations(text, model, sizes(limits));
                let (of_first, of_second) = (alone(&first).unwrap(), alone(&second).unwrap());
                let of_second: Vec<usize> = of_second.into_iter().map(|at| end + at).collect();
                assert_eq!(whole, [&of_first[..], &of_second].concat(), "{name}, seed {seed}\n{text}");
                assert_eq!(
                    of_first.first().copied(),
                    judge(&first, model, LINEARIZABLE, sizes(limits)).0,
                    "{name}, seed {seed}"
                );
                counts[whole.len().min(2)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 10), "{counts:?}: too few violations");
}
