//! The file of a history: lines get their positions one by one, and are written in groups.
//!
//! A line gets its place in the order when it is appended, and is written later, together with the lines that other
//! threads have appended meanwhile: with one call, and one message to the judge, for all of them. A thread that needs
//! its line in the file flushes: it writes all lines, or waits for the thread that is writing its line.
//!
//! The file therefore always contains a prefix of the order. A process that is killed loses the lines after it, and
//! these are invocations whose operations have not been recorded as completed: every operation that a completion in the
//! file may have observed was invoked before it, and is in the file, too.
//!
//! Two locks: `order` is held while a line is appended, `writer` while a group is written. The writer may wait for the
//! judge, so the judge acquires neither.

use crate::run::counts::Counts;
use crate::run::inbox::Sender;
use crate::run::line::unsigned;
use history_core::cast::Cast as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The file of a history, and the copy for the judge.
pub(super) struct Log {
    started: Instant,
    order: Mutex<Order>,
    writer: Mutex<Writer>,
    pub(super) counts: Counts,
    has_failed: AtomicBool,
}

/// Lines that have a position but are not in the file yet.
#[derive(Default)]
struct Order {
    lines: Vec<u8>,
    count: usize,
    /// The total length of all lines with a position, in bytes.
    end: u64,
}

struct Writer {
    file: File,
    judge: Option<Sender>,
    /// The group that is being written.
    lines: Vec<u8>,
    failure: Option<io::Error>,
}

impl Log {
    /// Creates a log that writes to an empty file, and to a judge.
    pub(super) fn new(file: File, judge: Option<Sender>, started: Instant) -> Log {
        Log {
            started,
            order: Mutex::default(),
            writer: Mutex::new(Writer { file, judge, lines: Vec::new(), failure: None }),
            counts: Counts::default(),
            has_failed: AtomicBool::new(false),
        }
    }

    /// Assigns a line its position: its index, and the current time, which never decreases. `body` is the rest of the
    /// line. Returns the end of the line.
    pub(super) fn append(&self, body: &[u8]) -> u64 {
        let mut order = lock(&self.order);
        let Order { lines, count, end } = &mut *order;
        let before = lines.len();
        let index = self.counts.ops.load(Ordering::Relaxed);
        lines.extend_from_slice(b"{\"index\":");
        unsigned(lines, index);
        lines.extend_from_slice(b",\"time\":");
        unsigned(lines, u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX));
        lines.push(b',');
        lines.extend_from_slice(body);
        *count += 1;
        *end += (lines.len() - before).to_u64();
        self.counts.ops.store(index + 1, Ordering::Relaxed);
        *end
    }

    /// Returns when all lines up to this position are in the file, or a line could not be written.
    pub(super) fn flush(&self, end: u64) {
        if self.written() < end {
            let mut writer = lock(&self.writer);
            // Another thread may have written the line in the meantime.
            if self.written() < end {
                self.write(&mut writer);
            }
        }
    }

    /// Writes all lines, unless another thread is writing or this would have to wait for the judge.
    pub(super) fn try_flush(&self) {
        if let Ok(mut writer) = self.writer.try_lock()
            && writer.judge.as_ref().is_none_or(Sender::has_room)
        {
            self.write(&mut writer);
        }
    }

    /// Writes all lines, and ends the judge's copy. The first line that could not be written is the end of the file.
    pub(super) fn end(&self) -> io::Result<()> {
        let mut writer = lock(&self.writer);
        self.write(&mut writer);
        writer.judge = None;
        writer.failure.take().map_or(Ok(()), Err)
    }

    fn written(&self) -> u64 {
        self.counts.bytes.load(Ordering::Acquire)
    }

    /// Returns true if a line could not be written.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    fn write(&self, writer: &mut Writer) {
        writer.lines.clear();
        let (count, end) = {
            let mut order = lock(&self.order);
            std::mem::swap(&mut order.lines, &mut writer.lines);
            (std::mem::take(&mut order.count), order.end)
        };
        if count == 0 || writer.failure.is_some() {
            return;
        }
        if let Err(error) = writer.file.write_all(&writer.lines) {
            // Cuts the file after the last complete line, if possible.
            _ = writer.file.set_len(self.written());
            writer.failure = Some(error);
            self.has_failed.store(true, Ordering::Relaxed);
            return;
        }
        self.counts.bytes.store(end, Ordering::Release);
        if let Some(judge) = &writer.judge {
            judge.put(&writer.lines, count);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    fn log(file: File) -> Log {
        Log::new(file, None, Instant::now())
    }

    #[test]
    fn a_line_that_was_flushed_is_in_the_file_with_all_before_it() {
        const THREADS: usize = 4;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let log = log(File::create(&path).unwrap());
        let barrier = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (log, barrier, path) = (&log, &barrier, &path);
                scope.spawn(move || {
                    barrier.wait();
                    for number in 0..200 {
                        log.append(format!("\"invoke\":\"{thread}-{number}\"}}\n").as_bytes());
                        let end = log.append(format!("\"ok\":\"{thread}-{number}\"}}\n").as_bytes());
                        log.flush(end);
                        let text = std::fs::read_to_string(path).unwrap();
                        assert!(text.contains(&format!("\"ok\":\"{thread}-{number}\"")), "{thread}-{number}");
                        // After this position, another thread may be writing.
                        assert!(text.as_bytes()[..end.to_usize()].ends_with(b"}\n"));
                    }
                });
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(log.written(), text.len().to_u64());
        for (index, line) in text.lines().enumerate() {
            assert!(line.starts_with(&format!("{{\"index\":{index},\"time\":")), "{line}");
        }
        assert_eq!(text.lines().count(), THREADS * 400);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_ends_the_file_and_nobody_waits() {
        let log = log(File::options().write(true).open("/dev/full").unwrap());
        let end = log.append(b"}\n");
        log.flush(end);
        assert!(log.has_failed() && log.written() == 0);
        log.flush(log.append(b"}\n"));
        assert_eq!(log.end().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
