//! The workers that receive an op: those of its keys.

use history_core::cast::Cast as _;
use history_core::keyed_parts::{Form, place_of};
use history_core::share;
use history_core::{Op, OpKind};
use serde::{Deserialize, Serialize};

/// Where ops have their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum WhereKeys {
    /// In their value, `[key value]`.
    Pair,
    /// In a field of their own.
    Field,
    /// In each micro-op.
    MicroOps,
}

impl WhereKeys {
    /// How ops say their keys, where each has one.
    pub(crate) fn form(self) -> Form {
        if self == WhereKeys::Field { Form::Field } else { Form::Pair }
    }
}

/// Workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum To {
    /// One.
    One(usize),
    /// Those of the keys of a transaction: each by its number's remainder, of 64 bits. So with more than 64 workers it
    /// may be some others besides, to which the op says nothing.
    Several(u64),
}

impl To {
    /// The workers of the keys that an op names, of so many. An op with one key that does not say it goes to the first
    /// worker: wherever it is found, it ends the history.
    ///
    /// # Errors
    ///
    /// If it is to be a transaction and is none.
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

    /// All of them, of so many.
    pub(crate) fn each(self, workers: usize) -> impl Iterator<Item = usize> {
        (0..workers).filter(move |worker| match self {
            To::One(one) => one == *worker,
            To::Several(bits) => bits & bit(*worker) != 0,
        })
    }

    /// Whether these others are among them.
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
