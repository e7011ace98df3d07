//! Laws of longer histories: of runs of a correct register, whole, damaged, out of order, and with several keys.

use super::certify::certify;
use super::oracle::{Before, in_order, is_linearizable};
use super::world::{Call, Fate, Form, INITIAL, Operation, Place, history, keyed, verdict_on};
use check_register::versioned_register::{VersionedRegister, check};
use history_core::{Anomaly, Datum, History, HistoryBuilder, NewOp, OpKind, Process, Verdict};
use proptest::prelude::*;
use std::num::NonZeroU32;

/// The next step of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// It begins a read, or a write that replaces the version that it observed last, or the newest one.
    Begin { writes: bool, knows: bool },
    /// Its operation takes effect.
    Happen,
    /// It gets the result, or crashes.
    End { crashes: bool },
}

pub(crate) fn steps(max: usize) -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        3 => (any::<bool>(), any::<bool>()).prop_map(|(writes, knows)| Step::Begin { writes, knows }),
        3 => Just(Step::Happen),
        3 => prop::bool::weighted(0.1).prop_map(|crashes| Step::End { crashes }),
    ];
    prop::collection::vec((0..4_usize, step), 0..max)
}

/// The operations of a correct register for these steps; each operation has its own client.
pub(crate) fn run(steps: &[(usize, Step)]) -> Vec<Operation> {
    #[derive(Clone, Copy)]
    struct Client {
        /// Its operation in flight, and whether it took effect.
        open: Option<(usize, bool)>,
        last: i64,
    }
    let mut clients = [Client { open: None, last: INITIAL }; 4];
    let (mut head, mut value, mut written) = (INITIAL, 0, 0);
    let mut operations: Vec<Operation> = Vec::new();
    for (at, (client, step)) in (0_i64..).zip(steps) {
        let client = &mut clients[*client];
        match (*step, client.open) {
            (Step::Begin { writes, knows }, None) => {
                let call = if writes {
                    written += 1;
                    Call::Write(written, if knows { head } else { client.last }, written * 3 % 5)
                } else {
                    Call::Read(INITIAL, 0)
                };
                client.open = Some((operations.len(), false));
                operations.push(Operation { call, fate: Fate::Open, invoked: at, completed: i64::MAX });
            }
            (Step::Happen, Some((number, false))) => {
                let operation = &mut operations[number];
                match &mut operation.call {
                    Call::Read(id, read) => (*id, *read) = (head, value),
                    Call::Write(id, prev, written) if *prev == head => (head, value) = (*id, *written),
                    Call::Write(..) => operation.fate = Fate::Fail,
                }
                client.open = Some((number, true));
            }
            (Step::End { crashes }, Some((number, happened))) if crashes || happened => {
                let operation = &mut operations[number];
                operation.completed = at;
                operation.fate = match operation.fate {
                    _ if crashes => Fate::Info,
                    Fate::Open => Fate::Ok,
                    fate => fate,
                };
                if let (Fate::Ok, Call::Read(id, _) | Call::Write(id, ..)) = (operation.fate, operation.call) {
                    client.last = id;
                }
                client.open = None;
            }
            _ => {}
        }
    }
    for operation in &mut operations {
        if operation.completed == i64::MAX {
            operation.fate = Fate::Open;
        }
    }
    operations
}

/// A small error in one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Damage {
    Reads(i64),
    Value,
    Fails,
    Succeeds,
    Over(i64),
    EndsLater,
}

pub(crate) fn damage() -> impl Strategy<Value = (usize, Damage)> {
    let damage = prop_oneof![
        (0..12_i64).prop_map(Damage::Reads),
        Just(Damage::Value),
        Just(Damage::Fails),
        Just(Damage::Succeeds),
        (0..12_i64).prop_map(Damage::Over),
        Just(Damage::EndsLater),
    ];
    (any::<usize>(), damage)
}

pub(crate) fn harm(operations: &mut [Operation], lies: &[(usize, Damage)]) {
    let len = operations.len();
    for (at, lie) in lies {
        let Some(operation) = operations.get_mut(*at % len.max(1)) else { return };
        match (*lie, &mut operation.call) {
            (Damage::Reads(other), Call::Read(id, value)) => (*id, *value) = (other, other * 3 % 5),
            (Damage::Value, Call::Read(_, value)) => *value += 1,
            (Damage::Over(other), Call::Write(_, prev, _)) => *prev = other,
            (Damage::Fails, Call::Write(..)) if operation.fate == Fate::Ok => operation.fate = Fate::Fail,
            (Damage::Succeeds, Call::Write(..)) if operation.fate == Fate::Fail => operation.fate = Fate::Ok,
            // The moments of other operations are whole numbers below 1,000.
            (Damage::EndsLater, _) if operation.fate == Fate::Ok => operation.completed += 1_000,
            _ => {}
        }
    }
}

fn settings(initial: bool, forget: u32) -> VersionedRegister {
    VersionedRegister {
        initial_write_id: initial.then(|| Datum::from(INITIAL)),
        initial_value: initial.then(|| Datum::from(0)),
        forget: NonZeroU32::new(forget),
        ..VersionedRegister::default()
    }
}

pub(crate) fn verdict(history: &History, initial: bool, forget: u32) -> Verdict {
    check(history, &settings(initial, forget)).unwrap().verdict
}

fn expected(operations: &[Operation], initial: bool, before: Before) -> Verdict {
    let is_valid = is_linearizable(operations, initial.then_some(INITIAL), before);
    verdict_on(operations, is_valid)
}

/// The same history with few clients, none of which does two things at the same time.
fn by_few(history: &History) -> History {
    let mut builder = HistoryBuilder::new();
    // By client: the current operation, or the one at which it crashed.
    let mut clients: Vec<Option<Process<'_>>> = Vec::new();
    for op in history.ops() {
        let at = clients.iter().position(|operation| *operation == Some(op.process));
        let client = at.or_else(|| clients.iter().position(Option::is_none)).unwrap_or(clients.len());
        clients.resize(clients.len().max(client + 1), None);
        clients[client] = (!matches!(op.kind, OpKind::Ok | OpKind::Fail)).then_some(op.process);
        let new = NewOp { process: Process::Client(i64::from(client as u32)), index: None, ..NewOp::from(&op) };
        builder.push_op(&new).unwrap();
    }
    builder.build()
}

/// The ops sorted by client.
fn client_by_client(history: &History) -> History {
    let mut ops: Vec<_> = history.ops().map(|op| NewOp::from(&op)).collect();
    ops.sort_by_key(|op| match op.process {
        Process::Client(number) => number,
        Process::Other(_) | Process::Unknown => -1,
    });
    let mut builder = HistoryBuilder::new();
    for mut op in ops {
        op.index = None;
        builder.push_op(&op).unwrap();
    }
    builder.build()
}

fn names(anomalies: &[Anomaly]) -> Vec<(&str, u64)> {
    anomalies.iter().map(|anomaly| (anomaly.name.as_ref(), anomaly.count)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// The history of a correct register is valid, in every form, with every window.
    #[test]
    fn a_correct_register_is_valid(steps in steps(300), forget in 1..4_u32) {
        let operations = run(&steps);
        for initial in [false, true] {
            for form in [Form::Untimed, Form::Timed, Form::Scattered] {
                let expected = verdict_on(&operations, true);
                prop_assert_eq!(verdict(&history(&operations, form, 1), initial, 0), expected, "{:?}", form);
            }
            prop_assert_ne!(verdict(&history(&operations, Form::Timed, 1), initial, forget), Verdict::Invalid);
        }
    }

    /// Damaged histories get the verdict of the definition, and their witnesses are correct.
    #[test]
    fn damaged_histories_get_the_defined_verdict(
        steps in steps(60), lies in prop::collection::vec(damage(), 1..4), initial: bool, forget in 1..4_u32,
    ) {
        let mut operations = run(&steps);
        operations.truncate(12);
        harm(&mut operations, &lies);
        let in_file = history(&operations, Form::Timed, 1);
        let report = check(&in_file, &settings(initial, 0)).unwrap();
        prop_assert_eq!(report.verdict, expected(&operations, initial, in_order));
        for anomaly in &report.anomalies {
            prop_assert_eq!(certify(&in_file, anomaly), Ok(()));
        }
        let with_window = verdict(&in_file, initial, forget);
        prop_assert!(with_window == report.verdict || with_window == Verdict::Unknown, "{:?}", with_window);
    }

    /// If the times determine the order, neither the order of the file nor the processes matter.
    #[test]
    fn times_order_the_file(steps in steps(300), lies in prop::collection::vec(damage(), 0..3), initial: bool) {
        let mut operations = run(&steps);
        harm(&mut operations, &lies);
        let in_file = by_few(&history(&operations, Form::Timed, 1));
        let report = check(&in_file, &settings(initial, 0)).unwrap();
        for scattered in [client_by_client(&in_file), history(&operations, Form::Scattered, 1)] {
            prop_assert_eq!(verdict(&scattered, initial, 0), report.verdict);
        }
    }

    /// If times are coarse and the file is not in order, there is a verdict only if it is the same for every order of
    /// ops at equal times.
    #[test]
    fn ties_are_not_guessed(
        steps in steps(50), lies in prop::collection::vec(damage(), 0..3), initial: bool, tick in 2..6_i64,
    ) {
        let mut operations = run(&steps);
        operations.truncate(9);
        // This op puts the file out of order, whatever precedes it.
        operations.push(Operation { call: Call::Read(-7, 0), fate: Fate::Open, invoked: -100, completed: i64::MAX });
        harm(&mut operations, &lies);
        operations.last_mut().unwrap().fate = Fate::Open;
        let ticks: Vec<Operation> = operations.iter().map(|operation| Operation {
            invoked: operation.invoked / tick, completed: operation.completed / tick, ..*operation
        }).collect();
        match verdict(&history(&operations, Form::Scattered, tick), initial, 0) {
            Verdict::Valid => prop_assert_eq!(expected(&operations_of(&ticks), initial, in_order), Verdict::Valid),
            Verdict::Invalid => prop_assert_eq!(expected(&ticks, initial, in_order), Verdict::Invalid),
            Verdict::Unknown if verdict_on(&ticks, true) == Verdict::Unknown => {
                prop_assert_eq!(expected(&ticks, initial, in_order), Verdict::Unknown);
            }
            // The history is valid if ops at equal times overlap, and invalid if they are in the order of the file.
            Verdict::Unknown => {
                prop_assert_eq!(expected(&ticks, initial, in_order), Verdict::Valid);
                prop_assert_eq!(expected(&operations_of(&ticks), initial, in_order), Verdict::Invalid);
            }
        }
    }

    /// Several registers in one history get the same verdicts as each of them alone.
    #[test]
    fn keys_are_checked_separately(
        one in steps(80), two in steps(80), lies in prop::collection::vec(damage(), 0..2), initial: bool,
        place in prop::sample::select(&[Place::Field, Place::FieldOfAnswers, Place::Value, Place::ValueOfAnswers]),
    ) {
        let (mut one, two) = (run(&one), run(&two));
        harm(&mut one, &lies);
        prop_assume!(!one.is_empty() && !two.is_empty());
        let reads = |operations: &[Operation]| operations.iter().any(|operation| matches!(operation.call, Call::Read(..)));
        // If the first op does not show that there are keys in a field, later keys are an error.
        let first = if one[0].invoked <= two[0].invoked { &one[0] } else { &two[0] };
        prop_assume!(place != Place::FieldOfAnswers || matches!(first.call, Call::Write(..)));
        let apart = [&one, &two].map(|operations| {
            check(&history(operations, Form::Untimed, 1), &settings(initial, 0)).unwrap()
        });
        let together = check(&keyed(&[(5, &one[..]), (6, &two[..])], place), &settings(initial, 0)).unwrap();
        // A key without observations is omitted, unless both are without.
        let observed = apart.iter().filter(|report| !report.notes.iter().any(|note| note.contains("no ok op")));
        let expected = observed.map(|report| report.verdict).reduce(Verdict::and).unwrap_or(Verdict::Unknown);
        if place == Place::ValueOfAnswers || place == Place::Value && !reads(&one) && !reads(&two) {
            // There is no evidence that the values are not plain.
            prop_assert!(together.verdict == expected || together.verdict == Verdict::Unknown);
            return Ok(());
        }
        prop_assert_eq!(together.verdict, expected);
        if apart[1].verdict == Verdict::Valid {
            prop_assert_eq!(names(&together.anomalies), names(&apart[0].anomalies));
            for witness in together.anomalies.iter().flat_map(|anomaly| &anomaly.witnesses) {
                prop_assert_eq!(&witness.facts[0], &("key".into(), Datum::from(5)));
            }
        }
    }
}

/// At equal times, ops of earlier lines come first: the two ops of an operation are adjacent.
fn operations_of(ticks: &[Operation]) -> Vec<Operation> {
    let place = |at: i64, line: i64| at.saturating_mul(1000).saturating_add(line);
    let spread = |(number, operation): (i64, &Operation)| Operation {
        invoked: place(operation.invoked, 2 * number),
        completed: place(operation.completed, 2 * number + 1),
        ..*operation
    };
    (0..).zip(ticks).map(spread).collect()
}
