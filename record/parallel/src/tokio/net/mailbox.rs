//! The datagrams that a UDP socket has received, which may be lost, arrive twice, or overtake each other.

use super::link::{Arrival, Fault, Link, Wires};
use crate::time::Instant;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The maximum number of datagrams that wait for a socket. Further ones are dropped, as by a system whose buffers are
/// full.
const DATAGRAMS_MAX: usize = 1024;

/// Bytes of a datagram, at most.
pub(super) const BYTES_MAX: usize = 65_507;

pub(super) struct Mailbox {
    wires: Arc<Wires>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    datagrams: VecDeque<Datagram>,
    wakers: Vec<Waker>,
}

pub(super) struct Datagram {
    pub(super) from: SocketAddr,
    pub(super) data: Arc<[u8]>,
    link: Link,
    arrival: Arrival,
}

impl Mailbox {
    pub(super) fn new(wires: &Arc<Wires>) -> Mailbox {
        Mailbox { wires: Arc::clone(wires), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a datagram to this mailbox. Returns the wakers to call.
    pub(super) fn push(&self, link: Link, from: SocketAddr, data: &[u8]) -> Vec<Waker> {
        if self.wires.is_cut(link) || self.wires.strikes(Fault::Loss) {
            return Vec::new();
        }
        let copies = if self.wires.strikes(Fault::Repeat) { 2 } else { 1 };
        let data: Arc<[u8]> = data.into();
        let mut state = self.state();
        for _ in 0..copies {
            if state.datagrams.len() < DATAGRAMS_MAX {
                let arrival = self.wires.send(link);
                state.datagrams.push_back(Datagram { from, data: Arc::clone(&data), link, arrival });
            }
        }
        std::mem::take(&mut state.wakers)
    }

    /// The first matching datagram that has arrived; if there is none, when one will arrive, if known.
    pub(super) fn take(&self, wanted: impl Fn(SocketAddr) -> bool, is_peek: bool) -> Result<Datagram, Option<Instant>> {
        let mut state = self.state();
        // What comes from others to a socket that is connected goes nowhere.
        state.datagrams.retain(|datagram| wanted(datagram.from));
        let mut next: Option<Instant> = None;
        // One of them is late at most, or a step would have no room for the picks.
        let mut is_late = false;
        for at in 0..state.datagrams.len() {
            let Datagram { link, arrival, .. } = &mut state.datagrams[at];
            if is_late && matches!(arrival, Arrival::Sent(None)) {
                *arrival = Arrival::Here;
            }
            let was_sent = matches!(arrival, Arrival::Sent(_));
            match self.wires.look(*link, arrival) {
                Ok(()) if is_peek => return Ok(state.datagrams[at].clone()),
                Ok(()) => return Ok(state.datagrams.remove(at).unwrap_or_else(|| unreachable!("it was looked at"))),
                Err(moment) => {
                    is_late |= was_sent && !matches!(state.datagrams[at].arrival, Arrival::Sent(_));
                    next = next.into_iter().chain(moment).min();
                }
            }
        }
        self.lose(&mut state);
        Err(next)
    }

    /// Drops datagrams that a partition has stopped. Later ones are not even stored.
    fn lose(&self, state: &mut State) {
        let is_lost =
            |datagram: &Datagram| matches!(datagram.arrival, Arrival::Stopped(_)) && self.wires.is_cut(datagram.link);
        state.datagrams.retain(|datagram| !is_lost(datagram));
    }

    /// Leaves a waker.
    pub(super) fn leave(&self, waker: &Waker) {
        let waker = waker.clone();
        let mut state = self.state();
        if !state.wakers.iter().any(|own| own.will_wake(&waker)) {
            state.wakers.push(waker);
        }
    }

    /// Handles a link that was stopped or restored: datagrams in transit are lost in a partition. Returns the wakers to
    /// call.
    pub(super) fn relink(&self) -> Vec<Waker> {
        let mut state = self.state();
        for datagram in &mut state.datagrams {
            self.wires.relink(datagram.link, &mut datagram.arrival);
        }
        self.lose(&mut state);
        std::mem::take(&mut state.wakers)
    }
}

impl Clone for Datagram {
    fn clone(&self) -> Datagram {
        Datagram { data: Arc::clone(&self.data), ..*self }
    }
}
