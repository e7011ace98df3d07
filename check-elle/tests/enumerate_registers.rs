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
fn probe() {
    use history_core::History;
    use oracle::choices::Choices;
    for (size, name) in [
        (Size { txns: 2, mops_max: 2, ..REGISTERS }, "2x2"),
        (Size { txns: 3, ..REGISTERS }, "3x1"),
        (Size { txns: 4, fates: &[Fate::Ok], seen: Seen::Possible, ..REGISTERS }, "4x1"),
        (
            Size {
                txns: 3,
                mops_max: 2,
                fates: &[Fate::Ok],
                seen: Seen::Possible,
                clocks: &[oracle::worlds::Clock::None],
                ..REGISTERS
            },
            "3x2 none",
        ),
        (
            Size {
                txns: 3,
                mops_max: 2,
                fates: &[Fate::Ok],
                seen: Seen::Possible,
                clocks: &[oracle::worlds::Clock::Some],
                ..REGISTERS
            },
            "3x2 some",
        ),
        (Size { txns: 4, mops_max: 1, fates: FATES, seen: Seen::Possible, ..REGISTERS }, "4x1 fates"),
    ] {
        let mut choices = Choices::first();
        let mut n = 0u64;
        let start = std::time::Instant::now();
        let mut bad = 0;
        loop {
            let text = oracle::worlds::history(&mut choices, &size);
            if n % 53 == 0 && bad < 3 {
                let history = History::parse(&text).unwrap();
                for sources in Sources::combinations() {
                    for model in laws::models() {
                        let models = [model];
                        let q = Question::of_registers(&models, sources);
                        if let Ok(j) = oracle::judge(&history, &q) {
                            if let Err(why) = laws::hold(&history, &q, j.verdict) {
                                bad += 1;
                                println!("{name} {why} {model} {sources:?}\n{text}");
                            }
                        }
                    }
                }
            }
            n += 1;
            if !choices.advance() {
                break;
            }
        }
        println!("{name} {n} {:?}", start.elapsed());
    }
}
