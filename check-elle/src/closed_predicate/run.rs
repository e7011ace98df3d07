//! The workload: the meaning of its micro-ops.

use super::analysis::Universe;
use super::keys::Keys;
use super::mop::{How, Mop, Selects};
use super::predicate::Predicate;
use crate::ids::{KeyId, TxnId};
use crate::txn::expected::Expected;
use crate::txn::fold::retries::Claim;
use crate::txn::fold::{Malformed, Workload};
use crate::txn::{Txns, mop};
use history_core::hash::HashSet;
use history_core::{Budget, Interner, KeySpelling, Op, OpKind, Value, map_key};

/// A run of the closed-predicate checker on one history.
pub(crate) struct PredicateRun {
    expected: Expected,
    interner: Interner,
    keys: Keys,
    selects: Selects,
    /// Keys and codes of mutations in completions whose invocations are unknown.
    alone: HashSet<(KeyId, i64)>,
    shown: Vec<(KeyId, i64)>,
}

impl PredicateRun {
    pub(crate) fn new(expected: Expected) -> PredicateRun {
        PredicateRun {
            expected,
            interner: Interner::default(),
            keys: Keys::default(),
            selects: Selects::default(),
            alone: HashSet::default(),
            shown: Vec::new(),
        }
    }

    /// The key of a micro-op.
    fn key(&mut self, key: Value<'_>) -> KeyId {
        self.spelled_key(key, KeySpelling::see)
    }

    /// The key of a map.
    fn map_key(&mut self, key: Value<'_>) -> KeyId {
        self.spelled_key(key, KeySpelling::see_in_map)
    }

    fn spelled_key(&mut self, key: Value<'_>, see: impl FnOnce(&mut KeySpelling, Value<'_>)) -> KeyId {
        let code = self.interner.code(map_key(key));
        let id = self.keys.id(code);
        see(&mut self.keys.keys[id.at()].spelling, key);
        id
    }

    /// A predicate read. An `ok` one has a result: a map, or pairs of keys and values.
    fn select(&mut self, kind: OpKind, predicate: Value<'_>, result: Value<'_>) -> Option<Mop> {
        let predicate = Predicate::parse(predicate, &mut self.interner)?;
        // Reads of ops that are not `ok` are not reliable.
        if kind != OpKind::Ok {
            return Some(self.selects.push(predicate, None));
        }
        let mut shown = std::mem::take(&mut self.shown);
        shown.clear();
        let is_read = match result {
            Value::Map(entries) => entries.iter().all(|(key, value)| {
                shown.push((self.map_key(key), self.interner.code(value)));
                !value.is_nil()
            }),
            Value::Vector(pairs) | Value::List(pairs) => pairs.iter().all(|pair| {
                let Some((key, value)) = pair.as_pair() else { return false };
                shown.push((self.key(key), self.interner.code(value)));
                !value.is_nil()
            }),
            _ => false,
        };
        shown.sort_unstable();
        let is_distinct = shown.windows(2).all(|pair| pair[0].0 != pair[1].0);
        let mop = (is_read && is_distinct).then(|| self.selects.push(predicate, Some(&shown)));
        self.shown = shown;
        mop
    }

    /// Excludes mutated keys that may be two keys, and returns the first mutation of one.
    fn leave_out_ambiguous(&mut self, txns: &Txns<Mop>) -> Option<Malformed> {
        let mut malformed = None;
        for key in self.keys.keys.iter_mut().filter(|key| key.spelling.is_ambiguous()) {
            // If neither of both is ever written, it does not matter which one a read is about.
            let Some(mutation) = key.base.iter().chain(&key.mutations).next() else { continue };
            key.left_out = true;
            malformed.get_or_insert_with(|| Malformed {
                index: txns.index(mutation.txn),
                line: None,
                reason: format!(
                    "the history writes the key {} both as an integer and as a string, so whether it is one key is \
                     unknown",
                    self.interner.datum(key.code)
                ),
            });
        }
        malformed
    }

    /// The transaction that created the universe: the first one, if it did nothing else, is `ok`, and completed before
    /// any other was invoked.
    fn creator(txns: &Txns<Mop>) -> Option<TxnId> {
        let is_init = |mop: &Mop| matches!(mop, Mop::Mutate { how: How::Init, .. });
        let creates =
            |txn: &TxnId| txns.is_ok(*txn) && !txns.mops(*txn).is_empty() && txns.mops(*txn).iter().all(is_init);
        let creator = txns.ids().find(creates)?;
        let is_later = |txn: TxnId| txns.invoked(txn).is_some_and(|invoked| invoked > txns.index(creator));
        // A failed transaction has no effect.
        let others = txns.ids().filter(|txn| *txn != creator && txns.is_possible(*txn));
        others.into_iter().all(is_later).then_some(creator)
    }
}

impl Workload for PredicateRun {
    type Mop = Mop;
    type Known = Universe;

    const NAME: &'static str = "closed-predicate";
    const MOPS: &'static str = "[:r key value], [:rp predicate {key value}], [:insert key value], [:w key value] or \
        [:delete key], with the predicate :true, [:= value] or [:mod modulus remainder]";
    const READS: &'static [&'static str] = &["r", "rp"];
    const IDS_MAX: usize = mop::IDS_MAX;

    fn decode(&mut self, kind: OpKind, f: &[u8], key: Value<'_>, value: Value<'_>) -> Option<Mop> {
        if f == b"rp" {
            return self.select(kind, key, value);
        }
        let how = match f {
            b"insert" => How::Insert,
            b"w" => How::Write,
            b"delete" => How::Delete,
            b"r" => {
                let key = self.key(key);
                let code = self.interner.code(value);
                return Some(if kind == OpKind::Ok { Mop::Read { key, code } } else { Mop::Unseen { key } });
            }
            _ => return None,
        };
        // A deletion has no value, and every other mutation has one.
        if value.is_nil() != (how == How::Delete) {
            return None;
        }
        Some(Mop::Mutate { key: self.key(key), code: self.interner.code(value), how })
    }

    /// A deletion has no value. The read of an `ok` op has a result, which is nil if the key is absent.
    fn may_lack_value(kind: OpKind, f: &[u8]) -> bool {
        kind != OpKind::Ok || f == b"delete"
    }

    /// Decodes the op that creates the universe: a map with the first value of each key.
    fn decode_whole(&mut self, op: &Op<'_>, mops: &mut Vec<Mop>) -> Option<Result<(), String>> {
        let (Some("init"), Value::Map(entries)) = (op.f, op.value) else { return None };
        for (key, value) in entries {
            if value.is_nil() {
                return Some(Err(format!("key {key} begins with nil; expected a value, or no such key")));
            }
            mops.push(Mop::Mutate { key: self.map_key(key), code: self.interner.code(value), how: How::Init });
        }
        // The order in a map does not matter.
        mops.sort_unstable_by_key(|mop| mop.key());
        Some(Ok(()))
    }

    fn ids(&self) -> usize {
        self.keys.keys.len().max(self.selects.len())
    }

    fn is_write(mop: Mop) -> bool {
        matches!(mop, Mop::Mutate { .. })
    }

    fn claim(&mut self, mops: &[Mop], claim: Claim) -> Result<(), String> {
        for mop in mops.iter().filter(|_| claim.completes && claim.is_alone) {
            if let Mop::Mutate { key, code, .. } = mop {
                self.alone.insert((*key, *code));
            }
        }
        Ok(())
    }

    /// Always false: values may be written twice, so a completion with the same value need not be that of the write.
    fn is_completed(&self, _: Mop) -> bool {
        false
    }

    fn take_completion(&mut self, mop: Mop) -> bool {
        matches!(mop, Mop::Mutate { key, code, .. } if self.alone.remove(&(key, code)))
    }

    /// Values may be written twice, so this is not a fault.
    fn completed_by_another(&mut self, _: Mop) -> Option<String> {
        None
    }

    fn leave_out(&mut self, mop: Mop) {
        if let Some(key) = mop.key() {
            self.keys.keys[key.at()].left_out = true;
        }
    }

    fn enter(&mut self, txn: TxnId, kind: OpKind, mops: &[Mop]) {
        for (at, mop) in mops.iter().enumerate() {
            if let Mop::Mutate { key, code, .. } = mop {
                self.keys.mutate(*key, (txn, at), *code, kind == OpKind::Fail);
            }
        }
    }

    /// Excludes keys with a content for which a predicate is not defined.
    fn settle(&mut self, txns: &mut Txns<Mop>) -> Option<Malformed> {
        if let Some(creator) = Self::creator(txns) {
            self.keys.found_universe(creator);
        }
        let mut malformed = self.leave_out_ambiguous(txns);
        if !self.selects.take_integers() {
            return malformed;
        }
        for key in &mut self.keys.keys {
            // Values other than small integers have codes below that of nil.
            let strange = key.base.iter().chain(&key.mutations).find(|mutation| mutation.code < Interner::NIL);
            let Some(mutation) = strange else { continue };
            key.left_out = true;
            malformed.get_or_insert_with(|| Malformed {
                index: txns.index(mutation.txn),
                line: None,
                reason: format!(
                    "key {} holds {}, and whether that matches a predicate [:mod ...] is unknown: expected an integer of less than 62 bits",
                    self.interner.datum(key.code),
                    self.interner.datum(mutation.code)
                ),
            });
        }
        malformed
    }

    fn known(self, txns: Txns<Mop>, writes_known: bool, budget: &Budget) -> (Universe, Expected) {
        let PredicateRun { expected, interner, keys, selects, .. } = self;
        (Universe::new(interner, keys, selects, txns, writes_known, budget), expected)
    }
}
