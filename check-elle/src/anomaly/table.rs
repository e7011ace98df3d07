//! The table of anomalies: name, implied types, and definition in a sentence.
//!
//! Sources, by the name in brackets: Adya, "Weak Consistency" (thesis, MIT 1999); Berenson et al., "A Critique of ANSI
//! SQL Isolation Levels" (SIGMOD 1995); Cerone, Bernardi, Gotsman, "A Framework for Transactional Consistency Models
//! with Atomic Visibility" (CONCUR 2015), as Cerone et al.; Cerone, Gotsman, "Analysing Snapshot Isolation" (PODC
//! 2016); Elle: Kingsbury, Alvaro, "Elle" (VLDB 2020).

/// A row of the table.
pub(crate) struct AnomalyRow {
    /// As Elle spells it.
    pub(crate) name: &'static str,
    /// The names of the types that each anomaly of this type also is, directly.
    pub(crate) implies: &'static [&'static str],
    /// The definition, in a sentence.
    pub(crate) summary: &'static str,
}

const fn row(name: &'static str, implies: &'static [&'static str], summary: &'static str) -> AnomalyRow {
    AnomalyRow { name, implies, summary }
}

/// All anomalies: first those that the checkers find, then the types that they count as.
#[rustfmt::skip] // A row is a name, its implications, and its sentence below.
pub(crate) const ANOMALIES: &[AnomalyRow] = &[
    // Cycles, worst first.
    row("G0", &["G1c", "G0-process"],
        "Write cycle: a cycle of ww edges only [Adya]."),
    row("G1c", &["G1", "G1c-process"],
        "Circular information flow: a cycle of ww and wr edges, with at least one wr edge [Adya]."),
    row("G-single-item", &["G-single", "G-nonadjacent-item", "G-single-item-process"],
        "A cycle of ww and wr edges and exactly one rw edge, between items; for example, read skew [Adya]."),
    row("G-nonadjacent-item", &["G-nonadjacent", "G2-item", "G-nonadjacent-item-process"],
        "A cycle with two or more rw edges, between items, no two of them adjacent [Cerone, Gotsman]."),
    row("G2-item", &["G2", "G2-item-process"],
        "A cycle with two or more rw edges, between items, two of them adjacent; for example, write skew [Adya]."),

    row("G0-process", &["G1c-process", "G0-realtime"],
        "G0 with process order: ww edges and at least one process edge [Elle]."),
    row("G1c-process", &["G1-process", "G1c-realtime"],
        "G1c with process order: ww, wr and at least one process edge [Elle]."),
    row("G-single-item-process", &["G-single-process", "G-nonadjacent-item-process", "G-single-item-realtime"],
        "G-single-item with at least one process edge: a process missed its own earlier writes or reads [Elle]."),
    row("G-nonadjacent-item-process", &["G-nonadjacent-process", "G2-item-process", "G-nonadjacent-item-realtime"],
        "G-nonadjacent-item with at least one process edge [Elle]."),
    row("G2-item-process", &["G2-process", "G2-item-realtime"],
        "G2-item with at least one process edge [Elle]."),

    row("G0-realtime", &["G1c-realtime"],
        "G0 with real time: ww edges and at least one realtime edge [Elle]."),
    row("G1c-realtime", &["G1-realtime"],
        "G1c with real time: ww, wr and at least one realtime edge [Elle]."),
    row("G-single-item-realtime", &["G-single-realtime", "G-nonadjacent-item-realtime"],
        "G-single-item with at least one realtime edge; for example, a stale read [Elle]."),
    row("G-nonadjacent-item-realtime", &["G-nonadjacent-realtime", "G2-item-realtime"],
        "G-nonadjacent-item with at least one realtime edge [Elle]."),
    row("G2-item-realtime", &["G2-realtime"],
        "G2-item with at least one realtime edge [Elle]."),

    // Found within one key or one transaction.
    row("G1a", &["G1"],
        "Aborted read: a transaction read a value that a failed transaction wrote [Adya]."),
    row("G1b", &["G1"],
        "Intermediate read: a transaction read a version that the same writer overwrote later [Adya]."),
    row("internal", &[],
        "A read contradicts an earlier read or write of the same key in the same transaction [Cerone et al.]."),
    row("future-read", &["G1c"],
        "A transaction read a value before it wrote that value itself [Elle]."),
    row("dirty-update", &["G1a"],
        "A successful write follows a failed write in the version order [Elle]."),
    row("lost-update", &["write-skew", "G2-item"],
        "Two or more transactions read the same version of a key and then wrote the key [Berenson: P4]."),
    row("duplicate-elements", &[],
        "One read contains an element twice [Elle]."),
    row("incompatible-order", &["G1a"],
        "Two reads of a key, neither a prefix of the other: no version order explains both [Elle]."),
    row("cyclic-versions", &[],
        "The known parts of a key's version order contradict each other [Elle]."),
    row("garbage-read", &["G1"],
        "A read of a value that was never written."),
    row("predicate-read-miss", &[],
        "A predicate read missed a matching item [Elle]."),
    row("init-read-miss", &[],
        "A read missed a key that the op :init created and no transaction deleted."),
    row("predicate-mismatch", &["G1"],
        "A predicate read showed an item that does not match."),

    // These leave a verdict unknown.
    row("empty-transaction-graph", &[],
        "No transaction depends on another: the history contains too little to check [Elle]."),
    row("cycle-search-timeout", &[],
        "The search for cycles reached a limit: there may be more cycles [Elle]."),

    // Supertypes of the above.
    row("G1", &["G1-process"],
        "G1a, G1b or G1c: what read committed forbids [Adya]."),
    row("G1-process", &["G1-realtime"],
        "G1, with process edges in the cycle [Elle]."),
    row("G1-realtime", &[],
        "G1, with realtime edges in the cycle [Elle]."),
    row("G-single", &["G-nonadjacent", "GSIb", "G-single-process"],
        "A cycle with exactly one rw edge, between items or of a predicate [Adya]."),
    row("G-single-process", &["G-nonadjacent-process", "G-single-realtime"],
        "G-single, with process edges in the cycle [Elle]."),
    row("G-single-realtime", &["G-nonadjacent-realtime"],
        "G-single, with realtime edges in the cycle [Elle]."),
    row("G-nonadjacent", &["G2", "G-nonadjacent-process"],
        "A cycle with rw edges, between items or of a predicate, no two of them adjacent [Cerone, Gotsman]."),
    row("G-nonadjacent-process", &["G2-process", "G-nonadjacent-realtime"],
        "G-nonadjacent, with process edges in the cycle [Elle]."),
    row("G-nonadjacent-realtime", &["G2-realtime"],
        "G-nonadjacent, with realtime edges in the cycle [Elle]."),
    row("G2", &["G2-process"],
        "A cycle with rw edges, between items or of a predicate [Adya]."),
    row("G2-process", &["G2-realtime"],
        "G2, with process edges in the cycle [Elle]."),
    row("G2-realtime", &[],
        "G2, with realtime edges in the cycle [Elle]."),
    row("write-skew", &["G2"],
        "Each of two transactions overwrote what the other one had read [Berenson: A5B]."),
    row("GSIa", &["GSI"],
        "Interference: a transaction depends on one that had not committed when it started [Adya: G-SIa]."),
    row("GSIb", &["GSI"],
        "Missed effects: a cycle, with the order of starts, that has exactly one rw edge [Adya: G-SIb]."),
    row("GSI", &[],
        "GSIa or GSIb [Adya: G-SI]."),

    // Forbidden by models, but the checkers never report an anomaly as one of these.
    row("G-cursor", &[],
        "Lost update through a cursor: a cycle on one key with exactly one rw edge [Adya]."),
    row("G-monotonic", &[],
        "A transaction's reads are not monotonic: an earlier read saw what a later one missed [Adya]."),
    row("G-MSR", &[],
        "A transaction's reads fit no series of snapshots in commit order [Adya]."),
    row("G-SIb", &[],
        "Missed effects, as forward consistent view forbids them [Adya]."),
    row("G-SI", &[],
        "Interference or missed effects, as snapshot isolation forbids them [Adya]."),
    row("G-update", &[],
        "A cycle with rw edges among transactions that write and one read-only transaction [Adya]."),

    // A strongly connected component shows that a cycle exists, but its type is unknown.
    cycle_exists("PL-1-cycle-exists"),
    cycle_exists("PL-2-cycle-exists"),
    cycle_exists("PL-SI-cycle-exists"),
    cycle_exists("PL-2.99-cycle-exists"),
    cycle_exists("PL-3-cycle-exists"),
    cycle_exists("strong-session-PL-1-cycle-exists"),
    cycle_exists("strong-session-PL-2-cycle-exists"),
    cycle_exists("strong-session-snapshot-isolation-cycle-exists"),
    cycle_exists("strong-session-serializable-cycle-exists"),
    cycle_exists("strong-PL-1-cycle-exists"),
    cycle_exists("strong-PL-2-cycle-exists"),
    cycle_exists("strong-snapshot-isolation-cycle-exists"),
    cycle_exists("PL-SS-cycle-exists"),
];

const fn cycle_exists(name: &'static str) -> AnomalyRow {
    row(name, &[], "There is a cycle that this consistency level rules out; its type was not determined [Elle].")
}
