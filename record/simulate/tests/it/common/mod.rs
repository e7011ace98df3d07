//! A simulated history in memory, for tests.
#![allow(unreachable_pub, reason = "tests have no users outside")]

pub mod graph;
pub mod object;

use record_simulate::{Bug, Kind, Mop, Observer, Payload, Process, RegisterMop, SimOp, Transactions, Workload};
use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::Hash;
use std::io;

/// A micro-operation that owns its result. For a register, this is a list of at most one value, and a write is an
/// append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    Append(i64, i64),
    Read(i64, Option<Vec<i64>>),
}

/// Verifies that all required errors were found in a history with a bug, and no forbidden ones.
#[track_caller]
pub fn assert_bites<W: Copy + Debug + Eq + Hash>(bug: Bug, seed: u64, found: &HashSet<W>, must: &[W], may: &[W]) {
    let missing: Vec<_> = must.iter().filter(|wrong| !found.contains(wrong)).collect();
    let surplus: Vec<_> = found.iter().filter(|wrong| !must.contains(wrong) && !may.contains(wrong)).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "{bug}, seed {seed}: lacks {missing:?}, but has {surplus:?}");
}

impl Did {
    pub fn key(&self) -> &i64 {
        let (Did::Append(key, _) | Did::Read(key, _)) = self;
        key
    }

    /// The value that it wrote, or the last value that it read.
    pub fn value(&self) -> Option<i64> {
        match self {
            Did::Append(_, value) => Some(*value),
            Did::Read(_, list) => list.as_ref()?.last().copied(),
        }
    }
}

/// An invocation with its completion.
#[derive(Clone, Debug)]
pub struct Txn {
    pub process: i64,
    pub invoked: u64,
    /// The times of the invocation and of the completion; without a completion, the end of time.
    pub time_ns: (u64, u64),
    pub completed: Option<u64>,
    /// `Info` if it has no completion.
    pub kind: Kind,
    pub asked: Vec<Did>,
    /// The micro-operations of the completion; of the invocation, if there is no completion.
    pub did: Vec<Did>,
}

impl Txn {
    pub fn is_ok(&self) -> bool {
        self.kind == Kind::Ok
    }

    /// The keys and lists that it read with known results.
    pub fn reads(&self) -> impl Iterator<Item = (i64, &[i64])> {
        self.did.iter().filter_map(|did| match did {
            Did::Read(key, Some(list)) => Some((*key, &list[..])),
            _ => None,
        })
    }

    pub fn reads_what_it_writes_later(&self) -> bool {
        let later = |from: usize, key: i64, list: &[i64]| {
            self.did[from..].iter().any(|did| matches!(did, Did::Append(k, value) if *k == key && list.contains(value)))
        };
        self.did.iter().enumerate().any(|(i, did)| matches!(did, Did::Read(key, Some(list)) if later(i, *key, list)))
    }

    pub fn appends(&self) -> impl Iterator<Item = (i64, i64)> {
        self.did.iter().filter_map(|did| match did {
            Did::Append(key, value) => Some((*key, *value)),
            Did::Read(..) => None,
        })
    }
}

/// All transactions by invocation, and the order in which they took effect.
#[derive(Default)]
pub struct Recorded {
    pub txns: Vec<Txn>,
    /// The position of the transaction in `txns`, and the time.
    pub commits: Vec<(usize, u64)>,
    pub nemesis: Vec<(u64, &'static str)>,
    open: HashMap<i64, usize>,
    by_index: HashMap<u64, usize>,
    last_time_ns: u64,
    ops: u64,
}

impl Recorded {
    pub fn of<W: Workload>(parameters: &Transactions<W>) -> Recorded {
        let mut recorded = Recorded::default();
        parameters.simulation().unwrap().observe(&mut recorded).unwrap();
        recorded
    }
}

fn did(mop: Mop<'_>) -> Did {
    match mop {
        Mop::Append { key, value } => Did::Append(key, value),
        Mop::Read { key, list } => Did::Read(key, list.map(<[i64]>::to_vec)),
    }
}

fn did_to_register(mop: RegisterMop, kind: Kind) -> Did {
    match mop {
        RegisterMop::Write { key, value } => Did::Append(key, value),
        RegisterMop::Read { key, value } if kind == Kind::Ok => Did::Read(key, Some(value.into_iter().collect())),
        RegisterMop::Read { key, value } => {
            assert_eq!(value, None, "only ok reads tell");
            Did::Read(key, None)
        }
    }
}

impl Observer for Recorded {
    fn op(&mut self, op: &SimOp<'_>) -> io::Result<()> {
        assert_eq!(op.index, self.ops);
        assert!(op.time_ns >= self.last_time_ns, "time goes back at op {}", op.index);
        (self.ops, self.last_time_ns) = (self.ops + 1, op.time_ns);
        let Process::Client(process) = op.process else {
            assert!(matches!(op.payload, Payload::Nothing) && op.kind == Kind::Info);
            self.nemesis.push((op.time_ns, op.f));
            return Ok(());
        };
        let mops: Vec<Did> = match op.payload {
            Payload::Lists(mops) => mops.iter().map(did).collect(),
            Payload::Registers(mops) => mops.iter().map(|mop| did_to_register(mop, op.kind)).collect(),
            _ => panic!("{op:?}"),
        };
        if op.kind == Kind::Invoke {
            let at = self.txns.len();
            assert_eq!(self.open.insert(process, at), None, "process {process} waits already");
            self.by_index.insert(op.index, at);
            self.txns.push(Txn {
                process,
                invoked: op.index,
                time_ns: (op.time_ns, u64::MAX),
                completed: None,
                kind: Kind::Info,
                asked: mops.clone(),
                did: mops,
            });
            return Ok(());
        }
        let at = self.open.remove(&process).expect("a completion follows its invocation");
        let txn = &mut self.txns[at];
        (txn.completed, txn.kind, txn.did, txn.time_ns.1) = (Some(op.index), op.kind, mops, op.time_ns);
        Ok(())
    }

    fn commit(&mut self, invoked: u64, time_ns: u64, _: Payload<'_>) {
        self.commits.push((self.by_index[&invoked], time_ns));
    }
}
