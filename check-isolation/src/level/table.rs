//! The table of levels: name, aliases, implied levels, a definition in a sentence, and the method that decides it.
//!
//! Names and implications are Elle's, with the `strong-session-` forms that it lacks. Sources, by the name in brackets:
//! Adya, "Weak Consistency" (thesis, MIT 1999); Bailis et al., "Highly Available Transactions" (VLDB 2013) and
//! "Scalable Atomic Visibility with RAMP Transactions" (SIGMOD 2014); Berenson et al., "A Critique of ANSI SQL
//! Isolation Levels" (SIGMOD 1995); Cerone, Bernardi, Gotsman, "A Framework for Transactional Consistency Models with
//! Atomic Visibility" (CONCUR 2015); Cerone, Gotsman, "Analysing Snapshot Isolation" (JACM 2018); Papadimitriou, "The
//! Serializability of Concurrent Database Updates" (1979); Sovran et al., "Transactional Storage for Geo-Replicated
//! Systems" (SOSP 2011).

use super::{Axiom, Base};

/// A row of the table.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    /// Names of weaker levels, directly.
    pub(super) implies: &'static [&'static str],
    pub(super) summary: &'static str,
    pub(super) decision: Decision,
}

/// How a level is decided, or why it is not.
#[derive(Clone, Copy)]
pub(super) enum Decision {
    By(Axiom, Base),
    No(&'static str),
}

use Axiom::{Causal, MonotonicAtomicView, ParallelSnapshot, Prefix, ReadAtomic, ReadCommitted, Serializable, Snapshot};
use Decision::{By, No};

type Names = &'static [&'static str];

const fn row(name: &'static str, aliases: Names, implies: Names, summary: &'static str, decision: Decision) -> Row {
    Row { name, aliases, implies, summary, decision }
}

const SINGLE_OBJECTS: Decision = No("it is about single objects and sessions, and has no axiom of transactions");
const WRITES_ONLY: Decision = No("it is about the order of writes alone, which reads of registers do not show");
const CURSORS: Decision = No("a history does not record cursors");
const READS_WITHIN: Decision = No("no axiom is known that decides it from reads and writes");
const UPDATES: Decision = No("it treats transactions that only read in another way, for which there is no axiom here");
const VIEWS: Decision = No("it allows orders that reads do not show, for which there is no axiom here");

/// All levels, stronger before weaker.
#[rustfmt::skip] // A row is a name and aliases, implies, a sentence, and what decides it, a line each.
pub(super) const LEVELS: &[Row] = &[
    row("strict-serializable", &["strong-serializable", "PL-SS"],
        &["serializable", "linearizable", "snapshot-isolation", "strong-snapshot-isolation", "strong-session-serializable",
          "session-serializable"],
        "Transactions seem to run one at a time, each between its invocation and its completion [Papadimitriou].",
        By(Serializable, Base::RealTime)),
    row("strong-snapshot-isolation", &[],
        &["strong-session-snapshot-isolation", "strong-read-committed"],
        "Snapshot isolation, and snapshots are no older than the transaction's invocation.",
        By(Snapshot, Base::RealTime)),
    row("strong-read-committed", &["strong-PL-2"],
        &["strong-session-read-committed", "strong-read-uncommitted"],
        "Read committed, and no information flows against real time [Adya].",
        By(ReadCommitted, Base::RealTime)),
    row("strong-read-uncommitted", &["strong-PL-1"],
        &["strong-session-read-uncommitted"],
        "Writes are in one order, which agrees with real time [Adya].",
        WRITES_ONLY),

    row("strong-session-serializable", &[],
        &["serializable", "strong-session-snapshot-isolation"],
        "Serializable, in an order that agrees with each session.",
        By(Serializable, Base::Session)),
    row("strong-session-snapshot-isolation", &[],
        &["snapshot-isolation", "strong-session-prefix", "strong-session-parallel-snapshot-isolation"],
        "Snapshot isolation, and each transaction sees those before it in its session.",
        By(Snapshot, Base::Session)),
    row("strong-session-prefix", &[],
        &["prefix", "strong-session-causal-cerone"],
        "Each transaction sees a prefix of one order of commits, with its session's earlier ones in it.",
        By(Prefix, Base::Session)),
    row("strong-session-parallel-snapshot-isolation", &[],
        &["parallel-snapshot-isolation", "strong-session-causal-cerone"],
        "Parallel snapshot isolation, and each transaction sees those before it in its session.",
        By(ParallelSnapshot, Base::Session)),
    row("strong-session-causal-cerone", &["transactional-causal", "tcc"],
        &["causal-cerone", "strong-session-read-atomic"],
        "A transaction that sees another sees all that the other saw, and all before it in its own session [Cerone et al.].",
        By(Causal, Base::Session)),
    row("strong-session-read-atomic", &[],
        &["read-atomic", "strong-session-monotonic-atomic-view"],
        "A transaction is seen whole or not at all, and those before it in the session are seen.",
        By(ReadAtomic, Base::Session)),
    row("strong-session-monotonic-atomic-view", &[],
        &["monotonic-atomic-view", "strong-session-read-committed"],
        "Once a transaction is seen in part, all of it stays visible, in an order that agrees with each session.",
        By(MonotonicAtomicView, Base::Session)),
    row("strong-session-read-committed", &["strong-session-PL-2"],
        &["read-committed", "strong-session-read-uncommitted"],
        "Read committed, in an order that agrees with each session [Adya].",
        By(ReadCommitted, Base::Session)),
    row("strong-session-read-uncommitted", &["strong-session-PL-1"],
        &["read-uncommitted"],
        "Writes are in one order, which agrees with each session [Adya].",
        WRITES_ONLY),

    row("serializable", &["PL-3", "conflict-serializable"],
        &["repeatable-read", "update-serializable", "snapshot-isolation", "view-serializable"],
        "Transactions seem to run one at a time [Papadimitriou].",
        By(Serializable, Base::None)),
    row("snapshot-isolation", &["PL-SI"],
        &["forward-consistent-view", "monotonic-atomic-view", "monotonic-snapshot-read", "parallel-snapshot-isolation", "prefix"],
        "Each transaction reads a snapshot of what had committed, and of two that write a key one aborts [Berenson].",
        By(Snapshot, Base::None)),
    row("prefix", &[],
        &["causal-cerone"],
        "Each transaction sees a prefix of one order of all commits [Cerone et al.].",
        By(Prefix, Base::None)),
    row("parallel-snapshot-isolation", &[],
        &["causal-cerone", "update-atomic"],
        "Snapshot isolation, but different snapshots may hold the commits in different orders [Sovran].",
        By(ParallelSnapshot, Base::None)),
    row("causal-cerone", &[],
        &["read-atomic"],
        "A transaction that sees another sees all that the other saw [Cerone et al.].",
        By(Causal, Base::None)),
    row("read-atomic", &[],
        &["monotonic-atomic-view"],
        "A transaction is seen whole or not at all [Bailis 2014; Cerone et al.].",
        By(ReadAtomic, Base::None)),
    row("monotonic-atomic-view", &[],
        &["read-committed"],
        "Read committed, and once a transaction is seen in part, all of it stays visible [Bailis 2013].",
        By(MonotonicAtomicView, Base::None)),
    row("read-committed", &["PL-2"],
        &["read-uncommitted"],
        "No aborted or intermediate reads, and no cycle of reads and overwrites [Adya].",
        By(ReadCommitted, Base::None)),

    // Further names of axioms, and levels without an axiom.
    row("session-serializable", &[], &["1SR"],
        "Serializable, and each session in its order, as Daudjee and Salem have it.", VIEWS),
    row("repeatable-read", &["PL-2.99"], &["cursor-stability", "monotonic-atomic-view"],
        "Serializable, except for reads by predicates [Adya]; the same as serializable where there are none.",
        By(Serializable, Base::None)),
    row("update-serializable", &["PL-3U"], &["forward-consistent-view"],
        "Transactions that write are serializable, and every other one sees a state of some serial order [Adya].", UPDATES),
    row("forward-consistent-view", &["PL-FCV"], &["consistent-view"],
        "Each transaction sees a consistent state, with no less than had committed before its start [Adya].", UPDATES),
    row("consistent-view", &["PL-2+"], &["cursor-stability", "monotonic-view"],
        "Each transaction sees a consistent state [Adya]; the same as parallel snapshot isolation where no read is by a predicate.",
        By(ParallelSnapshot, Base::None)),
    row("update-atomic", &[], &["read-atomic"],
        "Read atomic, and of two transactions that write a key one sees the other [Cerone et al.].", UPDATES),
    row("cursor-stability", &["PL-CS"], &["read-committed"],
        "Read committed, and no update through a cursor is lost [Berenson].", CURSORS),
    row("monotonic-view", &["PL-2L"], &["read-committed"],
        "Read committed, and what one read of a transaction sees its later ones see too [Adya].", READS_WITHIN),
    row("monotonic-snapshot-read", &["PL-MSR"], &["read-committed"],
        "Read committed, and each read sees a snapshot no older than those before it [Adya].", READS_WITHIN),
    row("view-serializable", &[], &[],
        "Some serial run has the same reads and the same final writes [Papadimitriou].", VIEWS),
    row("1SR", &[], &[],
        "Serializable, as if there were one copy of the data.", VIEWS),
    row("read-uncommitted", &["PL-1"], &[],
        "Writes of different transactions are in one order on all keys [Adya].", WRITES_ONLY),
    row("linearizable", &[], &["sequential"],
        "Each op seems to happen at one moment between its invocation and its completion.", SINGLE_OBJECTS),
    row("sequential", &[], &["causal"],
        "All ops are in one order, which agrees with that of each process.", SINGLE_OBJECTS),
    row("causal", &[], &["writes-follow-reads", "PRAM"],
        "All processes agree on the order of ops of which one may have caused the other.", SINGLE_OBJECTS),
    row("PRAM", &[], &["monotonic-reads", "monotonic-writes", "read-your-writes"],
        "All processes see the writes of each one in the order it made them.", SINGLE_OBJECTS),
    row("writes-follow-reads", &[], &[],
        "A session's write comes after the writes that it had read.", SINGLE_OBJECTS),
    row("monotonic-reads", &[], &[],
        "A session's read sees the writes that its earlier reads saw.", SINGLE_OBJECTS),
    row("monotonic-writes", &[], &[],
        "A session's writes are seen in the order it made them.", SINGLE_OBJECTS),
    row("read-your-writes", &[], &[],
        "A session's read sees the writes that it made before.", SINGLE_OBJECTS),
];
