//! Channels. The first gate is open to the receiver, the second to senders.

use crate::execution::Pick;
use crate::object::Object;
use crate::op::{Gate, Kind, Op, ThreadId};
use crate::runtime;
use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// As [`std::sync::mpsc::channel`].
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(None, Location::caller()));
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

/// As [`std::sync::mpsc::sync_channel`]. With a bound of 0 each message is handed over.
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(Some(bound), Location::caller()));
    (SyncSender(Arc::clone(&channel)), Receiver(channel))
}

/// Both ends of a channel.
struct Channel<T> {
    object: Object,
    /// Its senders, who come and go without being seen as long as there are messages.
    senders: Object,
    bound: Option<usize>,
    made: &'static Location<'static>,
    state: Mutex<State<T>>,
    /// For threads outside of executions.
    changed: Condvar,
}

struct State<T> {
    messages: VecDeque<T>,
    senders: usize,
    is_received: bool,
    /// The receiver waits: a message can be handed over.
    is_awaited: bool,
    /// Messages that were sent, and that were taken.
    sent: u64,
    taken: u64,
    /// Managed threads that wait until their message is taken, and its number.
    handing: Vec<(ThreadId, u64)>,
}

impl<T> State<T> {
    fn gates(&self, bound: Option<usize>) -> [bool; 2] {
        let has_room = bound.is_none_or(|bound| self.messages.len() < bound.max(1));
        [!self.messages.is_empty() || self.senders == 0, has_room || !self.is_received]
    }
}

impl<T> Channel<T> {
    fn new(bound: Option<usize>, made: &'static Location<'static>) -> Channel<T> {
        let state = State {
            messages: VecDeque::new(),
            senders: 1,
            is_received: true,
            is_awaited: false,
            sent: 0,
            taken: 0,
            handing: Vec::new(),
        };
        let (object, senders) = (Object::new("channel", made), Object::new("senders", made));
        Channel { object, senders, bound, made, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gates(&self) -> [bool; 2] {
        self.state().gates(self.bound)
    }

    /// Updates all waiting threads after a change of the channel.
    fn update_waiters(&self, mut state: MutexGuard<'_, State<T>>) {
        if runtime::is_active() {
            self.object.set_gates(state.gates(self.bound));
            let (taken, is_received) = (state.taken, state.is_received);
            state.handing.retain(|(thread, number)| {
                let is_over = *number < taken || !is_received;
                if is_over {
                    runtime::with(|execution| execution.redirect(*thread, |op| op.gate = Gate::Free));
                }
                !is_over
            });
        } else {
            drop(state);
            self.changed.notify_all();
        }
    }

    #[track_caller]
    fn send(&self, message: T) -> Result<(), SendError<T>> {
        let place = Location::caller();
        let is_managed = self.object.pause(Kind::Send, Gate::Second, || self.gates());
        let mut state = self.state();
        while !state.gates(self.bound)[1] {
            assert!(!runtime::is_active(), "a destructor waits for a channel while its thread panics");
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.is_received {
            runtime::look();
            return Err(SendError(message));
        }
        state.messages.push_back(message);
        let number = state.sent;
        state.sent += 1;
        if self.bound == Some(0) {
            return self.hand_over(state, number, is_managed, place);
        }
        self.update_waiters(state);
        Ok(())
    }

    /// Waits until a message that was put into the channel is taken.
    fn hand_over<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<T>>,
        number: u64,
        is_managed: bool,
        place: &'static Location<'static>,
    ) -> Result<(), SendError<T>> {
        if is_managed {
            let me = runtime::with(|execution| execution.current()).expect("this is a managed thread");
            state.handing.push((me, number));
            self.update_waiters(state);
            let op = |object| Op { kind: Kind::Sent, gate: Gate::Shut, object, also: object, place };
            self.object.pause_op(|| self.gates(), op);
            state = self.state();
        } else {
            self.changed.notify_all();
            while state.taken <= number && state.is_received {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        if state.taken > number {
            return Ok(());
        }
        // The receiver is gone. Messages before this one were given up by their senders, too.
        match state.messages.pop_back() {
            Some(message) => Err(SendError(message)),
            None => Ok(()),
        }
    }

    #[track_caller]
    fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.object.pause(Kind::Send, Gate::Free, || self.gates());
        let mut state = self.state();
        if !state.is_received {
            runtime::look();
            return Err(TrySendError::Disconnected(message));
        }
        let has_room = match self.bound {
            Some(0) => state.is_awaited && state.messages.is_empty(),
            _ => state.gates(self.bound)[1],
        };
        if !has_room {
            runtime::look();
            return Err(TrySendError::Full(message));
        }
        state.messages.push_back(message);
        state.sent += 1;
        self.update_waiters(state);
        Ok(())
    }

    fn take(&self, mut state: MutexGuard<'_, State<T>>) -> Result<T, TryRecvError> {
        let Some(message) = state.messages.pop_front() else {
            // Only without a message does it matter whether there are senders.
            self.senders.touch_too(|| [true; 2]);
            // Where messages are handed over, senders have seen whether someone waits for one.
            if self.bound != Some(0) {
                runtime::look();
            }
            return Err(if state.senders == 0 { TryRecvError::Disconnected } else { TryRecvError::Empty });
        };
        state.taken += 1;
        self.update_waiters(state);
        Ok(message)
    }

    /// Where messages are handed over, senders may see that the receiver waits.
    #[track_caller]
    fn begin_to_wait(&self) {
        if self.bound == Some(0) {
            self.object.pause(Kind::Wait, Gate::Free, || self.gates());
            self.state().is_awaited = true;
        }
    }

    /// Takes a message, waiting for one; outside of executions until the deadline.
    #[track_caller]
    fn receive(&self, deadline: Option<Instant>) -> Result<T, TryRecvError> {
        self.begin_to_wait();
        self.object.pause(Kind::Receive, Gate::First, || self.gates());
        let mut state = self.state();
        while !state.gates(self.bound)[0] {
            assert!(!runtime::is_active(), "a destructor waits for a channel while its thread panics");
            state = match deadline {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        state.is_awaited = false;
        self.take(state)
    }

    fn add_sender(&self) {
        self.state().senders += 1;
    }

    fn drop_sender(&self) {
        if self.senders.pause_at(Kind::Disconnect, self.made, || [true; 2]) {
            // Which of several goes first makes no difference: a receiver sees that all have gone, and counts as a
            // change of this.
            runtime::look();
        }
        let mut state = self.state();
        state.senders -= 1;
        if state.senders == 0 {
            self.update_waiters(state);
        }
    }
}

/// As [`std::sync::mpsc::Sender`].
pub struct Sender<T>(Arc<Channel<T>>);

/// As [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T>(Arc<Channel<T>>);

/// As [`std::sync::mpsc::Receiver`].
pub struct Receiver<T>(Arc<Channel<T>>);

impl<T> Sender<T> {
    /// Sends a message.
    ///
    /// # Errors
    ///
    /// If the receiver is gone; the message is given back.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.send(message)
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, waiting for room.
    ///
    /// # Errors
    ///
    /// If the receiver is gone; the message is given back.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.send(message)
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    ///
    /// If there is no room, or the receiver is gone; the message is given back.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(message)
    }
}

macro_rules! sender {
    ($name:ident) => {
        impl<T> Clone for $name<T> {
            fn clone(&self) -> $name<T> {
                self.0.add_sender();
                $name(Arc::clone(&self.0))
            }
        }

        impl<T> Drop for $name<T> {
            fn drop(&mut self) {
                self.0.drop_sender();
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

sender!(Sender);
sender!(SyncSender);

impl<T> Receiver<T> {
    /// Takes a message, waiting for one.
    ///
    /// # Errors
    ///
    /// If there is none and all senders are gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.0.receive(None).map_err(|_| RecvError)
    }

    /// Takes a message if there is one.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.object.pause(Kind::Receive, Gate::Free, || self.0.gates());
        self.0.take(self.0.state())
    }

    /// Takes a message, waiting for one for some time; under a schedule the time may be up at any moment, and is when
    /// nobody else can continue.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let result = if runtime::is_active() {
            self.0.begin_to_wait();
            // A wait that ends before there is a message may as well end at once.
            let is_out = !runtime::is_managed() || runtime::pick(Pick::TimeOut, 2) == 1;
            if !is_out {
                runtime::with(|execution| execution.set_deadline(timeout));
            }
            self.0.object.pause(Kind::Receive, if is_out { Gate::Free } else { Gate::First }, || self.0.gates());
            let mut state = self.0.state();
            state.is_awaited = false;
            self.0.take(state)
        } else {
            self.0.receive(Instant::now().checked_add(timeout))
        };
        result.map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Messages until all senders are gone.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// Messages that are there.
    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

impl<T> Iterator for Messages<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

/// Messages of a receiver that is given away, until all senders are gone.
#[derive(Debug)]
pub struct Messages<T>(Receiver<T>);

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = Messages<T>;

    fn into_iter(self) -> Messages<T> {
        Messages(self)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.object.pause_at(Kind::Disconnect, self.0.made, || self.0.gates());
        let mut state = self.0.state();
        state.is_received = false;
        // A message that is being handed over goes back to its sender.
        let left = if self.0.bound == Some(0) { VecDeque::new() } else { std::mem::take(&mut state.messages) };
        self.0.update_waiters(state);
        drop(left);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
