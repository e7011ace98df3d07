//! The fold: splits transactions into micro-ops, and stores each distinct read of a group once.

use super::LongFork;
use super::rows::Rows;
use super::seen::{NIL, Seen};
use crate::elements::{ElemId, Elements};
use crate::fold::{self, InFlight, Workload};
use crate::witness::OpRef;
use history_core::cast::Cast as _;
use history_core::{Expected, Op, OpFault, OpKind, OpUse, Pair, Report, Seq, Value};

/// The value of a key that no read has shown.
const UNSEEN: u32 = u32::MAX;

/// Why several values of a key are rejected.
const UNLESS_GENERAL: &str = "each key may be written once; with --general, several times";

/// The facts about a key.
#[derive(Clone, Copy, Debug)]
struct Key {
    /// The only value that reads have returned.
    value: u32,
    /// The value that was written.
    written: u32,
    /// The group in which it was read.
    group: u32,
}

/// The content of a transaction's invocation: the keys that it reads, or its writes.
#[derive(Clone, Debug)]
struct Begun {
    writes: bool,
    mops: Vec<(u32, u32)>,
}

#[derive(Clone)]
pub(super) struct LongForkRun {
    pub(super) keys: Elements,
    pub(super) values: Elements,
    /// Present once the size of groups is known.
    pub(super) seen: Option<Seen>,
    /// By key.
    known: Vec<Key>,
    /// If keys may take several values: each key and value that was written.
    pairs: Option<Rows>,
    /// Whether the history has invocations, as far as is known.
    pub(super) invocations: bool,
    /// Whether two reads fork.
    forked: bool,
    /// Transactions in flight whose invocations contain their micro-ops.
    begun: InFlight<Begun>,
    /// Buffers for later transactions.
    spare: Vec<Vec<(u32, u32)>>,
    pub(super) reads: u64,
    /// The number of reads that show no key, and of those that show all keys.
    pub(super) early: u64,
    pub(super) late: u64,
    pub(super) writes: u64,
    /// The reads and the writes of the current transaction.
    read: Vec<(u32, u32)>,
    written: Vec<(u32, u32)>,
    row: Vec<u32>,
}

impl LongForkRun {
    pub(super) fn new(options: LongFork) -> LongForkRun {
        LongForkRun {
            keys: Elements::default(),
            values: Elements::default(),
            seen: options.group_size.map(|size| Seen::new(size.to_usize())),
            known: Vec::new(),
            pairs: options.general.then(|| Rows::new(2)),
            invocations: false,
            forked: false,
            begun: InFlight::default(),
            spare: Vec::new(),
            reads: 0,
            early: 0,
            late: 0,
            writes: 0,
            read: Vec::new(),
            written: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Decodes a transaction into `self.read` and `self.written`. Ignores values of reads unless the transaction is
    /// `ok`.
    fn decode(&mut self, mops: Seq<'_>, ok: bool) -> Result<(), OpFault> {
        self.read.clear();
        self.written.clear();
        for mop in mops {
            let mut parts = mop.as_seq().map(Seq::iter).ok_or_else(|| strange(mop))?;
            let (Some(name), Some(key), Some(value), None) = (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                return Err(strange(mop));
            };
            match name.as_name() {
                Some("r") if ok => {
                    let mop = (self.key(key)?, self.value(value)?);
                    self.read.push(mop);
                }
                Some("r") => {
                    let key = self.key(key)?;
                    self.read.push((key, NIL));
                }
                Some("w") => {
                    let mop = (self.key(key)?, self.value(value)?);
                    self.written.push(mop);
                }
                _ => return Err(strange(mop)),
            }
        }
        if self.written.is_empty() || self.read.is_empty() {
            return Ok(());
        }
        Err(OpFault::Undecodable("the transaction both reads and writes; expected one or the other".into()))
    }

    #[inline]
    fn key(&mut self, key: Value<'_>) -> Result<u32, OpFault> {
        let id = self.keys.id(key)?;
        if id.at() == self.known.len() {
            self.known.push(Key { value: UNSEEN, written: UNSEEN, group: UNSEEN });
        }
        Ok(id.at().to_u32())
    }

    #[inline]
    fn value(&mut self, value: Value<'_>) -> Result<u32, OpFault> {
        if value.is_nil() {
            return Ok(NIL);
        }
        Ok(self.values.id(value)?.at().to_u32() + 1)
    }

    /// Records the writes in `self.written`.
    fn write(&mut self) -> Result<(), OpFault> {
        for (key, value) in &self.written {
            self.writes += 1;
            if *value == NIL {
                let key = self.key_datum(*key);
                return Err(refuse(format!(
                    "nil is written to the key {key}: such a write cannot be distinguished from none"
                )));
            }
            if let Some(pairs) = &mut self.pairs {
                if !pairs.intern(&[*key, *value])?.1 {
                    let (key, value) = (self.key_datum(*key), self.value_datum(*value));
                    return Err(refuse(format!("{value} is written to the key {key} a second time")));
                }
            } else if std::mem::replace(&mut self.known[key.to_usize()].written, *value) != UNSEEN {
                let key = self.key_datum(*key);
                return Err(refuse(format!("the key {key} was already written ({UNLESS_GENERAL})")));
            }
        }
        Ok(())
    }

    /// Records the read in `self.read`.
    ///
    /// Returns true if it may fork with another one: only if it shows a key, and the group has several.
    fn observe(&mut self, op: &Op<'_>) -> Result<bool, OpFault> {
        self.reads += 1;
        self.read.sort_unstable();
        self.read.dedup();
        if let Some(twice) = self.read.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let key = self.key_datum(twice[0].0);
            return Err(OpFault::Undecodable(format!("the read shows the key {key} twice, with different values")));
        }
        let seen = self.seen.get_or_insert_with(|| Seen::new(self.read.len()));
        if seen.size != self.read.len() || seen.size == 0 {
            let (size, group) = (crate::witness::counted(self.read.len().to_u64(), "key"), seen.size);
            return Err(refuse(format!("the read is of {size}, but groups have {group}")));
        }
        self.row.clear();
        self.row.extend(self.read.iter().map(|(key, _)| *key));
        let (group, is_new) = seen.groups.intern(&self.row)?;
        if is_new {
            for (key, _) in &self.read {
                let before = std::mem::replace(&mut self.known[key.to_usize()].group, group.to_u32());
                if before != UNSEEN {
                    let key = self.key_datum(*key);
                    return Err(refuse(format!(
                        "the key {key} is read in two groups: reads of these are not compared"
                    )));
                }
            }
        }
        self.row.clear();
        self.row.push(group.to_u32());
        self.row.extend(self.read.iter().map(|(_, value)| *value));
        let (state, new) = seen.states.intern(&self.row)?;
        if new && self.pairs.is_none() {
            self.show()?;
        }
        let Some(seen) = &mut self.seen else { return Ok(false) };
        if new {
            let shown = self.read.iter().filter(|(_, value)| *value != NIL).count();
            seen.readers.push(OpRef::of(op));
            seen.shown.push(shown.to_u32());
            self.forked = self.forked || seen.forks();
        }
        let shown = seen.shown[state].to_usize();
        self.early += u64::from(shown == 0);
        self.late += u64::from(shown == seen.size);
        Ok(shown > 0 && seen.size > 1)
    }

    /// Checks that each key has only one value.
    fn show(&mut self) -> Result<(), OpFault> {
        for (key, value) in &self.read {
            let known = &mut self.known[key.to_usize()];
            if *value == NIL || *value == known.value {
                continue;
            }
            if known.value != UNSEEN {
                let (key, value, other) = (*key, *value, known.value);
                return Err(refuse(format!(
                    "the read shows the key {} with the value {}, an earlier one with {} ({UNLESS_GENERAL})",
                    self.key_datum(key),
                    self.value_datum(value),
                    self.value_datum(other)
                )));
            }
            known.value = *value;
        }
        Ok(())
    }

    /// Stores the content of an invocation.
    fn begin(&mut self, op: &Op<'_>) {
        let writes = !self.written.is_empty();
        if !writes && self.read.is_empty() {
            return;
        }
        let mut mops = self.spare.pop().unwrap_or_default();
        mops.clear();
        if writes {
            mops.extend_from_slice(&self.written);
        } else {
            self.read.sort_unstable();
            self.read.dedup();
            mops.extend_from_slice(&self.read);
        }
        self.begun.put(op, Begun { writes, mops });
    }

    /// Compares the current transaction, which is `ok`, with its invocation. If they differ, a read is ignored, but for
    /// a write it is unknown what was written.
    fn compare(&mut self, begun: Begun) -> Result<(), OpFault> {
        const DIFFERS: &str = "the completion's micro-operations differ from its invocation's";
        let Begun { writes, mops } = begun;
        let compared = if writes || !self.written.is_empty() {
            if writes && self.written == mops { Ok(()) } else { Err(refuse(DIFFERS.into())) }
        } else {
            self.read.sort_unstable();
            let keys = self.read.chunk_by(|a, b| a.0 == b.0).map(|of_key| of_key[0].0);
            let is_same = keys.eq(mops.iter().map(|(key, _)| *key));
            if is_same { Ok(()) } else { Err(OpFault::Undecodable(DIFFERS.into())) }
        };
        self.spare.push(mops);
        compared
    }

    /// The number of keys with a value in reads that no op writes; 0 if keys may take several values.
    pub(super) fn unwritten(&self) -> u64 {
        let is_unwritten = |key: &&Key| key.value != UNSEEN && key.written != key.value;
        if self.is_general() { 0 } else { self.known.iter().filter(is_unwritten).count().to_u64() }
    }

    pub(super) fn is_general(&self) -> bool {
        self.pairs.is_some()
    }

    pub(super) fn key_datum(&self, key: u32) -> history_core::Datum {
        self.keys.datum(ElemId::new(key.to_usize()))
    }

    pub(super) fn value_datum(&self, value: u32) -> history_core::Datum {
        match value.checked_sub(1) {
            None => history_core::Datum::Nil,
            Some(at) => self.values.datum(ElemId::new(at.to_usize())),
        }
    }
}

#[cold]
fn strange(mop: Value<'_>) -> OpFault {
    let found = match mop {
        Value::Vector(_) | Value::List(_) => mop.to_string(),
        other => other.kind().to_owned(),
    };
    OpFault::Undecodable(format!("expected [:r key value] or [:w key value] in the transaction, found {found}"))
}

/// The fault of a history that does not fit this workload.
#[cold]
fn refuse(reason: String) -> OpFault {
    OpFault::Blocking(reason)
}

impl Workload for LongForkRun {
    const EXPECTED: Expected = Expected {
        ops: ":read, :write or :txn with [[:r key value] ...] or [[:w key value] ...]",
        observation: "ok read of a group of two keys or more that shows one",
    };

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        let begun = if op.kind == OpKind::Invoke { None } else { self.begun.take(op.pair) };
        let writer = begun.as_ref().is_some_and(|begun| begun.writes);
        self.invocations |= op.kind == OpKind::Invoke;
        let ok = op.kind == OpKind::Ok;
        let counts = op.kind == OpKind::Invoke || op.pair == Pair::Alone && !self.invocations;
        let of_this_workload = matches!(op.f, None | Some("read" | "write" | "txn"));
        let unread = if of_this_workload || writer { OpUse::Understood } else { OpUse::PassedOver };
        if !ok && !counts {
            return Ok(unread);
        }
        let decoded = match op.value {
            Value::Vector(mops) | Value::List(mops) => self.decode(mops, ok),
            // The result of a read is unknown before its completion; the content of a write is known.
            Value::Nil if writer || op.kind != OpKind::Ok && op.f != Some("write") => return Ok(unread),
            other => {
                Err(OpFault::Undecodable(format!("expected a transaction as the op's value, found {}", other.kind())))
            }
        };
        match decoded {
            Err(OpFault::Undecodable(_)) if !of_this_workload => return Ok(OpUse::PassedOver),
            decoded => decoded?,
        }
        if op.kind == OpKind::Invoke {
            self.begin(op);
        } else if let Some(begun) = begun {
            self.compare(begun)?;
        }
        if !self.written.is_empty() {
            if counts {
                self.write()?;
            }
            return Ok(OpUse::Understood);
        }
        if ok && (of_this_workload || !self.read.is_empty()) {
            return self.observe(op).map(fold::observed_if);
        }
        Ok(if self.read.is_empty() { unread } else { OpUse::Understood })
    }

    /// Without invocations, a write of nil may turn out to have been in flight, which would explain a fork.
    fn is_violated(&self) -> bool {
        self.forked && self.invocations
    }

    fn report(self, whole: bool) -> Report {
        self.conclude(whole)
    }
}
