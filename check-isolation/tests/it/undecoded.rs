//! Tests what is certain in spite of undecoded ops, values that were written twice, and transactions without
//! timestamps: a minimal history of each kind, and random ones compared with their remainders.

use crate::timestamps;
use crate::worlds::Random;
use check_isolation::{Isolation, Level};
use history_core::{Checker, History, Report, Verdict};
use std::fmt::Write as _;

fn check(text: &str, level: &str) -> Report {
    let checker = Isolation { consistency_models: vec![level.parse().unwrap()], ..Isolation::default() };
    checker.check(&History::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))).unwrap()
}

/// Successive ops: process, type and value.
fn ops(ops: &[(u32, &str, &str)]) -> String {
    let line = |(process, kind, value): &(u32, &str, &str)| {
        format!("{{:process {process}, :type :{kind}, :f :txn, :value {value}}}\n")
    };
    ops.iter().map(line).collect()
}

/// A torn read of two keys, or a consistent one, followed by an operation of process 9.
fn beside(lists: bool, torn: bool, other: &[(&str, &str)]) -> String {
    let (write, y) = match (lists, torn) {
        (false, true) => ("[[:w x 1] [:w y 1]]", "[[:r x 1] [:r y nil]]"),
        (false, false) => ("[[:w x 1] [:w y 1]]", "[[:r x 1] [:r y 1]]"),
        (true, true) => ("[[:append x 1] [:append y 1]]", "[[:r x [1]] [:r y []]]"),
        (true, false) => ("[[:append x 1] [:append y 1]]", "[[:r x [1]] [:r y [1]]]"),
    };
    let mut all = vec![(0, "invoke", write), (0, "ok", write), (1, "invoke", "nil"), (1, "ok", y)];
    all.extend(other.iter().map(|(kind, value)| (9, *kind, *value)));
    ops(&all)
}

const LEVEL: &str = "read-atomic";

#[test]
fn what_failed_is_ignored_if_it_is_not_understood() {
    let failed: &[&[(&str, &str)]] = &[
        &[("invoke", ":junk"), ("fail", ":junk")],
        &[("invoke", "[[:frob x 2]]"), ("fail", "[[:frob x 2]]")],
        &[("invoke", "[[:r z nil]]"), ("fail", "[[:frob x 2]]")],
        &[("invoke", "nil"), ("fail", "{x 2}")],
    ];
    for (lists, torn, failed) in [false, true]
        .into_iter()
        .flat_map(|lists| [false, true].map(|torn| (lists, torn)))
        .flat_map(|(lists, torn)| failed.iter().map(move |failed| (lists, torn, failed)))
    {
        let text = beside(lists, torn, failed);
        let report = check(&text, LEVEL);
        let expected = if torn { Verdict::Invalid } else { Verdict::Valid };
        assert_eq!(report.verdict, expected, "{:?}\n{text}", report.notes);
        assert!(report.counts.iter().any(|(name, count)| name == "passed-over-count" && *count > 0), "{text}");
        let said = |note: &String| note.contains("not understand, because the operation failed");
        assert!(report.notes.iter().any(said), "{:?}", report.notes);
        // The store's timestamps are checked as well.
        let checker = Isolation { timestamps: true, ..Isolation::default() };
        let timed = checker.check(&History::parse(&text).unwrap()).unwrap();
        assert!(!timed.notes[0].starts_with("No verdict, because of the op"), "{:?}", timed.notes);
    }
    // The part that can be decoded counts as a failed transaction's writes.
    let read =
        [(9, "invoke", "[[:w x 1] [:frob y 1]]"), (9, "fail", "nil"), (0, "invoke", "nil"), (0, "ok", "[[:r x 1]]")];
    assert_eq!(check(&ops(&read), LEVEL).anomaly_types().collect::<Vec<_>>(), ["G1a"]);
    // A history of another kind remains one.
    let report = check(&ops(&[(0, "invoke", ":junk"), (0, "fail", ":junk")]), LEVEL);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].starts_with("No verdict, because of the op at index 0 (line 1)"), "{:?}", report.notes);
}

#[test]
fn first_states_count_beside_an_op_whose_writes_are_known() {
    let known: &[&[(&str, &str)]] = &[
        &[("invoke", "[[:r z nil]]"), ("ok", "[[:r z]]")],
        &[("invoke", "[[:r z nil]]"), ("ok", "{z 1}")],
        &[("invoke", "[[:r]]"), ("info", "nil")],
        &[("invoke", "[[:r]]")],
    ];
    let unknown: &[&[(&str, &str)]] = &[
        &[("invoke", ":junk")],
        &[("invoke", ":junk"), ("ok", ":junk")],
        &[("invoke", "[[:frob y 1]]"), ("info", "nil")],
        &[("invoke", "[[:r z nil]]"), ("ok", "[[:frob y 1]]")],
        &[("invoke", "nil"), ("ok", "{z 1}")],
    ];
    for lists in [false, true] {
        let write = if lists { "append" } else { "w" };
        let (one, two) = (format!("[[:{write} z 3]]"), format!("[[:{write} z 4]]"));
        let other: &[(&str, &str)] = &[("invoke", &one), ("ok", &two)];
        for (others, verdict) in [(known, Verdict::Invalid), (&[other], Verdict::Invalid), (unknown, Verdict::Unknown)]
        {
            for other in others {
                let text = beside(lists, true, other);
                let report = check(&text, LEVEL);
                assert_eq!(report.verdict, verdict, "{:?}\n{text}", report.notes);
                let says = if verdict == Verdict::Invalid { "The verdict ignores" } else { "No verdict, because of" };
                assert!(report.notes[0].starts_with(says), "{:?}", report.notes);
                assert_eq!(check(&beside(lists, false, other), LEVEL).verdict, Verdict::Unknown);
            }
        }
    }
    // An append never empties a list, whatever it appends.
    let append = beside(true, true, &[("invoke", "[[:append y]]"), ("ok", "[[:append y]]")]);
    assert_eq!(check(&append, LEVEL).verdict, Verdict::Invalid);
    // If its two ends differ, the value that it wrote is unknown.
    let differs = [(9, "invoke", "[[:w z 3]]"), (9, "ok", "[[:w z 4]]"), (0, "invoke", "nil"), (0, "ok", "[[:r z 5]]")];
    assert_eq!(check(&ops(&differs), "read-committed").verdict, Verdict::Unknown);
    let elsewhere =
        [(9, "invoke", "[[:w z 3]]"), (9, "ok", "[[:w z 4]]"), (0, "invoke", "nil"), (0, "ok", "[[:r x 5]]")];
    assert_eq!(check(&ops(&elsewhere), "read-committed").verdict, Verdict::Invalid);
}

#[test]
fn what_is_wrong_without_reads_of_values_that_were_written_twice_is_certain() {
    let twice = |write: &str, one: &str| {
        let value = format!("[[:{write} z 1]]");
        let all = [(8, &*value), (9, &value), (7, one)];
        let both = |(process, value)| [(process, "invoke", value), (process, "ok", value)];
        ops(&all.into_iter().flat_map(both).collect::<Vec<_>>())
    };
    for (lists, doubt) in [(false, twice("w", "[[:r z 1]]")), (true, twice("append", "[[:r z [1]]]"))] {
        let text = beside(lists, true, &[]) + &doubt;
        let report = check(&text, LEVEL);
        assert_eq!(report.verdict, Verdict::Invalid, "{:?}\n{text}", report.notes);
        assert!(
            report.notes[0].starts_with("The verdict ignores reads of values that were written twice: 1 was written")
        );
        assert!(report.is_partial && report.not_checked.contains(&"read-committed".into()), "{report:#?}");
        let report = check(&(beside(lists, false, &[]) + &doubt), LEVEL);
        assert_eq!(report.verdict, Verdict::Unknown, "{report:#?}");
        assert!(report.notes[0].starts_with("No verdict, because 1 was written to key z twice"), "{:?}", report.notes);
    }
    // An anomaly that only such a read shows is not certain.
    let only = [(0, "ok", "[[:w x 1] [:w y 1]]"), (8, "ok", "[[:w x 1]]"), (9, "ok", "[[:r x 1] [:r y nil]]")];
    let only = ops(&only);
    assert_eq!(check(&only, LEVEL).verdict, Verdict::Unknown);
}

/// A random transaction on three keys: its writes, and reads of written values.
fn random(source: &mut Random, txns: usize, lists: bool) -> Vec<String> {
    let (mut values, mut states) = ([0_u32; 3], vec![vec![Vec::new()]; 3]);
    let mut all = Vec::new();
    for _ in 0..txns {
        let mut mops = String::new();
        for key in 0..3 {
            if source.below(3) == 0 {
                continue;
            }
            if source.below(2) == 0 {
                // In the last key each value is written twice.
                let again = key == 2 && values[2] > 0 && source.below(2) == 0;
                values[key] += u32::from(!again);
                let mut state: Vec<u32> = states[key].last().expect("a first state").clone();
                state.push(values[key]);
                states[key].push(state);
                _ = write!(mops, "[:{} {key} {}] ", if lists { "append" } else { "w" }, values[key]);
            } else {
                let state = &states[key][source.below(states[key].len())];
                let last = state.last().map_or("nil".to_owned(), u32::to_string);
                let shown = if lists { format!("{state:?}").replace(',', "") } else { last };
                _ = write!(mops, "[:r {key} {shown}] ");
            }
        }
        all.push(mops);
    }
    all
}

fn completions(txns: &[String]) -> String {
    let line = |(at, mops): (usize, &String)| format!("{{:process {}, :type :ok, :f :txn, :value [{mops}]}}\n", at % 3);
    txns.iter().enumerate().map(line).collect()
}

/// If values were written twice, a violation must hold for every choice of their writers.
#[test]
fn what_is_certain_is_so_whoever_wrote_what_was_written_twice() {
    let levels = ["read-committed", "read-atomic", "causal-cerone", "prefix", "snapshot-isolation", "serializable"];
    let (mut source, mut certain) = (Random(77), [0; 2]);
    for round in 0..20_000 {
        let lists = round % 2 == 0;
        let txns = random(&mut source, 4 + round % 3, lists);
        let level = levels[round % levels.len()];
        let text = completions(&txns);
        let report = check(&text, level);
        if !report.notes.iter().any(|note| note.starts_with("The verdict ignores reads")) {
            continue;
        }
        certain[usize::from(lists)] += 1;
        // Each writer of a value of the last key gets its own value, and each read observed any of them.
        for number in 0..8 {
            let explained = distinct(&txns, lists, &mut Random(number));
            let other = check(&completions(&explained), level);
            assert_eq!(other.verdict, Verdict::Invalid, "{level}\n{text}\nis\n{}", completions(&explained));
        }
    }
    assert!(certain.iter().all(|certain| *certain > 100), "{certain:?}");
}

/// The same transactions, where each write of key 2 writes a distinct value, and each read of it observed a random one
/// of those that had its value. The content of a list cannot be chosen, so its reads are omitted.
fn distinct(txns: &[String], lists: bool, source: &mut Random) -> Vec<String> {
    let mops = |txn: &String| txn.split_inclusive("] ").map(str::to_owned).collect::<Vec<_>>();
    let value = |mop: &str| mop.trim_end_matches("] ").rsplit(' ').next().expect("a value").to_owned();
    let is_write = |mop: &str| mop.starts_with("[:w 2 ") || mop.starts_with("[:append 2 ");
    let mut written: Vec<(String, String)> = Vec::new();
    for mop in txns.iter().flat_map(mops).filter(|mop| is_write(mop)) {
        written.push((value(&mop), format!("{}", 100 + written.len())));
    }
    let (mut next, mut all) = (0, Vec::new());
    for txn in txns {
        let mut mine = String::new();
        for mop in mops(txn) {
            if is_write(&mop) {
                mine += &mop.replace(&format!(" {}]", value(&mop)), &format!(" {}]", written[next].1));
                next += 1;
            } else if mop.starts_with("[:r 2 ") && lists {
            } else if mop.starts_with("[:r 2 ") && !mop.contains("nil") {
                let same: Vec<&String> =
                    written.iter().filter(|(v, _)| *v == value(&mop)).map(|(_, new)| new).collect();
                _ = write!(mine, "[:r 2 {}] ", same[source.below(same.len())]);
            } else {
                mine += &mop;
            }
        }
        all.push(mine);
    }
    all
}

#[test]
fn timestamps_of_others_refute_a_level_beside_a_transaction_without_them() {
    let checker = |level: &str| Isolation {
        consistency_models: vec![level.parse().unwrap()],
        timestamps: true,
        ..Isolation::default()
    };
    let stale = |other: &str| {
        format!(
            "{{:process 0, :type :ok, :f :txn, :value [[:w x 1]], :start-ts 1, :commit-ts 2}}
             {{:process 1, :type :ok, :f :txn, :value [[:r x nil]], :start-ts 3, :commit-ts 3}}
             {{:process 2, :type :ok, :f :txn, :value [{other}]}}"
        )
    };
    for level in ["serializable", "snapshot-isolation", "prefix"] {
        let judge = |other: &str| checker(level).check(&History::parse(&stale(other)).unwrap()).unwrap();
        for other in ["[:w y 1]", "[:r x nil]"] {
            let report = judge(other);
            assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["timestamp-read"], "{level}: {report:#?}");
            assert!(
                report.is_partial && report.notes.iter().any(|note| note.contains("1 of 3 transactions lack them"))
            );
        }
        // The op may have written a value between the two.
        let report = judge("[:w x 2]");
        assert_eq!(report.verdict, Verdict::Unknown, "{level}: {report:#?}");
    }
}

/// A violation that does not involve a transaction without timestamps holds for any timestamps of it.
#[test]
fn what_is_wrong_without_some_timestamps_is_wrong_with_any() {
    let (mut source, mut found, mut open) = (Random(8), 0, 0);
    for round in 0..4000 {
        let mut txns = timestamps::random(&mut source, round % 2 == 0);
        let hidden = source.below(txns.len());
        let mut completions = 0;
        let line = |line: &str| {
            completions += usize::from(line.contains(":type :ok"));
            let is_hidden = line.contains(":type :ok") && completions == hidden + 1;
            let end = line.find(", :start-ts").filter(|_| is_hidden);
            end.map_or_else(|| line.to_owned(), |end| format!("{}}}", &line[..end])) + "\n"
        };
        let text: String = timestamps::text(&txns).lines().map(line).collect();
        let history = History::parse(&text).unwrap();
        for name in ["prefix", "snapshot-isolation", "strong-snapshot-isolation", "serializable", "strict-serializable"]
        {
            let level: Level = name.parse().unwrap();
            let (axiom, base) = level.decided_by().unwrap();
            let checker = Isolation { consistency_models: vec![level], timestamps: true, ..Isolation::default() };
            let report = checker.check(&history).unwrap();
            assert_ne!(report.verdict, Verdict::Valid, "{name}: {text}");
            if report.verdict == Verdict::Unknown {
                open += 1;
                continue;
            }
            found += 1;
            for _ in 0..20 {
                let start = i64::try_from(source.below(42)).unwrap();
                (txns[hidden].start, txns[hidden].commit) = (start, start + i64::try_from(source.below(5)).unwrap());
                assert!(
                    !timestamps::is_explained(&txns, axiom, base),
                    "{name}: {:?}: {report:#?}\n{text}",
                    txns[hidden]
                );
            }
        }
    }
    assert!(found > 3000 && open > 1000, "{found}, {open}");
}
