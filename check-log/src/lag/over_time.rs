//! Figures of a run over time: how many acknowledged messages were not polled yet, and how far behind consumers were.
//!
//! A figure has a line for all keys together and one for each of the keys that reached the most. Times are cut into bins, of which each
//! has one point, so a figure takes the same room whatever the length of a history.

use crate::columns::{KeyId, OpId, Role};
use crate::scene::Scene;
use history_core::figure::{Content, Figure, Line, Series, Unit};

/// Bins of time.
const BINS: i64 = 200;
/// Keys with lines of their own.
const KEYS_MAX: usize = 5;

/// `unseen` and `realtime-lag`, if the ops have times.
pub(crate) fn figures(scene: Scene<'_>) -> Vec<Figure> {
    let ops = &scene.seen.ops;
    let times = || ops.ids().filter_map(|op| ops.time_ns(op));
    let Some((first, last)) = times().min().zip(times().max()) else { return Vec::new() };
    let bins = Bins { first, width: last.saturating_sub(first) / BINS + 1 };
    let unseen =
        series(scene, bins, "Acknowledged messages that were not polled yet", Unit::Count, Sum::Total, each_unseen);
    let lag =
        series(scene, bins, "Realtime lag: how far consumers were behind", Unit::Nanoseconds, Sum::Most, each_lag);
    let figure = |(name, series): (&str, Series)| {
        let has_any = series.lines.iter().any(|line| line.points.iter().any(|(_, number)| *number > 0));
        has_any.then(|| Figure { name: name.to_owned(), content: Content::Series(Box::new(series)) })
    };
    [("unseen", unseen), ("realtime-lag", lag)].into_iter().filter_map(figure).collect()
}

#[derive(Clone, Copy)]
struct Bins {
    first: i64,
    width: i64,
}

/// What the line of all keys shows.
#[derive(Clone, Copy)]
enum Sum {
    /// The sum over all keys, as it is at the end of a bin.
    Total,
    /// The most that any key had within a bin.
    Most,
}

/// A number of a key at a time.
struct Sample {
    time: i64,
    key: KeyId,
    number: i64,
}

type Each = fn(Scene<'_>, &mut dyn FnMut(Sample));

fn series(scene: Scene<'_>, bins: Bins, title: &str, unit: Unit, sum: Sum, each: Each) -> Series {
    let mut most: Vec<i64> = vec![0; scene.seen.messages.keys()];
    each(scene, &mut |sample| most[sample.key.at()] = most[sample.key.at()].max(sample.number));
    let mut keys: Vec<usize> = (0..most.len()).filter(|key| most[*key] > 0).collect();
    keys.sort_by_key(|key| (std::cmp::Reverse(most[*key]), *key));
    keys.truncate(KEYS_MAX);
    let all = match sum {
        Sum::Total => "all keys",
        Sum::Most => "any key",
    };
    let all = Line { name: all.into(), points: Vec::new() };
    let named =
        keys.iter().map(|key| Line { name: format!("key {}", scene.key(KeyId::new(*key))), points: Vec::new() });
    let mut lines: Vec<Line> = std::iter::once(all).chain(named).collect();
    let mut now: Vec<i64> = vec![0; most.len()];
    let mut total = 0;
    each(scene, &mut |Sample { time, key, number }| {
        total += number - now[key.at()];
        now[key.at()] = number;
        let of_all = match sum {
            Sum::Total => total,
            Sum::Most => number,
        };
        let own = keys.iter().position(|own| *own == key.at());
        for (line, number) in [(Some(0), of_all), (own.map(|own| own + 1), number)] {
            let Some(points) = line.map(|line| &mut lines[line].points) else { continue };
            match points.last_mut() {
                Some(point) if bins.bin(point.0) >= bins.bin(time) => match sum {
                    Sum::Total => *point = (time, number),
                    Sum::Most => point.1 = number.max(point.1),
                },
                _ => points.push((time, number)),
            }
        }
    });
    if lines.len() == 2 {
        lines.remove(0);
    }
    Series { title: title.to_owned(), unit, lines }
}

impl Bins {
    fn bin(self, time: i64) -> i64 {
        time.saturating_sub(self.first) / self.width
    }
}

/// Calls with the number of unseen messages of a key whenever an `ok` op changed it.
fn each_unseen(scene: Scene<'_>, call: &mut dyn FnMut(Sample)) {
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
            for msg in ops.messages(range) {
                let was_unseen = done[msg.at()] == SENT;
                done[msg.at()] |= flag;
                unseen[key.at()] += i64::from(done[msg.at()] == SENT) - i64::from(was_unseen);
            }
            if unseen[key.at()] != before {
                call(Sample { time, key, number: unseen[key.at()] });
            }
        }
    }
}

/// Calls with each lag at the time of the op that had it.
fn each_lag(scene: Scene<'_>, call: &mut dyn FnMut(Sample)) {
    let time = |op: OpId| scene.seen.ops.time_ns(op);
    super::each_lag(scene, |lag| {
        if let Some(time) = time(lag.op) {
            call(Sample { time, key: lag.key, number: lag.ns });
        }
    });
}
