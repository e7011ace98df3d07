//! A set that is read as a whole: values are added, possibly more than once, and are never removed.
//!
//! **What is settled.** Let E be the first call of an operation that is in flight, and R the read that returned the
//! most values among those that returned before E. Every operation that has not been called or has not returned yet
//! follows R, or was called after its return. So the values that R returned may count as initial values, and their
//! adds, and all reads that returned no more, are discarded. This is complete: in the blocks of the monitor's theorem
//! these operations precede all others that are kept or still to come. A contradiction needs an operation that returned
//! before another in an earlier block was called. If both are known now, it was found now, since the block of an
//! operation can only move before what is still to come. If the one returns later, it does so after the call of the
//! other. A read still to come that lacks a value of R is refused either way. An add of such a value that is in flight
//! was called after the return of R, so another one was called before it, and this one adds nothing.
//!
//! A crashed add may have happened at any time: it is discarded once R returns its value.

use super::{Contradiction, TIDY_MIN, Verdict, refusal, unknown};
use crate::Reason;
use crate::engine::ops::{NEVER, OpIx, Seq};
use check_register::models::{Set, SetOp};
use check_register::{Answer, Engine, Handling, Operation, Settings, check_with};
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use history_core::{Budget, IntMap};

/// The effect of an operation, as far as it is known. Values have [numbers](Numbers).
#[derive(Debug)]
enum Doing {
    Add(i64),
    /// It returned these values, sorted.
    Read(Box<[i64]>),
    /// It is a read, or has no known effect.
    Open,
    /// It has no effect that matters, or did not happen.
    Nothing,
}

#[derive(Debug)]
struct Entry {
    op: OpIx,
    call: Seq,
    /// `NEVER` until it returns.
    ret: Seq,
    is_in_flight: bool,
    doing: Doing,
}

impl Entry {
    /// The number of values that the entry stores.
    fn size(&self) -> usize {
        if let Doing::Read(values) = &self.doing { values.len() } else { 0 }
    }

    fn operation(&self, until: Seq) -> Option<Operation<SetOp>> {
        let has_returned = self.ret <= until && self.ret != NEVER;
        let op = match &self.doing {
            Doing::Add(value) => SetOp::Add(*value),
            Doing::Read(values) if has_returned => SetOp::Read(values.clone()),
            Doing::Read(_) | Doing::Open | Doing::Nothing => return None,
        };
        let ret = has_returned.then_some(self.ret);
        (self.call <= until).then_some(Operation { process: 0, op, call: self.call, ret })
    }
}

/// Numbers of values, from 0 on. A monitor that refuses a read describes the values it returned; only the model of the
/// whole history can describe them.
#[derive(Default)]
struct Numbers(IntMap<i64>);

impl Numbers {
    fn of(&mut self, value: i64) -> i64 {
        if let Some(number) = self.0.get(value) {
            return *number;
        }
        let number = self.0.len().to_i64();
        self.0.insert(value, number);
        number
    }

    fn of_all(&mut self, values: &[i64]) -> Vec<i64> {
        let mut numbers: Vec<i64> = values.iter().map(|value| self.of(*value)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// The operations that are not settled.
pub(crate) struct Sets {
    numbers: Numbers,
    /// Initial values and settled values, sorted.
    contents: Vec<i64>,
    /// The operations in the order of their calls.
    entries: Vec<Entry>,
    /// By operation in flight: the position of its entry.
    open: HashMap<OpIx, usize>,
    /// The number of values in the entries.
    size: usize,
    /// The number of returns and of their values since the last decision or settlement.
    work: usize,
    /// The amount of work that triggers the next one.
    due: usize,
    settled: usize,
}

/// Up to this number of operations and values, every return is decided.
const FEW: usize = 64;

/// Values of reads that take as much memory as one operation.
const VALUES_AN_OP: usize = 8;

impl Sets {
    pub(super) fn new(contents: &[i64]) -> Sets {
        let mut numbers = Numbers::default();
        let contents = numbers.of_all(contents);
        let (entries, open) = (Vec::new(), HashMap::default());
        Sets { numbers, contents, entries, open, size: 0, work: 0, due: TIDY_MIN, settled: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len() + self.size / VALUES_AN_OP
    }

    pub(super) fn ops(&self) -> impl Iterator<Item = OpIx> {
        self.entries.iter().map(|entry| entry.op)
    }

    pub(super) fn call(&mut self, op: OpIx, seq: Seq, handling: Option<Handling<'_>>) -> bool {
        let doing = match handling {
            Some(Handling::Put(value)) => Doing::Add(self.numbers.of(value)),
            None => Doing::Open,
            Some(Handling::Take(_) | Handling::Nothing | Handling::Any | Handling::All(_)) => return false,
        };
        self.open.insert(op, self.entries.len());
        self.entries.push(Entry { op, call: seq, ret: NEVER, is_in_flight: true, doing });
        true
    }

    pub(super) fn complete(&mut self, op: OpIx, seq: Seq, handling: Option<Handling<'_>>) -> bool {
        let Some(at) = self.open.remove(&op) else { return false };
        let entry = &mut self.entries[at];
        entry.is_in_flight = false;
        match (&entry.doing, handling) {
            (Doing::Add(value), Some(Handling::Put(same))) if *value == self.numbers.of(same) => {}
            (Doing::Open, Some(Handling::All(values))) => entry.doing = Doing::Read(self.numbers.of_all(values).into()),
            (Doing::Open, None) => entry.doing = Doing::Nothing,
            _ => return false,
        }
        entry.ret = seq;
        self.size += entry.size();
        self.work += 1 + entry.size();
        true
    }

    pub(super) fn fail(&mut self, op: OpIx) -> bool {
        let Some(at) = self.open.remove(&op) else { return false };
        (self.entries[at].is_in_flight, self.entries[at].doing) = (false, Doing::Nothing);
        true
    }

    pub(super) fn crash(&mut self, op: OpIx, handling: Option<Handling<'_>>) -> bool {
        let Some(at) = self.open.remove(&op) else { return false };
        let entry = &mut self.entries[at];
        entry.is_in_flight = false;
        match (&entry.doing, handling) {
            (Doing::Add(value), Some(Handling::Put(same))) => *value == self.numbers.of(same),
            (Doing::Open, None) => {
                entry.doing = Doing::Nothing;
                true
            }
            _ => false,
        }
    }

    pub(super) fn is_due(&mut self) -> bool {
        self.work >= self.due
    }

    pub(super) fn tidy(&mut self) {
        self.settle();
        self.rest(TIDY_MIN, 2);
    }

    /// Delays the next decision until there is more work: `least`, and `1 / parts` of the current size beyond `FEW`.
    fn rest(&mut self, least: usize, parts: usize) {
        self.work = 0;
        let there = self.entries.len() + self.size + self.contents.len();
        self.due = least + there.saturating_sub(FEW) / parts;
    }

    pub(super) fn decide(&mut self, configurations_max: usize, budget: &Budget) -> Verdict {
        let answer = self.answer(NEVER, configurations_max, budget).1;
        let verdict = match answer.verdict() {
            history_core::Verdict::Valid => {
                self.settle();
                Verdict::Ok
            }
            history_core::Verdict::Unknown => Verdict::Unknown(unknown(&answer)),
            history_core::Verdict::Invalid => {
                self.contradiction(configurations_max).map_or(Verdict::Unknown(Reason::Full), Verdict::Violation)
            }
        };
        self.rest(1, 8);
        verdict
    }

    /// The decision up to an event, and the entries of its operations.
    fn answer(&self, until: Seq, most: usize, budget: &Budget) -> (Vec<OpIx>, Answer) {
        let known = self.entries.iter().filter_map(|entry| Some((entry.op, entry.operation(until)?)));
        let (ops, operations): (Vec<OpIx>, Vec<Operation<SetOp>>) = known.unzip();
        let settings = Settings { engine: Engine::Monitor, configurations_max: most };
        let set = Set::starting_with(self.contents.iter().copied());
        (ops, check_with(&set, &operations, settings, budget))
    }

    fn contradiction(&self, most: usize) -> Option<Contradiction> {
        let returns = self.entries.iter().map(|entry| entry.ret).filter(|ret| *ret != NEVER).collect();
        let budget = Budget::default();
        let is_refused = |until| refusal(self.answer(until, most, &budget).1).is_some();
        super::contradiction(returns, self.settled, is_refused, |until| {
            let (ops, answer) = self.answer(until, most, &budget);
            Some((ops, refusal(answer)?))
        })
    }

    /// Discards settled operations. All events so far must be linearizable.
    fn settle(&mut self) {
        let in_flight = self.entries.iter().filter(|entry| entry.is_in_flight);
        let first = in_flight.map(|entry| entry.call).min().unwrap_or(NEVER);
        let reads = self.entries.iter().enumerate().filter(|(_, entry)| entry.ret < first);
        // The results of reads that returned are a chain.
        let most = reads.max_by_key(|(_, entry)| entry.size()).map(|(at, _)| at);
        if let Some(at) = most
            && let Doing::Read(values) = &self.entries[at].doing
            && values.len() > self.contents.len()
        {
            self.contents = values.to_vec();
        }
        let contents = &self.contents;
        let before = self.entries.len();
        self.entries.retain(|entry| match &entry.doing {
            Doing::Add(value) => contents.binary_search(value).is_err() || entry.is_in_flight,
            Doing::Read(values) => values.len() > contents.len(),
            Doing::Open => true,
            Doing::Nothing => false,
        });
        self.settled += before - self.entries.len();
        self.size = self.entries.iter().map(Entry::size).sum();
        self.open.clear();
        let open = self.entries.iter().enumerate().filter(|(_, entry)| entry.is_in_flight);
        self.open.extend(open.map(|(at, entry)| (entry.op, at)));
    }
}
