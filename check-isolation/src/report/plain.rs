//! Converts a derivation to the usual form: a cycle with the read that misses a write, instead of one of ww and wr
//! alone.
//!
//! Let r read b's version of key k, and let a, which also wrote k, be visible to r. Then a wrote k before b, and a path
//! from b to a is a contradiction. The same steps can be seen differently: since there is this path, b wrote k before
//! a; so r, which read b's version, is before a, which it also follows. This is a cycle with an rw step, which has a
//! name: G-single-item if r misses a write on which it depends, G2-item for write skew.

use crate::evidence::{Because, Before, Fact, Item, Link, Refutation, Relation};

impl Refutation {
    /// The same derivation, with an rw step in its cycle if one of the orders in it follows from a read.
    pub(crate) fn plain(mut self) -> Refutation {
        let has_rw = self.cycle.iter().any(|link| matches!(link.relation, Relation::Rw(..)));
        if has_rw || self.has_cases() || !self.is_complete {
            return self;
        }
        let shown = (0..self.cycle.len()).filter_map(|at| Some((at, self.shown_by_a_read(at)?)));
        let Some((at, item)) = shown.min_by_key(|(_, item)| self.path_len(*item)) else { return self };
        let Item::Fact(Fact { order, because: Because::Visible { reader, path } }) = self.items.remove(item) else {
            return self;
        };
        let rest = (1..self.cycle.len()).map(|step| self.cycle[(at + step) % self.cycle.len()]).collect();
        let Before { key, first, second } = order;
        let order = Before { key, first: second, second: first };
        self.items.push(Item::Fact(Fact { order, because: Because::Inevitable { path: rest } }));
        self.cycle = path;
        self.cycle.push(Link { from: reader, to: first, relation: Relation::Rw(key, second) });
        self
    }

    /// The item that derives the order in a step of the cycle from a read, if nothing else depends on that order.
    fn shown_by_a_read(&self, at: usize) -> Option<usize> {
        let step = self.cycle[at];
        let Relation::Ww(key) = step.relation else { return None };
        let order = Before { key, first: step.from, second: step.to };
        let is_it = |item: &Item| matches!(item, Item::Fact(Fact { order: other, because: Because::Visible { .. } }) if *other == order);
        let item = self.items.iter().position(is_it)?;
        let others = self.cycle.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, link)| link);
        let is_used = others.chain(self.items.iter().flat_map(path)).any(|link| rests_on(*link, order));
        (!is_used).then_some(item)
    }

    fn path_len(&self, item: usize) -> usize {
        path(&self.items[item]).len()
    }
}

/// The path from which an order follows.
fn path(item: &Item) -> &[Link] {
    match item {
        Item::Fact(Fact { because, .. }) => match because {
            Because::Visible { path, .. } | Because::Inevitable { path } | Because::Replaced { path, .. } => path,
            Because::Lemma(_) => &[],
        },
        Item::Lemma(_) => &[],
    }
}

/// Returns true if a step follows from an order of two writers.
fn rests_on(link: Link, order: Before) -> bool {
    match link.relation {
        Relation::Ww(key) => (key, link.from, link.to) == (order.key, order.first, order.second),
        Relation::Rw(key, read) => (key, read, link.to) == (order.key, order.first, order.second),
        Relation::Session | Relation::RealTime | Relation::Wr(_) => false,
    }
}
