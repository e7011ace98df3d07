//! Values that are inserted and removed, each once.
//!
//! **A value that is inserted again** counts as a new one if a take of the old one had returned before: no
//! linearization can confuse the two. If none had, the values are not distinct: a search has to find out which take
//! removed which of them, and nothing is settled from then on. A value that was settled before is not one of these, and
//! settled operations do not affect other values, whichever take removed which value.
//!
//! **Deques** are never settled: the presence of a value may determine the order of two others that are removed at
//! different ends.

use super::entry::{Doing, Entry};
use super::extract::Extract;
use super::settled::mark_settled;
use super::{Called, Contradiction, FALLBACK_MAX, TIDY_MIN, Verdict, refusal, unknown};
use crate::Reason;
use crate::engine::ops::{NEVER, OpIx, Seq};
use check_register::{Collection, Handling, Refusal};
use history_core::Budget;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// The state of a value that was inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    There,
    /// A take of it returned.
    Taken,
}

/// The operations that are not settled.
pub(crate) struct Moved {
    collection: Collection,
    /// The operations in the order of their calls.
    entries: Vec<Entry>,
    /// The entry of each operation in flight.
    open: HashMap<OpIx, usize>,
    values: HashMap<i64, Life>,
    /// The number of returns until the next decision.
    countdown: usize,
    settled: usize,
    /// Whether a value was inserted while it was present.
    is_repeated: bool,
    /// The start of the history: initial values were inserted before.
    start: Seq,
}

impl Moved {
    pub(super) fn new(collection: Collection, contents: &[i64], priority: impl Fn(i64) -> i64) -> Moved {
        let start = 2 * contents.len().to_u64();
        let mut ledger = Moved {
            collection,
            entries: Vec::new(),
            open: HashMap::default(),
            values: HashMap::default(),
            countdown: TIDY_MIN,
            settled: 0,
            is_repeated: false,
            start,
        };
        for (at, value) in (0..).zip(contents) {
            let (doing, priority) = (Doing::Put(*value), priority(*value));
            let (call, ret) = (2 * at, 2 * at + 1);
            // The initial content of a deque is given from front to back.
            let is_front = false;
            ledger.entries.push(Entry { op: OpIx::NONE, call, ret, crashed: false, doing, priority, is_front });
            ledger.is_repeated |= ledger.values.insert(*value, Life::There).is_some();
        }
        ledger
    }

    /// The number of operations.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The operations that the ledger may refer to.
    pub(super) fn ops(&self) -> impl Iterator<Item = OpIx> {
        self.entries.iter().map(|entry| entry.op).filter(|op| *op != OpIx::NONE)
    }

    /// Processes the call of an operation. Returns whether the ledger can continue.
    pub(super) fn call(&mut self, op: OpIx, seq: Seq, called: Called<'_>) -> bool {
        let Called { handling, priority, is_front } = called;
        let doing = match handling {
            Some(Handling::Put(value)) => {
                self.is_repeated |= self.values.insert(value, Life::There) == Some(Life::There);
                Doing::Put(value)
            }
            // The end at which it acts is unknown.
            None if self.collection == Collection::Deque => return false,
            Some(Handling::Any) | None => Doing::Open,
            Some(Handling::Take(_) | Handling::Nothing | Handling::All(_)) => return false,
        };
        self.open.insert(op, self.entries.len());
        let call = self.start + seq;
        self.entries.push(Entry { op, call, ret: NEVER, crashed: false, doing, priority, is_front });
        true
    }

    /// Returns true if the ledger may need a search because a monitor cannot decide it.
    pub(super) fn may_be_searched(&self) -> bool {
        self.is_repeated || self.collection == Collection::Deque
    }

    /// Processes the return of an operation with this effect. Returns whether the ledger can continue.
    pub(super) fn complete(&mut self, op: OpIx, seq: Seq, handling: Option<Handling<'_>>) -> bool {
        let Some(at) = self.open.remove(&op) else { return false };
        let ret = self.start + seq;
        let entry = &mut self.entries[at];
        let doing = match (entry.doing, handling) {
            (Doing::Put(value), Some(Handling::Put(same))) if value == same => entry.doing,
            (Doing::Open, Some(Handling::Take(value))) => {
                // A value that is not present may be inserted later, but this take is refused now.
                self.values.entry(value).and_modify(|life| *life = Life::Taken);
                Doing::Take(value)
            }
            (Doing::Open, Some(Handling::Nothing)) => Doing::Nothing,
            (Doing::Open, None) => Doing::Failed,
            _ => return false,
        };
        entry.doing = doing;
        if doing != Doing::Failed {
            entry.ret = ret;
        }
        true
    }

    /// Processes the failure of an operation.
    pub(super) fn fail(&mut self, op: OpIx) -> bool {
        let Some(at) = self.open.remove(&op) else { return false };
        if let Doing::Put(value) = self.entries[at].doing {
            self.values.remove(&value);
        }
        self.entries[at].doing = Doing::Failed;
        true
    }

    /// Processes the crash of an operation, which may have had this effect. Returns whether the ledger can continue.
    pub(super) fn crash(&mut self, op: OpIx, handling: Option<Handling<'_>>) -> bool {
        let Some(at) = self.open.remove(&op) else { return false };
        let entry = &mut self.entries[at];
        entry.crashed = true;
        match (entry.doing, handling) {
            (Doing::Put(value), Some(Handling::Put(same))) => value == same,
            (Doing::Open, Some(Handling::Any)) => true,
            _ => false,
        }
    }

    /// Counts a return. Returns true if it is time to decide again, or to settle.
    pub(super) fn is_due(&mut self) -> bool {
        self.countdown = self.countdown.saturating_sub(1);
        self.countdown == 0
    }

    /// Discards settled operations. All events so far must be linearizable.
    pub(super) fn tidy(&mut self) {
        if !self.may_be_searched() {
            let extract = self.extract(NEVER);
            self.settle(&extract);
        }
        self.countdown = TIDY_MIN + self.entries.len() / 2;
    }

    /// Decides the events so far, and discards settled operations. If no monitor can decide, a search may use this many
    /// configurations, within the budget.
    pub(super) fn decide(&mut self, configurations_max: usize, budget: &Budget) -> Verdict {
        let extract = self.extract(NEVER);
        let answer = extract.decide(self.collection, configurations_max, budget);
        let verdict = match answer.verdict() {
            history_core::Verdict::Valid => {
                self.settle(&extract);
                Verdict::Ok
            }
            history_core::Verdict::Unknown => Verdict::Unknown(unknown(&answer)),
            history_core::Verdict::Invalid => {
                let whole = refusal(answer).map(|refusal| (self.ops_of(&extract), refusal));
                self.contradiction(whole.as_ref()).map_or(Verdict::Unknown(Reason::Full), Verdict::Violation)
            }
        };
        self.countdown = 1 + self.entries.len() / 8;
        verdict
    }

    /// The operations with the results known up to an event.
    fn extract(&self, until: Seq) -> Extract {
        Extract::new(&self.entries, until)
    }

    /// The first event up to which there is no linearization, with the refusal. There is none up to now: `whole` is the
    /// refusal of all events, which is returned if no small search finds the first event.
    fn contradiction(&self, whole: Option<&(Vec<OpIx>, Refusal)>) -> Option<Contradiction> {
        let returns = self.entries.iter().map(|entry| entry.ret).filter(|ret| *ret != NEVER).collect();
        let budget = Budget::default();
        let is_refused = |until| refusal(self.extract(until).decide(self.collection, FALLBACK_MAX, &budget)).is_some();
        super::contradiction(returns, self.settled, is_refused, |until| {
            let extract = self.extract(until);
            let first = extract.refusal(self.collection, FALLBACK_MAX).map(|refusal| (self.ops_of(&extract), refusal));
            first.or_else(|| whole.cloned())
        })
    }

    /// The operations of an extract.
    fn ops_of(&self, extract: &Extract) -> Vec<OpIx> {
        extract.entries.iter().map(|at| self.entries[*at].op).collect()
    }

    /// Discards operations on which no later event can depend. The whole extract must be linearizable.
    fn settle(&mut self, extract: &Extract) {
        let before = self.entries.len();
        let mut is_kept = vec![true; before];
        if extract.repeated.is_empty() && self.collection != Collection::Deque {
            mark_settled(self.collection, &self.entries, extract, &mut is_kept);
        }
        for (entry, is_kept) in self.entries.iter().zip(&mut is_kept) {
            *is_kept &= entry.doing != Doing::Failed;
        }
        for (entry, _) in self.entries.iter().zip(&is_kept).filter(|(_, is_kept)| !**is_kept) {
            if let Doing::Take(value) = entry.doing
                && self.values.get(&value) == Some(&Life::Taken)
            {
                self.values.remove(&value);
            }
        }
        let mut kept = is_kept.into_iter();
        self.entries.retain(|_| kept.next().unwrap_or(true));
        self.settled += before - self.entries.len();
        self.open.clear();
        let open = self.entries.iter().enumerate().filter(|(_, entry)| entry.is_open());
        self.open.extend(open.map(|(at, entry)| (entry.op, at)));
    }
}
