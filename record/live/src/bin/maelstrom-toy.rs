//! A node of the toy store, for Maelstrom and for `record-live`: `maelstrom-toy [--lazy]`.

use record_live::store::maelstrom::toy::{Reads, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    let reads = match std::env::args().nth(1).as_deref() {
        None => Reads::Primary,
        Some("--lazy") => Reads::Local,
        Some(other) => {
            eprintln!("unknown argument {other:?}: expected --lazy or nothing");
            return ExitCode::from(254);
        }
    };
    match run(std::io::stdin().lock(), std::io::stdout().lock(), reads) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
