//! Builds witnesses: names their ops, and collects the sentences about them.

use super::Explainer;
use crate::versioned_register::ops::{ReadOp, Seen};
use crate::versioned_register::packed::Packed;
use crate::versioned_register::versions::{NO_TIME, VersionId, flag};
use history_core::explain::{self, Explanation};
use history_core::{Datum, OpKind, Witness, WitnessOp};
use std::borrow::Cow;
use std::fmt::Write;

/// A witness that is being built.
pub(super) struct WitnessBuilder<'a> {
    explainer: &'a Explainer<'a>,
    pub(super) ops: Vec<WitnessOp>,
    facts: Vec<(Cow<'static, str>, Datum)>,
    explanation: Explanation,
}

impl<'a> WitnessBuilder<'a> {
    pub(super) fn new(explainer: &'a Explainer<'a>) -> WitnessBuilder<'a> {
        let mut facts = Vec::new();
        if explainer.register.key != Packed::NIL {
            facts.push(("key".into(), explainer.datum(explainer.register.key)));
        }
        WitnessBuilder { explainer, ops: Vec::new(), facts, explanation: Explanation::default() }
    }

    /// Adds an op, and returns its name.
    pub(super) fn op(&mut self, f: &str, kind: OpKind, seen: Seen, value: Packed, ids: &str) -> String {
        if let Some(same) = self.ops.iter().find(|op| op.index == seen.at.index && op.kind == kind) {
            return same.name.clone();
        }
        let process = self.explainer.client(seen.client);
        let value = self.explainer.datum(value);
        let name = explain::name(self.ops.len());
        let mut line = explain::op_start(seen.at.index, kind, process.as_ref());
        if seen.at.time_ns != NO_TIME {
            let _ = write!(line, ", :time {}", seen.at.time_ns);
        }
        let _ = write!(line, ", :f :{f}, :value {value}, {ids}}}");
        self.explanation.op(&*name, line);
        let time_ns = (seen.at.time_ns != NO_TIME).then_some(seen.at.time_ns);
        self.ops.push(WitnessOp { name: name.clone(), index: seen.at.index, process, kind, time_ns, value });
        name
    }

    pub(super) fn read(&mut self, read: &ReadOp) -> String {
        let ids = format!(":write-id {}", self.explainer.datum(read.id));
        self.op("read", OpKind::Ok, read.seen, read.value, &ids)
    }

    /// Adds the invocation of a version's write, or its completion if there is no invocation.
    pub(super) fn write(&mut self, version: VersionId) -> String {
        let row = &self.explainer.versions[version];
        let kind = match row.flags {
            flags if flags & flag::NAMELESS == 0 => OpKind::Invoke,
            flags if flags & flag::ACKED != 0 => OpKind::Ok,
            flags if flags & flag::FAILED != 0 => OpKind::Fail,
            _ => OpKind::Info,
        };
        let seen = Seen { at: row.written, client: row.writer, is_read: false };
        self.op("write", kind, seen, row.value, &self.explainer.ids(row))
    }

    /// Adds a completion that shows a version.
    pub(super) fn observer(&mut self, version: VersionId, seen: Seen) -> String {
        let row = &self.explainer.versions[version];
        if seen.is_read {
            let ids = format!(":write-id {}", self.explainer.datum(row.id));
            return self.op("read", OpKind::Ok, seen, row.value, &ids);
        }
        self.op("write", OpKind::Ok, seen, row.value, &self.explainer.ids(row))
    }

    pub(super) fn fact(&mut self, name: &'static str, value: Datum) {
        self.facts.push((name.into(), value));
    }

    pub(super) fn then(&mut self, sentence: String) {
        self.explanation.then(sentence);
    }

    pub(super) fn finish(self) -> Witness {
        let WitnessBuilder { ops, explanation, facts, .. } = self;
        Witness::new(ops, explanation.to_string()).with_facts(facts)
    }
}
