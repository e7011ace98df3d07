//! A serial order of commits in real time, found in one pass over what transactions did to keys.
//!
//! Transactions are committed one by one: each when it completes, or before, if another needs it. A transaction needs
//! the writers of what it read, and all other readers of what it overwrites. If it has not read what it overwrites, it
//! may instead come before the writer of that. Where the needs of transactions contradict each other or real time, that
//! is assumed of one of them. The commits from this writer on are then undone, and made again.
//!
//! Each read shows the current version when its transaction commits, and each transaction commits between its
//! invocation and its completion. So the order of commits explains the history. Where none is found, there may be one
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

/// Looks at a transaction, and commits undone: for each key that a transaction used, and at the least.
const STEPS_PER_TOUCH: usize = 16;
const STEPS_MIN: usize = 1 << 12;

/// How far a transaction is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Open,
    /// What it needs is being committed.
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
    /// It read what this writer wrote, and the other one overwrites. The other one may come before the writer instead.
    Reads(TxnId),
    /// An assumption of this number.
    Assumed(usize),
}

/// No order was found, or no steps are left to look for one.
struct GivenUp;

/// Whether there is such an order, and some read shows a transaction that another one wrote. `false` also for a history
/// that would take longer than linear time.
///
/// For histories of which no transaction contradicts itself. `touches` are in the order of transactions.
pub(super) fn are_ordered<M: Copy>(versions: &Versions, txns: &Txns<M>, touches: &[Touch]) -> bool {
    let touched = Touched::new(versions, txns, touches);
    touched.shows_another && Commits::new(touched).explain()
}

struct Commits<'a, M> {
    touched: Touched<'a, M>,
    /// For each touch that wrote and is committed, the version before.
    replaced: Vec<VersionId>,
    /// The version of each key.
    current: Vec<VersionId>,
    standing: Vec<Standing>,
    /// What was committed, and at whose completion.
    order: Vec<(TxnId, TxnId)>,
    /// Where each transaction is in the order, if it is committed.
    place: Vec<u32>,
    /// A transaction, behind it what it needs, and so on.
    waiting: Vec<Need>,
    /// How many have completed `ok`.
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

    /// Commits all that completed `ok`, and what else they need.
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

    /// Commits a transaction at its completion, after all that it needs; or what was assumed because it cannot be.
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

    /// Assumes something instead of one of the needs behind a place among those that wait, the last of which is `need`.
    fn assume(&mut self, from: usize, need: Need) -> Result<Pair, GivenUp> {
        let by = self.waiting[from..].iter().map(|wait| wait.txn);
        let needs = self.waiting[from + 1..].iter().copied().chain([need]);
        let (standing, place) = (&self.standing, &self.place);
        // What moves least: what is committed last is undone first.
        let moves = |pair: &Pair| {
            let at = pair.after.at();
            if standing[at] == Standing::Committed { u32::MAX - place[at] } else { 0 }
        };
        self.assumed.instead_of(needs.zip(by), moves).ok_or(GivenUp)
    }

    /// Commits a transaction that needs nothing more.
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

    /// Undoes all from a commit on, if it was made. At whose completion that was.
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

    /// Whether no process goes on after a transaction of unknown end that was committed: here such a transaction has no
    /// place in the order of its process.
    fn ends_processes(&self) -> bool {
        let txns = self.touched.txns;
        // The first of each process.
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
