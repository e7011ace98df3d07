//! Lines passed from the recorder to the judge: a buffer with a limit, read as a stream of bytes.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum number of waiting lines: the judge is never further behind than this, plus the lines it is reading.
const LINES_MAX: usize = 256;
/// The number of lines that wake the judge. Waking it for each line would cost more than recording the line.
const LINES_WAKE: usize = LINES_MAX / 4;
/// The maximum time for which fewer lines wait.
const WAIT: Duration = Duration::from_millis(2);

/// Creates an inbox: its sender and its reader.
pub(crate) fn inbox() -> (Sender, Inbox) {
    let shared = Arc::new(Shared::default());
    (Sender(Arc::clone(&shared)), Inbox { shared, bytes: Vec::new(), read: 0 })
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    lines: usize,
    /// Whether no more lines will follow.
    is_over: bool,
    /// Whether the reader was dropped.
    is_closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends lines.
pub(crate) struct Sender(Arc<Shared>);

impl Sender {
    /// Returns true if lines could be sent without waiting.
    pub(crate) fn has_room(&self) -> bool {
        let waiting = self.0.lock();
        waiting.lines < LINES_MAX || waiting.is_closed
    }

    /// Sends `count` lines, each with its newline. Waits while there are too many; the judge acquires no lock that the
    /// caller may hold.
    pub(crate) fn put(&self, lines: &[u8], count: usize) {
        let mut waiting = self.0.lock();
        while waiting.lines >= LINES_MAX && !waiting.is_closed {
            waiting = self.0.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if !waiting.is_closed {
            waiting.bytes.extend_from_slice(lines);
            let before = waiting.lines;
            waiting.lines += count;
            if before < LINES_WAKE && waiting.lines >= LINES_WAKE {
                self.0.changed.notify_all();
            }
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

/// Reads lines.
pub(crate) struct Inbox {
    shared: Arc<Shared>,
    bytes: Vec<u8>,
    read: usize,
}

impl Read for Inbox {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.read == self.bytes.len() {
            self.bytes.clear();
            self.read = 0;
            let mut waiting = self.shared.lock();
            if waiting.lines < LINES_WAKE && !waiting.is_over {
                waiting = self.shared.changed.wait_timeout(waiting, WAIT).unwrap_or_else(PoisonError::into_inner).0;
            }
            while waiting.lines == 0 && !waiting.is_over {
                waiting = self.shared.changed.wait_timeout(waiting, WAIT).unwrap_or_else(PoisonError::into_inner).0;
            }
            std::mem::swap(&mut self.bytes, &mut waiting.bytes);
            let was_full = waiting.lines >= LINES_MAX;
            waiting.lines = 0;
            if was_full {
                self.shared.changed.notify_all();
            }
        }
        let rest = &self.bytes[self.read..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_arrive_in_order_and_the_sender_waits() {
        let (sender, mut inbox) = inbox();
        let lines = LINES_MAX * 3;
        let writer =
            std::thread::spawn(move || (0..lines).for_each(|line| sender.put(format!("{line}\n").as_bytes(), 1)));
        let mut text = String::new();
        inbox.read_to_string(&mut text).unwrap();
        writer.join().unwrap();
        assert!(text.lines().map(|line| line.parse::<usize>().unwrap()).eq(0..lines));
    }

    #[test]
    fn a_sender_does_not_wait_for_a_reader_that_is_gone() {
        let (sender, inbox) = inbox();
        drop(inbox);
        (0..LINES_MAX * 2).for_each(|_| sender.put(b"x\n", 1));
    }
}
