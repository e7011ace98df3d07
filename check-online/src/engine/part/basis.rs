//! A search that keeps few configurations, and what to do when these few refuse what happened.
//!
//! Operations that may have happened make configurations many: each set of them that brings about the same state is
//! one, unless it contains another. Most histories never need more than the first few, and most of what happens is
//! explained without such operations. So a kernel that finds many goes on with the least ([`Detail::Least`]). What this
//! admits is linearizable. Where it refuses an operation, a short while before that is taken once more with a few of
//! each kind ([`Detail::Few`]), then longer ones, up to the **basis**, the last place up to which nothing was left out.
//! If these refuse it too, the events since the basis are taken once more:
//!
//! 1. By a search that counts the uses of all such operations together ([`Detail::Sum`]), as check-register's relaxed
//!    search does. It leaves out no linearization, and its configurations are few. If it refuses as well there is none.
//! 2. By one that keeps more of each kind, up to a limit, at which the part is given up. If it left out nothing by
//!    then, its refusal is one.
//!
//! So that memory does not grow with the history, a basis that is long past is moved on by the first of these searches.
//! From then on it alone can refuse, and a few that were moved on as well are what may admit.

use super::{Checkpoint, Logged, Part};
use crate::engine::kernel::{Kernel, Stop, World};
use crate::engine::ops::{Fate, OpIx, Seq};
use crate::engine::set::Detail;

/// The configurations before the events from `seq` on: all, or by the sum of their uses; a few if even these are too
/// many.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) seq: Seq,
    pub(crate) kernel: Kernel,
    /// A few of them, where the kernel goes by sums and a few admit all that happened.
    pub(crate) few: Option<Kernel>,
}

impl Basis {
    /// Whether nothing was left out, and nothing counted together.
    pub(crate) fn is_exact(&self) -> bool {
        self.kernel.set.detail == Detail::All
    }

    /// A few of the configurations; `None` if none is left.
    fn few(&self) -> Option<&Kernel> {
        if self.is_exact() { Some(&self.kernel) } else { self.few.as_ref() }
    }
}

/// What became of events that were taken: what stopped it, and at which event.
type Taken = Result<(), (Stop, Seq)>;

/// How many times as many configurations are kept when few did not do.
const WIDER: usize = 16;

impl Part {
    /// An operation of the kernel returns at event `now`, which is logged if anything is.
    pub(super) fn ret_known(&mut self, world: &mut World<'_>, op: OpIx, now: Seq) -> Result<(), Stop> {
        let taken = self.ret_few(world, op, now).map_err(|stop| (stop, now));
        self.insist(world, taken)
    }

    /// The same, where a refusal is not the last word.
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

    /// Takes the events from `from` on once more.
    pub(super) fn rerun(&mut self, world: &mut World<'_>, from: Seq) -> Result<(), Stop> {
        let next = self.checkpoints.partition_point(|checkpoint| checkpoint.seq <= from);
        // What was woken at its own call.
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

    /// Where what was left out may admit what is refused, takes events once more that keep more, until one of them has
    /// the last word.
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

    /// Takes events up to now once more, those since a short while ago first, and keeps a few configurations instead of
    /// the least, which refused `op` at event `at`. Each time it goes back at least twice as far, so all of it takes at
    /// most twice as long as the last time.
    fn take_few(&mut self, world: &mut World<'_>, op: OpIx, at: Seq) -> Taken {
        let refused = Err((Stop::Refused(op), at));
        // Where nothing can be taken once more it is as if a few had refused it.
        self.kernel.set.detail = Detail::Few;
        let Some(basis) = self.basis.as_ref().map(|basis| basis.seq) else { return refused };
        // Those after this event have not been put right.
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

    /// The same from `from` on, before which the kernel stands.
    fn take_few_from(&mut self, world: &mut World<'_>, from: Seq, next: usize) -> Taken {
        (self.kernel.set.detail, self.kernel.set.width) = (Detail::Few, self.width);
        self.take_from(world, from, next)?;
        self.kernel.set.detail = Detail::Least;
        Ok(())
    }

    /// Takes the events from the basis on once more.
    fn replay(&mut self, world: &mut World<'_>) -> Taken {
        let Some(basis) = self.basis.take() else { return Ok(()) };
        self.kernel.clone_from(&basis.kernel);
        self.kernel.set.width = self.width;
        let next = self.checkpoints.partition_point(|checkpoint| checkpoint.seq < basis.seq);
        self.take_from(world, basis.seq, next)
    }

    /// Takes the events from `from` on, before which the kernel stands, and puts the checkpoints from `next` on right.
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

    /// A few configurations refuse `op` at event `at`. Stops if all do, or if no more can be kept; otherwise more are
    /// from now on.
    fn widen(&mut self, world: &mut World<'_>, op: OpIx, at: Seq) -> Result<(), Stop> {
        let basis = self.basis.as_ref().filter(|basis| !basis.kernel.set.detail.leaves_out()).ok_or(Stop::Full)?;
        let mut sum = basis.kernel.clone();
        sum.sum_up(world);
        match self.advance(world, &mut sum, at + 1) {
            Err(Stop::Refused(_)) => return Err(Stop::Refused(op)),
            // More of each kind may admit it.
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

    /// Takes the events from the basis up to `until` with a kernel that stands before them.
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

    /// Moves a basis on that is long past. Whether it did.
    pub(crate) fn move_basis(&mut self, world: &mut World<'_>) -> Result<bool, Stop> {
        let Some(basis) = &self.basis else { return Ok(false) };
        let middle = self.log[self.log.len() / 2].seq;
        // What starts at a checkpoint begins with all that there is, or behind the basis.
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

    /// Takes the events from the basis up to `until` with a kernel that keeps the least, or a few if that will not do.
    fn advance_few(&self, world: &mut World<'_>, few: &Kernel, until: Seq) -> Option<Kernel> {
        [Detail::Least, Detail::Few].into_iter().find_map(|detail| {
            let mut kernel = few.clone();
            (kernel.set.detail, kernel.set.width) = (detail, self.width);
            self.advance(world, &mut kernel, until).is_ok().then_some(kernel)
        })
    }
}
