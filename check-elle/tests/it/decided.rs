//! Tests of which models are decided: any other model is reported as valid only if a decided model that implies it is.

use crate::oracle::against::{certified, check, checker};
use crate::oracle::choices::Choices;
use crate::oracle::registers::Sources;
use crate::oracle::world::World;
use crate::oracle::{Question, Workload, messy, standing, text};
use check_elle::Exact;
use check_elle::anomaly::AnomalyType;
use check_elle::lattice::NOT_SEARCHED;
use check_elle::model::{Model, ModelSet};
use check_elle::rw_register::RwRegister;
use history_core::{Budget, Checker, History, Options, Reader, Report, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Read;

/// Makes a history of transactions one after another, each given as `process: micro-ops`; with or without invocations.
fn history(txns: &[&str], invoked: bool) -> History {
    let mut text = String::new();
    for txn in txns {
        let (process, mops) = txn.split_once(": ").expect("a process");
        for kind in if invoked { &["invoke", "ok"][..] } else { &["ok"] } {
            writeln!(text, "{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}")
                .expect("strings take all");
        }
    }
    History::parse(&text).expect("a history")
}

fn judge(history: &History, model: &str) -> Report {
    checker(history, &Question::of_lists(&[model]))
}

const READ_SKEW: &[&str] = &["0: [:append :x 1] [:append :y 1]", "1: [:r :x [1]] [:r :y []]"];
const LOST_UPDATE: &[&str] = &["0: [:r :x []] [:append :x 1]", "1: [:r :x []] [:append :x 2]", "2: [:r :x [1 2]]"];
const ABORTED_READ: &[&str] = &["0: [:append :x 1] [:append :x 2]", "1: [:r :x [1]]"];
const WRITE_CYCLE: &[&str] =
    &["0: [:append :x 1] [:append :y 1]", "1: [:append :x 2] [:append :y 2]", "2: [:r :x [1 2]] [:r :y [2 1]]"];
const LOST_OWN_WRITE: &[&str] = &["0: [:append :x 1]", "0: [:r :x []]", "1: [:r :x [1]]"];
const READ_BACK: &[&str] = &["1: [:append :x 1]", "0: [:r :x [1]]", "0: [:r :x []]"];
const WRITTEN_BACK: &[&str] = &["0: [:append :x 1]", "0: [:append :x 2]", "1: [:r :x [2 1]]"];
const CAUSE_UNSEEN: &[&str] =
    &["0: [:append :x 1]", "1: [:r :x [1]]", "1: [:append :y 1]", "2: [:r :y [1]]", "2: [:r :x []]"];
const EARLY_READ: &[&str] = &["0: [:r :x [1]]", "0: [:append :x 1]"];

/// For each model, a history that violates it.
const BROKEN: &[(&str, &[&str])] = &[
    ("strict-serializable", LOST_OWN_WRITE),
    ("strong-snapshot-isolation", LOST_OWN_WRITE),
    ("strong-read-committed", EARLY_READ),
    ("strong-read-uncommitted", WRITTEN_BACK),
    ("strong-session-serializable", LOST_OWN_WRITE),
    ("strong-session-snapshot-isolation", LOST_OWN_WRITE),
    ("strong-session-read-committed", EARLY_READ),
    ("strong-session-read-uncommitted", WRITTEN_BACK),
    ("session-serializable", LOST_OWN_WRITE),
    ("serializable", READ_SKEW),
    ("update-serializable", READ_SKEW),
    ("snapshot-isolation", READ_SKEW),
    ("repeatable-read", READ_SKEW),
    ("forward-consistent-view", READ_SKEW),
    ("consistent-view", READ_SKEW),
    ("parallel-snapshot-isolation", READ_SKEW),
    ("prefix", READ_SKEW),
    ("causal-cerone", READ_SKEW),
    ("update-atomic", LOST_UPDATE),
    ("read-atomic", READ_SKEW),
    ("cursor-stability", LOST_UPDATE),
    ("monotonic-view", READ_SKEW),
    ("monotonic-snapshot-read", READ_SKEW),
    ("monotonic-atomic-view", READ_SKEW),
    ("read-committed", ABORTED_READ),
    ("read-uncommitted", WRITE_CYCLE),
    ("view-serializable", READ_SKEW),
    ("1SR", READ_SKEW),
    ("linearizable", LOST_OWN_WRITE),
    ("sequential", LOST_OWN_WRITE),
    ("causal", CAUSE_UNSEEN),
    ("PRAM", LOST_OWN_WRITE),
    ("writes-follow-reads", CAUSE_UNSEEN),
    ("monotonic-reads", READ_BACK),
    ("monotonic-writes", WRITTEN_BACK),
    ("read-your-writes", LOST_OWN_WRITE),
];

#[test]
fn no_broken_model_is_said_to_hold() {
    let named: BTreeSet<&str> = BROKEN.iter().map(|(model, _)| *model).collect();
    assert_eq!(named, ModelSet::ALL.iter().map(Model::name).collect());
    for (name, txns) in BROKEN {
        let model = name.parse::<Model>().unwrap();
        let report = judge(&history(txns, true), name);
        assert_ne!(report.verdict, Verdict::Valid, "{name}: {report:#?}");
        assert!(!model.is_decided() || report.verdict == Verdict::Invalid, "{name} is decided: {report:#?}");
        if !model.is_decided() {
            // Without invocations there is no real-time order.
            assert_ne!(judge(&history(txns, false), name).verdict, Verdict::Valid, "{name} by completions");
        }
    }
}

#[test]
fn every_model_holds_of_a_serial_history() {
    let serial = history(&["0: [:append :x 1]", "1: [:r :x [1]] [:append :x 2]", "0: [:r :x [1 2]]"], true);
    for model in ModelSet::ALL.iter() {
        let report = judge(&serial, model.name());
        assert_eq!((report.verdict, report.notes.len()), (Verdict::Valid, 0), "{model}: {report:#?}");
    }
    assert_eq!(judge(&serial, "strict-serializable").not_checked, [""; 0]);
}

#[test]
fn the_table_and_the_oracle_agree_on_what_is_decided() {
    for model in ModelSet::ALL.iter() {
        assert_eq!(model.is_decided(), standing::is_decided(model.name()), "{model}");
        assert!(!model.decision().is_empty() && !model.decision().ends_with('.'), "{model}: a clause");
        let unsearched = model.forbids().any(|anomaly| NOT_SEARCHED.contains(anomaly));
        // These models forbid the anomaly under another name as well, or the anomaly needs predicates.
        let by_other_names = ["snapshot-isolation", "serializable", "consistent-view"].contains(&model.name());
        assert!(!(model.is_decided() && unsearched) || by_other_names, "{model}");
    }
    assert!(Model::STRICT_SERIALIZABLE.is_decided(), "it implies all others");
}

#[test]
fn a_note_says_why_it_is_unknown_and_what_to_ask_for() {
    let report = judge(&history(READ_SKEW, true), "read-atomic");
    assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Unknown, 0));
    assert_eq!(report.not, [""; 0]);
    assert_eq!(
        report.notes,
        [
            "Whether read-atomic holds is unknown: with --exact no, no commit order is looked for, which would decide it. \
         If snapshot-isolation held, it would hold too, but the history shows G-single-item (at index 1, 3). The nearest \
         levels that it decides: snapshot-isolation (stronger), read-committed (weaker)."
        ]
    );
    let exactly = check(&history(READ_SKEW, true), &Question::of_lists(&["read-atomic"]), Exact::Limited);
    assert_eq!((exactly.verdict, exactly.notes.len()), (Verdict::Invalid, 0), "{exactly:#?}");
    assert_eq!(exactly.anomaly_types().collect::<Vec<_>>(), ["G-single-item"]);
    assert_eq!(exactly.not, ["consistent-view", "read-atomic", "repeatable-read"]);
    let because = |txns: &[&str]| {
        let report = judge(&history(txns, false), "read-your-writes");
        let (lead, why) =
            report.notes[0].split_once("If strict-serializable held, it would hold too, but ").expect("a reason");
        assert_eq!(
            (lead, report.notes.len()),
            (
                "Whether read-your-writes holds is unknown: list-append does not decide it, because it is about \
                 single objects and sessions, and these checkers search for cycles of transactions. ",
                1
            )
        );
        why.to_owned()
    };
    let end = "The nearest levels that it decides: strict-serializable (stronger).";
    let shown = format!("the history shows G-single-item-process (at index 0, 1). {end}");
    assert_eq!(because(LOST_OWN_WRITE), shown, "of completions only processes are all that is known of time");
    let unknown = format!("the invocation of the op at index 0 is unknown. {end}");
    assert_eq!(because(&["0: [:append :x 1]", "0: [:r :x [1]]"]), unknown);
    // The appends of 1 and 2 to z were never read; either order of the two would turn each cycle into one with a single
    // rw edge.
    let fork = [
        "0: [:append :x 1] [:append :z 1]",
        "1: [:append :y 1] [:append :z 2]",
        "2: [:r :x [1]] [:r :y []]",
        "3: [:r :y [1]] [:r :x []]",
    ];
    let report = judge(&history(&fork, true), "monotonic-view");
    assert_eq!(report.verdict, Verdict::Unknown);
    assert_eq!(
        report.notes,
        ["Whether monotonic-view holds is unknown: list-append does not decide it, because G-monotonic is not \
            searched for: it needs the order of the reads within a transaction. If consistent-view held, it would \
            hold too, but the order of the appends to key :z that were never read is unknown. The nearest levels that \
            it decides: consistent-view (stronger), read-committed (weaker)."]
    );
}

#[test]
fn what_is_known_is_told_apart_from_what_nobody_looked_for() {
    let report = judge(&history(READ_SKEW, true), "read-committed");
    assert_eq!(report.verdict, Verdict::Valid);
    let not_checked: Vec<&str> = report.not_checked.iter().map(AsRef::as_ref).collect();
    assert!(["read-atomic", "serializable", "linearizable"].iter().all(|model| not_checked.contains(model)));
    assert!(!not_checked.contains(&"read-committed") && !not_checked.contains(&"read-uncommitted"));
}

/// With process edges the graph has no realtime edges.
#[test]
fn real_time_is_not_looked_at_beside_processes() {
    let serial = history(&["0: [:append :x 1]", "1: [:r :x [1]]"], true);
    let report = checker(&serial, &Question::of_lists(&["strong-session-serializable", "linearizable"]));
    assert_eq!(report.verdict, Verdict::Unknown);
    let why = "strict-serializable held, it would hold too, but real time was not checked, because the order of processes was requested";
    assert!(report.notes[0].contains(why), "{:?}", report.notes);
    assert_eq!(judge(&serial, "linearizable").verdict, Verdict::Valid);
}

/// Where garbage reads are allowed, the violations that they hide are unknown.
#[test]
fn what_was_read_and_not_written_is_of_no_undecided_model() {
    let garbage = history(&["0: [:append :x 1]", "1: [:r :x [1]]", "1: [:r :x [1 7]]"], true);
    assert_eq!(judge(&garbage, "read-atomic").verdict, Verdict::Invalid);
    let allowed = Question { allow_garbage: true, ..Question::of_lists(&["read-atomic"]) };
    let report = checker(&garbage, &allowed);
    assert_eq!(report.verdict, Verdict::Unknown);
    let is_why = |note: &String| note.contains("but a transaction read a value that was never written");
    assert!(report.notes.iter().any(is_why), "{:?}", report.notes);
}

/// T3 reads a part of the writes of T1 and a part of the writes of T2. No source orders the two writes of x.
#[test]
fn registers_in_no_known_order_prove_nothing() {
    let text = "
        {:process 0, :type :invoke, :f :txn, :value [[:w :x 1] [:w :y 1]]}
        {:process 1, :type :invoke, :f :txn, :value [[:w :x 2] [:w :y 2]]}
        {:process 2, :type :invoke, :f :txn, :value [[:r :x nil] [:r :y nil]]}
        {:process 0, :type :ok, :f :txn, :value [[:w :x 1] [:w :y 1]]}
        {:process 1, :type :ok, :f :txn, :value [[:w :x 2] [:w :y 2]]}
        {:process 2, :type :ok, :f :txn, :value [[:r :x 1] [:r :y 2]]}";
    let history = History::parse(text).unwrap();
    let report = checker(&history, &Question::of_registers(&["read-atomic"], Sources::default()));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(
        report.notes.iter().any(|note| note.contains("the version order of key :x is unknown")),
        "{:?}",
        report.notes
    );
    let order = Sources { transaction_order: Some(&[3, 5, 4]), ..Sources::default() };
    let report = checker(&history, &Question::of_registers(&["read-atomic"], order));
    assert!(report.notes.iter().any(|note| note.contains("but the history shows G-single-item")), "{:?}", report.notes);
}

/// Returns true if a report neither rules a model out nor lists it as not checked.
fn claims(report: &Report, model: &str) -> bool {
    report.not.iter().chain(&report.also_not).chain(&report.not_checked).all(|other| other != model)
}

/// A read of a transaction misses the transaction's own write. Elle's table allows that below read atomic; the axioms
/// allow it at no level that has an axiom.
#[test]
fn no_level_with_an_axiom_is_said_to_hold_of_a_transaction_that_contradicts_itself() {
    let lists = "
        {:process 0, :type :ok, :f :txn, :value [[:append :x 1] [:r :x []]]}
        {:process 1, :type :ok, :f :txn, :value [[:r :x [1]]]}";
    let registers = lists.replace("append", "w").replace("[]]", "nil]").replace("[1]", "1");
    let all = [(lists, Workload::ListAppend), (&registers, Workload::RwRegister(Sources::default()))];
    for (text, workload) in all {
        let history = History::parse(text).unwrap();
        let judge = |model: &str, exact: Exact| {
            check(&history, &Question { models: &[model], workload, ..Question::default() }, exact)
        };
        for model in ["repeatable-read", "consistent-view", "monotonic-atomic-view"] {
            let report = judge(model, Exact::No);
            assert_eq!((report.verdict, report.notes.is_empty()), (Verdict::Unknown, false), "{model}: {report:#?}");
            let report = judge(model, Exact::Limited);
            assert_eq!(report.verdict, Verdict::Invalid, "{model}: {report:#?}");
            assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["internal"], "{model}");
            for (asked, exact) in [("read-committed", Exact::No), ("read-committed", Exact::Limited)] {
                let report = judge(asked, exact);
                assert_eq!(report.verdict, Verdict::Valid);
                assert!(!claims(&report, model), "{asked} claims {model}: {report:#?}");
            }
            assert!(!claims(&judge("strict-serializable", Exact::Limited), model));
        }
        let report = judge("repeatable-read", Exact::No);
        let why = "Whether repeatable-read holds is unknown: a read contradicts what its transaction read or wrote \
                   before, and possible orders were not searched.";
        assert!(report.notes.iter().any(|note| note == why), "{:?}", report.notes);
    }
}

/// At read committed, a read after a write of its own transaction may show a write of another transaction: the reader
/// then depends on that transaction.
#[test]
fn a_transaction_that_contradicts_itself_may_be_read_committed() {
    let workload = Workload::RwRegister(Sources::default());
    let stale = "
        {:process 0, :type :invoke, :f :txn, :value [[:w :x 1]]}
        {:process 0, :type :ok, :f :txn, :value [[:w :x 1]]}
        {:process 0, :type :invoke, :f :txn, :value [[:w :x 2] [:r :x nil]]}
        {:process 0, :type :ok, :f :txn, :value [[:w :x 2] [:r :x 1]]}
        {:process 1, :type :invoke, :f :txn, :value [[:r :x nil]]}
        {:process 1, :type :ok, :f :txn, :value [[:r :x 1]]}";
    let cyclic = "
        {:process 0, :type :invoke, :f :txn, :value [[:w :x 1] [:w :y 1] [:r :y nil]]}
        {:process 1, :type :invoke, :f :txn, :value [[:w :y 2] [:r :x nil]]}
        {:process 0, :type :ok, :f :txn, :value [[:w :x 1] [:w :y 1] [:r :y 2]]}
        {:process 1, :type :ok, :f :txn, :value [[:w :y 2] [:r :x 1]]}";
    for model in ["read-committed", "strong-session-read-committed", "strong-read-committed"] {
        let cases = [(stale, Verdict::Valid, &[][..]), (cyclic, Verdict::Invalid, &["G1c"])];
        for (text, verdict, types) in cases {
            let history = History::parse(text).unwrap();
            let question = Question { models: &[model], workload, ..Question::default() };
            let report = check(&history, &question, Exact::Limited);
            assert_eq!(report.verdict, verdict, "{model}: {report:#?}");
            assert_eq!(report.anomaly_types().collect::<Vec<_>>(), types, "{model}");
            assert_eq!(check(&history, &question, Exact::No).verdict, Verdict::Unknown, "{model}");
            for witness in report.anomalies.iter().flat_map(|anomaly| &anomaly.witnesses) {
                certified(&history, &question, "G1c", witness).expect("it proves the anomaly");
            }
        }
    }
    // A stronger level that only this check can decide.
    let question = Question { models: &["cursor-stability"], workload, ..Question::default() };
    assert_eq!(check(&History::parse(cyclic).unwrap(), &question, Exact::Limited).verdict, Verdict::Invalid);
}

/// A second read of a register in a transaction may close a cycle that the graph does not have.
#[test]
fn no_level_that_follows_reads_is_said_to_hold_where_a_later_read_may_hide_a_cycle() {
    let text = "
        {:process 0, :type :invoke, :f :txn, :value [[:w :x 1] [:r :y nil] [:r :y nil]]}
        {:process 1, :type :invoke, :f :txn, :value [[:r :x nil] [:w :y 1]]}
        {:process 1, :type :ok, :f :txn, :value [[:r :x 1] [:w :y 1]]}
        {:process 0, :type :ok, :f :txn, :value [[:w :x 1] [:r :y nil] [:r :y 1]]}";
    let history = History::parse(text).unwrap();
    let judge = |model: &str, exact: Exact| {
        let workload = Workload::RwRegister(Sources::default());
        check(&history, &Question { models: &[model], workload, ..Question::default() }, exact)
    };
    assert_eq!(judge("read-committed", Exact::Limited).verdict, Verdict::Invalid, "each transaction saw the other");
    assert_eq!(judge("read-committed", Exact::No).verdict, Verdict::Unknown);
    for exact in [Exact::No, Exact::Limited] {
        let report = judge("snapshot-isolation", exact);
        assert_eq!(report.verdict, Verdict::Invalid);
        assert!(!claims(&report, "read-committed") && claims(&report, "read-uncommitted"), "{report:#?}");
    }
    // The same while the history is being written.
    for model in ["read-committed", "strong-session-read-committed"] {
        let options = Options::new().with("consistency-models", model);
        let mut run = RwRegister::default().start_online(&options).unwrap();
        let nobody = "{:process :nemesis, :type :info, :f :nothing}\n".repeat(100_001);
        let mut reader = Reader::new(nobody.as_bytes().chain(text.as_bytes()));
        reader.for_each(|op| run.observe(op)).unwrap();
        assert_eq!(run.finish(&Budget::default()).unwrap().verdict, Verdict::Unknown, "{model}");
    }
}

/// One anomalous read rules out every level with an axiom, so it decides no level that has no axiom and forbids no
/// anomaly.
#[test]
fn a_list_that_nobody_left_behind_has_no_commit_order() {
    let cases = [("G1a", "fail", "[1 2]"), ("duplicate-elements", "ok", "[1 2 1]")];
    for (anomaly, end, list) in cases {
        let text = format!(
            "{{:process 0, :type :invoke, :f :txn, :value [[:append :x 1]]}}
            {{:process 0, :type :{end}, :f :txn, :value [[:append :x 1]]}}
            {{:process 1, :type :invoke, :f :txn, :value [[:append :x 2]]}}
            {{:process 1, :type :ok, :f :txn, :value [[:append :x 2]]}}
            {{:process 2, :type :invoke, :f :txn, :value [[:r :x nil]]}}
            {{:process 2, :type :ok, :f :txn, :value [[:r :x {list}]]}}"
        );
        let history = History::parse(&text).unwrap();
        for model in ["view-serializable", "1SR", "session-serializable", "linearizable", "PRAM"] {
            for exact in [Exact::No, Exact::Limited, Exact::Full] {
                let report = check(&history, &Question::of_lists(&[model]), exact);
                assert_eq!(report.verdict, Verdict::Unknown, "{anomaly}, {model}: {report:#?}");
                assert!(!claims(&report, "serializable") && !claims(&report, "read-committed"), "{report:#?}");
            }
        }
        let report = check(&history, &Question::of_lists(&["read-committed"]), Exact::Limited);
        assert!(
            report.verdict == Verdict::Invalid && report.anomaly_types().any(|name| name == anomaly),
            "{report:#?}"
        );
    }
}

/// T3 reads x from T1 and y from T2, and T4 the other way around: no order explains that, but no version order is
/// known, so there is no cycle.
#[test]
fn a_level_that_was_not_asked_for_is_not_said_to_hold_because_registers_show_no_cycle() {
    let history = History::parse(
        "
        {:process 0, :type :ok, :f :txn, :value [[:w :x 1] [:w :y 1]]}
        {:process 1, :type :ok, :f :txn, :value [[:w :x 2] [:w :y 2]]}
        {:process 2, :type :ok, :f :txn, :value [[:r :x 1] [:r :y 2]]}
        {:process 3, :type :ok, :f :txn, :value [[:r :x 2] [:r :y 1]]}",
    )
    .unwrap();
    let judge =
        |model: &str, exact: Exact| check(&history, &Question::of_registers(&[model], Sources::default()), exact);
    assert_eq!(judge("serializable", Exact::Limited).verdict, Verdict::Invalid);
    for exact in [Exact::No, Exact::Limited] {
        let report = judge("read-committed", exact);
        assert_eq!(report.verdict, Verdict::Valid);
        assert!(!claims(&report, "serializable") && !claims(&report, "snapshot-isolation"), "{report:#?}");
        assert!(claims(&report, "read-committed") && claims(&report, "read-uncommitted"), "{report:#?}");
    }
    // If the level was requested, the absence of a cycle is its verdict.
    let report = judge("serializable", Exact::No);
    assert!(report.verdict == Verdict::Valid && claims(&report, "serializable"), "{report:#?}");
}

#[test]
fn an_anomaly_that_is_not_searched_for_is_absent_only_if_a_model_says_so() {
    let asked = |txns: &[&str], anomaly: &str| {
        let question = Question { anomalies: &[anomaly], models: &["read-uncommitted"], ..Question::default() };
        checker(&history(txns, true), &question)
    };
    for anomaly in NOT_SEARCHED.iter().map(AnomalyType::name) {
        let report = asked(READ_SKEW, anomaly);
        // Read skew counts as these anomalies.
        let is_counted = ["GSIb", "GSI"].contains(&anomaly);
        let verdict = if is_counted { Verdict::Invalid } else { Verdict::Unknown };
        assert_eq!(report.verdict, verdict, "{anomaly}: {:?}", report.notes);
    }
    assert_eq!(asked(&["0: [:append :x 1]", "1: [:r :x [1]]"], "G-cursor").verdict, Verdict::Valid);
}

#[test]
fn what_holds_is_not_ruled_out_below() {
    let (mut known, mut judged) = (0, 0);
    for number in 0..400 {
        let history = History::parse(&text::edn(&messy::history(&mut Choices::Random(number)))).expect("a history");
        let Ok(world) = World::of(&history, &Question::default().workload) else { continue };
        // Otherwise there is no real-time order that the processes could violate.
        if world.txns.iter().any(|txn| txn.invoked.is_none() || txn.process.is_none()) {
            continue;
        }
        let verdicts: Vec<(Model, Verdict)> =
            ModelSet::ALL.iter().map(|model| (model, judge(&history, model.name()).verdict)).collect();
        judged += 1;
        for (strong, _) in verdicts.iter().filter(|(_, verdict)| *verdict == Verdict::Valid) {
            for (weak, verdict) in verdicts.iter().filter(|(weak, _)| strong.weaker().contains(*weak)) {
                assert_ne!(*verdict, Verdict::Invalid, "{strong} holds, {weak} does not: history {number}");
                known += 1;
            }
        }
    }
    assert!(judged > 50 && known > 200, "{judged} histories, {known} pairs");
}
