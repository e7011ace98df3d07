//! Locks: mutexes with or without an owner, reentrant or not, and semaphores.

use super::{Model, Outcome, Want};
use crate::ids::index;
use crate::objects::flight::{Ask, Flight};
use crate::objects::object::Object;
use crate::op::Kind;
use crate::rng::{Chance, Rng};

/// A lock, which is initially free.
///
/// The model records the holder for every kind of lock, so that a client cannot release the lock of another one. A
/// client that is unsure whether it holds the lock releases it. Its earlier requests that have not arrived by then are
/// refused, so that the client knows its state.
pub(in crate::objects) struct Lock {
    pub(in crate::objects) object: Object,
    /// The number of permits; for a reentrant mutex, how often its owner can hold it.
    pub(in crate::objects) permits: u32,
    pub(in crate::objects) clients: Vec<Belief>,
}

/// A client's assumption about the lock.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::objects) struct Belief {
    /// The number of times that the client holds it.
    held: u32,
    /// Whether that may be wrong.
    unsure: bool,
    /// The client's last operation that reached the lock.
    arrived: u64,
}

/// The holders, each with the number of times that it holds the lock.
pub(in crate::objects) type Holders = Vec<(u32, u32)>;

fn held_by(state: &Holders, client: u32) -> u32 {
    state.iter().find(|(holder, _)| *holder == client).map_or(0, |(_, times)| *times)
}

fn acquire(state: &mut Holders, client: u32) {
    match state.iter_mut().find(|(holder, _)| *holder == client) {
        Some((_, times)) => *times += 1,
        None => state.push((client, 1)),
    }
}

impl Model for Lock {
    type State = Holders;

    fn fresh(&self) -> Holders {
        Vec::new()
    }

    fn draw(&mut self, _: &Holders, flight: &mut Flight, _: Want, rng: &mut Rng) {
        let Belief { held, unsure, .. } = self.clients[index(flight.client)];
        let again = self.object == Object::ReentrantMutex && held < self.permits && rng.happens(AGAIN);
        flight.ask = if unsure || (held > 0 && !again) { Ask::Release } else { Ask::Acquire };
    }

    fn apply(&mut self, state: &mut Holders, flight: &mut Flight) -> Outcome {
        let mine = held_by(state, flight.client);
        let all: u32 = state.iter().map(|(_, times)| times).sum();
        if flight.ask == Ask::Acquire {
            let free = match self.object {
                Object::Semaphore => all < self.permits,
                Object::ReentrantMutex => all == mine && mine < self.permits,
                _ => all == 0,
            };
            if !free {
                return Outcome::Busy;
            }
            acquire(state, flight.client);
            return Outcome::Done;
        }
        if mine == 0 {
            return Outcome::Refused;
        }
        state.iter_mut().filter(|(holder, _)| *holder == flight.client).for_each(|(_, times)| *times -= 1);
        state.retain(|(_, times)| *times > 0);
        Outcome::Done
    }

    fn force(&mut self, state: &mut Holders, flight: &mut Flight) {
        acquire(state, flight.client);
    }

    fn hear(&mut self, _: &mut Holders, flight: &Flight, kind: Kind) {
        let reentrant = self.object == Object::ReentrantMutex;
        let belief = &mut self.clients[index(flight.client)];
        match (kind, flight.ask) {
            (Kind::Info, _) => belief.unsure = true,
            (Kind::Ok, Ask::Acquire) => belief.held += 1,
            // A lock that can be held several times is released until the client does not hold it any more.
            (Kind::Ok, _) => {
                belief.held = belief.held.saturating_sub(1);
                belief.unsure &= reentrant;
            }
            (_, Ask::Release) if !flight.aborted => (belief.held, belief.unsure) = (0, false),
            _ => {}
        }
    }

    fn is_bound(&self, client: u32) -> bool {
        let belief = self.clients[index(client)];
        belief.unsure || belief.held > 0
    }

    fn is_late(&mut self, flight: &Flight) -> bool {
        let arrived = &mut self.clients[index(flight.client)].arrived;
        *arrived = flight.number.max(*arrived);
        flight.number < *arrived
    }
}

/// The probability that the owner of a reentrant mutex acquires it again instead of releasing it.
const AGAIN: Chance = Chance::HALF;
