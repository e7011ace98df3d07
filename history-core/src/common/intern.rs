//! Codes: every value of a history as an `i64`, so that lists can be compared as slices of integers.

use crate::cast::Cast as _;
use crate::hash::RandomState;
use crate::state::{Damaged, In, Out, State};
use crate::{Datum, Seq, Value};
use hashbrown::HashTable;
use std::hash::BuildHasher as _;

/// Codes below this represent values other than small integers; the rest are the integers themselves. Readers give
/// integers as slices only below 2^62 in magnitude, so such a slice is already a slice of codes.
const NAMED_BELOW: i64 = -(1 << 62);

/// Assigns a code, a number, to each value, and returns the value of each code.
///
/// Two values have the same code if and only if they are equal in EDN: a list equals a vector of the same elements, and
/// the order in a set or map does not matter. A small integer is its own code.
///
/// ```
/// use history_core::{Datum, History, Interner};
///
/// let history = History::parse(
///     "{:process 0, :type :ok, :f :write, :value 3}
///      {:process 1, :type :ok, :f :write, :value :x}",
/// )?;
/// let mut interner = Interner::default();
/// assert_eq!(interner.code(history.op(0).value), 3);
/// let code = interner.code(history.op(1).value);
/// assert_eq!(interner.datum(code), Datum::keyword("x"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interner {
    /// The texts of named values, concatenated in the order of their codes, which begin with the least `i64`: for a
    /// string, a quotation mark and the string itself; for any other value, its normal form.
    texts: String,
    /// The end of each text in `texts`.
    ends: Vec<usize>,
    /// The values that are not strings, each after its place, as they first occurred.
    others: Vec<(usize, Datum)>,
    /// The places of texts, by their hashes.
    places: HashTable<Place>,
    hasher: RandomState,
    /// A buffer, reused for each value.
    text: String,
}

/// The position of a text, and half of its hash. With the hash, a table that grows need not read the texts again.
#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u32,
    /// The position. 2^32 texts, with the data kept for each, do not fit in the memory of any machine.
    at: u32,
}

impl Place {
    /// Copies the hash to both halves: a table chooses buckets by the lower bits, and compares the upper bits.
    fn spread(hash: u32) -> u64 {
        u64::from(hash) << 32 | u64::from(hash)
    }
}

/// A text without the quotation mark that marks strings, and whether it is a string.
fn key_of(text: &str) -> (bool, &str) {
    text.strip_prefix('"').map_or((false, text), |string| (true, string))
}

impl Interner {
    /// The code of nil.
    pub const NIL: i64 = NAMED_BELOW - 1;

    /// The code of a value. O(1) for small integers, O(size) for others.
    #[inline]
    pub fn code(&mut self, value: Value<'_>) -> i64 {
        match value {
            Value::Int(i) if i >= NAMED_BELOW => i,
            Value::Nil => Interner::NIL,
            _ => self.name(value),
        }
    }

    fn name(&mut self, value: Value<'_>) -> i64 {
        let mut text = std::mem::take(&mut self.text);
        let key = if let Value::Str(string) = value {
            (true, string)
        } else {
            text.clear();
            value.write_canonical(&mut text);
            (false, text.as_str())
        };
        // Takes the upper half of the hash.
        let hash = (self.hasher.hash_one(key) >> 32).to_u32();
        let is_it = |place: &Place| place.hash == hash && key_of(self.text_at(place.at.to_usize())) == key;
        let known = self.places.find(Place::spread(hash), is_it).map(|place| place.at.to_usize());
        let at = known.unwrap_or_else(|| self.add(hash, key, value));
        self.text = text;
        i64::MIN.wrapping_add_unsigned(at.to_u64())
    }

    /// Stores a value that has no code yet, and returns its place.
    #[cold]
    fn add(&mut self, hash: u32, (is_string, text): (bool, &str), value: Value<'_>) -> usize {
        let at = self.ends.len();
        if is_string {
            self.texts.push('"');
        } else {
            self.others.push((at, value.to_datum()));
        }
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        let place = Place { hash, at: at.to_u32() };
        self.places.insert_unique(Place::spread(hash), place, |place| Place::spread(place.hash));
        at
    }

    fn text_at(&self, at: usize) -> &str {
        &self.texts[at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]]
    }

    /// The value of a code.
    ///
    /// # Panics
    ///
    /// If this interner did not give the code.
    pub fn datum(&self, code: i64) -> Datum {
        match code {
            NAMED_BELOW.. => Datum::Int(code),
            Interner::NIL => Datum::Nil,
            _ => {
                let at = code.abs_diff(i64::MIN).to_usize();
                match self.others.binary_search_by_key(&at, |(place, _)| *place) {
                    Ok(found) => self.others[found].1.clone(),
                    Err(_) => Datum::Str(key_of(self.text_at(at)).1.to_owned()),
                }
            }
        }
    }

    /// The number of values whose code is not the value itself: those that the interner stores.
    pub fn names(&self) -> usize {
        self.ends.len()
    }

    /// The place of a named value among these, in order of first occurrence; `None` for a code that is the value
    /// itself, and for nil.
    #[inline]
    pub fn place(code: i64) -> Option<usize> {
        (code < Interner::NIL).then(|| code.abs_diff(i64::MIN).to_usize())
    }

    /// The codes of a list's elements: the list itself if it contains only integers, else a list in `scratch`.
    #[inline]
    pub fn codes<'a>(&mut self, list: Seq<'a>, scratch: &'a mut Vec<i64>) -> &'a [i64] {
        if let Some(ints) = list.as_ints() {
            return ints;
        }
        scratch.clear();
        scratch.extend(list.iter().map(|value| self.code(value)));
        scratch
    }
}

impl State for Interner {
    fn save(&self, out: &mut Out) {
        self.names().save(out);
        (0..self.names().to_u64()).for_each(|at| self.datum(i64::MIN.wrapping_add_unsigned(at)).save(out));
    }

    fn load(from: &mut In<'_>) -> Result<Interner, Damaged> {
        let mut interner = Interner::default();
        for value in Vec::<Datum>::load(from)? {
            let names = interner.names();
            // Values that had a code when the state was saved get the same code, because they are loaded in the same
            // order.
            value.with_value(|value| interner.name(value)).map_err(|_| Damaged)?;
            if interner.names() == names {
                return Err(Damaged);
            }
        }
        Ok(interner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::History;

    #[test]
    fn codes_stay_the_same_when_the_interner_is_saved_and_loaded() {
        let text = "{:type :ok, :value [:x \"x\" [1 (2)] #{:b 1 :a} {:k 1} 1.5 -0.0 -4611686018427387905 99999999999999999999N \\a nil 7]}";
        let history = History::parse(text).unwrap();
        let mut interner = Interner::default();
        let values: Vec<Value<'_>> = history.op(0).value.as_seq().unwrap().iter().collect();
        let codes: Vec<i64> = values.iter().map(|value| interner.code(*value)).collect();
        let mut out = Out::new(usize::MAX);
        interner.save(&mut out);
        let bytes = out.into_bytes().unwrap();
        let mut again = Interner::load(&mut In::new(&bytes)).unwrap();
        for (code, value) in codes.iter().zip(values) {
            assert_eq!((again.code(value), again.datum(*code)), (*code, interner.datum(*code)));
        }
        assert_eq!(again.names(), interner.names());
    }

    fn codes(values: &str) -> Vec<i64> {
        let history = History::parse(&format!("{{:type :ok, :value [:x {values}]}}")).unwrap();
        let mut interner = Interner::default();
        let list = history.op(0).value.as_seq().unwrap();
        let codes: Vec<i64> = list.iter().skip(1).map(|value| interner.code(value)).collect();
        // Each code is converted back to a value with the same code.
        for (code, value) in codes.iter().zip(list.iter().skip(1)) {
            assert_eq!(interner.datum(*code).to_string().len(), value.to_string().len());
        }
        codes
    }

    #[test]
    fn small_integers_are_their_own_codes() {
        assert_eq!(codes("0 -7 4611686018427387904"), [0, -7, 1 << 62]);
    }

    #[test]
    fn nil_has_a_code_of_its_own() {
        assert_eq!(codes("nil -4611686018427387905"), [Interner::NIL, i64::MIN]);
    }

    #[test]
    fn equal_values_share_a_code_and_others_do_not() {
        let c = codes(r#":a "a" a :a [1 2] (1 2) #{1 :b} #{:b 1} {:a 1 :b 2} {:b 2 :a 1} 1.0 -9223372036854775808"#);
        assert_eq!(c[0], c[3]);
        assert_eq!(c[4], c[5]);
        assert_eq!(c[6], c[7]);
        assert_eq!(c[8], c[9]);
        let distinct: std::collections::BTreeSet<i64> = c.iter().copied().collect();
        assert_eq!(distinct.len(), c.len() - 4);
        assert!(c.iter().all(|code| *code < NAMED_BELOW), "{c:?}");
    }

    #[test]
    fn zeros_are_equal_whatever_their_sign() {
        let history = History::parse("{:type :ok, :value [0.0 -0.0 [-0.0] [0.0] 0 1e-9]}").unwrap();
        let (mut interner, mut scratch) = (Interner::default(), Vec::new());
        let c = interner.codes(history.op(0).value.as_seq().unwrap(), &mut scratch).to_vec();
        assert_eq!((c[0], c[2]), (c[1], c[3]));
        assert!(c[0] != c[4] && c[0] != c[5], "{c:?}");
    }
}
