//! A history that is checked while it is being written. A separate thread owns the checker; calls send messages to it.

use crate::outcome::HistcheckResult;
use crate::settings::Settings;
use histcheck_front::setup::guarded;
use history_core::{ErrorKind, Format, HistoryError, Lines, Merge, Report, Run};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// A history that is checked while it is being written. Threads may share it: calls wait for each other.
#[derive(Debug)]
pub struct HistcheckStream(Mutex<Ends>);

/// This side of the channels.
#[derive(Debug)]
struct Ends {
    /// Absent once the thread should end.
    questions: Option<Sender<Question>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

enum Question {
    Feed(Vec<u8>),
    Violation,
    Finish,
}

type Answer = Result<Option<Report>, HistoryError>;

const NAME: &str = "stream";

impl HistcheckStream {
    pub(crate) fn start(checker: &str, settings: &str) -> Result<HistcheckStream, String> {
        let settings = Settings::parse(checker, settings, true)?;
        if let Some(format) = settings.read_as.format.filter(|format| !matches!(format, Format::Edn | Format::Json)) {
            return Err(format!("format is \"{format}\"; expected \"edn\" or \"json\" for a stream"));
        }
        let (questions, asked) = channel();
        let (answer, answers) = channel();
        let thread = std::thread::Builder::new().name("histcheck".to_owned());
        let thread = thread.spawn(move || serve(&settings, &asked, &answer)).map_err(|error| error.to_string())?;
        Ok(HistcheckStream(Mutex::new(Ends { questions: Some(questions), answers, thread: Some(thread) })))
    }

    /// Adds text of the history, which may end within a line. Returns 1 if the ops so far violate the checked property,
    /// and 0 if not, or not yet.
    pub(crate) fn feed(&self, text: &[u8]) -> Result<i32, HistoryError> {
        Ok(i32::from(self.ask(Question::Feed(text.to_vec()))?.is_some()))
    }

    /// The report on the violation, if there is one.
    pub(crate) fn violation(&self) -> Option<HistcheckResult> {
        match self.ask(Question::Violation) {
            Ok(None) => None,
            Ok(Some(report)) => Some(HistcheckResult::new(NAME, &Ok(report))),
            Err(error) => Some(HistcheckResult::new(NAME, &Err(error))),
        }
    }

    /// The report on all text so far. No more text can be added after that.
    pub(crate) fn finish(&self) -> HistcheckResult {
        let answer = self.ask(Question::Finish);
        let none = || HistoryError::new(ErrorKind::Unexpected, "this stream is finished");
        HistcheckResult::new(NAME, &answer.and_then(|report| report.ok_or_else(none)))
    }

    fn ask(&self, question: Question) -> Answer {
        let ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = || HistoryError::new(ErrorKind::Unexpected, "this stream is finished");
        ends.questions.as_ref().and_then(|questions| questions.send(question).ok()).ok_or_else(over)?;
        ends.answers.recv().map_err(|_| over())?
    }
}

impl Drop for HistcheckStream {
    fn drop(&mut self) {
        let ends = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        ends.questions = None;
        // A panic in the thread was already an error of the last call.
        drop(ends.thread.take().map(JoinHandle::join));
    }
}

/// Answers questions until the stream is dropped, or the history is finished.
fn serve(settings: &Settings, asked: &Receiver<Question>, answer: &Sender<Answer>) {
    let (decided, decisions) = channel();
    let run = guarded(|| settings.setup.start_online(move |decision| drop(decided.send(decision))));
    let mut state = State {
        run,
        lines: settings.read_as.lines(),
        merge: settings.read_as.merge(),
        rest: Vec::new(),
        failed: None,
        decisions,
    };
    for question in asked {
        let answered = match question {
            Question::Feed(text) => state.feed(&text),
            Question::Violation => guarded(|| state.violation()),
            Question::Finish => {
                _ = answer.send(guarded(|| state.finish(settings)));
                return;
            }
        };
        if answer.send(answered).is_err() {
            return;
        }
    }
}

struct State<'s> {
    run: Result<Box<dyn Run + 's>, HistoryError>,
    lines: Lines,
    merge: Merge,
    /// The beginning of a line whose end was not added yet.
    rest: Vec<u8>,
    /// The first error that lost ops. Later ops prove nothing: a read of a value whose write was lost is no anomaly.
    failed: Option<HistoryError>,
    /// The decisions for "keyed": "auto".
    decisions: Receiver<String>,
}

impl State<'_> {
    fn feed(&mut self, text: &[u8]) -> Answer {
        if self.failed.is_some() {
            return self.certain();
        }
        // A panic loses ops, too.
        let fed = guarded(|| self.take(text));
        self.failed = fed.as_ref().err().cloned();
        fed
    }

    fn take(&mut self, text: &[u8]) -> Answer {
        let Some(end) = text.iter().rposition(|byte| *byte == b'\n') else {
            self.rest.extend_from_slice(text);
            return self.violation();
        };
        let mut whole = std::mem::take(&mut self.rest);
        whole.extend_from_slice(&text[..end]);
        self.rest = text[end + 1..].to_vec();
        let read = whole.split(|byte| *byte == b'\n').try_for_each(|line| self.lines.read(line));
        // Ops before a line that cannot be read are checked.
        self.observe()?;
        read?;
        self.violation()
    }

    /// Checks the ops that were read.
    fn observe(&mut self) -> Result<(), HistoryError> {
        let mut batch = self.lines.take();
        let added = self.merge.add(&mut batch).map_err(HistoryError::from);
        let run = self.run.as_mut().map_err(|error| error.clone())?;
        _ = run.observe_batch(&batch)?;
        added
    }

    fn violation(&mut self) -> Answer {
        self.run.as_mut().map(|run| run.violation()).map_err(|error| error.clone())
    }

    /// The result after an error: the violation that was certain before it, or else the error.
    fn certain(&mut self) -> Answer {
        let violation = self.violation()?;
        match self.failed.clone().filter(|_| violation.is_none()) {
            Some(failed) => Err(failed),
            None => Ok(violation),
        }
    }

    fn finish(mut self, settings: &Settings) -> Answer {
        if self.failed.is_none() {
            let rest = std::mem::take(&mut self.rest);
            self.failed = self.lines.read(&rest).and_then(|()| self.observe()).err();
        }
        if self.failed.is_some() {
            return self.certain();
        }
        if self.merge.ops() == 0 {
            return Err(HistoryError::new(ErrorKind::NotAnOp, "the history contains no op"));
        }
        let mut report = self.run?.finish(&settings.budget())?;
        report.notes.extend(self.decisions.try_iter());
        Ok(Some(report))
    }
}
