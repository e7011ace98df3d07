//! Determines what each read shows about the versions of keys, one transaction at a time.

use super::keys::{Fate, Key, Keys, Mutation};
use super::mop::{Mop, Selects};
use super::predicate::Predicate;
use crate::ids::{KeyId, TxnId};
use crate::txn::Txns;
use history_core::Interner;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;

/// The result of a read for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seen {
    /// A read of the key returned this content.
    Item(i64),
    /// A predicate read returned this content.
    Shown(i64),
    /// A predicate read did not return the key: its content did not match.
    Hidden(Predicate),
}

impl Seen {
    /// Returns true if a read of this content can have this result.
    pub(super) fn fits(self, code: i64) -> bool {
        match self {
            Seen::Item(seen) | Seen::Shown(seen) => seen == code,
            Seen::Hidden(predicate) => !predicate.matches(code),
        }
    }
}

/// A read of a key: its transaction, its micro-op, and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Look {
    pub(crate) txn: TxnId,
    pub(crate) mop: u32,
    pub(crate) key: KeyId,
    pub(crate) seen: Seen,
}

/// The version that a read observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// The state before the universe was created: nothing.
    Before,
    /// The first version of the key.
    Base,
    /// The version written by a mutation, by its position among all of the key.
    Mutation(u32),
}

/// A conclusion from a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It observed this version.
    Of(Version),
    /// It observed one of several versions, which is not determined.
    OneOfSeveral,
    /// It contradicts a write (`is_own`) or an earlier read of its transaction, which had this value.
    Internal { expected: i64, is_own: bool },
    /// It observed a write of a failed transaction.
    Aborted(u32),
    /// It observed a write that its own transaction replaced.
    Intermediate(u32),
    /// It observed a later write of its own transaction.
    Future,
    /// It observed a value that was never written.
    Garbage,
    /// A predicate read returned an object that does not match.
    Mismatch,
    /// A predicate read omitted a key all of whose versions match.
    Miss,
}

/// The last content of a key that a transaction wrote or read.
#[derive(Clone, Copy)]
struct Known {
    code: i64,
    /// Whether the transaction wrote the content itself.
    is_own: bool,
}

/// Examines the reads of transactions, given all writes.
pub(super) struct Reader<'a> {
    pub(super) keys: &'a Keys,
    pub(super) selects: &'a Selects,
    pub(super) txns: &'a Txns<Mop>,
    known: HashMap<KeyId, Known>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(keys: &'a Keys, selects: &'a Selects, txns: &'a Txns<Mop>) -> Reader<'a> {
        Reader { keys, selects, txns, known: HashMap::default() }
    }

    /// Calls `found` for each read of an `ok` transaction that permits a conclusion. O(micro-ops + predicate reads *
    /// keys).
    pub(super) fn read(&mut self, txn: TxnId, found: &mut dyn FnMut(Look, Finding)) {
        self.known.clear();
        for (at, mop) in self.txns.mops(txn).iter().enumerate() {
            let look = |key, seen| Look { txn, mop: at.to_u32(), key, seen };
            match *mop {
                Mop::Mutate { key, code, .. } => {
                    self.known.insert(key, Known { code, is_own: true });
                }
                Mop::Read { key, code } => self.look(look(key, Seen::Item(code)), found),
                Mop::Unseen { .. } => {}
                Mop::Select(row) => {
                    let Some(mut shown) = self.selects.shown(row) else { continue };
                    let predicate = self.selects.predicate(row);
                    for key in self.keys.ids() {
                        let seen = match shown.split_first() {
                            Some(((first, code), rest)) if *first == key => {
                                shown = rest;
                                Seen::Shown(*code)
                            }
                            _ => Seen::Hidden(predicate),
                        };
                        if matches!(seen, Seen::Shown(code) if !predicate.matches(code)) {
                            found(look(key, seen), Finding::Mismatch);
                        } else {
                            self.look(look(key, seen), found);
                        }
                    }
                }
            }
        }
    }

    fn look(&mut self, look: Look, found: &mut dyn FnMut(Look, Finding)) {
        let key = self.keys.of(look.key);
        if key.left_out {
            return;
        }
        if let Some(known) = self.known.get(&look.key) {
            if !look.seen.fits(known.code) {
                found(look, Finding::Internal { expected: known.code, is_own: known.is_own });
            }
            // A read that contradicts a write of its own transaction shows a write of another.
            if known.is_own && (look.seen.fits(known.code) || of_own(key, look)) {
                return;
            }
        } else if let Seen::Item(code) | Seen::Shown(code) = look.seen {
            self.known.insert(look.key, Known { code, is_own: false });
        }
        if let Some(finding) = of_others(key, look) {
            found(look, finding);
        }
    }
}

/// Returns true if a read observed a write of its own transaction, at any position.
fn of_own(key: &Key, look: Look) -> bool {
    key.mutations.iter().any(|mutation| mutation.txn == look.txn && look.seen.fits(mutation.code))
}

/// The conclusion from a read about writes of other transactions, if it excludes any version.
fn of_others(key: &Key, look: Look) -> Option<Finding> {
    let others = || key.external().filter(|mutation| mutation.txn != look.txn);
    let base = look.seen.fits(key.base_code());
    let mut fitting = others().filter(|mutation| look.seen.fits(mutation.code));
    let (first, more) = (fitting.next(), fitting.next().is_some());
    match (base, first, more) {
        (false, None, _) => Some(of_none(key, look)),
        (true, _, _) if others().all(|mutation| look.seen.fits(mutation.code)) => {
            // Without writes by others, the key still has its first version.
            others().next().is_none().then_some(Finding::Of(Version::Base))
        }
        (true, None, _) => Some(Finding::Of(Version::Base)),
        (false, Some(mutation), false) => Some(Finding::Of(Version::Mutation(at(key, mutation)))),
        _ => Some(Finding::OneOfSeveral),
    }
}

/// The conclusion from a read that fits no committed version.
fn of_none(key: &Key, look: Look) -> Finding {
    let fits = |mutation: &&Mutation| look.seen.fits(mutation.code);
    let of_fate = |fate| key.mutations.iter().filter(move |mutation| mutation.fate == fate).find(fits);
    if let Seen::Hidden(_) = look.seen {
        return Finding::Miss;
    }
    if let Some(mutation) = of_fate(Fate::Failed) {
        return Finding::Aborted(at(key, mutation));
    }
    if let Some(mutation) = of_fate(Fate::Intermediate).filter(|mutation| mutation.txn != look.txn) {
        return Finding::Intermediate(at(key, mutation));
    }
    match look.seen {
        // Only before the universe was created was the key absent.
        Seen::Item(Interner::NIL) => Finding::Of(Version::Before),
        _ if of_own(key, look) => Finding::Future,
        _ => Finding::Garbage,
    }
}

/// The position of a mutation among those of its key.
fn at(key: &Key, mutation: &Mutation) -> u32 {
    let is_same = |other: &Mutation| other.txn == mutation.txn && other.mop == mutation.mop;
    key.mutations.iter().position(is_same).unwrap_or_default().to_u32()
}
