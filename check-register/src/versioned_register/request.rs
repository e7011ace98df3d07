//! Requests: the content of one op for a register, decoded from its fields but not yet examined.

use history_core::{Op, OpKind, Seq, Value};

/// The function that was called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Read,
    Write,
}

impl Call {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Call::Read => "read",
            Call::Write => "write",
        }
    }
}

/// The fields of an op that matter here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// Absent if the op has no `:f`; a completion then has the function of its invocation.
    pub(crate) call: Option<Call>,
    pub(crate) key: Option<Value<'a>>,
    pub(crate) id: Option<Value<'a>>,
    pub(crate) prev: Option<Value<'a>>,
}

impl<'a> Request<'a> {
    /// Decodes an op of a client. The error is the reason why it is no op of this workload.
    pub(crate) fn new(op: &Op<'a>) -> Result<Request<'a>, String> {
        let call = match op.f {
            Some("read") => Some(Call::Read),
            Some("write") => Some(Call::Write),
            None if op.kind != OpKind::Invoke => None,
            Some(f) => return Err(format!("the op has the :f {f}; expected read or write")),
            None => return Err("the op has no :f that is a name; expected read or write".to_owned()),
        };
        let mut request = Request { call, key: None, id: None, prev: None };
        for (name, value) in op.extra.iter() {
            let field = match name.as_name() {
                Some("write-id") => &mut request.id,
                Some("prev-write-id") => &mut request.prev,
                Some("key") => &mut request.key,
                _ => continue,
            };
            field.get_or_insert(value);
        }
        Ok(request)
    }
}

/// The information in a value about the place of its op's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// None: the value is no argument or result.
    Any,
    /// Two values in a vector: a key and a value, or a plain value with two elements.
    Pair,
    /// A key without a value, which occurs only in the invocation of a read.
    Keyed,
    /// No pair, so it is a plain value.
    Plain,
}

impl Shape {
    pub(crate) fn of(op: &Op<'_>, request: &Request<'_>) -> Shape {
        let pair = split(op.value);
        match (op.kind, request.call, pair) {
            (OpKind::Fail | OpKind::Info, ..) => Shape::Any,
            // Some invocations of reads have no value at all.
            (OpKind::Invoke, Some(Call::Read), None) if op.value.is_nil() => Shape::Any,
            // The completion may omit the argument.
            (OpKind::Ok, call, None) if op.value.is_nil() && call != Some(Call::Read) => Shape::Any,
            (_, _, None) => Shape::Plain,
            (OpKind::Invoke, Some(Call::Read), Some((_, Value::Nil))) => Shape::Keyed,
            (_, _, Some(_)) => Shape::Pair,
        }
    }
}

/// Splits a pair into key and value.
pub(crate) fn split(value: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let pair = |seq: Seq<'_>| seq.len() == 2;
    match value {
        Value::Vector(seq) if pair(seq) => two(seq),
        // The form of tuples of Jepsen's `independent`, if they are written differently from vectors.
        Value::Tagged(tag, inner) if tag.ends_with("MapEntry") || tag.ends_with("Tuple") => split(inner.value()),
        _ => None,
    }
}

fn two(seq: Seq<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let mut values = seq.iter();
    Some((values.next()?, values.next()?))
}
