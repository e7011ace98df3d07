//! Writes the binary formats.

use super::text::{INFO, RECORDED};
use super::{Act, Atom, Converted};
use crate::cast::Cast as _;
use crate::hash::HashMap;
use crate::text::read::FIRST_OF_COBRA;
use std::io::{self, Write};

/// The writer of a value that no transaction wrote.
const NOBODY: i64 = 0;

impl Converted {
    /// Writes dbcop's bincode.
    pub(super) fn dbcop(&self, out: &mut dyn Write) -> io::Result<()> {
        let number = |out: &mut dyn Write, number: u64| out.write_all(&number.to_le_bytes());
        number(out, 0)?;
        for size in self.sizes() {
            number(out, size)?;
        }
        for text in [INFO, RECORDED, RECORDED] {
            number(out, text.len().to_u64())?;
            out.write_all(text.as_bytes())?;
        }
        number(out, self.sessions().to_u64())?;
        for session in 0..self.sessions() {
            let txns = self.txns(session);
            number(out, txns.len().to_u64())?;
            for txn in txns {
                let (mops, succeeded) = (self.parts.mops(txn.to_usize()), u8::from(!self.is_aborted(*txn)));
                number(out, mops.len().to_u64())?;
                for mop in mops {
                    out.write_all(&[u8::from(mop.act == Act::Write)])?;
                    number(out, unsigned(mop.key))?;
                    number(out, unsigned(mop.value))?;
                    out.write_all(&[succeeded])?;
                }
                out.write_all(&[succeeded])?;
            }
        }
        Ok(())
    }

    /// Writes a session in Cobra's format.
    pub(super) fn cobra(&self, session: usize, out: &mut dyn Write) -> io::Result<()> {
        let writers = self.writers.get_or_init(|| self.find_writers());
        let record = |out: &mut dyn Write, letter: u8, numbers: &[i64]| {
            out.write_all(&[letter])?;
            numbers.iter().try_for_each(|number| out.write_all(&number.to_be_bytes()))
        };
        for txn in self.txns(session) {
            let number = txn.to_i64() + 1;
            record(out, b'S', &[number])?;
            for mop in self.parts.mops(txn.to_usize()) {
                let (key, value) = (signed(mop.key), signed(mop.value));
                match (mop.act, mop.value) {
                    (Act::Read, Atom::Nil) => record(out, b'R', &[FIRST_OF_COBRA[0], FIRST_OF_COBRA[0], key, 0])?,
                    (Act::Read, _) => {
                        let writer = writers.get(&(key, value)).copied().unwrap_or(NOBODY);
                        record(out, b'R', &[writer, value, key, value])?;
                    }
                    _ => record(out, b'W', &[value, key, value])?,
                }
            }
            record(out, b'C', &[number])?;
        }
        Ok(())
    }

    /// Finds the first transaction that wrote each value to each key.
    fn find_writers(&self) -> HashMap<(i64, i64), i64> {
        let mut writers = HashMap::default();
        for i in 0..self.parts.txns.len() {
            for mop in self.parts.mops(i).iter().filter(|mop| mop.act == Act::Write) {
                writers.entry((signed(mop.key), signed(mop.value))).or_insert(i.to_i64() + 1);
            }
        }
        writers
    }
}

/// A key or value of a format whose numbers begin at 0; the absence of a value is 0 too.
fn unsigned(atom: Atom) -> u64 {
    match atom {
        Atom::Int(number) => number.cast_unsigned(),
        Atom::Big(number) => number,
        Atom::Nil | Atom::Name(_) | Atom::List(..) => 0,
    }
}

/// A key or value of a format whose numbers are signed.
fn signed(atom: Atom) -> i64 {
    if let Atom::Int(number) = atom { number } else { 0 }
}
