//! Writes a list-append history to standard output: `list_append TXNS SEED edn|json|jsonl`.

use record_simulate::ListAppend;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let mut next = |name: &str| args.next().ok_or(format!("no {name} given; usage: list_append TXNS SEED FORMAT"));
    let (txns, seed, format) = (next("TXNS")?.parse()?, next("SEED")?.parse()?, next("FORMAT")?.parse()?);
    let history = ListAppend { txns, seed, ..ListAppend::default() };
    drop(history.simulation()?.write(std::io::stdout().lock(), format)?);
    Ok(())
}
