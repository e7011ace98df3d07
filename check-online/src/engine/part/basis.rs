//! A search that keeps few configurations, and what to do if these refuse an operation.
//!
//! Operations that may have happened create many configurations: each set of them that results in the same state is
//! one, unless it contains another. Most histories never need more than the first few, and most events are explained
//! without such operations. So a kernel that finds many continues with the least ([`Detail::Least`]). If these admit an
//! operation, the events so far are linearizable. If they refuse one, a short stretch of events before it is processed
//! again with a few configurations of each kind ([`Detail::Few`]), then longer ones, back to the **basis**, the last
//! point up to which nothing was omitted. If these refuse it too, the events since the basis are processed again:
//!
//! 1. By a search that counts the uses of all such operations together ([`Detail::Sum`]), as check-register's relaxed
//!    search does. It omits no linearization, and its configurations are few. If it refuses the operation as well,
//!    there is no linearization.
//! 2. By a search that keeps more of each kind, up to a limit, at which the part is given up. If it omitted nothing by
//!    then, its refusal is final.
//!
//! So that memory does not grow with the history, an old basis is moved forward by the first of these searches. From
//! then on only this search can refuse an operation, and a few configurations that were moved forward as well may admit
//! it.

use super::{Checkpoint, Logged, Part};
use crate::engine::kernel::{Kernel, Stop, World};
use crate::engine::ops::{Fate, OpIx, Seq};
use crate::engine::set::Detail;

/// The configurations before the events from `seq` on: all, or with the sum of their uses; a few if even these are too
/// many.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) seq: Seq,
    pub(crate) kernel: Kernel,
    /// A few of them, if the kernel uses sums and a few configurations admit all events.
    pub(crate) few: Option<Kernel>,
}

impl Basis {
    /// Returns true if nothing was omitted, and nothing counted together.
    pub(crate) fn is_exact(&self) -> bool {
        self.kernel.set.detail == Detail::All
    }

    /// A few of the configurations; `None` if none is left.
    fn few(&self) -> Option<&Kernel> {
        if self.is_exact() { Some(&self.kernel) } else { self.few.as_ref() }
    }
}

/// The result of processing events: what stopped it, and at which event.
type Taken = Result<(), (Stop, Seq)>;

/// The factor by which more configurations are kept if few were not sufficient.
const WIDER: usize = 16;

impl Part {
    /// Processes the return of an operation of the kernel at event `now`, which is logged if a log is kept.
    pub(super) fn ret_known(&mut self, world: &mut World<'_>, op: OpIx, now: Seq) -> Result<(), Stop> {
        let taken = self.ret_few(world, op, now).map_err(|stop| (stop, now));
        self.insist(world, taken)
    }

    /// The same, if a refusal is not final.
    fn ret_few(&mut self, world: &mut World<'_>, op: OpIx, now: Seq) -> Result<(), Stop> {
        match self.kernel.ret(world, &self.pile, now, op) {
            Err(Stop::Wide) => {
                debug_assert!(self.basis.is_none(), "everything from a basis on is kept in part");
                if self.log.is_empty() {
                    self.log.push_back(Logged { seq: now, op, is_return: true });
                }
                self.basis = Some(Basis { seq: now, kernel: self.kernel.clone(), few: None });
                self.kernel.set.detail = Detail::Least;
                self.kernel.ret(world, &self.pile, now, op)
            }
            other => other,
        }
    }

    /// Processes the events from `from` on again.
    pub(super) fn rerun(&mut self, world: &mut World<'_>, from: Seq) -> Result<(), Stop> {
        let next = self.checkpoints.partition_point(|checkpoint| checkpoint.seq <= from);
        // There is no checkpoint for an operation that was activated at its own call.
        let Some(start) = next.checked_sub(1) else { return Ok(()) };
        let Checkpoint { seq, ref kernel, .. } = self.checkpoints[start];
        self.kernel.clone_from(kernel);
        self.kernel.set.width = self.width;
        match kernel.set.detail {
            Detail::All => self.basis = None,
            Detail::Few | Detail::Least => self.kernel.set.detail = Detail::Least,
            Detail::Sum => {}
        }
        let taken = self.take_from(world, seq, next);
        self.insist(world, taken)
    }

    /// If omitted configurations may admit what is refused, processes events again with more configurations, until the
    /// result is final.
    fn insist(&mut self, world: &mut World<'_>, taken: Taken) -> Result<(), Stop> {
        let mut taken = taken;
        while let Err((Stop::Refused(op), at)) = taken {
            taken = match self.kernel.set.detail {
                Detail::All | Detail::Sum => return Err(Stop::Refused(op)),
                Detail::Least => self.take_few(world, op, at),
                Detail::Few => {
                    self.widen(world, op, at)?;
                    self.replay(world)
                }
            };
        }
        taken.map_err(|(stop, _)| stop)
    }

    /// Processes the latest events again, beginning with a short stretch, and keeps a few configurations instead of the
    /// least, which refused `op` at event `at`. Each repetition goes back at least twice as far, so all of them take at
    /// most twice as long as the last one.
    fn take_few(&mut self, world: &mut World<'_>, op: OpIx, at: Seq) -> Taken {
        let refused = Err((Stop::Refused(op), at));
        // If nothing can be processed again, this counts as a refusal by a few configurations.
        self.kernel.set.detail = Detail::Few;
        let Some(basis) = self.basis.as_ref().map(|basis| basis.seq) else { return refused };
        // Checkpoints after this event have not been corrected.
        let mut starts = self.checkpoints.partition_point(|checkpoint| checkpoint.seq <= at);
        let mut events_min = 0;
        while let Some(start) = starts.checked_sub(1).filter(|start| self.checkpoints[*start].seq > basis) {
            starts = start;
            let Checkpoint { seq, ref kernel, .. } = self.checkpoints[start];
            let events = self.log.len() - self.log.partition_point(|logged| logged.seq < seq);
            if events < events_min {
                continue;
            }
            events_min = 2 * events;
            self.kernel.clone_from(kernel);
            match self.take_few_from(world, seq, start + 1) {
                Err((Stop::Refused(_), _)) => {}
                taken => return taken,
            }
        }
        let next = self.checkpoints.partition_point(|checkpoint| checkpoint.seq < basis);
        let Some(few) = self.basis.as_ref().and_then(Basis::few) else { return refused };
        self.kernel.clone_from(few);
        self.take_few_from(world, basis, next)
    }

    /// The same from `from` on; the kernel is at the state before it.
    fn take_few_from(&mut self, world: &mut World<'_>, from: Seq, next: usize) -> Taken {
        (self.kernel.set.detail, self.kernel.set.width) = (Detail::Few, self.width);
        self.take_from(world, from, next)?;
        self.kernel.set.detail = Detail::Least;
        Ok(())
    }

    /// Processes the events from the basis on again.
    fn replay(&mut self, world: &mut World<'_>) -> Taken {
        let Some(basis) = self.basis.take() else { return Ok(()) };
        self.kernel.clone_from(&basis.kernel);
        self.kernel.set.width = self.width;
        let next = self.checkpoints.partition_point(|checkpoint| checkpoint.seq < basis.seq);
        self.take_from(world, basis.seq, next)
    }

    /// Processes the events from `from` on, from the kernel's state before them, and corrects the checkpoints from
    /// `next` on.
    fn take_from(&mut self, world: &mut World<'_>, from: Seq, mut next: usize) -> Taken {
        let first = self.log.partition_point(|logged| logged.seq < from);
        for at in first..self.log.len() {
            let Logged { seq, op, is_return } = self.log[at];
            while let Some(checkpoint) = self.checkpoints.get_mut(next).filter(|checkpoint| checkpoint.seq <= seq) {
                checkpoint.kernel.clone_from(&self.kernel);
                next += 1;
            }
            let row = *world.ops.get(op);
            let taken = match row.class {
                Some(_) if row.fate == Fate::Returns && is_return => self.ret_few(world, op, seq),
                Some(class) if row.fate == Fate::Returns => self.kernel.call(world, op, class, row.ret),
                _ => Ok(()),
            };
            taken.map_err(|stop| (stop, seq))?;
        }
        while let Some(checkpoint) = self.checkpoints.get_mut(next) {
            checkpoint.kernel.clone_from(&self.kernel);
            next += 1;
        }
        Ok(())
    }

    /// Handles a refusal of `op` at event `at` by a few configurations. Stops if all refuse it, or if no more can be
    /// kept; otherwise more are kept from now on.
    fn widen(&mut self, world: &mut World<'_>, op: OpIx, at: Seq) -> Result<(), Stop> {
        let basis = self.basis.as_ref().filter(|basis| !basis.kernel.set.detail.leaves_out()).ok_or(Stop::Full)?;
        let mut sum = basis.kernel.clone();
        sum.sum_up(world);
        match self.advance(world, &mut sum, at + 1) {
            Err(Stop::Refused(_)) => return Err(Stop::Refused(op)),
            // More configurations of each kind may admit the operation.
            Err(Stop::Full) => {}
            other => other?,
        }
        let is_exact = self.basis.as_ref().is_some_and(Basis::is_exact);
        if !is_exact || self.width >= world.width_max {
            return Err(Stop::Full);
        }
        self.width = self.width.saturating_mul(WIDER).min(world.width_max);
        Ok(())
    }

    /// Processes the events from the basis up to `until` with a kernel at the state before them.
    fn advance(&self, world: &mut World<'_>, kernel: &mut Kernel, until: Seq) -> Result<(), Stop> {
        let from = self.basis.as_ref().map_or(until, |basis| basis.seq);
        let first = self.log.partition_point(|logged| logged.seq < from);
        for Logged { seq, op, is_return } in self.log.range(first..).take_while(|logged| logged.seq < until) {
            let row = *world.ops.get(*op);
            match row.class {
                Some(_) if row.fate == Fate::Returns && *is_return => kernel.ret(world, &self.pile, *seq, *op)?,
                Some(class) if row.fate == Fate::Returns => kernel.call(world, *op, class, row.ret)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Moves an old basis forward. Returns whether it did.
    pub(crate) fn move_basis(&mut self, world: &mut World<'_>) -> Result<bool, Stop> {
        let Some(basis) = &self.basis else { return Ok(false) };
        let middle = self.log[self.log.len() / 2].seq;
        // A run that starts at a checkpoint needs all configurations, or a basis before the checkpoint. So the basis
        // does not move past the first checkpoint.
        let until = self.checkpoints.front().map_or(middle, |first| middle.min(first.seq));
        if until <= basis.seq {
            return Ok(false);
        }
        let few = basis.few().and_then(|few| self.advance_few(world, few, until));
        let mut kernel = basis.kernel.clone();
        let taken = if kernel.set.detail.leaves_out() {
            Err(Stop::Full)
        } else {
            kernel.sum_up(world);
            self.advance(world, &mut kernel, until)
        };
        match (taken, &few) {
            (Err(Stop::Full), Some(few)) => kernel.clone_from(few),
            (other, _) => other?,
        }
        self.basis = Some(Basis { seq: until, kernel, few });
        Ok(true)
    }

    /// Processes the events from the basis up to `until` with a kernel that keeps the least, or a few if that is not
    /// sufficient.
    fn advance_few(&self, world: &mut World<'_>, few: &Kernel, until: Seq) -> Option<Kernel> {
        [Detail::Least, Detail::Few].into_iter().find_map(|detail| {
            let mut kernel = few.clone();
            (kernel.set.detail, kernel.set.width) = (detail, self.width);
            self.advance(world, &mut kernel, until).is_ok().then_some(kernel)
        })
    }
}
