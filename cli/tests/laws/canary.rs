//! Checkers that break one law each. That law must detect it.

use crate::judge::{Honest, How, Judge};
use crate::law::{LAWS, broken};
use crate::world::{WORLDS, World, generate};
use crate::{both_kinds, law, try_all};
use history_core::{History, OpKind, Process, Reader, Report, Value, Verdict};

/// A property of the input that a correct checker ignores. The faulty checker inverts its verdict if this returns true.
type Looks = fn(&History, &[u8], &How) -> bool;

struct Faulty(Looks);

impl Judge for Faulty {
    fn judge(&self, world: &World, text: &[u8], how: &How) -> Report {
        let mut report = Honest.judge(world, text, how);
        let history = History::read(&mut Reader::new(text)).unwrap();
        if self.0(&history, text, how) {
            report.verdict = if report.verdict == Verdict::Valid { Verdict::Invalid } else { Verdict::Valid };
        }
        report
    }
}

/// All integers of a value.
fn ints(value: Value<'_>) -> Vec<i64> {
    match value {
        Value::Int(number) => vec![number],
        Value::Vector(items) | Value::List(items) | Value::Set(items) => items.iter().flat_map(ints).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if the micro-ops of some op have a small integer at this position.
fn has_small(history: &History, place: usize) -> bool {
    let small = |mop: Value<'_>| {
        let part = mop.as_seq().and_then(|parts| parts.iter().nth(place)).map(ints).unwrap_or_default();
        part.iter().any(|number| number.abs() < 1000)
    };
    history.ops().any(|op| op.value.as_seq().is_some_and(|mops| mops.iter().any(small)))
}

/// The fault that breaks each law.
const FAULTS: &[(&str, Looks)] = &[
    ("clients renamed", |history, _, _| history.ops().any(|op| op.process == Process::Client(0))),
    ("values renamed", |history, _, _| has_small(history, 2)),
    ("keys renamed", |history, _, _| has_small(history, 1)),
    ("time shifted", |history, _, _| history.ops().any(|op| op.time.is_none_or(|time| time < 0))),
    ("nemesis added", |history, _, _| history.ops().filter(|op| !op.process.is_client()).count() % 2 == 1),
    ("failed ops added", |history, _, _| history.ops().filter(|op| op.kind == OpKind::Fail).count() % 2 == 1),
    ("formats", |_, text, _| text.starts_with(b"[") || text.starts_with(b"{\"")),
    ("compression", |_, text, _| text.starts_with(&[0x1f, 0x8b]) || text.starts_with(&[0x28, 0xb5])),
    ("engines", |_, _, how| how.options.text("engine") == Some("wing-gong")),
    ("one key", |_, _, how| how.is_keyed),
    ("commuting events", |history, _, _| {
        let first = history.ops().find(|op| op.process.is_client());
        first.is_some_and(|op| op.process == Process::Client(1))
    }),
    ("watched", |_, _, how| how.is_watched),
    ("limits", |_, _, how| how.has_limits),
    ("a correct store", |_, _, _| true),
];

#[test]
fn each_law_catches_the_checker_that_breaks_it() {
    for (law, (name, looks)) in LAWS.iter().zip(FAULTS) {
        assert_eq!(law.name, *name, "in the same order");
        let faulty = Faulty(*looks);
        let caught = (0..WORLDS.len() as u64 * 4).find(|seed| {
            let world = &WORLDS[(*seed % WORLDS.len() as u64) as usize];
            let (case, has_bug) = generate(world, *seed);
            if law.name == "a correct store" {
                return !has_bug && law::try_one(&faulty, *seed).is_err();
            }
            assert_eq!(broken(law, &Honest, world, &case, *seed), None, "{name}: the honest one does not break it");
            broken(law, &faulty, world, &case, *seed).is_some()
        });
        assert!(caught.is_some(), "{name}");
    }
}

/// A checker with a constant verdict obeys every law but this one.
#[test]
fn a_checker_that_always_says_valid_is_caught() {
    struct Always;
    impl Judge for Always {
        fn judge(&self, world: &World, _: &[u8], _: &How) -> Report {
            Report::new(world.checker, Verdict::Valid)
        }
    }
    let seen = try_all(&Always, 0, 4 * WORLDS.len() as u64).unwrap();
    assert_eq!(both_kinds(&seen).unwrap_err(), "no history of list-append was false to list-append");
}

#[test]
fn a_law_that_fails_names_the_seed_and_the_smallest_history() {
    let faulty =
        Faulty(|history, _, how| how.is_watched && history.ops().filter(|op| op.f == Some("write")).count() > 2);
    // A history of a register without a bug.
    let seed = (0..100).map(|turn| 2 + turn * WORLDS.len() as u64).find(|seed| !generate(&WORLDS[2], *seed).1).unwrap();
    let message = law::try_one(&faulty, seed).unwrap_err();
    let (head, history) = message.split_once('\n').unwrap();
    let start = format!("seed {seed}, workload register, checker register: the law `watched` is broken: ");
    assert!(head.starts_with(&start), "{message}");
    let ops = history.lines().filter(|line| line.contains(":f :write")).count();
    assert!((3..=4).contains(&ops) && history.lines().count() <= 5, "{message}");
}
