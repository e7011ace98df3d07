//! Feeds recorded histories op by op, and compares the outcome after each op with the batch verdict on that prefix.
//!
//! `cargo run --release -p check-online --example prefixes -- MODEL FILE...`. For a history of more than 400 ops, about
//! 200 prefixes are compared, each after its last op. Exits with 1 if any differs.

use history_core::{Budget, Checker, History, HistoryError, Op, Options, Run, Verdict};
use std::process::ExitCode;

/// The approximate number of prefixes of one history that are compared.
const PREFIXES: usize = 200;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let model = words.next().unwrap_or_default();
    let named = |all: Vec<Box<dyn Checker>>| all.into_iter().find(|checker| checker.name() == model);
    let (Some(batch), Some(online)) = (named(check_register::checkers()), named(check_online::checkers())) else {
        eprintln!("there is no model {model:?}");
        return ExitCode::FAILURE;
    };
    let (mut compared, mut different, mut left_out) = (0, 0, 0);
    for path in words {
        let Ok(history) = history_core::open(&path).and_then(|mut reader| History::read(&mut reader)) else {
            left_out += 1; // It is no history, whoever reads it.
            continue;
        };
        let step = (history.len() / PREFIXES).max(1);
        for len in (1..=history.len()).filter(|len| len % step == 0 || *len == history.len()) {
            let [batch, online] = [&batch, &online].map(|checker| verdict(checker.as_ref(), history.ops().take(len)));
            compared += 1;
            if batch != online {
                different += 1;
                println!("{path}: after {len} ops {batch:?}, online {online:?}");
            }
        }
    }
    println!("{compared} prefixes compared, {different} differ, {left_out} files are no histories");
    ExitCode::from(u8::from(different > 0))
}

/// The verdict of a checker on these ops, as a complete history.
fn verdict<'h>(checker: &dyn Checker, ops: impl Iterator<Item = Op<'h>>) -> Result<Verdict, HistoryError> {
    let mut run: Box<dyn Run> = checker.start(&Options::new()).expect("no options are good options");
    for op in ops {
        if run.observe(&op)?.is_break() {
            break;
        }
    }
    run.finish(&Budget::default()).map(|report| report.verdict)
}
