//! Tests list-append on a folder of histories in addition to the recorded verdicts: the report must be the same for
//! every format and block size, and every prefix and every corruption must result in a report or an error.
//!
//!     corpus CORPUS_DIR
//!
//! Ends with `N passed, N failed`.

use check_elle::list_append::ListAppend;
use history_core::{Budget, Checker, Format, History, HistoryError, Options, Reader, Report, Writer, check};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The maximum number of prefixes and of corruptions per file; they are spread evenly.
const CUTS_MAX: usize = 200;

fn main() -> Result<()> {
    let dir = std::env::args().nth(1).ok_or("usage: corpus CORPUS_DIR")?;
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in ["list-append", "real/elle", "real/elle-cli"] {
        let entries = std::fs::read_dir(Path::new(&dir).join(folder))?;
        for entry in entries {
            let path = entry?.path();
            let is_history = path.extension().is_some_and(|e| e == "edn" || e == "json");
            if is_history && !path.to_string_lossy().contains("rw-register") {
                files.push(path);
            }
        }
    }
    files.sort();
    let (mut passed, mut failed) = (0, 0);
    // A panic is counted and reported; its backtrace would hide the report.
    std::panic::set_hook(Box::new(|_| {}));
    for (path, results) in files.iter().zip(try_all(&files)) {
        for (what, ok) in ["formats", "cuts"].into_iter().zip(results?) {
            match ok {
                Ok(()) => passed += 1,
                Err(why) => {
                    failed += 1;
                    println!("{} {what}: {why}", path.display());
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed > 0 {
        std::process::exit(1);
    }
    Ok(())
}

/// The result of a file's formats and of its cuts: none, or an error.
type Results = [std::result::Result<(), String>; 2];

/// The results of each file, in order. Runs one file per processor at a time: a few take far longer than all others.
fn try_all(files: &[PathBuf]) -> Vec<std::io::Result<Results>> {
    let (next, tried) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let results = std::fs::read(path).map(|text| [formats(&text), cuts(&text)]);
            tried.lock().unwrap().push((path, results));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work);
        }
    });
    let mut tried = tried.into_inner().unwrap();
    tried.sort_by_key(|(path, _)| *path);
    tried.into_iter().map(|(_, results)| results).collect()
}

fn judge(text: &[u8]) -> std::result::Result<Report, HistoryError> {
    let run = ListAppend::default()
        .start(&Options::new())
        .map_err(|e| HistoryError::new(history_core::ErrorKind::Unexpected, e.to_string()))?;
    check(run, &mut Reader::new(text), &Budget::default())
}

/// Verifies that the history has the same report in every format.
fn formats(text: &[u8]) -> std::result::Result<(), String> {
    let report = |text: &[u8]| judge(text).map_err(|e| e.to_string());
    // Histories of other checkers contain ops that differ only in their line number.
    let known = report(text)?;
    let history = History::read(&mut Reader::new(text)).map_err(|e| e.to_string())?;
    let write = |format| -> std::io::Result<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), format);
        for op in history.ops() {
            writer.write(&op)?;
        }
        writer.finish()
    };
    for format in [Format::Edn, Format::Json] {
        let text = write(format).map_err(|e| e.to_string())?;
        let again = report(&text)?;
        if format == Format::Edn && !same(&again, &known) || again.verdict != known.verdict {
            return Err(format!("written as {}, it is judged otherwise", format.name()));
        }
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let comma: &[u8] = if format == Format::Json { b",\n" } else { b"\n" };
        let array = [b"[", lines.join(comma).as_slice(), b"]\n"].concat();
        if !same(&report(&array)?, &again) {
            return Err(format!("written as one {} vector, it is judged otherwise", format.name()));
        }
    }
    Ok(())
}

/// Notes contain line numbers, which differ from format to format.
fn same(a: &Report, b: &Report) -> bool {
    a.verdict == b.verdict && a.anomalies == b.anomalies && a.not == b.not && a.also_not == b.also_not
}

/// Verifies that prefixes, and texts with single bytes changed, have a result of any kind.
fn cuts(text: &[u8]) -> std::result::Result<(), String> {
    let step = text.len().div_ceil(CUTS_MAX).max(1);
    for at in (0..text.len()).step_by(step) {
        survive(&text[..at]).map_err(|()| format!("the first {at} bytes make it panic"))?;
        let mut changed = text.to_vec();
        for byte in [b'[', b']', b'"', b'9', b' ', 0xff, text[at] ^ 1] {
            changed[at] = byte;
            // The text far after the change does not matter here; it is cut to save time.
            let end = changed.len().min(at + 4_096);
            survive(&changed[..end]).map_err(|()| format!("{byte} at {at} makes it panic"))?;
        }
    }
    Ok(())
}

fn survive(text: &[u8]) -> std::result::Result<(), ()> {
    catch_unwind(AssertUnwindSafe(|| drop(judge(text)))).map_err(drop)
}
