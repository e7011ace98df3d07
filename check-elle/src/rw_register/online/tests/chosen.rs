//! Compares levels that are reported to hold with the search for an order of commits.

use super::{AT_ONCE, Bugs, LINEARIZABLE, Limits, Model, NEVER, Random, bugs, checker, history, judge, sizes, testing};
use crate::Exact;
use crate::rw_register::RwRegister;
use crate::txn::online::tests::unsaid::unsaid;
use history_core::Verdict;

/// If a level is reported to hold, some order of commits proves it, and few levels that hold are left open.
#[test]
fn unread_versions_need_no_order() {
    for (assumptions, name, least) in [
        (LINEARIZABLE, "strict-serializable", 500),
        ([true, false, true], "strict-serializable", 500),
        ([true, true, false], "serializable", 150),
        (LINEARIZABLE, "serializable", 150),
        (LINEARIZABLE, "read-committed", 500),
        (LINEARIZABLE, "snapshot-isolation", 500),
    ] {
        let model = name.parse().unwrap();
        let searching = RwRegister { exact: Exact::default(), ..checker(model, assumptions) };
        let (mut hold, mut known) = (0, 0);
        for seed in 0..600 {
            let mut random = Random(seed + 20_000);
            let (some, txns) = (bugs(&mut random), 3 + random.below(20));
            let bugs = if seed % 2 == 0 { Bugs::default() } else { some };
            let text = history(seed, txns, bugs, true);
            let whole = testing::batch(&searching, &text, text.lines().count()).verdict;
            hold += u32::from(whole == Verdict::Valid);
            for limits in [NEVER, AT_ONCE] {
                let (_, verdict) = judge(&text, model, assumptions, sizes(limits));
                assert!(
                    verdict != Verdict::Valid || whole == Verdict::Valid,
                    "{name}, seed {seed}, {limits:?}\n{text}"
                );
                known += u32::from(verdict == Verdict::Valid);
            }
        }
        assert!(known > least && hold > 450, "{name}, {assumptions:?}: {known} of twice {hold}");
    }
}

/// A verdict based on choices agrees with some order of commits, and most valid histories are recognized although many
/// versions are in no known order.
#[test]
fn the_chosen_order_explains_the_history() {
    let strict = Model::STRICT_SERIALIZABLE;
    let searching = RwRegister { exact: Exact::default(), ..checker(strict, LINEARIZABLE) };
    let (mut hold, mut known) = (0, 0);
    for seed in 0..300 {
        let mut random = Random(seed + 40_000);
        let txns = 30 + random.below(90);
        let rarely = if seed % 2 == 0 { 0 } else { random.below(30) };
        let text = history(seed, txns, Bugs { torn: rarely, stale: rarely / 3, ..Bugs::default() }, true);
        let whole = testing::batch(&searching, &text, text.lines().count()).verdict;
        let (found, verdict) = judge(&text, strict, LINEARIZABLE, sizes(AT_ONCE));
        assert!(verdict != Verdict::Valid || whole == Verdict::Valid, "seed {seed}\n{text}");
        assert!(found.is_none() || whole == Verdict::Invalid, "seed {seed}\n{text}");
        hold += u32::from(whole == Verdict::Valid);
        known += u32::from(verdict == Verdict::Valid);
        for txns in [6, 12, 24] {
            // A judge that chooses keeps more, and reaches these limits first.
            let few = Limits { txns, values: 8, idle: 10, values_max: 30, pause: 4 };
            let (_, verdict) = judge(&text, strict, LINEARIZABLE, sizes(few));
            assert!(verdict != Verdict::Valid || whole == Verdict::Valid, "seed {seed}, {few:?}\n{text}");
        }
    }
    assert!(hold > 150 && known * 10 > hold * 9, "{known} of {hold}");
}

/// If the order of unread versions is the only obstacle, no choice explains the history.
#[test]
fn a_level_that_no_choice_explains_is_not_reported_to_hold() {
    for (name, assumptions, rounds, least) in [
        ("strict-serializable", LINEARIZABLE, 5_000, 20),
        ("strict-serializable", [true, false, true], 5_000, 20),
        ("strict-serializable", [true; 3], 5_000, 20),
        ("serializable", LINEARIZABLE, 5_000, 20),
        ("strong-session-serializable", LINEARIZABLE, 5_000, 20),
    ] {
        let level = name.parse().unwrap();
        let searching = RwRegister { exact: Exact::default(), ..checker(level, assumptions) };
        let (mut hidden, mut known) = (0, 0);
        for seed in 0..rounds {
            let mut random = Random(seed + 60_000);
            let bugs = Bugs { torn: random.below(400), stale: random.below(60), ..Bugs::default() };
            let text = history(seed, 8 + random.below(30), bugs, true);
            // The writes of some become known only at their completions.
            let text = if seed % 2 == 0 { text } else { unsaid(&text, &mut random, 1 + seed % 3, false) };
            let (found, verdict) = judge(&text, level, assumptions, sizes(AT_ONCE));
            if found.is_some() {
                continue;
            }
            let whole = testing::batch(&searching, &text, text.lines().count()).verdict;
            assert!(
                verdict != Verdict::Valid || whole == Verdict::Valid,
                "{name}, {assumptions:?}, seed {seed}\n{text}"
            );
            hidden += u32::from(whole == Verdict::Invalid);
            known += u32::from(verdict == Verdict::Valid);
            for txns in [3, 5, 8, 12, 17].into_iter().filter(|_| whole == Verdict::Invalid) {
                // A judge that chooses keeps more, and reaches these limits first.
                let few = Limits { txns, values: 8, idle: 10, values_max: 30, pause: 2 };
                let (_, verdict) = judge(&text, level, assumptions, sizes(few));
                assert!(verdict != Verdict::Valid, "{name}, {assumptions:?}, seed {seed}, {few:?}\n{text}");
            }
        }
        assert!(hidden > least && known > 100, "{name}, {assumptions:?}: {hidden} hidden, {known} known");
    }
}
