//! Decodes values of ops of the log workload into items, or returns why a value does not belong to the workload.

use crate::columns::messages::{Messages, is_settled};
use crate::columns::sightings::{Item, Run};
use crate::columns::{Function, KeyId, MsgId, NO_OFFSET};
use history_core::{Op, OpFault, OpUse, Value};

/// The function of an op, if it concerns logs.
pub(crate) fn function(op: &Op<'_>) -> Option<Function> {
    Some(match op.f? {
        "send" => Function::Send,
        "poll" => Function::Poll,
        "txn" => Function::Txn,
        "assign" if seeks(op) => Function::AssignFromStart,
        "assign" => Function::Assign,
        "subscribe" => Function::Subscribe,
        _ => return None,
    })
}

/// Classifies an op whose function does not concern logs. If its value has sends or polls, its function may be
/// misspelled, and other ops may have polled messages that it sent.
pub(crate) fn other(op: &Op<'_>) -> Result<OpUse, OpFault> {
    let is_micro_op = |mop: Value<'_>| {
        let name = mop.as_seq().and_then(|parts| parts.iter().next()).and_then(Value::as_name);
        matches!(name, Some("send" | "poll"))
    };
    match op.f {
        Some("crash" | "debug-topic-partitions") => Ok(OpUse::Understood),
        found if op.value.as_seq().is_some_and(|mops| mops.iter().any(is_micro_op)) => {
            let found = found.map_or("no :f".into(), |name| format!(":{name}"));
            Err(undecodable(format!("expected :send, :poll or :txn as the function of micro-ops, found {found}")))
        }
        _ => Ok(OpUse::PassedOver),
    }
}

fn seeks(op: &Op<'_>) -> bool {
    matches!(op.extra.get("seek-to-beginning?"), Some(Value::Bool(true)))
}

fn undecodable(text: String) -> OpFault {
    OpFault::Undecodable(text)
}

/// Decodes the value of an op with this function; there are no items if it has no value.
pub(crate) fn items(
    op: &Op<'_>,
    function: Function,
    messages: &mut Messages,
    items: &mut Vec<Item>,
) -> Result<(), OpFault> {
    if op.value.is_nil() {
        return Ok(());
    }
    if function.is_assignment() {
        let (Value::Vector(keys) | Value::List(keys) | Value::Set(keys)) = op.value else {
            return Err(undecodable(format!("expected a vector of keys, found {}", op.value.kind())));
        };
        for key in keys {
            items.push(Item::Assigned(messages.assigned_key_id(key)?));
        }
        return Ok(());
    }
    let Some(mops) = op.value.as_seq() else {
        return Err(undecodable(format!("expected a vector of micro-ops, found {}", op.value.kind())));
    };
    mops.iter().try_for_each(|mop| micro_op(mop, function, messages, items))
}

fn micro_op(mop: Value<'_>, function: Function, messages: &mut Messages, items: &mut Vec<Item>) -> Result<(), OpFault> {
    let not_one = || undecodable(format!("expected [:send key message] or [:poll messages], found {mop}"));
    let mut parts = mop.as_seq().ok_or_else(not_one)?.iter();
    match (parts.next().and_then(Value::as_name), function) {
        (Some("send"), Function::Send | Function::Txn) => {
            let (Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next()) else {
                return Err(not_one());
            };
            let key = messages.key_id(key)?;
            let (msg, offset) = match value.as_seq() {
                Some(_) => {
                    let (offset, value) = halves(value)?;
                    message(key, offset, value, messages)?
                }
                None if value.is_nil() => return Err(undecodable(format!("expected a message, found nil in {mop}"))),
                None => (messages.id(key, value)?, NO_OFFSET),
            };
            items.push(Item::Send { key, msg, offset });
            Ok(())
        }
        (Some("poll"), Function::Poll | Function::Txn) => {
            items.push(Item::Poll);
            match (parts.next(), parts.next()) {
                (None | Some(Value::Nil), None) => Ok(()),
                (Some(Value::Map(polled)), None) => {
                    polled.iter().try_for_each(|(key, list)| polled_key(key, list, messages, items))
                }
                (Some(other), None) => {
                    Err(undecodable(format!("expected a poll's map of key to messages, found {}", other.kind())))
                }
                _ => Err(not_one()),
            }
        }
        (Some(name @ ("send" | "poll")), _) => Err(undecodable(format!(
            "expected no :{name} in an op of :f :{}",
            if name == "send" { "poll" } else { "send" }
        ))),
        _ => Err(not_one()),
    }
}

fn polled_key(key: Value<'_>, list: Value<'_>, messages: &mut Messages, items: &mut Vec<Item>) -> Result<(), OpFault> {
    let key = messages.map_key_id(key)?;
    items.push(Item::Polled(key));
    if list.is_nil() {
        return Ok(());
    }
    let Some(list) = list.as_seq() else {
        return Err(undecodable(format!("expected a vector of [offset message] pairs, found {}", list.kind())));
    };
    let mut polled = Polled { items, run: None };
    match list.as_int_pairs() {
        Some(pairs) => {
            for pair in pairs {
                if let Some(msg) = messages.known_at(key, pair[0], pair[1]) {
                    polled.add_placed(msg, pair[0], messages.flags(msg));
                } else {
                    let (msg, offset) = message(key, Value::Int(pair[0]), Value::Int(pair[1]), messages)?;
                    polled.add_other(msg, offset);
                }
            }
        }
        None => {
            for pair in list {
                let (offset, value) = halves(pair)?;
                let (msg, offset) = message(key, offset, value, messages)?;
                if offset != NO_OFFSET && messages.at(key, offset) == Some(msg) {
                    polled.add_placed(msg, offset, messages.flags(msg));
                } else {
                    polled.add_other(msg, offset);
                }
            }
        }
    }
    polled.end_run();
    Ok(())
}

/// Messages polled from one key. Settled ones are combined into runs.
struct Polled<'a> {
    items: &'a mut Vec<Item>,
    run: Option<Run>,
}

impl Polled<'_> {
    /// Adds a message whose own offset this is.
    #[inline]
    fn add_placed(&mut self, msg: MsgId, offset: i64, flags: u8) {
        if !is_settled(flags) {
            self.add_other(msg, offset);
        } else if !self.run.as_mut().is_some_and(|run| run.add(offset, flags)) {
            self.end_run();
            self.run = Some(Run::new(msg, offset, flags));
        }
    }

    fn add_other(&mut self, msg: MsgId, offset: i64) {
        self.end_run();
        self.items.push(Item::Message { msg, offset });
    }

    fn end_run(&mut self) {
        self.items.extend(self.run.take().map(Item::Run));
    }
}

/// `[offset message]`.
fn halves(pair: Value<'_>) -> Result<(Value<'_>, Value<'_>), OpFault> {
    pair.as_pair().ok_or_else(|| undecodable(format!("expected a pair [offset message], found {pair}")))
}

fn message(key: KeyId, offset: Value<'_>, value: Value<'_>, messages: &mut Messages) -> Result<(MsgId, i64), OpFault> {
    let at = match offset {
        Value::Nil => NO_OFFSET,
        Value::Int(offset) if offset >= 0 => offset,
        _ => return Err(undecodable(format!("expected an offset (an integer from 0), found {offset}"))),
    };
    if value.is_nil() || value.as_seq().is_some() {
        return Err(undecodable(format!("expected a message (neither nil nor a vector), found [{offset} {value}]")));
    }
    Ok((messages.id(key, value)?, at))
}

/// The keys that were reassigned during an op, by its `:rebalance-log`.
pub(crate) fn rebalanced(op: &Op<'_>, messages: &mut Messages, keys: &mut Vec<KeyId>) -> Result<(), OpFault> {
    let log = match op.extra.get("rebalance-log") {
        None | Some(Value::Nil) => return Ok(()),
        Some(log) => log,
    };
    let not_one = || undecodable(format!("expected a :rebalance-log of maps with :keys, found {log}"));
    for entry in log.as_seq().ok_or_else(not_one)? {
        let Value::Map(entry) = entry else { return Err(not_one()) };
        match entry.get("keys") {
            None | Some(Value::Nil) => {}
            Some(Value::Vector(some) | Value::List(some) | Value::Set(some)) => {
                for key in some {
                    keys.push(messages.assigned_key_id(key)?);
                }
            }
            Some(_) => return Err(not_one()),
        }
    }
    keys.sort_unstable();
    keys.dedup();
    Ok(())
}
