//! Tiny histories with the results that the specification requires: every type of anomaly at least once, and histories
//! that only resemble an anomaly.
//!
//! A history has one line for each op: process, type, micro-ops. `ax1` appends 1 to x, `wx1` writes it; `rx[1 2]` and
//! `rx1` are reads of x, `rx?` is a read of nil. A history without invocations has no real time.

use super::{Question, Workload};

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) models: &'static [&'static str],
    pub(crate) anomalies: &'static [&'static str],
    pub(crate) workload: Workload<'static>,
    pub(crate) history: &'static str,
    /// The anomaly types, in any order.
    pub(crate) types: &'static str,
    /// The verdict by its name in reports.
    pub(crate) verdict: &'static str,
}

impl Case {
    pub(crate) fn question(&self) -> Question<'static> {
        Question { models: self.models, anomalies: self.anomalies, workload: self.workload, allow_garbage: false }
    }
}

pub(crate) const STRICT: &[&str] = &["strict-serializable"];
pub(crate) const SESSION: &[&str] = &["strong-session-serializable"];
pub(crate) const SERIALIZABLE: &[&str] = &["serializable"];

const fn invalid(
    name: &'static str,
    models: &'static [&'static str],
    types: &'static str,
    history: &'static str,
) -> Case {
    Case { name, models, anomalies: &[], workload: Workload::ListAppend, history, types, verdict: "false" }
}

const fn valid(name: &'static str, models: &'static [&'static str], history: &'static str) -> Case {
    Case { name, models, anomalies: &[], workload: Workload::ListAppend, history, types: "", verdict: "true" }
}

/// A case whose reads do not decide the verdict.
const fn unread(name: &'static str, models: &'static [&'static str], history: &'static str) -> Case {
    Case { name, models, anomalies: &[], workload: Workload::ListAppend, history, types: "", verdict: "unknown" }
}

/// A case without any relation between the transactions.
const fn unrelated(name: &'static str, history: &'static str) -> Case {
    Case {
        name,
        models: STRICT,
        anomalies: &[],
        workload: Workload::ListAppend,
        history,
        types: "empty-transaction-graph",
        verdict: "unknown",
    }
}

pub(crate) const CASES: &[Case] = &[
    valid("one appends, another reads", STRICT, "0 ok ax1\n1 ok rx[1]"),
    unrelated("a transaction alone", "0 ok ax1 rx[1] ax2 ry[]"),
    // Cycles of data.
    invalid("G0", STRICT, "G0", "0 ok ax1 ay1\n1 ok ax2 ay2\n2 ok rx[1 2] ry[2 1]"),
    invalid("G1c", STRICT, "G1c", "0 ok ax1 ry[1]\n1 ok ay1 rx[1]"),
    invalid("G-single", STRICT, "G-single-item", "0 ok rx[] ry[1]\n1 ok ax1 ay1"),
    invalid(
        "G-nonadjacent: a long fork",
        STRICT,
        "G-nonadjacent-item",
        "0 ok ax1\n1 ok ay1\n2 ok rx[1] ry[]\n3 ok rx[] ry[1]",
    ),
    invalid("G2: write skew", STRICT, "G2-item", "0 ok rx[] ay1\n1 ok ry[] ax1"),
    invalid(
        "each component has its own",
        STRICT,
        "G0 G-single-item",
        "0 ok ax1 ay1\n1 ok ax2 ay2\n2 ok rx[1 2] ry[2 1]\n3 ok rz[] rw[1]\n4 ok az1 aw1",
    ),
    invalid(
        "a walk without adjacent rw edges that is no cycle",
        STRICT,
        "G0 G2-item",
        "0 ok ax1 ay2 rz[] aw1\n1 ok ax2 ay1\n2 ok az1\n3 ok rz[1] rw[]\n4 ok rx[1 2] ry[1 2]",
    ),
    // Each rw edge of the cycle 0 2 3 4 5 6 is on a shorter walk, through 1 or 8, that visits a transaction twice.
    invalid(
        "a cycle without adjacent rw edges, longer than walks that are none",
        STRICT,
        "G0 G-nonadjacent-item",
        "0 ok ax1 ay2 rz[] rq[1] ar1\n1 ok ax2 ay1\n2 ok az1\n3 ok rz[1] rw[] rr[] as1 at1 au2\n4 ok aw1\n\
         5 ok rw[1] ap1\n6 ok rp[1] aq1\n7 ok rw[1] rs[]\n8 ok at2 au1\n9 ok rx[1 2] ry[1 2] rt[1 2] ru[1 2]",
    ),
    // The same with process edges.
    invalid("G0-process", SESSION, "G0-process", "0 ok ax1\n0 ok ax2\n1 ok rx[2 1]"),
    invalid("G1c-process", SESSION, "G1c-process", "0 ok rx[1]\n0 ok ax1"),
    invalid("G-single-process", SESSION, "G-single-item-process", "0 ok ax1\n0 ok rx[]"),
    invalid("G-nonadjacent-process", SESSION, "G-nonadjacent-item-process", "0 ok ax1\n0 ok ry[]\n1 ok ay1\n1 ok rx[]"),
    invalid("G2-process", SESSION, "G2-item-process", "0 ok ay1\n0 ok rx[]\n1 ok ax1 ry[]"),
    valid("a process alone orders nothing for serializability", SERIALIZABLE, "0 ok rx[1]\n0 ok ax1"),
    invalid(
        "of completions only the order of processes is all the real time",
        STRICT,
        "G1c-process",
        "0 ok rx[1]\n0 ok ax1",
    ),
    invalid(
        "the same of a level between",
        &["strong-snapshot-isolation"],
        "G-nonadjacent-item-process",
        "0 ok ax1\n0 ok ry[]\n1 ok ay1\n1 ok rx[]",
    ),
    valid("a failed read is no part of a process", SESSION, "0 ok ax1\n0 fail rx[]\n1 ok rx[1]"),
    valid("an info transaction may end a process", SESSION, "1 ok ax1\n0 ok rx[1]\n0 info ax2"),
    invalid("it comes after what the process did before", SESSION, "G1c-process", "0 ok rx[1]\n0 info ax1"),
    invalid("the same, never completed", SESSION, "G1c-process", "0 invoke rx?\n0 ok rx[1]\n0 invoke ax1"),
    // The same in real time.
    invalid(
        "G0-realtime",
        STRICT,
        "G0-realtime",
        "2 invoke rx?\n0 invoke ax1\n0 ok ax1\n1 invoke ax2\n1 ok ax2\n2 ok rx[2 1]",
    ),
    invalid("G1c-realtime", STRICT, "G1c-realtime", "0 invoke rx?\n0 ok rx[1]\n1 invoke ax1\n1 ok ax1"),
    invalid("G-single-realtime", STRICT, "G-single-item-realtime", "0 invoke ax1\n0 ok ax1\n1 invoke rx?\n1 ok rx[]"),
    invalid(
        "G-nonadjacent-realtime",
        STRICT,
        "G-nonadjacent-item-realtime",
        "3 invoke ry? rx?\n2 invoke ay1\n0 invoke ax1\n0 ok ax1\n1 invoke ry?\n1 ok ry[]\n2 ok ay1\n3 ok ry[1] rx[]",
    ),
    invalid(
        "G2-realtime",
        STRICT,
        "G2-item-realtime",
        "1 invoke ax1 ry?\n2 invoke ay1\n2 ok ay1\n0 invoke rx?\n0 ok rx[]\n1 ok ax1 ry[]",
    ),
    valid("a stale read is serializable", SERIALIZABLE, "0 invoke ax1\n0 ok ax1\n1 invoke rx?\n1 ok rx[]"),
    valid("overlapping in time", STRICT, "0 invoke ax1\n1 invoke rx?\n0 ok ax1\n1 ok rx[]"),
    invalid(
        "what was invoked later and is info may not have come before",
        STRICT,
        "G1c-realtime",
        "0 invoke rx?\n0 ok rx[1]\n1 invoke ax1\n1 info ax1",
    ),
    invalid("the same, still open", STRICT, "G1c-realtime", "0 invoke rx?\n0 ok rx[1]\n1 invoke ax1"),
    // Anomalies of one key or one transaction.
    invalid("G1a", STRICT, "G1a empty-transaction-graph", "0 fail ax1\n1 ok rx[1]"),
    invalid("G1b", STRICT, "G1b G-single-item", "0 ok ax1 ax2\n1 ok rx[1]"),
    invalid("G1a and G1b", STRICT, "G1a G1b empty-transaction-graph", "0 fail ax1 ax2\n1 ok rx[1]"),
    invalid("internal, after an append", STRICT, "internal empty-transaction-graph", "0 ok ax1 rx[]"),
    invalid("internal, after a read", STRICT, "internal G-single-item", "0 ok rx[1] rx[]\n1 ok ax1"),
    invalid(
        "internal, a read with an append",
        STRICT,
        "internal incompatible-order",
        "0 ok rx[1] ax2 rx[2]\n1 ok ax1\n2 ok rx[1 2]",
    ),
    valid("an append to what is not known", STRICT, "0 ok ax1 rx[2 1]\n1 ok ax2"),
    invalid("future read", STRICT, "future-read empty-transaction-graph", "0 ok rx[1] ax1"),
    invalid(
        "future read of one element among several",
        STRICT,
        "future-read G-single-item",
        "0 ok rx[2 1] ry[] ax1\n1 ok ax2 ay1",
    ),
    invalid("dirty update", STRICT, "dirty-update G1a", "0 fail ax1\n1 ok ax2\n2 ok rx[1 2]"),
    invalid(
        "dirty update over an info append",
        STRICT,
        "dirty-update G1a",
        "0 fail ax1\n1 info ax2\n2 ok ax3\n3 ok rx[1 2 3]",
    ),
    invalid("an ok append before a failed one", STRICT, "G1a", "0 fail ax2\n1 ok ax1\n2 ok rx[1]\n3 ok rx[1 2]"),
    invalid("lost update", STRICT, "lost-update G-single-item", "0 ok rx[] ax1\n1 ok rx[] ax2\n2 ok rx[1 2]"),
    invalid("lost update that nobody read", STRICT, "lost-update G2-item", "0 ok rx[] ax1\n1 ok rx[] ax2"),
    invalid(
        "lost update of what was appended first",
        STRICT,
        "lost-update G1b G-single-item",
        "0 ok ax1 rx[1] ax2\n1 ok rx[1] ax3\n2 ok rx[1 2 3]",
    ),
    valid("an update that is not lost", STRICT, "0 ok rx[] ax1\n1 ok rx[1] ax2\n2 ok rx[1 2]"),
    invalid("duplicate elements", STRICT, "duplicate-elements", "0 ok ax1\n1 ok rx[1 1]"),
    invalid(
        "duplicate elements count where they stand first",
        STRICT,
        "duplicate-elements",
        "0 ok ax1\n1 ok ax2\n2 ok rx[1 2 1]",
    ),
    invalid("incompatible order", STRICT, "incompatible-order", "0 ok ax1\n1 ok ax2\n2 ok rx[1 2]\n3 ok rx[2 1]"),
    invalid(
        "incompatible order of different lengths",
        STRICT,
        "incompatible-order",
        "0 ok ax1\n1 ok ax2\n2 ok rx[2]\n3 ok rx[1 2]",
    ),
    // Anomalies that a model allows.
    valid("G-single under read committed", &["read-committed"], "0 ok rx[] ry[1]\n1 ok ax1 ay1"),
    valid("write skew under snapshot isolation", &["snapshot-isolation"], "0 ok rx[] ay1\n1 ok ry[] ax1"),
    invalid(
        "a long fork under snapshot isolation",
        &["snapshot-isolation"],
        "G-nonadjacent-item",
        "0 ok ax1\n1 ok ay1\n2 ok rx[1] ry[]\n3 ok rx[] ry[1]",
    ),
    valid(
        "a long fork under repeatable read's weaker kin",
        &["consistent-view"],
        "0 ok ax1\n1 ok ay1\n2 ok rx[1] ry[]\n3 ok rx[] ry[1]",
    ),
    // Unknown outcomes.
    valid("the append of an open op is read", STRICT, "0 invoke ax1\n1 invoke rx?\n1 ok rx[1]"),
    valid("the append of an info op is read", STRICT, "0 info ax1\n1 ok rx[1]"),
    valid("nil is the empty list to an ok op", STRICT, "0 ok rx?\n1 ok ax1"),
    unrelated("nil is nothing to an info op", "0 info rx?\n1 ok ax1"),
    valid("what an info op read says nothing", STRICT, "0 ok ax1\n1 ok ax2\n2 info rx[2]\n3 ok rx[1 2]"),
    unread(
        "an info op that read half of a transaction",
        STRICT,
        "0 invoke ax1 ay1\n0 ok ax1 ay1\n1 invoke rx? ry?\n1 info rx[1] ry[]",
    ),
    unread("nothing but appends", STRICT, "0 invoke ax1\n0 ok ax1\n0 invoke ax2\n0 ok ax2"),
    unread("reads of what nobody appends to", STRICT, "0 invoke rx?\n0 ok rx[]\n0 invoke rx?\n0 ok rx[]"),
    unread("two appends that nobody read, on one cycle", &["snapshot-isolation"], "0 ok ax1 ry[]\n1 ok rx[] ay1 ax2"),
    valid(
        "an info op that read an element twice, and what failed",
        STRICT,
        "0 ok ax1\n1 fail ax2\n2 info rx[1 2 2]\n3 ok rx[1]",
    ),
    unrelated("what a failed op read does not", "0 fail rx[1 2 3]\n1 ok ax1"),
    invalid("nobody appended what was read", STRICT, "garbage-read empty-transaction-graph", "0 ok rx[9]"),
    invalid("the same behind what somebody did", &["read-committed"], "garbage-read", "0 ok ax1\n1 ok rx[1 2]"),
    valid("the same where anything may be read", &["read-uncommitted"], "0 ok ax1\n1 ok rx[1 2]"),
    invalid(
        "what nobody appended hides no successor",
        STRICT,
        "garbage-read G-single-item-realtime",
        "0 invoke ax1\n0 ok ax1\n0 invoke ax3\n0 ok ax3\n1 invoke rx?\n1 ok rx[1]\n2 invoke rx?\n2 ok rx[1 2 3]",
    ),
    invalid(
        "nor does it part writes",
        SERIALIZABLE,
        "garbage-read G0",
        "0 ok ax1 ay3\n1 ok ax3 ay1\n2 ok rx[1 2 3] ry[1 2 3]",
    ),
    invalid(
        "nor does what failed",
        SERIALIZABLE,
        "G1a G0 dirty-update",
        "0 ok ax1 ay3\n1 ok ax3 ay1\n2 ok rx[1 2 3]\n3 ok ry[1 3]\n4 fail ax2",
    ),
    invalid("nor does it hide a writer", SERIALIZABLE, "garbage-read G1c", "0 ok ax1 ry[1]\n1 ok ay1 rx[1 9]"),
    invalid("nor a successor of itself", SERIALIZABLE, "garbage-read G-single-item", "0 ok rx[9] ry[1]\n1 ok ax1 ay1"),
    invalid(
        "appends never read come after what was",
        STRICT,
        "G-single-item",
        "0 ok ax1\n1 ok ax2 ay1\n2 ok rx[1] ry[1]",
    ),
    invalid(
        "what was read beside the longest list comes nobody knows when",
        STRICT,
        "incompatible-order",
        "0 ok ax1 ay1\n1 ok ax2 ay2\n2 ok rx[1]\n3 ok rx[2]\n4 ok ry[2]\n5 ok ry[1]",
    ),
    // Reads that disagree.
    invalid(
        "whichever of two reads is right, what only one shows comes behind what both do",
        &["read-uncommitted"],
        "G0",
        "0 ok ax1 ax3\n1 ok ax2 ax4\n2 ok rx[1 2 4]\n3 ok rx[1 2 3]",
    ),
    invalid(
        "the same of what nobody read",
        &["read-uncommitted"],
        "G0",
        "0 ok ax1 ax5\n1 ok ax2\n2 ok rx[1 2 4]\n3 ok rx[1 2 3]\n4 ok ax3 ax4",
    ),
    valid(
        "if one of two reads is right, there is no cycle",
        &["read-uncommitted"],
        "0 ok ax1 ay1\n1 ok ax2 ay2\n2 ok rx[1 2]\n3 ok rx[2 1]\n4 ok ry[2 1]",
    ),
    // A transaction's own appends.
    invalid(
        "the version order has them the other way around",
        &["read-uncommitted"],
        "cyclic-versions",
        "0 ok ax1 ax2\n1 ok ax3\n2 ok rx[2 1 3]",
    ),
    invalid("no cycle shows it", STRICT, "cyclic-versions", "0 ok ax1 ax2\n1 ok ax3\n2 ok rx[2 1 3]"),
    invalid("nor if it is info", STRICT, "cyclic-versions", "0 info ax1 ax2\n1 ok ax3\n2 ok rx[2 1 3]"),
    invalid(
        "the later one without the earlier one",
        &["read-uncommitted"],
        "cyclic-versions",
        "0 ok ax1 ax2\n1 ok rx[2]",
    ),
    invalid(
        "its own read shows it",
        STRICT,
        "cyclic-versions internal empty-transaction-graph",
        "0 ok ax1 ax2 rx[2 1]",
    ),
    invalid(
        "with others in between and behind",
        &["read-uncommitted"],
        "G0 cyclic-versions",
        "0 ok ax1 ax2 ax3\n1 ok ax4\n2 ok rx[1 3 4 2]",
    ),
    invalid(
        "what all reads agree on shows it",
        &["read-uncommitted"],
        "cyclic-versions",
        "0 ok ax1 ax2\n1 ok ax3\n2 ok ax4\n3 ok rx[2 3]\n4 ok rx[2 4]",
    ),
    valid(
        "if one of two reads is right, it is not there",
        &["read-uncommitted"],
        "0 ok ax1 ax2\n1 ok ax3\n2 ok rx[2 1 3]\n3 ok rx[1 2 3]",
    ),
    valid("what failed was never in order", &["read-uncommitted"], "0 fail ax1 ax2\n1 ok ax3\n2 ok rx[2 1 3]"),
    valid("the earlier one without the later one", &["read-uncommitted"], "0 ok ax1 ax2\n1 ok rx[1]"),
    // Histories that cannot be judged.
    Case {
        name: "appended twice",
        models: STRICT,
        anomalies: &[],
        workload: Workload::ListAppend,
        history: "0 ok ax1\n1 ok ax1\n2 ok rx[1]",
        types: "",
        verdict: "unknown",
    },
];

/// The history of a case, as EDN.
pub(crate) fn edn(history: &str) -> String {
    history.lines().map(op).collect()
}

fn op(line: &str) -> String {
    let mut words = line.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default();
    let (process, kind, mops) = (word(), word(), word());
    let mut inside = false;
    let mops = mops.split(|c| {
        // A space between brackets does not end a micro-op.
        inside = inside && c != ']' || c == '[';
        c == ' ' && !inside
    });
    let mops: Vec<String> = mops.map(mop).collect();
    format!("{{:process {process}, :type :{kind}, :f :txn, :value [{}]}}\n", mops.join(" "))
}

fn mop(mop: &str) -> String {
    let (f, key, value) = (&mop[..1], &mop[1..2], &mop[2..]);
    match (f, value) {
        ("a", element) => format!("[:append :{key} {element}]"),
        ("w", value) => format!("[:w :{key} {value}]"),
        (_, "?") => format!("[:r :{key} nil]"),
        (_, list) => format!("[:r :{key} {list}]"),
    }
}
