//! Defines one order of the ops that several writers send, and which writers may continue.
//!
//! Checkers draw one conclusion from the order of a history: if the completion of an operation was recorded before the
//! invocation of another one, then it had ended before that one began. The order is sound if each such conclusion is
//! true. Then each violation is real, however late ops were recorded: a completion that is recorded late makes two
//! operations overlap that did not, which allows more outcomes, not fewer.
//!
//! *Acknowledged invocations make it sound.* A writer sends the invocation of an operation, waits for its
//! acknowledgement, calls the store, and sends the completion when the store has answered. Here, the invocation gets
//! its place in the order (under one lock, and into one queue) before the acknowledgement is sent. So:
//!
//! 1. An invocation is recorded before its acknowledgement is sent, and so before the operation begins.
//! 2. A completion is sent, and so recorded, after the operation has ended.
//! 3. If the completion of A was recorded before the invocation of B, then A had ended before its completion was
//!    recorded (2), that was before the invocation of B was, and that before B began (1): A had ended before B began.
//!
//! This does not require that two connections are read in the order in which they were written. Without the
//! acknowledgement, (1) does not hold: the invocation of B may wait in its socket while B takes effect and A sees that
//! effect, ends, and is recorded.
//!
//! *A single writer need not wait.* Its connection keeps the order in which it wrote, so this is the order of the
//! history, if it writes invocations before operations begin and completions after they end. So the rule applies only
//! from the second writer of an op on:
//!
//! - A writer that does not wait may write as long as it is the only one of the history. It is detected by a completion
//!   that arrives before the acknowledgement of its invocation was written, or that has no invocation.
//! - If another writer sends an op meanwhile, the first one is refused from there on. What it wrote before is in order:
//!   others began later, if they wait. What it does from then on is not recorded, so from there on no violation is
//!   certain.
//! - A writer that is detected not to wait when there are several writers is refused. Its ops may have been out of
//!   order from the beginning, so no violation is certain.
//! - A writer that closed its connection before the second one wrote is not affected.
//!
//! A writer that does not wait and is never detected (because its store is slow enough) can cause a false alarm. This
//! cannot be detected here.
//!
//! *A refused writer that waits* leaves the order sound: its operations in flight may take effect or not, as after
//! `info`. An invocation that was not recorded was not acknowledged, so its operation never begins.

use super::feed::{FromWriters, Placed};
use super::inbox::{Arrival, Sender};
use super::refused::{Doubt, Refusal};
use super::socket::stream::Stream;
use history_core::{Batch, Merge, OpKind, Process};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The advice for a writer that does not wait.
const HOW_TO_WAIT: &str = "with several writers, each waits for {\"ack\":PROCESS} after an invoke and before it calls the store \
                           (a single writer, a file opened for appending and unix-datagram: need no acknowledgement)";

/// The identity of a writer.
#[derive(Debug)]
pub(super) struct WriterId {
    /// The number of the writer, from 1, in the order of connections.
    pub(super) number: u64,
    /// The address of the writer, or the one to which it connected.
    pub(super) address: String,
}

impl fmt::Display for WriterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "writer {} ({})", self.number, self.address)
    }
}

/// The process of an operation. A process has at most one operation in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ProcessId {
    Client(i64),
    Other(Box<str>),
}

impl ProcessId {
    pub(super) fn of(process: Process<'_>) -> Option<ProcessId> {
        match process {
            Process::Client(number) => Some(ProcessId::Client(number)),
            Process::Other(name) => Some(ProcessId::Other(name.into())),
            Process::Unknown => None,
        }
    }

    /// The process as JSON.
    pub(super) fn to_json(&self) -> String {
        match self {
            ProcessId::Client(number) => number.to_string(),
            ProcessId::Other(name) => serde_json::Value::from(&**name).to_string(),
        }
    }
}

/// The reason why a writer cannot continue.
#[derive(Debug)]
pub(super) enum Stop {
    Refused(String),
    /// The history is over.
    Over,
}

pub(super) struct Order(Mutex<State>);

struct State {
    history: Merge,
    sender: Sender<FromWriters>,
    writers: Writers,
}

/// The writers whose ops were recorded.
enum Writers {
    Nobody,
    One(First),
    /// The number of the writer that was refused when the second one came, and the reason.
    Several(Option<(u64, String)>),
}

struct First {
    id: Arc<WriterId>,
    waits: bool,
    state: Connection,
}

enum Connection {
    Open(Arc<Stream>),
    Closed,
    Refused,
}

impl Order {
    pub(super) fn new(sender: Sender<FromWriters>, history: Merge) -> Order {
        Order(Mutex::new(State { history, sender, writers: Writers::Nobody }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records ops of a writer. `unwaiting` is one of its processes that did not wait for an acknowledgement, if there
    /// is one.
    ///
    /// # Errors
    ///
    /// If the writer is refused, or the history is over.
    pub(super) fn record(
        &self,
        id: &Arc<WriterId>,
        stream: &Arc<Stream>,
        mut batch: Batch,
        unwaiting: Option<&ProcessId>,
    ) -> Result<(), Stop> {
        let state = &mut *self.lock();
        if let Some(why) = state.writers.evicted(id) {
            return Err(Stop::Refused(why));
        }
        let is_alone = match &state.writers {
            Writers::Nobody => true,
            Writers::One(first) => first.id.number == id.number,
            Writers::Several(_) => false,
        };
        let is_unwaiting =
            unwaiting.is_some() || batch.ops().any(|op| op.kind != OpKind::Invoke) && state.history.is_of_completions();
        if is_unwaiting && !is_alone {
            let whose = unwaiting
                .map_or("an operation".to_owned(), |process| format!("an operation of process {}", process.to_json()));
            let why = format!("it completes {whose} whose invocation was not acknowledged; {HOW_TO_WAIT}");
            return Err(state.refuse(id, why, Doubt::FromTheBeginning));
        }
        let added = state.history.add(&mut batch);
        if !batch.is_empty() {
            state.admit(id, stream)?;
            let placed = Placed::new(batch, &state.history);
            state.send(FromWriters::Ops(placed))?;
        }
        if let Writers::One(first) = &mut state.writers {
            first.waits &= !is_unwaiting && !state.history.is_of_completions();
        }
        added.map_err(|misplaced| {
            // An invocation that was not recorded is not acknowledged. But a completion shows that an operation took
            // effect.
            let began = misplaced.kind != OpKind::Invoke;
            let doubt = if began { Doubt::FromTheBeginning } else { Doubt::None };
            state.refuse(id, misplaced.error.to_string(), doubt)
        })
    }

    /// Refuses a writer, and continues without it.
    pub(super) fn refuse(&self, id: &WriterId, why: String) -> Stop {
        let state = &mut *self.lock();
        match state.writers.evicted(id) {
            Some(why) => Stop::Refused(why),
            None => state.refuse(id, why, Doubt::None),
        }
    }

    /// Records that a writer has closed its connection after all its ops were recorded.
    ///
    /// # Errors
    ///
    /// If the writer was refused before.
    pub(super) fn close(&self, id: &WriterId) -> Result<(), Stop> {
        let state = &mut *self.lock();
        if let Some(why) = state.writers.evicted(id) {
            return Err(Stop::Refused(why));
        }
        if let Writers::One(first) = &mut state.writers
            && first.id.number == id.number
        {
            first.state = Connection::Closed;
        }
        Ok(())
    }

    /// Ends the history.
    pub(super) fn end(&self) {
        let _ = self.lock().sender.send(Arrival::Ended);
    }

    /// Ends the history because no more writers can be accepted.
    pub(super) fn fail(&self, error: io::Error) {
        let _ = self.lock().sender.send(Arrival::Failed(error));
    }
}

impl Writers {
    /// The reason why this writer was refused when another one came, if it was.
    fn evicted(&self, id: &WriterId) -> Option<String> {
        match self {
            Writers::Several(Some((number, why))) if *number == id.number => Some(why.clone()),
            _ => None,
        }
    }
}

impl State {
    /// Admits a writer. If it is the second one, refuses a first one that does not wait.
    fn admit(&mut self, id: &Arc<WriterId>, stream: &Arc<Stream>) -> Result<(), Stop> {
        let first = match &self.writers {
            Writers::Nobody => {
                let state = Connection::Open(Arc::clone(stream));
                self.writers = Writers::One(First { id: Arc::clone(id), waits: true, state });
                return Ok(());
            }
            Writers::One(first) if first.id.number != id.number => first,
            _ => return Ok(()),
        };
        let mut evicted = None;
        if !first.waits && !matches!(first.state, Connection::Closed) {
            let why = format!("it does not wait for acknowledgements, but {id} writes as well; {HOW_TO_WAIT}");
            if let Connection::Open(stream) = &first.state {
                stream.end_reading();
                evicted = Some((first.id.number, why.clone()));
            }
            self.send(FromWriters::Refused(Refusal { who: first.id.to_string(), why, doubt: Doubt::FromHere }))?;
        }
        self.writers = Writers::Several(evicted);
        Ok(())
    }

    fn refuse(&mut self, id: &WriterId, why: String, doubt: Doubt) -> Stop {
        if let Writers::One(first) = &mut self.writers
            && first.id.number == id.number
        {
            first.state = Connection::Refused;
        }
        let refusal = Refusal { who: id.to_string(), why: why.clone(), doubt };
        self.send(FromWriters::Refused(refusal)).err().unwrap_or(Stop::Refused(why))
    }

    fn send(&self, arrival: FromWriters) -> Result<(), Stop> {
        self.sender.send(Arrival::Some(arrival)).map_err(|_| Stop::Over)
    }
}
