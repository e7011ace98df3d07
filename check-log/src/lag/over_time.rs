//! Figures over time: the number of acknowledged messages that were not polled yet, and the lag of consumers.
//!
//! A figure has a line for all keys together and one for each of the keys with the greatest values. Times are divided
//! into bins with one point each, so the size of a figure does not depend on the length of the history.

use super::each_lag;
use crate::columns::KeyId;
use crate::columns::sightings::Role;
use crate::scene::Scene;
use history_core::figure::{Content, Figure, Line, Series, Unit};
use std::collections::BTreeMap;

/// The number of bins.
const BINS: i64 = 200;
/// The maximum number of keys with their own lines.
const KEYS_MAX: usize = 5;

/// `unseen` and `realtime-lag`, if the ops have times.
pub(crate) fn figures(scene: Scene<'_>) -> Vec<Figure> {
    let ops = &scene.seen.ops;
    let times = || ops.ids().filter_map(|op| ops.time_ns(op));
    let Some((first, last)) = times().min().zip(times().max()) else { return Vec::new() };
    let bins = Bins { first, width: last.saturating_sub(first) / BINS + 1 };
    let figure = |(name, series): (&str, Series)| {
        let has_any = series.lines.iter().any(|line| line.points.iter().any(|(_, number)| *number > 0));
        has_any.then(|| Figure { name: name.to_owned(), content: Content::Series(Box::new(series)) })
    };
    [("unseen", unseen(scene, bins)), ("realtime-lag", lag(scene, bins))].into_iter().filter_map(figure).collect()
}

#[derive(Clone, Copy)]
struct Bins {
    first: i64,
    width: i64,
}

impl Bins {
    fn bin(self, time: i64) -> i64 {
        time.saturating_sub(self.first) / self.width
    }
}

/// The keys with the greatest values.
fn highest(most: &[i64]) -> Vec<usize> {
    let mut keys: Vec<usize> = (0..most.len()).filter(|key| most[*key] > 0).collect();
    keys.sort_by_key(|key| (std::cmp::Reverse(most[*key]), *key));
    keys.truncate(KEYS_MAX);
    keys
}

/// A line for all keys and one for each of these keys; only one line, if there is only one key.
fn lines(scene: Scene<'_>, all: &str, keys: &[usize], points: impl IntoIterator<Item = Vec<(i64, i64)>>) -> Vec<Line> {
    let named = keys.iter().map(|key| format!("key {}", scene.key(KeyId::new(*key))));
    let names = std::iter::once(all.to_owned()).chain(named);
    let mut lines: Vec<Line> = names.zip(points).map(|(name, points)| Line { name, points }).collect();
    if lines.len() == 2 {
        lines.remove(0);
    }
    lines
}

/// The number of acknowledged messages that were not polled yet: at the end of each bin, for all keys and for those
/// with the most.
fn unseen(scene: Scene<'_>, bins: Bins) -> Series {
    let mut most: Vec<i64> = vec![0; scene.seen.messages.keys()];
    each_unseen(scene, &mut |_, key, number| most[key.at()] = most[key.at()].max(number));
    let keys = highest(&most);
    let mut points: Vec<Vec<(i64, i64)>> = vec![Vec::new(); keys.len() + 1];
    let mut now: Vec<i64> = vec![0; most.len()];
    let mut total = 0;
    each_unseen(scene, &mut |time, key, number| {
        total += number - now[key.at()];
        now[key.at()] = number;
        let own = keys.iter().position(|own| *own == key.at());
        for (line, number) in [(Some(0), total), (own.map(|own| own + 1), number)] {
            let Some(points) = line.map(|line| &mut points[line]) else { continue };
            match points.last_mut() {
                Some(point) if bins.bin(point.0) >= bins.bin(time) => *point = (time, number),
                _ => points.push((time, number)),
            }
        }
    });
    let title = "Acknowledged messages that were not polled yet".to_owned();
    Series { title, unit: Unit::Count, lines: lines(scene, "all keys", &keys, points) }
}

/// The greatest lag in each bin: in any key, and in the keys with the greatest lag.
fn lag(scene: Scene<'_>, bins: Bins) -> Series {
    let bin = |time| bins.bin(time);
    let mut most: Vec<i64> = vec![0; scene.seen.messages.keys()];
    each_lag(scene, &|_| 0, &mut |lag| most[lag.key.at()] = most[lag.key.at()].max(lag.ns));
    let keys = highest(&most);
    // By bin: its earliest time, and its greatest lag.
    let mut binned: Vec<BTreeMap<i64, (i64, i64)>> = vec![BTreeMap::new(); keys.len() + 1];
    each_lag(scene, &bin, &mut |lag| {
        let Some(time) = scene.seen.ops.time_ns(lag.op) else { return };
        let own = keys.iter().position(|own| *own == lag.key.at());
        for line in [Some(0), own.map(|own| own + 1)].into_iter().flatten() {
            let (first, most) = binned[line].entry(bin(time)).or_insert((time, lag.ns));
            (*first, *most) = (time.min(*first), lag.ns.max(*most));
        }
    });
    let points = binned.into_iter().map(|bins| bins.into_values().collect());
    let title = "Realtime lag: how far consumers were behind".to_owned();
    Series { title, unit: Unit::Nanoseconds, lines: lines(scene, "any key", &keys, points) }
}

/// Calls `call` with the number of unseen messages of a key whenever an `ok` op changed it.
fn each_unseen(scene: Scene<'_>, call: &mut dyn FnMut(i64, KeyId, i64)) {
    const SENT: u8 = 1;
    const POLLED: u8 = 2;
    let (ops, messages) = (&scene.seen.ops, &scene.seen.messages);
    let mut done: Vec<u8> = vec![0; messages.len()];
    let mut unseen: Vec<i64> = vec![0; messages.keys()];
    for op in ops.ids().filter(|op| ops.is_ok(*op)) {
        let Some(time) = ops.time_ns(op) else { continue };
        for (segment, range) in ops.segments(op) {
            let flag = match segment.role() {
                Role::Sent => SENT,
                Role::Polled => POLLED,
                Role::Poll | Role::Assigned => continue,
            };
            let key = segment.key();
            let before = unseen[key.at()];
            for msg in scene.sightings(range).map(|seen| seen.msg) {
                let was_unseen = done[msg.at()] == SENT;
                done[msg.at()] |= flag;
                unseen[key.at()] += i64::from(done[msg.at()] == SENT) - i64::from(was_unseen);
            }
            if unseen[key.at()] != before {
                call(time, key, unseen[key.at()]);
            }
        }
    }
}
