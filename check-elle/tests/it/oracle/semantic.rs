//! The definitions of the levels without graphs: is there an execution that explains what the clients saw?
//!
//! All ok transactions are executed, and any subset of those with an unknown outcome, in every order that the level
//! permits. Serializability: Papadimitriou, "The serializability of concurrent database updates" (1979). Snapshot
//! isolation: Berenson et al., "A critique of ANSI SQL isolation levels" (1995).
//!
//! The sources of version orders of registers are assumptions about the store: only those executions count in which the
//! final writes of a key, in the order in which they took effect, agree with all requested sources.

use super::graph::{Order, certain_order};
use super::world::{Mop, Name, Txn, World};

/// Returns true if the transactions can run one after another, in an order that respects `order`.
pub(crate) fn is_serializable(world: &World, order: Order) -> bool {
    any_order(world, order, |txns| {
        let mut states = vec![Vec::new(); world.keys.len()];
        txns.iter().all(|txn| runs(world, txn, &mut states)) && fits(world, txns)
    })
}

/// Returns true if each read shows a state that earlier transactions left, or the transaction's own state.
pub(crate) fn is_read_committed(world: &World) -> bool {
    any_order(world, Order::None, |txns| {
        // For each key, all states so far, the latest one last.
        let mut states: Vec<Vec<Vec<Name>>> = vec![vec![Vec::new()]; world.keys.len()];
        txns.iter().all(|txn| {
            let mut own: Vec<Vec<Name>> = states.iter().map(|states| states[states.len() - 1].clone()).collect();
            for mop in &txn.mops {
                match mop {
                    Mop::Write(key, element) => world.put(&mut own[*key], *element),
                    Mop::Read(key, Some(list)) if own[*key] != *list && !states[*key].contains(list) => return false,
                    Mop::Read(..) => {}
                }
            }
            states.iter_mut().zip(own).for_each(|(states, own)| states.push(own));
            true
        }) && fits(world, txns)
    })
}

/// Returns true if one order of transactions explains the writes of all keys: each list has the order of one of its
/// reads, which is assumed to be right, and all elements that this read does not show come after it.
pub(crate) fn orders_writes(world: &World) -> bool {
    if let Some(versions) = &world.versions {
        let happened = |(key, list): (Name, &Vec<Name>), txns: &[&Txn]| {
            list.iter().all(|v| !world.may_have_been_written(key, *v) || place_of(key, *v, txns).is_some())
        };
        let all_happened = |txns: &[&Txn]| world.txns.iter().flat_map(Txn::reads).all(|read| happened(read, txns));
        return !versions.cyclic && any_order(world, Order::None, |txns| all_happened(txns) && fits(world, txns));
    }
    let is_right = |list: &&Vec<Name>| list.iter().enumerate().all(|(at, element)| !list[..at].contains(element));
    let mut believed: Vec<Vec<(Name, &[Name])>> = vec![Vec::new()];
    for key in 0..world.keys.len() {
        let all: Vec<&Vec<Name>> =
            world.txns.iter().flat_map(Txn::reads).filter(|(k, _)| *k == key).map(|(_, l)| l).collect();
        if !all.iter().all(is_right) {
            return false;
        }
        let is_longest =
            |list: &&&Vec<Name>| !all.iter().any(|other| other.len() > list.len() && other.starts_with(list));
        let longest: Vec<&[Name]> = all.iter().filter(is_longest).map(|list| &list[..]).collect();
        if !longest.is_empty() {
            let with = |so_far: &Vec<_>| {
                longest.iter().map(|list| [&so_far[..], &[(key, *list)]].concat()).collect::<Vec<_>>()
            };
            believed = believed.iter().flat_map(with).collect();
        }
    }
    believed.iter().any(|lists| {
        any_order(world, Order::None, |txns| {
            lists.iter().all(|(key, list)| {
                let may_be = |element: &&Name| world.may_have_been_written(*key, **element);
                let shown = list.iter().filter(may_be).all(|element| place_of(*key, *element, txns).is_some());
                shown && in_order(*key, list, txns)
            })
        })
    })
}

/// The same with only the part of each list on which all reads agree.
pub(crate) fn certainly_orders_writes(world: &World) -> bool {
    if world.versions.is_some() {
        return true;
    }
    let twice = |list: &Vec<Name>| list.iter().enumerate().any(|(at, element)| list[..at].contains(element));
    !world.txns.iter().flat_map(Txn::reads).any(|(_, list)| twice(list))
        && any_order(world, Order::None, |txns| {
            (0..world.keys.len()).all(|key| in_order(key, &certain_order(world, key), txns))
        })
}

/// Returns true if the elements of a list were appended in this order, and all others after them.
fn in_order(key: Name, list: &[Name], txns: &[&Txn]) -> bool {
    let place = |element: &Name| place_of(key, *element, txns);
    let others = txns.iter().flat_map(|txn| txn.writes()).filter(|(k, element)| *k == key && !list.contains(element));
    let others: Vec<Place> = others.filter_map(|(_, element)| place(&element)).collect();
    let places: Vec<Place> = list.iter().filter_map(place).collect();
    places.is_sorted() && others.iter().all(|other| places.last().is_none_or(|last| last <= other))
}

/// The place of a write: the position of its transaction, and its number among the writes of that transaction.
type Place = (usize, usize);

/// Returns the place where these transactions wrote an element.
fn place_of(key: Name, element: Name, txns: &[&Txn]) -> Option<Place> {
    let within = |txn: &Txn| txn.writes().position(|write| write == (key, element));
    txns.iter().enumerate().find_map(|(at, txn)| Some((at, within(txn)?)))
}

/// Returns true if each transaction can read from a snapshot, taken when it began, and no two concurrent transactions
/// write the same key.
pub(crate) fn is_snapshot_isolated(world: &World, order: Order) -> bool {
    any_subset(world, |txns| {
        let began = vec![None; txns.len()];
        let mut schedule = Schedule { world, txns, order, began, committed: Vec::new() };
        schedule.goes_on(&vec![Vec::new(); world.keys.len()], 0)
    })
}

/// The progress of transactions under snapshot isolation: each begins, and later it commits.
struct Schedule<'a> {
    world: &'a World,
    txns: &'a [&'a Txn],
    order: Order,
    /// For each transaction that has begun, the number of commits before that.
    began: Vec<Option<usize>>,
    /// The committed transactions, in the order of commits.
    committed: Vec<usize>,
}

impl Schedule<'_> {
    /// Returns true if the remaining transactions can be executed in the given state. Between two commits the order in
    /// which transactions begin does not matter: only transactions from `first` on are tried.
    fn goes_on(&mut self, states: &[Vec<Name>], first: usize) -> bool {
        if self.committed.len() == self.txns.len() {
            let by_commit: Vec<&Txn> = self.committed.iter().map(|txn| self.txns[*txn]).collect();
            return fits(self.world, &by_commit);
        }
        (first..self.txns.len()).any(|txn| self.began[txn].is_none() && self.begins(txn, states))
            || (0..self.txns.len()).any(|txn| self.commits(txn, states))
    }

    fn begins(&mut self, txn: usize, states: &[Vec<Name>]) -> bool {
        let is_late = |other: usize| {
            other != txn && !self.committed.contains(&other) && precedes(self.txns[other], self.txns[txn], self.order)
        };
        // The beginning of a transaction determines its reads.
        if (0..self.txns.len()).any(is_late) || !runs(self.world, self.txns[txn], &mut states.to_vec()) {
            return false;
        }
        self.began[txn] = Some(self.committed.len());
        let goes_on = self.goes_on(states, txn + 1);
        self.began[txn] = None;
        goes_on
    }

    fn commits(&mut self, txn: usize, states: &[Vec<Name>]) -> bool {
        let Some(began) = self.began[txn].filter(|_| !self.committed.contains(&txn)) else { return false };
        let is_of = |other: &usize, key: Name| self.txns[*other].writes().any(|(k, _)| k == key);
        let is_overwritten = |(key, _): (Name, Name)| self.committed[began..].iter().any(|other| is_of(other, key));
        if self.txns[txn].writes().any(is_overwritten) {
            return false;
        }
        let mut after = states.to_vec();
        for (key, element) in self.txns[txn].writes() {
            self.world.put(&mut after[key], element);
        }
        self.committed.push(txn);
        let goes_on = self.goes_on(&after, 0);
        self.committed.pop();
        goes_on
    }
}

/// Returns true if registers that were written in this order have versions in an order that the sources allow.
fn fits(world: &World, txns: &[&Txn]) -> bool {
    let Some(versions) = &world.versions else { return true };
    versions.assumed.iter().all(|(key, version, next)| {
        let written: Vec<Option<Name>> =
            std::iter::once(None).chain(txns.iter().filter_map(|txn| txn.external_write(*key)).map(Some)).collect();
        let place = |version: &Option<Name>| written.iter().position(|v| v == version);
        // The sources say nothing about versions that were not the final write of their transaction.
        place(version).zip(place(next)).is_none_or(|(place, next)| place < next)
    })
}

/// Executes a transaction; returns false if a read shows another state.
fn runs(world: &World, txn: &Txn, states: &mut [Vec<Name>]) -> bool {
    txn.mops.iter().all(|mop| match mop {
        Mop::Write(key, element) => {
            world.put(&mut states[*key], *element);
            true
        }
        Mop::Read(key, Some(list)) => states[*key] == *list,
        Mop::Read(_, None) => true,
    })
}

fn precedes(a: &Txn, b: &Txn, order: Order) -> bool {
    match order {
        Order::None => false,
        Order::Process => a.precedes_in_process(b),
        Order::Realtime => a.precedes_in_time(b),
    }
}

/// Returns true if `runs` does for some permitted order of all ok transactions and some of the unknown ones.
fn any_order(world: &World, order: Order, runs: impl Fn(&[&Txn]) -> bool) -> bool {
    any_subset(world, |txns| {
        let mut permutation: Vec<usize> = (0..txns.len()).collect();
        loop {
            let ordered: Vec<&Txn> = permutation.iter().map(|at| txns[*at]).collect();
            let respected =
                (0..ordered.len()).all(|at| ordered[..at].iter().all(|before| !precedes(ordered[at], before, order)));
            if respected && runs(&ordered) {
                return true;
            }
            if !next_permutation(&mut permutation) {
                return false;
            }
        }
    })
}

fn any_subset(world: &World, mut holds: impl FnMut(&[&Txn]) -> bool) -> bool {
    let unknown: Vec<usize> =
        (0..world.txns.len()).filter(|at| world.txns[*at].may_have_happened() && !world.txns[*at].is_ok()).collect();
    (0..1_u32 << unknown.len()).any(|chosen| {
        let happened = |at: &usize| match unknown.iter().position(|u| u == at) {
            Some(bit) => chosen & 1 << bit != 0,
            None => world.txns[*at].is_ok(),
        };
        let txns: Vec<&Txn> = (0..world.txns.len()).filter(happened).map(|at| &world.txns[at]).collect();
        holds(&txns)
    })
}

/// Makes the next permutation in lexicographic order; returns false after the last one.
pub(crate) fn next_permutation(items: &mut [usize]) -> bool {
    let Some(at) = (1..items.len()).rev().find(|at| items[at - 1] < items[*at]) else { return false };
    let swap = (at..items.len()).rev().find(|i| items[*i] > items[at - 1]).unwrap_or(at);
    items.swap(at - 1, swap);
    items[at..].reverse();
    true
}
