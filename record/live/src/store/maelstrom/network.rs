//! A simulated network: messages are delayed, lost, or do not cross a partition.

use super::Conditions;
use super::message::Message;
use super::services::Services;
use crate::chance::Chance;
use crate::error::{LiveError, shortened};
use crate::run::patience::receive;
use serde_json::Value as Json;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The network between nodes, clients and services.
pub(super) struct Network {
    state: Mutex<State>,
    changed: Condvar,
    conditions: Conditions,
}

struct State {
    /// Messages in transit: the next one to arrive is at the top.
    waiting: BinaryHeap<Reverse<Waiting>>,
    sent: u64,
    chance: Chance,
    /// The channels for messages to nodes and clients.
    receivers: HashMap<String, Sender<Message>>,
    /// Nodes that cannot reach the others.
    isolated: BTreeSet<String>,
    services: Services,
    clients: u64,
    failure: Option<String>,
    is_over: bool,
}

/// A message in transit, ordered by its arrival.
struct Waiting {
    at: Instant,
    number: u64,
    message: Message,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.number == other.number
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl State {
    /// Returns true if a client with this name existed: responses to a client that no longer exists are lost.
    fn had_client(&self, name: &str) -> bool {
        let number = name.strip_prefix('c').and_then(|number| number.parse().ok());
        number.is_some_and(|number: u64| (1..=self.clients).contains(&number))
    }
}

impl Network {
    /// Starts a network with a thread that delivers messages until [`Network::stop`].
    pub(super) fn start(conditions: Conditions) -> Arc<Network> {
        let state = State {
            waiting: BinaryHeap::new(),
            sent: 0,
            chance: Chance::new(conditions.seed, 1 << 40),
            receivers: HashMap::new(),
            isolated: BTreeSet::new(),
            services: Services::new(conditions.seed),
            clients: 0,
            failure: None,
            is_over: false,
        };
        let network = Arc::new(Network { state: Mutex::new(state), changed: Condvar::new(), conditions });
        let delivering = Arc::clone(&network);
        thread::spawn(move || delivering.deliver());
        network
    }

    /// Sends a message. One to or from a client arrives immediately; others are delayed, or lost.
    pub(super) fn send(&self, message: Message) {
        let mut state = self.lock();
        let mut at = Instant::now();
        if is_node(&message.src) && !is_client(&message.dest) || is_node(&message.dest) && !is_client(&message.src) {
            if state.chance.percent(self.conditions.loss_percent) {
                return;
            }
            at += state.chance.pause(self.conditions.latency);
        }
        state.sent += 1;
        let number = state.sent;
        state.waiting.push(Reverse(Waiting { at, number, message }));
        self.changed.notify_all();
    }

    /// Creates a receiver for messages to `name`.
    pub(super) fn receiver(&self, name: &str) -> Receiver<Message> {
        let (sender, receiver) = channel();
        self.lock().receivers.insert(name.to_owned(), sender);
        receiver
    }

    /// The mailbox of a new client.
    pub(super) fn mailbox(self: &Arc<Network>) -> Mailbox {
        let name = {
            let mut state = self.lock();
            state.clients += 1;
            format!("c{}", state.clients)
        };
        Mailbox { received: self.receiver(&name), network: Arc::clone(self), name, asked: 0 }
    }

    /// Separates these nodes from the others. Messages in transit between them are lost, too.
    pub(super) fn isolate(&self, nodes: &[String]) {
        self.lock().isolated = nodes.iter().cloned().collect();
    }

    /// Reconnects all nodes.
    pub(super) fn heal(&self) {
        self.lock().isolated.clear();
    }

    /// Records that a node has failed. Every client gets this error at its next request.
    pub(super) fn fail(&self, what: String) {
        let mut state = self.lock();
        if !state.is_over {
            state.failure.get_or_insert(what);
        }
    }

    /// Ends the delivery.
    pub(super) fn stop(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Returns true if the delivery has ended.
    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    fn failure(&self) -> Option<LiveError> {
        self.lock().failure.clone().map(LiveError::store)
    }

    fn deliver(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let now = Instant::now();
            state = match state.waiting.peek().map(|next| next.0.at) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(at) if at > now => {
                    self.changed.wait_timeout(state, at - now).unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => {
                    if let Some(Reverse(Waiting { message, .. })) = state.waiting.pop() {
                        self.hand_over(&mut state, message);
                    }
                    state
                }
            };
        }
    }

    fn hand_over(&self, state: &mut State, message: Message) {
        let (from, to) = (&message.src, &message.dest);
        let is_cut = state.isolated.contains(from) != state.isolated.contains(to);
        if is_cut && !is_client(from) && !is_client(to) {
            return;
        }
        if let Some(answer) = state.services.answer(&message) {
            let at = Instant::now() + state.chance.pause(self.conditions.latency);
            state.sent += 1;
            let number = state.sent;
            state.waiting.push(Reverse(Waiting { at, number, message: answer }));
        } else if let Some(receiver) = state.receivers.get(to) {
            // The receiver may be gone; then the message is lost.
            let _ = receiver.send(message);
        } else if is_node(from) && !state.had_client(to) {
            let what = format!("{from} sent a message to an unknown node, {}", shortened(to));
            if !state.is_over {
                state.failure.get_or_insert(what);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_client(name: &str) -> bool {
    name.starts_with('c') && name[1..].bytes().all(|byte| byte.is_ascii_digit())
}

fn is_node(name: &str) -> bool {
    name.starts_with('n') && name[1..].bytes().all(|byte| byte.is_ascii_digit())
}

/// The end of a client in the network.
pub(super) struct Mailbox {
    network: Arc<Network>,
    name: String,
    received: Receiver<Message>,
    asked: u64,
}

impl Mailbox {
    /// Sends a request and waits for its response. `None` if it does not arrive in time.
    pub(super) fn call(&mut self, dest: &str, body: &Json, timeout: Duration) -> Result<Option<Message>, LiveError> {
        if let Some(failure) = self.network.failure() {
            return Err(failure);
        }
        self.asked += 1;
        let mut body = body.clone();
        body["msg_id"] = self.asked.into();
        self.network.send(Message { src: self.name.clone(), dest: dest.to_owned(), body });
        let until = Instant::now() + timeout;
        loop {
            match receive(&self.received, until.saturating_duration_since(Instant::now())) {
                Ok(answer) if answer.body["in_reply_to"] == self.asked => return Ok(Some(answer)),
                // This is the late response to an earlier request.
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return self.network.failure().map_or(Ok(None), Err);
                }
            }
        }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.network.lock().receivers.remove(&self.name);
    }
}
