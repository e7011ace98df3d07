//! Searches for a serial order of commits in real time, in one pass over the accesses of transactions to keys.
//!
//! Transactions are committed one by one: each when it completes, or earlier if another one needs it. A transaction
//! needs the writers of the versions that it read, and all other readers of the versions that it overwrites. If it has
//! not read the version that it overwrites, it may instead be committed before the writer of that version. If the needs
//! of transactions contradict each other or real time, this alternative is assumed for one of them. The commits from
//! this writer on are then undone and repeated.
//!
//! Each read returns the version that is current when its transaction commits, and each transaction commits between its
//! invocation and its completion. So the order of commits explains the history. If none is found, one may exist
//! nevertheless.

mod assumed;
mod needs;
#[cfg(test)]
mod tests;

use super::super::versions::Versions;
use super::super::within::Touch;
use crate::ids::{TxnId, VersionId};
use crate::txn::Txns;
use assumed::{Assumed, Pair};
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use needs::{Next, Touched};

/// The maximum number of steps per touch, and the minimum of this limit. A step visits a transaction or undoes a
/// commit.
const STEPS_PER_TOUCH: usize = 16;
const STEPS_MIN: usize = 1 << 12;

/// The progress of a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Open,
    /// The transactions that it needs are being committed.
    Waits,
    Committed,
}

/// A transaction that must be committed before another one.
#[derive(Clone, Copy)]
struct Need {
    txn: TxnId,
    why: Why,
}

/// Why a transaction must be committed before another one.
#[derive(Clone, Copy)]
enum Why {
    Always,
    /// The transaction read a version of this writer that the other one overwrites. The other one may instead be
    /// committed before the writer.
    Reads(TxnId),
    /// The assumption with this number requires it.
    Assumed(usize),
}

/// No order was found, or no steps are left to search for one.
struct GivenUp;

/// Returns true if such an order exists, and some transaction observed another one. Returns `false` also for a history
/// that would take more than linear time.
///
/// Requires that no transaction contradicts itself. `touches` are in the order of transactions.
pub(super) fn are_ordered<M: Copy>(versions: &Versions, txns: &Txns<M>, touches: &[Touch]) -> bool {
    let touched = Touched::new(versions, txns, touches);
    touched.shows_another && Commits::new(touched).explain()
}

struct Commits<'a, M> {
    touched: Touched<'a, M>,
    /// For each committed touch with a write, the version that it replaced.
    replaced: Vec<VersionId>,
    /// The current version of each key.
    current: Vec<VersionId>,
    standing: Vec<Standing>,
    /// The committed transactions, each with the one at whose completion it was committed.
    order: Vec<(TxnId, TxnId)>,
    /// The position of each committed transaction in `order`.
    place: Vec<u32>,
    /// A stack: a transaction, above it the one that it needs, and so on.
    waiting: Vec<Need>,
    /// The number of transactions that have completed `ok`.
    oks: u32,
    assumed: Assumed,
    steps_left: usize,
}

impl<'a, M: Copy> Commits<'a, M> {
    fn new(touched: Touched<'a, M>) -> Commits<'a, M> {
        let (txns, touches) = (touched.txns.len(), touched.touches.len());
        Commits {
            replaced: vec![VersionId::NONE; touches],
            current: touched.versions.key.iter().map(|key| key.initial).collect(),
            standing: vec![Standing::Open; txns],
            order: Vec::with_capacity(txns),
            place: vec![0; txns],
            waiting: Vec::new(),
            oks: 0,
            assumed: Assumed::default(),
            steps_left: STEPS_MIN + STEPS_PER_TOUCH * touches,
            touched,
        }
    }

    fn explain(mut self) -> bool {
        self.commit_all().is_ok() && self.ends_processes()
    }

    /// Commits all transactions that completed `ok`, and the others that they need.
    fn commit_all(&mut self) -> Result<(), GivenUp> {
        let mut turn = 0;
        while turn < self.touched.txns.len() {
            let txn = TxnId::new(turn);
            if self.touched.txns.is_ok(txn) {
                if let Some(pair) = self.commit(txn)? {
                    turn = self.undo_from(pair.after, turn)?;
                    continue;
                }
                self.oks += 1;
            }
            turn += 1;
        }
        Ok(())
    }

    /// Commits a transaction at its completion, after all that it needs. If that is impossible, returns the pair that
    /// was assumed because of it.
    fn commit(&mut self, turn: TxnId) -> Result<Option<Pair>, GivenUp> {
        if self.standing[turn.at()] == Standing::Committed {
            return Ok(None);
        }
        self.wait_for(Need { txn: turn, why: Why::Always });
        while let Some(Need { txn, .. }) = self.waiting.last().copied() {
            self.spend(1)?;
            let need = match self.next(txn)? {
                Next::Impossible => return Err(GivenUp),
                Next::Needs(need) => need,
                Next::Nothing => {
                    self.waiting.pop();
                    self.apply(txn);
                    self.place[txn.at()] = self.order.len().to_u32();
                    self.order.push((txn, turn));
                    continue;
                }
            };
            let other = need.txn;
            let is_invoked = self.touched.txns.oks_before(other).is_some_and(|oks| oks <= self.oks);
            if self.standing[other.at()] == Standing::Waits {
                let from = self.waiting.iter().position(|wait| wait.txn == other).ok_or(GivenUp)?;
                return self.assume(from, need).map(Some);
            }
            if !is_invoked {
                return self.assume(0, need).map(Some);
            }
            self.wait_for(need);
        }
        Ok(None)
    }

    fn wait_for(&mut self, need: Need) {
        self.standing[need.txn.at()] = Standing::Waits;
        self.waiting.push(need);
    }

    #[inline]
    fn spend(&mut self, steps: usize) -> Result<(), GivenUp> {
        self.steps_left = self.steps_left.checked_sub(steps).ok_or(GivenUp)?;
        Ok(())
    }

    #[inline]
    fn is_open(&self, txn: TxnId) -> bool {
        self.standing[txn.at()] != Standing::Committed
    }

    /// Assumes an alternative to one of the needs above a position in the stack, the last of which is `need`.
    fn assume(&mut self, from: usize, need: Need) -> Result<Pair, GivenUp> {
        let by = self.waiting[from..].iter().map(|wait| wait.txn);
        let needs = self.waiting[from + 1..].iter().copied().chain([need]);
        let (standing, place) = (&self.standing, &self.place);
        // Prefers the pair with the fewest commits to undo: the last ones are undone first.
        let moves = |pair: &Pair| {
            let at = pair.after.at();
            if standing[at] == Standing::Committed { u32::MAX - place[at] } else { 0 }
        };
        self.assumed.instead_of(needs.zip(by), moves).ok_or(GivenUp)
    }

    /// Commits a transaction whose needs are met.
    fn apply(&mut self, txn: TxnId) {
        self.standing[txn.at()] = Standing::Committed;
        for at in self.touched.range(txn) {
            let touch = self.touched.touches[at];
            if let Some(version) = touch.read() {
                self.touched.readers[version.at()].open -= 1;
            }
            if let Some(version) = touch.write() {
                self.replaced[at] = std::mem::replace(&mut self.current[touch.key.at()], version);
            }
        }
    }

    fn undo(&mut self, txn: TxnId) {
        self.standing[txn.at()] = Standing::Open;
        for at in self.touched.range(txn) {
            let touch = self.touched.touches[at];
            if let Some(version) = touch.read() {
                self.touched.readers[version.at()].open += 1;
            }
            if touch.write().is_some() {
                self.current[touch.key.at()] = self.replaced[at];
            }
        }
    }

    /// Undoes all commits from that of `txn` on, if it was committed. Returns the turn at which it was committed.
    fn undo_from(&mut self, txn: TxnId, turn: usize) -> Result<usize, GivenUp> {
        for need in self.waiting.drain(..) {
            self.standing[need.txn.at()] = Standing::Open;
        }
        let mut then = turn;
        while !self.is_open(txn) {
            self.spend(1)?;
            let (last, at) = self.order.pop().ok_or(GivenUp)?;
            self.undo(last);
            then = at.at();
        }
        let completed = (then..turn).filter(|row| self.touched.txns.is_ok(TxnId::new(*row)));
        self.oks -= completed.count().to_u32();
        Ok(then)
    }

    /// Returns true if no process continues after a committed transaction whose outcome is unknown. Such a transaction
    /// has no place in the order of its process here.
    fn ends_processes(&self) -> bool {
        let txns = self.touched.txns;
        // The first such transaction of each process.
        let mut ends: HashMap<Option<i64>, (Option<u64>, TxnId)> = HashMap::default();
        for txn in self.order.iter().map(|(txn, _)| *txn).filter(|txn| !txns.is_ok(*txn)) {
            let end = (txns.invoked(txn), txn);
            ends.entry(txns.process(txn)).and_modify(|first| *first = end.min(*first)).or_insert(end);
        }
        let goes_on = |txn: TxnId| {
            let end = ends.get(&txns.process(txn));
            end.is_some_and(|(invoked, crashed)| *crashed != txn && txns.invoked(txn) >= *invoked)
        };
        ends.is_empty() || !txns.ids().any(goes_on)
    }
}
