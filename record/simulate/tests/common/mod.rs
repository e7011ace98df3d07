//! A simulated history held in memory, for tests to look at.
#![allow(dead_code, unreachable_pub, reason = "each test uses what it needs")]

pub mod graph;

use record_simulate::{Kind, ListAppend, Mop, Observer, Payload, Process, SimOp};
use std::collections::HashMap;
use std::io;

/// A micro-operation that owns what it read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    Append(i64, i64),
    Read(i64, Option<Vec<i64>>),
}

/// An invocation with its completion.
#[derive(Clone, Debug)]
pub struct Txn {
    pub process: i64,
    pub invoked: u64,
    /// Invocation and completion; the end of time if it has none.
    pub time_ns: (u64, u64),
    pub completed: Option<u64>,
    /// `Info` while it has no completion.
    pub kind: Kind,
    pub asked: Vec<Did>,
    /// The completion's micro-operations; the invocation's, if it has none.
    pub did: Vec<Did>,
}

impl Txn {
    pub fn is_ok(&self) -> bool {
        self.kind == Kind::Ok
    }

    /// What it read and could tell.
    pub fn reads(&self) -> impl Iterator<Item = (i64, &[i64])> {
        self.did.iter().filter_map(|did| match did {
            Did::Read(key, Some(list)) => Some((*key, &list[..])),
            _ => None,
        })
    }

    pub fn appends(&self) -> impl Iterator<Item = (i64, i64)> {
        self.did.iter().filter_map(|did| match did {
            Did::Append(key, value) => Some((*key, *value)),
            Did::Read(..) => None,
        })
    }
}

/// All transactions by invocation, and the order they took effect in.
#[derive(Default)]
pub struct Recorded {
    pub txns: Vec<Txn>,
    /// The transaction (its place in `txns`) and when.
    pub commits: Vec<(usize, u64)>,
    pub nemesis: Vec<(u64, &'static str)>,
    open: HashMap<i64, usize>,
    by_index: HashMap<u64, usize>,
    last_time_ns: u64,
    ops: u64,
}

impl Recorded {
    pub fn of(parameters: &ListAppend) -> Recorded {
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
        let Payload::Lists(mops) = op.payload else { panic!("{op:?}") };
        let mops: Vec<Did> = mops.iter().map(did).collect();
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

    fn commit(&mut self, invoked: u64, time_ns: u64) {
        self.commits.push((self.by_index[&invoked], time_ns));
    }
}
