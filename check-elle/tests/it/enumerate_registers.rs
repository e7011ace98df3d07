//! Every history of registers of small worlds, compared with the oracle and with the definitions of the levels, for
//! every combination of the sources of version orders.
//!
//! There are two keys and two clients (a client whose op crashed continues as another process). A read shows nil, any
//! of the values that were written to the key, and in most worlds also one that was never written. Transactions end and
//! are interleaved in every way, as in `enumerate.rs`.
//!
//! | transactions | micro-ops in each | histories | judged |
//! |---|---|---|---|
//! | 2 | 1 or 2 | 58,206 | all |
//! | 3 | 1 | 73,940 | all |
//! | 4, all ok | 1 | 28,512 | all |
//! | 3, all ok, no real time | 1 or 2 | 137,248 | all, with one combination in turn |
//! | 3 | 1 or 2 | not counted | 10,000 |
//! | 4 | 1 or 2 | not counted | 10,000 |
//! | 3, all ok | 1 or 2 | 548,992 | all, with one combination in turn, if asked: `--ignored` |
//! | 4 | 1 | 3,074,605 | all, with one combination in turn, if asked |
//!
//! Unless the table says otherwise, each history is judged 8 times, once for each combination of sources, at one of the
//! models that have laws, in turn.

use crate::oracle::choices::Choices;
use crate::oracle::enumeration::{caught_constants, checker_errs, judge_each, oracle_errs};
use crate::oracle::graph::Order;
use crate::oracle::laws;
use crate::oracle::register_cases::CASES;
use crate::oracle::registers::Sources;
use crate::oracle::semantic::{is_serializable, is_snapshot_isolated};
use crate::oracle::world::World;
use crate::oracle::worlds::{CLOCKS, Clock, FATES, Fate, Kind, Seen, Size, history};
use crate::oracle::{Question, Workload};
use history_core::History;

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

/// Judges every history of a world, or only `samples` of them, each at one of the models that have laws, and with the
/// given number of combinations of sources, in turn.
fn judge_all(size: &Size, samples: Option<u64>, combinations: usize) -> u64 {
    let models: Vec<[&str; 1]> = laws::models().map(|model| [model]).collect();
    judge_each(size, samples, |number| {
        let models = &models[(number * 5 / 3) as usize % models.len()];
        let all = Sources::combinations().cycle().skip((number / 2) as usize % ALL).take(combinations);
        all.map(|sources| Question::of_registers(models, sources)).collect()
    })
}

/// The number of combinations of sources.
const ALL: usize = 8;

#[test]
fn two_transactions_of_two_micro_ops() {
    let size = Size { mops_max: 2, ..REGISTERS };
    assert_eq!(judge_all(&size, None, ALL), 58_206);
}

#[test]
fn three_transactions_of_one_micro_op() {
    let size = Size { txns: 3, ..REGISTERS };
    assert_eq!(judge_all(&size, None, ALL), 73_940);
}

#[test]
fn four_transactions_of_one_micro_op() {
    let size = Size { txns: 4, fates: &[Fate::Ok], seen: Seen::Possible, ..REGISTERS };
    assert_eq!(judge_all(&size, None, ALL), 28_512);
}

#[test]
fn three_transactions_of_two_micro_ops() {
    let size = Size { txns: 3, mops_max: 2, ..REGISTERS };
    judge_all(&size, Some(10_000), ALL);
}

#[test]
fn four_transactions_of_two_micro_ops() {
    let size = Size { txns: 4, mops_max: 2, ..REGISTERS };
    judge_all(&size, Some(10_000), ALL);
}

/// All transactions are ok, and there is no real time.
const THREE_OK: Size =
    Size { txns: 3, mops_max: 2, fates: &[Fate::Ok], clocks: &[Clock::None], seen: Seen::Possible, ..REGISTERS };

#[test]
fn three_ok_transactions_without_real_time() {
    assert_eq!(judge_all(&THREE_OK, None, 1), 137_248);
}

#[test]
#[ignore = "takes a minute and a half"]
fn three_ok_transactions_without_real_time_by_all_sources() {
    assert_eq!(judge_all(&THREE_OK, None, ALL), 137_248);
}

#[test]
#[ignore = "takes four minutes"]
fn three_ok_transactions_in_time() {
    let size = Size { clocks: &[Clock::Some], ..THREE_OK };
    assert_eq!(judge_all(&size, None, 1), 548_992);
}

#[test]
#[ignore = "takes ten minutes"]
fn four_transactions_that_end_in_all_ways() {
    let size = Size { txns: 4, seen: Seen::Possible, ..REGISTERS };
    assert_eq!(judge_all(&size, None, 1), 3_074_605);
}

/// States in which executions a source is valid.
#[derive(Clone, Copy)]
struct Theorem {
    holds: fn(&World) -> bool,
    sources: Sources<'static>,
    clocks: &'static [Clock],
}

const NONE: Sources<'static> =
    Sources { wfr_keys: false, sequential_keys: false, linearizable_keys: false, transaction_order: None };

const THEOREMS: [Theorem; 5] = [
    Theorem {
        holds: |world| is_serializable(world, Order::None),
        sources: Sources { wfr_keys: true, ..NONE },
        clocks: CLOCKS,
    },
    Theorem {
        holds: |world| is_snapshot_isolated(world, Order::None),
        sources: Sources { wfr_keys: true, ..NONE },
        clocks: CLOCKS,
    },
    Theorem {
        holds: |world| is_serializable(world, Order::Process),
        sources: Sources { wfr_keys: true, sequential_keys: true, ..NONE },
        clocks: CLOCKS,
    },
    Theorem {
        holds: |world| is_serializable(world, Order::Realtime),
        sources: Sources { wfr_keys: true, sequential_keys: true, linearizable_keys: true, transaction_order: None },
        clocks: &[Clock::Some],
    },
    Theorem {
        holds: |world| is_snapshot_isolated(world, Order::Realtime),
        sources: Sources { wfr_keys: true, sequential_keys: true, linearizable_keys: true, transaction_order: None },
        clocks: &[Clock::Some],
    },
];

/// Every execution that a level allows is also allowed with all sources of that level: so the laws permit no invalid
/// verdict with the sources either.
#[test]
fn levels_imply_their_sources() {
    for (number, theorem) in THEOREMS.into_iter().enumerate() {
        let [mut happened, mut did_not] = [0, 0];
        for (txns, mops_max) in [(2, 2), (3, 1)] {
            let clocks = theorem.clocks;
            let fates = &[Fate::Ok, Fate::Info];
            let size = Size { txns, mops_max, clocks, fates, seen: Seen::Possible, ..REGISTERS };
            let mut choices = Choices::first();
            loop {
                let text = history(&mut choices, &size);
                let parsed = History::parse(&text).expect("a history");
                let with = |sources| World::of(&parsed, &Workload::RwRegister(sources)).expect("registers");
                if (theorem.holds)(&with(NONE)) {
                    assert!((theorem.holds)(&with(theorem.sources)), "{number}: {text}");
                    happened += 1;
                } else {
                    did_not += 1;
                }
                if !choices.advance() {
                    break;
                }
            }
        }
        assert!(happened > 1000 && did_not > 1000, "{number}: {happened} happened, {did_not} did not");
    }
}

/// Without its level a source is an additional assumption: some histories are allowed by the level alone, but not with
/// the source.
#[test]
fn sources_assume_more_than_weaker_levels_give() {
    let cases = [
        ("0 ok wx1\n0 ok wx2 wy1\n1 ok rx1 ry1", Sources { sequential_keys: true, ..NONE }),
        ("0 invoke wx1\n0 ok wx1\n1 invoke rx?\n1 ok rx?", Sources { linearizable_keys: true, ..NONE }),
    ];
    for (text, sources) in cases {
        let history = History::parse(&crate::oracle::cases::edn(text)).expect("a history");
        let with = |sources| World::of(&history, &Workload::RwRegister(sources)).expect("a history of registers");
        assert!(is_serializable(&with(NONE), Order::None), "{text}");
        assert!(!is_serializable(&with(sources), Order::None), "{text}");
    }
}

#[test]
fn canary_the_laws_catch_constant_verdicts() {
    let size = Size { mops_max: 2, fates: &[Fate::Ok], clocks: &[Clock::None], ..REGISTERS };
    for model in laws::models() {
        let models = [model];
        for sources in Sources::combinations() {
            let [valid, invalid] = caught_constants(&size, &Question::of_registers(&models, sources));
            // Without a read before each write, no history is known to be invalid.
            let is_weak = ["read-committed", "read-uncommitted"].contains(&model);
            let is_complete = !is_weak && sources.wfr_keys || laws::is_implied(model);
            assert_eq!(valid > 0, is_complete, "{model}, {sources:?}: always valid is caught {valid} times");
            assert!(invalid > 0, "{model}, {sources:?}: always invalid is not caught");
        }
    }
}
