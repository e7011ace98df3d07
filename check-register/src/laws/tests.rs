//! Each law is violated by a model that is wrong only in what this law states.

use super::{assert_model_laws, broken_law};
use crate::models::{FifoQueue, QueueOp, QueueState, Removed};
use crate::{Access, Model, Settlement, Shortcuts};
use history_core::Budget;
use std::cell::Cell;

/// The errors that the shortcuts of a [`Pair`] may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    Nothing,
    Steps,
    ReadsOnly,
    Sees,
    MaySee,
    EffectLasts,
    Needs,
    Part,
    PartsOfStates,
    Access,
    PendKind,
    Pend,
    Begin,
    End,
    Settle,
}

/// Two registers that contain 0 at first, and pings, which states store.
struct Pair(Wrong);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum PairOp {
    Write(usize, i64),
    Read(usize, i64),
    /// Adds to the first register.
    Add(i64),
    /// Has no result and no effect.
    Ping,
}

use PairOp::{Add, Ping, Read, Write};

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct PairState {
    held: [i64; 2],
    /// Pings that may take effect, and have not ended.
    pings: u32,
}

/// A state that only [`Wrong::Begin`] distinguishes from others.
const FULL: PairState = PairState { held: [0, 0], pings: 50 };

thread_local! {
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

impl Model for Pair {
    type State = PairState;
    type Op = PairOp;
    type Next = Option<PairState>;

    fn init(&self) -> PairState {
        PairState::default()
    }

    fn step(&self, state: &PairState, op: &PairOp, _: &Budget) -> Option<PairState> {
        let mut next = state.clone();
        match *op {
            Write(at, value) => next.held[at] = value,
            Add(value) => next.held[0] += value,
            Read(at, value) if state.held[at] != value => return None,
            Ping if self.0 == Wrong::Begin && state.pings >= FULL.pings => return None,
            Read(..) | Ping => {}
        }
        if self.0 == Wrong::Steps {
            next.held[0] += i64::from(STEPS.replace(STEPS.get() + 1));
        }
        // A state that stores a ping must not refuse a read.
        let is_hindered = self.0 == Wrong::End && state.pings > 0 || self.0 == Wrong::Pend && state.pings >= 100;
        (!(is_hindered && matches!(op, Read(..)))).then_some(next)
    }

    fn shortcuts(&self) -> &dyn Shortcuts<PairState, PairOp> {
        self
    }
}

impl Shortcuts<PairState, PairOp> for Pair {
    fn reads_only(&self, op: &PairOp) -> bool {
        matches!(op, Read(..)) || self.0 == Wrong::ReadsOnly && matches!(op, Add(_))
    }

    fn effect(&self, op: &PairOp) -> Option<u64> {
        match *op {
            Write(at, value) => Some(10 * u64::try_from(at).unwrap() + value.cast_unsigned()),
            // A read needs no write of its value if another operation can produce the value.
            _ => None,
        }
    }

    fn sees(&self, op: &PairOp, effects: &mut Vec<u64>) -> bool {
        match *op {
            Read(at, value) if self.0 == Wrong::Sees => {
                effects.push(10 * u64::try_from(at).unwrap() + value.cast_unsigned() + 1);
                false
            }
            // A sum shows earlier writes.
            Read(0, _) => true,
            Read(at, value) => {
                effects.push(10 * u64::try_from(at).unwrap() + value.cast_unsigned());
                false
            }
            _ => false,
        }
    }

    fn may_see(&self, op: &PairOp, other: &PairOp) -> bool {
        match (op, other) {
            (Read(0, _), Add(_)) => self.0 != Wrong::MaySee,
            _ => false,
        }
    }

    fn effect_lasts(&self, op: &PairOp) -> bool {
        // The effect on the second register does not last: the next write replaces it. On the first one it does, in a
        // sum.
        !matches!(op, Write(1, _)) && self.0 != Wrong::EffectLasts
    }

    fn needs(&self, op: &PairOp) -> Option<u64> {
        match *op {
            Read(1, value) if value != 0 => Some(10 + value.cast_unsigned()),
            Read(0, value) if value != 0 && self.0 == Wrong::Needs => Some(value.cast_unsigned()),
            _ => None,
        }
    }

    fn part(&self, op: &PairOp) -> Option<u64> {
        match *op {
            Write(0, _) if self.0 == Wrong::Part => Some(7),
            Write(at, _) | Read(at, _) => Some(u64::try_from(at).unwrap()),
            Add(_) => Some(0),
            Ping => None,
        }
    }

    fn states_are_of_parts(&self) -> bool {
        self.0 == Wrong::PartsOfStates
    }

    fn access(&self, op: &PairOp) -> Option<Access> {
        match *op {
            Write(1, value) => Some(Access::Write(value)),
            Read(1, value) if self.0 == Wrong::Access => Some(Access::Read(value + 1)),
            Read(1, value) => Some(Access::Read(value)),
            _ => None,
        }
    }

    fn initial_access(&self) -> Option<i64> {
        Some(0)
    }

    fn pend(&self, state: &PairState, op: &PairOp) -> Option<PairState> {
        let pings = state.pings + if self.0 == Wrong::Pend { 100 } else { 0 };
        let is_it = matches!(op, Ping) && !(self.0 == Wrong::PendKind && state.held[1] != 0);
        is_it.then(|| PairState { pings, ..state.clone() })
    }

    fn begin(&self, state: &PairState, op: &PairOp, _: u32) -> Option<PairState> {
        matches!(op, Ping).then(|| PairState { pings: state.pings + 1, ..state.clone() })
    }

    fn end(&self, state: &PairState, _: &PairOp, _: u32) -> PairState {
        let hinders = u32::from(self.0 == Wrong::End);
        PairState { pings: state.pings - 1 + hinders, ..state.clone() }
    }

    fn may_wait(&self, op: &PairOp) -> bool {
        matches!(op, Write(..) | Add(_))
    }

    fn settle(&self, settlement: &mut Settlement<'_, PairState, PairOp>) {
        if let (crate::Moment::Begin { .. }, false) = (settlement.moment, self.0 == Wrong::Settle) {
            let step = settlement.step;
            settlement.happened(step, step);
        }
    }
}

const PAIR_OPS: [PairOp; 9] =
    [Write(0, 1), Write(1, 1), Write(1, 2), Read(0, 1), Read(0, 2), Read(1, 1), Read(0, 0), Add(1), Ping];

#[test]
fn each_law_is_broken_by_a_model_that_is_wrong_in_it() {
    use Wrong as W;
    let expected = [
        (W::Nothing, None),
        (W::Steps, Some("step")),
        (W::ReadsOnly, Some("reads_only")),
        (W::Sees, Some("sees")),
        (W::MaySee, Some("may_see")),
        (W::EffectLasts, Some("effect_lasts")),
        (W::Needs, Some("needs")),
        (W::Part, Some("part")),
        (W::PartsOfStates, Some("states_are_of_parts")),
        (W::Access, Some("access")),
        (W::PendKind, Some("pend")),
        (W::Pend, Some("pend")),
        (W::Begin, Some("begin")),
        (W::End, Some("end")),
        (W::Settle, Some("settle")),
    ];
    let found = expected.map(|(wrong, _)| {
        let states = if wrong == W::Begin { &[FULL][..] } else { &[] };
        (wrong, broken_law(&Pair(wrong), states, &PAIR_OPS).map(|broken| broken.law))
    });
    assert_eq!(found, expected);
}

/// A queue in which a take that finds nothing may wait for a put.
struct Waits(FifoQueue);

impl Model for Waits {
    type State = QueueState;
    type Op = QueueOp;
    type Next = Vec<QueueState>;

    fn init(&self) -> QueueState {
        self.0.init()
    }

    fn step(&self, state: &QueueState, op: &QueueOp, budget: &Budget) -> Vec<QueueState> {
        self.0.step(state, op, budget)
    }

    fn shortcuts(&self) -> &dyn Shortcuts<QueueState, QueueOp> {
        self
    }
}

impl Shortcuts<QueueState, QueueOp> for Waits {
    fn begin(&self, state: &QueueState, op: &QueueOp, flight: u32) -> Option<QueueState> {
        self.0.begin(state, op, flight)
    }

    fn end(&self, state: &QueueState, op: &QueueOp, flight: u32) -> QueueState {
        self.0.end(state, op, flight)
    }

    fn may_wait(&self, op: &QueueOp) -> bool {
        matches!(op, QueueOp::Take(_))
    }

    fn settle(&self, settlement: &mut Settlement<'_, QueueState, QueueOp>) {
        self.0.settle(settlement);
    }
}

#[test]
fn a_message_names_the_law_the_state_and_the_operations() {
    let ops = [QueueOp::Put(1), QueueOp::Take(Removed::Value(1)), QueueOp::Take(Removed::Nothing)];
    let broken = broken_law(&Waits(FifoQueue::default()), &[], &ops).unwrap();
    assert_eq!(broken.law, "may_wait");
    insta::assert_snapshot!(broken, @r"
    the model breaks the law of `may_wait`
      state:    QueueState { items: [], flying: [], puts: [], takes: 0 }
      ops:      Take(Nothing)
      expected: admitted when Put(1) ends before Take(Nothing), which may wait
      found:    admitted only when Put(1) ends after it
    ");
    let broken = broken_law(&Pair(Wrong::MaySee), &[], &PAIR_OPS).unwrap();
    insta::assert_snapshot!(broken, @r"
    the model breaks the law of `may_see`
      state:    PairState { held: [0, 0], pings: 0 }
      ops:      Add(1), then Read(0, 1)
      expected: also admitted without Add(1), because no other op sees it
      found:    admitted only with it
    ");
}

#[test]
#[should_panic(expected = "the model breaks the law of `needs`")]
fn a_broken_law_fails_the_test() {
    assert_model_laws(&Pair(Wrong::Needs), &[], &PAIR_OPS);
}
