//! Mini-transactions: each write follows a read of its key. Tests that they are decided without any step of a search,
//! and as defined.

use crate::small::{each_choice, levels, wrong};
use crate::worlds::{Frame, Op, Random, build, choices, external};
use check_isolation::{Axiom, Base, Level, Outcome, Transactions, decide};
use history_core::Budget;
use std::collections::BTreeMap;

/// All mini-transactions on two keys: each key is unused, read, or read and written.
fn shapes() -> Vec<Vec<Op>> {
    let of_key = |key: usize| [vec![], vec![(key, false)], vec![(key, false), (key, true)]];
    let both = |first: Vec<Op>| of_key(1).map(|second| [first.clone(), second].concat());
    of_key(0).into_iter().flat_map(both).filter(|ops| !ops.is_empty()).collect()
}

/// Decides without a budget for search, and compares with the definition.
fn compare(txns: &Transactions, levels: &[Level], counts: &mut BTreeMap<(&'static str, bool), u64>) {
    let mut budget = Budget::default();
    budget.states_max = Some(0);
    for level in levels {
        let axiom = level.decided_by().expect("an axiom").0;
        let outcome = decide(txns, *level, &budget);
        // At prefix, two transactions may replace the same version.
        if axiom == Axiom::Prefix && matches!(outcome, Outcome::Unknown(_)) {
            continue;
        }
        if let Some(why) = wrong(txns, *level, &outcome) {
            panic!("{level}: {why}\n{txns:#?}");
        }
        *counts.entry((level.name(), matches!(outcome, Outcome::Holds(_)))).or_default() += 1;
    }
}

fn linear_levels() -> Vec<Level> {
    let is_linear = |level: &Level| {
        let axiom = level.decided_by().expect("an axiom").0;
        axiom >= Axiom::Prefix && axiom != Axiom::ParallelSnapshot
    };
    levels(&[Base::None, Base::Session, Base::RealTime]).into_iter().filter(is_linear).collect()
}

fn assert_both(counts: &BTreeMap<(&'static str, bool), u64>, levels: &[Level]) {
    for level in levels {
        assert!(counts.contains_key(&(level.name(), true)) && counts.contains_key(&(level.name(), false)), "{level}");
    }
}

#[test]
fn three_mini_transactions_on_two_keys() {
    let frames = [
        Frame { sessions: vec![0, 0, 1], times: vec![(1, Some(10)), (1, Some(11)), (1, Some(12))] },
        Frame { sessions: vec![0, 1, 2], times: vec![(1, Some(2)), (3, Some(6)), (1, Some(7))] },
        Frame { sessions: vec![0, 1, 0], times: vec![(1, Some(3)), (1, None), (4, Some(6))] },
    ];
    let (shapes, levels) = (shapes(), linear_levels());
    let (mut counts, mut turn) = (BTreeMap::new(), 0_usize);
    for one in &shapes {
        for two in &shapes {
            for three in &shapes {
                let txns = [one.clone(), two.clone(), three.clone()];
                let reads = external(&txns);
                each_choice(&choices(&txns, &reads), |writers| {
                    turn += 1;
                    compare(&build(&txns, &reads, writers, &frames[turn % frames.len()]), &levels, &mut counts);
                });
            }
        }
    }
    assert!(turn > 2000, "{turn}");
    assert_both(&counts, &levels);
}

#[test]
fn random_mini_transactions() {
    let (shapes, levels) = (shapes(), linear_levels());
    let (mut source, mut counts) = (Random(9), BTreeMap::new());
    for round in 0..2000 {
        let n = 4 + round % 3;
        let txns: Vec<Vec<Op>> = (0..n).map(|_| shapes[source.below(shapes.len())].clone()).collect();
        let reads = external(&txns);
        // No transaction replaces a version that another one replaced, if possible: otherwise nearly all have lost
        // updates.
        let mut taken = Vec::new();
        let writers: Vec<_> = choices(&txns, &reads)
            .iter()
            .zip(&reads)
            .map(|(choices, (reader, key))| {
                let replaces = txns[*reader].contains(&(*key, true));
                let free: Vec<_> =
                    choices.iter().filter(|writer| !replaces || !taken.contains(&(*key, **writer))).collect();
                let chosen = if free.is_empty() {
                    choices[source.below(choices.len())]
                } else {
                    *free[source.below(free.len())]
                };
                if replaces {
                    taken.push((*key, chosen));
                }
                chosen
            })
            .collect();
        let sessions = (0..n).map(|at| u32::try_from(at % 3).unwrap()).collect();
        let times = (0..n).map(|at| {
            (u64::try_from(4 * (at / 2) + 1).unwrap(), Some(u64::try_from(4 * (at / 2) + 2 + at % 2).unwrap()))
        });
        let frame = Frame { sessions, times: times.collect() };
        compare(&build(&txns, &reads, &writers, &frame), &levels, &mut counts);
    }
    assert_both(&counts, &levels);
}
