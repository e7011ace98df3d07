//! Channels of an execution. The receiver waits for the first gate, senders for the second.
//!
//! A message carries the view of its sender to the thread that receives it, and only to that thread. If a channel has a
//! bound, a message that takes the place of another one is sent after that one was received, and its sender gets the
//! view of the receiver.

use crate::execution::View;
use crate::object::Object;
use crate::op::{Gate, Kind, Op, ThreadId};
use crate::runtime;
use std::collections::VecDeque;
use std::panic::Location;
use std::sync::mpsc::{SendError, TryRecvError, TrySendError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Both ends of a channel.
pub(super) struct Channel<T> {
    object: Object,
    /// The object of the senders: their creation and drop are not observed while there are messages.
    senders: Object,
    bound: Option<usize>,
    pub(super) made: &'static Location<'static>,
    state: Mutex<State<T>>,
}

struct State<T> {
    messages: VecDeque<Message<T>>,
    senders: usize,
    is_received: bool,
    /// Whether the receiver waits, so that a message can be handed over.
    is_awaited: bool,
    /// The number of messages sent, and the number of messages received.
    sent: u64,
    taken: u64,
    /// Managed threads that wait until their message is received, and the number of the message.
    handing: Vec<(ThreadId, u64)>,
    /// The views of the receiver when it received messages. The number is that of the message that may then be sent, or
    /// whose sender may continue.
    receipts: Vec<(u64, View)>,
}

/// A message, with the view of its sender.
struct Message<T> {
    value: T,
    seen: Option<View>,
}

impl<T> State<T> {
    /// Adds the view of the receiver from the time when it made room for a message, or received it.
    fn take_receipt(&mut self, number: u64) {
        if let Some(at) = self.receipts.iter().position(|(of, _)| *of == number) {
            let (_, seen) = self.receipts.swap_remove(at);
            runtime::take_in(Some(&seen));
        }
    }

    fn gates(&self, bound: Option<usize>) -> [bool; 2] {
        let has_room = bound.is_none_or(|bound| self.messages.len() < bound.max(1));
        [!self.messages.is_empty() || self.senders == 0, has_room || !self.is_received]
    }
}

impl<T> Channel<T> {
    pub(super) fn new(bound: Option<usize>, made: &'static Location<'static>) -> Channel<T> {
        let state = State {
            messages: VecDeque::new(),
            senders: 1,
            is_received: true,
            is_awaited: false,
            sent: 0,
            taken: 0,
            handing: Vec::new(),
            receipts: Vec::new(),
        };
        let (object, senders) = (Object::new("channel", made), Object::new("senders", made));
        Channel { object, senders, bound, made, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gates(&self) -> [bool; 2] {
        self.state().gates(self.bound)
    }

    /// Updates all waiting threads after a change of the channel.
    fn update_waiters(&self, state: &mut State<T>) {
        self.object.set_gates(state.gates(self.bound));
        let (taken, is_received) = (state.taken, state.is_received);
        state.handing.retain(|(thread, number)| {
            let is_over = *number < taken || !is_received;
            if is_over {
                runtime::with(|execution| execution.redirect(*thread, |op| op.gate = Gate::Free));
            }
            !is_over
        });
    }

    /// Fails if a thread that cannot wait would have to wait.
    fn assert_open(&self, is_open: bool) {
        if is_open {
            return;
        }
        let what = || "a destructor waits for a channel while its thread panics".into();
        runtime::assert_can_wait(!runtime::is_active(), what);
        panic!(
            "the channel made at {} belongs to an execution that has ended, and would be waited for forever",
            self.made
        );
    }

    /// Puts a message into the channel. Returns its number.
    fn put(&self, state: &mut State<T>, value: T) -> u64 {
        let number = state.sent;
        if self.bound != Some(0) {
            state.take_receipt(number);
        }
        state.messages.push_back(Message { value, seen: runtime::hand_on() });
        state.sent += 1;
        number
    }

    #[track_caller]
    pub(super) fn send(&self, message: T) -> Result<(), SendError<T>> {
        let place = Location::caller();
        self.object.pause(Kind::Send, Gate::Second, || self.gates());
        let mut state = self.state();
        self.assert_open(state.gates(self.bound)[1]);
        if !state.is_received {
            self.object.acquire(false);
            runtime::look();
            return Err(SendError(message));
        }
        let number = self.put(&mut state, message);
        if self.bound == Some(0) {
            return self.hand_over(state, number, place);
        }
        self.update_waiters(&mut state);
        Ok(())
    }

    /// Waits until a message in the channel is received.
    fn hand_over<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<T>>,
        number: u64,
        place: &'static Location<'static>,
    ) -> Result<(), SendError<T>> {
        let me = runtime::with(|execution| execution.current()).filter(|_| runtime::is_managed());
        self.assert_open(me.is_some());
        state.handing.extend(me.map(|me| (me, number)));
        self.update_waiters(&mut state);
        drop(state);
        let op = |object| Op { kind: Kind::Sent, gate: Gate::Shut, object, also: object, place };
        self.object.pause_op(|| self.gates(), op);
        let mut state = self.state();
        if state.taken > number {
            state.take_receipt(number);
            return Ok(());
        }
        // The receiver was dropped. The senders of earlier messages took back their messages, too.
        self.object.acquire(false);
        match state.messages.pop_back() {
            Some(message) => Err(SendError(message.value)),
            None => Ok(()),
        }
    }

    #[track_caller]
    pub(super) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.object.pause(Kind::Send, Gate::Free, || self.gates());
        let mut state = self.state();
        if !state.is_received {
            self.object.acquire(false);
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
        self.put(&mut state, message);
        self.update_waiters(&mut state);
        Ok(())
    }

    fn take(&self, mut state: MutexGuard<'_, State<T>>) -> Result<T, TryRecvError> {
        let Some(message) = state.messages.pop_front() else {
            // Whether there are senders is observed only if there is no message.
            self.senders.touch_alone(|| [true; 2]);
            if state.senders == 0 {
                self.senders.acquire(false);
            }
            // If messages are passed directly, senders can observe that the receiver waits.
            if self.bound != Some(0) {
                runtime::look();
            }
            return Err(if state.senders == 0 { TryRecvError::Disconnected } else { TryRecvError::Empty });
        };
        runtime::take_in(message.seen.as_ref());
        if let (Some(bound), Some(seen)) = (self.bound, runtime::hand_on()) {
            let next = state.taken + u64::try_from(bound).unwrap_or(u64::MAX);
            state.receipts.push((next, seen));
        }
        state.taken += 1;
        self.update_waiters(&mut state);
        Ok(message.value)
    }

    /// Records that the receiver waits. Only if messages are passed directly can senders observe this.
    #[track_caller]
    fn begin_to_wait(&self) {
        if self.bound == Some(0) {
            self.object.pause(Kind::Wait, Gate::Free, || self.gates());
            self.state().is_awaited = true;
        }
    }

    /// Receives a message; waits if there is none.
    #[track_caller]
    pub(super) fn receive(&self) -> Result<T, TryRecvError> {
        self.begin_to_wait();
        self.object.pause(Kind::Receive, Gate::First, || self.gates());
        let mut state = self.state();
        self.assert_open(state.gates(self.bound)[0]);
        state.is_awaited = false;
        self.take(state)
    }

    /// The same as [`Channel::receive`], but waits at most for `timeout`.
    #[track_caller]
    pub(super) fn receive_for(&self, timeout: Duration) -> Result<T, TryRecvError> {
        self.begin_to_wait();
        // A wait that ends before there is a message may as well end immediately.
        let is_out = !runtime::is_managed() || runtime::times_out(timeout);
        if !is_out {
            runtime::with(|execution| execution.set_deadline(timeout));
        }
        self.object.pause(Kind::Receive, if is_out { Gate::Free } else { Gate::First }, || self.gates());
        let mut state = self.state();
        state.is_awaited = false;
        self.take(state)
    }

    #[track_caller]
    pub(super) fn try_receive(&self) -> Result<T, TryRecvError> {
        self.object.pause(Kind::Receive, Gate::Free, || self.gates());
        self.take(self.state())
    }

    pub(super) fn add_sender(&self) {
        self.state().senders += 1;
    }

    pub(super) fn drop_sender(&self) {
        if self.senders.pause_at(Kind::Disconnect, self.made, || [true; 2]) {
            // The order in which several senders are dropped is not significant: a receiver can only observe that all
            // have been dropped, and is treated as depending on each drop.
            runtime::look();
        }
        let mut state = self.state();
        state.senders -= 1;
        if state.senders == 0 {
            self.update_waiters(&mut state);
        }
    }

    pub(super) fn drop_receiver(&self) {
        self.object.pause_at(Kind::Disconnect, self.made, || self.gates());
        let mut state = self.state();
        state.is_received = false;
        // The sender takes back a message that has not been handed over.
        let left = if self.bound == Some(0) { VecDeque::new() } else { std::mem::take(&mut state.messages) };
        self.update_waiters(&mut state);
        drop(state);
        drop(left);
    }
}
