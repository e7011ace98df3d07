//! Whether a completion names the function of its invocation.

use crate::common::cast::Cast as _;
use crate::{Op, OpKind, Pair};

/// The functions of the operations in flight.
///
/// An `ok` with another `:f` than its invocation says nothing certain: neither that what was invoked happened, nor that
/// what it names did.
#[derive(Clone, Debug, Default)]
pub struct FunctionsInFlight {
    /// By slot: the index of the invocation and its function. A text is kept for the next one in its slot.
    slots: Vec<(u64, Option<String>)>,
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
                    self.slots.resize_with(slot + 1, || (0, None));
                }
                let (index, function) = &mut self.slots[slot];
                *index = op.index;
                match (op.f, function) {
                    (Some(f), Some(kept)) => {
                        kept.clear();
                        kept.push_str(f);
                    }
                    (f, function) => *function = f.map(str::to_owned),
                }
                Ok(())
            }
            Pair::Completes { slot, invoked, .. } if op.kind == OpKind::Ok => match self.slots.get(slot.to_usize()) {
                Some((index, function)) if *index == invoked && function.as_deref() != op.f => {
                    Err(difference(function.as_deref(), op.f))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

#[cold]
fn difference(invoked: Option<&str>, completed: Option<&str>) -> String {
    let named = |f: Option<&str>| f.map_or_else(|| "no :f".to_owned(), |f| format!(":f :{f}"));
    format!("the completion has {}, its invocation {}", named(completed), named(invoked))
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
}
