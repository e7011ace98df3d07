//! Small histories as plain data, and the forms in which they can be written.

use history_core::{Datum, History, HistoryBuilder, NewOp, OpKind, Process, Verdict};

/// The id of the initial version, with value 0. Writes have the ids 1, 2, 3; no write has 9.
pub(crate) const INITIAL: i64 = 0;
pub(crate) const NOBODYS: i64 = 9;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    /// A read of a version and its value.
    Read(i64, i64),
    /// A write of a version that replaces another one, with a value.
    Write(i64, i64, i64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Ok,
    Fail,
    Info,
    Open,
}

/// One operation. Its moments are positions in the order of the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Operation {
    pub(crate) call: Call,
    pub(crate) fate: Fate,
    pub(crate) invoked: i64,
    /// The moment of its completion, unless its fate is `Open`.
    pub(crate) completed: i64,
}

/// The form in which a history is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// In order, without times.
    Untimed,
    /// In order, with times in the same order.
    Timed,
    /// One operation after another; the times give the order.
    Scattered,
    /// In order, completions only.
    Completions,
    /// In order, without processes.
    Nameless,
}

fn op(operation: &Operation, process: i64, kind: OpKind) -> NewOp<'static> {
    let op = NewOp::new(kind, process);
    match operation.call {
        Call::Write(id, prev, value) => op.f("write").value(value).with("write-id", id).with("prev-write-id", prev),
        Call::Read(id, value) if kind == OpKind::Ok => op.f("read").value(value).with("write-id", id),
        Call::Read(..) => op.f("read"),
    }
}

/// The ops of a history with their moments, in the order in which they would be recorded.
pub(crate) fn ops(operations: &[Operation]) -> Vec<(i64, NewOp<'static>)> {
    let mut ops = Vec::new();
    for (process, operation) in (0_i64..).zip(operations) {
        ops.push((operation.invoked, op(operation, process, OpKind::Invoke)));
        let kind = match operation.fate {
            Fate::Ok => OpKind::Ok,
            Fate::Fail => OpKind::Fail,
            Fate::Info => OpKind::Info,
            Fate::Open => continue,
        };
        ops.push((operation.completed, op(operation, process, kind)));
    }
    ops
}

/// A history in some form; `tick` moments have the same time.
pub(crate) fn history(operations: &[Operation], form: Form, tick: i64) -> History {
    let mut ops = ops(operations);
    if form != Form::Scattered {
        ops.sort_by_key(|(at, _)| *at);
    }
    let mut builder = HistoryBuilder::new();
    for (at, op) in ops {
        let op = match form {
            Form::Timed | Form::Scattered => op.time_ns(at / tick),
            Form::Completions if op.kind == OpKind::Invoke => continue,
            Form::Untimed | Form::Completions => op,
            Form::Nameless => NewOp { process: Process::Unknown, ..op },
        };
        builder.push_op(&op).unwrap();
    }
    builder.build()
}

/// The place of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Field,
    /// In a field, except for invocations of reads.
    FieldOfAnswers,
    Value,
    /// Before the value, except for invocations of reads, which have nil.
    ValueOfAnswers,
}

/// Several histories as one; each op has the key of its history.
pub(crate) fn keyed(parts: &[(i64, &[Operation])], place: Place) -> History {
    let mut all = Vec::new();
    for (key, operations) in parts {
        for (at, op) in ops(operations) {
            let Process::Client(process) = op.process else { continue };
            let op = NewOp { process: Process::Client(process * 1000 + key), ..op };
            let asks = op.kind == OpKind::Invoke && op.f == Some("read");
            let op = match place {
                Place::FieldOfAnswers | Place::ValueOfAnswers if asks => op,
                Place::Field | Place::FieldOfAnswers => op.with("key", *key),
                Place::Value | Place::ValueOfAnswers => {
                    let value = Datum::Vector(vec![(*key).into(), op.value.clone()]);
                    NewOp { value, ..op }
                }
            };
            all.push((at, op));
        }
    }
    all.sort_by_key(|(at, _)| *at);
    let mut builder = HistoryBuilder::new();
    for (_, op) in &all {
        builder.push_op(op).unwrap();
    }
    builder.build()
}

/// The verdict on operations. They are valid only if one of them returned.
pub(crate) fn verdict_on(operations: &[Operation], is_linearizable: bool) -> Verdict {
    let is_observed = operations.iter().any(|operation| operation.fate == Fate::Ok);
    match (is_linearizable, is_observed) {
        (false, _) => Verdict::Invalid,
        (true, false) => Verdict::Unknown,
        (true, true) => Verdict::Valid,
    }
}
