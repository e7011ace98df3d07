//! Cycles of which only the component is known: transactions that all come before each other.

use super::log::{Log, Mop, Txn};
use super::order::version_order;
use super::{Claim, Uncertified, claim};
use history_core::Datum;

/// Which paths are steps of the cycles that rule a model out.
struct Steps {
    wr: bool,
    rw: Rw,
    order: Order,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rw {
    None,
    /// Only as the second half of a step.
    Second,
    Free,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    None,
    Process,
    Realtime,
}

fn steps(model: &str) -> Option<Steps> {
    let (wr, rw, order) = match model {
        "PL-1" => (false, Rw::None, Order::None),
        "PL-2" => (true, Rw::None, Order::None),
        "PL-SI" => (true, Rw::Second, Order::None),
        "PL-2.99" | "PL-3" => (true, Rw::Free, Order::None),
        "strong-session-PL-1" => (false, Rw::None, Order::Process),
        "strong-session-PL-2" => (true, Rw::None, Order::Process),
        "strong-session-snapshot-isolation" => (true, Rw::Second, Order::Process),
        "strong-session-serializable" => (true, Rw::Free, Order::Process),
        "strong-PL-1" => (false, Rw::None, Order::Realtime),
        "strong-PL-2" => (true, Rw::None, Order::Realtime),
        "strong-snapshot-isolation" => (true, Rw::Second, Order::Realtime),
        "PL-SS" => (true, Rw::Free, Order::Realtime),
        _ => return None,
    };
    Some(Steps { wr, rw, order })
}

/// Checks that the transactions of the fact `scc` reach each other, and that as many do as `scc-size` says.
pub(super) fn certify(claims: &Claim<'_>, model: &str) -> Result<(), Uncertified> {
    let steps = steps(model).ok_or_else(|| Uncertified::new(format!("no cycles rule out a model named {model}")))?;
    let log = claims.log;
    let stated = claims.list("scc")?;
    let members: Vec<usize> = stated.iter().map(|index| position(log, index)).collect::<Result<_, _>>()?;
    let first = *members.first().ok_or_else(|| Uncertified::new("the component is empty"))?;
    let before = before(log, &steps);
    let after: Vec<Vec<usize>> =
        (0..before.len()).map(|from| (0..before.len()).filter(|to| before[*to].contains(&from)).collect()).collect();
    let (reached, reaching) = (closure(&after, first), closure(&before, first));
    for (at, member) in members.iter().enumerate() {
        let index = log.txns[*member].index;
        claim(!members[..at].contains(member), || format!("op {index} is named twice"))?;
        claim(reached[*member] && reaching[*member], || format!("op {index} is not on a cycle with the first op"))?;
    }
    let size = reached.iter().zip(&reaching).filter(|(a, b)| **a && **b).count();
    let right = *claims.fact("scc-size")? == Datum::from(size as u64);
    claim(right, || format!("the component has {size} transactions"))
}

fn position(log: &Log, index: &Datum) -> Result<usize, Uncertified> {
    let at = log.txns.iter().position(|txn| Datum::from(txn.index) == *index);
    at.ok_or_else(|| Uncertified::new(format!("the history has no transaction with index {index}")))
}

/// What can be reached from `first` in one step or more.
fn closure(next: &[Vec<usize>], first: usize) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    let mut todo = vec![first];
    while let Some(at) = todo.pop() {
        for &to in &next[at] {
            if !std::mem::replace(&mut seen[to], true) {
                todo.push(to);
            }
        }
    }
    seen
}

/// For each transaction those that are one step before it. O(transactions squared), and more.
fn before(log: &Log, steps: &Steps) -> Vec<Vec<usize>> {
    let n = log.txns.len();
    let mut direct = vec![Vec::new(); n];
    let mut anti = vec![Vec::new(); n];
    for (key, element, to) in appends(log) {
        let order = version_order(log, key);
        let previous = match order.iter().position(|e| e == element) {
            Some(at) => order[..at].last(),
            None => order.last(),
        };
        for (from, txn) in log.txns.iter().enumerate().filter(|(from, txn)| *from != to && txn.is_possible()) {
            if previous.is_some_and(|previous| txn.appended(key, previous)) {
                direct[to].push(from);
            }
            if txn.reads(key).any(|list| list.last() == previous) {
                anti[to].push(from);
            }
        }
    }
    for (to, txn) in log.txns.iter().enumerate().filter(|(_, txn)| txn.is_possible()) {
        let reads = txn.mops.iter().filter_map(|mop| match mop {
            Mop::Read { key, list: Some(list) } if steps.wr => list.last().map(|last| (key, last)),
            _ => None,
        });
        let read: Vec<_> = reads.collect();
        direct[to].extend((0..n).filter(|&from| {
            let other = &log.txns[from];
            let wr = other.is_possible() && read.iter().any(|(key, last)| other.appended(key, last));
            from != to && (wr || precedes(other, txn, steps.order))
        }));
    }
    match steps.rw {
        Rw::None => direct,
        Rw::Free => direct.into_iter().zip(anti).map(|(direct, anti)| [direct, anti].concat()).collect(),
        Rw::Second => {
            let through = |anti: &Vec<usize>| anti.iter().flat_map(|via| direct[*via].iter().copied()).collect();
            let composed: Vec<Vec<usize>> = anti.iter().map(through).collect();
            direct.into_iter().zip(composed).map(|(direct, composed)| [direct, composed].concat()).collect()
        }
    }
}

/// All appends that may have happened: key, element, and the transaction's position.
fn appends(log: &Log) -> impl Iterator<Item = (&Datum, &Datum, usize)> {
    let possible = log.txns.iter().enumerate().filter(|(_, txn)| txn.is_possible());
    possible.flat_map(|(at, txn)| txn.appends().map(move |(key, element)| (key, element, at)))
}

fn precedes(from: &Txn, to: &Txn, order: Order) -> bool {
    match order {
        Order::None => false,
        Order::Process => {
            let same = from.process.is_some() && from.process == to.process;
            same && from.is_ok() && to.is_ok() && from.index < to.index
        }
        Order::Realtime => from.is_ok() && to.invoked.is_some_and(|invoked| from.index < invoked),
    }
}
