//! Decides operations: each part of the object separately.

use crate::history::{self, Columns, Operation};
use crate::slices::Slices;
use crate::{Conflict, Model, Reason};
use history_core::{Budget, Verdict};

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The engine.
    pub engine: Engine,
    /// The maximum number of configurations of an engine at a time. It may also not use more than 100 bytes for each of
    /// these (or 16 MiB), without heap memory of states. A configuration takes 60 to 120 bytes if at most 64 operations
    /// are in flight at a time, 100 to 200 up to 256, and 300 to 600 up to 1,024. When all engines reach the limit the
    /// answer is unknown.
    pub configurations_max: usize,
}

impl Default for Settings {
    /// All engines; ten million configurations, so up to a gigabyte for each of two engines.
    fn default() -> Settings {
        Settings { engine: Engine::Portfolio, configurations_max: 10_000_000 }
    }
}

/// An engine: an algorithm to find a linearization. All give the same verdicts, but [`Engine::Monitor`] and
/// [`Engine::Beam`] may give none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Engine {
    /// A monitor if there is one; otherwise all others alternate, and the first answer is used.
    Portfolio,
    /// Just-in-time linearization: all configurations at once, from event to event.
    JustInTime,
    /// Wing and Gong's search with Lowe's memoisation: depth first.
    WingGong,
    /// Only the monitor of a collection into which no value is put twice, if the operations permit it; otherwise the
    /// answer is unknown.
    Monitor,
    /// Only a beam search: just-in-time linearization that keeps a few configurations of each state. It finds a
    /// linearization in most histories that have one, however many operations crashed; otherwise the answer is unknown.
    Beam,
}

/// The result for a history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The parts of the object, in the order of their first call; one if the object has no parts.
    pub parts: Vec<PartAnswer>,
}

/// The result for a part of the object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartAnswer {
    /// The name of the part; `None` if it is the whole object.
    pub part: Option<String>,
    /// The result.
    pub outcome: Outcome,
}

/// Whether operations are linearizable. Operations are given by their positions in the list that was checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The operations are linearizable: the model permits them in this order, which contains all that returned and, of
    /// the others, those that it needs.
    Linearizable(Vec<usize>),
    /// The operations are not linearizable.
    Refused(Refusal),
    /// The result is unknown.
    Unknown(Reason),
}

/// Why operations are not linearizable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The operation that cannot be placed: up to its return there is no linearization.
    pub op: usize,
    /// Whether a linearization exists of all that precedes that return, so that this is the first such operation.
    /// Unknown only if crashed operations make the search too long.
    pub is_first: bool,
    /// The operation that returned last before that, and could be placed.
    pub last: Option<usize>,
    /// The possible states of the history by then, each once, with a linearization that leads to it: of all operations
    /// that had returned, and of some that had not. The operation cannot be placed from any of them. Crashed operations
    /// that do not affect those that returned are omitted. Incomplete, or empty, if the search took too long.
    pub ends: Vec<End>,
    /// Further linearizations of all that had returned by then, to explain operations in flight: of those found that
    /// place one, the longest, unless it is one of `ends`. Not for all operations, as for `ends`.
    pub others: Vec<Vec<usize>>,
    /// The minimum number of further states that are not listed.
    pub more_ends: usize,
    /// Whether there are no states but these.
    pub all_ends: bool,
    /// If values are distinct, operations that contradict each other.
    pub conflict: Option<Conflict>,
}

/// A possible state of a history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// The state, as the model describes it.
    pub state: String,
    /// A linearization that leads to it.
    pub order: Vec<usize>,
}

impl Answer {
    /// The verdict on all parts.
    pub fn verdict(&self) -> Verdict {
        self.parts.iter().map(|part| part.outcome.verdict()).fold(Verdict::Valid, Verdict::and)
    }
}

impl Outcome {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self {
            Outcome::Linearizable(_) => Verdict::Valid,
            Outcome::Refused(_) => Verdict::Invalid,
            Outcome::Unknown(_) => Verdict::Unknown,
        }
    }
}

/// Whether a history is linearizable to a model.
///
/// The budget's states are steps of the model. Takes time linear in the history if few operations are in flight at a
/// time, and at worst exponential in their number; memory grows with the operations in flight, and 50 bytes per
/// operation.
///
/// ```
/// use check_register::models::{PlainRegister, RegisterOp};
/// use check_register::{Operation, Outcome, check};
/// use history_core::{Budget, Verdict, parallel};
///
/// // A read that began after 2 was written, and found 1.
/// let stale = [
///     Operation::new(0, RegisterOp::Write(1), 0, 10),
///     Operation::new(0, RegisterOp::Write(2), 20, 30),
///     Operation::new(1, RegisterOp::Read(1), 40, 50),
/// ];
/// let answer = check(&PlainRegister::default(), &stale, &Budget::default());
/// assert_eq!(answer.verdict(), Verdict::Invalid);
/// let Outcome::Refused(refusal) = &answer.parts[0].outcome else { panic!() };
/// assert_eq!(refusal.op, 2);
/// assert_eq!(refusal.ends[0].state, "2");
/// ```
pub fn check<M: Model>(model: &M, operations: &[Operation<M::Op>], budget: &Budget) -> Answer {
    check_with(model, operations, Settings::default(), budget)
}

/// The same, with these `settings` of the search.
pub fn check_with<M: Model>(model: &M, operations: &[Operation<M::Op>], settings: Settings, budget: &Budget) -> Answer {
    let (columns, positions) = history::columns(model, operations);
    judge(model, &columns, settings, budget).at(&positions)
}

/// The result for columns; operations are given by their ids.
pub(crate) fn judge<M: Model>(model: &M, columns: &Columns<M::Op>, settings: Settings, budget: &Budget) -> Answer {
    let mut slices = Slices::default();
    slices.take_all(model, columns, settings, budget);
    slices.into_answer(model)
}

impl Answer {
    /// Replaces the ids of operations by their positions.
    fn at(mut self, positions: &[usize]) -> Answer {
        let at = |id: usize| positions[id];
        for part in &mut self.parts {
            match &mut part.outcome {
                Outcome::Linearizable(order) => order.iter_mut().for_each(|op| *op = at(*op)),
                Outcome::Refused(refusal) => {
                    refusal.op = at(refusal.op);
                    refusal.last = refusal.last.map(at);
                    refusal.conflict = refusal.conflict.as_ref().map(|conflict| conflict.map(at));
                    let ends = refusal.ends.iter_mut().map(|end| &mut end.order);
                    ends.chain(&mut refusal.others).flatten().for_each(|op| *op = at(*op));
                }
                Outcome::Unknown(_) => {}
            }
        }
        self
    }
}
