//! Steps of a model in another process: many are requested at a time, and each only once.
//!
//! The search needs one step after another. With each step, the steps from the same state are requested for operations
//! that were invoked at about the same time, because the search needs these next.

use crate::command::Program;
use crate::peer::{Fault, Limits, Peer, Wait};
use crate::pool::{greet, start_line};
use crate::protocol::{Hello, Kind, Said, Started, Stepped};
use crate::text;
use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use serde_json::value::RawValue;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The numbers of operations before and after the needed one that are requested with it.
const AROUND: (usize, usize) = (4, 28);
/// The maximum number of steps that are kept; then all are dropped at once.
const STEPS_MAX: usize = 4_000_000;
/// The maximum number of bytes of all states and operations.
const BYTES_MAX: usize = 1 << 30;

/// The result of an operation, with states as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Nowhere,
    To(u32),
    ToAny(Arc<[u32]>),
    /// The model does not support the operation.
    Refused(Arc<str>),
}

/// Texts, each with a number.
#[derive(Debug, Default)]
struct Texts {
    numbers: HashMap<Arc<str>, u32>,
    all: Vec<Arc<str>>,
    bytes: usize,
}

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let (number, text): (u32, Arc<str>) = (self.all.len().to_u32(), text.into());
        self.bytes += text.len();
        self.all.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    fn text(&self, number: u32) -> &str {
        &self.all[number.to_usize()]
    }
}

/// The data on a model: its operations and states as numbers, and its steps.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    ops: Texts,
    /// For each operation: whether it only reads.
    reads: Vec<bool>,
    /// For each operation: its position among those that completed, or among the others.
    positions: Vec<u32>,
    /// Operations in order of first occurrence: those that completed, and the others.
    came: [Vec<u32>; 2],
    states: Texts,
    steps: HashMap<(u32, u32), Step>,
}

impl Tables {
    /// The number of an operation.
    pub(crate) fn op(&mut self, text: &str, is_read: bool, is_completed: bool) -> u32 {
        let op = self.ops.number(text);
        if op.to_usize() == self.reads.len() {
            self.reads.push(is_read);
            let came = &mut self.came[usize::from(is_completed)];
            self.positions.push(came.len().to_u32());
            came.push(op);
        }
        op
    }

    pub(crate) fn op_text(&self, op: u32) -> &str {
        self.ops.text(op)
    }

    pub(crate) fn is_read(&self, op: u32) -> bool {
        self.reads[op.to_usize()]
    }

    pub(crate) fn state_text(&self, state: u32) -> &str {
        self.states.text(state)
    }

    /// The operations to request, the given one first.
    fn with_op(&self, state: u32, op: u32) -> Vec<u32> {
        let is_completed = self.came[1].get(self.positions[op.to_usize()].to_usize()) == Some(&op);
        let came = &self.came[usize::from(is_completed)];
        let at = self.positions[op.to_usize()].to_usize();
        let around: Range<usize> = at.saturating_sub(AROUND.0)..came.len().min(at + AROUND.1);
        let is_new = |other: &&u32| **other != op && !self.steps.contains_key(&(state, **other));
        std::iter::once(op).chain(came[around].iter().filter(is_new).copied()).collect()
    }

    fn take(&mut self, state: u32, ops: &[u32], stepped: Vec<Box<RawValue>>) -> Result<(), String> {
        if stepped.len() != ops.len() {
            return Err(format!("sent {} lists of states for {} operations", stepped.len(), ops.len()));
        }
        if self.steps.len() + ops.len() > STEPS_MAX {
            self.steps.clear();
        }
        for (op, stepped) in ops.iter().zip(stepped) {
            let stepped = Stepped::read(&stepped)
                .map_err(|error| format!("sent neither a list of states nor an error ({error})"))?;
            let step = match stepped {
                Stepped::Error(error) => Step::Refused(error.into()),
                Stepped::States(states) => {
                    let mut to: Vec<u32> = Vec::with_capacity(states.len());
                    for next in states {
                        let next = self.states.number(&canonical(&next)?);
                        if !to.contains(&next) {
                            to.push(next);
                        }
                    }
                    if self.is_read(*op) && to.iter().any(|next| *next != state) {
                        let (op, from, to) = (self.op_text(*op), self.state_text(state), self.state_text(to[0]));
                        return Err(format!(
                            "lists a function in \"reads\" that changes the state: {op} leads from {from} to {to}"
                        ));
                    }
                    match to[..] {
                        [] => Step::Nowhere,
                        [one] => Step::To(one),
                        _ => Step::ToAny(to.into()),
                    }
                }
            };
            self.steps.insert((state, *op), step);
        }
        if self.states.bytes + self.ops.bytes > BYTES_MAX {
            return Err(format!("has states and operations of more than {BYTES_MAX} bytes"));
        }
        Ok(())
    }
}

/// A model in another process, for all runs that begin in the same state.
pub(crate) struct Source {
    pub(crate) program: Program,
    pub(crate) limits: Limits,
    /// The description of the process.
    pub(crate) hello: Hello,
    /// The initial state that the user set, as JSON.
    initial: String,
    peer: Mutex<Option<Peer>>,
    /// Whether some answer was not confirmed yet.
    unconfirmed: AtomicBool,
    tables: Mutex<Tables>,
}

impl Source {
    /// Starts the process, and the model with this initial state as JSON: null for the model's own.
    pub(crate) fn start(
        program: Program,
        limits: Limits,
        initial: String,
        deadline: Option<Instant>,
    ) -> Result<Source, Refusal> {
        let wait = Wait::until(deadline);
        let (peer, hello) = greet(&program, limits, Kind::Model, &wait)?;
        let (peer, state) = begin(peer, &initial, limits, &wait)?;
        let mut tables = Tables::default();
        tables.states.number(&state);
        let (peer, tables) = (Mutex::new(Some(peer)), Mutex::new(tables));
        Ok(Source { program, limits, hello, initial, peer, unconfirmed: AtomicBool::new(false), tables })
    }

    pub(crate) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops everything except the initial state, which is number 0.
    pub(crate) fn forget(&self) {
        let mut tables = self.tables();
        let initial = tables.state_text(0).to_owned();
        *tables = Tables::default();
        tables.states.number(&initial);
    }

    /// Returns true if this is the model of this command, with this initial state.
    pub(crate) fn is(&self, command: &str, initial: &str) -> bool {
        &*self.program.name == command && self.initial == initial
    }

    /// Returns the result of an operation in a state.
    pub(crate) fn step(&self, state: u32, op: u32, wait: &Wait<'_>) -> Result<Step, Fault> {
        if let Some(step) = self.tables().steps.get(&(state, op)) {
            return Ok(step.clone());
        }
        let mut guard = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have requested it in the meantime.
        if let Some(step) = self.tables().steps.get(&(state, op)) {
            return Ok(step.clone());
        }
        let mut peer = if let Some(peer) = guard.take() {
            peer
        } else {
            let (peer, _) = greet(&self.program, self.limits, Kind::Model, wait)?;
            begin(peer, &self.initial, self.limits, wait).map_err(Refusal::into_fault)?.0
        };
        peer.hear_nothing()?;
        let (ops, line) = self.question(state, op);
        self.unconfirmed.store(true, Ordering::Relaxed);
        let stepped = match peer.ask(line, "states", wait)? {
            Said::States(stepped) => stepped,
            other => return Err(peer.unexpected(&other, "states")),
        };
        let mut tables = self.tables();
        tables.take(state, &ops, stepped).map_err(|what| peer.fault(&what))?;
        *guard = Some(peer);
        Ok(tables.steps[&(state, op)].clone())
    }

    /// Restarts the model, as before each history, and thereby verifies its answers: after an additional line, each
    /// later answer would be that to the previous question.
    pub(crate) fn confirm(&self, wait: &Wait<'_>) -> Result<(), Fault> {
        let mut guard = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.unconfirmed.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let Some(peer) = guard.take() else { return Ok(()) };
        let (peer, state) = begin(peer, &self.initial, self.limits, wait).map_err(Refusal::into_fault)?;
        if state != self.tables().state_text(0) {
            return Err(peer.fault(&format!("began in {}, and later in {state}", self.tables().state_text(0))));
        }
        *guard = Some(peer);
        Ok(())
    }

    fn question(&self, state: u32, op: u32) -> (Vec<u32>, Vec<u8>) {
        let tables = self.tables();
        let ops = tables.with_op(state, op);
        let texts: Vec<&str> = ops.iter().map(|op| tables.op_text(*op)).collect();
        let line = format!("{{\"step\":{{\"state\":{},\"ops\":[{}]}}}}", tables.state_text(state), texts.join(","));
        (ops, line.into())
    }
}

/// The reason why a model does not start.
pub(crate) enum Refusal {
    Fault(Fault),
    /// The initial state was rejected.
    Initial(String),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}

impl Refusal {
    fn into_fault(self) -> Fault {
        match self {
            Refusal::Fault(fault) => fault,
            Refusal::Initial(message) => Fault::Peer(message),
        }
    }
}

/// The text of a state, which is the same for equal states.
fn canonical(state: &RawValue) -> Result<String, String> {
    text::canonical(state.get()).ok_or_else(|| "sent a state that nests too deep".to_owned())
}

/// Starts a model. Returns its initial state.
fn begin(mut peer: Peer, initial: &str, limits: Limits, wait: &Wait<'_>) -> Result<(Peer, String), Refusal> {
    match peer.ask(start_line("initial", initial, limits), "started", wait)? {
        Said::Started(Started { state: None }) => Ok((peer, "null".to_owned())),
        Said::Started(Started { state: Some(state) }) => match canonical(&state) {
            Ok(state) => Ok((peer, state)),
            Err(what) => Err(peer.fault(&what).into()),
        },
        Said::Refused(refused) => Err(Refusal::Initial(refused.message)),
        other => Err(peer.unexpected(&other, "started").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(json: &str) -> Vec<Box<RawValue>> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn steps_near_the_one_asked_for_are_asked_for_with_it() {
        let mut tables = Tables::default();
        let initial = tables.states.number("0");
        let crashed = tables.op("crashed", false, false);
        let ops: Vec<u32> = (0..50).map(|at| tables.op(&format!("op {at}"), false, true)).collect();
        assert_eq!(tables.with_op(initial, crashed), [crashed]);
        let asked = tables.with_op(initial, ops[10]);
        assert_eq!((asked[0], asked.len()), (ops[10], 32));
        assert!(asked.contains(&ops[6]) && asked.contains(&ops[37]) && !asked.contains(&ops[38]));
        tables.take(initial, &ops[6..8], states(r#"[[1, 1, 2], {"error": "no"}]"#)).unwrap();
        let one = tables.states.number("1");
        assert_eq!(tables.steps[&(initial, ops[6])], Step::ToAny([one, one + 1].into()));
        assert_eq!(tables.steps[&(initial, ops[7])], Step::Refused("no".into()));
        assert_eq!(tables.with_op(initial, ops[10]).len(), 30, "what is known is not asked for");
        let error = tables.take(initial, &ops[..1], Vec::new()).unwrap_err();
        assert_eq!(error, "sent 0 lists of states for 1 operations");
    }

    #[test]
    fn a_read_that_changes_the_state_is_an_error() {
        let mut tables = Tables::default();
        let initial = tables.states.number("0");
        let read = tables.op("read", true, true);
        tables.take(initial, &[read], states("[[0]]")).unwrap();
        let error = tables.take(initial, &[read], states("[[7]]")).unwrap_err();
        assert_eq!(error, "lists a function in \"reads\" that changes the state: read leads from 0 to 7");
    }
}
