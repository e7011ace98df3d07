//! Reads a history as a whole, if its file cannot be divided: in one worker, with the reader of a single machine.
//!
//! Errors in a history are also found here: the first error is the one at which this reader stops.

use crate::packet::{Head, Packet};
use history_core::cast::Cast as _;
use history_core::keyed_parts::{Form, Router};
use history_core::{Batch, Format, HistoryError, Op, Participants, Process, Reader, Writer};
use std::io;

/// A history that is being read.
pub(crate) struct Whole {
    /// The reader; `None` if the history could not be opened.
    reader: Option<Reader<'static>>,
    batch: Batch,
    router: Router,
    participants: Participants,
    workers: usize,
    /// The number of ops that were sent.
    sent: u64,
    is_over: bool,
    error: Option<HistoryError>,
}

/// How the reading of a history ended.
pub(crate) struct WholeEnd {
    pub(crate) participants: Participants,
    /// The op without a determined key, and the reason: the ops after it were read, but not checked.
    pub(crate) trouble: Option<String>,
    pub(crate) error: Option<HistoryError>,
    /// Names of the client rule that no process had, if the whole history was read.
    pub(crate) unmatched: Option<Vec<String>>,
    /// Further notes for the user about how it was read.
    pub(crate) decisions: Vec<String>,
    /// The number of operations that are not ordered after the previous one of the same client.
    pub(crate) dropped: u64,
}

impl Whole {
    /// Begins to read a history. Its keys are distributed over this number of workers.
    pub(crate) fn new(opened: Result<Reader<'static>, HistoryError>, workers: usize) -> Whole {
        let (reader, error) = match opened {
            Ok(reader) => (Some(reader), None),
            Err(error) => (None, Some(error)),
        };
        Whole {
            is_over: reader.is_none(),
            reader,
            batch: Batch::new(),
            router: Router::default(),
            participants: Participants::new(),
            workers,
            sent: 0,
            error,
        }
    }

    /// The form of keys, known after the first op of a client.
    pub(crate) fn form(&self) -> Option<Form> {
        self.router.form()
    }

    /// Returns true if the whole history was read.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next ops, a little more than `bytes_enough` bytes of them: a packet for each worker.
    pub(crate) fn next(&mut self, number: u64, bytes_enough: usize) -> Vec<Packet> {
        let mut packets: Vec<Packet> = (0..self.workers).map(|_| Packet::of(number)).collect();
        let mut batch = std::mem::take(&mut self.batch);
        while !self.is_over && packets.iter().map(|packet| packet.text.len()).sum::<usize>() < bytes_enough {
            let Some(reader) = &mut self.reader else { break };
            let read = reader.read_batch(&mut batch);
            for op in batch.ops() {
                if let Err(error) = self.send(&op, &mut packets) {
                    self.end(Some(error));
                    break;
                }
            }
            match read {
                Ok(true) => {}
                Ok(false) => self.end(None),
                Err(error) => self.end(Some(error)),
            }
        }
        self.batch = batch;
        packets
    }

    fn end(&mut self, error: Option<HistoryError>) {
        self.is_over = true;
        if self.error.is_none() {
            self.error = error;
        }
    }

    fn send(&mut self, op: &Op<'_>, packets: &mut [Packet]) -> Result<(), HistoryError> {
        if self.router.trouble().is_some() || self.is_over || !self.participants.see(op) {
            return Ok(());
        }
        let at = |error: HistoryError| match op.position {
            Some(position) => error.at(position),
            None => error,
        };
        let Some(place) = self.router.route(op).map_err(at)? else { return Ok(()) };
        let mut text = Vec::new();
        let written = Writer::new(&mut text, Format::Edn).write(op);
        written.map_err(|error: io::Error| at(HistoryError::new(history_core::ErrorKind::Io, error.to_string())))?;
        if text.last() == Some(&b'\n') {
            text.pop();
        }
        let named = match (op.client_name, op.process) {
            (Some(_), Process::Client(number)) => Some(number),
            _ => None,
        };
        let head = Head {
            seq: self.sent,
            line: 0,
            line_begins: 0,
            len: text.len().to_u64(),
            position: op.position,
            client: named,
        };
        self.sent += 1;
        let worker = (place % self.workers.to_u64()).to_usize();
        packets[worker].push(head, &text);
        Ok(())
    }

    /// Ends reading.
    pub(crate) fn finish(self) -> WholeEnd {
        let decisions = self.reader.iter().filter_map(histcheck_front::setup::left_out).collect();
        let dropped = self.reader.as_ref().map_or(0, Reader::dropped_client_orders);
        let reader = self.reader.filter(|_| self.error.is_none());
        WholeEnd {
            decisions,
            dropped,
            unmatched: reader.map(|reader| reader.unmatched().map(str::to_owned).collect()),
            participants: self.participants,
            trouble: self.router.trouble().map(str::to_owned),
            error: self.error,
        }
    }
}
