//! Transactions with several workers: the report is that of one machine, byte for byte, and a valid history is checked
//! in shares.

use crate::made::{many, many_with, one_machine, valid};
use crate::store::{Bug, Objects, OnlyShares, assert_equal, history, too_much};
use check_elle::list_append::ListAppend;
use histcheck_scale::Spill;
use histcheck_scale::histcheck_front::Setup;
use histcheck_scale::histcheck_front::history_core::Options;
use std::cell::Cell;
use std::collections::BTreeMap;

fn lists(seed: u64, txns: u64, keys: u64, bug: Bug) -> String {
    history(Objects::Lists, seed, txns, keys, bug)
}

fn spilled(text: &str, bytes_max: u64, memory: fn() -> Option<u64>) -> serde_json::Value {
    crate::store::spilled(ListAppend::default(), text, bytes_max, memory)
}

fn setup() -> Setup<'static> {
    Setup::new(ListAppend::default(), Options::new())
}

/// A valid history is never read as a whole, and anomalies that no single share shows are found when the shares are
/// joined.
#[test]
fn shares_decide() {
    let only = Setup::new(OnlyShares(ListAppend::default()), Options::new());
    let (mut decided, mut left) = (0, 0);
    for seed in 0..10 {
        let text = lists(seed, 300, 12, Bug::None);
        for (workers, range_bytes) in [(5, 1 << 20), (2, 3000), (3, 700)] {
            let said = many(&only, text.as_bytes(), workers, range_bytes);
            assert_eq!(said, one_machine(&setup(), text.as_bytes()), "{workers} workers");
            decided += 1;
        }
        let text = lists(seed, 300, 12, Bug::Skew);
        if valid(&one_machine(&setup(), text.as_bytes())) == false {
            assert!(many(&only, text.as_bytes(), 3, 700).contains("a whole history"));
            left += 1;
        }
    }
    assert_eq!(decided, 30);
    assert!(left > 5, "{left}");
}

#[test]
fn valid_and_invalid_histories() {
    let mut invalid = BTreeMap::new();
    for seed in 0..12 {
        for (name, bug) in [("none", Bug::None), ("stale", Bug::Stale), ("aborted", Bug::Aborted), ("skew", Bug::Skew)]
        {
            let said = assert_equal(&setup(), &lists(seed, 60 + 20 * seed, 5, bug));
            *invalid.entry(name).or_insert(0) += u32::from(valid(&said) == false);
        }
    }
    assert_eq!(invalid["none"], 0);
    assert!(["stale", "aborted", "skew"].iter().all(|bug| invalid[bug] > 6), "{invalid:?}");
}

fn anomaly_types(said: &serde_json::Value) -> Vec<String> {
    let types = said["anomaly_types"].as_array().unwrap();
    types.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// In any number of passes, a valid history is valid. For an invalid one, the report names anomalies that some keys
/// show.
#[test]
fn passes_over_a_history() {
    let mut invalid = 0;
    for seed in 0..16 {
        let bug = [Bug::None, Bug::Stale, Bug::Aborted, Bug::Skew][usize::try_from(seed % 4).unwrap()];
        let text = lists(seed, 200, 8, bug);
        let expected: serde_json::Value = serde_json::from_str(&one_machine(&setup(), text.as_bytes())).unwrap();
        for memory in [|| Some(too_much(0)), || Some(too_much(1)), || Some(too_much(3))] {
            too_much(0);
            let said = spilled(&text, 1 << 20, memory);
            if expected["valid"] == true || said == expected {
                assert_eq!(said, expected);
                continue;
            }
            assert_eq!(said["valid"], false, "{said}");
            let (types, all) = (anomaly_types(&said), anomaly_types(&expected));
            assert!(!types.is_empty() && types.iter().any(|name| all.contains(name)), "{types:?} {all:?}");
            assert!(said["notes"].to_string().contains("Only some of the keys"), "{said}");
            invalid += 1;
        }
    }
    assert!(invalid > 20, "{invalid}");
}

const OTHER_LEVELS: [&str; 20] = [
    "read-uncommitted",
    "monotonic-view",
    "cursor-stability",
    "consistent-view",
    "forward-consistent-view",
    "update-serializable",
    "repeatable-read",
    "view-serializable",
    "monotonic-atomic-view",
    "monotonic-snapshot-read",
    "parallel-snapshot-isolation",
    "prefix",
    "causal-cerone",
    "read-atomic",
    "update-atomic",
    "strong-session-snapshot-isolation",
    "strong-snapshot-isolation",
    "strong-read-committed",
    "linearizable",
    "read-your-writes",
];

/// The results of passes at any level are those of one machine.
#[test]
fn passes_agree_at_every_level() {
    let mut decided = BTreeMap::new();
    let seeds = std::env::var("SEEDS").map_or(12, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        let bug = [Bug::None, Bug::Stale, Bug::Aborted, Bug::Skew][usize::try_from(seed % 4).unwrap()];
        let text = lists(1000 + seed, 40 + 7 * (seed % 20), 2 + seed % 9, bug);
        let always = ["serializable", "snapshot-isolation", "read-committed", "strong-session-serializable", "causal"];
        let in_turn = OTHER_LEVELS.iter().skip(usize::try_from(seed).unwrap() * 2 % OTHER_LEVELS.len()).take(2);
        for level in always.iter().chain(in_turn) {
            let options = Options::new().with("consistency-models", *level);
            let one = one_machine(&Setup::new(ListAppend::default(), options.clone()), text.as_bytes());
            let dir = tempfile::tempdir().unwrap();
            let only = Setup::new(OnlyShares(ListAppend::default()), options);
            too_much(0);
            let said = many_with(&only, text.as_bytes(), 1, |job| {
                job.spill = Some(Spill::new(dir.path(), 1 << 20, || Some(too_much(2))));
            });
            let (verdict, expected) = (valid(&said), valid(&one));
            assert!(verdict == expected || verdict == "unknown", "{seed} {level}: {said}, {one}");
            // A level that holds in passes holds for the whole.
            assert!(verdict != true || said == one, "{seed} {level}: {said}, {one}");
            *decided.entry(format!("{verdict} of {expected}")).or_insert(0) += 1;
        }
    }
    assert!(decided["true of true"] > 10 && decided["false of false"] > 10, "{decided:?}");
    assert_eq!(decided.get("\"unknown\" of true"), None, "{decided:?}");
}

/// At a weaker level, a violation of strict serializability may be allowed. If too many transactions may be on cycles,
/// deciding this would take more memory than available.
#[test]
fn passes_decide_a_level_that_lets_cycles_be() {
    thread_local! {
        static LOOKS: Cell<u64> = const { Cell::new(0) };
    }
    /// Too much for one pass, and perhaps for another one.
    fn too_much(also: u64) -> u64 {
        let looks = LOOKS.replace(LOOKS.get() + 1);
        if looks == 0 || looks == also { 1 << 30 } else { 0 }
    }
    let text = "
{:process 0, :type :invoke, :f :txn, :value [[:append 1 1]]}
{:process 0, :type :ok, :f :txn, :value [[:append 1 1]]}
{:process 1, :type :invoke, :f :txn, :value [[:r 1 nil]]}
{:process 1, :type :ok, :f :txn, :value [[:r 1 []]]}
";
    let options = Options::new().with("consistency-models", "serializable");
    let setup = Setup::new(ListAppend::default(), options);
    let dir = tempfile::tempdir().unwrap();
    let said = |spill| many_with(&setup, text.trim_start().as_bytes(), 2, |job| job.spill = spill);
    let one = said(None);
    assert_eq!(valid(&one), true);
    LOOKS.set(0);
    assert_eq!(said(Some(Spill::new(dir.path(), 1 << 20, || Some(too_much(0))))), one);
    // One pass, three with a third of the keys each, and one for the transactions that may be on cycles.
    assert_eq!(LOOKS.get(), 5);
    LOOKS.set(0);
    let limited = said(Some(Spill::new(dir.path(), 1 << 20, || Some(too_much(4)))));
    assert_eq!(valid(&limited), "unknown");
    assert!(limited.contains("Too much of this history may be on cycles"), "{limited}");
}

/// If no number of passes is sufficient, there is no verdict. Errors are reported with their positions.
#[test]
fn what_passes_cannot_judge() {
    let text = lists(3, 200, 8, Bug::None);
    let said = spilled(&text, 1 << 20, || Some(1 << 30));
    assert!(said["error"].to_string().contains("1048576 bytes of memory are too few"), "{said}");
    let broken = format!("{text}oops");
    let said = spilled(&broken, 1 << 20, || Some(0));
    let expected: serde_json::Value = serde_json::from_str(&one_machine(&setup(), broken.as_bytes())).unwrap();
    assert_eq!(said["error"], expected["error"]);
    let missing = Setup::new(ListAppend::default(), Options::new());
    too_much(0);
    let none = many_with(&missing, text.as_bytes(), 1, |job| {
        job.spill = Some(Spill::new("/none/such", 1 << 20, || Some(too_much(1))));
    });
    assert!(none.contains("temporary file"), "{none}");
}

/// An op that is not a transaction may have written anything, on the keys of any share.
#[test]
fn passes_over_what_is_malformed() {
    let text = "
{:process 0, :type :invoke, :f :txn, :value [[:r 1 nil]]}
{:process 0, :type :ok, :f :txn, :value [[:r 1 [7]]]}
{:process 1, :type :invoke, :f :txn, :value [[:append 1 1]]}
{:process 1, :type :ok, :f :txn, :value [[:append 1 1]]}
";
    let unknown = serde_json::Value::from("unknown");
    // A read writes nothing, whatever its value is.
    for (odd, verdict) in [("[:append 2]", &unknown), ("[:what 2 3]", &unknown), ("[:r 2 5]", &false.into())] {
        let text = format!("{{:process 2, :type :invoke, :f :txn, :value [{odd}]}}{text}");
        let one = one_machine(&setup(), text.as_bytes());
        assert_eq!(valid(&one), *verdict, "{one}");
        for looks in [|| Some(too_much(0)), || Some(too_much(3))] {
            too_much(0);
            let said = spilled(&text, 1 << 20, looks);
            assert_eq!(said["valid"], *verdict, "{odd}: {said}");
        }
        assert_equal(&setup(), &text);
    }
}

/// An anomaly on some keys is certain, whatever an op that cannot be understood did.
#[test]
fn passes_find_what_is_wrong_beside_what_is_malformed() {
    let wrong = "
{:process 0, :type :invoke, :f :txn, :value [[:append 1 1]]}
{:process 0, :type :ok, :f :txn, :value [[:append 1 1]]}
{:process 0, :type :invoke, :f :txn, :value [[:r 1 nil]]}
{:process 0, :type :ok, :f :txn, :value [[:r 1 []]]}
";
    let twice = "
{:process 1, :type :invoke, :f :txn, :value [[:append 2 7]]}
{:process 1, :type :ok, :f :txn, :value [[:append 2 7]]}
";
    for text in [[wrong, twice, twice].concat(), [twice, twice, wrong].concat()] {
        assert_eq!(valid(&assert_equal(&setup(), &text)), false);
        too_much(0);
        let said = spilled(&text, 1 << 20, || Some(too_much(1)));
        assert_eq!(
            (&said["valid"], &said["anomaly_types"]),
            (&false.into(), &serde_json::json!(["G-single-item-realtime"]))
        );
    }
}

/// Ops of processes that are not clients belong to no share.
#[test]
fn passes_note_what_is_not_of_a_client() {
    let text = format!("{{:process :setup, :type :info, :f :start}}\n{}", lists(3, 100, 8, Bug::None));
    let expected: serde_json::Value = serde_json::from_str(&assert_equal(&setup(), &text)).unwrap();
    assert_eq!(expected["valid"], true);
    too_much(0);
    assert_eq!(spilled(&text, 1 << 20, || Some(too_much(1))), expected);
}

/// Shares are joined by real time, so completions alone are not sufficient.
#[test]
fn passes_cannot_judge_completions_only() {
    let text = lists(3, 100, 8, Bug::None);
    let text = text.lines().filter(|line| !line.contains(":invoke")).collect::<Vec<_>>().join("\n");
    too_much(0);
    let said = spilled(&text, 1 << 20, || Some(too_much(1)));
    assert_eq!(said["valid"], "unknown");
    assert!(said["notes"].to_string().contains("Some completion has no invocation"), "{said}");
}

/// The invocation and the completion of a transaction are compared, although their keys are in several shares.
#[test]
fn ends_that_differ() {
    let ends = [
        // The same writes in another order.
        ("[:append 100 1] [:append 101 2]", "ok", "[:append 101 2] [:append 100 1]"),
        ("[:append 100 1] [:append 101 2] [:append 100 3]", "ok", "[:append 100 1] [:append 100 3] [:append 101 2]"),
        ("[:append 100 1] [:append 101 2]", "info", "[:append 101 2] [:append 100 1]"),
        // Other keys.
        ("[:append 100 1]", "ok", "[:append 101 1]"),
        ("[:append 100 1] [:append 101 2]", "ok", "[:append 100 1]"),
        ("[:append 100 1]", "ok", "[:append 100 1] [:append 102 2]"),
        // A failed completion without writes is not counted.
        ("[:append 100 1] [:r 101 nil]", "fail", "[:r 101 nil]"),
        ("[:append 100 1] [:r 101 nil]", "fail", "[:r 102 nil] [:r 103 nil]"),
        ("[:r 101 nil]", "fail", "[:append 100 1] [:r 101 nil]"),
        ("[:append 100 1] [:r 101 nil]", "ok", "[:r 101 []] [:append 100 1]"),
    ];
    let mut unknown = 0;
    for (invoked, kind, completed) in ends {
        let text = format!(
            "{{:process 90, :type :invoke, :f :txn, :value [{invoked}]}}
{{:process 90, :type :{kind}, :f :txn, :value [{completed}]}}
{}",
            lists(9, 60, 8, Bug::None)
        );
        let expected: serde_json::Value = serde_json::from_str(&assert_equal(&setup(), &text)).unwrap();
        too_much(0);
        let said = spilled(&text, 1 << 20, || Some(too_much(1)));
        if expected["valid"] == "unknown" {
            assert_eq!(said["valid"], "unknown", "{invoked} {completed}");
            unknown += 1;
        } else {
            assert_eq!(said, expected, "{invoked} {completed}");
        }
    }
    assert_eq!(unknown, 6);
}

/// Formats other than one op per line are read, too.
#[test]
fn passes_over_any_format() {
    let text = lists(5, 100, 8, Bug::None);
    let expected: serde_json::Value = serde_json::from_str(&one_machine(&setup(), text.as_bytes())).unwrap();
    let array = format!("[{}]", text.trim_end());
    let named = text.replace(":process 1,", ":process :w1,");
    for other in [array, named] {
        too_much(0);
        assert_eq!(spilled(&other, 1 << 20, || Some(too_much(2))), expected);
    }
}

/// Errors in ops are reported with their positions.
#[test]
fn broken_ops() {
    let text = lists(3, 100, 8, Bug::None);
    let lines = text.lines().count();
    let broken = [
        "{:process 0, :type :nope}",
        "{:process 77, :type :invoke, :f :txn, :value nil}",
        "{:process 77, :type :invoke, :f :txn, :value [[:append 1 1000] [:what]]}",
        "{:process 77, :type :invoke, :f :txn, :value [[:append 1 1]]}",
        "{:process 77, :type :ok, :f :txn, :value [[:append 1 1000]]}",
        "{:process :nemesis, :type :info, :f :kill}",
        "{:process :clock, :type :info, :f :bump}",
    ];
    for line in broken {
        for at in [0, lines / 2, lines - 1] {
            let mut all: Vec<&str> = text.lines().collect();
            all.insert(at, line);
            assert_equal(&setup(), &all.join("\n"));
        }
    }
}
