//! Elements: every distinct value of a workload gets a small number.

use history_core::OpFault;
use history_core::cast::Cast as _;
use history_core::{Datum, IntMap, Interner, Seq, Value};

history_core::id! {
    /// An element.
    pub(crate) ElemId
}

/// Assigns ids to values, in order of first occurrence, and returns the value of each id. Values are equal as in
/// [`Interner`]. Memory: about 24 bytes per integer; any other value also has its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elements {
    interner: Interner,
    /// The code of each id.
    codes: Vec<i64>,
    /// The ids of integers and nil, by code.
    ids: IntMap<ElemId>,
    /// All other ids, by [`Interner::place`].
    named: Vec<ElemId>,
}

impl Elements {
    /// The number of elements; ids are below it.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The id of a value. O(1) for integers, O(size) for others.
    #[inline]
    pub(crate) fn id(&mut self, value: Value<'_>) -> Result<ElemId, OpFault> {
        let code = self.interner.code(value);
        self.coded(code)
    }

    /// Calls `look` with the id of each value of a sequence.
    pub(crate) fn each(
        &mut self,
        seq: Seq<'_>,
        mut look: impl FnMut(ElemId) -> Result<(), OpFault>,
    ) -> Result<(), OpFault> {
        match seq.as_ints() {
            Some(ints) => ints.iter().try_for_each(|int| look(self.coded(*int)?)),
            None => seq.iter().try_for_each(|value| look(self.id(value)?)),
        }
    }

    /// Some of a collection's elements, for a report: `[0 1 2 ...]`.
    pub(crate) fn glimpse(&self, ids: impl ExactSizeIterator<Item = ElemId>) -> Datum {
        const SHOWN_MAX: usize = 32;
        let more = ids.len() > SHOWN_MAX;
        let shown = ids.take(SHOWN_MAX).map(|id| self.datum(id));
        Datum::Vector(shown.chain(more.then(|| Datum::Symbol("...".into()))).collect())
    }

    /// The id of an integer.
    #[inline]
    pub(crate) fn int(&mut self, int: i64) -> Result<ElemId, OpFault> {
        self.id(Value::Int(int))
    }

    /// The id of a code. An integer in a slice is its own code.
    #[inline]
    fn coded(&mut self, code: i64) -> Result<ElemId, OpFault> {
        let known = match Interner::place(code) {
            Some(at) => self.named.get(at),
            None => self.ids.get(code),
        };
        known.copied().map_or_else(|| self.push(code), Ok)
    }

    fn push(&mut self, code: i64) -> Result<ElemId, OpFault> {
        if self.codes.len().to_u64() >= u64::from(u32::MAX) {
            return Err(OpFault::limit("more than 2^32 - 2 different elements"));
        }
        let id = ElemId::new(self.codes.len());
        self.codes.push(code);
        match Interner::place(code) {
            // Each new code is looked up immediately, so it has the next place.
            Some(at) => {
                debug_assert_eq!(at, self.named.len());
                self.named.push(id);
            }
            None => _ = self.ids.insert(code, id),
        }
        Ok(id)
    }

    /// The value of an id.
    pub(crate) fn datum(&self, id: ElemId) -> Datum {
        self.interner.datum(self.codes[id.at()])
    }

    /// Returns true if an id is that of nil.
    pub(crate) fn is_nil(&self, id: ElemId) -> bool {
        self.codes[id.at()] == Interner::NIL
    }

    /// The integer of an id, if it is one of those that a slice may have.
    pub(crate) fn as_int(&self, id: ElemId) -> Option<i64> {
        let code = self.codes[id.at()];
        (code > Interner::NIL).then_some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::History;

    fn ids(elements: &mut Elements, values: &str) -> Vec<ElemId> {
        let history = History::parse(&format!("{{:type :ok, :value [:x {values}]}}")).unwrap();
        let list = history.op(0).value.as_seq().unwrap();
        list.iter().skip(1).map(|value| elements.id(value).unwrap()).collect()
    }

    #[test]
    fn equal_values_share_an_id_and_others_do_not() {
        let mut elements = Elements::default();
        let values = r#":a "a" a :a [1 2] (1 2) #{1 :b} #{:b 1} {:a 1 :b 2} {:b 2 :a 1} 1.0 1 nil -9223372036854775808
            123456789012345678901234567890 [0 0] [0 [0]] \a #inst "2020-01-01" "a\"b" "a\\b" "é" "a\nb""#;
        let got = ids(&mut elements, values);
        for (a, b) in [(0, 3), (4, 5), (6, 7), (8, 9)] {
            assert_eq!(got[a], got[b]);
        }
        assert_eq!(elements.len(), got.len() - 4);
        assert_eq!(ids(&mut elements, values), got);
        let shown: Vec<String> = got.iter().map(|id| elements.datum(*id).to_string()).collect();
        assert_eq!(shown[..6], [":a", "\"a\"", "a", ":a", "[1 2]", "[1 2]"]);
        assert_eq!(shown[11..15], ["1", "nil", "-9223372036854775808", "123456789012345678901234567890N"]);
        assert_eq!(elements.as_int(got[11]), Some(1));
        assert_eq!(elements.as_int(got[12]), None);
    }

    #[test]
    fn integers_keep_their_ids_wherever_they_are_kept() {
        let mut elements = Elements::default();
        let ints: Vec<i64> =
            (0..2_000).map(|i| i * i - 50).chain((0..3_000).rev()).chain([i64::MIN, i64::MAX]).collect();
        let first: Vec<ElemId> = ints.iter().map(|int| elements.int(*int).unwrap()).collect();
        for (int, id) in ints.iter().zip(&first) {
            assert_eq!(elements.int(*int).unwrap(), *id);
            assert_eq!(elements.datum(*id), Datum::Int(*int));
        }
        let distinct: std::collections::BTreeSet<i64> = ints.into_iter().collect();
        assert_eq!(elements.len(), distinct.len());
    }
}
