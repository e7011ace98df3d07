//! The cost of recording and checking: the rate of bare clients of Redis, compared with that of a run that records, and
//! of one that also checks, alternating on one cluster. `cargo run --release --example cost -- DIRECTORY [ROUNDS]`;
//! needs redis-cli, too.

use check_register::versioned_register::VersionedRegister;
use history_core::{Budget, Checker as _, ErrorKind, HistoryError, Op, Options, Report, Run, Verdict};
use record_live::world::{Inside, World, enter, is_inside};
use record_live::{Chance, Check, Live, Nemesis, Seat, Stands, StartStore, Stop, Store, Workload, store};
use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CLIENTS: u32 = 12;
const ROUND: Duration = Duration::from_secs(4);
const SEED: u64 = 1;
const TIMEOUT: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    if !is_inside() {
        let (_signals, receiver) = std::sync::mpsc::channel();
        std::process::exit(enter(receiver, &[])?.code().unwrap_or(255));
    }
    Inside::listen(|| std::process::exit(130))?;
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("expected a directory")?);
    let rounds = std::env::args().nth(2).map_or(Ok(5), |rounds| rounds.parse())?;
    let kind = store::kind("redis-sentinel").ok_or("no such store")?;
    let logs = directory.join("logs");
    std::fs::create_dir_all(&logs)?;
    let world = World::new(3, &logs)?;
    let store = kind.start(StartStore { world: Some(world), logs, ..StartStore::default() })?;
    let workload = Workload::named("versioned-register").ok_or("no such workload")?;
    let mut rounds_done: [Vec<Figures>; 3] = Default::default();
    for round in 0..rounds {
        // The order of the modes rotates with each round, because the machine's speed drifts.
        for turn in 0..rounds_done.len() {
            let which = (round + turn) % rounds_done.len();
            forget_all()?;
            let before = cpu_us()?;
            let rate = match which {
                0 => bare(&*store, workload),
                1 => run(&*store, workload, &directory, Judge::None)?,
                _ => run(&*store, workload, &directory, Judge::VersionedRegister)?,
            };
            let cpu_us = (cpu_us()? - before) / (rate * ROUND.as_secs_f64());
            println!("{}: {rate:.0}/s, {cpu_us:.1} us of the processor an operation", NAMES[which]);
            rounds_done[which].push(Figures { rate, cpu_us });
        }
    }
    let [bare, runs @ ..] = &rounds_done;
    for (name, figures) in NAMES.iter().zip(&rounds_done) {
        let rates = figures.iter().map(|round| round.rate);
        let times = figures.iter().map(|round| round.cpu_us);
        println!("{name}: median {:.0}/s, {:.1} us", median(rates), median(times));
    }
    for (name, figures) in NAMES.iter().skip(1).zip(runs) {
        let rates = figures.iter().zip(bare).map(|(run, bare)| run.rate / bare.rate);
        let times = figures.iter().zip(bare).map(|(run, bare)| run.cpu_us - bare.cpu_us);
        println!("{name}, beside bare: rate {:.3}, {:+.1} us", median(rates), median(times));
    }
    Ok(())
}

const NAMES: [&str; 3] = ["bare", "recorded", "recorded and judged"];

/// The measurements of a round.
#[derive(Clone, Copy)]
struct Figures {
    /// Operations per second.
    rate: f64,
    /// Processor time of this process per operation, in microseconds.
    cpu_us: f64,
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The checker of a run.
#[derive(Clone, Copy, PartialEq)]
enum Judge {
    None,
    VersionedRegister,
}

/// A checker that accepts every history.
struct Blind;

impl Run for Blind {
    fn observe(&mut self, _: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        Ok(ControlFlow::Break(()))
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        Ok(Report::new("blind", Verdict::Unknown))
    }
}

/// Processor time that this process has used, in microseconds: on a machine with other load, rates are not reliable.
fn cpu_us() -> Result<f64, Box<dyn Error>> {
    const TICK_US: f64 = 10_000.0;
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = text.rsplit_once(") ").ok_or("no fields")?;
    let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(f64::from(ticks) * TICK_US)
}

/// Removes all registers at the start of a round.
fn forget_all() -> Result<(), Box<dyn Error>> {
    let ended = Command::new("redis-cli").args(["-h", "10.77.0.1", "flushall"]).stdout(Stdio::null()).status()?;
    if ended.success() { Ok(()) } else { Err("redis-cli failed".into()) }
}

/// The rate of clients without a recorder.
fn bare(store: &dyn Store, workload: &Workload) -> f64 {
    let (stop, count, began) = (Stop::new(), AtomicU64::new(0), Instant::now());
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (stop, count) = (&stop, &count);
            scope.spawn(move || {
                let nodes = 3;
                let (process, stands) = (u64::from(number), Stands::AtNode);
                let (seats, node, seed, timeout) = (CLIENTS, number % nodes, SEED, TIMEOUT);
                let seat = Seat { number, seats, node, nodes, process, seed, timeout, stands };
                let (mut plan, mut chance) = (workload.plan(&seat), Chance::new(SEED, process));
                let mut client = store.client(&seat).expect("the store is up");
                while !stop.is_set() {
                    let request = plan.next(&mut chance);
                    let outcome = client.invoke(&request).expect("the store is up");
                    plan.observe(&request, &outcome);
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        thread::sleep(ROUND);
        stop.set();
    });
    per_second(count.into_inner(), began.elapsed())
}

/// The rate of a run.
fn run(store: &dyn Store, workload: &Workload, directory: &Path, judge: Judge) -> Result<f64, Box<dyn Error>> {
    let options = workload.options.iter().fold(Options::new(), |options, (name, value)| options.with(*name, *value));
    let live = Live {
        store,
        workload,
        check: Check {
            start: &|| {
                if judge == Judge::None {
                    return Ok(Box::new(Blind));
                }
                let started = VersionedRegister::default().start(&options);
                started.map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))
            },
            start_online: None,
            watches: judge != Judge::None,
            budget: Budget::default(),
            keeps_going: false,
            found: None,
        },
        directory: directory.to_owned(),
        clients: CLIENTS,
        stands: Stands::AtNode,
        time_limit: ROUND,
        ops_max: None,
        pause: Duration::ZERO,
        timeout: TIMEOUT,
        seed: SEED,
        nemesis: Nemesis::default(),
        stop: Stop::new(),
    };
    let ended = live.run(&mut |_| {})?;
    if judge != Judge::None && ended.report.verdict != Verdict::Valid {
        return Err(format!("the verdict is {:?}", ended.report.verdict).into());
    }
    Ok(per_second(ended.ops / 2, ended.time))
}

fn per_second(count: u64, time: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / time.as_secs_f64()
}
