//! Text that other threads bring, as one source of bytes.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Arrivals that wait to be read. Whoever brings more waits too: nothing is lost, and memory stays small.
const WAITING_MAX: usize = 64;
/// Bytes of text in one arrival, but for a line that is longer.
pub(super) const ARRIVAL_BYTES: usize = 64 << 10;

/// What a thread brings.
pub(super) enum Arrival {
    Text(Vec<u8>),
    /// Nothing more can be read, and why.
    Failed(io::Error),
    /// The history is over.
    End,
}

/// Where threads bring it.
pub(super) type Door = SyncSender<Arrival>;

/// What has arrived, in the order in which it did.
pub(super) struct Inbox {
    arrivals: Receiver<Arrival>,
    text: Vec<u8>,
    /// How much of `text` was read.
    read: usize,
    over: bool,
}

pub(super) fn inbox() -> (Door, Inbox) {
    let (door, arrivals) = sync_channel(WAITING_MAX);
    (door, Inbox { arrivals, text: Vec::new(), read: 0, over: false })
}

impl Read for Inbox {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.read == self.text.len() && !self.over {
            match self.arrivals.recv() {
                Ok(Arrival::Text(text)) => (self.text, self.read) = (text, 0),
                Ok(Arrival::Failed(error)) => {
                    self.over = true;
                    return Err(error);
                }
                // Without doors there is nothing more to come.
                Ok(Arrival::End) | Err(_) => self.over = true,
            }
        }
        let rest = &self.text[self.read..];
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
        let (door, mut inbox) = inbox();
        for text in ["ab", "", "c"] {
            door.send(Arrival::Text(text.into())).unwrap();
        }
        door.send(Arrival::End).unwrap();
        door.send(Arrival::Text("late".into())).unwrap();
        let mut one = [0];
        let mut all = Vec::new();
        while inbox.read(&mut one).unwrap() == 1 {
            all.push(one[0]);
        }
        assert_eq!(all, b"abc");
    }

    #[test]
    fn a_failure_comes_behind_the_text_before_it() {
        let (door, mut inbox) = inbox();
        door.send(Arrival::Text("ab".into())).unwrap();
        door.send(Arrival::Failed(io::Error::other("gone"))).unwrap();
        let mut all = Vec::new();
        assert_eq!(inbox.read_to_end(&mut all).unwrap_err().to_string(), "gone");
        assert_eq!(all, b"ab");
    }
}
