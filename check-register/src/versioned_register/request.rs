//! Requests: the content of one op for a register, decoded from its fields but not yet examined.

use history_core::{Op, OpKind, Seq, Value};

/// What was called.
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
    /// Absent where the op does not say; a completion's invocation then does.
    pub(crate) call: Option<Call>,
    pub(crate) key: Option<Value<'a>>,
    pub(crate) id: Option<Value<'a>>,
    pub(crate) prev: Option<Value<'a>>,
}

impl<'a> Request<'a> {
    /// What an op of a client says; why it is none of this workload's, if it is not.
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

/// What a value says about where the key of its op stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// It may be anything: it is not an argument or a result.
    Any,
    /// Two values in a vector: a key and a value, or a plain value that happens to be two.
    Pair,
    /// A key without a value, as only a read's invocation has it.
    Keyed,
    /// No pair, so a plain value.
    Plain,
}

impl Shape {
    pub(crate) fn of(op: &Op<'_>, request: &Request<'_>) -> Shape {
        let pair = split(op.value);
        match (op.kind, request.call, pair) {
            (OpKind::Fail | OpKind::Info, ..) => Shape::Any,
            // Of a read's invocation some say nothing at all.
            (OpKind::Invoke, Some(Call::Read), None) if op.value.is_nil() => Shape::Any,
            // An answer may leave out the argument.
            (OpKind::Ok, call, None) if op.value.is_nil() && call != Some(Call::Read) => Shape::Any,
            (_, _, None) => Shape::Plain,
            (OpKind::Invoke, Some(Call::Read), Some((_, Value::Nil))) => Shape::Keyed,
            (_, _, Some(_)) => Shape::Pair,
        }
    }
}

/// A key and a value.
pub(crate) fn split(value: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let pair = |seq: Seq<'_>| seq.len() == 2;
    match value {
        Value::Vector(seq) if pair(seq) => two(seq),
        // As Jepsen's independent writes its tuples, where it keeps them apart from vectors.
        Value::Tagged(tag, inner) if tag.ends_with("MapEntry") || tag.ends_with("Tuple") => split(inner.value()),
        _ => None,
    }
}

fn two(seq: Seq<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let mut values = seq.iter();
    Some((values.next()?, values.next()?))
}
