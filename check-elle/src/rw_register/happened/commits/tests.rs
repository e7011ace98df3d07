//! Tests that an order is found only if one exists, and in nearly all cases in which one exists.

use super::are_ordered;
use crate::exact::{Exact, is_strict};
use crate::rw_register::analysis::Registers;
use crate::rw_register::run::RwRegisterRun;
use crate::rw_register::sources::Sources;
use crate::txn::expected::Expected;
use crate::txn::fold::TxnRun;
use crate::txn::online::tests::{Bugs, Random, bugs, history};
use history_core::{Budget, Datum, History, Run as _};

fn registers(text: &str) -> Registers {
    let expected = Expected { exact: Exact::No, ..Expected::default() };
    let mut run = TxnRun::new(RwRegisterRun::new(expected, Sources::default(), &Datum::Nil));
    for op in History::parse(text).unwrap().ops() {
        let _ = run.observe(&op).unwrap();
    }
    run.known(&Budget::default()).unwrap()
}

/// Whether one pass finds an order, and whether the complete search finds one.
fn judge(text: &str) -> (bool, bool) {
    let of = registers(text);
    let happened = super::super::serial(&of.versions, &of.txns, false);
    let happened = happened.filter(|happened| !happened.contradicts_itself);
    let exists = happened.is_some_and(|happened| is_strict(&happened.txns, Exact::Full, &Budget::default()).is_some());
    let contradicts_itself = !of.direct.internal.is_empty();
    let is_found = !contradicts_itself && are_ordered(&of.versions, &of.txns, of.touches.all());
    (is_found, exists)
}

/// The numbers of random histories with an order that is found, with one that is not found, and without an order.
fn count(seeds: std::ops::Range<u64>, txns: u64, bugs: impl Fn(&mut Random) -> Bugs) -> [u32; 3] {
    let mut count = [0; 3];
    for seed in seeds {
        let text = history(seed, txns, bugs(&mut Random(seed)), true);
        match judge(&text) {
            (true, true) => count[0] += 1,
            (false, true) => count[1] += 1,
            (false, false) => count[2] += 1,
            (true, false) => panic!("seed {seed}: there is no such order\n{text}"),
        }
    }
    count
}

#[test]
fn an_order_is_found_only_if_there_is_one() {
    let [found, missed, none] = count(0..6000, 6, bugs);
    assert!(found > 1000 && none > 1000, "{found} {missed} {none}");
    let [found, missed, none] = count(0..400, 60, |_| Bugs { torn: 30, ..Bugs::default() });
    assert!(found > 100 && none > 50, "{found} {missed} {none}");
}

#[test]
fn an_order_is_found_in_nearly_all_cases_with_one() {
    let [found, missed, none] = count(0..400, 200, |_| Bugs::default());
    assert!(found > 390 && none == 0, "{found} {missed} {none}");
}
