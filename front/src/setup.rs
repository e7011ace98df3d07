//! A checker with its options, and checking a history with it.

use crate::clocks;
use crate::read::ReadAs;
use crate::source::Reading;
use history_core::{
    Budget, Checker, ErrorKind, History, HistoryError, Keyed, KeyedAuto, NextStep, OptionError, Options, Reader,
    Report, Run, Spent, Verdict,
};
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of batches that are still checked after an interrupt: those that were already read.
const BATCHES_AFTER_INTERRUPT: usize = 8;

/// The note of a report on a history of which nothing was read.
pub const INTERRUPTED_AT_ONCE: &str = "Interrupted before the first op was read, so there is no verdict.";

/// A checker, or several as one (`history_core::Compose`), and how it is run.
pub struct Setup<'c> {
    /// The checker.
    pub checker: Box<dyn Checker + 'c>,
    /// Its options.
    pub options: Options,
    /// Whether each key is checked separately.
    pub keyed: WhetherKeyed,
}

impl fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Setup");
        shown.field("checker", &self.checker.name()).field("options", &self.options).field("keyed", &self.keyed);
        shown.finish()
    }
}

/// Whether each key is checked separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhetherKeyed {
    /// All ops are one history.
    #[default]
    No,
    /// Each op has a key, and the ops of each key are a history.
    Yes,
    /// The first ops decide.
    Auto,
}

/// A history that was checked: the result and further data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The report, or why there is none.
    pub outcome: Result<Report, HistoryError>,
    /// Decisions of [`WhetherKeyed::Auto`], as sentences.
    pub decisions: Vec<String>,
    /// Names of the client rule that no process had; `None` if not all of the history was read.
    pub unmatched: Option<Vec<String>>,
}

/// Is called while a history is checked, by the thread that checks it.
pub trait Observer {
    /// So many ops were read.
    fn set_ops(&self, ops: usize) {
        let _ = ops;
    }

    /// The history was read to its end, and the checker does the rest.
    fn set_read(&self) {}
}

impl Observer for () {}

impl<'c> Setup<'c> {
    /// A checker with these options, for histories as a whole.
    pub fn new(checker: impl Checker + 'c, options: Options) -> Setup<'c> {
        Setup { checker: Box::new(checker), options, keyed: WhetherKeyed::No }
    }

    /// Starts a run for a history. With [`WhetherKeyed::Auto`], `decided` gets the decision as a sentence once it is
    /// made.
    ///
    /// # Errors
    ///
    /// If the checker does not accept its options.
    pub fn start<'s>(&'s self, decided: impl FnMut(String) + Send + 's) -> Result<Box<dyn Run + 's>, HistoryError> {
        self.start_by(false, decided)
    }

    /// Starts a run for a history that is still being written: see [`Checker::start_online`].
    ///
    /// # Errors
    ///
    /// As [`Setup::start`].
    pub fn start_online<'s>(
        &'s self,
        decided: impl FnMut(String) + Send + 's,
    ) -> Result<Box<dyn Run + 's>, HistoryError> {
        self.start_by(true, decided)
    }

    fn start_by<'s>(
        &'s self,
        online: bool,
        mut decided: impl FnMut(String) + Send + 's,
    ) -> Result<Box<dyn Run + 's>, HistoryError> {
        let (checker, options) = (&*self.checker, &self.options);
        let started = || -> Result<Box<dyn Run + 's>, OptionError> {
            let whole = || if online { checker.start_online(options) } else { checker.start(options) };
            Ok(match self.keyed {
                WhetherKeyed::No => whole()?,
                WhetherKeyed::Yes | WhetherKeyed::Auto if checker.about().is_keyed => whole()?,
                WhetherKeyed::Yes if online => Box::new(Keyed::start_online(checker, options)?),
                WhetherKeyed::Yes => Box::new(Keyed::start(checker, options)?),
                WhetherKeyed::Auto => {
                    let decided = move |decision: &history_core::Decision| decided(decision.to_string());
                    Box::new(if online {
                        KeyedAuto::start_online(checker, options, decided)?
                    } else {
                        KeyedAuto::start(checker, options, decided)?
                    })
                }
            })
        };
        started().map_err(|error| HistoryError::new(ErrorKind::Unexpected, error.to_string()))
    }

    /// Checks a file, standard input (`-`), or the history in the directory of a test of Jepsen.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a history, or is not one that the checker can check.
    pub fn check_file(&self, path: impl AsRef<Path>) -> Result<Report, HistoryError> {
        self.check_reader(ReadAs::default().open(path)?)
    }

    /// Checks the text of a history.
    ///
    /// # Errors
    ///
    /// If the text is not a history, or not one that the checker can check.
    pub fn check_bytes(&self, bytes: &[u8]) -> Result<Report, HistoryError> {
        self.check_reader(ReadAs::default().bytes(bytes))
    }

    /// Checks what a reader returns, without limits.
    ///
    /// # Errors
    ///
    /// If the text is not a history, or not one that the checker can check.
    pub fn check_reader(&self, reader: Reader<'_>) -> Result<Report, HistoryError> {
        self.check(|_| Ok(reader), &Arc::default(), &Budget::default(), &()).outcome
    }

    /// Checks a history in memory. To check ops one by one, use [`Setup::start`] and [`Run::observe`].
    ///
    /// # Errors
    ///
    /// If the history is not one that the checker can check.
    pub fn check_history(&self, history: &History) -> Result<Report, HistoryError> {
        guarded(|| history_core::check_history(self.start(|_| {})?, history, &Budget::default()))
    }

    /// Checks a history within a budget, while other threads monitor it: `reading` counts what is read and ends it on
    /// request. A panic of the checker is an error of this history.
    ///
    /// A checker may decide before the end. A violation is final, so the rest is not read; after any other verdict it
    /// is, since text that is not a history is an error.
    pub fn check<'r>(
        &self,
        open: impl FnOnce(&Arc<Reading>) -> Result<Reader<'r>, HistoryError>,
        reading: &Arc<Reading>,
        budget: &Budget,
        observer: &dyn Observer,
    ) -> Checked {
        let decisions = Arc::new(Mutex::new(Vec::new()));
        let mut unmatched = None;
        let outcome = guarded(|| {
            let noted = Arc::clone(&decisions);
            let decided = move |decision| noted.lock().unwrap_or_else(PoisonError::into_inner).push(decision);
            let mut fed = Fed::new(self.start(decided)?, reading, budget, observer);
            let mut reader = open(reading);
            let read = match &mut reader {
                Ok(reader) => reader.for_each_batch_ahead(|batch| fed.observe(batch)),
                Err(error) => Err(error.clone()),
            };
            if let Ok(reader) = &reader {
                if let Some(left_out) = left_out(reader) {
                    decisions.lock().unwrap_or_else(PoisonError::into_inner).push(left_out);
                }
                if read.is_ok() && !fed.is_left {
                    unmatched = Some(reader.unmatched().map(str::to_owned).collect());
                }
            }
            let mut report = fed.finish(read, self.checker.name())?;
            if let Ok(reader) = &mut reader {
                clocks::settle(&mut report, &self.checker.about(), reader, |reader| {
                    let mut fed = Fed::new(self.start(|_| {})?, reading, budget, observer);
                    let read = reader.for_each_batch_ahead(|batch| fed.observe(batch));
                    fed.finish(read, self.checker.name())
                });
            }
            Ok(report)
        });
        let decisions = std::mem::take(&mut *decisions.lock().unwrap_or_else(PoisonError::into_inner));
        Checked { outcome, decisions, unmatched }
    }
}

/// The op that was omitted because the text ends within it, if so ([`ReadAs::accepts_torn`]).
pub fn left_out(reader: &Reader<'_>) -> Option<String> {
    let line = reader.cut_off()?.line;
    Some(format!("incomplete op at line {line} at the end of the history: omitted"))
}

/// A run that receives batches within a budget.
struct Fed<'f> {
    run: Box<dyn Run + 'f>,
    reading: &'f Reading,
    budget: &'f Budget,
    observer: &'f dyn Observer,
    ops: usize,
    spent: Option<Spent>,
    /// The number of batches since an interrupt.
    late: usize,
    /// Whether the checker needs no more ops.
    is_settled: bool,
    /// Whether reading was stopped before the end of the history.
    is_left: bool,
}

impl<'f> Fed<'f> {
    fn new(run: Box<dyn Run + 'f>, reading: &'f Reading, budget: &'f Budget, observer: &'f dyn Observer) -> Fed<'f> {
        Fed { run, reading, budget, observer, ops: 0, spent: None, late: 0, is_settled: false, is_left: false }
    }

    fn observe(&mut self, batch: &history_core::Batch) -> Result<ControlFlow<()>, HistoryError> {
        let spent = self.budget.check(0, 0).err();
        self.late += usize::from(spent == Some(Spent::Cancelled));
        if spent.is_some() && (spent != Some(Spent::Cancelled) || self.late > BATCHES_AFTER_INTERRUPT) {
            // If the verdict is already determined, stopping here only misses later errors in the text.
            self.spent = spent.filter(|_| !self.is_settled);
            return Ok(self.leave());
        }
        self.ops += batch.len();
        self.observer.set_ops(self.ops);
        if !self.is_settled {
            self.is_settled = self.run.observe_batch(batch)?.is_break();
            if self.is_settled && self.run.is_violated() {
                return Ok(self.leave());
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self) -> ControlFlow<()> {
        self.is_left = true;
        self.reading.leave();
        ControlFlow::Break(())
    }

    fn finish(self, read: Result<(), HistoryError>, checker: &str) -> Result<Report, HistoryError> {
        let mut unread = None;
        let mut spent = self.spent;
        match read {
            // The interrupt caused the error of the reader, so it is not an error of the history.
            Err(error) if error.kind == ErrorKind::Io && self.reading.was_cut() => {
                spent = Some(Spent::Cancelled).filter(|_| !self.is_settled);
            }
            // A violation that the checker found before the error is still reported.
            Err(error) if self.is_settled => unread = Some(error),
            read => read?,
        }
        if let Some(spent) = spent {
            return Ok(cut_short(&*self.run, checker, spent, self.ops));
        }
        self.observer.set_read();
        let mut report = self.run.finish(self.budget)?;
        if let Some(error) = unread.filter(|_| report.verdict != Verdict::Invalid) {
            return Err(error);
        }
        if self.budget.cancel.is_cancelled() && report.verdict == Verdict::Unknown && !self.is_settled {
            let ops = self.ops;
            report.notes.push(format!("Interrupted after all {ops} ops were read, while the checker was running."));
            report.next = vec![NextStep::spent(Spent::Cancelled)];
        }
        Ok(report)
    }
}

/// The report on a history that was not read to its end.
pub fn cut_short(run: &dyn Run, checker: &str, spent: Spent, ops: usize) -> Report {
    let note = match spent {
        Spent::Cancelled if ops == 0 => INTERRUPTED_AT_ONCE.to_owned(),
        Spent::Cancelled => format!("Interrupted after {ops} ops; the rest was not checked."),
        _ => format!("Only the first {ops} ops were checked, because {}.", spent.because()),
    };
    let certain = if run.is_violated() { run.violation() } else { None };
    let mut report = certain.unwrap_or_else(|| Report::new(checker.to_owned(), Verdict::Unknown));
    report.is_partial = report.verdict == Verdict::Invalid;
    report.notes.push(note);
    report.add_next(NextStep::spent(spent));
    report
}

/// Runs code in which a bug may panic: an error for this history, and none for others.
///
/// # Errors
///
/// Those of `what`, and an error instead of a panic.
pub fn guarded<T>(what: impl FnOnce() -> Result<T, HistoryError>) -> Result<T, HistoryError> {
    // The panic hook prints the panic itself.
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|_| {
        let message = "histcheck panicked here, which is a bug: please report it, with the history if you can";
        Err(HistoryError::new(ErrorKind::Unexpected, message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{Op, OptionSpec};

    /// A checker that stops at the first read, with a verdict.
    struct Stops(Verdict);

    struct Stopped(Verdict, usize);

    impl Checker for Stops {
        fn name(&self) -> &'static str {
            "stops"
        }

        fn summary(&self) -> &'static str {
            "Stops at the first read."
        }

        fn options(&self) -> &[OptionSpec] {
            &[]
        }

        fn start(&self, _: &Options) -> Result<Box<dyn Run>, OptionError> {
            Ok(Box::new(Stopped(self.0, 0)))
        }
    }

    impl Run for Stopped {
        fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
            assert_eq!(self.1, 0, "it wants no more ops");
            let is_read = op.f == Some("read");
            self.1 += usize::from(is_read);
            Ok(if is_read { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        }

        fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
            Ok(Report::new("stops", self.0))
        }
    }

    fn check(verdict: Verdict, text: &str) -> Result<Verdict, String> {
        let outcome = Setup::new(Stops(verdict), Options::new()).check_bytes(text.as_bytes());
        outcome.map(|report| report.verdict).map_err(|error| error.message)
    }

    #[test]
    fn an_error_behind_an_early_verdict_is_an_error_unless_that_is_false() {
        let good = "{:process 0, :type :invoke, :f :write} {:process 0, :type :ok, :f :write}\n{:process 1, :type :invoke, :f :read}\n";
        let bad = format!("{good}{}{{:process 1, :type :nope}}", "{:process :n, :type :info, :f :x}\n".repeat(10_000));
        for verdict in [Verdict::Valid, Verdict::Unknown, Verdict::Invalid] {
            assert_eq!(check(verdict, good), Ok(verdict));
        }
        let error = "the op's type is :nope".to_owned();
        assert_eq!(check(Verdict::Unknown, &bad), Err(error.clone()));
        assert_eq!(check(Verdict::Valid, &bad), Err(error));
        assert_eq!(check(Verdict::Invalid, &bad), Ok(Verdict::Invalid));
    }

    #[test]
    fn a_panic_is_an_error_of_one_history() {
        let error = guarded::<()>(|| panic!("as if it were a bug")).unwrap_err();
        assert!(error.message.contains("please report it"), "{}", error.message);
    }
}
