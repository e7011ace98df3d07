//! Judges levels by their axioms, for small worlds with predicate reads: is there a choice of the versions that were
//! read, and a commit order, that obeys the axioms? All choices and orders are tried.
//!
//! The universe is created before all other transactions and nothing precedes it: its creation is visible to each read.

use super::world::{Fate, KEYS, Mop, Txn, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    ReadCommitted,
    /// `in_part`: whether a predicate read may see one key of a transaction and miss another one.
    MonotonicAtomicView {
        in_part: bool,
    },
    ReadAtomic,
    Causal,
    Prefix,
    ParallelSnapshot,
    Snapshot {
        by_time: bool,
    },
}

/// The writer of a version: a transaction, or `None` for the creation of the universe.
type Writer = Option<usize>;

/// A read of a key: the micro-op, and the writer of the version.
#[derive(Clone, Copy)]
struct Read {
    position: usize,
    key: usize,
    writer: Writer,
}

/// A read whose writer is not chosen yet: the reader, the micro-op, the key, and the possible writers.
type Open = (usize, usize, usize, Vec<Writer>);

/// The transactions that happened, and the chosen writers of their reads.
struct Execution<'w> {
    world: &'w World,
    happened: Vec<bool>,
    reads: Vec<Vec<Read>>,
}

/// Returns true if some choice of versions and some order obey a level.
pub(super) fn holds(world: &World, level: Level) -> bool {
    let optional: Vec<usize> = (0..world.txns.len()).filter(|at| world.txns[*at].fate == Fate::Info).collect();
    (0..1_usize << optional.len()).any(|chosen| {
        let happened = (0..world.txns.len()).map(|at| match world.txns[at].fate {
            Fate::Ok => true,
            Fate::Info => optional.iter().position(|other| *other == at).is_some_and(|bit| chosen >> bit & 1 == 1),
            Fate::Fail => false,
        });
        let happened: Vec<bool> = happened.collect();
        let reads = vec![Vec::new(); world.txns.len()];
        let mut execution = Execution { world, happened, reads };
        let Some(open) = execution.open_reads(level) else { return false };
        execution.choose(&open, level)
    })
}

impl Execution<'_> {
    /// Returns the reads of other transactions' writes, each with its possible writers; `None` if a read contradicts
    /// its own transaction's writes.
    fn open_reads(&self, level: Level) -> Option<Vec<Open>> {
        let mut open = Vec::new();
        for (at, txn) in self.world.txns.iter().enumerate().filter(|(_, txn)| txn.fate == Fate::Ok) {
            for (position, mop) in txn.mops.iter().enumerate() {
                for key in 0..KEYS {
                    let fits = |value: Option<i64>| match mop {
                        Mop::Mutate(..) => true,
                        Mop::Read(other, seen) => *other != key || *seen == value,
                        Mop::Select(predicate, shown) => value.filter(|value| predicate.matches(*value)) == shown[key],
                    };
                    if let Mop::Select(predicate, shown) = mop {
                        shown[key].is_none_or(|value| predicate.matches(value)).then_some(())?;
                    }
                    let looks = match mop {
                        Mop::Mutate(..) => false,
                        Mop::Read(other, _) => *other == key,
                        Mop::Select(..) => true,
                    };
                    if !looks {
                        continue;
                    }
                    if let Some(own) = written(&txn.mops[..position], key) {
                        // Elle's table allows a read to contradict its own transaction's writes at read committed. The
                        // read then shows another transaction's write, unless the transaction itself wrote this value
                        // at another time.
                        (fits(own) || level == Level::ReadCommitted).then_some(())?;
                        let wrote =
                            |mop: &Mop| matches!(mop, Mop::Mutate(other, value) if *other == key && fits(*value));
                        if fits(own) || txn.mops.iter().any(wrote) {
                            continue;
                        }
                    }
                    let others = (0..self.happened.len()).filter(|other| *other != at && self.happened[*other]);
                    let last = |other: usize| written(&self.world.txns[other].mops, key);
                    let others = others.filter(|other| last(*other).is_some_and(fits)).map(Some);
                    let base = fits(self.world.init[key]).then_some(None);
                    open.push((at, position, key, base.into_iter().chain(others).collect()));
                }
            }
        }
        Some(open)
    }

    fn choose(&mut self, open: &[Open], level: Level) -> bool {
        let Some(((at, position, key, writers), rest)) = open.split_first() else {
            return self.some_order_obeys(level);
        };
        writers.iter().any(|writer| {
            self.reads[*at].push(Read { position: *position, key: *key, writer: *writer });
            let holds = self.choose(rest, level);
            self.reads[*at].pop();
            holds
        })
    }

    fn some_order_obeys(&self, level: Level) -> bool {
        let txns: Vec<usize> = (0..self.happened.len()).filter(|at| self.happened[*at]).collect();
        orders(&txns).iter().any(|order| self.obeys(order, level))
    }

    /// Returns true if one transaction is known to precede another.
    fn is_known(&self, a: usize, b: usize, level: Level) -> bool {
        let (first, second) = (&self.world.txns[a], &self.world.txns[b]);
        let by_time = level == Level::Snapshot { by_time: true } && is_over(first, second);
        by_time || self.reads[b].iter().any(|read| read.writer == Some(a))
    }

    fn both_write(&self, a: usize, b: usize) -> bool {
        let writes = |at: usize, key| written(&self.world.txns[at].mops, key).is_some();
        (0..KEYS).any(|key| writes(a, key) && writes(b, key))
    }

    fn obeys(&self, order: &[usize], level: Level) -> bool {
        let at = |txn: usize| order.iter().position(|other| *other == txn).unwrap();
        let known = |a: usize, b: usize| self.is_known(a, b, level);
        if order.iter().any(|a| order.iter().any(|b| known(*a, *b) && at(*a) >= at(*b))) {
            return false;
        }
        let is_seen = |a: usize, reader: usize, read: &Read| match level {
            Level::ReadCommitted => false,
            Level::MonotonicAtomicView { in_part } => self.reads[reader].iter().any(|other| {
                let is_alike = !in_part && other.position == read.position;
                other.writer == Some(a) && (other.position < read.position || is_alike)
            }),
            Level::ReadAtomic => known(a, reader),
            Level::Causal | Level::ParallelSnapshot => {
                let overwrites =
                    |a: usize, b: usize| level == Level::ParallelSnapshot && at(a) < at(b) && self.both_write(a, b);
                leads(order, a, reader, &|a, b| known(a, b) || overwrites(a, b))
            }
            Level::Prefix => order.iter().any(|via| at(a) <= at(*via) && known(*via, reader)),
            Level::Snapshot { .. } => order.iter().any(|via| {
                let meets = at(*via) < at(reader) && self.both_write(*via, reader);
                at(a) <= at(*via) && (known(*via, reader) || meets)
            }),
        };
        order.iter().all(|reader| {
            self.reads[*reader].iter().all(|read| {
                let others = order.iter().filter(|a| *a != reader && read.writer != Some(**a));
                let mut others = others.filter(|a| written(&self.world.txns[**a].mops, read.key).is_some());
                others.all(|a| !is_seen(*a, *reader, read) || read.writer.is_some_and(|writer| at(*a) < at(writer)))
            })
        })
    }
}

/// Returns the final write to a key, if there is any: a value, or a deletion.
#[expect(clippy::option_option, reason = "nothing written is not a deletion")]
fn written(mops: &[Mop], key: usize) -> Option<Option<i64>> {
    mops.iter().rev().find_map(|mop| match mop {
        Mop::Mutate(other, value) if *other == key => Some(*value),
        _ => None,
    })
}

fn is_over(first: &Txn, second: &Txn) -> bool {
    first.fate == Fate::Ok && first.round < second.round
}

/// Returns true if a chain of steps leads from one transaction to another.
fn leads(txns: &[usize], from: usize, to: usize, step: &dyn Fn(usize, usize) -> bool) -> bool {
    let mut reached = vec![from];
    let mut at = 0;
    while at < reached.len() {
        let next = txns.iter().filter(|next| step(reached[at], **next) && !reached.contains(next));
        let next: Vec<usize> = next.copied().collect();
        reached.extend(next);
        at += 1;
    }
    from != to && reached.contains(&to)
}

fn orders(txns: &[usize]) -> Vec<Vec<usize>> {
    if txns.is_empty() {
        return vec![Vec::new()];
    }
    let begun = txns.iter().flat_map(|first| {
        let rest: Vec<usize> = txns.iter().copied().filter(|txn| txn != first).collect();
        orders(&rest).into_iter().map(move |rest| [&[*first][..], &rest].concat())
    });
    begun.collect()
}
