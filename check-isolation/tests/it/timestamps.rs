//! Compares timestamps with their definition, which is applied here pair by pair, and histories checked while they are
//! written with those checked at the end.

use crate::worlds::Random;
use check_isolation::{Axiom, Base, Isolation, Level};
use history_core::{Budget, Checker, History, Options, Report, Verdict};
use std::fmt::Write as _;

/// A transaction of a small history; the value 0 is the initial state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Txn {
    process: usize,
    pub(crate) start: i64,
    pub(crate) commit: i64,
    reads: Vec<(usize, i64)>,
    writes: Vec<(usize, i64)>,
    /// The number of transactions that had completed when it was invoked.
    behind: usize,
}

impl Txn {
    pub(crate) fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    fn writes(&self, key: usize) -> Option<i64> {
        self.writes.iter().find(|(other, _)| *other == key).map(|(_, value)| *value)
    }

    fn is_instant(&self) -> bool {
        self.start == self.commit
    }
}

/// The text of a history in which transactions complete in this order.
pub(crate) fn text(txns: &[Txn]) -> String {
    let mut text = String::new();
    let invoke = |text: &mut String, behind: usize, txns: &[Txn]| {
        for txn in txns.iter().filter(|txn| txn.behind == behind) {
            _ = writeln!(text, "{{:process {}, :type :invoke, :f :txn, :value nil}}", txn.process);
        }
    };
    for (at, txn) in txns.iter().enumerate() {
        invoke(&mut text, at, txns);
        let read = |(key, value): &(usize, i64)| match value {
            0 => format!("[:r {key} nil]"),
            value => format!("[:r {key} {value}]"),
        };
        let mut mops: Vec<String> = txn.reads.iter().map(read).collect();
        mops.extend(txn.writes.iter().map(|(key, value)| format!("[:w {key} {value}]")));
        _ = writeln!(
            text,
            "{{:process {}, :type :ok, :f :txn, :value [{}], :start-ts {}, :commit-ts [{} 0]}}",
            txn.process,
            mops.join(" "),
            txn.start,
            txn.commit
        );
    }
    text
}

/// Returns true if timestamps explain a history, by the definition.
pub(crate) fn is_explained(txns: &[Txn], axiom: Axiom, base: Base) -> bool {
    let commits = axiom == Axiom::Serializable;
    let writes_any = |txn: &Txn| !txn.writes.is_empty();
    if txns.iter().any(|txn| txn.commit < txn.start) {
        return false;
    }
    for (a, one) in txns.iter().enumerate() {
        for (b, other) in txns.iter().enumerate().filter(|(b, _)| *b != a) {
            let shares = one.writes.iter().any(|(key, _)| other.writes(*key).is_some());
            let reads = one.reads.iter().any(|(key, _)| other.writes(*key).is_some());
            let at_once = commits || one.is_instant() && other.is_instant();
            if one.commit == other.commit && writes_any(one) && (shares || reads && at_once) {
                return false;
            }
            if axiom == Axiom::Snapshot && shares && one.start < other.commit && other.start < one.commit {
                return false;
            }
            let before = match base {
                Base::None => false,
                Base::Session => one.process == other.process && a < b,
                Base::RealTime => a < other.behind || one.process == other.process && a < b,
            };
            if before && !may_follow(one, other, commits) {
                return false;
            }
        }
        for (key, value) in &one.reads {
            let is_visible = |other: &&Txn| match commits {
                true if writes_any(one) => other.commit < one.commit,
                true => other.commit <= one.commit,
                false => other.commit <= one.start,
            };
            let others = txns.iter().enumerate().filter(|(b, _)| *b != a).map(|(_, other)| other);
            let last =
                others.filter(|other| other.writes(*key).is_some()).filter(is_visible).max_by_key(|other| other.commit);
            if last.map_or(0, |last| last.writes(*key).unwrap()) != *value {
                return false;
            }
        }
    }
    true
}

/// Returns true if the clock permits one transaction to follow another. One that reads and writes at the same time
/// precedes those that only read then, which observe it.
fn may_follow(one: &Txn, other: &Txn, commits: bool) -> bool {
    let (over, begun) = (one.commit, if commits { other.commit } else { other.start });
    let reads_only = one.writes.is_empty();
    let writes_at_once = !other.writes.is_empty() && (commits || other.is_instant());
    over < begun || over == begun && !(reads_only && writes_at_once)
}

/// A random history; most reads have the result that a store with this clock would return.
pub(crate) fn random(random: &mut Random, sees_commits: bool) -> Vec<Txn> {
    let n = 2 + random.below(4);
    let keys = 1 + random.below(2);
    let range = [4, 8, 40][random.below(3)];
    let mut next = 0;
    let mut txns = vec![Txn::default(); n];
    let stamp = |random: &mut Random| i64::try_from(random.below(range)).unwrap();
    let is_skewed = random.below(3) == 0;
    let mut times: Vec<i64> = (0..n).map(|_| stamp(random)).collect();
    times.sort_unstable();
    for (at, txn) in txns.iter_mut().enumerate() {
        txn.process = random.below(3);
        (txn.start, txn.commit) = if is_skewed {
            (stamp(random), stamp(random))
        } else {
            (times[at], times[at] + i64::try_from(random.below(3)).unwrap())
        };
        for key in 0..keys {
            if random.below(2) == 0 {
                next += 1;
                txn.writes.push((key, next));
            }
        }
    }
    let whole = txns.clone();
    for at in 0..n {
        for key in 0..keys {
            let limit = if sees_commits { txns[at].commit } else { txns[at].start };
            let others = whole.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
            let writers: Vec<&Txn> = others.filter(|other| other.writes(key).is_some()).collect();
            let last = writers.iter().filter(|other| other.commit <= limit).max_by_key(|other| other.commit);
            let value = if random.below(8) == 0 && !writers.is_empty() {
                writers[random.below(writers.len())].writes(key)
            } else {
                last.and_then(|last| last.writes(key))
            };
            if random.below(2) == 0 {
                txns[at].reads.push((key, value.unwrap_or(0)));
            }
        }
        // Its process has no other transaction in flight.
        let free = (0..at).rev().find(|other| txns[*other].process == txns[at].process).map_or(0, |other| other + 1);
        txns[at].behind = free + random.below(at - free + 1);
    }
    txns
}

fn judge(history: &History, level: Level) -> Report {
    Isolation { consistency_models: vec![level], timestamps: true, ..Isolation::default() }.check(history).unwrap()
}

const CLOCK: [&str; 2] = ["clock-skew", "equal-timestamps"];

#[test]
fn small_histories_agree_with_the_definition() {
    let defined = |level: &Level| {
        level.decided_by().is_some_and(|(axiom, _)| axiom >= Axiom::Prefix && axiom != Axiom::ParallelSnapshot)
    };
    let levels: Vec<Level> = Level::all().filter(defined).collect();
    let (mut source, mut explained, mut violated, mut clock_only) = (Random(5), 0, 0, 0);
    for round in 0..6000 {
        let txns = random(&mut source, round % 2 == 0);
        if txns.iter().all(Txn::is_empty) {
            continue;
        }
        let history = History::parse(&text(&txns)).unwrap();
        for level in &levels {
            let (axiom, base) = level.decided_by().unwrap();
            let report = judge(&history, *level);
            let expected = if is_explained(&txns, axiom, base) { Verdict::Valid } else { Verdict::Invalid };
            assert_eq!(report.verdict, expected, "{level}: {report:#?}\n{}", text(&txns));
            assert!(report.not.is_empty(), "times are refuted, not a level");
            if expected == Verdict::Valid {
                explained += 1;
                let exact = Isolation { consistency_models: vec![*level], ..Isolation::default() };
                assert_eq!(exact.check(&history).unwrap().verdict, Verdict::Valid, "{level}: {}", text(&txns));
            } else {
                violated += 1;
                clock_only += usize::from(report.anomaly_types().all(|name| CLOCK.contains(&name)));
            }
        }
    }
    assert!(explained > 3000 && violated > 3000 && clock_only > 500, "{explained}, {violated}, {clock_only}");
}

/// A violation found while the history is being written is permanent, and almost none is found only at the end.
#[test]
fn what_watching_finds_is_wrong_at_the_end() {
    let (mut source, mut early, mut found, mut missed) = (Random(6), 0, 0, 0);
    for round in 0..6000 {
        let txns = random(&mut source, round % 2 == 0);
        if txns.iter().all(Txn::is_empty) {
            continue;
        }
        let history = History::parse(&text(&txns)).unwrap();
        for name in ["snapshot-isolation", "prefix", "strong-snapshot-isolation", "serializable", "strict-serializable"]
        {
            let level: Level = name.parse().unwrap();
            let models = vec![level];
            let checker = Isolation {
                consistency_models: models,
                timestamps: true,
                distinct_values: true,
                ..Isolation::default()
            };
            let mut run = checker.start(&Options::new()).unwrap();
            let mut at = None;
            for (index, op) in history.ops().enumerate() {
                assert!(run.observe(&op).unwrap().is_continue());
                if run.is_violated() && at.is_none() {
                    at = Some(index);
                    let report = run.violation().expect("it is violated");
                    assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Invalid, 1), "{report:#?}");
                }
            }
            let report = run.finish(&Budget::default()).unwrap();
            match at {
                Some(index) => {
                    assert_eq!(report.verdict, Verdict::Invalid, "{name}: {}", text(&txns));
                    found += 1;
                    early += usize::from(index + 1 < history.len());
                }
                // The order of a reader and a writer with the same timestamp is checked at the end.
                None if report.verdict == Verdict::Invalid => {
                    missed += 1;
                    assert_eq!(report.anomaly_types().next(), Some("equal-timestamps"), "{name}: {}", text(&txns));
                }
                None => {}
            }
        }
    }
    assert!(found > 5000 && early > 2000 && missed < found / 10, "{found}, {early}, {missed}");
}

/// Completions with timestamps: `process type start commit micro-ops`; `-` stands for no timestamp.
fn completions(txns: &[&str]) -> String {
    let line = |txn: &&str| {
        let parts: Vec<&str> = txn.splitn(5, ' ').collect();
        let field = |name: &str, value: &str| if value == "-" { String::new() } else { format!(", :{name} {value}") };
        format!(
            "{{:process {}, :type :{}, :f :txn, :value [{}]{}{}}}\n",
            parts[0],
            parts[1],
            parts[4],
            field("start-ts", parts[2]),
            field("commit-ts", parts[3])
        )
    };
    txns.iter().map(line).collect()
}

fn judge_text(txns: &[&str], level: &str) -> Report {
    judge(&History::parse(&completions(txns)).unwrap(), level.parse().unwrap())
}

#[test]
fn evidence_names_transactions_and_times() {
    let stale = ["0 ok 1 2 [:w x 1]", "1 ok 3 4 [:w x 2]", "2 ok 5 5 [:r x 1]"];
    let early = ["0 ok 1 9 [:w x 1]", "1 ok 3 4 [:r x 1]"];
    let overlap = ["0 ok 1 9 [:w x 1]", "1 ok 3 4 [:w x 2]"];
    let backwards = ["0 ok 9 1 [:w x 1]"];
    let session = ["0 ok 1 5 [:w x 1]", "0 ok 3 6 [:r y nil]"];
    let tie = ["0 ok 1 5 [:w x 1]", "1 ok 5 5 [:w x 2]"];
    for (txns, name, level, sentence) in [
        (
            &stale[..],
            "timestamp-read",
            "snapshot-isolation",
            "T1 started at 5, after that, and still read [:r x 1]: it missed a write!",
        ),
        (
            &early,
            "timestamp-read",
            "prefix",
            "T1 started at 3, before that, and read [:r x 1]: it saw what was not committed yet!",
        ),
        (
            &overlap,
            "timestamp-overlap",
            "snapshot-isolation",
            "T1 started at 1, before that, and wrote key x too: they overlap!",
        ),
        (
            &backwards,
            "clock-skew",
            "serializable",
            "T1 committed at 1, before it started, at 9: the clock went backwards!",
        ),
        (
            &session,
            "clock-skew",
            "strong-session-snapshot-isolation",
            "T1 started at 3, and T2 committed only at 5: the clock is skewed!",
        ),
        (
            &tie,
            "equal-timestamps",
            "serializable",
            "T1 and T2 both committed at 5, so timestamps do not say which of them came first to key x.",
        ),
    ] {
        let report = judge_text(txns, level);
        assert_eq!(
            (report.verdict, report.anomaly_types().collect::<Vec<_>>()),
            (Verdict::Invalid, vec![name]),
            "{report:#?}"
        );
        let explanation = &report.anomalies[0].witnesses[0].explanation;
        assert!(explanation.contains(sentence), "{explanation}");
    }
    let note = &judge_text(&session, "strong-session-snapshot-isolation").notes[0];
    assert!(note.contains("the clock contradicts the history or itself"), "{note}");
    // Without sessions this is no violation, but the report mentions it.
    let bare = judge_text(&session, "snapshot-isolation");
    assert_eq!(bare.verdict, Verdict::Valid);
    assert!(
        bare.notes[0].starts_with("The clock is skewed: it contradicts the order of transactions in a session 1 times"),
        "{bare:#?}"
    );
}

#[test]
fn without_a_level_the_strongest_that_timestamps_explain_are_named() {
    let skew = ["0 ok 1 5 [:r x nil] [:w y 1]", "1 ok 2 6 [:r y nil] [:w x 1]"];
    let checker = Isolation { timestamps: true, ..Isolation::default() };
    let report = checker.check(&History::parse(&completions(&skew)).unwrap()).unwrap();
    assert_eq!(report.verdict, Verdict::Invalid);
    let note = "The strongest levels that these timestamps explain: strong-snapshot-isolation.";
    assert!(report.notes.iter().any(|one| one == note), "{report:#?}");
}

#[test]
fn transactions_without_timestamps_leave_the_level_open() {
    let some = ["0 ok 1 2 [:w x 1]", "1 ok - - [:r x 1]", "2 ok 3 - [:r x 1]", "2 ok 3 - [:w x 2]"];
    let report = judge_text(&some, "snapshot-isolation");
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("2 of 4 transactions lack them, the first at index 1."), "{report:#?}");
    // Serializable needs only commits, and transactions that write nothing need one timestamp.
    let commits = ["0 ok - 2 [:w x 1]", "1 ok 3 - [:r x 1]", "2 ok - 5 [:r x 1] [:w x 2]"];
    assert_eq!(judge_text(&commits, "serializable").verdict, Verdict::Valid);
    assert_eq!(judge_text(&commits, "snapshot-isolation").verdict, Verdict::Unknown);
    let causal = judge_text(&commits, "causal-cerone");
    assert_eq!(causal.verdict, Verdict::Valid, "serializable implies it");
    let open = judge_text(&["0 ok 1 2 [:w x 1]", "1 ok 3 4 [:r x nil]"], "causal-cerone");
    assert_eq!(open.verdict, Verdict::Unknown);
    assert!(open.notes[0].contains("causal-cerone has no definition by timestamps"), "{open:#?}");
}

#[test]
fn what_has_an_unknown_end_happened_if_it_has_a_timestamp() {
    let timed = ["0 info 1 2 [:w x 1]", "1 ok 3 4 [:r x nil]"];
    assert_eq!(judge_text(&timed, "snapshot-isolation").verdict, Verdict::Invalid);
    let unseen = ["0 info - - [:w x 1]", "1 ok 3 4 [:r x nil]"];
    assert_eq!(judge_text(&unseen, "snapshot-isolation").verdict, Verdict::Valid);
    let seen = judge_text(&["0 info - - [:w x 1]", "1 ok 3 4 [:r x 1]"], "snapshot-isolation");
    assert_eq!(seen.verdict, Verdict::Unknown);
    assert!(seen.notes[0].contains("neither the end nor a timestamp is known"), "{seen:#?}");
    let lists =
        ["0 ok 1 2 [:append x 1]", "0 info - - [:append x 2]", "1 ok 3 4 [:append x 3]", "2 ok 5 5 [:r x [1 2 3]]"];
    assert_eq!(judge_text(&lists, "snapshot-isolation").verdict, Verdict::Unknown);
}

#[test]
fn values_may_be_written_twice() {
    let twice =
        ["0 ok 1 2 [:w x 1]", "1 ok 3 4 [:w x 2]", "0 ok 5 6 [:w x 1]", "2 ok 7 7 [:r x 1]", "3 ok 4 4 [:r x 2]"];
    assert_eq!(judge_text(&twice, "strong-session-snapshot-isolation").verdict, Verdict::Valid);
    let wrong = judge_text(&[&twice[..], &["4 ok 4 4 [:r x 1]"]].concat(), "snapshot-isolation");
    assert_eq!(wrong.anomaly_types().collect::<Vec<_>>(), ["timestamp-read"]);
    let checker = Isolation { timestamps: true, distinct_values: true, ..Isolation::default() };
    let report = checker.check(&History::parse(&completions(&twice)).unwrap()).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("as the one at index 0 had"), "{report:#?}");
    // The failed transaction did not write it, whatever its timestamps: the read at 9 misses the write at 4.
    let failed = ["0 ok 1 1 [:w x 1]", "1 ok 2 4 [:w x 2]", "2 fail 3 4 [:w x 1]", "3 ok 9 9 [:r x 1]"];
    let stale = judge_text(&failed, "serializable");
    assert_eq!(stale.anomaly_types().collect::<Vec<_>>(), ["timestamp-read"], "{stale:#?}");
    // A transaction with an unknown outcome may have written it, whatever the order.
    let (first, open, again) = ("0 ok 1 2 [:w x 5]", "1 info - - [:w x 5]", "2 ok 3 4 [:w x 5]");
    for writers in [[first, open, again], [first, again, open], [open, first, again]] {
        let txns = [&writers[..], &["3 ok 5 6 [:w x 6]", "4 ok 7 8 [:r x 5]"]].concat();
        assert_eq!(judge_text(&txns, "snapshot-isolation").verdict, Verdict::Unknown, "{txns:?}");
    }
}

/// A certain violation remains if the whole history cannot be checked.
#[test]
fn what_watching_finds_stays() {
    let backwards = ["0 info 21 3 [:w x 1]"];
    let incomplete = ["0 ok 1 - [:w x 1]", "1 ok 9 3 [:w x 2]"];
    for txns in [&backwards[..], &incomplete] {
        let models = vec!["snapshot-isolation".parse().unwrap()];
        let checker =
            Isolation { consistency_models: models, timestamps: true, distinct_values: true, ..Isolation::default() };
        let report = checker.check(&History::parse(&completions(txns)).unwrap()).unwrap();
        assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["clock-skew"], "{txns:?}: {report:#?}");
        assert_eq!(report.verdict, Verdict::Invalid);
    }
}

#[test]
fn lists_are_judged_by_all_of_their_elements() {
    let right = [
        "0 ok 1 2 [:append x 1]",
        "1 ok 3 4 [:append x 2] [:append x 3]",
        "2 ok 3 5 [:append y 1] [:r x [1]]",
        "2 ok 6 7 [:r x [1 2 3]]",
    ];
    assert_eq!(judge_text(&right, "strong-session-snapshot-isolation").verdict, Verdict::Valid);
    // The last element is the expected one; the order of the elements before it is not.
    let order =
        ["0 ok 1 2 [:append x 1]", "1 ok 3 4 [:append x 2]", "1 ok 5 6 [:append x 3]", "2 ok 7 7 [:r x [2 1 3]]"];
    let report = judge_text(&order, "snapshot-isolation");
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["timestamp-read"], "{report:#?}");
}

#[test]
fn what_is_no_timestamp_is_named_with_its_place() {
    let report = judge_text(&["0 ok 1 2 [:w x 1]", "1 ok \"3\" 4 [:r x 1]"], "snapshot-isolation");
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(
        report.notes[0].contains("start-ts is \"3\": expected a timestamp, an integer or [physical logical]"),
        "{report:#?}"
    );
    // An anomaly that does not depend on the times is reported as without them.
    let aborted = judge_text(&["0 fail - - [:w x 1]", "1 ok 3 4 [:r x 1]"], "snapshot-isolation");
    assert_eq!(aborted.anomaly_types().collect::<Vec<_>>(), ["G1a"]);
    assert_eq!(aborted.not, ["read-committed"]);
}

#[test]
fn a_history_with_timestamps_says_how_to_use_them() {
    let txns = ["0 ok 1 2 [:w x 1]", "1 ok 3 4 [:r x 1]"];
    let report = Isolation::default().check(&History::parse(&completions(&txns)).unwrap()).unwrap();
    assert!(report.notes.iter().any(|note| note.contains("use --timestamps to check them")), "{report:#?}");
}

#[test]
fn the_order_of_timestamps_is_reported_if_asked_for() {
    let txns = ["0 ok 1 5 [:w x 1]", "1 ok 2 4 [:r x nil] [:w y 1]", "2 ok 5 5 [:r x 1]"];
    let history = History::parse(&completions(&txns)).unwrap();
    let order = |level: &str| {
        let models = vec![level.parse().unwrap()];
        let checker =
            Isolation { consistency_models: models, timestamps: true, explain_valid: true, ..Isolation::default() };
        let report = checker.check(&history).unwrap();
        let file = report.artifacts.iter().find(|file| file.path == format!("{level}-order.txt")).unwrap();
        String::from_utf8(file.content.clone()).unwrap().replace('\n', ", ")
    };
    assert_eq!(order("snapshot-isolation"), "begin 0, begin 1, commit 1, commit 0, begin 2, commit 2");
    assert_eq!(order("serializable"), "1, 0, 2");
}

/// An op without micro-ops at either end may have written any value that no other op wrote, whatever its timestamps.
#[test]
fn what_is_never_said_may_have_been_written() {
    let read = "{:process 0, :type :invoke, :f :txn, :value [[:r :y nil]]}
        {:process 0, :type :ok, :f :txn, :value [[:r :y 2]], :start-ts 3, :commit-ts 4}";
    let invoked = "{:process 1, :type :invoke, :f :txn, :value nil}";
    let ends = [
        ("", Verdict::Unknown),
        ("{:process 1, :type :ok, :f :txn, :value nil}", Verdict::Unknown),
        ("{:process 1, :type :ok, :f :txn, :value nil, :start-ts 1, :commit-ts 2}", Verdict::Unknown),
        ("{:process 1, :type :info, :f :txn, :value nil}", Verdict::Unknown),
        ("{:process 1, :type :fail, :f :txn, :value nil}", Verdict::Invalid),
    ];
    for level in ["serializable", "snapshot-isolation"] {
        for (end, verdict) in ends {
            let text = format!("{invoked} {end} {read}");
            let report = judge(&History::parse(&text).unwrap(), level.parse().unwrap());
            assert_eq!(report.verdict, verdict, "{level} {end}: {:?}", report.notes);
        }
        // A read of a value that was written too late is nevertheless wrong.
        let late = format!(
            "{invoked} {read} {{:process 2, :type :invoke, :f :txn, :value [[:w :y 2]]}}
            {{:process 2, :type :ok, :f :txn, :value [[:w :y 2]], :start-ts 5, :commit-ts 6}}"
        );
        let report = judge(&History::parse(&late).unwrap(), level.parse().unwrap());
        assert_eq!(report.verdict, Verdict::Invalid, "{level}: {:?}", report.notes);
    }
}
