//! Tests histories of nearly correct stores, too long to try all orders: all results are certified.

use crate::certify::{certify, certify_order};
use crate::small::levels;
use crate::worlds::Random;
use check_isolation::{Base, KeyId, Level, NewTxn, Outcome, Read, Transactions, TxnId, decide};
use history_core::Budget;
use std::collections::BTreeMap;

/// The fault of a store.
#[derive(Clone, Copy, Debug)]
enum Store {
    /// None.
    Serial,
    /// Sometimes a transaction that writes nothing reads an old state.
    Stale,
    /// Each transaction reads the state at its begin, and does not commit if another wrote its keys since then.
    Snapshots,
    /// Sometimes a read of one key is old.
    Torn,
}

/// Transactions of five clients that overlap; rows are nearly in the order of commits.
fn ran(random: &mut Random, store: Store, n: usize, keys: usize) -> Transactions {
    let mut states = vec![vec![TxnId::NONE; keys]];
    let mut txns = Transactions::default();
    // The state in which each client begins.
    let mut began = [0; 5];
    while txns.len() < n {
        let client = random.below(began.len());
        let now = states.len() - 1;
        let begin = std::mem::replace(&mut began[client], now + 1);
        let age = if random.below(20) == 0 { random.below(10) } else { 0 };
        let seen = match store {
            Store::Serial | Store::Torn => now,
            Store::Stale => now.saturating_sub(age),
            Store::Snapshots => begin,
        };
        let mut read = |at: usize| {
            let key = random.below(keys);
            let is_torn = matches!(store, Store::Torn) && random.below(30) == 0;
            Read { key: KeyId::new(key), writer: states[if is_torn { at.saturating_sub(3) } else { at }][key] }
        };
        let reads: Vec<Read> = (0..2).map(|_| read(seen)).collect();
        let mut writes: Vec<KeyId> = (0..random.below(3)).map(|_| KeyId::new(random.below(keys))).collect();
        if matches!(store, Store::Stale) && age > 0 {
            writes.clear();
        }
        if matches!(store, Store::Snapshots) {
            writes.retain(|key| states[seen][key.at()] == states[now][key.at()]);
        }
        let time = |state: usize| u64::try_from(2 * state).unwrap();
        let txn = txns.push(&NewTxn {
            session: Some(u32::try_from(client).unwrap()),
            begin: Some(time(begin) + 1),
            end: (random.below(30) > 0).then(|| time(now) + 2),
            reads: &reads,
            writes: &writes,
        });
        let mut next = states[now].clone();
        for key in &writes {
            next[key.at()] = txn;
        }
        states.push(next);
    }
    txns
}

#[test]
fn whatever_is_said_of_longer_histories_is_certified() {
    let all = levels(&[Base::None, Base::Session, Base::RealTime]);
    let [serializable, snapshots]: [Level; 2] =
        ["serializable", "strong-snapshot-isolation"].map(|name| name.parse().unwrap());
    let (mut random, mut counts): (_, BTreeMap<&str, [usize; 2]>) = (Random(5), BTreeMap::new());
    for round in 0..60 {
        let store = [Store::Serial, Store::Stale, Store::Snapshots, Store::Torn][round % 4];
        let txns = ran(&mut random, store, 30 + round % 90, 3 + round % 5);
        for level in &all {
            let holds = match decide(&txns, *level, &Budget::default()) {
                Outcome::Holds(order) => {
                    certify_order(&txns, *level, &order).unwrap_or_else(|why| panic!("{store:?} {level}: {why}"));
                    true
                }
                Outcome::Violated(refutation) => {
                    certify(&txns, &refutation).unwrap_or_else(|why| panic!("{store:?} {level}: {why}"));
                    false
                }
                Outcome::Unknown(why) => panic!("{store:?} {level}: {why:?}"),
            };
            counts.entry(level.name()).or_default()[usize::from(holds)] += 1;
            let is_promised = match store {
                Store::Serial => true,
                Store::Stale => level.decided_by().is_some_and(|(_, base)| base == Base::None),
                Store::Snapshots => snapshots.is_at_least(*level),
                Store::Torn => false,
            };
            assert!(holds || !is_promised, "{store:?} {level}");
        }
    }
    let [broken, held] = counts[serializable.name()];
    assert!(broken > 10 && held > 10, "{counts:?}");
}

/// The rows of the contradiction are last, but first in time: the report must have their rows in the whole history.
#[test]
fn what_a_part_shows_is_told_of_the_whole_history() {
    let mut txns = Transactions::default();
    let (x, y) = (KeyId::new(0), KeyId::new(1));
    let mut push = |(begin, end): (u64, u64), reads: &[Read], writes: &[KeyId]| {
        txns.push(&NewTxn { begin: Some(begin), end: Some(end), reads, writes, ..NewTxn::default() })
    };
    for at in 0..300 {
        push((100 + 2 * at, 101 + 2 * at), &[], &[KeyId::new(2)]);
    }
    let of = |key: KeyId, writer: TxnId| Read { key, writer };
    let first = push((1, 2), &[], &[x, y]);
    let skewed = [push((3, 6), &[of(x, first), of(y, first)], &[y]), push((4, 7), &[of(x, first), of(y, first)], &[x])];
    for name in ["serializable", "strict-serializable"] {
        let outcome = decide(&txns, name.parse().unwrap(), &Budget::default());
        let Outcome::Violated(refutation) = outcome else { panic!("{name}: {outcome:?}") };
        certify(&txns, &refutation).unwrap_or_else(|why| panic!("{name}: {why}: {refutation:#?}"));
        let named = |txn: &TxnId| refutation.cycle.iter().any(|link| link.from == *txn);
        assert!(skewed.iter().all(named), "{name}: {refutation:#?}");
    }
    let snapshots = decide(&txns, "strong-snapshot-isolation".parse().unwrap(), &Budget::default());
    assert!(matches!(snapshots, Outcome::Holds(_)), "{snapshots:?}");
}
