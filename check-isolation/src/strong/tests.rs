//! Compares the methods with each other, and the order of arcs with plain reachability.

use super::guess;
use super::order::{Arc, Ground, Ordered};
use super::shape::Shape;
use super::*;
use crate::csr::Csr;
use crate::ids::{KeyId, TxnId};
use crate::transactions::{KnownOrder, NewTxn, Read};
use crate::weak::Backwards;

const AXIOMS: [Axiom; 4] = [Axiom::Prefix, Axiom::ParallelSnapshot, Axiom::Snapshot, Axiom::Serializable];
const BASES: [Base; 3] = [Base::None, Base::Session, Base::RealTime];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).to_usize() % n
    }
}

/// Random transactions that read writes of others, in sessions and in time; some have known orders of writers.
fn any(random: &mut Random, n: usize, keys: usize) -> Transactions {
    let writes: Vec<Vec<KeyId>> =
        (0..n).map(|_| (0..random.below(3)).map(|_| KeyId::new(random.below(keys))).collect()).collect();
    let mut txns = Transactions::default();
    for own in &writes {
        let at = txns.len();
        let reads: Vec<Read> = (0..random.below(3))
            .map(|_| {
                let key = KeyId::new(random.below(keys));
                let writer = random.below(n);
                let is_writer = writer != at && writes[writer].contains(&key);
                Read { key, writer: if is_writer { TxnId::new(writer) } else { TxnId::NONE } }
            })
            .collect();
        let begin = (2 * at).saturating_sub(random.below(8)).to_u64();
        let end = (random.below(5) > 0).then(|| 2 * at.to_u64() + 1);
        let session = (random.below(4) > 0).then(|| random.below(3).to_u32());
        txns.push(&NewTxn { session, begin: Some(begin), end, reads: &reads, writes: own });
    }
    if random.below(3) == 0 {
        let key = KeyId::new(0);
        let mut writers = (0..n).filter(|txn| writes[*txn].contains(&key)).map(TxnId::new);
        if let (Some(before), Some(after)) = (writers.next(), writers.next()) {
            txns.push_order(KnownOrder { key, before, after });
        }
    }
    txns
}

/// A guess answers most histories for which the level holds, so in `decide` the later methods would hardly be used.
#[test]
fn propagation_and_search_alone_give_the_result_of_all_methods() {
    let (mut random, mut held, mut broken, mut guessed) = (Random(1), 0, 0, 0);
    for round in 0..3000 {
        let txns = any(&mut random, 4 + round % 7, 1 + round % 4);
        for axiom in AXIOMS {
            // No level has this axiom in real time.
            for base in BASES.into_iter().filter(|base| (axiom, *base) != (Axiom::ParallelSnapshot, Base::RealTime)) {
                let whole = decide(&txns, axiom, base, &Budget::default());
                let alone = decide_alone(&txns, axiom, base, &Budget::default(), STEPS_MAX);
                match (&whole, &alone) {
                    (Outcome::Holds(_), Outcome::Holds(_)) => {
                        held += 1;
                        let as_guessed = if axiom == Axiom::ParallelSnapshot { Axiom::Snapshot } else { axiom };
                        guessed += u32::from(guess::order(&txns, as_guessed, base, &Budget::default()).is_ok());
                    }
                    (Outcome::Violated(_), Outcome::Violated(_)) => broken += 1,
                    _ => panic!("{axiom:?} {base:?}: {whole:?}, alone {alone:?}: {txns:#?}"),
                }
            }
        }
    }
    assert!(held > 5000 && broken > 5000, "{held}, {broken}");
    assert!(guessed > held * 9 / 10, "{guessed} of {held} were guessed");
}

/// For each pair of nodes, whether a path leads from the first to the second.
fn reaches(nodes: usize, arcs: &[(u32, u32)]) -> Vec<Vec<bool>> {
    let graph = Csr::new(nodes, |emit| arcs.iter().for_each(|(from, to)| emit(from.to_usize(), *to)));
    let mut all = vec![vec![false; nodes]; nodes];
    for (from, met) in all.iter_mut().enumerate() {
        let mut waiting = vec![from.to_u32()];
        while let Some(node) = waiting.pop() {
            for next in graph.row(node.to_usize()) {
                if !std::mem::replace(&mut met[next.to_usize()], true) {
                    waiting.push(*next);
                }
            }
        }
    }
    all
}

#[test]
fn an_order_follows_arcs_that_are_added_and_removed() {
    let (mut random, mut ruled_out, mut added_in_all, mut removed_in_all) = (Random(2), 0, 0, 0);
    for round in 0..600 {
        let txns = any(&mut random, 5 + round % 8, 3);
        let (base, axiom) = (BASES[round % 3], AXIOMS[round % 4]);
        let (frame, shape) = (Frame::new(&txns, base), Shape::new(axiom));
        let backwards = Backwards::new(&txns, &frame);
        let Some(mut order) = Ordered::new(&backwards, base, shape) else { continue };
        let known = build::known_arcs(&txns, shape, &frame);
        let own = shape.nodes(txns.len());
        let mut added: Vec<Arc> = Vec::new();
        for _ in 0..60 {
            let arcs: Vec<(u32, u32)> =
                known.iter().copied().chain(added.iter().map(|arc| (arc.from, arc.to))).collect();
            for (from, to) in &arcs {
                assert!(order.place(*from) < order.place(*to), "{base:?} {axiom:?}: {from} is before {to}");
            }
            if !added.is_empty() && random.below(6) == 0 {
                let number = random.below(added.len());
                let (arc, _) = order.take_back(number.to_u32());
                assert_eq!(arc, added[number]);
                added.truncate(number);
                removed_in_all += 1;
                continue;
            }
            let arc = Arc { from: random.below(own).to_u32(), to: random.below(own).to_u32() };
            if arc.from == arc.to {
                continue;
            }
            let mut grounds = Vec::new();
            let is_out = order.is_ruled_out(arc, &mut grounds);
            let nodes = order.nodes().len();
            assert_eq!(is_out, reaches(nodes, &arcs)[arc.to.to_usize()][arc.from.to_usize()], "{arc:?}");
            if is_out {
                ruled_out += 1;
                // The named grounds alone must suffice.
                let mut named = known.clone();
                for ground in grounds {
                    let Ground::Choice(number) = ground else { panic!("the base requires the whole frame") };
                    named.push((added[number.to_usize()].from, added[number.to_usize()].to));
                }
                assert!(reaches(nodes, &named)[arc.to.to_usize()][arc.from.to_usize()], "{arc:?}");
            } else {
                order.choose(arc, Arc { from: arc.to, to: arc.from });
                added.push(arc);
                added_in_all += 1;
            }
        }
    }
    assert!(
        ruled_out > 500 && added_in_all > 500 && removed_in_all > 500,
        "{ruled_out}, {added_in_all}, {removed_in_all}"
    );
}
