//! Certifies witnesses of closed-predicate: derives each step and fact again from the history, directly by definition,
//! without regard to speed. It shares no code with the checker.

use history_core::{Datum, History, OpKind, Step, Witness};

/// A transaction: index and kind of its completion (or of its lone invocation), index of its invocation, and micro-ops.
#[derive(Debug)]
struct Txn {
    index: u64,
    invoked: Option<u64>,
    kind: OpKind,
    is_init: bool,
    mops: Vec<Vec<Datum>>,
}

fn items(datum: &Datum) -> Vec<Datum> {
    match datum {
        Datum::Vector(items) | Datum::List(items) => items.clone(),
        _ => Vec::new(),
    }
}

fn name(datum: &Datum) -> &str {
    match datum {
        Datum::Keyword(name) | Datum::Str(name) => name,
        _ => "",
    }
}

fn transactions(history: &History) -> Vec<Txn> {
    let mut txns = Vec::new();
    for (at, op) in history.ops().enumerate() {
        let partner = history.partner(at);
        if op.kind == OpKind::Invoke && partner.is_some() {
            continue;
        }
        let value = op.value.to_datum();
        let is_init = matches!(value, Datum::Map(_));
        let mops = match value {
            Datum::Map(entries) => {
                entries.into_iter().map(|(key, value)| vec![Datum::keyword("init"), integer(key), value]).collect()
            }
            other => items(&other).iter().map(items).collect(),
        };
        let kind = if op.kind == OpKind::Invoke { OpKind::Info } else { op.kind };
        txns.push(Txn { index: op.index, invoked: partner.map(|other| history.op(other).index), kind, is_init, mops });
    }
    txns
}

/// Returns what a mutation leaves of a key; `None` if the micro-op is not a mutation of this key.
fn mutation(mop: &[Datum], key: &Datum) -> Option<Datum> {
    let value = match name(&mop[0]) {
        "delete" => Datum::Nil,
        "init" | "insert" | "w" => mop[2].clone(),
        _ => return None,
    };
    (mop[1] == integer(key.clone()))
        .then_some(value)
        .or_else(|| (mop[1] == *key).then(|| mop.get(2).cloned().unwrap_or(Datum::Nil)))
}

fn integer(datum: Datum) -> Datum {
    match &datum {
        Datum::Str(text) => text.parse::<i64>().map_or(datum.clone(), Datum::Int),
        _ => datum,
    }
}

fn last_mutation(txn: &Txn, key: &Datum) -> Option<Datum> {
    txn.mops.iter().rev().find_map(|mop| mutation(mop, key))
}

fn is_possible(txn: &Txn) -> bool {
    txn.kind != OpKind::Fail
}

fn matches(predicate: &Datum, value: &Datum) -> bool {
    let parts = items(predicate);
    match (parts.first().map(name), value) {
        (_, Datum::Nil) => false,
        (Some("="), value) => parts[1] == *value,
        (Some("mod"), Datum::Int(value)) => {
            let (Datum::Int(m), Datum::Int(r)) = (&parts[1], &parts[2]) else { return false };
            value.rem_euclid(*m) == *r
        }
        (None, _) => name(predicate) == "true",
        _ => false,
    }
}

/// Returns the transaction that creates the universe, if it completes before all others are invoked.
fn creator(txns: &[Txn]) -> Option<usize> {
    let creator = txns.iter().position(|txn| txn.is_init && txn.kind == OpKind::Ok)?;
    let others = txns.iter().enumerate().filter(|(at, txn)| *at != creator && is_possible(txn));
    others.into_iter().all(|(_, txn)| txn.invoked.is_some_and(|at| at > txns[creator].index)).then_some(creator)
}

fn base(txns: &[Txn], key: &Datum) -> Datum {
    creator(txns).and_then(|creator| last_mutation(&txns[creator], key)).unwrap_or(Datum::Nil)
}

/// Returns the contents that other transactions may have left of a key, each with the index of its transaction.
fn others<'a>(txns: &'a [Txn], reader: &'a Txn, key: &'a Datum) -> impl Iterator<Item = (u64, Datum)> + 'a {
    let creator = creator(txns);
    let all = txns.iter().enumerate().filter(move |(at, txn)| Some(*at) != creator && is_possible(txn));
    all.filter(|(_, txn)| txn.index != reader.index).filter_map(|(_, txn)| Some((txn.index, last_mutation(txn, key)?)))
}

/// A read of a key: the micro-op, whether the key is not shown, and which contents fit.
type Look<'a> = (&'a [Datum], bool, Box<dyn Fn(&Datum) -> bool + 'a>);

/// Returns each read of a key that shows the state left by other transactions: one before the transaction's own writes
/// of the key, or a later one that fits none of these writes.
fn looks<'a>(reader: &'a Txn, key: &'a Datum) -> impl Iterator<Item = Look<'a>> + 'a {
    let first = reader.mops.iter().position(|mop| mutation(mop, key).is_some()).unwrap_or(reader.mops.len());
    let is_own =
        |(_, _, fits): &Look<'_>| reader.mops.iter().filter_map(|mop| mutation(mop, key)).any(|own| fits(&own));
    let behind = looks_in(&reader.mops[first..], key).filter(move |look| !is_own(look));
    looks_in(&reader.mops[..first], key).chain(behind)
}

/// Returns each read of a key in these micro-ops: the micro-op, and which contents fit.
fn looks_in<'a>(mops: &'a [Vec<Datum>], key: &'a Datum) -> impl Iterator<Item = Look<'a>> + 'a {
    mops.iter().filter_map(move |mop| {
        if name(&mop[0]) == "r" && mop[1] == *key {
            return Some((&mop[..], false, Box::new(|value: &Datum| *value == mop[2]) as Box<dyn Fn(&Datum) -> bool>));
        }
        if name(&mop[0]) != "rp" {
            return None;
        }
        let entries = match &mop[2] {
            Datum::Map(entries) => entries.clone(),
            pairs => items(pairs).iter().map(|pair| (items(pair)[0].clone(), items(pair)[1].clone())).collect(),
        };
        let shown = entries.into_iter().find(|(other, _)| integer(other.clone()) == *key).map(|(_, value)| value);
        Some(match shown {
            Some(shown) => (&mop[..], false, Box::new(move |value: &Datum| *value == shown)),
            None => (&mop[..], true, Box::new(|value: &Datum| !matches(&mop[1], value))),
        })
    })
}

/// Certifies a witness: its steps and facts must follow from the history.
pub(super) fn certify(history: &History, anomaly: &str, witness: &Witness) -> Result<(), String> {
    let txns = transactions(history);
    let find = |index: u64| txns.iter().find(|txn| txn.index == index).ok_or(format!("no transaction {index}"));
    let ops: Vec<&Txn> = witness.ops.iter().map(|op| find(op.index)).collect::<Result<_, _>>()?;
    // A derivation explains which cycle would exist otherwise; the certification of registers covers it.
    if witness.facts.iter().any(|(name, _)| name == "derivation") {
        return Ok(());
    }
    if !witness.steps.is_empty() {
        return cycle(&txns, &ops, anomaly, witness);
    }
    if witness.facts.iter().any(|(name, _)| name == "scc") {
        // A separate witness of a cycle in the component proves that the component exists.
        return Ok(());
    }
    let fact = |name: &str| {
        let fact = witness.facts.iter().find(|(fact, _)| fact == name);
        fact.map(|(_, value)| value.clone()).ok_or(format!("no fact {name}"))
    };
    let key = fact("key")?;
    let reader = ops[0];
    let may_be = |value: &Datum| looks(reader, &key).any(|(_, _, fits)| fits(value));
    let candidates: Vec<Datum> =
        std::iter::once(base(&txns, &key)).chain(others(&txns, reader, &key).map(|(_, value)| value)).collect();
    let of_none = looks(reader, &key).any(|(_, _, fits)| !candidates.iter().any(&fits));
    let holds = match anomaly {
        "predicate-read-miss" => looks(reader, &key).any(|(_, hidden, fits)| hidden && !candidates.iter().any(fits)),
        "init-read-miss" => ops[1].is_init && base(&txns, &key) != Datum::Nil && of_none && may_be(&Datum::Nil),
        "garbage-read" => {
            of_none && !txns.iter().any(|txn| txn.mops.iter().any(|mop| mutation(mop, &key) == fact("element").ok()))
        }
        "future-read" => of_none && reader.mops.iter().any(|mop| mutation(mop, &key) == fact("element").ok()),
        "G1a" => of_none && ops[1].kind == OpKind::Fail && may_be(&fact("element")?),
        "G1b" => {
            let value = Some(fact("element")?);
            of_none
                && last_mutation(ops[1], &key) != value
                && ops[1].mops.iter().any(|mop| mutation(mop, &key) == value)
        }
        "predicate-mismatch" => reader.mops.iter().any(|mop| {
            let shows = |(k, value): &(Datum, Datum)| integer(k.clone()) == key && !matches(&mop[1], value);
            name(&mop[0]) == "rp" && matches!(&mop[2], Datum::Map(entries) if entries.iter().any(shows))
        }),
        "internal" => internal(reader, &key),
        "lost-update" => {
            ops.len() > 1
                && ops.iter().all(|txn| {
                    let first = txn.mops.iter().position(|mop| mutation(mop, &key).is_some());
                    first.is_some_and(|first| {
                        looks_in(&txn.mops[..first], &key)
                            .any(|(_, hidden, fits)| !hidden && fits(&fact("value").unwrap()))
                    })
                })
        }
        _ => false,
    };
    if holds { Ok(()) } else { Err(format!("it does not show {anomaly}: {witness:?}")) }
}

/// Returns true if some read of a key does not fit what the transaction wrote, or saw as a value, before.
fn internal(reader: &Txn, key: &Datum) -> bool {
    let mut known: Option<Datum> = None;
    for mop in &reader.mops {
        let alone = Txn { index: 0, invoked: None, kind: OpKind::Ok, is_init: false, mops: vec![mop.clone()] };
        if let Some((_, hidden, fits)) = looks(&alone, key).next() {
            if known.as_ref().is_some_and(|known| !fits(known)) {
                return true;
            }
            if !hidden && known.is_none() {
                known = (-1..9).map(Datum::Int).chain([Datum::Nil]).find(|value| fits(value));
            }
        }
        known = mutation(mop, key).or(known);
    }
    false
}

fn cycle(txns: &[Txn], ops: &[&Txn], anomaly: &str, witness: &Witness) -> Result<(), String> {
    for (at, step) in witness.steps.iter().enumerate() {
        if step.from != at || step.to != (at + 1) % ops.len() || ops.len() != witness.steps.len() {
            return Err(format!("step {at} is not from one op to the next"));
        }
        if !is_possible(ops[at]) || ops.iter().filter(|op| op.index == ops[at].index).count() > 1 {
            return Err(format!("op {} cannot be on a cycle", ops[at].index));
        }
        if !is_step(txns, ops[step.from], ops[step.to], step) {
            return Err(format!("step {at} does not follow: {step:?}"));
        }
    }
    let relations: Vec<&str> = witness.steps.iter().map(|step| step.relation.as_ref()).collect();
    let has = |names: &[&str]| relations.iter().filter(|relation| names.contains(relation)).count();
    let is_rw = |at: usize| matches!(relations[at % relations.len()], "rw" | "rwp");
    let adjacent = (0..relations.len()).any(|at| is_rw(at) && is_rw(at + 1));
    let shape = match has(&["rw", "rwp"]) {
        0 if has(&["wr", "wrp"]) > 0 => "G1c",
        0 => "G0",
        1 => "G-single",
        _ if adjacent => "G2",
        _ => "G-nonadjacent",
    };
    let item = if has(&["rw", "rwp"]) > 0 && has(&["rwp"]) == 0 { "-item" } else { "" };
    let suffix = match (has(&["realtime"]), has(&["process"])) {
        (0, 0) => "",
        (0, _) => "-process",
        _ => "-realtime",
    };
    let is = format!("{shape}{item}{suffix}");
    if is == anomaly { Ok(()) } else { Err(format!("a cycle of {} is {is}", relations.join(", "))) }
}

fn is_step(txns: &[Txn], from: &Txn, to: &Txn, step: &Step) -> bool {
    let key = step.key.clone().unwrap_or(Datum::Nil);
    let is_creator = |txn: &Txn| creator(txns).is_some_and(|creator| txns[creator].index == txn.index);
    let reads = |reader: &Txn, hidden: bool, version: &Datum| {
        let others: Vec<Datum> = others(txns, reader, &key).map(|(_, value)| value).collect();
        looks(reader, &key).any(|(_, is_hidden, fits)| {
            // Exactly one of the possible contents fits the read.
            let all = std::iter::once(base(txns, &key)).chain(others.iter().cloned());
            let fitting: Vec<Datum> = all.filter(|value| fits(value)).collect();
            is_hidden == hidden && fitting.len() == 1 && fitting[0] == *version
        })
    };
    let value = step.value.clone().unwrap_or(Datum::Nil);
    let next = step.next_value.clone().unwrap_or(Datum::Nil);
    let early = |reader: &Txn, hidden: bool| {
        let fits_none = |fits: &dyn Fn(&Datum) -> bool| {
            !fits(&base(txns, &key)) && !others(txns, reader, &key).any(|(_, value)| fits(&value))
        };
        is_creator(to)
            && value == Datum::Nil
            && looks(reader, &key).any(|(_, is_hidden, fits)| is_hidden == hidden && fits_none(&fits))
    };
    match step.relation.as_ref() {
        "ww" => is_creator(from) && last_mutation(from, &key) == Some(value) && last_mutation(to, &key) == Some(next),
        relation @ ("wr" | "wrp") => {
            let wrote = last_mutation(from, &key) == Some(value.clone());
            wrote && to.kind == OpKind::Ok && (reads(to, false, &value) || relation == "wrp" && reads(to, true, &value))
        }
        relation @ ("rw" | "rwp") => {
            let hidden = relation == "rwp";
            let follows = value == base(txns, &key) && reads(from, hidden, &value) && !is_creator(to);
            from.kind == OpKind::Ok && last_mutation(to, &key) == Some(next) && (follows || early(from, hidden))
        }
        "realtime" => from.kind == OpKind::Ok && to.invoked.is_some_and(|invoked| from.index < invoked),
        _ => false,
    }
}
