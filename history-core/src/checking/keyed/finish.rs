//! The end of a history of keys: all searches in slices, and one report.

use super::keys::KeyId;
use super::merge::Merged;
use super::{Keyed, of_key};
use crate::cast::Cast as _;
use crate::checking::branch::End;
use crate::error::HistoryError;
use crate::{Budget, Datum, NextStep, Report, Run, Searched, Verdict, parallel};
use std::sync::{Mutex, PoisonError};

/// The advice for a verdict if the keys of some ops are unknown.
const RECORD_KEYS: &str = "Record the key of every op, and the same one in its completion, as [key value] or in a field \
                           key. Or check the history as a whole: without --keyed, or with cas-register in place of \
                           linearizable-register.";
/// The number of runs that are ended before their reports are merged, which limits the reports in memory.
const CHUNK: usize = 1024;

pub(super) fn finish(mut keyed: Keyed<'_>, budget: &Budget, end: End) -> Result<Report, HistoryError> {
    let participants = std::mem::take(&mut keyed.participants);
    let mut report = judge(keyed, budget, end)?;
    report.notes.extend(participants.note());
    Ok(report)
}

fn judge(keyed: Keyed<'_>, budget: &Budget, end: End) -> Result<Report, HistoryError> {
    if keyed.runs.is_empty() && keyed.trouble.is_none() {
        return end.finish(keyed.new_run()?, budget);
    }
    let ending = Ending::of(&keyed, budget)?;
    let worth = keyed.ops >= parallel::WORTH_OPS.to_u64();
    let mut runs: Vec<Box<dyn Run>> = keyed.runs.into_iter().map(|run| run.run).collect();
    if ending.is_no_verdict() {
        return Ok(ending.conclude(ending.merged(0)));
    }
    search(&mut runs, worth, budget);
    let mut merged = ending.merged(runs.len());
    let finish = |run: &Mutex<Option<Box<dyn Run>>>| {
        // One thread takes each run, once. If another thread panicked, that thread reports it.
        let run = run.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(finish_run(run, budget, end.or_unread(ending.is_unread())))
    };
    let mut runs = runs.into_iter().map(|run| Mutex::new(Some(run)));
    let mut next = 0;
    loop {
        let chunk: Vec<Mutex<Option<Box<dyn Run>>>> = runs.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            break;
        }
        for report in parallel::map(worth, &chunk, finish).into_iter().flatten() {
            let key = KeyId::new(next);
            next += 1;
            let report = report.map_err(|error| of_key(error, &keyed.placing.keys, key))?;
            ending.add(&mut merged, keyed.placing.keys.datum(key), report);
        }
    }
    Ok(ending.conclude(merged))
}

/// Returns the report on a key, or `None` if the history ended before an op without a key and the ops so far decide
/// nothing.
pub(super) fn finish_run(run: Box<dyn Run + '_>, budget: &Budget, end: End) -> Result<Option<Report>, HistoryError> {
    if end == End::Unread { run.finish_before_unread(budget) } else { end.finish(run, budget).map(Some) }
}

/// How a history ended: with its last op, or before one that has no key.
pub(super) struct Ending {
    name: String,
    /// The reason why that op has no key, and the checker's report on no ops, which shows whether it consists of
    /// several checkers.
    unread: Option<(String, Report)>,
    guessed: bool,
}

impl Ending {
    pub(super) fn of(keyed: &Keyed<'_>, budget: &Budget) -> Result<Ending, HistoryError> {
        let name = keyed.checker.name().to_owned();
        let mut unread = None;
        if let Some(trouble) = &keyed.trouble {
            let nothing = keyed.new_run()?.finish(budget);
            let nothing = nothing.unwrap_or_else(|_| Report::new(name.clone(), Verdict::Unknown));
            unread = Some((trouble.clone(), nothing));
        }
        Ok(Ending { name, unread, guessed: keyed.guessed })
    }

    /// Returns true if the history ended before an op that has no key.
    pub(super) fn is_unread(&self) -> bool {
        self.unread.is_some()
    }

    /// Returns true if there is no verdict because the history may have no keys at all.
    fn is_no_verdict(&self) -> bool {
        self.is_unread() && self.guessed
    }

    /// Returns an empty result for this number of keys.
    pub(super) fn merged(&self, keys: usize) -> Merged {
        Merged::new(self.name.clone(), keys)
    }

    /// Adds the result of [`finish_run`] for the next key.
    pub(super) fn add(&self, merged: &mut Merged, key: &Datum, report: Option<Report>) {
        let report = report.or_else(|| self.unread.as_ref().map(|(_, nothing)| unknown(&self.name, None, nothing)));
        merged.add(key, report.unwrap_or_else(|| Report::new(self.name.clone(), Verdict::Unknown)));
    }

    /// Returns the report on all keys.
    pub(super) fn conclude(&self, merged: Merged) -> Report {
        match &self.unread {
            Some((trouble, nothing)) if merged.verdict() != Verdict::Invalid => {
                unknown(&self.name, Some(&format!("No verdict by key, because of {trouble}")), nothing)
            }
            unread => resting(merged.into_report(), unread.as_ref().map(|(trouble, _)| trouble.as_str())),
        }
    }
}

/// Searches all keys slice by slice, until each is decided or one is invalid. The result does not depend on the number
/// of threads: every key gets the same slices.
fn search(runs: &mut [Box<dyn Run>], worth: bool, budget: &Budget) {
    let mut left: Vec<Mutex<&mut Box<dyn Run>>> = runs.iter_mut().map(Mutex::new).collect();
    for slice in 0.. {
        // A single remaining run needs no slices: `finish` continues its search to the end.
        if left.len() < 2 {
            return;
        }
        let take =
            |run: &Mutex<&mut Box<dyn Run>>| run.lock().unwrap_or_else(PoisonError::into_inner).search(budget, slice);
        let found = parallel::map(worth || slice > 0, &left, take);
        let mut at = found.iter();
        left.retain(|_| at.next() == Some(&Searched::More));
        if found.contains(&Searched::Invalid) {
            for run in left {
                run.into_inner().unwrap_or_else(PoisonError::into_inner).stop_search();
            }
            return;
        }
    }
}

/// The report on a history that could be read only up to some op.
pub(super) fn resting(mut report: Report, unread: Option<&str>) -> Report {
    if let Some(trouble) = unread {
        report.is_partial = true;
        report.notes.insert(0, format!("The verdict covers only the ops before {trouble}"));
    }
    report
}

/// A report that contains only the reason, with the structure of another report.
fn unknown(checker: &str, why: Option<&str>, like: &Report) -> Report {
    let mut report = Report::new(checker.to_owned(), Verdict::Unknown);
    report.notes.extend(why.map(str::to_owned));
    report.next.extend(why.map(|_| NextStep::option("keyed", RECORD_KEYS)));
    report.checkers = like.checkers.iter().map(|like| unknown(&like.checker, why, like)).collect();
    report
}
