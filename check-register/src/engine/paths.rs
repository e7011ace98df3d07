//! The linearizations of configurations, as a tree with a node for each configuration.

use super::ids::{index, number};

/// A node of the tree: a linearization, represented by its last operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PathId(u32);

impl PathId {
    /// The empty linearization.
    pub const ROOT: PathId = PathId(0);
}

/// The data of a node. The searches keep different data, in as few bytes as possible.
pub trait Node: Copy {
    /// The operation that was placed last.
    type Placed;

    /// The root node, which is its own parent.
    const ROOT: Self;

    /// The node for `parent`, which is one of `nodes`, followed by one more operation.
    fn grow(nodes: &[Self], parent: PathId, placed: Self::Placed) -> Self;

    /// The operation that was placed last.
    fn placed(&self) -> Self::Placed;

    /// The node of the linearization without its last operation.
    fn parent(&self) -> PathId;

    /// Moves the node to another parent.
    fn set_parent(&mut self, parent: PathId);
}

/// The tree.
#[derive(Debug)]
pub struct Paths<N> {
    /// The root first. Each node is after its parent.
    nodes: Vec<N>,
    /// The number of nodes after the last pruning.
    pruned: usize,
}

/// With fewer nodes than this, pruning is not worthwhile.
const PRUNE_MIN: usize = 1 << 13;

impl<N: Node> Paths<N> {
    /// Creates a tree that contains only the root.
    pub fn new() -> Paths<N> {
        Paths { nodes: vec![N::ROOT], pruned: 0 }
    }

    /// Adds a linearization with one more operation than `parent`.
    #[inline]
    pub fn push(&mut self, parent: PathId, placed: N::Placed) -> PathId {
        debug_assert!(index(parent.0) < self.nodes.len(), "a parent precedes its child");
        let node = N::grow(&self.nodes, parent, placed);
        self.nodes.push(node);
        PathId(number(self.nodes.len() - 1))
    }

    /// The last operation of a linearization.
    #[inline]
    pub fn node(&self, path: PathId) -> &N {
        path.of(&self.nodes)
    }

    /// A linearization down to `end`, the last operation first.
    pub fn up(&self, mut path: PathId, end: PathId) -> impl Iterator<Item = N::Placed> {
        std::iter::from_fn(move || {
            if path == PathId::ROOT || path == end {
                return None;
            }
            let node = self.node(path);
            path = node.parent();
            Some(node.placed())
        })
    }

    /// A linearization from `end` on, the first operation first.
    pub fn get(&self, path: PathId, end: PathId) -> Vec<N::Placed> {
        let mut all: Vec<N::Placed> = self.up(path, end).collect();
        all.reverse();
        all
    }

    /// The common part of two linearizations. Parents are before their children, so the later one is never it.
    pub fn common(&self, mut one: PathId, mut other: PathId) -> PathId {
        while one != other {
            let later = if one > other { &mut one } else { &mut other };
            *later = self.node(*later).parent();
        }
        one
    }

    /// Returns true if it is time for [`Paths::prune`].
    #[inline]
    pub fn wants_prune(&self) -> bool {
        self.nodes.len() > 2 * self.pruned + PRUNE_MIN
    }

    /// Cuts off a linearization before its last `keep` nodes.
    pub fn cut(&mut self, path: PathId, keep: usize) {
        let mut at = path;
        for _ in 1..keep {
            at = self.node(at).parent();
        }
        if at != PathId::ROOT {
            self.nodes[index(at.0)].set_parent(PathId::ROOT);
        }
    }

    /// Discards nodes that no live path needs. Passes the new id of each live path, and the nodes that are kept, to
    /// `mark`.
    pub fn prune<'p>(&mut self, live: impl Iterator<Item = &'p mut PathId>, mut mark: impl FnMut(&N)) {
        const DROPPED: u32 = u32::MAX;
        let live: Vec<&mut PathId> = live.collect();
        let mut ids = vec![DROPPED; self.nodes.len()];
        ids[0] = 0;
        for path in &live {
            let mut at = index(path.0);
            while ids[at] == DROPPED {
                ids[at] = 0;
                at = index(self.nodes[at].parent().0);
            }
        }
        // Nodes are after their parents, so one pass can move them and update the ids of their parents.
        let mut kept = 1;
        for at in 1..self.nodes.len() {
            if ids[at] == DROPPED {
                continue;
            }
            let mut node = self.nodes[at];
            debug_assert!(index(node.parent().0) < at, "a parent precedes its child");
            node.set_parent(PathId(ids[index(node.parent().0)]));
            ids[at] = number(kept);
            self.nodes[kept] = node;
            mark(&node);
            kept += 1;
        }
        self.nodes.truncate(kept);
        self.pruned = kept;
        for path in live {
            path.0 = ids[index(path.0)];
        }
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<N>()
    }
}

impl<N: Node> Default for Paths<N> {
    fn default() -> Paths<N> {
        Paths::new()
    }
}

impl PathId {
    /// The last node of the path.
    #[inline]
    pub fn of<N>(self, nodes: &[N]) -> &N {
        &nodes[index(self.0)]
    }
}
