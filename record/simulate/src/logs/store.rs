//! The logs, and the operations of clients on them, each at one instant.

use super::bug::LogBug;
use crate::ids::index;
use crate::op::log::{LogMop, LogOp};
use crate::op::{Kind, Payload};
use crate::rng::{Chance, Purpose, Rng};
use crate::simulation::system::{Intent, Progress, System};
use crate::slot::Slot;

/// The maximum number of messages that one poll returns of a log; at the end there is no limit.
const POLLED_MAX: usize = 8;

/// An offset with its message.
type Entry = (i64, i64);

#[derive(Default)]
struct Log {
    entries: Vec<Entry>,
    /// The next offset.
    end: i64,
    /// The last value assigned to a message.
    value: i64,
    /// A message that is visible before a client sends it.
    early: Option<Entry>,
}

impl Log {
    fn append(&mut self, value: i64) -> i64 {
        let offset = self.end;
        self.entries.push((offset, value));
        self.end += 1;
        offset
    }
}

/// The purpose of an operation.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Task {
    Assign,
    #[default]
    Work,
    /// Polls all remaining messages.
    Drain,
}

#[derive(Default)]
struct Flight {
    client: u32,
    task: Task,
    bitten: bool,
    /// Whether its messages are stored in the log.
    stored: bool,
    mops: Vec<LogMop>,
    /// By key: the position of its client after the op, once the client gets the answer.
    positions: Vec<(usize, usize)>,
}

struct Client {
    has_assigned: bool,
    /// By key: the position in the log of the next message to poll.
    positions: Vec<usize>,
    /// A message that is stored together with the next one.
    held: Option<(u32, i64)>,
}

/// The parameters of a store.
pub(super) struct Asked {
    pub(super) seed: u64,
    pub(super) clients: u32,
    pub(super) keys: u32,
    pub(super) ops_per_txn_max: u32,
    pub(super) read_fraction: f64,
    pub(super) bug: LogBug,
    pub(super) bug_rate: f64,
}

/// The logs, and the clients that use them.
pub(super) struct LogStore {
    bug: LogBug,
    bites: Chance,
    polls: Chance,
    mops_max: u64,
    plan: Rng,
    bugs: Rng,
    logs: Vec<Log>,
    keys: Vec<i64>,
    clients: Vec<Client>,
    flights: Vec<Flight>,
    ending: bool,
}

impl LogStore {
    pub(super) fn new(asked: &Asked) -> LogStore {
        let client = || Client { has_assigned: false, positions: vec![0; index(asked.keys)], held: None };
        LogStore {
            bug: asked.bug,
            bites: Chance::new(asked.bug_rate),
            polls: Chance::new(asked.read_fraction),
            mops_max: asked.ops_per_txn_max.into(),
            plan: Rng::new(asked.seed, Purpose::Plan),
            bugs: Rng::new(asked.seed, Purpose::Bug),
            logs: (0..asked.keys).map(|_| Log::default()).collect(),
            keys: (0..i64::from(asked.keys)).collect(),
            clients: (0..asked.clients).map(|_| client()).collect(),
            flights: Vec::new(),
            ending: false,
        }
    }

    /// Chooses the next operation. Returns true if it must succeed.
    fn choose(&mut self, slot: Slot) -> bool {
        let flight = &mut self.flights[index(slot)];
        if self.ending {
            flight.task = Task::Drain;
            flight.mops.push(LogMop::Poll(Vec::new()));
            return true;
        }
        let count = 1 + self.plan.below(self.mops_max);
        let mut must = false;
        for _ in 0..count {
            let polls = self.plan.happens(self.polls);
            if polls {
                flight.mops.push(LogMop::Poll(Vec::new()));
                continue;
            }
            let key = key_below(&mut self.plan, self.logs.len());
            must |= send(&mut self.logs[index(key)], key, &mut flight.mops);
        }
        let sent = |mop: &LogMop| if let LogMop::Send { key, .. } = mop { Some(*key) } else { None };
        let first = flight.mops.iter().find_map(sent).filter(|_| flight.bitten);
        match (first, self.bug) {
            (Some(_), LogBug::PrecommittedRead) => flight.mops.push(LogMop::Poll(Vec::new())),
            (Some(key), LogBug::IntNonmonotonicSend) => {
                must |= send(&mut self.logs[index(key)], key, &mut flight.mops);
            }
            _ => {}
        }
        must
    }

    /// Stores the messages that an operation sends.
    fn store(&mut self, slot: Slot) {
        let LogStore { flights, logs, clients, bug, .. } = self;
        let flight = &mut flights[index(slot)];
        if std::mem::replace(&mut flight.stored, true) {
            return;
        }
        let bite = |bug_at_hand| flight.bitten && *bug == bug_at_hand;
        let held = &mut clients[index(flight.client)].held;
        let (reverses, holds) = (bite(LogBug::IntNonmonotonicSend), bite(LogBug::NonmonotonicSend));
        let (loses, doubles, errs) =
            (bite(LogBug::LostWrite), bite(LogBug::Duplicate), bite(LogBug::InconsistentOffsets));
        let count = flight.mops.len();
        for at in 0..count {
            let at = if reverses { count - 1 - at } else { at };
            let LogMop::Send { key, value, offset } = &mut flight.mops[at] else { continue };
            let log = &mut logs[index(*key)];
            if offset.is_some() {
                // The message is stored already.
                continue;
            }
            if holds && held.is_none() {
                *held = Some((*key, *value));
                continue;
            }
            if loses {
                *offset = Some(log.end);
                log.end += 1;
                continue;
            }
            let stored = log.append(*value);
            if doubles {
                log.append(*value);
            }
            *offset = Some(if errs && stored > 0 { stored - 1 } else { stored });
            if let Some((_, value)) = held.take_if(|(held, _)| *held == *key && !holds) {
                log.append(value);
            }
        }
        if count > 1 {
            // The marker that ends a transaction takes an offset of each log that it wrote.
            for mop in &flight.mops {
                if let LogMop::Send { key, .. } = mop {
                    logs[index(*key)].end += i64::from(!reverses);
                }
            }
        }
    }

    /// Performs the polls of an operation.
    fn poll(&mut self, slot: Slot) {
        let LogStore { flights, logs, clients, bug, .. } = self;
        let flight = &mut flights[index(slot)];
        let client = &clients[index(flight.client)];
        let bite = |bug_at_hand| flight.bitten && *bug == bug_at_hand;
        let mut positions = client.positions.clone();
        if bite(LogBug::PollSkip) || bite(LogBug::NonmonotonicPoll) {
            for (position, log) in positions.iter_mut().zip(&*logs) {
                *position = match bug {
                    LogBug::PollSkip if *position > 0 && *position + 1 < log.entries.len() => *position + 1,
                    LogBug::NonmonotonicPoll => position.saturating_sub(1),
                    _ => *position,
                };
            }
        }
        let (drops, swaps) = (bite(LogBug::IntPollSkip), bite(LogBug::IntNonmonotonicPoll));
        let limit = if flight.task == Task::Drain || bite(LogBug::PrecommittedRead) { usize::MAX } else { POLLED_MAX };
        for mop in &mut flight.mops {
            let LogMop::Poll(polled) = mop else { continue };
            polled.clear();
            for (key, log) in (0..).zip(&*logs) {
                let position = &mut positions[index(key)];
                let from = (*position).min(log.entries.len());
                let mut entries: Vec<Entry> = log.entries[from..].iter().take(limit).copied().collect();
                *position = from + entries.len();
                if drops && entries.len() > 2 {
                    entries.remove(1);
                }
                if swaps && entries.len() > 1 {
                    entries.swap(0, 1);
                }
                if !entries.is_empty() {
                    polled.push((key, entries));
                }
            }
        }
        flight.positions.clear();
        flight.positions.extend(positions.into_iter().enumerate());
    }

    /// Applies the bugs that affect other data than that of the current operation.
    fn disturb(&mut self, slot: Slot) {
        if !self.flights[index(slot)].bitten {
            return;
        }
        match self.bug {
            LogBug::PhantomMessage | LogBug::EarlyRead => {
                let key = key_below(&mut self.bugs, self.logs.len());
                let log = &mut self.logs[index(key)];
                if self.bug == LogBug::PhantomMessage || log.early.is_none() {
                    log.value += 1;
                    let value = log.value;
                    let offset = log.append(value);
                    if self.bug == LogBug::EarlyRead {
                        log.early = Some((offset, value));
                    }
                }
            }
            LogBug::UncommittedRead => {
                let sends = |flight: &Flight| flight.mops.iter().any(|mop| matches!(mop, LogMop::Send { .. }));
                let is_open = |(at, flight): &(Slot, &Flight)| *at != slot && !flight.stored && sends(flight);
                if let Some((open, _)) = (0..).zip(&self.flights).find(is_open) {
                    self.store(open);
                }
            }
            _ => {}
        }
    }
}

/// A random key below `keys`.
fn key_below(rng: &mut Rng, keys: usize) -> u32 {
    let end = u64::try_from(keys).unwrap_or(u64::MAX);
    u32::try_from(rng.below(end)).unwrap_or(u32::MAX)
}

/// Plans a send. Returns true if it must succeed, because its message is already visible.
fn send(log: &mut Log, key: u32, mops: &mut Vec<LogMop>) -> bool {
    let early = log.early.take();
    let value = early.map_or_else(
        || {
            log.value += 1;
            log.value
        },
        |(_, value)| value,
    );
    mops.push(LogMop::Send { key, value, offset: early.map(|(offset, _)| offset) });
    early.is_some()
}

impl System for LogStore {
    fn f(&self, slot: Slot) -> &'static str {
        let flight = &self.flights[index(slot)];
        if flight.task == Task::Assign {
            return "assign";
        }
        let sends = flight.mops.iter().filter(|mop| matches!(mop, LogMop::Send { .. })).count();
        match sends {
            0 => "poll",
            all if all == flight.mops.len() => "send",
            _ => "txn",
        }
    }

    fn plan(&mut self, slot: Slot, client: u32) -> bool {
        if index(slot) == self.flights.len() {
            self.flights.push(Flight::default());
        }
        let bitten = self.bugs.happens(self.bites);
        let has_assigned = std::mem::replace(&mut self.clients[index(client)].has_assigned, true);
        let task = if has_assigned { Task::Work } else { Task::Assign };
        self.flights[index(slot)] = Flight { client, task, bitten: bitten && has_assigned, ..Flight::default() };
        if has_assigned { self.choose(slot) } else { true }
    }

    fn end(&mut self) -> u64 {
        self.ending = true;
        for client in &mut self.clients {
            if let Some((key, value)) = client.held.take() {
                self.logs[index(key)].append(value);
            }
        }
        if self.bug == LogBug::Unseen { 0 } else { u64::try_from(self.clients.len()).unwrap_or(u64::MAX) }
    }

    fn step(&mut self, slot: Slot, intent: Intent) -> Progress {
        let flight = &self.flights[index(slot)];
        let aborts = intent == Intent::Abort;
        if aborts && !flight.stored {
            if flight.bitten && self.bug == LogBug::AbortedRead {
                self.store(slot);
            }
            return Progress::Answer { ok: false, more: false };
        }
        if flight.task == Task::Assign {
            return Progress::Answer { ok: true, more: false };
        }
        self.disturb(slot);
        let sees_own = self.flights[index(slot)].bitten && self.bug == LogBug::PrecommittedRead;
        if sees_own {
            self.store(slot);
            self.poll(slot);
        } else {
            self.poll(slot);
            self.store(slot);
        }
        Progress::Answer { ok: true, more: false }
    }

    fn payload(&self, slot: Slot, kind: Kind) -> Payload<'_> {
        let flight = &self.flights[index(slot)];
        let assigned = (flight.task == Task::Assign).then_some(&self.keys[..]);
        Payload::Log(LogOp { assigned, mops: &flight.mops, shown: kind == Kind::Ok })
    }

    fn hear(&mut self, slot: Slot, kind: Kind) {
        let flight = &self.flights[index(slot)];
        let client = &mut self.clients[index(flight.client)];
        match kind {
            Kind::Ok => flight.positions.iter().for_each(|(key, position)| client.positions[*key] = *position),
            // Another process continues in place of this one.
            Kind::Info => client.has_assigned = false,
            Kind::Fail | Kind::Invoke => {}
        }
    }

    fn release(&mut self, slot: Slot) {
        let flight = &mut self.flights[index(slot)];
        flight.mops.clear();
        flight.stored = true;
    }
}
