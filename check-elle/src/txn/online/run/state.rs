//! The state of a run: that of its judges. It contains no settings; the code that restores it must use the same ones.

use super::{Level, OnlineRun, Open, Seen};
use crate::cycle_spec::{CYCLE_EXISTS, CycleExistsSpec};
use crate::txn::online::judge::Judge;
use crate::txn::online::witness::Witness;
use history_core::Saved;
use history_core::state::{Damaged, In, Out, State};

/// Increased whenever the content of a saved state, or its meaning, changes.
const VERSION: u32 = 5;

history_core::state!(struct Open { is_there, txns, invoked, has_value, reads, writes, follows });
history_core::state!(struct Seen { read, later });

impl State for CycleExistsSpec {
    fn save(&self, out: &mut Out) {
        CYCLE_EXISTS.iter().position(|spec| spec == self).unwrap_or(usize::MAX).save(out);
    }

    fn load(from: &mut In<'_>) -> Result<CycleExistsSpec, Damaged> {
        CYCLE_EXISTS.get(usize::load(from)?).copied().ok_or(Damaged)
    }
}

impl<J: Judge> Level<J> {
    fn save(&self, out: &mut Out) {
        let Level { spec: _, judge, violation, news, witness, stopped } = self;
        judge.is_some().save(out);
        if let Some(judge) = judge {
            judge.save_parts(out);
        }
        witness.is_some().save(out);
        if let Some(witness) = witness {
            witness.save(out);
        }
        violation.save(out);
        news.save(out);
        stopped.save(out);
    }

    fn restore(&mut self, from: &mut In<'_>, new: impl Fn(CycleExistsSpec) -> J) -> Result<(), Damaged> {
        self.judge = bool::load(from)?.then(|| new(self.spec));
        self.judge.iter_mut().try_for_each(|judge| judge.load_parts(from))?;
        self.witness = bool::load(from)?.then(|| Witness::load(new(self.spec), from)).transpose()?.map(Box::new);
        self.violation = State::load(from)?;
        self.news = State::load(from)?;
        self.stopped = State::load(from)?;
        Ok(())
    }
}

impl<J: Judge> OnlineRun<J> {
    pub(super) fn save_within(&self, bytes_max: usize) -> Saved {
        let mut out = Out::new(bytes_max);
        VERSION.save(&mut out);
        self.save_facts(&mut out);
        self.decoder.interner.save(&mut out);
        self.participants.save(&mut out);
        self.open.save(&mut out);
        self.levels.iter().for_each(|level| level.save(&mut out));
        self.strict.is_some().save(&mut out);
        self.strict.iter().for_each(|level| level.save(&mut out));
        // The batch checker is not saved: it gets the first ops again.
        let first_ops = if self.batch.is_some() { self.ops.min(self.sizes.batch_ops) } else { 0 };
        out.into_bytes().map_or(Saved::TooLarge, |state| Saved::State { state, first_ops })
    }

    fn save_facts(&self, out: &mut Out) {
        (self.lacks_invocations, self.lacks_processes).save(out);
        (self.in_flight, self.ops, self.violations).save(out);
        self.unsaid.save(out);
        self.counts.save(out);
        self.given_up.save(out);
        self.evidence.save(out);
        (self.renamed, self.first_renamed, self.violated_at).save(out);
        self.keeps_going.save(out);
        self.last.save(out);
        self.before_last.save(out);
        self.batch.is_some().save(out);
    }

    pub(super) fn restore_from(&mut self, from: &mut In<'_>) -> Result<(), Damaged> {
        if u32::load(from)? != VERSION {
            return Err(Damaged);
        }
        self.restore_facts(from)?;
        self.decoder.interner = State::load(from)?;
        self.participants = State::load(from)?;
        self.open = State::load(from)?;
        let (settings, lacks_invocations) = (&self.settings, self.lacks_invocations == Some(true));
        let new = |spec| J::new(spec, settings, lacks_invocations);
        self.levels.iter_mut().try_for_each(|level| level.restore(from, new))?;
        if !bool::load(from)? {
            self.strict = None;
        }
        self.strict.iter_mut().try_for_each(|level| level.restore(from, new))?;
        from.clone().end()
    }

    fn restore_facts(&mut self, from: &mut In<'_>) -> Result<(), Damaged> {
        (self.lacks_invocations, self.lacks_processes) = State::load(from)?;
        (self.in_flight, self.ops, self.violations) = State::load(from)?;
        self.unsaid = State::load(from)?;
        self.counts = State::load(from)?;
        self.given_up = State::load(from)?;
        self.evidence = State::load(from)?;
        (self.renamed, self.first_renamed, self.violated_at) = State::load(from)?;
        self.keeps_going = State::load(from)?;
        self.last = State::load(from)?;
        self.before_last = State::load(from)?;
        if !bool::load(from)? {
            self.batch = None;
        }
        Ok(())
    }
}
