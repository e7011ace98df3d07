//! From recorded ops to what happens to operations of an object.

use crate::models::Spec;
use history_core::{Op, OpKind, Pair};

/// Reads the ops of clients one after another, each with what its invocation said.
///
/// ```
/// use check_register::models::{CasRegister, RegisterOp};
/// use check_register::{Decoder, Happening};
/// use history_core::History;
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :write, :value 1}
///     {:process 0, :type :info,   :f :write, :error :timeout}
/// ")?;
/// let (mut model, mut decoder) = (CasRegister::default(), Decoder::default());
/// let mut ops = history.ops();
/// let called = decoder.decode(&mut model, &ops.next().unwrap()).unwrap();
/// assert!(matches!(called, Happening::Called { op: Some(RegisterOp::Write(_)), .. }));
/// let crashed = decoder.decode(&mut model, &ops.next().unwrap()).unwrap();
/// assert!(matches!(crashed, Happening::Crashed { op: Some(RegisterOp::Write(_)), .. }));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<O> {
    /// Operations in flight, by slot.
    open: Vec<Option<InFlight<O>>>,
}

/// An operation that was invoked.
#[derive(Clone, Debug)]
struct InFlight<O>(Option<O>);

/// What happens to an operation. Its slot is that of its ops: see [`Pair`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happening<'d, O> {
    /// It is called.
    Called {
        /// Unique among those in flight.
        slot: usize,
        /// What it does, as one that may have any result; `None` if that says nothing.
        op: Option<&'d O>,
    },
    /// It returned.
    Returned {
        /// That of its call.
        slot: usize,
        /// What it did; `None` if it does not matter.
        op: Option<O>,
    },
    /// It did not happen.
    Failed {
        /// That of its call.
        slot: usize,
    },
    /// It may have happened, and may yet.
    Crashed {
        /// That of its call.
        slot: usize,
        /// What it then does.
        op: Option<O>,
    },
}

impl<O> Default for Decoder<O> {
    fn default() -> Decoder<O> {
        Decoder { open: Vec::new() }
    }
}

impl<O> Decoder<O> {
    /// What an op of a client says.
    ///
    /// # Errors
    ///
    /// Why nothing can be said of what follows this op. What its invocation said stays in flight.
    pub fn decode<S: Spec<Op = O>>(&mut self, model: &mut S, op: &Op<'_>) -> Result<Happening<'_, O>, String> {
        match op.pair {
            Pair::Invokes { slot } => {
                let slot = slot as usize;
                let decoded = model.decode(op, None)?;
                if slot >= self.open.len() {
                    self.open.resize_with(slot + 1, || None);
                }
                let in_flight = self.open[slot].insert(InFlight(decoded));
                Ok(Happening::Called { slot, op: in_flight.0.as_ref() })
            }
            Pair::Completes { slot, .. } => self.complete(model, op, slot as usize),
            Pair::Alone if op.kind == OpKind::Invoke => {
                Err("the op names no process, so its completion cannot be found".into())
            }
            Pair::Alone => {
                Err("the completion has no invocation, and without it nobody knows when the operation began".into())
            }
        }
    }

    fn complete<S: Spec<Op = O>>(
        &mut self,
        model: &mut S,
        op: &Op<'_>,
        slot: usize,
    ) -> Result<Happening<'_, O>, String> {
        let Some(InFlight(invoked)) = self.open.get_mut(slot).and_then(Option::take) else {
            return Err("the completion has no invocation".into());
        };
        Ok(match op.kind {
            OpKind::Fail => Happening::Failed { slot },
            // What an `info` says in the place of a value is mostly why it failed.
            OpKind::Info | OpKind::Invoke => Happening::Crashed { slot, op: invoked },
            OpKind::Ok => match model.decode(op, invoked.as_ref()) {
                Ok(done) if !S::contradicts(invoked.as_ref(), done.as_ref()) => Happening::Returned { slot, op: done },
                failed => {
                    let contradiction = |done: Option<O>| contradiction(model, invoked.as_ref(), done.as_ref());
                    let reason = failed.map_or_else(|reason| reason, contradiction);
                    // What was invoked is in flight up to here, and may have happened.
                    self.open[slot] = Some(InFlight(invoked));
                    return Err(reason);
                }
            },
        })
    }

    /// The operations that are in flight, by slot, and what each may do.
    pub fn in_flight(self) -> impl Iterator<Item = (usize, O)> {
        let open = self.open.into_iter().enumerate();
        open.filter_map(|(slot, in_flight)| Some((slot, in_flight?.0?)))
    }
}

#[cold]
fn contradiction<S: Spec>(model: &S, invoked: Option<&S::Op>, done: Option<&S::Op>) -> String {
    let said = |op: Option<&S::Op>| op.map_or("nothing that changes anything".into(), |op| model.datum(op).to_string());
    format!(
        "the completion contradicts its invocation, which said {}; the completion says {}",
        said(invoked),
        said(done)
    )
}
