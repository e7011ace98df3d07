//! The connection to a worker: calls of many threads over one byte stream, and their replies.

use super::message::{Answer, Call, Hello, Reply, What};
use crate::error::{LiveError, shortened};
use crate::run::patience::receive;
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum length of a line in bytes.
const LINE_MAX: u64 = 64 << 20;

/// The connection to a worker.
pub(crate) struct Link {
    /// The worker's name, for messages.
    who: String,
    output: Mutex<Box<dyn Write + Send>>,
    next: AtomicU64,
    waiting: Arc<Mutex<Waiting>>,
}

/// The threads that wait for replies, by the numbers of their calls.
#[derive(Default)]
struct Waiting {
    calls: HashMap<u64, SyncSender<Reply>>,
    /// Whether no more replies will arrive.
    is_over: bool,
}

/// The reason why there is no reply.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The worker had ended before anything was sent.
    NotSent,
    /// The call may have been executed.
    Lost(&'static str),
    /// The worker rejects the call.
    Refused(LiveError),
}

impl Unanswered {
    /// Converts to an error of the worker at this place.
    pub(crate) fn at(self, place: &str) -> LiveError {
        match self {
            Unanswered::NotSent => LiveError::store(format!("the worker at {place} has ended")),
            Unanswered::Lost(why) => LiveError::store(format!("the worker at {place} does not answer: {why}")),
            Unanswered::Refused(error) => error,
        }
    }
}

impl Link {
    /// Starts the communication with a worker: waits for its first line.
    pub(crate) fn start(
        who: &str,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> Result<Arc<Link>, LiveError> {
        let mut input = BufReader::new(input);
        let mut first = String::new();
        let read = (&mut input).take(LINE_MAX).read_line(&mut first);
        let hello: Option<Hello> = read.ok().and_then(|_| serde_json::from_str(&first).ok());
        let expected = Hello::own();
        if hello.as_ref() != Some(&expected) {
            let said = match hello {
                Some(other) => format!("has version {}", other.histcheck_worker),
                None if first.is_empty() => "ended without a message".to_owned(),
                None => format!("wrote {}", shortened(&first)),
            };
            return Err(LiveError::store(format!(
                "{who} {said}: expected a worker of histcheck {}",
                expected.histcheck_worker
            )));
        }
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let answers = Arc::clone(&waiting);
        thread::spawn(move || read_answers(input, &answers));
        let output = Mutex::new(Box::new(output) as Box<dyn Write + Send>);
        Ok(Arc::new(Link { who: who.to_owned(), output, next: AtomicU64::new(0), waiting }))
    }

    /// A unique number.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The worker's name.
    pub(crate) fn who(&self) -> &str {
        &self.who
    }

    /// Sends a call, and waits for its reply up to this maximum.
    pub(crate) fn call(&self, what: What, most: Duration) -> Result<Answer, Unanswered> {
        let (sender, answer) = sync_channel(1);
        let id = self.number();
        {
            let mut waiting = lock(&self.waiting);
            if waiting.is_over {
                return Err(Unanswered::NotSent);
            }
            waiting.calls.insert(id, sender);
        }
        let answered = match self.send(&Call { id, what }) {
            Ok(()) => receive(&answer, most),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        };
        lock(&self.waiting).calls.remove(&id);
        match answered {
            Ok(Reply { answer: Ok(answer), .. }) => Ok(answer),
            Ok(Reply { answer: Err(failure), .. }) => Err(Unanswered::Refused(failure.at(&self.who))),
            Err(RecvTimeoutError::Timeout) => Err(Unanswered::Lost("timeout")),
            Err(RecvTimeoutError::Disconnected) => Err(Unanswered::Lost("the worker has ended")),
        }
    }

    /// Sends a call without waiting for a reply.
    pub(crate) fn tell(&self, what: What) {
        // A worker that is gone has no work left.
        let _ = self.send(&Call { id: self.number(), what });
    }

    /// Closes the connection to further calls.
    pub(crate) fn close(&self) {
        *self.output.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(std::io::sink());
        lock(&self.waiting).is_over = true;
    }

    fn send(&self, call: &Call) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(call)?;
        line.push(b'\n');
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(&line)?;
        output.flush()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The thread that reads replies then ends, and closes the connection.
        lock(&self.waiting).is_over = true;
    }
}

/// Passes replies to the threads that wait for them, until there are no more.
fn read_answers(mut input: impl std::io::BufRead, waiting: &Mutex<Waiting>) {
    let mut line = Vec::new();
    loop {
        match (&mut input).take(LINE_MAX).read_until(b'\n', &mut line) {
            Ok(1..) => {}
            // The read timed out; the part that was read is in the line.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if lock(waiting).is_over {
                    break;
                }
                continue;
            }
            _ => break,
        }
        let Ok(reply) = serde_json::from_slice::<Reply>(&line) else { break };
        line.clear();
        // A thread that has stopped waiting is no longer in the map.
        if let Some(sender) = lock(waiting).calls.remove(&reply.id) {
            let _ = sender.send(reply);
        }
    }
    let mut waiting = lock(waiting);
    waiting.is_over = true;
    waiting.calls.clear();
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
