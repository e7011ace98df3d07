//! The end of a history of keys: all searches in slices, and one report.

use super::keys::KeyId;
use super::merge::Merged;
use super::{Keyed, of_key};
use crate::cast::Cast as _;
use crate::error::HistoryError;
use crate::{Budget, NextStep, Report, Run, Searched, Verdict, parallel};
use std::sync::{Mutex, PoisonError};

/// What gives a verdict where the ops of a key are not known.
const RECORD_KEYS: &str = "Record the key of every op, and the same one in its completion, as [key value] or in a field \
                           key. Or check the history as a whole, without --keyed.";
/// Runs that are ended before their reports are merged: so many reports are in memory at once.
const CHUNK: usize = 1024;

pub(super) fn finish(mut keyed: Keyed<'_>, budget: &Budget) -> Result<Report, HistoryError> {
    let participants = std::mem::take(&mut keyed.participants);
    let mut report = judge(keyed, budget)?;
    report.notes.extend(participants.note());
    Ok(report)
}

fn judge(keyed: Keyed<'_>, budget: &Budget) -> Result<Report, HistoryError> {
    if keyed.runs.is_empty() && keyed.trouble.is_none() {
        return keyed.new_run()?.finish(budget);
    }
    let name = keyed.checker.name();
    let unread = match &keyed.trouble {
        None => None,
        Some(trouble) => {
            // What a checker says of nothing shows whether it is several.
            let nothing = keyed.new_run()?.finish(budget);
            Some((trouble, nothing.unwrap_or_else(|_| Report::new(name.to_owned(), Verdict::Unknown))))
        }
    };
    let unknown = |trouble: &str, nothing: &Report| {
        unknown(name, Some(&format!("No verdict by key, because of {trouble}")), nothing)
    };
    if let Some((trouble, nothing)) = &unread
        && keyed.guessed
    {
        return Ok(unknown(trouble, nothing));
    }
    let worth = keyed.ops >= parallel::WORTH_OPS.to_u64();
    let mut runs: Vec<Box<dyn Run>> = keyed.runs.into_iter().map(|run| run.run).collect();
    search(&mut runs, worth, budget);
    let mut merged = Merged::new(name.to_owned(), runs.len());
    let finish = |run: &Mutex<Option<Box<dyn Run>>>| {
        // Each is taken once, by one thread; a panic of another is reported by that one.
        let run = run.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(if unread.is_some() { run.finish_before_unread(budget) } else { run.finish(budget).map(Some) })
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
            let report = report.map_err(|error| of_key(error, &keyed.keys, key))?;
            let report = report.or_else(|| unread.as_ref().map(|(_, nothing)| self::unknown(name, None, nothing)));
            merged.add(keyed.keys.datum(key), report.unwrap_or_else(|| Report::new(name.to_owned(), Verdict::Unknown)));
        }
    }
    Ok(match &unread {
        Some((trouble, nothing)) if merged.verdict() != Verdict::Invalid => unknown(trouble, nothing),
        unread => resting(merged.into_report(), unread.as_ref().map(|(trouble, _)| trouble.as_str())),
    })
}

/// Searches all keys slice by slice, until each is decided or one is invalid. What is found does not depend on the
/// number of threads: every key gets the same slices.
fn search(runs: &mut [Box<dyn Run>], worth: bool, budget: &Budget) {
    let mut left: Vec<Mutex<&mut Box<dyn Run>>> = runs.iter_mut().map(Mutex::new).collect();
    for slice in 0.. {
        // The last one can as well continue to its end.
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

/// The report on a history that could be read up to some op only.
pub(super) fn resting(mut report: Report, unread: Option<&str>) -> Report {
    if let Some(trouble) = unread {
        report.notes.insert(0, format!("The verdict covers only the ops before {trouble}"));
    }
    report
}

/// A report that says nothing but why, shaped like another one.
fn unknown(checker: &str, why: Option<&str>, like: &Report) -> Report {
    let mut report = Report::new(checker.to_owned(), Verdict::Unknown);
    report.notes.extend(why.map(str::to_owned));
    report.next.extend(why.map(|_| NextStep::option("keyed", RECORD_KEYS)));
    report.checkers = like.checkers.iter().map(|like| unknown(&like.checker, why, like)).collect();
    report
}
