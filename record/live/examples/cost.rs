//! What recording and judging cost: the rate of bare clients of Redis beside that of a run, in turns, on one cluster.
//! `cargo run --release --example cost -- DIRECTORY [ROUNDS]`; needs redis-cli, too.

use check_register::versioned_register::VersionedRegister;
use history_core::{Budget, Checker as _, ErrorKind, HistoryError, Options};
use record_live::world::{Inside, World, enter, is_inside};
use record_live::{Chance, Check, Live, Nemesis, Seat, Stands, StartStore, Stop, Store, Workload, store};
use std::error::Error;
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
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        forget_all()?;
        let before = cpu_us()?;
        let bare = bare(&*store, workload);
        let bare_us = cpu_us()? - before;
        forget_all()?;
        let before = cpu_us()?;
        let run = recorded(&*store, workload, &directory)?;
        let run_us = cpu_us()? - before;
        let seconds = ROUND.as_secs_f64();
        println!(
            "bare {bare:.0}/s, recorded and judged {run:.0}/s: {:.3}; of the processor {:.1} and {:.1} us an operation",
            run / bare,
            bare_us / (bare * seconds),
            run_us / (run * seconds),
        );
        ratios.push(run / bare);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median {:.3}", ratios[ratios.len() / 2]);
    Ok(())
}

/// Processor time that this process has used, in microseconds: on a machine that does other work rates say little.
fn cpu_us() -> Result<f64, Box<dyn Error>> {
    const TICK_US: f64 = 10_000.0;
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = text.rsplit_once(") ").ok_or("no fields")?;
    let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(f64::from(ticks) * TICK_US)
}

/// Registers hold nothing at the start of a round.
fn forget_all() -> Result<(), Box<dyn Error>> {
    let ended = Command::new("redis-cli").args(["-h", "10.77.0.1", "flushall"]).stdout(Stdio::null()).status()?;
    if ended.success() { Ok(()) } else { Err("redis-cli failed".into()) }
}

/// The rate of clients that nobody records.
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
fn recorded(store: &dyn Store, workload: &Workload, directory: &Path) -> Result<f64, Box<dyn Error>> {
    let options = workload.options.iter().fold(Options::new(), |options, (name, value)| options.with(*name, *value));
    let live = Live {
        store,
        workload,
        check: Check {
            start: &|| {
                let started = VersionedRegister::default().start(&options);
                started.map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))
            },
            start_online: None,
            watches: true,
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
    println!("{:?}, {} ops", ended.report.verdict, ended.ops);
    Ok(per_second(ended.ops / 2, ended.time))
}

fn per_second(count: u64, time: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / time.as_secs_f64()
}
