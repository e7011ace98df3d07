//! The requests of clients to a store, and their form in a history.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The fields of an op, as JSON.
pub type Fields = Map<String, Json>;

/// A key of the store.
pub type Key = u32;

/// One step of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MicroOp {
    /// Read the list or the register.
    Read(Key),
    /// Append an element to the list.
    Append(Key, i64),
    /// Write the register.
    Write(Key, i64),
}

impl MicroOp {
    /// In the form of an invocation: `["append",3,7]`, `["w",3,7]`, `["r",3,null]`.
    pub fn to_json(self) -> Json {
        match self {
            MicroOp::Read(key) => json!(["r", key, null]),
            MicroOp::Append(key, element) => json!(["append", key, element]),
            MicroOp::Write(key, value) => json!(["w", key, value]),
        }
    }
}

/// An operation that a client performs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Request {
    /// All micro-ops or none, in one transaction.
    Txn(Vec<MicroOp>),
    /// Read the register.
    Read(Key),
    /// Write the register.
    Write(Key, i64),
    /// Write `new` if the register holds `expected`.
    Cas {
        /// The register.
        key: Key,
        /// The value that it must hold.
        expected: i64,
        /// The new value.
        new: i64,
    },
    /// Read the register and the id of its last write.
    ReadVersion(Key),
    /// Write the register if its version is `previous`.
    WriteVersion {
        /// The register.
        key: Key,
        /// The new value.
        value: i64,
        /// The id of the new version, used once.
        id: String,
        /// The id of the version that it replaces. [`FIRST_VERSION`] is the initial version of a register.
        previous: String,
    },
    /// Add an element to the set.
    Add(i64),
    /// Read all elements of the set.
    ReadSet,
    /// Move an amount from one account to another, unless the first would then be overdrawn.
    Transfer {
        /// The account that pays.
        from: u32,
        /// The account that receives.
        to: u32,
        /// How much.
        amount: i64,
    },
    /// Read the balances of all accounts.
    ReadBalances,
    /// Send a message to the end of a log.
    Send(Key, i64),
    /// Poll messages of logs.
    Poll {
        /// The logs, and the offset of the first requested message of each.
        from: Positions,
        /// Poll repeatedly until nothing is left; the responses are one operation.
        to_end: bool,
    },
    /// Add an amount to the counter.
    Count(i64),
    /// Read the counter.
    ReadCounter {
        /// All additions are over.
        is_final: bool,
    },
}

/// For each log, the offset of the first message that was not polled yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Positions(pub BTreeMap<Key, i64>);

impl FromIterator<(Key, i64)> for Positions {
    fn from_iter<I: IntoIterator<Item = (Key, i64)>>(positions: I) -> Positions {
        Positions(positions.into_iter().collect())
    }
}

impl Positions {
    /// As a map from the names of the logs.
    pub fn to_json(&self) -> Json {
        self.0.iter().map(|(log, offset)| (log.to_string(), Json::from(*offset))).collect::<Fields>().into()
    }

    /// Moves past polled messages: `{"3": [[offset, message], ...]}`. Returns whether there were any.
    pub fn move_behind(&mut self, polled: &Json) -> bool {
        let mut has_moved = false;
        for (log, messages) in polled.as_object().into_iter().flatten() {
            let offsets = messages.as_array().into_iter().flatten().filter_map(|message| message[0].as_i64());
            if let (Ok(log), Some(last)) = (log.parse(), offsets.max()) {
                let position = self.0.entry(log).or_default();
                has_moved |= last >= *position;
                *position = (*position).max(last.saturating_add(1));
            }
        }
        has_moved
    }
}

/// The id of the initial version of a register, whose value is 0.
pub const FIRST_VERSION: &str = "0";

impl Request {
    /// The op's `:f`.
    pub fn f(&self) -> &'static str {
        match self {
            Request::Txn(_) => "txn",
            Request::Read(_)
            | Request::ReadVersion(_)
            | Request::ReadSet
            | Request::ReadBalances
            | Request::ReadCounter { .. } => "read",
            Request::Write(..) | Request::WriteVersion { .. } => "write",
            Request::Cas { .. } => "cas",
            Request::Add(_) | Request::Count(_) => "add",
            Request::Send(..) => "send",
            Request::Poll { .. } => "poll",
            Request::Transfer { .. } => "transfer",
        }
    }

    /// The fields of its invocation other than `f`.
    pub fn fields(&self) -> Fields {
        let mut fields = Fields::new();
        self.each_field(&mut |name, value| _ = fields.insert(name.to_owned(), value.into_json()));
        fields
    }

    /// Passes the fields of its invocation other than `f` to `show`, in the order in which they are written.
    pub(crate) fn each_field(&self, show: &mut dyn FnMut(&'static str, Field<'_>)) {
        match self {
            Request::Txn(mops) => show("value", Field::Json(mops.iter().map(|mop| mop.to_json()).collect())),
            Request::Read(key) | Request::ReadVersion(key) => {
                show("key", Field::Number(i64::from(*key)));
                show("value", Field::Null);
            }
            Request::Write(key, value) => {
                show("key", Field::Number(i64::from(*key)));
                show("value", Field::Number(*value));
            }
            Request::Cas { key, expected, new } => {
                show("key", Field::Number(i64::from(*key)));
                show("value", Field::Json(json!([expected, new])));
            }
            Request::WriteVersion { key, value, id, previous } => {
                show("key", Field::Number(i64::from(*key)));
                show("value", Field::Number(*value));
                show("write-id", Field::Text(id));
                show("prev-write-id", Field::Text(previous));
            }
            Request::Add(number) | Request::Count(number) => show("value", Field::Number(*number)),
            Request::Send(log, message) => show("value", Field::Json(json!([["send", log, message]]))),
            Request::Poll { from, to_end } => {
                show("value", Field::Json(json!([["poll"]])));
                show("offsets", Field::Json(from.to_json()));
                if *to_end {
                    show("to-end", Field::Json(true.into()));
                }
            }
            Request::ReadCounter { is_final } => {
                show("value", Field::Null);
                if *is_final {
                    show("final?", Field::Json(true.into()));
                }
            }
            Request::ReadSet | Request::ReadBalances => show("value", Field::Null),
            Request::Transfer { from, to, amount } => {
                show("value", Field::Json(json!({ "from": from, "to": to, "amount": amount })));
            }
        }
    }

    /// Whether an `ok` response must contain results of reads.
    pub(crate) fn needs_results(&self) -> bool {
        match self {
            Request::Txn(mops) => mops.iter().any(|mop| matches!(mop, MicroOp::Read(_))),
            _ => self.is_read(),
        }
    }

    /// Whether it changes nothing. A read whose response was lost counts as failed.
    pub fn is_read(&self) -> bool {
        match self {
            Request::Txn(mops) => mops.iter().all(|mop| matches!(mop, MicroOp::Read(_))),
            Request::Poll { .. } => true,
            _ => self.f() == "read",
        }
    }
}

/// The value of a field.
#[derive(Clone, Debug)]
pub(crate) enum Field<'f> {
    Null,
    Number(i64),
    Text(&'f str),
    Json(Json),
}

impl Field<'_> {
    fn into_json(self) -> Json {
        match self {
            Field::Null => Json::Null,
            Field::Number(number) => number.into(),
            Field::Text(text) => text.into(),
            Field::Json(json) => json,
        }
    }
}

/// The outcome of an operation, as far as its client knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// It happened. The fields replace those of the invocation: `value`, `write-id` and the other fields of the
    /// response.
    Ok(Fields),
    /// It certainly did not happen and never will; why.
    Fail(String),
    /// It may have happened, or may still happen; with the reason. The client is closed, and the next one gets another
    /// process number.
    Info(String),
}

impl Outcome {
    /// It happened, and the response has no content.
    pub fn done() -> Outcome {
        Outcome::Ok(Fields::new())
    }

    /// It happened, and this is the op's value.
    pub fn value(value: impl Into<Json>) -> Outcome {
        Outcome::Ok([("value".to_owned(), value.into())].into_iter().collect())
    }

    /// It happened: a read of a version.
    pub fn version(value: i64, id: impl Into<String>) -> Outcome {
        Outcome::Ok(
            [("value".to_owned(), value.into()), ("write-id".to_owned(), Json::String(id.into()))]
                .into_iter()
                .collect(),
        )
    }

    /// It happened: a read of a value that no client writes. This must not be omitted, so its text is the value, and
    /// the version.
    pub fn damaged(text: impl Into<String>) -> Outcome {
        let text = Json::String(text.into());
        Outcome::Ok([("value".to_owned(), text.clone()), ("write-id".to_owned(), text)].into_iter().collect())
    }

    /// No response arrived. For a request that changes nothing, this is only a failure.
    pub fn unanswered(request: &Request, why: impl Into<String>) -> Outcome {
        if request.is_read() { Outcome::Fail(why.into()) } else { Outcome::Info(why.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_request() {
        let write = Request::WriteVersion { key: 1, value: -2, id: "a b".into(), previous: "0".into() };
        assert_eq!(
            Json::Object(write.fields()),
            json!({"key": 1, "value": -2, "write-id": "a b", "prev-write-id": "0"})
        );
    }
}
