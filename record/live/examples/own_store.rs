//! A user-defined store: a register behind a lock, with a copy that is one write behind. Clients of the copy read old
//! values, which is found within milliseconds: `cargo run --example own_store`.

use check_register::versioned_register::VersionedRegister;
use history_core::{Budget, Checker as _, ErrorKind, HistoryError, Options, Verdict};
use record_live::{
    Check, Client, FIRST_VERSION, Key, Live, LiveError, Nemesis, Outcome, Request, Seat, Stands, Stop, Store, Workload,
};
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The content of a register: a value and the id of the write that wrote it.
#[derive(Clone)]
struct Version {
    value: i64,
    id: String,
}

/// The newest version of each register, and the one before it.
type Registers = HashMap<Key, (Version, Version)>;

/// Two nodes: one has the newest versions, the other one those before.
struct OwnStore {
    registers: Arc<Mutex<Registers>>,
    nodes: Vec<String>,
}

impl Store for OwnStore {
    fn name(&self) -> &'static str {
        "own-store"
    }

    fn workloads(&self) -> &[&'static str] {
        &["versioned-register"]
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        Ok(Box::new(OwnClient { registers: Arc::clone(&self.registers), reads_copy: seat.node == 1 }))
    }
}

struct OwnClient {
    registers: Arc<Mutex<Registers>>,
    reads_copy: bool,
}

impl Client for OwnClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let mut registers = self.registers.lock().unwrap_or_else(PoisonError::into_inner);
        let first = || Version { value: 0, id: FIRST_VERSION.to_owned() };
        Ok(match request {
            Request::ReadVersion(key) => {
                let (newest, before) = registers.get(key).cloned().unwrap_or_else(|| (first(), first()));
                let read = if self.reads_copy { before } else { newest };
                Outcome::version(read.value, read.id)
            }
            Request::WriteVersion { key, value, id, previous } => {
                let held = registers.get(key).map_or_else(first, |(newest, _)| newest.clone());
                if held.id != *previous {
                    // The request certainly did not happen. If a response is lost, the outcome is unknown: that is
                    // `Outcome::Info`.
                    return Ok(Outcome::Fail("the register holds another version".to_owned()));
                }
                registers.insert(*key, (Version { value: *value, id: id.clone() }, held));
                Outcome::done()
            }
            other => return Err(LiveError::Unsupported(format!("own-store has no request {:?}", other.f()))),
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let store = OwnStore { registers: Arc::default(), nodes: vec!["newest".to_owned(), "copy".to_owned()] };
    let directory = std::env::temp_dir().join(format!("own-store-{}", std::process::id()));
    std::fs::create_dir(&directory)?;
    let workload = Workload::named("versioned-register").ok_or("no such workload")?;
    let options = workload.options.iter().fold(Options::new(), |options, (name, value)| options.with(*name, *value));
    let start = || {
        let started = VersionedRegister::default().start(&options);
        started.map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))
    };
    let live = Live {
        store: &store,
        workload,
        check: Check {
            start: &start,
            start_online: None,
            watches: true,
            budget: Budget::default(),
            keeps_going: false,
            found: None,
        },
        directory: directory.clone(),
        clients: workload.clients(2),
        stands: Stands::AtNode,
        time_limit: Duration::from_mins(1),
        ops_max: None,
        pause: Duration::ZERO,
        timeout: Duration::from_secs(1),
        seed: 1,
        nemesis: Nemesis::default(),
        stop: Stop::new(),
    };
    let ended = live.run(&mut |_| {})?;
    std::fs::remove_dir_all(&directory)?;
    println!("{} after {} ops", ended.report.verdict.name(), ended.ops);
    ended.report.anomalies.iter().for_each(|anomaly| println!("{}", anomaly.name));
    if ended.report.verdict == Verdict::Invalid { Ok(()) } else { Err("the old reads were not found".into()) }
}
