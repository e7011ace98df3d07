//! Shows a schedule as an interactive page: a row for each thread, a bar for each step, and the state of all atomics
//! and locks after each step.

use super::Failure;
use super::table::Names;
use crate::ids::{small, wide};
use crate::op::{Kind, ObjectId, Step};
use histcheck_draw::timeline::{self, Bar, BarStatus, Order, PageOptions, Scale, Timeline};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum number of objects whose state is shown: those that changed last.
const OBJECTS_MAX: usize = 8;

impl Failure {
    /// The schedule as a self-contained page. The keys `[` and `]` move between steps; above the threads it shows the
    /// values of the atomics and the holders of the locks.
    ///
    /// A schedule of more than 100,000 steps is not drawn; a sentence replaces it.
    ///
    /// ```
    /// use record_parallel::scheduler::Reduced;
    /// use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// use record_parallel::{Settings, explore, thread};
    /// use std::sync::Arc;
    ///
    /// let failure = explore(&Settings::default(), Reduced::new(), || {
    ///     let count = Arc::new(AtomicU32::new(0));
    ///     let other = Arc::clone(&count);
    ///     let adder = thread::spawn(move || other.fetch_add(1, SeqCst));
    ///     assert_eq!(count.load(SeqCst), 0);
    ///     adder.join().unwrap();
    /// });
    /// let page = failure.unwrap_err().html();
    /// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("update count 0 -&gt; 1"));
    /// ```
    pub fn html(&self) -> String {
        timeline::html(&self.timeline(), &PageOptions::default())
            .unwrap_or_else(|error| format!("<!DOCTYPE html><p>The schedule cannot be drawn: {error}"))
    }

    fn timeline(&self) -> Timeline {
        let used = self.names.used(&self.steps);
        let mut held = Held::default();
        let (mut bars, mut steps) = (Vec::new(), Vec::new());
        for (at, step) in self.steps.iter().enumerate() {
            let start = 2 * i64::try_from(at).unwrap_or(i64::MAX / 2);
            let row = used.iter().position(|thread| *thread == step.thread).unwrap_or(0);
            bars.push(Bar {
                row: small(row),
                index: wide(at) + 1,
                completed: None,
                start,
                end: Some(start + 1),
                label: self.names.cell(at, step),
                detail: detail(&self.names, at, step),
                status: BarStatus::Placed,
            });
            held.take(&self.names, at, step);
            steps.push(timeline::Step { bar: small(at), state: held.to_text() });
        }
        let order = Order { before: "the start".into(), steps, ..Order::default() };
        Timeline {
            title: format!("Execution {}, {} steps", self.executions, self.steps.len()),
            summary: self.cause.to_string(),
            scale: Scale::Positions,
            rows: used.iter().map(|thread| format!("thread {}", self.names.title(*thread))).collect(),
            bars,
            orders: if self.steps.is_empty() { Vec::new() } else { vec![order] },
            ..Timeline::default()
        }
    }
}

/// The details of a step, without its operation.
fn detail(names: &Names, at: usize, step: &Step) -> String {
    let place = step.place();
    let mut text = format!("{}:{}", place.file(), place.line());
    if step.is_preemption() {
        text.push_str("; a preemption: the thread that ran before could have continued");
    }
    for (_, note) in names.notes.iter().filter(|(of, _)| *of == at) {
        _ = write!(text, "; {note}");
    }
    text
}

/// The state of atomics and locks after a step, with the step that last changed each.
#[derive(Default)]
struct Held(BTreeMap<ObjectId, (usize, String)>);

impl Held {
    fn take(&mut self, names: &Names, at: usize, step: &Step) {
        let object = step.op.object;
        let text = match step.op.kind {
            Kind::Lock | Kind::Relock => Some(format!("held by {}", step.thread)),
            Kind::Unlock => Some("free".to_owned()),
            _ => names.stored(at).map(|value| format!("= {value}")),
        };
        if let Some((text, name)) = text.zip(names.object(object)) {
            self.0.insert(object, (at, format!("{name} {text}")));
        }
    }

    fn to_text(&self) -> String {
        if self.0.is_empty() {
            return "the start".into();
        }
        let mut latest: Vec<usize> = self.0.values().map(|(at, _)| *at).collect();
        latest.sort_unstable_by(|a, b| b.cmp(a));
        let oldest = latest.get(OBJECTS_MAX - 1).copied().unwrap_or(0);
        let shown = self.0.values().filter(|(at, _)| *at >= oldest).map(|(_, text)| text.as_str());
        shown.collect::<Vec<_>>().join(", ")
    }
}
