//! Clocks and orders: what determines the order of ops, whether the order of the file agrees with the times, and
//! whether there is an order at all.

use super::versions::{At, ClientId, NO_TIME};
use crate::engine::ids;
use history_core::{Client, IntMap, Op};

/// The order of the ops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Index,
    /// By time. Ops at equal times are in the order of the file.
    TimeThenIndex,
    /// By time. Ops at equal times overlap: none of them is known to have ended before another began.
    Time,
}

impl Order {
    /// Returns true if a completion is known to precede an invocation.
    pub(crate) fn is_before(self, completed: At, invoked: At) -> bool {
        match self {
            Order::Index => completed.index < invoked.index,
            Order::TimeThenIndex => (completed.time_ns, completed.index) < (invoked.time_ns, invoked.index),
            Order::Time => completed.time_ns < invoked.time_ns,
        }
    }
}

/// The information from the times of the ops so far.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    latest_ns: i64,
    all_timed: bool,
    /// The first op that is earlier than one before it.
    back: Option<u64>,
    /// The first op that is earlier than one before it of its own client.
    back_within: Option<u64>,
    clients: IntMap<ClientId>,
    /// By client: the time of its last op.
    last_ns: Vec<i64>,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock {
            latest_ns: i64::MIN,
            all_timed: true,
            back: None,
            back_within: None,
            clients: IntMap::default(),
            last_ns: Vec::new(),
        }
    }
}

impl Clock {
    /// The client of an op, by its process number; a new one is added to `clients`.
    #[inline]
    pub(crate) fn client(&mut self, process: i64, op: &Op<'_>, clients: &mut Vec<Client>) -> ClientId {
        if let Some(client) = self.clients.get(process) {
            return *client;
        }
        // A history has fewer than 2^32 ops.
        let client = ClientId(ids::number(clients.len()));
        clients.push(Client::of(op).unwrap_or(Client::Number(process)));
        self.last_ns.push(i64::MIN);
        self.clients.insert(process, client);
        client
    }

    /// Records the time of an op. Returns true if this is the first op which shows that the file is not in the order of
    /// the times.
    #[inline]
    pub(crate) fn tick(&mut self, index: u64, time_ns: i64, client: ClientId) -> bool {
        if time_ns == NO_TIME {
            self.all_timed = false;
            return false;
        }
        let last = self.last_ns.get_mut(ids::index(client.0));
        if let Some(last) = last {
            if time_ns < *last {
                self.back_within.get_or_insert(index);
            }
            *last = time_ns;
        }
        if time_ns < self.latest_ns {
            let is_first = self.back.is_none();
            self.back.get_or_insert(index);
            return is_first && self.all_timed;
        }
        self.latest_ns = time_ns;
        false
    }

    /// Returns true if the order is certainly that of the file, because some op has no time.
    pub(crate) fn is_of_file(&self) -> bool {
        !self.all_timed
    }

    /// The first op which shows that the order of the times differs from that of the file. `None` if the orders agree,
    /// or if not all ops have times.
    pub(crate) fn disorder(&self) -> Option<u64> {
        self.back.filter(|_| self.all_timed)
    }

    /// The op which shows that the times cannot be the order of the ops.
    pub(crate) fn contradiction(&self) -> Option<u64> {
        self.back_within.filter(|_| self.all_timed)
    }
}
