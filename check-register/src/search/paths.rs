//! The steps of a search, packed into the nodes of the tree of linearizations.

use crate::engine;
use crate::engine::paths::PathId;

/// A step of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Placed {
    /// An operation of the part was placed.
    Op(u32),
    /// Some operation of this crashed class was placed.
    Crashed(u32),
    /// No operation was placed: this one, which states store, was called; at its second mark, it returned.
    Marked(u32),
    /// No operation was placed: of the states that the previous step may lead to, this one was chosen.
    Chosen(u32),
}

/// The linearizations of a search.
pub(crate) type Paths = engine::paths::Paths<Node>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// A number, and in the two highest bits its kind.
    placed: u32,
    parent: PathId,
}

/// The lower bits are enough to distinguish all operations, classes and choices.
const KIND: u32 = 30;

impl engine::paths::Node for Node {
    type Placed = Placed;

    const ROOT: Node = Node { placed: 0, parent: PathId::ROOT };

    #[inline]
    fn grow(_: &[Node], parent: PathId, placed: Placed) -> Node {
        let (of, kind) = match placed {
            Placed::Op(op) => (op, 0),
            Placed::Crashed(class) => (class, 1),
            Placed::Marked(op) => (op, 2),
            Placed::Chosen(choice) => (choice, 3),
        };
        debug_assert!(of >> KIND == 0, "{placed:?} leaves no room for its kind");
        Node { placed: of | kind << KIND, parent }
    }

    #[inline]
    fn placed(&self) -> Placed {
        let of = self.placed & ((1 << KIND) - 1);
        match self.placed >> KIND {
            0 => Placed::Op(of),
            1 => Placed::Crashed(of),
            2 => Placed::Marked(of),
            _ => Placed::Chosen(of),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pruning_keeps_live_paths() {
        let mut paths = Paths::new();
        let trunk = (0..5).fold(PathId::ROOT, |path, op| paths.push(path, Placed::Op(op)));
        let mut dead = trunk;
        let mut left = paths.push(trunk, Placed::Crashed(7));
        for op in 5..100 {
            dead = paths.push(dead, Placed::Op(op));
        }
        let mut right = paths.push(trunk, Placed::Op(200));
        let before = [paths.get(left, PathId::ROOT), paths.get(right, PathId::ROOT)];
        let mut kept = 0;
        paths.prune([&mut left, &mut right].into_iter(), |_| kept += 1);
        assert_eq!([paths.get(left, PathId::ROOT), paths.get(right, PathId::ROOT)], before);
        assert_eq!(kept, 7, "five of the trunk and two leaves");
        assert_eq!(before[0].last(), Some(&Placed::Crashed(7)));
    }
}
