//! The downward pass: each node collects the set's leaves at one end of its children, until one node contains all of
//! them.
//!
//! A node is **full** if all its leaves belong to the set, **partial** if some do. A partial node below the common root
//! of the set's leaves becomes a Q-node with the set at one end, `ends[1]`: its children are empty ones, then full
//! ones, and its parent splices them in like this. Such a node has at most one partial child, the common root at most
//! two.

use super::{Kind, NONE, Node, PqTree};
use history_core::cast::Cast as _;

impl PqTree {
    /// Keeps the orders in which the set is adjacent, after [`PqTree::bubble`]. Returns `false` if there are none.
    pub(super) fn restrict(&mut self, set: &[u32]) -> bool {
        let all = set.len().to_u32();
        self.queue.clear();
        self.queue.extend_from_slice(set);
        let mut next = 0;
        while next < self.queue.len() {
            let node = self.queue[next];
            next += 1;
            let mark = self.nodes[node.to_usize()].mark;
            let kind = self.nodes[node.to_usize()].kind;
            let leaves = if kind == Kind::Leaf { 1 } else { mark.leaves };
            if kind == Kind::Leaf || mark.full_children == self.nodes[node.to_usize()].children {
                if leaves == all {
                    return true;
                }
                self.full(node);
            } else if leaves == all {
                return if kind == Kind::P { self.root_p(node) } else { self.root_q(node) };
            } else {
                let partial = if kind == Kind::P { self.gather_p(node) } else { self.gather_q(node) };
                if partial == NONE || !self.partial(mark.parent, partial) {
                    return false;
                }
            }
            let parent = self.at(mark.parent);
            parent.mark.leaves += leaves;
            parent.mark.waiting -= 1;
            if parent.mark.waiting == 0 {
                self.queue.push(mark.parent);
            }
        }
        unreachable!("some node has all leaves of the set below it")
    }

    /// Records a full child in its parent.
    fn full(&mut self, node: u32) {
        let parent = self.nodes[node.to_usize()].mark.parent;
        let first = std::mem::replace(&mut self.at(parent).mark.full_first, node);
        self.at(parent).mark.full_children += 1;
        let mark = &mut self.at(node).mark;
        mark.full = true;
        mark.full_next = first;
    }

    /// Records a partial child in its parent, if it can have one more.
    fn partial(&mut self, parent: u32, child: u32) -> bool {
        let partial = &mut self.at(parent).mark.partial;
        match partial.iter().position(|known| *known == NONE) {
            Some(at) => {
                partial[at] = child;
                true
            }
            None => false,
        }
    }

    /// Removes all full children of a P-node. Returns one node that contains them, or none if there are none.
    fn take_full(&mut self, node: u32) -> u32 {
        let mark = self.nodes[node.to_usize()].mark;
        let group = if mark.full_children > 1 { self.add(Kind::P) } else { mark.full_first };
        let mut child = mark.full_first;
        while child != NONE {
            self.remove(node, child);
            self.at(child).parent = NONE;
            if group != child {
                self.append(group, child);
            }
            child = self.nodes[child.to_usize()].mark.full_next;
        }
        group
    }

    /// Adds a child at one end of a Q-node.
    fn extend(&mut self, node: u32, end: usize, child: u32) {
        self.at(child).parent = NONE;
        let inside = self.nodes[node.to_usize()].ends[end];
        self.push_at(node, end, child);
        if inside != NONE {
            self.unite(child, inside);
        }
        self.own(node, child);
    }

    /// Converts a P-node below the root to a Q-node: the empty part, the partial child's children, the full part.
    fn gather_p(&mut self, node: u32) -> u32 {
        let mark = self.nodes[node.to_usize()].mark;
        let [partial, second] = mark.partial;
        if second != NONE {
            return NONE;
        }
        let full = self.take_full(node);
        let gathered = if partial == NONE { self.add(Kind::Q) } else { partial };
        if partial != NONE {
            self.remove(node, partial);
            self.at(partial).parent = NONE;
        }
        self.replace(mark.parent, node, gathered);
        if self.nodes[mark.parent.to_usize()].kind == Kind::P {
            self.at(gathered).parent = mark.parent;
        }
        // From now on the node itself holds the empty children. A P-node has two or more children.
        let empty = match self.nodes[node.to_usize()].children {
            0 => NONE,
            1 => {
                let only = self.nodes[node.to_usize()].ends[0];
                self.remove(node, only);
                only
            }
            _ => node,
        };
        if full != NONE {
            self.extend(gathered, 1, full);
        }
        if empty != NONE {
            self.extend_apart(gathered, 0, empty);
        }
        gathered
    }

    /// Adds a child that may be in the union of another Q-node's children. That Q-node is the parent of `node`, which
    /// is spliced into it next; then all are in one union, and the union is not needed before.
    fn extend_apart(&mut self, node: u32, end: usize, child: u32) {
        if self.find(child) == child && self.nodes[child.to_usize()].owner == NONE {
            self.extend(node, end, child);
        } else {
            self.at(child).parent = NONE;
            self.push_at(node, end, child);
        }
    }

    /// The sequence of full children of a Q-node that contains `first`: their number, its two ends, and the nodes
    /// beyond each end. All full children are adjacent if the number equals that of the node's full children.
    fn full_run(&self, first: u32) -> (u32, [u32; 2], [u32; 2]) {
        let (mut count, mut ends, mut beyond) = (1, [first; 2], self.nodes[first.to_usize()].beside);
        for side in 0..2 {
            while beyond[side] != NONE && self.nodes[beyond[side].to_usize()].mark.full {
                let next = self.after(beyond[side], ends[side]);
                ends[side] = beyond[side];
                beyond[side] = next;
                count += 1;
            }
        }
        (count, ends, beyond)
    }

    /// Processes a Q-node below the root: its full children must be at one end, with its partial child next to them.
    fn gather_q(&mut self, node: u32) -> u32 {
        let mark = self.nodes[node.to_usize()].mark;
        let [partial, second] = mark.partial;
        if second != NONE {
            return NONE;
        }
        let ends = self.nodes[node.to_usize()].ends;
        if mark.full_first == NONE {
            // There is only the partial child; its full end must face outwards.
            let Some(side) = ends.iter().position(|end| *end == partial) else { return NONE };
            self.at(node).ends = [ends[1 - side], ends[side]];
            self.splice(node, partial, NONE);
            return node;
        }
        let (count, _, beyond) = self.full_run(mark.full_first);
        if count != mark.full_children {
            return NONE;
        }
        // One side of the sequence is an end of the list.
        let Some(outer) = beyond.iter().position(|node| *node == NONE) else { return NONE };
        let inner = beyond[1 - outer];
        if partial != NONE && inner != partial {
            return NONE;
        }
        let full_end = usize::from(!self.nodes[ends[0].to_usize()].mark.full);
        self.at(node).ends = [ends[1 - full_end], ends[full_end]];
        if partial != NONE {
            let [a, b] = self.nodes[partial.to_usize()].beside;
            let full = if a != NONE && self.nodes[a.to_usize()].mark.full { a } else { b };
            self.splice(node, partial, full);
        }
        node
    }

    /// Replaces a partial Q-node among the children of its parent, a Q-node, by its own children. `toward` is the
    /// neighbour, or the end of the list, next to which its full end is placed.
    fn splice(&mut self, node: u32, partial: u32, toward: u32) {
        let away = self.after(partial, toward);
        let [empty, full] = self.nodes[partial.to_usize()].ends;
        // An end of the parent's list remains an end.
        let ends = self.nodes[node.to_usize()].ends;
        if let Some(side) = ends.iter().position(|end| *end == partial) {
            self.at(node).ends[side] = if toward == NONE { full } else { empty };
        }
        self.swap_beside(away, partial, empty);
        self.swap_beside(empty, NONE, away);
        self.swap_beside(toward, partial, full);
        self.swap_beside(full, NONE, toward);
        let children = self.nodes[partial.to_usize()].children;
        self.at(node).children += children - 1;
        self.unite(empty, full);
        for neighbour in [away, toward] {
            if neighbour != NONE {
                self.unite(neighbour, full);
            }
        }
        self.own(node, full);
    }

    /// Processes a P-node that is the common root: partial, full and partial children become one Q-node among its
    /// children.
    fn root_p(&mut self, node: u32) -> bool {
        let [first, second] = self.nodes[node.to_usize()].mark.partial;
        let full = self.take_full(node);
        if first == NONE {
            self.append(node, full);
            return true;
        }
        if full != NONE {
            self.extend(first, 1, full);
        }
        if second != NONE {
            self.remove(node, second);
            let (near, [far, inner]) = (self.nodes[first.to_usize()].ends[1], self.nodes[second.to_usize()].ends);
            self.swap_beside(near, NONE, inner);
            self.swap_beside(inner, NONE, near);
            self.at(first).ends[1] = far;
            let children = self.nodes[second.to_usize()].children;
            self.at(first).children += children;
            for child in [inner, far] {
                self.unite(child, near);
            }
            self.own(first, near);
        }
        if self.nodes[node.to_usize()].children == 1 {
            // No other child is left, so the node itself becomes the Q-node.
            let Node { ends, children, .. } = self.nodes[first.to_usize()];
            let becomes = self.at(node);
            (becomes.kind, becomes.ends, becomes.children) = (Kind::Q, ends, children);
            self.own(node, ends[0]);
        }
        true
    }

    /// Processes a Q-node that is the common root: its full children must be adjacent, with a partial one at each end.
    fn root_q(&mut self, node: u32) -> bool {
        let mark = self.nodes[node.to_usize()].mark;
        if mark.full_first == NONE {
            let [first, second] = mark.partial;
            if !self.nodes[first.to_usize()].beside.contains(&second) {
                return false;
            }
            self.splice(node, first, second);
            let [_, full] = self.nodes[first.to_usize()].ends;
            self.splice(node, second, full);
            return true;
        }
        let (count, ends, beyond) = self.full_run(mark.full_first);
        if count != mark.full_children {
            return false;
        }
        for partial in mark.partial {
            match beyond.iter().position(|beyond| *beyond == partial) {
                _ if partial == NONE => {}
                Some(side) => self.splice(node, partial, ends[side]),
                None => return false,
            }
        }
        true
    }
}
