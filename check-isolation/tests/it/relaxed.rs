//! Tests levels without sessions on a store that violates a few sessions: the other sessions still help.

use crate::certify::certify;
use crate::oracle::Definition;
use check_isolation::{Axiom, Base, KeyId, Level, NewTxn, Outcome, Read, Transactions, TxnId, decide};
use history_core::Budget;

/// Transactions of four sessions that run one after another: each writes two keys or reads two. Sometimes one reads a
/// much older state.
fn store(n: usize, keys: usize) -> Transactions {
    let mut txns = Transactions::default();
    let mut states = vec![vec![TxnId::NONE; keys]];
    for at in 0..n {
        let is_stale = at % 40 == 39;
        let state = &states[if is_stale { states.len() - 30 } else { states.len() - 1 }];
        let key = |step: usize| KeyId::new((at * 7 + step * 3 + at / keys) % keys);
        let is_reader = is_stale || at % 3 == 0;
        let read = |step: usize| Read { key: key(step), writer: state[key(step).at()] };
        let reads = if is_reader { vec![read(0), read(1)] } else { vec![] };
        let writes = if is_reader { vec![] } else { vec![key(2), key(3)] };
        let session = Some(u32::try_from(at % 4).unwrap());
        let txn = txns.push(&NewTxn { session, reads: &reads, writes: &writes, ..NewTxn::default() });
        let mut next = states[states.len() - 1].clone();
        for key in &writes {
            next[key.at()] = txn;
        }
        states.push(next);
    }
    txns
}

#[test]
fn stale_reads_of_a_few_do_not_cost_the_others_their_sessions() {
    let txns = store(600, 16);
    let session: Level = "strong-session-causal-cerone".parse().unwrap();
    assert!(matches!(decide(&txns, session, &Budget::default()), Outcome::Violated(_)));
    // Without sessions there are so many chains that their clocks exceed the limit.
    let mut budget = Budget::default();
    budget.bytes_max = Some(1 << 19);
    for name in ["serializable", "snapshot-isolation", "parallel-snapshot-isolation", "prefix", "causal-cerone"] {
        let level: Level = name.parse().unwrap();
        let (axiom, base) = level.decided_by().unwrap();
        match decide(&txns, level, &budget) {
            Outcome::Holds(order) => assert!(Definition::new(&txns, axiom, base).accepts(&order), "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// A violation that needs no session is found with the remaining sessions, and refutes the level without them.
#[test]
fn a_refutation_without_sessions_is_of_the_bare_level() {
    let mut txns = store(200, 16);
    // Write skew on two other keys, whose versions were written without a read.
    let (x, y) = (KeyId::new(16), KeyId::new(17));
    let push = |txns: &mut Transactions, session: u32, reads: &[Read], writes: &[KeyId]| {
        txns.push(&NewTxn { session: Some(session), reads, writes, ..NewTxn::default() })
    };
    let first = push(&mut txns, 0, &[], &[x, y]);
    let of_x = Read { key: x, writer: first };
    let of_y = Read { key: y, writer: first };
    push(&mut txns, 1, &[of_x, of_y], &[y]);
    push(&mut txns, 2, &[of_x, of_y], &[x]);
    let serializable: Level = "serializable".parse().unwrap();
    match decide(&txns, serializable, &Budget::default()) {
        Outcome::Violated(refutation) => {
            assert_eq!((refutation.axiom, refutation.base), (Axiom::Serializable, Base::None));
            certify(&txns, &refutation).unwrap_or_else(|why| panic!("{why}: {refutation:#?}"));
        }
        other => panic!("{other:?}"),
    }
    let snapshots: Level = "snapshot-isolation".parse().unwrap();
    assert!(matches!(decide(&txns, snapshots, &Budget::default()), Outcome::Holds(_)));
}
