//! A cluster whose primary is isolated repeatedly, until a violation is found or ten seconds have passed:
//! `cargo run --example clusters -- redis-sentinel|etcd|postgres-failover DIRECTORY [SEED]`.

use check_register::versioned_register::VersionedRegister;
use history_core::{Budget, Checker as _, ErrorKind, HistoryError, Options};
use record_live::world::{Inside, World, enter, is_inside};
use record_live::{Check, Fault, Live, Nemesis, Stands, StartStore, Stop, Workload, store};
use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    if !is_inside() {
        let (_signals, receiver) = std::sync::mpsc::channel();
        let status = enter(receiver, &[])?;
        std::process::exit(status.code().unwrap_or(255));
    }
    let stop = Stop::new();
    Inside::listen({
        let stop = stop.clone();
        move || stop.set()
    })?;
    let name = std::env::args().nth(1).ok_or("expected a store")?;
    let directory = PathBuf::from(std::env::args().nth(2).ok_or("expected a directory")?);
    std::fs::create_dir_all(&directory)?;
    let directory = directory.canonicalize()?;
    let began = Instant::now();
    let kind = store::kind(&name).ok_or_else(|| format!("unknown store {name}"))?;
    let logs = directory.join("logs");
    let world = World::new(u8::try_from(kind.nodes)?, &logs)?;
    let store = kind.start(StartStore { world: Some(world), logs, ..StartStore::default() })?;
    println!("up after {:?}", began.elapsed());
    let workload = Workload::named("versioned-register").ok_or("no such workload")?;
    let options = workload.options.iter().fold(Options::new(), |options, (name, value)| options.with(*name, *value));
    let live = Live {
        store: &*store,
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
        directory,
        clients: 12,
        stands: Stands::AtNode,
        time_limit: Duration::from_secs(10),
        ops_max: None,
        pause: Duration::ZERO,
        timeout: Duration::from_secs(1),
        seed: std::env::args().nth(3).map_or(Ok(1), |seed| seed.parse())?,
        nemesis: Nemesis { faults: vec![Fault::Isolate], ..Nemesis::default() },
        stop,
    };
    let ended = live.run(&mut |_| {})?;
    println!(
        "{:?} after {} ops, {} ok, {} faults, {:?}, {:?}",
        ended.report.verdict, ended.ops, ended.ok, ended.faults, ended.time, ended.violated
    );
    for anomaly in &ended.report.anomalies {
        println!("{}", anomaly.name);
        anomaly.witnesses.iter().take(1).for_each(|witness| println!("{witness:?}"));
    }
    Ok(())
}
