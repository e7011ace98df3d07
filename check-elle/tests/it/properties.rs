//! Random histories, larger than can be enumerated: the checker against the oracle, and laws that any checker must
//! obey.

use crate::oracle::against::{checker, compare};
use crate::oracle::cases::CASES;
use crate::oracle::choices::Choices;
use crate::oracle::messy::Shown;
use crate::oracle::messy::{Entry, history};
use crate::oracle::names::Names;
use crate::oracle::spoiled::{How, spoil};
use crate::oracle::{Question, canary, crowd, is_small, judge, lattice, spoiled, text};
use check_elle::list_append::ListAppend;
use history_core::{Budget, Checker, History, Options, Reader, Report, Verdict};
use proptest::prelude::*;

/// Histories of a faulty store. Shrinking works on the numbers that choose the history.
fn histories() -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec(any::<u16>(), 0..400).prop_map(|numbers| history(&mut Choices::Given(numbers.into_iter())))
}

/// One or two models, and sometimes an anomaly by name.
fn questions() -> impl Strategy<Value = (Vec<&'static str>, Vec<&'static str>)> {
    let models: Vec<&'static str> = lattice::models().into_iter().collect();
    let anomalies: Vec<&'static str> = lattice::anomalies().into_iter().collect();
    let often = prop::sample::select(&["strict-serializable", "strong-session-serializable", "serializable"][..]);
    let models = prop_oneof![often.prop_map(|model| vec![model]), prop::sample::subsequence(models, 0..=2),];
    (models, prop_oneof![4 => Just(Vec::new()), 1 => prop::sample::subsequence(anomalies, 1..=2)])
}

fn strict() -> Question<'static> {
    Question::of_lists(&["strict-serializable"])
}

fn report(text: &str) -> Report {
    let history = History::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    checker(&history, &strict())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_checker_agrees_with_the_oracle(ops in histories(), (models, anomalies) in questions()) {
        let question = Question { models: &models, anomalies: &anomalies, ..Question::default() };
        if let Err(why) = compare(&text::edn(&ops), &question, checker) {
            return Err(TestCaseError::fail(why));
        }
    }

    #[test]
    fn spelling_does_not_matter(ops in histories()) {
        let plain = report(&text::edn(&ops));
        prop_assert_eq!(&plain, &report(&text::odd_edn(&ops)));
        prop_assert_eq!(&plain, &report(&text::json(&ops)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_prefix_is_judged(ops in histories()) {
        for end in 1..ops.len() {
            // Ops that were invoked but not completed by then are open.
            if let Err(why) = compare(&text::edn(&ops[..end]), &strict(), checker) {
                return Err(TestCaseError::fail(why));
            }
        }
    }

    #[test]
    fn a_stream_is_judged_like_a_whole(ops in histories()) {
        let text = text::edn(&ops);
        let run = ListAppend::default().start(&Options::new()).expect("no options are all right");
        let streamed = history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default());
        prop_assert_eq!(streamed.expect("a history"), report(&text));
    }
}

#[test]
fn the_store_errs_in_every_way() {
    let mut missing = canary::types(CASES);
    for number in 0..6000 {
        let ops = history(&mut Choices::Random(number));
        for model in ["strict-serializable", "strong-session-serializable"] {
            let history = History::parse(&text::edn(&ops)).expect("a history");
            let models = [model];
            let question = Question { anomalies: &["garbage-read"], ..Question::of_lists(&models) };
            let report = checker(&history, &question);
            missing.retain(|name| report.anomaly(name).is_none());
        }
    }
    assert_eq!(missing, Names::new(), "the random histories above show none of these");
}

#[test]
fn crowds_of_unread_appends() {
    let models = ["strict-serializable", "strong-session-serializable", "serializable"];
    let (mut judged, mut cyclic) = (0, 0);
    for number in 0..3000_u64 {
        let crowd = if number % 5 == 4 { crowd::overwritten } else { crowd::history };
        let text = text::edn(&crowd(&mut Choices::Random(number)));
        let models = [models[number as usize % 3]];
        let question = Question::of_lists(&models);
        let history = History::parse(&text).expect("a history");
        if is_small(&history, &question) {
            let report = compare(&text, &question, checker).unwrap_or_else(|why| panic!("{number}: {why}"));
            judged += 1;
            cyclic += u32::from(report.verdict == Verdict::Invalid);
        }
    }
    assert!(judged > 1000 && cyclic > 500, "{cyclic} of {judged} histories have cycles");
}

#[test]
fn what_is_not_understood_takes_no_proof_away_and_adds_none() {
    let (mut invalid, mut unknown) = (0, 0);
    for number in 0..6000_u64 {
        let mut choices = Choices::Random(number);
        let ops = history(&mut choices);
        let how = choices.of(How::ALL);
        let Some((text, rest)) = spoil(&mut choices, &ops, how) else { continue };
        let question = Question { allow_garbage: how == How::OtherMop, ..strict() };
        match spoiled::compare(&text, &rest, how, &question) {
            Ok(true) => invalid += 1,
            Ok(false) => unknown += 1,
            Err(why) => panic!("{number}: {why}"),
        }
    }
    assert!(invalid > 300 && unknown > 300, "{invalid} invalid, {unknown} unknown");
}

#[test]
fn a_key_to_which_something_is_appended_twice_is_left_out() {
    let mut invalid = 0;
    for number in 0..3000_u64 {
        let mut choices = Choices::Random(number);
        let mut ops = history(&mut choices);
        let appends = |key| {
            ops.iter().flat_map(|op| &op.mops).filter_map(move |mop| match mop {
                Shown::Append(k, element) if *k == key => Some(*element),
                _ => None,
            })
        };
        let key = choices.pick(3);
        let elements: std::collections::BTreeSet<u32> = appends(key).collect();
        let Some((twice, once)) = elements.first().zip(elements.last()).filter(|(a, b)| a != b) else { continue };
        for mop in ops.iter_mut().flat_map(|op| &mut op.mops) {
            if *mop == Shown::Append(key, *once) {
                *mop = Shown::Append(key, *twice);
            }
        }
        // A value that a failed transaction wrote may be written again: see `retries`.
        if ops.iter().any(|op| op.kind == "fail" && op.mops.contains(&Shown::Append(key, *twice))) {
            continue;
        }
        let mut rest = ops.clone();
        spoiled::leave_out(&mut rest, &[key]);
        let text = text::edn(&ops);
        // Some ops have no value.
        if judge(&History::parse(&text).expect("a history"), &strict()).is_ok() {
            continue;
        }
        invalid += u32::from(
            spoiled::compare(&text, &rest, How::OtherWrite, &strict()).unwrap_or_else(|why| panic!("{number}: {why}")),
        );
    }
    assert!(invalid > 100, "{invalid}");
}

#[test]
fn canary_a_checker_that_always_says_valid_is_caught() {
    canary::refuse_always_valid(CASES);
}

#[test]
fn canary_a_checker_that_always_says_invalid_is_caught() {
    let caught = canary::is_caught(CASES, |_, _| Report::new("list-append", Verdict::Invalid));
    assert_eq!(caught.len(), CASES.len());
}

#[test]
fn canary_a_checker_that_forgets_a_type_is_caught() {
    assert_eq!(canary::refuse_forgetful(CASES), 26, "15 types of cycles, 10 others, and the empty graph");
}

#[test]
fn canary_a_checker_that_shows_the_wrong_cycle_is_caught() {
    let caught = canary::is_caught(CASES, |history, question| {
        let mut report = checker(history, question);
        for witness in report.anomalies.iter_mut().flat_map(|anomaly| &mut anomaly.witnesses) {
            witness.ops.reverse();
        }
        report
    });
    assert!(caught.contains(&"G-single") && caught.contains(&"G1a"), "{caught:?}");
}
