//! Whether a completion names the function of its invocation.

use crate::common::cast::Cast as _;
use crate::{Op, OpKind, Pair};
use std::fmt;

/// The functions of the operations in flight.
///
/// An `ok` with another `:f` than its invocation says nothing certain: neither that what was invoked happened, nor that
/// what it names did.
#[derive(Clone, Debug, Default)]
pub struct FunctionsInFlight {
    /// By slot: the index of the invocation and its function.
    slots: Vec<(u64, Function)>,
}

/// A function's name, or that there is none.
///
/// Nearly all names are short. Those are kept in two words, which costs neither a copy of a text nor a comparison of
/// two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Function {
    #[default]
    None,
    /// At most 16 bytes: the first 8 and the last 8 (which overlap), or in a shorter name the first 4 and the last 4.
    Short {
        len: u8,
        first: u64,
        last: u64,
    },
    Long(Box<str>),
}

impl Function {
    /// The name in two words; `None` if it is too long.
    #[inline]
    fn short(name: &str) -> Option<Function> {
        let (bytes, len) = (name.as_bytes(), u8::try_from(name.len()).ok().filter(|len| *len <= 16)?);
        let (first, last) = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
        } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
            (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
        } else {
            (bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0)
        };
        Some(Function::Short { len, first, last })
    }

    #[inline]
    fn of(name: Option<&str>) -> Function {
        let Some(name) = name else { return Function::None };
        Function::short(name).unwrap_or_else(|| Function::Long(name.into()))
    }

    #[inline]
    fn is(&self, name: Option<&str>) -> bool {
        match (self, name) {
            (Function::None, None) => true,
            (Function::Short { .. }, Some(name)) => Function::short(name).as_ref() == Some(self),
            (Function::Long(kept), Some(name)) => **kept == *name,
            _ => false,
        }
    }
}

impl FunctionsInFlight {
    /// Takes the next op of a client. O(length of its function); memory follows the operations in flight.
    ///
    /// # Errors
    ///
    /// If it is an `ok` and its function is not that of its invocation; as a clause about the op.
    #[inline]
    pub fn see(&mut self, op: &Op<'_>) -> Result<(), String> {
        match op.pair {
            Pair::Invokes { slot } => {
                let slot = slot.to_usize();
                if slot >= self.slots.len() {
                    self.slots.resize_with(slot + 1, Default::default);
                }
                self.slots[slot] = (op.index, Function::of(op.f));
                Ok(())
            }
            Pair::Completes { slot, invoked, .. } if op.kind == OpKind::Ok => match self.slots.get(slot.to_usize()) {
                Some((index, function)) if *index == invoked && !function.is(op.f) => Err(difference(function, op.f)),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

#[cold]
fn difference(invoked: &Function, completed: Option<&str>) -> String {
    let completed = completed.map_or_else(|| "no :f".to_owned(), |f| format!(":f :{f}"));
    format!("the completion has {completed}, its invocation {invoked}")
}

/// As in a history: `:f :read`.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, first, last) = match self {
            Function::None => return f.write_str("no :f"),
            Function::Long(name) => return write!(f, ":f :{name}"),
            Function::Short { len, first, last } => (usize::from(*len), first.to_le_bytes(), last.to_le_bytes()),
        };
        let word = if len >= 8 { 8 } else { 4 };
        let bytes = match len {
            0..4 => first[..len].iter().rev().copied().collect(),
            _ => [&first[..word], &last[2 * word - len..word]].concat(),
        };
        write!(f, ":f :{}", String::from_utf8_lossy(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::History;

    #[test]
    fn an_ok_has_the_function_of_its_invocation() {
        let text = "
            {:process 0, :type :invoke, :f :add} {:process 1, :type :invoke}
            {:process 0, :type :ok, :f :read}    {:process 1, :type :ok}
            {:process 0, :type :invoke, :f :add} {:process 1, :type :invoke, :f :read}
            {:process 0, :type :ok}              {:process 1, :type :ok, :f :read}
            {:process 0, :type :invoke, :f :add} {:process 0, :type :info, :f :crash}";
        let history = History::parse(text).unwrap();
        let mut functions = FunctionsInFlight::default();
        let faults: Vec<(u64, String)> =
            history.ops().filter_map(|op| functions.see(&op).err().map(|why| (op.index, why))).collect();
        let expected = [
            (2, "the completion has :f :read, its invocation :f :add".to_owned()),
            (6, "the completion has no :f, its invocation :f :add".to_owned()),
        ];
        assert_eq!(faults, expected);
    }

    #[test]
    fn names_are_told_apart_by_every_byte_and_shown_as_they_were() {
        let whole = "abcdefghijklmnopqrstuvwxyz";
        for len in 0..=whole.len() {
            let name = &whole[..len];
            let function = Function::of(Some(name));
            assert_eq!(function.to_string(), format!(":f :{name}"));
            assert!(function.is(Some(name)) && !function.is(None));
            assert!(!function.is(Some(&format!("{name}a"))), "{name}");
            for at in 0..len {
                let other = [&name[..at], "#", &name[at + 1..]].concat();
                assert!(!function.is(Some(&other)), "{name} {other}");
            }
        }
        assert!(!Function::of(None).is(Some("")) && !Function::of(Some("\0")).is(Some("")));
    }
}
