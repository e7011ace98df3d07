//! Priorities that differ from the values: `[priority value]`, of which several may have the same priority, and
//! integers that are no codes.

use super::hold;
use super::world;
use check_register::models::{PriorityQueue, QueueOp, Removed, Spec};
use check_register::{Engine, Linearizable, Settings, check_with};
use history_core::{Budget, History, Verdict};

/// A model that has codes for these values, and the codes.
fn knowing(values: &[&str]) -> (PriorityQueue, Vec<i64>) {
    let mut model = PriorityQueue::default();
    let insert = |(process, value)| format!("{{:process {process}, :type :invoke, :f :insert, :value {value}}}\n");
    let history = History::parse(&values.iter().enumerate().map(insert).collect::<String>()).unwrap();
    let codes = history.ops().map(|op| match model.decode(&op, None) {
        Ok(Some(QueueOp::Put(code))) => code,
        other => panic!("{other:?}"),
    });
    let codes = codes.collect();
    (model, codes)
}

/// Compares the monitor and the search with trying all orders.
#[test]
fn values_of_one_priority() {
    let (model, codes) = knowing(&["[2 :a]", "[1 :b]", "[2 :c]"]);
    let mut ops: Vec<QueueOp> = codes.iter().map(|code| QueueOp::Put(*code)).collect();
    ops.extend(codes.iter().map(|code| QueueOp::Take(Removed::Value(*code))));
    let settings = Settings { engine: Engine::Monitor, ..Settings::default() };
    let (mut valid, mut invalid) = (0, 0);
    world::random(6, &ops, (20_000, 20), |operations| {
        let is_linearizable = hold(&model, operations);
        match check_with(&model, operations, settings, &Budget::default()).verdict() {
            Verdict::Valid if is_linearizable => valid += 1,
            Verdict::Invalid if !is_linearizable => invalid += 1,
            Verdict::Unknown => {}
            verdict => panic!("{verdict:?}: {operations:?}"),
        }
    });
    assert!(valid > 500 && invalid > 500, "{valid} valid, {invalid} invalid: too few histories");
}

/// The verdict on a history of one client that inserts the first values and then removes the others.
fn verdict(inserted: &[&str], deleted: &[&str]) -> Verdict {
    let op = |kind: &str, f: &str, value: &str| format!("{{:process 0, :type :{kind}, :f :{f}, :value {value}}}\n");
    let inserts = inserted.iter().map(|value| op("invoke", "insert", value) + &op("ok", "insert", value));
    let deletes = deleted.iter().map(|value| op("invoke", "delete-min", "nil") + &op("ok", "delete-min", value));
    let text: String = inserts.chain(deletes).collect();
    Linearizable::<PriorityQueue>::default().check(&History::parse(&text).unwrap()).unwrap().verdict
}

#[test]
fn values_of_one_priority_are_removed_in_any_order() {
    for deleted in [["[1 :b]", "[1 :c]", "[2 :a]"], ["[1 :c]", "[1 :b]", "[2 :a]"]] {
        assert_eq!(verdict(&["[2 :a]", "[1 :b]", "[1 :c]"], &deleted), Verdict::Valid, "{deleted:?}");
    }
    assert_eq!(verdict(&["[2 :a]", "[1 :b]", "[1 :c]"], &["[1 :b]", "[2 :a]"]), Verdict::Invalid);
    // A value is inserted twice, so that the search decides.
    assert_eq!(verdict(&["[1 :b]", "[1 :b]", "[1 :c]"], &["[1 :b]", "[1 :c]", "[1 :b]"]), Verdict::Valid);
    assert_eq!(verdict(&["[1 :b]", "[1 :b]", "[2 :a]"], &["[1 :b]", "[2 :a]"]), Verdict::Invalid);
}

#[test]
fn an_integer_is_its_own_priority() {
    assert_eq!(verdict(&["3", "[2 :a]", "-1"], &["-1", "[2 :a]", "3"]), Verdict::Valid);
    assert_eq!(verdict(&["3", "[2 :a]", "-1"], &["-1", "3"]), Verdict::Invalid);
    // The codes of these are in the order of their first ops.
    let (low, lowest) = ("-9223372036854775807", "-9223372036854775808");
    assert_eq!(verdict(&[low, lowest], &[lowest, low]), Verdict::Valid);
    assert_eq!(verdict(&[low, lowest], &[low, lowest]), Verdict::Invalid);
}
