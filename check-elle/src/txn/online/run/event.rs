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

/// What is known of an op beside its micro-ops.
#[derive(Clone, Copy, Debug)]
pub(in crate::txn::online) struct Facts {
    pub(in crate::txn::online) step: Step,
    pub(in crate::txn::online) index: u64,
    /// When its transaction says what it writes, if that is now and was not when it was invoked.
    pub(in crate::txn::online) said: Option<Said>,
    /// When the first operation was invoked that does not say what it writes; and the first that may say it yet.
    pub(in crate::txn::online) unsaid_since: Option<u64>,
    pub(in crate::txn::online) awaited_since: Option<u64>,
}

/// An op.
#[derive(Clone, Copy, Debug)]
pub(in crate::txn::online) struct Event<'a> {
    pub(in crate::txn::online) facts: Facts,
    pub(in crate::txn::online) mops: &'a [Mop],
    /// What they read.
    pub(in crate::txn::online) codes: &'a [i64],
}

impl Event<'_> {
    /// Gives it to a judge, with which its transaction has this number; the number from now on.
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
