//! The workload: what its micro-ops mean.

use super::analysis::Registers;
use super::mop::{Mop, What};
use super::sources::Sources;
use super::versions::{Flags, Versions};
use super::within::{Findings, Repeated, Within};
use crate::ids::TxnId;
use crate::txn::expected::Expected;
use crate::txn::fold::{Counts, Malformed, Workload};
use crate::txn::{Txns, mop, report};
use history_core::{Budget, Interner, OpKind, Report, Value};

/// A history on its way through the rw-register checker.
pub(crate) struct RwRegisterRun {
    expected: Expected,
    sources: Sources,
    interner: Interner,
    /// The code of nil.
    nil: i64,
    versions: Versions,
    within: Within,
    found: Findings,
}

impl RwRegisterRun {
    pub(crate) fn new(expected: Expected, sources: Sources) -> RwRegisterRun {
        let mut interner = Interner::default();
        let nil = interner.code(Value::Nil);
        RwRegisterRun {
            expected,
            sources,
            interner,
            nil,
            versions: Versions::default(),
            within: Within::default(),
            found: Findings::default(),
        }
    }

    /// Where one value was written to a key several times: nobody can say which of the writes a read saw. Writes that nobody
    /// read are told apart all the same, as versions of their own.
    fn part_repeated(&mut self, txns: &mut Txns<Mop>) -> Result<(), Malformed> {
        for Repeated { txn, mop, shared, own } in std::mem::take(&mut self.found.repeated) {
            let first = self.versions.version[shared.at()];
            if first.flags.has(Flags::SEEN) {
                let key = self.interner.datum(self.versions.key[first.key.at()].code);
                let value = self.interner.datum(first.code);
                let reason = format!(
                    "{value} is written to key {key}, as it is at index {}, and was read: nobody can say which of the two \
                     writes the read saw",
                    txns.index(first.writer)
                );
                return Err(Malformed { index: txns.index(txn), line: None, reason });
            }
            txns.set_mop(txn, mop as usize, Mop::write(first.key, own));
        }
        Ok(())
    }
}

impl Workload for RwRegisterRun {
    type Mop = Mop;

    const NAME: &'static str = "rw-register";
    const MOPS: &'static str = "[:r key value], or [:w key value] of a value other than nil";
    const IDS_MAX: usize = mop::IDS_MAX;

    #[inline]
    fn decode(&mut self, kind: OpKind, f: &str, key: Value<'_>, value: Value<'_>) -> Option<Mop> {
        let key_code = self.interner.code(key);
        let key = self.versions.key_id(key_code, self.nil);
        match (f, value) {
            // Nil is what a register holds before anything is written.
            ("w", Value::Nil) => None,
            ("w", value) => {
                let code = self.interner.code(value);
                Some(Mop::write(key, self.versions.version_id(key, code)))
            }
            // What failed or was only asked for saw nothing.
            ("r", _) if matches!(kind, OpKind::Invoke | OpKind::Fail) => Some(Mop::unseen(key)),
            ("r", Value::Nil) if kind == OpKind::Info => Some(Mop::unseen(key)),
            ("r", Value::Nil) => Some(Mop::read(key, self.versions.key[key.at()].initial)),
            ("r", value) => {
                let code = self.interner.code(value);
                Some(Mop::read(key, self.versions.version_id(key, code)))
            }
            _ => None,
        }
    }

    fn ids(&self) -> usize {
        self.versions.version.len()
    }

    fn is_write(mop: Mop) -> bool {
        matches!(mop.what(), What::Write(_))
    }

    #[inline]
    fn claim(&mut self, mops: &[Mop], completes: bool) -> Result<(), String> {
        if completes {
            for mop in mops {
                if let What::Write(version) = mop.what() {
                    self.versions.version[version.at()].flags.add(Flags::COMPLETED);
                }
            }
        }
        Ok(())
    }

    fn is_completed(&self, mop: Mop) -> bool {
        matches!(mop.what(), What::Write(v) if self.versions.version[v.at()].flags.has(Flags::COMPLETED))
    }

    /// Nothing yet: what is written twice matters only if it is read.
    fn completed_by_another(&self, _: Mop) -> Option<String> {
        None
    }

    #[inline]
    fn enter(&mut self, txn: TxnId, kind: OpKind, mops: &[Mop]) {
        self.within.look(&mut self.versions, kind, txn, mops, &mut self.found);
    }

    fn report(mut self, mut txns: Txns<Mop>, counts: Counts, budget: &Budget) -> Report {
        if let Err(malformed) = self.part_repeated(&mut txns) {
            return malformed.report(Self::NAME);
        }
        let RwRegisterRun { expected, sources, interner, versions, found, .. } = self;
        let registers = Registers::new(interner, versions, txns, found, &sources);
        report::report(Self::NAME, &registers, &expected, counts, budget)
    }
}
