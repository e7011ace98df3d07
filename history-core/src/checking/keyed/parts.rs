//! The parts of [`Keyed`] for `histcheck-scale`, which checks the keys of one history on several machines. Other code
//! should not use them: they change without notice.

use super::finish::{Ending, finish_run};
use super::merge::Merged;
use super::{KeyRun, Keyed, Placing, Unplaced, of_key, trouble};
use crate::cast::Cast as _;
use crate::checking::branch::End;
use crate::error::HistoryError;
use crate::{Budget, Checker, Datum, Op, OptionError, Options, Participants, Report, Run, Searched, Value};
use std::fmt;

pub use super::Form;

/// A number that determines the worker of a key: the same on every machine, and for equal keys.
pub fn place_of(key: Value<'_>) -> u64 {
    // FNV-1a, then a mix in which every bit of the input affects the result (splitmix64).
    let of_bytes = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    };
    let mut hash = match key {
        Value::Int(key) => key.cast_unsigned(),
        key => of_bytes(key.canonical().as_bytes()),
    };
    hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Assigns the ops of a history to their keys, without checking them.
#[derive(Default)]
pub struct Router {
    placing: Placing,
    /// The result of [`place_of`] for each key.
    places: Vec<u64>,
    trouble: Option<String>,
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router").field("keys", &self.places.len()).finish_non_exhaustive()
    }
}

impl Router {
    /// The [place](place_of) of the key of the next op of a client; none if its key cannot be determined.
    ///
    /// # Errors
    ///
    /// If there are too many keys.
    pub fn route(&mut self, op: &Op<'_>) -> Result<Option<u64>, HistoryError> {
        match self.placing.place(op) {
            Ok((key, _)) => {
                if key.at() == self.places.len() {
                    let form = self.placing.form.unwrap_or(Form::Pair);
                    self.places.push(form.written(op).map_or(0, |(key, _)| place_of(key)));
                }
                self.placing.invoke(op, key);
                Ok(Some(self.places[key.at()]))
            }
            Err(Unplaced::Error(error)) => Err(error),
            Err(Unplaced::Because(reason)) => {
                self.trouble = Some(trouble(op, &reason));
                Ok(None)
            }
        }
    }

    /// The form of the keys, after the first op of a client.
    pub fn form(&self) -> Option<Form> {
        self.placing.form
    }

    /// The op whose key cannot be determined, and the reason.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

/// The runs of some of the keys of a history.
pub struct KeyRuns<'c> {
    keyed: Keyed<'c>,
    /// The runs whose search has not ended, once the search has begun.
    left: Option<Vec<usize>>,
}

impl fmt::Debug for KeyRuns<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.keyed.fmt(f)
    }
}

/// The result for a key.
#[derive(Debug)]
pub struct KeyEnd {
    /// The index of its first op, which orders the keys.
    pub first: u64,
    /// The key.
    pub key: Datum,
    /// The report; none if the history ended before an op that has no key, and the ops so far decide nothing.
    pub report: Result<Option<Report>, HistoryError>,
}

impl<'c> KeyRuns<'c> {
    /// Starts without keys, for a history with this form.
    ///
    /// # Errors
    ///
    /// If the checker does not accept the value of an option.
    pub fn start(checker: &'c dyn Checker, options: &Options, form: Form) -> Result<KeyRuns<'c>, OptionError> {
        let mut keyed = Keyed::start(checker, options)?;
        keyed.placing.form = Some(form);
        Ok(KeyRuns { keyed, left: None })
    }

    /// Processes the next op of a client on one of these keys.
    ///
    /// # Errors
    ///
    /// As in [`Keyed`].
    pub fn observe(&mut self, op: &Op<'_>) -> Result<(), HistoryError> {
        self.keyed.observe(op).map(|_| ())
    }

    /// The op whose key cannot be determined, and the reason.
    pub fn trouble(&self) -> Option<&str> {
        self.keyed.trouble.as_deref()
    }

    /// How many keys there are.
    pub fn keys(&self) -> usize {
        self.keyed.runs.len()
    }

    /// The number of runs that still search, before the first slice or after the last one.
    pub fn searching(&self) -> usize {
        self.left.as_ref().map_or(self.keys(), Vec::len)
    }

    /// Performs a slice of the search of each key. Returns whether one is invalid.
    pub fn search(&mut self, budget: &Budget, slice: u32) -> bool {
        let all = self.keyed.runs.len();
        let left = self.left.get_or_insert_with(|| (0..all).collect());
        let mut is_invalid = false;
        left.retain(|at| {
            let found = self.keyed.runs[*at].run.search(budget, slice);
            is_invalid |= found == Searched::Invalid;
            found == Searched::More
        });
        is_invalid
    }

    /// Ends all searches at their current state.
    pub fn stop_search(&mut self) {
        for at in self.left.take().unwrap_or_default() {
            self.keyed.runs[at].run.stop_search();
        }
    }

    /// Ends the history, or, if it `is_unread`, ends it before an op that has no key. Returns the result for each key,
    /// in their order.
    pub fn finish<'b>(self, budget: &'b Budget, is_unread: bool) -> impl Iterator<Item = KeyEnd> + use<'b, 'c> {
        let Keyed { placing, runs, .. } = self.keyed;
        runs.into_iter().enumerate().map(move |(at, KeyRun { run, first, .. })| {
            let key = super::KeyId::new(at);
            let report = finish_run(run, budget, End::Whole.or_unread(is_unread))
                .map_err(|error| of_key(error, &placing.keys, key));
            KeyEnd { first, key: placing.keys.datum(key).clone(), report }
        })
    }
}

/// Combines the reports on all keys into one.
pub struct KeyMerge {
    ending: Ending,
    merged: Merged,
    /// The checker's report on no ops, if the history has no keys.
    of_nothing: Option<Report>,
}

impl fmt::Debug for KeyMerge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyMerge").finish_non_exhaustive()
    }
}

impl KeyMerge {
    /// Starts a report on this number of keys of a history that ended before `trouble`, if that is given.
    ///
    /// # Errors
    ///
    /// If the checker returns an error for a history without ops, and this history has no keys.
    pub fn start(
        checker: &dyn Checker,
        options: &Options,
        trouble: Option<String>,
        keys: u64,
        budget: &Budget,
    ) -> Result<KeyMerge, HistoryError> {
        let unfit = |error: OptionError| HistoryError::new(crate::ErrorKind::Unexpected, error.to_string());
        let mut keyed = Keyed::start(checker, options).map_err(unfit)?;
        keyed.trouble = trouble;
        let is_nothing = keys == 0 && keyed.trouble.is_none();
        let of_nothing = if is_nothing { Some(keyed.new_run()?.finish(budget)?) } else { None };
        let ending = Ending::of(&keyed, budget)?;
        let merged = ending.merged(keys.to_usize());
        Ok(KeyMerge { ending, merged, of_nothing })
    }

    /// Adds the next key, in the order of their first ops.
    ///
    /// # Errors
    ///
    /// If the key's part of the history cannot be checked.
    pub fn add(&mut self, end: KeyEnd) -> Result<(), HistoryError> {
        self.ending.add(&mut self.merged, &end.key, end.report?);
        Ok(())
    }

    /// The report on all.
    pub fn finish(self, participants: &Participants) -> Report {
        let mut report = self.of_nothing.unwrap_or_else(|| self.ending.conclude(self.merged));
        report.notes.extend(participants.note());
        report
    }
}
