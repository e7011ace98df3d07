//! Objects are linearizable: the order in which operations took effect proves it. With a bug they are not, for some
//! seed.

use crate::common::object::{Recorded, Said, State, fresh, is_linearizable, step};
use record_simulate::{Kind, Object, ObjectBug, Objects};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Many crashes, and many concurrent clients.
fn rough(object: Object) -> Objects {
    let (info_rate, lost_rate) = (0.05, 0.05);
    Objects { ops: 3000, think_ns: 5000, info_rate, lost_rate, nemesis: true, ..Objects::of(object) }
}

/// The same with several objects, each of which is replaced soon.
fn keyed(object: Object) -> Objects {
    let keyed = !object.has_keys();
    if !keyed && object != Object::Kv {
        return Objects { keys: object.default_keys(), ..rough(object) };
    }
    Objects { keyed, keys: 4, ops_per_key: 150, ..rough(object) }
}

/// Every operation takes effect at most once, between its invocation and its completion, and in the order of effects
/// each result is right.
#[track_caller]
fn assert_replays(parameters: &Objects) {
    let recorded = Recorded::of(parameters);
    let keys: BTreeSet<String> = recorded.ops.iter().map(|did| format!("{:?}", did.key)).collect();
    let last = if parameters.object.has_last() { keys.len() } else { 0 };
    assert_eq!(recorded.ops.len(), parameters.ops as usize + last);
    for did in &recorded.ops {
        let late = did.effect.as_ref().is_some_and(|(at, _)| did.completed.is_some_and(|end| *at > end));
        match did.kind {
            Kind::Ok => {
                assert_eq!(did.answer, did.effect.as_ref().map(|(_, result)| result.clone()), "{did:?}");
                assert!(!late, "{did:?}");
            }
            Kind::Fail => assert_eq!(did.effect, None, "{did:?}"),
            _ => {}
        }
        assert!(did.effect.as_ref().is_none_or(|(at, _)| *at > did.invoked), "{did:?}");
    }
    let mut states: BTreeMap<String, State> = BTreeMap::new();
    for at in &recorded.effects {
        let did = &recorded.ops[*at];
        let state = states.entry(format!("{:?}", did.key)).or_insert_with(|| fresh(parameters.object));
        let result = did.effect.as_ref().map(|(_, result)| result);
        let after = step(parameters.object, state, did, result);
        assert!(!after.is_empty(), "{}: {state:?} does not allow {did:?}", parameters.object);
        state.clone_from(&after[0]);
    }
}

/// Calls `look` for every object, for as many at a time as there are processors.
fn each_object(look: impl Fn(Object) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(object) = Object::ALL.into_iter().nth(next.fetch_add(1, Relaxed)) {
                    look(object);
                }
            });
        }
    });
}

#[test]
fn the_order_of_effects_explains_every_answer() {
    each_object(|object| {
        for seed in 0..4 {
            assert_replays(&Objects { seed, ..rough(object) });
            assert_replays(&Objects { seed, ..keyed(object) });
            let has = |values: u32| (object.values_range().0..=object.values_range().1).contains(&values);
            if has(1) {
                assert_replays(&Objects { seed, values: 1, ..rough(object) });
            }
            assert_replays(&Objects { seed, clients: 1, think_ns: 0, ..rough(object) });
            if has(0) {
                assert_replays(&Objects { seed, values: 0, ..rough(object) });
            }
        }
    });
}

#[test]
fn a_take_of_nothing_is_ok_where_that_is_asked_for() {
    for object in Object::ALL.into_iter().filter(|object| object.is_sequence()) {
        let parameters = Objects { empty_ok: true, fail_rate: 0.0, read_fraction: 0.6, ..rough(object) };
        assert_replays(&parameters);
        let recorded = Recorded::of(&parameters);
        let nothings =
            recorded.ops.iter().filter(|did| did.answer == Some(Said::Nothing) && did.asked == Said::Nothing);
        let fails = recorded.ops.iter().filter(|did| did.kind == Kind::Fail).count();
        assert_eq!(
            (nothings.count() > 100, fails == 0),
            (object.may_show_nothing(), object.may_show_nothing()),
            "{object}"
        );
    }
}

/// Some crashed operations took effect before their client gave up, some later, and some never.
#[test]
fn crashed_operations_take_effect_early_late_or_never() {
    for object in Object::ALL {
        let recorded = Recorded::of(&Objects { ops: 10_000, lost_rate: 0.0, ..rough(object) });
        let crashed: Vec<_> = recorded.ops.iter().filter(|did| did.kind == Kind::Info).collect();
        let never = crashed.iter().filter(|did| did.effect.is_none()).count();
        let late = crashed.iter().filter(|did| did.effect.as_ref().is_some_and(|(at, _)| *at > did.completed.unwrap()));
        let late = late.count();
        let early = crashed.len() - never - late;
        // A lock refuses late operations, or they wait for other holders until they are late.
        let few = if object.is_lock() { 1 } else { 50 };
        // For a queue that is drained, only enqueues crash.
        let enough = if object == Object::TotalQueue { 50 } else { 100 };
        assert!(never > enough && late >= few && early > 10, "{object}: {early} early, {late} late, {never} never");
    }
}

#[test]
fn a_process_that_crashed_goes_on_under_another_number() {
    let recorded = Recorded::of(&rough(Object::Register));
    let mut last: BTreeMap<i64, i64> = BTreeMap::new();
    for did in &recorded.ops {
        let client = did.process % 10;
        let before = last.insert(client, did.process).unwrap_or(client);
        assert!(did.process == before || did.process == before + 10, "{before} became {}", did.process);
    }
    assert!(last.values().all(|process| *process > 100), "each client crashed now and then: {last:?}");
}

/// Parameters that are small enough for the definition, and for which bugs show.
fn small(object: Object, bug: ObjectBug, seed: u64) -> Objects {
    let (ops, clients, info_rate) = (80, 4, 0.02);
    let bug_rate = (bug != ObjectBug::None && bug != ObjectBug::WrongRead).then_some(0.2);
    Objects { ops, clients, info_rate, bug, bug_rate, seed, think_ns: 30_000, ..Objects::of(object) }
}

#[test]
fn without_a_bug_a_history_is_linearizable_by_definition() {
    each_object(|object| {
        for seed in 0..5 {
            let parameters = small(object, ObjectBug::None, seed);
            assert!(is_linearizable(object, &Recorded::of(&parameters)), "{parameters:?}");
        }
    });
}

#[test]
fn each_bug_bites_for_some_seed() {
    each_object(|object| {
        for bug in ObjectBug::of(object).skip(1) {
            let bites = |seed| !is_linearizable(object, &Recorded::of(&small(object, bug, seed)));
            assert!((0..20).any(bites), "{bug} of {object} never bites");
            if bug == ObjectBug::WrongRead && !object.is_sequence() {
                assert!((0..5).all(bites), "{bug} of {object} always bites");
            }
        }
    });
}

/// Whatever crashed and whatever was written concurrently, no operation can have read that value.
#[test]
fn a_wrong_read_always_bites_even_if_its_value_was_there_once() {
    for object in [Object::Register, Object::CasRegister] {
        let (mut written, mut others) = (0, 0);
        for seed in 0..27 {
            let values = [2, 5, 0][seed as usize % 3];
            let info_rate = [0.0, 0.03, 0.1][seed as usize / 3 % 3];
            let parameters = Objects { values, info_rate, think_ns: 0, ..small(object, ObjectBug::WrongRead, seed) };
            let recorded = Recorded::of(&parameters);
            assert!(!is_linearizable(object, &recorded), "{parameters:?}");
            let wrong: Vec<_> =
                recorded.ops.iter().filter(|did| did.answer != did.effect.clone().map(|e| e.1)).collect();
            let wrong: Vec<_> = wrong.into_iter().filter(|did| did.kind == Kind::Ok).collect();
            let [wrong] = wrong[..] else { panic!("one read is wrong, not {}", wrong.len()) };
            let at = recorded.ops.iter().position(|did| did.invoked == wrong.invoked).unwrap();
            assert!(at >= 72, "the {at}th of 80 operations is wrong");
            let Some(Said::Int(value)) = &wrong.answer else { panic!("{wrong:?}") };
            let was_written = recorded.ops[..at].iter().any(|did| {
                matches!(&did.asked, Said::Int(new) | Said::Cas(_, new) if new == value) && did.kind != Kind::Fail
            });
            *(if was_written { &mut written } else { &mut others }) += 1;
        }
        assert!(written > 9 && others > 0, "{object}: {written} were there once, {others} never");
    }
}

#[test]
fn where_the_wrong_read_comes_can_be_chosen() {
    for (at, first, last) in [(0.0, 0, 10), (0.5, 500, 530), (1.0, 999, 999)] {
        let bug = ObjectBug::WrongRead;
        let parameters = Objects { bug, bug_at: Some(at), ..Objects::of(Object::Kv) };
        let recorded = Recorded::of(&parameters);
        let wrong = |did: &crate::common::object::Did| {
            did.kind == Kind::Ok && did.answer != did.effect.clone().map(|(_, result)| result)
        };
        let wrong = recorded.ops.iter().position(wrong).unwrap();
        assert!((first..=last).contains(&wrong), "{wrong} at {at}");
    }
}

#[test]
fn keys_are_replaced_after_their_share_of_operations() {
    let parameters = Objects { ops: 1000, keyed: true, keys: 5, ops_per_key: 20, ..Objects::of(Object::Counter) };
    let recorded = Recorded::of(&parameters);
    let mut ops: BTreeMap<String, u32> = BTreeMap::new();
    for did in &recorded.ops {
        *ops.entry(format!("{:?}", did.key)).or_default() += 1;
    }
    assert!(ops.values().all(|ops| *ops <= 20), "{ops:?}");
    assert!((50..=55).contains(&ops.len()), "{} keys", ops.len());
}

/// The size of objects is bounded, however long the history is.
#[test]
fn objects_do_not_grow() {
    for object in [
        Object::FifoQueue,
        Object::UnorderedQueue,
        Object::Stack,
        Object::Deque,
        Object::PriorityQueue,
        Object::Set,
        Object::Kv,
    ] {
        let recorded = Recorded::of(&Objects { ops: 30_000, info_rate: 0.0, ..Objects::of(object) });
        let mut states: BTreeMap<String, State> = BTreeMap::new();
        for at in &recorded.effects {
            let did = &recorded.ops[*at];
            let state = states.entry(format!("{:?}", did.key)).or_insert_with(|| fresh(object));
            state.clone_from(&step(object, state, did, did.answer.as_ref())[0]);
            assert!(state.len() <= 80, "{object} holds {}", state.len());
        }
    }
}

#[test]
fn values_are_as_many_as_asked_for() {
    for (values, expected) in [(1, 1), (7, 7), (0, 400)] {
        let parameters = Objects { values, read_fraction: 0.0, ops: 400, ..Objects::of(Object::Register) };
        let recorded = Recorded::of(&parameters);
        let distinct: BTreeSet<String> = recorded.ops.iter().map(|did| format!("{:?}", did.asked)).collect();
        assert_eq!(distinct.len(), expected);
    }
}

#[test]
fn clients_that_do_not_think_ask_at_once() {
    let busy = |think_ns: u64| {
        let recorded = Recorded::of(&Objects { think_ns, info_rate: 0.0, ..Objects::of(Object::Register) });
        // The average number of operations in flight at an invocation.
        let in_flight: usize = recorded
            .ops
            .iter()
            .map(|did| {
                let over = |other: &&crate::common::object::Did| {
                    other.invoked < did.invoked && other.completed > Some(did.invoked)
                };
                recorded.ops.iter().filter(over).count()
            })
            .sum();
        in_flight / recorded.ops.len()
    };
    assert_eq!((busy(0), busy(100_000), busy(10_000_000)), (8, 3, 0));
}
