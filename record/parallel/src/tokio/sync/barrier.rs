//! A barrier at which tasks wait until all have arrived.

use super::waiters::Waiters;
use crate::object::Object;
use crate::op::Kind;
use crate::tokio::executor;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

const OPEN: [bool; 2] = [true; 2];

/// The equivalent of `tokio::sync::Barrier`.
pub struct Barrier {
    object: Object,
    tasks: usize,
    state: Mutex<State>,
}

struct State {
    arrived: usize,
    /// The number of times that all tasks have arrived.
    rounds: u64,
    waiting: Waiters,
}

/// The equivalent of `tokio::sync::BarrierWaitResult`.
#[derive(Clone, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns true if this task arrived last.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Creates a barrier for this number of tasks; 0 counts as 1.
    #[track_caller]
    pub fn new(tasks: usize) -> Barrier {
        let state = State { arrived: 0, rounds: 0, waiting: Waiters::new() };
        Barrier { object: Object::new("Barrier", Location::caller()), tasks: tasks.max(1), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all have arrived. A task that is cancelled while it waits counts as arrived.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        let place = Location::caller();
        let mut round = None;
        let mut number = None;
        poll_fn(move |cx| self.poll(cx, &mut round, &mut number, place))
    }

    fn poll(
        &self,
        cx: &Context<'_>,
        round: &mut Option<u64>,
        number: &mut Option<u64>,
        place: &'static Location<'static>,
    ) -> Poll<BarrierWaitResult> {
        self.object.pause_at(Kind::Arrive, place, || OPEN);
        self.object.acquire(true);
        self.object.release();
        let waker = cx.waker().clone();
        let mut state = self.state();
        if round.is_none() {
            *round = Some(state.rounds);
            state.arrived += 1;
            if state.arrived == self.tasks {
                state.arrived = 0;
                state.rounds += 1;
                let wakers = state.waiting.take();
                drop(state);
                executor::wake_all(wakers);
                return Poll::Ready(BarrierWaitResult(true));
            }
        }
        if *round != Some(state.rounds) {
            return Poll::Ready(BarrierWaitResult(false));
        }
        let (own, before) = state.waiting.leave(*number, waker);
        *number = Some(own);
        drop(state);
        drop(before);
        executor::awaits(Some(&self.object), place);
        Poll::Pending
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
