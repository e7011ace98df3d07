//! Tests of closed-predicate: Elle's cases in histcheck's format, and small worlds judged by trying all orders.

mod certify;
mod levels;
mod world;

use check_elle::closed_predicate::ClosedPredicate;
use history_core::{Checker, History, Options, Report, Verdict};
use levels::Level;
use std::fmt::Write as _;
use world::{Fate, World};

fn judge(level: &str, text: &str) -> Report {
    let history = History::parse(text).unwrap();
    let run = ClosedPredicate::default().start(&Options::new().with("consistency-models", level)).unwrap();
    let report = history_core::check_history(run, &history, &history_core::Budget::default()).unwrap();
    for anomaly in &report.anomalies {
        for witness in &anomaly.witnesses {
            if let Err(error) = certify::certify(&history, &anomaly.name, witness) {
                panic!("{}: {error}\n{}\n{text}", anomaly.name, witness.explanation);
            }
        }
    }
    report
}

/// Makes a history of concurrent transactions, each given by its micro-ops, after `init` if that is not empty.
fn concurrent(init: &str, txns: &[&str]) -> String {
    let mut text = String::new();
    if !init.is_empty() {
        _ = writeln!(
            text,
            "{{:process 9, :type :invoke, :f :init, :value {init}}} {{:process 9, :type :ok, :f :init, :value {init}}}"
        );
    }
    for kind in ["invoke", "ok"] {
        for (process, mops) in txns.iter().enumerate() {
            _ = writeln!(text, "{{:process {process}, :type :{kind}, :f :txn, :value {mops}}}");
        }
    }
    text
}

fn types(report: &Report) -> Vec<&str> {
    report.anomaly_types().collect()
}

/// An op that may have happened and says nowhere what it wrote may have written any value, or deleted any key.
#[test]
fn nothing_is_certain_beside_an_op_without_micro_ops() {
    for (init, value, read) in [
        ("{:x 1}", "", "[[:r :x nil]]"),
        ("{:x 1}", "", "[[:rp :true {}]]"),
        ("", "[[:w :x 3]]", "[[:r :x nil]]"),
        ("{:x 1}", "", "[[:r :x 3]]"),
        ("", "", "[[:r :x 1] [:w :x 1]]"),
    ] {
        let first = if value.is_empty() { String::new() } else { concurrent("", &[value]) };
        for unsaid in [
            "{:process 5, :type :invoke, :f :txn}\n",
            "{:process 5, :type :invoke, :f :txn}\n{:process 5, :type :ok, :f :txn, :value nil}\n",
            "",
        ] {
            let read = concurrent("", &[read]);
            let init = concurrent(init, &[]);
            let report = judge("strict-serializable", &format!("{init}{first}{unsaid}{read}"));
            let expected = if unsaid.is_empty() { Verdict::Invalid } else { Verdict::Unknown };
            assert_eq!(report.verdict, expected, "{read}: {report:?}");
            let is_named = |note: &String| note.contains("neither it nor its other end says what it wrote");
            assert_eq!(report.notes.iter().any(is_named), !unsaid.is_empty(), "{:?}", report.notes);
        }
    }
    let internal = concurrent("{:x 1}", &["[[:w :x 2] [:r :x 1]]"]);
    let unsaid = "{:process 5, :type :invoke, :f :txn}\n";
    assert_eq!(judge("serializable", &format!("{internal}{unsaid}")).verdict, Verdict::Invalid);
}

#[test]
fn predicate_reads_depend_on_what_they_do_not_show() {
    let cases: &[(&str, &str, &[&str], &[&str])] = &[
        (
            "shown by each other",
            "",
            &["[[:w :x 1] [:rp :true {:x 1, :y 2}]]", "[[:w :y 2] [:rp :true {:x 1, :y 2}]]"],
            &["G1c"],
        ),
        ("both miss the other", "", &["[[:rp :true {}] [:w :x 1]]", "[[:rp :true {}] [:w :y 2]]"], &["G2"]),
        (
            "both see the other's deletion",
            "{:x 0, :y 0}",
            &["[[:delete :x] [:rp :true {}]]", "[[:delete :y] [:rp :true {}]]"],
            &["G1c"],
        ),
        (
            "both see the other's write by elimination",
            "{:x 0, :y 0}",
            &["[[:rp [:= 0] {:x 0}] [:w :x 1]]", "[[:rp [:= 0] {:y 0}] [:w :y 1]]"],
            &["G1c"],
        ),
        (
            "both miss the other's write",
            "{:x 0, :y 0}",
            &["[[:rp [:= 1] {}] [:w :x 1]]", "[[:rp [:= 1] {}] [:w :y 1]]"],
            &["G2"],
        ),
        (
            "a deletion seen as nil",
            "{:x 0, :z 0}",
            &["[[:r :z 3] [:delete :x]]", "[[:r :x nil] [:insert :y 2]]", "[[:r :y 2] [:w :z 3]]"],
            &["G1c"],
        ),
        (
            "one deletion seen, one not",
            "{3 0, 4 0, 5 0}",
            &["[[:delete 3] [:delete 5]]", "[[:rp :true {3 0, 4 0}]]"],
            &["G-single-item"],
        ),
        ("half of a transaction", "{:x 0}", &["[[:w :x 1] [:insert :y 1]]", "[[:rp [:= 1] {:y 1}]]"], &["G-single"]),
    ];
    for (name, init, txns, expected) in cases {
        let report = judge("serializable", &concurrent(init, txns));
        assert_eq!((types(&report), report.verdict), (expected.to_vec(), Verdict::Invalid), "{name}");
    }
}

#[test]
fn what_cycles_do_not_show_is_found_on_its_own() {
    let cases: &[(&str, &str, &[&str], &str)] = &[
        ("omits what always matches", "{5 3}", &["[[:rp [:mod 2 1] {}]]"], "predicate-read-miss"),
        ("nothing where there always was something", "{:x 0}", &["[[:r :x nil]]"], "init-read-miss"),
        ("shows what does not match", "{:x 0}", &["[[:rp [:= 1] {:x 0}]]"], "predicate-mismatch"),
        ("not its own insert", "", &["[[:insert :x 1] [:rp :true {}]]"], "internal"),
        ("not its own deletion", "{:x 0}", &["[[:delete :x] [:rp :true {:x 0}]]"], "internal"),
        ("two contents", "{:x 0}", &["[[:r :x 0] [:rp :true {:x 1}]]", "[[:w :x 1]]"], "internal"),
        ("never written", "", &["[[:rp :true {:x 1}]]"], "garbage-read"),
        ("written later by itself", "{:x 0}", &["[[:r :x 1] [:w :x 1]]"], "future-read"),
        ("an intermediate version", "", &["[[:insert :x 1] [:w :x 2]]", "[[:rp :true {:x 1}]]"], "G1b"),
        ("its own later deletion", "{:x 0}", &["[[:rp :true {}] [:delete :x]]"], "predicate-read-miss"),
        ("a lost update", "{:x 0}", &["[[:r :x 0] [:w :x 1]]", "[[:rp :true {:x 0}] [:w :x 2]]"], "lost-update"),
    ];
    for (name, init, txns, expected) in cases {
        let report = judge("serializable", &concurrent(init, txns));
        assert_eq!(report.verdict, Verdict::Invalid, "{name}");
        assert!(types(&report).contains(expected), "{name}: {:?}", types(&report));
    }
    let failed = "{:process 0, :type :fail, :f :txn, :value [[:insert :x 1]]} {:process 1, :type :ok, :f :txn, :value [[:rp :true {:x 1}]]}";
    assert!(types(&judge("read-committed", failed)).contains(&"G1a"));
}

/// Read committed allows a read that contradicts the writes of its own transaction, but not one that shows a state that
/// no other transaction left.
#[test]
fn a_read_behind_its_own_write_shows_what_others_did() {
    let failed = |read: &str| {
        format!(
            "{{:process 0, :type :fail, :f :txn, :value [[:insert :x 9]]}}
             {{:process 1, :type :ok, :f :txn, :value [[:insert :x 3] {read}]}}"
        )
    };
    for read in ["[:r :x 9]", "[:rp :true {:x 9}]"] {
        let report = judge("read-committed", &failed(read));
        assert!(types(&report).contains(&"G1a"), "{read}: {report:#?}");
        let report = judge("serializable", &failed(read));
        assert!(types(&report).contains(&"G1a") && types(&report).contains(&"internal"), "{report:#?}");
    }
    for (init, txns, expected) in [
        ("", &["[[:insert :x 3] [:r :x 9]]"][..], "garbage-read"),
        ("", &["[[:insert :x 3] [:r :x 9]]", "[[:insert :x 9] [:w :x 8]]"], "G1b"),
        ("", &["[[:insert :x 3] [:r :x 9] [:r :y 5]]", "[[:insert :x 9] [:insert :y 5] [:r :x 3]]"], "G1c"),
    ] {
        let report = judge("read-committed", &concurrent(init, txns));
        assert_eq!(report.verdict, Verdict::Invalid, "{txns:?}");
        assert!(types(&report).contains(&expected), "{txns:?}: {report:#?}");
    }
    // The key was read as missing although it always existed; no anomaly has a name for that.
    let early = judge("read-committed", &concurrent("{:x 2}", &["[[:w :x 3] [:r :x nil]]"]));
    assert_eq!(early.verdict, Verdict::Unknown, "{early:#?}");
    // A value that the transaction itself wrote at another time comes from no other transaction.
    let own = concurrent("", &["[[:insert :x 1] [:w :x 2] [:r :x 1]]", "[[:r :x 2]]"]);
    assert_eq!(judge("read-committed", &own).verdict, Verdict::Valid);
    assert_eq!(types(&judge("serializable", &own)), ["internal"]);
}

#[test]
fn repeatable_read_allows_rw_of_predicates() {
    let phantoms = concurrent("", &["[[:rp :true {}] [:w :x 1]]", "[[:rp :true {}] [:w :y 2]]"]);
    assert_eq!(judge("repeatable-read", &phantoms).verdict, Verdict::Valid);
    assert_eq!(judge("serializable", &phantoms).verdict, Verdict::Invalid);
    assert_eq!(judge("snapshot-isolation", &phantoms).verdict, Verdict::Valid);
    let half = concurrent("{:x 0}", &["[[:w :x 1] [:insert :y 1]]", "[[:rp [:= 1] {:y 1}]]"]);
    assert_eq!(judge("repeatable-read", &half).verdict, Verdict::Valid);
    assert_eq!(judge("consistent-view", &half).verdict, Verdict::Invalid);
    assert_eq!(judge("read-atomic", &half).verdict, Verdict::Invalid);
    assert_eq!(judge("read-committed", &half).verdict, Verdict::Valid);
}

#[test]
fn monotonic_atomic_view_is_about_the_order_of_reads() {
    let both = "[[:insert :a 1] [:insert :b 1]]";
    let cases = [
        ("[[:r :b nil] [:r :a 1]]", Verdict::Valid),
        ("[[:r :b 1] [:r :a nil]]", Verdict::Invalid),
        ("[[:r :a nil] [:r :b 1]]", Verdict::Valid),
        ("[[:r :a 1] [:r :b nil]]", Verdict::Invalid),
        ("[[:r :b nil] [:rp :true {:a 1, :b 1}]]", Verdict::Valid),
        ("[[:rp :true {:b 1, :a 1}] [:r :a nil]]", Verdict::Invalid),
        ("[[:rp :true {}] [:rp :true {:b 1, :a 1}]]", Verdict::Valid),
        // No definition says whether one predicate read may see a part of a transaction.
        ("[[:rp :true {:b 1}]]", Verdict::Unknown),
        ("[[:rp :true {:a 1}]]", Verdict::Unknown),
        ("[[:rp :true {:a 1}] [:r :b nil]]", Verdict::Invalid),
        ("[[:r :b nil] [:rp :true {:a 1}]]", Verdict::Unknown),
        ("[[:r :a 1] [:rp :true {:a 1}]]", Verdict::Invalid),
    ];
    for (reads, expected) in cases {
        let report = judge("monotonic-atomic-view", &concurrent("", &[both, reads]));
        assert_eq!(report.verdict, expected, "{reads}: {:?} {:?}", types(&report), report.notes);
        assert_eq!(judge("read-committed", &concurrent("", &[both, reads])).verdict, Verdict::Valid, "{reads}");
    }
    let replaced = concurrent("{:a 0, :b 0}", &["[[:w :a 1]]", "[[:rp :true {:a 1, :b 0}]]"]);
    assert_eq!(judge("monotonic-atomic-view", &replaced).verdict, Verdict::Valid);
}

#[test]
fn an_axiom_that_only_predicate_reads_break_leaves_repeatable_read_unknown() {
    let phantoms = ["[[:rp :true {}] [:w :x 1]]", "[[:rp :true {}] [:w :y 2]]", "[[:w :z 1]]", "[[:w :z 2]]"];
    let report = judge("repeatable-read", &concurrent("", &phantoms));
    assert_eq!(report.verdict, Verdict::Unknown, "{:?}", types(&report));
    assert!(report.notes.iter().any(|note| note.contains("predicate reads missed")), "{:?}", report.notes);
    let half = concurrent("{:x 0}", &["[[:w :x 1] [:insert :y 1]]", "[[:rp [:= 1] {:y 1}]]"]);
    let report = judge("read-atomic", &half);
    assert!(!report.not.iter().chain(&report.also_not).any(|level| level == "repeatable-read"), "{report:?}");
}

/// Reads of a state that a universe created before all other transactions never had, judged at each level.
#[test]
fn what_no_transaction_left_is_seen_at_no_level_above_monotonic_atomic_view() {
    let failed = |mops: &str, reads: &str| {
        let op = |process: usize, kind: &str, mops: &str| {
            format!("{{:process {process}, :type :{kind}, :f :txn, :value {mops}}}\n")
        };
        op(0, "invoke", mops) + &op(0, "fail", mops) + &op(1, "invoke", reads) + &op(1, "ok", reads)
    };
    let created = |init: &str| concurrent(init, &[]);
    let histories = [
        concurrent("{:x 1}", &["[[:rp :true {}]]"]),
        concurrent("{:x 1}", &["[[:rp :true {}] [:delete :x]]"]),
        concurrent("{:x 1}", &["[[:rp :true {}]]", "[[:delete :x] [:insert :x 2]]"]),
        concurrent("{:x 3}", &["[[:r :x nil]]"]),
        concurrent("{:x 3}", &["[[:r :x nil] [:delete :x]]"]),
        created("{:y 2, :z 2}") + &failed("[[:delete :z]]", "[[:rp :true {:y 2}]]"),
        created("{:y 2}") + &failed("[[:w :y 1]]", "[[:rp [:= 2] {}]]"),
    ];
    let no_level = "read-atomic causal-cerone prefix parallel-snapshot-isolation consistent-view snapshot-isolation \
        strong-session-snapshot-isolation strong-snapshot-isolation serializable strict-serializable";
    let in_doubt = "read-committed monotonic-atomic-view strong-read-committed cursor-stability monotonic-view";
    for text in &histories {
        for level in no_level.split_whitespace() {
            let report = judge(level, text);
            let found: Vec<&str> = types(&report);
            assert_eq!(report.verdict, Verdict::Invalid, "{level}: {found:?} {:?}\n{text}", report.notes);
            assert!(found.iter().any(|name| name.ends_with("-read-miss")), "{level}: {found:?}\n{text}");
        }
        for level in in_doubt.split_whitespace() {
            let report = judge(level, text);
            assert_eq!(report.verdict, Verdict::Unknown, "{level}: {:?}\n{text}", types(&report));
            assert!(!report.notes.is_empty(), "{level}\n{text}");
        }
        let by_item = text.contains("[:r :x nil]");
        let expected = if by_item { Verdict::Invalid } else { Verdict::Unknown };
        assert_eq!(judge("repeatable-read", text).verdict, expected, "{text}");
        assert_ne!(judge("read-uncommitted", text).verdict, Verdict::Invalid, "{text}");
    }
}

#[test]
fn what_is_in_the_wrong_form_is_not_valid() {
    let wrong = |init: &str, mops: &str, gist: &str| {
        let report = judge("serializable", &concurrent(init, &[mops]));
        assert_eq!(report.verdict, Verdict::Unknown, "{mops}");
        assert!(report.notes.iter().any(|note| note.contains(gist)), "{mops}: {:?}", report.notes);
    };
    wrong("{:x 0}", "[[:rp :true nil]]", "is not a micro-op of closed-predicate");
    wrong("{:x 0}", "[[:r :x]]", "[:r :x] is not a micro-op");
    wrong("{:x 0}", "[[:rp :false {:x 0}]]", "is not a micro-op");
    wrong("{:x 0}", "[[:rp [:mod 0 0] {:x 0}]]", "is not a micro-op");
    wrong("{:x 0}", "[[:rp [:> 1] {:x 0}]]", "is not a micro-op");
    wrong("{:x 0}", "[[:rp :true {:x nil}]]", "is not a micro-op");
    wrong("{:x 0}", "[[:delete :x 5]]", "is not a micro-op");
    wrong("{:x 0}", "[[:append :x 5]]", "is not a micro-op");
    wrong("{:x nil}", "[[:r :x 0]]", "begins with nil");
    wrong("{:x :a}", "[[:rp [:mod 2 0] {}]]", "expected an integer");
    wrong("", "[[:rp :true {}]]", "No op contains a micro-op");
    wrong("", "[[:rp :true {}] [:r :x nil]]", "No transaction is related to another");
    wrong("{:x 0}", "[[:w :x 1]]", "No ok transaction read");
    // The universe is created late, and two writers have no known order.
    let late = "{:process 0, :type :ok, :f :txn, :value [[:rp :true {}]]} {:process 1, :type :ok, :f :init, :value {:x 0}}
        {:process 1, :type :ok, :f :txn, :value [[:w :x 1]]} {:process 2, :type :ok, :f :txn, :value [[:rp [:= 0] {}]]}";
    assert_eq!(judge("serializable", late).verdict, Verdict::Unknown);
}

#[test]
fn keys_of_json_objects_are_those_of_micro_ops() {
    let op = |kind: &str, f: &str, value: &str| {
        format!("{{\"process\": 0, \"type\": \"{kind}\", \"f\": \"{f}\", \"value\": {value}}}\n")
    };
    let history = |shown: &str| {
        let rows = [
            ("init", "{\"7\": 0, \"8\": 1}".to_owned()),
            ("txn", format!("[[\"rp\", [\"=\", 0], {shown}], [\"r\", 8, 1]]")),
        ];
        rows.iter().map(|(f, value)| op("invoke", f, value) + &op("ok", f, value)).collect::<String>()
    };
    assert_eq!(judge("strict-serializable", &history("{\"7\": 0}")).verdict, Verdict::Valid);
    assert_eq!(judge("strict-serializable", &history("[[7, 0]]")).verdict, Verdict::Valid);
    assert!(types(&judge("strict-serializable", &history("{}"))).contains(&"predicate-read-miss"));
}

/// In EDN, 1 and "1" are two keys. In JSON, keys of maps are strings in any case.
#[test]
fn a_key_that_is_an_integer_and_a_string_may_be_two_keys() {
    for (init, txn) in [
        ("{1 0}", r#"[[:insert "1" 5]]"#),
        (r#"{"1" 0}"#, r#"[[:insert "1" 5] [:r 1 5]]"#),
        ("{1 0}", r#"[[:r "1" 0]]"#),
        (r#"{1 0, "1" 5}"#, "[[:r 1 0]]"),
        ("{1 0}", r#"[[:rp :true [["1" 0]]]]"#),
    ] {
        let report = judge("serializable", &concurrent(init, &[txn, "[[:rp :true {1 0}]]"]));
        assert_eq!(report.verdict, Verdict::Unknown, "{txn}: {:?}", types(&report));
        let why =
            "the history writes the key 1 both as an integer and as a string, so whether it is one key is unknown";
        assert!(report.notes.iter().any(|note| note.contains(why)), "{txn}: {:?}", report.notes);
    }
    // The keys of a map alone do not decide it. A violation by other keys remains.
    let maps = concurrent(r#"{"1" 0, :y 0}"#, &["[[:r 1 0]]", r#"[[:rp :true {"1" 0, :y 0}]]"#]);
    assert_eq!(judge("serializable", &maps).verdict, Verdict::Valid);
    let other = concurrent("{1 0, :y 0}", &[r#"[[:r "1" 0]]"#, "[[:r :y 7]]"]);
    assert_eq!(judge("serializable", &other).verdict, Verdict::Invalid);
}

#[test]
fn values_too_many_for_the_budget_leave_the_verdict_unknown() {
    let text = concurrent("{:x 0, :y 0}", &["[[:rp :true {:x 0, :y 0}] [:rp [:= 1] {}]]"]);
    let history = History::parse(&text).unwrap();
    let mut budget = history_core::Budget::default();
    budget.states_max = Some(1);
    let run = ClosedPredicate::default().start(&Options::new()).unwrap();
    let report = history_core::check_history(run, &history, &budget).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes.iter().any(|note| note.contains("not all reads were compared")), "{:?}", report.notes);
}

/// Judges worlds made from seeds; the checker's verdict must be the result of trying all orders.
fn compare(seeds: std::ops::Range<u64>, mutations_max: usize) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in seeds {
        let world = World::new(seed, mutations_max);
        let text = world.text();
        for (level, by_time) in [("serializable", false), ("strict-serializable", true)] {
            let report = judge(level, &text);
            let holds = world.is_serializable(by_time);
            match report.verdict {
                Verdict::Valid => assert!(holds, "{level}, seed {seed}: no order\n{text}"),
                Verdict::Invalid => {
                    assert!(!holds, "{level}, seed {seed}: an order exists\n{text}\n{:?}", types(&report));
                }
                Verdict::Unknown if mutations_max == 1 => {
                    let is_unrelated = report.notes.iter().any(|note| note.contains("No transaction is related"));
                    assert!(is_unrelated || !world.has_evidence(), "{level}, seed {seed}: {:?}\n{text}", report.notes);
                }
                Verdict::Unknown => {}
            }
            counts[report.verdict as usize] += 1;
        }
    }
    counts
}

/// Levels by their names; each with the level that must be obeyed for a valid verdict, and the one for an invalid
/// verdict.
const LEVELS: &[(&str, Level, Level)] = &[
    ("read-committed", Level::ReadCommitted, Level::ReadCommitted),
    (
        "monotonic-atomic-view",
        Level::MonotonicAtomicView { in_part: false },
        Level::MonotonicAtomicView { in_part: true },
    ),
    ("read-atomic", Level::ReadAtomic, Level::ReadAtomic),
    ("causal-cerone", Level::Causal, Level::Causal),
    ("prefix", Level::Prefix, Level::Prefix),
    ("parallel-snapshot-isolation", Level::ParallelSnapshot, Level::ParallelSnapshot),
    ("consistent-view", Level::ParallelSnapshot, Level::ParallelSnapshot),
    ("snapshot-isolation", Level::Snapshot { by_time: false }, Level::Snapshot { by_time: false }),
    ("strong-snapshot-isolation", Level::Snapshot { by_time: true }, Level::Snapshot { by_time: true }),
];

/// Like [`compare`], for levels below serializable.
fn compare_levels(seeds: std::ops::Range<u64>, mutations_max: usize) -> Vec<[usize; 3]> {
    let mut counts = vec![[0; 3]; LEVELS.len()];
    for seed in seeds {
        let world = World::new(seed, mutations_max);
        let text = world.text();
        for (at, (level, if_true, if_false)) in LEVELS.iter().enumerate() {
            let report = judge(level, &text);
            let found = types(&report);
            match report.verdict {
                Verdict::Valid => assert!(levels::holds(&world, *if_true), "{level}, seed {seed}: not\n{text}"),
                Verdict::Invalid => {
                    assert!(!levels::holds(&world, *if_false), "{level}, seed {seed}: holds, {found:?}\n{text}");
                }
                Verdict::Unknown if mutations_max > 1 || !world.has_evidence() || !found.is_empty() => {}
                // Reads that contradict `init` leave only the two weakest levels unknown.
                Verdict::Unknown => assert!(at < 2, "{level}, seed {seed}: {:?}\n{text}", report.notes),
            }
            counts[at][report.verdict as usize] += 1;
        }
    }
    counts
}

#[test]
fn levels_of_small_worlds_are_as_their_axioms_say() {
    for (counts, (level, ..)) in compare_levels(0..3_000, 1).iter().zip(LEVELS) {
        assert!(counts.iter().all(|count| *count > 30), "{level}: {counts:?}");
    }
    compare_levels(0..1_500, 3);
}

#[test]
#[ignore = "takes minutes: cargo test -p check-elle --release -- --ignored predicates"]
fn levels_of_many_small_worlds_are_as_their_axioms_say() {
    compare_levels(10_000..200_000, 1);
    compare_levels(10_000..100_000, 3);
}

#[test]
fn small_worlds_are_judged_as_all_orders_say() {
    let counts = compare(0..12_000, 1);
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
}

#[test]
fn where_keys_are_mutated_again_nothing_wrong_is_said() {
    let counts = compare(0..6_000, 3);
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
}

#[test]
#[ignore = "takes minutes: cargo test -p check-elle --release -- --ignored predicates"]
fn many_small_worlds_are_judged_as_all_orders_say() {
    compare(0..2_000_000, 1);
}

#[test]
#[ignore = "takes minutes, as above"]
fn in_many_worlds_where_keys_are_mutated_again_nothing_wrong_is_said() {
    compare(0..500_000, 3);
}

#[test]
fn canary_a_world_with_a_wrong_read_is_not_serializable() {
    let broken = (0..2_000).map(|seed| World::new(seed, 1)).filter(|world| !world.is_serializable(false)).count();
    let failed = (0..2_000).filter(|seed| World::new(*seed, 1).txns.iter().any(|txn| txn.fate == Fate::Fail)).count();
    assert!(broken > 400 && broken < 1_600 && failed > 100, "{broken} {failed}");
}
