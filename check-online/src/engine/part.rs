//! One part of an object: its current configurations, and the past events that may have to be processed again.
//!
//! The result of an operation in flight is unknown, so it is one that may have happened ([`pile`](super::pile)) until
//! it returns. The result then applies from its call on. So the configurations at each call are kept, as a
//! **checkpoint**, and the events since the first call that may matter, as the **log**; a return goes back to its call
//! and processes the events from there on again. Over a history, this takes for each event as many steps as operations
//! are in flight.

mod basis;
pub(crate) mod ledger;

use super::kernel::{Kernel, Stop, World};
use super::ops::{Event, Fate, NEVER, OpIx, Seq};
use super::pile::Pile;
use super::set::Detail;
use basis::Basis;
use check_register::engine::ids::ClassId;
use std::collections::VecDeque;

/// A part of an object.
#[derive(Debug)]
pub(crate) struct Part {
    /// The configurations after the last event.
    pub(crate) kernel: Kernel,
    pub(crate) pile: Pile,
    /// Calls and returns from the first checkpoint on; empty if there is none.
    pub(crate) log: VecDeque<Logged>,
    /// The checkpoints in order: one at the call of each operation that is still needed.
    pub(crate) checkpoints: VecDeque<Checkpoint>,
    /// The point from which on the kernel and the checkpoints omit configurations; `None` if they omit none. The log
    /// goes back to this point.
    basis: Option<Basis>,
    /// The maximum number of configurations of one state and mask.
    width: usize,
    /// Why the part was given up, if it was. Its further events are then ignored.
    pub(crate) over: Option<Stop>,
    /// Returns that have been processed since the uses of the pile were last reduced.
    returns: u32,
}

/// A call or a return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logged {
    seq: Seq,
    pub(crate) op: OpIx,
    is_return: bool,
}

/// The configurations before the events from `seq` on.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    seq: Seq,
    pub(crate) kernel: Kernel,
    /// The operation that is called there.
    owner: OpIx,
}

/// The number of returns after which the uses of the pile are reduced.
const REDUCE_EVERY: u32 = 32;

/// The maximum number of unused kernels that are kept.
const SPARE_MAX: usize = 64;

impl Part {
    pub(crate) fn new(world: &mut World<'_>) -> Part {
        let init = world.table.rules.init();
        Part {
            kernel: Kernel::new(init, world.width_min),
            basis: None,
            width: world.width_min,
            pile: Pile::default(),
            log: VecDeque::new(),
            checkpoints: VecDeque::new(),
            over: None,
            returns: 0,
        }
    }

    /// Processes the call of an operation whose result is already known.
    pub(crate) fn call_known(&mut self, world: &mut World<'_>, op: OpIx) -> Result<(), Stop> {
        let row = *world.ops.get(op);
        let Some(class) = row.class else { return Ok(()) };
        if self.is_logged() {
            self.log.push_back(Logged { seq: row.seq, op, is_return: false });
            if let Some(first) = self.pile.wake(&mut world.table, class) {
                return self.rerun(world, first);
            }
        }
        self.kernel.call(world, op, class, row.ret)
    }

    /// Processes the call of an operation whose result is unknown.
    pub(crate) fn call_open(&mut self, world: &mut World<'_>, op: OpIx) {
        let row = *world.ops.get(op);
        self.hold(world, op, row.seq);
        self.log.push_back(Logged { seq: row.seq, op, is_return: false });
        self.pile_up(world, op);
    }

    /// Processes the call of an operation that is known never to return.
    pub(crate) fn call_crashed(&mut self, world: &mut World<'_>, op: OpIx) {
        if !self.pile_up(world, op) {
            return;
        }
        let in_flight: Vec<ClassId> = self.kernel.in_flight().map(|(_, in_flight)| in_flight.class).collect();
        for class in in_flight {
            // Nothing has been tried since its call, so no events have to be processed again.
            self.pile.wake(&mut world.table, class);
        }
        if self.is_held(world, op) {
            let seq = world.ops.get(op).seq;
            self.hold(world, op, seq);
        }
    }

    /// Adds an operation to those that may have happened. Returns whether it rests.
    fn pile_up(&mut self, world: &mut World<'_>, op: OpIx) -> bool {
        let row = *world.ops.get(op);
        match row.class {
            Some(class) if !world.table.reads_only(class) => self.pile.add(&world.table, op, class, row.seq),
            _ => false,
        }
    }

    /// Processes the return of an operation that was called with [`Part::call_known`].
    pub(crate) fn ret(&mut self, world: &mut World<'_>, op: OpIx, now: Seq) -> Result<(), Stop> {
        if world.ops.get(op).class.is_none() {
            return Ok(());
        }
        if self.is_logged() {
            self.log.push_back(Logged { seq: now, op, is_return: true });
        }
        self.ret_known(world, op, now)?;
        self.reduce(world);
        Ok(())
    }

    /// Processes the return of an operation in flight, with its result, which its row already has; `was` is the class
    /// that it was assumed to have.
    pub(crate) fn complete(
        &mut self,
        world: &mut World<'_>,
        op: OpIx,
        was: Option<ClassId>,
        now: Seq,
    ) -> Result<(), Stop> {
        let row = *world.ops.get(op);
        let Some(class) = row.class else { return self.fail(world, op, was) };
        if let Some(was) = was {
            self.pile.remove(op, was, row.seq);
        }
        self.log.push_back(Logged { seq: now, op, is_return: true });
        let woken = self.pile.wake(&mut world.table, class).unwrap_or(NEVER);
        self.rerun(world, row.seq.min(woken))?;
        self.reduce(world);
        Ok(())
    }

    /// Processes the failure of an operation in flight. Its row is already updated.
    pub(crate) fn fail(&mut self, world: &mut World<'_>, op: OpIx, was: Option<ClassId>) -> Result<(), Stop> {
        let call = world.ops.get(op).seq;
        let Some((entry, rested)) = was.and_then(|was| self.pile.remove(op, was, call)) else { return Ok(()) };
        if !rested && self.is_used(world, entry) {
            return self.rerun(world, call);
        }
        Ok(())
    }

    /// Processes the crash of an operation in flight, which may have happened. Its row is already updated.
    pub(crate) fn crash(&mut self, world: &mut World<'_>, op: OpIx, was: Option<ClassId>) -> Result<(), Stop> {
        let row = *world.ops.get(op);
        if row.class == was {
            return Ok(());
        }
        if let Some(was) = was {
            self.pile.remove(op, was, row.seq);
        }
        self.pile_up(world, op);
        self.rerun(world, row.seq)
    }

    /// Adds an operation whose part was unknown until now. It was called at `world.ops.get(op).seq`, and nothing since
    /// then was discarded.
    pub(crate) fn adopt(&mut self, world: &mut World<'_>, op: OpIx) {
        let seq = world.ops.get(op).seq;
        let at = self.log.partition_point(|logged| logged.seq < seq);
        if at == self.log.len() {
            self.hold(world, op, seq);
        } else if let Some(first) = self.checkpoints.front_mut() {
            // There were no events between the two.
            first.seq = first.seq.min(seq);
        }
        self.log.insert(at, Logged { seq, op, is_return: false });
    }

    /// Returns true if some configuration makes use of an entry of the pile.
    fn is_used(&self, world: &World<'_>, entry: u32) -> bool {
        self.kernels_with_uses().flat_map(|kernel| &kernel.set.heads).any(|head| world.uses.count(head.uses, entry) > 0)
    }

    /// Returns true if the call of an operation may be needed again.
    fn is_held(&self, world: &World<'_>, op: OpIx) -> bool {
        let row = world.ops.get(op);
        match row.fate {
            Fate::Open => true,
            Fate::Crashed => row.class.is_some_and(|class| self.pile.rests(class)),
            Fate::Returns | Fate::Failed | Fate::PassedOver => false,
        }
    }

    /// The same for the entry of a class.
    fn is_used_class(&self, world: &World<'_>, class: ClassId) -> bool {
        self.pile.find(class).is_none_or(|entry| self.is_used(world, entry))
    }

    fn hold(&mut self, world: &mut World<'_>, owner: OpIx, seq: Seq) {
        let kernel = match world.spare.pop() {
            Some(mut kernel) => {
                kernel.clone_from(&self.kernel);
                kernel
            }
            None => self.kernel.clone(),
        };
        self.checkpoints.push_back(Checkpoint { seq, kernel, owner });
    }

    /// Discards everything that is not needed again. `pin` is the first call of an operation whose part is unknown.
    pub(crate) fn trim(&mut self, world: &mut World<'_>, pin: Seq) {
        while let Some(first) = self.checkpoints.front() {
            let is_needed = self.is_held(world, first.owner);
            let next = self.checkpoints.get(1).map(|next| next.seq);
            // If the owner of the first checkpoint is no longer needed, the second one is sufficient.
            let can_go = !is_needed && next.map_or(pin == NEVER, |next| next <= pin);
            if !can_go {
                break;
            }
            self.forget_checkpoint(world, 0);
        }
        let firsts = [self.checkpoints.front().map(|first| first.seq), self.basis.as_ref().map(|basis| basis.seq)];
        match firsts.into_iter().flatten().min() {
            None => self.log.clear(),
            Some(first) => {
                while self.log.front().is_some_and(|logged| logged.seq < first) {
                    self.log.pop_front();
                }
            }
        }
    }

    /// Discards the checkpoint of an operation that is no longer needed, unless it is the first, which `trim` handles.
    pub(crate) fn release(&mut self, world: &mut World<'_>, op: OpIx) {
        if self.is_held(world, op) {
            return;
        }
        let at = self.checkpoints.binary_search_by_key(&world.ops.get(op).seq, |checkpoint| checkpoint.seq);
        if let Ok(at) = at
            && at > 0
        {
            self.forget_checkpoint(world, at);
        }
    }

    fn forget_checkpoint(&mut self, world: &mut World<'_>, at: usize) {
        if let Some(gone) = self.checkpoints.remove(at)
            && world.spare.len() < SPARE_MAX
        {
            world.spare.push(gone.kernel);
        }
    }

    /// Gives up on the oldest operation that is kept: from now on it counts as crashed. Returns the operation if it was
    /// still open.
    pub(crate) fn pass_over(&mut self, world: &mut World<'_>) -> Result<Option<OpIx>, Stop> {
        if let Some(first) = self.pile.wake_all() {
            self.rerun(world, first)?;
        }
        let Some(first) = self.checkpoints.front() else { return Ok(None) };
        let owner = first.owner;
        let row = world.ops.get_mut(owner);
        let is_open = row.fate == Fate::Open;
        if is_open {
            row.fate = Fate::PassedOver;
        }
        Ok(is_open.then_some(owner))
    }

    /// Discards operations of the pile that every configuration has used.
    fn reduce(&mut self, world: &mut World<'_>) {
        self.returns += 1;
        let is_due = self.returns >= REDUCE_EVERY || !self.pile.awake().is_empty();
        if !is_due || self.pile.is_empty() {
            return;
        }
        self.returns = 0;
        let Some(base) = self.first_kernel() else { return };
        let Some(first) = base.set.heads.first() else { return };
        let mut all: Vec<(u32, u32)> = world.uses.get(first.uses).to_vec();
        for head in &base.set.heads {
            for (entry, count) in &mut all {
                *count = world.uses.count(head.uses, *entry).min(*count);
            }
            all.retain(|(_, count)| *count > 0);
        }
        if all.is_empty() {
            return;
        }
        for head in self.kernels_mut().flat_map(|kernel| &mut kernel.set.heads) {
            head.uses = world.uses.less(head.uses, &all);
        }
        for (entry, count) in all {
            self.pile.take_first(entry, count);
        }
    }

    /// The first configurations that may be needed again; `None` if they do not contain their uses.
    fn first_kernel(&self) -> Option<&Kernel> {
        match (&self.basis, self.checkpoints.front()) {
            (Some(basis), _) if !basis.is_exact() => None,
            (Some(basis), first) if first.is_none_or(|first| basis.seq < first.seq) => Some(&basis.kernel),
            (_, Some(first)) => Some(&first.kernel),
            (_, None) => Some(&self.kernel),
        }
    }

    /// Returns true if events are kept to be processed again.
    pub(crate) fn is_logged(&self) -> bool {
        !self.checkpoints.is_empty() || self.basis.is_some()
    }

    /// Returns true if the end of an operation that was treated as crashed has a result that can no longer be used.
    pub(crate) fn is_missed(&mut self, world: &mut World<'_>, op: OpIx, event: Event, was: Option<ClassId>) -> bool {
        match event {
            Event::Completes(Some(_)) => true,
            Event::Crashes(class) => class != was,
            _ => {
                let Some(was) = was.filter(|was| !world.table.reads_only(*was)) else { return false };
                if self.is_used_class(world, was) {
                    return true;
                }
                // An operation that is not in the pile was used in every configuration, and discarded.
                self.pile.remove(op, was, world.ops.get(op).seq).is_none()
            }
        }
    }

    /// Discards everything.
    pub(crate) fn forget(&mut self, world: &mut World<'_>) {
        let over = self.over;
        *self = Part::new(world);
        self.over = over;
    }

    /// The current number of configurations.
    pub(crate) fn configurations(&self) -> usize {
        self.kernel.set.len()
    }

    /// The kernel, and those from which the part may continue again.
    pub(crate) fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        let basis = self.basis.iter().flat_map(|basis| [Some(&basis.kernel), basis.few.as_ref()]).flatten();
        basis.chain(self.checkpoints.iter().map(|checkpoint| &checkpoint.kernel)).chain([&self.kernel])
    }

    /// The kernels whose configurations contain their uses and their linearizations.
    pub(crate) fn kernels_with_uses(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels().filter(|kernel| kernel.set.detail != Detail::Sum)
    }

    pub(crate) fn kernels_mut(&mut self) -> impl Iterator<Item = &mut Kernel> {
        let basis = self.basis.iter_mut().flat_map(|basis| [Some(&mut basis.kernel), basis.few.as_mut()]).flatten();
        basis.chain(self.checkpoints.iter_mut().map(|checkpoint| &mut checkpoint.kernel)).chain([&mut self.kernel])
    }

    /// The operations that may be needed again.
    pub(crate) fn ops(&self) -> impl Iterator<Item = OpIx> {
        let in_flight = self.kernels().flat_map(Kernel::in_flight).map(|(_, in_flight)| in_flight.op);
        let owners = self.checkpoints.iter().map(|checkpoint| checkpoint.owner);
        in_flight.chain(owners).chain(self.log.iter().map(|logged| logged.op)).chain(self.pile.ops())
    }

    /// Returns whether the part keeps only a few configurations, and how many of each state and mask it keeps while it
    /// keeps all.
    #[cfg(test)]
    pub(crate) fn width(&self) -> (bool, usize) {
        (self.basis.is_some(), self.width)
    }
}
