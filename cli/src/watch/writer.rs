//! Reads one writer: each line is an op, and invocations are acknowledged.

use super::inbox::ARRIVAL_BYTES;
use super::order::{Order, ProcessId, Stop, WriterId};
use super::socket::stream::Stream;
use histcheck_front::ReadAs;
use history_core::{Lines, OpKind};
use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of bytes in incomplete lines of all writers.
pub(super) struct Unfinished {
    bytes: AtomicUsize,
    line_bytes_max: usize,
    bytes_max: usize,
}

impl Default for Unfinished {
    fn default() -> Unfinished {
        Unfinished { bytes: AtomicUsize::new(0), line_bytes_max: 64 << 20, bytes_max: 256 << 20 }
    }
}

impl Unfinished {
    /// Replaces a writer's count `held` by `bytes`. A small number of bytes per writer is not counted.
    fn hold(&self, held: &mut usize, bytes: usize) -> Result<(), String> {
        let bytes = if bytes > ARRIVAL_BYTES { bytes } else { 0 };
        self.bytes.fetch_sub(*held, Ordering::SeqCst);
        *held = 0;
        if bytes > self.line_bytes_max {
            return Err(format!("a line is longer than {} bytes", self.line_bytes_max));
        }
        if self.bytes.fetch_add(bytes, Ordering::SeqCst) + bytes > self.bytes_max {
            self.bytes.fetch_sub(bytes, Ordering::SeqCst);
            return Err(format!(
                "the lines of all writers that have not ended are longer than {} bytes",
                self.bytes_max
            ));
        }
        *held = bytes;
        Ok(())
    }
}

/// Records the ops of a writer until it disconnects, and sends it the reason if it is refused.
pub(super) fn serve(stream: &Arc<Stream>, id: Arc<WriterId>, order: &Order, unfinished: &Unfinished, read_as: &ReadAs) {
    let mut writer = Writer {
        stream,
        id,
        order,
        unfinished,
        held: 0,
        lines: read_as.lines(),
        text: Vec::new(),
        acks: VecDeque::new(),
        ack_text: Vec::new(),
        waiting: HashSet::new(),
        unwaiting: HashSet::new(),
        first_unwaiting: None,
    };
    let ended = writer.run();
    let _ = unfinished.hold(&mut writer.held, 0);
    if let Err(Stop::Refused(why)) = ended {
        writer.send_refusal(&why);
    }
    stream.close();
}

/// The message with the reason why a writer's ops are not read.
pub(super) fn refusal(why: &str) -> Vec<u8> {
    format!("{{\"refused\":{}}}\n", serde_json::Value::from(why)).into_bytes()
}

struct Writer<'w> {
    stream: &'w Arc<Stream>,
    id: Arc<WriterId>,
    order: &'w Order,
    unfinished: &'w Unfinished,
    /// The number of bytes of `text` that are counted in `unfinished`.
    held: usize,
    lines: Lines,
    /// The beginning of a line that is incomplete.
    text: Vec<u8>,
    /// Pending acknowledgements: the process that waits for each, and how many bytes of `ack_text` are left of it.
    acks: VecDeque<(Option<ProcessId>, usize)>,
    ack_text: Vec<u8>,
    /// The processes in `acks`.
    waiting: HashSet<ProcessId>,
    /// Processes that completed an operation while they were in `waiting`: they get no more acknowledgements.
    unwaiting: HashSet<ProcessId>,
    first_unwaiting: Option<ProcessId>,
}

impl Writer<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        let mut bytes = vec![0; ARRIVAL_BYTES];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return self.end(),
                Ok(count) => self.take(&bytes[..count])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // All written data was read: a completion that arrives now comes after its acknowledgement.
                    self.acknowledge();
                    self.stream.wait(!self.acks.is_empty());
                }
                // A connection ends like this if the writer has not read its acknowledgements.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    if !self.stream.loses_when_reset() {
                        return self.end();
                    }
                    let why = "its connection was reset, so what it wrote last may be lost; read all acknowledgements before \
                               the connection is closed";
                    return Err(self.order.refuse(&self.id, why.to_owned()));
                }
                Err(error) => {
                    let why = format!("its connection failed: {error}");
                    return Err(self.order.refuse(&self.id, why));
                }
            }
        }
    }

    /// Records the lines that end in these bytes.
    fn take(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            self.text.extend_from_slice(bytes);
            return self.hold();
        };
        let (lines, rest) = bytes.split_at(end + 1);
        let mut lines = lines.split_inclusive(|byte| *byte == b'\n');
        let mut read = Ok(());
        if !self.text.is_empty()
            && let Some(first) = lines.next()
        {
            let mut line = std::mem::take(&mut self.text);
            line.extend_from_slice(first);
            read = self.lines.read(&line);
        }
        while let (Ok(()), Some(line)) = (&read, lines.next()) {
            read = self.lines.read(line);
        }
        self.record()?;
        if let Err(error) = read {
            return Err(self.order.refuse(&self.id, error.to_string()));
        }
        self.text.extend_from_slice(rest);
        self.hold()
    }

    fn hold(&mut self) -> Result<(), Stop> {
        let held = self.unfinished.hold(&mut self.held, self.text.len());
        held.map_err(|why| self.order.refuse(&self.id, why))
    }

    /// Records the ops that were read, and adds their acknowledgements.
    fn record(&mut self) -> Result<(), Stop> {
        let batch = self.lines.take();
        if batch.is_empty() {
            return Ok(());
        }
        let mut acks = Vec::new();
        for op in batch.ops() {
            let process = ProcessId::of(op.process);
            if op.kind == OpKind::Invoke {
                self.waiting.extend(process.clone().filter(|process| !self.unwaiting.contains(process)));
                acks.push(process);
            } else if let Some(process) = process.filter(|process| self.waiting.contains(process)) {
                self.waiting.remove(&process);
                self.first_unwaiting.get_or_insert_with(|| process.clone());
                self.unwaiting.insert(process);
            }
        }
        self.order.record(&self.id, self.stream, batch, self.first_unwaiting.as_ref())?;
        for process in acks {
            if process.as_ref().is_some_and(|process| self.unwaiting.contains(process)) {
                continue;
            }
            let text = format!("{{\"ack\":{}}}\n", process.as_ref().map_or("null".to_owned(), ProcessId::to_json));
            self.ack_text.extend_from_slice(text.as_bytes());
            self.acks.push_back((process, text.len()));
        }
        Ok(())
    }

    /// Writes as many acknowledgements as possible without waiting. Returns whether the rest can be written later.
    fn acknowledge(&mut self) -> bool {
        let (mut written, mut is_open) = (0, true);
        while written < self.ack_text.len() {
            match self.stream.write(&self.ack_text[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The writer does not read, or has disconnected, which reading shows.
                Err(error) => {
                    is_open = error.kind() == io::ErrorKind::WouldBlock;
                    break;
                }
            }
        }
        self.ack_text.drain(..written);
        while let Some((process, left)) = self.acks.front_mut() {
            if *left > written {
                *left -= written;
                break;
            }
            written -= *left;
            if let Some(process) = process {
                self.waiting.remove(process);
            }
            self.acks.pop_front();
        }
        is_open
    }

    /// Processes the last line, which may lack its newline. Then writes all acknowledgements: the writer may have
    /// closed only its own direction of the connection, and may wait for them.
    fn end(&mut self) -> Result<(), Stop> {
        let line = std::mem::take(&mut self.text);
        let read = self.lines.read(&line);
        self.record()?;
        if let Err(error) = read {
            return Err(self.order.refuse(&self.id, format!("it closed its connection within a line: {error}")));
        }
        self.order.close(&self.id)?;
        while self.acknowledge() && !self.acks.is_empty() {
            self.stream.wait_to_write();
        }
        Ok(())
    }

    fn send_refusal(&mut self, why: &str) {
        self.acknowledge();
        if self.acks.is_empty() {
            let _ = self.stream.write(&refusal(why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_do_not_end_share_a_limit() {
        let all = Unfinished { bytes: AtomicUsize::new(0), line_bytes_max: 200_000, bytes_max: 300_000 };
        let (mut one, mut two) = (0, 0);
        all.hold(&mut one, 200_000).unwrap();
        all.hold(&mut two, ARRIVAL_BYTES).unwrap();
        assert_eq!((one, two), (200_000, 0), "what every writer may hold is not counted");
        assert!(all.hold(&mut two, 100_001).unwrap_err().contains("of all writers that have not ended"));
        all.hold(&mut two, 100_000).unwrap();
        assert!(all.hold(&mut one, 200_001).unwrap_err().contains("a line is longer than 200000 bytes"));
        all.hold(&mut two, 200_000).unwrap();
        all.hold(&mut two, 0).unwrap();
        assert_eq!(all.bytes.load(Ordering::SeqCst), 0);
    }
}
