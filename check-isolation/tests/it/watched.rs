//! Compares histories that are checked while they are being written with each of their prefixes as a complete history.

use crate::worlds::Random;
use check_isolation::{Base, Isolation, Level};
use history_core::{Checker as _, History, Options, Verdict};
use std::fmt::Write as _;

/// A store that sometimes returns an old value, or another transaction's value before its commit.
struct Store {
    /// By key, all values in the order of the writes; 0 is the initial value.
    values: Vec<Vec<i64>>,
    lists: bool,
    next: i64,
    /// One read in this number is wrong.
    wrong_in: usize,
}

/// A transaction in progress: by key, a read, or the value to write.
type Txn = Vec<(usize, Option<i64>)>;

impl Store {
    fn draw(&mut self, source: &mut Random) -> Txn {
        (0..=source.below(2))
            .map(|_| {
                let key = source.below(self.values.len());
                let writes = source.below(2) == 0;
                self.next += i64::from(writes);
                (key, writes.then_some(self.next))
            })
            .collect()
    }

    fn read(&self, key: usize, source: &mut Random) -> String {
        let all = &self.values[key];
        let is_wrong = source.below(self.wrong_in) == 0;
        let last = if is_wrong { source.below(all.len()) } else { all.len() - 1 };
        if self.lists {
            return format!("{:?}", &all[1..=last]).replace(',', "");
        }
        if is_wrong && source.below(3) == 0 {
            // A value of a transaction that may write it, or will.
            return (self.next + 1 - i64::try_from(source.below(3)).unwrap()).max(1).to_string();
        }
        if last == 0 { "nil".into() } else { all[last].to_string() }
    }

    /// The micro-ops of a completion, which also updates the store, or of an invocation.
    fn shown(&mut self, txn: &Txn, source: &mut Random, executes: bool) -> String {
        let mut shown = String::new();
        for (key, write) in txn {
            _ = match write {
                Some(value) => write!(shown, "[:{} {key} {value}] ", if self.lists { "append" } else { "w" }),
                None if executes => write!(shown, "[:r {key} {}] ", self.read(*key, source)),
                None => write!(shown, "[:r {key} nil] "),
            };
            if let Some(value) = write.filter(|_| executes) {
                self.values[*key].push(value);
            }
        }
        format!("[{shown}]")
    }
}

/// The lines of a history with this number of events.
fn lines(source: &mut Random, events: usize, lists: bool, wrong_in: usize) -> Vec<String> {
    let mut store = Store { values: vec![vec![0]; 2], lists, next: 0, wrong_in };
    let mut clients: Vec<(usize, Option<Txn>)> = (0..3).map(|at| (at, None)).collect();
    let mut lines = Vec::new();
    for index in 0..events {
        let at = source.below(clients.len());
        let (process, open) = clients[at].clone();
        let (kind, value) = match &open {
            None => {
                let txn = store.draw(source);
                let value = store.shown(&txn, source, false);
                clients[at].1 = Some(txn);
                ("invoke", value)
            }
            Some(txn) => {
                let kind = ["fail", "info", "ok", "ok", "ok", "ok", "ok", "ok"][source.below(8)];
                // A failed transaction that happened nevertheless is soon read.
                let executes = kind == "ok" || (kind == "info" || events < 64) && source.below(4) == 0;
                let value = store.shown(txn, source, executes);
                clients[at] = (if kind == "info" { process + 3 } else { process }, None);
                (kind, value)
            }
        };
        lines.push(format!("{{:index {index} :process {process} :type :{kind} :f :txn :value {value}}}\n"));
    }
    lines
}

/// The lengths of the first violating prefixes: if values that were read may be written later, and if not. With real
/// time they may not.
fn first_violated(checker: &Isolation, lines: &[String]) -> [Option<usize>; 2] {
    let has_real_time = checker
        .consistency_models
        .iter()
        .all(|level| level.decided_by().is_some_and(|(_, base)| base == Base::RealTime));
    // This op may have written anything.
    let unsaid = "{:index 9999 :process 99 :type :invoke :f :txn :value nil}\n";
    [if has_real_time { "" } else { unsaid }, ""].map(|end| {
        (1..=lines.len()).find(|count| {
            let text = lines[..*count].concat() + end;
            checker.check(&History::parse(&text).unwrap()).unwrap().verdict == Verdict::Invalid
        })
    })
}

fn hold(level: &str, events: usize, lists: bool, rounds: usize, wrong_in: usize) {
    let level: Level = level.parse().unwrap();
    let checker = Isolation { consistency_models: vec![level], distinct_values: true, ..Isolation::default() };
    let (mut source, mut violated, mut earlier) = (Random(events as u64), 0, 0);
    for _ in 0..rounds {
        let lines = lines(&mut source, events, lists, wrong_in);
        let text = lines.concat();
        let history = History::parse(&text).unwrap();
        let mut run = checker.start_online(&Options::new()).unwrap();
        let mut seen = None;
        for (at, op) in history.ops().enumerate() {
            assert!(run.observe(&op).unwrap().is_continue(), "{text}");
            if run.is_violated() {
                seen.get_or_insert(at + 1);
            }
        }
        // A read of an empty list is certain here, because no op empties a list.
        let [expected, earliest] = first_violated(&checker, &lines);
        let is_earlier = |seen: usize| {
            lists && expected.is_none_or(|first| seen < first) && earliest.is_some_and(|first| seen >= first)
        };
        let expected = seen.filter(|seen| events <= 64 && is_earlier(*seen)).or(expected);
        earlier += usize::from(seen.is_some_and(is_earlier));
        violated += usize::from(expected.is_some());
        if events <= 64 {
            assert_eq!(seen, expected, "{level}\n{text}");
        } else if let Some(first) = expected {
            assert!(seen.is_none_or(|seen| seen >= first && seen - first <= events / 8 + 1), "{text}");
        } else {
            assert_eq!(seen, None, "{text}");
        }
        if let Some(report) = run.violation() {
            let first = expected.unwrap() - 1;
            let note = format!("the op at index {first} is the first that proves the violation");
            assert!(report.notes.iter().any(|other| other.contains(&note)), "{:?}, not {first}\n{text}", report.notes);
            assert!(report.not.iter().chain(&report.also_not).any(|not| *not == level.name()), "{report:?}");
        }
        // A violation is permanent, and the final report leaves nothing open that was found before.
        let whole = run.finish(&history_core::Budget::default()).unwrap();
        let batch = checker.check(&history).unwrap();
        assert_eq!(whole.verdict, batch.verdict, "{level}\n{text}");
        assert!(expected.is_none() || whole.verdict == Verdict::Invalid, "{level}\n{text}");
    }
    assert!(violated > rounds / 8 && violated < rounds - rounds / 16, "{level}: {violated} of {rounds}");
    assert!(earlier <= rounds / 16, "{level}: {earlier} of {rounds}");
}

#[test]
fn each_op_of_small_histories() {
    for lists in [false, true] {
        for level in
            ["strict-serializable", "serializable", "strong-session-snapshot-isolation", "strong-snapshot-isolation"]
        {
            let wrong_in = if level.starts_with("strict") { 20 } else { 6 };
            hold(level, 24, lists, 150, wrong_in);
        }
    }
}

#[test]
fn larger_histories_name_the_op() {
    hold("strict-serializable", 400, false, 12, 300);
    hold("serializable", 400, true, 12, 600);
}

/// The second transaction contradicts itself, whatever is written later.
#[test]
fn a_read_of_what_nobody_wrote_hides_no_other_violation() {
    let text = "
        {:process 0, :type :invoke, :f :txn, :value [[:r :x nil]]}
        {:process 0, :type :ok, :f :txn, :value [[:r :x [6]]]}
        {:process 1, :type :invoke, :f :txn, :value [[:append :y 1] [:r :y nil]]}
        {:process 1, :type :ok, :f :txn, :value [[:append :y 1] [:r :y []]]}
        {:process 2, :type :invoke, :f :txn, :value [[:append :x 6]]}
        {:process 2, :type :ok, :f :txn, :value [[:append :x 6]]}";
    let checker = Isolation {
        consistency_models: vec!["prefix".parse().unwrap()],
        distinct_values: true,
        ..Isolation::default()
    };
    let history = History::parse(text).unwrap();
    let mut run = checker.start_online(&Options::new()).unwrap();
    for op in history.ops() {
        assert!(run.observe(&op).unwrap().is_continue());
        assert_eq!(run.is_violated(), op.index >= 3, "at {}", op.index);
    }
    let report = run.violation().unwrap();
    assert_eq!(report.anomalies.iter().map(|anomaly| &*anomaly.name).collect::<Vec<_>>(), ["internal"]);
    assert!(report.notes.iter().any(|note| note.contains("the op at index 3 is the first")), "{:?}", report.notes);
    assert_eq!(run.finish(&history_core::Budget::default()).unwrap().verdict, Verdict::Invalid);
}

/// The writer of a value may become known only later: if ops have no invocations, or invocations have no writes.
#[test]
fn what_is_written_later_may_have_been_read() {
    let without_invocations = "
        {:process 0, :type :ok, :f :txn, :value [[:r :x 1]]}
        {:process 1, :type :ok, :f :txn, :value [[:w :x 1]]}";
    let without_values = "
        {:process 0, :type :invoke, :f :txn, :value nil}
        {:process 1, :type :invoke, :f :txn, :value nil}
        {:process 1, :type :ok, :f :txn, :value [[:r :x 1]]}
        {:process 0, :type :ok, :f :txn, :value [[:w :x 1]]}";
    for text in [without_invocations, without_values] {
        let checker = Isolation { distinct_values: true, ..Isolation::default() };
        let history = History::parse(text).unwrap();
        let mut run = checker.start_online(&Options::new()).unwrap();
        for op in history.ops() {
            assert!(run.observe(&op).unwrap().is_continue());
            assert!(!run.is_violated(), "at {} of {text}", op.index);
        }
        assert_eq!(run.finish(&history_core::Budget::default()).unwrap().verdict, Verdict::Valid, "{text}");
    }
}

/// An op whose writes stay unknown may have written the value that was read; any other violation remains.
#[test]
fn what_is_never_said_may_have_been_written() {
    let check = |end: &str, other: &str| {
        let text = format!(
            "{{:process 0, :type :invoke, :f :txn, :value nil}}
            {{:process 1, :type :invoke, :f :txn, :value [[:r :x nil]]}}
            {{:process 1, :type :ok, :f :txn, :value [[:r :x 1]]}}
            {end}
            {other}"
        );
        Isolation::default().check(&History::parse(&text).unwrap()).unwrap()
    };
    for unknown in
        ["", "{:process 0, :type :info, :f :txn, :value nil}", "{:process 0, :type :ok, :f :txn, :value nil}"]
    {
        let report = check(unknown, "");
        assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Unknown, 0), "{unknown}");
        assert!(report.notes.iter().any(|note| note.contains("says what it wrote")), "{:?}", report.notes);
        assert!(report.not_checked.iter().any(|level| level == "read-committed"), "{:?}", report.not_checked);
        let internal = "{:process 3, :type :invoke, :f :txn, :value [[:w :y 1] [:r :y nil]]}
            {:process 3, :type :ok, :f :txn, :value [[:w :y 1] [:r :y 2]]}";
        assert_eq!(check(unknown, internal).verdict, Verdict::Invalid, "{unknown}");
    }
    for known in [
        "{:process 0, :type :fail, :f :txn, :value nil}",
        "{:process 0, :type :info, :f :txn, :value [[:w :y 1]]}",
        "{:process 0, :type :ok, :f :txn, :value []}",
    ] {
        let report = check(known, "");
        assert_eq!(report.verdict, Verdict::Invalid, "{known}");
        assert_eq!(report.anomalies[0].name, "thin-air-read");
    }
    assert_eq!(check("{:process 0, :type :ok, :f :txn, :value [[:w :x 1]]}", "").verdict, Verdict::Valid);
}
