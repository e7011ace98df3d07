//! `histcheck scale`: large histories, checked by many workers.
//!
//! The crate `histcheck-scale` implements the workers; this module implements the command. One process writes the
//! results, after all histories are checked.

use crate::job::Check;
use crate::judge::input::Unmatched;
use crate::output::diagnose;
use crate::output::exit::Exit;
use crate::output::results::Results;
use histcheck_scale::{Cluster, History, Job, Spill};
use std::num::NonZeroUsize;

/// The task: histories to check with many workers.
pub(crate) struct Scale<'c> {
    pub(crate) check: Check<'c>,
    /// The number of workers in this process.
    pub(crate) workers: NonZeroUsize,
    /// A limit on memory, if there is one.
    pub(crate) spill: Option<Spill>,
    /// The other processes, if there are several.
    pub(crate) cluster: Option<Cluster>,
}

/// Checks all histories; the first process writes the results.
pub(crate) fn run(scale: &Scale<'_>) -> Exit {
    let check = &scale.check;
    let is_first = scale.cluster.as_ref().is_none_or(|cluster| cluster.process == 0);
    if is_first {
        check.warnings.iter().for_each(|warning| diagnose::warning(warning));
    }
    let readable = check.inputs.iter().filter(|input| input.open_error().is_none());
    let histories = readable.map(|input| History::new(input.path(), input.how().clone())).collect();
    let mut job = Job::new(&check.setup, histories);
    job.spill.clone_from(&scale.spill);
    let judged = match &scale.cluster {
        None => Some(histcheck_scale::judge(&job, scale.workers)),
        Some(cluster) => histcheck_scale::judge_with_others(&job, scale.workers, cluster),
    };
    let Some(judged) = judged else { return Exit::OK };
    let mut results = match Results::new(check) {
        Ok(results) => results,
        Err(message) => {
            diagnose::error(&message);
            return Exit::FAILED;
        }
    };
    let (mut exit, unmatched, mut judged) = (Exit::OK, Unmatched::default(), judged.into_iter());
    for input in &check.inputs {
        let outcome = match input.open_error() {
            Some(error) => Err(error.clone()),
            None => match judged.next() {
                Some(judged) => {
                    unmatched.add(judged.unmatched.as_deref());
                    for decision in &judged.decisions {
                        diagnose::hint(&input.place(), &format!("note: {decision}"));
                    }
                    match &check.node_logs {
                        Some(logs) => judged.outcome.and_then(|report| logs.beside(input, report)),
                        None => judged.outcome,
                    }
                }
                // There is a report for each history that can be read.
                None => return Exit::FAILED,
            },
        };
        match results.write(input, outcome) {
            Ok(one) => exit = exit.and(one),
            Err(stopped) => {
                exit = exit.and(stopped);
                break;
            }
        }
    }
    unmatched.warnings().iter().for_each(|warning| diagnose::warning(warning));
    results.finish(exit)
}
