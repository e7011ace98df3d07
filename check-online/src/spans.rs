//! Spans: completed operations of a known set of clients, merged into calls and returns as soon as no unknown event can
//! precede them.
//!
//! Spans of one client arrive in order; spans of different clients in any order. A running client has reached the
//! finish of its last span: its next one starts later, and may be any operation. So up to the time that the slowest
//! client has reached, the **horizon**, all calls and returns are known and are checked; beyond it nothing can be
//! refused, since an unknown operation may have put the object into any state. A violation is therefore found at the
//! earliest span that proves it: the first with which no continuation is linearizable, whatever the model's operations
//! can do.

use crate::OnlineModel;
use crate::engine::ops::{Event, NEVER, OpIx};
use crate::object::Object;
use crate::{FeedError, Outcome, Reason, Settings, Violation};
use check_register::engine::ids;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};
use std::fmt;
use std::sync::Arc;

/// A completed operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Span<O> {
    /// Its client.
    pub client: u32,
    /// When it was called, on the common clock; after the return of the client's previous operation. An operation that
    /// was called at the time of another client's return was concurrent with it.
    pub start: u64,
    /// When it returned.
    pub finish: u64,
    /// The operation, with its result.
    pub op: O,
}

impl<O> Span<O> {
    /// A completed operation.
    pub fn new(client: u32, start: u64, finish: u64, op: O) -> Span<O> {
        Span { client, start, finish, op }
    }
}

/// The next event of a client. At equal times calls precede returns, so that spans which touch are concurrent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Next {
    /// The client has not begun, so nothing is known, not even at time 0.
    Unknown,
    Call,
    Return,
    /// The client has reached this time, and its next operation is unknown.
    Waits,
}

/// A span in a queue; it crashed if it has no finish.
#[derive(Debug)]
struct Queued<O> {
    start: u64,
    finish: Option<u64>,
    op: O,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Runs,
    Pauses,
    Stopped,
}

#[derive(Debug)]
struct Client<O> {
    queue: VecDeque<Queued<O>>,
    /// The operation in flight.
    op: OpIx,
    /// The time that the client is known to have reached.
    last: Option<u64>,
    state: State,
    /// Whether the client is in the agenda.
    is_due: bool,
}

/// Checks the history of an object while it is being recorded, from the spans of its clients.
///
/// Feeding takes amortized constant time if few operations are in flight at the same time, and at worst time
/// exponential in their number. Memory grows with the operations in flight and with the distance of the slowest client.
///
/// ```
/// use check_online::{Online, Outcome, Span};
/// use check_register::models::{PlainRegister, RegisterOp::{Read, Write}};
///
/// let mut online = Online::new(PlainRegister::default(), 2);
/// assert_eq!(online.feed(Span::new(0, 1, 4, Write(7)))?, Outcome::Ok);
/// assert_eq!(online.feed(Span::new(0, 5, 6, Write(8)))?, Outcome::Ok);
/// // Client 1 reads what was overwritten before it began. It may itself have written 7 again in between, ...
/// assert_eq!(online.feed(Span::new(0, 9, 12, Read(7)))?, Outcome::Ok);
/// // ... until its next operation shows that it has not.
/// let Outcome::Violation(violation) = online.feed(Span::new(1, 13, 15, Read(7)))? else { panic!() };
/// assert_eq!((violation.refused.client, violation.refused.finish), (0, Some(12)));
/// # Ok::<(), check_online::FeedError>(())
/// ```
pub struct Online<M: OnlineModel> {
    object: Object<M>,
    clients: Vec<Client<M::Op>>,
    agenda: BinaryHeap<Reverse<(u64, Next, u32)>>,
    /// The number of spans that wait.
    queued: usize,
    lag_max: usize,
    /// The time of the last event that was checked.
    judged: u64,
    /// Whether no further event can change the outcome.
    is_over: bool,
}

impl<M: OnlineModel> fmt::Debug for Online<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Online");
        shown.field("queued", &self.queued).field("judged", &self.judged).field("is_over", &self.is_over);
        shown.finish_non_exhaustive()
    }
}

impl<M: OnlineModel> Online<M> {
    /// Creates a checker of an object that these clients share: 0, 1, and so on.
    pub fn new(model: M, clients: u32) -> Online<M> {
        Online::with_settings(model, clients, Settings::default())
    }

    /// Creates a checker with other limits.
    pub fn with_settings(model: M, clients: u32, settings: Settings) -> Online<M> {
        let mut online = Online {
            object: Object::new(model, settings.configurations_max, settings.lag_max),
            clients: Vec::new(),
            agenda: BinaryHeap::new(),
            queued: 0,
            lag_max: settings.lag_max,
            judged: 0,
            is_over: false,
        };
        for _ in 0..clients {
            online.add_client(None);
        }
        online
    }

    fn add_client(&mut self, last: Option<u64>) -> u32 {
        let client = ids::number(self.clients.len());
        self.clients.push(Client { queue: VecDeque::new(), op: OpIx::NONE, last, state: State::Runs, is_due: true });
        self.agenda.push(Reverse(waits(last, client)));
        client
    }

    /// Feeds the next span of a client. Returns the outcome so far.
    ///
    /// # Errors
    ///
    /// If the client is not running, or the span does not follow its last one.
    #[inline]
    pub fn feed(&mut self, span: Span<M::Op>) -> Result<Outcome<M::Op>, FeedError> {
        let Span { client, start, finish, op } = span;
        if finish < start {
            return Err(FeedError::Backwards { start, finish });
        }
        self.queue(client, finish, Queued { start, finish: Some(finish), op })
    }

    /// Records that a client calls an operation that will never return: it may have happened at any time since `start`,
    /// or may happen at any time, or never. The client is then paused.
    ///
    /// # Errors
    ///
    /// If the client is not running, or the operation does not follow its last one.
    pub fn crash(&mut self, client: u32, start: u64, op: M::Op) -> Result<Outcome<M::Op>, FeedError> {
        self.queue(client, start, Queued { start, finish: None, op })
    }

    fn queue(&mut self, client: u32, last: u64, queued: Queued<M::Op>) -> Result<Outcome<M::Op>, FeedError> {
        let this = self.clients.get_mut(ids::index(client)).ok_or(FeedError::NoClient { client })?;
        if this.state != State::Runs {
            return Err(FeedError::NotRunning { client });
        }
        let start = queued.start;
        if let Some(last) = this.last.filter(|last| *last >= start) {
            return Err(FeedError::OutOfOrder { client, start, last });
        }
        this.last = Some(last);
        if queued.finish.is_none() {
            this.state = State::Pauses;
        }
        if self.is_over {
            return Ok(self.outcome());
        }
        this.queue.push_back(queued);
        self.queued += 1;
        self.judge();
        Ok(self.outcome())
    }

    /// Records that a client has nothing in flight, and calls nothing up to `until`.
    ///
    /// # Errors
    ///
    /// If the client is not running.
    pub fn idle(&mut self, client: u32, until: u64) -> Result<Outcome<M::Op>, FeedError> {
        let this = self.running(client)?;
        this.last = this.last.max(Some(until));
        self.judge();
        Ok(self.outcome())
    }

    /// Records that a client has nothing in flight, and calls nothing until it is resumed: the checker need not wait
    /// for it.
    ///
    /// # Errors
    ///
    /// If the client is not running.
    pub fn pause(&mut self, client: u32) -> Result<Outcome<M::Op>, FeedError> {
        self.running(client)?.state = State::Pauses;
        self.judge();
        Ok(self.outcome())
    }

    /// Records that a client continues: its next call starts after `at`.
    ///
    /// # Errors
    ///
    /// If the client was not paused, or events after `at` have already been checked without it.
    pub fn resume(&mut self, client: u32, at: u64) -> Result<(), FeedError> {
        let judged = self.judged;
        let this = self.clients.get_mut(ids::index(client)).ok_or(FeedError::NoClient { client })?;
        match this.state {
            State::Runs => return Err(FeedError::Running { client }),
            State::Stopped => return Err(FeedError::NotRunning { client }),
            State::Pauses if at < judged => return Err(FeedError::Late { at, judged }),
            State::Pauses => {}
        }
        this.state = State::Runs;
        this.last = this.last.max(Some(at));
        if !std::mem::replace(&mut this.is_due, true) {
            self.agenda.push(Reverse(waits(this.last, client)));
        }
        Ok(())
    }

    /// Stops a client: it has nothing in flight, and will never call anything again.
    ///
    /// # Errors
    ///
    /// If there is no such client, or it has already stopped.
    pub fn stop(&mut self, client: u32) -> Result<Outcome<M::Op>, FeedError> {
        let this = self.clients.get_mut(ids::index(client)).ok_or(FeedError::NoClient { client })?;
        if this.state == State::Stopped {
            return Err(FeedError::NotRunning { client });
        }
        this.state = State::Stopped;
        self.judge();
        Ok(self.outcome())
    }

    /// Adds a client, whose first call starts after `at`. Returns its number.
    ///
    /// # Errors
    ///
    /// If events after `at` have already been checked without it.
    pub fn join(&mut self, at: u64) -> Result<u32, FeedError> {
        if at < self.judged {
            return Err(FeedError::Late { at, judged: self.judged });
        }
        Ok(self.add_client(Some(at)))
    }

    /// The outcome so far.
    pub fn outcome(&self) -> Outcome<M::Op> {
        self.object.outcome()
    }

    /// Stops all clients. Returns the outcome, which is final.
    #[must_use]
    pub fn finish(mut self) -> Outcome<M::Op> {
        for client in &mut self.clients {
            client.state = State::Stopped;
        }
        self.judge();
        self.outcome()
    }

    /// Violations so far: the first of each part, for the first eight parts.
    pub fn violations(&self) -> &[Arc<Violation<M::Op>>] {
        self.object.violations()
    }

    /// The number of spans that wait for slower clients.
    pub fn waiting(&self) -> usize {
        self.queued
    }

    /// The current number of configurations of the part that has the most. Takes time linear in the number of parts.
    pub fn configurations(&self) -> usize {
        self.object.any().configurations()
    }

    fn running(&mut self, client: u32) -> Result<&mut Client<M::Op>, FeedError> {
        let this = self.clients.get_mut(ids::index(client)).ok_or(FeedError::NoClient { client })?;
        if this.state == State::Runs { Ok(this) } else { Err(FeedError::NotRunning { client }) }
    }

    /// Checks everything before the horizon.
    fn judge(&mut self) {
        let mut behind = None;
        while let Some(mut top) = self.agenda.peek_mut() {
            let (time, next, client) = top.0;
            let this = &mut self.clients[ids::index(client)];
            match next {
                Next::Unknown | Next::Waits => {
                    let due = due(this, client);
                    if due == (time, next, client) && this.state == State::Runs {
                        behind = (self.queued > self.lag_max).then_some(client);
                        break;
                    }
                }
                Next::Call => {
                    let Some(Queued { start, finish, op }) = this.queue.pop_front() else { return };
                    self.queued -= 1;
                    self.judged = self.judged.max(time);
                    let event = if finish.is_some() { Event::Known } else { Event::Crashed };
                    let op = self.object.call(i64::from(client), start, finish.unwrap_or(NEVER), Some(&op), event);
                    if let Some(finish) = finish {
                        this.op = op;
                        top.0 = (finish, Next::Return, client);
                        continue;
                    }
                }
                Next::Return => {
                    self.judged = self.judged.max(time);
                    self.object.happen(this.op, Event::Returns);
                    if self.object.any().is_over() {
                        break;
                    }
                }
            }
            if this.queue.is_empty() && this.state != State::Runs {
                this.is_due = false;
                PeekMut::pop(top);
            } else {
                top.0 = due(this, client);
            }
        }
        if let Some(client) = behind {
            self.object.any_mut().unknown.get_or_insert(Reason::Behind { client });
        }
        if behind.is_some() || self.object.any().is_over() {
            self.end();
        }
    }

    /// Ends the check: no further event can change the outcome.
    #[cold]
    fn end(&mut self) {
        self.is_over = true;
        self.agenda.clear();
        self.queued = 0;
        for client in &mut self.clients {
            client.queue = VecDeque::new();
            client.is_due = false;
        }
    }
}

/// The next event of a client that has nothing in flight.
fn due<O>(this: &Client<O>, client: u32) -> (u64, Next, u32) {
    this.queue.front().map_or(waits(this.last, client), |first| (first.start, Next::Call, client))
}

fn waits(last: Option<u64>, client: u32) -> (u64, Next, u32) {
    last.map_or((0, Next::Unknown, client), |last| (last, Next::Waits, client))
}
