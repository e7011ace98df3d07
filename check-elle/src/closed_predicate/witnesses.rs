//! Witnesses of the anomalies that are not cycles: for each case the transactions, the facts and a sentence.

use super::analysis::Universe;
use super::reads::{Look, Seen, Version};
use crate::anomaly::AnomalyType;
use crate::ids::{KeyId, TxnId};
use crate::txn::analysis::Analysis;
use crate::txn::explain::{SHOWN_TXNS_MAX, explain};
use crate::txn::report::first;
use history_core::cast::Cast as _;
use history_core::explain::with_more;
use history_core::{Datum, Interner, Witness};

impl Universe {
    /// The number of anomalies of a type, and witnesses of the first `max`.
    pub(super) fn witnesses(&self, anomaly: AnomalyType, max: usize) -> (u64, Vec<Witness>) {
        let found = &self.inferred;
        match anomaly {
            AnomalyType::INTERNAL => first(max, &found.internal, |(look, expected)| self.internal(*look, *expected)),
            AnomalyType::G1A => first(max, &found.aborted, |(look, at)| self.bad_read(*look, *at, "failed")),
            AnomalyType::G1B => first(max, &found.intermediate, |(look, at)| self.bad_read(*look, *at, "overwrote it")),
            AnomalyType::FUTURE_READ => first(max, &found.future, |look| {
                self.alone(*look, |key, value| format!("read {value} in key {key} before it wrote {value} itself."))
            }),
            AnomalyType::GARBAGE_READ => first(max, &found.garbage, |look| {
                self.alone(*look, |key, value| format!("read {value} in key {key}, which was never written."))
            }),
            AnomalyType::PREDICATE_MISMATCH => first(max, &found.mismatches, |look| {
                self.alone(*look, |key, value| {
                    format!("performed a predicate read that showed {value} in key {key}, which does not match.")
                })
            }),
            AnomalyType::INIT_READ_MISS => first(max, &found.early, |look| self.early(*look)),
            AnomalyType::PREDICATE_READ_MISS => first(max, &found.misses, |look| self.miss(*look)),
            AnomalyType::LOST_UPDATE => {
                first(max, &found.lost_updates, |((key, version), txns)| self.lost_update(*key, *version, txns))
            }
            _ => (0, Vec::new()),
        }
    }

    /// The micro-op of a read.
    fn mop_of(&self, look: Look) -> Datum {
        self.mop(self.txns.mops(look.txn)[look.mop.to_usize()])
    }

    /// The result of a read, as a value.
    fn shown(&self, look: Look) -> Datum {
        match look.seen {
            Seen::Item(code) | Seen::Shown(code) => self.value(code),
            Seen::Hidden(_) => Datum::Nil,
        }
    }

    /// A witness with one transaction and one read.
    fn alone(&self, look: Look, sentence: impl FnOnce(&Datum, &Datum) -> String) -> Witness {
        let (key, value) = (self.key(look.key), self.shown(look));
        let facts = vec![("key", key.clone()), ("element", value.clone()), ("mop", self.mop_of(look))];
        explain(self, &[look.txn], facts, |ops| format!("{} {}", ops[0].name, sentence(&key, &value)))
    }

    fn early(&self, look: Look) -> Witness {
        let (key, versions) = (self.key(look.key), self.keys.of(look.key));
        let facts = vec![("key", key.clone()), ("mop", self.mop_of(look))];
        let Some(base) = &versions.base else { return Witness::default() };
        explain(self, &[look.txn, base.txn], facts, |ops| {
            let (t1, t2, value) = (&ops[0].name, &ops[1].name, self.value(base.code));
            format!("{t1} read nothing in key {key}, which {t2} had created as {value} and no transaction deletes.")
        })
    }

    fn bad_read(&self, look: Look, at: u32, what: &str) -> Witness {
        let writer = self.keys.of(look.key).mutations[at.to_usize()].txn;
        let (key, value) = (self.key(look.key), self.shown(look));
        let facts = vec![("key", key.clone()), ("element", value.clone()), ("mop", self.mop_of(look))];
        explain(self, &[look.txn, writer], facts, |ops| {
            let (t1, t2) = (&ops[0].name, &ops[1].name);
            format!("{t1} read {value} in key {key}, which {t2} wrote, and {t2} {what}.")
        })
    }

    fn internal(&self, look: Look, expected: i64) -> Witness {
        let (key, mop, value) = (self.key(look.key), self.mop_of(look), self.value(expected));
        let facts = vec![("key", key.clone()), ("mop", mop.clone()), ("expected", value.clone())];
        explain(self, &[look.txn], facts, |ops| {
            let state = if expected == Interner::NIL { "absent".to_owned() } else { value.to_string() };
            format!(
                "{}'s own earlier reads and writes imply that key {key} is {state}, and {mop} contradicts that.",
                ops[0].name
            )
        })
    }

    fn miss(&self, look: Look) -> Witness {
        let (key, mop) = (self.key(look.key), self.mop_of(look));
        let versions = self.keys.of(look.key);
        let others = versions.external().filter(|mutation| mutation.txn != look.txn);
        let codes = std::iter::once(versions.base_code()).chain(others.map(|mutation| mutation.code));
        let all = Datum::Vector(codes.take(SHOWN_TXNS_MAX).map(|code| self.value(code)).collect());
        let facts = vec![("key", key.clone()), ("mop", mop.clone()), ("versions", all.clone())];
        explain(self, &[look.txn], facts, |ops| {
            format!(
                "{} performed the predicate read {mop}, which omits key {key}, although all versions it may have seen match: {all}.",
                ops[0].name
            )
        })
    }

    fn lost_update(&self, key: KeyId, version: Version, txns: &[TxnId]) -> Witness {
        let code = match version {
            Version::Before => Interner::NIL,
            Version::Base => self.keys.of(key).base_code(),
            Version::Mutation(at) => self.keys.of(key).mutations[at.to_usize()].code,
        };
        let (key, value, count) = (self.key(key), self.value(code), txns.len());
        let txns = &txns[..count.min(SHOWN_TXNS_MAX)];
        let mut facts = vec![("key", key.clone()), ("value", value.clone())];
        if count > txns.len() {
            facts.push(("txn-count", Datum::from(count.to_u64())));
        }
        explain(self, txns, facts, |ops| {
            let names = with_more(ops.iter().map(|op| op.name.clone()).collect(), count);
            format!("{} all read {value} in key {key}, and then mutated it.", names.join(", "))
        })
    }
}
