//! Checks transactions on standard input, of any length: `cargo run --example transactions < history.edn`.

use check_elle::list_append::ListAppend;
use history_core::{Budget, Checker, Options, Reader};
use std::error::Error;
use std::io;

fn main() -> Result<(), Box<dyn Error>> {
    let run = ListAppend::default().start(&Options::new())?;
    let report = history_core::check(run, &mut Reader::new(io::stdin()), &Budget::default())?;
    println!("{}", report.verdict.name());
    for anomaly in &report.anomalies {
        println!("\n{}, {} of them. The first:\n", anomaly.name, anomaly.count);
        println!("{}", anomaly.witnesses.first().map_or("", |witness| &witness.explanation));
    }
    Ok(())
}
