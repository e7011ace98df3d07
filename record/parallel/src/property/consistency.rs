//! The requirement on a history: linearizability or sequential consistency.
//!
//! Sequential consistency (Lamport, 1979) requires one order of all operations that keeps the order of each branch, and
//! in which the model gives the same responses. Operations of different branches may be in any order, even if one of
//! them returned before the other was called.

use super::run::{Done, Record, Spec, command_of, judged_records};
use super::{Outcome, ParallelModel, Program};
use crate::execution::cause::Cause;
use check_register::Model;
use history_core::Budget;
use std::collections::HashSet;
use std::fmt::Write as _;

/// The maximum number of states in the search for an order.
const STATES_MAX: usize = 1_000_000;

/// The requirement on a history.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Consistency {
    /// Some order of the operations has every operation after those that returned before it was called.
    #[default]
    Linearizable,
    /// Some order of the operations keeps the order of each branch. The prefix comes before all branches, and the
    /// suffix after them.
    Sequential,
}

/// An operation of a branch.
struct Op<M: ParallelModel> {
    done: Done<M::Command, M::Response>,
    /// Whether the operation has not returned: it may take effect at any time after those before it in its branch, or
    /// never.
    is_open: bool,
}

/// A search for an order of the operations of the prefix, of each branch, and of the suffix.
struct Search<'a, M: ParallelModel> {
    spec: Spec<'a, M>,
    lanes: Vec<Vec<Op<M>>>,
}

/// A state of the search: the position in each lane, and the open operations before it that have taken effect.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place<S> {
    passed: Vec<usize>,
    open_done: Vec<(usize, usize)>,
    state: S,
}

/// The cause of failure if a history is not sequentially consistent.
pub(super) fn judge_sequential<M: ParallelModel>(
    model: &M,
    program: &Program<M::Command>,
    records: &[Record<M::Response>],
) -> Option<Cause> {
    let last = program.branches.len() + 1;
    let lane_of = |record: &Record<M::Response>| match record.lane {
        Some(branch) => branch + 1,
        None if record.number < program.prefix.len() => 0,
        None => last,
    };
    let mut sorted: Vec<&Record<M::Response>> = judged_records(records).map(|(_, record)| record).collect();
    sorted.sort_by_key(|record| (lane_of(record), record.number));
    let mut lanes: Vec<Vec<Op<M>>> = (0..=last).map(|_| Vec::new()).collect();
    for record in sorted {
        let response = match &record.returned {
            Some((_, Outcome::Returned(response))) => Some(M::Response::clone(response)),
            _ => None,
        };
        let is_open = response.is_none();
        let done = Done { command: command_of(model, program, records, record), response };
        lanes[lane_of(record)].push(Op { done, is_open });
    }
    Search { spec: Spec(model), lanes }.run()
}

impl<M: ParallelModel> Search<'_, M> {
    fn run(&self) -> Option<Cause> {
        let start = Place { passed: vec![0; self.lanes.len()], open_done: Vec::new(), state: self.spec.init() };
        let mut seen = HashSet::from([start.clone()]);
        let mut left = vec![start];
        let mut furthest: Vec<usize> = vec![0; self.lanes.len()];
        while let Some(place) = left.pop() {
            if self.is_over(&place.passed) {
                return None;
            }
            if place.passed.iter().sum::<usize>() > furthest.iter().sum::<usize>() {
                furthest.clone_from(&place.passed);
            }
            for next in self.next(&place) {
                if seen.len() >= STATES_MAX {
                    let why =
                        format!("the search for an order was ended after {STATES_MAX} states: use fewer commands");
                    return Some(Cause::NotJudged(why));
                }
                if seen.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        Some(Cause::NotSequential(self.explain(&furthest)))
    }

    /// Returns true if all operations that returned have been placed in the order.
    fn is_over(&self, passed: &[usize]) -> bool {
        let rest = self.lanes.iter().zip(passed).flat_map(|(lane, passed)| &lane[*passed..]);
        rest.into_iter().all(|op| op.is_open)
    }

    /// The places that can be reached by one more operation.
    fn next(&self, place: &Place<M::State>) -> Vec<Place<M::State>> {
        let mut all = Vec::new();
        // All operations of the prefix, even open ones, are passed before a branch begins, and those of all branches
        // before the suffix.
        let is_over = |lane: usize| place.passed[lane] == self.lanes[lane].len();
        let last = self.lanes.len() - 1;
        let may_begin = |lane: usize| match lane {
            0 => true,
            _ if lane == last => (0..last).all(is_over),
            _ => is_over(0),
        };
        for (lane, ops) in self.lanes.iter().enumerate().filter(|(lane, _)| may_begin(*lane)) {
            let passed = place.passed[lane];
            let open = (0..passed).filter(|at| ops[*at].is_open && !place.open_done.contains(&(lane, *at)));
            for at in open {
                all.extend(self.done(place, lane, at).map(|mut next| {
                    next.open_done.push((lane, at));
                    next.open_done.sort_unstable();
                    next
                }));
            }
            let Some(op) = ops.get(passed) else { continue };
            if op.is_open {
                let mut next = place.clone();
                next.passed[lane] += 1;
                all.push(next);
            } else {
                all.extend(self.done(place, lane, passed).map(|mut next| {
                    next.passed[lane] += 1;
                    next
                }));
            }
        }
        all
    }

    /// The place after an operation, once for each state to which the operation may lead.
    fn done(&self, place: &Place<M::State>, lane: usize, at: usize) -> impl Iterator<Item = Place<M::State>> {
        let states = self.spec.step(&place.state, &self.lanes[lane][at].done, &Budget::default());
        let place = place.clone();
        states.into_iter().map(move |state| Place { state, ..place.clone() })
    }

    fn explain(&self, furthest: &[usize]) -> String {
        let mut text =
            "the history is not sequentially consistent: no order of all operations that keeps the order of \
                        each branch gives these responses\n  as many as can be placed, and what comes next:"
                .to_owned();
        for (lane, (ops, passed)) in self.lanes.iter().zip(furthest).enumerate() {
            if lane > 0 && lane + 1 == self.lanes.len() && ops.is_empty() {
                continue;
            }
            let name = match lane {
                0 => "first".to_owned(),
                _ if lane + 1 == self.lanes.len() => "last".to_owned(),
                _ => format!("branch {lane}"),
            };
            let next = ops.get(*passed).map_or("nothing".to_owned(), |op| self.spec.describe_op(&op.done));
            _ = write!(text, "\n    {name}: {passed} of {}, next {next}", ops.len());
        }
        text
    }
}
