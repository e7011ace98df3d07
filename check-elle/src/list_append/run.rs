//! The workload: the meaning of its micro-ops.

use super::analysis::Lists;
use super::mop::{Mop, What};
use super::states::{ElemFlags, States};
use super::within::{Findings, Within};
use crate::ids::{ElemId, KeyId, TxnId};
use crate::txn::expected::Expected;
use crate::txn::fold::retries::{self, Claim, Doubted, Retry};
use crate::txn::fold::{Malformed, Workload};
use crate::txn::{Txns, mop};
use history_core::cast::Cast as _;
use history_core::{Budget, Interner, OpKind, Value};

/// The check of one history by the list-append checker.
#[derive(Clone)]
pub(crate) struct ListAppendRun {
    expected: Expected,
    interner: Interner,
    states: States,
    within: Within,
    found: Findings,
    codes: Vec<i64>,
    trusts_retries: bool,
    retries: Vec<Retry<ElemId>>,
}

impl ListAppendRun {
    pub(crate) fn new(expected: Expected) -> ListAppendRun {
        ListAppendRun {
            trusts_retries: retries::are_trusted(&expected),
            retries: Vec::new(),
            expected,
            interner: Interner::default(),
            states: States::default(),
            within: Within::default(),
            found: Findings::default(),
            codes: Vec::new(),
        }
    }

    /// A read of `value`; `None` if it is not a list.
    fn read(&mut self, kind: OpKind, key: KeyId, value: Value<'_>) -> Option<Mop> {
        let list = match value {
            Value::Nil => None,
            Value::Vector(list) | Value::List(list) => Some(list),
            _ => return None,
        };
        Some(match (kind, list) {
            // A failed or invoked read observed nothing, and a read that may have failed proves nothing.
            (OpKind::Invoke | OpKind::Fail | OpKind::Info, _) => Mop::unseen(key),
            // Many clients return nil for a list that does not exist.
            (OpKind::Ok, None) => Mop::read(key, self.states.state_id(key, &[])),
            (OpKind::Ok, Some(list)) => {
                let codes = self.interner.codes(list, &mut self.codes);
                Mop::read(key, self.states.state_id(key, codes))
            }
        })
    }

    #[cold]
    fn appended_again(&mut self, mop: Mop, elem: ElemId) -> String {
        self.leave_out(mop);
        let (key, value) = self.names(elem);
        format!("{value} is appended to key {key} a second time")
    }

    /// Returns true if an op appends an element that only a failed transaction appended before.
    #[inline]
    fn is_retry(&self, elem: ElemId, again: ElemFlags) -> bool {
        let flags = self.states.elem[elem.at()].flags;
        self.trusts_retries && flags.has(again) && flags.has(ElemFlags::FAILED) && !flags.has(ElemFlags::SEEN)
    }

    fn names(&self, elem: ElemId) -> (String, String) {
        let elem = self.states.elem[elem.at()];
        let key = self.states.key[elem.key.at()].code;
        (self.interner.datum(key).to_string(), self.interner.datum(elem.code).to_string())
    }
}

impl Workload for ListAppendRun {
    type Mop = Mop;
    type Known = Lists;

    const NAME: &'static str = "list-append";
    const MOPS: &'static str = "[:r key list] or [:append key value]";
    const IDS_MAX: usize = mop::IDS_MAX;

    #[inline]
    fn decode(&mut self, kind: OpKind, f: &[u8], key: Value<'_>, value: Value<'_>) -> Option<Mop> {
        let key_code = self.interner.code(key);
        let key = self.states.key_id(key_code);
        match f {
            b"append" => {
                let code = self.interner.code(value);
                Some(Mop::write(key, self.states.elem_id(key, code)))
            }
            b"r" => self.read(kind, key, value),
            _ => None,
        }
    }

    fn shape(f: &str, value: Value<'_>) -> Option<bool> {
        match (f, value) {
            ("append", _) => Some(true),
            ("r", Value::Nil | Value::Vector(_) | Value::List(_)) => Some(false),
            _ => None,
        }
    }

    fn ids(&self) -> usize {
        self.states.elem.len().max(self.states.state.len())
    }

    fn is_write(mop: Mop) -> bool {
        matches!(mop.what(), What::Write(_))
    }

    /// Rejects elements that were appended before: without unique elements there is no version order.
    fn claim(&mut self, mops: &[Mop], claim: Claim) -> Result<(), String> {
        let as_what = if claim.completes { ElemFlags::COMPLETED } else { ElemFlags::INVOKED };
        let mut claimed = Ok(());
        for mop in mops {
            let What::Write(id) = mop.what() else { continue };
            if claim.may_retry && self.is_retry(id, as_what) {
                let failed = self.states.elem[id.at()].writer;
                let own = self.states.part(id);
                self.retries.push(Retry { failed, shared: id, own });
            }
            let elem = &mut self.states.elem[id.at()];
            if elem.flags.has(as_what) {
                // Each such append omits its key, not only the first.
                let refused = self.appended_again(*mop, id);
                claimed = claimed.and(Err(refused));
                continue;
            }
            elem.flags.add(as_what);
            if claim.completes && claim.is_alone {
                elem.flags.add(ElemFlags::ALONE);
            }
        }
        claimed
    }

    fn is_completed(&self, mop: Mop) -> bool {
        matches!(mop.what(), What::Write(elem) if self.states.elem[elem.at()].flags.has(ElemFlags::COMPLETED))
    }

    fn take_completion(&mut self, mop: Mop) -> bool {
        matches!(mop.what(), What::Write(elem) if self.states.elem[elem.at()].flags.take(ElemFlags::ALONE))
    }

    fn completed_by_another(&mut self, mop: Mop) -> Option<String> {
        let What::Write(elem) = mop.what() else { return None };
        self.leave_out(mop);
        let (key, value) = self.names(elem);
        Some(format!("{value} is appended to key {key}, and a second time by a completion"))
    }

    fn leave_out(&mut self, mop: Mop) {
        self.states.key[mop.key.at()].left_out = true;
    }

    /// Removes omitted keys from the micro-ops and from the findings.
    fn settle(&mut self, txns: &mut Txns<Mop>) -> Option<Malformed> {
        for Retry { failed, shared, own } in &self.retries {
            let is_shared = |mop: Mop| matches!(mop.what(), What::Write(elem) if elem == *shared);
            txns.replace_mops_of(*failed, |mop| if is_shared(mop) { Mop::write(mop.key, *own) } else { mop });
        }
        let is_left_out = |key: KeyId| self.states.key[key.at()].left_out;
        if !self.states.key.iter().any(|key| key.left_out) {
            return None;
        }
        let states = &self.states;
        let Findings { internal, future_reads, updates } = &mut self.found;
        internal.retain(|case| !is_left_out(txns.mops(case.txn)[case.mop.to_usize()].key));
        future_reads.retain(|(_, _, elem)| !is_left_out(states.elem[elem.at()].key));
        updates.retain(|(state, _)| !is_left_out(states.state[state.at()].key));
        txns.replace_mops(|mop| if is_left_out(mop.key) { Mop::unseen(mop.key) } else { mop });
        for elem in &mut self.states.elem {
            if self.states.key[elem.key.at()].left_out {
                elem.writer = TxnId::NONE;
            }
        }
        None
    }

    /// Records the writes of a transaction, and examines its micro-ops together.
    #[inline]
    fn enter(&mut self, txn: TxnId, kind: OpKind, mops: &[Mop]) {
        for mop in mops {
            let What::Write(elem) = mop.what() else { continue };
            let elem = &mut self.states.elem[elem.at()];
            elem.writer = txn;
            if kind == OpKind::Fail {
                elem.flags.add(ElemFlags::FAILED);
            } else {
                self.states.key[mop.key.at()].appends += 1;
            }
        }
        self.within.look(&mut self.states, kind, txn, mops, &mut self.found);
    }

    fn doubted(&self, txns: &Txns<Mop>) -> Option<Doubted> {
        let is_doubtful = |id: ElemId| {
            let elem = &self.states.elem[id.at()];
            let is_judged = !self.states.key[elem.key.at()].left_out;
            is_judged && elem.flags.has(ElemFlags::SEEN) && self.states.is_written(id, txns)
        };
        Doubted::of(&self.retries, txns, is_doubtful, |id| {
            let (key, value) = self.names(id);
            (key, value, self.states.elem[id.at()].writer)
        })
    }

    fn known(self, txns: Txns<Mop>, writes_known: bool, _: &Budget) -> (Lists, Expected) {
        let ListAppendRun { expected, interner, states, found, .. } = self;
        (Lists::new(interner, states, txns, found, writes_known), expected)
    }
}
