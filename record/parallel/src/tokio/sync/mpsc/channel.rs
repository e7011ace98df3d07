//! The common part of both kinds of channels.

use super::error::TryRecvError;
use crate::object::Object;
use crate::op::Kind;
use crate::runtime;
use crate::tokio::executor;
use crate::tokio::sync::batch::Batch;
use crate::tokio::sync::waiters::Waiters;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

const OPEN: [bool; 2] = [true; 2];

/// A channel. A receiver that has closed it still awaits the messages for which there are permits.
pub(super) struct Channel<T> {
    object: Object,
    pub(super) made: &'static Location<'static>,
    /// The room for messages, and its initial size; `None` if there is no limit.
    pub(super) room: Option<(Batch, usize)>,
    state: Mutex<State<T>>,
}

struct State<T> {
    messages: VecDeque<T>,
    senders: usize,
    is_closed: bool,
    receiver: Option<Waker>,
    /// Senders that wait until the channel is closed.
    closed: Waiters,
}

impl<T> Channel<T> {
    pub(super) fn new(bound: Option<usize>, made: &'static Location<'static>) -> Channel<T> {
        let room = bound.map(|bound| (Batch::new(bound, "channel's room", made), bound));
        let state =
            State { messages: VecDeque::new(), senders: 1, is_closed: false, receiver: None, closed: Waiters::new() };
        Channel { object: Object::new("channel", made), made, room, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message, for which there is a permit. Returns the message if the channel is closed and has no limit.
    pub(super) fn push(&self, message: T, place: &'static Location<'static>) -> Result<(), T> {
        self.object.pause_at(Kind::Send, place, || OPEN);
        self.object.release();
        let mut state = self.state();
        if self.room.is_none() && state.is_closed {
            drop(state);
            self.object.acquire(false);
            runtime::look();
            return Err(message);
        }
        state.messages.push_back(message);
        let waker = state.receiver.take();
        drop(state);
        executor::wake_all(waker);
        Ok(())
    }

    /// Returns a permit that was not used.
    pub(super) fn give_up(&self, place: &'static Location<'static>) {
        let Some((room, _)) = &self.room else { return };
        room.release(1, place);
        self.wake_if_idle();
    }

    /// Wakes a receiver that has closed the channel and waits for all permits, if all have been returned.
    pub(super) fn wake_if_idle(&self) {
        let Some((room, bound)) = &self.room else { return };
        self.object.touch_too(|| OPEN);
        if self.state().is_closed && room.available_within() == *bound {
            let waker = self.state().receiver.take();
            executor::wake_all(waker);
        }
    }

    /// Takes a message, if there is one.
    fn take(&self) -> Result<T, TryRecvError> {
        let mut state = self.state();
        if let Some(message) = state.messages.pop_front() {
            drop(state);
            self.object.acquire(true);
            if let Some((room, _)) = &self.room {
                room.release_within(1);
            }
            return Ok(message);
        }
        let (senders, is_closed) = (state.senders, state.is_closed);
        drop(state);
        let is_over = senders == 0
            || is_closed && self.room.as_ref().is_none_or(|(room, bound)| room.available_within() == *bound);
        Err(if is_over { TryRecvError::Disconnected } else { TryRecvError::Empty })
    }

    pub(super) fn try_recv(&self, place: &'static Location<'static>) -> Result<T, TryRecvError> {
        self.object.pause_at(Kind::Receive, place, || OPEN);
        self.take().inspect_err(|error| {
            if *error == TryRecvError::Disconnected {
                self.object.acquire(false);
            }
            runtime::look();
        })
    }

    pub(super) fn poll_recv(&self, cx: &Context<'_>, place: &'static Location<'static>) -> Poll<Option<T>> {
        self.object.pause_at(Kind::Receive, place, || OPEN);
        let waker = cx.waker().clone();
        match self.take() {
            Ok(message) => Poll::Ready(Some(message)),
            Err(TryRecvError::Disconnected) => {
                self.object.acquire(true);
                let mut state = self.state();
                // tokio also checks whether the channel is closed after it has stored the waker.
                let before = if state.senders > 0 { state.receiver.replace(waker) } else { None };
                drop(state);
                drop(before);
                Poll::Ready(None)
            }
            Err(TryRecvError::Empty) => {
                let before = self.state().receiver.replace(waker);
                drop(before);
                executor::awaits(Some(&self.object), place);
                Poll::Pending
            }
        }
    }

    /// Receives at least one message, and at most this number. Receives none if no more will follow.
    pub(super) async fn recv_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        place: &'static Location<'static>,
    ) -> usize {
        if limit == 0 {
            return 0;
        }
        let Some(first) = poll_fn(|cx| self.poll_recv(cx, place)).await else { return 0 };
        buffer.push(first);
        let mut count = 1;
        while count < limit {
            let Ok(next) = self.take() else { break };
            buffer.push(next);
            count += 1;
        }
        count
    }

    pub(super) fn len(&self, place: &'static Location<'static>) -> usize {
        self.object.pause_at(Kind::Load, place, || OPEN);
        self.state().messages.len()
    }

    pub(super) fn is_closed(&self, place: &'static Location<'static>) -> bool {
        self.object.pause_at(Kind::Load, place, || OPEN);
        let is_closed = self.state().is_closed;
        if is_closed {
            self.object.acquire(false);
        }
        is_closed
    }

    /// Returns true if the channel is closed or has no senders.
    pub(super) fn is_over(&self, place: &'static Location<'static>) -> bool {
        self.object.pause_at(Kind::Load, place, || OPEN);
        let is_over = {
            let state = self.state();
            state.is_closed || state.senders == 0
        };
        if is_over {
            self.object.acquire(false);
        }
        is_over
    }

    /// Waits until the channel is closed.
    pub(super) async fn closed(&self, place: &'static Location<'static>) {
        let mut waits = Closing { channel: self, number: None };
        poll_fn(|cx| waits.poll(cx, place)).await;
    }

    /// Closes the channel: only messages for which there are permits are still accepted.
    pub(super) fn close(&self, place: &'static Location<'static>) {
        self.object.pause_at(Kind::Disconnect, place, || OPEN);
        let mut state = self.state();
        state.is_closed = true;
        let wakers = state.closed.take();
        drop(state);
        if let Some((room, _)) = &self.room {
            room.close_within();
        }
        executor::wake_all(wakers);
    }

    /// Handles the drop of the receiver.
    pub(super) fn drop_receiver(&self) {
        self.close(self.made);
        let mut state = self.state();
        let left = (std::mem::take(&mut state.messages), state.receiver.take());
        drop(state);
        drop(left);
    }

    pub(super) fn add_sender(&self) {
        self.state().senders += 1;
    }

    /// Adds a sender, if there is still another one. Returns true in this case.
    pub(super) fn revive(&self, place: &'static Location<'static>) -> bool {
        self.object.pause_at(Kind::Count, place, || OPEN);
        let mut state = self.state();
        let is_alive = state.senders > 0;
        state.senders += usize::from(is_alive);
        is_alive
    }

    pub(super) fn drop_sender(&self) {
        self.object.pause_at(Kind::Disconnect, self.made, || OPEN);
        self.object.release();
        let mut state = self.state();
        state.senders -= 1;
        let waker = if state.senders == 0 { state.receiver.take() } else { None };
        drop(state);
        executor::wake_all(waker);
    }
}

/// A sender's wait until the channel is closed.
struct Closing<'a, T> {
    channel: &'a Channel<T>,
    number: Option<u64>,
}

impl<T> Closing<'_, T> {
    fn poll(&mut self, cx: &Context<'_>, place: &'static Location<'static>) -> Poll<()> {
        self.channel.object.pause_at(Kind::Poll, place, || OPEN);
        let waker = cx.waker().clone();
        let mut state = self.channel.state();
        if state.is_closed {
            drop(state);
            self.channel.object.acquire(false);
            return Poll::Ready(());
        }
        let (number, before) = state.closed.leave(self.number, waker);
        drop(state);
        drop(before);
        self.number = Some(number);
        executor::awaits(Some(&self.channel.object), place);
        Poll::Pending
    }
}

impl<T> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        let left = self.number.and_then(|number| self.channel.state().closed.remove(number));
        drop(left);
    }
}
