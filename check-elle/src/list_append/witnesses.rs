//! Witnesses of the anomalies that are not cycles: for each case the transactions, the facts and a sentence.

use super::analysis::Lists;
use super::mop::{Mop, What};
use super::within::Internal;
use crate::anomaly::AnomalyType;
use crate::ids::{ElemId, StateId, TxnId};
use crate::txn::analysis::Analysis;
use crate::txn::explain::{SHOWN_TXNS_MAX, explain};
use crate::txn::report::first;
use history_core::cast::Cast as _;
use history_core::explain::with_more;
use history_core::{Datum, Witness};

impl Lists {
    /// The number of anomalies of a type, and witnesses of the first `max`.
    pub(super) fn witnesses(&self, anomaly: AnomalyType, max: usize) -> (u64, Vec<Witness>) {
        let (a, d) = (self, &self.direct);
        match anomaly {
            AnomalyType::G1A => first(max, &d.g1a, |(txn, mop, elem)| self.bad_read("failed", *txn, *mop, *elem)),
            AnomalyType::G1B => first(max, &d.g1b, |(txn, mop, elem)| {
                self.bad_read("appended to the key again later", *txn, *mop, *elem)
            }),
            AnomalyType::GARBAGE_READ => first(max, &d.garbage, |(txn, mop, elem)| {
                let mop = a.txns.mops(*txn)[mop.to_usize()];
                let facts = vec![("key", a.key(mop.key)), ("element", a.elem(*elem)), ("mop", a.mop(mop))];
                explain(a, &[*txn], facts, |ops| {
                    let (t, elem, key) = (&ops[0].name, a.elem(*elem), a.key(mop.key));
                    format!("{t} read {elem} in key {key}, which was never appended.")
                })
            }),
            AnomalyType::INTERNAL => first(max, &d.internal, |case| self.internal(case)),
            AnomalyType::FUTURE_READ => first(max, &d.future_reads, |(txn, mop, elem)| {
                let mop = a.txns.mops(*txn)[mop.to_usize()];
                let facts = vec![("key", a.key(mop.key)), ("mop", a.mop(mop)), ("element", a.elem(*elem))];
                explain(a, &[*txn], facts, |ops| {
                    let (t, elem, key) = (&ops[0].name, a.elem(*elem), a.key(mop.key));
                    format!("{t} read {elem} in key {key} before it appended {elem} itself.")
                })
            }),
            AnomalyType::DIRTY_UPDATE => first(max, &d.dirty_updates, |(key, range)| {
                let elems = &a.orders.of(*key)[range.start.to_usize()..range.end.to_usize()];
                let writers = [elems[0], elems[elems.len() - 1]].map(|elem| a.states.elem[elem.at()].writer);
                let facts = vec![("key", a.key(*key)), ("values", a.elems(elems))];
                explain(a, &writers, facts, |ops| {
                    let (first, last) = (a.elem(elems[0]), a.elem(elems[elems.len() - 1]));
                    let (t1, t2, key) = (&ops[0].name, &ops[1].name, a.key(*key));
                    format!(
                        "{t1} failed, but {t2}, which is ok, appended {last} to a list of key {key} that contains \
                         {t1}'s {first}."
                    )
                })
            }),
            AnomalyType::LOST_UPDATE => first(max, &d.lost_updates, |(state, txns)| {
                let key = a.key(a.states.state[state.at()].key);
                let count = txns.len();
                let txns = &txns[..count.min(SHOWN_TXNS_MAX)];
                let mut facts = vec![("key", key.clone()), ("value", a.list(*state))];
                if count > txns.len() {
                    facts.push(("txn-count", Datum::from(count.to_u64())));
                }
                explain(a, txns, facts, |ops| {
                    let names = with_more(ops.iter().map(|op| op.name.clone()).collect(), count);
                    format!("{} all read {} in key {key}, and then appended to it.", names.join(", "), a.list(*state))
                })
            }),
            AnomalyType::DUPLICATE_ELEMENTS => first(max, &d.duplicates, |(txn, mop)| self.duplicates(*txn, *mop)),
            AnomalyType::CYCLIC_VERSIONS => first(max, &d.reversed, |(txn, elems)| self.reversed(*txn, *elems)),
            AnomalyType::INCOMPATIBLE_ORDER => first(max, &d.incompatible, |(key, reads)| {
                let lists = reads.map(|(txn, mop)| a.read_list(txn, mop));
                let facts = vec![("key", a.key(*key)), ("values", Datum::Vector(lists.to_vec()))];
                explain(a, &reads.map(|(txn, _)| txn), facts, |ops| {
                    let (t1, t2, key) = (&ops[0].name, &ops[1].name, a.key(*key));
                    let [x, y] = &lists;
                    format!("{t1} read {x} in key {key}, and {t2} read {y}: neither is a prefix of the other.")
                })
            }),
            _ => (0, Vec::new()),
        }
    }

    fn bad_read(&self, what: &str, reader: TxnId, mop: u32, elem: ElemId) -> Witness {
        let a = self;
        let mop = a.txns.mops(reader)[mop.to_usize()];
        let writer = a.states.elem[elem.at()].writer;
        let facts = vec![("key", a.key(mop.key)), ("element", a.elem(elem)), ("mop", a.mop(mop))];
        explain(a, &[reader, writer], facts, |ops| {
            let (t1, t2, elem, key) = (&ops[0].name, &ops[1].name, a.elem(elem), a.key(mop.key));
            format!("{t1} read {elem} in key {key}, which {t2} appended, and {t2} {what}.")
        })
    }

    fn internal(&self, case: &Internal) -> Witness {
        let a = self;
        let mop = a.txns.mops(case.txn)[case.mop.to_usize()];
        let mut expected = match case.base {
            Some(base) => a.states.elems(base).into_iter().map(|elem| a.elem(elem)).collect(),
            None => vec![Datum::Symbol("...".into())],
        };
        expected.extend(case.tail.iter().map(|elem| a.elem(*elem)));
        let expected = Datum::Vector(expected);
        let facts = vec![("key", a.key(mop.key)), ("mop", a.mop(mop)), ("expected", expected.clone())];
        explain(a, &[case.txn], facts, |ops| {
            let (t, key, list) = (&ops[0].name, a.key(mop.key), a.read_list(case.txn, case.mop));
            format!("{t} read {list} in key {key}, but its own earlier reads and appends imply {expected}.")
        })
    }

    fn duplicates(&self, txn: TxnId, mop: u32) -> Witness {
        let a = self;
        let at = mop;
        let mop = a.txns.mops(txn)[at.to_usize()];
        let What::Read(state) = mop.what() else { return Witness::default() };
        let mut elems = a.states.elems(state);
        elems.sort_unstable();
        let twice = elems.chunk_by(|x, y| x == y).filter(|same| same.len() > 1);
        let twice: Vec<(Datum, Datum)> =
            twice.map(|same| (a.elem(same[0]), Datum::from(same.len().to_u64()))).collect();
        let names: Vec<String> = twice.iter().map(|(elem, count)| format!("{elem} {count} times")).collect();
        let facts = vec![("key", a.key(mop.key)), ("mop", a.mop(mop)), ("duplicates", Datum::Map(twice))];
        explain(a, &[txn], facts, |ops| {
            let (t, key) = (&ops[0].name, a.key(mop.key));
            format!("{t} read {} in key {key}, which contains {}.", a.read_list(txn, at), names.join(", "))
        })
    }

    /// Two appends of a transaction, and the first read that shows the later one without the earlier one before it.
    fn reversed(&self, writer: TxnId, [earlier, later]: [ElemId; 2]) -> Witness {
        let a = self;
        let key = a.states.elem[later.at()].key;
        // All reads agree up to this element.
        let place = a.states.trunk(key).iter().position(|state| a.states.state[state.at()].elem == later);
        let is_longer = |state: StateId| place.is_some_and(|at| a.states.state[state.at()].len.to_usize() > at);
        let shows = |mop: &Mop| mop.key == key && matches!(mop.what(), What::Read(state) if is_longer(state));
        let found = a.txns.ids().find_map(|txn| Some((txn, a.txns.mops(txn).iter().position(shows)?)));
        let Some((reader, at)) = found else { return Witness::default() };
        let (at, read) = (at.to_u32(), a.txns.mops(reader)[at]);
        let values = Datum::Vector(vec![a.elem(earlier), a.elem(later)]);
        let facts = vec![("key", a.key(key)), ("values", values), ("mop", a.mop(read))];
        let txns = [writer, reader];
        let txns = if writer == reader { &txns[..1] } else { &txns[..] };
        explain(a, txns, facts, |ops| {
            let (t1, t2, key) = (&ops[0].name, &ops[ops.len() - 1].name, a.key(key));
            let (earlier, later, list) = (a.elem(earlier), a.elem(later), a.read_list(reader, at));
            format!(
                "{t1} appended {earlier} and then {later} to key {key}, but {t2} read {list}, which has no {earlier} \
                 before {later}."
            )
        })
    }

    fn read_list(&self, txn: TxnId, mop: u32) -> Datum {
        let mop: Mop = self.txns.mops(txn)[mop.to_usize()];
        match mop.what() {
            What::Read(state) => self.list(state),
            What::Write(_) | What::Unseen => Datum::Nil,
        }
    }
}
