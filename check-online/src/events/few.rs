//! Compares searches that keep few configurations with the batch search, which keeps all.

use super::{Call, Events, Outcome};
use crate::{Reason, Settings};
use check_register::models::{CasRegister, QueueOp, RegisterOp, Removed, Stack};
use check_register::{Operation, check};
use history_core::{Budget, Verdict};

/// Pseudo-random numbers from Knuth's multiplier; the upper bits are the best ones.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// An operation that a client has called.
struct Called {
    call: Call,
    at: u64,
    op: RegisterOp,
    /// Whether it took effect.
    happened: bool,
}

/// The behaviour of the clients of a register.
struct Clients {
    count: u64,
    values: i64,
    /// Crashes per hundred operations.
    crashes: u64,
    /// Wrong results per hundred reads.
    lies: u64,
}

/// A register in use, and the results of its check.
struct Watched {
    events: Events<CasRegister>,
    operations: Vec<Operation<RegisterOp>>,
    /// The maximum number of configurations after an event.
    configurations: usize,
    time: u64,
}

impl Watched {
    /// Runs `ops` operations, and then reads `last`.
    fn new(
        events: Events<CasRegister>,
        clients: &Clients,
        ops: u64,
        random: &mut Random,
        last: Option<i64>,
    ) -> Watched {
        let mut watched = Watched { events, operations: Vec::new(), configurations: 0, time: 0 };
        let mut state = 0;
        let mut called: Vec<Option<Called>> = (0..clients.count).map(|_| None).collect();
        let mut left = ops;
        while left > 0 || called.iter().any(Option::is_some) {
            watched.time += 1;
            let client = usize::try_from(random.below(clients.count)).expect("clients are few");
            match called[client].take() {
                None if left > 0 => {
                    left -= 1;
                    called[client] = Some(watched.call(clients, random));
                }
                None => {}
                Some(mut one) if !one.happened && random.below(3) > 0 => {
                    one.happen(&mut state);
                    called[client] = Some(one);
                }
                Some(one) => watched.end(one, clients, random),
            }
            watched.configurations = watched.configurations.max(watched.events.configurations());
        }
        if let Some(value) = last {
            watched.time += 2;
            let call = watched.events.invoke(0, watched.time - 1, None);
            watched.complete(call, watched.time - 1, RegisterOp::Read(value));
        }
        watched
    }

    fn call(&mut self, clients: &Clients, random: &mut Random) -> Called {
        let value = |random: &mut Random| random.below(clients.values.cast_unsigned()).cast_signed();
        let op = match random.below(4) {
            0 => RegisterOp::Write(value(random)),
            1 => RegisterOp::Cas(value(random), value(random)),
            _ => RegisterOp::Read(-1),
        };
        let known = (!matches!(op, RegisterOp::Read(_))).then_some(&op);
        Called { call: self.events.invoke(0, self.time, known), at: self.time, op, happened: false }
    }

    fn end(&mut self, one: Called, clients: &Clients, random: &mut Random) {
        let Called { call, at, op, happened } = one;
        if random.below(100) < clients.crashes {
            let known = (!matches!(op, RegisterOp::Read(_))).then_some(&op);
            self.events.crash(call, known);
            self.operations.extend(known.map(|op| Operation::crashed(0, *op, at)));
        } else if !happened {
            self.events.fail(call);
        } else if let RegisterOp::Read(_) = op
            && random.below(100) < clients.lies
        {
            let value = random.below(clients.values.cast_unsigned()).cast_signed();
            self.complete(call, at, RegisterOp::Read(value));
        } else {
            self.complete(call, at, op);
        }
    }

    fn complete(&mut self, call: Call, at: u64, op: RegisterOp) {
        self.events.complete(call, self.time, Some(&op));
        self.operations.push(Operation::new(0, op, at, self.time));
    }

    /// The verdict of the batch search on the whole history.
    fn expected(&self) -> Verdict {
        check(&CasRegister::starting_with(0), &self.operations, &Budget::default()).verdict()
    }
}

impl Called {
    /// The operation takes effect, unless it is a compare-and-set that finds another value.
    fn happen(&mut self, state: &mut i64) {
        match &mut self.op {
            RegisterOp::Read(value) => *value = *state,
            RegisterOp::Write(value) => *state = *value,
            RegisterOp::Cas(old, _) if *old != *state => return,
            RegisterOp::Cas(_, new) => *state = *new,
        }
        self.happened = true;
    }
}

/// Creates a check that keeps one configuration of each kind at first, and `crowd` in all.
fn narrow(crowd: usize, basis_max: usize) -> Events<CasRegister> {
    let mut events = Events::new(CasRegister::starting_with(0));
    events.keep_few(crowd, basis_max);
    events
}

#[test]
fn few_configurations_give_the_verdict_of_all() {
    let mut random = Random(1);
    let (mut valid, mut invalid, mut narrowed) = (0, 0, 0);
    for time in 0..1_500 {
        let clients = Clients { count: 4, values: 3, crashes: 50, lies: 6 };
        let crowd = [2, 1 << 8][usize::from(time % 2 == 0)];
        let watched = Watched::new(narrow(crowd, 1_000), &clients, 30, &mut random, None);
        let context = || format!("of {:#?}", watched.operations);
        match watched.events.outcome() {
            Outcome::Ok => assert_eq!(watched.expected(), Verdict::Valid, "{}", context()),
            Outcome::Violation(_) => assert_eq!(watched.expected(), Verdict::Invalid, "{}", context()),
            Outcome::Unknown(reason) => panic!("{reason:?} {}", context()),
        }
        narrowed += u32::from(watched.events.widths().first().is_some_and(|(is_narrow, _)| *is_narrow));
        *if watched.events.outcome() == Outcome::Ok { &mut valid } else { &mut invalid } += 1;
    }
    assert!(valid > 100 && invalid > 100, "{valid} valid, {invalid} invalid: too few histories");
    assert!(narrowed > 100, "{narrowed} with few: too few histories");
}

#[test]
fn a_basis_that_moves_forward_gives_no_wrong_verdict() {
    // There are more configurations if none of them is kept at the basis.
    basis_moves_on(1 << 8, 1_000_000, 3);
    basis_moves_on(2, 1_000_000, 26);
    // There are often too many sums to move the basis.
    basis_moves_on(1 << 8, 12, 1_000);
}

fn basis_moves_on(crowd: usize, configurations_max: usize, unknown_max: u32) {
    let mut random = Random(2);
    let (mut valid, mut invalid, mut unknown) = (0, 0, 0);
    for _ in 0..1_000 {
        let clients = Clients { count: 4, values: 3, crashes: 40, lies: 6 };
        let settings = Settings { configurations_max, ..Settings::default() };
        let mut events = Events::with_settings(CasRegister::starting_with(0), settings);
        events.keep_few(crowd, 12);
        let watched = Watched::new(events, &clients, 40, &mut random, None);
        let context = || format!("of {:#?}", watched.operations);
        let (expected, seen) = match watched.events.outcome() {
            Outcome::Ok => (Verdict::Valid, &mut valid),
            Outcome::Violation(_) => (Verdict::Invalid, &mut invalid),
            Outcome::Unknown(_) => {
                unknown += 1;
                continue;
            }
        };
        assert_eq!(watched.expected(), expected, "{}", context());
        *seen += 1;
    }
    let counts = format!("{valid} valid, {invalid} invalid, {unknown} unknown");
    assert!(valid > 100 && invalid > 50, "{counts}");
    assert!((1..=unknown_max).contains(&unknown), "{counts}");
}

#[test]
fn more_configurations_are_kept_if_few_refuse_a_possible_operation() {
    // Either crashed operation explains the first read. Only the write explains the second one, so the few
    // configurations that have used it refuse.
    let crashed = [RegisterOp::Write(1), RegisterOp::Cas(0, 1)];
    let done =
        [RegisterOp::Read(1), RegisterOp::Write(2), RegisterOp::Read(1), RegisterOp::Write(2), RegisterOp::Read(1)];
    let mut events = narrow(1 << 8, 1_000);
    let mut time = 0;
    let mut next = || {
        time += 1;
        time
    };
    for op in &crashed {
        let call = events.invoke(0, next(), Some(op));
        events.crash(call, Some(op));
    }
    let mut seen = Vec::new();
    for op in &done {
        let call = events.invoke(1, next(), (!matches!(op, RegisterOp::Read(_))).then_some(op));
        let verdict = events.complete(call, next(), Some(op)).verdict();
        seen.push((verdict, events.widths()[0]));
    }
    let valid = |is_narrow, width| (Verdict::Valid, (is_narrow, width));
    assert_eq!(seen[..4], [valid(true, 1), valid(true, 1), valid(false, 16), valid(false, 16)]);
    assert_eq!(seen[4].0, Verdict::Invalid, "both are used up");
}

#[test]
fn configurations_stay_few_however_many_operations_crashed() {
    for (last, expected) in [(None, Verdict::Valid), (Some(77), Verdict::Invalid)] {
        let clients = Clients { count: 8, values: 5, crashes: 2, lies: 0 };
        let events = Events::new(CasRegister::starting_with(0));
        let watched = Watched::new(events, &clients, 6_000, &mut Random(3), last);
        assert_eq!(watched.events.outcome().verdict(), expected, "{:?}", watched.events.outcome());
        let crashed = watched.operations.iter().filter(|operation| operation.ret.is_none()).count();
        // If all sets of crashed operations were distinguished, there would be more than 10,000 configurations here,
        // and each event would take seconds.
        assert!(crashed > 50 && watched.configurations < 1_000, "{crashed} crashed, {}", watched.configurations);
    }
}

/// A stack that is used after thirty pushes of three values crashed. Returns the maximum number of configurations.
fn crashed_pushes(events: &mut Events<Stack>, last: Option<i64>) -> (usize, Outcome<QueueOp>) {
    let mut time = 0;
    let mut next = || {
        time += 1;
        time
    };
    for value in 0..30 {
        let put = QueueOp::Put(value % 3);
        let call = events.invoke(value, next(), Some(&put));
        events.crash(call, Some(&put));
    }
    let mut most = 0;
    let used = (0..60).map(|at| at % 3).flat_map(|value| [QueueOp::Put(value), QueueOp::Take(Removed::Value(value))]);
    for op in used.chain(last.map(|value| QueueOp::Take(Removed::Value(value)))) {
        let call = events.invoke(100, next(), None);
        let outcome = events.complete(call, next(), Some(&op));
        most = most.max(events.configurations());
        if outcome != Outcome::Ok {
            return (most, outcome);
        }
    }
    (most, Outcome::Ok)
}

#[test]
fn states_stay_few_however_many_pushes_crashed() {
    // Each order of the crashed pushes is a separate state, so there are few configurations of each.
    let (most, outcome) = crashed_pushes(&mut Events::new(Stack::default()), None);
    assert_eq!(outcome, Outcome::Ok);
    assert!(most < 4_096, "{most} configurations");
}

#[test]
fn a_few_configurations_continue_if_there_are_too_many_sums() {
    let watched = |last| {
        let settings = Settings { configurations_max: 2_000, ..Settings::default() };
        let mut events = Events::with_settings(Stack::default(), settings);
        events.keep_few(1 << 8, 64);
        crashed_pushes(&mut events, last).1
    };
    assert_eq!(watched(None), Outcome::Ok);
    // A refusal by a few configurations is not final, although this value was never pushed.
    assert_eq!(watched(Some(99)), Outcome::Unknown(Reason::Full));
}
