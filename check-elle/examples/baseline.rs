//! The cost of reading a history's bytes without checking: the baseline figures of `bench/run`.
//!
//!     baseline bytes|ops|serde FILE

use history_core::Reader;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The number of bytes read at a time.
const BLOCK_BYTES: usize = 128 << 10;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, path] = args.as_slice() else { return Err("usage: baseline bytes|ops|serde FILE".into()) };
    let file = File::open(path)?;
    let count = match what.as_str() {
        "bytes" => bytes(file)?,
        "ops" => ops(file)?,
        "serde" => serde(file)?,
        other => return Err(format!("{other} is none of bytes, ops, serde").into()),
    };
    println!("{count}");
    Ok(())
}

fn bytes(mut file: File) -> Result<usize> {
    let mut block = vec![0; BLOCK_BYTES];
    let mut count = 0;
    loop {
        match file.read(&mut block)? {
            0 => return Ok(count),
            read => count += read,
        }
    }
}

fn ops(file: File) -> Result<usize> {
    let mut count = 0;
    Reader::new(file).for_each(|_| {
        count += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(count)
}

/// Each line's value is dropped before the next is parsed, as in a checker that keeps only what it needs.
fn serde(file: File) -> Result<usize> {
    let mut lines = BufReader::with_capacity(1 << 20, file);
    let mut line = String::new();
    let mut fields = 0;
    while lines.read_line(&mut line)? > 0 {
        let value: serde_json::Value = serde_json::from_str(&line)?;
        fields += value.as_object().map_or(0, serde_json::Map::len);
        line.clear();
    }
    Ok(fields)
}
