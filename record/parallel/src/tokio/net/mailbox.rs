//! What a UDP socket has received: datagrams, which may be lost, arrive twice, or overtake each other.

use super::link::{Arrival, Fault, Link, Wires};
use crate::time::Instant;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Datagrams that wait for a socket, at most. Like a system whose buffers are full, it drops what comes then.
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

    /// Sends a datagram to this. Returns who is to be woken.
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

    /// The first one that is there and that is wanted; if there is none, when one will be, if that is known.
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

    /// Drops what a partition has stopped. What is sent to it from then on is not even noted.
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

    /// A link was stopped, or is not any more: what is on its way is lost in a partition. Returns who is to be woken.
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
