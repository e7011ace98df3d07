//! The workers that receive an op: the workers of its keys.

use history_core::cast::Cast as _;
use history_core::keyed_parts::{Form, place_of};
use history_core::share;
use history_core::{Op, OpKind};
use serde::{Deserialize, Serialize};

/// The position of keys in ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum WhereKeys {
    /// In the value `[key value]`.
    Pair,
    /// In a separate field.
    Field,
    /// In each micro-op.
    MicroOps,
}

impl WhereKeys {
    /// The form of keys, if each op has one key.
    pub(crate) fn form(self) -> Form {
        if self == WhereKeys::Field { Form::Field } else { Form::Pair }
    }
}

/// The workers of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum To {
    /// One worker.
    One(usize),
    /// The workers of the keys of a transaction, as 64 bits: the bit of a worker is its number modulo 64. With more
    /// than 64 workers, this may include others, for which the op has no effect.
    Several(u64),
}

impl To {
    /// The workers of the keys in an op, out of this number. An op without a key in a history of single keys goes to
    /// the first worker: it ends the history in any worker.
    ///
    /// # Errors
    ///
    /// If the op should be a transaction and is not.
    pub(crate) fn of(op: &Op<'_>, keys: WhereKeys, workers: usize, places: &mut Vec<u64>) -> Result<To, String> {
        let worker = |place: u64| (place % workers.to_u64()).to_usize();
        if keys != WhereKeys::MicroOps {
            return Ok(To::One(keys.form().written(op).map_or(0, |(key, _)| worker(place_of(key)))));
        }
        let is_silent = op.value.is_nil() && op.kind != OpKind::Invoke;
        if !is_silent && (!share::places(op.value, places) || places.is_empty()) {
            return Err("an op is not a list of micro-ops".to_owned());
        }
        let own = if is_silent { &[] } else { &places[..] };
        Ok(To::Several(own.iter().fold(0, |bits, place| bits | bit(worker(*place)))))
    }

    /// All of them, out of this number of workers.
    pub(crate) fn each(self, workers: usize) -> impl Iterator<Item = usize> {
        (0..workers).filter(move |worker| match self {
            To::One(one) => one == *worker,
            To::Several(bits) => bits & bit(*worker) != 0,
        })
    }

    /// Returns true if `others` are among these.
    pub(crate) fn has(self, others: To) -> bool {
        match (self, others) {
            (To::Several(all), To::Several(others)) => others & !all == 0,
            // The key of a completion may be absent, or is compared later.
            _ => true,
        }
    }
}

fn bit(worker: usize) -> u64 {
    1 << (worker % 64)
}
