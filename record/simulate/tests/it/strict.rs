//! The correct store is strict serializable: executed one after another in the order of their commits, the transactions
//! read the same values, and each committed between its invocation and its completion.

use crate::common::{Did, Recorded};
use record_simulate::{KeyDistribution, Kind, ListAppend};
use std::collections::HashMap;

/// The error in a history, for the order of its commits.
fn replay(history: &Recorded) -> Result<(), String> {
    let mut lists: HashMap<i64, Vec<i64>> = HashMap::new();
    let mut committed = vec![false; history.txns.len()];
    for &(at, time_ns) in &history.commits {
        let txn = &history.txns[at];
        if std::mem::replace(&mut committed[at], true) {
            return Err(format!("{txn:?} commits twice"));
        }
        let in_time = match txn.kind {
            Kind::Ok => txn.time_ns.0 <= time_ns && time_ns <= txn.time_ns.1,
            Kind::Fail => false,
            _ => txn.time_ns.0 <= time_ns,
        };
        if !in_time {
            return Err(format!("{txn:?} commits at {time_ns}"));
        }
        for did in &txn.did {
            match did {
                Did::Append(key, value) => lists.entry(*key).or_default().push(*value),
                Did::Read(_, None) if txn.is_ok() => return Err(format!("{txn:?} is ok, but tells no read")),
                Did::Read(_, None) => {}
                Did::Read(key, Some(list)) => {
                    let now = lists.entry(*key).or_default();
                    if now != list {
                        return Err(format!("{txn:?} reads {list:?} of key {key}, which is {now:?}"));
                    }
                }
            }
        }
    }
    let missing = history.txns.iter().zip(committed).find(|(txn, committed)| txn.is_ok() && !committed);
    missing.map_or(Ok(()), |(txn, _)| Err(format!("{txn:?} is ok, but did not commit")))
}

#[test]
fn transactions_replay_in_the_order_of_their_commits() {
    let default = ListAppend { txns: 3000, ..ListAppend::default() };
    let variants = [
        ListAppend { seed: 1, ..default.clone() },
        ListAppend { seed: 2, clients: 1, ..default.clone() },
        ListAppend { seed: 3, clients: 200, keys: 3, nemesis: true, ..default.clone() },
        ListAppend { seed: 4, info_rate: 0.3, lost_rate: 0.2, fail_rate: 0.2, ..default.clone() },
        ListAppend { seed: 5, key_distribution: KeyDistribution::Exponential { base: 2.0 }, ..default.clone() },
        ListAppend { seed: 6, writes_per_key_min: 1, writes_per_key_max: 2, ops_per_txn_max: 12, ..default },
    ];
    for parameters in variants {
        let history = Recorded::of(&parameters);
        assert_eq!(history.txns.len(), 3000);
        if let Err(error) = replay(&history) {
            panic!("{error}; with {parameters:?}");
        }
    }
}

#[test]
fn transactions_that_nobody_heard_of_still_happen_half_of_the_time() {
    let history = Recorded::of(&ListAppend { txns: 4000, info_rate: 0.5, lost_rate: 0.0, ..ListAppend::default() });
    let infos: Vec<_> = (0..4000).filter(|at| history.txns[*at].kind == Kind::Info).collect();
    let late = |at: &usize, time_ns: u64| history.txns[*at].time_ns.1 < time_ns;
    let commits: HashMap<usize, u64> = history.commits.iter().copied().collect();
    let happened = infos.iter().filter(|at| commits.contains_key(at)).count();
    let happened_late = infos.iter().filter(|at| commits.get(at).is_some_and(|time_ns| late(at, *time_ns))).count();
    assert!((1800..2200).contains(&infos.len()), "{}", infos.len());
    assert!((800..1200).contains(&happened), "{happened} of {}", infos.len());
    assert!(happened_late > 100, "some take effect after their client gave up: {happened_late}");
}

#[test]
fn clients_overlap_and_commit_in_another_order_than_they_ask_in() {
    let history = Recorded::of(&ListAppend { txns: 1000, ..ListAppend::default() });
    let inversions = history.commits.windows(2).filter(|pair| pair[0].0 > pair[1].0).count();
    assert!(inversions > 200, "only {inversions} of 1000 commits come before one that was asked for earlier");
}
