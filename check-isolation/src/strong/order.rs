//! An order of all nodes that is maintained as arcs are added and removed.
//!
//! An arc against the order moves the nodes between its ends that must be before its target: those that a backward walk
//! from its source reaches. When arcs are removed, the order stays as it is, because the remaining arcs still permit
//! it.

use super::shape::Shape;
use crate::csr::Csr;
use crate::ids::TxnId;
use crate::level::Base;
use crate::weak::Backwards;
use history_core::cast::Cast as _;

/// The number of an absent arc or place, and of the first state, which is before all nodes.
pub(super) const NONE: u32 = u32::MAX;

/// One transaction's node is before another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Arc {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// The maximum number of grounds of an arc. Beyond it, the earlier choices are dropped and cannot be reversed.
const GROUNDS_MAX: usize = 64;

/// An assumption on which an arc is based and that may be wrong. Choices are greater than frames, later ones greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ground {
    /// The place of this transaction in its session or in real time, which the base does not require.
    Frame(TxnId),
    /// The choice of the added arc with this number.
    Choice(u32),
}

/// The reason why an arc was added.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// It was chosen; this is the alternative.
    Chosen(Arc),
    /// It follows from this range of grounds.
    Follows { from: u32, to: u32 },
}

/// An added arc.
struct Added {
    arc: Arc,
    why: Why,
    /// The arc that was previously added to the same node.
    next_in: u32,
}

/// A node that a backward walk reached.
struct Met {
    node: u32,
    /// The position in `met` of the node from which it was reached.
    from: u32,
    /// The number of the added arc between them; `NONE` if the arc is in the history.
    arc: u32,
    /// Whether that arc is one of sessions or real time that the base does not require.
    is_soft: bool,
}

pub(super) struct Ordered<'t> {
    backwards: &'t Backwards<'t>,
    base: Base,
    shape: Shape,
    nodes: Vec<u32>,
    /// The place of each node.
    place: Vec<u32>,
    added: Vec<Added>,
    /// The grounds of the arcs that follow from others.
    grounds: Vec<Ground>,
    /// For each transaction, whether it may precede earlier ones in sessions and real time, as far as the base permits
    /// it.
    is_free: Vec<bool>,
    /// The transactions that may.
    pub(super) free: Vec<TxnId>,
    /// For each transaction, the first added arc that is based on its place in sessions and real time. Numbers of arcs
    /// that were removed have no effect.
    first_on: Vec<u32>,
    /// For each transaction's node, the last arc that was added to it.
    into: Vec<u32>,
    /// For each node, the last walk that reached it.
    met_by: Vec<u32>,
    walks: u32,
    /// The nodes that the last walk reached.
    met: Vec<Met>,
    /// A buffer for nodes that move behind others.
    behind: Vec<u32>,
    /// The number of nodes that were reached or moved; replays add theirs.
    pub(super) steps: u64,
}

impl<'t> Ordered<'t> {
    /// Creates a serial order near that of completions, if there is one.
    pub(super) fn new(backwards: &'t Backwards<'t>, base: Base, shape: Shape) -> Option<Ordered<'t>> {
        let (txns, serial) = (backwards.txns.len(), backwards.order(&Csr::default())?);
        let own = shape.nodes(txns);
        let mut nodes = Vec::with_capacity(own + serial.len() - txns);
        for node in serial {
            match node.to_usize().checked_sub(txns) {
                Some(event) => nodes.push((own + event).to_u32()),
                None => nodes.extend(shape.start(node.into())..=shape.commit(node.into())),
            }
        }
        let mut place = vec![0; nodes.len()];
        nodes.iter().enumerate().for_each(|(at, node)| place[node.to_usize()] = at.to_u32());
        Some(Ordered {
            backwards,
            base,
            shape,
            place,
            added: Vec::new(),
            grounds: Vec::new(),
            is_free: vec![false; txns],
            free: Vec::new(),
            first_on: vec![NONE; txns],
            into: vec![NONE; own],
            met_by: vec![0; nodes.len()],
            nodes,
            walks: 0,
            met: Vec::new(),
            behind: Vec::new(),
            steps: 0,
        })
    }

    /// Calls `each` for each node with an arc of the history to `node`, and whether the base does not require the arc.
    #[inline]
    fn each_before(&self, node: u32, mut each: impl FnMut(u32, bool)) {
        let (shape, txns, own) = (self.shape, self.backwards.txns.len(), self.into.len());
        let node_of = |before: usize| match before.checked_sub(txns) {
            Some(event) => (own + event).to_u32(),
            None => shape.commit(TxnId::new(before)),
        };
        if let Some(event) = node.to_usize().checked_sub(own) {
            self.backwards.each_seen(txns + event, |before| each(node_of(before), false));
            return;
        }
        let txn = shape.txn(node);
        if shape.is_start(node) {
            let framed =
                [(self.backwards.previous(txn), Base::Session), (self.backwards.event_before(txn), Base::RealTime)];
            for (before, base) in framed {
                let is_soft = base > self.base;
                if let Some(before) = before.filter(|_| !is_soft || !self.is_free[txn.at()]) {
                    each(node_of(before), is_soft);
                }
            }
            for read in self.backwards.txns.reads(txn).iter().filter(|read| read.writer != TxnId::NONE) {
                each(shape.commit(read.writer), false);
            }
        } else {
            each(shape.start(txn), false);
        }
        if node == shape.overwrites_at(txn) {
            self.backwards.each_ordered(txn, |before| each(shape.commit(before), false));
        }
    }

    /// The number of bytes of added arcs and grounds.
    pub(super) fn bytes(&self) -> u64 {
        (self.added.len() * size_of::<Added>() + self.grounds.len() * size_of::<Ground>()).to_u64()
    }

    pub(super) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    #[inline]
    pub(super) fn place(&self, node: u32) -> u32 {
        self.place[node.to_usize()]
    }

    /// The first place that an arc changes, if it is against the order.
    pub(super) fn moves_from(&self, arc: Arc) -> Option<usize> {
        let (from, to) = (self.place(arc.from), self.place(arc.to));
        (to < from).then_some(to.to_usize())
    }

    /// Returns true if a path leads from the target of an arc to its source, and adds the grounds of the path. Nothing
    /// comes before the first state.
    pub(super) fn is_ruled_out(&mut self, arc: Arc, grounds: &mut Vec<Ground>) -> bool {
        if arc.to == NONE {
            return true;
        }
        if self.moves_from(arc).is_none() {
            return false;
        }
        let Some(mut at) = self.walk(arc.from, arc.to) else { return false };
        while self.met[at].from != NONE {
            let Met { from, arc, is_soft, .. } = self.met[at];
            at = from.to_usize();
            if is_soft {
                grounds.push(Ground::Frame(self.shape.txn(self.met[at].node)));
            }
            match self.added.get(arc.to_usize()).map(|added| added.why) {
                Some(Why::Chosen(_)) => grounds.push(Ground::Choice(arc)),
                Some(Why::Follows { from, to }) => grounds.extend(&self.grounds[from.to_usize()..to.to_usize()]),
                None => {}
            }
        }
        true
    }

    /// Walks back from a node, no further than the place of `back_to`. Returns the position in `met` of `back_to` if
    /// reached.
    fn walk(&mut self, from: u32, back_to: u32) -> Option<usize> {
        let first = self.place(back_to);
        self.walks += 1;
        let (mut met_by, mut met) = (std::mem::take(&mut self.met_by), std::mem::take(&mut self.met));
        met.clear();
        met_by[from.to_usize()] = self.walks;
        met.push(Met { node: from, from: NONE, arc: NONE, is_soft: false });
        let mut at = 0;
        while at < met.len() && met_by[back_to.to_usize()] != self.walks {
            let node = met[at].node;
            let mut meet = |before: u32, arc: u32, is_soft: bool| {
                let is_met = met_by[before.to_usize()] == self.walks;
                if !is_met && self.place(before) >= first {
                    met_by[before.to_usize()] = self.walks;
                    met.push(Met { node: before, from: at.to_u32(), arc, is_soft });
                }
            };
            self.each_before(node, |before, is_soft| meet(before, NONE, is_soft));
            let mut arc = self.into.get(node.to_usize()).copied().unwrap_or(NONE);
            while let Some(added) = self.added.get(arc.to_usize()) {
                meet(added.arc.from, arc, false);
                arc = added.next_in;
            }
            at += 1;
        }
        self.steps += at.to_u64();
        (self.met_by, self.met) = (met_by, met);
        let is_met = self.met_by[back_to.to_usize()] == self.walks;
        is_met.then(|| self.met.iter().rposition(|met| met.node == back_to)).flatten()
    }

    /// Adds an arc that is chosen instead of the alternative, and is not ruled out.
    pub(super) fn choose(&mut self, arc: Arc, other: Arc) {
        self.add(arc, Why::Chosen(other));
    }

    /// Adds an arc that follows from grounds, and is not ruled out.
    pub(super) fn follow(&mut self, arc: Arc, grounds: &mut Vec<Ground>) {
        grounds.sort_unstable();
        grounds.dedup();
        let from = self.grounds.len();
        let grounds = &grounds[grounds.len().saturating_sub(GROUNDS_MAX)..];
        self.grounds.extend_from_slice(grounds);
        let number = self.added.len().to_u32();
        for ground in grounds {
            if let Ground::Frame(txn) = ground {
                let first = &mut self.first_on[txn.at()];
                *first = number.min(*first);
            }
        }
        self.add(arc, Why::Follows { from: from.to_u32(), to: self.grounds.len().to_u32() });
    }

    /// Permits a transaction to precede earlier ones in its session and in real time, as far as the base permits it,
    /// and removes arcs that depend on its place. Returns true if this is new.
    pub(super) fn set_free(&mut self, txn: TxnId) -> bool {
        let is_new = !std::mem::replace(&mut self.is_free[txn.at()], true);
        if is_new {
            self.free.push(txn);
            self.truncate(self.first_on[txn.at()].to_usize());
        }
        is_new
    }

    fn add(&mut self, arc: Arc, why: Why) {
        if let Some(first) = self.moves_from(arc) {
            let path = self.walk(arc.from, arc.to);
            debug_assert!(path.is_none(), "{arc:?} is ruled out");
            self.move_met(first, self.place(arc.from).to_usize());
        }
        self.added.push(Added { arc, why, next_in: self.into[arc.to.to_usize()] });
        self.into[arc.to.to_usize()] = (self.added.len() - 1).to_u32();
    }

    /// Moves the nodes that the last walk reached before the others, between the first and the last place.
    fn move_met(&mut self, first: usize, last: usize) {
        self.steps += (last - first).to_u64();
        self.behind.clear();
        let mut to = first;
        for at in first..=last {
            let node = self.nodes[at];
            if self.met_by[node.to_usize()] == self.walks {
                self.nodes[to] = node;
                self.place[node.to_usize()] = to.to_u32();
                to += 1;
            } else {
                self.behind.push(node);
            }
        }
        for (node, at) in self.behind.iter().zip(to..) {
            self.nodes[at] = *node;
            self.place[node.to_usize()] = at.to_u32();
        }
    }

    /// Removes a choice and all arcs added after it. Returns the chosen arc and the alternative.
    pub(super) fn take_back(&mut self, choice: u32) -> (Arc, Arc) {
        let Added { arc, why: Why::Chosen(other), .. } = self.added[choice.to_usize()] else {
            unreachable!("only choices are reversed")
        };
        self.truncate(choice.to_usize());
        (arc, other)
    }

    /// Removes the arcs from a number on.
    fn truncate(&mut self, number: usize) {
        for added in self.added.drain(number.min(self.added.len())..).rev() {
            self.into[added.arc.to.to_usize()] = added.next_in;
            if let Why::Follows { from, .. } = added.why {
                self.grounds.truncate(from.to_usize());
            }
        }
    }
}
