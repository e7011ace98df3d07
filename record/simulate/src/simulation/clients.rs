//! Clients: each sends a request, waits for the answer, pauses, and sends the next one, until all requests were sent.
//!
//! A client is one thread. Its request takes time to reach the store, the store takes steps at later instants, and the
//! answer takes time to return. Some requests fail, and some answers never arrive: then the client gives up after a
//! while and continues as a new process, and the store may process the request before that, after it, or never.

use super::nemesis::Nemesis;
use super::schedule::{Delay, Schedule};
use super::system::{Intent, Progress, System};
use crate::ids::index;
use crate::op::{Kind, Payload, Process, SimOp};
use crate::rng::{Chance, Purpose, Rng};
use crate::slot::Slot;
use std::io;

/// Receives the events of a simulation.
pub trait Observer {
    /// Receives the next op of the history.
    ///
    /// # Errors
    ///
    /// An error ends the simulation and is returned by it.
    fn op(&mut self, op: &SimOp<'_>) -> io::Result<()>;

    /// Receives an effect: the operation that was invoked at the index `invoked` took effect. If the store does not
    /// perform a transaction at one instant, this is the time at which it decided that the answer is `ok`. `result` is
    /// the result, even if no client gets it.
    fn commit(&mut self, invoked: u64, time_ns: u64, result: Payload<'_>) {
        let _ = (invoked, time_ns, result);
    }
}

/// The number of clients and of their requests, and the rates of failures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) seed: u64,
    pub(crate) clients: u32,
    pub(crate) ops: u64,
    pub(crate) fail: Chance,
    pub(crate) info: Chance,
    pub(crate) lost: Chance,
    pub(crate) nemesis: bool,
    /// The time from an answer until the next request of the client.
    pub(crate) think: Delay,
}

const START: Delay = Delay(0, 100_000);
const REQUEST: Delay = Delay(1_000, 60_000);
const WORK: Delay = Delay(1_000, 40_000);
const REPLY: Delay = Delay(1_000, 60_000);
/// The time after which a client without an answer gives up.
const PATIENCE: Delay = Delay(100_000, 500_000);
/// The time that a request without an answer takes to reach the store.
const STRAGGLE: Delay = Delay(1_000, 1_000_000);

/// The order of the fields does not matter: no two events of one instant are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A client is ready for its next request.
    Idle(u32),
    /// The store continues with an operation.
    Step(Slot),
    /// The answer arrives.
    Answer(Slot),
    /// The client stops waiting.
    GiveUp(Slot),
    /// The nemesis acts.
    Nemesis,
}

/// The outcome of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Ok,
    Fail,
    Info,
    /// As `Info`, but the client does not record that it gave up.
    Lost,
}

#[derive(Clone, Copy)]
struct InFlight {
    client: u32,
    process: i64,
    invoked: u64,
    fate: Fate,
    /// Whether the store still has steps to take.
    stepping: bool,
    /// Whether the client is waiting.
    awaited: bool,
    /// The answer that the client will receive.
    answer: Kind,
}

/// The clients of one simulation.
pub(crate) struct Clients {
    load: Load,
    timing: Rng,
    fates: Rng,
    /// The nemesis and its random numbers, if there is one.
    nemesis: Option<(Nemesis, Rng)>,
    schedule: Schedule<Event>,
    processes: Vec<i64>,
    flights: Vec<InFlight>,
    free: Vec<Slot>,
    asked: u64,
    index: u64,
    /// The time of the last event.
    now: u64,
}

impl Clients {
    pub(crate) fn new(load: Load) -> Clients {
        Clients {
            load,
            timing: Rng::new(load.seed, Purpose::Timing),
            fates: Rng::new(load.seed, Purpose::Fate),
            nemesis: load.nemesis.then(|| (Nemesis::new(), Rng::new(load.seed, Purpose::Nemesis))),
            schedule: Schedule::new(),
            processes: (0..i64::from(load.clients)).collect(),
            flights: Vec::new(),
            free: Vec::new(),
            asked: 0,
            index: 0,
            now: 0,
        }
    }

    /// Runs the simulation to its end.
    pub(crate) fn run(mut self, system: &mut dyn System, observer: &mut dyn Observer) -> io::Result<()> {
        for client in 0..self.load.clients {
            self.after(0, &START, Event::Idle(client));
        }
        if let Some((_, rng)) = &mut self.nemesis {
            self.schedule.at(Nemesis::first(rng), Event::Nemesis);
        }
        self.events(system, observer)?;
        let last = system.end();
        if last > 0 {
            self.load.ops += last;
            for client in 0..self.load.clients {
                self.after(self.now, &START, Event::Idle(client));
            }
            self.events(system, observer)?;
        }
        Ok(())
    }

    /// Processes events until there are no more.
    fn events(&mut self, system: &mut dyn System, observer: &mut dyn Observer) -> io::Result<()> {
        while let Some((now, event)) = self.schedule.next() {
            self.now = now;
            match event {
                Event::Idle(client) => self.ask(now, client, system, observer)?,
                Event::Step(slot) => self.step(now, slot, system, observer),
                Event::Answer(slot) => {
                    let kind = self.flights[index(slot)].answer;
                    system.hear(slot, kind);
                    self.record(now, slot, kind, system, observer)?;
                    self.go_on(now, slot, system);
                }
                Event::GiveUp(slot) => {
                    let InFlight { client, fate, .. } = self.flights[index(slot)];
                    system.hear(slot, Kind::Info);
                    if fate == Fate::Info {
                        self.record(now, slot, Kind::Info, system, observer)?;
                    }
                    self.processes[index(client)] += i64::from(self.load.clients);
                    self.go_on(now, slot, system);
                }
                Event::Nemesis => self.disturb(now, observer)?,
            }
        }
        Ok(())
    }

    fn after(&mut self, now: u64, delay: &Delay, event: Event) {
        self.schedule.at(now + delay.draw(&mut self.timing), event);
    }

    fn ask(&mut self, now: u64, client: u32, system: &mut dyn System, observer: &mut dyn Observer) -> io::Result<()> {
        if self.asked == self.load.ops {
            return Ok(());
        }
        self.asked += 1;
        let slot = self.free.pop().unwrap_or(self.flights.len() as Slot);
        let drawn = self.fate();
        let fate = if system.plan(slot, client) { Fate::Ok } else { drawn };
        // Half of the requests without an answer never reach the store.
        let answered = matches!(fate, Fate::Ok | Fate::Fail);
        let arrives = answered || self.fates.below(2) == 0;
        let process = self.processes[index(client)];
        let (invoked, stepping) = (self.index, arrives);
        let flight = InFlight { client, process, invoked, fate, stepping, awaited: true, answer: Kind::Ok };
        if index(slot) == self.flights.len() {
            self.flights.push(flight);
        } else {
            self.flights[index(slot)] = flight;
        }
        self.record(now, slot, Kind::Invoke, system, observer)?;
        if arrives {
            self.after(now, if answered { &REQUEST } else { &STRAGGLE }, Event::Step(slot));
        }
        if !answered {
            self.after(now, &PATIENCE, Event::GiveUp(slot));
        }
        Ok(())
    }

    fn fate(&mut self) -> Fate {
        let Load { fail, info, lost, .. } = self.load;
        let Err(ticket) = fail.wins(self.fates.ticket()) else { return Fate::Fail };
        let Err(ticket) = info.wins(ticket) else { return Fate::Info };
        if lost.wins(ticket).is_ok() {
            return Fate::Lost;
        }
        let swallowed = self.nemesis.as_mut().is_some_and(|(nemesis, rng)| nemesis.swallows(rng));
        if swallowed { Fate::Info } else { Fate::Ok }
    }

    /// Lets the nemesis act as long as clients have requests, and finally repair the network.
    fn disturb(&mut self, now: u64, observer: &mut dyn Observer) -> io::Result<()> {
        let Some((nemesis, rng)) = &mut self.nemesis else { return Ok(()) };
        if nemesis.is_at_rest() && self.asked == self.load.ops {
            return Ok(());
        }
        let (f, wait_ns) = nemesis.act(rng);
        self.schedule.at(now + wait_ns, Event::Nemesis);
        let (process, payload) = (Process::Nemesis, Payload::Nothing);
        let op = SimOp { index: self.index, process, kind: Kind::Info, f, payload, time_ns: now };
        self.index += 1;
        observer.op(&op)
    }

    fn step(&mut self, now: u64, slot: Slot, system: &mut dyn System, observer: &mut dyn Observer) {
        let flight = &mut self.flights[index(slot)];
        let intent = if flight.fate == Fate::Fail { Intent::Abort } else { Intent::Commit };
        let again = match system.step(slot, intent) {
            Progress::Again => true,
            Progress::End => false,
            Progress::Answer { ok, more } => {
                if ok {
                    observer.commit(flight.invoked, now, system.payload(slot, Kind::Ok));
                }
                flight.answer = if ok { Kind::Ok } else { Kind::Fail };
                if matches!(flight.fate, Fate::Ok | Fate::Fail) {
                    self.after(now, &REPLY, Event::Answer(slot));
                }
                more
            }
        };
        if again {
            self.after(now, &WORK, Event::Step(slot));
        } else {
            self.flights[index(slot)].stepping = false;
            self.release(slot, system);
        }
    }

    fn record(
        &mut self,
        now: u64,
        slot: Slot,
        kind: Kind,
        system: &dyn System,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let process = Process::Client(self.flights[index(slot)].process);
        let payload = system.payload(slot, kind);
        let op = SimOp { index: self.index, process, kind, f: system.f(slot), payload, time_ns: now };
        self.index += 1;
        observer.op(&op)
    }

    /// Ends the client's wait for an operation, and schedules its next request.
    fn go_on(&mut self, now: u64, slot: Slot, system: &mut dyn System) {
        let flight = &mut self.flights[index(slot)];
        flight.awaited = false;
        let client = flight.client;
        let think = self.load.think;
        self.after(now, &think, Event::Idle(client));
        self.release(slot, system);
    }

    fn release(&mut self, slot: Slot, system: &mut dyn System) {
        let flight = self.flights[index(slot)];
        if !flight.stepping && !flight.awaited {
            system.release(slot);
            self.free.push(slot);
        }
    }
}
