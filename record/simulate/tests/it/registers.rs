//! Registers are lists of which only the last element is visible; and the errors by which each bug is then visible.

use crate::common::{Did, Recorded, Txn, assert_bites};
use record_simulate::{Bug, Kind, ListAppend, OverRegisters, RwRegister};
use std::collections::{HashMap, HashSet};

/// A kind of error in a history that is visible without the order in which values were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wrong {
    /// An ok read shows a write of a failed transaction.
    Aborted,
    /// An ok read shows a write that is not the last one of its transaction to the key.
    Intermediate,
    /// A read contradicts its own transaction.
    Internal,
    /// A transaction reads what it writes later.
    Future,
    /// A transaction reads what is written only by one that is invoked after it has completed.
    Unborn,
    /// Two transactions read the same version of a key, and then write it.
    LostUpdate,
    /// A transaction reads a value, or nothing, though it had been overwritten when the transaction was invoked.
    Stale,
}

use Wrong::*;

const ALL: [Wrong; 7] = [Aborted, Intermediate, Internal, Future, Unborn, LostUpdate, Stale];

/// By bug: the errors that a history of some thousand transactions must have, and the errors that it may have too.
///
/// There are none for write skew and for G0, which are visible only with an order of the writes; `bugs.rs` has one.
fn expected(bug: Bug) -> (&'static [Wrong], &'static [Wrong]) {
    match bug {
        Bug::None | Bug::StrongSnapshotIsolation => (&[], &[]),
        Bug::StaleRead
        | Bug::SessionStale
        | Bug::SessionSnapshotIsolation
        | Bug::SnapshotIsolation
        | Bug::LongFork
        | Bug::StaleKeys
        | Bug::PlantedGSingle => (&[Stale], &[]),
        Bug::LostUpdate => (&[LostUpdate], &[Internal]),
        Bug::CursorStability | Bug::Internal => (&[Internal], &[]),
        Bug::ReadCommitted => (&[LostUpdate, Internal], &[]),
        Bug::ReadUncommitted => (&[Aborted, Intermediate, Internal], &[LostUpdate]),
        Bug::AbortedRead | Bug::FalseFail => (&[Aborted], &[]),
        // The dropped or repeated write may be one of two writes of a transaction to a key.
        Bug::DroppedWrite | Bug::DuplicateWrite => (&[Stale], &[Intermediate, LostUpdate]),
        Bug::FutureRead => (&[Future], &[LostUpdate, Internal]),
        Bug::DirtyWrite => (&[], &[LostUpdate]),
        Bug::PlantedG1c => (&[Unborn], &[]),
        _ => panic!("{bug} is not in this table"),
    }
}

/// The transaction that wrote each value of a key.
struct Writes<'h>(HashMap<(i64, i64), &'h Txn>);

impl<'h> Writes<'h> {
    fn of(history: &'h Recorded) -> Writes<'h> {
        Writes(history.txns.iter().flat_map(|txn| txn.appends().map(move |write| (write, txn))).collect())
    }

    fn by(&self, key: i64, value: i64) -> &'h Txn {
        self.0[&(key, value)]
    }

    /// Returns true if `old` had certainly been overwritten when `new` was certainly present: the one ended before the
    /// other began.
    fn is_older(&self, key: i64, old: Option<i64>, new: i64) -> bool {
        let new = self.by(key, new);
        let Some(old) = old else { return new.is_ok() };
        let old = self.by(key, old);
        old.is_ok() && new.is_ok() && old.completed.is_some_and(|completed| completed < new.invoked)
    }
}

fn ok(history: &Recorded) -> impl Iterator<Item = &Txn> {
    history.txns.iter().filter(|txn| txn.is_ok())
}

/// The values that a transaction read, each with its key.
fn values(txn: &Txn) -> impl Iterator<Item = (i64, i64)> {
    txn.reads().filter_map(|(key, list)| list.last().map(|value| (key, *value)))
}

fn find_all(history: &Recorded) -> HashSet<Wrong> {
    let writes = Writes::of(history);
    let found = ALL.into_iter().filter(|wrong| match wrong {
        Aborted => ok(history).flat_map(values).any(|(key, value)| writes.by(key, value).kind == Kind::Fail),
        Intermediate => ok(history).any(|txn| values(txn).any(|read| is_intermediate(txn, read, &writes))),
        Internal => ok(history).any(contradicts_itself),
        Future => ok(history).any(Txn::reads_what_it_writes_later),
        Unborn => ok(history).any(|txn| {
            let is_later = |writer: &Txn| txn.completed.is_some_and(|completed| completed < writer.invoked);
            values(txn).any(|(key, value)| is_later(writes.by(key, value)))
        }),
        LostUpdate => loses_update(history),
        Stale => shows_stale(history, &writes),
    });
    found.collect()
}

fn is_intermediate(reader: &Txn, read: (i64, i64), writes: &Writes<'_>) -> bool {
    let writer = writes.by(read.0, read.1);
    let last = writer.appends().filter(|write| write.0 == read.0).last();
    writer.is_ok() && writer.invoked != reader.invoked && last != Some(read)
}

fn contradicts_itself(txn: &Txn) -> bool {
    let mut known: HashMap<i64, Vec<i64>> = HashMap::new();
    txn.did.iter().any(|did| match did {
        Did::Append(key, value) => {
            known.insert(*key, vec![*value]);
            false
        }
        Did::Read(key, Some(list)) => known.insert(*key, list.clone()).is_some_and(|before| before != *list),
        Did::Read(_, None) => panic!("{txn:?} is ok, but tells no read"),
    })
}

/// The values that a transaction read of each key before any other micro-operation on it.
fn external_reads(txn: &Txn) -> Vec<(i64, Option<i64>)> {
    let mut touched = HashSet::new();
    let first = txn.did.iter().filter(|did| touched.insert(*did.key()));
    first
        .filter_map(|did| match did {
            Did::Read(key, Some(list)) => Some((*key, list.last().copied())),
            _ => None,
        })
        .collect()
}

fn loses_update(history: &Recorded) -> bool {
    let mut updated = HashSet::new();
    ok(history).any(|txn| {
        let writes = |key: i64| txn.appends().any(|write| write.0 == key);
        external_reads(txn).into_iter().filter(|read| writes(read.0)).any(|read| !updated.insert(read))
    })
}

fn shows_stale(history: &Recorded, writes: &Writes<'_>) -> bool {
    // By key: the values present when transactions completed, which are the last ones that they read or wrote.
    let mut there: HashMap<i64, Vec<(u64, i64)>> = HashMap::new();
    for txn in ok(history) {
        let last: HashMap<i64, i64> = txn.did.iter().filter_map(|did| Some((*did.key(), did.value()?))).collect();
        for (key, value) in last {
            there.entry(key).or_default().extend(txn.completed.map(|completed| (completed, value)));
        }
    }
    ok(history).any(|txn| {
        external_reads(txn).into_iter().any(|(key, read)| {
            let there = there.get(&key).into_iter().flatten();
            there.filter(|(completed, _)| *completed < txn.invoked).any(|(_, new)| writes.is_older(key, read, *new))
        })
    })
}

fn parameters(bug: Bug, seed: u64) -> RwRegister {
    let (writes_per_key_min, writes_per_key_max) = (8, 32);
    let few = RwRegister { keys: 8, writes_per_key_min, writes_per_key_max, info_rate: 0.0, ..RwRegister::default() };
    RwRegister { txns: 2000, seed, bug, ..few }
}

/// The same parameters for lists.
fn of_lists(parameters: &RwRegister) -> ListAppend {
    let p = parameters.clone();
    ListAppend {
        workload: record_simulate::OverLists,
        txns: p.txns,
        seed: p.seed,
        clients: p.clients,
        keys: p.keys,
        ops_per_txn_min: p.ops_per_txn_min,
        ops_per_txn_max: p.ops_per_txn_max,
        writes_per_key_min: p.writes_per_key_min,
        writes_per_key_max: p.writes_per_key_max,
        read_fraction: p.read_fraction,
        key_distribution: p.key_distribution,
        reuse_fraction: p.reuse_fraction,
        bug: p.bug,
        bug_rate: p.bug_rate,
        fail_rate: p.fail_rate,
        info_rate: p.info_rate,
        lost_rate: p.lost_rate,
        nemesis: p.nemesis,
    }
}

#[test]
fn each_bug_bites_and_does_nothing_else() {
    for bug in Bug::of::<OverRegisters>() {
        let (must, may) = expected(bug);
        for seed in 0..2 {
            let found = find_all(&Recorded::of(&parameters(bug, seed)));
            assert_bites(bug, seed, &found, must, may);
        }
    }
}

#[test]
fn a_register_shows_the_last_element_of_the_list_that_it_would_be() {
    for bug in Bug::of::<OverRegisters>() {
        let parameters =
            RwRegister { info_rate: 0.05, lost_rate: 0.05, nemesis: true, clients: 30, ..parameters(bug, 11) };
        let (registers, mut lists) = (Recorded::of(&parameters), Recorded::of(&of_lists(&parameters)));
        for did in lists.txns.iter_mut().flat_map(|txn| &mut txn.did) {
            if let Did::Read(_, Some(list)) = did {
                list.drain(..list.len().saturating_sub(1));
            }
        }
        assert_eq!(registers.commits, lists.commits, "{bug}");
        assert_eq!(registers.txns.len(), lists.txns.len(), "{bug}");
        for (register, list) in registers.txns.iter().zip(&lists.txns) {
            assert_eq!(format!("{register:?}"), format!("{list:?}"), "{bug}");
        }
    }
}

#[test]
fn values_of_a_key_count_from_1_in_the_order_they_are_asked_for() {
    let mut last: HashMap<i64, i64> = HashMap::new();
    for txn in Recorded::of(&parameters(Bug::None, 4)).txns {
        for (key, value) in txn.asked.iter().filter_map(|did| Some((*did.key(), did.value()?))) {
            let last = last.entry(key).or_default();
            assert_eq!((key, value), (key, *last + 1));
            *last = value;
        }
    }
    assert!(last.len() > 50 && last.values().all(|writes| *writes <= 32), "{last:?}");
}

#[test]
fn a_bug_of_lists_alone_is_refused_in_a_sentence_that_lists_the_others() {
    let refused = RwRegister { bug: Bug::ReorderedAppend, ..RwRegister::default() }.validate().unwrap_err();
    assert_eq!(refused.parameter, "bug");
    let begin = "rw-register has no bug reordered-append: expected one of none, stale-read, ";
    assert!(refused.message.starts_with(begin), "{refused}");
    assert!(!refused.message[begin.len()..].contains("reordered"), "{refused}");
    assert!(refused.message.ends_with(", planted-G-single"), "{refused}");
}
