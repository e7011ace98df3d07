//! All small histories, and random larger ones: every level agrees with trying all orders, and all evidence is
//! certified.

use crate::certify::{certify, certify_order};
use crate::oracle::Definition;
use crate::worlds::{Frame, Op, Random, add_orders, build, choices, external, random};
use check_isolation::{Base, Because, Item, Level, Outcome, Refutation, Transactions, TxnId, Undecided, decide};
use history_core::{Budget, Spent};
use std::collections::BTreeMap;

/// Why an outcome is wrong by the definition, if it is.
pub(crate) fn wrong(txns: &Transactions, level: Level, outcome: &Outcome) -> Option<String> {
    let (axiom, base) = level.decided_by()?;
    let definition = Definition::new(txns, axiom, base);
    match outcome {
        Outcome::Unknown(_) => Some("not decided".into()),
        Outcome::Holds(order) if !definition.accepts(order) => Some(format!("{order:?} is no such order")),
        Outcome::Holds(order) => certify_order(txns, level, order).err().map(|why| format!("{why}: {order:?}")),
        Outcome::Violated(refutation) => match certify(txns, refutation) {
            Err(why) => Some(format!("{why}: {refutation:#?}")),
            Ok(()) => definition.holds().then(|| format!("it holds: {refutation:#?}")),
        },
    }
}

pub(crate) fn levels(bases: &[Base]) -> Vec<Level> {
    Level::all().filter(|level| level.decided_by().is_some_and(|(_, base)| bases.contains(&base))).collect()
}

/// Decides levels and compares with the definition; the outcomes must agree with the lattice.
fn compare(txns: &Transactions, levels: &[Level], counts: &mut BTreeMap<(&'static str, bool), u64>) {
    let mut answers = Vec::new();
    for level in levels {
        let outcome = decide(txns, *level, &Budget::default());
        if let Some(why) = wrong(txns, *level, &outcome) {
            panic!("{level}: {why}\n{txns:#?}");
        }
        let holds = matches!(outcome, Outcome::Holds(_));
        *counts.entry((level.name(), holds)).or_default() += 1;
        answers.push((*level, holds));
    }
    for (stronger, _) in answers.iter().filter(|(_, holds)| *holds) {
        for (weaker, holds) in &answers {
            assert!(*holds || !stronger.is_at_least(*weaker), "{stronger} holds and {weaker} does not: {txns:#?}");
        }
    }
}

/// Calls `with` for each way to choose one item of each list.
pub(crate) fn each_choice(choices: &[Vec<TxnId>], mut with: impl FnMut(&[TxnId])) {
    let mut at = vec![0; choices.len()];
    loop {
        let chosen: Vec<TxnId> = choices.iter().zip(&at).map(|(list, at)| list[*at]).collect();
        with(&chosen);
        let Some(next) = (0..at.len()).find(|place| at[*place] + 1 < choices[*place].len()) else { return };
        at[next] += 1;
        at[..next].fill(0);
    }
}

fn frame(sessions: [u32; 3], times: [(u64, Option<u64>); 3]) -> Frame {
    Frame { sessions: sessions.to_vec(), times: times.to_vec() }
}

/// Every history of three transactions of two operations on two keys: without a base, and alternately with sessions and
/// with real time.
#[test]
fn three_transactions_of_two_operations_on_two_keys() {
    let at_once = [(1, Some(10)), (1, Some(11)), (1, Some(12))];
    let frames = [
        frame([0, 0, 0], at_once),
        frame([0, 0, 1], at_once),
        frame([0, 1, 1], at_once),
        frame([0, 1, 2], [(1, Some(2)), (3, Some(4)), (5, Some(6))]),
        frame([0, 1, 2], [(1, Some(2)), (3, Some(6)), (1, Some(7))]),
        frame([0, 1, 2], [(1, Some(3)), (1, Some(4)), (5, None)]),
        frame([0, 1, 0], [(1, Some(3)), (1, Some(5)), (4, Some(6))]),
    ];
    let ops: [Op; 4] = [(0, false), (0, true), (1, false), (1, true)];
    let shapes: Vec<Vec<Op>> = ops.iter().flat_map(|a| ops.iter().map(|b| vec![*a, *b])).collect();
    let bare = levels(&[Base::None]);
    let framed = levels(&[Base::Session, Base::RealTime]);
    let (mut counts, mut turn) = (BTreeMap::new(), 0_usize);
    for (a, one) in shapes.iter().enumerate() {
        for (b, two) in shapes.iter().enumerate() {
            for (c, three) in shapes.iter().enumerate() {
                let txns = [one.clone(), two.clone(), three.clone()];
                let reads = external(&txns);
                each_choice(&choices(&txns, &reads), |writers| {
                    turn += 1;
                    let history = build(&txns, &reads, writers, &frames[turn % frames.len()]);
                    // Without a base the order of the transactions does not matter.
                    if a <= b && b <= c {
                        compare(&history, &bare, &mut counts);
                    }
                    compare(&history, &framed, &mut counts);
                });
            }
        }
    }
    assert!(turn > 20_000, "{turn}");
    for level in bare.iter().chain(&framed) {
        assert!(counts.contains_key(&(level.name(), true)) && counts.contains_key(&(level.name(), false)), "{level}");
    }
}

#[test]
fn random_histories_of_four_to_six_transactions() {
    let all = levels(&[Base::None, Base::Session, Base::RealTime]);
    let (mut source, mut counts) = (Random(20), BTreeMap::new());
    for round in 0..1500 {
        let txns = random(&mut source, 4 + round % 3, 1 + round % 4, 4);
        compare(&txns, &all, &mut counts);
    }
    for level in &all {
        assert!(counts.contains_key(&(level.name(), true)) && counts.contains_key(&(level.name(), false)), "{level}");
    }
}

/// Every order must extend a known order of two writers, but this order does not make one visible to the other.
#[test]
fn random_histories_of_which_orders_of_writers_are_known() {
    let all = levels(&[Base::None, Base::Session, Base::RealTime]);
    let (mut source, mut counts) = (Random(21), BTreeMap::new());
    for round in 0..1500 {
        let mut txns = random(&mut source, 3 + round % 3, 1 + round % 3, 3);
        add_orders(&mut source, &mut txns);
        compare(&txns, &all, &mut counts);
    }
    for level in &all {
        assert!(counts.contains_key(&(level.name(), true)) && counts.contains_key(&(level.name(), false)), "{level}");
    }
}

/// A choice takes steps: if none are left, the result is unknown, and states how far the search got.
#[test]
fn spent_steps_leave_the_answer_open() {
    let (mut source, mut open) = (Random(22), 0);
    for _ in 0..200 {
        let txns = random(&mut source, 12, 3, 3);
        for level in levels(&[Base::None]) {
            let mut budget = Budget::default();
            budget.states_max = Some(0);
            match (decide(&txns, level, &budget), decide(&txns, level, &Budget::default())) {
                (Outcome::Unknown(Undecided::Spent { what: Spent::States, .. }), _) => open += 1,
                (Outcome::Holds(_), Outcome::Holds(_)) | (Outcome::Violated(_), Outcome::Violated(_)) => {}
                (other, whole) => panic!("{level}: {other:?} is not {whole:?}"),
            }
        }
    }
    assert!(open > 5, "{open}");
}

/// Blind writers, and readers of two keys: case analysis decides what propagation leaves open.
#[test]
fn what_takes_cases_is_certified() {
    let all = levels(&[Base::None]);
    let (mut source, mut cases, mut lemmas_used) = (Random(7), 0, 0);
    for round in 0..3000 {
        let txns = random(&mut source, 7, 2 + round % 2, 3);
        for level in all
            .iter()
            .filter(|level| level.decided_by().is_some_and(|(axiom, _)| axiom > check_isolation::Axiom::Causal))
        {
            match decide(&txns, *level, &Budget::default()) {
                Outcome::Violated(refutation) => {
                    certify(&txns, &refutation)
                        .unwrap_or_else(|why| panic!("{level}: {why}\n{refutation:#?}\n{txns:#?}"));
                    cases += usize::from(refutation.has_cases());
                    lemmas_used += usize::from(uses_a_lemma(&refutation));
                }
                Outcome::Holds(order) => {
                    let (axiom, base) = level.decided_by().unwrap();
                    assert!(Definition::new(&txns, axiom, base).accepts(&order), "{level}: {txns:#?}");
                    certify_order(&txns, *level, &order).unwrap_or_else(|why| panic!("{level}: {why}\n{txns:#?}"));
                }
                Outcome::Unknown(why) => panic!("{level}: {why:?}"),
            }
        }
    }
    assert!(cases >= 3 && lemmas_used >= 3, "{cases} by cases, {lemmas_used} of them by lemmas");
}

fn uses_a_lemma(refutation: &Refutation) -> bool {
    let is_by_lemma = |item: &Item| matches!(item, Item::Fact(fact) if matches!(fact.because, Because::Lemma(_)));
    refutation.by.is_some() || refutation.items.iter().any(is_by_lemma)
}

/// A certifier that accepts everything would be detected: evidence with a missing step must be rejected.
#[test]
fn canary_evidence_with_a_step_missing_is_refused() {
    let serializable: Level = "serializable".parse().unwrap();
    let (mut source, mut refused, mut tried) = (Random(3), 0, 0);
    while tried < 50 {
        let txns = random(&mut source, 6, 2, 3);
        let Outcome::Violated(whole) = decide(&txns, serializable, &Budget::default()) else { continue };
        tried += 1;
        let mut less = whole.clone();
        less.cycle.pop();
        assert!(certify(&txns, &less).is_err(), "{less:#?}");
        if !whole.items.is_empty() {
            let mut less = whole.clone();
            less.items.pop();
            refused += usize::from(certify(&txns, &less).is_err());
        }
    }
    assert!(refused > 5, "{refused}");
}
