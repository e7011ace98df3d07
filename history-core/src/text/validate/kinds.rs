//! Whether numbers are written consistently: `1`, `1.0` and `"1"` are three values, though a harness may mean one.

use super::findings::{Findings, Remark};
use super::rule::Rule;
use crate::hash::HashMap;
use crate::{Op, OpKind, Position, Value};

/// The type of the first number of each key, and its line.
#[derive(Default)]
pub(super) struct Kinds {
    ints: HashMap<i64, Seen>,
    /// The kinds of keys that are not integers, by the text of the key.
    others: HashMap<Box<str>, Seen>,
    /// The kind of ops without a key.
    whole: Option<Seen>,
}

#[derive(Clone, Copy)]
struct Seen {
    kind: &'static str,
    line: u64,
    /// Whether a different kind was already reported.
    reported: bool,
}

/// The key that a value belongs to.
#[derive(Clone, Copy)]
enum Of<'a> {
    Key(Value<'a>),
    Whole,
}

impl Kinds {
    /// Checks the values in the arguments or results of an op of a client.
    pub(super) fn add(
        &mut self,
        op: &Op<'_>,
        is_txn: bool,
        position: Position,
        text: (&str, u64),
        findings: &mut Findings,
    ) {
        // The value of an op that failed may be the reason.
        if !matches!(op.kind, OpKind::Invoke | OpKind::Ok) || op.value.is_nil() {
            return;
        }
        let mut values = |of: Of<'_>, value: Value<'_>| {
            let Some((value, kind)) = odd_one(value, self.seen(of, "", 0).map(|seen| seen.kind)) else { return };
            let Some(seen) = self.seen(of, kind, position.line) else { return };
            if seen.kind == kind || std::mem::replace(&mut seen.reported, true) {
                return;
            }
            let (before, line) = (seen.kind, seen.line);
            findings.add(Rule::MixedValues, Some(position), text, || {
                let of = if let Of::Key(key) = of { format!(" of key {key}") } else { String::new() };
                Remark::new(format!("a value{of} is {kind} here, {value}, but {before} in line {line}"))
                    .expected("values of one type; 1, 1.0 and \"1\" are different values")
            });
        };
        if is_txn {
            for mop in op.value.as_seq().into_iter().flatten() {
                let mut parts = mop.as_seq().into_iter().flatten().skip(1);
                if let (Some(key), Some(value)) = (parts.next(), parts.next()) {
                    values(Of::Key(key), value);
                }
            }
            return;
        }
        match (op.extra.get("key"), op.value.as_pair()) {
            (Some(key), _) => values(Of::Key(key), op.value),
            // The pair of a compare-and-set is not a key with a value.
            (None, Some((key, value))) if op.f != Some("cas") => values(Of::Key(key), value),
            _ => values(Of::Whole, op.value),
        }
    }

    /// The state of a key; this kind, if it is the first.
    fn seen(&mut self, of: Of<'_>, kind: &'static str, line: u64) -> Option<&mut Seen> {
        let first = Seen { kind, line, reported: false };
        let is_new = !kind.is_empty();
        match of {
            Of::Whole if is_new => Some(self.whole.get_or_insert(first)),
            Of::Whole => self.whole.as_mut(),
            Of::Key(Value::Int(key)) if is_new => Some(self.ints.entry(key).or_insert(first)),
            Of::Key(Value::Int(key)) => self.ints.get_mut(&key),
            Of::Key(key) if is_new => Some(self.others.entry(key.to_string().into()).or_insert(first)),
            Of::Key(key) => self.others.get_mut(key.to_string().as_str()),
        }
    }
}

/// The first number in a value that is not of this kind; the first number if no kind is given. Searches inside
/// collections.
fn odd_one<'a>(value: Value<'a>, kind: Option<&'static str>) -> Option<(Value<'a>, &'static str)> {
    const INTEGER: &str = "an integer";
    let found = match value {
        Value::Int(_) | Value::Big(_) => INTEGER,
        Value::Float(x) if x.fract() == 0.0 => "a float",
        Value::Str(text) if is_number(text) => "a string",
        Value::Vector(items) | Value::List(items) | Value::Set(items) => {
            if items.as_ints().is_some() && kind == Some(INTEGER) {
                return None;
            }
            return items.iter().find_map(|item| odd_one(item, kind));
        }
        _ => return None,
    };
    (kind != Some(found)).then_some((value, found))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'.')) && text.parse::<f64>().is_ok()
}
