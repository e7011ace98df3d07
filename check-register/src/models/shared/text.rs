//! Strings that grow at their end and share their beginning with the strings from which they were created.

use super::polynomial;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A string in pieces. Strings with the same characters are equal, even if their pieces differ.
#[derive(Clone, Default)]
pub(in crate::models) struct Text {
    /// The last piece, which is not empty; `None` for the empty string.
    last: Option<Arc<Piece>>,
}

struct Piece {
    before: Option<Arc<Piece>>,
    text: Arc<str>,
    /// The number of bytes up to the end of the piece.
    len: usize,
    /// A polynomial of these bytes, modulo a prime at a random point.
    hash: u64,
}

impl Text {
    /// Returns this string followed by `more`.
    pub(in crate::models) fn with(&self, more: &Arc<str>) -> Text {
        if more.is_empty() {
            return self.clone();
        }
        let base = polynomial::base();
        let mut hash = self.last.as_ref().map_or(0, |last| last.hash);
        for byte in more.bytes() {
            hash = polynomial::plus(polynomial::times(hash, base), u64::from(byte) + 1);
        }
        let piece = Piece { before: self.last.clone(), text: more.clone(), len: self.len() + more.len(), hash };
        Text { last: Some(Arc::new(piece)) }
    }

    /// The number of bytes.
    pub(in crate::models) fn len(&self) -> usize {
        self.last.as_ref().map_or(0, |last| last.len)
    }

    /// The pieces from the last to the first.
    fn pieces(&self) -> impl Iterator<Item = &Arc<Piece>> {
        std::iter::successors(self.last.as_ref(), |piece| piece.before.as_ref())
    }

    /// Returns true if this string equals `string`.
    pub(in crate::models) fn is(&self, string: &str) -> bool {
        let mut left = string;
        self.len() == string.len()
            && self.pieces().all(|piece| {
                let rest = left.strip_suffix(&*piece.text);
                left = rest.unwrap_or_default();
                rest.is_some()
            })
    }

    /// The whole string in one piece.
    pub(in crate::models) fn to_text(&self) -> String {
        let pieces: Vec<&str> = self.pieces().map(|piece| &*piece.text).collect();
        pieces.into_iter().rev().collect()
    }
}

impl From<&Arc<str>> for Text {
    fn from(text: &Arc<str>) -> Text {
        Text::default().with(text)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        let hash = |text: &Text| text.last.as_ref().map(|last| (last.len, last.hash));
        if hash(self) != hash(other) {
            return false;
        }
        let (mut ours, mut theirs) = (self.pieces(), other.pieces());
        let (mut one, mut another): (&[u8], &[u8]) = (&[], &[]);
        loop {
            if one.is_empty() && another.is_empty() {
                // The pieces before these have the same length in both strings.
                match (ours.next(), theirs.next()) {
                    (Some(piece), Some(other)) if Arc::ptr_eq(piece, other) => return true,
                    (Some(piece), Some(other)) => (one, another) = (piece.text.as_bytes(), other.text.as_bytes()),
                    _ => return true,
                }
            } else if one.is_empty() {
                one = ours.next().map_or(&[], |piece| piece.text.as_bytes());
            } else if another.is_empty() {
                another = theirs.next().map_or(&[], |piece| piece.text.as_bytes());
            }
            let shared = one.len().min(another.len());
            let (rest, end) = one.split_at(one.len() - shared);
            let (other_rest, other_end) = another.split_at(another.len() - shared);
            if end != other_end {
                return false;
            }
            (one, another) = (rest, other_rest);
        }
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        state.write_u64(self.last.as_ref().map_or(0, |last| last.hash));
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_text().fmt(f)
    }
}

impl Drop for Piece {
    /// Drops one piece after another, without recursion: there may be millions.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(mut piece) = before.and_then(Arc::into_inner) {
            before = piece.before.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Text;
    use history_core::hash::hash_one;

    fn of(pieces: &[&str]) -> Text {
        pieces.iter().fold(Text::default(), |text, piece| text.with(&(*piece).into()))
    }

    #[test]
    fn texts_are_equal_whatever_their_pieces() {
        let same = [of(&["abcd"]), of(&["a", "bcd"]), of(&["ab", "", "cd"]), of(&["a", "b", "c", "d"])];
        let others = [of(&[]), of(&["abc"]), of(&["abdc"]), of(&["ab", "dc"]), of(&["abcd", "a"]), of(&["a", "ccd"])];
        for one in &same {
            assert_eq!((one.to_text(), one.len()), ("abcd".into(), 4));
            assert!(one.is("abcd") && !one.is("abcc") && !one.is("abc") && !one.is("abcda"));
            for other in &same {
                assert_eq!((one, hash_one(one)), (other, hash_one(other)));
            }
            for other in &others {
                assert!(one != other && hash_one(one) != hash_one(other), "{other:?}");
            }
        }
        assert!(of(&[]).is("") && of(&[""]) == of(&[]));
        // Pieces may end within a character of another string.
        assert!(!of(&["ä"]).is("Ĥ") && of(&["ä", "ö"]).is("äö"));
    }

    #[test]
    fn what_begins_alike_is_shared() {
        let start = of(&["ab", "c"]);
        let (one, other) = (start.with(&"de".into()), start.with(&"d".into()).with(&"e".into()));
        assert_eq!(one, other);
        assert_ne!(one, start.with(&"df".into()));
    }

    #[test]
    fn a_million_pieces_are_dropped_one_after_the_other() {
        let mut text = Text::default();
        let piece = "x".into();
        for _ in 0..1_000_000 {
            text = text.with(&piece);
        }
        assert_eq!(text.len(), 1_000_000);
    }
}
