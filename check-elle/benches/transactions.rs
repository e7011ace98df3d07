//! Benchmarks list-append and rw-register in one process: generated histories of three sizes, each compared with
//! reading its bytes and parsing it into `serde_json` values; and components of 100,000 transactions that one read
//! closes. Only reports, and never fails on a slow result.
//!
//!     cargo bench -p check-elle [-- TXNS...]

use check_elle::list_append::ListAppend;
use check_elle::rw_register::RwRegister;
use history_core::{Budget, Checker, Options, Reader, check, check_ahead};
use record_simulate::{Bug, Format, Transactions};
use std::hint::black_box;
use std::time::{Duration, Instant};

const RUNS: usize = 3;

/// Megabytes, for display.
#[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000, 1_000_000] } else { sizes };
    for txns in sizes {
        let lists = record_simulate::ListAppend { txns, seed: 1, ..Default::default() };
        measure("list-append", &written(&lists), txns, &[("check", &ListAppend::default())]);
        let registers = record_simulate::RwRegister { txns, seed: 1, ..Default::default() };
        let all = RwRegister { wfr_keys: true, linearizable_keys: true, ..RwRegister::default() };
        let checkers: [(&str, &dyn Checker); 2] =
            [("check, no source", &RwRegister::default()), ("check, wfr and linearizable", &all)];
        measure("rw-register", &written(&registers), txns, &checkers);
    }
    for bug in [Bug::PlantedG1c, Bug::PlantedGSingle, Bug::StaleKeys] {
        let lists = record_simulate::ListAppend { txns: 100_000, seed: 1, bug, ..Default::default() };
        measure(&format!("list-append, {bug}"), &written(&lists), 100_000, &[("check", &ListAppend::default())]);
    }
}

fn written<W: record_simulate::Workload>(generator: &Transactions<W>) -> Vec<u8> {
    let simulation = generator.simulation().expect("the parameters are the default ones");
    simulation.write(Vec::new(), Format::JsonLines).expect("a vector takes all")
}

fn measure(name: &str, text: &[u8], txns: u64, checkers: &[(&str, &dyn Checker)]) {
    println!("\n{name}: {txns} transactions, {:.1} MB of JSON Lines", mb(text.len()));
    let row = |name: &str, wall: Duration| {
        let seconds = wall.as_secs_f64();
        let rate = mb(text.len()) / seconds;
        let per_txn = wall.as_nanos() / u128::from(txns.max(1));
        println!("  {name:42} {seconds:9.4} s {rate:8.0} MB/s {per_txn:8} ns/txn");
    };
    row("look at every byte", best(|| black_box(text.iter().fold(0u8, |sum, byte| sum ^ byte))));
    row("serde_json values, line by line", best(|| serde(text)));
    row("read the ops", best(|| ops(text)));
    for (name, checker) in checkers {
        row(&format!("{name}, on one thread"), best(|| verdict(*checker, text, false)));
        row(&format!("{name}, reading on another"), best(|| verdict(*checker, text, true)));
    }
}

fn best<T>(mut run: impl FnMut() -> T) -> Duration {
    let time = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    };
    (0..RUNS).map(time).min().unwrap_or_default()
}

fn serde(text: &[u8]) -> usize {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let parse = |line| serde_json::from_slice::<serde_json::Value>(line).expect("the generator writes JSON");
    lines.map(|line| black_box(parse(line)).as_object().map_or(0, serde_json::Map::len)).sum()
}

fn ops(text: &[u8]) -> usize {
    let mut count = 0;
    let read = Reader::new(text).for_each(|_| {
        count += 1;
        Ok(std::ops::ControlFlow::Continue(()))
    });
    read.expect("the generator writes histories");
    count
}

fn verdict(checker: &dyn Checker, text: &[u8], ahead: bool) -> history_core::Report {
    let run = checker.start(&Options::new()).expect("there are no options");
    let mut reader = Reader::new(text);
    let check = if ahead { check_ahead } else { check };
    check(run, &mut reader, &Budget::default()).expect("the generator writes histories")
}
