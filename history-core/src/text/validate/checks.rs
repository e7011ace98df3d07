//! Checks every op that could be read.

use super::findings::{Findings, Remark};
use super::kinds::Kinds;
use super::mops::{self, Mop, Written};
use super::rule::Rule;
use crate::cast::Cast as _;
use crate::hash::{HashMap, HashSet};
use crate::ops::batch::Batch;
use crate::ops::index::Indices;
use crate::ops::pairing::Misfit;
use crate::text::syntax::field::OwnField;
use crate::values::tape::Tag;
use crate::{Op, OpKind, Pair, Pairing, Participants, Position, Process, Value};

/// Up to this number of fields, comparing all pairs is the fastest way to find a duplicate.
const FEW_FIELDS: usize = 16;

/// The data about the ops so far.
#[derive(Default)]
pub(super) struct Checks {
    indices: Indices,
    pairing: Pairing,
    /// The invocation in flight in each slot.
    in_flight: Vec<Invoked>,
    written: Written,
    kinds: Kinds,
    /// The micro-ops of the current op.
    mops: Vec<Mop>,
    /// How the numbers of processes were written.
    processes: HashMap<i64, Spelled>,
    has_time: Option<bool>,
    last_time: Option<i64>,
    participants: Participants,
    unknown: u64,
}

/// The parts of an invocation that are compared with its completion.
#[derive(Default)]
struct Invoked {
    f: Option<String>,
    /// The text of its field `key`.
    key: Option<String>,
    /// Whether its value is a list of micro-ops, which then are in `mops`.
    is_txn: bool,
    mops: Vec<Mop>,
    line: u64,
}

#[derive(Default, Clone, Copy)]
struct Spelled {
    int: bool,
    text: bool,
    reported: bool,
}

impl Checks {
    pub(super) fn new(pairing: Pairing) -> Checks {
        Checks { pairing, ..Checks::default() }
    }

    /// The pairing of the history's ops.
    pub(super) fn pairing(&mut self) -> &mut Pairing {
        &mut self.pairing
    }

    /// The names in the client rule that no process had.
    pub(super) fn unmatched(&self) -> Vec<String> {
        self.pairing.unmatched().map(str::to_owned).collect()
    }

    pub(super) fn ops(&self) -> u64 {
        self.indices.ops()
    }

    /// Checks the `i`th op of a batch. `node` is its map, if it was written as a map.
    pub(super) fn op(&mut self, batch: &mut Batch, i: usize, node: Option<usize>, findings: &mut Findings) {
        let written = batch.records[i].index();
        let (index, misplaced) = match self.indices.next(written) {
            Ok(index) => (index, None),
            Err(error) => (self.indices.pass(written), Some(error)),
        };
        batch.records.to_mut()[i].set_index(index);
        let (placed, misfit) = self.pairing.place_anyway(&batch.head(i));
        batch.set_placed(i, &placed);
        let op = batch.op(i);
        let Some(position) = op.position else { return };
        let text = (&*batch.tape.source, batch.starts_at);
        if let Some(error) = misplaced {
            findings
                .add(Rule::Index, Some(position), text, || Remark { message: error.message, expected: error.expected });
        }
        if let Some(misfit) = misfit {
            let rule = match misfit {
                Misfit::Late | Misfit::Uninvoked(_) => Rule::UnpairedCompletion,
                Misfit::Early | Misfit::Reserved(_) => Rule::UnclearClient,
                Misfit::Busy(..) => Rule::DoubleInvocation,
                Misfit::Returned(_) => Rule::ProcessAfterInfo,
            };
            findings.add(rule, Some(position), text, || {
                let error = self.pairing.error(misfit);
                Remark { message: error.message, expected: error.expected }
            });
        }
        if let Some(node) = node {
            self.fields(batch, node, position, findings);
        }
        self.time(&op, position, text, findings);
        self.participants.see(&op);
        match op.process {
            Process::Client(_) => {}
            Process::Other(_) => return,
            Process::Unknown => self.unknown += 1,
        }
        self.value(&op, position, text, findings);
    }

    /// Checks the fields of an op as they are written.
    fn fields(&mut self, batch: &Batch, mut node: usize, position: Position, findings: &mut Findings) {
        let tape = &batch.tape;
        let text = (&*tape.source, batch.starts_at);
        while tape.nodes[node].tag == Tag::Tagged {
            node += 1;
        }
        let Value::Map(fields) = Value::at(tape, node) else { return };
        let mut names = HashSet::default();
        for (at, (key, value)) in fields.iter().enumerate() {
            let Some(name) = key.as_name() else { continue };
            match OwnField::from_name(name) {
                Some(OwnField::Process) => self.process(value, position, text, findings),
                Some(OwnField::F) if !value.is_nil() && value.as_name().is_none() => {
                    findings.add(Rule::OddFunction, Some(position), text, || {
                        Remark::new(format!("the op's f is {}, and is ignored", value.kind()))
                            .expected("a name, such as :read")
                    });
                }
                Some(_) => {}
                None => {
                    let twice = if fields.len() > FEW_FIELDS {
                        !names.insert(name)
                    } else {
                        fields.iter().take(at).any(|(other, _)| other.as_name() == Some(name))
                    };
                    if twice {
                        findings.add(Rule::DuplicateField, Some(position), text, || {
                            Remark::new(format!("the op has two fields named {name}")).expected("each field once")
                        });
                    }
                }
            }
        }
    }

    fn process(&mut self, value: Value<'_>, position: Position, text: (&str, u64), findings: &mut Findings) {
        let (number, is_text) = match value {
            Value::Int(number) => (number, false),
            other => match other.as_name().map(str::parse) {
                Some(Ok(number)) => (number, true),
                _ => return,
            },
        };
        let spelled = self.processes.entry(number).or_default();
        *(if is_text { &mut spelled.text } else { &mut spelled.int }) = true;
        if spelled.text && spelled.int && !std::mem::replace(&mut spelled.reported, true) {
            findings.add(Rule::MixedProcesses, Some(position), text, || {
                let (now, before) = if is_text { ("text", "an integer") } else { ("an integer", "text") };
                Remark::new(format!(
                    "process {number} is {now} here and {before} elsewhere; both are treated as one client"
                ))
                .expected("integers")
            });
        }
    }

    fn time(&mut self, op: &Op<'_>, position: Position, text: (&str, u64), findings: &mut Findings) {
        let first = *self.has_time.get_or_insert(op.time.is_some());
        // This problem is reported once.
        if first != op.time.is_some() && findings.of(Rule::MissingTime) == 0 {
            findings.add(Rule::MissingTime, Some(position), text, || {
                Remark::new(if first {
                    "this op has no time, though those before it have one"
                } else {
                    "this op has a time, though those before it have none"
                })
                .expected("a time in every op, or in none")
            });
        }
        let Some(time) = op.time else { return };
        if let Some(last) = self.last_time
            && time < last
        {
            findings.add(Rule::TimeGoesBack, Some(position), text, || {
                Remark::new(format!("the op's time, {time}, follows {last}")).expected("times that do not decrease")
            });
        }
        self.last_time = Some(time);
    }

    fn value(&mut self, op: &Op<'_>, position: Position, text: (&str, u64), findings: &mut Findings) {
        let is_txn = mops::read(op.value, &mut self.mops);
        self.kinds.add(op, is_txn, position, text, findings);
        match op.pair {
            Pair::Invokes { slot } => {
                let slot = slot.to_usize();
                if self.in_flight.len() <= slot {
                    self.in_flight.resize_with(slot + 1, Invoked::default);
                }
                self.written.add(&self.mops, position, text, findings);
                let invoked = &mut self.in_flight[slot];
                invoked.f = op.f.map(str::to_owned);
                invoked.key = key(op);
                invoked.is_txn = is_txn;
                invoked.line = position.line;
                std::mem::swap(&mut invoked.mops, &mut self.mops);
            }
            Pair::Completes { slot, .. } => {
                let invoked = &self.in_flight[slot.to_usize()];
                if op.f != invoked.f.as_deref() {
                    let named = |f: Option<&str>| f.map_or("no function".into(), |f| format!("the function {f}"));
                    findings.add(Rule::FMismatch, Some(position), text, || {
                        let (f, invoked_f, line) = (named(op.f), named(invoked.f.as_deref()), invoked.line);
                        Remark::new(format!("this completion has {f}, its invocation in line {line} {invoked_f}"))
                    });
                }
                if let (Some(key), Some(of_invocation)) = (key(op), &invoked.key)
                    && key != *of_invocation
                {
                    findings.add(Rule::KeyMismatch, Some(position), text, || {
                        let line = invoked.line;
                        Remark::new(format!(
                            "this completion has the key {key}, its invocation in line {line} {of_invocation}"
                        ))
                    });
                }
                if !invoked.is_txn || !(is_txn || op.kind == OpKind::Ok) {
                    return;
                }
                let difference = if is_txn {
                    mops::difference(&invoked.mops, &self.mops)
                } else {
                    Some("this completion has no list of micro-ops, but its invocation has one".into())
                };
                if let Some(difference) = difference {
                    findings.add(Rule::MopMismatch, Some(position), text, || {
                        let line = invoked.line;
                        Remark::new(difference)
                            .expected(format!("the micro-ops invoked in line {line}, with the values read filled in"))
                    });
                }
            }
            // Without an invocation, the completion determines what was written.
            Pair::Alone if is_txn && matches!(op.kind, OpKind::Ok | OpKind::Info) => {
                self.written.add(&self.mops, position, text, findings);
            }
            Pair::Alone => {}
        }
    }

    /// Adds findings on the history as a whole.
    pub(super) fn finish(&self, findings: &mut Findings) {
        let mut note = |rule: Rule, message: String| findings.add(rule, None, ("", 0), || Remark::new(message));
        if let Some(first) = self.pairing.first_open() {
            let (ops, line) = (ops_are(self.pairing.open().to_u64()), first.line);
            note(Rule::OpenOps, format!("{ops} in flight at the end, the first from line {line}; they count as info"));
        }
        if self.participants.others() > 0 {
            let ops = ops_are(self.participants.others());
            let names = self.participants.left_out().map(|names| format!(" ({names})")).unwrap_or_default();
            note(Rule::OtherProcesses, format!("{ops} of processes that are not clients{names}"));
        }
        if self.unknown > 0 {
            let ops = ops_are(self.unknown);
            note(Rule::UnknownProcesses, format!("{ops} without a process: their order is unknown"));
        }
        if self.pairing.completions_only() {
            let message = "only completions: which ops were concurrent is unknown";
            note(Rule::CompletionsOnly, message.into());
        }
    }
}

/// The text of an op's field `key`.
fn key(op: &Op<'_>) -> Option<String> {
    op.extra.get("key").map(|key| key.to_string())
}

fn ops_are(count: u64) -> String {
    if count == 1 { "1 op is".into() } else { format!("{count} ops are") }
}
