//! How possibilities came about: linearizations as a tree, each possibility a node of it; all but the end of what they have in
//! common is forgotten.

use crate::ops::OpIx;

/// A node of the tree: a linearization, its last operation on top.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct PathId(u32);

/// The linearizations of all parts. Nodes stand behind those they grew from.
#[derive(Debug)]
pub(crate) struct Paths {
    nodes: Vec<Node>,
    /// Nodes that the last pruning left.
    pruned: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    op: OpIx,
    parent: PathId,
    /// How many operations the linearization has, those that were forgotten as well.
    len: u64,
}

/// With fewer nodes than this it is not worth to look for those that are no longer used.
const PRUNE_MIN: usize = 1 << 13;

/// Of what all possibilities of a part have in common, this much is kept.
pub(crate) const TRUNK: usize = 4;

impl Paths {
    /// The linearization of nothing.
    pub(crate) const ROOT: PathId = PathId(0);

    pub(crate) fn new() -> Paths {
        Paths { nodes: vec![Node { op: OpIx::NONE, parent: Paths::ROOT, len: 0 }], pruned: 0 }
    }

    /// A linearization and one more operation.
    #[inline]
    pub(crate) fn push(&mut self, parent: PathId, op: OpIx) -> PathId {
        let len = self.nodes[parent.0 as usize].len + 1;
        self.nodes.push(Node { op, parent, len });
        PathId(self.nodes.len() as u32 - 1)
    }

    /// How many operations a linearization has.
    pub(crate) fn len(&self, path: PathId) -> u64 {
        self.nodes[path.0 as usize].len
    }

    /// What is left of a linearization down to `end`, the first operation first.
    pub(crate) fn down_to(&self, mut path: PathId, end: PathId) -> Vec<OpIx> {
        let mut all = Vec::new();
        while path != Paths::ROOT && path != end {
            let node = self.nodes[path.0 as usize];
            all.push(node.op);
            path = node.parent;
        }
        all.reverse();
        all
    }

    /// What two linearizations have in common. Parents stand before their children, so the later one is never it.
    pub(crate) fn common(&self, mut one: PathId, mut other: PathId) -> PathId {
        while one != other {
            let later = if one > other { &mut one } else { &mut other };
            *later = self.nodes[later.0 as usize].parent;
        }
        one
    }

    /// Whether it is time for [`Paths::prune`].
    #[inline]
    pub(crate) fn wants_prune(&self) -> bool {
        self.nodes.len() > 2 * self.pruned + PRUNE_MIN
    }

    /// Cuts what is below the trunk's end, which is all that the paths of one part have in common.
    pub(crate) fn cut(&mut self, trunk: PathId) {
        let mut at = trunk;
        for _ in 1..TRUNK {
            at = self.nodes[at.0 as usize].parent;
        }
        if at != Paths::ROOT {
            self.nodes[at.0 as usize].parent = Paths::ROOT;
        }
    }

    /// Forgets what no live path needs. Gives each live one its new id, and marks the operations of those that are kept.
    pub(crate) fn prune(&mut self, live: &mut [&mut PathId], mut mark: impl FnMut(OpIx)) {
        const DROPPED: u32 = u32::MAX;
        let mut ids = vec![DROPPED; self.nodes.len()];
        ids[0] = 0;
        for path in live.iter() {
            let mut at = path.0 as usize;
            while ids[at] == DROPPED {
                ids[at] = 0;
                at = self.nodes[at].parent.0 as usize;
            }
        }
        // Nodes stand behind their parents, so one pass can move them and knows the parents' new places.
        let mut kept = 1;
        for at in 1..self.nodes.len() {
            if ids[at] == DROPPED {
                continue;
            }
            let node = self.nodes[at];
            ids[at] = kept as u32;
            self.nodes[kept] = Node { parent: PathId(ids[node.parent.0 as usize]), ..node };
            mark(node.op);
            kept += 1;
        }
        self.nodes.truncate(kept);
        self.pruned = kept;
        for path in live {
            path.0 = ids[path.0 as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pruning_keeps_what_is_live_and_the_end_of_what_is_common() {
        let mut paths = Paths::new();
        let trunk = (0..50).fold(Paths::ROOT, |path, op| paths.push(path, OpIx::new(op)));
        let mut left = paths.push(trunk, OpIx::new(70));
        for op in 80..100 {
            paths.push(trunk, OpIx::new(op));
        }
        let mut right = paths.push(trunk, OpIx::new(71));
        right = paths.push(right, OpIx::new(72));
        assert_eq!(paths.common(left, right), trunk);
        paths.cut(trunk);
        let mut marked = Vec::new();
        paths.prune(&mut [&mut left, &mut right], |op| marked.push(op));
        let ops = |all: &[usize]| all.iter().map(|op| OpIx::new(*op)).collect::<Vec<_>>();
        assert_eq!(marked, ops(&[46, 47, 48, 49, 70, 71, 72]));
        assert_eq!(paths.down_to(right, Paths::ROOT), ops(&[46, 47, 48, 49, 71, 72]));
        let common = paths.common(left, right);
        assert_eq!((paths.len(common), paths.len(left), paths.len(right)), (50, 51, 52));
        assert_eq!(paths.down_to(left, common), ops(&[70]));
    }
}
