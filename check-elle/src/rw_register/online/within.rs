//! What the micro-ops of one transaction show about each other, as in `rw_register::within`: a read that contradicts
//! earlier micro-ops of its transaction (`internal`), one that returns a later write of it (`future-read`), and the
//! first version of each key.

use crate::txn::online::decode::Mop;
use crate::txn::online::judge::Inner;
use history_core::hash::{HashMap, HashSet};

/// What a transaction did to one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touch {
    /// What its first micro-op on the key read, if that is a read.
    pub(super) read: Option<i64>,
    /// The first value that it read and then wrote the key.
    pub(super) updated: Option<i64>,
    /// What it read or wrote last so far.
    current: Option<i64>,
    first_read: Option<i64>,
    is_unsound: bool,
}

/// Looks at one transaction after another, in memory that is used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Within {
    at: HashMap<i64, usize>,
    /// In the order in which keys come.
    pub(super) touches: Vec<(i64, Touch)>,
    seen: HashSet<(i64, i64)>,
    written: HashSet<(i64, i64)>,
}

impl Within {
    /// Looks at a transaction that is `ok`, of registers with this `initial` value. O(its micro-ops).
    pub(super) fn look(&mut self, mops: &[Mop], codes: &[i64], initial: i64) -> Inner {
        let mut found = Inner::default();
        self.at.clear();
        self.touches.clear();
        self.seen.clear();
        self.written.clear();
        for mop in mops {
            match mop {
                Mop::Write { key, value } => {
                    let (touch, _) = self.touch(*key);
                    touch.updated = touch.updated.or(touch.first_read);
                    touch.current = Some(*value);
                    self.written.insert((*key, *value));
                    if self.seen.contains(&(*key, *value)) {
                        found.future_read.get_or_insert((*key, *value));
                    }
                }
                Mop::Read { key, seen } => {
                    let Some(value) = codes[seen.clone()].first().copied() else { continue };
                    let (touch, is_first) = self.touch(*key);
                    if !touch.is_unsound && touch.current.is_some_and(|current| current != value) {
                        touch.is_unsound = true;
                        found.internal.get_or_insert(*key);
                    }
                    touch.current = Some(value);
                    touch.first_read = touch.first_read.or(Some(value));
                    if is_first {
                        touch.read = Some(value);
                    }
                    let is_first = touch.read == Some(value);
                    found.hides_reads |= !is_first && value != initial && !self.written.contains(&(*key, value));
                    self.seen.insert((*key, value));
                }
            }
        }
        found
    }

    /// What is known of a key, and whether this is the first micro-op on it.
    fn touch(&mut self, key: i64) -> (&mut Touch, bool) {
        let next = self.touches.len();
        let at = *self.at.entry(key).or_insert(next);
        if at == next {
            self.touches.push((key, Touch::default()));
        }
        (&mut self.touches[at].1, at == next)
    }
}
