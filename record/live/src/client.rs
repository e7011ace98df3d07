//! Clients, and the interface of a store.

use crate::error::LiveError;
use crate::fault::Fault;
use crate::request::{Outcome, Request};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One client of a store. It performs one request at a time, on its own thread.
pub trait Client: Send {
    /// Performs the request and waits for its response.
    ///
    /// [`Outcome::Fail`] is for requests that certainly did not and will not happen. Any error after the first byte was
    /// sent and before a response is [`Outcome::Info`]; the client is then dropped, and its seat opens another one.
    ///
    /// # Errors
    ///
    /// If the client does not work at all, so that the run is not meaningful.
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError>;

    /// Whether it cannot perform another request: its connection is closed, or a late response may still arrive. Its
    /// seat then opens another client. After [`Outcome::Info`] that happens in any case.
    fn is_broken(&self) -> bool {
        false
    }

    /// Why it ended, if it did so before it answered any request. If no operation of the run has succeeded, the run
    /// gives up after some such clients, instead of starting others without end.
    fn failed_start(&self) -> Option<FailedStart> {
        None
    }

    /// Ends it, when there are no more requests.
    ///
    /// # Errors
    ///
    /// If it sent more output, so that its responses may have been those to other requests.
    fn end(&mut self) -> Result<(), LiveError> {
        Ok(())
    }
}

/// The end of a client that answered no request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedStart {
    /// The client and how it ended, as a clause.
    pub what: String,
    /// Whether its program cannot be run at all, so that another attempt is pointless.
    pub is_certain: bool,
}

/// The place of a client in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Its number, from 0.
    pub number: u32,
    /// How many seats there are.
    pub seats: u32,
    /// The node that its client talks to, from 0.
    pub node: u32,
    /// How many nodes there are.
    pub nodes: u32,
    /// The process that its client is at the moment.
    pub process: u64,
    /// The run's seed.
    pub seed: u64,
    /// The time-out of a request.
    pub timeout: Duration,
    /// The place of its client.
    pub stands: Stands,
}

/// The place of clients, if nodes can be cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stands {
    /// Each at a node: it is on that node's side of a partition, and has no other node's view.
    #[default]
    AtNode,
    /// Outside of the cluster, from where every node can be reached. After an error the client uses the next node.
    InHub,
}

/// A store under test.
pub trait Store: Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &str;

    /// The names of the workloads that its clients can perform; the first one is the default.
    fn workloads(&self) -> &[&'static str];

    /// The names of its nodes.
    fn nodes(&self) -> &[String];

    /// Opens a client. It runs on the calling thread.
    ///
    /// # Errors
    ///
    /// If the store does not accept it.
    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError>;

    /// The faults that this store supports here.
    fn faults(&self) -> &[Fault] {
        &[]
    }

    /// Begins a fault at these nodes.
    ///
    /// # Errors
    ///
    /// If that is not possible.
    fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        let _ = nodes;
        Err(LiveError::Unsupported(format!("{} has no fault {fault}", self.name())))
    }

    /// Ends all faults.
    ///
    /// # Errors
    ///
    /// If a node does not start again.
    fn heal(&self) -> Result<(), LiveError> {
        Ok(())
    }

    /// Ends all faults at the end of a run. A store whose processes end with the run need not do anything.
    ///
    /// # Errors
    ///
    /// As [`Store::heal`].
    fn heal_at_end(&self) -> Result<(), LiveError> {
        self.heal()
    }

    /// The node that is currently the primary, if known.
    fn primary(&self) -> Option<u32> {
        None
    }

    /// Whether the store works as it would without a fault.
    fn is_settled(&self) -> bool {
        true
    }

    /// The last lines of its log, to explain why it does not work.
    fn log(&self) -> String {
        String::new()
    }
}
