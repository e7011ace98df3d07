//! The page of a run in progress: a server in this process, with data from the checker and the clients.

use super::command::address;
#[cfg(target_os = "linux")]
use super::relay::{self, Message};
use super::rest::Rest;
use super::shown::{Progressed, Shown};
use crate::output::diagnose;
use histcheck_serve::{Config, Live, LiveAbout, LiveEnd, LiveFault, LiveTick, LiveViolation, Meter, Server, Stop};
use history_core::{Op, Report, Verdict};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time in which pages can receive the last data.
const LAST: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);

/// The page of a run.
pub(crate) struct Page {
    sink: Sink,
    tick: LiveTick,
    /// Whether a violation is shown.
    is_violated: bool,
}

/// The destination of updates.
enum Sink {
    /// A server in this process; the checker in this process passes it each op.
    Here(Box<Serving>),
    /// Another process, which has the server.
    #[cfg(target_os = "linux")]
    Elsewhere(std::os::unix::net::UnixStream),
}

struct Serving {
    live: Live,
    meter: Meter,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    address: String,
    /// A directory without files, if the run has no directory.
    _empty: Option<EmptyDirectory>,
}

impl Page {
    /// Opens the page, and prints its address.
    ///
    /// # Errors
    ///
    /// A sentence with the reason why it cannot be shown.
    pub(crate) fn open(shown: &Shown<'_>) -> Result<Page, String> {
        let checkers = shown.checkers.split(',').map(str::to_owned).collect();
        let mut about = LiveAbout::new(shown.name.clone(), checkers);
        about.details.clone_from(&shown.details);
        about.has_rows = shown.directory.is_some();
        let live = Live::new(about);
        let empty = if shown.directory.is_some() { None } else { Some(EmptyDirectory::create()?) };
        let directory = shown.directory.or(empty.as_ref().map(|empty| &*empty.0)).unwrap_or(Path::new(""));
        let mut config = Config::new(directory.to_owned());
        config.listen = shown.listen;
        config.is_read_only = true;
        config.live = Some(live.clone());
        let server = Server::bind(config).map_err(|error| refused(shown.listen, &error))?;
        let (stop, address) = (server.stop(), address(server.address()));
        diagnose::note(&format!("live at {address}live"));
        let thread = std::thread::spawn(move || {
            if let Err(error) = server.run() {
                diagnose::warning(&format!("the page ended: {error}"));
            }
        });
        let meter = Meter::new(live.clone());
        let serving = Serving { live, meter, stop, thread: Some(thread), address, _empty: empty };
        Ok(Page { sink: Sink::Here(Box::new(serving)), tick: LiveTick::default(), is_violated: false })
    }

    /// Connects to the page of another process, which receives updates at a path.
    ///
    /// # Errors
    ///
    /// A sentence with the reason why this failed.
    #[cfg(target_os = "linux")]
    #[cfg_attr(not(feature = "live"), expect(dead_code, reason = "only `live` runs inside of another world"))]
    pub(crate) fn elsewhere(path: &Path) -> Result<Page, String> {
        let stream = relay::connect(path).map_err(|error| format!("--serve: cannot connect to the page: {error}"))?;
        Ok(Page { sink: Sink::Elsewhere(stream), tick: LiveTick::default(), is_violated: false })
    }

    /// Receives updates at a path, from a process in other namespaces.
    ///
    /// # Errors
    ///
    /// A sentence with the reason why this failed.
    #[cfg(target_os = "linux")]
    #[cfg_attr(not(feature = "live"), expect(dead_code, reason = "only `live` runs inside of another world"))]
    pub(crate) fn receive_at(&self, path: &Path) -> Result<(), String> {
        let Sink::Here(serving) = &self.sink else { return Ok(()) };
        relay::receive(path, serving.live.clone()).map_err(|error| format!("--serve: cannot wait for updates: {error}"))
    }

    /// Adds an op that was checked.
    pub(crate) fn op(&mut self, op: &Op<'_>) {
        if let Sink::Here(serving) = &mut self.sink {
            serving.meter.op(op);
        }
    }

    /// Updates the checker's progress.
    pub(crate) fn pass(&mut self, ops: u64, open: u64, configurations: Option<u64>) {
        if let Sink::Here(serving) = &mut self.sink {
            serving.meter.pass(ops, open, configurations);
        }
    }

    /// Updates the progress of a run whose ops are checked in another process.
    #[cfg_attr(not(all(unix, feature = "live")), expect(dead_code, reason = "only `live` has such runs"))]
    pub(crate) fn progress(&mut self, progress: Progressed) {
        let tick = &mut self.tick;
        (tick.ops, tick.checked, tick.open) = (progress.ops, progress.checked, progress.open);
        tick.completed = progress.completed;
        progress.took_ns.into_iter().for_each(|time_ns| tick.latencies.add(time_ns));
        let fault = |fault: Option<String>| fault.map_or(LiveFault::EndAll, LiveFault::Begin);
        tick.faults.extend(progress.faults.into_iter().map(fault));
        match &mut self.sink {
            Sink::Here(serving) => serving.live.tick(tick),
            #[cfg(target_os = "linux")]
            Sink::Elsewhere(stream) => relay::send(stream, &Message::Tick(std::mem::take(tick))),
        }
    }

    /// Shows a violation.
    pub(crate) fn violation(&mut self, index: Option<u64>, report: Option<&Report>) {
        self.is_violated = true;
        let violation = LiveViolation::new(index, report);
        match &mut self.sink {
            Sink::Here(serving) => serving.live.violation(violation),
            #[cfg(target_os = "linux")]
            Sink::Elsewhere(stream) => relay::send(stream, &Message::Violation(violation)),
        }
    }

    /// Shows the result, with the violation if only the end showed it.
    pub(crate) fn end(&mut self, report: Result<&Report, String>) {
        if let Some(report) = report.as_ref().ok().filter(|report| report.verdict == Verdict::Invalid)
            && !self.is_violated
        {
            self.violation(None, Some(report));
        }
        let end = match report {
            Ok(report) => LiveEnd::new(Some(report.verdict), report.notes.clone()),
            Err(why) => LiveEnd::new(None, vec![why]),
        };
        match &mut self.sink {
            Sink::Here(serving) => serving.live.end(end),
            #[cfg(target_os = "linux")]
            Sink::Elsewhere(stream) => relay::send(stream, &Message::End(end)),
        }
    }

    /// Closes the page once browsers have received the last data. If there is a rest, waits for its end first.
    pub(crate) fn close(self, rest: Option<&Rest>) {
        if let Sink::Here(mut serving) = self.sink {
            // Without a result, the run has failed.
            if !serving.live.has_ended() {
                serving.live.end(LiveEnd::new(None, Vec::new()));
            }
            let address = &serving.address;
            if let Some(rest) = rest {
                rest.rest(|| diagnose::note(&format!("the run has ended; press Ctrl-C to stop serving {address}live")));
            }
            let begin = Instant::now();
            while serving.live.followers() > 0 && begin.elapsed() < LAST {
                std::thread::sleep(LOOK);
            }
            serving.stop.stop();
            let _ = serving.thread.take().map(JoinHandle::join);
        }
    }
}

/// The reason why the server cannot listen on an address, and what to do.
fn refused(listen: SocketAddr, error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::AddrInUse {
        return format!("--serve: {listen} is in use; pass another address, or --serve=127.0.0.1:0 for any free port");
    }
    format!("--serve: cannot listen at {listen}: {error}")
}

/// A new directory without files, which is removed with this.
struct EmptyDirectory(PathBuf);

impl EmptyDirectory {
    fn create() -> Result<EmptyDirectory, String> {
        let failed = |path: &Path, error: std::io::Error| format!("--serve: cannot write {}: {error}", path.display());
        for attempt in 0..100 {
            let path = std::env::temp_dir().join(format!("histcheck-page-{}-{attempt}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => {
                    remove_if_killed(Some(&path));
                    return Ok(EmptyDirectory(path));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        Err("--serve: too many directories of earlier runs".to_owned())
    }
}

impl Drop for EmptyDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
        remove_if_killed(None);
    }
}

/// Removes the directory even if this process is killed. Only one directory can be removed in this way: that of a run
/// of `live`, which has no empty directory, or this one.
#[cfg(all(unix, feature = "live"))]
fn remove_if_killed(directory: Option<&Path>) {
    record_live::remove_directory_if_killed(directory);
}

/// Without `live`, the directory stays if this process is killed.
#[cfg(not(all(unix, feature = "live")))]
fn remove_if_killed(_: Option<&Path>) {}
