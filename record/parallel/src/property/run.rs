//! Runs a program, records its history, and checks it.

use super::program::Program;
use super::reference::{referred_to, with_responses};
use super::steps::Lanes;
use super::{Outcome, ParallelModel};
use crate::execution;
use crate::execution::cause::Cause;
use crate::explore::{Explored, Explorer, is_again};
use crate::failure::Failure;
use crate::ids::small;
use crate::op::thread::State;
use crate::op::{Gate, Kind, ThreadId};
use crate::runtime;
use crate::scheduler::{Replay, Scheduler};
use crate::{Schedule, Settings, thread};
use check_register::{Model, Operation, check, explain_refusal};
use history_core::{Budget, Verdict};
use std::collections::HashSet;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

/// An operation with its response, if it is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Done<C, R> {
    pub(crate) command: C,
    pub(crate) response: Option<R>,
}

/// A model in the form that check-register needs.
pub(crate) struct Spec<'a, M>(pub(crate) &'a M);

impl<M: ParallelModel> Model for Spec<'_, M> {
    type State = M::State;
    type Op = Done<M::Command, M::Response>;
    type Next = Vec<M::State>;

    fn init(&self) -> M::State {
        self.0.init()
    }

    fn step(&self, state: &M::State, op: &Self::Op, _: &Budget) -> Vec<M::State> {
        match &op.response {
            Some(response) => self.0.accept(state, &op.command, response),
            None => self.0.steps(state, &op.command).into_iter().map(|(state, _)| state).collect(),
        }
    }

    fn describe_op(&self, op: &Self::Op) -> String {
        match &op.response {
            Some(response) => format!("{:?} -> {response:?}", op.command),
            None => format!("{:?}", op.command),
        }
    }
}

/// A command that was run, with the times of its call and return.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Record<R> {
    /// Its branch; `None` for the prefix and the suffix.
    pub(crate) lane: Option<usize>,
    /// Its number in that branch; the suffix is numbered after the prefix.
    pub(crate) number: usize,
    pub(crate) called: u64,
    /// The time and the outcome; `None` if the command has not returned. A response is shared with the commands that
    /// refer to it.
    pub(crate) returned: Option<(u64, Outcome<Arc<R>>)>,
}

type Records<R> = Arc<Mutex<Recorded<R>>>;

/// The records of an execution.
struct Recorded<R> {
    records: Vec<Record<R>>,
    /// Records of earlier executions that are no longer needed. They are dropped between executions, since dropping a
    /// response may be a step of the schedule.
    before: Vec<Record<R>>,
}

impl<R> Recorded<R> {
    /// Begins an execution, without records.
    fn begin(&mut self) {
        self.before.append(&mut self.records);
    }
}

impl<R> Default for Recorded<R> {
    fn default() -> Recorded<R> {
        Recorded { records: Vec::new(), before: Vec::new() }
    }
}

/// Returns what is wrong with the history of a program, if anything.
type Judge<M> =
    fn(&M, &Program<<M as ParallelModel>::Command>, &[Record<<M as ParallelModel>::Response>]) -> Option<Cause>;

/// Runs programs of one model.
pub(crate) struct Runner<M: ParallelModel> {
    pub(crate) model: Arc<M>,
    explorer: Explorer,
    program: Arc<Program<M::Command>>,
    records: Records<M::Response>,
    pub(crate) judge: Judge<M>,
    /// Correct histories of this program, which are not checked again: most schedules result in one of a few.
    judged: HashSet<Vec<Record<M::Response>>>,
}

/// A failure of a program, with its history.
pub(crate) struct Found<R> {
    pub(crate) failure: Failure,
    pub(crate) records: Vec<Record<R>>,
    pub(crate) lanes: Lanes,
}

impl<M: ParallelModel> Runner<M> {
    pub(crate) fn new(model: Arc<M>, settings: Settings) -> Runner<M> {
        Runner {
            model,
            explorer: Explorer::new(settings, Arc::new(|| {})),
            program: Arc::default(),
            records: Arc::default(),
            judge: judge_linearizable,
            judged: HashSet::new(),
        }
    }

    pub(crate) fn set_program(&mut self, program: Program<M::Command>) {
        let program = Arc::new(program);
        self.judged.clear();
        self.program = Arc::clone(&program);
        let refers = !referred_to(&*self.model, &program).is_empty();
        let given = Given { model: Arc::clone(&self.model), program, records: Arc::clone(&self.records), refers };
        self.explorer.set_program(Arc::new(move || run(&given)));
    }

    /// The correct histories of this program so far.
    #[cfg(test)]
    pub(crate) fn judged(&self) -> impl Iterator<Item = &Vec<Record<M::Response>>> {
        self.judged.iter()
    }

    /// Runs the program under the schedules of a scheduler.
    pub(crate) fn explore(&mut self, scheduler: Box<dyn Scheduler>) -> Result<Explored, Box<Found<M::Response>>> {
        let Runner { model, explorer, program, records, judge, judged } = self;
        let (mut history, mut lanes) = (Vec::new(), Lanes { threads: Vec::new() });
        let result = explorer.explore_until(scheduler, |outcome| {
            let Recorded { records, before: _ } = std::mem::take(&mut *lock(records));
            history = records;
            lanes = lanes_of(outcome, program.branches.len());
            add_open(&mut history, outcome, &lanes);
            if outcome.cause.is_some() || judged.contains(&history) {
                return;
            }
            outcome.cause = judge(model, program, &history);
            if outcome.cause.is_none() {
                judged.insert(history.clone());
            }
        });
        result.map_err(|failure| Box::new(Found { failure: *failure, records: history, lanes }))
    }

    /// Returns true if the same schedule leads to the same failure. A failure by nondeterminism is not repeated.
    pub(crate) fn fails_again(&mut self, failure: &Failure) -> bool {
        if matches!(failure.cause, Cause::Nondeterminism(_) | Cause::NoChoice) {
            return true;
        }
        let replay = Replay::new(&Schedule::in_full(&failure.steps));
        self.explore(Box::new(replay)).is_err_and(|again| is_again(failure, &again.failure))
    }
}

/// The cause of failure if a history is not linearizable.
fn judge_linearizable<M: ParallelModel>(
    model: &M,
    program: &Program<M::Command>,
    records: &[Record<M::Response>],
) -> Option<Cause> {
    let operations = operations(model, program, records);
    let verdict = check(&Spec(model), &operations, &Budget::default()).verdict();
    if verdict == Verdict::Valid {
        return None;
    }
    let why = explain_refusal(&Spec(model), &operations).unwrap_or_default();
    Some(if verdict == Verdict::Invalid { Cause::NotLinearizable(why) } else { Cause::NotJudged(why) })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The data that each thread of an execution needs.
struct Given<M: ParallelModel> {
    model: Arc<M>,
    program: Arc<Program<M::Command>>,
    records: Records<M::Response>,
    /// Whether any command refers to the response of another one.
    refers: bool,
}

impl<M: ParallelModel> Clone for Given<M> {
    fn clone(&self) -> Given<M> {
        let Given { model, program, records, refers } = self;
        let (model, program, records) = (Arc::clone(model), Arc::clone(program), Arc::clone(records));
        Given { model, program, records, refers: *refers }
    }
}

/// Runs the program as the first managed thread.
fn run<M: ParallelModel>(given: &Given<M>) {
    lock(&given.records).begin();
    let system = Arc::new(given.model.start());
    let program = &given.program;
    for number in 0..program.prefix.len() {
        given.give(&system, None, number);
    }
    let spawn = |branch: usize| {
        let (given, system) = (given.clone(), Arc::clone(&system));
        let body = move || {
            for number in 0..given.program.branches[branch].len() {
                given.give(&system, Some(branch), number);
            }
        };
        let name = branch_name(branch);
        thread::Builder::new().name(name).spawn(body).expect("the system does not create managed threads")
    };
    let threads: Vec<_> = (0..program.branches.len()).map(spawn).collect();
    // Without a suffix no thread waits for the branches, so the schedule has no steps for the waits.
    if program.suffix.is_empty() {
        return;
    }
    for thread in threads {
        thread.join().expect("a panic ends the execution");
    }
    for at in 0..program.suffix.len() {
        given.give(&system, None, program.prefix.len() + at);
    }
}

fn branch_name(branch: usize) -> String {
    format!("branch {}", branch + 1)
}

impl<M: ParallelModel> Given<M> {
    /// Runs one command on the object. Its call is recorded in its first step, and its return in its last step.
    fn give(&self, system: &M::System, lane: Option<usize>, number: usize) {
        let Given { model, program, records, refers } = self;
        let command = program.command(lane, number);
        // The lock is released while user code runs.
        let outcomes = |lane, number| outcome_of(&lock(records).records, lane, number);
        let resolved = refers.then(|| with_recorded_responses(&**model, program, outcomes, command));
        runtime::with(execution::Execution::call);
        let outcome = match resolved {
            None => model.run_real(system, command),
            Some(Some(command)) => model.run_real(system, &command),
            Some(None) => Outcome::Failed,
        };
        if runtime::with(|execution| execution.is_calling()) == Some(true) {
            // The command has accessed no shared object. Its order relative to other commands is significant
            // nevertheless.
            runtime::pause_on(None, Kind::Call, Gate::Free, Location::caller());
        }
        let outcome = match outcome {
            Outcome::Returned(response) => Outcome::Returned(Arc::new(response)),
            Outcome::Failed => Outcome::Failed,
            Outcome::Unknown => Outcome::Unknown,
        };
        let times = runtime::with(execution::Execution::return_from_call);
        let (called, returned) = times.expect("this is a managed thread");
        lock(records).records.push(Record { lane, number, called, returned: Some((returned, outcome)) });
    }
}

/// A command with the responses that it refers to; `None` if one of those commands did not return.
pub(crate) fn with_recorded_responses<M: ParallelModel>(
    model: &M,
    program: &Program<M::Command>,
    records: impl Fn(Option<usize>, usize) -> Option<Outcome<Arc<M::Response>>>,
    command: &M::Command,
) -> Option<M::Command> {
    with_responses(model, command, |position| {
        let (lane, number, _) = program.place(position);
        match records(lane, number)? {
            Outcome::Returned(response) => Some(response),
            Outcome::Failed | Outcome::Unknown => None,
        }
    })
}

/// The outcome of a command, if it is complete. The response itself is not cloned, since that could be a step of the
/// schedule.
pub(crate) fn outcome_of<R>(records: &[Record<R>], lane: Option<usize>, number: usize) -> Option<Outcome<Arc<R>>> {
    let record = records.iter().find(|record| record.lane == lane && record.number == number)?;
    record.returned.as_ref().map(|(_, outcome)| outcome.clone())
}

/// The threads of the branches, found by their names.
fn lanes_of(outcome: &execution::Outcome, branches: usize) -> Lanes {
    let find = |branch: usize| {
        let name = branch_name(branch);
        outcome.threads.iter().position(|thread| thread.name.as_deref() == Some(&name)).and_then(ThreadId::new)
    };
    Lanes { threads: (0..branches).map_while(find).collect() }
}

/// Adds records of commands that have not returned because the execution ended before.
fn add_open<R>(records: &mut Vec<Record<R>>, outcome: &execution::Outcome, lanes: &Lanes) {
    for (at, thread) in outcome.threads.iter().enumerate() {
        let lane = ThreadId::new(at).and_then(|id| lanes.lane(id));
        if let (Some(called), Some(lane), true) = (thread.called, lane, thread.state != State::Finished) {
            let number = records.iter().filter(|record| record.lane == lane).count();
            records.push(Record { lane, number, called, returned: None });
        }
    }
}

/// The operations to check: all except those that are known not to have taken effect. Operation `n` is the `n`th of
/// [`judged_records`].
pub(crate) fn operations<M: ParallelModel>(
    model: &M,
    program: &Program<M::Command>,
    records: &[Record<M::Response>],
) -> Vec<Operation<Done<M::Command, M::Response>>> {
    let operation = |record: &Record<M::Response>| {
        let command = command_of(model, program, records, record);
        let process = record.lane.map_or(0, |branch| i64::from(small(branch)) + 1);
        match &record.returned {
            Some((returned, Outcome::Returned(response))) => {
                let op = Done { command, response: Some(M::Response::clone(response)) };
                Operation::new(process, op, record.called, *returned)
            }
            _ => Operation::crashed(process, Done { command, response: None }, record.called),
        }
    };
    judged_records(records).map(|(_, record)| operation(record)).collect()
}

/// The records to check, with their positions.
pub(crate) fn judged_records<R>(records: &[Record<R>]) -> impl Iterator<Item = (usize, &Record<R>)> {
    let happened = |record: &Record<R>| !matches!(record.returned, Some((_, Outcome::Failed)));
    records.iter().enumerate().filter(move |(_, record)| happened(record))
}

/// The command of a record, with the responses that it refers to, if those commands returned.
pub(crate) fn command_of<M: ParallelModel>(
    model: &M,
    program: &Program<M::Command>,
    records: &[Record<M::Response>],
    record: &Record<M::Response>,
) -> M::Command {
    resolved(model, program, records, record).unwrap_or_else(|| program.command(record.lane, record.number).clone())
}

/// The same as [`command_of`]; `None` if a command that it refers to did not return, so that it did not run.
pub(crate) fn resolved<M: ParallelModel>(
    model: &M,
    program: &Program<M::Command>,
    records: &[Record<M::Response>],
    record: &Record<M::Response>,
) -> Option<M::Command> {
    let command = program.command(record.lane, record.number);
    with_recorded_responses(model, program, |lane, number| outcome_of(records, lane, number), command)
}
