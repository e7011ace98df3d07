//! A history as the oracle sees it: transactions, in the order of their indices, with numbers for names.

use history_core::{History, OpKind, Pair, Process, Value};

/// A key or an element, by its position among all names of the history.
pub(crate) type Name = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ok,
    /// Or still open at the end.
    Info,
    Fail,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mop {
    Append(Name, Name),
    /// `None`: nobody knows what was read.
    Read(Name, Option<Vec<Name>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Txn {
    /// Of the completion; of the invocation, if that is all there is.
    pub(crate) index: u64,
    pub(crate) invoked: Option<u64>,
    pub(crate) process: Option<i64>,
    pub(crate) kind: Kind,
    pub(crate) mops: Vec<Mop>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) txns: Vec<Txn>,
    /// Keys, and where each is named in the history: EDN.
    pub(crate) keys: Vec<String>,
    pub(crate) elements: Vec<String>,
}

impl Txn {
    /// Whether it happened, for all that is known.
    pub(crate) fn may_have_happened(&self) -> bool {
        self.kind != Kind::Fail
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.kind == Kind::Ok
    }

    /// Its known reads: key and list.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (Name, &Vec<Name>)> {
        self.mops.iter().filter_map(|mop| match mop {
            Mop::Read(key, Some(list)) => Some((*key, list)),
            _ => None,
        })
    }

    /// Its appends: key and element.
    pub(crate) fn appends(&self) -> impl Iterator<Item = (Name, Name)> {
        self.mops.iter().filter_map(|mop| match mop {
            Mop::Append(key, element) => Some((*key, *element)),
            Mop::Read(..) => None,
        })
    }
}

impl World {
    /// The transactions of a history, or why it has no verdict.
    pub(crate) fn of(history: &History) -> Result<World, String> {
        let mut world = World::default();
        // Invocations by clients without a name: each may belong to any completion.
        let mut nameless = Vec::new();
        for (at, op) in history.ops().enumerate() {
            let partner = history.partner(at);
            if !op.process.is_client() || op.kind == OpKind::Invoke && partner.is_some() {
                continue;
            }
            let kind = match op.kind {
                OpKind::Ok => Kind::Ok,
                OpKind::Fail => Kind::Fail,
                OpKind::Info | OpKind::Invoke => Kind::Info,
            };
            let process = if let Process::Client(number) = op.process { Some(number) } else { None };
            let invoked = partner.map(|partner| history.op(partner).index);
            // What an invocation says of its reads is not what they saw.
            let saw = op.kind != OpKind::Invoke && !op.value.is_nil();
            let mops = world.mops(history.value(at), kind, saw)?;
            match (op.kind, op.pair) {
                (OpKind::Invoke, Pair::Alone) => nameless.push(Txn { index: op.index, invoked, process, kind, mops }),
                (OpKind::Invoke, _) => {
                    world.txns.push(Txn { index: op.index, invoked: Some(op.index), process, kind, mops });
                }
                _ => world.txns.push(Txn { index: op.index, invoked, process, kind, mops }),
            }
        }
        let is_open = |txn: &Txn| {
            let mut appends = txn.appends().peekable();
            appends.peek().is_some() && appends.all(|(key, element)| world.writer(key, element).is_none())
        };
        nameless.retain(is_open);
        world.txns.append(&mut nameless);
        world.txns.sort_by_key(|txn| txn.index);
        world.refuse_double_appends()?;
        Ok(world)
    }

    fn mops(&mut self, value: Value<'_>, kind: Kind, saw: bool) -> Result<Vec<Mop>, String> {
        if value.is_nil() {
            return Ok(Vec::new());
        }
        let list = value.as_seq().ok_or(format!("{value} is no transaction"))?;
        let mut mops = Vec::new();
        for mop in list {
            let parts: Vec<Value<'_>> = mop.as_seq().ok_or(format!("{mop} is no micro-op"))?.iter().collect();
            let [f, key, value] = parts[..] else { return Err(format!("{mop} is no micro-op")) };
            let key = number(&mut self.keys, key);
            mops.push(match (f.as_name(), value) {
                (Some("append"), element) => Mop::Append(key, number(&mut self.elements, element)),
                (Some("r"), Value::Nil) => Mop::Read(key, (saw && kind == Kind::Ok).then(Vec::new)),
                (Some("r"), list) => {
                    let list = list.as_seq().ok_or(format!("{list} is no list"))?;
                    let list = list.iter().map(|element| number(&mut self.elements, element)).collect();
                    Mop::Read(key, (saw && kind != Kind::Fail).then_some(list))
                }
                _ => return Err(format!("{mop} neither reads nor appends")),
            });
        }
        Ok(mops)
    }

    fn refuse_double_appends(&self) -> Result<(), String> {
        let mut seen = Vec::new();
        for append in self.txns.iter().flat_map(Txn::appends) {
            if seen.contains(&append) {
                return Err(format!("{} is appended twice to {}", self.elements[append.1], self.keys[append.0]));
            }
            seen.push(append);
        }
        Ok(())
    }

    /// Who appended an element, failed or not.
    pub(crate) fn writer(&self, key: Name, element: Name) -> Option<usize> {
        self.txns.iter().position(|txn| txn.appends().any(|append| append == (key, element)))
    }
}

fn number(names: &mut Vec<String>, value: Value<'_>) -> Name {
    let name = value.to_string();
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}
