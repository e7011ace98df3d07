//! Figures beside the verdict: the lag of consumers, and the messages that they polled more than once.

pub(crate) mod over_time;

use crate::columns::sightings::{Ahead, Role, Word};
use crate::columns::{Function, KeyId, MsgId, NO_OFFSET, OpId};
use crate::direct::each_of;
use crate::scene::Scene;
use history_core::hash::HashSet;
use history_core::{IntMap, OpKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// The lag of a process behind a log after an op: a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lag {
    pub(crate) op: OpId,
    pub(crate) key: KeyId,
    pub(crate) ns: i64,
}

/// An `ok` poll or transaction, which consumes messages.
#[derive(Clone, Copy, Debug)]
struct Consumption {
    op: OpId,
    time_ns: i64,
    invoked_ns: i64,
}

/// The position of a process in a key.
#[derive(Clone, Copy, Debug)]
struct Place {
    key: KeyId,
    /// The greatest offset that it polled, or sent in a transaction; -1 before the first one.
    offset: i64,
    /// The op that set the position.
    op: OpId,
}

/// A process that consumes.
#[derive(Debug, Default)]
struct Consumer {
    /// Its positions, by key.
    places: Vec<Place>,
    /// The last op that consumed, since the last assignment of keys.
    last: Option<Consumption>,
}

/// By key: the greatest offsets known, ascending, with the times since when they are known.
type Known = Vec<Vec<(i64, i64)>>;

impl Consumer {
    /// The lag at a place after the last op: how long before its invocation some op had shown a greater offset.
    fn lag(&self, known: &Known, place: Place) -> Option<Lag> {
        // An op whose invocation has no time has no lag. Places that earlier ops left have one.
        let Consumption { op, invoked_ns, .. } = self.last.filter(|last| place.op <= last.op)?;
        let known = &known[place.key.at()];
        let later = first_beyond(known, place.offset);
        let ns = known.get(later).map_or(0, |(_, since)| invoked_ns.saturating_sub(*since).max(0));
        Some(Lag { op, key: place.key, ns })
    }

    fn each_lag(&self, known: &Known, call: &mut dyn FnMut(Lag)) {
        self.places.iter().filter_map(|place| self.lag(known, *place)).for_each(call);
    }

    /// Moves the position to an offset, unless it is further already.
    fn reach(&mut self, known: &Known, to: Place, call: &mut dyn FnMut(Lag)) {
        match self.places.binary_search_by_key(&to.key, |place| place.key) {
            Ok(at) => {
                let before = self.places[at];
                if before.offset < to.offset {
                    if before.op != to.op {
                        self.lag(known, before).into_iter().for_each(call);
                    }
                    self.places[at] = to;
                }
            }
            Err(at) => self.places.insert(at, to),
        }
    }

    /// Processes an assignment: `:assign` sets new keys before their first offset, `:subscribe` clears all keys.
    fn assign(&mut self, scene: Scene<'_>, op: OpId) {
        let ops = &scene.seen.ops;
        self.last = None;
        let before = std::mem::take(&mut self.places);
        if ops.function(op) == Function::Subscribe {
            return;
        }
        let mut keys: Vec<KeyId> = ops.segments(op).map(|(segment, _)| segment.key()).collect();
        keys.sort_unstable();
        keys.dedup();
        let place = |key: KeyId| match before.binary_search_by_key(&key, |place| place.key) {
            Ok(at) => before[at],
            Err(_) => Place { key, offset: -1, op },
        };
        self.places = keys.into_iter().map(place).collect();
    }
}

/// The position of the first offset that is greater than another one. The search starts from the end, where most
/// consumers are.
fn first_beyond(known: &[(i64, i64)], offset: i64) -> usize {
    let (mut end, mut step) = (known.len(), 1);
    while end > 0 && known[end - 1].0 > offset {
        if step > end || known[end - step].0 <= offset {
            let start = end.saturating_sub(step);
            return start + known[start..end].partition_point(|(high, _)| *high <= offset);
        }
        (end, step) = (end - step, 2 * step);
    }
    end
}

/// Calls `call` with the lags of the processes after their ops that consume, in each key in which they have a position.
///
/// The position of a process in a key is the greatest offset that it polled, or sent in a transaction. Once some op has
/// shown a greater offset, the position is no longer the end of the log: the lag is the time from then to the
/// invocation of the op. While the position of a process does not change, its lag only grows. So this calls for the
/// last op at each place, and for the last one in each bin of time; there are no greater lags.
///
/// O(messages + ops log ops + bins × places).
pub(crate) fn each_lag(scene: Scene<'_>, bin: &dyn Fn(i64) -> i64, call: &mut dyn FnMut(Lag)) {
    let ops = &scene.seen.ops;
    let mut known: Known = vec![Vec::new(); scene.seen.messages.keys()];
    let mut numbers: IntMap<usize> = IntMap::default();
    let mut consumers: Vec<Consumer> = Vec::new();
    for op in ops.ids() {
        let (kind, function) = (ops.kind(op), ops.function(op));
        let Some(process) = ops.process(op).filter(|_| kind != OpKind::Fail) else { continue };
        let number = numbers.get(process).copied().unwrap_or_else(|| {
            numbers.insert(process, consumers.len());
            consumers.push(Consumer::default());
            consumers.len() - 1
        });
        let consumer = &mut consumers[number];
        if function.is_assignment() {
            if kind == OpKind::Ok {
                consumer.each_lag(&known, call);
                consumer.assign(scene, op);
            }
            continue;
        }
        let Some(time_ns) = ops.time_ns(op) else { continue };
        let consumes = kind == OpKind::Ok && function != Function::Send;
        if consumes && consumer.last.is_some_and(|last| bin(last.time_ns) != bin(time_ns)) {
            consumer.each_lag(&known, call);
        }
        for (segment, range) in ops.segments(op) {
            if !matches!(segment.role(), Role::Polled | Role::Sent) {
                continue;
            }
            let (key, high) = (segment.key(), highest(scene, range));
            if consumes {
                consumer.reach(&known, Place { key, offset: high.unwrap_or(-1), op }, call);
            }
            let known = &mut known[key.at()];
            if let Some(high) = high.filter(|high| known.last().map_or(-1, |(offset, _)| *offset) < *high) {
                known.push((high, time_ns));
            }
        }
        if consumes && let Some(invoked_ns) = ops.invoked_time_ns(op) {
            consumer.last = Some(Consumption { op, time_ns, invoked_ns });
        }
    }
    for consumer in &consumers {
        consumer.each_lag(&known, call);
    }
}

/// The greatest offset of a segment, if it has one.
fn highest(scene: Scene<'_>, range: Range<u32>) -> Option<i64> {
    let messages = &scene.seen.messages;
    let shown = &scene.seen.ops.shown;
    let of_word = |(place, word): (u32, Word)| match word {
        Word::Settled(msg) => messages.offset(msg),
        Word::Run(msg, ahead) => Ahead::of(msg, ahead, messages).last_offset(),
        Word::Other(_) => shown.offset_at(place, messages),
    };
    shown.words(range).map(of_word).max().filter(|offset| *offset != NO_OFFSET)
}

/// The greatest lag; of equal ones, the first.
pub(crate) fn worst(scene: Scene<'_>) -> Option<Lag> {
    let mut worst: Option<Lag> = None;
    each_lag(scene, &|_| 0, &mut |lag| {
        let rank = |lag: &Lag| (lag.ns, std::cmp::Reverse((lag.op, lag.key)));
        if lag.ns > 0 && worst.is_none_or(|worst| rank(&worst) < rank(&lag)) {
            worst = Some(lag);
        }
    });
    worst
}

/// The number of times that processes which subscribed polled messages.
#[derive(Debug, Default)]
pub(crate) struct Consumed {
    /// By number of polls, ascending: the number of messages that one process polled this often.
    pub(crate) distribution: Vec<(u32, u64)>,
    /// Messages that one process polled more than once, with the number of polls; ascending.
    pub(crate) repeated: Vec<(MsgId, u32)>,
}

/// Counts the polls of `ok` ops of processes that ever subscribed.
pub(crate) fn consumed(scene: Scene<'_>) -> Consumed {
    let ops = &scene.seen.ops;
    let is_subscription = |op: &OpId| ops.function(*op) == Function::Subscribe && ops.is_ok(*op);
    let subscribed: HashSet<i64> = ops.ids().filter(is_subscription).filter_map(|op| ops.process(op)).collect();
    if subscribed.is_empty() {
        return Consumed::default();
    }
    // By message: the number of polls by the current process.
    let mut times = vec![0_u32; scene.seen.messages.len()];
    let mut most = vec![0_u32; scene.seen.messages.len()];
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    let polls = |op: &OpId| ops.is_ok(*op) && !ops.function(*op).is_assignment();
    let mut by_process: Vec<(i64, OpId)> = ops
        .ids()
        .filter(polls)
        .filter_map(|op| Some((ops.process(op)?, op)))
        .filter(|(process, _)| subscribed.contains(process))
        .collect();
    by_process.sort_unstable();
    for of_process in by_process.chunk_by(|a, b| a.0 == b.0) {
        for (_, op) in of_process {
            each_of(scene, *op, Role::Polled, |msg| times[msg.at()] += 1);
        }
        for (_, op) in of_process {
            each_of(scene, *op, Role::Polled, |msg| {
                let times = std::mem::take(&mut times[msg.at()]);
                if times > 0 {
                    *counts.entry(times).or_default() += 1;
                    most[msg.at()] = most[msg.at()].max(times);
                }
            });
        }
    }
    let repeated = scene.seen.messages.ids().map(|msg| (msg, most[msg.at()])).filter(|(_, times)| *times > 1);
    Consumed { distribution: counts.into_iter().collect(), repeated: repeated.collect() }
}

#[cfg(test)]
mod tests {
    use super::first_beyond;

    #[test]
    fn the_first_greater_offset_is_found_from_the_end() {
        for len in 0..40 {
            let known: Vec<(i64, i64)> = (0..len).map(|at| (3 * at, at)).collect();
            for offset in -1..=3 * len {
                let expected = known.partition_point(|(high, _)| *high <= offset);
                assert_eq!(first_beyond(&known, offset), expected, "{offset} among {len}");
            }
        }
    }
}
