//! A search that keeps few configurations, and what to do when these few refuse what happened.
//!
//! Operations that may have happened make configurations many: each set of them that brings about the same state is
//! one, unless it contains another. Most histories never need more than the first few, so a kernel that finds more goes
//! on with a few ([`Detail::Few`]). What these admit is linearizable. Where they refuse an operation, the events since
//! the **basis**, the last place up to which nothing was left out, are taken once more:
//!
//! 1. By a search that counts the uses of all such operations together ([`Detail::Sum`]), as check-register's relaxed
//!    search does. It leaves out no linearization, and its configurations are few. If it refuses as well there is none.
//! 2. By one that keeps more of each kind, up to a limit, at which the part is given up. If it left out nothing by
//!    then, its refusal is one.
//!
//! So that memory does not grow with the history, a basis that is long past is moved on by the first of these searches,
//! which alone can decide from then on.

use super::{Checkpoint, Logged, Part};
use crate::OnlineModel;
use crate::engine::kernel::{Kernel, Stop, World};
use crate::engine::ops::{Fate, OpIx, Seq};
use crate::engine::set::Detail;

/// The configurations before the events from `seq` on: all, or by the sum of their uses.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) seq: Seq,
    pub(crate) kernel: Kernel,
}

impl Basis {
    /// Whether nothing was left out, and nothing counted together.
    pub(crate) fn is_exact(&self) -> bool {
        self.kernel.set.detail == Detail::All
    }
}

/// How many times as many configurations are kept when few did not do.
const WIDER: usize = 16;

impl Part {
    /// An operation of the kernel returns at event `now`, which is logged if anything is.
    pub(super) fn ret_known<M: OnlineModel>(&mut self, world: &mut World<M>, op: OpIx, now: Seq) -> Result<(), Stop> {
        match self.ret_few(world, op, now) {
            Err(Stop::Refused(op)) if self.kernel.set.detail == Detail::Few => {
                self.widen(world, op, now)?;
                self.replay(world)
            }
            other => other,
        }
    }

    /// The same, where a refusal is not the last word.
    fn ret_few<M: OnlineModel>(&mut self, world: &mut World<M>, op: OpIx, now: Seq) -> Result<(), Stop> {
        match self.kernel.ret(world, &self.pile, now, op) {
            Err(Stop::Wide) => {
                debug_assert!(self.basis.is_none(), "everything from a basis on is kept in part");
                if self.log.is_empty() {
                    self.log.push_back(Logged { seq: now, op, is_return: true });
                }
                self.basis = Some(Basis { seq: now, kernel: self.kernel.clone() });
                self.kernel.set.detail = Detail::Few;
                self.kernel.ret(world, &self.pile, now, op)
            }
            other => other,
        }
    }

    /// Takes the events from `from` on once more.
    pub(super) fn rerun<M: OnlineModel>(&mut self, world: &mut World<M>, from: Seq) -> Result<(), Stop> {
        let next = self.checkpoints.partition_point(|checkpoint| checkpoint.seq <= from);
        // What was woken at its own call.
        let Some(start) = next.checked_sub(1) else { return Ok(()) };
        let Checkpoint { seq, ref kernel, .. } = self.checkpoints[start];
        self.kernel.clone_from(kernel);
        self.kernel.set.width = self.width;
        if kernel.set.detail == Detail::All {
            self.basis = None;
        }
        match self.take_from(world, seq, next) {
            Err((Stop::Refused(op), at)) if self.kernel.set.detail == Detail::Few => {
                self.widen(world, op, at)?;
                self.replay(world)
            }
            other => other.map_err(|(stop, _)| stop),
        }
    }

    /// Takes the events from the basis on once more, keeping more and more as long as they are refused.
    fn replay<M: OnlineModel>(&mut self, world: &mut World<M>) -> Result<(), Stop> {
        while let Some(basis) = self.basis.take() {
            self.kernel.clone_from(&basis.kernel);
            self.kernel.set.width = self.width;
            let next = self.checkpoints.partition_point(|checkpoint| checkpoint.seq < basis.seq);
            match self.take_from(world, basis.seq, next) {
                Err((Stop::Refused(op), at)) if self.kernel.set.detail == Detail::Few => self.widen(world, op, at)?,
                other => return other.map_err(|(stop, _)| stop),
            }
        }
        Ok(())
    }

    /// Takes the events from `from` on, before which the kernel stands, and puts the checkpoints from `next` on right.
    /// What stopped it, and at which event.
    fn take_from<M: OnlineModel>(
        &mut self,
        world: &mut World<M>,
        from: Seq,
        mut next: usize,
    ) -> Result<(), (Stop, Seq)> {
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

    /// A few configurations refuse `op` at event `at`. Stops if all do, or if no more can be kept; otherwise more are
    /// from now on.
    fn widen<M: OnlineModel>(&mut self, world: &mut World<M>, op: OpIx, at: Seq) -> Result<(), Stop> {
        let mut sum = self.basis.as_ref().ok_or(Stop::Full)?.kernel.clone();
        match self.sum_up(world, &mut sum, at + 1) {
            Err(Stop::Refused(_)) => return Err(Stop::Refused(op)),
            other => other?,
        }
        let is_exact = self.basis.as_ref().is_some_and(Basis::is_exact);
        if !is_exact || self.width >= world.width_max {
            return Err(Stop::Full);
        }
        self.width = self.width.saturating_mul(WIDER).min(world.width_max);
        Ok(())
    }

    /// Takes the events from the basis, before which the kernel stands, up to `until` by the sum of uses.
    fn sum_up<M: OnlineModel>(&self, world: &mut World<M>, kernel: &mut Kernel, until: Seq) -> Result<(), Stop> {
        kernel.sum_up(world);
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

    /// Moves a basis on that is long past. Whether it did.
    pub(crate) fn move_basis<M: OnlineModel>(&mut self, world: &mut World<M>) -> Result<bool, Stop> {
        let Some(basis) = &self.basis else { return Ok(false) };
        let middle = self.log[self.log.len() / 2].seq;
        // What starts at a checkpoint begins with all that there is, or behind the basis.
        let until = self.checkpoints.front().map_or(middle, |first| middle.min(first.seq));
        if until <= basis.seq {
            return Ok(false);
        }
        let mut kernel = basis.kernel.clone();
        self.sum_up(world, &mut kernel, until)?;
        self.basis = Some(Basis { seq: until, kernel });
        Ok(true)
    }
}
