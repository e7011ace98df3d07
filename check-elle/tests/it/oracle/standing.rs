//! Finds the models that are known to hold: decided models without an anomaly, and the models that these imply where no
//! question is open.

use super::graph::{Graph, Order, successors, version_order};
use super::lattice::{self, forbids};
use super::names::Names;
use super::world::{Kind, Mop, Name, Txn, World};
use super::{Question, exists};
use std::sync::LazyLock;

const DECIDED: [&str; 13] = [
    "read-uncommitted",
    "read-committed",
    "consistent-view",
    "snapshot-isolation",
    "repeatable-read",
    "serializable",
    "strong-session-read-uncommitted",
    "strong-session-read-committed",
    "strong-session-snapshot-isolation",
    "strong-session-serializable",
    "strong-read-uncommitted",
    "strong-read-committed",
    "strong-snapshot-isolation",
];

/// No transaction that obeys these models contradicts itself, although Elle's table has no `internal` there.
const NEED_A_SNAPSHOT: [&str; 2] = ["consistent-view", "repeatable-read"];

const NOT_SEARCHED: [&str; 11] = [
    "G-cursor",
    "G-monotonic",
    "G-MSR",
    "G-SIb",
    "G-SI",
    "G-update",
    "predicate-read-miss",
    "GSIa",
    "GSIb",
    "GSI",
    "write-skew",
];

/// Returns true if all anomalies that rule a model out are searched for.
pub(crate) fn is_decided(model: &str) -> bool {
    DECIDED.contains(&model) || model == "strict-serializable"
}

/// A decided model, and its properties from the tables.
struct Decided {
    model: &'static str,
    /// The order that its anomalies need.
    order: Order,
    /// The set of the model itself.
    own: Names,
    /// The model and all weaker ones.
    implied: Names,
    needs_a_snapshot: bool,
    forbids_g1c: bool,
    /// Whether it forbids all cycles with rw edges, or none of them.
    orders_appends: bool,
}

static ALL: LazyLock<Vec<Decided>> = LazyLock::new(|| {
    let order = |model: &str| {
        let takes = |suffix: &str, order: Order| {
            let needs = |name: &&str| name.ends_with(suffix) || exists::order_of(name) == Some(order);
            lattice::anomalies().into_iter().filter(needs).any(|name| forbids(model, name))
        };
        match (takes("-realtime", Order::Realtime), takes("-process", Order::Process)) {
            (true, _) => Order::Realtime,
            (_, true) => Order::Process,
            _ => Order::None,
        }
    };
    let decided = |model: &'static str| Decided {
        model,
        order: order(model),
        own: Names::from_iter([model]),
        implied: *lattice::implied(model),
        needs_a_snapshot: NEED_A_SNAPSHOT.contains(&model),
        forbids_g1c: forbids(model, "G1c"),
        orders_appends: forbids(model, "G2-item") || !forbids(model, "G-single-item"),
    };
    lattice::models().into_iter().filter(|model| is_decided(model)).map(decided).collect()
});

/// Returns the requested models and anomalies that cannot be searched for; for each, the decided models that imply it.
fn undecided(question: &Question<'_>) -> Vec<Vec<&'static str>> {
    let decided = || ALL.iter().map(|decided| decided.model);
    let models = question.models.iter().filter(|model| !is_decided(model));
    let anomalies = question.anomalies.iter().filter(|anomaly| NOT_SEARCHED.contains(anomaly));
    let anomalies = anomalies.map(|anomaly| if anomaly.starts_with("GSI") { "G-SI" } else { anomaly });
    let above = models.map(|model| decided().filter(|other| lattice::implied(other).contains(model)).collect());
    above.chain(anomalies.map(|anomaly| decided().filter(|other| forbids(other, anomaly)).collect())).collect()
}

/// Returns the order that is needed to decide the models and anomalies that cannot be searched for.
pub(crate) fn order(question: &Question<'_>) -> Order {
    let all = undecided(question);
    let least = |models: &Vec<&str>| {
        let orders = || ALL.iter().filter(|decided| models.contains(&decided.model)).map(|decided| decided.order);
        [Order::None, Order::Process, Order::Realtime].into_iter().find(|order| orders().any(|own| own == *order))
    };
    let needed: Vec<Order> = all.iter().filter_map(least).collect();
    let greatest = [Order::Realtime, Order::Process].into_iter().find(|order| needed.contains(order));
    greatest.unwrap_or(Order::None)
}

/// Which models are known to hold; none by default.
#[derive(Default)]
pub(crate) struct Standing {
    pub(crate) known: Names,
    proven: Names,
    /// Models that are known only as long as no further version order is known.
    assumed: Names,
    /// Decided models that depend on an unknown version order, and those that, by Elle's table, a transaction that
    /// contradicts itself may obey.
    open: Names,
    has_evidence: bool,
}

impl Standing {
    pub(crate) fn of(world: &World, graph: &Graph, orders: &[Order], found: &Names) -> Standing {
        let has_evidence = has_evidence(world);
        let mut standing = Standing { has_evidence, ..Standing::default() };
        if found.contains(super::EMPTY) || !has_evidence {
            return standing;
        }
        let garbage = found.contains("garbage-read");
        // In registers, versions that were read but that no transaction left behind cannot be ordered.
        let settled = world.versions.is_none() || !found.contains("G1a") && !found.contains("G1b");
        let is_ordered = LazyLock::new(|| settled && is_ordered(world, graph));
        let (out, also_out) = lattice::ruled_out(found);
        let out = &out | &also_out;
        let (contradicts_itself, hides_reads) = (found.contains("internal"), hides_reads(world));
        for decided in ALL.iter().filter(|decided| (&out & &decided.own).is_empty()) {
            if decided.order != Order::None && !orders.contains(&decided.order) {
                continue;
            }
            let order_is_known = match decided.order {
                Order::None => true,
                Order::Process => world.txns.iter().all(|txn| !txn.is_ok() || txn.process.is_some()),
                Order::Realtime => world.txns.iter().all(|txn| !txn.may_have_happened() || txn.invoked.is_some()),
            };
            // In an acyclic graph, the unread part of a list can be ordered.
            let is_acyclic = world.versions.is_none() && decided.orders_appends;
            let contradicts = contradicts_itself && decided.needs_a_snapshot || hides_reads && decided.forbids_g1c;
            if contradicts || world.versions.is_none() && !is_acyclic && !*is_ordered {
                standing.open = &standing.open | &decided.own;
                continue;
            }
            standing.known = &standing.known | &decided.own;
            if world.versions.is_some() && (garbage || !*is_ordered) {
                standing.assumed = &standing.assumed | &decided.own;
            }
            if !garbage && order_is_known && (is_acyclic || *is_ordered) {
                standing.proven = &standing.proven | &decided.own;
                standing.known = &standing.known | &decided.implied;
            }
        }
        standing.open = &standing.open - &standing.known;
        for model in &standing.proven {
            standing.assumed = &standing.assumed - lattice::implied(model);
        }
        standing
    }

    /// Returns the models that a report calls known: of the assumed ones, only the requested models and those that they
    /// imply.
    pub(crate) fn shown(&self, question: &Question<'_>) -> Names {
        let asked = question.models.iter().filter(|model| self.known.contains(model));
        let answered: Names = asked.flat_map(|model| lattice::implied(model)).copied().collect();
        &self.known - &(&self.assumed - &answered)
    }

    /// Returns true if every model and anomaly that cannot be searched for is decided.
    pub(crate) fn answers(&self, question: &Question<'_>) -> bool {
        let is_open = |model: &&str| self.open.contains(model);
        self.has_evidence
            && !question.models.iter().any(is_open)
            && undecided(question).iter().all(|models| models.iter().any(|model| self.proven.contains(model)))
    }
}

/// Returns true if some ok transaction read a key that any transaction writes.
fn has_evidence(world: &World) -> bool {
    let writes = |key: Name| {
        world.txns.iter().any(|txn| txn.mops.iter().any(|mop| matches!(mop, Mop::Write(k, _) if *k == key)))
    };
    let reads = |mop: &Mop| matches!(mop, Mop::Read(key, Some(_)) if writes(*key));
    world.txns.iter().any(|txn| txn.is_ok() && txn.mops.iter().any(reads))
}

/// Returns true if the order of all versions of each key is known.
fn is_ordered(world: &World, graph: &Graph) -> bool {
    (0..world.keys.len()).all(|key| match &world.versions {
        None => {
            let last = version_order(world, key).last().copied();
            let mut writers: Vec<usize> = successors(world, key, last)
                .iter()
                .filter_map(|element| world.txns.iter().position(|txn| is_of(txn, key, *element)))
                .collect();
            writers.dedup();
            // Transactions that are on no common cycle can be put in some order that closes no cycle.
            let together = |nodes: &Vec<usize>| writers.iter().filter(|writer| nodes.contains(writer)).count() > 1;
            !graph.components().iter().any(together)
        }
        Some(versions) => {
            let settled = settled(world, key);
            let is_before = |first: Name, next: Name| {
                let mut reached = vec![first];
                let mut at = 0;
                while at < reached.len() {
                    let more = versions.successors(key, Some(reached[at]));
                    reached.extend(more.into_iter().filter(|version| !reached.contains(version)).collect::<Vec<_>>());
                    at += 1;
                }
                reached.contains(&next)
            };
            settled.iter().all(|a| settled.iter().all(|b| is_before(*a, *b) || is_before(*b, *a)))
        }
    })
}

fn is_of(txn: &Txn, key: Name, element: Name) -> bool {
    txn.kind != Kind::Fail && txn.mops.contains(&Mop::Write(key, element))
}

/// Returns the versions that a transaction certainly left behind: the transaction was ok, or one of its writes was
/// read.
fn settled(world: &World, key: Name) -> Vec<Name> {
    let is_read = |(key, value): (Name, Name)| {
        let mut reads = world.txns.iter().filter(|txn| txn.is_ok()).flat_map(Txn::reads);
        reads.any(|(k, seen)| k == key && seen.contains(&value))
    };
    let written = world.txns.iter().filter_map(|txn| Some((txn, txn.external_write(key)?)));
    written.filter(|(txn, _)| txn.is_ok() || txn.writes().any(is_read)).map(|(_, version)| version).collect()
}

/// Returns true if a transaction read a register again and saw a value that was neither its first read nor its own
/// write. Edges are derived from first reads only, so such a read may hide a cycle.
fn hides_reads(world: &World) -> bool {
    world.versions.is_some()
        && world.txns.iter().filter(|txn| txn.is_ok()).any(|txn| {
            txn.mops.iter().enumerate().any(|(at, mop)| {
                let Mop::Read(key, Some(list)) = mop else { return false };
                let Some(value) = list.first() else { return false };
                let is_own = |mop: &Mop| matches!(mop, Mop::Write(k, written) if k == key && written == value);
                txn.external_read(*key) != Some(Some(*value)) && !txn.mops[..at].iter().any(is_own)
            })
        })
}
