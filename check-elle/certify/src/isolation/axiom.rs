//! Levels by their axioms: what is visible to a read, and whether an order of commits satisfies an axiom by definition.

use super::execution::{Executed, Execution};
use crate::{Uncertified, claim};
use history_core::Datum;

/// What is visible to a read. Biswas and Enea (OOPSLA 2019); Cerone, Bernardi and Gotsman (CONCUR 2015).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axiom {
    ReadCommitted,
    MonotonicAtomicView,
    ReadAtomic,
    Causal,
    Prefix,
    ParallelSnapshot,
    Snapshot,
    Serializable,
}

/// The relation that every order extends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    None,
    Session,
    RealTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) axiom: Axiom,
    pub(crate) base: Base,
}

impl Axiom {
    /// The axiom of a level, given its name without the prefix of the base.
    fn of(name: &str) -> Option<Axiom> {
        Some(match name {
            "read-committed" => Axiom::ReadCommitted,
            "monotonic-atomic-view" => Axiom::MonotonicAtomicView,
            "read-atomic" => Axiom::ReadAtomic,
            "causal-cerone" => Axiom::Causal,
            "prefix" => Axiom::Prefix,
            "parallel-snapshot-isolation" | "consistent-view" => Axiom::ParallelSnapshot,
            "snapshot-isolation" => Axiom::Snapshot,
            "serializable" | "repeatable-read" => Axiom::Serializable,
            _ => return None,
        })
    }
}

impl Level {
    /// The level of an axiom and a base, as witnesses state them.
    pub(super) fn of_facts(axiom: &Datum, base: &Datum) -> Option<Level> {
        let (Datum::Keyword(axiom), Datum::Keyword(base)) = (axiom, base) else { return None };
        let base = match base.as_str() {
            "none" => Base::None,
            "session" => Base::Session,
            "realtime" => Base::RealTime,
            _ => return None,
        };
        Some(Level { axiom: Axiom::of(axiom.as_str())?, base })
    }

    /// The level with this name.
    pub(super) fn named(name: &str) -> Option<Level> {
        let level = |axiom: &str, base| Some(Level { axiom: Axiom::of(axiom)?, base });
        match name {
            "strict-serializable" => level("serializable", Base::RealTime),
            name => match (name.strip_prefix("strong-session-"), name.strip_prefix("strong-")) {
                (Some(axiom), _) => level(axiom, Base::Session),
                (None, Some(axiom)) => level(axiom, Base::RealTime),
                (None, None) => level(name, Base::None),
            },
        }
    }
}

pub(super) fn is_before_in_session(a: &Executed, b: &Executed) -> bool {
    a.session.is_some() && a.session == b.session && a.index < b.index
}

pub(super) fn is_before_in_time(a: &Executed, b: &Executed) -> bool {
    a.end.zip(b.begin).is_some_and(|(end, begin)| end < begin)
}

/// The positions in an order at which a transaction took its snapshot and committed.
#[derive(Clone, Copy, Debug)]
struct Span {
    begin: usize,
    commit: usize,
}

/// Checks that an order, a line for each moment (`begin 3`, `commit 3`, or `3` for both), explains an execution at a
/// level. O(n³).
pub(super) fn certify_order(execution: &Execution, level: Level, order: &str) -> Result<(), Uncertified> {
    let mut spans = spans(execution, order)?;
    let (txns, n) = (&execution.txns, execution.txns.len());
    if !matches!(level.axiom, Axiom::Prefix | Axiom::Snapshot) {
        // The axiom concerns the order of commits.
        for span in &mut spans {
            span.begin = span.commit;
        }
    }
    let precedes = |a: usize, b: usize| spans[a].commit < spans[b].begin;
    let is_base = |a: usize, b: usize| {
        let session = level.base != Base::None && is_before_in_session(&txns[a], &txns[b]);
        session || level.base == Base::RealTime && is_before_in_time(&txns[a], &txns[b])
    };
    let at = |index: u64| txns.iter().position(|txn| txn.index == index);
    let reads_from = |a: usize, b: usize| txns[b].reads.iter().any(|(_, writer)| *writer == Some(txns[a].index));
    let known = |a: usize, b: usize| a != b && (is_base(a, b) || reads_from(a, b));
    for a in 0..n {
        for b in 0..n {
            claim(!known(a, b) || precedes(a, b), || {
                format!("op {} is before op {}, and the order has it otherwise", txns[a].index, txns[b].index)
            })?;
        }
    }
    for (_, a, b) in &execution.orders {
        let (Some(first), Some(second)) = (at(*a), at(*b)) else { continue };
        claim(spans[first].commit < spans[second].commit, || format!("op {a} wrote before op {b}"))?;
    }
    if level.axiom == Axiom::Snapshot {
        no_two_write_at_once(execution, &spans)?;
    }
    let both_write = |a: usize, b: usize| txns[a].writes.iter().any(|key| txns[b].writes.contains(key));
    let sees: Vec<Vec<bool>> = match level.axiom {
        Axiom::Causal => closure(n, known),
        Axiom::ParallelSnapshot => {
            closure(n, |a, b| known(a, b) || spans[a].commit < spans[b].commit && both_write(a, b))
        }
        _ => Vec::new(),
    };
    for reader in 0..n {
        for (position, (key, writer)) in txns[reader].reads.iter().enumerate() {
            let others = (0..n).filter(|other| *other != reader && Some(txns[*other].index) != *writer);
            for other in others.filter(|other| txns[*other].writes.contains(key)) {
                let is_visible = match level.axiom {
                    Axiom::ReadCommitted => false,
                    Axiom::MonotonicAtomicView => {
                        let mut earlier = txns[reader].reads[..position].iter();
                        earlier.any(|(_, writer)| *writer == Some(txns[other].index))
                    }
                    Axiom::ReadAtomic => known(other, reader),
                    Axiom::Causal | Axiom::ParallelSnapshot => sees[other][reader],
                    Axiom::Prefix | Axiom::Snapshot | Axiom::Serializable => precedes(other, reader),
                };
                let is_older = writer.and_then(at).is_some_and(|writer| spans[other].commit < spans[writer].commit);
                claim(!is_visible || is_older, || {
                    format!("op {} does not see what op {} wrote to key {key}", txns[reader].index, txns[other].index)
                })?;
            }
        }
    }
    Ok(())
}

/// The position of each transaction in an order, which must contain each once.
fn spans(execution: &Execution, order: &str) -> Result<Vec<Span>, Uncertified> {
    let mut spans: Vec<(Option<usize>, Option<usize>)> = vec![(None, None); execution.txns.len()];
    for (position, line) in order.lines().enumerate() {
        let (moment, index) = line.split_once(' ').unwrap_or(("", line));
        let wrong = || Uncertified::new(format!("{line} is no moment of a transaction that happened"));
        let index: u64 = index.parse().map_err(|_| wrong())?;
        let at = execution.txns.iter().position(|txn| txn.index == index).ok_or_else(wrong)?;
        let (begin, commit) = &mut spans[at];
        let is_new = match moment {
            "begin" => begin.replace(position).is_none() && commit.is_none(),
            "commit" => commit.replace(position).is_none() && begin.is_some(),
            "" => begin.replace(position).is_none() && commit.replace(position).is_none(),
            _ => false,
        };
        claim(is_new, || format!("{line} is there twice, or in the wrong place"))?;
    }
    let span = |(at, span): (usize, &(Option<usize>, Option<usize>))| match *span {
        (Some(begin), Some(commit)) => Ok(Span { begin, commit }),
        _ => Err(Uncertified::new(format!("op {} is missing", execution.txns[at].index))),
    };
    spans.iter().enumerate().map(span).collect()
}

fn no_two_write_at_once(execution: &Execution, spans: &[Span]) -> Result<(), Uncertified> {
    for (a, one) in execution.txns.iter().enumerate() {
        for (b, other) in execution.txns.iter().enumerate().skip(a + 1) {
            let apart = spans[a].commit < spans[b].begin || spans[b].commit < spans[a].begin;
            let shared = one.writes.iter().find(|key| other.writes.contains(key)).filter(|_| !apart);
            claim(shared.is_none(), || {
                format!("ops {} and {} wrote key {} at once", one.index, other.index, shared.unwrap_or(&Datum::Nil))
            })?;
        }
    }
    Ok(())
}

fn closure(n: usize, relation: impl Fn(usize, usize) -> bool) -> Vec<Vec<bool>> {
    let mut reached: Vec<Vec<bool>> = (0..n).map(|a| (0..n).map(|b| relation(a, b)).collect()).collect();
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                reached[from][to] |= reached[from][via] && reached[via][to];
            }
        }
    }
    reached
}
