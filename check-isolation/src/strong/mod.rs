//! The levels whose visibility depends on the order to be found: prefix to serializable. Deciding them is NP-complete
//! (Papadimitriou 1979; Biswas and Enea, OOPSLA 2019), so a sequence of methods is tried. Each decides the level or
//! passes it to the next.
//!
//! 0. Known versions, if no choice is left: one graph, in linear time (`versions`).
//! 1. An order near that of completions, repaired where it does not explain the history (`guess`): it explains every
//!    weaker axiom, too. Most stores are nearly correct. A contradiction found by the repairs mostly concerns a part of
//!    the history, which is decided separately (`part`).
//! 2. Stronger levels, each with a part of the steps: an order that explains one of them explains this one. With
//!    sessions and real time there are few chains. If sessions are not requested, also the rest of them once those that
//!    violate them are removed ([`crate::relax`]). At the same base, serializable leaves the fewest choices.
//! 3. Causal consistency, which every one of these levels implies, in linear time: [`crate::weak`].
//! 4. Propagation of what follows to the fixpoint (`rules`), over clocks of chains (`state`).
//! 5. Guess and repair (`replay`): an order is replayed, what it does not explain is decided, what follows is
//!    propagated, and again.
//! 6. If propagation refutes a guess, the search learns from it (`learn`) and reverses it: conflict-driven clause
//!    learning, whose theory is that the graph has no cycle.
//!
//! Every result is exact: an order that explains the history, or a derivation that there is none. Steps are counted,
//! not timed; when they are used up the result is unknown.
//!
//! # Why an order found by replay is one
//!
//! Arcs express only what every order must satisfy, given the assumptions. A topological order of start and commit
//! nodes in which the last committed writer before each read is the one it read from is an order of commits that
//! satisfies the axiom, by its definition.

mod build;
mod guess;
mod learn;
mod order;
mod parallel;
mod part;
mod paths;
mod readers;
mod replay;
mod rules;
mod shape;
mod state;
#[cfg(test)]
mod tests;
mod versions;

use crate::base::{self, Frame};
use crate::chains::Chains;
use crate::evidence::{Before, Moment, Order, Outcome, Refutation, Undecided};
use crate::ids::TxnId;
use crate::level::{Axiom, Base};
use crate::relax;
use crate::transactions::Transactions;
use crate::weak;
use history_core::cast::Cast as _;
use history_core::{Budget, Spent};
use learn::{Learned, Lesson};
use paths::{Step, Teller};
use replay::Replayed;
use shape::Shape;
use state::{Conflict, Reason, State};

/// The number of steps unless the budget limits it: joins of clocks, one for each chain, and examined writers. This
/// takes some seconds.
const STEPS_MAX: u64 = 10_000_000_000;
/// The divisor of the number of steps for each stronger level.
const STEPS_PART: u64 = 16;
/// A further divisor for each attempt with a part of the sessions: there may be many.
const RELAXED_PART: u64 = 4;
/// The minimum number of steps per clock: with fewer, no step is taken.
const STEPS_PER_CLOCK: u64 = 4;
/// The axioms for which orders are guessed, those that leave the fewest choices first.
const GUESSED: [Axiom; 3] = [Axiom::Serializable, Axiom::Snapshot, Axiom::Prefix];
/// A part of the history is decided first if it is smaller than the whole by this factor.
const SMALL_PART: usize = 2;
/// The minimum number of steps per transaction for trying a stronger level.
const STEPS_PER_TXN: u64 = 16;
/// The maximum number of bytes of clocks unless the budget limits them.
const BYTES_MAX: usize = 4 << 30;
/// The maximum number of literals of learned clauses.
const LITERALS_MAX: usize = 1 << 26;
/// The number of examined nodes between two checks of the budget.
const LOOK_EVERY: u32 = 1024;

/// Decides a level whose axiom is beyond [`Axiom::Causal`].
pub(crate) fn decide(txns: &Transactions, axiom: Axiom, base: Base, budget: &Budget) -> Outcome {
    if let Some(outcome) = versions::decide(txns, axiom, base) {
        return outcome;
    }
    let misplaced = match guess_any(txns, axiom, base, budget) {
        Ok(outcome) => return outcome,
        Err(misplaced) => misplaced,
    };
    let steps_max = budget.states_max.unwrap_or(STEPS_MAX);
    let part = steps_max / STEPS_PART;
    if part < STEPS_PER_TXN * txns.len().to_u64() {
        return decide_alone(txns, axiom, base, budget, steps_max);
    }
    let stronger = [(Axiom::Serializable, Base::RealTime), (Axiom::Snapshot, Base::RealTime), (axiom, Base::Session)];
    for (other, frame) in stronger {
        if (other, frame) != (axiom, base) && other >= axiom && frame >= base {
            let outcome = decide_alone(txns, other, frame, budget, part);
            if matches!(outcome, Outcome::Holds(_)) {
                return outcome;
            }
        }
    }
    if base == Base::None {
        let others = [Axiom::Serializable, axiom];
        for other in &others[usize::from(axiom == Axiom::Serializable)..] {
            let other = *other;
            let outcome = relax::decide(
                txns,
                &misplaced,
                |soft| weak::stale_readers(soft, budget),
                |soft| decide_alone(soft, other, Base::Session, budget, part / RELAXED_PART),
            );
            match outcome {
                Some(Outcome::Holds(_)) => return outcome.expect("the outcome is present"),
                Some(_) if other == axiom => return outcome.expect("the outcome is present"),
                _ => {}
            }
        }
    } else if axiom != Axiom::Serializable {
        let outcome = decide_alone(txns, Axiom::Serializable, base, budget, part);
        if matches!(outcome, Outcome::Holds(_)) {
            return outcome;
        }
    }
    decide_alone(txns, axiom, base, budget, steps_max)
}

/// The commits of a guessed order of one of these levels, which all imply causal consistency, if one is found.
pub(crate) fn guess(txns: &Transactions, base: Base, budget: &Budget) -> Option<Order> {
    let mut order = GUESSED.into_iter().find_map(|axiom| guess::order(txns, axiom, base, budget).ok())?;
    order.moments.retain(|moment| matches!(moment, Moment::Commit(_)));
    Some(order)
}

/// A guessed serial order, if one is found.
pub(crate) fn serial(txns: &Transactions, base: Base, budget: &Budget) -> Option<Order> {
    guess::order(txns, Axiom::Serializable, base, budget).ok()
}

/// Guesses an order, of a stronger axiom first, or refutes a part of the history. Otherwise returns the transactions
/// whose places in their sessions and in real time seem to be wrong.
fn guess_any(txns: &Transactions, axiom: Axiom, base: Base, budget: &Budget) -> Result<Outcome, Vec<TxnId>> {
    let mut misplaced = Vec::new();
    for other in GUESSED {
        if !other.is_at_least(axiom) {
            continue;
        }
        let failed = match guess::order(txns, other, base, budget) {
            Ok(order) => return Ok(Outcome::Holds(order)),
            Err(failed) => failed,
        };
        let is_part = (1..=txns.len() / SMALL_PART).contains(&failed.contradicted.len());
        if other == axiom
            && is_part
            && let Some(refutation) = part::refute(txns, failed.contradicted, axiom, base, budget)
        {
            return Ok(Outcome::from(refutation));
        }
        misplaced = failed.misplaced;
    }
    Err(misplaced)
}

/// Decides a level without trying others.
fn decide_alone(txns: &Transactions, axiom: Axiom, base: Base, budget: &Budget, steps_max: u64) -> Outcome {
    match weak::decide(txns, Axiom::Causal, base, budget) {
        Outcome::Holds(_) => {}
        other => return other,
    }
    let (frame, shape) = (Frame::new(txns, base), Shape::new(axiom));
    let chains = Chains::new(txns, &frame, &base::graph(txns, &frame, &[]).topological());
    let nodes = shape.nodes(txns.len()) + frame.events + 2 * txns.keys();
    let bytes = State::clock_bytes(nodes, chains.count);
    if STEPS_PER_CLOCK * (nodes * chains.count).to_u64() > steps_max {
        return Outcome::Unknown(Undecided::Spent { what: Spent::States, decided: 0 });
    }
    if bytes > BYTES_MAX || budget.check(0, bytes.to_u64()).is_err() {
        return Outcome::Unknown(Undecided::Spent { what: Spent::Bytes, decided: 0 });
    }
    let (state, helpers, cycle) = build::build(txns, shape, &frame, chains);
    let teller = Teller { frame: &frame, base, helpers };
    if let Some(cycle) = cycle {
        let step = |at: usize| -> Step { (cycle[at], cycle[(at + 1) % cycle.len()], state::NONE) };
        let steps: Vec<Step> = (0..cycle.len()).map(step).collect();
        return Outcome::from(Refutation::of_facts((axiom, base), Vec::new(), teller.links(&state, &steps)));
    }
    Solver { state, teller, learned: Learned::default(), noticed: 0, budget, steps_max }.solve()
}

/// The search for one level of a history.
struct Solver<'s> {
    state: State<'s>,
    teller: Teller<'s>,
    learned: Learned,
    /// The number of decided orders that were passed to the clauses.
    noticed: usize,
    budget: &'s Budget,
    steps_max: u64,
}

/// Why the search for an order stops.
enum Stop {
    Conflict(Conflict),
    Spent(Spent),
}

impl From<Conflict> for Stop {
    fn from(conflict: Conflict) -> Stop {
        Stop::Conflict(conflict)
    }
}

impl Solver<'_> {
    fn solve(mut self) -> Outcome {
        let first = if self.state.shape.has_rw_arcs() { Ok(()) } else { self.state.replace_first_states() };
        let mut begun = first.map_err(Stop::from).and_then(|()| self.propagate());
        // The choices to try, the next one last.
        let mut open: Vec<Before> = Vec::new();
        loop {
            match begun {
                Ok(()) => {}
                Err(Stop::Spent(what)) => return self.unknown(what),
                Err(Stop::Conflict(conflict)) => match self.learned.learn(&mut self.state, &self.teller, conflict) {
                    Lesson::Refuted(refutation) => return Outcome::from(refutation),
                    Lesson::Decide { level, order, clause } => {
                        self.state.backtrack(level);
                        self.noticed = self.noticed.min(self.state.decided.len());
                        begun = self.decide(order, Reason::Clause(clause));
                        continue;
                    }
                },
            }
            if open.is_empty() {
                match self.state.replay() {
                    Replayed::Explains(order) => return Outcome::Holds(order),
                    Replayed::Open(choices) => open = choices,
                }
                open.reverse();
            }
            begun = match open.pop() {
                Some(order) if !self.state.is_settled(order) && self.state.value(order).is_none() => {
                    self.state.push_level();
                    self.decide(order, Reason::Guess)
                }
                _ => Ok(()),
            };
        }
    }

    fn decide(&mut self, order: Before, reason: Reason) -> Result<(), Stop> {
        self.state.assert(order, reason)?;
        self.propagate()
    }

    /// Applies all rules until nothing more follows.
    fn propagate(&mut self) -> Result<(), Stop> {
        let mut looked = 0_u32;
        loop {
            while let Some(decided) = self.state.decided.get(self.noticed) {
                let order = decided.order;
                self.noticed += 1;
                self.learned.notice(&mut self.state, order)?;
            }
            if looked.is_multiple_of(LOOK_EVERY) {
                self.check_budget()?;
            }
            looked += 1;
            let Some(node) = self.state.pop_dirty() else { return Ok(()) };
            self.state.apply_rules(node)?;
        }
    }

    fn check_budget(&self) -> Result<(), Stop> {
        let steps = self.state.steps;
        if steps > self.steps_max {
            return Err(Stop::Spent(Spent::States));
        }
        if self.learned.literals > LITERALS_MAX {
            return Err(Stop::Spent(Spent::Bytes));
        }
        self.budget.check(steps, 0).map_err(Stop::Spent)
    }

    fn unknown(&self, what: Spent) -> Outcome {
        let decided = self.state.decided.iter().filter(|decided| decided.level == 0).count().to_u64();
        Outcome::Unknown(Undecided::Spent { what, decided })
    }
}
