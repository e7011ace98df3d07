//! The linearizations of configurations, as a tree with a node for each configuration; all but the end of their common
//! part is discarded.

use super::ops::OpIx;
use check_register::engine;
use check_register::engine::paths::PathId;

/// The linearizations of all parts.
pub(crate) type Paths = engine::paths::Paths<Node>;

/// A linearization, represented by its last operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) op: OpIx,
    parent: PathId,
    /// The number of operations in the linearization, including discarded ones.
    pub(crate) len: u64,
}

impl engine::paths::Node for Node {
    type Placed = OpIx;

    const ROOT: Node = Node { op: OpIx::NONE, parent: PathId::ROOT, len: 0 };

    #[inline]
    fn grow(nodes: &[Node], parent: PathId, op: OpIx) -> Node {
        debug_assert!(op != OpIx::NONE, "only the root represents no operation");
        Node { op, parent, len: parent.of(nodes).len + 1 }
    }

    #[inline]
    fn placed(&self) -> OpIx {
        self.op
    }

    #[inline]
    fn parent(&self) -> PathId {
        self.parent
    }

    #[inline]
    fn set_parent(&mut self, parent: PathId) {
        self.parent = parent;
    }
}

/// The length of the kept part of what all configurations of a part have in common.
pub(crate) const TRUNK: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pruning_keeps_live_paths_and_the_end_of_their_common_part() {
        let mut paths = Paths::new();
        let trunk = (0..50).fold(PathId::ROOT, |path, op| paths.push(path, OpIx::new(op)));
        let mut left = paths.push(trunk, OpIx::new(70));
        for op in 80..100 {
            paths.push(trunk, OpIx::new(op));
        }
        let mut right = paths.push(trunk, OpIx::new(71));
        right = paths.push(right, OpIx::new(72));
        assert_eq!(paths.common(left, right), trunk);
        paths.cut(trunk, TRUNK);
        let mut marked = Vec::new();
        paths.prune([&mut left, &mut right].into_iter(), |node| marked.push(node.op));
        let ops = |all: &[usize]| all.iter().map(|op| OpIx::new(*op)).collect::<Vec<_>>();
        assert_eq!(marked, ops(&[46, 47, 48, 49, 70, 71, 72]));
        assert_eq!(paths.get(right, PathId::ROOT), ops(&[46, 47, 48, 49, 71, 72]));
        let common = paths.common(left, right);
        assert_eq!([common, left, right].map(|path| paths.node(path).len), [50, 51, 52]);
        assert_eq!(paths.get(left, common), ops(&[70]));
    }
}
