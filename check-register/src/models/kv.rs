//! A map from keys to strings, with get, put and append.

use super::shared::text::Text;
use super::spec::{Shows, Spec, bad_value, unknown_op};
use crate::{Model, Shortcuts};
use history_core::hash::HashMap;
use history_core::{Budget, Datum, Interner, Op, OpKind, Value};
use std::sync::Arc;

/// A map from keys to strings. A key that is absent has the empty string. Each key is a separate part.
#[derive(Clone, Debug, Default)]
pub struct Kv {
    keys: Interner,
    initial: HashMap<i64, Arc<str>>,
}

/// An operation on a [`Kv`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KvOp {
    /// The key, as the code of an [`Interner`].
    pub key: i64,
    /// The operation on the key.
    pub action: KvAction,
}

/// The operation of a [`KvOp`] on its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum KvAction {
    /// It found this string.
    Get(Arc<str>),
    /// It replaced the string by this one.
    Put(Arc<str>),
    /// It appended this string.
    Append(Arc<str>),
}

/// The value of a key of a [`Kv`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct KvState {
    /// The string; `None` until an operation has changed it.
    held: Option<Text>,
}

impl Model for Kv {
    type State = KvState;
    type Op = KvOp;
    type Next = Option<KvState>;

    fn init(&self) -> KvState {
        KvState::default()
    }

    fn step(&self, state: &KvState, op: &KvOp, _: &Budget) -> Option<KvState> {
        let initial = || self.initial.get(&op.key);
        let held = match &op.action {
            KvAction::Get(found) => {
                let is_held = match &state.held {
                    Some(held) => held.is(found),
                    None => **found == *initial().map_or("", |held| &**held),
                };
                return is_held.then(|| state.clone());
            }
            KvAction::Put(put) => Text::from(put),
            KvAction::Append(more) => match &state.held {
                Some(held) => held.with(more),
                None => initial().map(Text::from).unwrap_or_default().with(more),
            },
        };
        Some(KvState { held: Some(held) })
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        self
    }

    fn describe_op(&self, op: &KvOp) -> String {
        match &op.action {
            KvAction::Get(found) => format!("get of {found:?}"),
            KvAction::Put(put) => format!("put of {put:?}"),
            KvAction::Append(more) => format!("append of {more:?}"),
        }
    }

    fn describe_state(&self, state: &KvState) -> String {
        match &state.held {
            Some(held) => format!("{held:?}"),
            None if self.initial.is_empty() => "\"\"".into(),
            None => "its initial value".into(),
        }
    }

    fn describe_part(&self, part: u64) -> String {
        format!("key {}", self.keys.datum(part.cast_signed()))
    }
}

impl Shortcuts<KvState, KvOp> for Kv {
    fn reads_only(&self, op: &KvOp) -> bool {
        matches!(op.action, KvAction::Get(_))
    }

    fn may_see(&self, op: &KvOp, other: &KvOp) -> bool {
        match (&op.action, &other.action) {
            // Only a put removes text, and it replaces the whole string.
            (KvAction::Get(found), KvAction::Append(text)) => found.contains(&**text),
            (KvAction::Get(found), KvAction::Put(text)) => found.starts_with(&**text),
            _ => false,
        }
    }

    fn part(&self, op: &KvOp) -> Option<u64> {
        Some(op.key.cast_unsigned())
    }

    fn states_are_of_parts(&self) -> bool {
        true
    }
}

/// A value as the string that it represents.
fn string(value: Value<'_>) -> Arc<str> {
    match value {
        Value::Nil => "".into(),
        Value::Str(text) => text.into(),
        other => other.to_string().into(),
    }
}

impl Spec for Kv {
    const NAME: &'static str = "kv";
    const SUMMARY: &'static str = "Linearizability of a map from keys to strings with get, put and append.";
    const OPS: &'static str = ":get, :put and :append of a string by :key";
    const SHOWN: &'static str = "ok :get together with a :put or :append of a string";
    const INITIAL: &'static str = "a map from key to string; all empty if not given";
    const PARTS: history_core::Parts = history_core::Parts::Registers;
    const READS_KEY: bool = true;

    fn set_initial(&mut self, value: Value<'_>) -> Result<(), String> {
        let Value::Map(entries) = value else {
            return Err(format!("expected a map from key to string, found {value}"));
        };
        self.initial = entries.iter().map(|(key, value)| (self.keys.code(key), string(value))).collect();
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&KvOp>) -> Result<Option<KvOp>, String> {
        let key = match (op.extra.get("key"), invoked) {
            (Some(key), _) => self.keys.code(key),
            (None, Some(invoked)) => invoked.key,
            (None, None) if !matches!(op.f, Some("get" | "put" | "append")) => return Err(unknown_op::<Self>(op)),
            (None, None) => return Err("the op has no :key".into()),
        };
        let action = match op.f {
            // The read may have found anything, so it has no result until it completes.
            Some("get") if op.kind != OpKind::Ok => KvAction::Get("".into()),
            Some("get") => KvAction::Get(string(op.value)),
            Some("put" | "append") if op.value.is_nil() && invoked.is_some() => return Ok(invoked.cloned()),
            Some("put" | "append") if op.value.is_nil() => return Err(bad_value(op, "a string")),
            Some("put") => KvAction::Put(string(op.value)),
            Some("append") => KvAction::Append(string(op.value)),
            _ => return Err(unknown_op::<Self>(op)),
        };
        Ok(Some(KvOp { key, action }))
    }

    fn hidden_part(&mut self, invocation: &Op<'_>) -> Option<u64> {
        let is_known = matches!(invocation.f, Some("get" | "put" | "append"));
        invocation.extra.get("key").filter(|_| is_known).map(|key| self.keys.code(key).cast_unsigned())
    }

    fn contradicts(invoked: Option<&KvOp>, done: Option<&KvOp>) -> bool {
        match (invoked, done) {
            (Some(KvOp { key, action: KvAction::Get(_) }), Some(KvOp { key: found, action: KvAction::Get(_) })) => {
                key != found
            }
            (invoked, done) => invoked != done,
        }
    }

    fn shows(&self, _: &Op<'_>, done: Option<&KvOp>) -> Shows {
        match done.map(|op| &op.action) {
            Some(KvAction::Get(found)) if found.is_empty() && self.initial.is_empty() => Shows::Absence,
            Some(KvAction::Get(_)) => Shows::Something,
            Some(KvAction::Put(_) | KvAction::Append(_)) | None => Shows::Nothing,
        }
    }

    fn fills(&self, op: &KvOp) -> bool {
        matches!(&op.action, KvAction::Put(text) | KvAction::Append(text) if !text.is_empty())
    }

    fn datum(&self, op: &KvOp) -> Datum {
        let (f, text) = match &op.action {
            KvAction::Get(found) => ("get", found),
            KvAction::Put(put) => ("put", put),
            KvAction::Append(more) => ("append", more),
        };
        Datum::Vector(vec![Datum::keyword(f), self.keys.datum(op.key), Datum::from(&**text)])
    }
}
