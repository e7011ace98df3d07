//! Transactions over lists or registers.

use super::Plan;
use super::elements::{Unique, Window};
use crate::chance::Chance;
use crate::client::Seat;
use crate::request::{Key, MicroOp, Request};

/// The maximum number of micro-ops of a transaction.
const MICRO_OPS_MAX: u64 = 4;

pub(super) struct Transactions {
    keys: Window,
    values: Unique,
    write: fn(Key, i64) -> MicroOp,
}

impl Transactions {
    pub(super) fn over_lists(seat: &Seat) -> Transactions {
        Transactions { keys: Window::new(seat), values: Unique::new(seat), write: MicroOp::Append }
    }

    pub(super) fn over_registers(seat: &Seat) -> Transactions {
        Transactions { write: MicroOp::Write, ..Transactions::over_lists(seat) }
    }
}

impl Plan for Transactions {
    fn next(&mut self, chance: &mut Chance) -> Request {
        let count = 1 + chance.below(MICRO_OPS_MAX);
        let mops = (0..count).map(|_| {
            let key = self.keys.key(chance);
            if chance.percent(50) {
                return MicroOp::Read(key);
            }
            self.keys.written();
            (self.write)(key, self.values.next())
        });
        Request::Txn(mops.collect())
    }
}
