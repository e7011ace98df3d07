//! Decides levels with sessions by a search over prefixes of the sessions, a different algorithm from the solver's, and
//! compares the results on the same random histories.
//!
//! Biswas and Enea, "On the Complexity of Checking Transactional Consistency" (OOPSLA 2019), section 4: a prefix of
//! each session was executed; the next step depends only on these, so each tuple of prefixes is visited once. At prefix
//! and snapshot isolation a transaction has two steps, its reads and its writes; at snapshot isolation no two writers
//! of the same key may be between their steps at the same time.

use crate::worlds::{Random, random};
use check_isolation::{Axiom, KeyId, Level, Outcome, Transactions, TxnId, decide};
use history_core::Budget;
use std::collections::HashSet;

/// A step of a session: a transaction, and whether it reads and writes now.
#[derive(Clone, Copy)]
struct Part {
    txn: TxnId,
    reads: bool,
    writes: bool,
}

struct Search<'t> {
    txns: &'t Transactions,
    axiom: Axiom,
    sessions: Vec<Vec<Part>>,
    failed: HashSet<Vec<usize>>,
}

impl Search<'_> {
    fn new(txns: &Transactions, axiom: Axiom) -> Search<'_> {
        let count = txns.ids().filter_map(|txn| txns.session(txn)).max().map_or(0, |most| most + 1);
        let parts = |txn: TxnId| match axiom {
            Axiom::Serializable => vec![Part { txn, reads: true, writes: true }],
            _ => vec![Part { txn, reads: true, writes: false }, Part { txn, reads: false, writes: true }],
        };
        let session = |at: u32| txns.ids().filter(|txn| txns.session(*txn) == Some(at)).flat_map(parts).collect();
        Search { txns, axiom, sessions: (0..count).map(session).collect(), failed: HashSet::new() }
    }

    /// Returns true if the remaining steps can be executed.
    fn completes(&mut self, done: &mut Vec<usize>) -> bool {
        if (0..done.len()).all(|at| done[at] == self.sessions[at].len()) {
            return true;
        }
        if self.failed.contains(done) {
            return false;
        }
        for at in 0..done.len() {
            if done[at] < self.sessions[at].len() && self.may_follow(self.sessions[at][done[at]], done) {
                done[at] += 1;
                if self.completes(done) {
                    return true;
                }
                done[at] -= 1;
            }
        }
        self.failed.insert(done.clone());
        false
    }

    /// The steps in a prefix, or those after it.
    fn parts(&self, done: &[usize], is_done: bool) -> impl Iterator<Item = Part> {
        let range = move |at: usize, len: usize| if is_done { 0..done[at] } else { done[at]..len };
        let sessions = self.sessions.iter().enumerate();
        sessions.flat_map(move |(at, parts)| parts[range(at, parts.len())].iter().copied())
    }

    fn has_written(&self, writer: TxnId, done: &[usize]) -> bool {
        writer == TxnId::NONE || self.parts(done, true).any(|part| part.writes && part.txn == writer)
    }

    fn may_follow(&self, next: Part, done: &[usize]) -> bool {
        let reads = self.txns.reads(next.txn);
        if next.reads && !reads.iter().all(|read| self.has_written(read.writer, done)) {
            return false;
        }
        // A version that is still to be read must not be overwritten.
        let waits = |key: KeyId| {
            self.parts(done, false).filter(|part| part.reads && part.txn != next.txn).any(|part| {
                let reads = self.txns.reads(part.txn).iter();
                reads.filter(|read| read.key == key).any(|read| self.has_written(read.writer, done))
            })
        };
        if next.writes && self.txns.writes(next.txn).iter().any(|key| waits(*key)) {
            return false;
        }
        self.axiom != Axiom::Snapshot || !next.reads || {
            let mut under_way = self.parts(done, true).filter(|part| part.reads && !self.has_written(part.txn, done));
            !under_way.any(|part| self.txns.writes(part.txn).iter().any(|key| self.txns.is_writer(next.txn, *key)))
        }
    }
}

fn compare(rounds: usize, seed: u64) {
    let levels = ["strong-session-serializable", "strong-session-prefix", "strong-session-snapshot-isolation"];
    let levels = levels.map(|name| name.parse::<Level>().unwrap());
    let (mut source, mut found) = (Random(seed), [[0, 0]; 3]);
    for round in 0..rounds {
        let txns = random(&mut source, 4 + round % 6, 2 + round % 3, 3);
        for (at, level) in levels.iter().enumerate() {
            let (axiom, _) = level.decided_by().unwrap();
            let mut search = Search::new(&txns, axiom);
            let mut done = vec![0; search.sessions.len()];
            let holds = search.completes(&mut done);
            let outcome = decide(&txns, *level, &Budget::default());
            assert_eq!(matches!(outcome, Outcome::Holds(_)), holds, "{level}: {outcome:#?}\n{txns:#?}");
            assert!(!matches!(outcome, Outcome::Unknown(_)), "{level}");
            found[at][usize::from(holds)] += 1;
        }
    }
    assert!(found.iter().all(|[no, yes]| *no > rounds / 50 && *yes > rounds / 50), "{found:?}");
}

#[test]
fn random_histories_by_prefixes_of_their_sessions() {
    compare(2_000, 4);
}

#[test]
#[ignore = "takes five seconds"]
fn a_hundred_thousand_histories_by_prefixes_of_their_sessions() {
    compare(100_000, 5);
}
