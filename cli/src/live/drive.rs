//! Executes a run in its own process: starts the store, drives it, checks the history, and reports the result.

use super::earlier::Earlier;
use super::status::Status;
use super::{Live, evidence, page, place, replay};
use crate::judge::input::Input;
use crate::judge::signals;
use crate::output::diagnose;
use crate::output::exit::Exit;
use crate::output::results::Results;
use crate::serve::page::Page;
use crate::serve::rest::Rest;
use history_core::{Budget, Cancel, Report, Subject, Verdict};
use record_live::world::World;
use record_live::{Check, Ended, Found, LiveError, Nemesis, Ssh, StartStore, Step, Stop, Store, Violated};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The location of the nodes of a run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Nodes<'n> {
    /// The store chooses their location.
    OfStore,
    /// Network namespaces; this process runs inside them.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "namespaces are Linux's"))]
    Namespaces,
    /// Processes on this machine, with proxies for these ports.
    Proxied(&'n [u16]),
    /// Machines reached with this command.
    Machines(&'n str),
}

/// Executes the run.
pub(super) fn run(job: &Live<'_>, nodes: Nodes<'_>) -> Exit {
    job.check().warnings.iter().for_each(|warning| diagnose::warning(warning));
    let place = match Place::create(job) {
        Ok(place) => place,
        Err(message) => return Failed(message).exit(),
    };
    let exit = driven(job, nodes, &place).unwrap_or_else(Failed::exit);
    match place.earlier.restore() {
        Ok(said) => said.iter().for_each(|said| diagnose::note(said)),
        Err(message) => diagnose::warning(&message),
    }
    exit
}

/// The reason why there is no verdict, as a sentence.
struct Failed(String);

impl Failed {
    fn exit(self) -> Exit {
        diagnose::error(&self.0);
        Exit::FAILED
    }
}

impl From<String> for Failed {
    fn from(message: String) -> Failed {
        Failed(message)
    }
}

impl From<LiveError> for Failed {
    fn from(error: LiveError) -> Failed {
        Failed(error.to_string())
    }
}

/// The directories of a run.
struct Place {
    scratch: place::Scratch,
    directory: PathBuf,
    logs: PathBuf,
    /// The earlier run in the directory.
    earlier: Earlier,
    /// Whether the user keeps the directory.
    is_kept: bool,
}

impl Place {
    fn create(job: &Live<'_>) -> Result<Place, String> {
        let scratch = place::Scratch::create()?;
        let given = job.check().pages.as_ref().map(|pages| pages.directory.as_path());
        let directory = place::evidence(given, &scratch)?;
        let earlier = Earlier::put_aside(&directory)?;
        let logs = place::logs(&directory)?;
        Ok(Place { scratch, directory, logs, earlier, is_kept: given.is_some() })
    }

    /// An operation has succeeded, or there is a verdict: this run replaces the earlier one.
    fn has_begun(&self) {
        if let Err(message) = self.earlier.remove() {
            diagnose::warning(&message);
        }
    }

    /// The name of the history in results.
    fn input(&self, job: &Live<'_>) -> Input {
        if !self.is_kept {
            return Input::new(job.kind.name.into());
        }
        let given = job.check().pages.as_ref().map_or(Path::new(""), |pages| &pages.directory);
        Input::new(given.join("history.jsonl").into())
    }
}

/// The ways to end the run: a flag for its threads, and one for the search at its end.
#[derive(Clone, Default)]
struct Ending {
    stop: Stop,
    cancel: Cancel,
    /// The number of interrupts so far.
    interrupts: Arc<AtomicU64>,
    /// The exit code, once the verdict was written.
    code: Arc<OnceLock<u8>>,
    /// The time after the run in which only the page is shown.
    rest: Rest,
}

impl Ending {
    /// The first interrupt ends the run, the second one a search that may still be in progress, the third one the
    /// process.
    fn interrupt(&self) {
        if self.rest.interrupt() {
            return;
        }
        if let Some(code) = self.code.get() {
            std::process::exit(i32::from(*code));
        }
        match self.interrupts.fetch_add(1, Ordering::SeqCst) {
            0 => self.stop.set(),
            1 => self.cancel.cancel(),
            _ => std::process::exit(130),
        }
    }

    /// Stores the exit code once the verdict was written.
    fn conclude(&self, exit: Exit) {
        let _ = self.code.set(exit.number());
    }

    fn is_interrupted(&self) -> bool {
        self.interrupts.load(Ordering::SeqCst) > 0
    }
}

fn driven(job: &Live<'_>, nodes: Nodes<'_>, place: &Place) -> Result<Exit, Failed> {
    let ending = Ending::default();
    let start = StartStore {
        options: job.options.clone(),
        command: job.command.clone(),
        nodes: job.nodes.clone(),
        faults: job.faults.clone(),
        logs: place.logs.clone(),
        data: place.scratch.below("data")?,
        seed: job.seed.unwrap_or_else(any_seed),
        timeout: job.timeout,
        ..StartStore::default()
    };
    listen(nodes, &ending)?;
    let shared = page::Shared::new(open_page(job, nodes, place)?);
    let driven = shown(job, nodes, place, start, &ending, &shared);
    let mut page = shared.page().take();
    // Reports the failure before waiting for the page.
    let exit = driven.unwrap_or_else(|failed| {
        if let Some(page) = &mut page {
            page.end(Err(failed.0.clone()));
        }
        failed.exit()
    });
    if let Some(page) = page {
        page.close(job.serve.is_some_and(|at| at.stays).then_some(&ending.rest));
    }
    Ok(exit)
}

/// The page of the run, if requested.
fn open_page(job: &Live<'_>, nodes: Nodes<'_>, place: &Place) -> Result<Option<Page>, String> {
    #[cfg(target_os = "linux")]
    if matches!(nodes, Nodes::Namespaces) {
        return page::reach(job, &place.scratch);
    }
    let _ = nodes;
    page::open(job, &place.directory)
}

/// Executes the run, and shows its progress.
fn shown(
    job: &Live<'_>,
    nodes: Nodes<'_>,
    place: &Place,
    mut start: StartStore,
    ending: &Ending,
    shared: &page::Shared,
) -> Result<Exit, Failed> {
    let seed = start.seed;
    replay::write(&place.directory, &job.words, seed)?;
    let mut status = Status::begin(format!("{} is starting", job.kind.name));
    start.world = world(job, nodes, &start)?;
    let store = job.kind.start(start)?;
    check_faults(job, &*store)?;
    let ended = play(job, &*store, place, seed, (ending, shared), &mut status)?;
    // Ends everything that was started before the verdict is printed.
    drop(store);
    drop(status);
    Ok(conclude(job, place, seed, ended, (ending, shared)))
}

/// Handles interrupts. In namespaces, the process outside passes them on.
fn listen(nodes: Nodes<'_>, ending: &Ending) -> Result<(), Failed> {
    let interrupted = ending.clone();
    #[cfg(target_os = "linux")]
    if matches!(nodes, Nodes::Namespaces) {
        record_live::world::Inside::listen(move || interrupted.interrupt())?;
        return Ok(());
    }
    let _ = nodes;
    if let Err(error) = signals::on_each(move || interrupted.interrupt()) {
        diagnose::warning(&format!("cannot catch signals, so an interrupt ends histcheck without a verdict: {error}"));
    }
    Ok(())
}

/// Creates the nodes.
fn world(job: &Live<'_>, nodes: Nodes<'_>, start: &StartStore) -> Result<Option<World>, Failed> {
    let count = if let record_live::Nodes::Count(count) = job.nodes { count } else { job.kind.nodes };
    let count = u8::try_from(count).unwrap_or(u8::MAX);
    Ok(match nodes {
        Nodes::OfStore => None,
        #[cfg(target_os = "linux")]
        Nodes::Namespaces => Some(World::new(count, &start.logs)?),
        #[cfg(not(target_os = "linux"))]
        Nodes::Namespaces => None,
        Nodes::Proxied(ports) => Some(World::with_proxies(ports, count, &start.data, &start.logs, start.seed)?),
        Nodes::Machines(command) => {
            let kind = (job.kind.name, &start.options);
            let ssh = Ssh { command, worker: WORKER, kind };
            Some(World::over_ssh(&start.names(job.kind.nodes), &ssh, &start.logs)?)
        }
    })
}

/// The command that starts this program as a worker for a whole node.
const WORKER: &str = "live worker --stdio";

/// A seed for runs without a given seed.
fn any_seed() -> u64 {
    const SEEDS: u128 = 1_000_000;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros() % SEEDS).unwrap_or_default()
}

/// Verifies that the store supports the requested faults here.
fn check_faults(job: &Live<'_>, store: &dyn Store) -> Result<(), Failed> {
    let possible = store.faults();
    let Some(fault) = job.faults.iter().find(|fault| !possible.contains(fault)) else { return Ok(()) };
    let names: Vec<String> = possible.iter().map(ToString::to_string).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(Failed(format!("--faults: {} has no fault {fault} here; expected one of {names}", job.kind.name)))
}

fn play(
    job: &Live<'_>,
    store: &dyn Store,
    place: &Place,
    seed: u64,
    (ending, shared): (&Ending, &page::Shared),
    status: &mut Status,
) -> Result<Ended, Failed> {
    let nodes = u32::try_from(store.nodes().len()).unwrap_or(u32::MAX);
    let clients = job.clients.unwrap_or_else(|| job.workload.clients(nodes));
    let defaults = Nemesis::default();
    let mut budget = Budget::default();
    budget.cancel = ending.cancel.clone();
    let start_online = || job.check().setup.start_online(|_| {});
    let is_online = start_online().map_err(|error| Failed(error.to_string()))?.decides_early();
    let found: &Found<'_> = &|violated: &Violated, report: Option<&Report>| {
        if let Some(page) = &mut *shared.page() {
            page.violation(violated.index, report);
        }
    };
    let run = record_live::Live {
        store,
        workload: job.workload,
        check: Check {
            start: &|| job.check().setup.start(|_| {}),
            // A checker of transactions decides at the end, unless it is an online checker. Other checkers decide at
            // the op, and again at the end.
            start_online: if is_online { Some(&start_online) } else { None },
            watches: !judges_transactions(job),
            found: shared.page().is_some().then_some(found),
            budget,
            keeps_going: job.keep_going,
        },
        directory: place.directory.clone(),
        clients,
        stands: job.stands,
        time_limit: job.time_limit,
        ops_max: job.ops_max,
        pause: job
            .rate
            .map_or(Duration::ZERO, |rate| Duration::from_secs(1) * clients / u32::try_from(rate).unwrap_or(u32::MAX)),
        timeout: job.timeout,
        seed,
        nemesis: Nemesis {
            faults: job.faults.clone(),
            target: job.target,
            every: job.every.unwrap_or(defaults.every),
            longer: job.longer.unwrap_or(defaults.longer),
            replay: steps(job, store)?,
        },
        stop: ending.stop.clone(),
    };
    status.aside(|| {
        diagnose::note(&format!(
            "{} is running; {clients} clients, workload {}, seed {seed}",
            job.kind.name, job.workload.name
        ));
    });
    Ok(run.run(&mut |progress| {
        if progress.completed[0] > 0 {
            place.has_begun();
        }
        shared.progress(progress);
        status.update(progress);
    })?)
}

/// The steps of a replayed run.
fn steps(job: &Live<'_>, store: &dyn Store) -> Result<Option<Vec<Step>>, LiveError> {
    let path = job.steps.as_ref().map(|directory| directory.join(place::SCHEDULE));
    path.map(|path| Step::read_all(&path, store.nodes())).transpose()
}

/// Returns true if one of the checkers checks transactions.
fn judges_transactions(job: &Live<'_>) -> bool {
    let about = job.check().setup.checker.about();
    about.subject == Subject::Transactions
        || about.members.iter().any(|(_, member)| member.subject == Subject::Transactions)
}

/// Reports the result of the run, and writes the evidence.
fn conclude(
    job: &Live<'_>,
    place: &Place,
    seed: u64,
    mut ended: Ended,
    (ending, shared): (&Ending, &page::Shared),
) -> Exit {
    let input = place.input(job);
    let invalid = ended.report.verdict == Verdict::Invalid;
    if let Some(failure) = &ended.failure {
        diagnose::error(&failure.to_string());
        diagnose::note(&format!(
            "the history before this error has {} ops; its verdict is {}",
            ended.ops,
            ended.report.verdict.name()
        ));
        if !invalid {
            if let Some(page) = &mut *shared.page() {
                page.end(Err(failure.to_string()));
            }
            return Exit::FAILED;
        }
    }
    place.has_begun();
    evidence::explain(&mut ended.report, &ended.history);
    ended.report.notes.extend(notes(job, seed, &ended, ending));
    if let Some(page) = &mut *shared.page() {
        page.end(Ok(&ended.report));
    }
    let mut results = match Results::new(job.check()) {
        Ok(results) => results,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    let exit = results.write(&input, Ok(ended.report.clone())).unwrap_or_else(|stopped| stopped);
    let exit = results.finish(exit);
    // From here on, the verdict is written, so an interrupt ends the process with its exit code.
    ending.conclude(exit);
    if invalid && place.is_kept && !ending.is_interrupted() {
        evidence::minimize(&job.minimal, &ended.report, ended.ops);
    }
    exit
}

/// Notes on the faults of the run, and on the time at which a violation was found.
fn notes(job: &Live<'_>, seed: u64, ended: &Ended, ending: &Ending) -> Vec<String> {
    let tenths = ended.time.as_millis() / 100;
    let faults = match (ended.faults, job.faults.is_empty() && job.steps.is_none()) {
        (0, true) => "without faults".to_owned(),
        (1, _) => "1 fault".to_owned(),
        (count, _) => format!("{count} faults"),
    };
    let interrupted = if ending.is_interrupted() { ", interrupted" } else { "" };
    let mut notes = vec![format!(
        "{}: {} operations succeeded, {} ops in {}.{} s, {faults}, seed {seed}{interrupted}.",
        job.kind.name,
        ended.ok,
        ended.ops,
        tenths / 10,
        tenths % 10,
    )];
    if let Some(why) = ended.kept_out.first() {
        let count = ended.kept_out.len();
        notes.push(format!("When the run ended, {count} clients had no connection: {why}."));
    }
    if !ended.is_whole && ended.violated.is_none() {
        notes.push(
            "The reads at the end of the run did not all succeed, so values that no client had read before were not checked."
                .to_owned(),
        );
    }
    if let Some(violated) = ended.violated {
        notes.push(match violated.index {
            Some(index) => {
                let later = violated.ops.saturating_sub(index + 1);
                let ops = if later == 1 { "op" } else { "ops" };
                format!("The violation was proved by the op at index {index}, and detected {later} {ops} later.")
            }
            None => format!("The violation was found in the first {} ops.", violated.ops),
        });
    }
    notes
}
