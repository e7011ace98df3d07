//! Reading on several threads: the threads turn pieces of the text into values, and one thread puts their ops in the
//! order of the text.
//!
//! The beginning of a piece is a guess. A thread reads it as if it began between two ops, from line end to line end.
//! The result counts only if the previous piece ended in this way, and if the piece is complete and has no fault.
//! Otherwise its text, and all following text, is returned to the reader, which reads it as it would have without
//! threads. So only one thread reports errors in a text, and there is only one way in which an error can be reported.
//!
//! Pairing, indices and places in the whole text depend on the previous ops, and are determined by the thread that puts
//! the pieces in order. It also reads and cuts the source, so decompression takes that thread.

use super::blocks::{Blocks, Pieces};
use super::handover::Handover;
use super::place::Place;
use super::steps::Steps;
use super::{Reader, read_row};
use crate::TimeUnit;
use crate::cast::Cast as _;
use crate::error::{HistoryError, Position};
use crate::ops::batch::Batch;
use crate::text::syntax::memo::Memo;
use crate::values::tape::own;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

/// The number of blocks that are read before threads are started, so that a short history needs none.
const FIRST_BLOCKS: usize = 4;

/// The number of pieces in progress per thread.
const PIECES: usize = 2;

/// The initial and maximum credit. Each piece that counts raises the credit by one. Each time that pieces are given
/// back, because one does not count or contains no line end, it falls by `COST`. Below `COST`, no threads are used.
const CREDIT: u32 = 64;
const COST: u32 = 16;

/// Whether and when a reader reads on several threads.
#[derive(Debug)]
pub(super) struct Plan {
    /// The number of threads; with fewer than two, the reader reads alone.
    pub(super) threads: usize,
    credit: u32,
    /// The reader reads alone up to this offset of the text.
    alone_to: u64,
    /// The number of pieces that counted.
    pub(super) pieces: u64,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { threads: 1, credit: CREDIT, alone_to: 0, pieces: 0 }
    }
}

/// Threads that wait for pieces, until this is dropped.
pub(super) struct Threads {
    jobs: Sender<Job>,
    count: usize,
}

/// A piece that is to be read.
struct Job {
    bytes: Vec<u8>,
    /// The number of its bytes that were read before.
    start: usize,
    batch: Batch,
    steps: Steps,
    unit: Option<TimeUnit>,
    done: SyncSender<Piece>,
}

/// A piece that was read.
struct Piece {
    start: usize,
    /// The position at which it was assumed to begin.
    begun: Steps,
    outcome: Outcome,
}

enum Outcome {
    /// The ops of the piece are in a batch. Places are counted from the beginning of the piece.
    Whole(Box<Whole>),
    /// The text of a piece that is not UTF-8, does not end between two ops, or has a fault.
    Bytes(Vec<u8>),
}

struct Whole {
    batch: Batch,
    /// The position of the reader after it.
    steps: Steps,
    end: Place,
}

impl Threads {
    /// Starts this many threads, or as many as possible; `None` if those are too few.
    pub(super) fn start<'scope>(scope: &'scope Scope<'scope, '_>, count: usize) -> Option<Threads> {
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let started = (0..count).map_while(|_| {
            let queue = Arc::clone(&queue);
            Builder::new().spawn_scoped(scope, move || work(&queue)).ok()
        });
        let count = started.count();
        (count > 1).then_some(Threads { jobs, count })
    }
}

/// Reads pieces as long as there are any.
fn work(queue: &Mutex<Receiver<Job>>) {
    // Each thread receives only some of the pieces, so its memory of runs of integers is more recent than that of a
    // batch.
    let mut memo = Memo::default();
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        let (piece, done) = job.read(&mut memo);
        // This fails only if the reader has ended and no longer waits for the piece.
        let _ = done.send(piece);
    }
}

impl Job {
    fn read(self, memo: &mut Memo) -> (Piece, SyncSender<Piece>) {
        let Job { bytes, start, mut batch, steps: begun, unit, done } = self;
        let mut steps = begun.clone();
        batch.clear();
        let outcome = match String::from_utf8(bytes) {
            Err(error) => Outcome::Bytes(error.into_bytes()),
            Ok(text) => {
                *batch.tape.source.to_mut() = text;
                std::mem::swap(&mut batch.tape.memo, memo);
                let end = read(&mut batch, start, &mut steps, unit);
                std::mem::swap(&mut batch.tape.memo, memo);
                match end {
                    Some(end) => Outcome::Whole(Box::new(Whole { batch, steps, end })),
                    None => Outcome::Bytes(bytes_of(&mut batch)),
                }
            }
        };
        (Piece { start, begun, outcome }, done)
    }
}

/// Reads the text of a batch, of which `start` bytes were read before. Returns where it ends, if it ends between two
/// ops.
fn read(batch: &mut Batch, start: usize, steps: &mut Steps, unit: Option<TimeUnit>) -> Option<Place> {
    let block = Blocks::block_of(batch.tape.source.as_bytes(), start);
    let read = steps.run(batch, &block, usize::MAX, |batch, found, place| read_row(batch, found, place, unit));
    if !read.is_ok_and(|end| end == block.end) {
        return None;
    }
    let mut end = steps.counted(&block);
    end.advance(&batch.tape.source.as_bytes()[end.offset.to_usize()..]);
    Some(end)
}

fn bytes_of(batch: &mut Batch) -> Vec<u8> {
    std::mem::take(batch.tape.source.to_mut()).into_bytes()
}

impl Piece {
    fn into_bytes(self) -> Vec<u8> {
        match self.outcome {
            Outcome::Whole(mut whole) => bytes_of(&mut whole.batch),
            Outcome::Bytes(bytes) => bytes,
        }
    }
}

impl Reader<'_> {
    /// Returns true if more than this thread is worthwhile for the following text.
    pub(super) fn is_for_threads(&self) -> bool {
        let Plan { threads, credit, alone_to, .. } = self.plan;
        threads > 1
            && credit >= COST
            && self.blocks.has_read(FIRST_BLOCKS)
            && self.blocks.offset() >= alone_to
            && !self.read_all
            && self.failed.is_none()
            // Then nothing in a piece can be too long.
            && self.limits.op_bytes_max >= self.blocks.piece_bytes_max()
            // Only this thread counts how much was read.
            && self.limits.text_bytes_max == u64::MAX
            && self.blocks.can_be_cut()
            && self.steps.as_ref().is_some_and(Steps::is_between_ops)
    }

    /// Continues to read with threads, as far as there are pieces. Breaks once the receiver has stopped.
    pub(super) fn read_on(&mut self, threads: &Threads, handover: &mut Handover) -> ControlFlow<()> {
        let mut pieces = Pieces::of(&mut self.blocks);
        let mut under_way: VecDeque<Receiver<Piece>> = VecDeque::new();
        let mut left = None;
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() && left.is_none() {
            let is_room = !pieces.ended && under_way.len() < PIECES * threads.count;
            if let Some(piece) = first_done(&mut under_way, !is_room) {
                match self.take_in(piece) {
                    Ok((batch, read)) => flow = handover.put(batch, read),
                    Err(piece) => left = Some(piece),
                }
            } else if !is_room {
                break;
            } else {
                let mut batch = handover.any();
                let mut bytes = bytes_of(&mut batch);
                if let Some((start, steps)) = self.next_piece(&mut pieces, &mut bytes) {
                    let (done, piece) = sync_channel(1);
                    // This cannot fail: the threads end only after this one drops the queue.
                    let _ = threads.jobs.send(Job { bytes, start, batch, steps, unit: self.unit, done });
                    under_way.push_back(piece);
                }
            }
        }
        self.give_back(pieces, left, under_way);
        flow
    }

    /// Puts the next piece into `bytes`, if there is one. Returns how much of it was read before, and where it may
    /// begin.
    fn next_piece(&mut self, pieces: &mut Pieces, bytes: &mut Vec<u8>) -> Option<(usize, Steps)> {
        let is_first = pieces.is_first;
        let start = pieces.next(&mut self.blocks, bytes)?;
        let steps = self.steps.as_ref()?;
        Some((start, if is_first { steps.clone() } else { steps.before(bytes) }))
    }

    /// Adds the ops of the next piece; returns the same as [`Reader::read_batch`]. Returns the piece if it does not
    /// count.
    fn take_in(&mut self, piece: Piece) -> Result<(Batch, Result<bool, HistoryError>), Box<Piece>> {
        let Piece { start, begun, outcome } = piece;
        let Whole { mut batch, steps: after, end } = match (outcome, &self.steps) {
            (Outcome::Whole(whole), Some(now)) if now.is_alike(&begun) => *whole,
            (outcome, _) => return Err(Box::new(Piece { start, begun, outcome })),
        };
        let begins = self.blocks.begins(start);
        batch.starts_at = begins.offset;
        for row in own(&mut batch.records) {
            if let Some(Position { offset, line, column }) = row.position() {
                let place = Place { offset, line: line - 1, column: column - 1 };
                row.set_position(place.within(begins).position());
            }
        }
        if let Err(error) = self.finish_records(&mut batch) {
            let mut block = Blocks::block_of(batch.tape.source.as_bytes(), start);
            block.place = block.place.within(begins);
            let error = self.blocks.sited(error, &batch.tape.source, &block);
            self.failed = Some(error.clone());
            return Ok((batch, Err(error)));
        }
        if let Some(steps) = &mut self.steps {
            steps.follow(after, begins);
        }
        self.blocks.pass(end.within(begins));
        self.plan.pieces += 1;
        self.plan.credit = CREDIT.min(self.plan.credit + 1);
        Ok((batch, Ok(true)))
    }

    /// Returns unread text to the source: a piece that does not count, those after it, and the rest of the source.
    fn give_back(&mut self, pieces: Pieces, left: Option<Box<Piece>>, under_way: VecDeque<Receiver<Piece>>) {
        if left.is_some() || pieces.is_long {
            self.plan.credit = self.plan.credit.saturating_sub(COST);
        }
        let rest = under_way.into_iter().map(|piece| piece.recv().unwrap_or_else(|_| panicked()));
        let mut all: Option<(Vec<u8>, usize)> = None;
        let mut alone_bytes = pieces.carried_bytes();
        for piece in left.map(|piece| *piece).into_iter().chain(rest) {
            let start = piece.start;
            let bytes = piece.into_bytes();
            if let Some((all, _)) = &mut all {
                all.extend_from_slice(&bytes);
            } else {
                alone_bytes = bytes.len() - start;
                all = Some((bytes, start));
            }
        }
        // After the text that prevented it, pieces are tried again.
        self.plan.alone_to = if pieces.is_over() { u64::MAX } else { self.blocks.offset() + alone_bytes.to_u64() };
        self.blocks.take_back(pieces, all);
    }
}

/// Returns the first of the pieces in progress if it is done; if `wait`, waits until it is done.
fn first_done(under_way: &mut VecDeque<Receiver<Piece>>, wait: bool) -> Option<Piece> {
    let first = under_way.front()?;
    let piece = if wait {
        first.recv().unwrap_or_else(|_| panicked())
    } else {
        match first.try_recv() {
            Ok(piece) => piece,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => panicked(),
        }
    };
    under_way.pop_front();
    Some(piece)
}

/// Panics: a thread drops its result only if it panicked.
fn panicked() -> ! {
    panic!("a thread that reads has panicked")
}
