//! A client in another process: it reads one line of JSON for each operation, and responds with one line.
//!
//! ```text
//! {"f":"txn","value":[["append",3,7],["r",4,null]]}                    ->
//! {"type":"ok","value":[["append",3,7],["r",4,[1,7]]]}
//! {"f":"write","key":3,"value":5,"write-id":"w9","prev-write-id":"w7"} -> {"type":"fail","error":"precondition"}
//! ```
//!
//! The process reads from its standard input and responds on its standard output. A response's `type` is `ok`, `fail`
//! or `info`; `value` and other fields become those of the completion, `error` gives the reason. If a response is late,
//! or a process has ended, the operation becomes `info` (a read `fail`), and another process replaces it.

use crate::client::FailedStart;
use crate::error::{LiveError, shortened};
use crate::group::Group;
use crate::request::{Fields, Outcome, Request};
use crate::run::patience::receive;
use history_core::cast::Cast as _;
use serde_json::Value as Json;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// The maximum length of a response in bytes.
const ANSWER_BYTES_MAX: u64 = 16 << 20;

/// The time in which a worker may end, or send more output, after the last request.
const END_MAX: Duration = Duration::from_millis(500);

/// A running worker.
pub(super) struct Worker {
    /// Kills the process when the worker is dropped.
    group: Group,
    /// Absent once the end of requests was announced.
    requests: Option<ChildStdin>,
    answers: Receiver<String>,
    timeout: Duration,
    who: String,
    /// Whether a request has no response yet, or will never have one.
    is_broken: bool,
    has_answered: bool,
    /// Why it ended, if it had answered no request.
    failed_start: Option<FailedStart>,
}

impl Worker {
    /// Starts a worker.
    pub(super) fn start(mut command: Command, who: String, timeout: Duration) -> Result<Worker, LiveError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut group = Group::start(&who, &mut command)?;
        let (Some(requests), Some(stdout)) = (group.child().stdin.take(), group.child().stdout.take()) else {
            return Err(LiveError::store(format!("{who} has no pipes")));
        };
        let (sender, answers) = sync_channel(1);
        // The thread ends with the process whose output it reads.
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                let read = (&mut stdout).take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line);
                // A line without an end was cut by the end of the process.
                let is_cut = line.last() != Some(&b'\n') && line.len().to_u64() < ANSWER_BYTES_MAX;
                let is_over = !matches!(read, Ok(1..)) || is_cut;
                if is_over || sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
        let (is_broken, has_answered, failed_start) = (false, false, None);
        Ok(Worker { group, requests: Some(requests), answers, timeout, who, is_broken, has_answered, failed_start })
    }

    /// Performs an operation.
    pub(super) fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        // A response received before the request would be taken for that of the request.
        if let Ok(answer) = self.answers.try_recv() {
            return Err(self.surplus(&answer));
        }
        let mut message = request.fields();
        message.insert("f".to_owned(), request.f().into());
        let mut line = Json::Object(message).to_string();
        line.push('\n');
        let Some(requests) = &mut self.requests else { return Ok(self.unanswered(request, "the worker was ended")) };
        if requests.write_all(line.as_bytes()).and_then(|()| requests.flush()).is_err() {
            return Ok(self.has_ended(request));
        }
        match receive(&self.answers, self.timeout) {
            Ok(answer) => {
                self.has_answered = true;
                self.outcome(request, &answer)
            }
            Err(RecvTimeoutError::Timeout) => Ok(self.unanswered(request, "timeout")),
            Err(RecvTimeoutError::Disconnected) => Ok(self.has_ended(request)),
        }
    }

    /// Why it ended, if it did so before it answered any request.
    pub(super) fn failed_start(&self) -> Option<FailedStart> {
        self.failed_start.clone()
    }

    /// Returns true if another worker must replace it: a late response would be mistaken for that of the next request.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Announces that there are no more requests, and checks whether it sends more output: if it responded to one of
    /// them twice, the response to the last one is still to arrive. Output that is not a response is ignored, such as a
    /// closing message.
    pub(super) fn end(&mut self) -> Result<(), LiveError> {
        self.requests = None;
        match self.answers.recv_timeout(END_MAX) {
            Ok(answer) if !self.is_broken && outcome(&answer).is_ok() => Err(self.surplus(&answer)),
            _ => Ok(()),
        }
    }

    fn surplus(&self, answer: &str) -> LiveError {
        LiveError::Surplus { who: self.who.clone(), answer: shortened(answer) }
    }

    fn unanswered(&mut self, request: &Request, why: &str) -> Outcome {
        self.is_broken = true;
        Outcome::unanswered(request, why)
    }

    /// The process has ended, or has closed its output.
    fn has_ended(&mut self, request: &Request) -> Outcome {
        if !self.has_answered {
            let status = self.group.ended_within(END_MAX);
            self.failed_start = Some(failed_start(&self.who, status));
        }
        self.unanswered(request, "the worker has ended")
    }

    fn outcome(&self, request: &Request, answer: &str) -> Result<Outcome, LiveError> {
        outcome(answer).and_then(|outcome| with_results(request, outcome)).map_err(|expected| LiveError::Protocol {
            who: self.who.clone(),
            answer: shortened(answer),
            expected: expected.to_owned(),
        })
    }
}

/// How a worker ended that answered no request.
fn failed_start(who: &str, status: Option<ExitStatus>) -> FailedStart {
    let how = match status {
        Some(status) => format!("{who} ended without an answer: {status}"),
        None => format!("{who} closed its standard output without an answer"),
    };
    let why = match status.and_then(|status| status.code()) {
        Some(NOT_EXECUTABLE) => " (a command cannot be executed)",
        Some(NOT_FOUND) => " (a command was not found)",
        _ => "",
    };
    FailedStart { what: how + why, is_certain: !why.is_empty() }
}

/// The exit statuses of a shell whose command cannot be executed or was not found.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Fields of a response that do not belong to the operation.
const RESERVED: [&str; 7] = ["type", "error", "f", "process", "index", "time", "host"];

/// The outcome of a response, or what was expected.
fn outcome(answer: &str) -> Result<Outcome, &'static str> {
    let Ok(Json::Object(mut answer)) = serde_json::from_str(answer) else {
        return Err("a line with a JSON object such as {\"type\":\"ok\",\"value\":3}");
    };
    let why = match answer.get("error") {
        Some(Json::String(why)) => why.clone(),
        Some(other) => other.to_string(),
        None => "no reason given".to_owned(),
    };
    let kind = answer.get("type").and_then(Json::as_str).unwrap_or_default().to_owned();
    match kind.as_str() {
        "ok" => {
            let fields: Fields = std::mem::take(&mut answer)
                .into_iter()
                .filter(|(name, _)| !RESERVED.contains(&name.as_str()))
                .collect();
            Ok(Outcome::Ok(fields))
        }
        "fail" => Ok(Outcome::Fail(why)),
        "info" => Ok(Outcome::Info(why)),
        _ => Err("\"type\" to be \"ok\", \"fail\" or \"info\""),
    }
}

/// The outcome, if it has the results that were requested. Without them, the completion would repeat the request, whose
/// nulls would then be results.
fn with_results(request: &Request, outcome: Outcome) -> Result<Outcome, &'static str> {
    match outcome {
        Outcome::Ok(fields) if request.needs_results() && !fields.contains_key("value") => {
            Err("a \"value\" with what was read (null if it is unknown)")
        }
        outcome => Ok(outcome),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::MicroOp;

    #[test]
    fn an_answer_to_a_read_has_a_value() {
        let txn = |mops: &[MicroOp]| Request::Txn(mops.to_vec());
        let reads = [Request::Read(1), Request::ReadSet, txn(&[MicroOp::Append(1, 2), MicroOp::Read(1)])];
        for request in reads {
            assert!(with_results(&request, Outcome::done()).unwrap_err().contains("what was read"), "{request:?}");
            let null = outcome(r#"{"type":"ok","value":null}"#).unwrap();
            assert_eq!(with_results(&request, null.clone()), Ok(null));
            let failed = Outcome::Fail("busy".into());
            assert_eq!(with_results(&request, failed.clone()), Ok(failed));
        }
        for request in [Request::Write(1, 2), Request::Add(3), txn(&[MicroOp::Append(1, 2)])] {
            assert_eq!(with_results(&request, Outcome::done()), Ok(Outcome::done()), "{request:?}");
        }
    }

    #[test]
    fn answers_become_outcomes() {
        assert_eq!(outcome(r#"{"type":"ok","value":3,"process":9}"#), Ok(Outcome::value(3)));
        assert_eq!(outcome(r#"{"type":"ok","value":3,"write-id":"w1"}"#), Ok(Outcome::version(3, "w1")));
        assert_eq!(outcome(r#"{"type":"fail","error":"busy"}"#), Ok(Outcome::Fail("busy".into())));
        assert_eq!(outcome(r#"{"type":"info","error":{"code":13}}"#), Ok(Outcome::Info("{\"code\":13}".into())));
        assert!(outcome(r#"{"type":"maybe"}"#).unwrap_err().contains("\"info\""));
        assert!(outcome("{}").is_err() && outcome("[]").is_err() && outcome("hello").is_err() && outcome("").is_err());
    }
}
