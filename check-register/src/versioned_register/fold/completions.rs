//! Completions: determines which version was observed, or whether a write happened, and verifies that completions agree
//! with their invocations.

use super::{Flight, Fold, OpFault, malformed, unread};
use crate::versioned_register::ops::{Proposal, Read, Seen};
use crate::versioned_register::packed::Packed;
use crate::versioned_register::request::{Call, Request};
use crate::versioned_register::versions::{At, KeyId, VersionId, flag};
use history_core::{HistoryError, Op, OpKind, Value};

impl Fold {
    pub(super) fn complete(
        &mut self,
        flight: Flight,
        invoked: At,
        op: &Op<'_>,
        request: &Request<'_>,
        (key, value): (Option<Packed>, Value<'_>),
        seen: Seen,
    ) -> Result<(), OpFault> {
        if let Some(call) = request.call.filter(|call| *call != flight.call) {
            let (call, invoked) = (call.name(), flight.call.name());
            return malformed(format!("the completion is a {call}, its invocation a {invoked}"));
        }
        if flight.key == KeyId::NONE {
            return self.complete_read_of_some_key(invoked, op.kind, request, (key, value), seen);
        }
        if let Some(key) = key.filter(|key| *key != self.registers.register(flight.key).key) {
            let invoked = self.registers.register(flight.key).key;
            let [key, invoked] = [key, invoked].map(|key| self.registers.interner.datum(key));
            return malformed(format!("the op has key {key}, its invocation {invoked}"));
        }
        match (flight.call, op.kind) {
            (Call::Read, OpKind::Ok) => {
                let id = self.read_id(request)?;
                let value = self.registers.interner.pack(value);
                let read = Read { id, value, invoked: Some(invoked), head_at: flight.head_at };
                self.registers.read(flight.key, &read, Seen { is_read: true, ..seen })?;
            }
            (Call::Read, _) => {}
            (Call::Write, kind) => {
                self.same_ids(&flight.proposal, request)?;
                if kind == OpKind::Ok && !value.is_nil() {
                    self.same("value", flight.proposal.value, value)?;
                }
                if flight.version != VersionId::NONE && !self.registers.register(flight.key).stopped {
                    self.end_write(flight.version, kind, seen)?;
                }
            }
        }
        Ok(())
    }

    /// Completes a read whose key is only in its completion.
    fn complete_read_of_some_key(
        &mut self,
        invoked: At,
        kind: OpKind,
        request: &Request<'_>,
        (key, value): (Option<Packed>, Value<'_>),
        seen: Seen,
    ) -> Result<(), OpFault> {
        if kind != OpKind::Ok {
            return Ok(());
        }
        let Some(key) = key else {
            return unread("the read has no key, but ops before it have one");
        };
        let key = self.registers.key(key)?;
        let id = self.read_id(request)?;
        let value = self.registers.interner.pack(value);
        let mut read = Read { id, value, invoked: Some(invoked), head_at: 0 };
        read.head_at = self.registers.known_before(key, &read, invoked, seen.at.index);
        Ok(self.registers.read(key, &read, Seen { is_read: true, ..seen })?)
    }

    fn end_write(&mut self, version: VersionId, kind: OpKind, seen: Seen) -> Result<(), HistoryError> {
        match kind {
            OpKind::Ok => self.registers.acknowledge(version, seen)?,
            OpKind::Fail => self.registers.fail(version),
            OpKind::Info | OpKind::Invoke => self.registers.crash(version),
        }
        Ok(())
    }

    fn read_id(&mut self, request: &Request<'_>) -> Result<Packed, OpFault> {
        match request.id {
            Some(id) => Ok(self.registers.interner.pack(id)),
            None => unread("the read completed ok without a :write-id"),
        }
    }

    /// Verifies that a completion names the same versions as its invocation, if it names any.
    fn same_ids(&mut self, proposal: &Proposal, request: &Request<'_>) -> Result<(), OpFault> {
        if let Some(id) = request.id.filter(|id| !id.is_nil()) {
            self.same("write-id", proposal.id, id)?;
        }
        match request.prev.filter(|prev| !prev.is_nil()) {
            Some(prev) => self.same("prev-write-id", proposal.prev, prev),
            None => Ok(()),
        }
    }

    fn same(&mut self, field: &str, invoked: Packed, completed: Value<'_>) -> Result<(), OpFault> {
        if self.registers.interner.pack(completed) == invoked {
            return Ok(());
        }
        let invoked = self.registers.interner.datum(invoked);
        malformed(format!("the write completed with :{field} {completed}, but was invoked with {invoked}"))
    }

    /// A completion with an unknown invocation.
    pub(super) fn complete_alone(
        &mut self,
        op: &Op<'_>,
        request: &Request<'_>,
        (key, value): (Option<Packed>, Value<'_>),
        seen: Seen,
    ) -> Result<(), OpFault> {
        self.has_nameless = true;
        let Some(call) = request.call else {
            return malformed("the op has no :f and no invocation".to_owned());
        };
        let is_ok = op.kind == OpKind::Ok;
        let key = match key {
            Some(key) => self.registers.key(key)?,
            // An op that did not certainly happen need not have a key.
            None if !is_ok => return Ok(()),
            None => return malformed("the op has no key, but ops before it have one".to_owned()),
        };
        match call {
            Call::Read if is_ok => {
                self.counts.reads += 1;
                let id = self.read_id(request)?;
                let value = self.registers.interner.pack(value);
                let read = Read { id, value, invoked: None, head_at: 0 };
                self.registers.read(key, &read, Seen { is_read: true, ..seen })?;
            }
            Call::Write if is_ok || request.id.is_some_and(|id| !id.is_nil()) => {
                self.complete_write_alone(op.kind, key, request, value, seen)?;
            }
            // Without an id it is unknown which write this was; the requested write may have happened.
            Call::Read | Call::Write => {}
        }
        Ok(())
    }

    fn complete_write_alone(
        &mut self,
        kind: OpKind,
        key: KeyId,
        request: &Request<'_>,
        value: Value<'_>,
        seen: Seen,
    ) -> Result<(), OpFault> {
        let Some(id) = request.id.filter(|id| !id.is_nil()) else {
            return malformed("the write has no :write-id".to_owned());
        };
        let id = self.registers.interner.pack(id);
        let invoked = self.registers.versions.find(key, id).filter(|version| {
            // A write that completed before cannot have this completion.
            let done = flag::ACKED | flag::FAILED | flag::OPEN | flag::NAMELESS;
            let row = &self.registers.versions[*version];
            row.has(flag::PROPOSED) && !row.has(done)
        });
        let version = if let Some(version) = invoked {
            let row = &self.registers.versions[version];
            let (prev, value_then) = (row.prev, row.value);
            if let Some(prev_now) = request.prev.filter(|prev| !prev.is_nil()) {
                self.same("prev-write-id", prev, prev_now)?;
            }
            if kind == OpKind::Ok && !value.is_nil() {
                self.same("value", value_then, value)?;
            }
            Some(version)
        } else {
            self.counts.writes += 1;
            let (at, client) = (seen.at, seen.client);
            let blank = Proposal { id, prev: id, value: id, at, client, flags: flag::NAMELESS };
            let proposal = self.proposal(request, value, blank)?;
            self.registers.propose(key, &proposal)?
        };
        if let Some(version) = version.filter(|_| !self.registers.register(key).stopped) {
            self.end_write(version, kind, seen)?;
        }
        Ok(())
    }
}
