//! Linearizability of any object: one of check-register, or a model in another process.

use crate::command::{Program, is_command};
use crate::model::{ModelRun, ProcessModel};
use crate::peer::{Fault, Limits};
use crate::steps::{Refusal, Source};
use crate::text;
use check_register::{Linearizable, Settings};
use histcheck_plugin::host::Trust;
use history_core::{About, Checker, Datum, HistoryError, Op, OptionError, OptionSpec, Options, Report, Run};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The option that names the object.
const SPEC: &str = "spec";
/// The option with the initial state.
const INITIAL: &str = "initial";

/// A checker of objects that an option `spec` names, which may also be `exec:COMMAND`.
pub struct AnyObject {
    /// The checker of all other objects.
    inner: Box<dyn Checker>,
    options: Vec<OptionSpec>,
    trust: Trust,
    limits: Limits,
    /// The last model that was started. Consecutive histories, and the keys of a history, share one process.
    last: Mutex<Option<Arc<Source>>>,
}

impl std::fmt::Debug for AnyObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyObject").field("trust", &self.trust).field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl AnyObject {
    /// The same checker, which takes models in other processes as well.
    pub fn new(inner: Box<dyn Checker>, trust: Trust, limits: Limits) -> AnyObject {
        let mut options = inner.options().to_vec();
        for spec in options.iter_mut().filter(|spec| spec.name == SPEC) {
            spec.help = "Type of the object: register, cas-register, multi-register, kv, mutex, owner-mutex, \
                reentrant-mutex, semaphore, fifo-queue, unordered-queue, stack, deque, priority-queue, set or counter; or \
                exec:COMMAND, a model of your own in another process.";
        }
        AnyObject { inner, options, trust, limits, last: Mutex::default() }
    }

    fn source(&self, command: &str, initial: &str, deadline: Option<Instant>) -> Result<Arc<Source>, Refusal> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = last.as_ref().filter(|source| source.is(command, initial)) {
            if Arc::strong_count(source) == 1 {
                source.forget();
            }
            return Ok(Arc::clone(source));
        }
        let program = Program::new(command, self.trust).map_err(|why| Fault::Peer(format!("{command} {why}")))?;
        let source = Arc::new(Source::start(program, self.limits, initial.to_owned(), deadline)?);
        *last = Some(Arc::clone(&source));
        Ok(source)
    }

    fn start_model(&self, command: &str, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let deadline = self.limits.deadline();
        let initial = match options.text(INITIAL) {
            Some(text) => value(text)
                .ok_or_else(|| OptionError::new(INITIAL, format!("expected an EDN or JSON value, found {text}")))?,
            None => "null".to_owned(),
        };
        match self.source(command, &initial, deadline) {
            Ok(source) => {
                let model = ProcessModel::new(source, deadline);
                let checker = Linearizable { model: model.clone(), settings: Settings::default() };
                Ok(Box::new(ModelRun::new(checker.start(options)?, &model)))
            }
            Err(Refusal::Initial(message)) => Err(OptionError::new(INITIAL, message)),
            // Each history reports this error, because a start can only report errors in options.
            Err(Refusal::Fault(fault)) => Ok(Box::new(NotStarted(fault.into()))),
        }
    }
}

impl Checker for AnyObject {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn summary(&self) -> &str {
        self.inner.summary()
    }

    fn options(&self) -> &[OptionSpec] {
        &self.options
    }

    fn about(&self) -> About {
        // Reports on other objects have their own names.
        let mut about = check_register::about::<ProcessModel>();
        about.members = self.inner.about().members;
        about
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        match options.text(SPEC).filter(|spec| is_command(spec)) {
            Some(command) => self.start_model(command, options),
            None => self.inner.start(options),
        }
    }

    fn start_online(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        match options.text(SPEC).filter(|spec| is_command(spec)) {
            Some(command) => self.start_model(command, options),
            None => self.inner.start_online(options),
        }
    }
}

/// A text that is a single value in JSON or EDN, as JSON.
fn value(text: &str) -> Option<String> {
    Datum::parse(text).map(|value| text::of(&value))
}

/// A run of a model that did not start.
struct NotStarted(HistoryError);

impl Run for NotStarted {
    fn observe(&mut self, _: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        // The error is not one of this op.
        Ok(ControlFlow::Break(()))
    }

    fn finish(self: Box<Self>, _: &history_core::Budget) -> Result<Report, HistoryError> {
        Err(self.0)
    }
}
