//! Links between hosts: whether messages pass, and when they arrive.
//!
//! It is not determined when a message arrives until a thread looks for it. Usually the message has arrived then. If
//! the schedule chooses so, it is late: it then arrives when time has passed, that is when nothing else can happen. So
//! a program is tested with messages that overtake each other on different connections, and that have not arrived when
//! something else breaks.

use crate::object::Object;
use crate::runtime;
use crate::scheduler::Pick;
use crate::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Faults of messages that the schedule can choose. Each counts as a surprise of the thread that encounters it: see
/// [`Settings::surprises_max`](crate::Settings::surprises_max).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A message arrives later than those that are sent after it over other connections, or as other datagrams.
    Late,
    /// A stream is read, or written, one byte only.
    Part,
    /// A datagram is lost.
    Loss,
    /// A datagram arrives twice.
    Repeat,
    /// A connection is reset when it is read or written, for both sides.
    Reset,
}

impl Fault {
    fn pick(self) -> Pick {
        match self {
            Fault::Late => Pick::Late,
            Fault::Part => Pick::Part,
            Fault::Loss => Pick::Lose,
            Fault::Repeat => Pick::Repeat,
            Fault::Reset => Pick::Break,
        }
    }
}

/// The properties of a [`Network`](crate::net::Network).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkSettings {
    /// The minimum time that a message takes between two hosts.
    pub latency: Duration,
    /// The additional time that a late message takes.
    pub delay: Duration,
    /// The faults of messages that the schedule may choose.
    pub faults: Vec<Fault>,
    /// The maximum number of bytes of a connection that were written and not read, in each direction.
    pub buffer_bytes: usize,
    /// The time for which opening a connection is retried through a partition.
    pub connect_timeout: Duration,
    /// The time for which written data is sent repeatedly through a partition, before the connection breaks.
    pub write_timeout: Duration,
}

impl Default for NetworkSettings {
    /// No latency, 100 ms of delay, all faults except [`Fault::Reset`], buffers of 64 KiB; 127 s to connect and 924 s
    /// to write, as on Linux.
    fn default() -> NetworkSettings {
        NetworkSettings {
            latency: Duration::ZERO,
            delay: Duration::from_millis(100),
            faults: vec![Fault::Late, Fault::Part, Fault::Loss, Fault::Repeat],
            buffer_bytes: 1 << 16,
            connect_timeout: Duration::from_secs(127),
            write_timeout: Duration::from_secs(924),
        }
    }
}

/// The number of the host that sends, and of the host that receives.
pub(super) type Link = (usize, usize);

/// The reason why a link passes no messages.
#[derive(Clone, Copy, Default)]
struct Stop {
    is_cut: bool,
    is_held: bool,
}

/// All links of a network.
pub(super) struct Wires {
    pub(super) object: Object,
    pub(super) settings: NetworkSettings,
    stops: Mutex<BTreeMap<Link, Stop>>,
}

/// The state of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// The message was sent. It arrives at this moment, or as soon as a thread looks for it, unless it is late.
    Sent(Option<Instant>),
    Late(Instant),
    Here,
    /// The message has been waiting for the link since this moment.
    Stopped(Instant),
}

impl Wires {
    pub(super) fn new(settings: NetworkSettings, made: &'static Location<'static>) -> Wires {
        Wires { object: Object::new("network", made), settings, stops: Mutex::default() }
    }

    fn stops(&self) -> MutexGuard<'_, BTreeMap<Link, Stop>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_cut(&self, link: Link) -> bool {
        link.0 != link.1 && self.stops().get(&link).is_some_and(|stop| stop.is_cut)
    }

    /// Returns true if the link passes no messages.
    pub(super) fn is_stopped(&self, link: Link) -> bool {
        link.0 != link.1 && self.stops().get(&link).is_some_and(|stop| stop.is_cut || stop.is_held)
    }

    pub(super) fn set_cut(&self, link: Link, is_cut: bool) {
        self.stops().entry(link).or_default().is_cut = is_cut;
    }

    pub(super) fn set_held(&self, link: Link, is_held: bool) {
        self.stops().entry(link).or_default().is_held = is_held;
    }

    /// Returns true if a fault affects a message. The pick is part of the current step, since the caller holds locks.
    pub(super) fn strikes(&self, fault: Fault) -> bool {
        self.settings.faults.contains(&fault) && runtime::pick_within(fault.pick(), 2) == 1
    }

    /// The initial state of a message that is sent now.
    pub(super) fn send(&self, link: Link) -> Arrival {
        if self.is_stopped(link) {
            return Arrival::Stopped(Instant::unscheduled());
        }
        let latency = if link.0 == link.1 { Duration::ZERO } else { self.settings.latency };
        Arrival::Sent((!latency.is_zero()).then(|| Instant::unscheduled() + latency))
    }

    /// Determines whether a message has arrived when a thread looks for it. If not, returns when it will arrive, if
    /// known.
    pub(super) fn look(&self, link: Link, arrival: &mut Arrival) -> Result<(), Option<Instant>> {
        match *arrival {
            Arrival::Here => return Ok(()),
            Arrival::Stopped(_) => return Err(None),
            Arrival::Sent(at) => {
                if let Some(at) = at.filter(|at| *at > Instant::unscheduled()) {
                    return Err(Some(at));
                }
                if self.strikes(Fault::Late) {
                    let now = Instant::unscheduled();
                    if self.is_stopped(link) {
                        // The message did not arrive before the link was stopped.
                        *arrival = Arrival::Stopped(now);
                        return Err(None);
                    }
                    *arrival = Arrival::Late(now + self.settings.delay);
                    return Err(Some(now + self.settings.delay));
                }
            }
            Arrival::Late(at) => {
                if at > Instant::unscheduled() {
                    return Err(Some(at));
                }
            }
        }
        *arrival = Arrival::Here;
        Ok(())
    }

    /// Updates the state of a message on a link that was stopped or restored.
    pub(super) fn relink(&self, link: Link, arrival: &mut Arrival) {
        let now = Instant::unscheduled();
        let is_stopped = self.is_stopped(link);
        match *arrival {
            Arrival::Sent(Some(at)) | Arrival::Late(at) if is_stopped && at > now => *arrival = Arrival::Stopped(now),
            Arrival::Stopped(_) if !is_stopped => *arrival = self.send(link),
            _ => {}
        }
    }
}
