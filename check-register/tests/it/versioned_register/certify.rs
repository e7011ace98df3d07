//! Certification: derives each step of a witness again from the recorded ops.

use history_core::{Anomaly, Datum, History, OpKind, Pair, Value, Witness};
use std::collections::BTreeMap;

struct Write {
    prev: Datum,
    value: Datum,
    invoked: u64,
    failed: bool,
}

/// An op that completed `ok`.
struct Shown {
    id: Datum,
    value: Datum,
    invoked: Option<u64>,
    is_read: bool,
}

/// The ops of a history of one register, by index. The order is that of the indices.
struct Log {
    writes: Vec<(Datum, Write)>,
    shown: BTreeMap<u64, Shown>,
}

fn field(op: &history_core::Op<'_>, name: &str) -> Datum {
    op.extra.get(name).unwrap_or(Value::Nil).to_datum()
}

impl Log {
    fn of(history: &History) -> Log {
        let mut log = Log { writes: Vec::new(), shown: BTreeMap::new() };
        for at in 0..history.len() {
            let op = history.op(at);
            let invoked = match op.pair {
                Pair::Completes { invoked, .. } => Some(invoked),
                Pair::Alone | Pair::Invokes { .. } => None,
            };
            let (id, value) = (field(&op, "write-id"), op.value.to_datum());
            match (op.kind, op.f) {
                (OpKind::Invoke, Some("write")) => {
                    let failed = history.partner(at).is_some_and(|end| history.op(end).kind == OpKind::Fail);
                    let write = Write { prev: field(&op, "prev-write-id"), value, invoked: op.index, failed };
                    log.writes.push((id, write));
                }
                (OpKind::Ok, f) => {
                    log.shown.insert(op.index, Shown { id, value, invoked, is_read: f == Some("read") });
                }
                _ => {}
            }
        }
        log
    }

    fn write(&self, id: &Datum) -> Option<&Write> {
        self.writes.iter().find(|(other, _)| other == id).map(|(_, write)| write)
    }

    /// Returns true if `newer` is `older`, or replaced it directly or through other versions.
    fn leads_to(&self, newer: &Datum, older: &Datum) -> bool {
        let mut at = newer.clone();
        for _ in 0..=self.writes.len() {
            if at == *older {
                return true;
            }
            match self.write(&at) {
                Some(write) => at = write.prev.clone(),
                None => return false,
            }
        }
        false
    }
}

fn fact<'w>(witness: &'w Witness, name: &str) -> Option<&'w Datum> {
    witness.facts.iter().find(|(other, _)| other == name).map(|(_, value)| value)
}

fn list(datum: Option<&Datum>) -> &[Datum] {
    match datum {
        Some(Datum::Vector(items)) => items,
        _ => &[],
    }
}

/// Returns why an anomaly's witnesses do not prove it, if they do not.
pub(crate) fn certify(history: &History, anomaly: &Anomaly) -> Result<(), String> {
    let log = Log::of(history);
    anomaly.witnesses.iter().try_for_each(|witness| {
        let holds = ops_are_recorded(history, witness) && holds(&log, anomaly.name.as_ref(), witness);
        if holds { Ok(()) } else { Err(format!("{}: {witness:?}", anomaly.name)) }
    })
}

fn ops_are_recorded(history: &History, witness: &Witness) -> bool {
    witness.ops.iter().all(|named| {
        history.ops().any(|op| {
            op.index == named.index && op.kind == named.kind && named.time_ns.is_none_or(|ns| op.time == Some(ns))
        }) && witness.explanation.contains(&format!("{} = {{:index {}, ", named.name, named.index))
    })
}

fn holds(log: &Log, name: &str, witness: &Witness) -> bool {
    let shown: Vec<(u64, &Shown)> =
        witness.ops.iter().filter_map(|op| Some((op.index, log.shown.get(&op.index)?))).collect();
    let id = fact(witness, "write-id");
    let leads = |newer: &Datum, older: Option<&Datum>| older.is_some_and(|older| log.leads_to(newer, older));
    match (name, &shown[..]) {
        ("stale-read", [(known, newer), (_, stale)]) => {
            stale.is_read
                && Some(&stale.id) == id
                && newer.id != stale.id
                && leads(&newer.id, id)
                && stale.invoked.is_some_and(|invoked| *known < invoked)
        }
        ("lost-update", shown) => {
            let chains = list(fact(witness, "chains"));
            let sides: Vec<&[Datum]> = chains.iter().map(|chain| list(Some(chain))).collect();
            let [one, other] = sides[..] else { return false };
            let holds = |side: &[Datum]| {
                let (Some(first), Some(last)) = (side.first(), side.last()) else { return false };
                log.write(first).map(|write| &write.prev) == fact(witness, "prev-write-id")
                    && side.windows(2).all(|pair| log.write(&pair[1]).is_some_and(|write| write.prev == pair[0]))
                    && shown.iter().any(|(_, shown)| shown.id == *last)
            };
            holds(one) && holds(other) && one.first() != other.first()
        }
        ("future-read", [(at, shown), ..]) => {
            leads(&shown.id, id) && id.and_then(|id| log.write(id)).is_some_and(|write| *at < write.invoked)
        }
        ("garbage-read", [(_, shown)]) => Some(&shown.id) == id && log.write(&shown.id).is_none(),
        ("unknown-version", [(at, shown), ..]) => {
            let prev = fact(witness, "prev-write-id");
            leads(&shown.id, prev)
                && Some(&shown.id) != prev
                && prev.is_some_and(|prev| log.write(prev).is_none_or(|write| write.invoked > *at))
        }
        ("cyclic-versions", shown) => {
            let chain = list(fact(witness, "chain"));
            let next = chain.iter().cycle().skip(1);
            !chain.is_empty()
                && chain.iter().zip(next).all(|(prev, id)| log.write(id).is_some_and(|write| write.prev == *prev))
                && shown.iter().any(|(_, shown)| leads(&shown.id, chain.first()))
        }
        ("failed-write-observed", [.., (_, shown)]) => {
            leads(&shown.id, id) && id.and_then(|id| log.write(id)).is_some_and(|write| write.failed)
        }
        ("wrong-value", [(_, other), (_, read)]) => {
            other.is_read && read.is_read && Some(&read.id) == id && other.id == read.id && other.value != read.value
        }
        // A version that was never written is the initial one, whose value was given.
        ("wrong-value", [(_, read)]) => {
            let written = log.write(&read.id).map(|write| &write.value);
            read.is_read && Some(&read.id) == id && written.is_none_or(|value| *value != read.value)
        }
        _ => false,
    }
}
