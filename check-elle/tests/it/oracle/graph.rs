//! Version orders and the graph between transactions, built edge by edge from the table in the specification.

use super::reach::Reach;
use super::world::{Kind, Name, Txn, World};

/// Kinds of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Relation {
    Ww,
    Wr,
    Rw,
    /// Process or realtime edges, whichever are used.
    Order,
}

/// The order between transactions that is used besides their reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    None,
    Process,
    Realtime,
}

/// `edges[from][to]`: the relations from one transaction to another.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) edges: Vec<Vec<Vec<Relation>>>,
}

/// Returns the longest list that an ok or info transaction read (the first of that length), each element at its first
/// position; or the only append, if nothing was read.
pub(crate) fn version_order(world: &World, key: Name) -> Vec<Name> {
    let mut longest: &[Name] = &[];
    for txn in world.txns.iter().filter(|txn| txn.may_have_happened()) {
        for (_, list) in txn.reads().filter(|(k, _)| *k == key) {
            if list.len() > longest.len() {
                longest = list;
            }
        }
    }
    let appends = appended(world, key);
    if longest.is_empty() && appends.len() == 1 {
        return appends;
    }
    let mut order = Vec::new();
    for element in longest {
        if !order.contains(element) {
            order.push(*element);
        }
    }
    order
}

/// Returns all elements that transactions appended, or tried to append, to a key.
fn appended(world: &World, key: Name) -> Vec<Name> {
    world.txns.iter().flat_map(Txn::writes).filter(|(k, _)| *k == key).map(|(_, element)| element).collect()
}

/// Returns the elements that may have been appended and that all reads of a key show at the same positions. If two
/// reads differ, only the elements before the difference are certain, because either read may be right.
pub(crate) fn certain_order(world: &World, key: Name) -> Vec<Name> {
    let reads: Vec<&Vec<Name>> =
        world.txns.iter().flat_map(Txn::reads).filter(|(k, _)| *k == key).map(|(_, l)| l).collect();
    let differ_at = |a: &[Name], b: &[Name]| a.iter().zip(b).position(|(a, b)| a != b);
    let pairs = reads.iter().flat_map(|a| reads.iter().map(move |b| (a, b)));
    let certain = pairs.filter_map(|(a, b)| differ_at(a, b)).min();
    let mut order = version_order(world, key);
    if let Some(certain) = certain {
        let agreed = &reads.iter().find(|list| list.len() >= certain).expect("it is a place in one")[..certain];
        order.retain(|element| agreed.contains(element));
    }
    order.retain(|element| world.may_have_been_written(key, *element));
    order
}

/// Returns the elements written directly after an element; `None` represents the empty list. All elements that may have
/// been appended and have no certain place come after the last element that has one.
pub(crate) fn successors(world: &World, key: Name, element: Option<Name>) -> Vec<Name> {
    if let Some(versions) = &world.versions {
        return versions.successors(key, element);
    }
    let order = certain_order(world, key);
    let at = match element {
        None => 0,
        Some(element) => match order.iter().position(|e| *e == element) {
            Some(at) => at + 1,
            None => return Vec::new(),
        },
    };
    if let Some(next) = order.get(at) {
        return vec![*next];
    }
    let unplaced = |element: &Name| !order.contains(element) && world.may_have_been_written(key, *element);
    appended(world, key).into_iter().filter(unplaced).collect()
}

impl Graph {
    /// Returns the graph with each step between two transactions reduced to its strongest relation.
    pub(crate) fn of(world: &World, order: Order) -> Graph {
        Graph::unnamed(world, order).named()
    }

    /// Returns the graph with all relations.
    pub(crate) fn unnamed(world: &World, order: Order) -> Graph {
        let n = world.txns.len();
        let mut graph = Graph { edges: vec![vec![Vec::new(); n]; n] };
        for from in 0..n {
            if !world.txns[from].may_have_happened() {
                continue;
            }
            graph.add_ww(world, from);
            graph.add_wr(world, from);
            graph.add_rw(world, from);
            for to in 0..n {
                let (a, b) = (&world.txns[from], &world.txns[to]);
                let related = match order {
                    Order::None => false,
                    Order::Process => a.precedes_in_process(b),
                    Order::Realtime => a.precedes_in_time(b),
                };
                if related {
                    graph.add(world, from, to, Relation::Order);
                }
            }
        }
        graph
    }

    /// Keeps only the strongest of ww, wr and rw (in this order) between two transactions. The specification does not
    /// require this; the reference implementation does it.
    pub(crate) fn named(&self) -> Graph {
        let mut named = self.clone();
        for relations in named.edges.iter_mut().flatten() {
            let strongest = relations.iter().copied().filter(|relation| *relation != Relation::Order).min();
            relations.retain(|relation| *relation == Relation::Order || Some(*relation) == strongest);
        }
        named
    }

    fn add(&mut self, world: &World, from: usize, to: usize, relation: Relation) {
        let relations = &mut self.edges[from][to];
        if from != to && world.txns[to].kind != Kind::Fail && !relations.contains(&relation) {
            relations.push(relation);
        }
    }

    fn add_ww(&mut self, world: &World, from: usize) {
        for (key, element) in world.versions_written(&world.txns[from]) {
            for next in successors(world, key, Some(element)) {
                self.add_writer(world, from, (key, next), Relation::Ww);
            }
        }
    }

    fn add_wr(&mut self, world: &World, from: usize) {
        let written = world.versions_written(&world.txns[from]);
        for (to, reader) in world.txns.iter().enumerate() {
            let is_of_from =
                |(key, version): &(Name, Option<Name>)| version.is_some_and(|v| written.contains(&(*key, v)));
            if world.versions_read(reader).iter().any(is_of_from) {
                self.add(world, from, to, Relation::Wr);
            }
        }
    }

    fn add_rw(&mut self, world: &World, from: usize) {
        for (key, version) in world.versions_read(&world.txns[from]) {
            for next in successors(world, key, version) {
                self.add_writer(world, from, (key, next), Relation::Rw);
            }
        }
    }

    /// Adds a step to the transaction that wrote an element.
    fn add_writer(&mut self, world: &World, from: usize, write: (Name, Name), relation: Relation) {
        let writer = (0..world.txns.len()).find(|to| world.versions_written(&world.txns[*to]).contains(&write));
        if let Some(to) = writer {
            self.add(world, from, to, relation);
        }
    }

    /// Returns true if there are no edges.
    pub(crate) fn is_empty(&self) -> bool {
        self.edges.iter().flatten().all(Vec::is_empty)
    }

    /// Returns the strongly connected components of more than one transaction.
    pub(crate) fn components(&self) -> Vec<Vec<usize>> {
        let n = self.edges.len();
        let mut reach = Reach::new(n);
        for (from, row) in self.edges.iter().enumerate() {
            for (to, _) in row.iter().enumerate().filter(|(_, relations)| !relations.is_empty()) {
                reach.add(from, to);
            }
        }
        let reach = reach.closed();
        let mut components = Vec::new();
        for first in 0..n {
            let together = |&other: &usize| reach.contains(first, other) && reach.contains(other, first);
            let component: Vec<usize> = (0..n).filter(together).collect();
            if component.first() == Some(&first) {
                components.push(component);
            }
        }
        components
    }
}
