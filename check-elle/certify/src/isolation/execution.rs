//! The transactions that happened, from the log: from which transactions each one read, and which writes are known to
//! precede others.

use crate::log::{Log, Mop, Txn};
use crate::registers::{self, Sources};
use crate::{Uncertified, claim};
use history_core::{Client, Datum, OpKind};

/// A transaction that happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Executed {
    /// The index of its op, which identifies it in a derivation.
    pub index: u64,
    /// Its session.
    pub session: Option<Client>,
    /// The index of its invocation, if known.
    pub begin: Option<u64>,
    /// The index of its completion, if it is known when the transaction ended.
    pub end: Option<u64>,
    /// Its reads from others, in their order: the key, and the index of the writer (`None`: the initial version).
    pub reads: Vec<(Datum, Option<u64>)>,
    /// The keys that it wrote, each once.
    pub writes: Vec<Datum>,
}

/// The transactions of a history that happened, in the order of their indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Execution {
    /// They.
    pub txns: Vec<Executed>,
    /// The known order of writers: a key, and the indices of two that wrote it in this order.
    pub orders: Vec<(Datum, u64, u64)>,
}

impl Execution {
    /// The transaction with this index.
    pub(super) fn txn(&self, index: u64) -> Result<&Executed, Uncertified> {
        let txn = self.txns.iter().find(|txn| txn.index == index);
        txn.ok_or_else(|| Uncertified::new(format!("no transaction with index {index} is known to have happened")))
    }

    /// The execution of a log of lists.
    pub(crate) fn of_lists(log: &Log) -> Result<Execution, Uncertified> {
        let lists = || log.txns.iter().filter(|txn| txn.is_ok()).flat_map(|txn| &txn.mops).filter_map(list);
        // If an element was appended twice, only the reading transaction itself counts as its writer.
        let is_seen = |(key, value): (&Datum, &Datum)| {
            lists().any(|(k, list)| k == key && list.contains(value)) && only_writer(log, key, value).is_some()
        };
        let mut execution = Execution::default();
        for txn in log.txns.iter().filter(|txn| txn.is_ok() || txn.is_possible() && txn.writes().any(is_seen)) {
            let mut reads = Vec::new();
            for (at, mop) in txn.mops.iter().enumerate().filter(|_| txn.is_ok()) {
                let Some((key, list)) = list(mop) else { continue };
                let own: Vec<&Datum> = written(&txn.mops[..at], key).collect();
                let before = list.len().checked_sub(own.len()).filter(|from| own.into_iter().eq(&list[*from..]));
                let before = before.ok_or_else(|| contradicts(txn, key))?;
                let writer = match list[..before].last() {
                    Some(last) => Some(installer(log, txn, key, last)?),
                    None => None,
                };
                reads.push((key.clone(), writer));
            }
            execution.txns.push(executed(txn, reads));
        }
        execution.orders = list_orders(log, &execution)?;
        Ok(execution)
    }

    /// The transactions of a log of registers that happened, with the orders of versions from the sources in use. With
    /// sources, it also includes those that may have happened: after all others they contradict nothing. Only if
    /// `lets_internal`, a read after an own write may return another transaction's write.
    pub(crate) fn of_registers(log: &Log, sources: &Sources, lets_internal: bool) -> Result<Execution, Uncertified> {
        let seen = || log.txns.iter().filter(|txn| txn.is_ok()).flat_map(|txn| &txn.mops);
        let is_seen = |(key, value): (&Datum, &Datum)| {
            seen().any(|mop| matches!(mop, Mop::Read { key: k, seen: Some(seen) } if (k, seen) == (key, value)))
        };
        let has_sources = Sources { initial: sources.initial.clone(), ..Sources::default() } != *sources;
        let happened = |txn: &&Txn| txn.is_ok() || txn.is_possible() && (has_sources || txn.writes().any(is_seen));
        let mut execution = Execution::default();
        for txn in log.txns.iter().filter(happened) {
            let mut reads = Vec::new();
            for (at, mop) in txn.mops.iter().enumerate().filter(|_| txn.is_ok()) {
                let Mop::Read { key, seen: Some(seen) } = mop else { continue };
                let writer = match written(&txn.mops[..at], key).last() {
                    Some(own) if own == seen => continue,
                    Some(_) if !lets_internal => return Err(contradicts(txn, key)),
                    Some(_) if written(&txn.mops[..at], key).any(|own| own == seen) => continue,
                    _ if *seen == Datum::Nil => None,
                    _ => Some(installer(log, txn, key, seen)?),
                };
                reads.push((key.clone(), writer));
            }
            execution.txns.push(executed(txn, reads));
        }
        if has_sources {
            execution.orders = registers::writer_orders(log, sources);
        }
        Ok(execution)
    }
}

fn executed(txn: &Txn, reads: Vec<(Datum, Option<u64>)>) -> Executed {
    let mut writes: Vec<Datum> = Vec::new();
    for (key, _) in txn.writes() {
        if !writes.contains(key) {
            writes.push(key.clone());
        }
    }
    let end = txn.is_ok().then_some(txn.index);
    Executed { index: txn.index, session: txn.process.clone(), begin: txn.invoked, end, reads, writes }
}

fn list(mop: &Mop) -> Option<(&Datum, &[Datum])> {
    match mop {
        Mop::Read { key, seen: Some(Datum::Vector(list)) } => Some((key, list)),
        _ => None,
    }
}

/// The values that these micro-ops wrote to a key.
fn written<'a>(mops: &'a [Mop], key: &'a Datum) -> impl DoubleEndedIterator<Item = &'a Datum> {
    mops.iter().filter_map(move |mop| match mop {
        Mop::Write { key: k, value } if k == key => Some(value),
        _ => None,
    })
}

fn contradicts(txn: &Txn, key: &Datum) -> Uncertified {
    Uncertified::new(format!("op {} contradicts itself in key {key}", txn.index))
}

/// The only transaction whose final write of a key has this value.
fn installer(log: &Log, reader: &Txn, key: &Datum, value: &Datum) -> Result<u64, Uncertified> {
    let mut writers = log.txns.iter().filter(|txn| txn.wrote(key, value));
    let (writer, other) = (writers.next(), writers.next());
    let writer = writer.filter(|_| other.is_none());
    let writer = writer.ok_or_else(|| Uncertified::new(format!("{value} of key {key} has no one writer")))?;
    let is_last = written(&writer.mops, key).next_back() == Some(value);
    let is_left = writer.kind != OpKind::Fail && is_last && writer.index != reader.index;
    claim(is_left, || format!("op {} did not leave {value} behind in key {key}", writer.index))?;
    Ok(writer.index)
}

/// The order of appends to each key: those in the longest list that was read, then those that no read shows.
fn list_orders(log: &Log, execution: &Execution) -> Result<Vec<(Datum, u64, u64)>, Uncertified> {
    let mut orders = Vec::new();
    let mut keys: Vec<&Datum> = Vec::new();
    for key in execution.txns.iter().flat_map(|txn| &txn.writes) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    for key in keys {
        let lists = || log.txns.iter().filter(|txn| txn.is_ok()).flat_map(|txn| &txn.mops).filter_map(list);
        let of_key: Vec<&[Datum]> = lists().filter(|(k, _)| *k == key).map(|(_, list)| list).collect();
        let longest = of_key.iter().max_by_key(|list| list.len()).copied().unwrap_or_default();
        claim(of_key.iter().all(|list| longest.starts_with(list)), || {
            format!("reads of key {key} contradict each other")
        })?;
        let mut shown: Vec<u64> = longest.iter().map_while(|value| only_writer(log, key, value)).collect();
        // An element that two transactions appended belongs to the one whose own append is at the end of its read. The
        // rest of the list is unknown.
        if let Some(owner) = owner(log, key, shown.len()) {
            shown.push(owner);
        }
        shown.dedup();
        let writers = execution.txns.iter().filter(|txn| txn.writes.contains(key)).map(|txn| txn.index);
        let unseen: Vec<u64> = writers.filter(|writer| !shown.contains(writer)).collect();
        for (at, before) in shown.iter().enumerate() {
            let later = shown[at + 1..].iter().chain(&unseen);
            orders.extend(later.map(|after| (key.clone(), *before, *after)));
        }
    }
    Ok(orders)
}

/// The only transaction whose read of a list has its own append at this position.
fn owner(log: &Log, key: &Datum, position: usize) -> Option<u64> {
    let is_owner = |txn: &&Txn| {
        let mut reads = txn.mops.iter().enumerate().filter_map(|(at, mop)| Some((at, list(mop)?)));
        txn.is_ok()
            && reads.any(|(at, (k, list))| {
                let own = written(&txn.mops[..at], key).count();
                k == key && (list.len() - own.min(list.len())..list.len()).contains(&position)
            })
    };
    let mut owners = log.txns.iter().filter(is_owner);
    owners.next().filter(|_| owners.next().is_none()).map(|txn| txn.index)
}

fn only_writer(log: &Log, key: &Datum, value: &Datum) -> Option<u64> {
    let mut writers = log.txns.iter().filter(|txn| txn.wrote(key, value));
    writers.next().filter(|_| writers.next().is_none()).map(|txn| txn.index)
}
