//! Collections into which no value is put twice, decided by check-register's monitors where a search takes too long.
//!
//! A ledger lists the operations of a queue or a stack, whoever decides what they mean. At first that is the search. Where
//! it holds many configurations ([`SEARCHED_MAX`]) it is given up, and from then on a monitor decides what the ledger has:
//! whenever its operations have become an eighth more, and at the end. So a violation is found somewhat later than it
//! happens, but the operation that is named is the same; what is said in between is that none was found so far.
//!
//! **What is known** of a history up to an event is what the operations that returned did. Those in flight may have
//! happened or not, and may have taken out anything. A history that is refused stays so, so the first event up to
//! which it is refused is found by bisection.
//!
//! **What is settled** is forgotten. Let E be the first call of an operation that is in flight, or of a take that
//! crashed, or of one that found nothing and returned behind these. A value is *done* if it was taken by an operation
//! that returned before E, and a history that is linearizable up to now is so in all that follows if and only if it is
//! without the values that are done:
//!
//! - *Queues.* A value that is done can contradict only one that was put in before it (or after it) and is taken out
//!   after it (or before it); of both the operations that matter have returned. Operations that found nothing before E
//!   met values all of whose operations that matter had returned as well; those that return later are called behind E.
//! - *Stacks.* Let K be the last moment up to E at which no take of a value was in flight that others can be below
//!   or above of, so that each value is either done before K or taken behind it. Let S be those that are done, which
//!   have a linearization. The others are pushed while no value of S is there for sure: it would be above one of them
//!   when it leaves. And that is enough: S has a linearization in which the stack is empty of S whenever it can be
//!   (the monitor's proof of peeling), so whatever is pushed then lies below. So of S only values are kept that are
//!   there for sure at some time while a value that is still there was being pushed.
//!
//! **A value that comes back** counts as a new one if a take of the old one had returned when it was put in again: no
//! linearization mixes them up. If none had, the values are not distinct, and the ledger is of no use.

use crate::ops::{NEVER, OpIx, Seq};
use check_register::models::{FifoQueue, QueueOp, Removed, Stack, UnorderedQueue};
use check_register::{Answer, Collection, Conflict, Engine, Handling, Operation, Outcome, Settings, check_with};
use history_core::Budget;
use history_core::cast::Cast as _;
use history_core::hash::{HashMap, HashSet};

/// As many configurations may a search hold before it is given up for a monitor.
pub(crate) const SEARCHED_MAX: usize = 32;

/// As many may it hold at the most as long as a monitor can go on in its place.
pub(crate) const LEDGER_CONFIGURATIONS_MAX: usize = 1 << 12;

/// As many may a search hold that decides in between where no monitor can.
pub(crate) const FALLBACK_MAX: usize = 10_000;

/// Returns after which a ledger is settled at the soonest while a search decides.
const TIDY_MIN: usize = 64;

/// What an operation does, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    Put(i64),
    Take(i64),
    /// It found nothing.
    Nothing,
    /// It takes something out, or finds nothing.
    Open,
    /// It did not happen.
    Failed,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// `NONE` if it put in what was there at the start.
    op: OpIx,
    call: Seq,
    /// `NEVER` as long as it has not returned.
    ret: Seq,
    crashed: bool,
    doing: Doing,
}

impl Entry {
    fn is_open(&self) -> bool {
        self.ret == NEVER && !self.crashed && self.doing != Doing::Failed
    }
}

/// A value that was put in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    There,
    /// A take of it returned.
    Taken,
}

/// What was found out.
pub(crate) enum Verdict {
    Ok,
    Unknown,
    Violation(Contradiction),
}

/// Why what happened up to some event is not linearizable.
pub(crate) struct Contradiction {
    pub(crate) refused: OpIx,
    /// Operations that contradict each other; empty if only a search found that.
    pub(crate) conflict: Vec<OpIx>,
    /// Operations that were settled before.
    pub(crate) settled: u64,
}

/// The operations that are not settled.
pub(crate) struct Ledger {
    collection: Collection,
    /// In the order of their calls.
    entries: Vec<Entry>,
    /// By operation in flight, its entry.
    open: HashMap<OpIx, usize>,
    values: HashMap<i64, Life>,
    /// Returns until it is decided again.
    countdown: usize,
    settled: u64,
    /// Whether a value was put in while it was there.
    is_repeated: bool,
    /// Time starts here: what was there at the start was put in before.
    start: Seq,
}

/// Some of the entries as operations for the monitor.
struct Extract {
    operations: Vec<Operation<QueueOp>>,
    /// By operation, the entry.
    entries: Vec<usize>,
    /// By number of a value: its put and its take, if they are here.
    moved: Vec<(Option<usize>, Option<usize>)>,
    /// Numbers of values that were put in again while they may have been there, or taken again.
    repeated: HashSet<usize>,
}

impl Ledger {
    /// `None` if a collection has no ledger.
    pub(crate) fn new(collection: Collection, contents: &[i64]) -> Option<Ledger> {
        if matches!(collection, Collection::Set | Collection::Priority) {
            return None;
        }
        let start = 2 * contents.len().to_u64();
        let mut ledger = Ledger {
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
            let doing = Doing::Put(*value);
            ledger.entries.push(Entry { op: OpIx::NONE, call: 2 * at, ret: 2 * at + 1, crashed: false, doing });
            if ledger.values.insert(*value, Life::There).is_some() {
                return None;
            }
        }
        Some(ledger)
    }

    /// How many operations it has.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The operations that it may speak of.
    pub(crate) fn ops(&self) -> impl Iterator<Item = OpIx> {
        self.entries.iter().map(|entry| entry.op).filter(|op| *op != OpIx::NONE)
    }

    /// An operation is called. Whether the values are still distinct.
    pub(crate) fn call(&mut self, op: OpIx, seq: Seq, handling: Option<Handling<'_>>) -> bool {
        let doing = match handling {
            Some(Handling::Put(value)) => {
                self.is_repeated |= self.values.insert(value, Life::There) == Some(Life::There);
                Doing::Put(value)
            }
            Some(Handling::Any) | None => Doing::Open,
            Some(Handling::Take(_) | Handling::Nothing | Handling::All(_)) => return false,
        };
        self.open.insert(op, self.entries.len());
        let call = self.start + seq;
        self.entries.push(Entry { op, call, ret: NEVER, crashed: false, doing });
        !self.is_repeated
    }

    /// Whether a value was put in while it may have been there. Only a search can decide what follows.
    pub(crate) fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    /// An operation returns, and did this. Whether the ledger can go on.
    pub(crate) fn complete(&mut self, op: OpIx, seq: Seq, handling: Option<Handling<'_>>) -> bool {
        let Some(at) = self.open.remove(&op) else { return false };
        let ret = self.start + seq;
        let entry = &mut self.entries[at];
        let doing = match (entry.doing, handling) {
            (Doing::Put(value), Some(Handling::Put(same))) if value == same => entry.doing,
            (Doing::Open, Some(Handling::Take(value))) => {
                // A value that is not there yet may be put in later, but this one is refused now.
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

    /// An operation did not happen.
    pub(crate) fn fail(&mut self, op: OpIx) -> bool {
        let Some(at) = self.open.remove(&op) else { return false };
        if let Doing::Put(value) = self.entries[at].doing {
            self.values.remove(&value);
        }
        self.entries[at].doing = Doing::Failed;
        true
    }

    /// It will not be known of an operation whether it happened; it may have done this. Whether the ledger can go on.
    pub(crate) fn crash(&mut self, op: OpIx, handling: Option<Handling<'_>>) -> bool {
        let Some(at) = self.open.remove(&op) else { return false };
        let entry = &mut self.entries[at];
        entry.crashed = true;
        match (entry.doing, handling) {
            (Doing::Put(value), Some(Handling::Put(same))) => value == same,
            (Doing::Open, Some(Handling::Any)) => true,
            _ => false,
        }
    }

    /// Whether it is time to decide again, or to settle, with one more return.
    pub(crate) fn is_due(&mut self) -> bool {
        self.countdown = self.countdown.saturating_sub(1);
        self.countdown == 0
    }

    /// Forgets what is settled. All that happened is linearizable.
    pub(crate) fn tidy(&mut self) {
        let extract = self.extract(NEVER);
        self.settle(&extract);
        self.countdown = TIDY_MIN + self.entries.len() / 2;
    }

    /// What is known up to now; forgets what is settled. A search where no monitor can decide may hold so many
    /// configurations.
    pub(crate) fn decide(&mut self, configurations_max: usize) -> Verdict {
        let extract = self.extract(NEVER);
        let verdict = match decide(self.collection, &extract, configurations_max).verdict() {
            history_core::Verdict::Valid => {
                self.settle(&extract);
                Verdict::Ok
            }
            history_core::Verdict::Unknown => Verdict::Unknown,
            history_core::Verdict::Invalid => {
                self.contradiction(configurations_max).map_or(Verdict::Unknown, Verdict::Violation)
            }
        };
        self.countdown = 1 + self.entries.len() / 8;
        verdict
    }

    /// What is known up to an event.
    fn extract(&self, until: Seq) -> Extract {
        let mut times: Vec<(Seq, bool, usize)> = Vec::with_capacity(2 * self.entries.len());
        for (at, entry) in self.entries.iter().enumerate().filter(|(_, entry)| entry.call <= until) {
            if entry.doing == Doing::Failed {
                continue;
            }
            times.push((entry.call, false, at));
            if entry.ret != NEVER && entry.ret <= until {
                times.push((entry.ret, true, at));
            }
        }
        times.sort_unstable();
        let mut extract =
            Extract { operations: Vec::new(), entries: Vec::new(), moved: Vec::new(), repeated: HashSet::default() };
        let mut place = vec![0; self.entries.len()];
        // The number of each value as it is now.
        let mut now: HashMap<i64, usize> = HashMap::default();
        for (time, is_return, at) in times {
            let doing = self.entries[at].doing;
            if !is_return {
                let op = match doing {
                    Doing::Put(value) => QueueOp::Put(extract.put(&mut now, value, at).to_i64()),
                    Doing::Take(_) | Doing::Nothing | Doing::Open | Doing::Failed => QueueOp::Take(Removed::Unknown),
                };
                place[at] = extract.operations.len();
                extract.operations.push(Operation::crashed(0, op, time));
                extract.entries.push(at);
                continue;
            }
            let op = match doing {
                Doing::Take(value) => QueueOp::Take(Removed::Value(extract.take(&mut now, value, at).to_i64())),
                Doing::Nothing => QueueOp::Take(Removed::Nothing),
                Doing::Put(_) | Doing::Open | Doing::Failed => extract.operations[place[at]].op,
            };
            let operation = &mut extract.operations[place[at]];
            (operation.op, operation.ret) = (op, Some(time));
        }
        extract
    }

    /// The first event up to which there is no linearization, and why. There is none up to now.
    fn contradiction(&self, most: usize) -> Option<Contradiction> {
        let mut returns: Vec<Seq> = self.entries.iter().map(|entry| entry.ret).filter(|ret| *ret != NEVER).collect();
        returns.sort_unstable();
        let refused = |until: Seq| {
            let extract = self.extract(until);
            let answer = decide(self.collection, &extract, most);
            let refusal = answer.parts.into_iter().find_map(|part| match part.outcome {
                Outcome::Refused(refusal) => Some(refusal),
                Outcome::Linearizable(_) | Outcome::Unknown(_) => None,
            });
            refusal.map(|refusal| (extract, refusal))
        };
        let (mut good, mut bad) = (0, returns.len().saturating_sub(1));
        while good < bad {
            let middle = usize::midpoint(good, bad);
            if refused(returns[middle]).is_some() {
                bad = middle;
            } else {
                good = middle + 1;
            }
        }
        let (extract, refusal) = refused(*returns.get(bad)?)?;
        let op = |at: usize| self.entries[extract.entries[at]].op;
        let conflict = refusal.conflict.as_ref().map(Conflict::operations).unwrap_or_default();
        let conflict = conflict.into_iter().map(op).filter(|op| *op != OpIx::NONE).collect();
        Some(Contradiction { refused: op(refusal.op), conflict, settled: self.settled })
    }

    /// Forgets what no later event can depend on. All of the extract is linearizable.
    fn settle(&mut self, extract: &Extract) {
        let before = self.entries.len();
        let mut is_kept = vec![true; before];
        if extract.repeated.is_empty() {
            self.mark_settled(extract, &mut is_kept);
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
        self.settled += (before - self.entries.len()).to_u64();
        self.open.clear();
        let open = self.entries.iter().enumerate().filter(|(_, entry)| entry.is_open());
        self.open.extend(open.map(|(at, entry)| (entry.op, at)));
    }

    fn mark_settled(&self, extract: &Extract, is_kept: &mut [bool]) {
        let entries = &self.entries;
        let is_waited_for = |entry: &&Entry| entry.is_open() || entry.crashed && entry.doing == Doing::Open;
        let first = entries.iter().filter(is_waited_for).map(|entry| entry.call).min().unwrap_or(NEVER);
        let mut until = first;
        for (entry, is_kept) in entries.iter().zip(&mut *is_kept).filter(|(entry, _)| entry.doing == Doing::Nothing) {
            *is_kept = entry.ret >= first;
            if *is_kept {
                until = until.min(entry.call);
            }
        }
        let both = extract.moved.iter().filter_map(|(put, take)| Some(((*put)?, (*take)?)));
        let moved: Vec<(usize, usize)> = both.collect();
        // A value whose put and take were in flight together bothers nobody.
        let is_flushed = |put: usize, take: usize| entries[take].call < entries[put].ret;
        if self.collection == Collection::Stack {
            let mut takes: Vec<&Entry> =
                moved.iter().filter(|(put, take)| !is_flushed(*put, *take)).map(|(_, take)| &entries[*take]).collect();
            takes.sort_unstable_by_key(|take| std::cmp::Reverse(take.ret));
            for take in takes {
                if take.ret >= until {
                    until = until.min(take.call);
                }
            }
        }
        let is_done = |take: usize| entries[take].ret < until;
        // Of puts of values that stay, by their calls, the last return so far.
        let mut pushed: Vec<(Seq, Seq)> = Vec::new();
        if self.collection == Collection::Stack {
            for (put, take) in &extract.moved {
                let stays = put.map(|put| &entries[put]).filter(|put| put.ret != NEVER && !take.is_some_and(is_done));
                pushed.extend(stays.map(|put| (put.call, put.ret)));
            }
            pushed.sort_unstable();
            let mut last = 0;
            for (_, ret) in &mut pushed {
                last = last.max(*ret);
                *ret = last;
            }
        }
        for (put, take) in moved.into_iter().filter(|(_, take)| is_done(*take)) {
            let called = pushed.partition_point(|(call, _)| *call < entries[take].call);
            let is_met = called > 0 && pushed[called - 1].1 > entries[put].ret && !is_flushed(put, take);
            if !is_met {
                (is_kept[put], is_kept[take]) = (false, false);
            }
        }
    }
}

impl Extract {
    /// The number of a value that is put in.
    fn put(&mut self, now: &mut HashMap<i64, usize>, value: i64, at: usize) -> usize {
        let new = self.moved.len();
        let number = match now.get(&value) {
            Some(number) if self.moved[*number].0.is_none() || self.moved[*number].1.is_none() => {
                self.repeated.insert(*number);
                *number
            }
            Some(number) if self.repeated.contains(number) => *number,
            _ => new,
        };
        if number == new {
            self.moved.push((Some(at), None));
            now.insert(value, number);
        }
        number
    }

    /// The number of a value that is taken out.
    fn take(&mut self, now: &mut HashMap<i64, usize>, value: i64, at: usize) -> usize {
        let new = self.moved.len();
        let number = *now.entry(value).or_insert(new);
        if number == new {
            self.moved.push((None, None));
        }
        if self.moved[number].1.replace(at).is_some() {
            self.repeated.insert(number);
        }
        number
    }
}

/// By the monitor, or else by a search that may hold so many configurations.
fn decide(collection: Collection, extract: &Extract, most: usize) -> Answer {
    let with = |engine: Engine, configurations_max: usize| {
        let (settings, budget) = (Settings { engine, configurations_max }, Budget::default());
        match collection {
            Collection::Fifo => check_with(&FifoQueue::default(), &extract.operations, settings, &budget),
            Collection::Stack => check_with(&Stack::default(), &extract.operations, settings, &budget),
            _ => check_with(&UnorderedQueue::default(), &extract.operations, settings, &budget),
        }
    };
    let answer = with(Engine::Monitor, most);
    if answer.verdict() == history_core::Verdict::Unknown { with(Engine::Portfolio, most) } else { answer }
}
