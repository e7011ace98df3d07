//! Looks up the reads and writes of many operations together.
//!
//! Each key and each value is at a different place in memory. In sequence, every lookup would wait for the previous
//! one; in a loop that does nothing else, many lookups are in progress at a time. So operations are collected until
//! there are some hundred micro-ops.

use super::decoded::Decoded;
use super::raw::{Act, RawMop, RawOp};
use super::rows::NewRow;
use super::versions::{Source, VersionId};
use super::{Contradiction, Holds, Mop, What};
use crate::ids::KeyId;
use history_core::OpKind;
use history_core::cast::Cast as _;

/// The number of micro-ops that are looked up together.
const MOPS_MAX: usize = 512;

/// Operations that were not looked up yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    rows: Vec<(NewRow, u32)>,
    raw: RawOp,
    /// For each micro-op, its key, and its version if that was known before this block.
    keys: Vec<KeyId>,
    known: Vec<Option<VersionId>>,
    /// The source of a read of that version at that time.
    sources: Vec<Source>,
    mops: Vec<Mop>,
    list: Vec<VersionId>,
}

impl Block {
    pub(super) fn push(&mut self, row: NewRow, op: &RawOp) {
        self.raw.mops.extend_from_slice(&op.mops);
        self.raw.elements.extend_from_slice(&op.elements);
        self.rows.push((row, self.raw.mops.len().to_u32()));
    }

    /// Returns true if there are enough micro-ops to look up.
    pub(super) fn is_full(&self) -> bool {
        self.raw.mops.len() + self.raw.elements.len() >= MOPS_MAX
    }

    /// An upper bound of the ids that this block will need.
    pub(super) fn ids_max(&self) -> usize {
        self.rows.len() + self.raw.mops.len() + self.raw.elements.len()
    }

    /// Looks up everything, and adds a row for each operation.
    pub(super) fn flush(&mut self, data: &mut Decoded) {
        let versions = &mut data.versions;
        self.keys.clear();
        self.keys.extend(self.raw.mops.iter().map(|mop| versions.key(mop.key)));
        self.known.clear();
        self.known.extend(self.raw.mops.iter().zip(&self.keys).map(|(mop, key)| match mop.act {
            Act::Write(code) | Act::Read(code) => versions.find(*key, code),
            Act::List(_) | Act::Unseen => None,
        }));
        self.sources.clear();
        self.sources
            .extend(self.known.iter().map(|known| known.map_or(Source::Nobody, |known| versions.source(known))));
        self.mops.clear();
        let mut elements_from = 0;
        for at in 0..self.raw.mops.len() {
            let RawMop { act, .. } = self.raw.mops[at];
            let key = self.keys[at];
            let what = match act {
                Act::Unseen => What::Unseen,
                Act::Read(code) if code == data.initial || data.holds != Some(Holds::Registers) => What::First,
                Act::Read(code) | Act::Write(code) => {
                    let version = match self.known[at] {
                        Some(known) => known,
                        None => data.versions.version(key, code),
                    };
                    if matches!(act, Act::Write(_)) { What::Write(version) } else { What::Read(version.number()) }
                }
                Act::List(length) => {
                    let elements = &self.raw.elements[elements_from..elements_from + length.to_usize()];
                    elements_from += length.to_usize();
                    self.list.clear();
                    self.list.extend(elements.iter().map(|code| data.versions.version(key, *code)));
                    read_of_list(data, key, &self.list)
                }
            };
            self.mops.push(Mop::new(key, what));
        }
        let mut from = 0;
        for (row, end) in self.rows.drain(..) {
            let these = from..end.to_usize();
            push(data, row, &self.mops[these.clone()], &self.sources[these]);
            from = end.to_usize();
        }
        self.raw.mops.clear();
        self.raw.elements.clear();
    }
}

/// The micro-op for a read of a list, compared with the longest read of its key.
fn read_of_list(data: &mut Decoded, key: KeyId, list: &[VersionId]) -> What {
    if data.trunks.len() <= key.at() {
        data.trunks.resize(key.at() + 1, Vec::new());
    }
    let trunk = &mut data.trunks[key.at()];
    let shared = trunk.iter().zip(list).take_while(|(one, other)| one == other).count();
    if list.is_empty() {
        What::First
    } else if shared < trunk.len().min(list.len()) {
        data.contradictions.push(Contradiction { shared: shared.to_u32(), rest: list[shared..].to_vec() });
        What::Contradicts((data.contradictions.len() - 1).to_u32())
    } else {
        trunk.extend_from_slice(&list[shared..]);
        What::Read(list.len().to_u32())
    }
}

fn push(data: &mut Decoded, row: NewRow, mops: &[Mop], sources: &[Source]) {
    let id = data.rows.push(row, mops);
    let (is_ok, has_failed) = (row.kind == OpKind::Ok, row.kind == OpKind::Fail);
    let versions = &mut data.versions;
    let mut seen = Some(&mut data.seen).filter(|seen| data.holds == Some(Holds::Registers) && seen.is_plain());
    for (mop, source) in mops.iter().zip(sources) {
        let read = match mop.what() {
            What::Write(version) => {
                versions.write(mop.key, version, id, has_failed);
                if let Some(seen) = &mut seen {
                    seen.write(mop.key);
                }
                continue;
            }
            What::Read(number) => Some((number.into(), *source)),
            What::First => None,
            What::Contradicts(_) | What::Unseen => continue,
        };
        if let Some(seen) = seen.as_mut().filter(|_| is_ok) {
            seen.read((id, mop.key), read, versions);
        }
    }
    if let Some(seen) = seen {
        seen.close(row);
    }
}
