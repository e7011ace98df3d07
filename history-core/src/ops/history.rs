//! A whole history, for code that needs more than one pass over it.

use super::batch::Batch;
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};
use crate::{Op, Pair, Reader, Value};

/// All ops of a history, in memory, paired.
///
/// Checkers work better with one pass over a [`Reader`]; this type is for tests, small histories, and look-ups. Memory:
/// about four times the text if it consists mostly of integers; otherwise less.
///
/// ```
/// use history_core::History;
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :write, :value 1}
///     {:process 1, :type :invoke, :f :read, :value nil}
///     {:process 0, :type :ok, :f :write, :value 1}
/// ")?;
/// assert_eq!(history.len(), 3);
/// assert_eq!(history.partner(0), Some(2));
/// assert_eq!(history.partner(1), None, "still in flight");
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Debug, Default)]
pub struct History {
    batches: Vec<Batch>,
    /// The number of ops before each batch, and of all. Nondecreasing; one longer than `batches`, or empty.
    starts: Vec<usize>,
    /// For each op, the position of the other op of its operation, or its own position if there is no other.
    partners: Vec<u32>,
}

/// Combines batches into a history.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    pub(crate) history: History,
    /// For each slot, the position of the last invocation.
    open: Vec<u32>,
    /// The index of the last op.
    last: Option<u64>,
}

impl Collector {
    /// Adds ops that were paired in order.
    pub(crate) fn push(&mut self, batch: Batch) -> Result<(), HistoryError> {
        let history = &mut self.history;
        for op in batch.ops() {
            let Ok(at) = u32::try_from(history.partners.len()) else {
                let message = format!("more than {} ops, too many to hold in memory", u32::MAX);
                return Err(HistoryError::new(ErrorKind::Limit, message));
            };
            debug_assert!(self.last < Some(op.index), "index {} follows {:?}", op.index, self.last);
            self.last = Some(op.index);
            history.partners.push(at);
            match op.pair {
                Pair::Alone => {}
                Pair::Invokes { slot } => {
                    self.open.resize(self.open.len().max(slot.to_usize() + 1), 0);
                    self.open[slot.to_usize()] = at;
                }
                Pair::Completes { slot, .. } => {
                    debug_assert!(slot.to_usize() < self.open.len(), "slot {slot} completes without an invocation");
                    let invocation = self.open[slot.to_usize()];
                    debug_assert_eq!(
                        history.partners[invocation.to_usize()],
                        invocation,
                        "slot {slot} completes twice"
                    );
                    history.partners[at.to_usize()] = invocation;
                    history.partners[invocation.to_usize()] = at;
                }
            }
        }
        if history.starts.is_empty() {
            history.starts.push(0);
        }
        history.starts.push(history.partners.len());
        history.batches.push(batch);
        Ok(())
    }
}

impl History {
    /// Reads a whole history from text in any format.
    ///
    /// # Errors
    ///
    /// If the text is not a history.
    pub fn parse(text: &str) -> Result<History, HistoryError> {
        History::read(&mut Reader::new(text.as_bytes()))
    }

    /// Reads all ops of a reader.
    ///
    /// # Errors
    ///
    /// If the text is not a history.
    pub fn read(reader: &mut Reader<'_>) -> Result<History, HistoryError> {
        let mut whole = Collector::default();
        let mut batch = Batch::new();
        while reader.read_batch(&mut batch)? {
            let next = batch.successor();
            whole.push(std::mem::replace(&mut batch, next))?;
        }
        Ok(whole.history)
    }

    /// How many ops there are.
    pub fn len(&self) -> usize {
        self.partners.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.partners.is_empty()
    }

    /// The op at a position, counted from 0 (not its index). O(log blocks).
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn op(&self, at: usize) -> Op<'_> {
        let batch = self.starts.partition_point(|start| *start <= at) - 1;
        self.batches[batch].op(at - self.starts[batch])
    }

    /// The position of an op's invocation or completion.
    pub fn partner(&self, at: usize) -> Option<usize> {
        let partner = self.partners[at].to_usize();
        (partner != at).then_some(partner)
    }

    /// All ops, in order.
    pub fn ops(&self) -> impl Iterator<Item = Op<'_>> {
        self.batches.iter().flat_map(Batch::ops)
    }

    /// The value of an operation: its completion's, if that has one, else its invocation's.
    pub fn value(&self, at: usize) -> Value<'_> {
        let op = self.op(at);
        if !op.value.is_nil() {
            return op.value;
        }
        match (op.pair, self.partner(at)) {
            (Pair::Completes { .. }, Some(invocation)) => self.op(invocation).value,
            _ => Value::Nil,
        }
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    /// The ops of a text in one batch.
    fn batch(text: &str) -> Batch {
        let mut batch = Batch::new();
        assert!(Reader::new(text.as_bytes()).read_batch(&mut batch).unwrap());
        batch
    }

    const ONE: &str = "{:index 3, :type :ok, :value 1}";

    #[test]
    #[should_panic(expected = "index 3 follows Some(3)")]
    fn an_index_that_does_not_increase_is_caught() {
        let mut whole = Collector::default();
        whole.push(batch(ONE)).unwrap();
        let _ = whole.push(batch(ONE));
    }

    #[test]
    #[should_panic(expected = "slot 0 completes without an invocation")]
    fn a_completion_without_invocation_is_caught() {
        let mut alone = batch(ONE);
        let pair = Pair::Completes { slot: 0, invoked: 0, invoked_time_ns: None };
        alone.set_placed(0, &crate::ops::pairing::Placed { pair, named: None, is_left_out: false });
        let _ = Collector::default().push(alone);
    }

    #[test]
    #[should_panic(expected = "an integer of a run is too large")]
    fn a_large_integer_in_a_slice_is_caught() {
        let mut tape = crate::values::tape::Tape::default();
        tape.ints.to_mut().push(1 << 62);
        tape.push_run(crate::values::tape::Tag::IntVector, 0);
    }
}
