//! Writes the text formats.

use super::{Act, Atom, Converted, Session};
use crate::OpKind;
use crate::cast::Cast as _;
use crate::text::write::json;
use std::fmt;
use std::io::{self, Write};

/// The recording time, for a format that requires one: it is unknown.
pub(super) const RECORDED: &str = "1970-01-01T00:00:00+00:00";
/// The origin of the history, for the format's header.
pub(super) const INFO: &str = "converted by histcheck";

/// A key or value as a format writes it.
struct Shown<'c>(&'c Converted, Atom, &'static str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(converted, atom, nil) = *self;
        match atom {
            Atom::Nil => f.write_str(nil),
            Atom::Int(number) => write!(f, "{number}"),
            Atom::Big(number) => write!(f, "{number}"),
            Atom::Name(id) => {
                let name = converted.parts.names.get_index(id.to_usize());
                f.write_str(name.map_or("", |(name, _)| name.as_str()))
            }
            Atom::List(start, end) => {
                let elements = &converted.parts.elements[start.to_usize()..end.to_usize()];
                f.write_str("[")?;
                for (i, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
        }
    }
}

impl Converted {
    fn shown(&self, atom: Atom, nil: &'static str) -> Shown<'_> {
        Shown(self, atom, nil)
    }

    pub(super) fn plume(&self, out: &mut dyn Write) -> io::Result<()> {
        let numbers = self.session_numbers();
        for (i, txn) in self.parts.txns.iter().enumerate() {
            let session = numbers[txn.session.to_usize()];
            let number = if txn.kind == OpKind::Fail { -1 } else { i.to_i64() + 1 };
            for mop in self.parts.mops(i) {
                let letter = if mop.act == Act::Read { 'r' } else { 'w' };
                let (key, value) = (self.shown(mop.key, "0"), self.shown(mop.value, "0"));
                writeln!(out, "{letter}({key},{value},{session},{number})")?;
            }
        }
        Ok(())
    }

    /// Numbers the sessions from 0 on; uses the numbers of the history, if it has such.
    fn session_numbers(&self) -> Vec<i64> {
        let own = |session: &Session| if let Session::Number(number @ 0..) = session { Some(*number) } else { None };
        let numbers: Option<Vec<i64>> = self.parts.sessions.iter().map(own).collect();
        numbers.unwrap_or_else(|| (0..self.sessions().to_i64()).collect())
    }

    pub(super) fn awdit(&self, out: &mut dyn Write) -> io::Result<()> {
        for session in 0..self.sessions() {
            for txn in self.txns(session) {
                for mop in self.parts.mops(txn.to_usize()) {
                    let letter = if mop.act == Act::Read { 'r' } else { 'w' };
                    writeln!(out, "{letter} {} {}", self.shown(mop.key, ""), self.shown(mop.value, ""))?;
                }
                writeln!(out, "----")?;
            }
            writeln!(out, "====")?;
        }
        Ok(())
    }

    pub(super) fn hist(&self, out: &mut dyn Write) -> io::Result<()> {
        for session in 0..self.sessions() {
            if session > 0 {
                writeln!(out, "---")?;
            }
            for txn in self.txns(session) {
                for (i, mop) in self.parts.mops(txn.to_usize()).iter().enumerate() {
                    let sign = if mop.act == Act::Read { "==" } else { ":=" };
                    let before = if i == 0 { '[' } else { ' ' };
                    write!(out, "{before}{}{sign}{}", self.shown(mop.key, ""), self.shown(mop.value, "?"))?;
                }
                writeln!(out, "]{}", if self.is_aborted(*txn) { "!" } else { "" })?;
            }
        }
        Ok(())
    }

    pub(super) fn is_aborted(&self, txn: u32) -> bool {
        self.parts.txns[txn.to_usize()].kind == OpKind::Fail
    }

    pub(super) fn dbcop_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let [sessions, keys, txns, events] = self.sizes();
        let params =
            format!(r#"{{"id":0,"n_node":{sessions},"n_variable":{keys},"n_transaction":{txns},"n_event":{events}}}"#);
        write!(out, r#"{{"params":{params},"info":"{INFO}","start":"{RECORDED}","end":"{RECORDED}","data":["#)?;
        for session in 0..self.sessions() {
            write!(out, "{}[", if session > 0 { "],\n" } else { "\n" })?;
            for (i, txn) in self.txns(session).iter().enumerate() {
                write!(out, "{}{{\"events\":[", if i > 0 { ",\n" } else { "\n" })?;
                for (i, mop) in self.parts.mops(txn.to_usize()).iter().enumerate() {
                    let name = if mop.act == Act::Read { "Read" } else { "Write" };
                    let (key, value) = (self.shown(mop.key, "null"), self.shown(mop.value, "null"));
                    let comma = if i > 0 { "," } else { "" };
                    write!(out, r#"{comma}{{"{name}":{{"variable":{key},"version":{value}}}}}"#)?;
                }
                write!(out, r#"],"committed":{}}}"#, !self.is_aborted(*txn))?;
            }
        }
        writeln!(out, "{}]}}", if self.sessions() > 0 { "]" } else { "" })
    }

    pub(super) fn chronos(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "[")?;
        let mut text = String::new();
        for (i, txn) in self.parts.txns.iter().enumerate() {
            text.clear();
            match &self.parts.sessions[txn.session.to_usize()] {
                Session::Number(number) => text.push_str(&number.to_string()),
                Session::Name(name) => json::string(&mut text, name).map_err(io::Error::other)?,
                Session::Alone(number) => {
                    json::string(&mut text, &format!("alone-{number}")).map_err(io::Error::other)?;
                }
            }
            let [start, commit] = txn.stamps.unwrap_or_default();
            let stamp = |[p, l]: [i64; 2]| format!(r#"{{"p":{p},"l":{l}}}"#);
            writeln!(out, "{}", if i > 0 { "," } else { "" })?;
            write!(out, r#"{{"tid":{},"sid":{text},"sts":{},"cts":{},"ops":["#, i + 1, stamp(start), stamp(commit))?;
            for (i, mop) in self.parts.mops(i).iter().enumerate() {
                let letter = match mop.act {
                    Act::Read => "r",
                    Act::Write => "w",
                    Act::Append => "a",
                };
                let comma = if i > 0 { "," } else { "" };
                let (key, value) = (self.shown(mop.key, "null"), self.shown(mop.value, "null"));
                write!(out, r#"{comma}{{"t":"{letter}","k":{key},"v":{value}}}"#)?;
            }
            write!(out, "]}}")?;
        }
        writeln!(out, "\n]")
    }

    /// The numbers of sessions and keys, and the maximum numbers of transactions in a session and of events in a
    /// transaction.
    pub(super) fn sizes(&self) -> [u64; 4] {
        let keys: crate::hash::HashSet<Atom> = self.parts.mops.iter().map(|mop| mop.key).collect();
        let txns = (0..self.sessions()).map(|session| self.txns(session).len()).max().unwrap_or(0);
        let events = (0..self.parts.txns.len()).map(|txn| self.parts.mops(txn).len()).max().unwrap_or(0);
        [self.sessions().to_u64(), keys.len().to_u64(), txns.to_u64(), events.to_u64()]
    }
}
