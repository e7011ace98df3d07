//! PQ-trees: all orders of some items in which the items of each of several sets are adjacent, in one tree.
//!
//! A **P-node**'s children may be in any order, a **Q-node**'s in one order or its reverse; the orders of leaves that
//! remain possible are the tree's **frontiers**. Initially every order is possible: one P-node. [`PqTree::reduce`] adds
//! one more set and keeps exactly the frontiers in which its items are adjacent, or finds that there are none. A matrix
//! of zeros and ones whose columns are such sets has the **consecutive-ones property** if its rows can be ordered in
//! this way.
//!
//! After Booth and Lueker, "Testing for the consecutive ones property, interval graphs, and graph planarity using
//! PQ-tree algorithms", JCSS 13 (1976). Two things differ. They know the parent of an inner child of a Q-node only
//! temporarily; here these children share their parent through a union-find, which no child ever leaves. This makes
//! linear time almost linear: the time for all sets is their total size times an inverse Ackermann function. And
//! instead of using their templates, each node makes one list of its children with the set at one end, and splices it
//! into its parent's list.
//!
//! Nothing recurses, and no node's id is used twice.

use history_core::cast::Cast as _;

mod bubble;
mod reduce;
#[cfg(test)]
mod tests;

/// The number of an absent node.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Leaf,
    P,
    Q,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    /// The number of children.
    children: u32,
    /// The parent, unless it is a Q-node.
    parent: u32,
    /// The link in the union-find of children of Q-nodes. The node itself if it is a representative or no such child.
    union: u32,
    /// For the representative of a set of children: their number, and the Q-node that is their parent.
    size: u32,
    owner: u32,
    /// The neighbours among the parent's children, in no order: the list of children can be read from either end.
    beside: [u32; 2],
    /// The first and the last child. For a Q-node with the current set at one end: the end without the set, then the
    /// other.
    ends: [u32; 2],
    /// The state of this node for the current set.
    mark: Mark,
}

/// The state of a node while a set is added.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// The parent as it was before the set was added.
    parent: u32,
    /// Whether it is on the paths from the set's leaves to their common root.
    touched: bool,
    /// Whether all its leaves belong to the set.
    full: bool,
    /// The number of children on the paths that were not processed yet.
    waiting: u32,
    /// The number of leaves of the set below it.
    leaves: u32,
    /// The number of full children, the first of them, and for a full child the next one.
    full_children: u32,
    full_first: u32,
    full_next: u32,
    /// Children with leaves of both kinds.
    partial: [u32; 2],
}

const NO_MARK: Mark = Mark {
    parent: NONE,
    touched: false,
    full: false,
    waiting: 0,
    leaves: 0,
    full_children: 0,
    full_first: NONE,
    full_next: NONE,
    partial: [NONE; 2],
};

/// The tree. Leaves are 0 and up.
#[derive(Clone, Debug)]
pub(crate) struct PqTree {
    nodes: Vec<Node>,
    root: u32,
    /// Nodes whose marks must be reset.
    touched: Vec<u32>,
    queue: Vec<u32>,
}

impl PqTree {
    /// A tree with all orders of `leaves` leaves, fewer than 2^30.
    pub(crate) fn new(leaves: u32) -> PqTree {
        debug_assert!(leaves < 1 << 30);
        let mut tree = PqTree { nodes: Vec::new(), root: NONE, touched: Vec::new(), queue: Vec::new() };
        for _ in 0..leaves {
            tree.add(Kind::Leaf);
        }
        tree.root = if leaves == 1 { 0 } else { tree.add(Kind::P) };
        let root = tree.root;
        (0..leaves).filter(|leaf| *leaf != root).for_each(|leaf| tree.append(root, leaf));
        tree
    }

    /// Keeps the orders in which these distinct leaves are adjacent. Returns `false` if there are none; the tree is
    /// then no longer usable. Amortized time over all sets: almost the number of leaves.
    pub(crate) fn reduce(&mut self, set: &[u32]) -> bool {
        if set.len() < 2 {
            return true;
        }
        self.bubble(set);
        let possible = self.restrict(set);
        for node in std::mem::take(&mut self.touched) {
            self.nodes[node.to_usize()].mark = NO_MARK;
        }
        possible
    }

    fn at(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node.to_usize()]
    }

    fn add(&mut self, kind: Kind) -> u32 {
        let id = self.nodes.len().to_u32();
        self.nodes.push(Node {
            kind,
            children: 0,
            parent: NONE,
            union: id,
            size: 1,
            owner: NONE,
            beside: [NONE; 2],
            ends: [NONE; 2],
            mark: NO_MARK,
        });
        id
    }

    /// The neighbour of a child other than `before`.
    fn after(&self, child: u32, before: u32) -> u32 {
        let [a, b] = self.nodes[child.to_usize()].beside;
        if a == before { b } else { a }
    }

    /// Replaces one neighbour of `child`, or none, by another.
    fn swap_beside(&mut self, child: u32, old: u32, new: u32) {
        if child != NONE {
            let beside = &mut self.at(child).beside;
            let at = usize::from(beside[0] != old);
            debug_assert_eq!(beside[at], old);
            beside[at] = new;
        }
    }

    /// Adds a child at the end `at` of a list, without setting its parent.
    fn push_at(&mut self, node: u32, at: usize, child: u32) {
        let end = self.nodes[node.to_usize()].ends[at];
        self.at(child).beside = [end, NONE];
        if end == NONE {
            self.at(node).ends = [child; 2];
        } else {
            self.swap_beside(end, NONE, child);
            self.at(node).ends[at] = child;
        }
        self.at(node).children += 1;
    }

    /// Adds a child to a P-node.
    fn append(&mut self, node: u32, child: u32) {
        self.push_at(node, 1, child);
        self.at(child).parent = node;
    }

    /// Removes a child from its parent's list.
    fn remove(&mut self, node: u32, child: u32) {
        let [a, b] = self.nodes[child.to_usize()].beside;
        self.swap_beside(a, child, b);
        // In a list of two, each is the other's only neighbour, so the second swap finds what the first one left.
        self.swap_beside(b, child, a);
        for end in 0..2 {
            if self.nodes[node.to_usize()].ends[end] == child {
                self.at(node).ends[end] = if a == NONE { b } else { a };
            }
        }
        self.at(child).beside = [NONE; 2];
        self.at(node).children -= 1;
    }

    /// Replaces a node by another one in its parent's list.
    fn replace(&mut self, parent: u32, old: u32, new: u32) {
        let beside = self.nodes[old.to_usize()].beside;
        for neighbour in beside {
            self.swap_beside(neighbour, old, new);
        }
        self.at(new).beside = beside;
        self.at(old).beside = [NONE; 2];
        for end in 0..2 {
            if self.nodes[parent.to_usize()].ends[end] == old {
                self.at(parent).ends[end] = new;
            }
        }
    }

    /// The representative of the children of a Q-node to which `child` belongs. Halves paths on the way.
    fn find(&mut self, mut child: u32) -> u32 {
        loop {
            let up = self.nodes[child.to_usize()].union;
            if up == child {
                return child;
            }
            let above = self.nodes[up.to_usize()].union;
            self.at(child).union = above;
            child = above;
        }
    }

    /// Unites the sets of two children.
    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            let (a_size, b_size) = (self.nodes[a.to_usize()].size, self.nodes[b.to_usize()].size);
            let (large, small) = if a_size < b_size { (b, a) } else { (a, b) };
            self.at(small).union = large;
            self.at(large).size = a_size + b_size;
        }
    }

    /// Sets the Q-node that is the parent of the children to which `child` belongs.
    fn own(&mut self, node: u32, child: u32) {
        let stands = self.find(child);
        self.at(stands).owner = node;
    }
}
