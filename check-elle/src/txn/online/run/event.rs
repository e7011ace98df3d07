//! An op in the form in which judges process it.

use crate::txn::online::decode::Mop;
use crate::txn::online::judge::{Judge, Said, Stop};
use crate::txn::online::time::At;

/// What an op does to a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::txn::online) enum Step {
    Invoke { process: Option<i64>, at: At },
    Complete,
    Fail,
    Crash,
}

/// The facts about an op other than its micro-ops.
#[derive(Clone, Copy, Debug)]
pub(in crate::txn::online) struct Facts {
    pub(in crate::txn::online) step: Step,
    pub(in crate::txn::online) index: u64,
    /// When the transaction's writes become known, if this op reveals them and the invocation did not.
    pub(in crate::txn::online) said: Option<Said>,
    /// The invocation of the first operation whose writes are unknown, and of the first whose writes may still become
    /// known.
    pub(in crate::txn::online) unsaid_since: Option<u64>,
    pub(in crate::txn::online) awaited_since: Option<u64>,
}

/// An op.
#[derive(Clone, Copy, Debug)]
pub(in crate::txn::online) struct Event<'a> {
    pub(in crate::txn::online) facts: Facts,
    pub(in crate::txn::online) mops: &'a [Mop],
    /// The values that the micro-ops read.
    pub(in crate::txn::online) codes: &'a [i64],
}

impl Event<'_> {
    /// Passes the op to a judge, in which its transaction has the number `txn`. Returns its number from now on.
    pub(in crate::txn::online) fn judge<J: Judge>(&self, judge: &mut J, txn: u32) -> Result<u32, Stop> {
        let Event { facts, mops, codes } = *self;
        if let Step::Invoke { process, at } = facts.step {
            let findings = judge.findings();
            (findings.has_unsaid, findings.awaits) = (facts.unsaid_since.is_some(), facts.awaited_since.is_some());
            return judge.invoke(at, process, mops);
        }
        if let Some(said) = facts.said {
            judge.declare(txn, facts.index, mops, said)?;
        }
        match facts.step {
            Step::Fail => judge.fail(txn)?,
            Step::Crash => judge.crash(txn)?,
            Step::Complete | Step::Invoke { .. } => judge.complete(txn, facts.index, mops, codes)?,
        }
        judge.findings().unsaid_since(facts.unsaid_since, facts.awaited_since)?;
        Ok(txn)
    }
}
