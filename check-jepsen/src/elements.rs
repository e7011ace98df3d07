//! Elements: every distinct value of a workload gets a small number, integers by an index, others by a table of texts.

use history_core::OpFault;
use history_core::cast::{Cast as _, low_u32};
use history_core::hash::hash_one;
use history_core::{Datum, History, Seq, Value};

/// Names below this are numbers of texts, counted from `i64::MIN`; the others are integers themselves.
const TEXTS_BELOW: i64 = -(1 << 62);

/// Stands for no element.
const NONE: u32 = u32::MAX;

history_core::id! {
    /// An element.
    pub(crate) ElemId
}

/// A place in a hash table. With its hash, growing looks at no element, and searching only at those that are likely.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    id: u32,
}

const VACANT: Slot = Slot { hash: 0, id: NONE };

/// Gives each value its id, in the order in which they come, and each id its value back.
///
/// Two values get one id exactly if they are equal as EDN has it: a list equals a vector of the same elements, and the
/// order in a set or map does not matter. Memory: about 12 bytes an integer if they are dense, 32 if not; 40 and its
/// text any other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elements {
    /// By id: an integer, or the number of a text.
    names: Vec<i64>,
    /// By integer: its id, where they are dense.
    dense: Vec<u32>,
    /// All others, by hash; its length is a power of two and at most half of it is in use.
    table: Vec<Slot>,
    in_table: usize,
    /// Texts one after another, and where each ends.
    texts: String,
    ends: Vec<usize>,
    scratch: String,
}

impl Elements {
    /// How many there are; ids are below this.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The id of a value. O(1) for integers, O(size) for others.
    #[inline]
    pub(crate) fn id(&mut self, value: Value<'_>) -> Result<ElemId, OpFault> {
        match value {
            Value::Int(int) => self.int(int),
            _ => self.other(value),
        }
    }

    /// The ids of the values of a sequence, one after another.
    pub(crate) fn each(
        &mut self,
        seq: Seq<'_>,
        mut look: impl FnMut(ElemId) -> Result<(), OpFault>,
    ) -> Result<(), OpFault> {
        match seq.as_ints() {
            Some(ints) => ints.iter().try_for_each(|int| look(self.int(*int)?)),
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
        match usize::try_from(int).ok().and_then(|at| self.dense.get(at)) {
            Some(id) if *id != NONE => Ok(ElemId::from(*id)),
            _ => self.rare_int(int),
        }
    }

    fn rare_int(&mut self, int: i64) -> Result<ElemId, OpFault> {
        if int < TEXTS_BELOW {
            return self.other(Value::Int(int));
        }
        let hash = hash_int(int);
        if let Some(id) = self.find(hash, |name| name == int) {
            // It came up when there were few.
            self.index(int, id);
            return Ok(id);
        }
        let id = self.push(int)?;
        if !self.index(int, id) {
            self.insert(hash, id);
        }
        Ok(id)
    }

    /// Notes the id of an integer that can be an index: as one it may waste no more than a small multiple of what is
    /// used.
    fn index(&mut self, int: i64, id: ElemId) -> bool {
        let dense_max = 64 + 4 * self.names.len();
        let Some(at) = usize::try_from(int).ok().filter(|at| *at < dense_max) else { return false };
        if at >= self.dense.len() {
            self.dense.resize((at + 1).next_power_of_two().max(32), NONE);
        }
        self.dense[at] = id.number();
        true
    }

    fn other(&mut self, value: Value<'_>) -> Result<ElemId, OpFault> {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        value.write_canonical(&mut text);
        let found = self.text_id(&text);
        self.scratch = text;
        found
    }

    fn text_id(&mut self, text: &str) -> Result<ElemId, OpFault> {
        let hash = hash_text(text);
        if let Some(id) = self.find(hash, |name| name < TEXTS_BELOW && self.text(name) == text) {
            return Ok(id);
        }
        let id = self.push(i64::MIN.wrapping_add_unsigned(self.ends.len().to_u64()))?;
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        self.insert(hash, id);
        Ok(id)
    }

    /// The value of an id.
    pub(crate) fn datum(&self, id: ElemId) -> Datum {
        let name = self.names[id.at()];
        if name >= TEXTS_BELOW {
            return Datum::Int(name);
        }
        let text = self.text(name);
        // Written from a value, so it can be read as one.
        let read = History::parse(&format!("{{:type :ok, :value {text}}}"));
        read.map_or_else(|_| Datum::Symbol(text.into()), |history| history.op(0).value.to_datum())
    }

    /// Whether an id is that of nil.
    pub(crate) fn is_nil(&self, id: ElemId) -> bool {
        let name = self.names[id.at()];
        name < TEXTS_BELOW && self.text(name) == "nil"
    }

    /// The integer of an id, if it is one.
    pub(crate) fn as_int(&self, id: ElemId) -> Option<i64> {
        let name = self.names[id.at()];
        (name >= TEXTS_BELOW).then_some(name)
    }

    fn text(&self, name: i64) -> &str {
        let at = name.abs_diff(i64::MIN).to_usize();
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.texts[start..self.ends[at]]
    }

    fn push(&mut self, name: i64) -> Result<ElemId, OpFault> {
        let id = u32::try_from(self.names.len()).unwrap_or(NONE);
        if id == NONE {
            return Err(OpFault::limit("more than 2^32 - 2 different elements"));
        }
        self.names.push(name);
        Ok(ElemId::from(id))
    }

    fn find(&self, hash: u32, is: impl Fn(i64) -> bool) -> Option<ElemId> {
        let mask = self.table.len().checked_sub(1)?;
        let mut at = hash.to_usize() & mask;
        while self.table[at].id != NONE {
            let slot = self.table[at];
            let id = ElemId::from(slot.id);
            if slot.hash == hash && is(self.names[id.at()]) {
                return Some(id);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn insert(&mut self, hash: u32, id: ElemId) {
        if 2 * (self.in_table + 1) > self.table.len() {
            let old = std::mem::take(&mut self.table);
            self.table = vec![VACANT; (2 * old.len()).max(64)];
            old.into_iter().filter(|slot| slot.id != NONE).for_each(|slot| self.place(slot));
        }
        self.place(Slot { hash, id: id.number() });
        self.in_table += 1;
    }

    fn place(&mut self, slot: Slot) {
        let mask = self.table.len() - 1;
        let mut at = slot.hash.to_usize() & mask;
        while self.table[at].id != NONE {
            at = (at + 1) & mask;
        }
        self.table[at] = slot;
    }
}

fn hash_int(int: i64) -> u32 {
    low_u32(hash_one(&int))
}

fn hash_text(text: &str) -> u32 {
    low_u32(hash_one(text))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn values_of_one_hash_are_told_apart() {
        let texts = || (0..500_000).map(|number| format!("element {number}"));
        let hashes: std::collections::BTreeSet<u32> = texts().map(|text| hash_text(&format!("{text:?}"))).collect();
        assert!(hashes.len() < 500_000, "no two texts have one hash, so this shows nothing");
        let mut elements = Elements::default();
        for text in texts().chain(texts()) {
            elements.id(Value::Str(&text)).unwrap();
        }
        assert_eq!(elements.len(), 500_000);
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
