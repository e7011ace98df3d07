//! Every history of registers of small worlds, judged by the checker, by the oracle, and by what the levels mean, with every
//! combination of the sources of version orders.

mod oracle;

use oracle::Question;
use oracle::enumeration::{checker_errs, judge_each, oracle_errs};
use oracle::laws;
use oracle::register_cases::CASES;
use oracle::registers::Sources;
use oracle::worlds::{CLOCKS, FATES, Fate, Kind, Seen, Size};

#[test]
fn the_oracle_knows_the_cases() {
    assert_eq!(oracle_errs(CASES), [""; 0]);
}

const REGISTERS: Size =
    Size { txns: 2, mops_max: 1, fates: FATES, clocks: CLOCKS, seen: Seen::Any, kind: Kind::Register, clients_max: 2 };

#[test]
fn the_checker_agrees_on_the_cases() {
    assert_eq!(checker_errs(CASES), [""; 0]);
}

/// Judges every history of a world, or only `samples` of them, with every combination of sources, under one of the models
/// that there are laws for; garbage reads are asked for in every other history.
fn judge_all(size: &Size, samples: Option<u64>) -> u64 {
    let models: Vec<[&str; 1]> = laws::models().map(|model| [model]).collect();
    judge_each(size, samples, |number| {
        let models = &models[(number * 5 / 3) as usize % models.len()];
        let anomalies: &[&str] = if number % 2 == 0 { &["garbage-read"] } else { &[] };
        Sources::combinations()
            .map(|sources| Question { anomalies, ..Question::of_registers(models, sources) })
            .collect()
    })
}

#[test]
fn two_transactions_of_two_micro_ops() {
    let size = Size { mops_max: 2, ..REGISTERS };
    assert_eq!(judge_all(&size, None), 58_206);
}

#[test]
fn three_transactions_of_one_micro_op() {
    let size = Size { txns: 3, ..REGISTERS };
    assert_eq!(judge_all(&size, None), 73_940);
}

#[test]
fn four_transactions_of_one_micro_op() {
    let size = Size { txns: 4, fates: &[Fate::Ok], seen: Seen::Possible, ..REGISTERS };
    assert_eq!(judge_all(&size, None), 28_512);
}

#[test]
fn three_transactions_of_two_micro_ops() {
    let size = Size { txns: 3, mops_max: 2, ..REGISTERS };
    judge_all(&size, Some(20_000));
}

#[test]
fn four_transactions_of_two_micro_ops() {
    let size = Size { txns: 4, mops_max: 2, ..REGISTERS };
    judge_all(&size, Some(20_000));
}
