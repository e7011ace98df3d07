//! Whether a completion names the function of its invocation.

use crate::common::cast::Cast as _;
use crate::{Op, OpKind, Pair};

/// The functions of the operations in flight.
///
/// An `ok` with another `:f` than its invocation is ambiguous: it shows neither that the invoked function was executed,
/// nor that the function it names was.
#[derive(Clone, Debug, Default)]
pub struct FunctionsInFlight {
    /// The operation in flight in each slot.
    slots: Vec<InFlight>,
    /// For each slot, the name of its function, if that does not fit in a word. Entries of other slots have no meaning.
    long: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct InFlight {
    invoked: u64,
    function: Function,
}

/// A function's name, if it has at most 8 bytes, as nearly all names do. Two such names are compared as two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Function {
    /// The name's bytes, the first one lowest, padded with zeros; 0 for a longer name.
    word: u64,
    /// The length of the name in bytes; [`Function::NONE`] has a greater length than any name.
    len: usize,
}

impl Default for Function {
    fn default() -> Function {
        Function::NONE
    }
}

impl Function {
    const NONE: Function = Function { word: 0, len: usize::MAX };

    #[inline]
    fn of(name: Option<&str>) -> Function {
        let Some(name) = name else { return Function::NONE };
        let (bytes, len) = (name.as_bytes(), name.len());
        let word = match (bytes.first_chunk(), bytes.last_chunk()) {
            _ if len > 8 => 0,
            // For names of 5 to 7 bytes, the two halves overlap and have the same bytes there.
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4))
            }
            _ => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        Function { word, len }
    }

    #[inline]
    fn is_long(self) -> bool {
        self.len > 8 && self.len < usize::MAX
    }
}

impl FunctionsInFlight {
    /// Takes the next op of a client. O(length of its function); memory follows the operations in flight.
    ///
    /// # Errors
    ///
    /// If the op is an `ok` and its function differs from that of its invocation; the error is a clause about the op.
    #[inline]
    pub fn see(&mut self, op: &Op<'_>) -> Result<(), String> {
        match op.pair {
            Pair::Invokes { slot } => {
                let function = Function::of(op.f);
                match self.slots.get_mut(slot.to_usize()) {
                    Some(known) if !function.is_long() => *known = InFlight { invoked: op.index, function },
                    _ => return self.see_rare(op),
                }
                Ok(())
            }
            Pair::Completes { slot, invoked, .. } if op.kind == OpKind::Ok => {
                let function = Function::of(op.f);
                match self.slots.get(slot.to_usize()) {
                    Some(known) if known.invoked == invoked && (known.function != function || function.is_long()) => {
                        self.see_rare(op)
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Handles an invocation in a new slot, or of a function with a long name, and a completion whose function may
    /// differ from that of its invocation. The caller returns this result unchanged, so it need not save anything
    /// meanwhile.
    #[cold]
    fn see_rare(&mut self, op: &Op<'_>) -> Result<(), String> {
        match op.pair {
            Pair::Alone => Ok(()),
            Pair::Invokes { slot } => {
                self.keep(slot.to_usize(), op);
                Ok(())
            }
            Pair::Completes { slot, .. } => self.compare(slot.to_usize(), op.f),
        }
    }

    fn keep(&mut self, slot: usize, op: &Op<'_>) {
        let function = Function::of(op.f);
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, InFlight::default());
        }
        self.slots[slot] = InFlight { invoked: op.index, function };
        if function.is_long() {
            if slot >= self.long.len() {
                self.long.resize(slot + 1, String::new());
            }
            self.long[slot].clear();
            self.long[slot].push_str(op.f.unwrap_or_default());
        }
    }

    /// Fails if an invocation does not have the function of its completion, by their texts.
    fn compare(&self, slot: usize, completed: Option<&str>) -> Result<(), String> {
        let Function { word, len } = self.slots[slot].function;
        let bytes = word.to_le_bytes();
        let invoked = match len {
            0..=8 => Some(String::from_utf8_lossy(&bytes[..len])),
            usize::MAX => None,
            _ => Some(self.long[slot].as_str().into()),
        };
        if invoked.as_deref() == completed {
            return Ok(());
        }
        let named = |f: Option<&str>| f.map_or_else(|| "no :f".to_owned(), |f| format!(":f :{f}"));
        Err(format!("the completion has {}, its invocation {}", named(completed), named(invoked.as_deref())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{History, HistoryBuilder, NewOp};

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

    /// The result of `see` for an operation that is invoked and completed with these functions.
    fn difference(functions: &mut FunctionsInFlight, invoked: Option<&str>, completed: Option<&str>) -> Option<String> {
        let mut builder = HistoryBuilder::new();
        for (kind, f) in [(OpKind::Invoke, invoked), (OpKind::Ok, completed)] {
            builder.push_op(&NewOp { f, ..NewOp::new(kind, 0) }).unwrap();
        }
        let history = builder.build();
        history.ops().find_map(|op| functions.see(&op).err())
    }

    #[test]
    fn names_differ_in_every_byte_and_in_their_length() {
        let (whole, mut functions) = ("abcdefghijklmnopqr", FunctionsInFlight::default());
        for len in 0..=whole.len() {
            let name = &whole[..len];
            assert_eq!(difference(&mut functions, Some(name), Some(name)), None);
            let mut others = vec![format!("{name}\0"), format!("{name}s")];
            others.extend((0..len).map(|at| [&name[..at], "#", &name[at + 1..]].concat()));
            for other in &others {
                let said = format!("the completion has :f :{other}, its invocation :f :{name}");
                assert_eq!(difference(&mut functions, Some(name), Some(other)), Some(said));
                assert!(difference(&mut functions, Some(other), Some(name)).is_some(), "{name} {other}");
            }
            assert!(difference(&mut functions, Some(name), None).is_some(), "{name}");
            assert!(difference(&mut functions, None, Some(name)).is_some(), "{name}");
        }
        assert_eq!(difference(&mut functions, None, None), None);
    }
}
