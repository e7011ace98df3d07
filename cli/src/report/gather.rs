//! Collects the data of a page in addition to the verdict: statistics, and the operations around those of a witness.
//!
//! The checkers do not keep this data, so the history is read again: once for columns of numbers, one row per op, and
//! once more for the text of the few ops that are shown.

use crate::judge::input::Input;
use histcheck_draw::bands::Annotations;
use histcheck_draw::plot::Performance;
use histcheck_draw::text;
use history_core::cast::Cast as _;
use history_core::{HistoryError, Op, OpKind, Pair, Participants, Process, Report, Value, Witness};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

/// The maximum number of operations of a timeline.
const BARS_MAX: usize = 28;
/// The maximum number of rows of a timeline.
const ROWS_MAX: usize = 14;
/// The number of ops that are considered on each side of a witness's op.
const NEAR: usize = 60;
/// The maximum number of functions that are counted separately.
const FUNCTIONS_MAX: usize = 40;
/// The maximum number of characters of an op's label.
const LABEL_CHARS_MAX: usize = 160;
/// The maximum number of characters of an op's value.
const VALUE_CHARS_MAX: usize = 400;

/// The maximum number of characters of a process's name.
const ROW_CHARS_MAX: usize = 24;

/// The partner of an op that has none.
const NONE: u32 = u32::MAX;

/// Statistics of a history.
#[derive(Default)]
pub(super) struct Statistics {
    pub(super) ops: u64,
    /// The numbers of clients' ops: invocations, ok, fail, info.
    pub(super) by_kind: [u64; 4],
    /// The same for each function.
    pub(super) by_function: BTreeMap<String, [u64; 4]>,
    /// Whether some functions were not counted separately.
    pub(super) functions_left_out: bool,
    pub(super) others: u64,
    pub(super) processes: u64,
    /// The time between the first op and the last.
    pub(super) duration_ns: Option<i64>,
    /// The maximum number of operations in flight at once.
    pub(super) concurrency_max: u64,
    /// The sum of the number of operations in flight, over all client ops.
    pub(super) concurrency_sum: u64,
    pub(super) open: u64,
}

/// A fault or an annotation in a timeline. It begins at a column, or before all columns; and it ends at a column, or
/// after all columns.
pub(super) struct Band {
    pub(super) what: String,
    /// The row of an annotation, below those of the processes.
    pub(super) row: Option<usize>,
    pub(super) from: Option<usize>,
    pub(super) until: Option<usize>,
}

/// A history as columns, with one row per op of a client.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) statistics: Statistics,
    pub(super) performance: Performance,
    indices: Vec<u64>,
    /// The position of the other op of the operation.
    partners: Vec<u32>,
    processes: Vec<Option<i64>>,
    participants: Participants,
}

/// An operation in a timeline.
pub(super) struct Bar {
    pub(super) row: usize,
    /// Columns, from 0 on. A completion that is absent or not shown has none.
    pub(super) start: Option<usize>,
    pub(super) end: Option<usize>,
    pub(super) kind: Option<OpKind>,
    pub(super) label: String,
    /// The name in the witness.
    pub(super) name: Option<String>,
    pub(super) invoked: Option<Half>,
    pub(super) completed: Option<Half>,
}

/// An invocation or a completion.
#[derive(Clone)]
pub(super) struct Half {
    pub(super) index: u64,
    pub(super) line: Option<u64>,
    pub(super) time_ns: Option<i64>,
    pub(super) kind: OpKind,
    f: String,
    /// The key in the op's field; empty if there is none.
    key: String,
    /// The value as a short text; empty if it is nil.
    value: String,
    /// The node that processed the op.
    pub(super) host: String,
}

/// The content of a timeline.
#[derive(Default)]
pub(super) struct Around {
    pub(super) rows: Vec<String>,
    pub(super) bars: Vec<Bar>,
    /// The index at each column, and how many ops were omitted before it.
    pub(super) columns: Vec<(u64, u64)>,
    pub(super) left_out_behind: u64,
    /// Faults and annotations during the columns.
    pub(super) bands: Vec<Band>,
    /// The lanes of annotations.
    pub(super) lanes: Vec<String>,
}

impl Gathered {
    /// Creates an empty object with annotations.
    pub(super) fn new(annotations: Annotations) -> Gathered {
        Gathered { performance: Performance::new(annotations), ..Gathered::default() }
    }

    /// Reads a history for its statistics.
    ///
    /// # Errors
    ///
    /// If it cannot be read; the data read before the error is kept in `self`.
    pub(super) fn read(&mut self, input: &Input) -> Result<(), HistoryError> {
        let mut slots: Vec<u32> = Vec::new();
        let mut processes = BTreeSet::new();
        let (mut first, mut last, mut in_flight) = (None::<i64>, None::<i64>, 0_u64);
        let read = input.open()?.for_each_batch_ahead(|batch| {
            for op in batch.ops() {
                let statistics = &mut self.statistics;
                statistics.ops += 1;
                if let Some(time) = op.time {
                    first = Some(first.map_or(time, |first| first.min(time)));
                    last = Some(last.map_or(time, |last| last.max(time)));
                }
                self.performance.observe(&op);
                if !self.participants.see(&op) {
                    statistics.others += 1;
                    continue;
                }
                statistics.count(&op);
                let at = self.indices.len().to_u32();
                if at == NONE {
                    return Ok(ControlFlow::Break(()));
                }
                self.indices.push(op.index);
                self.partners.push(NONE);
                let number = if let Process::Client(number) = op.process { Some(number) } else { None };
                self.processes.push(number);
                processes.extend(number);
                match op.pair {
                    Pair::Alone => {}
                    Pair::Invokes { slot } => {
                        slots.resize(slots.len().max(slot.to_usize() + 1), NONE);
                        slots[slot.to_usize()] = at;
                        in_flight += 1;
                    }
                    Pair::Completes { slot, .. } => {
                        let invocation = slots[slot.to_usize()];
                        self.partners[at.to_usize()] = invocation;
                        self.partners[invocation.to_usize()] = at;
                        in_flight -= 1;
                    }
                }
                statistics.concurrency_max = statistics.concurrency_max.max(in_flight);
                statistics.concurrency_sum += in_flight;
            }
            Ok(ControlFlow::Continue(()))
        });
        self.statistics.open = in_flight;
        self.statistics.processes = processes.len().to_u64();
        self.statistics.duration_ns = first.zip(last).map(|(first, last)| last.saturating_sub(first));
        read
    }

    /// The position of the op with an index.
    fn position(&self, index: u64) -> Option<usize> {
        self.indices.binary_search(&index).ok()
    }

    /// The operation of an op, as the position of its first op.
    fn operation(&self, at: usize) -> usize {
        match self.partners[at] {
            NONE => at,
            partner => at.min(partner.to_usize()),
        }
    }

    /// The operations to show for a witness: its own, and those nearest to them. Without a witness, the first ones.
    pub(super) fn choose(&self, witness: Option<&Witness>) -> Vec<usize> {
        let mut centers: Vec<usize> = Vec::new();
        for op in witness.into_iter().flat_map(|witness| &witness.ops) {
            let Some(at) = self.position(op.index) else { continue };
            let at = self.operation(at);
            if !centers.contains(&at) && centers.len() < BARS_MAX / 2 {
                centers.push(at);
            }
        }
        // The distance of an operation from the nearest op of the witness.
        let mut near: BTreeMap<usize, usize> = BTreeMap::new();
        let halves = |at: usize| [Some(at), (self.partners[at] != NONE).then(|| self.partners[at].to_usize())];
        let anchors: Vec<usize> = if centers.is_empty() {
            vec![0]
        } else {
            centers.iter().flat_map(|center| halves(*center)).flatten().collect()
        };
        for anchor in anchors {
            for at in anchor.saturating_sub(NEAR)..(anchor + NEAR).min(self.indices.len()) {
                let distance = near.entry(self.operation(at)).or_insert(usize::MAX);
                *distance = (*distance).min(at.abs_diff(anchor));
            }
        }
        let mut chosen = centers.clone();
        let mut rows: BTreeSet<Option<i64>> = centers.iter().map(|at| self.processes[*at]).collect();
        let mut others: Vec<(usize, usize)> = near.into_iter().map(|(at, distance)| (distance, at)).collect();
        others.sort_unstable();
        for (_, at) in others {
            if chosen.len() >= BARS_MAX {
                break;
            }
            let row = self.processes[at];
            if !chosen.contains(&at) && (rows.len() < ROWS_MAX || rows.contains(&row)) {
                rows.insert(row);
                chosen.push(at);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    /// The content of a timeline: the chosen operations, with their ops in `halves`.
    pub(super) fn around(&self, chosen: &[usize], witness: Option<&Witness>, halves: &HashMap<u64, Half>) -> Around {
        let mut processes: Vec<Option<i64>> = chosen.iter().map(|at| self.processes[*at]).collect();
        processes.sort_unstable();
        processes.dedup();
        let second = |at: usize| (self.partners[at] != NONE).then(|| self.partners[at].to_usize());
        // A completion long after everything else gets no column.
        let last_invoked = chosen.last().copied().unwrap_or_default();
        let last_named = witness.into_iter().flat_map(|witness| &witness.ops).filter_map(|op| self.position(op.index));
        let until = last_named.max().unwrap_or_default().max(last_invoked) + NEAR;
        let mut events: Vec<usize> = chosen.to_vec();
        events.extend(chosen.iter().filter_map(|at| second(*at)).filter(|at| *at <= until));
        events.sort_unstable();
        let mut expected = 0;
        let columns = events.iter().map(|at| {
            let left_out = at - expected;
            expected = at + 1;
            (self.indices[*at], left_out.to_u64())
        });
        let columns: Vec<(u64, u64)> = columns.collect();
        let column = |at: usize| events.binary_search(&at).ok();
        let half = |at: usize| halves.get(&self.indices[at]).cloned();
        let name_of = |at: usize| {
            let named = witness.into_iter().flat_map(|witness| &witness.ops);
            let is_it = |index: u64| self.position(index).is_some_and(|other| self.operation(other) == at);
            let mut names: Vec<String> =
                named.filter(|op| is_it(op.index)).map(|op| text::clipped(&op.name, 12)).collect();
            names.truncate(3);
            (!names.is_empty()).then(|| names.join(" = "))
        };
        let bar = |at: &usize| {
            let (first, second) = (half(*at), second(*at));
            let is_invocation = first.as_ref().is_some_and(|half| half.kind == OpKind::Invoke);
            let (invoked, completed) = if is_invocation { (first, second.and_then(half)) } else { (None, first) };
            let end = if is_invocation { second.and_then(column) } else { column(*at) };
            Bar {
                row: processes.binary_search(&self.processes[*at]).unwrap_or_default(),
                start: is_invocation.then(|| column(*at)).flatten(),
                end,
                kind: completed.as_ref().map(|half| half.kind),
                label: label(invoked.as_ref(), completed.as_ref()),
                name: name_of(*at),
                invoked,
                completed,
            }
        };
        let (bands, lanes) = self.bands(&columns);
        Around {
            rows: processes
                .iter()
                .map(|process| process.map_or("unknown".into(), |number| self.name_of(number)))
                .collect(),
            bars: chosen.iter().map(bar).collect(),
            left_out_behind: (self.indices.len() - expected).to_u64(),
            bands,
            lanes,
            columns,
        }
    }

    /// The faults between the first column and the last, and the annotations there with their lanes.
    fn bands(&self, columns: &[(u64, u64)]) -> (Vec<Band>, Vec<String>) {
        let (mut bands, mut lanes) = (Vec::new(), Vec::new());
        let (Some((first, _)), Some((last, _))) = (columns.first(), columns.last()) else { return (bands, lanes) };
        for band in self.performance.bands() {
            // A fault without an end lasts until the end of the history.
            let end = band.last.unwrap_or(u64::MAX);
            // An annotation may be a single moment, directly before the op with its index.
            let is_shown = match band.lane {
                None => band.first < *last && end > *first,
                Some(_) => band.first <= *last && end >= *first,
            };
            if !is_shown {
                continue;
            }
            let row = band.lane.map(|lane| {
                lanes.iter().position(|known| *known == lane).unwrap_or_else(|| {
                    lanes.push(lane);
                    lanes.len() - 1
                })
            });
            bands.push(Band {
                what: band.what,
                row,
                // The first columns after its beginning, and after its end.
                from: Some(columns.partition_point(|(index, _)| *index < band.first)).filter(|at| *at > 0),
                until: Some(columns.partition_point(|(index, _)| *index < end)).filter(|at| *at < columns.len()),
            });
        }
        (bands, lanes)
    }

    /// The name of a row.
    fn name_of(&self, process: i64) -> String {
        text::clipped(&self.participants.client(process).to_string(), ROW_CHARS_MAX)
    }

    /// The indices of the ops of operations.
    pub(super) fn indices_of<'a>(&'a self, chosen: &'a [usize]) -> impl Iterator<Item = u64> + 'a {
        let halves = |at: &usize| [Some(*at), (self.partners[*at] != NONE).then(|| self.partners[*at].to_usize())];
        chosen.iter().flat_map(halves).flatten().map(|at| self.indices[at])
    }
}

impl Statistics {
    fn count(&mut self, op: &Op<'_>) {
        let kind = op.kind as usize;
        self.by_kind[kind] += 1;
        let f = op.f.unwrap_or_default();
        if let Some(counts) = self.by_function.get_mut(f) {
            counts[kind] += 1;
        } else if self.by_function.len() < FUNCTIONS_MAX {
            self.by_function.entry(f.to_owned()).or_default()[kind] += 1;
        } else {
            self.functions_left_out = true;
        }
    }
}

/// Reads a history once more, for the ops with these indices.
pub(super) fn look_up(input: &Input, wanted: &BTreeSet<u64>) -> Result<HashMap<u64, Half>, HistoryError> {
    let mut found = HashMap::new();
    let last = wanted.last().copied();
    input.open()?.for_each_batch_ahead(|batch| {
        for op in batch.ops() {
            if op.process.is_client() && wanted.contains(&op.index) {
                found.insert(op.index, Half::new(&op));
            }
            if Some(op.index) >= last {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

impl Half {
    fn new(op: &Op<'_>) -> Half {
        let error = op.extra.get("error").map(|error| format!(" error: {error}")).unwrap_or_default();
        Half {
            index: op.index,
            line: op.position.and_then(history_core::Position::line_and_column).map(|(line, _)| line),
            time_ns: op.time,
            kind: op.kind,
            f: text::shown(op.f.unwrap_or_default(), 60),
            key: op.extra.get("key").map(|key| text::shown(&key.to_string(), 60)).unwrap_or_default(),
            value: text::shown(&format!("{}{error}", brief(op.value)), VALUE_CHARS_MAX),
            host: op.extra.get("host").and_then(Value::as_name).map(|host| text::shown(host, 60)).unwrap_or_default(),
        }
    }
}

/// A value as a short text: micro-ops are written without brackets.
fn brief(value: Value<'_>) -> String {
    let is_mop = |value: Value<'_>| {
        value.as_seq().and_then(|mop| mop.iter().next()).is_some_and(|first| first.as_name().is_some())
    };
    match value {
        Value::Nil => String::new(),
        Value::Vector(mops) | Value::List(mops) if !mops.is_empty() && mops.iter().all(is_mop) => {
            let mop = |mop: Value<'_>| {
                let parts = mop.as_seq().into_iter().flat_map(history_core::Seq::iter);
                let text = |(at, part): (usize, Value<'_>)| match part.as_name() {
                    Some(name) if at == 0 => name.to_owned(),
                    _ => part.to_string(),
                };
                parts.enumerate().map(text).collect::<Vec<_>>().join(" ")
            };
            mops.iter().map(mop).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// A short text on an operation.
fn label(invoked: Option<&Half>, completed: Option<&Half>) -> String {
    let Some(any) = invoked.or(completed) else { return String::new() };
    let value = |half: Option<&Half>| half.map(|half| half.value.clone()).filter(|value| !value.is_empty());
    let result = completed.filter(|half| half.kind == OpKind::Ok);
    let key = [invoked, completed].into_iter().flatten().map(|half| half.key.as_str()).find(|key| !key.is_empty());
    let f = key.map_or_else(|| any.f.clone(), |key| format!("{} {key}", any.f));
    let text = match (value(invoked), value(result)) {
        (None, None) => f,
        // Shows the invoked and the completed value, unless they are the same.
        (Some(asked), Some(came)) if asked != came && !asked.contains("nil") => {
            format!("{f} {asked} \u{2192} {came}")
        }
        (None, Some(came)) if invoked.is_some() => format!("{f} \u{2192} {came}"),
        // Micro-ops contain their own functions.
        (asked, came) if any.f == "txn" => came.or(asked).unwrap_or_default(),
        (asked, came) => format!("{f} {}", came.or(asked).unwrap_or_default()),
    };
    text::clipped(text.trim(), LABEL_CHARS_MAX)
}

/// The witnesses of a report that a page shows, each with the name of its anomaly; for several checkers, those of each.
pub(super) fn witnesses(report: &Report) -> Vec<&Witness> {
    let own = report.anomalies.iter().flat_map(|anomaly| anomaly.witnesses.iter().take(super::WITNESSES_MAX));
    own.chain(report.checkers.iter().flat_map(witnesses)).collect()
}
