//! Tests with histories as text: the meaning of operations, and the content of reports.

use crate::worlds::Random;
use check_isolation::{Isolation, Level};
use history_core::{Checker, Datum, History, Report, Verdict};

fn judge(text: &str, levels: &[&str]) -> Report {
    let consistency_models = levels.iter().map(|level| level.parse().unwrap()).collect();
    let checker = Isolation { consistency_models, ..Isolation::default() };
    let history = History::parse(text).unwrap();
    let report = checker.check(&history).unwrap();
    certify(&history, &report);
    certify(&history, &Isolation { explain_valid: true, ..checker }.check(&history).unwrap());
    report
}

/// Certifies all evidence of a report: refutations of levels, and each order that explains one.
fn certify(history: &History, report: &Report) {
    for anomaly in &report.anomalies {
        for witness in &anomaly.witnesses {
            let proof = elle_certify::isolation(history, &Datum::Nil, &anomaly.name, witness);
            proof.unwrap_or_else(|why| panic!("{}: {why}\n{witness:#?}", anomaly.name));
        }
    }
    for artifact in &report.artifacts {
        let Some(level) = artifact.path.strip_suffix("-order.txt") else { continue };
        if level.parse::<Level>().is_err() {
            continue;
        }
        let order = std::str::from_utf8(&artifact.content).unwrap();
        let proof = elle_certify::commit_order(history, &Datum::Nil, level, order);
        proof.unwrap_or_else(|why| panic!("{level}: {why}\n{order}"));
    }
}

/// The report on a history with ops that cannot be decoded. Evidence is certified without these.
fn judge_partial(txns: &[&str], level: &str) -> Report {
    let checker = Isolation { consistency_models: vec![level.parse().unwrap()], ..Isolation::default() };
    let report = checker.check(&History::parse(&completions(txns)).unwrap()).unwrap();
    let is_whole = |txn: &str| !["frobnicate", "hidden", " 7", "[:w x nil]"].iter().any(|bad| txn.contains(bad));
    let others: Vec<&str> = txns.iter().map(|txn| if is_whole(txn) { txn } else { "9 ok " }).collect();
    certify(&History::parse(&completions(&others)).unwrap(), &report);
    report
}

fn verdict(text: &str, level: &str) -> Verdict {
    judge(text, &[level]).verdict
}

/// Transactions one after another, completions only: `process type micro-ops`.
fn completions(txns: &[&str]) -> String {
    let line = |txn: &&str| {
        let mut parts = txn.splitn(3, ' ');
        let (process, kind, mops) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        format!("{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}\n")
    };
    txns.iter().map(line).collect()
}

/// A write skew on versions that were written, instead of initial ones: the order of versions is derived.
#[test]
fn a_write_skew_is_one_cycle_with_two_rw_reported_once() {
    let text = completions(&["0 ok [:w 1 1] [:w 2 1]", "1 ok [:r 1 1] [:w 2 2]", "2 ok [:r 2 1] [:w 1 2]"]);
    let report = judge(&text, &[]);
    assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Invalid, 1));
    assert_eq!((&*report.anomalies[0].name, report.anomalies[0].count), ("G2-item", 1));
    let witness = &report.anomalies[0].witnesses[0];
    assert_eq!(witness.steps.iter().map(|step| &*step.relation).collect::<Vec<_>>(), ["rw", "rw"]);
    assert!(witness.facts.contains(&("base".into(), Datum::keyword("none"))), "the weakest level: {:?}", witness.facts);
}

#[test]
fn each_direct_anomaly_rules_out_read_committed() {
    for (name, txns) in [
        ("G1a", vec!["0 fail [:w x 1]", "1 ok [:r x 1]"]),
        ("G1b", vec!["0 ok [:w x 1] [:w x 2]", "1 ok [:r x 1]"]),
        ("G1b", vec!["1 ok [:r x 1]", "0 info [:w x 1] [:w x 2]"]),
        ("thin-air-read", vec!["0 ok [:w x 1]", "1 ok [:r x 7]"]),
        ("future-read", vec!["0 ok [:r x 1] [:w x 1]"]),
        ("internal", vec!["0 ok [:w x 1] [:r x nil]"]),
        ("internal", vec!["1 ok [:w x 2]", "0 ok [:w x 1] [:r x 2]"]),
        ("G1a", vec!["0 fail [:append x 1]", "1 ok [:r x [1]]"]),
        ("G1b", vec!["0 ok [:append x 1] [:append x 2]", "1 ok [:r x [1]]", "2 ok [:r x [1 2]]"]),
        ("G0", vec!["0 ok [:append x 1] [:append x 2]", "1 ok [:append x 3]", "2 ok [:r x [1 3 2]]"]),
        ("thin-air-read", vec!["0 ok [:append x 1]", "1 ok [:r x [1 7]]"]),
        ("future-read", vec!["0 ok [:r x [1]] [:append x 1]"]),
        ("future-read", vec!["0 ok [:r x [2]] [:append x 1] [:append x 2]"]),
        ("future-read", vec!["0 ok [:append x 1] [:r x [2 1]] [:append x 2]"]),
        ("G0", vec!["0 ok [:append x 1] [:append x 2]", "1 ok [:r x [2 1]]"]),
        ("internal", vec!["0 ok [:append x 1] [:r x []]"]),
        (
            "incompatible-order",
            vec!["0 ok [:append x 1]", "1 ok [:append x 2]", "2 ok [:r x [1 2]]", "3 ok [:r x [2 1]]"],
        ),
        ("duplicate-elements", vec!["0 ok [:append x 1]", "1 ok [:r x [1 1]]"]),
    ] {
        let report = judge(&completions(&txns), &["read-committed"]);
        let names: Vec<&str> = report.anomaly_types().collect();
        assert_eq!((report.verdict, &names[..]), (Verdict::Invalid, &[name][..]), "{txns:?}: {report:#?}");
        assert_eq!(report.not, ["read-committed"]);
        assert!(report.anomalies[0].witnesses[0].explanation.contains("T1 read"), "{report:#?}");
    }
}

#[test]
fn an_own_read_of_the_last_own_write_says_nothing_more() {
    let text = completions(&["0 ok [:w x 1] [:w x 2] [:r x 2]", "1 ok [:r x 2]"]);
    assert_eq!(verdict(&text, "strict-serializable"), Verdict::Valid);
    let lists =
        completions(&["0 ok [:append x 1]", "1 ok [:append x 2] [:r x [1 2]] [:append x 3]", "0 ok [:r x [1 2 3]]"]);
    assert_eq!(verdict(&lists, "strict-serializable"), Verdict::Valid);
}

#[test]
fn what_nobody_saw_of_an_unknown_end_did_not_happen() {
    let unseen = completions(&["0 info [:w x 1] [:w y 1]", "1 ok [:r x nil] [:r y nil]"]);
    assert_eq!(verdict(&unseen, "strict-serializable"), Verdict::Valid);
    // A transaction that was partly observed happened completely.
    let seen = completions(&["0 info [:w x 1] [:w y 1]", "1 ok [:r x 1] [:r y nil]"]);
    let report = judge(&seen, &["read-atomic"]);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["G-single-item"]);
}

#[test]
fn a_value_written_twice_and_read_is_unknown() {
    let twice = completions(&["0 ok [:w x 1]", "1 fail [:w x 1]", "2 ok [:r x 1]"]);
    let report = judge(&twice, &["read-committed"]);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("1 was written to key x twice, at index 0 and index 1"), "{:?}", report.notes);
    let unseen = completions(&["0 ok [:w x 1]", "1 ok [:w x 1]", "2 ok [:r x nil]"]);
    assert_eq!(verdict(&unseen, "serializable"), Verdict::Valid);
    assert_eq!(verdict(&completions(&["0 ok [:w x nil]"]), "read-committed"), Verdict::Unknown);
}

#[test]
fn the_first_state_comes_first() {
    let text = completions(&["0 ok [:w x 1]", "0 ok [:r x nil]"]);
    assert_eq!(verdict(&text, "serializable"), Verdict::Valid);
    let report = judge(&text, &["strong-session-serializable"]);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["G-single-item-process"]);
}

#[test]
fn without_levels_all_are_decided() {
    let text = completions(&["0 ok [:r x nil] [:w y 1]", "1 ok [:r y nil] [:w x 1]"]);
    let report = judge(&text, &[]);
    assert_eq!(report.verdict, Verdict::Invalid);
    assert_eq!(report.not, ["repeatable-read"]);
    assert!(report.also_not.contains(&"serializable".into()), "{report:#?}");
    let note = "The strongest levels that hold: strong-snapshot-isolation. The weakest that do not: repeatable-read.";
    assert!(report.notes.contains(&note.to_owned()), "{:?}", report.notes);
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["G2-item"]);
    let explanation = &report.anomalies[0].witnesses[0].explanation;
    assert!(explanation.contains("T1 read nil in key x, before T2 wrote 1"), "{explanation}");
}

#[test]
fn unread_appends_take_a_choice_at_snapshot_isolation() {
    let text = "
        {:process 1, :type :invoke, :value [[:r x nil] [:append y 1]]}
        {:process 0, :type :invoke, :value [[:append y 2]]}
        {:process 0, :type :ok, :value [[:append y 2]]}
        {:process 0, :type :invoke, :value [[:r y nil] [:append y 3] [:append x 1]]}
        {:process 0, :type :ok, :value [[:r y []] [:append y 3] [:append x 1]]}
        {:process 1, :type :ok, :value [[:r x []] [:append y 1]]}";
    assert_eq!(verdict(text, "snapshot-isolation"), Verdict::Invalid);
    assert_eq!(verdict(text, "prefix"), Verdict::Valid);
}

#[test]
fn an_overwritten_append_is_not_seen_for_that() {
    // Both appended to the list without reading the other's element: a lost update, which prefix permits.
    let lost = completions(&["0 ok [:r x []] [:append x 1]", "0 ok [:r x [1]]", "1 ok [:r x []] [:append x 3]"]);
    assert_eq!(verdict(&lost, "strong-session-prefix"), Verdict::Valid);
    assert_eq!(verdict(&lost, "strong-session-causal-cerone"), Verdict::Valid);
    let report = judge(&lost, &["parallel-snapshot-isolation"]);
    // Not a G0, because that would rule out read committed.
    assert_eq!((report.verdict, report.anomaly_types().collect()), (Verdict::Invalid, vec!["no-commit-order"]));
}

#[test]
fn an_element_that_was_appended_twice_and_that_only_its_own_transaction_saw_is_that_of_the_reader() {
    let text = completions(&["0 ok [:append y 1]", "1 ok [:append y 1] [:r y [1]]"]);
    for level in ["serializable", "snapshot-isolation", "causal-cerone", "read-committed"] {
        assert_eq!(verdict(&text, level), Verdict::Valid, "{level}");
    }
    // An append with an unknown outcome is not assumed to have happened because of that.
    let other = completions(&["0 info [:append y 1] [:append x 1]", "1 ok [:append y 1] [:r y [1]] [:r x []]"]);
    assert_eq!(verdict(&other, "strict-serializable"), Verdict::Valid);
    let seen = completions(&["0 ok [:append y 1]", "1 ok [:append y 1] [:r y [1]]", "2 ok [:r y [1]]"]);
    assert_eq!(verdict(&seen, "read-committed"), Verdict::Unknown);
    // The other transaction appended after it, as if the values were distinct; but it was read first.
    for (mine, list) in [("[:append y 5]", "[5]"), ("[:append y 5] [:append y 5]", "[5 5]"), ("[:append y 7]", "[7]")] {
        let reader = format!("1 ok {mine} [:r y {list}] [:r x [1]]");
        let text = completions(&["0 ok [:append y 5] [:append x 1]", &reader]);
        for level in ["read-committed", "monotonic-atomic-view", "serializable"] {
            assert_eq!(verdict(&text, level), Verdict::Invalid, "{level}: {mine}");
        }
    }
    // Each read a list without the other's append.
    let both = completions(&["0 ok [:append y 1] [:r y [1]]", "1 ok [:append y 1] [:r y [1]]"]);
    assert_eq!(verdict(&both, "read-committed"), Verdict::Unknown);
    let distinct = completions(&["0 ok [:append y 1] [:r y [1]]", "1 ok [:append y 2] [:r y [2]]"]);
    assert_eq!(verdict(&distinct, "read-committed"), Verdict::Invalid);
}

#[test]
fn levels_without_an_axiom_take_the_answers_around_them() {
    let good = completions(&["0 ok [:w x 1]", "1 ok [:r x 1]"]);
    assert_eq!(verdict(&good, "update-serializable"), Verdict::Valid);
    let skew = completions(&["0 ok [:r x nil] [:w y 1]", "1 ok [:r y nil] [:w x 1]"]);
    let report = judge(&skew, &["linearizable"]);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes.iter().any(|note| note.contains("linearizable is not decided: ")), "{:?}", report.notes);
    let dirty = completions(&["0 fail [:w x 1]", "1 ok [:r x 1]"]);
    assert_eq!(verdict(&dirty, "cursor-stability"), Verdict::Invalid);
}

#[test]
fn orders_that_explain_are_reported_if_asked_for() {
    let text = completions(&["0 ok [:w x 1]", "1 ok [:r x nil]"]);
    let levels = vec!["serializable".parse().unwrap(), "snapshot-isolation".parse().unwrap()];
    let checker = Isolation { consistency_models: levels, explain_valid: true, ..Isolation::default() };
    let report = checker.check(&History::parse(&text).unwrap()).unwrap();
    assert!(report.notes.contains(&"serializable holds in this order, by indices of ops: 1, 0.".into()), "{report:#?}");
    assert_eq!(report.artifacts[0].path, "serializable-order.txt");
    assert_eq!(report.artifacts[0].content, b"1\n0");
}

#[test]
fn both_lists_that_contradict_each_other_are_shown_whole() {
    let text = completions(&[
        "0 ok [:append x 1] [:append x 2]",
        "1 ok [:append x 3]",
        "2 ok [:r x [1 2 3]]",
        "3 ok [:r x [1 3 2]]",
    ]);
    let report = judge(&text, &["read-committed"]);
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["incompatible-order"]);
    let witness = &report.anomalies[0].witnesses[0];
    let ops: Vec<(u64, String)> = witness.ops.iter().map(|op| (op.index, op.value.to_string())).collect();
    assert_eq!(ops, [(3, "[[:r x [1 3 2]]]".into()), (2, "[[:r x [1 2 3]]]".into())]);
    // Both reads in one transaction.
    let one = completions(&["0 ok [:append x 1]", "1 ok [:append x 2]", "2 ok [:r x [1 2]] [:r x [2]]"]);
    let report = judge(&one, &["read-committed"]);
    assert!(report.anomalies[0].witnesses[0].explanation.contains("it also read a list of key x"), "{report:#?}");
}

#[test]
fn what_is_wrong_without_an_op_that_is_none_is_wrong_with_it() {
    let bad = "3 ok [:frobnicate x 1]";
    for (name, txns) in [
        ("G1a", vec!["0 fail [:w x 1]", "1 ok [:r x 1]"]),
        ("G1b", vec!["0 ok [:w x 1] [:w x 2]", "1 ok [:r x 1]"]),
        ("internal", vec!["0 ok [:w x 1] [:r x nil]"]),
        ("future-read", vec!["0 ok [:r x 1] [:w x 1]"]),
        ("G1c", vec!["0 ok [:w x 1] [:r y 2]", "1 ok [:w y 2] [:r x 1]"]),
        ("G1a", vec!["0 fail [:append x 1]", "1 ok [:r x [1]]"]),
        ("G0", vec!["0 ok [:append x 1] [:append x 2]", "1 ok [:append x 3]", "2 ok [:r x [1 3 2]]"]),
    ] {
        for at in 0..=txns.len() {
            let mut all = txns.clone();
            all.insert(at, bad);
            let report = judge_partial(&all, "read-committed");
            assert_eq!(report.verdict, Verdict::Invalid, "{all:?}: {report:#?}");
            assert_eq!(report.anomaly_types().collect::<Vec<_>>(), [name], "{all:?}");
            assert!(
                report.notes[0].starts_with(&format!("The verdict ignores the op at index {at} ")),
                "{:?}",
                report.notes
            );
        }
    }
}

#[test]
fn what_an_op_that_is_none_may_have_done_is_not_held_against_others() {
    for txns in [
        // The op may have written this value, or nil again.
        vec!["0 ok [:r x 1]", "3 ok [:frobnicate x 1]"],
        vec!["0 ok [:w x 1]", "0 ok [:r x nil]", "3 ok [:w x nil]"],
        // The op wrote this value, too.
        vec!["0 fail [:w x 1]", "1 ok [:r x 1]", "3 ok [:w x 1] [:frobnicate x 1]"],
        // There is no fault at all.
        vec!["0 ok [:w x 1]", "1 ok [:r x 1]", "3 ok 7"],
        vec!["0 ok [:append x 1] [:append x 2]", "3 ok [:append x 3] 7", "2 ok [:r x [1 3 2]]"],
        vec!["0 ok [:append x 1]", "3 ok [:append x 2] 7", "2 ok [:r x [2 1]]", "1 ok [:append x 2]"],
        vec!["0 ok [:append x 1]", "0 ok [:r x []]", "3 ok 7"],
    ] {
        for level in ["read-committed", "strong-session-serializable"] {
            let report = judge_partial(&txns, level);
            assert_eq!(report.verdict, Verdict::Unknown, "{txns:?}: {report:#?}");
            assert!(report.notes[0].starts_with("No verdict, because of the op at index"), "{:?}", report.notes);
            assert!(report.not_checked.contains(&level.into()), "{report:#?}");
        }
    }
    // A completion whose writes differ from those of its invocation: both may have been written.
    let text = "
        {:process 0, :type :invoke, :value [[:w x 1]]}
        {:process 1, :type :invoke, :value [[:r x nil]]}
        {:process 2, :type :invoke, :value [[:w x 3]]}
        {:process 0, :type :ok, :value [[:w x 2]]}
        {:process 2, :type :ok, :value [[:w x 3]]}
        {:process 1, :type :ok, :value [[:r x 3] [:r x 1]]}";
    let report = Isolation::default().check(&History::parse(text).unwrap()).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown, "{report:#?}");
}

/// Omits a random op of which only the position is known: a violation in the rest is one of the whole history, too.
#[test]
fn a_history_of_which_an_op_is_hidden_has_no_violation_more() {
    let mut random = Random(11);
    let mut found = 0;
    for _ in 0..3000 {
        let (n, keys) = (2 + random.below(4), 1 + random.below(2));
        let mut written = vec![0; keys];
        let mut txns: Vec<String> = Vec::new();
        let kinds = ["ok", "ok", "ok", "ok", "fail", "info"];
        for process in 0..n {
            let mut mops = Vec::new();
            for _ in 0..=random.below(2) {
                let key = random.below(keys);
                if random.below(2) == 0 {
                    written[key] += 1;
                    mops.push(format!("[:w {key} {}]", written[key]));
                } else {
                    let value = random.below(written[key] + 2);
                    mops.push(format!("[:r {key} {}]", if value == 0 { "nil".into() } else { value.to_string() }));
                }
            }
            let kind = kinds[random.below(kinds.len())];
            let process = if kind == "info" { 10 + process } else { process % 2 };
            txns.push(format!("{process} {kind} {}", mops.join(" ")));
        }
        let hidden = random.below(n);
        for level in ["read-committed", "strong-session-causal-cerone", "serializable"] {
            let borrowed: Vec<&str> = txns.iter().map(String::as_str).collect();
            let whole = verdict(&completions(&borrowed), level);
            let mut parts = txns[hidden].splitn(3, ' ');
            let bad = format!("{} {} [:hidden]", parts.next().unwrap(), parts.next().unwrap());
            let mut some = borrowed.clone();
            some[hidden] = &bad;
            let checker = Isolation { consistency_models: vec![level.parse().unwrap()], ..Isolation::default() };
            let partial = checker.check(&History::parse(&completions(&some)).unwrap()).unwrap().verdict;
            if bad.contains("fail") {
                // The op had no effect, whatever it is.
                assert_eq!(partial, whole, "{level}: {txns:?}, {hidden}");
                continue;
            }
            assert_ne!(partial, Verdict::Valid, "{txns:?}, {hidden}");
            assert!(partial != Verdict::Invalid || whole == Verdict::Invalid, "{level}: {txns:?}, {hidden}");
            found += usize::from(partial == Verdict::Invalid);
        }
    }
    assert!(found > 300, "{found}");
}

#[test]
fn what_keys_hold_may_become_known_late() {
    // Nil is the initial state of a register only if no other value is given.
    let nil = completions(&["0 ok [:r x nil]", "0 ok [:w x 1]"]);
    assert_eq!(verdict(&nil, "serializable"), Verdict::Valid);
    let zero = Isolation { initial: Datum::Int(0), ..Isolation::default() };
    let report = zero.check(&History::parse(&nil).unwrap()).unwrap();
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["thin-air-read"]);
    // An integer is not a list.
    let mixed = completions(&["0 ok [:r x 5] [:r x 6] [:r x 7]", "1 ok [:append x 1]", "2 ok [:r x [1]]"]);
    let report = judge(&mixed, &["read-committed"]);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(
        report.notes[0].contains("[:append x 1] appends to a list, but other ops, or --initial, are about registers"),
        "{:?}",
        report.notes
    );
}

#[test]
fn nothing_to_judge_is_unknown() {
    for text in ["[]", "{:process 0, :type :fail, :value [[:w x 1]]}", "{:process 0, :type :ok, :value []}"] {
        let report = judge(text, &["read-committed"]);
        assert_eq!(report.verdict, Verdict::Unknown, "{text}");
        assert!(report.notes[0].len() > 20, "{report:#?}");
    }
    let mixed = completions(&["0 ok [:w x 1]", "1 ok [:append y 1]"]);
    assert_eq!(verdict(&mixed, "read-committed"), Verdict::Unknown);
}
