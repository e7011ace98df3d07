//! Tiny histories of registers with the results that the specification requires, for the sources of version orders in
//! use.

use super::Workload;
use super::cases::{Case, SERIALIZABLE, SESSION, STRICT};
use super::registers::Sources;

const NONE: Sources<'static> =
    Sources { wfr_keys: false, sequential_keys: false, linearizable_keys: false, transaction_order: None };
const WFR: Sources<'static> = Sources { wfr_keys: true, ..NONE };
const SEQUENTIAL: Sources<'static> = Sources { sequential_keys: true, ..NONE };
const LINEARIZABLE: Sources<'static> = Sources { linearizable_keys: true, ..NONE };
const ALL: Sources<'static> = Sources { wfr_keys: true, sequential_keys: true, ..LINEARIZABLE };

/// An order of the transactions of a history without invocations.
const fn order(order: &'static [u64]) -> Sources<'static> {
    Sources { transaction_order: Some(order), ..NONE }
}

const fn case(
    name: &'static str,
    (models, sources): (&'static [&'static str], Sources<'static>),
    types: &'static str,
    verdict: &'static str,
    history: &'static str,
) -> Case {
    Case { name, models, anomalies: &[], workload: Workload::RwRegister(sources), history, types, verdict }
}

const fn invalid(
    name: &'static str,
    asked: (&'static [&'static str], Sources<'static>),
    types: &'static str,
    history: &'static str,
) -> Case {
    case(name, asked, types, "false", history)
}

const fn valid(name: &'static str, asked: (&'static [&'static str], Sources<'static>), history: &'static str) -> Case {
    case(name, asked, "", "true", history)
}

/// A case without any relation between the transactions.
const fn unrelated(name: &'static str, sources: Sources<'static>, history: &'static str) -> Case {
    case(name, (STRICT, sources), "empty-transaction-graph", "unknown", history)
}

pub(crate) const CASES: &[Case] = &[
    valid("one writes, another reads", (STRICT, NONE), "0 ok wx1\n1 ok rx1"),
    unrelated("a transaction alone", ALL, "0 ok rx? wx1 rx1"),
    unrelated("nothing says which write came first", NONE, "0 ok wx1\n1 ok wx2"),
    unrelated("what an info op read says nothing", ALL, "0 info rx1\n1 fail wx1"),
    unrelated("a failed op did nothing", ALL, "0 fail rx? wx1\n1 ok wx2"),
    // Cycles of data.
    invalid("G0", (STRICT, WFR), "G0", "0 ok wx1 ry2 wy3\n1 ok rx1 wx2 wy2"),
    invalid("the same, if reads say nothing of writes", (STRICT, NONE), "G1c", "0 ok wx1 ry2 wy3\n1 ok rx1 wx2 wy2"),
    invalid("G1c", (STRICT, NONE), "G1c", "0 ok wx1 ry1\n1 ok wy1 rx1"),
    invalid("G1c with an order", (STRICT, order(&[0, 1])), "G1c", "0 ok wx1 ry1\n1 ok wx2 wy1"),
    invalid("G-single", (STRICT, NONE), "G-single-item", "0 ok rx? ry1\n1 ok wx1 wy1"),
    invalid(
        "G-nonadjacent: a long fork",
        (STRICT, NONE),
        "G-nonadjacent-item",
        "0 ok wx1\n1 ok wy1\n2 ok rx1 ry?\n3 ok rx? ry1",
    ),
    invalid("G2: write skew", (STRICT, NONE), "G2-item", "0 ok rx? wy1\n1 ok ry? wx1"),
    invalid("G2 past the first version", (STRICT, WFR), "G2-item", "0 ok wx1 wy1\n1 ok rx1 ry1 wx2\n2 ok rx1 ry1 wy2"),
    valid(
        "the same, if reads say nothing of writes",
        (STRICT, NONE),
        "0 ok wx1 wy1\n1 ok rx1 ry1 wx2\n2 ok rx1 ry1 wy2",
    ),
    // Processes.
    invalid("G0-process", (SESSION, WFR), "G0-process", "0 ok rx1 wx2\n0 ok wx1"),
    invalid("G1c-process", (SESSION, NONE), "G1c-process", "0 ok rx1\n0 ok wx1"),
    invalid("G-single-process", (SESSION, NONE), "G-single-item-process", "0 ok wx1\n0 ok rx?"),
    invalid(
        "G-nonadjacent-process",
        (SESSION, NONE),
        "G-nonadjacent-item-process",
        "0 ok wx1\n0 ok ry?\n1 ok wy1\n1 ok rx?",
    ),
    invalid("G2-process", (SESSION, NONE), "G2-item-process", "0 ok wy1\n0 ok rx?\n1 ok wx1 ry?"),
    valid("a process alone orders nothing for serializability", (SERIALIZABLE, ALL), "0 ok rx1\n0 ok wx1"),
    // Real time.
    invalid("G0-realtime", (STRICT, WFR), "G0-realtime", "0 invoke rx? wx2\n0 ok rx1 wx2\n1 invoke wx1\n1 ok wx1"),
    invalid("G1c-realtime", (STRICT, NONE), "G1c-realtime", "0 invoke rx?\n0 ok rx1\n1 invoke wx1\n1 ok wx1"),
    invalid(
        "G-single-realtime",
        (STRICT, NONE),
        "G-single-item-realtime",
        "0 invoke wx1\n0 ok wx1\n1 invoke rx?\n1 ok rx?",
    ),
    invalid(
        "G-nonadjacent-realtime",
        (STRICT, NONE),
        "G-nonadjacent-item-realtime",
        "3 invoke ry? rx?\n2 invoke wy1\n0 invoke wx1\n0 ok wx1\n1 invoke ry?\n1 ok ry?\n2 ok wy1\n3 ok ry1 rx?",
    ),
    invalid(
        "G2-realtime",
        (STRICT, NONE),
        "G2-item-realtime",
        "1 invoke wx1 ry?\n2 invoke wy1\n2 ok wy1\n0 invoke rx?\n0 ok rx?\n1 ok wx1 ry?",
    ),
    valid("a stale read is serializable", (SERIALIZABLE, WFR), "0 invoke wx1\n0 ok wx1\n1 invoke rx?\n1 ok rx?"),
    valid("overlapping in time", (STRICT, ALL), "0 invoke wx1\n1 invoke rx?\n0 ok wx1\n1 ok rx?"),
    invalid(
        "what is still open did not come before",
        (STRICT, NONE),
        "G1c-realtime",
        "0 invoke rx?\n0 ok rx1\n1 invoke wx1",
    ),
    // Version orders by processes and by real time.
    valid("two writes of a process", (SERIALIZABLE, NONE), "0 ok wx1\n0 ok wx2 wy1\n1 ok rx1 ry1"),
    invalid(
        "the same, one version after the other",
        (SERIALIZABLE, SEQUENTIAL),
        "G-single-item",
        "0 ok wx1\n0 ok wx2 wy1\n1 ok rx1 ry1",
    ),
    invalid(
        "the same, of which the last is info",
        (SERIALIZABLE, SEQUENTIAL),
        "G-single-item",
        "0 ok wx1\n0 info wx2 wy1\n1 ok rx1 ry1",
    ),
    valid(
        "what an info op read is in no order",
        (SERIALIZABLE, SEQUENTIAL),
        "0 ok wx1\n0 info rx2 wy1\n1 ok rx1 ry1\n2 ok wx2",
    ),
    invalid(
        "versions there by an info op, and back",
        (SERIALIZABLE, SEQUENTIAL),
        "cyclic-versions",
        "0 ok wx1\n0 info wx2\n1 ok rx2\n1 ok rx1",
    ),
    invalid(
        "versions of a process that are no neighbours",
        (&["snapshot-isolation"], SEQUENTIAL),
        "G-single-item",
        "0 ok wx2\n0 ok rx2 wx4\n0 ok rx3\n1 ok wx3 wy1\n2 ok rx2 ry1",
    ),
    invalid(
        "versions of an order that are no neighbours",
        (&["snapshot-isolation"], order(&[0, 1, 2])),
        "G-single-item",
        "0 ok wx2\n0 ok rx2 wx4\n0 ok rx3\n1 ok wx3 wy1\n2 ok rx2 ry1",
    ),
    invalid(
        "versions in time that are no neighbours",
        (&["snapshot-isolation"], LINEARIZABLE),
        "G-single-item",
        "1 invoke wx3 wy1\n2 invoke rx? ry?\n0 invoke wx2\n0 ok wx2\n0 invoke rx? wx4\n0 ok rx2 wx4\n0 invoke rx?\n\
         0 ok rx3\n1 ok wx3 wy1\n2 ok rx2 ry1",
    ),
    valid("the same, of which one failed", (SERIALIZABLE, SEQUENTIAL), "0 ok wx1\n0 fail wx2\n0 ok wy1\n1 ok rx1 ry1"),
    valid("two writes one after another", (SERIALIZABLE, NONE), IN_TIME),
    invalid("the same, one version after the other", (SERIALIZABLE, LINEARIZABLE), "G-single-item", IN_TIME),
    invalid(
        "the same, of completions only, in one process",
        (SERIALIZABLE, LINEARIZABLE),
        "G-single-item",
        "0 ok wx1\n0 ok wx2 wy1\n2 ok rx1 ry1",
    ),
    valid("the same, but nobody knows when", (SERIALIZABLE, LINEARIZABLE), "0 ok wx1\n1 ok wx2 wy1\n2 ok rx1 ry1"),
    invalid(
        "a version after another of an op that never completed",
        (SERIALIZABLE, LINEARIZABLE),
        "G-single-item",
        "0 invoke wx1\n0 ok wx1\n2 invoke rx? ry?\n1 invoke wx2 wy1\n2 ok rx1 ry1",
    ),
    valid(
        "nothing follows what never completed",
        (SERIALIZABLE, LINEARIZABLE),
        "0 invoke wx1\n2 invoke rx? ry?\n1 invoke wx2 wy1\n1 ok wx2 wy1\n2 ok rx1 ry1",
    ),
    // Versions that precede themselves.
    invalid("a write that reads its own successor", (STRICT, WFR), "cyclic-versions G1c", "0 ok rx1 wx2\n1 ok rx2 wx1"),
    invalid(
        "versions there and back",
        (SERIALIZABLE, SEQUENTIAL),
        "cyclic-versions",
        "0 ok wx1\n0 ok wx2\n1 ok rx2\n1 ok rx1",
    ),
    invalid(
        "nil again",
        (STRICT, LINEARIZABLE),
        "cyclic-versions G-single-item-realtime",
        "0 invoke wx1\n0 ok wx1\n1 invoke rx?\n1 ok rx?",
    ),
    invalid("nil again by an order", (STRICT, order(&[0, 1])), "cyclic-versions", "0 ok wx1\n1 ok rx?"),
    valid("the other way around", (STRICT, order(&[1, 0])), "0 ok wx1\n1 ok rx?"),
    invalid(
        "a source that is left out orders no other key either",
        (SERIALIZABLE, SEQUENTIAL),
        "cyclic-versions",
        "0 ok wx1\n0 ok rx? wz1\n1 ok wy1\n1 ok wy2 wz2\n2 ok ry1 rz2",
    ),
    // Anomalies of one key or one transaction.
    invalid("G1a", (STRICT, ALL), "G1a empty-transaction-graph", "0 fail wx1\n1 ok rx1"),
    invalid("G1b", (STRICT, ALL), "G1b empty-transaction-graph", "0 ok wx1 wx2\n1 ok rx1"),
    invalid("internal, after a write", (STRICT, ALL), "internal empty-transaction-graph", "0 ok wx1 rx?"),
    invalid("internal, after a read of nil", (STRICT, ALL), "internal", "0 ok rx? rx1\n1 ok wx1"),
    invalid("internal, after a read", (STRICT, NONE), "internal", "0 ok rx1 rx2\n1 ok wx1\n2 ok wx2"),
    invalid("garbage", (STRICT, NONE), "garbage-read", "0 ok rx? ry9\n1 ok wx1\n2 ok wy3"),
    invalid(
        "garbage to read committed",
        (&["read-committed"], NONE),
        "garbage-read",
        "0 ok rx? ry9\n1 ok wx1\n2 ok wy3",
    ),
    valid("garbage where anything may be read", (&["read-uncommitted"], NONE), "0 ok rx? ry9\n1 ok wx1\n2 ok wy3"),
    invalid("lost update", (STRICT, NONE), "lost-update G2-item", "0 ok rx? wx1\n1 ok rx? wx2"),
    invalid(
        "lost update past the first version",
        (STRICT, NONE),
        "lost-update",
        "0 ok wx1\n1 ok rx1 wx2\n2 ok rx1 wx3",
    ),
    invalid(
        "the same where writes follow reads",
        (STRICT, WFR),
        "lost-update G2-item",
        "0 ok wx1\n1 ok rx1 wx2\n2 ok rx1 wx3",
    ),
    valid("an update that is not lost", (STRICT, ALL), "0 ok rx? wx1\n1 ok rx1 wx2\n2 ok rx2"),
    // Histories that cannot be judged.
    case("read, and written twice", (STRICT, ALL), "", "unknown", "0 ok wx1\n1 ok wx1\n2 ok rx1"),
    case("read, and written twice by one", (STRICT, ALL), "", "unknown", "0 ok wx1 wx2 wx1\n1 ok rx1"),
    valid("written twice and not read", (STRICT, ALL), "0 ok wx1\n1 ok wx1\n2 ok rx?"),
    case("nil is written", (STRICT, ALL), "", "unknown", "0 ok wxnil"),
];

/// Two writes of x, the second after the first, and a read of the first together with a y that the second wrote.
const IN_TIME: &str = "0 invoke wx1\n0 ok wx1\n2 invoke rx? ry?\n1 invoke wx2 wy1\n1 ok wx2 wy1\n2 ok rx1 ry1";
