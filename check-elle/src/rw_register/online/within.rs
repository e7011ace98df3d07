//! What the micro-ops of one transaction show about each other, as in `rw_register::within`: a read that contradicts
//! earlier micro-ops of its transaction (`internal`), one that returns a later write of it (`future-read`), and the
//! first version of each key.

use crate::txn::online::decode::Mop;
use crate::txn::online::judge::Inner;
use history_core::hash::{HashMap, HashSet};

/// The accesses of a transaction to one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touch {
    /// The value of the external read: the first micro-op on the key, if it is a read.
    pub(super) read: Option<i64>,
    /// The first value that the transaction read before writing the key.
    pub(super) updated: Option<i64>,
    /// The last value read or written so far.
    current: Option<i64>,
    first_read: Option<i64>,
    is_unsound: bool,
}

/// Examines one transaction after another, and reuses its buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Within {
    at: HashMap<i64, usize>,
    /// In the order of the first accesses to keys.
    pub(super) touches: Vec<(i64, Touch)>,
    seen: HashSet<(i64, i64)>,
    written: HashSet<(i64, i64)>,
}

impl Within {
    /// Examines an `ok` transaction on registers with this `initial` value. O(micro-ops).
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

    /// The touch of a key, and whether this is the first micro-op on the key.
    fn touch(&mut self, key: i64) -> (&mut Touch, bool) {
        let next = self.touches.len();
        let at = *self.at.entry(key).or_insert(next);
        if at == next {
            self.touches.push((key, Touch::default()));
        }
        (&mut self.touches[at].1, at == next)
    }
}
