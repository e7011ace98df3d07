//! Verifies cycles of which only the component is known: transactions that all precede each other.
//!
//! On paths in which no two rw edges may be adjacent, the last edge matters. So each transaction has two nodes: an even
//! one for a path that arrives by another edge or starts there, an odd one for a path that arrives by rw.

use super::log::{Log, Txn};
use super::workload::{Succession, Version};
use super::{Claim, Uncertified, claim};
use history_core::Datum;
use history_core::cast::Cast as _;

/// The edges that are steps of the cycles that rule out a model.
struct Steps {
    wr: bool,
    rw: Rw,
    order: Order,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rw {
    None,
    /// No two of them may be adjacent.
    Single,
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
        "PL-SI" => (true, Rw::Single, Order::None),
        "PL-2.99" | "PL-3" => (true, Rw::Free, Order::None),
        "strong-session-PL-1" => (false, Rw::None, Order::Process),
        "strong-session-PL-2" => (true, Rw::None, Order::Process),
        "strong-session-snapshot-isolation" => (true, Rw::Single, Order::Process),
        "strong-session-serializable" => (true, Rw::Free, Order::Process),
        "strong-PL-1" => (false, Rw::None, Order::Realtime),
        "strong-PL-2" => (true, Rw::None, Order::Realtime),
        "strong-snapshot-isolation" => (true, Rw::Single, Order::Realtime),
        "PL-SS" => (true, Rw::Free, Order::Realtime),
        _ => return None,
    };
    Some(Steps { wr, rw, order })
}

/// Verifies that the transactions of the fact `scc` reach each other, and that their number is `scc-size`.
pub(super) fn certify(claims: &Claim<'_>, model: &str) -> Result<(), Uncertified> {
    let steps = steps(model).ok_or_else(|| Uncertified::new(format!("no type of cycle rules out {model}")))?;
    let log = claims.log;
    let stated = claims.list("scc")?;
    let members: Vec<usize> = stated.iter().map(|index| position(log, index)).collect::<Result<_, _>>()?;
    let first = *members.first().ok_or_else(|| Uncertified::new("the component is empty"))?;
    for (at, member) in members.iter().enumerate() {
        claim(!members[..at].contains(member), || format!("op {} is named twice", log.txns[*member].index))?;
    }
    let edges = edges(claims, &steps);
    // Its nodes may be in two components.
    let recurs = |node: &usize| closure(log.txns.len(), edges.iter().copied(), *node)[*node];
    let nodes: Vec<usize> = [2 * first, 2 * first + 1].into_iter().filter(recurs).collect();
    let mut result = Err(Uncertified::new(format!("op {} is not on such a cycle", log.txns[first].index)));
    for node in nodes {
        result = result.or_else(|_| certify_component(claims, &edges, &members, node));
    }
    result
}

/// Verifies this for the component of one node.
fn certify_component(
    claims: &Claim<'_>,
    edges: &[(usize, usize)],
    members: &[usize],
    node: usize,
) -> Result<(), Uncertified> {
    let txns = &claims.log.txns;
    let after = closure(txns.len(), edges.iter().copied(), node);
    let before = closure(txns.len(), edges.iter().map(|(from, to)| (*to, *from)), node);
    let inside = |txn: usize| (2 * txn..2 * txn + 2).any(|node| after[node] && before[node]);
    for member in members {
        let (index, first) = (txns[*member].index, txns[members[0]].index);
        claim(inside(*member), || format!("op {index} is not on such a cycle with op {first}"))?;
    }
    let size = (0..txns.len()).filter(|txn| inside(*txn)).count();
    let right = *claims.fact("scc-size")? == Datum::from(size.to_u64());
    claim(right, || format!("the component has {size} transactions"))
}

fn position(log: &Log, index: &Datum) -> Result<usize, Uncertified> {
    let at = log.txns.iter().position(|txn| Datum::from(txn.index) == *index);
    at.ok_or_else(|| Uncertified::new(format!("the history has no transaction with index {index}")))
}

/// The nodes that can be reached from a node in one step or more.
fn closure(txns: usize, edges: impl Iterator<Item = (usize, usize)>, node: usize) -> Vec<bool> {
    let mut next = vec![Vec::new(); 2 * txns];
    for (from, to) in edges {
        next[from].push(to);
    }
    let mut seen = vec![false; 2 * txns];
    let mut todo = vec![node];
    while let Some(at) = todo.pop() {
        for &to in &next[at] {
            if !std::mem::replace(&mut seen[to], true) {
                todo.push(to);
            }
        }
    }
    seen
}

/// The edges between the nodes of transactions.
fn edges(claims: &Claim<'_>, steps: &Steps) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for (from, to) in dependencies(claims, steps) {
        edges.extend([(2 * from, 2 * to), (2 * from + 1, 2 * to)]);
    }
    for (from, to) in anti_dependencies(claims) {
        match steps.rw {
            Rw::None => {}
            Rw::Single => edges.push((2 * from, 2 * to + 1)),
            Rw::Free => edges.extend([(2 * from, 2 * to + 1), (2 * from + 1, 2 * to + 1)]),
        }
    }
    edges
}

/// The ww, wr, process and realtime edges that count.
fn dependencies(claims: &Claim<'_>, steps: &Steps) -> Vec<(usize, usize)> {
    let (log, workload) = (claims.log, claims.workload);
    let mut edges = Vec::new();
    for Succession { key, version, next } in &workload.successions(log) {
        edges.extend(pairs(&writers(claims, key, version), &writers(claims, key, next)));
    }
    for (to, reader) in log.possible() {
        let read = workload.read(log, reader);
        for (from, txn) in log.possible() {
            let is_read = steps.wr && workload.written(log, txn).iter().any(|version| read.contains(version));
            if is_read || precedes(txn, reader, steps.order) {
                edges.push((from, to));
            }
        }
    }
    edges.retain(|(from, to)| from != to);
    edges
}

/// The rw edges.
fn anti_dependencies(claims: &Claim<'_>) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for Succession { key, version, next } in claims.workload.successions(claims.log) {
        let reads = |txn: &Txn| claims.workload.read(claims.log, txn).contains(&(&key, version.clone()));
        let readers: Vec<usize> = claims.log.possible().filter(|(_, txn)| reads(txn)).map(|(at, _)| at).collect();
        edges.extend(pairs(&readers, &writers(claims, &key, &next)));
    }
    edges.retain(|(from, to)| from != to);
    edges
}

/// The positions of the transactions that wrote a version.
fn writers(claims: &Claim<'_>, key: &Datum, version: &Version) -> Vec<usize> {
    let wrote = |txn: &Txn| claims.workload.written(claims.log, txn).contains(&(key, version.clone()));
    claims.log.possible().filter(|(_, txn)| wrote(txn)).map(|(at, _)| at).collect()
}

fn pairs(from: &[usize], to: &[usize]) -> Vec<(usize, usize)> {
    from.iter().flat_map(|from| to.iter().map(|to| (*from, *to))).collect()
}

fn precedes(from: &Txn, to: &Txn, order: Order) -> bool {
    match order {
        Order::None => false,
        Order::Process => from.is_before_in_process(to),
        Order::Realtime => from.is_before_in_time(to),
    }
}
