//! The results that RC11 allows for a small program, by its axioms: all choices of the store that each load reads, and
//! all orders of the stores of each atomic. This shares no code with the model under test.
//!
//! Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing Sequential Consistency in C/C++11" (PLDI 2017), section 4:
//! coherence, atomicity, SC by psc, and no thin air (which excludes load buffering).

use super::random::Instruction;
use crate::noting::Seen;
use record_parallel::sync::atomic::Ordering;
use std::collections::BTreeSet;

use Ordering::{AcqRel, Acquire, Release, SeqCst};

/// An event of a candidate execution. The first two are the initial stores.
#[derive(Clone, Debug)]
struct Event {
    /// `None` for an initial store.
    thread: Option<usize>,
    /// `None` for a fence.
    atomic: Option<usize>,
    order: Ordering,
    read: Option<u32>,
    written: Option<u32>,
}

/// A relation on up to 32 events: for each event, the set of events that it precedes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Relation(Vec<u32>);

impl Relation {
    fn new(size: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let row = |from: usize| (0..size).filter(|to| holds(from, *to)).fold(0, |row, to| row | 1 << to);
        Relation((0..size).map(row).collect())
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] & 1 << to != 0
    }

    fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// The composition: first this relation, then the other.
    fn then(&self, other: &Relation) -> Relation {
        let row = |row: &u32| (0..self.0.len()).filter(|at| row & 1 << at != 0).fold(0, |all, at| all | other.0[at]);
        Relation(self.0.iter().map(row).collect())
    }

    fn closed(mut self) -> Relation {
        for via in 0..self.0.len() {
            for from in 0..self.0.len() {
                if self.has(from, via) {
                    self.0[from] |= self.0[via];
                }
            }
        }
        self
    }

    fn only(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        Relation::new(self.0.len(), |from, to| self.has(from, to) && holds(from, to))
    }

    fn is_irreflexive(&self) -> bool {
        (0..self.0.len()).all(|at| !self.has(at, at))
    }

    /// The reflexive closure.
    fn optional(&self) -> Relation {
        Relation::new(self.0.len(), |from, to| from == to || self.has(from, to))
    }

    fn back(&self) -> Relation {
        Relation::new(self.0.len(), |from, to| self.has(to, from))
    }
}

fn releases(order: Ordering) -> bool {
    matches!(order, Release | AcqRel | SeqCst)
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Acquire | AcqRel | SeqCst)
}

/// The results that the threads of a program may see. The program must have no lock.
pub(super) fn allowed(programs: &[Vec<Instruction>]) -> BTreeSet<Seen> {
    let mut all = BTreeSet::new();
    let mut values: Vec<Vec<u32>> = vec![vec![0], vec![0]];
    // The values that may be read: first those of stores that do not depend on a read, then repeatedly sums of values
    // that may be read.
    for _ in 0..=programs.iter().map(Vec::len).sum() {
        let known = values.clone();
        for (me, program) in programs.iter().enumerate() {
            for (at, instruction) in program.iter().enumerate() {
                let mine = (me * 10 + at + 1) as u32;
                let (of, new) = match *instruction {
                    Instruction::Store(of, _) | Instruction::Exchange(of, ..) => (of, vec![mine]),
                    Instruction::Swap(of, _) => (of, vec![1]),
                    Instruction::Add(of, _) => (of, known[of].iter().map(|value| value + 100).collect()),
                    _ => continue,
                };
                values[of].extend(new);
                values[of].sort_unstable();
                values[of].dedup();
            }
        }
        for values in &mut values {
            values.retain(|value| *value < 700);
        }
    }
    let initial =
        |of: usize| Event { thread: None, atomic: Some(of), order: Ordering::Relaxed, read: None, written: Some(0) };
    let flat: Vec<(usize, usize)> =
        programs.iter().enumerate().flat_map(|(me, program)| (0..program.len()).map(move |at| (me, at))).collect();
    read_all(programs, &flat, &values, &mut vec![initial(0), initial(1)], &mut all);
    all
}

/// Chooses the value that each event reads, one event after another.
fn read_all(
    programs: &[Vec<Instruction>],
    left: &[(usize, usize)],
    values: &[Vec<u32>],
    events: &mut Vec<Event>,
    all: &mut BTreeSet<Seen>,
) {
    let Some((&(me, at), rest)) = left.split_first() else {
        let mut seen = vec![Vec::new(); programs.len()];
        for event in events.iter().filter(|event| event.thread.is_some()) {
            // A failed exchange is recorded with an offset.
            let is_failed = |read| read != 0 && event.written.is_none() && is_exchange(programs, events, event);
            seen[event.thread.unwrap()].extend(event.read.map(|read| if is_failed(read) { read + 1000 } else { read }));
        }
        if !all.contains(&seen) && is_allowed(events) {
            all.insert(seen);
        }
        return;
    };
    let mine = (me * 10 + at + 1) as u32;
    let event = |atomic, order, read, written| Event { thread: Some(me), atomic, order, read, written };
    let choices: Vec<Event> = match programs[me][at] {
        Instruction::Load(of, order) => {
            values[of].iter().map(|read| event(Some(of), order, Some(*read), None)).collect()
        }
        Instruction::Store(of, order) => vec![event(Some(of), order, None, Some(mine))],
        Instruction::Add(of, order) => {
            values[of].iter().map(|read| event(Some(of), order, Some(*read), Some(read + 100))).collect()
        }
        Instruction::Swap(of, order) => {
            values[of].iter().map(|read| event(Some(of), order, Some(*read), Some(1))).collect()
        }
        Instruction::Exchange(of, success, failure) => values[of]
            .iter()
            .map(|&read| match read {
                0 => event(Some(of), success, Some(0), Some(mine)),
                _ => event(Some(of), failure, Some(read), None),
            })
            .collect(),
        Instruction::Fence(order) => vec![event(None, order, None, None)],
        Instruction::Lock => unreachable!("it is not an atomic"),
    };
    for choice in choices {
        events.push(choice);
        read_all(programs, rest, values, events, all);
        events.pop();
    }
}

fn is_exchange(programs: &[Vec<Instruction>], events: &[Event], event: &Event) -> bool {
    let me = event.thread.unwrap();
    let at = events.iter().filter(|of| of.thread == Some(me)).position(|of| std::ptr::eq(of, event)).unwrap();
    matches!(programs[me][at], Instruction::Exchange(..))
}

/// Returns true if some choice of stores to read from, and some order of the stores, satisfy the axioms.
fn is_allowed(events: &[Event]) -> bool {
    let reads: Vec<usize> = (0..events.len()).filter(|at| events[*at].read.is_some()).collect();
    let mut from = vec![usize::MAX; events.len()];
    sources(events, &reads, &mut from)
}

fn sources(events: &[Event], reads: &[usize], from: &mut Vec<usize>) -> bool {
    let Some((&read, rest)) = reads.split_first() else {
        let stores = |of: usize| -> Vec<usize> {
            (2..events.len()).filter(|at| events[*at].atomic == Some(of) && events[*at].written.is_some()).collect()
        };
        return orders(&stores(0)).iter().any(|first| {
            orders(&stores(1)).iter().any(|second| {
                let first: Vec<usize> = std::iter::once(0).chain(first.iter().copied()).collect();
                let second: Vec<usize> = std::iter::once(1).chain(second.iter().copied()).collect();
                obeys(events, from, [&first, &second])
            })
        });
    };
    (0..events.len()).any(|store| {
        let fits = store != read
            && events[store].atomic == events[read].atomic
            && events[store].written.is_some()
            && events[store].written == events[read].read;
        from[read] = store;
        fits && sources(events, rest, from)
    })
}

fn orders(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, first) in of.iter().enumerate() {
        let rest = [&of[..at], &of[at + 1..]].concat();
        all.extend(orders(&rest).into_iter().map(|rest| [&[*first][..], &rest].concat()));
    }
    all
}

fn obeys(events: &[Event], from: &[usize], orders: [&Vec<usize>; 2]) -> bool {
    let size = events.len();
    let new = |holds: &dyn Fn(usize, usize) -> bool| Relation::new(size, holds);
    let place = |at: usize| orders.iter().find_map(|order| order.iter().position(|of| *of == at));
    let same = |a: usize, b: usize| events[a].atomic.is_some() && events[a].atomic == events[b].atomic;
    let is_fence = |at: usize| events[at].atomic.is_none();
    let sb = new(&|a, b| {
        a < b && (events[a].thread.is_none() || events[a].thread == events[b].thread) && events[b].thread.is_some()
    });
    let rf = new(&|a, b| from[b] == a);
    let mo = new(&|a, b| same(a, b) && matches!((place(a), place(b)), (Some(a), Some(b)) if a < b));
    let fr = rf.back().then(&mo).only(|a, b| a != b);
    let eco = rf.or(&mo).or(&fr).closed();
    // A release sequence: the store, and the read-modify-writes that read from it or from one another.
    let updates = rf.only(|_, b| events[b].written.is_some()).closed();
    let sequence = updates.optional().only(|a, _| events[a].written.is_some());
    let release_fence = sb.only(|a, _| is_fence(a)).optional().only(|a, _| releases(events[a].order));
    let acquire_fence = sb.only(|_, b| is_fence(b)).optional().only(|_, b| acquires(events[b].order));
    let sw = release_fence.then(&sequence).then(&rf).then(&acquire_fence);
    let hb = sb.or(&sw).closed();
    let atomicity = (0..size).all(|at| {
        events[at].read.is_none()
            || events[at].written.is_none()
            || place(at).zip(place(from[at])).is_some_and(|(own, read)| own == read + 1)
    });
    let is_coherent = hb.is_irreflexive() && hb.then(&eco).is_irreflexive();
    let no_thin_air = sb.or(&rf).closed().is_irreflexive();
    atomicity && is_coherent && no_thin_air && is_consistent(events, &sb, &hb, &mo.or(&fr), &eco)
}

/// The axiom of RC11 for sequentially consistent events: psc has no cycle.
fn is_consistent(events: &[Event], sb: &Relation, hb: &Relation, later: &Relation, eco: &Relation) -> bool {
    let same = |a: usize, b: usize| events[a].atomic.is_some() && events[a].atomic == events[b].atomic;
    let is_sc = |at: usize| events[at].order == SeqCst && events[at].thread.is_some();
    let is_fence = |at: usize| is_sc(at) && events[at].atomic.is_none();
    let elsewhere = sb.only(|a, b| !same(a, b));
    let scb = sb.or(&elsewhere.then(hb).then(&elsewhere)).or(&hb.only(same)).or(later);
    let before = hb.only(|a, _| is_fence(a)).optional().only(|a, _| is_sc(a));
    let after = hb.only(|_, b| is_fence(b)).optional().only(|_, b| is_sc(b));
    let base = before.then(&scb).then(&after);
    let fences = hb.or(&hb.then(eco).then(hb)).only(|a, b| is_fence(a) && is_fence(b));
    base.or(&fences).closed().is_irreflexive()
}
