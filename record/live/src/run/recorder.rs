//! The recorder: one order for the ops of all clients, in a file and in the judge's inbox.
//!
//! A history is sound if no invocation is recorded later than it happened and no completion earlier. Clients therefore
//! record an
//! invocation before they call the store and a completion after its answer, and [`Recorder`] gives each a place in one order
//! before it returns: index, time and line are made under one lock. The time never decreases, and each line is written to
//! the file whole, with one call, so what was acknowledged is in the file whatever dies.
//!
//! The recorder waits for the judge while it holds this lock, so the judge never takes it: it reads
//! the inbox and three atomic counters.

use crate::error::LiveError;
use crate::request::{Fields, Outcome, Quoted, Request};
use crate::run::inbox::Sender;
use history_core::cast::Cast as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The function of the op that ends all faults.
const HEAL: &str = "heal";

/// Who performs an op, and through which node.
#[derive(Clone, Copy, Debug)]
pub struct Performer<'h> {
    /// The process, which performs one op at a time.
    pub process: u64,
    /// The node that its client talks to.
    pub host: &'h str,
}

/// Something that the nemesis did.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultEvent {
    /// When, since the recorder was created.
    pub time: Duration,
    /// The fault that began; nothing if all faults ended.
    pub fault: Option<String>,
    /// The names of the nodes that it hit.
    pub nodes: Vec<String>,
}

/// Gives ops their order and records them.
pub struct Recorder {
    path: PathBuf,
    started: Instant,
    log: Mutex<Log>,
    counts: Counts,
    /// What the nemesis did and nobody has asked for yet.
    news: Mutex<Vec<FaultEvent>>,
}

struct Log {
    file: File,
    judge: Option<Sender>,
    index: u64,
    line: Vec<u8>,
    failure: Option<io::Error>,
}

/// What was recorded so far.
#[derive(Debug, Default)]
pub struct Counts {
    /// Ops, of the nemesis too.
    pub ops: AtomicU64,
    /// Bytes of the file that end behind a whole line.
    pub bytes: AtomicU64,
    /// Operations that succeeded.
    pub ok: AtomicU64,
    /// Operations that did not happen.
    pub fail: AtomicU64,
    /// Operations of which nobody knows whether they happened.
    pub info: AtomicU64,
    /// Operations that were invoked and have not completed.
    pub open: AtomicU64,
    /// Ops that the judge has checked, without a violation.
    pub checked: AtomicU64,
    /// How long operations took.
    pub took: Took,
}

/// How long operations took that nobody has asked for yet, in nanoseconds.
#[derive(Debug, Default)]
pub struct Took(Mutex<Vec<u64>>);

impl Took {
    /// Times that wait for somebody to ask: further ones are lost.
    const TIMES_MAX: usize = 1 << 16;

    /// Adds an operation.
    pub(crate) fn add(&self, time: Duration) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if times.len() < Took::TIMES_MAX {
            times.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// Those since the last time.
    pub(crate) fn take(&self) -> Vec<u64> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Recorder {
    /// Records into a new file at `path`, and for a judge.
    pub(crate) fn create(path: &Path, judge: Option<Sender>) -> Result<Recorder, LiveError> {
        let file = File::create(path).map_err(|source| LiveError::Write { path: path.to_owned(), source })?;
        let log = Log { file, judge, index: 0, line: Vec::new(), failure: None };
        let (path, log, news) = (path.to_owned(), Mutex::new(log), Mutex::default());
        Ok(Recorder { path, started: Instant::now(), log, counts: Counts::default(), news })
    }

    /// Records that an operation begins. Call this before the request is sent.
    pub fn invoke(&self, who: Performer<'_>, request: &Request) {
        self.counts.open.fetch_add(1, Ordering::Relaxed);
        self.write("invoke", who, request, None, None);
    }

    /// Records how it ended. Call this after the answer has arrived.
    pub fn complete(&self, who: Performer<'_>, request: &Request, outcome: &Outcome) {
        let (kind, answer, error) = match outcome {
            Outcome::Ok(answer) => {
                self.counts.ok.fetch_add(1, Ordering::Relaxed);
                ("ok", Some(answer), None)
            }
            Outcome::Fail(why) => {
                self.counts.fail.fetch_add(1, Ordering::Relaxed);
                ("fail", None, Some(why))
            }
            Outcome::Info(why) => {
                self.counts.info.fetch_add(1, Ordering::Relaxed);
                ("info", None, Some(why))
            }
        };
        self.counts.open.fetch_sub(1, Ordering::Relaxed);
        self.write(kind, who, request, answer, error.map(String::as_str));
    }

    /// Records what the nemesis did: an `info` op of the process `nemesis`. Its field `fault` says whether a fault begins, or
    /// all of them end (the function `heal`); its value has the names of the nodes.
    pub fn nemesis(&self, f: &str, value: &serde_json::Value) {
        let fault = if f == HEAL { "end" } else { "begin" };
        let op = "\"type\":\"info\",\"process\":\"nemesis\"";
        let body = format!("{op},\"f\":{},\"value\":{value},\"fault\":\"{fault}\"}}\n", Quoted(f));
        let nodes =
            value.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect();
        let fault = (f != HEAL).then(|| f.to_owned());
        let event = FaultEvent { time: self.started.elapsed(), fault, nodes };
        self.append(body.as_bytes());
        self.news.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }

    /// What the nemesis did since this was last called.
    pub(crate) fn news(&self) -> Vec<FaultEvent> {
        std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was recorded so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Where the history is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends the judge's stream. Whether everything is in the file.
    ///
    /// # Errors
    ///
    /// If a line could not be written. Nothing was recorded from there on.
    pub(crate) fn end(&self) -> Result<(), LiveError> {
        let mut log = self.lock();
        log.judge = None;
        match log.failure.take() {
            Some(source) => Err(LiveError::Write { path: self.path.clone(), source }),
            None => Ok(()),
        }
    }

    /// Whether a line could not be written, so that there is no point in going on.
    pub(crate) fn has_failed(&self) -> bool {
        self.lock().failure.is_some()
    }

    /// Writes an op: the fields of the request, and in their place those of the answer.
    fn write(&self, kind: &str, who: Performer<'_>, request: &Request, answer: Option<&Fields>, error: Option<&str>) {
        use std::fmt::Write as _;
        // Everything but the place in the order is written outside of the lock.
        let mut body = String::with_capacity(128);
        _ = write!(body, "\"type\":\"{kind}\",\"process\":{},\"f\":\"{}\"", who.process, request.f());
        request.each_field(&mut |name, value| {
            if answer.is_none_or(|answer| !answer.contains_key(name)) {
                _ = write!(body, ",\"{name}\":{value}");
            }
        });
        for (name, value) in answer.into_iter().flatten() {
            _ = write!(body, ",{}:{value}", Quoted(name));
        }
        if let Some(error) = error {
            _ = write!(body, ",\"error\":{}", Quoted(error));
        }
        if !who.host.is_empty() {
            _ = write!(body, ",\"host\":{}", Quoted(who.host));
        }
        body.push_str("}\n");
        self.append(body.as_bytes());
    }

    fn append(&self, body: &[u8]) {
        let mut log = self.lock();
        let log = &mut *log;
        if log.failure.is_some() {
            return;
        }
        let time = self.started.elapsed().as_nanos();
        log.line.clear();
        // Writing to memory does not fail.
        _ = write!(log.line, "{{\"index\":{},\"time\":{time},", log.index);
        log.line.extend_from_slice(body);
        if let Err(error) = log.file.write_all(&log.line) {
            log.failure = Some(error);
            return;
        }
        log.index += 1;
        self.counts.ops.store(log.index, Ordering::Relaxed);
        self.counts.bytes.fetch_add(log.line.len().to_u64(), Ordering::Release);
        if let Some(judge) = &log.judge {
            judge.put(&log.line);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
