//! The datagrams that a UDP socket has received, which may be lost, arrive twice, or overtake each other.

use super::link::{Arrival, Fault, Link, Wires};
use crate::time::Instant;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The maximum number of datagrams that wait for a socket. Further datagrams are dropped, as by a system with full
/// buffers.
const DATAGRAMS_MAX: usize = 1024;

/// The maximum number of bytes of a datagram.
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

    /// Takes the first matching datagram that has arrived. If there is none, returns when one will arrive, if known.
    pub(super) fn take(&self, wanted: impl Fn(SocketAddr) -> bool, is_peek: bool) -> Result<Datagram, Option<Instant>> {
        let mut state = self.state();
        // A connected socket discards datagrams from other addresses.
        state.datagrams.retain(|datagram| wanted(datagram.from));
        let mut next: Option<Instant> = None;
        // At most one of the datagrams is late, since a step has no room for more picks.
        let mut is_late = false;
        for at in 0..state.datagrams.len() {
            let Datagram { link, arrival, .. } = &mut state.datagrams[at];
            if is_late && matches!(arrival, Arrival::Sent(None)) {
                *arrival = Arrival::Here;
            }
            let was_sent = matches!(arrival, Arrival::Sent(_));
            match self.wires.look(*link, arrival) {
                Ok(()) if is_peek => return Ok(state.datagrams[at].clone()),
                Ok(()) => return Ok(state.datagrams.remove(at).unwrap_or_else(|| unreachable!("it was found before"))),
                Err(moment) => {
                    is_late |= was_sent && !matches!(state.datagrams[at].arrival, Arrival::Sent(_));
                    next = next.into_iter().chain(moment).min();
                }
            }
        }
        self.lose(&mut state);
        Err(next)
    }

    /// Drops datagrams that a partition has stopped. Datagrams sent during the partition are not even stored.
    fn lose(&self, state: &mut State) {
        let is_lost =
            |datagram: &Datagram| matches!(datagram.arrival, Arrival::Stopped(_)) && self.wires.is_cut(datagram.link);
        state.datagrams.retain(|datagram| !is_lost(datagram));
    }

    /// Stores a waker.
    pub(super) fn leave(&self, waker: &Waker) {
        let waker = waker.clone();
        let mut state = self.state();
        if !state.wakers.iter().any(|own| own.will_wake(&waker)) {
            state.wakers.push(waker);
        }
    }

    /// Updates the datagrams after a link was stopped or restored: a partition loses those in transit. Returns the
    /// wakers to call.
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
