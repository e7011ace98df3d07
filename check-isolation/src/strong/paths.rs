//! Paths in the graph of a level, and their conversion to steps from transaction to transaction.

use super::build::Helpers;
use super::state::{Conflict, NONE, Reason, State};
use crate::base::{self, Frame};
use crate::evidence::{Because, Link, Relation};
use crate::ids::TxnId;
use crate::level::{Axiom, Base};
use history_core::cast::Cast as _;

/// An arc of a path: source, target, and the decided order from which it follows.
pub(super) type Step = (u32, u32, u32);

/// Searches for paths, with reused buffers.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// For each node, the arc that leads on towards the end, and the number of the search that found it.
    leads: Vec<(u32, u32)>,
    search: u32,
}

impl Paths {
    /// A shortest path from a transaction's node to another node over the first `arcs` arcs. It must exist.
    pub(super) fn find(&mut self, state: &mut State<'_>, from: u32, to: u32, arcs: u32) -> Vec<Step> {
        if self.search == u32::MAX {
            self.leads.clear();
            self.search = 0;
        }
        self.search += 1;
        self.leads.resize(state.nodes, (NONE, 0));
        let mut waiting = vec![to];
        let mut at = 0;
        while at < waiting.len() && self.leads[from.to_usize()].1 != self.search {
            let mut arc = state.into[waiting[at].to_usize()];
            at += 1;
            while arc != NONE {
                let there = state.arcs[arc.to_usize()];
                let lead = &mut self.leads[there.from.to_usize()];
                if arc < arcs && lead.1 != self.search && state.reaches(from, there.from) {
                    *lead = (arc, self.search);
                    waiting.push(there.from);
                }
                arc = there.next_in;
            }
        }
        state.steps += waiting.len().to_u64();
        let mut path = Vec::new();
        let mut node = from;
        while node != to && self.leads[node.to_usize()].1 == self.search {
            let arc = state.arcs[self.leads[node.to_usize()].0.to_usize()];
            path.push((arc.from, arc.to, arc.why));
            node = arc.to;
        }
        path
    }

    /// The path from which a decided order follows, if there is one.
    pub(super) fn of_decided(&mut self, state: &mut State<'_>, number: u32) -> Vec<Step> {
        let decided = state.decided[number.to_usize()];
        let (shape, order) = (state.shape, decided.order);
        let (from, to) = match decided.reason {
            Reason::Visible(read) => {
                let reader = state.txns.reader(read.to_usize());
                (shape.commit(order.first), shape.start(reader))
            }
            Reason::Inevitable => {
                let from =
                    if shape.axiom == Axiom::Prefix { shape.commit(order.first) } else { shape.start(order.first) };
                (from, shape.commit(order.second))
            }
            Reason::Replaced(writer) if writer != TxnId::NONE => (shape.commit(writer), shape.start(order.second)),
            Reason::Replaced(_) | Reason::Guess | Reason::Clause(_) => return Vec::new(),
        };
        self.find(state, from, to, decided.arcs)
    }

    /// The cycle of a contradiction.
    pub(super) fn of_conflict(&mut self, state: &mut State<'_>, conflict: Conflict) -> Vec<Step> {
        let all = state.arcs.len().to_u32();
        match conflict {
            Conflict::Arc { from, to, why } => {
                let mut cycle = vec![(from, to, why)];
                cycle.extend(self.find(state, to, from, all));
                cycle
            }
            Conflict::First { reader, writer, .. } => {
                let (from, to) = (state.shape.commit(writer), state.shape.start(reader));
                self.find(state, from, to, all)
            }
            Conflict::Clause(_) => Vec::new(),
        }
    }
}

/// The data needed to explain paths.
#[derive(Debug)]
pub(super) struct Teller<'f> {
    pub(super) frame: &'f Frame,
    pub(super) base: Base,
    pub(super) helpers: Helpers,
}

impl Teller<'_> {
    /// The steps between transactions for successive arcs between nodes.
    pub(super) fn links(&self, state: &State<'_>, steps: &[Step]) -> Vec<Link> {
        let own = state.shape.nodes(state.txns.len()).to_u32();
        let is_txn = |node: u32| node < own;
        // A closed path may begin at a node that is not a transaction.
        let start = steps.iter().position(|step| is_txn(step.0)).unwrap_or(0);
        let mut links = Vec::new();
        let mut from = TxnId::NONE;
        let mut through = NONE;
        for at in 0..steps.len() {
            let (here, there, why) = steps[(start + at) % steps.len()];
            if is_txn(here) {
                (from, through) = (state.shape.txn(here), NONE);
            } else if through == NONE {
                through = here;
            }
            if is_txn(there) && state.shape.txn(there) != from {
                let to = state.shape.txn(there);
                links.push(self.link(state, from, to, through, why));
            }
        }
        links
    }

    fn link(&self, state: &State<'_>, from: TxnId, to: TxnId, through: u32, why: u32) -> Link {
        if let Some(decided) = state.decided.get(why.to_usize()) {
            let order = decided.order;
            let is_first = order.first == from;
            let relation = if is_first { Relation::Ww(order.key) } else { Relation::Rw(order.key, order.first) };
            return Link { from, to, relation };
        }
        if through == NONE {
            return base::link(state.txns, self.frame, from, to);
        }
        let helper = through.to_usize() - state.shape.nodes(state.txns.len());
        let relation = match helper.checked_sub(self.helpers.events) {
            Some(at) => Relation::Rw(self.helpers.keys[at], TxnId::NONE),
            None => Relation::RealTime,
        };
        Link { from, to, relation }
    }

    /// The steps of a contradiction's cycle.
    pub(super) fn conflict_links(&self, state: &State<'_>, conflict: Conflict, steps: &[Step]) -> Vec<Link> {
        let mut links = self.links(state, steps);
        if let Conflict::First { reader, writer, key } = conflict {
            links.push(Link { from: reader, to: writer, relation: Relation::Rw(key, TxnId::NONE) });
        }
        links
    }

    /// Why an order was decided.
    pub(super) fn because(
        &self,
        state: &State<'_>,
        number: u32,
        steps: &[Step],
        lemma: impl Fn(u32) -> usize,
    ) -> Because {
        let path = self.links(state, steps);
        match state.decided[number.to_usize()].reason {
            Reason::Visible(read) => Because::Visible { reader: state.txns.reader(read.to_usize()), path },
            Reason::Inevitable | Reason::Guess => Because::Inevitable { path },
            Reason::Replaced(version) => Because::Replaced { version, path },
            Reason::Clause(clause) => Because::Lemma(lemma(clause)),
        }
    }
}
