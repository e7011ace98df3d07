//! Witnesses: ops as they were recorded, the conclusions in sentences, and the part of the log that they concern.

pub(crate) mod excerpt;

use crate::columns::sightings::{Role, Sighting};
use crate::columns::{Function, KeyId, MsgId, NO_OFFSET, OpId};
use crate::logs::Logs;
use crate::seen::Seen;
use history_core::cast::Cast as _;
use history_core::explain::{self, Explanation};
use history_core::{Anomaly, Datum, Witness, WitnessOp};
use std::ops::Range;

/// The maximum number of parts of one op in a witness.
const SHOWN_MAX: usize = 16_384;

/// The maximum number of messages in a sentence.
const LISTED_MAX: usize = 8;

/// The data for witnesses.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) seen: &'a Seen,
    pub(crate) logs: &'a Logs<'a>,
}

/// An anomaly, before it is explained in text.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The ops of the anomaly, in the order of their names: T1, T2, ...
    pub(crate) ops: Vec<OpId>,
    pub(crate) facts: Vec<(&'static str, Datum)>,
    /// The conclusions, without full stops.
    pub(crate) sentences: Vec<String>,
    /// The log, and the relevant offsets in it.
    pub(crate) place: Option<(KeyId, Vec<i64>)>,
}

impl Evidence {
    /// Creates the evidence of an anomaly of a log, shown by these ops.
    pub(crate) fn new(scene: Scene<'_>, key: KeyId, ops: Vec<OpId>) -> Evidence {
        let facts = vec![("key", scene.key(key))];
        Evidence { ops, facts, sentences: Vec::new(), place: Some((key, Vec::new())) }
    }

    pub(crate) fn fact(mut self, name: &'static str, datum: impl Into<Datum>) -> Evidence {
        self.facts.push((name, datum.into()));
        self
    }

    pub(crate) fn sentence(mut self, sentence: String) -> Evidence {
        self.sentences.push(sentence);
        self
    }

    /// Adds the offsets of these messages to the relevant ones.
    pub(crate) fn around(mut self, scene: Scene<'_>, messages: &[MsgId]) -> Evidence {
        if let Some((_, offsets)) = &mut self.place {
            offsets.extend(messages.iter().filter_map(|msg| scene.offset(*msg)));
        }
        self
    }

    /// Adds an op, unless it is present. Returns its name.
    pub(crate) fn name(&mut self, op: OpId) -> String {
        let at = self.ops.iter().position(|other| *other == op).unwrap_or_else(|| {
            self.ops.push(op);
            self.ops.len() - 1
        });
        explain::name(at)
    }

    /// Adds ops that show the places of messages, if the present ops do not.
    pub(crate) fn prove_places(mut self, scene: Scene<'_>, messages: &[MsgId]) -> Evidence {
        for msg in messages {
            if self.ops.iter().any(|op| scene.shows_place(*op, *msg)) {
                continue;
            }
            if let Some(index) = scene.logs.index(*msg) {
                let entry = scene.logs.chosen(scene.seen.messages.key(*msg), index);
                let name = self.name(entry.op);
                self.sentences.push(format!("{name} shows {} at offset {}", scene.message(*msg), entry.offset));
            }
        }
        self
    }
}

impl<'a> Scene<'a> {
    /// The messages of a segment with their offsets.
    pub(crate) fn sightings(self, range: Range<u32>) -> impl Iterator<Item = Sighting> + 'a {
        self.seen.ops.shown.sightings(range, &self.seen.messages)
    }

    pub(crate) fn key(self, key: KeyId) -> Datum {
        self.seen.messages.key_datum(key)
    }

    pub(crate) fn message(self, msg: MsgId) -> Datum {
        self.seen.messages.datum(msg)
    }

    /// The offset of a message in the version order of its log.
    pub(crate) fn offset(self, msg: MsgId) -> Option<i64> {
        let index = self.logs.index(msg)?;
        Some(self.logs.chosen(self.seen.messages.key(msg), index).offset)
    }

    /// A message with its offset: `7 (offset 3)`.
    pub(crate) fn placed(self, msg: MsgId) -> String {
        match self.offset(msg) {
            Some(offset) => format!("{} (offset {offset})", self.message(msg)),
            None => format!("{} (offset unknown)", self.message(msg)),
        }
    }

    /// A list of messages: `4 (offset 2), 5 (offset 3), 2 more`.
    pub(crate) fn list(self, messages: &[MsgId]) -> String {
        let listed = messages.iter().take(LISTED_MAX).map(|msg| self.placed(*msg)).collect();
        explain::with_more(listed, messages.len()).join(", ")
    }

    /// Returns true if an op itself shows a message at its offset in the version order.
    fn shows_place(self, op: OpId, msg: MsgId) -> bool {
        let Some(offset) = self.offset(msg) else { return false };
        let ops = &self.seen.ops;
        let counts = |role| role == Role::Polled || role == Role::Sent && self.logs.is_committed(op);
        ops.segments(op)
            .filter(|(segment, _)| counts(segment.role()))
            .any(|(_, range)| self.sightings(range).any(|seen| seen.msg == msg && seen.offset == offset))
    }

    /// An op as it was recorded.
    pub(crate) fn op(self, name: String, op: OpId) -> WitnessOp {
        let ops = &self.seen.ops;
        WitnessOp {
            name,
            index: ops.index(op),
            process: ops.client(op),
            kind: ops.kind(op),
            time_ns: ops.time_ns(op),
            value: self.value(op),
        }
    }

    fn value(self, op: OpId) -> Datum {
        let ops = &self.seen.ops;
        let mut left = SHOWN_MAX;
        let mut mops: Vec<Datum> = Vec::new();
        for (segment, range) in ops.segments(op) {
            let key = segment.key();
            let shown = self.sightings(range);
            match segment.role() {
                Role::Assigned => mops.push(self.key(key)),
                Role::Poll => mops.push(Datum::Vector(vec![Datum::keyword("poll")])),
                Role::Sent => {
                    for seen in shown {
                        let message = if seen.offset == NO_OFFSET { self.message(seen.msg) } else { self.pair(seen) };
                        mops.push(Datum::Vector(vec![Datum::keyword("send"), self.key(key), message]));
                        left = left.saturating_sub(1);
                    }
                }
                Role::Polled => {
                    let pairs: Vec<Datum> = shown.take(left).map(|seen| self.pair(seen)).collect();
                    left = left.saturating_sub(pairs.len().max(1));
                    if let Some(Datum::Vector(poll)) = mops.last_mut() {
                        let entry = (self.key(key), Datum::Vector(pairs));
                        match poll.last_mut() {
                            Some(Datum::Map(entries)) => entries.push(entry),
                            _ => poll.push(Datum::Map(vec![entry])),
                        }
                    }
                }
            }
            if left == 0 {
                mops.push(Datum::Symbol("...".into()));
                break;
            }
        }
        Datum::Vector(mops)
    }

    fn pair(self, seen: Sighting) -> Datum {
        let offset = if seen.offset == NO_OFFSET { Datum::Nil } else { Datum::Int(seen.offset) };
        Datum::Vector(vec![offset, self.message(seen.msg)])
    }

    /// The name of an op in a sentence: `the poll`.
    pub(crate) fn noun(self, op: OpId) -> &'static str {
        match self.seen.ops.function(op) {
            Function::Send => "send",
            Function::Poll => "poll",
            Function::Txn => "transaction",
            Function::Assign | Function::AssignFromStart => "assignment",
            Function::Subscribe => "subscription",
        }
    }

    /// The witness of an anomaly, with its explanation.
    pub(crate) fn witness(self, evidence: &Evidence) -> Witness {
        let named = evidence.ops.iter().enumerate();
        let ops: Vec<WitnessOp> = named.map(|(at, op)| self.op(explain::name(at), *op)).collect();
        let mut explanation = Explanation::of(&ops);
        for sentence in &evidence.sentences {
            explanation.then(format_args!("{sentence}."));
        }
        let facts = evidence.facts.iter().map(|(name, datum)| ((*name).into(), datum.clone())).collect();
        Witness::new(ops, explanation.to_string()).with_facts(facts)
    }

    /// All anomalies of a type, of which these are shown; `None` if there are none.
    pub(crate) fn anomaly(self, name: &'static str, count: usize, shown: &[Evidence]) -> Option<Anomaly> {
        let witnesses = shown.iter().map(|evidence| self.witness(evidence)).collect();
        (count > 0).then(|| Anomaly { name: name.into(), count: count.to_u64(), witnesses })
    }
}
