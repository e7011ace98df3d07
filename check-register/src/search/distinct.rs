//! Registers to which no value is written twice: decided in O(n log n), however many operations are in flight.
//!
//! Gibbons and Korach, "Testing Shared Memories" (SIAM J. Comput. 1997), section 4; in the form of Golab, Li and Shah,
//! "Analyzing consistency properties for fun and profit" (PODC 2011), section 3. The write of a value and the reads
//! that returned it form a cluster, and are adjacent in any linearization. The zone of a cluster lies between the first
//! return and the last call among its operations. If the first return comes first, the register held the value
//! throughout the zone: a *forward* zone. Otherwise all operations of the cluster were in flight throughout the zone,
//! and the cluster can be placed at any instant of it: a *backward* zone. The history is linearizable exactly if no
//! read returned before its value's write was called, no two forward zones overlap, and no backward zone lies within a
//! forward one.

use super::part::{NEVER, Part};
use crate::engine::ids;
use crate::{Access, Conflict};
use history_core::hash::HashMap;

/// The operations on one value.
struct Cluster {
    write: Option<u32>,
    /// The operation that returned first, and its return. `None` is the initial value, which was always present.
    first: Option<u32>,
    first_return: i64,
    /// The operation that was called last, and its call.
    last: u32,
    last_call: i64,
}

/// A linearization, or the first event up to which there is none and why.
type Decided = Result<Vec<u32>, (usize, Conflict<u32>)>;

/// Returns a linearization of a part, or the first event up to which there is none and the reason; `None` if the part
/// is no register of distinct writes. O(n log n); O(n log^2 n) if there is no linearization.
pub(crate) fn decide(part: &Part, access: impl Fn(usize) -> Option<Access>, initial: Option<i64>) -> Option<Decided> {
    let mut conflict = match decide_before(part, part.events.len(), &access, initial)? {
        Ok(order) => return Some(Ok(order)),
        Err(conflict) => conflict,
    };
    // There is a linearization up to `good`, and none up to `bad`.
    let (mut good, mut bad) = (0, part.events.len());
    while good + 1 < bad {
        let middle = usize::midpoint(good, bad);
        match decide_before(part, middle, &access, initial)? {
            Ok(_) => good = middle,
            Err(sooner) => (bad, conflict) = (middle, sooner),
        }
    }
    Some(Err((bad - 1, conflict)))
}

/// As `decide` for the first `end` events. Operations that return later count as not returned.
fn decide_before(
    part: &Part,
    end: usize,
    access: &impl Fn(usize) -> Option<Access>,
    initial: Option<i64>,
) -> Option<Result<Vec<u32>, Conflict<u32>>> {
    let (mut clusters, of_op) = clusters(part, end, access, initial)?;
    for (op, cluster) in of_op.iter().enumerate() {
        let Some(cluster) = clusters.get(ids::index(*cluster)) else { continue };
        let Some(Access::Read(_)) = access(op) else { continue };
        match cluster.write {
            None if cluster.first.is_some() => return Some(Err(Conflict::NeverWritten { read: ids::number(op) })),
            Some(write) if part.ops[op].ret < part.ops[ids::index(write)].call => {
                return Some(Err(Conflict::BeforeWrite { read: ids::number(op), write }));
            }
            _ => {}
        }
    }
    // A crashed write whose value no read returned is omitted.
    let order: Vec<u32> = (0..ids::number(clusters.len()))
        .filter(|at| clusters[ids::index(*at)].first_return < i64::from(NEVER))
        .collect();
    let is_forward = |cluster: &Cluster| cluster.first_return < cluster.last_call;
    let mut forward: Vec<u32> = order.iter().copied().filter(|at| is_forward(&clusters[ids::index(*at)])).collect();
    forward.sort_unstable_by_key(|at| clusters[ids::index(*at)].first_return);
    for pair in forward.windows(2) {
        let (one, other) = (&clusters[ids::index(pair[0])], &clusters[ids::index(pair[1])]);
        if other.first_return < one.last_call {
            return Some(Err(between(one, other)));
        }
    }
    for at in &order {
        let this = &clusters[ids::index(*at)];
        let begins = this.last_call;
        let before = forward.partition_point(|zone| clusters[ids::index(*zone)].first_return < begins);
        if let Some(zone) = before.checked_sub(1).map(|zone| &clusters[ids::index(forward[zone])])
            && !is_forward(this)
        {
            if this.first_return < zone.last_call {
                return Some(Err(between(zone, this)));
            }
            // The cluster is placed at the start of its zone, or after the forward zone in which its zone starts.
            clusters[ids::index(*at)].last_call = begins.max(zone.last_call);
        }
    }
    Some(Ok(linearization(&clusters, order, &of_op)))
}

fn between(zone: &Cluster, other: &Cluster) -> Conflict<u32> {
    // A cluster within another's zone, or overlapping it, has an operation of its own: the zone of the initial cluster
    // starts before all others.
    let other_first = other.first.unwrap_or(other.last);
    Conflict::Between { first: zone.first, last: zone.last, other_first, other_last: other.last }
}

/// The clusters before event `end`, first that of the initial value if it is known; and the cluster of each operation,
/// `NEVER` for reads that have not returned.
fn clusters(
    part: &Part,
    end: usize,
    access: &impl Fn(usize) -> Option<Access>,
    initial: Option<i64>,
) -> Option<(Vec<Cluster>, Vec<u32>)> {
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut of_value: HashMap<i64, u32> = HashMap::default();
    if let Some(value) = initial {
        clusters.push(Cluster { write: None, first: None, first_return: -1, last: NEVER, last_call: -1 });
        of_value.insert(value, 0);
    }
    let mut of_op = Vec::with_capacity(part.ops.len());
    for (at, op) in part.ops.iter().enumerate() {
        if ids::index(op.call) >= end {
            break;
        }
        let ret = if ids::index(op.ret) < end { op.ret } else { NEVER };
        let (value, write) = match access(at)? {
            Access::Write(value) => (value, Some(ids::number(at))),
            Access::Read(_) if ret == NEVER => {
                of_op.push(NEVER);
                continue;
            }
            Access::Read(value) => (value, None),
        };
        let (call, ret) = (i64::from(op.call), i64::from(ret));
        let new = ids::number(clusters.len());
        let found = *of_value.entry(value).or_insert(new);
        of_op.push(found);
        if found == new {
            clusters.push(Cluster {
                write,
                first: Some(ids::number(at)),
                first_return: ret,
                last: ids::number(at),
                last_call: call,
            });
            continue;
        }
        let cluster = &mut clusters[ids::index(found)];
        if write.is_some() {
            if cluster.write.is_some() || cluster.first.is_none() {
                return None;
            }
            cluster.write = write;
        }
        if ret < cluster.first_return {
            (cluster.first, cluster.first_return) = (Some(ids::number(at)), ret);
        }
        // Operations come in the order of their calls.
        (cluster.last, cluster.last_call) = (ids::number(at), call);
    }
    Some((clusters, of_op))
}

/// The operations cluster by cluster, the write of each first.
fn linearization(clusters: &[Cluster], mut order: Vec<u32>, of_op: &[u32]) -> Vec<u32> {
    let place = |at: &u32| {
        let cluster = &clusters[ids::index(*at)];
        cluster.first_return.min(cluster.last_call)
    };
    order.sort_by_key(place);
    // Sorts the operations by the rank of their cluster. An omitted cluster has no rank.
    let mut rank = vec![NEVER; clusters.len()];
    for (at, cluster) in order.iter().enumerate() {
        rank[ids::index(*cluster)] = ids::number(at);
    }
    let happened = |op: &u32| rank.get(ids::index(of_op[ids::index(*op)])).is_some_and(|rank| *rank != NEVER);
    let mut ops: Vec<u32> = (0..ids::number(of_op.len())).filter(happened).collect();
    let is_read = |op: u32| clusters[ids::index(of_op[ids::index(op)])].write != Some(op);
    ops.sort_by_key(|op| (rank[ids::index(of_op[ids::index(*op)])], is_read(*op), *op));
    ops
}
