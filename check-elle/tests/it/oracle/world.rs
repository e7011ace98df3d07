//! The oracle's form of a history: transactions in the order of their indices, with numbers for names.
//!
//! The value of a register is a list of the last written element: empty before all writes.

use super::Workload;
use super::registers::{Sources, Versions};
use history_core::{History, OpKind, Pair, Process, Value};

/// A key or an element, by its position among all names of the history.
pub(crate) type Name = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ok,
    /// Also an op that is still open at the end.
    Info,
    Fail,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mop {
    /// An append, or a write.
    Write(Name, Name),
    /// `None`: the result is unknown.
    Read(Name, Option<Vec<Name>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Txn {
    /// The index of the completion; of the invocation, if there is no completion.
    pub(crate) index: u64,
    pub(crate) invoked: Option<u64>,
    pub(crate) process: Option<i64>,
    pub(crate) kind: Kind,
    pub(crate) mops: Vec<Mop>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) txns: Vec<Txn>,
    /// The EDN text of each key.
    pub(crate) keys: Vec<String>,
    pub(crate) elements: Vec<String>,
    /// The known version orders of registers; `None` where keys are lists.
    pub(crate) versions: Option<Versions>,
    /// Whether some op that may have happened has a value neither in its invocation nor in its completion.
    pub(crate) has_unsaid: bool,
    /// Whether some invocation has no process.
    pub(crate) has_nameless: bool,
}

impl Txn {
    /// Returns true if the transaction may have happened.
    pub(crate) fn may_have_happened(&self) -> bool {
        self.kind != Kind::Fail
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.kind == Kind::Ok
    }

    /// Returns true if the other transaction is a later one of the same process.
    pub(crate) fn precedes_in_process(&self, other: &Txn) -> bool {
        let same = self.process.is_some() && self.process == other.process;
        self.is_ok() && other.may_have_happened() && same && self.index < other.index
    }

    /// Returns true if the transaction had completed when the other was invoked. A process executes one transaction at
    /// a time.
    pub(crate) fn precedes_in_time(&self, other: &Txn) -> bool {
        let in_time = self.is_ok() && other.invoked.is_some_and(|invoked| self.index < invoked);
        in_time || self.precedes_in_process(other)
    }

    /// Returns the known reads: key and list.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (Name, &Vec<Name>)> {
        self.mops.iter().filter_map(|mop| match mop {
            Mop::Read(key, Some(list)) => Some((*key, list)),
            _ => None,
        })
    }

    /// Returns the appends or writes: key and element.
    pub(crate) fn writes(&self) -> impl Iterator<Item = (Name, Name)> {
        self.mops.iter().filter_map(|mop| match mop {
            Mop::Write(key, element) => Some((*key, *element)),
            Mop::Read(..) => None,
        })
    }

    /// Returns what it read of a register, if its first micro-op on the register is a read with a known result.
    #[expect(clippy::option_option, reason = "a version may be nil")]
    pub(crate) fn external_read(&self, key: Name) -> Option<Option<Name>> {
        let is_of_key = |mop: &&Mop| matches!(mop, Mop::Write(k, _) | Mop::Read(k, _) if *k == key);
        match self.mops.iter().find(is_of_key)? {
            Mop::Read(_, Some(list)) => Some(list.last().copied()),
            _ => None,
        }
    }

    /// Returns its last write to a register, if the transaction may have happened.
    pub(crate) fn external_write(&self, key: Name) -> Option<Name> {
        let last = self.writes().filter(|(k, _)| *k == key).last();
        last.map(|(_, element)| element).filter(|_| self.may_have_happened())
    }
}

impl World {
    /// Returns the transactions of a history, or why it has no verdict.
    pub(crate) fn of(history: &History, workload: &Workload<'_>) -> Result<World, String> {
        match workload {
            Workload::ListAppend => World::read(history, false),
            Workload::RwRegister(sources) => {
                let mut world = World::read(history, true)?;
                world.assume(sources);
                Ok(world)
            }
        }
    }

    /// Orders versions as these sources say, and discards earlier version orders.
    pub(crate) fn assume(&mut self, sources: &Sources<'_>) {
        self.versions = Some(Versions::of(self, sources));
    }

    /// Returns the transactions of a history of lists, or of registers without assumptions about their versions.
    pub(crate) fn read(history: &History, registers: bool) -> Result<World, String> {
        let mut world = World::default();
        // Invocations by unnamed clients: each may belong to any completion.
        let mut nameless = Vec::new();
        for (at, op) in history.ops().enumerate() {
            let partner = history.partner(at);
            if !op.process.is_client() || op.kind == OpKind::Invoke && partner.is_some() {
                continue;
            }
            world.has_nameless |= op.kind == OpKind::Invoke && op.pair == Pair::Alone;
            let kind = match op.kind {
                OpKind::Ok => Kind::Ok,
                OpKind::Fail => Kind::Fail,
                OpKind::Info | OpKind::Invoke => Kind::Info,
            };
            let is_said = |at: usize| !history.op(at).value.is_nil();
            world.has_unsaid |= kind != Kind::Fail && !is_said(at) && !partner.is_some_and(is_said);
            let process = if let Process::Client(number) = op.process { Some(number) } else { None };
            let invoked = partner.map(|partner| history.op(partner).index);
            // Only ok transactions have known reads.
            let saw = kind == Kind::Ok && !op.value.is_nil();
            let value = history.value(at);
            let mops = if registers { world.register_mops(value, saw)? } else { world.list_mops(value, saw)? };
            match (op.kind, op.pair) {
                (OpKind::Invoke, Pair::Alone) => nameless.push(Txn { index: op.index, invoked, process, kind, mops }),
                (OpKind::Invoke, _) => {
                    world.txns.push(Txn { index: op.index, invoked: Some(op.index), process, kind, mops });
                }
                _ => world.txns.push(Txn { index: op.index, invoked, process, kind, mops }),
            }
        }
        let is_open = |txn: &Txn| {
            let mut writes = txn.writes().peekable();
            writes.peek().is_some() && writes.all(|(key, element)| world.writer(key, element).is_none())
        };
        nameless.retain(is_open);
        world.txns.append(&mut nameless);
        world.txns.sort_by_key(|txn| txn.index);
        if registers {
            world.part_double_writes()?;
        } else {
            world.refuse_double_appends()?;
        }
        Ok(world)
    }

    /// Returns the keys and versions that a transaction read, as relations between transactions use them. For a
    /// register only the first read, and only if it is before all writes.
    pub(crate) fn versions_read(&self, txn: &Txn) -> Vec<(Name, Option<Name>)> {
        match self.versions {
            // Elements that were never appended, or whose append failed, are skipped: the version is the last element
            // that may have been appended.
            None => txn.reads().map(|(key, list)| (key, last_possible(self, key, list))).collect(),
            Some(_) => (0..self.keys.len()).filter_map(|key| Some((key, txn.external_read(key)?))).collect(),
        }
    }

    /// Returns what a transaction wrote, as relations use it: for a register only its last write.
    pub(crate) fn versions_written(&self, txn: &Txn) -> Vec<(Name, Name)> {
        match self.versions {
            None => txn.writes().collect(),
            Some(_) => (0..self.keys.len()).filter_map(|key| Some((key, txn.external_write(key)?))).collect(),
        }
    }

    /// Applies a write to the state of a key.
    pub(crate) fn put(&self, state: &mut Vec<Name>, element: Name) {
        if self.versions.is_some() {
            state.clear();
        }
        state.push(element);
    }

    fn list_mops(&mut self, value: Value<'_>, saw: bool) -> Result<Vec<Mop>, String> {
        let mut mops = Vec::new();
        for [f, key, value] in parts(value)? {
            let key = number(&mut self.keys, key);
            mops.push(match (f.as_name(), value) {
                (Some("append"), element) => Mop::Write(key, number(&mut self.elements, element)),
                (Some("r"), Value::Nil) => Mop::Read(key, saw.then(Vec::new)),
                (Some("r"), list) => {
                    let list = list.as_seq().ok_or(format!("{list} is no list"))?;
                    let list = list.iter().map(|element| number(&mut self.elements, element)).collect();
                    Mop::Read(key, saw.then_some(list))
                }
                _ => return Err(format!("{f} neither reads nor appends")),
            });
        }
        Ok(mops)
    }

    fn register_mops(&mut self, value: Value<'_>, saw: bool) -> Result<Vec<Mop>, String> {
        let mut mops = Vec::new();
        for [f, key, value] in parts(value)? {
            let key = number(&mut self.keys, key);
            mops.push(match (f.as_name(), value) {
                (Some("w"), Value::Nil) => return Err("nil is written".into()),
                (Some("w"), value) => Mop::Write(key, number(&mut self.elements, value)),
                (Some("r"), Value::Nil) => Mop::Read(key, saw.then(Vec::new)),
                (Some("r"), value) => Mop::Read(key, saw.then_some(vec![number(&mut self.elements, value)])),
                _ => return Err(format!("{f} neither reads nor writes")),
            });
        }
        Ok(mops)
    }

    /// Gives each of several writes of one value its own version. Fails if the value was read: the read may be of any
    /// of these writes.
    fn part_double_writes(&mut self) -> Result<(), String> {
        let mut seen = Vec::new();
        let read: Vec<(Name, Name)> =
            self.txns.iter().flat_map(Txn::reads).flat_map(|(key, list)| list.iter().map(move |v| (key, *v))).collect();
        for mop in self.txns.iter_mut().flat_map(|txn| &mut txn.mops) {
            let Mop::Write(key, value) = mop else { continue };
            if !seen.contains(&(*key, *value)) {
                seen.push((*key, *value));
            } else if read.contains(&(*key, *value)) {
                return Err(format!("{} is written to {} twice, and read", self.elements[*value], self.keys[*key]));
            } else {
                self.elements.push(format!("{} once more", self.elements[*value]));
                *value = self.elements.len() - 1;
            }
        }
        Ok(())
    }

    fn refuse_double_appends(&self) -> Result<(), String> {
        let mut seen = Vec::new();
        for write in self.txns.iter().flat_map(Txn::writes) {
            if seen.contains(&write) {
                return Err(format!("{} is appended twice to {}", self.elements[write.1], self.keys[write.0]));
            }
            seen.push(write);
        }
        Ok(())
    }

    /// Returns true if the transaction that wrote an element may have happened.
    pub(crate) fn may_have_been_written(&self, key: Name, element: Name) -> bool {
        self.writer(key, element).is_some_and(|writer| self.txns[writer].may_have_happened())
    }

    /// Returns true if the invocation of some op of a process is unknown: then the real-time order is only the order of
    /// processes.
    pub(crate) fn lacks_invocations(&self) -> bool {
        self.txns.iter().any(|txn| txn.may_have_happened() && txn.process.is_some() && txn.invoked.is_none())
    }

    /// Returns the transaction that wrote an element, failed or not.
    pub(crate) fn writer(&self, key: Name, element: Name) -> Option<usize> {
        self.txns.iter().position(|txn| txn.writes().any(|write| write == (key, element)))
    }
}

fn last_possible(world: &World, key: Name, list: &[Name]) -> Option<Name> {
    list.iter().rev().copied().find(|element| world.may_have_been_written(key, *element))
}

/// Returns the parts of a transaction's micro-ops.
fn parts(value: Value<'_>) -> Result<Vec<[Value<'_>; 3]>, String> {
    if value.is_nil() {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for mop in value.as_seq().ok_or(format!("{value} is not a transaction"))? {
        let parts: Vec<Value<'_>> = mop.as_seq().ok_or(format!("{mop} is no micro-op"))?.iter().collect();
        all.push(<[Value<'_>; 3]>::try_from(parts).map_err(|_| format!("{mop} is no micro-op"))?);
    }
    Ok(all)
}

fn number(names: &mut Vec<String>, value: Value<'_>) -> Name {
    let name = value.to_string();
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}
