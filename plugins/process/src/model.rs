//! A model in another process: histcheck searches, and the other process computes the steps.

use crate::peer::{Fault, Wait};
use crate::steps::{Source, Step};
use crate::text;
use check_register::models::{Shows, Spec};
use check_register::{Model, Shortcuts};
use history_core::{
    Budget, Datum, ErrorKind, HistoryError, NextStep, Op, OpKind, Report, Run, Searched, Value, Verdict,
};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The model of one run.
#[derive(Clone)]
pub(crate) struct ProcessModel {
    pub(crate) source: Arc<Source>,
    /// The first fault. After it, the steps are not valid.
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

    /// The text of an operation for the other process.
    fn text(&self, op: &Op<'_>, f: &str, value: &Datum, invoked: Option<&Datum>) -> String {
        let mut fields = vec![("f", text::string(f)), ("value", text::of(value))];
        fields.push(("type", text::string(if op.kind == OpKind::Ok { "ok" } else { "info" })));
        if self.has("invoked") {
            fields.push(("invoked", text::of(invoked.unwrap_or(value))));
            if op.kind != OpKind::Ok {
                fields[1].1 = text::of(&Datum::Nil);
            }
        }
        if self.has("process") {
            let number = || number(op).map_or_else(|| "null".to_owned(), |number| number.to_string());
            fields.push(("process", op.client_name.map_or_else(number, text::string)));
        }
        let mut out = String::new();
        if self.has("fields") {
            let further = op.extra.iter().filter_map(|(key, value)| Some((key.as_name()?.to_owned(), value)));
            text::object(further.map(|(key, value)| (key, text::of(&value.to_datum()))), &mut out);
            fields.push(("fields", std::mem::take(&mut out)));
        }
        text::object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)), &mut out);
        out
    }

    /// Parses the text of an operation from [`ProcessModel::text`].
    fn parsed(&self, number: u32) -> Datum {
        Datum::parse(self.source.tables().op_text(number)).expect("a text that was read when it was made")
    }
}

fn number(op: &Op<'_>) -> Option<i64> {
    match op.process {
        history_core::Process::Client(number) => Some(number),
        _ => None,
    }
}

/// Returns true if a completion's value is that of its invocation with results in place of nils.
fn completes(invoked: &Datum, done: &Datum) -> bool {
    match (invoked, done) {
        (Datum::Nil, _) => true,
        (Datum::Vector(invoked) | Datum::List(invoked), Datum::Vector(done) | Datum::List(done)) => {
            invoked.len() == done.len() && invoked.iter().zip(done).all(|(invoked, done)| completes(invoked, done))
        }
        (Datum::Map(invoked), Datum::Map(done)) => {
            let of = |name: String| done.iter().find(|(other, _)| text::of(other) == name);
            invoked.len() == done.len()
                && invoked.iter().all(|(key, value)| of(text::of(key)).is_some_and(|(_, done)| completes(value, done)))
        }
        _ => text::of(invoked) == text::of(done),
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
        let parsed = self.parsed(op.number);
        let (f, value) = (f_of(&parsed), text::of(&text::field(&parsed, "value")));
        match text::field(&parsed, "invoked") {
            Datum::Nil => format!("{f} of {value}"),
            invoked => format!("{f} of {} with result {value}", text::of(&invoked)),
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
        // The other process received the initial state when the model started.
        Ok(())
    }

    fn decode(&mut self, op: &Op<'_>, invoked: Option<&ProcessOp>) -> Result<Option<ProcessOp>, String> {
        let hello = &self.source.hello;
        let Some(f) = op.f.filter(|f| hello.ops.iter().any(|known| known == f)) else {
            let found = op.f.map_or("the op has no :f".to_owned(), |f| format!("{} has no operation {f}", hello.name));
            return Err(format!("{found}; expected {}", hello.ops.join(", ")));
        };
        let mut value = op.value.to_datum();
        let of_invocation = invoked.map(|invoked| {
            text::field(&self.parsed(invoked.number), if self.has("invoked") { "invoked" } else { "value" })
        });
        if let Some(of_invocation) = &of_invocation
            && !self.has("invoked")
        {
            if value == Datum::Nil {
                value = of_invocation.clone();
            }
            if !completes(of_invocation, &value) {
                let [invoked, done] = [of_invocation, &value].map(text::of);
                return Err(format!(
                    "the completion contradicts its invocation: {f} of {invoked} was invoked, {f} of {done} completed"
                ));
            }
        }
        let is_read = hello.reads.iter().any(|known| known == f);
        let text = self.text(op, f, &value, of_invocation.as_ref());
        if Datum::parse(&text).is_none() {
            return Err(format!("the value of {f} nests too deep to be sent to a model"));
        }
        let number = self.source.tables().op(&text, is_read, op.kind == OpKind::Ok);
        Ok(Some(ProcessOp { number }))
    }

    fn contradicts(_: Option<&ProcessOp>, _: Option<&ProcessOp>) -> bool {
        // This was verified when the completion was decoded.
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
        let parsed = self.parsed(op.number);
        Datum::Vector(vec![Datum::keyword(f_of(&parsed)), text::field(&parsed, "value")])
    }
}

/// The function of an operation.
fn f_of(parsed: &Datum) -> String {
    if let Datum::Str(f) = text::field(parsed, "f") { f } else { String::new() }
}

/// A run whose steps come from another process. A fault of that process is the result.
pub(crate) struct ModelRun {
    run: Box<dyn Run>,
    model: ProcessModel,
}

impl ModelRun {
    pub(crate) fn new(run: Box<dyn Run>, model: &ProcessModel) -> ModelRun {
        ModelRun { run, model: model.clone() }
    }
}

/// The report, or the error or the unknown verdict that replaces it.
fn settled<R>(report: R, model: &ProcessModel, unknown: impl FnOnce(Report) -> R) -> Result<R, HistoryError> {
    if model.fault.get().is_none()
        && let Err(fault) = model.source.confirm(&Wait::until(model.deadline))
    {
        model.fault.get_or_init(|| fault);
    }
    match model.fault.get() {
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
        // If the process failed to answer, an operation that it seemed to reject was not rejected.
        if self.model.fault.get().is_some() { Searched::Done } else { searched }
    }

    fn stop_search(&mut self) {
        self.run.stop_search();
    }

    fn finish_before_unread(self: Box<Self>, budget: &Budget) -> Result<Option<Report>, HistoryError> {
        let report = self.run.finish_before_unread(budget)?;
        settled(report, &self.model, |_| None)
    }

    fn finish(self: Box<Self>, budget: &Budget) -> Result<Report, HistoryError> {
        let report = self.run.finish(budget)?;
        settled(report, &self.model, |unknown| unknown)
    }
}
