//! The table of consistency levels: name, aliases, the models implied and the anomalies forbidden directly, a
//! definition in a sentence, and whether it is decided here.
//!
//! Sources, by the name in brackets: Adya, "Weak Consistency" (thesis, MIT 1999); Ahamad et al., "Causal Memory"
//! (1995); Bailis et al., "Highly Available Transactions" (VLDB 2013) and "Scalable Atomic Visibility with RAMP
//! Transactions" (SIGMOD 2014); Berenson et al., "A Critique of ANSI SQL Isolation Levels" (SIGMOD 1995); Bernstein,
//! Goodman, "Multiversion Concurrency Control" (1983); Cerone, Bernardi, Gotsman, "A Framework for Transactional
//! Consistency Models with Atomic Visibility" (CONCUR 2015), as Cerone et al.; Daudjee, Salem, "Lazy Database
//! Replication with Ordering Guarantees" (ICDE 2004) and "Lazy Database Replication with Snapshot Isolation" (VLDB
//! 2006); Elle: Kingsbury, Alvaro, "Elle" (VLDB 2020); Herlihy, Wing, "Linearizability" (1990); Lamport, "How to Make
//! a Multiprocessor Computer That Correctly Executes Multiprocess Programs" (1979); Lipton, Sandberg, "PRAM" (1988);
//! Papadimitriou, "The Serializability of Concurrent Database Updates" (1979); Sovran et al., "Transactional Storage
//! for Geo-Replicated Systems" (SOSP 2011); Terry et al., "Session Guarantees for Weakly Consistent Replicated Data"
//! (1994).

/// A row of the table.
pub(crate) struct ModelRow {
    /// The usual name, which reports use.
    pub(crate) name: &'static str,
    /// Its other names.
    pub(crate) aliases: &'static [&'static str],
    /// Names of weaker models: a history that is valid under this one is valid under these, directly.
    pub(crate) implies: &'static [&'static str],
    /// Names of anomalies that rule the model out, directly.
    pub(crate) forbids: &'static [&'static str],
    /// The definition, in a sentence.
    pub(crate) summary: &'static str,
    /// Whether these checkers decide it.
    pub(crate) decision: Decision,
}

/// Whether the search for violations of a model is complete, with the reason as a clause.
#[derive(Clone, Copy)]
pub(crate) enum Decision {
    /// The search covers all that rules it out.
    Yes(&'static str),
    /// A search for an order of commits decides its axiom.
    Exactly(&'static str),
    /// There is no search, or none that is complete.
    No(&'static str),
}

use Decision::{Exactly, No, Yes};

type Names = &'static [&'static str];

const fn row(
    name: &'static str,
    aliases: Names,
    implies: Names,
    forbids: Names,
    summary: &'static str,
    decision: Decision,
) -> ModelRow {
    ModelRow { name, aliases, implies, forbids, summary, decision }
}

const SINGLE_OBJECTS: Decision =
    No("it is about single objects and sessions, and these checkers search for cycles of transactions");
const NO_ANOMALY: Decision = No("no anomaly that is searched for rules it out");
const BY_AXIOM: Decision = Exactly(if cfg!(feature = "exact") {
    "an order of commits that obeys its axiom (which transactions each read sees) is looked for"
} else {
    "its axiom (which transactions each read sees) is not checked"
});

/// All models, stronger before weaker.
#[rustfmt::skip] // A row is a name and aliases, implies, forbids, a sentence, and whether it is decided, a line each.
pub(crate) const MODELS: &[ModelRow] = &[
    // Transactions and real time.
    row("strict-serializable", &["strong-serializable", "PL-SS"],
        &["serializable", "linearizable", "snapshot-isolation", "strong-snapshot-isolation",
          "strong-session-serializable", "session-serializable"],
        &["G1", "G1c-realtime", "G2-realtime", "PL-SS-cycle-exists"],
        "Transactions appear to run one at a time, each between its invocation and its completion [Papadimitriou].",
        Yes("G1, and cycles of all relations with real time, are searched for")),
    row("strong-snapshot-isolation", &[],
        &["strong-session-snapshot-isolation", "strong-PL-2"],
        &["internal", "G1-realtime", "G-nonadjacent-realtime", "strong-snapshot-isolation-cycle-exists"],
        "Snapshot isolation, and each snapshot includes everything committed before its start [Daudjee, Salem 2006].",
        Yes("G1, and cycles in which no two rw are adjacent, with real time, are searched for")),
    row("strong-read-committed", &["strong-PL-2"],
        &["strong-session-PL-2", "strong-PL-1"],
        &["G1c-realtime", "strong-PL-2-cycle-exists"],
        "Read committed, in an order that agrees with real time [Elle].",
        Yes("G1, and cycles of ww and wr with real time, are searched for")),
    row("strong-read-uncommitted", &["strong-PL-1"],
        &["strong-session-PL-1"],
        &["G0-realtime", "strong-PL-1-cycle-exists"],
        "Read uncommitted, in an order that agrees with real time [Elle].",
        Yes("cycles of ww with real time are searched for")),

    // Transactions and sessions.
    row("strong-session-serializable", &[],
        &["serializable", "strong-session-snapshot-isolation"],
        &["G1-process", "G2-process", "strong-session-serializable-cycle-exists"],
        "Serializable, in an order that agrees with that of each session [Daudjee, Salem 2004].",
        Yes("G1, and cycles of all relations with the order of processes, are searched for")),
    row("strong-session-snapshot-isolation", &[],
        &["snapshot-isolation", "strong-session-PL-2"],
        &["internal", "G1-process", "G-nonadjacent-process", "strong-session-snapshot-isolation-cycle-exists"],
        "Snapshot isolation, and each snapshot includes what its session wrote and read before [Daudjee, Salem 2006].",
        Yes("G1, and cycles in which no two rw are adjacent, with the order of processes, are searched for")),
    row("strong-session-read-committed", &["strong-session-PL-2"],
        &["PL-2", "strong-session-PL-1"],
        &["G1c-process", "strong-session-PL-2-cycle-exists"],
        "Read committed, in an order that agrees with that of each session [Elle].",
        Yes("G1, and cycles of ww and wr with the order of processes, are searched for")),
    row("strong-session-read-uncommitted", &["strong-session-PL-1"],
        &["PL-1"],
        &["G0-process", "strong-session-PL-1-cycle-exists"],
        "Read uncommitted, in an order that agrees with that of each session [Elle].",
        Yes("cycles of ww with the order of processes are searched for")),
    row("session-serializable", &[],
        &["1SR"],
        &[],
        "One-copy serializable, with guarantees within each session; no anomaly that is searched for rules it out.",
        NO_ANOMALY),

    // Transactions.
    row("serializable", &["conflict-serializable", "PL-3"],
        &["repeatable-read", "update-serializable", "snapshot-isolation", "view-serializable"],
        &["internal", "G1", "G2", "predicate-read-miss", "init-read-miss", "PL-3-cycle-exists"],
        "Transactions appear to run one at a time, in some order [Adya].",
        Yes("G1, and cycles of ww, wr and rw, are searched for")),
    row("update-serializable", &["PL-3U"],
        &["forward-consistent-view"],
        &["G1", "G-update"],
        "Transactions that write are serializable; each read-only transaction sees a serializable state [Adya].",
        No("G-update is not searched for: cycles of transactions that write and one read-only transaction")),
    row("snapshot-isolation", &["PL-SI"],
        &["forward-consistent-view", "monotonic-atomic-view", "monotonic-snapshot-read",
          "parallel-snapshot-isolation", "prefix"],
        &["internal", "G1", "G-SI", "G-nonadjacent", "PL-SI-cycle-exists"],
        "Each transaction reads a snapshot of committed data; of two concurrent ones that write a key, one aborts \
         [Berenson].",
        Yes("G1, and cycles in which no two rw are adjacent, are searched for [Cerone, Gotsman]")),
    row("repeatable-read", &["PL-2.99"],
        &["cursor-stability", "monotonic-atomic-view"],
        &["G1", "G2-item", "lost-update", "init-read-miss", "PL-2.99-cycle-exists"],
        "Serializable, except for predicate reads [Adya].",
        Yes("G1 and G2-item are searched for; without predicate reads it is serializable")),
    row("forward-consistent-view", &["PL-FCV"],
        &["consistent-view"],
        &["G1", "G-SIb"],
        "Each transaction sees a consistent state that includes everything committed before its start [Adya].",
        No("G-SIb is not searched for: it needs the order in which transactions start and commit")),
    row("consistent-view", &["PL-2+"],
        &["cursor-stability", "monotonic-view"],
        &["G1", "G-single", "predicate-read-miss", "init-read-miss"],
        "Each transaction sees a consistent state: all effects of the transactions it depends on [Adya].",
        Yes("G1, and cycles with exactly one rw, are searched for")),
    row("parallel-snapshot-isolation", &[],
        &["causal-cerone", "update-atomic"],
        &["internal", "G1a"],
        "Snapshot isolation, but snapshots may see the commits in different orders [Sovran].",
        BY_AXIOM),
    row("prefix", &[],
        &["causal-cerone"],
        &["internal", "G1a"],
        "Each transaction sees a prefix of one order of all commits [Cerone et al.].",
        BY_AXIOM),
    row("causal-cerone", &[],
        &["read-atomic"],
        &["internal", "G1a"],
        "A transaction that sees another also sees everything that the other saw [Cerone et al.: causal consistency].",
        BY_AXIOM),
    row("update-atomic", &[],
        &["read-atomic"],
        &["lost-update"],
        "Read atomic, and of two transactions that write the same key, one sees the other [Cerone et al.].",
        No("its axioms (of two writers of a key, one sees the other) are not checked")),
    row("read-atomic", &[],
        &["monotonic-atomic-view"],
        &["internal", "G1a", "future-read", "predicate-read-miss", "init-read-miss"],
        "All effects of a transaction are visible, or none [Bailis 2014; Cerone et al.].",
        BY_AXIOM),
    row("cursor-stability", &["PL-CS"],
        &["PL-2"],
        &["G1", "G-cursor", "lost-update"],
        "Read committed, and no update through a cursor is lost [Berenson].",
        No("G-cursor is not searched for: a history does not record cursors")),
    row("monotonic-view", &["PL-2L"],
        &["PL-2"],
        &["G1", "G-monotonic"],
        "Read committed, and later reads of a transaction see everything that its earlier reads saw [Adya].",
        No("G-monotonic is not searched for: it needs the order of the reads within a transaction")),
    row("monotonic-snapshot-read", &["PL-MSR"],
        &["PL-2"],
        &["G1", "G-MSR"],
        "Read committed, and each read sees a snapshot no older than those before it [Adya].",
        No("G-MSR is not searched for: it needs the order of the reads within a transaction")),
    row("monotonic-atomic-view", &[],
        &["PL-2"],
        &[],
        "Read committed, and once a transaction is seen in part, all of it stays visible [Bailis 2013].",
        BY_AXIOM),
    row("read-committed", &["PL-2"],
        &["PL-1"],
        &["G1", "PL-2-cycle-exists"],
        "No aborted or intermediate reads, and no circular information flow [Adya].",
        Yes("G1a, G1b and G1c are searched for")),
    row("read-uncommitted", &["PL-1"],
        &[],
        &["G0", "duplicate-elements", "cyclic-versions", "PL-1-cycle-exists"],
        "Writes of different transactions have the same order on all keys [Adya].",
        Yes("cycles of ww are searched for")),
    row("view-serializable", &[],
        &[],
        &[],
        "Some serial execution has the same reads and the same final writes [Papadimitriou].",
        No("no anomaly that is searched for rules it out, and deciding it is NP-complete [Papadimitriou]")),
    row("1SR", &[],
        &[],
        &[],
        "Serializable, as if there were one copy of the data [Bernstein, Goodman].",
        NO_ANOMALY),

    // Single objects and sessions: implied by the above, and not decided by these checkers.
    row("linearizable", &[],
        &["sequential"],
        &[],
        "Each op appears to take effect at one instant between its invocation and its completion [Herlihy, Wing].",
        SINGLE_OBJECTS),
    row("sequential", &[],
        &["causal"],
        &[],
        "All ops fit one order that agrees with the order of each process [Lamport].",
        SINGLE_OBJECTS),
    row("causal", &[],
        &["writes-follow-reads", "PRAM"],
        &[],
        "All processes agree on the order of causally related ops [Ahamad].",
        SINGLE_OBJECTS),
    row("PRAM", &[],
        &["monotonic-reads", "monotonic-writes", "read-your-writes"],
        &[],
        "All processes see the writes of each process in the order it made them [Lipton, Sandberg].",
        SINGLE_OBJECTS),
    row("writes-follow-reads", &[],
        &[],
        &[],
        "A session's write comes after the writes that it had read [Terry].",
        SINGLE_OBJECTS),
    row("monotonic-reads", &[],
        &[],
        &[],
        "A session's read sees the writes that its earlier reads saw [Terry].",
        SINGLE_OBJECTS),
    row("monotonic-writes", &[],
        &[],
        &[],
        "A session's writes are seen in the order it made them [Terry].",
        SINGLE_OBJECTS),
    row("read-your-writes", &[],
        &[],
        &[],
        "A session's read sees the writes that it made before [Terry].",
        SINGLE_OBJECTS),
];
