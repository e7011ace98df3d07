//! Parses each line of a history with another JSON parser, and keeps no result: `bench/figures` compares the times with
//! those of histcheck.
//!
//!     histcheck-bench-parsers sonic|simd FILE
//!
//! The value of each line is dropped before the next line is parsed, as in a checker that keeps only the data it needs.
//! The program prints the numbers of lines and of their fields, so that the compiler cannot optimize the parsing away.

use sonic_rs::{JsonContainerTrait as _, JsonValueTrait as _};
use std::fs::File;
use std::io::{BufRead, BufReader};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [what, path] = args.as_slice() else { return Err("usage: histcheck-bench-parsers sonic|simd FILE".into()) };
    let lines = BufReader::with_capacity(1 << 20, File::open(path)?);
    let (lines, fields) = match what.as_str() {
        "sonic" => parsed(lines, |line| {
            let value: sonic_rs::Value = sonic_rs::from_slice(line)?;
            Ok(value.is_object().then(|| value.as_object().map(|map| map.len())).flatten())
        })?,
        "simd" => {
            let mut buffers = simd_json::Buffers::default();
            parsed(lines, |line| {
                let value = simd_json::to_borrowed_value_with_buffers(line, &mut buffers)?;
                Ok(if let simd_json::BorrowedValue::Object(map) = &value { Some(map.len()) } else { None })
            })?
        }
        other => return Err(format!("{other} is none of sonic, simd").into()),
    };
    println!("{lines} lines, {fields} fields");
    Ok(())
}

/// Returns the numbers of lines and of their fields.
fn parsed(
    mut input: impl BufRead,
    mut fields: impl FnMut(&mut [u8]) -> Result<Option<usize>>,
) -> Result<(usize, usize)> {
    let (mut line, mut lines, mut sum) = (Vec::new(), 0, 0);
    while input.read_until(b'\n', &mut line)? > 0 {
        sum += fields(&mut line)?.ok_or("a line is no object")?;
        lines += 1;
        line.clear();
    }
    Ok((lines, sum))
}
