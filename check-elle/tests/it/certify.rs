//! Tests of certification: true witnesses are certified, and every altered witness is refused.

use crate::oracle::cases::{CASES, edn};
use crate::oracle::tamper::{self, component, cycle};
use elle_certify as certify;
use history_core::{Datum, History};

#[test]
fn what_is_true_is_certified() {
    assert!(tamper::certify_all(CASES) >= 50, "the cases have many witnesses");
}

#[test]
fn no_change_goes_unnoticed() {
    assert!(tamper::refuse_changed(CASES) > 1000, "there is much to change");
}

#[test]
fn no_witness_proves_two_types() {
    // A read of a value that a failed transaction wrote and then overwrote is both a G1a and a G1b, and the witnesses
    // of both have the same facts.
    tamper::refuse_other_types(CASES, &["G1a and G1b"]);
}

#[test]
fn each_type_is_certified_in_some_case() {
    let mut certified = tamper::types(CASES);
    for cycle in ["G0", "G1c", "G-single-item", "G-nonadjacent-item", "G2-item"] {
        for suffix in ["", "-process", "-realtime"] {
            assert!(certified.remove(&format!("{cycle}{suffix}")), "{cycle}{suffix} is in no case");
        }
    }
    let direct = [
        "G1a",
        "G1b",
        "cyclic-versions",
        "dirty-update",
        "duplicate-elements",
        "future-read",
        "garbage-read",
        "incompatible-order",
        "internal",
        "lost-update",
    ];
    assert_eq!(certified.into_iter().collect::<Vec<_>>(), direct);
}

#[test]
fn reasons_name_what_fails() {
    let history = History::parse(&edn(
        "0 ok ax1 ay1\n1 ok ax2 ay2\n2 ok rx[1 2 3] ry[2 1]\n3 ok ax3\n4 fail ax4\n5 ok rx[1 2]\n6 ok rx[] rz[]\n7 ok az5\n8 ok az6",
    ))
    .unwrap();
    let one = || Datum::from(1);
    let reason = |ops: &[usize], steps: &[(&str, &str, Datum, i64)]| {
        certify::list_append(&history, "G0", &cycle(&history, ops, steps)).map_err(|error| error.to_string())
    };
    assert_eq!(reason(&[0, 1], &[("ww", "x", one(), 2), ("ww", "y", 2.into(), 1)]), Ok(()));
    let errors = [
        (
            reason(&[0, 3], &[("ww", "x", one(), 3), ("ww", "y", 2.into(), 1)]),
            "step 0: 3 is not the direct successor of 1 in the version order of key :x, [1 2 3]",
        ),
        (
            reason(&[0, 1], &[("ww", "x", one(), 3), ("ww", "y", 2.into(), 1)]),
            "step 0: op 1 did not append 3 to key :x",
        ),
        (
            reason(&[0, 4], &[("ww", "x", one(), 4), ("ww", "x", 4.into(), 1)]),
            "op 4 failed, and failed ops cannot be in a cycle",
        ),
        (reason(&[0, 0], &[("ww", "x", one(), 2), ("ww", "y", 2.into(), 1)]), "the cycle contains op 0 twice"),
        (reason(&[0], &[("ww", "x", one(), 2)]), "a cycle has at least two transactions, found 1"),
        (
            reason(&[5, 3], &[("rw", "x", 2.into(), 3), ("wr", "x", 3.into(), 3)]),
            "step 1: op 5 read no list of key :x that ends in 3",
        ),
        (
            reason(&[5, 0], &[("rw", "x", Datum::Nil, 1), ("ww", "x", one(), 2)]),
            "step 0: op 5 did not read the empty list of key :x",
        ),
        (
            reason(&[6, 7], &[("rw", "z", Datum::Nil, 5), ("ww", "z", 5.into(), 6)]),
            "step 1: op 6 did not append 6 to key :z",
        ),
        (
            reason(&[7, 8], &[("ww", "z", 5.into(), 6), ("ww", "z", 6.into(), 5)]),
            "step 0: 5 is not in the version order of key :z, []",
        ),
        (
            reason(&[0, 1], &[("process", "x", one(), 2), ("ww", "y", 2.into(), 1)]),
            "step 0: ops 0 and 1 are of different processes",
        ),
        (
            reason(&[0, 1], &[("realtime", "x", one(), 2), ("ww", "y", 2.into(), 1)]),
            "step 0: op 0 had not completed when op 1 was invoked",
        ),
    ];
    for (got, expected) in errors {
        assert_eq!(got, Err(expected.to_owned()));
    }
}

#[test]
fn anti_dependencies_lead_to_all_that_nobody_read() {
    let history = History::parse(&edn("0 ok rx[] ry[]\n1 ok ax1 rz[]\n2 ok ax2 ay3\n3 ok az4")).unwrap();
    for (to, element) in [(1, 1), (2, 2)] {
        let witness = cycle(&history, &[0, to], &[("rw", "x", Datum::Nil, element), ("rw", "x", Datum::Nil, element)]);
        let error = certify::list_append(&history, "G2-item", &witness).unwrap_err();
        // The first step is valid.
        assert_eq!(error.step, Some(1), "{error}");
    }
}

#[test]
fn components_are_those_of_the_model() {
    let on = |text: &str, model: &str, txns: &[i64], size: i64| {
        let history = History::parse(&edn(text)).unwrap();
        certify::list_append(&history, &format!("{model}-cycle-exists"), &component(txns, size))
            .map_err(|error| error.reason)
    };
    let g0 = "0 ok ax1 ay1\n1 ok ax2 ay2\n2 ok rx[1 2] ry[2 1]";
    let skew = "0 ok rx[] ay1\n1 ok ry[] ax1";
    let single = "0 ok rx[] ry[1]\n1 ok ax1 ay1";
    let session = "0 ok rx[1]\n0 ok ax1";
    let stale = "0 invoke ax1\n0 ok ax1\n1 invoke rx?\n1 ok rx[]";
    for (text, model, txns) in [
        (g0, "PL-1", [0, 1]),
        (g0, "PL-3", [1, 0]),
        (skew, "PL-3", [0, 1]),
        (skew, "PL-2.99", [0, 1]),
        (single, "PL-SI", [0, 1]),
        (session, "strong-session-PL-2", [0, 1]),
        (session, "strong-session-snapshot-isolation", [0, 1]),
        (session, "PL-SS", [0, 1]),
        (stale, "PL-SS", [1, 3]),
        (stale, "strong-snapshot-isolation", [1, 3]),
    ] {
        assert_eq!(on(text, model, &txns, 2), Ok(()), "{model} of {text}");
        assert_eq!(on(text, model, &txns[..1], 2), Ok(()), "{model} of {text}, cut");
        assert_eq!(on(text, model, &txns, 3), Err("the component has 2 transactions".into()));
    }
    for (text, model, txns) in [
        (g0, "PL-1", [0, 2]),
        (skew, "PL-SI", [0, 1]),
        (single, "PL-2", [0, 1]),
        (session, "PL-3", [0, 1]),
        (session, "strong-session-PL-1", [0, 1]),
        (stale, "strong-PL-2", [1, 3]),
        (stale, "strong-session-serializable", [1, 3]),
    ] {
        let reason = on(text, model, &txns, 2).unwrap_err();
        assert!(reason.contains("is not on such a cycle"), "{model} of {text}: {reason}");
    }
    assert_eq!(on(g0, "PL-0", &[0, 1], 2), Err("no type of cycle rules out PL-0".into()));
}
