//! Registers with several workers and passes: reads do not determine the version order, so each share finds one.

use crate::made::{many, one_machine, valid};
use crate::store::{Bug, Objects, OnlyShares, assert_equal, history, spilled, too_much};
use check_elle::rw_register::RwRegister;
use histcheck_scale::histcheck_front::Setup;
use histcheck_scale::histcheck_front::history_core::Options;
use std::collections::BTreeMap;

fn registers(seed: u64, txns: u64, keys: u64, bug: Bug) -> String {
    history(Objects::Registers, seed, txns, keys, bug)
}

/// Assumptions about the order of versions.
fn assumed() -> [RwRegister; 3] {
    let linearizable = RwRegister { linearizable_keys: true, ..RwRegister::default() };
    let processes = RwRegister { wfr_keys: true, sequential_keys: true, ..RwRegister::default() };
    [RwRegister::default(), linearizable, processes]
}

/// A valid history is never read as a whole.
#[test]
fn shares_decide() {
    for seed in 0..9 {
        let checker = assumed()[usize::try_from(seed % 3).unwrap()].clone();
        let text = registers(seed, 300, 12, Bug::None);
        let one = one_machine(&Setup::new(checker.clone(), Options::new()), text.as_bytes());
        assert_eq!(valid(&one), true, "{one}");
        let only = Setup::new(OnlyShares(checker), Options::new());
        for (workers, range_bytes) in [(5, 1 << 20), (2, 3000), (3, 700)] {
            assert_eq!(many(&only, text.as_bytes(), workers, range_bytes), one, "{seed} {workers} workers");
        }
    }
}

#[test]
fn valid_and_invalid_histories() {
    let mut invalid = BTreeMap::new();
    for seed in 0..12 {
        for (name, bug) in [("none", Bug::None), ("stale", Bug::Stale), ("aborted", Bug::Aborted), ("skew", Bug::Skew)]
        {
            let checker = assumed()[usize::try_from(seed % 3).unwrap()].clone();
            let said = assert_equal(&Setup::new(checker, Options::new()), &registers(seed, 60 + 20 * seed, 5, bug));
            *invalid.entry(name).or_insert(0) += u32::from(valid(&said) == false);
        }
    }
    assert_eq!(invalid["none"], 0);
    assert!(["stale", "aborted", "skew"].iter().all(|bug| invalid[bug] > 6), "{invalid:?}");
}

/// The results of passes at any level are those of one machine.
#[test]
fn passes_agree_at_every_level() {
    let levels = [
        "strict-serializable",
        "serializable",
        "snapshot-isolation",
        "read-committed",
        "strong-session-serializable",
        "causal",
        "read-uncommitted",
        "read-atomic",
    ];
    let mut decided = BTreeMap::new();
    let seeds = std::env::var("SEEDS").map_or(24, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        let bug = [Bug::None, Bug::Stale, Bug::Aborted, Bug::Skew][usize::try_from(seed % 4).unwrap()];
        let text = registers(1000 + seed, 20 + 7 * (seed % 20), 2 + seed % 9, bug);
        let checker = assumed()[usize::try_from(seed / 4 % 3).unwrap()].clone();
        for level in levels {
            let checker = RwRegister { consistency_models: vec![level.parse().unwrap()], ..checker.clone() };
            let one = one_machine(&Setup::new(checker.clone(), Options::new()), text.as_bytes());
            let one: serde_json::Value = serde_json::from_str(&one).unwrap();
            too_much(0);
            let said = spilled(checker, &text, 1 << 20, || Some(too_much(2)));
            let (verdict, expected) = (&said["valid"], &one["valid"]);
            assert!(verdict == expected || verdict == "unknown", "{seed} {level}: {said}, {one}");
            // A level that holds in passes holds for the whole.
            assert!(verdict != true || said == one, "{seed} {level}: {said}, {one}");
            *decided.entry(format!("{verdict} of {expected}, {}", bug == Bug::None)).or_insert(0) += 1;
        }
    }
    assert!(decided["true of true, true"] > 40 && decided["false of false, false"] > 20, "{decided:?}");
    assert_eq!(decided.get("\"unknown\" of true, true"), None, "{decided:?}");
}

/// A transaction that never completed wrote 5 to key 1 and 7 to key 2. Only key 2 shows that it happened, and only key
/// 1 shows that it happened too early.
#[test]
fn another_share_shows_what_happened() {
    let mut shared = 0;
    for key in 2..10 {
        let text = format!(
            "{{:process 0, :type :invoke, :f :txn, :value [[:w 1 1]]}}
{{:process 0, :type :ok, :f :txn, :value [[:w 1 1]]}}
{{:process 1, :type :invoke, :f :txn, :value [[:w 1 5] [:w {key} 7]]}}
{{:process 2, :type :invoke, :f :txn, :value [[:r {key} nil]]}}
{{:process 2, :type :ok, :f :txn, :value [[:r {key} 7]]}}
{{:process 2, :type :invoke, :f :txn, :value [[:r 1 nil]]}}
{{:process 2, :type :ok, :f :txn, :value [[:r 1 1]]}}
"
        );
        let said = assert_equal(&Setup::new(RwRegister::default(), Options::new()), &text);
        assert_eq!(valid(&said), false, "{said}");
        too_much(0);
        let said = spilled(RwRegister::default(), &text, 1 << 20, || Some(too_much(1)));
        assert_ne!(said["valid"], true, "{said}");
        shared += u32::from(said["valid"] == "unknown");
        // Without the last read, it may have happened when it was observed.
        let valid_one: Vec<&str> = text.lines().take(5).collect();
        let said = assert_equal(&Setup::new(RwRegister::default(), Options::new()), &(valid_one.join("\n") + "\n"));
        assert_eq!(valid(&said), true, "{said}");
    }
    assert!(shared > 0, "both keys were always in one share");
}

/// An assumption that one key contradicts is not used for other keys either.
#[test]
fn a_wrong_assumption_is_wrong_for_all_keys() {
    let mut unknown = 0;
    for key in 2..10 {
        // Key 1 goes back to an older version. For the other key, two transactions read versions that are older than
        // real time allows.
        let text = format!(
            "{{:process 0, :type :invoke, :f :txn, :value [[:w 1 1]]}}
{{:process 0, :type :ok, :f :txn, :value [[:w 1 1]]}}
{{:process 0, :type :invoke, :f :txn, :value [[:w 1 2] [:w {key} 1]]}}
{{:process 0, :type :ok, :f :txn, :value [[:w 1 2] [:w {key} 1]]}}
{{:process 0, :type :invoke, :f :txn, :value [[:w {key} 2]]}}
{{:process 0, :type :ok, :f :txn, :value [[:w {key} 2]]}}
{{:process 2, :type :invoke, :f :txn, :value [[:r 1 nil]]}}
{{:process 2, :type :ok, :f :txn, :value [[:r 1 2]]}}
{{:process 2, :type :invoke, :f :txn, :value [[:r 1 nil] [:r {key} nil]]}}
{{:process 2, :type :ok, :f :txn, :value [[:r 1 1] [:r {key} 2]]}}
"
        );
        for level in ["strict-serializable", "serializable", "read-committed", "read-uncommitted"] {
            let models = vec![level.parse().unwrap()];
            let checker = RwRegister { consistency_models: models, linearizable_keys: true, ..RwRegister::default() };
            let one = assert_equal(&Setup::new(checker.clone(), Options::new()), &text);
            too_much(0);
            let said = spilled(checker, &text, 1 << 20, || Some(too_much(1)));
            assert!(said["valid"] == valid(&one) || said["valid"] == "unknown", "{level} {said} {one}");
            unknown += u32::from(said["valid"] == "unknown" && valid(&one) == false);
        }
    }
    assert!(unknown > 0);
}

/// Only key 2 shows that the transaction that ended in an info happened. So only key 2 determines that a write of key 1
/// has a place in the order of its versions.
#[test]
fn what_a_share_does_not_know_is_not_said() {
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:w 1 5] [:r 2 nil]]}
{:process 1, :type :invoke, :f :txn, :value [[:w 1 1] [:w 2 1]]}
{:process 0, :type :ok, :f :txn, :value [[:w 1 5] [:r 2 nil]]}
{:process 1, :type :info, :f :txn, :value [[:w 1 1] [:w 2 1]]}
{:process 2, :type :invoke, :f :txn, :value [[:r 2 nil] [:r 1 nil]]}
{:process 2, :type :ok, :f :txn, :value [[:r 2 1] [:r 1 SEEN]]}
";
    for (seen, strict) in [("5", false), ("1", true)] {
        let text = text.replace("SEEN", seen);
        for level in ["strict-serializable", "update-serializable", "causal", "read-atomic", "read-uncommitted"] {
            let checker = RwRegister { consistency_models: vec![level.parse().unwrap()], ..RwRegister::default() };
            for exact in ["limited", "full"] {
                let setup = Setup::new(checker.clone(), Options::new().with("exact", exact));
                let said = assert_equal(&setup, &text);
                assert!(level != "strict-serializable" || valid(&said) == strict, "{said}");
            }
        }
    }
    // Without a search for an order, shares cannot be decided, so such histories are not split.
    let setup = Setup::new(RwRegister::default(), Options::new().with("exact", "no"));
    assert!(histcheck_scale::can_judge(&setup).unwrap_err().contains("(--exact): leave some out"));
}

/// Whether all versions of key 1 are in a known order depends on a transaction that only key 0 shows to have happened.
#[test]
fn what_others_may_order_is_not_said_to_be_ordered() {
    for key in 1..9 {
        let text = "{:process 4, :type :invoke, :f :txn, :value [[:w KEY 1] [:w 0 2]]}
{:process 4, :type :info, :f :txn, :value [[:w KEY 1] [:w 0 2]]}
{:process 3, :type :invoke, :f :txn, :value [[:r KEY nil]]}
{:process 3, :type :ok, :f :txn, :value [[:r KEY nil]]}
{:process 0, :type :invoke, :f :txn, :value [[:w KEY 2] [:r 0 nil]]}
{:process 0, :type :ok, :f :txn, :value [[:w KEY 2] [:r 0 2]]}
";
        let consistency_models = vec!["snapshot-isolation".parse().unwrap()];
        let checker = RwRegister { consistency_models, linearizable_keys: true, ..RwRegister::default() };
        let setup = Setup::new(checker.clone(), Options::new());
        let said = assert_equal(&setup, &text.replace("KEY", &key.to_string()));
        assert!(said.contains("not_checked"), "{said}");
    }
}
