//! The dependencies between transactions, and their cycles: the textbook's definitions, written for clarity.
//!
//! For histories of a few thousand transactions in which every op has a completion and none is `info`.

use super::{Did, Recorded, Txn};
use std::collections::{HashMap, HashSet};

/// The reason why one transaction precedes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    Ww,
    Wr,
    Rw,
    Process,
    RealTime,
}

/// The dependencies of a history.
pub struct Graph<'h> {
    txns: &'h [Txn],
    /// The nodes are the transactions, followed by one moment per op of the history. A transaction that completes
    /// before a moment precedes it; a moment precedes later moments, and the transactions invoked at it.
    nodes: usize,
    edges: HashSet<(usize, usize, Edge)>,
}

impl<'h> Graph<'h> {
    pub fn of(history: &'h Recorded) -> Graph<'h> {
        let txns = &history.txns[..];
        let moments = txns.iter().filter_map(|txn| txn.completed).max().map_or(0, |last| last as usize + 1);
        let mut graph = Graph { txns, nodes: txns.len() + moments, edges: HashSet::new() };
        graph.depend();
        graph.order_in_time(moments);
        graph
    }

    fn depend(&mut self) {
        let txns = self.txns;
        let happened = |t: &usize| txns[*t].is_ok();
        let mut writer: HashMap<(i64, i64), usize> = HashMap::new();
        for t in (0..txns.len()).filter(happened) {
            writer.extend(txns[t].appends().map(|append| (append, t)));
        }
        // A failed append does not count as a version.
        let versions = |key: i64, list: &[i64]| -> Vec<i64> {
            list.iter().copied().filter(|value| writer.contains_key(&(key, *value))).collect()
        };
        let mut order: HashMap<i64, Vec<i64>> = HashMap::new();
        for t in (0..txns.len()).filter(happened) {
            for (key, list) in txns[t].reads() {
                let (longest, list) = (order.entry(key).or_default(), versions(key, list));
                if list.len() > longest.len() {
                    *longest = list;
                }
            }
        }
        let mut unread: HashMap<i64, Vec<usize>> = HashMap::new();
        for (&(key, value), &t) in &writer {
            if !order.entry(key).or_default().contains(&value) {
                unread.entry(key).or_default().push(t);
            }
        }
        // The writers of the next version of a key.
        let next = |key: i64, version: Option<i64>| -> Vec<usize> {
            let list = &order[&key];
            let at = version.map_or(0, |v| list.iter().position(|x| *x == v).map_or(list.len(), |at| at + 1));
            list.get(at).map_or_else(|| unread.get(&key).cloned().unwrap_or_default(), |v| vec![writer[&(key, *v)]])
        };
        let mut edges = Vec::new();
        for t in (0..txns.len()).filter(happened) {
            for (key, list) in txns[t].reads() {
                let last = versions(key, list).last().copied();
                edges.extend(last.map(|value| (writer[&(key, value)], t, Edge::Wr)));
                edges.extend(next(key, last).into_iter().map(|u| (t, u, Edge::Rw)));
            }
        }
        for (key, list) in &order {
            for value in list {
                edges.extend(next(*key, Some(*value)).into_iter().map(|u| (writer[&(*key, *value)], u, Edge::Ww)));
            }
        }
        self.edges.extend(edges.into_iter().filter(|(t, u, _)| t != u));
    }

    fn order_in_time(&mut self, moments: usize) {
        let mut last: HashMap<i64, usize> = HashMap::new();
        let first = self.txns.len();
        for moment in 1..moments {
            self.edges.insert((first + moment - 1, first + moment, Edge::RealTime));
        }
        for (t, txn) in self.txns.iter().enumerate().filter(|(_, txn)| txn.is_ok()) {
            if let Some(before) = last.insert(txn.process, t) {
                self.edges.insert((before, t, Edge::Process));
            }
            self.edges.insert((first + txn.invoked as usize, t, Edge::RealTime));
            self.edges.extend(txn.completed.map(|moment| (t, first + moment as usize, Edge::RealTime)));
        }
    }

    /// Returns true if edges of these kinds contain a cycle.
    pub fn has_cycle(&self, kinds: &[Edge]) -> bool {
        let edges = self.edges.iter().filter(|(_, _, kind)| kinds.contains(kind));
        is_cyclic(self.nodes, edges.map(|(t, u, _)| (*t, *u)))
    }

    /// Returns true if there is a cycle of edges of these kinds and rw edges in which no two rw edges are adjacent.
    /// Snapshot isolation forbids those of ww and wr and, if it is strong, those with real time.
    pub fn has_cycle_of_lone_rw(&self, kinds: &[Edge]) -> bool {
        // There are two nodes for each node: reached by an rw edge, or by another edge.
        let split = self.edges.iter().flat_map(|&(t, u, kind)| match kind {
            Edge::Rw => vec![(2 * t, 2 * u + 1)],
            _ if kinds.contains(&kind) => vec![(2 * t, 2 * u), (2 * t + 1, 2 * u)],
            _ => vec![],
        });
        is_cyclic(2 * self.nodes, split)
    }

    /// Returns true if there is a cycle with exactly one rw edge.
    pub fn has_cycle_of_one_rw(&self) -> bool {
        // Such a cycle is also one of lone rw edges, and those are found faster.
        if !self.has_cycle_of_lone_rw(&[Edge::Ww, Edge::Wr]) {
            return false;
        }
        let mut after = vec![Vec::new(); self.nodes];
        for &(t, u, kind) in &self.edges {
            if matches!(kind, Edge::Ww | Edge::Wr) {
                after[t].push(u);
            }
        }
        let mut seen_for = vec![usize::MAX; self.nodes];
        let mut rw = self.edges.iter().filter(|(_, _, kind)| *kind == Edge::Rw).enumerate();
        rw.any(|(search, &(t, u, _))| {
            let mut stack = vec![u];
            while let Some(v) = stack.pop() {
                if v == t {
                    return true;
                }
                if std::mem::replace(&mut seen_for[v], search) != search {
                    stack.extend(&after[v]);
                }
            }
            false
        })
    }
}

impl Graph<'_> {
    /// The number of transactions that can be reached from this one and lead back to it, by ww, wr and rw edges.
    pub fn component_of(&self, txn: usize) -> usize {
        let reached = |forward: bool| {
            let mut after = vec![Vec::new(); self.nodes];
            for &(t, u, kind) in &self.edges {
                let (t, u) = if forward { (t, u) } else { (u, t) };
                if matches!(kind, Edge::Ww | Edge::Wr | Edge::Rw) {
                    after[t].push(u);
                }
            }
            let (mut reached, mut stack) = (HashSet::from([txn]), vec![txn]);
            while let Some(t) = stack.pop() {
                stack.extend(after[t].iter().filter(|u| reached.insert(**u)));
            }
            reached
        };
        reached(true).intersection(&reached(false)).count()
    }
}

/// Returns true if some nodes remain after nodes without incoming edges were removed repeatedly.
fn is_cyclic(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> bool {
    let (mut after, mut before) = (vec![Vec::new(); nodes], vec![0; nodes]);
    for (t, u) in edges {
        after[t].push(u);
        before[u] += 1;
    }
    let mut ready: Vec<usize> = (0..nodes).filter(|t| before[*t] == 0).collect();
    let mut taken = 0;
    while let Some(t) = ready.pop() {
        taken += 1;
        for &u in &after[t] {
            before[u] -= 1;
            if before[u] == 0 {
                ready.push(u);
            }
        }
    }
    taken < nodes
}

/// Returns true if a transaction's reads contradict its own earlier reads or writes.
pub fn is_internally_wrong(txn: &Txn) -> bool {
    // Whether the whole list is known, and the list or its known end.
    let mut known: HashMap<i64, (bool, Vec<i64>)> = HashMap::new();
    txn.did.iter().any(|did| match did {
        Did::Append(key, value) => {
            known.entry(*key).or_default().1.push(*value);
            false
        }
        Did::Read(_, None) => false,
        Did::Read(key, Some(list)) => match known.insert(*key, (true, list.clone())) {
            None => false,
            Some((true, expected)) => *list != expected,
            Some((false, expected)) => !list.ends_with(&expected),
        },
    })
}
