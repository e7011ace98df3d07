//! Tests of certification of rw-register witnesses: true witnesses are certified, and every altered witness is refused.

use crate::oracle::cases::edn;
use crate::oracle::register_cases::CASES;
use crate::oracle::tamper::{self, component, cycle, witness_op};
use elle_certify::{self as certify, Sources};
use history_core::{Datum, History, Witness};

#[test]
fn what_is_true_is_certified() {
    assert!(tamper::certify_all(CASES) >= 35, "the cases have many witnesses");
}

#[test]
fn each_type_is_certified_in_some_case() {
    let mut certified = tamper::types(CASES);
    for cycle in ["G0", "G1c", "G-single-item", "G-nonadjacent-item", "G2-item"] {
        for suffix in ["", "-process", "-realtime"] {
            assert!(certified.remove(&format!("{cycle}{suffix}")), "{cycle}{suffix} is in no case");
        }
    }
    let direct = ["G1a", "G1b", "cyclic-versions", "garbage-read", "internal", "lost-update"];
    assert_eq!(certified.into_iter().collect::<Vec<_>>(), direct);
}

#[test]
fn no_change_goes_unnoticed() {
    assert!(tamper::refuse_changed(CASES) > 700, "there is much to change");
}

#[test]
fn no_witness_proves_two_types() {
    tamper::refuse_other_types(CASES, &[]);
}

/// Certifies the cycle of these steps as a G0; returns the error, or "certified".
fn reason(history: &History, sources: &Sources, ops: &[usize], steps: &[(&str, &str, Datum, i64)]) -> String {
    let result = certify::rw_register(history, sources, "G0", &cycle(history, ops, steps));
    result.map_or_else(|error| error.to_string(), |()| "certified".into())
}

#[test]
fn reasons_name_what_fails() {
    let history = History::parse(&edn(
        "0 ok wx1 ry2 wy3\n1 ok rx1 wx2 wy2\n2 fail wx4\n3 info rx1 wx5\n4 ok wx6 rx6 wx7\n0 ok rx?",
    ))
    .unwrap();
    let wfr = Sources { wfr_keys: true, ..Sources::default() };
    let [one, two] = [|| Datum::from(1), || Datum::from(2)];
    let x = |relation: &'static str, value: Datum, next: i64| (relation, "x", value, next);
    let y = |relation: &'static str, value: Datum, next: i64| (relation, "y", value, next);
    let good = [x("ww", one(), 2), y("ww", two(), 3)];
    assert_eq!(reason(&history, &wfr, &[0, 1], &good), "certified");
    let none = Sources::default();
    for (sources, ops, steps, expected) in [
        (&none, [0, 1], good.clone(), "step 0: none of initial-state orders 2 after 1 in key :x"),
        (&wfr, [0, 1], [x("ww", one(), 3), y("ww", two(), 3)], "step 0: op 1 did not write 3 to key :x"),
        (&wfr, [0, 2], [x("ww", one(), 4), x("ww", 4.into(), 1)], "op 2 failed, and failed ops cannot be in a cycle"),
        (&wfr, [0, 3], [x("wr", one(), 1), x("ww", 5.into(), 1)], "step 0: op 3 did not first read 1 of key :x"),
        // A version that its own transaction overwrote, and the transaction's read of it, relate to no other
        // transaction.
        (&wfr, [4, 0], [x("ww", 6.into(), 1), x("ww", one(), 7)], "step 0: op 4 did not write 6 to key :x"),
        (&wfr, [0, 4], [x("wr", 6.into(), 6), x("ww", 7.into(), 1)], "step 0: op 0 did not write 6 to key :x"),
        (&wfr, [4, 0], [x("rw", 6.into(), 1), x("ww", one(), 7)], "step 0: op 4 did not first read 6 of key :x"),
        (&wfr, [5, 0], [x("rw", Datum::Nil, 1), ("process", "x", one(), 2)], "a cycle of rw, process is not G0"),
        (&wfr, [1, 0], [x("rw", Datum::Nil, 1), x("ww", one(), 2)], "step 0: op 1 did not first read nil of key :x"),
        (
            &wfr,
            [0, 1],
            [x("realtime", one(), 2), y("ww", two(), 3)],
            "step 0: op 0 had not completed when op 1 was invoked",
        ),
    ] {
        assert_eq!(reason(&history, sources, &ops, &steps), expected);
    }
}

#[test]
fn each_source_is_believed_only_if_asked_for() {
    let steps = [("ww", "x", Datum::from(1), 2), ("wr", "y", Datum::from(1), 1)];
    let asked = |name: &str| Sources {
        wfr_keys: name == "wfr-keys",
        sequential_keys: name == "sequential-keys",
        linearizable_keys: name == "linearizable-keys",
        transaction_order: (name == "transaction-order").then(|| vec![0, 1, 2, 3]),
        ..Sources::default()
    };
    let names = ["wfr-keys", "sequential-keys", "linearizable-keys", "transaction-order"];
    for (text, ops, proving) in [
        ("0 ok wx1 ry1\n1 ok rx1 wx2 wy1", [0, 1], &["wfr-keys"][..]),
        // A later transaction of the same process is also later in real time.
        ("0 ok wx1 ry1\n0 ok wx2 wy1", [0, 1], &["sequential-keys", "linearizable-keys", "transaction-order"]),
        (
            "0 invoke wx1 ry?\n0 ok wx1 ry1\n1 invoke wx2 wy1\n1 ok wx2 wy1",
            [1, 3],
            &["linearizable-keys", "transaction-order"],
        ),
        // An order given by the indices of the invocations is accepted too.
        ("0 invoke wx1 ry?\n1 invoke wx2 wy1\n0 ok wx1 ry1\n1 ok wx2 wy1", [2, 3], &["transaction-order"]),
    ] {
        let history = History::parse(&edn(text)).unwrap();
        for name in names {
            let result = certify::rw_register(&history, &asked(name), "G1c", &cycle(&history, &ops, &steps));
            assert_eq!(result.is_ok(), proving.contains(&name), "{name}: {text}: {result:?}");
        }
    }
}

/// Makes a witness of versions of x that precede each other.
fn versions(scc: &[Datum], sources: &[&str]) -> Witness {
    let sources = sources.iter().map(|name| Datum::keyword(*name)).collect();
    let facts = vec![
        ("key".into(), Datum::keyword("x")),
        ("scc".into(), Datum::Vector(scc.to_vec())),
        ("sources".into(), Datum::Vector(sources)),
    ];
    Witness::default().with_facts(facts)
}

#[test]
fn cyclic_versions_name_the_component_and_who_says_so() {
    let history = History::parse(&edn("0 ok rx1 wx2\n1 ok rx2 wx1\n1 ok wx3\n2 ok rx3\n2 ok rx1\n3 ok ry1")).unwrap();
    let [one, two, three] = [1, 2, 3].map(Datum::from);
    let both = Sources { wfr_keys: true, sequential_keys: true, ..Sources::default() };
    let ask = |scc: &[Datum], sources: &[&str]| {
        let result = certify::rw_register(&history, &both, "cyclic-versions", &versions(scc, sources));
        result.map_err(|error| error.reason)
    };
    let wfr = ["initial-state", "wfr-keys"];
    // The edges of the first source were omitted, so the second source contradicts none of them.
    let sequential = ["initial-state", "sequential-keys"];
    assert_eq!(ask(&[two.clone(), one.clone()], &wfr), Ok(()));
    assert_eq!(ask(&[one.clone(), three.clone()], &sequential), Ok(()));
    let incomplete = "versions [1] of key :x are not a whole cycle of versions";
    assert_eq!(ask(std::slice::from_ref(&one), &wfr), Err(incomplete.into()));
    for scc in [
        &[][..],
        &[one.clone(), two.clone(), three.clone()],
        &[one.clone(), one.clone()],
        &[two.clone(), three.clone()],
    ] {
        let reason = ask(scc, &wfr).unwrap_err();
        assert!(reason.ends_with("are not a whole cycle of versions"), "{reason}");
    }
    for sources in [&["wfr-keys"][..], &["initial-state", "wfr-keys", "sequential-keys"], &["initial-state"], &[]] {
        let reason = ask(&[one.clone(), two.clone()], sources).unwrap_err();
        assert!(reason.ends_with("do not contradict one another"), "{reason}");
    }
    let with_op = |at: usize| {
        let mut witness = versions(&[one.clone(), two.clone()], &wfr);
        witness.ops = vec![witness_op(&history, at)];
        certify::rw_register(&history, &both, "cyclic-versions", &witness).map_err(|error| error.reason)
    };
    assert_eq!(with_op(0), Ok(()));
    assert_eq!(with_op(5), Err("op 5 does not use key :x".into()));
}

#[test]
fn what_nobody_can_tell_is_not_certified() {
    let steps = [("ww", "x", Datum::from(1), 2), ("wr", "y", Datum::from(1), 1)];
    for (text, expected) in [
        ("0 ok wx1 ry1\n1 ok rx1 wx2 wy1\n2 fail wx1", "1 was written to key :x 2 times"),
        ("0 ok wx1 ry1\n1 ok rx1 wx2 wy1\n2 ok ax1", "[:append :x 1] is not a micro-op of rw-register"),
        ("0 ok wx1 ry1\n1 ok rx1 wx2 wy1\n2 ok wxnil", "[:w :x nil] is not a micro-op of rw-register"),
    ] {
        let history = History::parse(&edn(text)).unwrap();
        let sources = Sources { wfr_keys: true, ..Sources::default() };
        let error = certify::rw_register(&history, &sources, "G1c", &cycle(&history, &[0, 1], &steps)).unwrap_err();
        assert_eq!(error.reason, expected);
    }
}

#[test]
fn components_are_those_of_the_model() {
    let wfr = Sources { wfr_keys: true, ..Sources::default() };
    let g0 = "0 ok wx1 ry2 wy3\n1 ok rx1 wx2 wy2";
    let skew = "0 ok rx? wy1\n1 ok ry? wx1";
    for (text, sources, model, holds) in [
        (g0, &wfr, "PL-1", true),
        (g0, &Sources::default(), "PL-1", false),
        (g0, &Sources::default(), "PL-2", true),
        (skew, &wfr, "PL-SI", false),
        (skew, &wfr, "PL-3", true),
    ] {
        let history = History::parse(&edn(text)).unwrap();
        let ask = |size: i64| {
            certify::rw_register(&history, sources, &format!("{model}-cycle-exists"), &component(&[0, 1], size))
        };
        assert_eq!(ask(2).is_ok(), holds, "{model} of {text}: {:?}", ask(2));
        assert!(ask(3).is_err());
    }
}
