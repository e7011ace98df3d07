//! An op as text: the same in EDN and in JSON, except for some symbols.

use super::Text;
use crate::lists::mops::{Mop, Mops};
use crate::lists::registers::{RegisterMop, RegisterMops};
use crate::op::log::{LogMop, LogOp};
use crate::op::object::{ObjectKey, ObjectOp, ObjectValue};
use crate::op::{Payload, Process, SimOp};

/// The symbols of a notation. For the fields of an op, the text before the value.
pub(super) struct Notation {
    index: &'static [u8],
    kind: &'static [u8],
    process: &'static [u8],
    f: &'static [u8],
    value: &'static [u8],
    time: &'static [u8],
    end: &'static [u8],
    nemesis: &'static [u8],
    nil: &'static [u8],
    /// The start of an append.
    append: &'static [u8],
    /// The start of a write.
    write: &'static [u8],
    /// The start of a read.
    read: &'static [u8],
    /// The start of a write with its long name.
    write_in_full: &'static [u8],
    /// The start of a read with its long name.
    read_in_full: &'static [u8],
    /// The start of a send to a log, and of a poll.
    log: [&'static [u8]; 2],
    /// The text around the elements of a set.
    set: [&'static [u8]; 2],
    /// The text around the owner of a lock.
    owner: [&'static [u8]; 2],
    /// The text before an account of a bank, between it and its balance, and before the next account.
    balances: [&'static [u8]; 3],
    /// The text before each account of a transfer, before its amount, and after it.
    transfer: [&'static [u8]; 4],
    /// The text before the fields that an op has in addition to its value.
    key: &'static [u8],
    write_id: &'static [u8],
    prev_write_id: &'static [u8],
    /// The character between the items of a list.
    between: u8,
}

pub(super) const EDN: Notation = Notation {
    index: b"{:index ",
    kind: b", :type :",
    process: b", :process ",
    f: b", :f :",
    value: b", :value ",
    time: b", :time ",
    end: b"}\n",
    nemesis: b":nemesis",
    nil: b"nil",
    append: b"[:append ",
    write: b"[:w ",
    read: b"[:r ",
    write_in_full: b"[:write ",
    read_in_full: b"[:read ",
    log: [b"[:send ", b"[:poll"],
    set: [b"#{", b"}"],
    owner: [b"{:client ", b"}"],
    balances: [b"", b" ", b", "],
    transfer: [b"{:from ", b", :to ", b", :amount ", b"}"],
    key: b", :key ",
    write_id: b", :write-id \"",
    prev_write_id: b", :prev-write-id \"",
    between: b' ',
};

pub(super) const JSON: Notation = Notation {
    index: b"{\"index\":",
    kind: b",\"type\":\"",
    process: b"\",\"process\":",
    f: b",\"f\":\"",
    value: b"\",\"value\":",
    time: b",\"time\":",
    end: b"}",
    nemesis: b"\"nemesis\"",
    nil: b"null",
    append: b"[\"append\",",
    write: b"[\"w\",",
    read: b"[\"r\",",
    write_in_full: b"[\"write\",",
    read_in_full: b"[\"read\",",
    log: [b"[\"send\",", b"[\"poll\""],
    set: [b"[", b"]"],
    owner: [b"{\"client\":", b"}"],
    balances: [b"\"", b"\":", b","],
    transfer: [b"{\"from\":", b",\"to\":", b",\"amount\":", b"}"],
    key: b",\"key\":",
    write_id: b",\"write-id\":\"",
    prev_write_id: b",\"prev-write-id\":\"",
    between: b',',
};

impl Notation {
    pub(super) fn op(&self, text: &mut Text, op: &SimOp<'_>) {
        text.put(self.index);
        text.int(op.index);
        text.put(self.kind);
        text.put(op.kind.name().as_bytes());
        text.put(self.process);
        match op.process {
            Process::Client(n) => text.int(n),
            Process::Nemesis => text.put(self.nemesis),
        }
        text.put(self.f);
        text.put(op.f.as_bytes());
        text.put(self.value);
        match op.payload {
            Payload::Nothing => text.put(self.nil),
            Payload::Lists(mops) => self.list_mops(text, mops),
            Payload::Registers(mops) => self.register_mops(text, mops),
            Payload::Object(op) => self.object_op(text, op),
            Payload::Log(op) => self.log_op(text, op),
        }
        text.put(self.time);
        text.int(op.time_ns);
        text.put(self.end);
    }

    fn log_op(&self, text: &mut Text, op: LogOp<'_>) {
        if let Some(keys) = op.assigned {
            return self.list(text, keys);
        }
        self.all(text, op.mops.iter(), |text, mop| match mop {
            LogMop::Send { key, value, offset } => {
                text.put(self.log[0]);
                text.int(*key);
                text.put(&[self.between]);
                match offset.filter(|_| op.shown) {
                    Some(offset) => self.list(text, &[offset, *value]),
                    None => text.int(*value),
                }
            }
            LogMop::Poll(polled) => {
                text.put(self.log[1]);
                if op.shown {
                    text.put(&[self.between]);
                    self.polled(text, polled);
                }
            }
        });
    }

    fn polled(&self, text: &mut Text, polled: &[(u32, Vec<(i64, i64)>)]) {
        text.put(b"{");
        for (nth, (key, entries)) in polled.iter().enumerate() {
            text.put(if nth > 0 { self.balances[2] } else { b"" });
            text.put(self.balances[0]);
            text.int(*key);
            text.put(self.balances[1]);
            self.all(text, entries.iter(), |text, (offset, value)| {
                text.put(b"[");
                text.ints(&[*offset, *value], self.between);
            });
        }
        text.put(b"}");
    }

    /// Writes the value, and the fields after it.
    fn object_op(&self, text: &mut Text, op: ObjectOp<'_>) {
        if let Some(ObjectKey::InValue(key)) = op.key {
            text.put(b"[");
            text.int(key);
            text.put(&[self.between]);
            self.object_value(text, op.value);
            text.put(b"]");
        } else {
            self.object_value(text, op.value);
        }
        match op.key {
            Some(ObjectKey::Field(key)) => {
                text.put(self.key);
                text.int(key);
            }
            Some(ObjectKey::NamedField(key)) => {
                text.put(self.key);
                text.put(b"\"");
                text.int(key);
                text.put(b"\"");
            }
            _ => {}
        }
        for (name, id) in [(self.write_id, op.write_id), (self.prev_write_id, op.prev_write_id)] {
            if let Some(id) = id {
                text.put(name);
                text.put(&id.text());
                text.put(b"\"");
            }
        }
    }

    fn object_value(&self, text: &mut Text, value: ObjectValue<'_>) {
        match value {
            ObjectValue::Nil => text.put(self.nil),
            ObjectValue::Int(n) => text.int(n),
            ObjectValue::Cas(old, new) => self.list(text, &[old, new]),
            ObjectValue::Set(elements) => {
                text.put(self.set[0]);
                text.ints(elements, self.between);
                text.put(self.set[1]);
            }
            // The text consists of digits, commas and signs: nothing needs to be escaped.
            ObjectValue::Text(string) => quoted(text, string.as_bytes()),
            ObjectValue::Piece(n) => {
                text.put(b"\"");
                text.int(n);
                text.put(b",\"");
            }
            ObjectValue::Mops { mops, shown } => {
                self.object_mops(text, mops, shown, [self.write_in_full, self.read_in_full]);
            }
            ObjectValue::List(elements) => self.list(text, elements),
            ObjectValue::Balances(balances) => self.balances(text, balances),
            ObjectValue::Transfer { from, to, amount } => {
                for (sign, n) in self.transfer.iter().zip([i64::from(from), i64::from(to), amount]) {
                    text.put(sign);
                    text.int(n);
                }
                text.put(self.transfer[3]);
            }
            ObjectValue::Group { mops, shown } => self.object_mops(text, mops, shown, [self.write, self.read]),
            ObjectValue::Subkey(key, subkey) => self.list(text, &[key, subkey.into()]),
            ObjectValue::Subkeys(key, subkeys) => self.subkeys(text, key, subkeys),
            ObjectValue::Id(id) => quoted(text, &id.text()),
            ObjectValue::Owner(client) => {
                text.put(self.owner[0]);
                text.int(client);
                text.put(self.owner[1]);
            }
        }
    }

    fn list(&self, text: &mut Text, elements: &[i64]) {
        text.put(b"[");
        text.ints(elements, self.between);
        text.put(b"]");
    }

    /// Writes the reads and writes of registers; `names` are the names of the two. The result of a read is written only
    /// if it is `shown`, because otherwise it is unknown.
    fn object_mops(&self, text: &mut Text, mops: &[RegisterMop], shown: bool, names: [&[u8]; 2]) {
        let [write, read] = names;
        self.all(text, mops.iter(), |text, mop| match *mop {
            RegisterMop::Write { key, value } => self.change(text, write, key, value),
            RegisterMop::Read { key, value } => {
                self.read(text, read, key, |text| self.int_or_nil(text, value.filter(|_| shown)));
            }
        });
    }

    fn balances(&self, text: &mut Text, balances: &[i64]) {
        text.put(b"{");
        for (account, balance) in balances.iter().enumerate() {
            text.put(if account > 0 { self.balances[2] } else { b"" });
            text.put(self.balances[0]);
            text.int(account);
            text.put(self.balances[1]);
            text.int(*balance);
        }
        text.put(b"}");
    }

    fn subkeys(&self, text: &mut Text, key: i64, subkeys: &[i64]) {
        text.put(b"[");
        text.int(key);
        text.put(&[self.between]);
        text.put(b"[");
        for (i, subkey) in subkeys.iter().enumerate() {
            if i > 0 {
                text.put(&[self.between]);
            }
            self.int_or_nil(text, Some(*subkey).filter(|subkey| *subkey >= 0));
        }
        text.put(b"]]");
    }

    fn int_or_nil(&self, text: &mut Text, n: Option<i64>) {
        match n {
            Some(n) => text.int(n),
            None => text.put(self.nil),
        }
    }

    fn list_mops(&self, text: &mut Text, mops: Mops<'_>) {
        self.all(text, mops.iter(), |text, mop| match mop {
            Mop::Append { key, value } => self.change(text, self.append, key, value),
            Mop::Read { key, list: None } => self.read(text, self.read, key, |text| text.put(self.nil)),
            Mop::Read { key, list: Some(list) } => self.read(text, self.read, key, |text| {
                text.put(b"[");
                text.ints(list, self.between);
                text.put(b"]");
            }),
        });
    }

    fn register_mops(&self, text: &mut Text, mops: RegisterMops<'_>) {
        self.all(text, mops.iter(), |text, mop| match mop {
            RegisterMop::Write { key, value } => self.change(text, self.write, key, value),
            RegisterMop::Read { key, value: None } => self.read(text, self.read, key, |text| text.put(self.nil)),
            RegisterMop::Read { key, value: Some(value) } => self.read(text, self.read, key, |text| text.int(value)),
        });
    }

    /// Writes a list. `one` writes each item, without the closing brackets.
    fn all<M>(&self, text: &mut Text, mops: impl Iterator<Item = M>, one: impl Fn(&mut Text, M)) {
        text.put(b"[");
        for (i, mop) in mops.enumerate() {
            if i > 0 {
                text.put(&[self.between]);
            }
            one(text, mop);
            text.put(b"]");
        }
        text.put(b"]");
    }

    fn change(&self, text: &mut Text, begin: &[u8], key: i64, value: i64) {
        text.put(begin);
        text.ints(&[key, value], self.between);
    }

    fn read(&self, text: &mut Text, begin: &[u8], key: i64, value: impl FnOnce(&mut Text)) {
        text.put(begin);
        text.int(key);
        text.put(&[self.between]);
        value(text);
    }
}

/// Writes text in quotes; nothing in it needs to be escaped.
fn quoted(text: &mut Text, bytes: &[u8]) {
    text.put(b"\"");
    text.put(bytes);
    text.put(b"\"");
}
