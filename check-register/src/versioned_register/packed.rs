//! Packed values: an id or a register's value in 16 bytes, so that they are stored flat in columns and compared as two
//! words.

use history_core::cast::Cast as _;
use history_core::hash::{RandomState, hash_one};
use history_core::{Datum, Value};
use indexmap::{IndexMap, IndexSet};

/// A value in 16 bytes. Two are equal exactly if the values are, as EDN has it: a list equals a vector of the same
/// elements, and the order in a set or map does not matter.
///
/// Canonical UUIDs (36 characters, lower case), integers, names of up to 11 bytes, booleans and nil are stored
/// completely. Others are numbers that an [`Interner`] assigns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Packed {
    high: u64,
    low: u64,
}

/// The upper half of a UUID is below this number. Other values are at or above it, with their tag in bits 24 to 31.
const OTHERS: u64 = 0xffff_ffff_0000_0000;
/// The maximum number of bytes of a name: three in the upper half, eight in the lower.
const NAME_BYTES_MAX: usize = 11;

const NIL: u8 = 1;
const FALSE: u8 = 2;
const TRUE: u8 = 3;
const INT: u8 = 4;
const INTERNED: u8 = 5;
const LONG_STRING: u8 = 6;
/// Plus the length.
const STRING: u8 = 16;
/// Plus the length.
const KEYWORD: u8 = 32;

/// Values too large to be stored completely, by number.
///
/// They are stored permanently: a history whose ids are long strings other than UUIDs takes memory for each of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    strings: IndexSet<Box<str>, RandomState>,
    /// The other values, by their text in a normal form.
    others: IndexMap<String, Datum, RandomState>,
}

impl Packed {
    pub(crate) const NIL: Packed = Packed::tagged(NIL, 0);

    const fn tagged(tag: u8, low: u64) -> Packed {
        Packed { high: OTHERS | (tag as u64) << 24, low }
    }

    /// The hash of the value and the key it belongs to.
    #[inline]
    pub(crate) fn hash(self, key: u32) -> u64 {
        hash_one(&(self, key))
    }

    fn name(tag: u8, name: &str) -> Option<Packed> {
        if name.len() > NAME_BYTES_MAX {
            return None;
        }
        let mut bytes = [0; 16];
        bytes[5..5 + name.len()].copy_from_slice(name.as_bytes());
        let all = u128::from_be_bytes(bytes);
        let Packed { high, .. } = Packed::tagged(tag + name.len() as u8, 0);
        Some(Packed { high: high | (all >> 64) as u64, low: all as u64 })
    }

    fn read_name(self, length: u8) -> String {
        let bytes = (u128::from(self.high) << 64 | u128::from(self.low)).to_be_bytes();
        String::from_utf8_lossy(&bytes[5..5 + usize::from(length)]).into_owned()
    }
}

/// The positions of the digits of a UUID: the two digits of each byte are adjacent.
const UUID_BYTES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
/// The value of each lower-case hexadecimal digit; others have a bit set above all digits.
const DIGITS: [u8; 256] = {
    let mut digits = [0xff; 256];
    let mut at = 0;
    while at < 16 {
        digits[b"0123456789abcdef"[at] as usize] = at as u8;
        at += 1;
    }
    digits
};

#[inline]
fn uuid(text: &str) -> Option<Packed> {
    let text: &[u8; 36] = text.as_bytes().try_into().ok()?;
    if text[8] != b'-' || text[13] != b'-' || text[18] != b'-' || text[23] != b'-' {
        return None;
    }
    let (mut bytes, mut seen) = ([0; 16], 0);
    for (byte, at) in bytes.iter_mut().zip(UUID_BYTES) {
        let (a, b) = (DIGITS[usize::from(text[at])], DIGITS[usize::from(text[at + 1])]);
        seen |= a | b;
        *byte = a << 4 | b & 0xf;
    }
    let all = u128::from_be_bytes(bytes);
    let packed = Packed { high: (all >> 64) as u64, low: all as u64 };
    (seen < 16 && packed.high < OTHERS).then_some(packed)
}

impl Interner {
    /// Packs a value. O(1) for values that are stored completely, O(size) for others.
    #[inline]
    pub(crate) fn pack(&mut self, value: Value<'_>) -> Packed {
        match value {
            Value::Int(i) => Packed::tagged(INT, i.cast_unsigned()),
            Value::Str(text) => uuid(text).unwrap_or_else(|| self.string(text)),
            Value::Nil => Packed::NIL,
            Value::Bool(false) => Packed::tagged(FALSE, 0),
            Value::Bool(true) => Packed::tagged(TRUE, 0),
            Value::Keyword(name) => Packed::name(KEYWORD, name).unwrap_or_else(|| self.other(value)),
            _ => self.other(value),
        }
    }

    fn string(&mut self, text: &str) -> Packed {
        if let Some(packed) = Packed::name(STRING, text) {
            return packed;
        }
        let known = self.strings.get_index_of(text);
        Packed::tagged(LONG_STRING, known.unwrap_or_else(|| self.strings.insert_full(text.into()).0).to_u64())
    }

    #[cold]
    fn other(&mut self, value: Value<'_>) -> Packed {
        let entry = self.others.entry(value.canonical());
        let at = entry.index();
        entry.or_insert_with(|| value.to_datum());
        Packed::tagged(INTERNED, at.to_u64())
    }

    /// The original value.
    pub(crate) fn datum(&self, packed: Packed) -> Datum {
        if packed.high < OTHERS {
            let [a, b, c, d] = [packed.high >> 32, packed.high >> 16 & 0xffff, packed.high & 0xffff, packed.low >> 48];
            return Datum::Str(format!("{a:08x}-{b:04x}-{c:04x}-{d:04x}-{:012x}", packed.low & 0xffff_ffff_ffff));
        }
        match (packed.high >> 24) as u8 {
            NIL => Datum::Nil,
            FALSE => Datum::Bool(false),
            TRUE => Datum::Bool(true),
            INT => Datum::Int(packed.low.cast_signed()),
            INTERNED => self.others[packed.low.to_usize()].clone(),
            LONG_STRING => Datum::Str(self.strings[packed.low.to_usize()].to_string()),
            name if name >= KEYWORD => Datum::Keyword(packed.read_name(name - KEYWORD)),
            name => Datum::Str(packed.read_name(name - STRING)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::History;

    fn pack(interner: &mut Interner, values: &str) -> Vec<(Packed, String)> {
        let history = History::parse(&format!("{{:type :ok, :value [:x {values}]}}")).unwrap();
        let list = history.op(0).value.as_seq().unwrap();
        list.iter().skip(1).map(|value| (interner.pack(value), value.to_string())).collect()
    }

    #[test]
    fn packing_preserves_every_value() {
        let mut interner = Interner::default();
        let packed = pack(
            &mut interner,
            r#"nil true false 0 -1 9223372036854775807 "" "a" "elevenbytes" "twelve bytes" :k :elevenbytes :twelve-bytes
               "00000000-0000-0000-0000-000000000000" "ffffffff-ffff-ffff-ffff-ffffffffffff" 1.5 [1 2] {:a 1}
               "01234567-89ab-cdef-0123-456789abcdef" "01234567-89AB-cdef-0123-456789abcdef" \a sym #{1} #x 1
               "fffffffe-ffff-ffff-ffff-ffffffffffff" "01234567089ab-cdef-0123-456789abcdef" "gggggggg-0000-0000-0000-000000000000"
               "aé" "ééééé" 12345678901234567890N"#,
        );
        for (packed, text) in &packed {
            assert_eq!(interner.datum(*packed).to_string(), *text);
        }
        let distinct: std::collections::HashSet<_> = packed.iter().map(|(packed, _)| *packed).collect();
        assert_eq!(distinct.len(), packed.len());
        // Of the two with capitals or too high an upper half, only the text is stored. The digits of others are their
        // number.
        assert_eq!(packed[13].0, Packed { high: 0, low: 0 });
        assert_eq!(packed[18].0, Packed { high: 0x0123_4567_89ab_cdef, low: 0x0123_4567_89ab_cdef });
        assert!(packed[14].0.high >= OTHERS && packed[24].0.high < OTHERS);
    }

    #[test]
    fn equal_values_are_equal_packed() {
        let mut interner = Interner::default();
        let pairs = r#"[1 2] (1 2) #{1 :b} #{:b 1} {:a 1 :b 2} {:b 2 :a 1} "a longer string" "a longer string""#;
        for pair in pack(&mut interner, pairs).chunks(2) {
            assert_eq!(pair[0].0, pair[1].0, "{pair:?}");
        }
        let unequal = pack(&mut interner, r#"1 1.0 "1" :1 \1 [1] #{1} "" nil [] :a "a" a "#);
        let distinct: std::collections::HashSet<_> = unequal.iter().map(|(packed, _)| *packed).collect();
        assert_eq!(distinct.len(), unequal.len());
    }

    #[test]
    fn uuids_cannot_be_chosen_to_share_buckets() {
        // With fixed multipliers, here digits of pi, one half of a UUID can be chosen so that it cancels the other.
        let uuid = |high: u64| {
            let half = high.wrapping_mul(0x243f_6a88_85a3_08d3);
            Packed { high, low: half ^ half >> 32 }
        };
        let buckets: std::collections::BTreeSet<u64> =
            (1..=1 << 14).map(|high| uuid(high).hash(0) % (1 << 15)).collect();
        // As many as for random numbers, up to chance: 1 - e^(-1/2) of 32,768 is 12,893.
        assert!(buckets.len() > 12_000, "{} buckets", buckets.len());
    }
}
