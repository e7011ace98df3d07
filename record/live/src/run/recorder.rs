//! The recorder: one order for the ops of all clients, in a file and in the judge's inbox.
//!
//! A history is sound if no invocation is recorded later than it happened and no completion earlier. Clients therefore
//! record an invocation before they call the store and a completion after its response, and [`Recorder`] assigns each a
//! place in one order before it returns: index and time are assigned under one lock, and the time never decreases.
//! Recording a completion returns when it is in the file, with everything before it, so acknowledged operations are in
//! the file even if a process is killed; invocations are written with the next completion, or when the run updates its
//! progress ([`Log`]).

use crate::error::LiveError;
use crate::request::{Outcome, Request};
use crate::run::counts::Counts;
use crate::run::inbox::Sender;
use crate::run::line::{self, Performer};
use crate::run::log::Log;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The function of the op that ends all faults.
const HEAL: &str = "heal";

/// Something that the nemesis did.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultEvent {
    /// When, since the recorder was created.
    pub time: Duration,
    /// The fault that began; none if all faults ended.
    pub fault: Option<String>,
    /// The names of the nodes that it hit.
    pub nodes: Vec<String>,
}

/// Orders ops and records them.
pub struct Recorder {
    path: PathBuf,
    started: Instant,
    log: Log,
    /// The events of the nemesis since the last call of [`Recorder::news`].
    news: Mutex<Vec<FaultEvent>>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Creates a recorder that writes to a new file at `path`, and to a judge.
    pub(crate) fn create(path: &Path, judge: Option<Sender>) -> Result<Recorder, LiveError> {
        let file = File::create(path).map_err(|source| LiveError::Write { path: path.to_owned(), source })?;
        let started = Instant::now();
        Ok(Recorder { path: path.to_owned(), started, log: Log::new(file, judge, started), news: Mutex::default() })
    }

    /// Records that an operation begins. Call this before the request is sent.
    pub fn invoke(&self, who: Performer<'_>, request: &Request) {
        self.counts().open.fetch_add(1, Ordering::Relaxed);
        self.log.append(&line::op("invoke", who, request, None, None));
    }

    /// Records the outcome. Call this after the response has arrived.
    pub fn complete(&self, who: Performer<'_>, request: &Request, outcome: &Outcome) {
        let (kind, answer, error) = match outcome {
            Outcome::Ok(answer) => {
                self.counts().ok.fetch_add(1, Ordering::Relaxed);
                ("ok", Some(answer), None)
            }
            Outcome::Fail(why) => {
                self.counts().fail.fetch_add(1, Ordering::Relaxed);
                ("fail", None, Some(why))
            }
            Outcome::Info(why) => {
                self.counts().info.fetch_add(1, Ordering::Relaxed);
                ("info", None, Some(why))
            }
        };
        self.counts().open.fetch_sub(1, Ordering::Relaxed);
        self.log.flush(self.log.append(&line::op(kind, who, request, answer, error.map(String::as_str))));
    }

    /// Records an event of the nemesis: an `info` op of the process `nemesis`. Its field `fault` states whether a fault
    /// begins, or all of them end (the function `heal`); its value contains the names of the nodes.
    pub fn nemesis(&self, f: &str, value: &serde_json::Value) {
        let fault = if f == HEAL { "end" } else { "begin" };
        let op = "\"type\":\"info\",\"process\":\"nemesis\"";
        let body = format!("{op},\"f\":{},\"value\":{value},\"fault\":\"{fault}\"}}\n", serde_json::Value::from(f));
        let nodes =
            value.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect();
        let fault = (f != HEAL).then(|| f.to_owned());
        let event = FaultEvent { time: self.started.elapsed(), fault, nodes };
        self.log.flush(self.log.append(body.as_bytes()));
        self.news.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    /// The events of the nemesis since the last call.
    pub(crate) fn news(&self) -> Vec<FaultEvent> {
        std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The numbers of recorded operations so far.
    pub fn counts(&self) -> &Counts {
        &self.log.counts
    }

    /// The path of the history.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes recorded lines that are not in the file yet. If another thread is writing, returns immediately.
    pub(crate) fn try_flush(&self) {
        self.log.try_flush();
    }

    /// Ends the judge's stream. Returns an error if the file is incomplete.
    ///
    /// # Errors
    ///
    /// If a line could not be written. Nothing was recorded from that line on.
    pub(crate) fn end(&self) -> Result<(), LiveError> {
        self.log.end().map_err(|source| LiveError::Write { path: self.path.clone(), source })
    }

    /// Returns true if a line could not be written, so that the run should not continue.
    pub(crate) fn has_failed(&self) -> bool {
        self.log.has_failed()
    }
}
