//! A run: clients, faults, recorder and judge, from the first request to the verdict.

pub(crate) mod counts;
pub(crate) mod inbox;
pub(crate) mod judge;
pub(crate) mod line;
pub(crate) mod log;
pub(crate) mod nemesis;
pub(crate) mod patience;
pub(crate) mod recorder;
pub(crate) mod schedule;
mod seats;
pub(crate) mod stop;

use self::judge::{Check, Violated};
use self::nemesis::{Faults, Nemesis, Player};
use self::schedule::Schedule;
use crate::client::{Stands, Store};
use crate::error::LiveError;
use crate::run::inbox::inbox;
use crate::run::recorder::{FaultEvent, Recorder};
use crate::run::seats::Sitting;
use crate::run::stop::Stop;
use crate::workload::Workload;
use history_core::{HistoryError, Report, Verdict};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// What to run.
pub struct Live<'l> {
    /// The store under test, which must be running.
    pub store: &'l dyn Store,
    /// The requests of its clients.
    pub workload: &'l Workload,
    /// How the history is checked.
    pub check: Check<'l>,
    /// The directory for `history.jsonl` and `schedule.jsonl`; it exists.
    pub directory: PathBuf,
    /// How many clients work at the same time; client `n` talks to node `n` modulo the number of nodes.
    pub clients: u32,
    /// The place of the clients.
    pub stands: Stands,
    /// After how long the run ends.
    pub time_limit: Duration,
    /// After how many operations it ends.
    pub ops_max: Option<u64>,
    /// The mean pause of a client between two operations.
    pub pause: Duration,
    /// The time-out of a request.
    pub timeout: Duration,
    /// The seed of requests, pauses and faults. The responses of a real store nevertheless differ from run to run.
    pub seed: u64,
    /// The faults.
    pub nemesis: Nemesis,
    /// Ends the run early.
    pub stop: Stop,
}

impl fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Live { store, workload, check, directory, clients, stands, time_limit, ops_max, pause, timeout, .. } = self;
        f.debug_struct("Live")
            .field("store", &store.name())
            .field("workload", workload)
            .field("check", check)
            .field("directory", directory)
            .field("clients", clients)
            .field("stands", stands)
            .field("time_limit", time_limit)
            .field("ops_max", ops_max)
            .field("pause", pause)
            .field("timeout", timeout)
            .field("seed", &self.seed)
            .field("nemesis", &self.nemesis)
            .field("stop", &self.stop)
            .finish()
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The verdict.
    pub report: Report,
    /// The history.
    pub history: PathBuf,
    /// Whether the last requests of the workload succeeded, if it has any. If not, values that had not been read by
    /// then were not checked.
    pub is_whole: bool,
    /// Why clients had no connection when the run ended, one reason per client.
    pub kept_out: Vec<String>,
    /// Ops in it.
    pub ops: u64,
    /// Operations that succeeded.
    pub ok: u64,
    /// The number of faults that took effect.
    pub faults: u64,
    /// Where a violation was found, if it ended the run.
    pub violated: Option<Violated>,
    /// From the first request until the last.
    pub time: Duration,
    /// Why the run ended, if something did not work. The report is then that of the history up to there.
    pub failure: Option<LiveError>,
}

/// The progress of a run.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Ops recorded.
    pub ops: u64,
    /// Operations in flight.
    pub open: u64,
    /// The fault that is on.
    pub fault: Option<String>,
    /// Ops that were checked, without a violation.
    pub checked: u64,
    /// Operations that completed: ok, fail, info.
    pub completed: [u64; 3],
    /// How long the operations took that have completed since the last time, in nanoseconds.
    pub took_ns: Vec<u64>,
    /// The events of the nemesis since the last time.
    pub news: Vec<FaultEvent>,
}

/// The time between two progress reports.
const PROGRESS: Duration = Duration::from_millis(200);

impl Live<'_> {
    /// Runs until the time limit or the number of operations is reached, a violation is found, or the run is stopped.
    /// If a limit is reached, the last requests of the workload follow, after all faults.
    ///
    /// # Errors
    ///
    /// If the recorder does not work, the checker cannot check the history, or nothing was tested: no operation
    /// succeeded, or no fault took effect although faults were requested. The history so far is in the file.
    pub fn run(&self, progress: &mut dyn FnMut(&Progress)) -> Result<Ended, LiveError> {
        let path = self.directory.join("history.jsonl");
        let (sender, inbox) = inbox();
        let recorder = Recorder::create(&path, self.check.is_fed().then_some(sender))?;
        let state = State::new(self, &recorder);
        let began = Instant::now();
        let (time, judged) = thread::scope(|scope| {
            let state = &state;
            let _ended = state.end_if_unwinding();
            let judge = scope.spawn(|| state.judge(inbox));
            let seats: Vec<_> = (0..self.clients).map(|number| scope.spawn(move || state.work(number))).collect();
            let nemesis = scope.spawn(|| state.nemesis());
            let mut is_used_up = false;
            while seats.iter().any(|seat| !seat.is_finished()) {
                progress(&state.progress());
                recorder.try_flush();
                if self.stop.is_set() || recorder.has_failed() {
                    state.over.set();
                } else if !state.over.is_set() && began.elapsed() >= self.time_limit {
                    is_used_up = true;
                    state.over.set();
                }
                if state.over.wait(PROGRESS.min(self.time_limit.saturating_sub(began.elapsed()))) {
                    // No thread waits for the flag any more.
                    thread::sleep(Duration::from_millis(1));
                }
            }
            // Clients whose run was not ended have performed all operations.
            is_used_up |= !state.over.is_set();
            state.over.set();
            let sittings: Vec<Sitting> = seats.into_iter().map(joined).collect();
            joined(nemesis);
            state.is_whole.store(state.end(sittings, is_used_up), Ordering::Release);
            let time = began.elapsed();
            if let Err(error) = recorder.end() {
                // The content of the file is still checked.
                state.fail(error);
            }
            (time, joined(judge).map_err(LiveError::from))
        });
        progress(&state.progress());
        let counts = recorder.counts();
        let failure = state.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(surplus @ LiveError::Surplus { .. }) = failure {
            return Err(surplus);
        }
        let is_whole = state.is_whole.into_inner();
        let judged = judged.and_then(|(report, violated)| {
            let judge = || judge::check_file(&self.check, &path, counts.bytes.load(Ordering::Relaxed), is_whole);
            Ok((report.map_or_else(judge, Ok)?, violated))
        });
        let (report, violated, failure) = match (judged, failure) {
            (Ok((report, violated)), failure) => (report, violated, failure),
            // The failure explains why there is nothing to check.
            (Err(_), Some(failure)) => return Err(failure),
            (Err(error), None) => return Err(error),
        };
        let is_settled = report.verdict == Verdict::Invalid || failure.is_some();
        let (ok, faults) = (counts.ok.load(Ordering::Relaxed), state.faults.begun());
        if !is_settled {
            self.require_a_test(ok, faults)?;
        }
        let ops = counts.ops.load(Ordering::Relaxed);
        let kept_out = state.kept_out.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Ended { report, history: path, is_whole, kept_out, ops, ok, faults, violated, time, failure })
    }

    /// Fails if nothing was tested, given the numbers of operations that succeeded and of faults that began.
    fn require_a_test(&self, ok: u64, faults: u64) -> Result<(), LiveError> {
        if ok == 0 {
            return Err(LiveError::Store { what: "no operation succeeded".to_owned(), log: self.store.log() });
        }
        if faults == 0 && self.nemesis.has_faults() && self.stop.is_set() {
            return Err(LiveError::Nothing("the run was interrupted before a fault took effect".to_owned()));
        }
        if faults == 0 && self.nemesis.has_faults() {
            return Err(LiveError::Nothing("the run ended before a fault took effect: make it longer".to_owned()));
        }
        Ok(())
    }
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The state shared by the threads of a run.
struct State<'s, 'l> {
    live: &'s Live<'l>,
    recorder: &'s Recorder,
    /// Ends the clients and the nemesis.
    over: Stop,
    faults: Faults,
    /// The number of operations begun.
    invoked: AtomicU64,
    /// The number of clients that ended without having answered a request.
    failed_starts: AtomicU64,
    /// Whether the final requests of the workload succeeded, if it has any. Without them, it is unknown whether values
    /// that were not read were lost.
    is_whole: AtomicBool,
    /// For each client without a connection at the end of the run, the reason.
    kept_out: Mutex<Vec<String>>,
    /// The first error.
    failure: Mutex<Option<LiveError>>,
}

/// Ends a run whose thread panics.
struct EndIfUnwinding<'e> {
    over: &'e Stop,
    recorder: &'e Recorder,
}

impl Drop for EndIfUnwinding<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.over.set();
            // The judge waits for lines until then.
            _ = self.recorder.end();
        }
    }
}

/// The report of a checker that received ops during the run, and the op at which the violation was certain.
type Judged = (Option<Report>, Option<Violated>);

impl<'s, 'l> State<'s, 'l> {
    fn new(live: &'s Live<'l>, recorder: &'s Recorder) -> State<'s, 'l> {
        State {
            live,
            recorder,
            over: Stop::new(),
            faults: Faults::default(),
            invoked: AtomicU64::new(0),
            failed_starts: AtomicU64::new(0),
            is_whole: AtomicBool::new(true),
            kept_out: Mutex::default(),
            failure: Mutex::default(),
        }
    }
}

impl State<'_, '_> {
    fn judge(&self, inbox: crate::run::inbox::Inbox) -> Result<Judged, HistoryError> {
        let (check, counts, stop) = (&self.live.check, self.recorder.counts(), &self.over);
        if let Some(start) = check.start_online {
            let judged = judge::follow(check, start, inbox, counts, stop, &self.is_whole);
            return judged.map(|(_, violated)| (None, violated));
        }
        if check.watches {
            let judged = judge::follow(check, check.start, inbox, counts, stop, &self.is_whole);
            return judged.map(|(report, violated)| (Some(report), violated));
        }
        judge::check_prefixes(check, self.recorder.path(), counts, stop).map(|violated| (None, violated))
    }

    fn nemesis(&self) {
        let _ended = self.end_if_unwinding();
        let live = self.live;
        patience::is_of(&self.over);
        let played = Schedule::create(live.directory.join("schedule.jsonl")).and_then(|schedule| {
            let (store, recorder, faults, stop) = (live.store, self.recorder, &self.faults, &self.over);
            Player { store, recorder, faults, schedule, stop, primary: None }.run(&live.nemesis, live.seed)
        });
        if let Err(error) = played {
            self.fail(error);
        }
    }

    /// Returns a guard that ends the run if its thread panics: otherwise, the other threads would continue.
    fn end_if_unwinding(&self) -> EndIfUnwinding<'_> {
        EndIfUnwinding { over: &self.over, recorder: self.recorder }
    }

    fn fail(&self, error: LiveError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.over.set();
    }

    fn progress(&self) -> Progress {
        let counts = self.recorder.counts();
        Progress {
            ops: counts.ops.load(Ordering::Relaxed),
            open: counts.open.load(Ordering::Relaxed),
            fault: self.faults.now(),
            checked: counts.checked.load(Ordering::Relaxed),
            completed: [&counts.ok, &counts.fail, &counts.info].map(|count| count.load(Ordering::Relaxed)),
            took_ns: counts.took.take(),
            news: self.recorder.news(),
        }
    }
}
