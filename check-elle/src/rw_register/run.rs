//! The workload: the meaning of its micro-ops.

use super::analysis::{Known, Registers};
#[cfg(feature = "exact")]
use super::happened::is_explained;
use super::mop::{Mop, What};
use super::sources::Sources;
use super::versions::{Flags, Version, Versions};
use super::within::{Findings, Repeated, Within};
use crate::ids::{KeyId, TxnId, VersionId};
use crate::txn::expected::Expected;
use crate::txn::fold::retries::{self, Claim, Doubted, Retry};
use crate::txn::fold::{Malformed, Workload};
use crate::txn::{Txns, mop};
use history_core::cast::Cast as _;
use history_core::{Budget, Datum, Interner, OpKind, Value};

/// A run of the rw-register checker on one history.
#[derive(Clone)]
pub(crate) struct RwRegisterRun {
    expected: Expected,
    sources: Sources,
    interner: Interner,
    /// The code of the initial value of registers.
    initial: i64,
    versions: Versions,
    within: Within,
    found: Findings,
    is_share: bool,
    trusts_retries: bool,
}

impl RwRegisterRun {
    pub(crate) fn new(expected: Expected, sources: Sources, initial: &Datum) -> RwRegisterRun {
        let mut interner = Interner::default();
        // A value that is too large for any history does not occur in this one.
        let initial = initial.with_value(|value| interner.code(value)).unwrap_or(Interner::NIL);
        RwRegisterRun {
            trusts_retries: retries::are_trusted(&expected),
            expected,
            sources,
            interner,
            initial,
            versions: Versions::default(),
            within: Within::default(),
            found: Findings::default(),
            is_share: false,
        }
    }

    /// Sets whether other shares may show more about its transactions.
    pub(super) fn of_share(self, is_share: bool) -> RwRegisterRun {
        RwRegisterRun { is_share, ..self }
    }

    #[inline]
    fn version(&mut self, key: KeyId, value: Value<'_>) -> VersionId {
        let code = self.interner.code(value);
        if code == self.initial { self.versions.key[key.at()].initial } else { self.versions.version_id(key, code) }
    }

    /// If one value was written to a key several times, it is unknown which of the writes a read observed, so the key
    /// is omitted. Writes that were never read are nevertheless distinguished, as separate versions.
    fn part_repeated(&mut self, txns: &mut Txns<Mop>) -> Option<Malformed> {
        let mut malformed = None;
        for Repeated { txn, mop, shared, own } in std::mem::take(&mut self.found.repeated) {
            let first = self.versions.version[shared.at()];
            if first.flags.has(Flags::SEEN) {
                self.versions.key[first.key.at()].left_out = true;
                malformed.get_or_insert_with(|| Malformed {
                    index: txns.index(txn),
                    line: None,
                    reason: self.why_ambiguous(shared, txns),
                });
            }
            txns.set_mop(txn, mop.to_usize(), Mop::write(first.key, own));
        }
        malformed
    }

    fn why_ambiguous(&self, version: VersionId, txns: &Txns<Mop>) -> String {
        let Version { key, code, writer, .. } = self.versions.version[version.at()];
        let (key, value) = (self.interner.datum(self.versions.key[key.at()].code), self.interner.datum(code));
        if self.versions.is_initial(version) {
            return format!(
                "{value} is written to key {key}, which it is also the initial value of, and was read: whether the \
                 read saw the write is unknown"
            );
        }
        format!(
            "{value} is written to key {key} here and at index {}, and was read: which of the two writes the read saw \
             is unknown",
            txns.index(writer)
        )
    }
}

impl Workload for RwRegisterRun {
    type Mop = Mop;
    type Known = Registers;

    const NAME: &'static str = "rw-register";
    const MOPS: &'static str = "[:r key value], or [:w key value] of a value other than nil";
    const IDS_MAX: usize = mop::IDS_MAX;

    #[inline]
    fn decode(&mut self, kind: OpKind, f: &[u8], key: Value<'_>, value: Value<'_>) -> Option<Mop> {
        let key_code = self.interner.code(key);
        let key = self.versions.key_id(key_code, self.initial);
        match (f, value) {
            // Nil means that there is no value.
            (b"w", Value::Nil) => None,
            (b"w", value) => Some(Mop::write(key, self.version(key, value))),
            // A failed or invoked read observed nothing.
            (b"r", _) if matches!(kind, OpKind::Invoke | OpKind::Fail) => Some(Mop::unseen(key)),
            (b"r", Value::Nil) if kind == OpKind::Info => Some(Mop::unseen(key)),
            (b"r", value) => Some(Mop::read(key, self.version(key, value))),
            _ => None,
        }
    }

    fn shape(f: &str, value: Value<'_>) -> Option<bool> {
        match (f, value) {
            ("w", Value::Nil) => None,
            ("w", _) => Some(true),
            ("r", _) => Some(false),
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
    fn claim(&mut self, mops: &[Mop], claim: Claim) -> Result<(), String> {
        for mop in mops {
            let What::Write(version) = mop.what() else { continue };
            let flags = &mut self.versions.version[version.at()].flags;
            if claim.completes {
                flags.add(Flags::COMPLETED);
                if claim.is_alone {
                    flags.add(Flags::ALONE);
                }
            }
            if claim.may_retry && self.trusts_retries && flags.has(Flags::FAILED) && !flags.has(Flags::SEEN) {
                flags.add(Flags::RETRIED);
            }
        }
        Ok(())
    }

    fn is_completed(&self, mop: Mop) -> bool {
        matches!(mop.what(), What::Write(v) if self.versions.version[v.at()].flags.has(Flags::COMPLETED))
    }

    fn take_completion(&mut self, mop: Mop) -> bool {
        matches!(mop.what(), What::Write(v) if self.versions.version[v.at()].flags.take(Flags::ALONE))
    }

    /// No fault yet: a value that is written twice matters only if it is read.
    fn completed_by_another(&mut self, _: Mop) -> Option<String> {
        None
    }

    fn leave_out(&mut self, mop: Mop) {
        self.versions.key[mop.key.at()].left_out = true;
    }

    /// Removes omitted keys from the micro-ops and from the findings.
    fn settle(&mut self, txns: &mut Txns<Mop>) -> Option<Malformed> {
        for Retry { failed, shared, own } in &self.found.retries {
            let is_shared = |mop: Mop| matches!(mop.what(), What::Write(version) if version == *shared);
            txns.replace_mops_of(*failed, |mop| if is_shared(mop) { Mop::write(mop.key, *own) } else { mop });
        }
        let doubted: Vec<bool> = self.versions.key.iter().map(|key| key.left_out).collect();
        let malformed = self.part_repeated(txns);
        if !self.versions.key.iter().any(|key| key.left_out) {
            return malformed;
        }
        let versions = &self.versions;
        let is_left_out = |key: KeyId| versions.key[key.at()].left_out;
        let of = |version: VersionId| is_left_out(versions.version[version.at()].key);
        let Findings { touches, internal, updates, future_reads, .. } = &mut self.found;
        touches.retain(|touch| !is_left_out(touch.key));
        // A read that contradicts its own transaction's last read or write is wrong, whichever transaction wrote the
        // value.
        internal.retain(|(_, _, version)| !doubted[versions.version[version.at()].key.at()]);
        for (txn, _, _) in internal.iter().filter(|(_, _, version)| of(*version)) {
            txns.keep_recorded(*txn);
        }
        updates.retain(|(version, _)| !of(*version));
        future_reads.retain(|(txn, mop)| !is_left_out(txns.mops(*txn)[mop.to_usize()].key));
        txns.replace_mops(|mop| if is_left_out(mop.key) { Mop::unseen(mop.key) } else { mop });
        malformed
    }

    #[inline]
    fn enter(&mut self, txn: TxnId, kind: OpKind, mops: &[Mop]) {
        self.within.look(&mut self.versions, kind, txn, mops, &mut self.found);
    }

    fn doubted(&self, txns: &Txns<Mop>) -> Option<Doubted> {
        let is_doubtful = |id: VersionId| {
            let Version { key, writer, flags, .. } = self.versions.version[id.at()];
            let is_judged = !self.versions.key[key.at()].left_out;
            is_judged && flags.has(Flags::SEEN) && writer != TxnId::NONE && txns.is_possible(writer)
        };
        Doubted::of(&self.found.retries, txns, is_doubtful, |id| {
            let Version { key, code, writer, .. } = self.versions.version[id.at()];
            let [key, value] = [self.versions.key[key.at()].code, code].map(|code| self.interner.datum(code));
            (key.to_string(), value.to_string(), writer)
        })
    }

    fn known(self, txns: Txns<Mop>, writes_known: bool, budget: &Budget) -> (Registers, Expected) {
        let RwRegisterRun { expected, sources, interner, versions, found, is_share, .. } = self;
        #[cfg(feature = "exact")]
        let is_explained =
            writes_known && !is_share && is_explained(&versions, &txns, &found, &sources, &expected, budget);
        #[cfg(not(feature = "exact"))]
        let (is_explained, _) = (false, budget);
        let known = Known { has_all_writes: writes_known, is_share, is_explained };
        (Registers::new(interner, versions, txns, found, &sources, known), expected)
    }
}
