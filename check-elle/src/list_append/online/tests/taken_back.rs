//! Levels that a whole history may satisfy although a prefix violates them: read uncommitted, with sessions or real
//! time.

use super::{batch, judge, model, online, ops, violations};
use crate::list_append::ListAppend;
use crate::model::Model;
use crate::txn::online::run::Sizes;
use crate::txn::online::tests::{AT_ONCE, Bugs, Random, bugs, history, sizes};
use crate::txn::report::SO_FAR;
use history_core::{Budget, Checker, History, Options, Run, Verdict};

const LEVELS: [&str; 3] = ["read-uncommitted", "strong-session-read-uncommitted", "strong-read-uncommitted"];

/// A history of a store that often interleaves transactions.
fn torn(seed: u64) -> String {
    let mut random = Random(seed);
    let (bugs, txns) = (bugs(&mut random), 3 + random.below(27));
    history(seed, txns, Bugs { torn: bugs.torn.max(random.below(900)), ..bugs }, false)
}

fn is_refused(text: &str, ops: usize, model: Model) -> bool {
    batch(text, ops, model).verdict == Verdict::Invalid
}

#[test]
fn the_first_prefix_that_is_refused_is_found() {
    for name in LEVELS {
        let model = model(name);
        let (mut refused, mut taken_back) = (0, 0);
        for seed in 0..1200 {
            let text = torn(seed);
            let count = text.lines().count();
            let first = (1..=count).find(|ops| is_refused(&text, *ops, model)).map(|ops| ops - 1);
            let (found, verdict) = judge(&text, model, sizes(AT_ONCE));
            assert_eq!(found, first, "{name}, seed {seed}\n{text}");
            let whole = batch(&text, count, model).verdict;
            assert!(verdict != Verdict::Valid || whole == Verdict::Valid, "{name}, seed {seed}: {whole:?}\n{text}");
            refused += u32::from(first.is_some());
            taken_back += u32::from(first.is_some() && whole != Verdict::Invalid);
        }
        assert!((300..900).contains(&refused) && taken_back >= 10, "{name}: {refused}, {taken_back}");
    }
}

#[test]
fn each_prefix_reported_as_refused_is_refused() {
    let mut further = 0;
    for name in LEVELS {
        let model = model(name);
        for seed in 2000..2600 {
            let text = torn(seed);
            let found = violations(&text, model, sizes(AT_ONCE)).unwrap_or_default();
            for at in &found {
                assert!(is_refused(&text, at + 1, model), "{name}, seed {seed}: op {at} of\n{text}");
            }
            further += found.len().saturating_sub(1);
        }
    }
    assert!(further > 300, "{further}");
}

/// An op: process, type, micro-ops.
type Line = (u32, &'static str, &'static str);

/// Two transactions that wrote two keys in different orders; one of them is open.
const CROSSED: [Line; 5] = [
    (0, "invoke", "[:append x 1][:append y 1]"),
    (1, "invoke", "[:append x 2][:append y 2]"),
    (1, "ok", "[:append x 2][:append y 2]"),
    (2, "invoke", "[:r x nil][:r y nil]"),
    (2, "ok", "[:r x [1 2]][:r y [2 1]]"),
];

fn start(level: &str) -> Box<dyn Run> {
    let checker = ListAppend { consistency_models: vec![model(level)], ..ListAppend::default() };
    checker.start_online(&Options::new()).unwrap()
}

fn observe(run: &mut dyn Run, lines: &[Line]) {
    for op in History::parse(&ops(lines)).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
    }
}

#[test]
fn the_report_states_that_it_covers_the_history_so_far() {
    let mut run = start("read-uncommitted");
    assert!(!run.decides_early());
    observe(&mut *run, &CROSSED[..4]);
    assert!(!run.is_violated());
    let mut run = start("read-uncommitted");
    observe(&mut *run, &CROSSED);
    assert!(run.is_violated());
    assert!(run.violation().unwrap().notes.iter().any(|other| other == SO_FAR));
    let report = run.finish_early(&Budget::default()).unwrap();
    assert_eq!((report.verdict, report.anomaly_types().collect::<Vec<_>>()), (Verdict::Invalid, vec!["G0"]));
    assert_eq!(report.notes.iter().filter(|other| *other == SO_FAR).count(), 1, "{:?}", report.notes);
    // Nothing is known if the next op cannot be read.
    let mut run = start("read-uncommitted");
    observe(&mut *run, &CROSSED);
    assert!(run.finish_before_unread(&Budget::default()).unwrap().is_none());
    // The violation of read committed is permanent, and only requested levels are named.
    let mut run = start("read-committed");
    observe(&mut *run, &CROSSED);
    assert!(run.decides_early());
    let report = run.finish_before_unread(&Budget::default()).unwrap().unwrap();
    assert_eq!((report.verdict, report.notes.iter().any(|other| other == SO_FAR)), (Verdict::Invalid, false));
}

#[test]
fn a_run_that_continues_ends_with_the_verdict_on_the_whole_history() {
    let ends: [(&[Line], Verdict); 3] = [
        (&[(0, "ok", "[:append x 1][:append y 1]")], Verdict::Invalid),
        (&[(0, "fail", "[:append x 1][:append y 1]")], Verdict::Valid),
        // This list contradicts the one that closed a cycle.
        (&[(3, "invoke", "[:r x nil]"), (3, "ok", "[:r x [2 1]]")], Verdict::Valid),
    ];
    for (end, verdict) in ends {
        let mut run = start("read-uncommitted");
        assert!(run.keep_going());
        observe(&mut *run, &[&CROSSED, end].concat());
        assert_eq!((run.is_violated(), run.violations()), (true, 1));
        assert!(run.violation().is_none(), "nothing is certain in between");
        assert_eq!(run.finish(&Budget::default()).unwrap().verdict, verdict, "{end:?}");
    }
}

/// The history is too long for the batch checker.
#[test]
fn a_long_run_that_continues_ends_without_a_verdict() {
    let more = [(0, "ok", "[:append x 1][:append y 1]")];
    for (lines, verdict) in [(&CROSSED[..], Verdict::Invalid), (&[&CROSSED[..], &more].concat(), Verdict::Unknown)] {
        let mut run = online(model("read-uncommitted"), sizes(AT_ONCE));
        run.keep_going();
        observe(&mut run, lines);
        let report = Box::new(run).finish(&Budget::default()).unwrap();
        assert_eq!(report.verdict, verdict);
        let note = "The ops up to index 4 violate read-uncommitted. Whether the whole history does is unknown";
        assert_eq!(report.notes.iter().any(|other| other.starts_with(note)), verdict == Verdict::Unknown);
    }
}

/// Some reads could have been wrong, although no two transactions wrote the same key.
#[test]
fn a_read_of_another_transaction_relates_them() {
    let text = ops(&[
        (0, "invoke", "[:append x 1]"),
        (0, "ok", "[:append x 1]"),
        (1, "invoke", "[:r x nil]"),
        (1, "ok", "[:r x [1]]"),
    ]);
    assert_eq!(judge(&text, model("read-uncommitted"), sizes(AT_ONCE)), (None, Verdict::Valid));
    let own = text.replace("process 1", "process 0").lines().take(2).collect::<Vec<_>>().join("\n") + "\n";
    let own = own.replace("x 1]", "x 1][:r x [1]]");
    assert_eq!(judge(&own, model("read-uncommitted"), sizes(AT_ONCE)), (None, Verdict::Unknown));
}

/// Nothing is checked after the violation, and a part of the history gets no verdict.
#[test]
fn a_long_run_that_stops_has_no_verdict_on_the_whole_history() {
    let more = [(0, "fail", "[:append x 1][:append y 1]"), (0, "invoke", "[:r x nil]"), (0, "ok", "[:r x [2]]")];
    for batch_ops in 5..10 {
        let mut run = online(model("read-uncommitted"), Sizes { batch_ops, ..sizes(AT_ONCE) });
        for op in History::parse(&ops(&[&CROSSED[..], &more].concat())).unwrap().ops() {
            assert!(run.observe(&op).unwrap().is_continue());
        }
        let report = Box::new(run).finish(&Budget::default()).unwrap();
        // Up to this length the batch checker, here a stub, has the whole history.
        assert_eq!(report.verdict, Verdict::Unknown);
        assert_eq!(report.checker == "nobody", batch_ops >= 9, "{batch_ops} {report:?}");
    }
}

/// A writer between two others fails: these become neighbours, which closes a cycle later.
#[test]
fn the_neighbours_of_a_failed_writer_stay_in_order() {
    let text = ops(&[
        (0, "invoke", "[:append x 1][:append y 2]"),
        (0, "ok", "[:append x 1][:append y 2]"),
        (1, "invoke", "[:append x 2]"),
        (2, "invoke", "[:append x 3][:append y 1]"),
        (2, "ok", "[:append x 3][:append y 1]"),
        (3, "invoke", "[:r x nil]"),
        (3, "ok", "[:r x [1 2 3]]"),
        (1, "fail", "[:append x 2]"),
        (3, "invoke", "[:r y nil]"),
        (3, "ok", "[:r y [1 2]]"),
    ]);
    assert_eq!(judge(&text, model("read-uncommitted"), sizes(AT_ONCE)), (Some(9), Verdict::Invalid));
}

/// Two lists of one transaction contradict each other: they are compared before either is used.
#[test]
fn lists_of_one_transaction_are_compared_first() {
    let text = ops(&[
        (0, "invoke", "[:append x 1][:append y 1]"),
        (0, "ok", "[:append x 1][:append y 1]"),
        (1, "invoke", "[:append x 2][:append y 2]"),
        (1, "ok", "[:append x 2][:append y 2]"),
        (2, "invoke", "[:r y nil]"),
        (2, "ok", "[:r y [1 2]]"),
        (2, "invoke", "[:r x nil][:r x nil]"),
        (2, "ok", "[:r x [2 1]][:r x [1 2]]"),
    ]);
    assert_eq!(judge(&text, model("read-uncommitted"), sizes(AT_ONCE)), (None, Verdict::Valid));
    assert_eq!(judge(&text, model("read-committed"), sizes(AT_ONCE)).0, Some(7));
}

/// Disputed lists show no order, but none of them may contain an element twice.
#[test]
fn an_element_twice_in_a_disputed_list_is_a_violation() {
    let text = ops(&[
        (0, "invoke", "[:append x 1]"),
        (1, "invoke", "[:append x 2]"),
        (2, "invoke", "[:r x nil][:r x nil]"),
        (2, "ok", "[:r x [1 2]][:r x [2 1]]"),
        (2, "invoke", "[:r x nil]"),
        (2, "ok", "[:r x [2 1 2]]"),
    ]);
    assert_eq!(judge(&text, model("read-uncommitted"), sizes(AT_ONCE)), (Some(5), Verdict::Invalid));
}

/// Lists of x start with 1 and then disagree: the other appends come after 1, and other keys show the rest.
#[test]
fn the_order_that_remains_after_a_dispute() {
    // Appended when 2 was the last element that was read.
    let after = [
        (0, "ok", "[:append x 1][:append y 2]"),
        (1, "ok", "[:append x 2]"),
        (2, "ok", "[:r x [1 2]]"),
        (3, "ok", "[:append x 3][:append y 1]"),
        (2, "ok", "[:r x [1 9]]"),
        (2, "ok", "[:r y [1 2]]"),
    ];
    let of_other_key = [
        (0, "ok", "[:append x 1]"),
        (1, "ok", "[:append x 2][:append z 1][:append y 2]"),
        (2, "ok", "[:r x [1 2]][:r z [1]]"),
        (3, "ok", "[:append x 3][:append z 2][:append y 1]"),
        (2, "ok", "[:r x [1 2 3]][:r z [1 2]]"),
        (2, "ok", "[:r x [1 9]]"),
        (2, "ok", "[:r y [1 2]]"),
    ];
    let of_process = [
        (0, "ok", "[:append x 1]"),
        (1, "ok", "[:append x 2][:append y 2]"),
        (1, "ok", "[:append x 3][:append y 1]"),
        (2, "ok", "[:r x [1 2 3]]"),
        (2, "ok", "[:r x [1 9]]"),
        (2, "ok", "[:r y [1 2]]"),
    ];
    let first = |lines: &[_], level: &str| judge(&all_invoked(lines), model(level), sizes(AT_ONCE)).0;
    assert_eq!(first(&after, "read-uncommitted"), Some(11));
    assert_eq!(first(&of_other_key, "read-uncommitted"), Some(13));
    assert_eq!(first(&of_process, "read-uncommitted"), None, "nothing but the disputed lists orders them");
    assert_eq!(first(&of_process, "strong-session-read-uncommitted"), Some(11));
}

/// Each op with its invocation directly before it.
fn all_invoked(lines: &[Line]) -> String {
    let reads = |mops: &str| mops.contains(":r ");
    let invocation = |mops: &str| if reads(mops) { "[:r x nil]".to_owned() } else { mops.to_owned() };
    let both = |(process, kind, mops): &Line| {
        ops(&[(*process, "invoke", &invocation(mops))]) + &ops(&[(*process, kind, mops)])
    };
    lines.iter().map(both).collect()
}

/// An element is read before it is appended, and disputed by then. It follows the remaining order when another one
/// fails.
#[test]
fn a_disputed_element_may_be_appended_later() {
    let text = ops(&[
        (0, "invoke", "[:append x 1][:append y 2]"),
        (0, "ok", "[:append x 1][:append y 2]"),
        (1, "invoke", "[:append x 2]"),
        (2, "invoke", "[:r x nil]"),
        (2, "ok", "[:r x [1 2 9]]"),
        (2, "invoke", "[:r x nil]"),
        (2, "ok", "[:r x [1 2 8]]"),
        (3, "invoke", "[:append x 9][:append y 1]"),
        (1, "fail", "[:append x 2]"),
        (2, "invoke", "[:r y nil]"),
        (2, "ok", "[:r y [1 2]]"),
    ]);
    assert_eq!(judge(&text, model("read-uncommitted"), sizes(AT_ONCE)), (Some(10), Verdict::Invalid));
}
