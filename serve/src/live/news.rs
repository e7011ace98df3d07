//! The input from a run in progress.

use super::latencies::Latencies;
use crate::runs::watcher::locked;
use history_core::{Report, Verdict};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The maximum number of violations that are kept; further ones are counted.
const VIOLATIONS_MAX: usize = 20;
/// The maximum number of characters of an explanation.
const CHARS_MAX: usize = 12_000;

/// The description of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LiveAbout {
    /// The name of the run: a store, a file, an address.
    pub name: String,
    /// The checkers of the run.
    pub checkers: Vec<String>,
    /// Further facts, such as its workload and its seed.
    pub details: String,
    /// Whether its history is `history.jsonl` in the served directory, so that its rows can be shown.
    pub has_rows: bool,
}

impl LiveAbout {
    /// Creates the description of a run with this name and these checkers.
    pub fn new(name: impl Into<String>, checkers: Vec<String>) -> LiveAbout {
        LiveAbout { name: name.into(), checkers, ..LiveAbout::default() }
    }
}

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LiveTick {
    /// The number of ops so far.
    pub ops: u64,
    /// The number of ops checked so far.
    pub checked: u64,
    /// The number of operations in flight.
    pub open: u64,
    /// The number of completions so far: ok, fail, info.
    pub completed: [u64; 3],
    /// The number of configurations that the checker keeps, if it counts them.
    pub configurations: Option<u64>,
    /// The durations of the operations that have completed since the previous tick.
    pub latencies: Latencies,
    /// Faults that began or ended since the previous tick.
    pub faults: Vec<LiveFault>,
}

/// An action of the nemesis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LiveFault {
    /// A fault of this name began.
    Begin(String),
    /// The oldest active fault with this name ended.
    End(String),
    /// All active faults ended.
    EndAll,
}

/// A violation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LiveViolation {
    /// The index of the op that proves it, if that is known.
    pub index: Option<u64>,
    /// The types of its anomalies.
    pub anomaly_types: Vec<String>,
    /// The explanation of the violation.
    pub explanation: String,
}

impl LiveViolation {
    /// Creates a violation with its report, and the index of the op that proved it.
    pub fn new(index: Option<u64>, report: Option<&Report>) -> LiveViolation {
        let mut violation = LiveViolation { index, ..LiveViolation::default() };
        if let Some(report) = report {
            violation.take(report);
        }
        violation
    }

    fn take(&mut self, report: &Report) {
        for anomaly in &report.anomalies {
            self.anomaly_types.push(anomaly.name.clone().into_owned());
            if let Some(witness) = anomaly.witnesses.first().filter(|_| self.explanation.is_empty()) {
                self.explanation = witness.explanation.chars().take(CHARS_MAX).collect();
            }
        }
        report.checkers.iter().for_each(|report| self.take(report));
    }
}

/// The end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LiveEnd {
    /// `true`, `false` or `unknown`; `None` if there is no verdict.
    pub verdict: Option<String>,
    /// Notes, or the reason why there is no verdict.
    pub notes: Vec<String>,
}

impl LiveEnd {
    /// Creates an end with a verdict.
    pub fn new(verdict: Option<Verdict>, notes: Vec<String>) -> LiveEnd {
        LiveEnd { verdict: verdict.map(|verdict| verdict.name().to_owned()), notes }
    }
}

/// A run in progress, shared by the code that reports its news and the server that shows it.
#[derive(Clone, Debug)]
pub struct Live {
    pub(super) about: Arc<LiveAbout>,
    place: Arc<Place>,
}

#[derive(Debug, Default)]
struct Place {
    news: Mutex<News>,
    /// Notified when something must not wait for the next update.
    urgent: Notify,
    /// The number of pages that receive updates.
    followers: AtomicUsize,
    has_ended: AtomicBool,
}

/// A page that receives updates; counted until this is dropped.
pub(crate) struct Follower(Arc<Place>);

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.followers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The news since the server's last update.
#[derive(Debug, Default)]
pub(super) struct News {
    pub(super) tick: Option<LiveTick>,
    pub(super) violations: Vec<LiveViolation>,
    /// The number of violations, including those that are not kept.
    pub(super) violations_count: u64,
    pub(super) end: Option<LiveEnd>,
}

impl Live {
    /// Creates a run that begins.
    pub fn new(about: LiveAbout) -> Live {
        Live { about: Arc::new(about), place: Arc::default() }
    }

    /// Reports the progress of the run, and takes the latencies and faults of the tick. The server holds the lock only
    /// while it exchanges a few words, never while it serves a page.
    pub fn tick(&self, tick: &mut LiveTick) {
        let mut news = locked(&self.place.news);
        let last = news.tick.get_or_insert_default();
        last.latencies.take_all(&mut tick.latencies);
        last.faults.append(&mut tick.faults);
        (last.ops, last.checked, last.open) = (tick.ops, tick.checked, tick.open);
        (last.completed, last.configurations) = (tick.completed, tick.configurations);
    }

    /// Reports a violation.
    pub fn violation(&self, violation: LiveViolation) {
        let mut news = locked(&self.place.news);
        news.violations_count += 1;
        if news.violations_count <= u64::try_from(VIOLATIONS_MAX).unwrap_or(u64::MAX) {
            news.violations.push(violation);
        }
        drop(news);
        self.place.urgent.notify_one();
    }

    /// Records that the run has ended.
    pub fn end(&self, end: LiveEnd) {
        locked(&self.place.news).end = Some(end);
        self.place.has_ended.store(true, Ordering::SeqCst);
        self.place.urgent.notify_one();
    }

    /// Returns true if the end of the run was recorded.
    pub fn has_ended(&self) -> bool {
        self.place.has_ended.load(Ordering::SeqCst)
    }

    /// The number of pages that receive updates and have not received the end yet.
    pub fn followers(&self) -> usize {
        self.place.followers.load(Ordering::SeqCst)
    }

    /// Counts a page until the result is dropped.
    pub(crate) fn follower(&self) -> Follower {
        self.place.followers.fetch_add(1, Ordering::SeqCst);
        Follower(Arc::clone(&self.place))
    }

    /// Takes the news.
    pub(super) fn take(&self) -> News {
        let mut news = locked(&self.place.news);
        let violations_count = news.violations_count;
        std::mem::replace(&mut *news, News { violations_count, ..News::default() })
    }

    /// Returns true if there is news that must not wait.
    pub(super) fn has_urgent(&self) -> bool {
        let news = locked(&self.place.news);
        news.end.is_some() || !news.violations.is_empty()
    }

    /// Waits for news that must not wait.
    pub(super) async fn urgent(&self) {
        self.place.urgent.notified().await;
    }
}
