//! Tests histories with nothing to check: every workload returns unknown, with a reason.

use crate::common::{count, judge, op};
use check_jepsen::bank::Bank;
use check_jepsen::comments::Comments;
use check_jepsen::counter::Counter;
use check_jepsen::long_fork::LongFork;
use check_jepsen::queue::Queue;
use check_jepsen::sequential::Sequential;
use check_jepsen::set::Set;
use check_jepsen::set_full::SetFull;
use check_jepsen::stats::Stats;
use check_jepsen::total_queue::TotalQueue;
use check_jepsen::unique_ids::UniqueIds;
use history_core::{Budget, Checker, Keyed, Options, Reader, Report, Verdict};

/// A workload, and the smallest history that it can check.
struct Row {
    checker: Box<dyn Checker>,
    /// The functions that it understands, the observed one first, with an argument and a correct result.
    functions: &'static [(&'static str, &'static str, &'static str)],
    /// The part of a note on what is missing if there are ops but no observation.
    missing: &'static str,
    /// A word in the description of expected ops.
    expects: &'static str,
}

fn row(
    checker: impl Checker + 'static,
    functions: &'static [(&'static str, &'static str, &'static str)],
    missing: &'static str,
    expects: &'static str,
) -> Row {
    Row { checker: Box::new(checker), functions, missing, expects }
}

fn rows() -> Vec<Row> {
    let set: &[_] = &[("read", "nil", "[1]"), ("add", "1", "1")];
    let queue: &[_] = &[("dequeue", "nil", "1"), ("enqueue", "1", "1")];
    let fork: &[_] =
        &[("read", "[[:r 0 nil] [:r 1 nil]]", "[[:r 0 1] [:r 1 nil]]"), ("write", "[[:w 0 1]]", "[[:w 0 1]]")];
    let bank: &[_] = &[("read", "nil", "{0 5}"), ("transfer", "{:from 0, :to 1, :amount 2}", "nil")];
    vec![
        row(Bank::default(), bank, "no ok :read that shows an account", "a map of account to balance"),
        row(Counter::default(), &[("read", "nil", "1"), ("add", "1", "1")], "no ok :read", ":add of an integer"),
        row(Set::default(), set, "no ok :read", ":add of an element"),
        row(SetFull::default(), set, "no ok :read", ":add of an element"),
        row(SetFull { linearizable: true }, set, "no ok :read", ":add of an element"),
        row(LongFork::default(), fork, "no ok read of a group", "[[:r key value] ...]"),
        row(LongFork { general: true, ..LongFork::default() }, fork, "no ok read of a group", "[[:w key value] ...]"),
        row(
            Comments::default(),
            &[("read", "nil", "[1 2]"), ("write", "2", "2"), ("write", "1", "1")],
            "no ok :read",
            ":write of a value",
        ),
        row(
            Sequential::default(),
            &[("read", "5", "[5 [nil 0]]"), ("write", "5", "5")],
            "no ok :read of two subkeys",
            "[key values]",
        ),
        row(Queue::default(), queue, "no ok :dequeue", ":enqueue and :dequeue"),
        row(TotalQueue::default(), queue, "no ok :enqueue, :dequeue or :drain", ":drain of several"),
        row(UniqueIds::default(), &[("generate", "nil", "7")], "no ok :generate", ":generate of an id"),
        row(Stats::default(), &[("read", "nil", "1")], "No such op was ok", "any :f"),
    ]
}

const NEMESIS: &str = "{:process :nemesis, :type :info, :f :start} {:process :nemesis, :type :info, :f :stop}";

/// The faults in a checker's reports on histories with nothing to check.
fn faults(row: &Row, judge: &dyn Fn(&dyn Checker, &str) -> Report) -> Vec<String> {
    let each = |kind: &str| -> String {
        let ops = row.functions.iter().enumerate();
        ops.map(|(process, (f, argument, _))| op(process, f, argument, kind, argument)).collect()
    };
    let (f, argument, _) = row.functions[0];
    let open = format!("{{:process 0, :type :invoke, :f :{f}, :value {argument}}}");
    let nobody = ["no op of a client", row.expects];
    let mut table = vec![
        ("empty", "[]".to_owned(), nobody),
        ("nemesis only", NEMESIS.to_owned(), nobody),
        ("all info", each("info"), [row.missing, ""]),
        ("all fail", each("fail"), [row.missing, ""]),
        ("one invocation", open, [row.missing, ""]),
    ];
    if row.checker.name() != "stats" {
        let other = op(0, "acquire", "nil", "ok", "nil") + &op(1, "release", "nil", "fail", "nil");
        table.push(("another workload", other, ["none of the 4 client ops", ":acquire (2), :release (2)"]));
        table.push(("the same, what it expects", op(0, "acquire", "nil", "ok", "nil"), [row.expects, ":acquire (2)"]));
        // Values of transactions, which belong to no workload here.
        let appends = "[[:append 3 1] [:r 3 nil]]";
        table.push((
            "transactions",
            op(0, "txn", appends, "ok", "[[:append 3 1] [:r 3 [1]]]"),
            ["none of the", ":txn"],
        ));
    }
    let mut faults = Vec::new();
    for (name, text, gist) in table {
        let report = judge(row.checker.as_ref(), &text);
        let notes = report.notes.join(" ");
        if report.verdict != Verdict::Unknown || !gist.iter().all(|gist| notes.contains(gist)) {
            let verdict = report.verdict.name();
            faults.push(format!("{}, {name}: {verdict} because {notes:?}, not {gist:?}", row.checker.name()));
        }
    }
    // The same with one observation has a verdict.
    let right: String =
        row.functions.iter().rev().map(|(f, argument, answer)| op(0, f, argument, "ok", answer)).collect();
    if judge(row.checker.as_ref(), &right).verdict != Verdict::Valid {
        faults.push(format!("{} does not judge {right}", row.checker.name()));
    }
    faults
}

#[test]
fn a_history_with_nothing_to_check_is_unknown_and_a_note_says_why() {
    let faults: Vec<String> =
        rows().iter().flat_map(|row| faults(row, &|checker, text| judge(checker, &[], text))).collect();
    assert_eq!(faults, [""; 0], "{faults:#?}");
}

#[test]
fn canary_a_checker_that_always_says_valid_is_caught() {
    for row in rows() {
        let stamped = faults(&row, &|checker, _| Report::new(checker.name().to_owned(), Verdict::Valid));
        let histories = if row.checker.name() == "stats" { 5 } else { 8 };
        assert_eq!(stamped.len(), histories, "{}: {stamped:#?}", row.checker.name());
    }
}

#[test]
fn reads_that_show_nothing_to_compare_are_no_observation() {
    let report = judge(&Bank::default(), &[], &op(0, "read", "nil", "ok", "{}"));
    assert_eq!((report.verdict, count(&report, "observed-count")), (Verdict::Unknown, 0));
    for value in ["[5 []]", "[5 [1]]", "[5 [nil nil]]", "[[:r 0 1] [:r 1 1]]", "[[:r 0 nil] [:r 1 nil]]"] {
        let report = judge(&Sequential::default(), &[], &op(0, "read", "5", "ok", value));
        assert_eq!((report.verdict, count(&report, "observed-count")), (Verdict::Unknown, 0), "{value}");
    }
    let write = op(0, "write", "[[:w 0 1]]", "ok", "[[:w 0 1]]");
    for value in ["[[:r 0 1]]", "[[:r 0 nil] [:r 1 nil]]"] {
        for general in [false, true] {
            let checker = LongFork { general, ..LongFork::default() };
            let report = judge(&checker, &[], &(write.clone() + &op(0, "read", "nil", "ok", value)));
            assert_eq!((report.verdict, count(&report, "observed-count")), (Verdict::Unknown, 0), "{value}");
        }
    }
}

/// If ops that may add elements are not understood, reads are no observation.
#[test]
fn reads_before_any_change_are_no_observation() {
    let empty: &[(&dyn Checker, &str)] = &[(&Set::default(), "[]"), (&Counter::default(), "0")];
    for (checker, nothing) in empty {
        let read = op(0, "read", "nil", "ok", nothing);
        let inserted = op(0, "insert", "1", "ok", "1") + &read;
        for (text, verdict) in [
            (&read, Verdict::Unknown),
            (&inserted, Verdict::Unknown),
            (&(inserted.clone() + &op(0, "add", "1", "fail", "1") + &read), Verdict::Valid),
        ] {
            let report = judge(*checker, &[], text);
            assert_eq!(report.verdict, verdict, "{} {text}: {:?}", checker.name(), report.notes);
        }
        assert!(judge(*checker, &[], &inserted).notes.join(" ").contains("no ok :read after an :add"));
    }
    // An element that no op added is wrong nevertheless.
    let shown = op(0, "insert", "1", "ok", "1") + &op(0, "read", "nil", "ok", "[1]");
    assert_eq!(judge(&Set::default(), &[], &shown).verdict, Verdict::Invalid);
}

#[test]
fn reads_that_could_not_be_wrong_are_no_observation() {
    let one = op(0, "write", "1", "ok", "1") + &op(0, "read", "nil", "ok", "[1]");
    assert_eq!(judge(&Comments::default(), &[], &one).verdict, Verdict::Unknown);
    let two = op(0, "write", "1", "ok", "1") + &op(0, "write", "2", "ok", "2");
    // A value that differs from the written one proves nothing.
    for (shown, verdict) in [
        ("[]", Verdict::Valid),
        ("[1]", Verdict::Valid),
        ("[\"1\" \"2\"]", Verdict::Unknown),
        ("[1 2]", Verdict::Valid),
        ("[2]", Verdict::Invalid),
    ] {
        let report = judge(&Comments::default(), &[], &(two.clone() + &op(0, "read", "nil", "ok", shown)));
        assert_eq!(report.verdict, verdict, "{shown}: {:?}", report.notes);
        assert_eq!(report.notes.iter().any(|note| note.contains("whose write had not begun")), shown.contains('"'));
    }
}

#[test]
fn a_queue_of_nil_is_no_observation() {
    let nil = op(0, "enqueue", "nil", "ok", "nil") + &op(0, "dequeue", "nil", "ok", "nil");
    let drained = op(0, "drain", "nil", "ok", "[]");
    let one = op(0, "enqueue", "1", "ok", "1") + &op(0, "dequeue", "nil", "ok", "1");
    for checker in [&Queue::default() as &dyn Checker, &TotalQueue::default()] {
        for text in [&nil, &drained] {
            let report = judge(checker, &[], text);
            assert_eq!((report.verdict, count(&report, "observed-count")), (Verdict::Unknown, 0), "{text}");
        }
        assert_eq!(judge(checker, &[], &(nil.clone() + &one)).verdict, Verdict::Unknown);
        assert_eq!(judge(checker, &[], &one).verdict, Verdict::Valid);
    }
    let drained = op(0, "enqueue", "nil", "ok", "nil") + &op(0, "drain", "nil", "ok", "[nil]");
    assert_eq!(judge(&TotalQueue::default(), &[], &drained).verdict, Verdict::Unknown);
}

#[test]
fn ops_that_are_passed_over_are_counted_and_named_if_they_are_many() {
    let reads = |n: usize| op(0, "read", "nil", "ok", "1").repeat(n);
    let add = op(0, "add", "1", "ok", "1");
    // 2 of 200, and 2 of 202.
    for (others, named) in [(98, true), (99, false)] {
        let text = add.clone() + &reads(others) + &op(0, "frob", "nil", "fail", "nil");
        let report = judge(&Counter::default(), &[], &text);
        assert_eq!(report.verdict, Verdict::Valid, "{:?}", report.notes);
        assert_eq!(count(&report, "passed-over-count"), 2);
        assert_eq!(count(&report, "observed-count"), others as u64);
        let notes = report.notes.join(" ");
        assert_eq!(notes.contains("ignored 2 of 200 client ops") && notes.contains(":frob (2)"), named, "{notes}");
        assert_eq!(notes.is_empty(), !named);
    }
    // An op that cannot be read is ignored, too.
    let report = judge(&Counter::default(), &[], &(add.clone() + &reads(1) + &op(0, "read", "nil", "ok", ":x")));
    assert_eq!((report.verdict, count(&report, "passed-over-count")), (Verdict::Unknown, 1));
    // An invalid verdict remains.
    let report =
        judge(&Counter::default(), &[], &(add + &op(0, "read", "nil", "ok", "9") + &op(0, "frob", "1", "ok", "1")));
    assert_eq!((report.verdict, count(&report, "passed-over-count")), (Verdict::Invalid, 2));
}

#[test]
fn a_key_without_an_observation_does_not_spoil_the_verdict_on_the_others() {
    let keyed = |text: &str| {
        let checker = UniqueIds::default();
        let run = Keyed::start(&checker, &Options::new()).unwrap();
        let mut reader = Reader::new(text.as_bytes());
        history_core::check(Box::new(run), &mut reader, &Budget::default()).unwrap()
    };
    let right = op(0, "generate", "[:x nil]", "ok", "[:x 7]");
    let crashed = op(1, "generate", "[:y nil]", "info", "[:y nil]");
    let report = keyed(&(right.clone() + &crashed));
    assert_eq!(report.verdict, Verdict::Valid);
    assert!(
        report.notes[0].starts_with("The verdict covers 1 of 2 keys. Key :y: The history contains no ok :generate")
    );
    let report = keyed(&crashed);
    assert_eq!(report.verdict, Verdict::Unknown);
    // A key whose ops are not understood may have any content.
    let report = keyed(&(right + &op(1, "frob", "[:y nil]", "ok", "[:y 7]")));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains(":frob (2)"), "{:?}", report.notes);
}

/// One set or queue per key looks like one whose elements are pairs, none of which a read or drain returns.
#[test]
fn pairs_of_a_key_and_a_value_are_not_taken_for_elements() {
    let sets: [&dyn Checker; 2] = [&Set::default(), &SetFull::default()];
    let of = |add: &str, read: &str| op(0, add, "[0 1]", "ok", "[0 1]") + &op(0, read, "nil", "ok", "[0 [1]]");
    let rows = sets.map(|checker| (checker, of("add", "read")));
    for (checker, text) in rows.into_iter().chain([(&TotalQueue::default() as &dyn Checker, of("enqueue", "drain"))]) {
        let report = judge(checker, &[], &text);
        assert_eq!(report.verdict, Verdict::Unknown, "{}", checker.name());
        let why = "is a pair of a key and a collection: check each key separately with --keyed";
        assert!(report.notes.iter().any(|note| note.contains(why)), "{:?}", report.notes);
    }
    // A crashed add may have the reason in place of its element.
    let crashed = op(1, "add", "[0 2]", "info", ":timeout") + &of("add", "read");
    assert!(sets.into_iter().all(|checker| judge(checker, &[], &crashed).verdict == Verdict::Unknown));
    // Pairs may be elements.
    let whole = op(0, "add", "[0 1]", "ok", "[0 1]") + &op(0, "read", "nil", "ok", "[[0 1]]");
    assert!(sets.into_iter().all(|checker| judge(checker, &[], &whole).verdict == Verdict::Valid));
}

/// A checker of one object reports it if ops have several keys; one that checks each op separately does not.
#[test]
fn keys_in_a_field_are_noted_where_they_are_not_read() {
    let text =
        "{:process 0, :type :invoke, :f :add, :value 1, :key :x} {:process 0, :type :ok, :f :add, :value 1, :key :x}
                {:process 0, :type :invoke, :f :read, :key :y} {:process 0, :type :ok, :f :read, :value 1, :key :y}";
    let note = |checker: &dyn Checker, text: &str| {
        let why = "The ops have different keys in the field :key (:x and :y)";
        judge(checker, &[], text).notes.iter().any(|note| note.starts_with(why))
    };
    assert!(note(&Counter::default(), text));
    assert!(!note(&Counter::default(), &text.replace(":y", ":x")));
    assert!(!note(&Stats::default(), text));
}

/// Ops after one that stopped the checker are not counted, so no note is about all ops.
#[test]
fn an_op_that_stops_the_checker_is_the_only_reason() {
    let text = op(0, "add", "\"x\"", "ok", "\"x\"") + &op(0, "add", "1", "ok", "1") + &op(0, "read", "nil", "ok", "1");
    let report = judge(&Counter::default(), &[], &text);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].starts_with("No verdict, because of the op at index 0"), "{:?}", report.notes);
    assert_eq!(report.notes.len(), 1, "{:?}", report.notes);
}
