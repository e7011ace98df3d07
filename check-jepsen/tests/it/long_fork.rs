//! Compares long-fork with its definition: every pair of reads of a group.

use crate::common::{
    Event, Item, anomalies, assert_sound, count, each_history, history, item, judge, random_history, read, story,
};
use check_jepsen::long_fork::LongFork;
use history_core::{Checker, Datum, OpKind, Options, Verdict};
use proptest::prelude::*;

type State = Vec<(Datum, Datum)>;

fn txn(mops: &[(&str, i64, Option<i64>)]) -> Datum {
    let mop = |(name, key, value): &(&str, i64, Option<i64>)| {
        Datum::Vector(vec![Datum::keyword(*name), Datum::from(*key), Datum::from(*value)])
    };
    Datum::Vector(mops.iter().map(mop).collect())
}

/// The micro-ops of a transaction: name, key, value.
fn mops(value: &Datum) -> Vec<(String, Datum, Datum)> {
    let Datum::Vector(mops) = value else { panic!("{value}") };
    let mop = |mop: &Datum| match mop {
        Datum::Vector(parts) => (parts[0].to_string(), parts[1].clone(), parts[2].clone()),
        other => panic!("{other}"),
    };
    mops.iter().map(mop).collect()
}

/// The content of the ok reads, each sorted by key.
fn reads(events: &[Event]) -> Vec<State> {
    let ok = events.iter().filter(|event| event.kind == OpKind::Ok && event.f == "read");
    let state = |event: &Event| {
        let mut state: State = mops(&event.value).into_iter().map(|(_, key, value)| (key, value)).collect();
        state.sort_by_key(|(key, _)| key.to_string());
        state.dedup();
        state
    };
    ok.map(state).collect()
}

/// Returns true if neither shows all keys that the other shows.
fn forks(a: &State, b: &State) -> bool {
    let only = |a: &State, b: &State| a.iter().zip(b).any(|(a, b)| a.1 != Datum::Nil && b.1 == Datum::Nil);
    only(a, b) && only(b, a)
}

fn same_keys(a: &State, b: &State) -> bool {
    a.iter().map(|(key, _)| key).eq(b.iter().map(|(key, _)| key))
}

/// The expected verdict: a fork before the op for which a history is rejected remains a fork.
fn expected(events: &[Event], group_size: Option<u32>) -> Verdict {
    let mut before = (0..=events.len()).rev().map(|len| defined(&events[..len], group_size));
    let before = before.find(|verdict| *verdict != Verdict::Unknown);
    defined(events, group_size).and(before.unwrap_or(Verdict::Unknown))
}

/// The verdict by the definition, pair by pair. Rejected histories are unknown.
fn defined(events: &[Event], group_size: Option<u32>) -> Verdict {
    let reads = reads(events);
    let writes = events.iter().filter(|event| event.kind == OpKind::Invoke && event.f == "write");
    let mut written: Vec<String> = writes.map(|event| mops(&event.value)[0].1.to_string()).collect();
    let count = written.len();
    written.sort_unstable();
    written.dedup();
    let size = group_size.map(|size| size as usize).or(reads.first().map(Vec::len));
    let mut values: Vec<(&Datum, &Datum)> = Vec::new();
    for (key, value) in reads.iter().flatten().filter(|(_, value)| *value != Datum::Nil) {
        if values.iter().any(|(known, other)| *known == key && *other != value) {
            return Verdict::Unknown;
        }
        values.push((key, value));
    }
    let meet = |a: &State, b: &State| a.iter().any(|(key, _)| b.iter().any(|(other, _)| key == other));
    let overlap = reads.iter().any(|a| reads.iter().any(|b| meet(a, b) && !same_keys(a, b)));
    if written.len() < count || overlap || reads.iter().any(|read| Some(read.len()) != size) {
        return Verdict::Unknown;
    }
    let fork = reads.iter().any(|a| reads.iter().any(|b| same_keys(a, b) && forks(a, b)));
    let can_fork = |read: &State| read.len() > 1 && read.iter().any(|(_, value)| *value != Datum::Nil);
    match (fork, !reads.iter().any(can_fork)) {
        (true, _) => Verdict::Invalid,
        (false, true) => Verdict::Unknown,
        (false, false) => Verdict::Valid,
    }
}

fn agrees(events: &[Event], group_size: Option<u32>) -> Verdict {
    let report = LongFork { group_size, general: false }.check(&history(events)).unwrap();
    assert_eq!(report.verdict, expected(events, group_size), "{events:?}\n{report:?}");
    assert_sound(&report, events);
    for witness in report.anomalies.iter().flat_map(|anomaly| &anomaly.witnesses) {
        certify(events, &witness.ops.iter().map(|op| op.index).collect::<Vec<_>>());
    }
    report.verdict
}

/// Verifies that the reads at these indices fork.
fn certify(events: &[Event], indices: &[u64]) {
    let states: Vec<State> =
        indices.iter().map(|index| reads(&events[*index as usize..=*index as usize]).remove(0)).collect();
    let [a, b] = states.as_slice() else { panic!("{states:?}") };
    assert!(same_keys(a, b) && forks(a, b), "{a:?} {b:?}");
}

/// Every state of these keys, each with one value or none.
fn states(keys: &[i64]) -> Vec<Datum> {
    let state = |bits: usize| {
        let mop = |(at, key): (usize, &i64)| ("r", *key, (bits >> at & 1 == 1).then_some(1));
        txn(&keys.iter().enumerate().map(mop).collect::<Vec<_>>())
    };
    (0..1 << keys.len()).map(state).collect()
}

fn write(key: i64) -> Item {
    item("write", txn(&[("w", key, Some(1))]), &[OpKind::Ok, OpKind::Fail, OpKind::Info])
}

#[test]
fn every_sequence_of_reads_is_judged_as_defined() {
    let mut seen = [0; 3];
    // Completions only, so that more reads fit.
    for (keys, len) in [(&[0, 1][..], 6), (&[2, 0, 1], 4)] {
        let states = states(keys);
        for number in 0..states.len().pow(len) {
            let read = |at: u32| Event {
                kind: OpKind::Ok,
                process: 0,
                f: "read",
                value: states[number / states.len().pow(at) % states.len()].clone(),
            };
            seen[agrees(&(0..len).map(read).collect::<Vec<_>>(), None) as usize] += 1;
        }
    }
    assert!(seen[Verdict::Valid as usize] > 500 && seen[Verdict::Invalid as usize] > 2_000, "{seen:?}");
    // Histories in which no read shows anything.
    assert_eq!(seen[Verdict::Unknown as usize], 2);
}

#[test]
fn every_small_history_is_judged_as_defined() {
    let mut menu = states(&[0, 1]);
    menu.extend([txn(&[("r", 1, Some(2)), ("r", 0, None)]), txn(&[("r", 1, None), ("r", 2, Some(1))])]);
    menu.extend([txn(&[("r", 1, Some(1))]), txn(&[("r", 1, None), ("r", 1, None), ("r", 0, None)])]);
    for group_size in [None, Some(2)] {
        let mut seen = [0; 3];
        let menu = [read("read", menu.clone()), write(0), write(1)];
        each_history(&menu, 2, 6, &mut |events| seen[agrees(events, group_size) as usize] += 1);
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }
}

proptest! {
    #[test]
    fn random_histories_are_judged_as_defined(numbers in prop::collection::vec((0..4u8, any::<u8>()), 0..120)) {
        let mut menu: Vec<Item> = (0..6).map(write).collect();
        // Mostly reads that a correct store would return.
        let orderly = [0, 1, 3, 7].map(|bits| [[0, 1, 2], [3, 4, 5]].map(|keys| states(&keys)[bits].clone()));
        menu.push(read("read", orderly.concat()));
        menu.push(read("read", [states(&[2, 1, 0]), states(&[5, 3, 4])].concat()));
        agrees(&random_history(&menu, 4, &numbers), None);
    }
}

#[test]
fn what_a_person_reads() {
    let read = |process, value: &str| crate::common::op(process, "read", "nil", "ok", value);
    let text = [
        crate::common::op(0, "write", "[[:w 0 1]]", "ok", "[[:w 0 1]]"),
        crate::common::op(0, "write", "[[:w 1 1]]", "info", "[[:w 1 1]]"),
        read(1, "[[:r 0 1] [:r 1 nil] [:r \"c\" 1] [:r :d 1]]"),
        read(2, "[[:r 1 1] [:r 0 nil] [:r \"c\" 1] [:r :d nil]]"),
        read(1, "[[:r 1 nil] [:r 0 nil] [:r :d nil] [:r \"c\" nil]]"),
        read(1, "[[:r 9 7] [:r 8 nil] [:r 7 nil] [:r 6 nil]]"),
        read(1, "[[:r 9 nil] [:r 8 7] [:r 7 nil] [:r 6 nil]]"),
        read(1, "[[:r 9 nil] [:r 8 7] [:r 7 nil] [:r 6 nil]]"),
    ];
    insta::assert_snapshot!(story(&judge(&LongFork::default(), &[], &text.concat())));
}

fn permutations(states: &[State]) -> Vec<Vec<State>> {
    let Some((first, rest)) = states.split_first() else { return vec![Vec::new()] };
    let insert = |order: Vec<State>| {
        (0..=order.len()).map(move |at| [&order[..at], std::slice::from_ref(first), &order[at..]].concat())
    };
    permutations(rest).into_iter().flat_map(insert).collect()
}

/// Returns true if, from nil on, no value of a key recurs.
fn is_in_order(order: &[State]) -> bool {
    (0..order.first().map_or(0, Vec::len)).all(|key| {
        let mut values = vec![&Datum::Nil];
        values.extend(order.iter().map(|state| &state[key].1));
        values.dedup();
        (0..values.len()).all(|at| !values[..at].contains(&values[at]))
    })
}

#[test]
fn reads_of_several_values_are_in_order_if_some_permutation_is() {
    let read = |values: [i64; 3]| {
        let mops = [(0, values[0]), (1, values[1]), (2, values[2])];
        let mops = mops.map(|(key, value)| ("r", key, Some(value).filter(|value| *value > 0)));
        Event { kind: OpKind::Ok, process: 0, f: "read", value: txn(&mops) }
    };
    let all: Vec<Event> = (0..27).map(|number| read([number / 9, number / 3 % 3, number % 3])).collect();
    let (mut possible, mut sizes) = (0, [0; 5]);
    for number in 0..27usize.pow(4) {
        let events: Vec<Event> = (0..4).map(|at| all[number / 27usize.pow(at) % 27].clone()).collect();
        // Each combination of four is tested once; tests of the orders themselves are next to the code.
        if !events.is_sorted_by_key(|event| event.value.to_string()) {
            continue;
        }
        let report = LongFork { group_size: None, general: true }.check(&history(&events)).unwrap();
        assert_sound(&report, &events);
        let fits = permutations(&reads(&events)).iter().any(|order| is_in_order(order));
        let shows = reads(&events).iter().flatten().any(|(_, value)| *value != Datum::Nil);
        let verdict = match (fits, shows) {
            (false, _) => Verdict::Invalid,
            (true, false) => Verdict::Unknown,
            (true, true) => Verdict::Valid,
        };
        assert_eq!(report.verdict, verdict, "{events:?}");
        possible += usize::from(fits);
        for witness in report.anomalies.iter().flat_map(|anomaly| &anomaly.witnesses) {
            let shown: Vec<Event> = witness.ops.iter().map(|op| events[op.index as usize].clone()).collect();
            assert!(!permutations(&reads(&shown)).iter().any(|order| is_in_order(order)), "{witness:?}");
            sizes[shown.len()] += 1;
        }
    }
    assert!(possible > 1_000 && sizes[2] > 1_000 && sizes[3] > 1_000, "{possible} {sizes:?}");
}

#[test]
fn what_a_person_reads_of_a_loop() {
    let text = [
        "{:process 0, :type :ok, :f :read, :value [[:r 0 1] [:r 1 1] [:r 2 1] [:r 3 7]]}",
        "{:process 0, :type :ok, :f :read, :value [[:r 0 nil] [:r 1 nil] [:r 2 nil] [:r 3 nil]]}",
        "{:process 1, :type :ok, :f :read, :value [[:r 1 2] [:r 0 1] [:r 2 2] [:r 3 7]]}",
        "{:process 2, :type :ok, :f :read, :value [[:r 0 2] [:r 1 1] [:r 2 2] [:r 3 7]]}",
    ];
    let report = judge(&LongFork::default(), &[("general", "true")], &text.join("\n"));
    insta::assert_snapshot!(story(&report));
    // Two reads that fork are reported first.
    let more = "{:process 0, :type :ok, :f :read, :value [[:r 0 nil] [:r 1 3] [:r 2 3] [:r 3 nil]]}
                {:process 0, :type :ok, :f :read, :value [[:r 0 4] [:r 1 nil] [:r 2 3] [:r 3 nil]]}";
    let forked = format!("{}\n{more}", text.join("\n"));
    let report = judge(&LongFork::default(), &[("general", "true")], &forked);
    assert_eq!(anomalies(&report), [("long-fork", 1)]);
    assert_eq!(report.anomalies[0].witnesses[0].ops.len(), 2);
    let report = judge(&LongFork::default(), &[], &text.join("\n"));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("with --general, several times"), "{:?}", report.notes);
}

#[test]
fn a_value_is_written_to_a_key_once() {
    let text = "{:process 7, :type :invoke, :value [[:w 0 1]]} {:process 8, :type :invoke, :value [[:w 0 2]]}
                {:process 9, :type :invoke, :value [[:w 1 1]]}
                {:type :ok, :value [[:r 0 1] [:r 1 nil]]} {:type :ok, :value [[:r 0 2] [:r 1 nil]]}";
    let general = |text: &str| judge(&LongFork::default(), &[("general", "true")], text);
    assert_eq!(general(text).verdict, Verdict::Valid);
    let report = general(&format!("{text} {{:type :invoke, :value [[:w 0 2]]}}"));
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("2 is written to the key 0 a second time"), "{:?}", report.notes);
    assert_eq!(judge(&LongFork::default(), &[], text).verdict, Verdict::Unknown);
}

#[test]
fn groups_of_any_size_are_judged() {
    for size in [1, 2, 63, 64, 65, 300] {
        let state = |shown: usize, but: usize| {
            let mop = |key: usize| format!("[:r {key} {}]", if key < shown && key != but { "1" } else { "nil" });
            let mops: Vec<String> = (0..size).map(mop).collect();
            format!("{{:type :ok, :f :read, :value [{}]}}\n", mops.join(" "))
        };
        let chain: String = (0..=size).rev().map(|shown| state(shown, size)).collect();
        let report = judge(&LongFork::default(), &[], &chain);
        // A group of one key cannot fork.
        let verdict = if size > 1 { Verdict::Valid } else { Verdict::Unknown };
        assert_eq!((report.verdict, count(&report, "read-count")), (verdict, size as u64 + 1), "{size}");
        assert_eq!((count(&report, "early-read-count"), count(&report, "late-read-count")), (1, 1));
        if size > 1 {
            let report = judge(&LongFork::default(), &[], &(chain + &state(size, size / 2 - 1)));
            assert_eq!(anomalies(&report)[0].0, "long-fork", "{size}");
            assert!(report.anomalies[0].witnesses[0].explanation.len() < 40 * size + 2_000);
        }
    }
}

#[test]
fn what_is_no_history_of_this_workload_is_unknown() {
    let fork = "{:type :ok, :value [[:r 0 1] [:r 1 nil]]}\n{:type :ok, :value [[:r 0 nil] [:r 1 1]]}\n";
    for (op, reason) in [
        ("{:type :ok, :value [[:r 0 1]]}", "the read is of 1 key, but groups have 2"),
        ("{:type :ok, :value []}", "the read is of 0 keys, but groups have 2"),
        ("{:type :ok, :value [[:r 0 2] [:r 1 nil]]}", "shows the key 0 with the value 2, an earlier one with 1"),
        ("{:type :ok, :value [[:w 5 1] [:w 5 1]]}", "the key 5 was already written"),
        ("{:type :ok, :value [[:w 5 nil]]}", "nil is written to the key 5"),
    ] {
        for text in [format!("{fork}{op}"), format!("{fork}{op}\n{fork}")] {
            let report = judge(&LongFork::default(), &[("group-size", "2")], &text);
            assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Unknown, 0), "{op}");
            assert!(report.notes[0].contains("at index 2 (line 3)"), "{:?}", report.notes);
            assert!(report.notes[0].contains(reason), "{op}: {:?}", report.notes);
        }
    }
}

#[test]
fn what_was_found_before_a_history_is_refused_stays() {
    let fork = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value [[:r 0 1] [:r 1 nil]]}
                {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value [[:r 0 nil] [:r 1 1]]}";
    let loops = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value [[:r 0 1] [:r 1 1] [:r 2 1]]}
                 {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value [[:r 0 1] [:r 1 2] [:r 2 2]]}
                 {:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value [[:r 0 2] [:r 1 1] [:r 2 2]]}";
    let refused = "{:process 0, :type :invoke, :f :write, :value [[:w 5 nil]]}";
    for (text, reads) in [(fork, 2), (loops, 3)] {
        let report = judge(&LongFork::default(), &[("general", "true")], &format!("{text} {refused}"));
        assert_eq!(anomalies(&report), [("long-fork", 1)]);
        assert_eq!(report.anomalies[0].witnesses[0].ops.len(), reads);
        assert!(report.notes[0].starts_with("The verdict covers only the ops before the op"), "{:?}", report.notes);
    }
    // The read for which the history is rejected is not a witness.
    let read = |value: &str| {
        format!("{{:process 0, :type :invoke, :f :read}} {{:process 0, :type :ok, :f :read, :value {value}}}")
    };
    let text = ["[[:r 0 1] [:r 1 1]]", "[[:r 0 1] [:r 1 nil]]", "[[:r 0 nil] [:r 1 2]]"].map(read).join(" ");
    assert_eq!(judge(&LongFork::default(), &[], &text).verdict, Verdict::Unknown);
}

#[test]
fn what_cannot_be_read_is_unknown_unless_the_rest_forks() {
    let good = "{:type :ok, :f :read, :value [[:r 0 1] [:r 1 nil]]}\n";
    let fork = "{:type :ok, :f :read, :value [[:r 0 nil] [:r 1 1]]}\n";
    for (value, reason) in [
        ("nil", "expected a transaction as the op's value, found nil"),
        ("7", "expected a transaction as the op's value, found an integer"),
        ("[[:r 0 1] [:r 1]]", "in the transaction, found [:r 1]"),
        ("[[:append 0 1]]", "in the transaction, found [:append 0 1]"),
        ("[3]", "in the transaction, found an integer"),
        ("[[:r 0 1] [:w 1 1]]", "both reads and writes"),
        ("[[:r 0 1] [:r 1 1] [:r 0 nil]]", "shows the key 0 twice"),
    ] {
        let odd = format!("{{:type :ok, :f :read, :value {value}}}\n");
        let report = judge(&LongFork::default(), &[], &format!("{good}{odd}"));
        assert_eq!(report.verdict, Verdict::Unknown, "{value}");
        assert!(report.notes[0].contains("at index 1 (line 2)"), "{:?}", report.notes);
        assert!(report.notes[0].contains(reason), "{:?}", report.notes);
        assert_eq!(
            judge(&LongFork::default(), &[], &format!("{good}{odd}{fork}")).verdict,
            Verdict::Invalid,
            "{value}"
        );
        // Ops of other workloads may have any value, but a transaction is recognized whatever its function.
        let other = judge(&LongFork::default(), &[], &format!("{good}{}", odd.replace(":read", ":sync"))).verdict;
        let is_read = value.contains(":r 0 nil");
        assert_eq!(other, if is_read { Verdict::Unknown } else { Verdict::Valid }, "{value}");
    }
}

#[test]
fn writes_count_from_their_invocations_and_once() {
    let text = "{:process 0, :type :invoke, :f :txn, :value [[:w 0 1]]} {:process 0, :type :ok, :f :txn}
                {:process 0, :type :invoke, :f :write, :value [[:w 1 1]]} {:process 0, :type :fail, :f :write, :value [[:w 1 1]]}
                {:process 1, :type :invoke, :f :write, :value [[:w 2 1]]} {:process 1, :type :info, :f :write, :value [[:w 2 1]]}
                {:process 0, :type :invoke, :f :read, :value [[:r 0 nil] [:r 1 nil]]}
                {:process 0, :type :ok, :f :read, :value [[:r 0 1] [:r 1 nil]]}";
    let report = judge(&LongFork::default(), &[], text);
    assert_eq!((report.verdict, count(&report, "write-count")), (Verdict::Valid, 3));
    let report = judge(&LongFork::default(), &[], "{:type :invoke, :value [[:w 0 1]]} {:type :ok, :value [[:w 0 1]]}");
    assert_eq!((report.verdict, count(&report, "write-count")), (Verdict::Unknown, 1));
    assert!(report.notes[0].contains("no ok read"), "{:?}", report.notes);
    let again = format!("{text} {{:process 0, :type :invoke, :f :write, :value [[:w 1 1]]}}");
    assert_eq!(judge(&LongFork::default(), &[], &again).verdict, Verdict::Unknown);
}

#[test]
fn a_key_is_read_in_one_group() {
    let text = "
        {:type :invoke, :f :write, :value [[:w 0 1]]} {:type :invoke, :f :write, :value [[:w 1 1]]}
        {:type :ok, :f :read, :value [[:r 0 1] [:r 1 nil] [:r 2 nil]]}
        {:type :ok, :f :read, :value [[:r 0 nil] [:r 1 1] [:r 3 nil]]}";
    for general in ["false", "true"] {
        let report = judge(&LongFork::default(), &[("general", general)], text);
        assert_eq!(report.verdict, Verdict::Unknown, "{report:?}");
        assert!(report.notes[0].contains("the key 0 is read in two groups"), "{:?}", report.notes);
    }
}

#[test]
fn a_group_has_a_size() {
    for size in ["0", "-1", "4294967296", "two"] {
        let error = LongFork::default().start(&Options::new().with("group-size", size)).err().unwrap();
        assert!(error.to_string().starts_with("--group-size: "), "{error}");
    }
    let text = "{:type :ok, :value [[:r 0 1] [:r 1 nil]]}";
    assert_eq!(judge(&LongFork::default(), &[("group-size", "2")], text).verdict, Verdict::Valid);
    assert_eq!(judge(&LongFork::default(), &[("group-size", "3")], text).verdict, Verdict::Unknown);
}

/// The standard library cannot pad a column to more than 65,535 characters, and this is not necessary.
#[test]
fn a_fork_of_a_long_key_is_told() {
    let key = "x".repeat(70_000);
    let read = |x: Option<i64>, y: Option<i64>| {
        let mop = |key: &str, value: Option<i64>| {
            Datum::Vector(vec![Datum::keyword("r"), Datum::from(key), Datum::from(value)])
        };
        Datum::Vector(vec![mop(&key, x), mop("t", y)])
    };
    let write =
        |key: &str| Datum::Vector(vec![Datum::Vector(vec![Datum::keyword("w"), Datum::from(key), Datum::from(1)])]);
    let ops =
        [("write", write(&key)), ("write", write("t")), ("read", read(Some(1), None)), ("read", read(None, Some(1)))];
    let mut builder = history_core::HistoryBuilder::new();
    for (process, (f, value)) in ops.iter().enumerate() {
        let process = i64::try_from(process).unwrap();
        for kind in [OpKind::Invoke, OpKind::Ok] {
            builder.push_op(&history_core::NewOp::new(kind, process).f(f).value(value.clone())).unwrap();
        }
    }
    let report = LongFork::default().check(&builder.build()).unwrap();
    assert_eq!(report.verdict, Verdict::Invalid);
    assert!(
        report.anomalies[0].witnesses[0].explanation.contains("no order fits both"),
        "{}",
        report.anomalies[0].witnesses[0].explanation.len()
    );
}

/// The invocation and the completion of a transaction.
fn both(process: u32, invoked: &str, ok: &str) -> String {
    format!(
        "{{:process {process}, :type :invoke, :f :txn, :value {invoked}}}\n{{:process {process}, :type :ok, :f :txn, :value {ok}}}\n"
    )
}

fn long_fork(text: &str) -> history_core::Report {
    LongFork::default().check(&history_core::History::parse(text).unwrap()).unwrap()
}

/// A completion that differs from its invocation may hide forks.
#[test]
fn a_completion_does_what_was_invoked() {
    let writes = both(0, "[[:w 0 1]]", "[[:w 0 1]]") + &both(0, "[[:w 1 1]]", "[[:w 1 1]]");
    let read = |ok: &str| both(1, "[[:r 0 nil] [:r 1 nil]]", ok);
    let first = read("[[:r 0 1] [:r 1 nil]]");
    assert_eq!(long_fork(&(writes.clone() + &first + &read("[[:r 1 1] [:r 0 nil]]"))).verdict, Verdict::Invalid);
    assert_eq!(long_fork(&(writes.clone() + &first + &read("[[:r 1 1] [:r 0 1]]"))).verdict, Verdict::Valid);
    let other = [
        read("[[:r 0 nil] [:r 2 1]]"),
        read("[[:r 0 1]]"),
        read("[]"),
        read("[[:w 0 2]]"),
        both(2, "[[:w 2 1]]", "[[:w 1 1]]"),
        both(2, "[[:w 2 1]]", "[[:w 2 2]]"),
        both(2, "[[:w 2 1]]", "[[:r 0 1] [:r 1 1]]"),
    ];
    for other in other {
        let report = long_fork(&(writes.clone() + &first + &other));
        assert_eq!(report.verdict, Verdict::Unknown, "{other}");
        let said = "the completion's micro-operations differ from its invocation's";
        assert!(report.notes.iter().any(|note| note.contains(said)), "{other}: {:?}", report.notes);
    }
    // Other reads fork nevertheless; and a read of one key with two values is reported as such.
    let fork = first.clone() + &read("[[:r 2 nil] [:r 3 nil]]") + &read("[[:r 1 1] [:r 0 nil]]");
    assert_eq!(long_fork(&(writes.clone() + &fork)).verdict, Verdict::Invalid);
    let twice = long_fork(&(writes + &first + &read("[[:r 0 1] [:r 0 nil] [:r 1 nil]]")));
    assert!(twice.notes.iter().any(|note| note.contains("shows the key 0 twice")), "{:?}", twice.notes);
}

#[test]
fn values_that_nobody_wrote_are_noted() {
    let noted = |text: &str| {
        let report = long_fork(text);
        assert_eq!(report.verdict, Verdict::Valid);
        report.notes.iter().find(|note| note.contains("no op writes")).cloned()
    };
    let read = both(1, "[[:r 0 nil] [:r 1 nil]]", "[[:r 0 2] [:r 1 nil]]");
    let write = |value: u32| both(0, &format!("[[:w 0 {value}]]"), &format!("[[:w 0 {value}]]"));
    assert_eq!(noted(&(write(2) + &read)), None);
    for text in [write(1) + &read, read.clone()] {
        assert_eq!(noted(&text).unwrap(), "Reads show 1 key with a value that no op writes.");
    }
}
