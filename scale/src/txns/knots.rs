//! Handles contradictions between the orders that shares have found: the transactions on their cycles are checked
//! again, with all of their keys.
//!
//! All transactions of a knot lead to each other. So every other transaction comes before all of them or after all of
//! them, in every order of the rest. If the knot has an order that fits between these, the whole has an order, in which
//! the knot is replaced by its own order. Concurrent transactions may have to move with the knot, so knots are widened:
//! a dependency in each direction ties such a transaction to the knot. A knot without an order is widened again.

use super::tangles::{Knot, Tangles};
use crate::job::Job;
use crate::keys::{guarded, unfit};
use history_core::hash::HashMap;
use history_core::share::{Dependency, KnotsRun, Span};
use history_core::{Batch, Budget, HistoryError, Op, OpKind, Pair};
use std::ops::{ControlFlow, Range};

/// The maximum number of times that knots are widened.
pub(super) const ROUNDS_MAX: u32 = 6;

/// The maximum number of transactions in all knots, and concurrent with them.
const TXNS_MAX: usize = 1 << 20;

/// The approximate memory for a transaction of a knot, in bytes.
const BYTES_PER_TXN: u64 = 4096;

/// The next step.
pub(super) enum Step {
    /// Each knot has another order.
    Done,
    /// Widen knots with these dependencies.
    Widen(Vec<Dependency>),
    /// It is unknown whether another order exists.
    GiveUp,
}

/// A function that reads the history once, and passes its batches to its argument.
pub(super) type Read<'r> =
    &'r mut dyn FnMut(&mut dyn FnMut(&Batch) -> Result<ControlFlow<()>, HistoryError>) -> Result<(), HistoryError>;

/// Searches for other orders of the transactions on cycles. The first call has round 0. Reads the history at least
/// once.
pub(super) fn step(
    job: &Job<'_>,
    found: &Tangles,
    round: u32,
    budget: &Budget,
    read: Read<'_>,
) -> Result<Step, HistoryError> {
    let Some(knots) = found.knots() else { return Ok(Step::GiveUp) };
    if knots.is_empty() {
        return Ok(Step::Done);
    }
    let (mut near, mut is_little) = (Near::new(knots), true);
    read(&mut |batch| {
        is_little = near.find(batch);
        Ok(if is_little { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    if !is_little {
        return Ok(Step::GiveUp);
    }
    // In most cases, concurrent transactions are needed, too.
    let mut are_untied = Vec::new();
    for some in if round > 0 { near.parts(budget) } else { Vec::new() } {
        let Some(mut untie) = Untie::start(job, &near, some)? else { return Ok(Step::GiveUp) };
        read(&mut |batch| {
            batch.ops().try_for_each(|op| untie.take(&op))?;
            Ok(ControlFlow::Continue(()))
        })?;
        are_untied.extend(untie.finish(budget)?);
    }
    are_untied.resize(near.knots.len(), false);
    if are_untied.iter().all(|is_untied| *is_untied) {
        return Ok(Step::Done);
    }
    Ok(Step::Widen(near.widened(|at| !are_untied[at])))
}

/// Knots, with their transactions and concurrent ones.
struct Near {
    knots: Vec<Knot>,
    /// For each knot, the last index of all knots up to it.
    lasts: Vec<u64>,
    /// The knots of transactions, by the index of their invocations.
    knot_of: HashMap<u64, usize>,
    /// Transactions that are concurrent with those of a knot.
    beside: Vec<(usize, Span)>,
}

impl Near {
    /// Creates it for these knots, which are in order.
    fn new(knots: Vec<Knot>) -> Near {
        let mut knot_of = HashMap::default();
        for (at, knot) in knots.iter().enumerate() {
            knot_of.extend(knot.named().iter().map(|span| (span.invoked, at)));
        }
        let lasts = knots.iter().scan(0, |last, knot| {
            *last = (*knot.range().end()).max(*last);
            Some(*last)
        });
        Near { lasts: lasts.collect(), knots, knot_of, beside: Vec::new() }
    }

    /// Adds all transactions of a batch that are in knots or concurrent with them. Returns false if there are too many.
    fn find(&mut self, batch: &Batch) -> bool {
        for op in batch.ops() {
            let Pair::Completes { invoked, .. } = op.pair else { continue };
            let completed = match op.kind {
                OpKind::Ok => op.index,
                OpKind::Info => u64::MAX,
                OpKind::Fail | OpKind::Invoke => continue,
            };
            self.place(Span { invoked, completed }, op.index);
        }
        self.knot_of.len() + self.beside.len() <= TXNS_MAX
    }

    /// Adds an operation that ended at an index, perhaps with an info.
    fn place(&mut self, span: Span, ended: u64) {
        let begun = self.knots.partition_point(|knot| knot.named()[0].invoked <= ended);
        for at in (0..begun).rev().take_while(|at| self.lasts[*at] >= span.invoked) {
            if self.knots[at].has(span) {
                self.knot_of.insert(span.invoked, at);
            } else if *self.knots[at].range().end() >= span.invoked {
                self.beside.push((at, span));
            }
        }
    }

    /// Divides the knots into parts, each of which fits into memory, unless it is a single knot.
    fn parts(&self, budget: &Budget) -> Vec<Range<usize>> {
        let mut sizes = vec![0_u64; self.knots.len()];
        for at in self.knot_of.values() {
            sizes[*at] += 1;
        }
        let txns_max = budget.bytes_max.map_or(u64::MAX, |bytes| bytes / BYTES_PER_TXN);
        let (mut parts, mut txns): (Vec<Range<usize>>, u64) = (Vec::new(), 0);
        for (at, size) in sizes.into_iter().enumerate() {
            txns += size;
            if let Some(part) = parts.last_mut().filter(|_| txns <= txns_max) {
                part.end = at + 1;
            } else {
                parts.push(at..at + 1);
                txns = size;
            }
        }
        parts
    }

    /// Dependencies that tie transactions concurrent with these knots to them.
    fn widened(&self, are: impl Fn(usize) -> bool) -> Vec<Dependency> {
        let tied = |(at, span): &(usize, Span)| {
            // The last transaction of the knot that was invoked before it, so that both are in one window.
            let named = self.knots[*at].named();
            let near = named[named.partition_point(|other| other.invoked <= span.invoked).saturating_sub(1)];
            [Dependency { from: *span, to: near }, Dependency { from: near, to: *span }]
        };
        let mut tied: Vec<Dependency> = self.beside.iter().filter(|(at, _)| are(*at)).flat_map(tied).collect();
        tied.sort_unstable_by_key(|dependency| (dependency.known(), *dependency));
        tied
    }
}

/// The state of a search for other orders.
struct Untie<'n> {
    near: &'n Near,
    /// The knots that are searched.
    some: Range<usize>,
    run: Box<dyn KnotsRun>,
}

impl<'n> Untie<'n> {
    /// Starts the search. Returns `None` if the checker does not search for other orders.
    fn start(job: &Job<'_>, near: &'n Near, some: Range<usize>) -> Result<Option<Untie<'n>>, HistoryError> {
        let (setup, count) = (job.setup, some.len());
        let run = guarded(|| setup.checker.start_knots(&setup.options, count).map_err(|error| unfit(&error)))?;
        Ok(run.map(|run| Untie { near, some, run }))
    }

    /// Processes the next op of the history.
    fn take(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        let invoked = match op.pair {
            Pair::Completes { invoked, .. } => invoked,
            Pair::Invokes { .. } | Pair::Alone => op.index,
        };
        let knot = self.near.knot_of.get(&invoked).filter(|knot| self.some.contains(knot));
        self.run.observe(knot.map(|knot| knot - self.some.start), op)
    }

    /// Returns for each knot whether it has another order.
    fn finish(self, budget: &Budget) -> Result<Vec<bool>, HistoryError> {
        guarded(|| Ok(self.run.finish(budget)))
    }
}
