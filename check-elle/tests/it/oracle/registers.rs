//! The order of the versions of a register, source by source from the list in the specification.

use super::world::{Name, Txn, World};

/// The assumptions about the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources<'a> {
    pub(crate) wfr_keys: bool,
    pub(crate) sequential_keys: bool,
    pub(crate) linearizable_keys: bool,
    /// Indices of transactions, or of their invocations.
    pub(crate) transaction_order: Option<&'a [u64]>,
}

/// A version: a written value, or nil.
pub(crate) type Version = Option<Name>;

/// A key, a version of it, and a later version.
pub(crate) type Edge = (Name, Version, Version);

/// The version orders that the sources give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    /// The edges of the sources that agree with the ones before them.
    pub(crate) used: Vec<Edge>,
    /// The edges of all requested sources.
    pub(crate) assumed: Vec<Edge>,
    /// Whether the edges of some source were omitted.
    pub(crate) cyclic: bool,
}

impl Sources<'_> {
    /// All sources but an order of transactions, in every combination.
    pub(crate) fn combinations() -> impl Iterator<Item = Sources<'static>> + Clone {
        (0..8).map(|bits| Sources {
            wfr_keys: bits & 1 != 0,
            sequential_keys: bits & 2 != 0,
            linearizable_keys: bits & 4 != 0,
            transaction_order: None,
        })
    }
}

impl Versions {
    pub(crate) fn of(world: &World, sources: &Sources<'_>) -> Versions {
        let mut versions = Versions::default();
        let mut all = vec![initial_state(world)];
        all.extend(sources.transaction_order.map(|order| transaction_order(world, order)));
        all.extend(sources.wfr_keys.then(|| wfr_keys(world)));
        all.extend(sources.sequential_keys.then(|| sequential_keys(world)));
        all.extend(sources.linearizable_keys.then(|| linearizable_keys(world)));
        for source in all {
            let source: Vec<Edge> = source.into_iter().filter(|(_, version, next)| version != next).collect();
            versions.assumed.extend(&source);
            let tried = [&versions.used[..], &source[..]].concat();
            if is_cyclic(&tried) {
                versions.cyclic = true;
            } else {
                versions.used.extend(direct(world, &source));
            }
        }
        versions
    }

    /// Returns the versions directly after a version.
    pub(crate) fn successors(&self, key: Name, version: Version) -> Vec<Name> {
        let mut next: Vec<Name> =
            self.used.iter().filter(|(k, v, _)| (*k, *v) == (key, version)).filter_map(|(_, _, next)| *next).collect();
        next.sort_unstable();
        next.dedup();
        next
    }
}

/// Returns the edges of a source without a version between the two that a transaction left behind: a transaction
/// depends on the next version, not on later ones. Edges from the initial version are all kept.
fn direct(world: &World, source: &[Edge]) -> Vec<Edge> {
    let left_behind = |key, version: Version| {
        version.is_some_and(|element| happened(world).any(|txn| txn.external_write(key) == Some(element)))
    };
    let is_direct = |(key, version, next): &&Edge| {
        let is_between = |(k, from, between): &Edge| {
            (k, from) == (key, version)
                && between != next
                && left_behind(*key, *between)
                && source.contains(&(*key, *between, *next))
        };
        version.is_none() || !source.iter().any(is_between)
    };
    source.iter().filter(is_direct).copied().collect()
}

/// Tries all paths from each version: there are few.
fn is_cyclic(edges: &[Edge]) -> bool {
    edges.iter().any(|(key, first, next)| {
        let mut reached = vec![*next];
        let mut at = 0;
        while at < reached.len() {
            let more = edges.iter().filter(|(k, version, _)| (*k, *version) == (*key, reached[at])).map(|edge| edge.2);
            let more: Vec<Version> = more.filter(|next| !reached.contains(next)).collect();
            reached.extend(more);
            at += 1;
        }
        reached.contains(first)
    })
}

fn happened(world: &World) -> impl Iterator<Item = &Txn> {
    world.txns.iter().filter(|txn| txn.may_have_happened())
}

fn initial_state(world: &World) -> Vec<Edge> {
    let mut edges = Vec::new();
    for txn in happened(world) {
        edges.extend(world_read(world, txn).map(|(key, version)| (key, None, version)));
        edges.extend(world_written(world, txn).map(|(key, element)| (key, None, Some(element))));
    }
    edges
}

fn wfr_keys(world: &World) -> Vec<Edge> {
    let ok = happened(world).filter(|txn| txn.is_ok());
    ok.flat_map(|txn| {
        world_read(world, txn).filter_map(|(key, version)| Some((key, version, Some(txn.external_write(key)?))))
    })
    .collect()
}

/// Orders each transaction that used a key before all later transactions of its process that did.
fn sequential_keys(world: &World) -> Vec<Edge> {
    pairs(world, |_, a, b| a.precedes_in_process(b))
}

/// Orders each transaction that used a key before all later ones in the given order that did.
fn transaction_order(world: &World, order: &[u64]) -> Vec<Edge> {
    let place = |txn: &Txn| order.iter().position(|index| *index == txn.index || Some(*index) == txn.invoked);
    pairs(world, |_, a, b| place(a).zip(place(b)).is_some_and(|(a, b)| a < b))
}

fn linearizable_keys(world: &World) -> Vec<Edge> {
    pairs(world, |_, a, b| a.precedes_in_time(b))
}

/// Returns edges from the last version that one transaction used to the first one that another used, for all pairs that
/// `counts` accepts.
fn pairs(world: &World, counts: impl Fn(Name, &Txn, &Txn) -> bool) -> Vec<Edge> {
    let mut edges = Vec::new();
    for key in 0..world.keys.len() {
        for a in happened(world).filter(|txn| touches(txn, key)) {
            for b in happened(world).filter(|txn| touches(txn, key) && counts(key, a, txn)) {
                let last = a.external_write(key).map_or_else(|| a.external_read(key), |element| Some(Some(element)));
                let first = b.external_read(key).or_else(|| b.external_write(key).map(Some));
                edges.extend(last.zip(first).map(|(last, first)| (key, last, first)));
            }
        }
    }
    edges
}

fn touches(txn: &Txn, key: Name) -> bool {
    txn.external_read(key).is_some() || txn.external_write(key).is_some()
}

fn world_read<'a>(world: &'a World, txn: &'a Txn) -> impl Iterator<Item = (Name, Version)> {
    (0..world.keys.len()).filter_map(|key| Some((key, txn.external_read(key)?)))
}

fn world_written<'a>(world: &'a World, txn: &'a Txn) -> impl Iterator<Item = (Name, Name)> {
    (0..world.keys.len()).filter_map(|key| Some((key, txn.external_write(key)?)))
}
