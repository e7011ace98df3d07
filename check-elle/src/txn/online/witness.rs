//! A second judge that chooses a version order wherever none is known. If its choices close no cycle up to the end,
//! then some order of transactions explains the history, even where the first judge does not know the order.
//!
//! A cycle in the second judge proves nothing: its choices may be the cause. The cause is mostly a recent choice. So
//! the judge returns to a state some ops ago, reverses one or several of its last choices, and checks these ops again.
//! If that does not help, the judge is dropped, and nothing is known.
//!
//! The second judge starts when the first one needs it ([`Judge::fork`]). Only its current state is saved, so after a
//! restart it cannot return to an earlier state.

use super::judge::Judge;
use super::limits::{GivenUp, Limits, clean_up};
use super::run::{Event, Facts};
use crate::txn::online::decode::Mop;
use history_core::cast::Cast as _;
use history_core::state::{Damaged, In, Out, State as _};
use std::collections::VecDeque;

/// The minimum number of ops between two saved states; and the maximum number of values kept per op, since copying
/// takes time.
const PAUSE: u64 = 512;
const PAUSE_VALUES: u64 = 8;

/// The maximum number of saved states.
const PLACES: usize = 2;

/// The number of ops between checks whether all versions can still be ordered.
const SETTLE: u64 = 128;

/// The number of additional choices by which the judge goes further back each time.
const GROUP: u64 = 16;

/// The maximum number of ops that are checked again before the judge gives up, and the number added to it for each op
/// that the judge has processed.
const AGAIN_MAX: u64 = 1_000_000;
const AGAIN_EACH: u64 = 8;

/// The state of the choosing judge at some op.
#[derive(Clone, Debug)]
struct Place<J> {
    judge: J,
    /// The number of the transaction in flight in each slot.
    txns: Vec<u32>,
    given_up: GivenUp,
    /// The number of ops before this state.
    ops: u64,
}

/// An op that may have to be checked again.
#[derive(Debug)]
struct Kept {
    slot: usize,
    facts: Facts,
    mops: Vec<Mop>,
    codes: Vec<i64>,
}

/// The choosing judge with its earlier states. See [the module](self).
#[derive(Debug)]
pub(super) struct Witness<J> {
    now: Place<J>,
    before: VecDeque<Place<J>>,
    /// The ops since the first state to return to.
    kept: VecDeque<Kept>,
    /// The number of ops that were checked again.
    again: u64,
}

impl<J: Judge> Place<J> {
    /// Processes an op. Returns true if nothing contradicts the choices, and the judge can still choose.
    fn take(&mut self, slot: usize, event: &Event<'_>, limits: &Limits) -> bool {
        if slot >= self.txns.len() {
            self.txns.resize(slot + 1, 0);
        }
        self.ops += 1;
        let Ok(txn) = event.judge(&mut self.judge, self.txns[slot]) else { return false };
        self.txns[slot] = txn;
        clean_up(&mut self.judge, event.facts.index, limits, &mut self.given_up);
        if self.ops.is_multiple_of(SETTLE) {
            self.judge.settle();
        }
        // This judge keeps more, so it may reach a limit that the other judge does not.
        let is_whole = self.given_up.open == 0 && !self.given_up.all && self.judge.renamed() == 0;
        is_whole && self.judge.lost_key().is_none() && !self.judge.graph().leaves_out
    }

    fn take_kept(&mut self, kept: &Kept, limits: &Limits) -> bool {
        let event = Event { facts: kept.facts, mops: &kept.mops, codes: &kept.codes };
        self.take(kept.slot, &event, limits)
    }

    /// Ends the history. Returns true if the order of all versions is known or chosen.
    fn conclude(&mut self) -> bool {
        self.judge.conclude();
        self.judge.unordered_key().is_none()
    }
}

impl<J: Judge> Witness<J> {
    /// Creates a judge that chooses orders from now on. Also returns the numbers of the transactions in flight in this
    /// judge, by slot.
    pub(super) fn new(judge: J, txns: Vec<u32>) -> Witness<J> {
        let now = Place { judge, txns, given_up: GivenUp::default(), ops: 0 };
        Witness { before: VecDeque::from([now.clone()]), now, kept: VecDeque::new(), again: 0 }
    }

    pub(super) fn judge(&self) -> &J {
        &self.now.judge
    }

    /// Processes an op. Returns true if there is still an order of all versions that nothing contradicts.
    pub(super) fn take(&mut self, slot: usize, event: &Event<'_>, limits: &Limits) -> bool {
        let (mops, codes) = (event.mops.to_vec(), event.codes.to_vec());
        self.kept.push_back(Kept { slot, facts: event.facts, mops, codes });
        if !self.now.take(slot, event, limits) && !self.go_back(limits, self.now.judge.chosen(), false) {
            return false;
        }
        let pause = PAUSE.max(self.now.judge.values().to_u64() / PAUSE_VALUES);
        if self.before.back().is_none_or(|place| self.now.ops >= place.ops + pause) {
            self.before.push_back(self.now.clone());
        }
        if self.before.len() > PLACES {
            let first = self.before.pop_front().map_or(0, |place| place.ops);
            let next = self.before.front().map_or(first, |place| place.ops);
            self.kept.drain(..(next - first).to_usize());
        }
        true
    }

    /// Checks the last ops again with other choices: from the last choices on, and if that does not help, from earlier
    /// ones on. `is_end` is true at the end of the history. `chosen` is the number of choices so far, also at the end.
    fn go_back(&mut self, limits: &Limits, chosen: u64, is_end: bool) -> bool {
        let mut last = chosen;
        let again_max = AGAIN_MAX + AGAIN_EACH * self.now.ops;
        while self.again < again_max && last > self.before[0].judge.chosen() {
            let first = last.saturating_sub(GROUP).max(self.before[0].judge.chosen());
            let Some((at, base)) = self.place_before(first, limits) else { return false };
            // Reverses one of the choices of this group, or a quarter of the choices since then.
            let ones = (first..last).rev().map(|choice| vec![choice]);
            let is_one_in_four = |seed: u64, choice: &u64| hash(seed, *choice).is_multiple_of(4);
            let some = (0..GROUP).map(|seed| (first..chosen).filter(|choice| is_one_in_four(seed, choice)).collect());
            for turned in ones.chain(some) {
                self.again += self.now.ops - base.ops;
                let mut now = base.clone();
                now.judge.turn(&turned);
                if self.go_on(&mut now, limits) && (!is_end || now.conclude()) {
                    self.now = now;
                    self.before.truncate(at + 1);
                    return true;
                }
            }
            last = first;
        }
        false
    }

    /// Returns the position of the last saved state before this choice, and the state just before the op that makes it.
    fn place_before(&self, choice: u64, limits: &Limits) -> Option<(usize, Place<J>)> {
        let at = self.before.iter().rposition(|place| place.judge.chosen() <= choice)?;
        let (mut now, mut ops) = (self.before[at].clone(), 0);
        let kept = self.kept.range(self.position(&now)..);
        for kept in kept.clone() {
            if !now.take_kept(kept, limits) || now.judge.chosen() > choice {
                break;
            }
            ops += 1;
        }
        // Repeats these ops without the op that chooses.
        now = self.before[at].clone();
        kept.take(ops).all(|kept| now.take_kept(kept, limits)).then_some((at, now))
    }

    /// The position of the next op in `kept`.
    fn position(&self, place: &Place<J>) -> usize {
        (place.ops - self.before[0].ops).to_usize()
    }

    /// Continues from a state with the kept ops. Returns true if nothing contradicts the choices.
    fn go_on(&self, now: &mut Place<J>, limits: &Limits) -> bool {
        self.kept.range(self.position(now)..).all(|kept| now.take_kept(kept, limits))
    }

    /// Ends the history, and changes choices if some version order is still unknown.
    pub(super) fn conclude(&mut self, limits: &Limits) {
        let mut end = self.now.clone();
        if end.conclude() || !self.go_back(limits, end.judge.chosen(), true) {
            self.now = end;
        }
    }

    pub(super) fn save(&self, out: &mut Out) {
        self.now.judge.save_parts(out);
        self.now.txns.save(out);
        self.now.given_up.save(out);
    }

    /// Restores a saved witness. `judge` is a judge that has not begun. The witness cannot return to earlier states.
    pub(super) fn load(mut judge: J, from: &mut In<'_>) -> Result<Witness<J>, Damaged> {
        judge.load_parts(from)?;
        let mut witness = Witness::new(judge, Vec::load(from)?);
        witness.now.given_up = GivenUp::load(from)?;
        witness.before = VecDeque::from([witness.now.clone()]);
        Ok(witness)
    }
}

/// A pseudorandom number, the same in every run.
fn hash(seed: u64, of: u64) -> u64 {
    let mixed = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ of).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32
}
