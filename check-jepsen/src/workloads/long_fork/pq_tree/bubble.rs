//! The upward pass: finds the nodes between the leaves of a set and the root of the smallest subtree that contains
//! them.

use super::{Kind, NONE, PqTree};
use history_core::cast::Cast as _;

impl PqTree {
    /// The parent of a node, or none.
    fn parent(&mut self, node: u32) -> u32 {
        if node == self.root {
            return NONE;
        }
        let parent = self.nodes[node.to_usize()].parent;
        if parent != NONE {
            return parent;
        }
        let stands = self.find(node);
        let owner = self.nodes[stands.to_usize()].owner;
        debug_assert_eq!(self.nodes[owner.to_usize()].kind, Kind::Q);
        owner
    }

    fn touch(&mut self, node: u32) {
        let parent = self.parent(node);
        let mark = &mut self.at(node).mark;
        mark.touched = true;
        mark.parent = parent;
        self.touched.push(node);
        self.queue.push(node);
    }

    /// Marks all nodes on the paths up, each with the number of its children that are marked.
    ///
    /// All paths go up at the same pace, so that the first one to reach the common root continues above it for no
    /// longer than the others need. The pass ends when one node remains that no path has left.
    pub(super) fn bubble(&mut self, set: &[u32]) {
        self.queue.clear();
        for leaf in set {
            debug_assert!(!self.nodes[leaf.to_usize()].mark.touched, "leaves of a set are different");
            self.touch(*leaf);
        }
        let (mut next, mut above_root) = (0, 0);
        while self.queue.len() - next + above_root > 1 {
            let node = self.queue[next];
            next += 1;
            let parent = self.nodes[node.to_usize()].mark.parent;
            if parent == NONE {
                above_root = 1;
                continue;
            }
            if !self.nodes[parent.to_usize()].mark.touched {
                self.touch(parent);
            }
            self.at(parent).mark.waiting += 1;
        }
    }
}
