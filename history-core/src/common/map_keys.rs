//! Keys that histories also write as keys of maps. JSON writes those as strings, so there `"1"` may represent 1.

use crate::Value;

/// The key that a value represents, for checkers that read keys of maps: a string that is the canonical text of an
/// integer, such as `"-7"` but not `"07"`, represents that integer.
///
/// ```
/// use history_core::{Value, map_key};
///
/// assert_eq!(map_key(Value::Str("-7")).as_int(), Some(-7));
/// assert!(matches!(map_key(Value::Str("07")), Value::Str("07")));
/// ```
#[inline]
pub fn map_key(key: Value<'_>) -> Value<'_> {
    match key {
        Value::Str(text) => canonical_int(text).map_or(key, Value::Int),
        _ => key,
    }
}

/// How a history writes the key that [`map_key`] returns: as an integer or as a string, and whether as a key of a map.
/// If JSON would distinguish these keys, the history may mean two keys.
///
/// ```
/// use history_core::{KeySpelling, Value};
///
/// let mut spelling = KeySpelling::default();
/// spelling.see(Value::Int(1));
/// spelling.see_in_map(Value::Str("1"));
/// assert!(!spelling.is_ambiguous());
/// spelling.see(Value::Str("1"));
/// assert!(spelling.is_ambiguous());
///
/// // Not in JSON: the keys of its maps are strings.
/// let mut spelling = KeySpelling::default();
/// spelling.see_in_map(Value::Int(1));
/// spelling.see_in_map(Value::Str("1"));
/// assert!(spelling.is_ambiguous());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct KeySpelling {
    integer: Places,
    string: Places,
}

/// Where a key occurs.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    in_map: bool,
    elsewhere: bool,
}

impl KeySpelling {
    /// Records a key outside of a map.
    #[inline]
    pub fn see(&mut self, key: Value<'_>) {
        match key {
            Value::Int(_) => self.integer.elsewhere = true,
            Value::Str(_) => self.string.elsewhere = true,
            _ => {}
        }
    }

    /// Records a key of a map.
    #[inline]
    pub fn see_in_map(&mut self, key: Value<'_>) {
        match key {
            Value::Int(_) => self.integer.in_map = true,
            Value::Str(_) => self.string.in_map = true,
            _ => {}
        }
    }

    /// Returns true if JSON would distinguish two of these keys: the history writes the integer, and the string outside
    /// of maps; or both in maps.
    #[inline]
    pub fn is_ambiguous(self) -> bool {
        let KeySpelling { integer, string } = self;
        string.elsewhere && (integer.elsewhere || integer.in_map) || string.in_map && integer.in_map
    }
}

fn canonical_int(text: &str) -> Option<i64> {
    let first = text.bytes().find(|byte| *byte != b'-')?;
    let int: i64 = if first.is_ascii_digit() { text.parse().ok()? } else { return None };
    (int.to_string() == text).then_some(int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_texts_represent_integers() {
        let ints = ["0", "-7", "07", "+1", "", "-", "1.0", "9223372036854775808", "--1"].map(canonical_int);
        assert_eq!(ints, [Some(0), Some(-7), None, None, None, None, None, None, None]);
    }
}
