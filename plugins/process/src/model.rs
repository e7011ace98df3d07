//! A model in another process: the search is histcheck's, and the steps are the other side's.

use crate::peer::{Fault, Wait};
use crate::steps::{Source, Step};
use check_register::models::{Shows, Spec};
use check_register::{Model, Shortcuts};
use history_core::{
    Budget, Datum, ErrorKind, HistoryError, NextStep, Op, OpKind, Report, Run, Searched, Value, Verdict,
};
use serde_json::json;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The model of one run.
#[derive(Clone)]
pub(crate) struct ProcessModel {
    pub(crate) source: Arc<Source>,
    /// Why its steps are not to be believed any more.
    fault: Arc<OnceLock<Fault>>,
    deadline: Option<Instant>,
}

/// An operation, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProcessOp {
    number: u32,
}

impl ProcessModel {
    pub(crate) fn new(source: Arc<Source>, deadline: Option<Instant>) -> ProcessModel {
        ProcessModel { source, fault: Arc::default(), deadline }
    }

    fn has(&self, need: &str) -> bool {
        self.source.hello.needs.iter().any(|known| known == need)
    }

    /// The operation as the other side gets it.
    fn text(&self, op: &Op<'_>, f: &str, value: &serde_json::Value, invoked: Option<&serde_json::Value>) -> String {
        let mut text = serde_json::Map::new();
        text.insert("f".to_owned(), json!(f));
        text.insert("value".to_owned(), value.clone());
        let kind = if op.kind == OpKind::Ok { "ok" } else { "info" };
        text.insert("type".to_owned(), json!(kind));
        if self.has("invoked") {
            text.insert("invoked".to_owned(), invoked.unwrap_or(value).clone());
            if op.kind != OpKind::Ok {
                text.insert("value".to_owned(), serde_json::Value::Null);
            }
        }
        if self.has("process") {
            text.insert("process".to_owned(), op.client_name.map_or_else(|| json!(number(op)), |name| json!(name)));
        }
        if self.has("fields") {
            let fields = op.extra.iter().filter_map(|(key, value)| Some((key.as_name()?.to_owned(), plain(value))));
            text.insert("fields".to_owned(), serde_json::Value::Object(fields.collect()));
        }
        crate::steps::canonical(&serde_json::Value::Object(text))
    }
}

fn number(op: &Op<'_>) -> Option<i64> {
    match op.process {
        history_core::Process::Client(number) => Some(number),
        _ => None,
    }
}

/// A value as JSON has it.
fn plain(value: Value<'_>) -> serde_json::Value {
    serde_json::to_value(value.to_datum()).unwrap_or_default()
}

/// Whether a completion's value is its invocation's with results in the place of nils.
fn completes(invoked: &serde_json::Value, done: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Null, Object};
    match (invoked, done) {
        (Null, _) => true,
        (Array(invoked), Array(done)) => {
            invoked.len() == done.len() && invoked.iter().zip(done).all(|(invoked, done)| completes(invoked, done))
        }
        (Object(invoked), Object(done)) => {
            invoked.len() == done.len()
                && invoked.iter().all(|(key, value)| done.get(key).is_some_and(|done| completes(value, done)))
        }
        _ => invoked == done,
    }
}

impl Model for ProcessModel {
    type State = u32;
    type Op = ProcessOp;
    type Next = Vec<u32>;

    fn init(&self) -> u32 {
        0
    }

    fn step(&self, state: &u32, op: &ProcessOp, budget: &Budget) -> Vec<u32> {
        if self.fault.get().is_some() {
            return Vec::new();
        }
        let wait = Wait { deadline: self.deadline, budget: Some(budget) };
        match self.source.step(*state, op.number, &wait) {
            Ok(Step::Nowhere) => Vec::new(),
            Ok(Step::To(state)) => vec![state],
            Ok(Step::ToAny(states)) => states.to_vec(),
            Ok(Step::Refused(why)) => {
                let what = format!(
                    "{} refused the operation {}: {why}",
                    self.source.program.name,
                    self.source.tables().op_text(op.number)
                );
                self.fault.get_or_init(|| Fault::Peer(what));
                Vec::new()
            }
            Err(fault) => {
                self.fault.get_or_init(|| fault);
                Vec::new()
            }
        }
    }

    fn shortcuts(&self) -> &dyn Shortcuts<u32, ProcessOp> {
        self
    }

    fn describe_op(&self, op: &ProcessOp) -> String {
        let tables = self.source.tables();
        let parsed = serde_json::from_str::<serde_json::Value>(tables.op_text(op.number)).unwrap_or_default();
        let f = parsed["f"].as_str().unwrap_or_default();
        match parsed.get("invoked").filter(|invoked| !invoked.is_null()) {
            Some(invoked) => format!("{f} of {invoked} with result {}", parsed["value"]),
            None => format!("{f} of {}", parsed["value"]),
        }
    }

    fn describe_state(&self, state: &u32) -> String {
        self.source.tables().state_text(*state).to_owned()
    }
}

impl Shortcuts<u32, ProcessOp> for ProcessModel {
    fn reads_only(&self, op: &ProcessOp) -> bool {
        self.source.tables().is_read(op.number)
    }
}

impl Spec for ProcessModel {
    const NAME: &'static str = "linearizable";
    const SUMMARY: &'static str = "Linearizability of an object with a model in another process.";
    const OPS: &'static str = "the ops of the model";
    const SHOWN: &'static str = "ok op of a function that the model lists in \"shows\", with a value";
    const INITIAL: &'static str = "an initial value of the model";

    fn set_initial(&mut self, _: Value<'_>) -> Result<(), String> {
        // It was given to the other side when the model began.
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&ProcessOp>) -> Result<Option<ProcessOp>, String> {
        let hello = &self.source.hello;
        let Some(f) = op.f.filter(|f| hello.ops.iter().any(|known| known == f)) else {
            let found = op.f.map_or("the op has no :f".to_owned(), |f| format!("{} has no operation {f}", hello.name));
            return Err(format!("{found}; expected {}", hello.ops.join(", ")));
        };
        let mut value = plain(op.value);
        let of_invocation = invoked.map(|invoked| {
            let text = self.source.tables().op_text(invoked.number).to_owned();
            let parsed = serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default();
            parsed[if self.has("invoked") { "invoked" } else { "value" }].clone()
        });
        if let Some(of_invocation) = &of_invocation
            && !self.has("invoked")
        {
            if value.is_null() {
                value = of_invocation.clone();
            }
            if !completes(of_invocation, &value) {
                return Err(format!(
                    "the completion contradicts its invocation: {f} of {of_invocation} was invoked, {f} of {value} completed"
                ));
            }
        }
        let is_read = hello.reads.iter().any(|known| known == f);
        let text = self.text(op, f, &value, of_invocation.as_ref());
        let number = self.source.tables().op(&text, is_read, op.kind == OpKind::Ok);
        Ok(Some(ProcessOp { number }))
    }

    fn contradicts(_: Option<&ProcessOp>, _: Option<&ProcessOp>) -> bool {
        // Looked at where the completion is decoded.
        false
    }

    fn shows(&self, op: &Op<'_>, _: Option<&ProcessOp>) -> Shows {
        let is_shown = op.f.is_some_and(|f| self.source.hello.shows.iter().any(|known| known == f));
        match (is_shown, op.value.is_nil()) {
            (false, _) => Shows::Nothing,
            (true, true) => Shows::Nil,
            (true, false) => Shows::Something,
        }
    }

    fn fills(&self, op: &ProcessOp) -> bool {
        !self.reads_only(op)
    }

    fn datum(&self, op: &ProcessOp) -> Datum {
        let parsed = serde_json::from_str::<serde_json::Value>(self.source.tables().op_text(op.number));
        let mut parsed = parsed.unwrap_or_default();
        let value = serde_json::from_value(parsed["value"].take()).unwrap_or(Datum::Nil);
        Datum::Vector(vec![Datum::keyword(parsed["f"].as_str().unwrap_or_default()), value])
    }
}

/// A run whose steps are another process's: what went wrong there is the answer.
pub(crate) struct ModelRun {
    run: Box<dyn Run>,
    fault: Arc<OnceLock<Fault>>,
}

impl ModelRun {
    pub(crate) fn new(run: Box<dyn Run>, model: &ProcessModel) -> ModelRun {
        ModelRun { run, fault: Arc::clone(&model.fault) }
    }
}

/// The report, or what is to be said in its place.
fn settled<R>(report: R, fault: &OnceLock<Fault>, unknown: impl FnOnce(Report) -> R) -> Result<R, HistoryError> {
    match fault.get() {
        None => Ok(report),
        Some(Fault::Spent(spent, what)) => {
            let mut report = Report::new(ProcessModel::NAME, Verdict::Unknown);
            report.notes.push(format!("No verdict, because {}: {what}.", spent.because()));
            report.add_next(NextStep::spent(*spent));
            Ok(unknown(report))
        }
        Some(Fault::Peer(what)) => Err(HistoryError::new(ErrorKind::Unexpected, what.clone())),
    }
}

impl Run for ModelRun {
    fn observe(&mut self, op: &Op<'_>) -> Result<ControlFlow<()>, HistoryError> {
        self.run.observe(op)
    }

    fn search(&mut self, budget: &Budget, slice: u32) -> Searched {
        let searched = self.run.search(budget, slice);
        // What was refused for want of an answer was not refused.
        if self.fault.get().is_some() { Searched::Done } else { searched }
    }

    fn stop_search(&mut self) {
        self.run.stop_search();
    }

    fn finish_before_unread(self: Box<Self>, budget: &Budget) -> Result<Option<Report>, HistoryError> {
        let report = self.run.finish_before_unread(budget)?;
        settled(report, &self.fault, |_| None)
    }

    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        let report = self.run.finish(budget)?;
        settled(report, &self.fault, |unknown| unknown)
    }
}
