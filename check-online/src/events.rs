//! Events: invocations and completions in the order in which they happened, judged at each completion.

#[cfg(test)]
mod few;
#[cfg(test)]
mod monitored;
#[cfg(test)]
mod monitored_sets;

use crate::OnlineModel;
use crate::engine::ops::{Event, NEVER, OpIx};
use crate::object::Object;
use crate::{Outcome, Settings, Violation};
use history_core::Budget;
use std::fmt;
use std::sync::Arc;

/// An operation in flight; what [`Events::invoke`] gives, and its end takes, of the same checker.
#[derive(Debug)]
#[must_use = "it is needed when the operation ends"]
pub struct Call(OpIx);

impl Call {
    /// An operation ends once.
    fn into_op(self) -> OpIx {
        self.0
    }
}

/// Checks the history of an object while it is being made, from the invocations and completions of its operations in
/// the order in which they happened.
///
/// After each event it is known whether the history so far is linearizable, where an operation in flight may have taken
/// effect or not. What is known at the end is what [`check_register::check`] says of the whole.
///
/// Of sets, and of queues, stacks and priority queues into which no value is put twice, this holds as long as little is
/// in flight. Where the search holds more than 32 configurations it is given up for a monitor, which decides again when
/// an eighth more has happened than may still matter, and at [`Events::conclude`]: a violation is then found that much
/// later, and is the same. Where no monitor is sure to decide, in deques and where values repeat, the search is given
/// up for that of [`check_register::check`] at 65,536 configurations, likewise.
///
/// An event takes time linear in what is in flight where that is little, and at worst exponential in it. Memory follows
/// what happened since the first operation that is still in flight was called, and operations that crashed, of which no
/// client knows whether they will be seen yet: equal ones are one.
///
/// ```
/// use check_online::{Events, Outcome};
/// use check_register::models::{PlainRegister, RegisterOp::{Read, Write}};
///
/// let mut events = Events::new(PlainRegister::default());
/// let write = events.invoke(0, 0, Some(&Write(1)));
/// let read = events.invoke(1, 1, None);
/// assert_eq!(events.complete(write, 2, Some(&Write(1))), Outcome::Ok);
/// let again = events.invoke(0, 3, None);
/// assert_eq!(events.complete(again, 4, Some(&Read(1))), Outcome::Ok);
/// // It was in flight all the time. But 2 was never written.
/// let Outcome::Violation(violation) = events.complete(read, 5, Some(&Read(2))) else { panic!() };
/// assert_eq!(violation.refused.client, 1);
/// ```
pub struct Events<M: OnlineModel> {
    object: Object<M>,
}

impl<M: OnlineModel> fmt::Debug for Events<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

impl<M: OnlineModel> Events<M> {
    /// A checker of an object.
    pub fn new(model: M) -> Events<M> {
        Events::with_settings(model, Settings::default())
    }

    /// The same, with other limits.
    pub fn with_settings(model: M, settings: Settings) -> Events<M> {
        let mut object = Object::new(model, settings.configurations_max, settings.lag_max);
        object.any_mut().keep_ledger();
        Events { object }
    }

    /// An operation is called by a client, at this index of the history or this time. `op` is what it does, as one that
    /// may have any result; `None` if that says nothing as long as it has none, like a read.
    pub fn invoke(&mut self, client: i64, at: u64, op: Option<&M::Op>) -> Call {
        Call(self.object.call(client, at, NEVER, op, Event::Open))
    }

    /// An operation returns, and did this, if that says anything. What is known with it.
    pub fn complete(&mut self, call: Call, at: u64, op: Option<&M::Op>) -> Outcome<M::Op> {
        let class = self.object.class(op);
        let op = call.into_op();
        self.object.any_mut().world.ops.get_mut(op).finish = at;
        self.end(op, Event::Completes(class))
    }

    /// An operation did not happen.
    pub fn fail(&mut self, call: Call) -> Outcome<M::Op> {
        self.end(call.into_op(), Event::Fails)
    }

    /// Records that an operation crashed: it may take effect at any time after its call, or never. `op`
    /// is what it then did, most often what it was called for.
    pub fn crash(&mut self, call: Call, op: Option<&M::Op>) -> Outcome<M::Op> {
        let class = self.object.class(op);
        self.end(call.into_op(), Event::Crashes(class))
    }

    fn end(&mut self, op: OpIx, event: Event) -> Outcome<M::Op> {
        self.object.happen(op, event);
        self.outcome()
    }

    /// What is known so far.
    pub fn outcome(&self) -> Outcome<M::Op> {
        self.object.outcome()
    }

    /// Decides what was put off, at the end of a history or when an answer is wanted now. What is known then.
    pub fn conclude(&mut self) -> Outcome<M::Op> {
        self.conclude_within(&Budget::default())
    }

    /// The same, or [`Reason::Spent`](crate::Reason::Spent) if that takes more than a budget has. A violation is found
    /// within it; the first operation that is refused may take longer to name.
    pub fn conclude_within(&mut self, budget: &Budget) -> Outcome<M::Op> {
        self.object.conclude(budget);
        self.outcome()
    }

    /// Violations so far: the first of each part, for the first eight parts.
    pub fn violations(&self) -> &[Arc<Violation<M::Op>>] {
        self.object.violations()
    }

    /// Configurations that are held now, of the part that has the most. Takes time linear in the parts.
    pub fn configurations(&self) -> usize {
        self.object.any().configurations()
    }

    /// In how many parts there is a violation.
    pub fn violations_count(&self) -> u64 {
        self.object.any().refused
    }

    /// Keeps one configuration of each state and mask at first, a `crowd` in all, and `basis_max` events since all were
    /// kept; before the first event.
    #[cfg(test)]
    pub(crate) fn keep_few(&mut self, crowd: usize, basis_max: usize) {
        let world = &mut self.object.any_mut().world;
        (world.width_min, world.crowd, world.basis_max) = (1, crowd, basis_max);
    }

    /// Of each part, whether it keeps few configurations, and how many.
    #[cfg(test)]
    pub(crate) fn widths(&self) -> Vec<(bool, usize)> {
        self.object.any().widths()
    }

    /// Has a monitor decide from the first event on.
    #[cfg(test)]
    pub(crate) fn monitor_always(&mut self) {
        self.object.any_mut().monitor_always();
    }

    #[cfg(test)]
    pub(crate) fn is_monitored(&self) -> bool {
        self.object.any().is_monitored()
    }

    #[cfg(test)]
    pub(crate) fn ledger_len(&self) -> usize {
        self.object.any().ledger_len()
    }

    pub(crate) fn model(&self) -> &M {
        self.object.model()
    }

    pub(crate) fn model_mut(&mut self) -> &mut M {
        self.object.model_mut()
    }
}
