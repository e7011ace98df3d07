//! The results of reads of lists: the writer that each read observed, and the order in which transactions appended.
//!
//! The elements of a transaction are appended together, so in a list they are adjacent, complete, and in their order.
//! The transaction's own appends before a read are at the end of the list; the rest was there before, and is an
//! external read.
//!
//! *An element that was appended twice* belongs to the reader if it is at the end of such a read: if no other
//! transaction observed it, the history means the same with a different value in its place. If two transactions each
//! observed their own append there, one of them appended to a list that it had not read, and it is unknown which one.

use super::decoded::Decoded;
use super::shown::{Ambiguous, Direct, External, Shown};
use super::versions::{Version, VersionId};
use super::{Row, What};
use crate::ids::KeyId;
use history_core::OpKind;
use history_core::cast::Cast as _;
use std::ops::Range;

/// The appends of a row to a key so far.
#[derive(Debug, Default, Clone)]
struct Own {
    row: Option<Row>,
    elements: Vec<VersionId>,
}

/// The results of the rows.
pub(super) fn shown(run: &Decoded) -> Shown {
    let mut shown = Shown { is_seen: vec![false; run.rows.len()], ..Shown::default() };
    let mut trunks: Vec<Trunk> =
        run.trunks.iter().enumerate().map(|(key, list)| Trunk::new(run, KeyId::new(key), list)).collect();
    let mut own: Vec<Own> = vec![Own::default(); run.versions.key_codes.len()];
    for row in run.rows.ids() {
        for (at, mop) in run.rows.mops(row).iter().enumerate() {
            let own = &mut own[mop.key.at()];
            if own.row != Some(row) {
                own.row = Some(row);
                own.elements.clear();
            }
            match mop.what() {
                What::Write(version) => own.elements.push(version),
                What::Contradicts(_) => shown.case(Direct::IncompatibleOrder, row, at, Row::NONE),
                What::First | What::Read(_) => {
                    let length = if let What::Read(length) = mop.what() { length.to_usize() } else { 0 };
                    let list = run.trunks.get(mop.key.at()).map_or(&[][..], |trunk| &trunk[..length]);
                    if list.ends_with(&own.elements) {
                        let before = length - own.elements.len();
                        let trunk = trunks.get_mut(mop.key.at());
                        if let Some(trunk) = trunk {
                            trunk.take_own(run, row, before..length, &mut shown);
                        }
                        look(run, trunks.get(mop.key.at()), mop.key, (row, at), before, &mut shown);
                    } else {
                        shown.case(Direct::Internal, row, at, Row::NONE);
                    }
                }
                What::Unseen => {}
            }
        }
        shown.reads_end.push(shown.reads.len().to_u32());
    }
    if shown.ambiguous.is_some() {
        // Ignore lists in which a read returned an element that was appended twice.
        shown.drop_reads(|key| trunks.get(key.at()).is_some_and(|trunk| trunk.ambiguous.is_some()));
        trunks.retain(|trunk| trunk.ambiguous.is_none());
    }
    for trunk in trunks.iter_mut().filter(|_| shown.direct.is_empty() || shown.ambiguous.is_some()) {
        trunk.writers.extend(trunk.twice.filter(|row| trunk.writers.last() != Some(row)));
        trunk.writers.iter().for_each(|writer| shown.is_seen[writer.at()] = true);
        shown.appended.extend(trunk.writers.iter().map(|writer| (trunk.key, *writer)));
    }
    shown
}

/// The longest read of a key.
struct Trunk {
    key: KeyId,
    /// The transactions that appended to it, in order, up to an element that was appended twice; only if the list has
    /// no fault.
    writers: Vec<Row>,
    /// The faults of the list, each with the minimum length of a read that shows it.
    wrong: Vec<(usize, Direct, Row)>,
    ambiguous: Option<(usize, VersionId)>,
    /// The transaction that appended that element itself and read it.
    twice: Option<Row>,
    /// The minimum length of a read that shows an element that an undecoded transaction may have appended.
    unclear: Option<usize>,
}

impl Trunk {
    fn new(run: &Decoded, key: KeyId, list: &[VersionId]) -> Trunk {
        let mut trunk =
            Trunk { key, writers: Vec::new(), wrong: Vec::new(), ambiguous: None, twice: None, unclear: None };
        let mut seen: Vec<VersionId> = list.to_vec();
        seen.sort_unstable();
        let repeated: Vec<VersionId> = seen.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        // The remaining appends of the current writer to the key, in reverse order.
        let mut next: Vec<VersionId> = Vec::new();
        for (at, id) in list.iter().enumerate() {
            let Version { writer, again, .. } = run.versions.get(*id);
            if run.is_unclear(*id) {
                trunk.unclear = Some(at + 1);
                break;
            }
            if again != Row::NONE {
                // If only a transaction that appended it observed it, this one is the next writer: see `take_own`.
                trunk.ambiguous = Some((at + 1, *id));
                break;
            }
            if repeated.binary_search(id).is_ok() {
                let first = list.iter().position(|other| other == id);
                if first != Some(at) {
                    trunk.wrong.push((at + 1, Direct::DuplicateElements, writer));
                }
                continue;
            }
            if writer == Row::NONE && run.may_be_written(key) {
                continue;
            }
            if writer == Row::NONE {
                trunk.wrong.push((at + 1, Direct::ThinAirRead, writer));
                continue;
            }
            if run.rows.kind(writer) == OpKind::Fail {
                trunk.wrong.push((at + 1, Direct::G1a, writer));
            }
            if trunk.writers.last() == Some(&writer) && next.last() == Some(id) {
                next.pop();
                continue;
            }
            let appended =
                run.rows.mops(writer).iter().filter(|mop| mop.key == key).filter_map(|mop| match mop.what() {
                    What::Write(version) => Some(version),
                    _ => None,
                });
            let mut appended: Vec<VersionId> = appended.collect();
            appended.reverse();
            // The previous writer must have appended all its elements, and this one none.
            let interrupted = trunk.writers.last().filter(|_| !next.is_empty()).copied();
            if appended.pop() != Some(*id) || interrupted.is_some() {
                trunk.wrong.push((at + 1, Direct::G0, interrupted.unwrap_or(writer)));
            }
            next = appended;
            trunk.writers.push(writer);
        }
        trunk
    }

    /// Records the part of the list that a row appended itself and then read.
    fn take_own(&mut self, run: &Decoded, row: Row, own: Range<usize>, shown: &mut Shown) {
        let Some((shows, version)) = self.ambiguous.filter(|(shows, _)| own.contains(&(shows - 1))) else { return };
        debug_assert!(shows > 0, "some read shows the fault");
        match self.twice {
            None => self.twice = Some(row),
            Some(other) if other != row => {
                let Version { code, .. } = run.versions.get(version);
                let ambiguous = Ambiguous { key: self.key, code, writers: [other, row], reader: row };
                shown.ambiguous.get_or_insert(ambiguous);
            }
            Some(_) => {}
        }
    }
}

/// Examines an external read of this length.
fn look(run: &Decoded, trunk: Option<&Trunk>, key: KeyId, (row, at): (Row, usize), length: usize, shown: &mut Shown) {
    let Some(trunk) = trunk.filter(|_| length > 0) else {
        // A missing op may have emptied the list.
        if run.resets_unknown {
            return;
        }
        shown.reads.push(External { key, writer: Row::NONE });
        return;
    };
    if let Some((shows, version)) = trunk.ambiguous.filter(|(shows, _)| *shows <= length) {
        debug_assert!(shows > 0, "some read shows the fault");
        let Version { code, writer, again, .. } = run.versions.get(version);
        shown.ambiguous.get_or_insert(Ambiguous { key, code, writers: [writer, again], reader: row });
    }
    if trunk.unclear.is_some_and(|shows| shows <= length) {
        return;
    }
    let list = &run.trunks[key.at()][..length];
    let last = run.versions.get(list[length - 1]);
    let is_own = list.iter().any(|id| run.versions.get(*id).writer == row);
    // If each element of a list has one writer, its faults are certain.
    let is_plain = trunk.ambiguous.is_none();
    let mut case = |what: Direct, other: Row| {
        if is_plain { shown.certain_case(what, row, at, other) } else { shown.case(what, row, at, other) }
    };
    if let Some((_, what, other)) = trunk.wrong.iter().find(|(shows, ..)| *shows <= length) {
        match what {
            Direct::G0 if is_own => case(Direct::FutureRead, row),
            // The elements before one that was appended twice do not depend on its writer.
            Direct::G1a | Direct::DuplicateElements => shown.certain_case(*what, row, at, *other),
            what => case(*what, *other),
        }
    } else if is_own {
        case(Direct::FutureRead, row);
    } else if last.is_intermediate {
        case(Direct::G1b, last.writer);
    } else if last.writer == Row::NONE {
        debug_assert!(run.is_partial || shown.ambiguous.is_some(), "otherwise the element was never appended");
        return;
    }
    shown.reads.push(External { key, writer: last.writer });
}
