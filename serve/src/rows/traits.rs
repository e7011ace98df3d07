//! The possible content of a part of a history: a small set of marks, so that a search skips parts without matches.
//!
//! The marks of names are bits of their hashes (Bloom, "Space/time trade-offs in hash coding", 1970): a part that
//! contains a name has all of its bits; a part that has them may still not contain the name.

use history_core::{Op, OpKind, Process, Value};
use std::borrow::Cow;

/// The number of 64-bit words for keys, because a part may contain many.
const KEY_WORDS: usize = 4;
/// The number of words of all marks in a file.
pub(super) const WORDS: usize = 3 + KEY_WORDS;
/// The maximum number of keys of an op that are examined.
const KEYS_MAX: usize = 1000;

/// The possible content of a part of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits {
    kinds: u64,
    functions: u64,
    processes: u64,
    keys: [u64; KEY_WORDS],
}

impl Traits {
    /// The content of an op.
    pub(super) fn of(op: &Op<'_>) -> Traits {
        let mut traits = Traits { kinds: kind(op.kind), ..Traits::default() };
        if let Some(function) = op.f {
            traits.functions = bits(function);
        }
        if let Some(process) = process(op) {
            traits.processes = bits(&process);
        }
        each_key(op, &mut |key| {
            traits.join(&Traits::of_key(key));
            false
        });
        traits
    }

    pub(super) fn of_kind(of: OpKind) -> Traits {
        Traits { kinds: kind(of), ..Traits::default() }
    }

    pub(super) fn of_function(name: &str) -> Traits {
        Traits { functions: bits(name), ..Traits::default() }
    }

    pub(super) fn of_process(name: &str) -> Traits {
        Traits { processes: bits(name), ..Traits::default() }
    }

    pub(super) fn of_key(name: &str) -> Traits {
        let mut traits = Traits::default();
        let hash = hash(name);
        for word in [hash, hash >> 16] {
            let at = usize::from(word.to_le_bytes()[1]) % KEY_WORDS;
            traits.keys[at] |= 1 << (word & 63);
        }
        traits
    }

    /// Combines the content of both.
    pub(super) fn join(&mut self, other: &Traits) {
        self.kinds |= other.kinds;
        self.functions |= other.functions;
        self.processes |= other.processes;
        self.keys.iter_mut().zip(other.keys).for_each(|(own, other)| *own |= other);
    }

    /// Returns true if all marks of `wanted` are among these.
    pub(super) fn may_hold(&self, wanted: &Traits) -> bool {
        let mut both = *self;
        both.join(wanted);
        both == *self
    }

    pub(super) fn words(&self) -> [u64; WORDS] {
        let [a, b, c, d] = self.keys;
        [self.kinds, self.functions, self.processes, a, b, c, d]
    }

    pub(super) fn of_words([kinds, functions, processes, a, b, c, d]: [u64; WORDS]) -> Traits {
        Traits { kinds, functions, processes, keys: [a, b, c, d] }
    }
}

fn kind(kind: OpKind) -> u64 {
    match kind {
        OpKind::Invoke => 1,
        OpKind::Ok => 2,
        OpKind::Fail => 4,
        OpKind::Info => 8,
    }
}

/// Sets two of 64 bits.
fn bits(name: &str) -> u64 {
    let hash = hash(name);
    1 << (hash & 63) | 1 << (hash >> 32 & 63)
}

/// A hash that is the same on every machine, because it is stored in files: FNV-1a, with its bits mixed once more.
fn hash(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 32
}

/// The process of an op, as users write it.
pub(super) fn process<'a>(op: &Op<'a>) -> Option<Cow<'a, str>> {
    match (op.client_name, op.process) {
        (Some(name), _) | (None, Process::Other(name)) => Some(name.into()),
        (None, Process::Client(number)) => Some(number.to_string().into()),
        (None, Process::Unknown) => None,
    }
}

/// Passes each key of an op to `see`, until that returns true: the key in its field `key`; the key of a value
/// `[key value]`; the key of each micro-op `[f key value]` of a transaction.
pub(super) fn each_key(op: &Op<'_>, see: &mut dyn FnMut(&str) -> bool) {
    if let Some(key) = op.extra.get("key")
        && see(&name(key))
    {
        return;
    }
    let Some(items) = op.value.as_seq() else { return };
    // A list of numbers is not a transaction.
    if items.as_ints().is_some() && items.len() != 2 {
        return;
    }
    let key_of = |item: Value<'_>| {
        let mut parts = item.as_seq()?.iter();
        parts.next()?.as_name()?;
        parts.next().map(|key| name(key).into_owned())
    };
    let mut is_txn = false;
    for item in items.iter().take(KEYS_MAX) {
        match key_of(item) {
            Some(key) => {
                is_txn = true;
                if see(&key) {
                    return;
                }
            }
            None => break,
        }
    }
    if !is_txn && items.len() == 2 {
        items.iter().next().into_iter().for_each(|key| _ = see(&name(key)));
    }
}

/// A value as users type it: names without colons and quotes.
fn name(value: Value<'_>) -> Cow<'_, str> {
    value.as_name().map_or_else(|| value.to_string().into(), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::History;

    fn keys(value: &str) -> Vec<String> {
        let history = History::parse(&format!("{{:process 0, :type :ok, :f :txn, {value}}}")).unwrap();
        let mut keys = Vec::new();
        let op = history.op(0);
        each_key(&op, &mut |key| {
            keys.push(key.to_owned());
            false
        });
        for key in &keys {
            assert!(Traits::of(&op).may_hold(&Traits::of_key(key)), "{value}");
        }
        keys
    }

    #[test]
    fn keys_are_those_of_workloads() {
        assert_eq!(keys(":value [[:append 3 1] [:r :x nil] [:w \"y\" 2]]"), ["3", "x", "y"]);
        assert_eq!(keys(":value [7 [1 2]]"), ["7"]);
        assert_eq!(keys(":value [7 2]"), ["7"]);
        assert_eq!(keys(":value [1 2 3]"), [""; 0]);
        assert_eq!((keys(":value 5"), keys(":value nil")), (vec![], vec![]));
        assert_eq!(keys(":value 5, :key :k"), ["k"]);
    }

    #[test]
    fn most_absent_names_are_detected() {
        let mut part = Traits::default();
        (0..32).for_each(|key: u32| part.join(&Traits::of_key(&key.to_string())));
        let wrong = (1000..2000).filter(|key: &u32| part.may_hold(&Traits::of_key(&key.to_string()))).count();
        assert!(wrong < 250, "{wrong} of 1000");
        assert!(!part.may_hold(&Traits::of_kind(OpKind::Ok)));
        assert_eq!(Traits::of_words(part.words()), part);
    }
}
