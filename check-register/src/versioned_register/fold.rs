//! The fold: each op is processed once, and passed to its register.

mod completions;

use super::clock::{Clock, Order};
use super::ops::{Proposal, Seen};
use super::outcome::Counts;
use super::packed::Packed;
use super::registers::Registers;
use super::registers::by_time::ByTime;
use super::request::{Call, Request, split};
use super::versions::{At, ClientId, KeyId, NO_TIME, VersionId, flag};
use super::{outcome, replay};
use crate::engine::ids;
use history_core::{HistoryError, NAMELESS, NextStep, Op, OpKind, Pair, Process, Report, Value, Verdict};

/// The place of the key in an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keying {
    /// There is no key: the history has one register.
    None,
    /// In the field `:key`.
    Field,
    /// Before its value.
    Value,
}

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    call: Call,
    key: KeyId,
    /// The place of the head at the invocation of a read.
    head_at: u32,
    /// The version of a write; `NONE` if the register is no longer examined.
    version: VersionId,
    proposal: Proposal,
}

/// The reason why an op ends the run.
#[derive(Debug)]
pub(crate) enum OpFault {
    /// It is no op of a versioned register.
    Malformed(String),
    /// It is an `ok` read that does not record which version it returned. A read changes nothing, so a violation of the
    /// other ops remains one.
    Unread(String),
    Error(HistoryError),
}

impl From<HistoryError> for OpFault {
    fn from(error: HistoryError) -> OpFault {
        OpFault::Error(error)
    }
}

fn unread<T>(reason: &str) -> Result<T, OpFault> {
    Err(OpFault::Unread(reason.to_owned()))
}

fn malformed<T>(reason: String) -> Result<T, OpFault> {
    Err(OpFault::Malformed(reason))
}

/// The check of one history, whose keys are at a given place.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    keying: Keying,
    registers: Registers,
    clock: Clock,
    /// By slot. An entry remains after its operation has completed.
    flights: Vec<Flight>,
    /// Whether there were ops with an unknown invocation or completion.
    has_nameless: bool,
    /// Whether one of these is an invocation.
    has_lone_invocation: bool,
    counts: Counts,
}

impl Fold {
    pub(crate) fn new(keying: Keying, registers: Registers) -> Fold {
        Fold {
            keying,
            registers,
            clock: Clock::default(),
            flights: Vec::new(),
            has_nameless: false,
            has_lone_invocation: false,
            counts: Counts::default(),
        }
    }

    /// The maximum number of rows of versions at one time.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> usize {
        self.registers.versions.rows()
    }

    /// Processes the next op of a client.
    #[inline]
    pub(crate) fn take(&mut self, op: &Op<'_>, request: &Request<'_>) -> Result<(), OpFault> {
        let client = match op.process {
            Process::Client(process) => self.clock.client(process, op, &mut self.registers.clients),
            Process::Other(_) | Process::Unknown => ClientId::NONE,
        };
        let at = At { index: op.index, time_ns: op.time.unwrap_or(NO_TIME) };
        if op.pair == Pair::Alone && self.is_violated() {
            return malformed("the op has no invocation or completion, but all ops before it have one".to_owned());
        }
        if !self.registers.settings.in_order
            && self.clock.tick(at.index, at.time_ns, client)
            && !self.registers.has_forgotten
        {
            self.registers.by_time = Some(ByTime::new(&self.registers.versions));
            self.registers.keeps_all = true;
        }
        let (key, value) = self.split(op, request)?;
        match (op.kind, op.pair) {
            (OpKind::Invoke, _) => self.invoke(op, request, key, value, at, client),
            (kind, Pair::Completes { slot, invoked, invoked_time_ns }) => {
                self.count(kind);
                let invoked = At { index: invoked, time_ns: invoked_time_ns.unwrap_or(NO_TIME) };
                let flight = self.flights[ids::index(slot)];
                self.complete(flight, invoked, op, request, (key, value), Seen { at, client, is_read: false })
            }
            (kind, _) => {
                self.count(kind);
                self.complete_alone(op, request, (key, value), Seen { at, client, is_read: false })
            }
        }
    }

    fn count(&mut self, kind: OpKind) {
        match kind {
            OpKind::Ok => self.counts.ok += 1,
            OpKind::Fail => self.counts.fail += 1,
            OpKind::Info | OpKind::Invoke => self.counts.info += 1,
        }
    }

    /// The key of an op, if it has one, and its value without the key.
    #[inline]
    fn split<'a>(&mut self, op: &Op<'a>, request: &Request<'a>) -> Result<(Option<Packed>, Value<'a>), OpFault> {
        match (self.keying, op.kind) {
            (Keying::None, _) if request.key.is_none() => Ok((Some(Packed::NIL), op.value)),
            (Keying::None, _) => malformed("the op has a :key, but ops before it have none".to_owned()),
            (Keying::Field, _) => Ok((request.key.map(|key| self.registers.interner.pack(key)), op.value)),
            (Keying::Value, kind) => match split(op.value) {
                Some((key, value)) => Ok((Some(self.registers.interner.pack(key)), value)),
                None if op.value.is_nil() || matches!(kind, OpKind::Fail | OpKind::Info) => Ok((None, Value::Nil)),
                None => malformed(format!(
                    "the op's value is {}; expected a vector of a key and a value, as in all ops before it",
                    op.value
                )),
            },
        }
    }

    fn invoke(
        &mut self,
        op: &Op<'_>,
        request: &Request<'_>,
        key: Option<Packed>,
        value: Value<'_>,
        at: At,
        client: ClientId,
    ) -> Result<(), OpFault> {
        // The request of an invocation contains its call.
        let call = request.call.unwrap_or(Call::Read);
        let (key, head_at) = match key {
            Some(key) => {
                let key = self.registers.key(key)?;
                (key, self.registers.register(key).head_place)
            }
            None if call == Call::Read => (KeyId::NONE, 0),
            None => return malformed("the write has no key, but ops before it have one".to_owned()),
        };
        let slot = match op.pair {
            Pair::Invokes { slot } => Some(ids::index(slot)),
            Pair::Alone | Pair::Completes { .. } => None,
        };
        self.has_nameless |= slot.is_none();
        self.has_lone_invocation |= slot.is_none();
        let flags = if slot.is_some() { flag::OPEN } else { 0 };
        let mut flight = Flight {
            call,
            key,
            head_at,
            version: VersionId::NONE,
            proposal: Proposal { id: Packed::NIL, prev: Packed::NIL, value: Packed::NIL, at, client, flags },
        };
        match call {
            Call::Read => self.counts.reads += 1,
            Call::Write => {
                self.counts.writes += 1;
                flight.proposal = self.proposal(request, value, flight.proposal)?;
                flight.version = self.registers.propose(key, &flight.proposal)?.unwrap_or(VersionId::NONE);
            }
        }
        if let Some(slot) = slot {
            if slot >= self.flights.len() {
                self.flights.resize(slot + 1, flight);
            }
            self.flights[slot] = flight;
        }
        Ok(())
    }

    fn proposal(&mut self, request: &Request<'_>, value: Value<'_>, so_far: Proposal) -> Result<Proposal, OpFault> {
        let id = match request.id {
            None | Some(Value::Nil) => return malformed("the write has no :write-id".to_owned()),
            Some(id) => self.registers.interner.pack(id),
        };
        let Some(prev) = request.prev else {
            return malformed(
                "the write has no :prev-write-id (nil is allowed, if that is the initial version)".to_owned(),
            );
        };
        let interner = &mut self.registers.interner;
        Ok(Proposal { id, prev: interner.pack(prev), value: interner.pack(value), ..so_far })
    }

    /// Returns true if an anomaly was found and is final: no later op can turn out to be earlier.
    pub(crate) fn is_violated(&self) -> bool {
        let is_in_order = self.registers.settings.in_order || self.clock.is_of_file();
        is_in_order && !self.has_nameless && self.registers.has_found()
    }

    /// As `is_violated`, on the assumption that no later op has an earlier time.
    pub(crate) fn is_violated_so_far(&self) -> bool {
        let is_in_order = self.registers.settings.in_order || self.clock.disorder().is_none();
        is_in_order && !self.has_nameless && self.registers.has_found()
    }

    /// Records the time of an op that is not checked: it cannot be read, or comes after one that cannot.
    pub(crate) fn pass(&mut self, op: &Op<'_>) {
        let client = match op.process {
            Process::Client(process) => self.clock.client(process, op, &mut self.registers.clients),
            Process::Other(_) | Process::Unknown => ClientId::NONE,
        };
        // Its operation may have begun before all ops of the anomalies found.
        self.has_nameless |= op.pair == Pair::Alone && op.kind != OpKind::Invoke && !self.is_violated();
        self.clock.tick(op.index, op.time.unwrap_or(NO_TIME), client);
    }

    /// The report with the anomalies of a history that [is violated](Fold::is_violated).
    pub(crate) fn so_far(mut self, others: u64) -> Report {
        self.registers.report_garbage(false);
        outcome::report(self.registers, self.counts, others, Vec::new())
    }

    /// The report with the anomalies that hold in any order of the ops, if there are any.
    fn finish_in_any_order(mut self, others: u64, note: String, next: NextStep) -> Report {
        let is_clear = !self.registers.has_forgotten && self.registers.all.iter().all(|register| !register.stopped);
        self.registers.findings.clear_ordered();
        if !is_clear || self.registers.findings.is_clean() {
            return outcome::unknown(note, next);
        }
        let read = "The anomalies found do not depend on the order of the ops. Other anomalies were not searched for."
            .to_owned();
        outcome::report(self.registers, self.counts, others, vec![note, read])
    }

    /// Ends the history and returns the report.
    pub(crate) fn finish(mut self, others: u64) -> Result<Report, HistoryError> {
        let mut notes = Vec::new();
        let order = match (self.clock.disorder(), self.has_nameless) {
            (Some(index), _) => {
                if let Some((note, next)) = outcome::why_no_order(&self.clock, &self.registers, index) {
                    return Ok(self.finish_in_any_order(others, note, next));
                }
                Some(Order::TimeThenIndex)
            }
            (None, true) if self.registers.has_forgotten => {
                return Ok(outcome::unknown(outcome::NAMELESS_FORGOTTEN.to_owned(), outcome::keep_all()));
            }
            (None, true) => Some(Order::Index),
            (None, false) => None,
        };
        if let Some(order) = order {
            replay::replay(&mut self.registers, order)?;
            self.registers.report_garbage(true);
            if order == Order::TimeThenIndex && !self.registers.findings.is_clean() {
                replay::replay(&mut self.registers, Order::Time)?;
                self.registers.report_garbage(true);
                if self.registers.findings.is_clean() {
                    notes.push(outcome::TIED.to_owned());
                }
            }
            if self.registers.all.iter().any(|register| register.stopped) {
                self.registers.findings.clear_lasting();
            }
        } else {
            self.registers.report_garbage(true);
        }
        let is_tied = !notes.is_empty();
        if self.has_lone_invocation {
            notes.insert(0, NAMELESS.0.to_owned());
        }
        let mut report = outcome::report(self.registers, self.counts, others, notes);
        if self.has_lone_invocation && report.verdict == Verdict::Unknown {
            report.add_next(NextStep::new(NAMELESS.1));
        }
        if is_tied {
            report.add_next(outcome::record_times());
        }
        Ok(report)
    }
}
