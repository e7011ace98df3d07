//! The data for the plots of a history, counted op by op.

use super::bins::{LATENCIES, TIMES, TimeBins, latency_bin};
use crate::bands::{Annotations, Band, Bands};
use crate::text;
use history_core::cast::Cast as _;
use history_core::{Op, OpKind, Pair, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The number of functions with separate plots; all others share one.
const FUNCTIONS_MAX: usize = 7;
/// The maximum number of operations drawn as points.
const POINTS_MAX: usize = 3000;
/// The maximum number of nodes whose clocks are drawn, and of points for each.
const NODES_MAX: usize = 12;
const OFFSETS_MAX: usize = 2000;
/// The maximum number of characters of a name.
const NAME_CHARS_MAX: usize = 60;
/// The number of outcomes: ok, fail, info.
pub(super) const OUTCOMES: usize = 3;

/// The operations of a history by time, latency, outcome and function. Its memory, a few megabytes, does not grow with
/// the history, but with the number of operations that are in flight at one time.
///
/// Pass every op to [`observe`](Performance::observe), then draw the result with [`plots`](super::plots).
#[derive(Clone, Debug, Default)]
pub struct Performance {
    pub(super) bins: TimeBins,
    pub(super) functions: Vec<Function>,
    /// All operations, as long as there are at most [`POINTS_MAX`].
    pub(super) points: Vec<Point>,
    pub(super) operations: u64,
    /// The operation in flight in each slot: its function, and the time of its invocation.
    in_flight: Vec<Option<(usize, i64)>>,
    bands: Bands,
    /// The offset of each node's clock, in nanoseconds.
    pub(super) clocks: BTreeMap<String, Vec<(i64, i64)>>,
}

/// The operations of a function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// Counts by bin of the invocation time, bin of latency, and outcome.
    pub(super) latencies: Vec<u32>,
    /// Counts by bin of the completion time, and outcome.
    pub(super) completions: Vec<u32>,
    pub(super) operations: u64,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) function: usize,
    pub(super) invoked_ns: i64,
    pub(super) latency_ns: u64,
    pub(super) outcome: usize,
}

/// The number of counts for each bin of time in [`Function::latencies`].
pub(super) const PER_TIME: usize = LATENCIES * OUTCOMES;

impl Performance {
    /// Processes an op that was paired, as returned by all readers.
    pub fn observe(&mut self, op: &Op<'_>) {
        self.bands.observe(op);
        let Some(time) = op.time else { return };
        if !op.process.is_client() {
            self.extend(time);
            self.offsets(op, time);
            return;
        }
        self.extend(time);
        let function = self.function(op.f.unwrap_or_default());
        let outcome = match op.kind {
            OpKind::Invoke => return self.invoked(op, function, time),
            OpKind::Ok => 0,
            OpKind::Fail => 1,
            OpKind::Info => 2,
        };
        self.operations += 1;
        self.functions[function].operations += 1;
        self.functions[function].completions[self.bins.bin(time) * OUTCOMES + outcome] += 1;
        let Pair::Completes { slot, invoked_time_ns, .. } = op.pair else { return };
        if let Some(place) = self.in_flight.get_mut(slot.to_usize()) {
            *place = None;
        }
        let Some(invoked_ns) = invoked_time_ns else { return };
        self.extend(invoked_ns);
        // If the clock was set back, the latency is zero.
        let latency_ns = u64::try_from(time.saturating_sub(invoked_ns)).unwrap_or(0);
        let at = self.bins.bin(invoked_ns) * PER_TIME + latency_bin(latency_ns) * OUTCOMES + outcome;
        self.functions[function].latencies[at] += 1;
        if self.operations <= POINTS_MAX.to_u64() {
            self.points.push(Point { function, invoked_ns, latency_ns, outcome });
        } else if !self.points.is_empty() {
            self.points = Vec::new();
        }
    }

    fn invoked(&mut self, op: &Op<'_>, function: usize, time: i64) {
        let Pair::Invokes { slot } = op.pair else { return };
        let slot = slot.to_usize();
        if slot >= self.in_flight.len() {
            self.in_flight.resize(slot + 1, None);
        }
        self.in_flight[slot] = Some((function, time));
    }

    /// The invocation times of a function's operations that have not completed, up to the number that is drawn.
    pub(super) fn open(&self, function: usize) -> impl Iterator<Item = i64> {
        let open = self.in_flight.iter().flatten().filter(move |(of, _)| *of == function);
        open.map(|(_, invoked_ns)| *invoked_ns).take(POINTS_MAX)
    }

    /// Creates an empty object with annotations.
    pub fn new(annotations: Annotations) -> Performance {
        Performance { bands: Bands::new(annotations), ..Performance::default() }
    }

    /// The faults so far, then the annotations.
    pub fn bands(&self) -> Vec<Band> {
        self.bands.all()
    }

    /// Sentences about faults and annotations that plots omit, and about the assumptions of plots.
    pub fn notes(&self) -> Vec<String> {
        self.bins.range().map(|range| self.bands.notes(range)).unwrap_or_default()
    }

    /// A note that annotations outside of the run's times are not drawn.
    pub fn annotations_note(&self) -> Option<String> {
        self.bands.annotations_note(self.bins.range()?)
    }

    /// Returns true if all operations are drawn as points.
    pub(super) fn has_points(&self) -> bool {
        self.operations <= POINTS_MAX.to_u64()
    }

    fn extend(&mut self, time: i64) {
        if let Some(moved) = self.bins.extend(time) {
            for function in &mut self.functions {
                moved.apply(&mut function.latencies, PER_TIME);
                moved.apply(&mut function.completions, OUTCOMES);
            }
        }
    }

    fn function(&mut self, f: &str) -> usize {
        // There are only a few functions, usually with the most frequent first.
        if let Some(at) = self.functions.iter().position(|function| function.name == f) {
            return at;
        }
        if self.functions.len() <= FUNCTIONS_MAX {
            let is_own = self.functions.len() < FUNCTIONS_MAX;
            self.functions.push(Function {
                name: if is_own { f } else { "other functions" }.to_owned(),
                latencies: vec![0; TIMES * PER_TIME],
                completions: vec![0; TIMES * OUTCOMES],
                operations: 0,
            });
        }
        self.functions.len() - 1
    }

    /// Adds clock offsets: Jepsen's clock nemesis writes `:clock-offsets {node seconds}` into its ops.
    fn offsets(&mut self, op: &Op<'_>, time: i64) {
        let Some(Value::Map(offsets)) = op.extra.get("clock-offsets") else { return };
        for (node, offset) in offsets {
            let (Some(node), Some(seconds)) = (node.as_name(), seconds(offset)) else { continue };
            let node = text::clipped(node, NAME_CHARS_MAX);
            if self.clocks.len() == NODES_MAX && !self.clocks.contains_key(&node) {
                continue;
            }
            let points = self.clocks.entry(node).or_default();
            if points.len() < OFFSETS_MAX {
                points.push((time, seconds));
            }
        }
    }
}

/// Converts a number of seconds to nanoseconds.
fn seconds(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(seconds) => seconds.checked_mul(1_000_000_000),
        Value::Float(seconds) => {
            let size = Duration::try_from_secs_f64(seconds.abs()).ok()?;
            let ns = i64::try_from(size.as_nanos()).ok()?;
            Some(if seconds < 0.0 { -ns } else { ns })
        }
        _ => None,
    }
}
