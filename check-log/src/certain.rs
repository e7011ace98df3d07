//! The anomalies that are certain at the completion of an op, whatever follows. They can be reported while the history
//! is being written.

use crate::columns::messages::{Messages, POLLED, POLLED_OK, is_aborted};
use crate::columns::sightings::{Item, Run};
use crate::columns::{KeyId, MsgId, NO_OFFSET, OpId};
use history_core::OpKind;

/// Examines an op that completed, and records the places of the messages that it shows.
pub(crate) struct Certain<'a> {
    messages: &'a mut Messages,
    op: OpId,
    kind: OpKind,
    /// Whether all ops are known that may have sent the messages that the op polls.
    knows_senders: bool,
    pub(crate) violated: bool,
    /// Whether the op shows a message in a log.
    pub(crate) shows: bool,
}

impl<'a> Certain<'a> {
    pub(crate) fn new(messages: &'a mut Messages, (op, kind): (OpId, OpKind), knows_senders: bool) -> Certain<'a> {
        Certain { messages, op, kind, knows_senders, violated: false, shows: false }
    }

    pub(crate) fn look(&mut self, items: &[Item], is_excused: impl Fn(KeyId) -> bool, scratch: &mut Vec<MsgId>) {
        let mut polled_from = None;
        // The key and offset of the last item in consecutive sends or polls.
        let mut sent: Option<(KeyId, i64)> = None;
        let mut polled: Option<(KeyId, i64)> = None;
        for item in items {
            match *item {
                Item::Send { key, msg, offset } => {
                    if self.kind == OpKind::Ok && offset != NO_OFFSET {
                        self.violated |= self.messages.place(msg, offset, self.op);
                        self.shows = true;
                    }
                    let before = sent.replace((key, offset)).filter(|_| self.kind == OpKind::Ok);
                    self.compare(key, before, offset, false);
                }
                Item::Polled(key) => {
                    polled_from = Some(key);
                    if polled.is_some_and(|(other, _)| other != key) {
                        polled = None;
                    }
                }
                Item::Message { msg, offset } => {
                    if offset != NO_OFFSET {
                        self.violated |= self.messages.place(msg, offset, self.op);
                    }
                    self.shows = true;
                    self.poll(msg);
                    if let Some(key) = polled_from {
                        let before = polled.replace((key, offset)).filter(|_| !is_excused(key));
                        self.compare(key, before, offset, true);
                    }
                }
                Item::Run(run) => {
                    self.shows = true;
                    if let Some(key) = polled_from {
                        let before = polled.replace((key, run.last)).filter(|_| !is_excused(key));
                        self.compare(key, before, self.messages.offset(run.first), true);
                        self.run(key, run, is_excused(key));
                    }
                }
                Item::Poll | Item::Assigned(_) => {}
            }
        }
        self.precommitted(items, scratch);
    }

    fn poll(&mut self, msg: MsgId) {
        self.messages.set(msg, POLLED);
        if self.kind == OpKind::Ok {
            self.messages.set(msg, POLLED_OK);
            self.violated |= self.knows_senders && is_aborted(self.messages.flags(msg));
        }
    }

    /// Examines settled messages: no failed op sent one, and each is at its own offset.
    fn run(&mut self, key: KeyId, run: Run, is_excused: bool) {
        let flags = if self.kind == OpKind::Ok { POLLED | POLLED_OK } else { POLLED };
        let is_new = run.flags & flags != flags;
        if !is_new && !run.has_gaps() {
            return;
        }
        let mut before = None;
        for offset in run.offsets() {
            if is_new && let Some(msg) = self.messages.at(key, offset) {
                self.messages.set(msg, flags);
            }
            self.compare(key, before.replace((key, offset)).filter(|_| !is_excused), offset, true);
        }
    }

    /// Compares two neighbouring messages of one op.
    fn compare(&mut self, key: KeyId, before: Option<(KeyId, i64)>, offset: i64, polled: bool) {
        let Some((_, before)) = before.filter(|(other, before)| *other == key && *before != NO_OFFSET) else { return };
        if offset != NO_OFFSET {
            self.violated |= offset <= before || polled && self.messages.has_between(key, before, offset);
        }
    }

    /// Checks whether the op polled a message that it sent. Messages of a run were sent before, so they are not
    /// examined.
    fn precommitted(&mut self, items: &[Item], sends: &mut Vec<MsgId>) {
        sends.clear();
        sends.extend(items.iter().filter_map(|item| if let Item::Send { msg, .. } = item { Some(*msg) } else { None }));
        if sends.is_empty() || sends.len() == items.len() {
            return;
        }
        sends.sort_unstable();
        let is_sent = |item: &Item| matches!(item, Item::Message { msg, .. } if sends.binary_search(msg).is_ok());
        self.violated |= items.iter().any(is_sent);
    }
}
