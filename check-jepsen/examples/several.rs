//! Checks a bank on standard input, and counts its ops in the same pass: `cargo run --example several < history.edn`.

use check_jepsen::bank::Bank;
use check_jepsen::stats::Stats;
use history_core::{Budget, Checker, Compose, Options, Reader};
use std::error::Error;
use std::io;

fn main() -> Result<(), Box<dyn Error>> {
    let both = Compose::new(vec![Box::new(Bank::default()), Box::new(Stats::default())])?;
    let run = both.start(&Options::new())?;
    let report = history_core::check(run, &mut Reader::new(io::stdin()), &Budget::default())?;
    for report in &report.checkers {
        println!("{}: {}", report.checker, report.verdict.name());
    }
    println!("together: {}", report.verdict.name());
    Ok(())
}
