//! A TCP connection: two streams of bytes, in order and without loss until it breaks.
//!
//! The connection breaks for a side that has waited too long for a partition to end, and when the other side resets it:
//! because its host has crashed, or because the side was dropped and received data that is never read, before or
//! afterwards. Data that had arrived before can still be read, as on Linux. Acknowledgements always arrive.

use super::link::{Arrival, Fault, Link, Wires};
use crate::object::Object;
use crate::op::Kind;
use crate::runtime;
use crate::time::Instant;
use crate::tokio::executor;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

const OPEN: [bool; 2] = [true; 2];

/// The error of operations of a side whose host has crashed.
const CRASHED: ErrorKind = ErrorKind::NetworkDown;

/// One of the two ends. Side 0 opened the connection.
pub(super) type Side = usize;

pub(super) struct Connection {
    pub(super) object: Object,
    wires: Arc<Wires>,
    /// The hosts of both sides.
    hosts: [usize; 2],
    state: Mutex<[Half; 2]>,
}

/// The state of one side.
#[derive(Default)]
struct Half {
    /// The data that this side has sent and the other side has not read.
    sent: VecDeque<Segment>,
    /// The number of bytes of that data.
    unread: usize,
    /// Whether this side sends no more data.
    is_finished: bool,
    /// Whether this side was dropped.
    is_gone: bool,
    /// The reset that the other side has sent.
    reset: Option<Arrival>,
    /// The error that operations of this side return.
    error: Option<ErrorKind>,
    /// Whether an operation has returned the reset to this side; later writes return another error.
    is_told: bool,
    /// Tasks that wait to read or write on this side.
    wakers: Vec<Waker>,
}

struct Segment {
    content: Content,
    arrival: Arrival,
}

enum Content {
    Data(VecDeque<u8>),
    End,
    Reset,
}

/// The reason why an operation cannot be executed now.
pub(super) enum Stuck {
    /// The operation has to be tried again when the task is woken, when data arrives, or when the side gives up.
    Wait {
        arrives: Option<Instant>,
        gives_up: Option<Instant>,
    },
    Fails(io::Error),
}

impl From<ErrorKind> for Stuck {
    fn from(kind: ErrorKind) -> Stuck {
        Stuck::Fails(kind.into())
    }
}

/// The time when a side has to check its state again.
#[derive(Clone, Copy)]
struct Due {
    arrives: Option<Instant>,
    gives_up: Option<Instant>,
}

impl Due {
    fn stuck(self, arrives: Option<Instant>) -> Stuck {
        Stuck::Wait { arrives: self.arrives.into_iter().chain(arrives).min(), gives_up: self.gives_up }
    }
}

impl Connection {
    pub(super) fn new(wires: &Arc<Wires>, hosts: [usize; 2], made: &'static Location<'static>) -> Connection {
        let object = Object::new("connection", made);
        Connection { object, wires: Arc::clone(wires), hosts, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, [Half; 2]> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The link from a side to the other one.
    fn link(&self, from: Side) -> Link {
        (self.hosts[from], self.hosts[1 - from])
    }

    /// Records that the current step, whose operation names another object, changes this one as well.
    pub(super) fn touch_too(&self) {
        self.object.touch_too(|| OPEN);
    }

    /// A pause point before an operation.
    pub(super) fn pause(&self, kind: Kind, place: &'static Location<'static>) {
        self.object.pause_at(kind, place, || OPEN);
        self.object.acquire(true);
        self.object.release();
    }

    /// Records the number of bytes that an operation has moved.
    fn moved(&self, bytes: usize) {
        runtime::with(|execution| {
            let id = execution.id_of(&self.object, &|| OPEN);
            execution.note_bytes(id, bytes);
        });
    }

    /// Calls the wakers of both sides within the current step.
    fn wake(mut state: MutexGuard<'_, [Half; 2]>) {
        let wakers: Vec<Waker> = state.iter_mut().flat_map(|half| half.wakers.drain(..)).collect();
        drop(state);
        executor::wake_all(wakers);
    }

    /// Calls the wakers of one side.
    fn wake_side(mut state: MutexGuard<'_, [Half; 2]>, side: Side) {
        let wakers = std::mem::take(&mut state[side].wakers);
        drop(state);
        executor::wake_all(wakers);
    }

    /// Stores a waker for a side.
    pub(super) fn leave(&self, side: Side, waker: &Waker) {
        let waker = waker.clone();
        let mut state = self.state();
        let wakers = &mut state[side].wakers;
        let is_new = !wakers.iter().any(|own| own.will_wake(&waker));
        if is_new {
            wakers.push(waker);
        }
    }

    /// Sets the error of a side that has waited too long or has received a reset. Returns when to check again.
    fn settle(&self, state: &mut [Half; 2], side: Side) -> Due {
        let link = self.link(side);
        let stopped = state[side].sent.iter().find_map(|segment| match segment.arrival {
            Arrival::Stopped(since) => Some(since),
            _ => None,
        });
        let mut gives_up = stopped.map(|since| since + self.wires.settings.write_timeout);
        if gives_up.is_some_and(|at| at <= Instant::unscheduled()) {
            let own = &mut state[side];
            own.sent.retain(|segment| !matches!(segment.arrival, Arrival::Stopped(_)));
            own.unread = own.sent.iter().map(Segment::len).sum();
            own.is_finished = true;
            own.error.get_or_insert(ErrorKind::TimedOut);
            gives_up = None;
        }
        let mut arrives = None;
        if state[side].error.is_none()
            && let Some(arrival) = &mut state[side].reset
        {
            match self.wires.look((link.1, link.0), arrival) {
                Ok(()) => state[side].error = Some(ErrorKind::ConnectionReset),
                Err(at) => arrives = at,
            }
        }
        Due { arrives, gives_up }
    }

    /// Breaks the connection for both sides, if the scheduler chooses so.
    fn may_break(&self, state: &mut [Half; 2]) {
        if state.iter().all(|half| half.error.is_none()) && self.wires.strikes(Fault::Reset) {
            for half in state {
                half.error = Some(ErrorKind::ConnectionReset);
                half.is_finished = true;
                half.sent.clear();
                half.unread = 0;
            }
        }
    }

    /// Succeeds if there is data to read, or the end of the data. Fails with the error of the side, if any.
    pub(super) fn readable(&self, side: Side) -> Result<(), Stuck> {
        let mut state = self.state();
        let due = self.settle(&mut state, side);
        self.look(&mut state, side, due)
    }

    fn look(&self, state: &mut [Half; 2], side: Side, due: Due) -> Result<(), Stuck> {
        let (link, error) = (self.link(1 - side), state[side].error);
        let is_crashed = state[1 - side].error == Some(CRASHED);
        let Some(first) = state[1 - side].sent.front_mut() else {
            state[side].is_told |= error.is_some();
            return Err(error.map_or_else(|| due.stuck(None), Stuck::from));
        };
        match self.wires.look(link, &mut first.arrival) {
            Ok(()) if matches!(first.content, Content::Reset) => {
                state[side].error.get_or_insert(ErrorKind::ConnectionReset);
                state[side].is_told = true;
                Err(ErrorKind::ConnectionReset.into())
            }
            Ok(()) => Ok(()),
            Err(Some(_)) if is_crashed && first.len() > 0 && matches!(first.arrival, Arrival::Late(_)) => {
                // The data was never sent: the host crashed before.
                state[1 - side].sent.retain(|segment| segment.len() == 0);
                state[1 - side].unread = 0;
                state[side].error.get_or_insert(ErrorKind::ConnectionReset);
                state[side].is_told = true;
                Err(ErrorKind::ConnectionReset.into())
            }
            Err(at) => {
                let Some(error) = error else { return Err(due.stuck(at)) };
                // The connection is broken, so data in transit never arrives.
                state[1 - side].sent.clear();
                state[1 - side].unread = 0;
                state[side].is_told = true;
                Err(error.into())
            }
        }
    }

    /// Reads available data into a buffer. Returns 0 at the end of the data. Removes nothing if `is_peek`.
    pub(super) fn read(&self, side: Side, buffer: &mut [u8], is_peek: bool) -> Result<usize, Stuck> {
        let mut state = self.state();
        self.may_break(&mut state);
        let due = self.settle(&mut state, side);
        self.look(&mut state, side, due)?;
        let there = state[1 - side].sent.front().map_or(0, Segment::len);
        let is_more = there > 1 || state[1 - side].sent.len() > 1;
        let most =
            if there > 0 && is_more && buffer.len() > 1 && self.wires.strikes(Fault::Part) { 1 } else { buffer.len() };
        let link = self.link(1 - side);
        let half = &mut state[1 - side];
        let (mut count, mut looked) = (0, 1);
        while let Some(segment) = half.sent.get_mut(looked - 1) {
            let Content::Data(data) = &segment.content else { break };
            for (to, from) in buffer[count..most].iter_mut().zip(data) {
                *to = *from;
            }
            count += data.len().min(most - count);
            if count == most {
                break;
            }
            // This is at most the third pick of the step, for which there is room.
            let Some(next) = half.sent.get_mut(looked) else { break };
            let is_there = if looked == 1 {
                self.wires.look(link, &mut next.arrival).is_ok()
            } else {
                matches!(next.arrival, Arrival::Here | Arrival::Sent(None))
            };
            if !is_there {
                break;
            }
            looked += 1;
        }
        if is_peek || count == 0 {
            return Ok(count);
        }
        let was_full = half.unread >= self.wires.settings.buffer_bytes;
        half.take(count);
        if was_full {
            Connection::wake_side(state, 1 - side);
        }
        self.moved(count);
        Ok(count)
    }

    /// Succeeds if a side can write. Fails with the error of the side, if any.
    pub(super) fn writable(&self, side: Side) -> Result<(), Stuck> {
        let mut state = self.state();
        let due = self.settle(&mut state, side);
        self.has_room(&mut state, side, due)
    }

    fn has_room(&self, state: &mut [Half; 2], side: Side, due: Due) -> Result<(), Stuck> {
        let own = &mut state[side];
        if let Some(error) = own.error {
            let was_told = std::mem::replace(&mut own.is_told, true);
            let is_reset = error == ErrorKind::ConnectionReset;
            return Err(if is_reset && was_told { ErrorKind::BrokenPipe } else { error }.into());
        }
        if own.is_finished {
            return Err(ErrorKind::BrokenPipe.into());
        }
        if own.unread >= self.wires.settings.buffer_bytes {
            return Err(due.stuck(None));
        }
        Ok(())
    }

    /// Writes as much data as the buffer has room for. Returns the number of bytes.
    pub(super) fn write<'a>(
        &self,
        side: Side,
        data: impl Iterator<Item = &'a u8>,
        length: usize,
    ) -> Result<usize, Stuck> {
        let mut state = self.state();
        self.may_break(&mut state);
        let due = self.settle(&mut state, side);
        self.has_room(&mut state, side, due)?;
        if length == 0 {
            return Ok(0);
        }
        let room = self.wires.settings.buffer_bytes - state[side].unread;
        let most = if length > 1 && self.wires.strikes(Fault::Part) { 1 } else { length.min(room) };
        let arrival = self.wires.send(self.link(side));
        let is_gone = state[1 - side].is_gone;
        if is_gone && !matches!(arrival, Arrival::Stopped(_)) {
            self.refuse(&mut state, side);
            Connection::wake(state);
        } else {
            let data = data.take(most).copied().collect();
            state[side].sent.push_back(Segment { content: Content::Data(data), arrival });
            state[side].unread += most;
            Connection::wake_side(state, 1 - side);
        }
        self.moved(most);
        Ok(most)
    }

    /// Handles data for a side that was dropped: the connection is reset.
    fn refuse(&self, state: &mut [Half; 2], side: Side) {
        state[side].sent.clear();
        state[side].unread = 0;
        self.reset(state, 1 - side);
    }

    /// Resets the connection from one side.
    fn reset(&self, state: &mut [Half; 2], side: Side) {
        let arrival = self.wires.send(self.link(side));
        if state[1 - side].reset.is_none() {
            state[1 - side].reset = Some(arrival);
            state[side].sent.push_back(Segment { content: Content::Reset, arrival });
        }
        state[side].is_finished = true;
    }

    /// Ends the data of a side.
    pub(super) fn finish(&self, side: Side) {
        let mut state = self.state();
        if !std::mem::replace(&mut state[side].is_finished, true) {
            let arrival = self.wires.send(self.link(side));
            state[side].sent.push_back(Segment { content: Content::End, arrival });
        }
        Connection::wake_side(state, 1 - side);
    }

    /// Drops a side. The connection is reset if there is data that it has not read.
    pub(super) fn drop_side(&self, side: Side) {
        let is_there = |segment: &Segment| segment.len() > 0 && !matches!(segment.arrival, Arrival::Stopped(_));
        let is_unread = self.state()[1 - side].sent.iter().any(is_there);
        if is_unread {
            self.abort(side);
        } else {
            self.state()[side].is_gone = true;
            self.finish(side);
        }
    }

    /// Drops a side, and resets the connection.
    pub(super) fn abort(&self, side: Side) {
        let mut state = self.state();
        if !std::mem::replace(&mut state[side].is_gone, true) {
            self.refuse(&mut state, 1 - side);
        }
        Connection::wake(state);
    }

    /// Drops a side with its host. Data that was sent and has not arrived is lost.
    pub(super) fn crash(&self, host: usize) {
        let mut state = self.state();
        for side in 0..2 {
            if self.hosts[side] != host || state[side].is_gone {
                continue;
            }
            let own = &mut state[side];
            own.is_gone = true;
            // Data that has not certainly arrived is lost. [`Connection::look`] handles data for which the other side
            // has not looked.
            own.sent.retain(|segment| matches!(segment.arrival, Arrival::Here | Arrival::Sent(None)));
            own.unread = own.sent.iter().map(Segment::len).sum();
            own.error = Some(CRASHED);
            self.refuse(&mut state, 1 - side);
        }
        Connection::wake(state);
    }

    /// Updates the messages of both sides after a link was stopped or restored.
    pub(super) fn relink(&self) {
        let mut state = self.state();
        for side in 0..2 {
            self.settle_timeout(&mut state, side);
            let link = self.link(side);
            for segment in &mut state[side].sent {
                self.wires.relink(link, &mut segment.arrival);
            }
            if let Some(arrival) = &mut state[1 - side].reset {
                self.wires.relink(link, arrival);
            }
            let gets_through = !self.wires.is_stopped(link) && state[side].sent.iter().any(|segment| segment.len() > 0);
            if state[1 - side].is_gone && gets_through {
                self.refuse(&mut state, side);
            }
        }
        Connection::wake(state);
    }

    /// Sets the error of a side that waited too long before a partition ended.
    fn settle_timeout(&self, state: &mut [Half; 2], side: Side) {
        let reset = state[side].reset.take();
        self.settle(state, side);
        state[side].reset = reset;
    }
}

impl Half {
    /// Removes the data that was read.
    fn take(&mut self, mut count: usize) {
        self.unread -= count;
        while let Some(segment) = self.sent.front_mut() {
            let Content::Data(data) = &mut segment.content else { break };
            let taken = data.len().min(count);
            data.drain(..taken);
            count -= taken;
            if !data.is_empty() {
                break;
            }
            self.sent.pop_front();
        }
    }
}

impl Segment {
    fn len(&self) -> usize {
        if let Content::Data(data) = &self.content { data.len() } else { 0 }
    }
}
