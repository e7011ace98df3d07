//! Examines transactions one at a time: the first and last read and write of each key, and contradictions.

use super::mop::{Mop, What};
use super::versions::{Flags, Version, Versions};
use crate::ids::{KeyId, TxnId, VersionId};
use crate::txn::fold::retries::Retry;
use history_core::OpKind;
use history_core::cast::Cast as _;

/// The external read and the external write of a transaction on one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) txn: TxnId,
    pub(crate) key: KeyId,
    /// The external read: the version that its first micro-op on the key read. `VersionId::NONE` if that was not a
    /// read, or its result is unknown.
    read: VersionId,
    /// The external write, which is its last one; or `VersionId::NONE`.
    write: VersionId,
}

impl Touch {
    #[inline]
    pub(crate) fn read(self) -> Option<VersionId> {
        (self.read != VersionId::NONE).then_some(self.read)
    }

    #[inline]
    pub(crate) fn write(self) -> Option<VersionId> {
        (self.write != VersionId::NONE).then_some(self.write)
    }

    /// The first version of the key that it read or wrote.
    #[inline]
    pub(crate) fn first(self) -> VersionId {
        if self.read == VersionId::NONE { self.write } else { self.read }
    }

    /// The last version of the key that it read or wrote.
    #[inline]
    pub(crate) fn last(self) -> VersionId {
        if self.write == VersionId::NONE { self.read } else { self.write }
    }
}

/// The results so far, in the order of the history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// The touches of transactions that may have happened.
    pub(crate) touches: Vec<Touch>,
    /// For each transaction and key, the position of the first read that contradicts it, and the version that its
    /// earlier micro-ops require.
    pub(crate) internal: Vec<(TxnId, u32, VersionId)>,
    /// Whether some transaction read a key a second time and got a version that it neither read first nor wrote: no
    /// edge represents that read.
    pub(crate) hides_reads: bool,
    /// The first version of a key that a transaction read, if the transaction wrote the key after that.
    pub(crate) updates: Vec<(VersionId, TxnId)>,
    /// Writes of values that the transaction itself had read before, with their positions.
    pub(crate) future_reads: Vec<(TxnId, u32)>,
    /// Writes of values that were written to the key before.
    pub(crate) repeated: Vec<Repeated>,
    /// Writes of values that only failed transactions wrote before.
    pub(crate) retries: Vec<Retry<VersionId>>,
}

/// A write of a value that was written to the key before.
#[derive(Clone, Debug)]
pub(crate) struct Repeated {
    pub(crate) txn: TxnId,
    /// The micro-op's position in the transaction.
    pub(crate) mop: u32,
    /// The version that was written first. Reads of the value refer to it.
    pub(crate) shared: VersionId,
    /// The version written now: a separate one, if the value was never read.
    pub(crate) own: VersionId,
}

/// The micro-ops of a transaction on one key so far.
#[derive(Debug, Clone, Copy)]
struct Slot {
    key: KeyId,
    /// The version read or written last.
    current: VersionId,
    first_read: VersionId,
    /// Whether a write followed the first read.
    updated: bool,
    touch_read: VersionId,
    last_write: VersionId,
    /// Whether all reads agreed so far.
    sound: bool,
}

/// Examines one transaction after another, and reuses its buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Within {
    /// For each key, the transaction that used it last and its slot there.
    marks: Vec<(u32, u32)>,
    stamp: u32,
    slots: Vec<Slot>,
}

impl Within {
    /// Examines a transaction. If it did not complete `ok`, only its writes are used.
    pub(crate) fn look(
        &mut self,
        versions: &mut Versions,
        kind: OpKind,
        txn: TxnId,
        mops: &[Mop],
        found: &mut Findings,
    ) {
        self.begin(versions);
        for (at, mop) in mops.iter().enumerate() {
            let (slot, is_first) = self.slot(mop.key);
            match mop.what() {
                // Reads of other transactions are not reliable.
                What::Read(version) if kind == OpKind::Ok => {
                    if slot.sound && slot.current != VersionId::NONE && versions.differ(slot.current, version) {
                        // Only the first is reported: later ones may be its consequence.
                        slot.sound = false;
                        found.internal.push((txn, at.to_u32(), slot.current));
                    }
                    slot.current = version;
                    if slot.first_read == VersionId::NONE {
                        slot.first_read = version;
                    }
                    if is_first {
                        slot.touch_read = version;
                    }
                    let is_foreign = versions.see(version, txn);
                    found.hides_reads |= is_foreign && slot.touch_read != version;
                }
                What::Write(written) => {
                    let version = written_by((txn, at.to_u32()), written, versions, found);
                    if slot.last_write != VersionId::NONE {
                        versions.version[slot.last_write.at()].flags.add(Flags::INTERMEDIATE);
                    }
                    if slot.first_read != VersionId::NONE && !slot.updated {
                        slot.updated = true;
                        found.updates.push((slot.first_read, txn));
                    }
                    slot.current = version;
                    slot.last_write = version;
                    let version = &mut versions.version[version.at()];
                    version.writer = txn;
                    if version.reader == txn {
                        found.future_reads.push((txn, at.to_u32()));
                    }
                    if kind == OpKind::Fail {
                        version.flags.add(Flags::FAILED);
                    }
                }
                What::Read(_) | What::Unseen => {}
            }
        }
        if kind != OpKind::Fail {
            let touches = self.slots.iter().map(|slot| Touch {
                txn,
                key: slot.key,
                read: slot.touch_read,
                write: slot.last_write,
            });
            found.touches.extend(touches.filter(|touch| touch.first() != VersionId::NONE));
        }
    }

    fn begin(&mut self, versions: &Versions) {
        if self.stamp == u32::MAX {
            self.marks.fill((0, 0));
            self.stamp = 0;
        }
        self.stamp += 1;
        self.marks.resize(versions.key.len(), (0, 0));
        self.slots.clear();
    }

    /// The slot of a key, and whether this is the first micro-op on the key.
    fn slot(&mut self, key: KeyId) -> (&mut Slot, bool) {
        let mark = &mut self.marks[key.at()];
        let is_first = mark.0 != self.stamp;
        if is_first {
            *mark = (self.stamp, self.slots.len().to_u32());
            self.slots.push(Slot {
                key,
                current: VersionId::NONE,
                first_read: VersionId::NONE,
                updated: false,
                touch_read: VersionId::NONE,
                last_write: VersionId::NONE,
                sound: true,
            });
        }
        (&mut self.slots[mark.1.to_usize()], is_first)
    }
}

/// The version that a write of a transaction creates: another one than `written` if a read may show either write.
fn written_by(
    (txn, mop): (TxnId, u32),
    written: VersionId,
    versions: &mut Versions,
    found: &mut Findings,
) -> VersionId {
    let Version { writer, flags, .. } = versions.version[written.at()];
    if writer == TxnId::NONE && !versions.is_initial(written) {
        return written;
    }
    if flags.has(Flags::RETRIED) {
        let own = versions.part(written);
        found.retries.push(Retry { failed: writer, shared: written, own });
        return written;
    }
    let own = versions.another(written);
    found.repeated.push(Repeated { txn, mop, shared: written, own });
    own
}
