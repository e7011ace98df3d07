//! Events: invocations and completions in the order in which they happened, checked at each completion.

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

/// An operation in flight: returned by [`Events::invoke`], and passed to the method that ends it, of the same checker.
#[derive(Debug)]
#[must_use = "it is needed when the operation ends"]
pub struct Call(OpIx);

impl Call {
    /// Consumes the call, because an operation ends once.
    fn into_op(self) -> OpIx {
        self.0
    }
}

/// Checks the history of an object while it is being recorded, from the invocations and completions of its operations
/// in the order in which they happened.
///
/// After each event, the outcome is whether the history so far is linearizable, where an operation in flight may or may
/// not have taken effect. At the end, the outcome is that of [`check_register::check`] on the whole history.
///
/// For sets, and for queues, stacks and priority queues into which no value is inserted twice, this holds as long as
/// few operations are in flight. If the search needs more than 32 configurations, a monitor replaces it. The monitor
/// decides again whenever the number of events that may still matter has grown by an eighth, and at
/// [`Events::conclude`]. It finds a violation that much later, but the same one. If no monitor is sure to decide, for
/// deques and if values repeat, the search of [`check_register::check`] replaces it at 65,536 configurations, in the
/// same way.
///
/// An event takes time linear in the number of operations in flight if that is small, and at worst exponential in it.
/// Memory grows with the events since the call of the first operation that is still in flight, and with crashed
/// operations, which may still take effect: equal ones are stored once.
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
    /// Creates a checker of an object.
    pub fn new(model: M) -> Events<M> {
        Events::with_settings(model, Settings::default())
    }

    /// Creates a checker with other limits.
    pub fn with_settings(model: M, settings: Settings) -> Events<M> {
        let mut object = Object::new(model, settings.configurations_max, settings.lag_max);
        object.any_mut().keep_ledger();
        Events { object }
    }

    /// Limits the search of an event: once the budget is exhausted, the outcome is
    /// [`Reason::Spent`](crate::Reason::Spent).
    pub fn limit(&mut self, budget: &Budget) {
        self.object.any_mut().world.budget = budget.clone();
    }

    /// A client calls an operation, at this index of the history or this time. `op` is the operation, with any result;
    /// `None` if an operation without a result has no known effect, like a read.
    pub fn invoke(&mut self, client: i64, at: u64, op: Option<&M::Op>) -> Call {
        Call(self.object.call(client, at, NEVER, op, Event::Open))
    }

    /// An operation returns, with this effect and result, or `None` if they are unknown. Returns the outcome so far.
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

    /// Records that an operation crashed: it may take effect at any time after its call, or never. `op` is its effect
    /// in that case, usually the operation that was called.
    pub fn crash(&mut self, call: Call, op: Option<&M::Op>) -> Outcome<M::Op> {
        let class = self.object.class(op);
        self.end(call.into_op(), Event::Crashes(class))
    }

    fn end(&mut self, op: OpIx, event: Event) -> Outcome<M::Op> {
        self.object.happen(op, event);
        self.outcome()
    }

    /// The outcome so far.
    pub fn outcome(&self) -> Outcome<M::Op> {
        self.object.outcome()
    }

    /// Makes all pending decisions, at the end of a history or when a result is needed now. Returns the outcome.
    pub fn conclude(&mut self) -> Outcome<M::Op> {
        self.conclude_within(&Budget::default())
    }

    /// The same, or [`Reason::Spent`](crate::Reason::Spent) if the budget is exhausted. Finding a violation stays
    /// within the budget; naming the first refused operation may take longer.
    pub fn conclude_within(&mut self, budget: &Budget) -> Outcome<M::Op> {
        self.object.conclude(budget);
        self.outcome()
    }

    /// Violations so far: the first of each part, for the first eight parts.
    pub fn violations(&self) -> &[Arc<Violation<M::Op>>] {
        self.object.violations()
    }

    /// The current number of configurations of the part that has the most. Takes time linear in the number of parts.
    pub fn configurations(&self) -> usize {
        self.object.any().configurations()
    }

    /// The number of parts with a violation.
    pub fn violations_count(&self) -> u64 {
        self.object.any().refused
    }

    /// Limits the configurations to one of each state and mask at first, a `crowd` in all, and `basis_max` events since
    /// all were kept; called before the first event.
    #[cfg(test)]
    pub(crate) fn keep_few(&mut self, crowd: usize, basis_max: usize) {
        let world = &mut self.object.any_mut().world;
        (world.width_min, world.crowd, world.basis_max) = (1, crowd, basis_max);
    }

    /// For each part, whether it keeps few configurations, and how many.
    #[cfg(test)]
    pub(crate) fn widths(&self) -> Vec<(bool, usize)> {
        self.object.any().widths()
    }

    /// Makes a monitor decide from the first event on.
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
