//! The check of a history by a checker in another process.
//!
//! Ops are collected and sent many at a time. A process is taken only once there is much to send, or the history has
//! ended: a history of many keys has a run for each, and few of them need a process at the same time.

use crate::peer::{Fault, Peer, Wait};
use crate::pool::Pool;
use crate::protocol::Said;
use crate::report::report;
use history_core::{Budget, ErrorKind, Format, HistoryError, NextStep, Op, Report, Run, Verdict, Writer};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// The number of bytes of ops in a message.
const BATCH_BYTES: usize = 1 << 18;

/// A run in another process.
pub(crate) struct ProcessRun {
    pool: Arc<Pool>,
    checker: String,
    /// The line that starts a history.
    start: Vec<u8>,
    deadline: Option<Instant>,
    /// The reason why there will be no verdict.
    fault: Option<Fault>,
    /// Ops that were not sent yet, one per line.
    ops: Vec<u8>,
    /// The process, once there is one that has started the history.
    peer: Option<Peer>,
}

impl ProcessRun {
    pub(crate) fn new(
        pool: Arc<Pool>,
        checker: String,
        start: Vec<u8>,
        deadline: Option<Instant>,
        fault: Option<Fault>,
    ) -> ProcessRun {
        ProcessRun { pool, checker, start, deadline, fault, ops: Vec::new(), peer: None }
    }

    /// Returns the process after it has started the history and received all ops.
    fn send(&mut self, wait: &Wait<'_>) -> Result<&mut Peer, Fault> {
        if self.peer.is_none() {
            let mut peer = self.pool.take(wait)?;
            match peer.ask(self.start.clone(), "started", wait)? {
                Said::Started(_) => self.peer = Some(peer),
                other => return Err(peer.unexpected(&other, "started")),
            }
        }
        let Some(peer) = &mut self.peer else { unreachable!("it was just set") };
        if !self.ops.is_empty() {
            // Lines of JSON become elements of an array.
            let mut line = b"{\"ops\":[".to_vec();
            self.ops.pop();
            let comma = |byte: &u8| if *byte == b'\n' { b',' } else { *byte };
            line.extend(self.ops.iter().map(comma));
            line.extend_from_slice(b"]}");
            self.ops.clear();
            peer.send(line, wait)?;
        }
        Ok(peer)
    }

    fn ask_for_report(&mut self, wait: &Wait<'_>) -> Result<Said, Fault> {
        let peer = self.send(wait)?;
        peer.send(b"{\"finish\":{}}".to_vec(), wait)?;
        peer.answer("report", wait)
    }

    /// The report on a history that a limit of the user ended, or an error.
    fn without_verdict(&self, fault: Fault) -> Result<Report, HistoryError> {
        let Fault::Spent(spent, what) = fault else { return Err(fault.into()) };
        let mut report = Report::new(self.checker.clone(), Verdict::Unknown);
        report.notes.push(format!("No verdict, because {}: {what}.", spent.because()));
        report.add_next(NextStep::spent(spent));
        Ok(report)
    }
}

impl Run for ProcessRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        if self.fault.is_some() {
            return Ok(ControlFlow::Break(()));
        }
        // Newlines in strings are escaped, so each op is one line.
        let written = Writer::new(&mut self.ops, Format::Json).write(op);
        written.map_err(|error| HistoryError::new(ErrorKind::Io, error.to_string()))?;
        if self.ops.len() >= BATCH_BYTES
            && let Err(fault) = self.send(&Wait::until(self.deadline)).map(drop)
        {
            self.fault = Some(fault);
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        if let Some(fault) = self.fault.take() {
            return self.without_verdict(fault);
        }
        budget.begin("waiting for a checker in another process");
        let wait = Wait { deadline: self.deadline, budget: Some(budget) };
        let said = match self.ask_for_report(&wait) {
            Ok(said) => said,
            Err(fault) => return self.without_verdict(fault),
        };
        let Some(peer) = self.peer.take() else { unreachable!("it has just answered") };
        match said {
            Said::Report(form) => match report(&self.checker, *form) {
                Ok(report) => {
                    self.pool.put(peer);
                    Ok(report)
                }
                Err(what) => Err(peer.fault(&format!("sent an invalid report: {what}")).into()),
            },
            Said::Error(error) => {
                let place = error.index.map_or_else(String::new, |index| format!("the op at index {index}: "));
                self.pool.put(peer);
                let mut failed = HistoryError::new(ErrorKind::Unexpected, format!("{place}{}", error.message));
                failed.expected = error.expected;
                Err(failed)
            }
            other => Err(peer.unexpected(&other, "report").into()),
        }
    }
}
