//! The work after each op: discarding transactions, giving up at limits, recording violations.

use super::{OnlineRun, Sizes};
use crate::txn::online::judge::Judge;
use crate::txn::online::limits::clean_up;
use crate::txn::online::witness::Witness;
use history_core::Op;

impl<J: Judge> OnlineRun<J> {
    /// Discards transactions that are no longer needed, and stops a judge that has reached a limit.
    pub(super) fn limit(&mut self, op: &Op<'_>) {
        let Sizes { forgetting, whole, names, .. } = self.sizes;
        let mut given_up = self.given_up;
        let mut renamed = 0;
        let mut too_many = false;
        let mut has_read = false;
        let mut forks = None;
        for (at, level) in self.each_level().enumerate() {
            let Some(judge) = &mut level.judge else { continue };
            has_read |= judge.has_read();
            if judge.forgets() {
                clean_up(judge, op.index, &forgetting, &mut given_up);
                forks = forks.or(judge.fork().map(|fork| (at, fork)));
                renamed = judge.renamed();
                too_many |= given_up.all;
            } else if judge.graph().count > whole || judge.graph().edges() > 8 * whole || judge.values() > 2 * whole {
                level.judge = None;
                let why =
                    format!("more than {whole} transactions, or their edges, would have to be kept for this level");
                level.stopped = Some((op.index, why));
            }
        }
        if let Some((at, fork)) = forks {
            let txns = self.open.iter().map(|open| open.txns.get(at).copied().unwrap_or_default()).collect();
            let witness = Witness::new(fork, txns);
            if let Some(level) = self.each_level().nth(at) {
                level.witness = Some(Box::new(witness));
            }
        }
        self.evidence.read |= has_read;
        self.given_up = given_up;
        if renamed > 0 {
            self.first_renamed.get_or_insert(op.index);
        }
        self.renamed = self.renamed.max(renamed);
        if too_many {
            self.stop(op, "too many transactions would have to be kept");
        } else if self.decoder.interner.names() > names {
            self.stop(op, "too many keys and values are not small integers");
        }
    }

    /// Records the violations that an op proved.
    pub(super) fn note(&mut self, op: &Op<'_>) {
        let mut first = None;
        for level in &mut self.levels {
            level.collect();
            for violation in level.news.drain(..) {
                level.violation.get_or_insert_with(|| violation.clone());
                first.get_or_insert((op.index, level.spec, violation));
            }
        }
        if let Some(strict) = &mut self.strict {
            strict.news.clear();
        }
        if first.is_some() {
            self.violations += 1;
            self.last = first;
            self.before_last = self.ops;
            self.violated_at.get_or_insert(op.index);
        }
    }
}
