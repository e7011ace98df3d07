//! Counts the ops of a history on standard input by their kind and function: `cargo run --example tally < history.edn`.

use history_core::{HistoryError, Reader};
use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

fn main() -> Result<(), HistoryError> {
    let mut tally = BTreeMap::<String, u64>::new();
    Reader::new(io::stdin()).for_each(|op| {
        *tally.entry(format!("{} {}", op.kind.name(), op.f.unwrap_or("-"))).or_default() += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    for (what, count) in tally {
        println!("{count:8} {what}");
    }
    Ok(())
}
