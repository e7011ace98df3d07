//! A counterexample: the program, its schedule, its history, and why the history is not linearizable.

use super::passed::Passed;
use super::program::Program;
use super::reference::referred_to;
use super::run::{Done, Found, Record, Spec, command_of, judged_records, operations, resolved};
use super::steps::commands_of_steps;
use super::{Outcome, ParallelModel};
use crate::Failure;
use crate::execution::cause::Cause;
use crate::failure::{UNSTABLE, preemptions};
use crate::ids::small;
use crate::op::extra;
use check_register::{End, Model as _, check};
use histcheck_draw::timeline::{self, Bar, BarStatus, Order, PageOptions, Scale, Step, Timeline};
use history_core::{Budget, Datum, Format, History, HistoryBuilder, NewOp, OpKind, Writer};
use std::collections::BTreeSet;
use std::fmt;
use std::io;

/// A program that fails, with its failure.
///
/// Its text is the whole report.
#[derive(Debug)]
pub struct Counterexample<C, R> {
    /// The program.
    pub program: Program<C>,
    /// The failure, with the schedule that leads to it.
    pub failure: Failure,
    /// The operations of its history, in the order of their calls.
    pub operations: Vec<Operated<C, R>>,
    /// The value for `HISTCHECK_REPLAY`; for a program that was not drawn, only the schedule.
    pub replay: String,
    /// The history, for other checkers; see [`ParallelModel::record`].
    pub history: History,
    /// The commands to which others refer.
    referred_to: BTreeSet<usize>,
    is_drawn: bool,
    search: Option<(Passed, usize)>,
    timeline: Timeline,
}

/// An operation of a history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operated<C, R> {
    /// The branch that called it; `None` for the prefix and the suffix.
    pub branch: Option<usize>,
    /// The command.
    pub command: C,
    /// Its outcome; `None` if the execution ended before it returned.
    pub outcome: Option<Outcome<R>>,
    /// The position of its call among all calls and returns.
    pub called: u64,
    /// The position of its return.
    pub returned: Option<u64>,
}

/// The origin of a counterexample.
#[derive(Default)]
pub(crate) struct Origin {
    /// The description from which the program can be drawn again.
    pub(crate) described: Option<String>,
    /// The result of the search, and the initial number of commands of the program.
    pub(crate) search: Option<(Passed, usize)>,
}

impl<C, R> Counterexample<C, R>
where
    C: Clone + fmt::Debug,
    R: Clone + fmt::Debug,
{
    pub(crate) fn new<M>(model: &M, program: Program<C>, found: &Found<R>, origin: &Origin) -> Counterexample<C, R>
    where
        M: ParallelModel<Command = C, Response = R>,
    {
        let mut failure = found.failure.clone();
        add_notes(model, &mut failure, &program, found);
        let mut records: Vec<&Record<R>> = found.records.iter().collect();
        records.sort_by_key(|record| record.called);
        let operated = |record: &&Record<R>| Operated {
            branch: record.lane,
            command: command_of(model, &program, &found.records, record),
            outcome: record.returned.as_ref().map(|(_, outcome)| match outcome {
                Outcome::Returned(response) => Outcome::Returned(R::clone(response)),
                Outcome::Failed => Outcome::Failed,
                Outcome::Unknown => Outcome::Unknown,
            }),
            called: record.called,
            returned: record.returned.as_ref().map(|(returned, _)| *returned),
        };
        let operations = records.iter().map(operated).collect();
        let schedule = &failure.schedule;
        let replay = match &origin.described {
            Some(described) => format!("{described}/{schedule}"),
            None => schedule.to_string(),
        };
        let history = history(model, &program, &found.records);
        let timeline = draw(model, &program, found);
        let (is_drawn, search) = (origin.described.is_some(), origin.search);
        let referred_to = referred_to(model, &program);
        Counterexample { program, failure, operations, replay, history, referred_to, is_drawn, search, timeline }
    }

    /// The history as EDN, in the format of `histcheck`.
    pub fn edn(&self) -> String {
        let mut writer = Writer::new(Vec::new(), Format::Edn);
        for op in self.history.ops() {
            writer.write(&op).expect("a vector can be written to");
        }
        let bytes = writer.finish().expect("a vector can be written to");
        String::from_utf8(bytes).expect("EDN is text")
    }

    /// The history as a self-contained page.
    pub fn html(&self) -> String {
        timeline::html(&self.timeline, &PageOptions::default())
            .unwrap_or_else(|error| format!("<!DOCTYPE html><p>The timeline cannot be drawn: {error}"))
    }

    /// Writes `history.edn`, `timeline.html`, `schedule.html` and `report.txt` to a folder, which is created if
    /// necessary.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn save(&self, folder: impl AsRef<std::path::Path>) -> io::Result<()> {
        let folder = folder.as_ref();
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join("history.edn"), self.edn())?;
        std::fs::write(folder.join("timeline.html"), self.html())?;
        std::fs::write(folder.join("schedule.html"), self.failure.html())?;
        std::fs::write(folder.join("report.txt"), self.to_string())
    }
}

/// The outcome of a command, as text.
fn answer<R: fmt::Debug>(outcome: Option<&Outcome<R>>) -> String {
    match outcome {
        Some(Outcome::Returned(response)) => format!("{response:?}"),
        Some(Outcome::Failed) => "failed".into(),
        Some(Outcome::Unknown) => "unknown".into(),
        None => "never returned".into(),
    }
}

/// Adds notes on the calls and returns of commands to the steps in which they happen.
fn add_notes<M: ParallelModel>(
    model: &M,
    failure: &mut Failure,
    program: &Program<M::Command>,
    found: &Found<M::Response>,
) {
    let commands = commands_of_steps(&failure.steps, &found.lanes);
    let mut notes = Vec::new();
    for (at, (step, command)) in failure.steps.iter().zip(commands).enumerate() {
        let Some((lane, number)) = command else { continue };
        let of = |record: &&Record<M::Response>| record.lane == lane && record.number == number;
        let Some(record) = found.records.iter().find(of) else { continue };
        if step.has(extra::CALL) {
            notes.push((at, format!("{:?} called", command_of(model, program, &found.records, record))));
        }
        if step.has(extra::RETURN) {
            let outcome = record.returned.as_ref().map(|(_, outcome)| outcome);
            notes.push((at, format!("returned {}", answer(outcome))));
        }
    }
    failure.names.notes.extend(notes);
}

/// The history as ops, without commands that did not run. After an operation with an unknown outcome, its client
/// continues under another process number.
fn history<M: ParallelModel>(model: &M, program: &Program<M::Command>, records: &[Record<M::Response>]) -> History {
    let mut events: Vec<(u64, bool, &Record<M::Response>)> = Vec::new();
    for record in records.iter().filter(|record| resolved(model, program, records, record).is_some()) {
        events.push((record.called, true, record));
        if let Some((returned, _)) = &record.returned {
            events.push((*returned, false, record));
        }
    }
    events.sort_by_key(|(time, ..)| *time);
    let lanes = i64::from(small(program.branches.len())) + 1;
    let mut processes: Vec<i64> = (0..lanes).collect();
    let mut builder = HistoryBuilder::new();
    for (_, is_call, record) in events {
        let process = &mut processes[record.lane.map_or(0, |branch| branch + 1)];
        let command = command_of(model, program, records, record);
        let (kind, response) = match &record.returned {
            _ if is_call => (OpKind::Invoke, None),
            Some((_, Outcome::Returned(response))) => (OpKind::Ok, Some(response)),
            Some((_, Outcome::Failed)) => (OpKind::Fail, None),
            _ => (OpKind::Info, None),
        };
        let (f, value): (String, Datum) = model.record(&command, response.map(|response| &**response));
        let pushed = builder.push_op(&NewOp::new(kind, *process).f(&f).value(value));
        pushed.expect("every process calls and returns in turn");
        if kind == OpKind::Info {
            *process += lanes;
        }
    }
    builder.build()
}

/// The timeline, with linearizations of the operations before the one that no order can include.
fn draw<M: ParallelModel>(model: &M, program: &Program<M::Command>, found: &Found<M::Response>) -> Timeline {
    let spec = Spec(model);
    let operations = operations(model, program, &found.records);
    let judged: Vec<usize> = judged_records(&found.records).map(|(at, _)| at).collect();
    let status = |record: &Record<M::Response>| match &record.returned {
        Some((_, Outcome::Returned(_))) => BarStatus::Placed,
        Some((_, Outcome::Failed)) => BarStatus::Failed,
        _ => BarStatus::Pending,
    };
    let bar = |record: &Record<M::Response>| {
        let end = match &record.returned {
            Some((returned, Outcome::Returned(_) | Outcome::Failed)) => Some(returned.cast_signed()),
            _ => None,
        };
        Bar {
            row: record.lane.map_or(0, |branch| small(branch) + 1),
            index: record.called,
            completed: record.returned.as_ref().map(|(returned, _)| *returned),
            start: record.called.cast_signed(),
            end,
            label: format!(
                "{:?} -> {}",
                command_of(model, program, &found.records, record),
                answer(record.returned.as_ref().map(|(_, outcome)| outcome))
            ),
            detail: String::new(),
            status: status(record),
        }
    };
    let mut bars: Vec<Bar> = found.records.iter().map(bar).collect();
    let mut orders = Vec::new();
    if matches!(found.failure.cause, Cause::NotLinearizable(_)) {
        let answer = check(&spec, &operations, &Budget::default());
        for part in &answer.parts {
            let check_register::Outcome::Refused(refusal) = &part.outcome else { continue };
            bars[judged[refusal.op]].status = BarStatus::Refused;
            let refused = spec.describe_op(&operations[refusal.op].op);
            for End { state, order } in refusal.ends.iter().take(timeline::ORDERS_MAX) {
                let states = states(&spec, order.iter().map(|op| &operations[*op].op));
                let steps = order.iter().zip(states).map(|(op, state)| Step { bar: small(judged[*op]), state });
                orders.push(Order {
                    before: spec.describe_state(&spec.init()),
                    steps: steps.collect(),
                    refusal: format!("In state {state}, {refused} is not possible."),
                    ..Order::default()
                });
            }
        }
    }
    let rows = std::iter::once(if program.suffix.is_empty() { "first" } else { "first, last" }.to_owned());
    Timeline {
        title: "A counterexample".into(),
        summary: sentence(&found.failure.cause),
        scale: Scale::Positions,
        rows: rows.chain((1..=program.branches.len()).map(|branch| format!("branch {branch}"))).collect(),
        bars,
        orders,
        ..Timeline::default()
    }
}

/// The first line of a cause as a sentence. The rest is shown elsewhere on the page.
fn sentence(cause: &Cause) -> String {
    let whole_text = cause.to_string();
    let mut chars = whole_text.lines().next().unwrap_or_default().trim_end_matches(['.', ':']).chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// The states after each of these operations in sequence; if an operation may lead to several, the first one.
fn states<'a, M: ParallelModel>(
    spec: &Spec<'_, M>,
    ops: impl Iterator<Item = &'a Done<M::Command, M::Response>>,
) -> Vec<String> {
    let mut state = spec.init();
    let mut states = Vec::new();
    for op in ops {
        if let Some(next) = spec.step(&state, op, &Budget::default()).into_iter().next() {
            state = next;
        }
        states.push(spec.describe_state(&state));
    }
    states
}

impl<C: fmt::Debug, R: fmt::Debug> fmt::Display for Counterexample<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((passed, commands)) = &self.search {
            writeln!(
                f,
                "case {}, execution {}; {commands} commands, shrunk to {}\n",
                passed.cases,
                passed.executions,
                self.program.len()
            )?;
        }
        writeln!(f, "program:")?;
        self.program.show(f, &self.referred_to)?;
        writeln!(f)?;
        writeln!(f, "schedule, with {}:\n{}\n", preemptions(self.failure.preemptions()), self.failure.table())?;
        writeln!(f, "history:")?;
        let mut outside = 0;
        for operation in &self.operations {
            outside += usize::from(operation.branch.is_none());
            let lane = match operation.branch {
                Some(branch) => format!("branch {}", branch + 1),
                None if outside > self.program.prefix.len() => "last".to_owned(),
                None => "first".to_owned(),
            };
            let returned = operation.returned.map_or("-".to_owned(), |returned| returned.to_string());
            let answer = answer(operation.outcome.as_ref());
            let Operated { command, called, .. } = operation;
            writeln!(f, "  {lane:9} {called:>3} to {returned:>3}  {command:?} -> {answer}")?;
        }
        writeln!(f, "\n{}\n", self.failure.cause)?;
        if self.failure.is_unstable() {
            writeln!(f, "{UNSTABLE}\n")?;
        }
        if self.is_drawn {
            write!(f, "replay: {}={} cargo test NAME", crate::REPLAY_VARIABLE, self.replay)
        } else {
            write!(f, "schedule, for scheduler::Replay: {}", self.replay)
        }
    }
}
