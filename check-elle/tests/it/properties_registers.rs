//! Random histories of registers, larger than can be enumerated: the checker against the oracle, and laws that any
//! checker must obey.

use crate::oracle::against::{checker, compare};
use crate::oracle::choices::Choices;
use crate::oracle::messy::{Entry, Shown, Who, as_registers, history};
use crate::oracle::names::Names;
use crate::oracle::register_cases::CASES;
use crate::oracle::registers::Sources;
use crate::oracle::spoiled::{How, spoil};
use crate::oracle::{Question, Workload, canary, crowd, is_small, lattice, spoiled, text};
use check_elle::rw_register::RwRegister;
use elle_certify as certify;
use history_core::{Budget, Checker, History, Options, Reader, Report, Verdict};
use proptest::prelude::*;

/// Histories of a faulty store. Shrinking works on the numbers that choose the history.
fn histories() -> impl Strategy<Value = Vec<Entry>> {
    let numbers = prop::collection::vec(any::<u16>(), 0..400);
    numbers.prop_map(|numbers| as_registers(history(&mut Choices::Given(numbers.into_iter()))))
}

fn combinations() -> impl Strategy<Value = Sources<'static>> {
    prop::sample::select(Sources::combinations().collect::<Vec<_>>())
}

/// Some order of indices in the numbering of `text`; some indices name no transaction, and some name one twice.
fn orders() -> impl Strategy<Value = Option<Vec<u64>>> {
    prop::option::weighted(0.3, prop::sample::subsequence((0..60_u64).collect::<Vec<_>>(), 10..60).prop_shuffle())
}

fn models() -> impl Strategy<Value = Vec<&'static str>> {
    let models: Vec<&'static str> = lattice::models().into_iter().collect();
    let often = prop::sample::select(&["strict-serializable", "strong-session-serializable", "serializable"][..]);
    prop_oneof![often.prop_map(|model| vec![model]), prop::sample::subsequence(models, 0..=2)]
}

/// Usually none.
fn anomalies() -> impl Strategy<Value = Vec<&'static str>> {
    let anomalies: Vec<&'static str> = lattice::anomalies().into_iter().collect();
    prop_oneof![4 => Just(Vec::new()), 1 => prop::sample::subsequence(anomalies, 1..=2)]
}

const STRICT: &[&str] = &["strict-serializable"];
const ALL: Sources<'static> =
    Sources { wfr_keys: true, sequential_keys: true, linearizable_keys: true, transaction_order: None };

fn report(text: &str, sources: Sources<'_>) -> Report {
    let history = History::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    checker(&history, &Question::of_registers(STRICT, sources))
}

/// Removes witnesses, notes and artifacts from a report.
fn without_names(mut report: Report) -> Report {
    report.anomalies.iter_mut().for_each(|anomaly| anomaly.witnesses.clear());
    report.notes.clear();
    report.artifacts.clear();
    report
}

/// Returns the models that a report rules out.
fn ruled_out(report: &Report) -> Names {
    report.not.iter().chain(&report.also_not).map(|name| lattice::name(name)).collect()
}

/// Returns the history with other keys, values and processes at the same positions.
fn renamed(ops: &[Entry]) -> Vec<Entry> {
    let mut ops = ops.to_vec();
    for op in &mut ops {
        if let Who::Client(process) = &mut op.who {
            *process = 1000 - *process;
        }
        for mop in &mut op.mops {
            let key = 7 - mop.key();
            *mop = match mop {
                Shown::Write(_, value) => Shown::Write(key, 5000 - *value),
                Shown::Value(_, value) => Shown::Value(key, value.map(|value| 5000 - value)),
                Shown::Append(..) | Shown::Read(..) => unreachable!("these are registers"),
            };
        }
    }
    ops
}

/// A cycle rules out the levels that include process or realtime edges too, even if it has no such edge.
#[test]
fn a_cycle_without_processes_rules_out_what_sessions_see() {
    let text = "{:index 0, :type :ok, :process 0, :f :txn, :value [[:w 2 1] [:r 0 nil] [:w 0 2]]}
        {:index 1, :type :ok, :process 1, :f :txn, :value [[:r 0 nil] [:r 2 1]]}";
    let anomalies = &["PL-SS-cycle-exists", "strong-session-snapshot-isolation-cycle-exists"];
    let sources =
        Sources { wfr_keys: false, sequential_keys: false, linearizable_keys: false, transaction_order: None };
    let question = Question { models: &[], anomalies, ..Question::of_registers(&[], sources) };
    let report = checker(&History::parse(text).unwrap(), &question);
    assert_eq!(report.anomalies.iter().map(|found| &*found.name).collect::<Vec<_>>(), [anomalies[1]]);
    compare(text, &question, checker).unwrap();
}

/// The order is T2, T3, T1: T2 read the last write but one of T1, so T3 wrote the next version and T1 the one after
/// that.
#[test]
fn a_read_is_related_to_the_next_version_only() {
    let text = "{:index 0, :type :invoke, :process 0, :f :txn, :value [[:w 0 1] [:w 2 2]]}
        {:index 1, :type :invoke, :process 1, :f :txn, :value [[:w 0 4] [:w 0 5]]}
        {:index 2, :type :ok, :process 1, :f :txn, :value [[:w 0 4] [:w 0 5]]}
        {:index 3, :type :invoke, :process 1, :f :txn, :value [[:r 0 nil] [:w 2 7]]}
        {:index 4, :type :ok, :process 1, :f :txn, :value [[:r 0 4] [:w 2 7]]}
        {:index 5, :type :info, :process 0, :f :txn, :value [[:w 0 1] [:w 2 2]]}";
    let order = Sources {
        wfr_keys: false,
        sequential_keys: false,
        linearizable_keys: false,
        transaction_order: Some(&[4, 5, 2]),
    };
    let question = Question::of_registers(STRICT, order);
    let report = checker(&History::parse(text).unwrap(), &question);
    assert_eq!(report.anomalies.iter().map(|found| &*found.name).collect::<Vec<_>>(), ["G0-realtime", "G1b"]);
    compare(text, &question, checker).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_checker_agrees_with_the_oracle(
        ops in histories(),
        (models, anomalies) in (models(), anomalies()),
        (sources, order) in (combinations(), orders()),
    ) {
        let workload = Workload::RwRegister(Sources { transaction_order: order.as_deref(), ..sources });
        let question = Question { models: &models, anomalies: &anomalies, workload, ..Question::default() };
        if let Err(why) = compare(&text::edn(&ops), &question, checker) {
            return Err(TestCaseError::fail(why));
        }
    }

    #[test]
    fn spelling_does_not_matter(ops in histories(), sources in combinations()) {
        let plain = report(&text::edn(&ops), sources);
        prop_assert_eq!(&plain, &report(&text::odd_edn(&ops), sources));
        prop_assert_eq!(&plain, &report(&text::json(&ops), sources));
    }

    #[test]
    fn names_do_not_matter(ops in histories(), sources in combinations()) {
        let plain = report(&text::edn(&ops), sources);
        prop_assert_eq!(without_names(plain), without_names(report(&text::edn(&renamed(&ops)), sources)));
    }

    #[test]
    fn more_sources_rule_out_no_less(ops in histories(), (fewer, more) in (combinations(), combinations())) {
        let both = Sources {
            wfr_keys: fewer.wfr_keys || more.wfr_keys,
            sequential_keys: fewer.sequential_keys || more.sequential_keys,
            linearizable_keys: fewer.linearizable_keys || more.linearizable_keys,
            transaction_order: None,
        };
        let [few, many] = [fewer, both].map(|sources| report(&text::edn(&ops), sources));
        if few.verdict == Verdict::Invalid {
            prop_assert_eq!(many.verdict, Verdict::Invalid);
            prop_assert!(ruled_out(&few).is_subset(&ruled_out(&many)), "{few:#?} {many:#?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_prefix_is_judged(ops in histories(), sources in combinations()) {
        for end in 1..ops.len() {
            // Ops that were invoked but not completed by then are open.
            if let Err(why) = compare(&text::edn(&ops[..end]), &Question::of_registers(STRICT, sources), checker) {
                return Err(TestCaseError::fail(why));
            }
        }
    }

    #[test]
    fn a_stream_is_judged_like_a_whole(ops in histories(), sources in combinations(), order in orders()) {
        let text = text::edn(&ops);
        let flag = |on: bool| if on { "true" } else { "false" };
        let mut options = Options::new()
            .with("wfr-keys", flag(sources.wfr_keys))
            .with("sequential-keys", flag(sources.sequential_keys))
            .with("linearizable-keys", flag(sources.linearizable_keys));
        if let Some(order) = &order {
            options = options.with("transaction-order", format!("{order:?}"));
        }
        let run = RwRegister::default().start(&options.with("exact", "no")).expect("these options are all right");
        let streamed = history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default());
        let whole = report(&text, Sources { transaction_order: order.as_deref(), ..sources });
        prop_assert_eq!(streamed.expect("a history"), whole);
    }
}

#[test]
fn the_store_errs_in_every_way() {
    let mut missing = canary::types(CASES);
    // A version order opposite to time.
    let back: Vec<u64> = (0..100).rev().collect();
    let sources = [
        Sources::default(),
        Sources { wfr_keys: true, ..Sources::default() },
        ALL,
        Sources { transaction_order: Some(&back), ..Sources::default() },
    ];
    for number in 0..6000 {
        let ops = as_registers(history(&mut Choices::Random(number)));
        let history = History::parse(&text::edn(&ops)).expect("a history");
        for model in ["strict-serializable", "strong-session-serializable"] {
            for sources in sources {
                let models = [model];
                let question = Question { anomalies: &["garbage-read"], ..Question::of_registers(&models, sources) };
                let report = checker(&history, &question);
                missing.retain(|name| report.anomaly(name).is_none());
            }
        }
    }
    assert_eq!(missing, Names::new(), "the random histories above show none of these");
}

#[test]
fn crowds_of_readers_and_writers() {
    let models = ["strict-serializable", "strong-session-serializable", "serializable"];
    let (mut judged, mut cyclic) = (0, 0);
    for (number, sources) in (0..3000_u64).zip(Sources::combinations().cycle()) {
        let crowd = if number % 5 == 4 { crowd::overwritten } else { crowd::history };
        let text = text::edn(&as_registers(crowd(&mut Choices::Random(number))));
        let models = [models[number as usize % 3]];
        let question = Question::of_registers(&models, sources);
        let history = History::parse(&text).expect("a history");
        if is_small(&history, &question) {
            let report = compare(&text, &question, checker).unwrap_or_else(|why| panic!("{number}: {why}"));
            judged += 1;
            cyclic += u32::from(report.verdict == Verdict::Invalid);
        }
    }
    assert!(judged > 500 && cyclic > 200, "{cyclic} of {judged} histories have cycles");
}

#[test]
fn what_is_not_understood_takes_no_proof_away_and_adds_none() {
    let (mut invalid, mut unknown) = (0, 0);
    for number in 0..6000_u64 {
        let mut choices = Choices::Random(number);
        let ops = as_registers(history(&mut choices));
        let how = choices.of(How::ALL);
        let Some((text, rest)) = spoil(&mut choices, &ops, how) else { continue };
        let question = Question { allow_garbage: how == How::OtherMop, ..Question::of_registers(STRICT, ALL) };
        match spoiled::compare(&text, &rest, how, &question) {
            Ok(true) => invalid += 1,
            Ok(false) => unknown += 1,
            Err(why) => panic!("{number}: {why}"),
        }
    }
    assert!(invalid > 150 && unknown > 300, "{invalid} invalid, {unknown} unknown");
}

#[test]
fn the_initial_value_takes_the_place_of_nil() {
    for number in 0..1000_u64 {
        let sources = Sources::combinations().nth(number as usize % 8).expect("there are eight");
        let text = text::edn(&as_registers(history(&mut Choices::Random(number))));
        // Unknown reads are nil in both histories.
        let is_ok = |line: &&str| line.contains(":type :ok");
        let with = |line: &str| if is_ok(&line) { line.replace(" nil]", " -1]") } else { line.to_owned() };
        let replaced: String = text.lines().map(|line| with(line) + "\n").collect();
        let flag = |on: bool| if on { "true" } else { "false" };
        let options = Options::new()
            .with("wfr-keys", flag(sources.wfr_keys))
            .with("sequential-keys", flag(sources.sequential_keys))
            .with("linearizable-keys", flag(sources.linearizable_keys))
            .with("initial", "-1");
        let run = RwRegister::default().start(&options.with("exact", "no")).expect("these options are all right");
        let judged =
            history_core::check(run, &mut Reader::new(replaced.as_bytes()), &Budget::default()).expect("a history");
        for anomaly in &judged.anomalies {
            for witness in &anomaly.witnesses {
                let sources = certify::Sources {
                    wfr_keys: sources.wfr_keys,
                    sequential_keys: sources.sequential_keys,
                    linearizable_keys: sources.linearizable_keys,
                    initial: (-1).into(),
                    ..certify::Sources::default()
                };
                let history = History::parse(&replaced).expect("a history");
                let certified = certify::rw_register(&history, &sources, &anomaly.name, witness);
                assert_eq!(certified, Ok(()), "{number}: {}: {witness:#?}\n{replaced}", anomaly.name);
            }
        }
        assert_eq!(without_names(judged), without_names(report(&text, sources)), "{number}: {text}");
    }
}

#[test]
fn canary_a_checker_that_always_says_valid_is_caught() {
    canary::refuse_always_valid(CASES);
}

#[test]
fn canary_a_checker_that_assumes_nothing_is_caught() {
    let caught = canary::is_caught(CASES, |history, question| {
        let nothing = Workload::RwRegister(Sources::default());
        checker(history, &Question { workload: nothing, ..*question })
    });
    assert!(caught.contains(&"G0") && caught.contains(&"nil again"), "{caught:?}");
}

#[test]
fn canary_a_checker_that_assumes_too_much_is_caught() {
    let caught = canary::is_caught(CASES, |history, question| {
        checker(history, &Question { workload: Workload::RwRegister(ALL), ..*question })
    });
    assert!(caught.contains(&"two writes of a process"), "{caught:?}");
}

#[test]
fn canary_a_checker_that_forgets_a_type_is_caught() {
    assert_eq!(canary::refuse_forgetful(CASES), 22, "15 types of cycles, 6 others, and the empty graph");
}
