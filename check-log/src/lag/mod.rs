//! Beside the verdict: how stale consumers were, and what they polled more than once.

pub(crate) mod over_time;

use crate::columns::{Function, KeyId, MsgId, OpId, Role};
use crate::direct::each_polled;
use crate::scene::Scene;
use history_core::OpKind;
use history_core::cast::Cast as _;
use history_core::hash::{HashMap, HashSet};

/// How far behind a log an op left its process: a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lag {
    pub(crate) op: OpId,
    pub(crate) key: KeyId,
    pub(crate) ns: i64,
}

/// Calls for each `ok` poll or transaction, and each key in which its process then stands, with the lag there.
///
/// A process stands in a key at the greatest offset that it polled, or sent in a transaction. Once some op has shown a greater offset,
/// that is no longer the end of the log: the lag is the time from then to the invocation of the op. `:assign` starts new keys before the
/// first offset, `:subscribe` forgets all. O(messages + ops log ops).
pub(crate) fn each_lag(scene: Scene<'_>, mut call: impl FnMut(Lag)) {
    let ops = &scene.seen.ops;
    // For each key the greatest offsets known, ascending, and since when.
    let mut known: Vec<Vec<(i64, i64)>> = vec![Vec::new(); scene.seen.messages.keys()];
    let mut positions: HashMap<i64, Vec<(KeyId, i64)>> = HashMap::default();
    for op in ops.ids() {
        let (kind, function) = (ops.kind(op), ops.function(op));
        let Some(process) = ops.process(op) else { continue };
        if function.is_assignment() {
            if kind == OpKind::Ok {
                assign(scene, op, positions.entry(process).or_default());
            }
            continue;
        }
        if kind == OpKind::Fail {
            continue;
        }
        let (Some(time), invoked) = (ops.time_ns(op), ops.invoked_time_ns(op)) else { continue };
        let consumes = kind == OpKind::Ok && function != Function::Send;
        let position = positions.entry(process).or_default();
        for (segment, range) in ops.segments(op) {
            let counts = match segment.role() {
                Role::Polled => true,
                Role::Sent => scene.logs.is_committed(op),
                Role::Poll | Role::Assigned => false,
            };
            if !counts {
                continue;
            }
            let high = ops.sightings(range, |msg| scene.seen.messages.offset(msg)).map(|seen| seen.offset).max();
            let known = &mut known[segment.key().at()];
            if let Some(high) = high.filter(|high| known.last().map_or(-1, |(offset, _)| *offset) < *high) {
                known.push((high, time));
            }
            if consumes {
                let high = high.unwrap_or(-1);
                match position.iter_mut().find(|(key, _)| *key == segment.key()) {
                    Some((_, offset)) => *offset = high.max(*offset),
                    None => position.push((segment.key(), high)),
                }
            }
        }
        let Some(invoked) = invoked.filter(|_| consumes) else { continue };
        for (key, offset) in position.iter() {
            let known = &known[key.at()];
            let later = known.partition_point(|(high, _)| high <= offset);
            let ns = known.get(later).map_or(0, |(_, since)| invoked.saturating_sub(*since).max(0));
            call(Lag { op, key: *key, ns });
        }
    }
}

fn assign(scene: Scene<'_>, op: OpId, position: &mut Vec<(KeyId, i64)>) {
    let ops = &scene.seen.ops;
    if ops.function(op) == Function::Subscribe {
        position.clear();
        return;
    }
    let mut keys: Vec<KeyId> = ops.segments(op).map(|(segment, _)| segment.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    let offset = |key: KeyId| position.iter().find(|(other, _)| *other == key).map_or(-1, |(_, offset)| *offset);
    *position = keys.into_iter().map(|key| (key, offset(key))).collect();
}

/// The greatest lag, the first of equal ones.
pub(crate) fn worst(scene: Scene<'_>) -> Option<Lag> {
    let mut worst: Option<Lag> = None;
    each_lag(scene, |lag| {
        if lag.ns > worst.map_or(0, |worst| worst.ns) {
            worst = Some(lag);
        }
    });
    worst
}

/// How often processes that subscribed polled messages.
#[derive(Debug, Default)]
pub(crate) struct Consumed {
    /// How many messages were polled so many times by one process, ascending.
    pub(crate) distribution: Vec<(u32, u64)>,
    /// Messages that one process polled more than once, and how often; ascending.
    pub(crate) repeated: Vec<(MsgId, u32)>,
}

/// Counts what `ok` ops of processes polled that ever subscribed.
pub(crate) fn consumed(scene: Scene<'_>) -> Consumed {
    let ops = &scene.seen.ops;
    let is_subscription = |op: &OpId| ops.function(*op) == Function::Subscribe && ops.is_ok(*op);
    let subscribed: HashSet<i64> = ops.ids().filter(is_subscription).filter_map(|op| ops.process(op)).collect();
    if subscribed.is_empty() {
        return Consumed::default();
    }
    let mut polled: Vec<(MsgId, i64)> = Vec::new();
    each_polled(scene, |op, msg| {
        if let Some(process) = ops.process(op).filter(|process| ops.is_ok(op) && subscribed.contains(process)) {
            polled.push((msg, process));
        }
    });
    polled.sort_unstable();
    let mut consumed = Consumed::default();
    let mut counts: Vec<u32> = Vec::new();
    for run in polled.chunk_by(|a, b| a == b) {
        let times = run.len().to_u32();
        counts.push(times);
        if times > 1 {
            match consumed.repeated.last_mut() {
                Some((msg, most)) if *msg == run[0].0 => *most = times.max(*most),
                _ => consumed.repeated.push((run[0].0, times)),
            }
        }
    }
    counts.sort_unstable();
    consumed.distribution = counts.chunk_by(|a, b| a == b).map(|run| (run[0], run.len().to_u64())).collect();
    consumed
}
