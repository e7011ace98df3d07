//! The requests of clients: a workload chooses those of each seat.

mod bank;
mod cas_register;
mod counter;
mod elements;
mod log;
mod predictor;
mod set;
mod transactions;
mod versioned_register;

use crate::chance::Chance;
use crate::client::Seat;
use crate::request::{Outcome, Request};
pub use bank::{ACCOUNTS, INITIAL_BALANCE, TOTAL};
use std::fmt;

/// Plans the requests of one seat.
pub trait Plan: Send {
    /// The next request.
    fn next(&mut self, chance: &mut Chance) -> Request;

    /// Learns how a request ended.
    fn observe(&mut self, request: &Request, outcome: &Outcome) {
        let _ = (request, outcome);
    }

    /// The request at the end of a run, when all faults are over and the store has settled; `None` if the checker needs
    /// none.
    fn last(&mut self) -> Option<Request> {
        None
    }
}

/// A kind of requests, and its checker.
#[derive(Clone, Copy)]
pub struct Workload {
    /// Its name, which is that of its checker.
    pub name: &'static str,
    /// The requests of its clients, in a phrase.
    pub summary: &'static str,
    /// The checker's options that the recorded history needs.
    pub options: &'static [(&'static str, &'static str)],
    /// Whether each key is checked separately.
    pub keyed: bool,
    plan: fn(&Seat) -> Box<dyn Plan>,
    /// The number of seats with which every kind of client occurs, for a number of nodes.
    clients: fn(u32) -> u32,
}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Workload { name, options, keyed, .. } = self;
        let mut shown = f.debug_struct("Workload");
        shown.field("name", name).field("options", options).field("keyed", keyed).finish_non_exhaustive()
    }
}

impl Workload {
    /// All workloads.
    pub const ALL: &'static [Workload] = &[
        Workload {
            name: "versioned-register",
            summary: "reads, and writes that name the version they replace",
            // With this option, memory does not grow with the length of the run: the window would matter only if a
            // request took longer than this number of versions, and then the verdict is unknown.
            options: &[("in-order", "true"), ("forget", "50000")],
            keyed: false,
            plan: |seat| Box::new(versioned_register::VersionedRegister::new(seat)),
            clients: versioned_register::seats,
        },
        Workload {
            name: "list-append",
            summary: "transactions that append to lists and read them",
            options: &[],
            keyed: false,
            plan: |seat| Box::new(transactions::Transactions::over_lists(seat)),
            clients: |_| 0,
        },
        Workload {
            name: "rw-register",
            summary: "transactions that write and read registers",
            options: &[],
            keyed: false,
            plan: |seat| Box::new(transactions::Transactions::over_registers(seat)),
            clients: |_| 0,
        },
        Workload {
            name: "cas-register",
            summary: "reads, writes and compare-and-sets of registers",
            options: &[],
            keyed: true,
            plan: |seat| Box::new(cas_register::CasRegister::new(seat)),
            clients: |_| 0,
        },
        Workload {
            name: "set-full",
            summary: "additions to a set, and reads of all of it",
            options: &[],
            keyed: false,
            plan: |seat| Box::new(set::Set::new(seat)),
            clients: |_| 0,
        },
        Workload {
            name: "bank",
            summary: "transfers between accounts, and reads of all balances",
            options: &[],
            keyed: false,
            plan: |_| Box::new(bank::Bank),
            clients: |_| 0,
        },
        Workload {
            name: "kafka",
            summary: "messages sent to logs with offsets, and polls of them",
            options: &[],
            keyed: false,
            plan: |seat| Box::new(log::Log::new(seat)),
            clients: |_| 0,
        },
        Workload {
            name: "g-counter",
            summary: "amounts added to a counter, and reads of it",
            options: &[],
            keyed: false,
            plan: |_| Box::new(counter::Counter { shrinks: false }),
            clients: |_| 0,
        },
        Workload {
            name: "pn-counter",
            summary: "positive and negative amounts added to a counter, and reads of it",
            options: &[],
            keyed: false,
            plan: |_| Box::new(counter::Counter { shrinks: true }),
            clients: |_| 0,
        },
    ];

    /// The workload of this name.
    pub fn named(name: &str) -> Option<&'static Workload> {
        Workload::ALL.iter().find(|workload| workload.name == name)
    }

    /// The minimum number of clients for a store with this number of nodes.
    pub fn clients(&self, nodes: u32) -> u32 {
        const CLIENTS: u32 = 8;
        (self.clients)(nodes).max(nodes).max(CLIENTS)
    }

    /// The plan of a seat.
    pub fn plan(&self, seat: &Seat) -> Box<dyn Plan> {
        (self.plan)(seat)
    }
}
