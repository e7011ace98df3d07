//! A history of registers that the first order explains has the same report as after a complete search.
//!
//! A given order of transactions, even an empty one, forces the complete search, because the store may not follow that
//! order. An empty order orders nothing, so the report must be the same.

use crate::oracle::against::check;
use crate::oracle::choices::Choices;
use crate::oracle::registers::Sources;
use crate::oracle::worlds::{CLOCKS, FATES, Fate, Kind, Seen, Size, history};
use crate::oracle::{Question, Workload};
use check_elle::Exact;
use history_core::{History, Verdict};

/// Levels for which an order is searched for first, alone or with other levels, and levels for which none is.
const LEVELS: [&[&str]; 5] = [
    &["strict-serializable"],
    &["serializable"],
    &["read-atomic", "strict-serializable", "PRAM"],
    &["serializable", "update-serializable"],
    &["strong-session-serializable"],
];

/// Additional anomalies to request, in turn.
const ANOMALIES: [&[&str]; 3] = [&[], &["G-nonadjacent-process", "lost-update"], &["PL-2.99-cycle-exists"]];

/// Judges random histories both ways; returns the number of valid ones.
fn judge(size: &Size, samples: u64) -> u64 {
    let sources: Vec<Sources<'_>> = Sources::combinations().collect();
    let mut valid = 0;
    for number in 0..samples {
        let at = usize::try_from(number).expect("there are not so many");
        let text = history(&mut Choices::Random(number), size);
        let parsed = History::parse(&text).expect("a history");
        let (models, sources) = (LEVELS[at % LEVELS.len()], sources[at / 7 % sources.len()]);
        let report = |sources| {
            let anomalies = ANOMALIES[at / 3 % ANOMALIES.len()];
            let workload = Workload::RwRegister(sources);
            check(&parsed, &Question { models, anomalies, workload, ..Question::default() }, Exact::Limited)
        };
        let searched = report(Sources { transaction_order: Some(&[]), ..sources });
        let first = report(sources);
        assert_eq!(first.verdict, searched.verdict, "{number}, {models:?}, {sources:?}: {first:#?}\n{text}");
        if first.verdict != Verdict::Invalid {
            assert_eq!(first, searched, "{number}, {models:?}, {sources:?}\n{text}");
        }
        valid += u64::from(first.verdict == Verdict::Valid);
    }
    valid
}

const REGISTERS: Size =
    Size { txns: 2, mops_max: 2, fates: FATES, clocks: CLOCKS, seen: Seen::Any, kind: Kind::Register, clients_max: 2 };

#[test]
fn of_two_transactions() {
    assert!(judge(&REGISTERS, 15_000) > 300);
}

#[test]
fn of_three_and_four_transactions() {
    let fates = &[Fate::Ok, Fate::Ok, Fate::Ok, Fate::Info, Fate::Open];
    for txns in [3, 4] {
        let size = Size { txns, fates, seen: Seen::Possible, ..REGISTERS };
        assert!(judge(&size, 15_000) > 1000);
    }
}
