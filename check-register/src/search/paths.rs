//! How configurations came about: linearizations as a tree, each configuration a node of it.

/// A node of the tree: a linearization of some operations, the last one on top.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PathId(u32);

/// What was placed last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Placed {
    /// An operation of the part.
    Op(u32),
    /// Some operation of this crashed class.
    Crashed(u32),
    /// Nothing was: this operation was called, or for the second time returned, which states remember.
    Marked(u32),
    /// Nothing was: of the states that the step before may lead to it was this one.
    Chosen(u32),
}

/// The tree. Nodes stand behind those they grew from.
#[derive(Debug)]
pub(crate) struct Paths {
    nodes: Vec<Node>,
    /// Nodes that the last pruning left.
    pruned: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// A number, and in the two highest bits what it is of.
    placed: u32,
    parent: PathId,
}

/// There are no more operations, classes and choices than the lower bits can tell.
const KIND: u32 = 30;

/// With fewer nodes than this it is not worth to look for those that are no longer used.
const PRUNE_MIN: usize = 1 << 14;

impl Paths {
    /// The linearization of nothing.
    pub(crate) const ROOT: PathId = PathId(0);

    pub(crate) fn new() -> Paths {
        Paths { nodes: vec![Node { placed: 0, parent: Paths::ROOT }], pruned: 0 }
    }

    /// A linearization and one more.
    #[inline]
    pub(crate) fn push(&mut self, parent: PathId, placed: Placed) -> PathId {
        let placed = match placed {
            Placed::Op(op) => op,
            Placed::Crashed(class) => class | 1 << KIND,
            Placed::Marked(op) => op | 2 << KIND,
            Placed::Chosen(choice) => choice | 3 << KIND,
        };
        self.nodes.push(Node { placed, parent });
        PathId(self.nodes.len() as u32 - 1)
    }

    /// A linearization, first operation first.
    pub(crate) fn get(&self, path: PathId) -> Vec<Placed> {
        let mut all: Vec<Placed> = self.up(path).collect();
        all.reverse();
        all
    }

    /// A linearization, last operation first.
    pub(crate) fn up(&self, mut path: PathId) -> impl Iterator<Item = Placed> {
        std::iter::from_fn(move || {
            if path == Paths::ROOT {
                return None;
            }
            let node = self.nodes[path.0 as usize];
            path = node.parent;
            let of = node.placed & ((1 << KIND) - 1);
            Some(match node.placed >> KIND {
                0 => Placed::Op(of),
                1 => Placed::Crashed(of),
                2 => Placed::Marked(of),
                _ => Placed::Chosen(of),
            })
        })
    }

    /// Whether it is time for [`Paths::prune`].
    #[inline]
    pub(crate) fn wants_prune(&self) -> bool {
        self.nodes.len() > 2 * self.pruned + PRUNE_MIN
    }

    /// Forgets what no live path needs. Gives each live one its new id.
    pub(crate) fn prune<'p>(&mut self, live: impl Iterator<Item = &'p mut PathId>) {
        const DROPPED: u32 = u32::MAX;
        let mut live: Vec<&mut PathId> = live.collect();
        let mut ids = vec![DROPPED; self.nodes.len()];
        ids[0] = 0;
        for path in &live {
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
            kept += 1;
        }
        self.nodes.truncate(kept);
        self.pruned = kept;
        for path in &mut live {
            path.0 = ids[path.0 as usize];
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pruning_keeps_what_is_live() {
        let mut paths = Paths::new();
        let trunk = (0..5).fold(Paths::ROOT, |path, op| paths.push(path, Placed::Op(op)));
        let mut dead = trunk;
        let mut left = paths.push(trunk, Placed::Crashed(7));
        for op in 5..100 {
            dead = paths.push(dead, Placed::Op(op));
        }
        let mut right = paths.push(trunk, Placed::Op(200));
        let told = [paths.get(left), paths.get(right)];
        paths.prune([&mut left, &mut right].into_iter());
        assert_eq!([paths.get(left), paths.get(right)], told);
        assert_eq!(paths.nodes.len(), 8, "the root, five of the trunk and two leaves");
        assert_eq!(told[0].last(), Some(&Placed::Crashed(7)));
    }
}
