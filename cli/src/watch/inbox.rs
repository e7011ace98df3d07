//! Arrivals from other threads, in the order in which they arrive.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The maximum number of arrivals that wait to be read. When it is reached, senders wait: nothing is lost, and memory
/// is bounded.
const WAITING_MAX: usize = 16;
/// The maximum number of bytes of text in one arrival, except for a longer line.
pub(super) const ARRIVAL_BYTES: usize = 64 << 10;

/// An arrival from a thread.
pub(super) enum Arrival<T> {
    Some(T),
    /// The source cannot be read any more, and the reason.
    Failed(io::Error),
    /// The source has ended.
    Ended,
    /// The history is over, independently of the source.
    Cut,
}

/// The channel to which threads send.
pub(super) type Sender<T> = SyncSender<Arrival<T>>;

pub(super) fn inbox<T>() -> (Sender<T>, Inbox<T>) {
    let (sender, arrivals) = sync_channel(WAITING_MAX);
    (sender, Inbox { arrivals, is_over: false, is_cut: Arc::default() })
}

/// What has arrived.
pub(super) struct Inbox<T> {
    arrivals: Receiver<Arrival<T>>,
    is_over: bool,
    is_cut: Arc<AtomicBool>,
}

impl<T> Inbox<T> {
    /// Returns the next arrival, and waits for it; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<T>> {
        if self.is_over {
            return Ok(None);
        }
        // Without senders, nothing more arrives.
        match self.arrivals.recv().unwrap_or(Arrival::Ended) {
            Arrival::Some(it) => return Ok(Some(it)),
            Arrival::Failed(error) => {
                self.is_over = true;
                return Err(error);
            }
            Arrival::Ended => {}
            Arrival::Cut => self.is_cut.store(true, Ordering::SeqCst),
        }
        self.is_over = true;
        Ok(None)
    }

    /// A flag that is set once the history was cut, instead of ended by its source.
    pub(super) fn is_cut(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_cut)
    }
}

/// The received text, as one source of bytes.
pub(super) struct Text {
    inbox: Inbox<Vec<u8>>,
    bytes: Vec<u8>,
    /// The number of bytes of `bytes` that were read.
    read: usize,
}

impl Text {
    pub(super) fn new(inbox: Inbox<Vec<u8>>) -> Text {
        Text { inbox, bytes: Vec::new(), read: 0 }
    }
}

impl Read for Text {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.read == self.bytes.len() {
            let Some(bytes) = self.inbox.next()? else { return Ok(0) };
            (self.bytes, self.read) = (bytes, 0);
        }
        let rest = &self.bytes[self.read..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_is_read_in_order_up_to_the_end() {
        for (end, cut) in [(Arrival::Ended, false), (Arrival::Cut, true)] {
            let (sender, inbox) = inbox::<Vec<u8>>();
            let is_cut = inbox.is_cut();
            let mut text = Text::new(inbox);
            for text in ["ab", "", "c"] {
                sender.send(Arrival::Some(text.into())).unwrap();
            }
            sender.send(end).unwrap();
            sender.send(Arrival::Some("late".into())).unwrap();
            let mut one = [0];
            let mut all = Vec::new();
            while text.read(&mut one).unwrap() == 1 {
                all.push(one[0]);
                assert!(!is_cut.load(Ordering::SeqCst));
            }
            assert_eq!((all.as_slice(), is_cut.load(Ordering::SeqCst)), (&b"abc"[..], cut));
        }
    }

    #[test]
    fn a_failure_comes_behind_the_text_before_it() {
        let (sender, inbox) = inbox::<Vec<u8>>();
        sender.send(Arrival::Some("ab".into())).unwrap();
        sender.send(Arrival::Failed(io::Error::other("gone"))).unwrap();
        let mut all = Vec::new();
        assert_eq!(Text::new(inbox).read_to_end(&mut all).unwrap_err().to_string(), "gone");
        assert_eq!(all, b"ab");
    }
}
