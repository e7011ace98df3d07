//! A topological order of a growing graph, maintained edge by edge: Pearce and Kelly, "A Dynamic Topological Sort
//! Algorithm for Directed Acyclic Graphs" (Journal of Experimental Algorithmics 11, 2006).
//!
//! Every node has a place, and every edge leads to a greater place. An edge that does not is inserted in two steps:
//!
//! 1. If the target leads to at most [`FOLLOWED_MAX`] nodes, these get new places at the end. The nodes that they lead
//!    to are among them, so no edge leads back. New transactions, and those whose writes no transaction has read, lead
//!    to no node, so this is the usual case, regardless of the distance between the two places.
//! 2. Otherwise, Pearce and Kelly's two searches between the two places find nodes, which then exchange their places.

use history_core::cast::Cast as _;

/// The maximum number of nodes that the first step follows.
const FOLLOWED_MAX: usize = 24;

/// The maximum capacity of the edge lists of a removed node that is kept for the next node with its number.
const SPARE_MAX: usize = 16;

const NONE: u32 = u32::MAX;

/// A graph with its topological order. The caller assigns nodes small numbers, and may reuse them after
/// [`Order::remove`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    nodes: Vec<Node>,
    /// Greater than every place.
    end: u64,
    edges: usize,
    /// The number of the current search, which is the mark of the nodes that it has visited.
    stamp: u32,
    found: Vec<u32>,
    found_back: Vec<u32>,
    places: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Node {
    /// Less than the place of the target of every edge.
    place: u64,
    mark: u32,
    /// The node from which the last search reached this one.
    from: u32,
    out: Vec<u32>,
    /// The sources of the edges to this node.
    back: Vec<u32>,
}

history_core::state!(struct Node { place, mark, from, out, back });
history_core::state!(parts Order { nodes, end, edges, stamp; parts: ; same: found, found_back, places });

impl Order {
    /// Adds a node without edges, at the end.
    pub(crate) fn insert(&mut self, node: u32) {
        let at = node.to_usize();
        if at >= self.nodes.len() {
            let new = || Node { place: 0, mark: 0, from: NONE, out: Vec::new(), back: Vec::new() };
            self.nodes.resize_with(at + 1, new);
        }
        debug_assert!(self.nodes[at].out.is_empty() && self.nodes[at].back.is_empty());
        self.nodes[at].place = self.end;
        self.end += 1;
    }

    /// Removes a node and its edges.
    pub(crate) fn remove(&mut self, node: u32) {
        self.remove_all(std::iter::once(node));
    }

    /// Removes nodes and their edges. Edges between two of these nodes are dropped without a search, so only the lists
    /// of the other nodes are searched: O(edges of these).
    pub(crate) fn remove_all(&mut self, nodes: impl Iterator<Item = u32> + Clone) {
        self.begin_search();
        let stamp = self.stamp;
        for node in nodes.clone() {
            self.nodes[node.to_usize()].mark = stamp;
        }
        for node in nodes {
            let mut out = std::mem::take(&mut self.nodes[node.to_usize()].out);
            self.edges -= out.len();
            for to in out.drain(..) {
                let to = &mut self.nodes[to.to_usize()];
                if to.mark != stamp {
                    drop_one(&mut to.back, node);
                }
            }
            let mut back = std::mem::take(&mut self.nodes[node.to_usize()].back);
            for from in back.drain(..) {
                let from = &mut self.nodes[from.to_usize()];
                if from.mark != stamp {
                    drop_one(&mut from.out, node);
                    self.edges -= 1;
                }
            }
            out.shrink_to(SPARE_MAX);
            back.shrink_to(SPARE_MAX);
            let at = &mut self.nodes[node.to_usize()];
            (at.out, at.back) = (out, back);
        }
    }

    /// Removes the edges among these nodes, except those to keep. The places remain valid for fewer edges.
    pub(crate) fn part(&mut self, nodes: &[u32], keeps: impl Fn(u32, u32) -> bool) {
        self.begin_search();
        let stamp = self.stamp;
        for node in nodes {
            self.nodes[node.to_usize()].mark = stamp;
        }
        for node in nodes {
            let at = node.to_usize();
            let (mut out, mut back) =
                (std::mem::take(&mut self.nodes[at].out), std::mem::take(&mut self.nodes[at].back));
            let before = out.len();
            out.retain(|to| self.nodes[to.to_usize()].mark != stamp || keeps(*node, *to));
            back.retain(|from| self.nodes[from.to_usize()].mark != stamp || keeps(*from, *node));
            self.edges -= before - out.len();
            (self.nodes[at].out, self.nodes[at].back) = (out, back);
        }
    }

    /// The nodes to which a node has edges.
    pub(crate) fn out(&self, node: u32) -> &[u32] {
        &self.nodes[node.to_usize()].out
    }

    /// The number of edges.
    pub(crate) fn edges(&self) -> usize {
        self.edges
    }

    /// Adds an edge.
    ///
    /// # Errors
    ///
    /// If it closes a cycle: the path from `to` to `from`, both included. The edge is not added then.
    pub(crate) fn add(&mut self, from: u32, to: u32) -> Result<(), Vec<u32>> {
        debug_assert!(from != to, "a node has no edge to itself");
        if self.nodes[from.to_usize()].out.last() == Some(&to) {
            return Ok(());
        }
        if self.place(from) > self.place(to) && !self.move_to_end(from, to)? {
            self.exchange(from, to)?;
        }
        self.nodes[from.to_usize()].out.push(to);
        self.nodes[to.to_usize()].back.push(from);
        self.edges += 1;
        debug_assert!(self.place(from) < self.place(to));
        Ok(())
    }

    /// The place of a node in the order.
    pub(crate) fn place(&self, node: u32) -> u64 {
        self.nodes[node.to_usize()].place
    }

    fn begin_search(&mut self) {
        if self.stamp == u32::MAX {
            self.nodes.iter_mut().for_each(|node| node.mark = 0);
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// Marks a node as visited. Returns true if the search visits it for the first time.
    fn see(&mut self, node: u32, from: u32) -> bool {
        let stamp = self.stamp;
        let at = &mut self.nodes[node.to_usize()];
        at.from = from;
        std::mem::replace(&mut at.mark, stamp) != stamp
    }

    /// Moves `to` and the nodes that it leads to to the end, if they are few. Returns true if they were moved.
    fn move_to_end(&mut self, from: u32, to: u32) -> Result<bool, Vec<u32>> {
        self.begin_search();
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        found.push(to);
        self.see(to, NONE);
        let followed = self.follow(from, u64::MAX, FOLLOWED_MAX, &mut found);
        if followed == Ok(true) {
            found.sort_unstable_by_key(|node| self.place(*node));
            for node in &found {
                self.nodes[node.to_usize()].place = self.end;
                self.end += 1;
            }
        }
        self.found = found;
        followed
    }

    /// Adds the nodes that `found` leads to, up to a place, until there are `max`. Returns true if these are all.
    fn follow(&mut self, from: u32, place_max: u64, max: usize, found: &mut Vec<u32>) -> Result<bool, Vec<u32>> {
        let mut at = 0;
        while at < found.len() {
            let node = found[at];
            at += 1;
            for edge in 0..self.nodes[node.to_usize()].out.len() {
                let next = self.nodes[node.to_usize()].out[edge];
                if next == from {
                    return Err(self.path(node, from));
                }
                if self.place(next) > place_max || self.nodes[next.to_usize()].mark == self.stamp {
                    continue;
                }
                if found.len() == max {
                    return Ok(false);
                }
                self.see(next, node);
                found.push(next);
            }
        }
        Ok(true)
    }

    /// The path by which the search reached `last`, continued to `end`.
    fn path(&self, last: u32, end: u32) -> Vec<u32> {
        let mut path = vec![end];
        let mut at = last;
        while at != NONE {
            path.push(at);
            at = self.nodes[at.to_usize()].from;
        }
        path.reverse();
        path
    }

    /// Exchanges the places of the nodes that `to` leads to and those that lead to `from`, between the two.
    fn exchange(&mut self, from: u32, to: u32) -> Result<(), Vec<u32>> {
        self.begin_search();
        let mut ahead = std::mem::take(&mut self.found);
        ahead.clear();
        ahead.push(to);
        self.see(to, NONE);
        let followed = self.follow(from, self.place(from), usize::MAX, &mut ahead);
        if followed.is_ok() {
            let mut behind = std::mem::take(&mut self.found_back);
            behind.clear();
            behind.push(from);
            self.see(from, NONE);
            self.follow_back(self.place(to), &mut behind);
            ahead.sort_unstable_by_key(|node| self.place(*node));
            behind.sort_unstable_by_key(|node| self.place(*node));
            self.places.clear();
            for node in behind.iter().chain(&ahead) {
                self.places.push(self.nodes[node.to_usize()].place);
            }
            self.places.sort_unstable();
            for (node, place) in behind.iter().chain(&ahead).zip(&self.places) {
                self.nodes[node.to_usize()].place = *place;
            }
            self.found_back = behind;
        }
        self.found = ahead;
        followed.map(|_| ())
    }

    fn follow_back(&mut self, place_min: u64, found: &mut Vec<u32>) {
        let mut at = 0;
        while at < found.len() {
            let node = found[at];
            at += 1;
            for edge in 0..self.nodes[node.to_usize()].back.len() {
                let next = self.nodes[node.to_usize()].back[edge];
                if self.place(next) > place_min && self.see(next, node) {
                    found.push(next);
                }
            }
        }
    }
}

fn drop_one(list: &mut Vec<u32>, node: u32) {
    if let Some(at) = list.iter().rposition(|other| *other == node) {
        list.swap_remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pseudorandom generator with the same numbers in every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }
    }

    /// Returns true if `from` leads to `to`, by a search that does not use the order.
    fn leads(edges: &[(u32, u32)], from: u32, to: u32) -> bool {
        let (mut seen, mut at) = (vec![from], 0);
        while at < seen.len() {
            let node = seen[at];
            at += 1;
            for (_, next) in edges.iter().filter(|(start, _)| *start == node) {
                if !seen.contains(next) {
                    seen.push(*next);
                }
            }
        }
        seen.contains(&to)
    }

    #[test]
    fn random_edges_are_refused_if_they_close_a_cycle() {
        let (mut refused, mut added) = (0, 0);
        for seed in 0..300 {
            let mut random = Random(seed);
            let mut order = Order::default();
            let nodes = 2 + random.below(90);
            (0..nodes).for_each(|node| order.insert(node.to_u32()));
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for _ in 0..3 * nodes {
                let (from, to) = (random.below(nodes).to_u32(), random.below(nodes).to_u32());
                if from == to {
                    continue;
                }
                if random.below(20) == 0 {
                    order.remove(from);
                    edges.retain(|(a, b)| *a != from && *b != from);
                    order.insert(from);
                }
                match order.add(from, to) {
                    Ok(()) => {
                        assert!(!leads(&edges, to, from), "seed {seed}: a cycle was not seen");
                        edges.push((from, to));
                        added += 1;
                    }
                    Err(path) => {
                        assert_eq!((path.first(), path.last()), (Some(&to), Some(&from)));
                        for step in path.windows(2) {
                            assert!(edges.contains(&(step[0], step[1])), "seed {seed}: {path:?} is no path");
                        }
                        refused += 1;
                    }
                }
                for (a, b) in &edges {
                    assert!(order.place(*a) < order.place(*b), "seed {seed}: {a} to {b} leads back");
                }
            }
        }
        assert!(refused > 1_000 && added > 10_000, "{refused} {added}");
    }

    #[test]
    fn a_long_path_is_no_recursion() {
        let mut order = Order::default();
        let nodes = 1_000_000;
        (0..nodes).for_each(|node| order.insert(node));
        for node in 1..nodes {
            assert_eq!(order.add(node - 1, node), Ok(()));
        }
        assert_eq!(order.add(nodes - 1, 0).unwrap_err().len(), nodes.to_usize());
    }
}
