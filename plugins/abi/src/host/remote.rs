//! A checker in another library, with the same interface as any other checker.
#![expect(unsafe_code, reason = "calls the functions of another library")]

use crate::interface::{Column, INTS, InterfaceRef, NAMES, NODES, Observed, Ops, ROWS, RunHandle, SOURCE, UNESCAPED};
use crate::wire::{Answer, Described, Limits, Refusal, ReportForm};
use abi_stable::std_types::{RSlice, RStr};
use history_core::columns::Columns;
use history_core::{
    About, Batch, Budget, Checker, ErrorKind, HistoryError, Op, OptionError, OptionSpec, Options, Participants, Report,
    Run,
};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// A checker in another library.
pub(super) struct RemoteChecker {
    interface: InterfaceRef,
    /// Its position in the library.
    at: u32,
    described: Described,
    plugin: Arc<str>,
}

impl RemoteChecker {
    pub(super) fn new(interface: InterfaceRef, at: u32, path: &Path, described: Described) -> RemoteChecker {
        let plugin = format!("{} of {}", described.name, path.display()).into();
        RemoteChecker { interface, at, described, plugin }
    }
}

impl Checker for RemoteChecker {
    fn name(&self) -> &str {
        &self.described.name
    }

    fn summary(&self) -> &str {
        &self.described.summary
    }

    fn options(&self) -> &[OptionSpec] {
        &self.described.options
    }

    fn about(&self) -> About {
        self.described.about.clone()
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let given: BTreeMap<&str, &str> = options.iter().collect();
        // A map from text to text can always be serialized.
        let given = serde_json::to_string(&given).unwrap_or_default();
        let started = (self.interface.start())(self.at, given.as_str().into());
        let RemoteChecker { interface, ref plugin, .. } = *self;
        if !started.run.0.is_null() {
            return Ok(Box::new(RemoteRun {
                interface,
                run: Some(started.run),
                plugin: Arc::clone(plugin),
                participants: Participants::new(),
                one: Batch::new(),
                violated: false,
                configurations: None,
            }));
        }
        match serde_json::from_str::<Refusal>(&started.refusal) {
            Ok(Refusal::Option { name, message }) => Err(OptionError::new(name, message)),
            // Returns a run that fails, because `start` can only report errors in options.
            Ok(refusal) => Ok(Box::new(Failed(failure(plugin, "it began", refusal)))),
            Err(_) => Ok(Box::new(Failed(garbage(plugin, "it began", "its reason for the refusal is unreadable")))),
        }
    }
}

/// A run that could not start.
struct Failed(HistoryError);

impl Run for Failed {
    fn observe(&mut self, _: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        Err(self.0.clone())
    }

    fn finish(self: Box<Self>, _: &Budget) -> Result<Report, HistoryError> {
        Err(self.0)
    }
}

/// A run in another library.
struct RemoteRun {
    interface: InterfaceRef,
    /// Absent once it is finished.
    run: Option<RunHandle>,
    plugin: Arc<str>,
    /// The names of clients. An older plugin has only their numbers.
    participants: Participants,
    /// The batch that passes a single op.
    one: Batch,
    /// The plugin's answer after the last ops.
    violated: bool,
    configurations: Option<u64>,
}

// SAFETY: the handle represents a `Box<dyn Run>`, which is `Send`, and nothing else has it.
unsafe impl Send for RemoteRun {}

impl RemoteRun {
    fn cross(&mut self, batch: &Batch) -> Result<ControlFlow<()>, HistoryError> {
        let Some(run) = self.run else { return Ok(ControlFlow::Break(())) };
        let Columns { source, unescaped, nodes, ints, rows, names, starts_at } = batch.columns();
        let columns = [
            column(SOURCE, source.as_bytes()),
            column(UNESCAPED, unescaped.as_bytes()),
            column(NODES, nodes),
            column(INTS, ints),
            column(ROWS, rows),
            column(NAMES, names),
        ];
        if !names.is_empty() {
            batch.ops().for_each(|op| _ = self.participants.see(&op));
        }
        let ops = Ops { starts_at, columns: RSlice::from_slice(&columns) };
        // SAFETY: the run exists, and only this call uses it, because `self` is exclusive. The columns are those of
        // interface 1, and outlive the call.
        let observed = unsafe { (self.interface.observe())(run, ops) };
        let Observed { flow, violated, possibilities, refusal } = observed;
        self.violated |= violated != 0;
        self.configurations = possibilities.checked_sub(1);
        match (flow, serde_json::from_str::<Refusal>(&refusal)) {
            (0, _) => Ok(ControlFlow::Continue(())),
            (1, _) => Ok(ControlFlow::Break(())),
            (_, Ok(refusal)) => Err(failure(&self.plugin, "it received ops", refusal)),
            (_, Err(error)) => Err(garbage(&self.plugin, "it received ops", &error.to_string())),
        }
    }
}

fn column<T>(number: u32, items: &[T]) -> Column {
    Column { number, item_bytes: size_of::<T>() as u32, items: items.as_ptr().cast(), len: items.len() }
}

/// The error if a plugin did not check a history.
#[cold]
fn failure(plugin: &str, when: &str, refusal: Refusal) -> HistoryError {
    let ours = |what: String| {
        HistoryError::new(ErrorKind::Unexpected, format!("the plugin's {plugin} {what}, which is a bug of the plugin"))
    };
    match refusal {
        Refusal::History(form) => (*form).into(),
        Refusal::Panic(said) => ours(format!("panicked when {when} ({said})")),
        Refusal::Option { name, message } => ours(format!("refused --{name} when {when} ({message})")),
        Refusal::Misuse(what) => ours(format!("reported incorrect calls when {when} ({what})")),
    }
}

#[cold]
fn garbage(plugin: &str, when: &str, what: &str) -> HistoryError {
    let message =
        format!("the plugin's {plugin} sent an invalid answer when {when} ({what}), which is a bug of the plugin");
    HistoryError::new(ErrorKind::Unexpected, message)
}

/// Parses the answer of a plugin.
fn answered<T: DeserializeOwned>(plugin: &str, when: &str, text: &str) -> Result<T, HistoryError> {
    match serde_json::from_str::<Answer<T>>(text) {
        Ok(Answer::Answer(answer)) => Ok(answer),
        Ok(Answer::Refusal(refusal)) => Err(failure(plugin, when, refusal)),
        Err(error) => Err(garbage(plugin, when, &error.to_string())),
    }
}

impl Run for RemoteRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        let mut one = std::mem::take(&mut self.one);
        one.assign(op);
        let flow = self.cross(&one);
        self.one = one;
        flow
    }

    fn observe_batch(&mut self, batch: &Batch) -> Result<ControlFlow<()>, HistoryError> {
        self.cross(batch)
    }

    fn is_violated(&self) -> bool {
        self.violated
    }

    fn violation(&self) -> Option<Report> {
        let run = self.run.filter(|_| self.violated)?;
        let question = RStr::from_str("violation");
        // SAFETY: the run exists, and only this thread uses it: a value that is not `Sync` is borrowed by one thread
        // only.
        let answer = unsafe { (self.interface.ask())(run, question) };
        answered::<Option<ReportForm>>(&self.plugin, "it reported a violation", &answer)
            .ok()??
            .report(&self.participants)
            .ok()
    }

    fn configurations(&self) -> Option<u64> {
        self.configurations
    }

    fn finish(mut self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        const WHEN: &str = "it finished";
        let Some(run) = self.run.take() else {
            return Err(garbage(&self.plugin, WHEN, "the run was finished already"));
        };
        // A map from names to numbers can always be serialized.
        let limits = serde_json::to_string(&Limits::of(budget)).unwrap_or_default();
        let cancel = budget.cancel.lend().as_ptr().cast::<u8>().cast_const();
        // SAFETY: the run exists, and its handle is not used any more; the flag is never freed.
        let answer = unsafe { (self.interface.finish())(run, limits.as_str().into(), cancel) };
        let form: ReportForm = answered(&self.plugin, WHEN, &answer)?;
        form.report(&self.participants).map_err(|what| garbage(&self.plugin, WHEN, &what))
    }
}

impl Drop for RemoteRun {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            // SAFETY: the run exists, and its handle is not used any more.
            unsafe { (self.interface.discard())(run) };
        }
    }
}
