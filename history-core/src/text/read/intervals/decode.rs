//! The fields of one interval, and its two ops.

use super::Called;
use crate::cast::Cast as _;
use crate::common::mops::lack_results;
use crate::ops::row::{Extra, ProcessRecord, Record};
use crate::text::syntax::Fault;
use crate::text::syntax::field::OwnField;
use crate::text::time_unit;
use crate::values::tape::{RUN_INT_END, Tag, Tape};
use crate::values::value::{Seq, Value};
use crate::{OpKind, Pair, Position, TimeUnit};

/// An interval, for messages.
pub(super) const INTERVAL: &str =
    r#"an interval, such as {"client": 0, "call": 10, "return": 25, "input": ["write", 3], "output": null}"#;

/// How an op whose input has a value may state its outcome when it returns, for messages.
const OUTPUT: &str = "null or true if it happened, the value of the input again, or \"type\": \"fail\" or \"info\"";

/// The fields that every interval has or may have. All others become fields of its ops.
const OWN: [&str; 7] = ["client", "call", "return", "input", "output", "type", "error"];

/// The field with the client's name in the history, if its ops are under several numbers or names.
const ORIGINAL_CLIENT: &str = "original-client";

/// An interval on a tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    /// The node of the client's name, if the history has it.
    pub(super) client: Option<usize>,
    pub(super) call_ns: i64,
    pub(super) return_ns: Option<i64>,
    /// The outcome; `Info` if it did not complete.
    pub(super) end: OpKind,
    /// The node of the whole interval.
    whole: usize,
    /// The node of the object that contains further fields: the input, if that is an object.
    input: Option<usize>,
    f: usize,
    arguments: Arguments,
    output: Option<usize>,
    /// The nodes of a further field and its value: the client's name in the history, if ops may use another one.
    pub(super) origin: Option<(usize, usize)>,
}

/// The arguments of an op.
#[derive(Clone, Copy, Debug)]
enum Arguments {
    None,
    One(usize),
    /// This number of arguments, from a node on.
    Many(usize, u32),
}

impl Interval {
    /// Decodes the interval at `node`.
    pub(super) fn new(tape: &Tape, node: usize, unit: Option<TimeUnit>) -> Result<Interval, Fault> {
        if tape.nodes[node].tag != Tag::Map {
            return Err(fault(format!("found {} in the place of an interval", Value::at(tape, node).kind())));
        }
        let fields = fields(tape, node)?;
        let [client, call, returned, input, output, kind, _] = fields;
        let call = call.ok_or_else(|| fault("the interval has no call".into()))?;
        let call_ns = time_unit::read(tape, "the interval's call", call, unit)?
            .ok_or_else(|| fault("the interval's call is null".into()))?;
        let return_ns = match returned {
            Some(at) => time_unit::read(tape, "the interval's return", at, unit)?,
            None => None,
        };
        if return_ns.is_some_and(|ns| ns < call_ns) {
            return Err(Fault::op(
                "the interval returns before its call".into(),
                "a return that is not before its call",
            ));
        }
        let output = output.filter(|at| !Value::at(tape, *at).is_nil());
        let end = end(tape, kind, return_ns)?;
        if return_ns.is_none() && output.is_some() {
            return Err(Fault::op("the interval has an output, but no return".into(), "the time of its return"));
        }
        let input = input.ok_or_else(|| fault("the interval has no input".into()))?;
        let (f, arguments, object) = function(tape, input)?;
        let client = client.filter(|at| !Value::at(tape, *at).is_nil());
        let (whole, input, origin) = (node, object, None);
        let interval = Interval { client, call_ns, return_ns, end, whole, input, f, arguments, output, origin };
        interval.verify_names(tape)?;
        interval.verify_output(tape)?;
        Ok(interval)
    }

    /// Rejects further fields whose names have a meaning in an op.
    fn verify_names(&self, tape: &Tape) -> Result<(), Fault> {
        let mut keys = 0;
        for (key, _) in self.further(tape) {
            let name = tape.name(key).unwrap_or_default();
            if OwnField::from_name(name).is_some() {
                return Err(fault(format!("an interval does not have a field {name}")));
            }
            keys += usize::from(name == "key");
        }
        if keys > 1 {
            return Err(Fault::op("the interval has two keys".into(), "one key"));
        }
        Ok(())
    }

    /// Rejects an output that is not a value. It could mean anything: that a write was rejected, or the number of rows
    /// changed.
    fn verify_output(&self, tape: &Tape) -> Result<(), Fault> {
        let (OpKind::Ok, Some(output)) = (self.end, self.output) else { return Ok(()) };
        if self.is_asking(tape) || self.returns_mops(tape, output) || tape.nodes[output].tag == Tag::True {
            return Ok(());
        }
        let returned = Value::at(tape, output).to_string();
        let same = match self.arguments {
            Arguments::None => false,
            Arguments::One(at) => Value::at(tape, at).to_string() == returned,
            Arguments::Many(first, count) => {
                let given: Vec<String> = values(tape, first, count).map(|value| value.to_string()).collect();
                format!("[{}]", given.join(" ")) == returned
            }
        };
        if same {
            return Ok(());
        }
        Err(Fault::op(format!("the input has a value, and the output, {returned}, differs from it"), OUTPUT))
    }

    /// Returns true if the input has no value, so that the output is the value.
    fn is_asking(&self, tape: &Tape) -> bool {
        match self.arguments {
            Arguments::None => true,
            Arguments::One(at) => tape.nodes[at].tag == Tag::Nil,
            Arguments::Many(..) => false,
        }
    }

    /// Returns true if the input and the output are lists of equally many lists: micro-ops, and the same ones with
    /// their results.
    fn returns_mops(&self, tape: &Tape, output: usize) -> bool {
        let is_list = |value: Value<'_>| value.as_seq().is_some();
        let lists = |at: usize| Value::at(tape, at).as_seq().filter(|items| items.iter().all(is_list)).map(Seq::len);
        let given = match self.arguments {
            Arguments::None => None,
            Arguments::One(at) => lists(at),
            Arguments::Many(first, count) => values(tape, first, count).all(is_list).then_some(count.to_usize()),
        };
        given.is_some() && given == lists(output)
    }

    /// Returns true if the input is a list of micro-ops, some of which have no result. Without an output, the results
    /// are unknown: the input repeated would mean that these micro-ops read nil, or polled nothing.
    fn requests_results(&self, tape: &Tape) -> bool {
        match self.arguments {
            Arguments::None => false,
            Arguments::One(at) => Value::at(tape, at).as_seq().is_some_and(|mops| lack_results(mops.iter())),
            Arguments::Many(first, count) => lack_results(values(tape, first, count)),
        }
    }

    /// The keys and values of the further fields.
    fn further<'t>(&self, tape: &'t Tape) -> impl Iterator<Item = (usize, usize)> + use<'t> {
        let of_input = self.input.map(|input| entries(tape, input));
        let asked = |tape: &Tape, key: usize| !matches!(tape.name(key), Some("f" | "op" | "value"));
        let of_input = of_input.into_iter().flatten().filter(move |(key, _)| asked(tape, *key));
        let own = |tape: &Tape, key: usize| tape.name(key).is_some_and(|name| OWN.contains(&name));
        of_input.chain(entries(tape, self.whole).filter(move |(key, _)| !own(tape, *key)))
    }

    /// The op's process, with the name that ops use.
    pub(super) fn process(&self, tape: &mut Tape, called: &Called) -> ProcessRecord {
        let name = match called {
            Called::Number(number) => return ProcessRecord::Client(*number),
            Called::Nothing => return ProcessRecord::Unknown,
            Called::Name(name) => name,
        };
        if let Some(own) = self.client.filter(|own| tape.name(*own) == Some(name)) {
            return ProcessRecord::Other(own.to_u32());
        }
        ProcessRecord::Other(text(tape, name).to_u32())
    }

    /// Builds the op that began the interval, or the one that ended it. Its further fields are added to the tape.
    pub(super) fn op(&self, tape: &mut Tape, ends: bool, process: ProcessRecord, position: Position) -> Record {
        let returned = self
            .output
            .filter(|at| ends && self.end == OpKind::Ok && (self.is_asking(tape) || self.returns_mops(tape, *at)));
        let lacks_results = ends && returned.is_none() && self.end == OpKind::Ok && self.requests_results(tape);
        let value = match (returned, self.arguments) {
            _ if lacks_results => None,
            (Some(at), _) | (None, Arguments::One(at)) => Some(at.to_u32()),
            (None, Arguments::None) => None,
            (None, Arguments::Many(first, count)) => Some(vector(tape, first, count)),
        };
        let unused = self.output.filter(|_| ends && returned.is_none());
        Record {
            index: None,
            time: if ends { self.return_ns } else { Some(self.call_ns) },
            process,
            kind: if ends { self.end } else { OpKind::Invoke },
            pair: Pair::Alone,
            f: Some(self.f.to_u32()),
            value,
            extra: self.extra(tape, ends, unused),
            position: Some(position),
        }
    }

    /// Copies of the further fields, where there are any.
    fn extra(&self, tape: &mut Tape, ends: bool, output: Option<usize>) -> Option<Extra> {
        let error = entries(tape, self.whole).find(|(key, _)| ends && tape.name(*key) == Some("error"));
        let output = output.and_then(|at| entries(tape, self.whole).find(|(_, value)| *value == at));
        let mut further: Vec<(usize, usize)> = self.further(tape).collect();
        // If the history itself has this field, its value is kept.
        let has_origin = further.iter().any(|(key, _)| tape.name(*key) == Some(ORIGINAL_CLIENT));
        further.extend(error.into_iter().chain(output).chain(self.origin.filter(|_| !has_origin)));
        let node = tape.nodes.len().to_u32();
        for (key, value) in &further {
            tape.copy(*key);
            tape.copy(*value);
        }
        (!further.is_empty()).then_some(Extra { node, entries: further.len().to_u32() })
    }
}

impl Called {
    /// Puts a field of this client on the tape: the nodes of its name and of its value, a string.
    pub(super) fn put(&self, tape: &mut Tape) -> (usize, usize) {
        let key = text(tape, ORIGINAL_CLIENT);
        let value = match self {
            Called::Name(name) => text(tape, name),
            Called::Number(number) => text(tape, &number.to_string()),
            Called::Nothing => text(tape, ""),
        };
        (key, value)
    }
}

/// Puts a string on the tape; its node.
fn text(tape: &mut Tape, text: &str) -> usize {
    let (node, start) = (tape.nodes.len(), tape.unescaped.len());
    tape.unescaped.to_mut().push_str(text);
    tape.push_unescaped(Tag::Str, start);
    node
}

/// The nodes of the fields in [`OWN`].
fn fields(tape: &Tape, node: usize) -> Result<[Option<usize>; 7], Fault> {
    let mut found = [None; OWN.len()];
    for (key, value) in entries(tape, node) {
        let name = tape.name(key).unwrap_or_default();
        let Some(field) = OWN.iter().position(|own| *own == name) else { continue };
        if found[field].replace(value).is_some() {
            return Err(Fault::op(format!("the interval has two fields named {name}"), "each field once"));
        }
    }
    Ok(found)
}

fn end(tape: &Tape, kind: Option<usize>, return_ns: Option<i64>) -> Result<OpKind, Fault> {
    let value = kind.map_or(Value::Nil, |at| Value::at(tape, at));
    let kind = match (value, value.as_name().and_then(OpKind::from_name)) {
        (Value::Nil, _) if return_ns.is_none() => OpKind::Info,
        (Value::Nil, _) => OpKind::Ok,
        (_, Some(kind @ (OpKind::Ok | OpKind::Fail | OpKind::Info))) => kind,
        _ => return Err(Fault::op(format!("the interval's type is {value}"), "ok, fail or info")),
    };
    if return_ns.is_none() && kind != OpKind::Info {
        let message = format!("the interval is {}, but has no return", kind.name());
        return Err(Fault::op(message, "the time of its return, or the type info"));
    }
    Ok(kind)
}

/// The function of an input, its arguments, and the position of further fields.
fn function(tape: &Tape, input: usize) -> Result<(usize, Arguments, Option<usize>), Fault> {
    const INPUT: &str = r#"an input such as {"f": "write", "value": 3}, ["write", 3] or "read""#;
    let bad = || Fault::op(format!("the interval's input is {}", Value::at(tape, input)), INPUT);
    let is_name = |at: usize| tape.nodes[at].tag == Tag::Str;
    match (tape.nodes[input].tag, Value::at(tape, input)) {
        (Tag::Str, _) => Ok((input, Arguments::None, None)),
        (Tag::Vector, Value::Vector(items)) if !items.is_empty() && is_name(input + 1) => {
            let first = input + 2;
            let arguments = match items.len() {
                1 => Arguments::None,
                2 => Arguments::One(first),
                len => Arguments::Many(first, len.to_u32() - 1),
            };
            Ok((input + 1, arguments, None))
        }
        (Tag::Map, _) => {
            let (mut f, mut arguments) = (None, Arguments::None);
            for (key, value) in entries(tape, input) {
                match tape.name(key) {
                    Some("f" | "op") if f.is_none() && is_name(value) => f = Some(value),
                    Some("value") if matches!(arguments, Arguments::None) => arguments = Arguments::One(value),
                    Some("f" | "op" | "value") => return Err(bad()),
                    _ => {}
                }
            }
            Ok((f.ok_or_else(bad)?, arguments, Some(input)))
        }
        _ => Err(bad()),
    }
}

/// The nodes of a map's keys and values.
fn entries(tape: &Tape, map: usize) -> impl Iterator<Item = (usize, usize)> + use<'_> {
    let (mut key, end) = (map + 1, tape.nodes[map].b.to_usize());
    std::iter::from_fn(move || {
        (key < end).then(|| {
            let value = tape.after(key);
            let entry = (key, value);
            key = tape.after(value);
            entry
        })
    })
}

/// This number of values, from a node on.
fn values(tape: &Tape, first: usize, count: u32) -> impl Iterator<Item = Value<'_>> + Clone {
    let mut at = first;
    (0..count).map(move |_| {
        let value = Value::at(tape, at);
        at = tape.after(at);
        value
    })
}

/// Makes a vector of values that follow one another on the tape; returns its node.
fn vector(tape: &mut Tape, mut at: usize, count: u32) -> u32 {
    let start = tape.ints.len();
    let mut end = at;
    for _ in 0..count {
        match tape.int(end) {
            Some(i) if i.unsigned_abs() < RUN_INT_END => tape.ints.to_mut().push(i),
            _ => tape.ints.to_mut().truncate(start),
        }
        end = tape.after(end);
    }
    let node = tape.nodes.len().to_u32();
    if tape.ints.len() == start + count.to_usize() {
        tape.push_run(Tag::IntVector, start);
        return node;
    }
    tape.ints.to_mut().truncate(start);
    let seq = tape.open(Tag::Vector);
    for _ in 0..count {
        tape.copy(at);
        at = tape.after(at);
    }
    tape.close(seq, count);
    node
}

fn fault(message: String) -> Fault {
    Fault::op(message, INTERVAL)
}
