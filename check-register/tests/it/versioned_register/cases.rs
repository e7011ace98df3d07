//! Cases: the smallest history of each kind of violation, and boundary cases.

use super::certify::certify;
use check_register::versioned_register::{VersionedRegister, check};
use history_core::{Budget, Checker, History, OptionError, Options, Reader, Report, Verdict};
use std::fmt::Write;
use std::num::NonZeroU32;

fn judge_with(text: &str, checker: &VersionedRegister) -> Report {
    check(&History::parse(text).unwrap(), checker).unwrap()
}

fn judge(text: &str) -> Report {
    judge_with(text, &VersionedRegister::default())
}

fn valid(text: &str) {
    let report = judge(text);
    assert_eq!((report.verdict, report.notes), (Verdict::Valid, vec![]), "{text}");
}

/// The only kind of anomaly in a history, with certified witnesses.
fn one(report: &Report, text: &str) -> String {
    assert_eq!(report.verdict, Verdict::Invalid, "{text}");
    let history = History::parse(text).unwrap();
    let names: Vec<&str> = report.anomaly_types().collect();
    for anomaly in &report.anomalies {
        assert_eq!(certify(&history, anomaly), Ok(()));
    }
    names.join(" ")
}

fn note(report: &Report) -> &str {
    assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Unknown, 0));
    let [note] = &report.notes[..] else { panic!("{:?}", report.notes) };
    note
}

/// `p w b a` invokes a write of b that replaces a by process p, with the position of the id in the alphabet as its
/// value; `p r` invokes a read. `p ok` and similar complete it; `p ok b` or `p ok b 7` give the result of a read.
fn ops(lines: &str) -> String {
    let mut text = String::new();
    let mut writes = std::collections::BTreeMap::new();
    let value = |id: &str| i64::from(id.as_bytes()[0] - b'a');
    for (time, words) in lines.split(',').map(|line| line.split_whitespace().collect::<Vec<_>>()).enumerate() {
        let (process, rest) = (words[0], &words[1..]);
        let _ = match rest {
            ["w", id, prev] => {
                let write = format!(":f :write, :value {}, :write-id {id:?}, :prev-write-id {prev:?}", value(id));
                let op = writeln!(text, "{{:process {process}, :time {time}, :type :invoke, {write}}}");
                writes.insert(process, write);
                op
            }
            ["r"] => {
                writes.remove(process);
                writeln!(text, "{{:process {process}, :time {time}, :type :invoke, :f :read, :value nil}}")
            }
            [kind, shown @ ..] => {
                let call = match (writes.get(process), shown) {
                    (Some(write), _) => write.clone(),
                    (None, [id]) => format!(":f :read, :value {}, :write-id {id:?}", value(id)),
                    (None, [id, value]) => format!(":f :read, :value {value}, :write-id {id:?}"),
                    (None, _) => ":f :read".to_owned(),
                };
                writeln!(text, "{{:process {process}, :time {time}, :type :{kind}, {call}}}")
            }
            [] => unreachable!("{lines}"),
        };
    }
    text
}

/// The smallest history of each kind.
const SMALLEST: &[(&str, &str)] = &[
    ("stale-read", "0 w b a, 0 ok, 1 r, 1 ok a"),
    ("lost-update", "0 w b a, 1 w c a, 0 ok, 1 ok"),
    ("garbage-read", "0 r, 0 ok a, 0 r, 0 ok z"),
    ("future-read", "0 r, 0 ok a, 0 r, 0 ok b, 1 w b a, 1 ok"),
    ("wrong-value", "0 w b a, 1 r, 1 ok b 7"),
    ("failed-write-observed", "0 w b a, 0 fail, 1 r, 1 ok b"),
    ("unknown-version", "0 r, 0 ok a, 0 w b z, 0 ok"),
    ("cyclic-versions", "0 w b c, 1 w c b, 0 ok"),
];

#[test]
fn each_kind_has_its_smallest_history_and_explanation() {
    let mut explanations = String::new();
    for (name, lines) in SMALLEST {
        let text = ops(lines);
        let report = judge(&text);
        assert_eq!(one(&report, &text), *name, "{lines}");
        let [anomaly] = &report.anomalies[..] else { panic!() };
        assert_eq!((anomaly.count, anomaly.witnesses.len()), (1, 1));
        let witness = &anomaly.witnesses[0];
        let _ = write!(explanations, "{name}: {lines}\n{}", witness.explanation);
        for (name, value) in &witness.facts {
            let _ = writeln!(explanations, "  {name}: {value}");
        }
        explanations.push('\n');
    }
    insta::assert_snapshot!(explanations);
}

#[test]
fn anomalies_are_found_among_other_operations() {
    let mut explanations = String::new();
    for (name, lines) in [
        // No op observed b. c is known since index 4, and so is b.
        ("stale-read", "0 w b a, 1 w c b, 2 r, 0 info, 2 ok c, 3 r, 3 ok a"),
        ("lost-update", "0 w b a, 1 w c b, 2 w d a, 3 w e d, 1 ok, 4 r, 4 ok e"),
        // The initial version was never read.
        ("future-read", "0 w b a, 0 ok, 1 w a z"),
        ("future-read", "0 w c b, 1 w b a, 0 ok, 2 w a z, 2 info"),
        ("failed-write-observed", "0 w b a, 1 r, 1 ok b, 0 fail"),
        ("failed-write-observed", "0 w b a, 1 w c b, 1 ok, 0 fail"),
        ("failed-write-observed", "0 w b a, 0 fail, 1 w c b, 1 ok"),
        ("wrong-value", "0 r, 0 ok a 7, 0 r, 0 ok a 8"),
        ("cyclic-versions", "0 w b b, 0 ok"),
        ("cyclic-versions", "0 r, 0 ok a, 0 w b c, 1 w c d, 2 w d b, 3 w e d, 3 ok"),
        ("unknown-version", "0 r, 0 ok a, 0 w b z, 1 w c b, 2 r, 2 ok c"),
    ] {
        let text = ops(lines);
        let report = judge(&text);
        assert_eq!(one(&report, &text), name, "{lines}");
        let _ = writeln!(explanations, "{name}: {lines}\n{}", report.anomalies[0].witnesses[0].explanation);
    }
    insta::assert_snapshot!(explanations);
}

#[test]
fn valid_corners() {
    for lines in [
        // Crashed writes may happen later, or be observed only by the write that replaces them.
        "0 w b a, 0 info, 1 r, 1 ok a, 1 r, 1 ok b",
        "0 w b a, 0 info, 1 w c b, 1 ok",
        // Guessed ids: c was proposed before b.
        "0 w c b, 1 w b a, 0 ok, 1 ok",
        // A read may return a version that was written after it began; overlapping reads may return any version
        // between.
        "0 r, 1 w b a, 1 ok, 2 r, 2 ok b, 0 ok a",
        // A failed write may be repeated with its id, replacing another version.
        "0 w c a, 0 fail, 1 w b a, 1 ok, 2 w c b, 2 ok, 3 r, 3 ok c",
        // A failed write, a write of an unknown version, and a cycle: no op observed them.
        "0 w b z, 0 fail, 1 w c d, 2 w d c, 3 r, 3 ok a",
        "0 r, 0 fail, 1 r, 1 info, 2 r, 3 r, 3 ok a",
    ] {
        valid(&ops(lines));
    }
}

#[test]
fn any_value_is_an_id() {
    for (a, b) in [
        ("nil", "1"),
        ("0", "1"),
        (":a", "\"a\""),
        ("[1 2]", "{:x 1}"),
        ("1.5", "true"),
        ("\"\"", "\"longer than 11\""),
    ] {
        let write = |p: u32, id: &str, prev: &str| {
            let write = format!(":process {p}, :f :write, :value 1, :write-id {id}, :prev-write-id {prev}");
            format!("{{:type :invoke, {write}}} {{:type :ok, {write}}}")
        };
        let read = |id: &str, value: u32| {
            format!(
                "{{:type :invoke, :process 1, :f :read}} {{:type :ok, :process 1, :f :read, :value {value}, :write-id {id}}}"
            )
        };
        let text = format!("{} {} {}", read(a, 0), write(0, b, a), read(b, 1));
        valid(&text);
        let text = format!("{text} {}", read(a, 0));
        assert_eq!(one(&judge(&text), &text), "stale-read");
    }
}

#[test]
fn an_id_proposed_twice_leaves_no_verdict_but_what_was_found_before() {
    let report = judge(&ops("0 w b a, 0 ok, 1 w b a, 1 ok, 2 r, 2 ok z"));
    assert!(note(&report).starts_with("The write at index 2 proposes write-id \"b\", and so does the one at index 0:"));
    let report = judge(&ops("0 w b a, 0 info, 1 w b a"));
    assert!(note(&report).contains("the one at index 0"), "{report:?}");
    let report = judge(&ops("0 w b a, 0 ok, 1 r, 1 ok a, 1 w b a, 1 ok"));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["stale-read"]);
    assert_eq!((report.verdict, report.notes.len()), (Verdict::Invalid, 1));
    let given = VersionedRegister { initial_write_id: Some("a".into()), ..VersionedRegister::default() };
    let report = judge_with(&ops("0 w a z, 0 fail"), &given);
    assert!(note(&report).contains("that is the id of the initial version"), "{report:?}");
}

#[test]
fn ops_that_cannot_be_checked_are_reported_with_place_and_reason() {
    let read = "{:process 0, :type :invoke, :f :read}";
    let write = "{:process 0, :type :invoke, :f :write, :value 1, :write-id 1, :prev-write-id 0}";
    for (text, reason) in [
        ("{:process 0, :type :invoke, :f :cas}".to_owned(), "the op at index 0 (line 1): the op has the :f cas; expected"),
        ("{:process 0, :type :invoke}".to_owned(), "the op has no :f"),
        ("{:process 0, :type :invoke, :f :write}".to_owned(), "the write has no :write-id"),
        (
            "{:process 0, :type :invoke, :f :write, :write-id nil, :prev-write-id 1}".to_owned(),
            "the write has no :write-id",
        ),
        ("{:process 0, :type :invoke, :f :write, :write-id 1}".to_owned(), "the write has no :prev-write-id"),
        (
            format!("{read}\n{{:process 0, :type :ok, :f :read, :value 1}}"),
            "the op at index 1 (line 2): the read completed ok without",
        ),
        (
            format!("{read} {{:process 0, :type :ok, :f :write, :value 1}}"),
            "the completion is a write, its invocation a read",
        ),
        (
            format!("{write} {{:process 0, :type :ok, :write-id 2}}"),
            "the write completed with :write-id 2, but was invoked with 1",
        ),
        (
            format!("{write} {{:process 0, :type :ok, :prev-write-id 2}}"),
            "completed with :prev-write-id 2, but was invoked with 0",
        ),
        (format!("{write} {{:process 0, :type :ok, :value 2}}"), "completed with :value 2, but was invoked with 1"),
        (
            format!("{write} {{:process 1, :type :invoke, :f :read, :key 1}}"),
            "the op has a :key, but ops before it have none",
        ),
        (
            "{:process 0, :type :invoke, :f :read, :key 1} {:process 1, :type :invoke, :f :write, :write-id 1, :prev-write-id 0}".to_owned(),
            "the write has no key, but ops before it have one",
        ),
        (
            "{:process 0, :type :invoke, :f :read, :value [1 nil]} {:process 1, :type :invoke, :f :read, :value 3}".to_owned(),
            "expected a vector of a key and a value",
        ),
        (
            "{:process 0, :type :invoke, :f :read, :value [1 nil]} {:process 0, :type :ok, :value [2 0], :write-id 0}"
                .to_owned(),
            "the op has key 2, its invocation 1",
        ),
        (
            "{:type :ok, :write-id 2, :value 1}".to_owned(),
            "the op has no :f and no invocation",
        ),
    ] {
        let mut reader = Reader::new(text.as_bytes());
        let run = VersionedRegister::default().start(&Options::new()).unwrap();
        let report = history_core::check(run, &mut reader, &Budget::default()).unwrap();
        assert!(note(&report).contains(reason), "{text}: {:?}", report.notes);
    }
}

#[test]
fn the_times_decide_where_all_ops_have_one() {
    let read = |time: &str, id: &str| {
        format!(
            "{{:process 1, :type :invoke, :f :read {time}}} {{:process 1, :type :ok, :f :read, :value 0, :write-id {id} {time}}}"
        )
    };
    let write = |begin: &str, end: &str| {
        let write = ":process 0, :f :write, :value 0, :write-id 1, :prev-write-id 0";
        format!("{{:type :invoke, {write} {begin}}} {{:type :ok, {write} {end}}}")
    };
    // In the file, the read comes after the write.
    valid(&format!("{} {}", write(":time 20", ":time 30"), read(":time 10", "0")));
    let stale = format!("{} {}", write(":time 20", ":time 30"), read("", "0"));
    assert_eq!(one(&judge(&stale), &stale), "stale-read", "not all have times: the file's order holds");
    let report = judge(&format!("{} {}", read(":time 40", "0"), write(":time 20", ":time 30")));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["stale-read"]);
    // The file is in order, and so are ops at equal times.
    let tied = format!("{} {}", write(":time 20", ":time 20"), read(":time 20", "0"));
    assert_eq!(one(&judge(&tied), &tied), "stale-read");
    // The file is not in order, so the two ops may overlap.
    let tied = format!("{} {}", tied, read(":time 10", "0").replace(":process 1", ":process 2"));
    assert!(note(&judge(&tied)).starts_with("Some ops begin at the same time as others end."));
    let back = format!("{} {}", read(":time 40", "0"), read(":time 30", "0"));
    assert!(note(&judge(&back)).contains("the times of a process decrease at index 2"), "{:?}", judge(&back));
}

#[test]
fn keys_may_precede_values() {
    let pair = |p: u32, f: &str, kind: &str, value: &str, ids: &str| {
        format!("{{:process {p}, :type :{kind}, :f :{f}, :value {value}, {ids}}}\n")
    };
    let writes = |key: u32, p: u32| {
        let ids = ":write-id 1, :prev-write-id 0";
        pair(p, "write", "invoke", &format!("[{key} 5]"), ids) + &pair(p, "write", "ok", &format!("[{key} 5]"), ids)
    };
    // As plain values, id 1 was proposed twice; with keys, each register has its own id 1. The history does not decide
    // which is right.
    let both = writes(1, 0) + &writes(2, 1);
    assert!(
        note(&judge(&both)).starts_with("Every value is a pair. If its first element is a key, the verdict is true")
    );
    let keyed =
        both.clone() + &pair(3, "read", "invoke", "[2 nil]", "") + &pair(3, "read", "ok", "[2 5]", ":write-id 1");
    valid(&keyed);
    let plain = writes(1, 0) + &pair(3, "read", "invoke", "nil", "") + &pair(3, "read", "ok", "[1 5]", ":write-id 1");
    valid(&plain);
    let wrong = writes(1, 0) + &pair(3, "read", "invoke", "nil", "") + &pair(3, "read", "ok", "[2 5]", ":write-id 1");
    assert!(
        note(&judge(&wrong)).starts_with("Every value is a pair. If its first element is a key, the verdict is true")
    );
    // If one value is not a pair, all values are plain.
    let wrong = wrong + &pair(3, "write", "invoke", "7", ":write-id 2, :prev-write-id 1");
    assert_eq!(one(&judge(&wrong), &wrong), "wrong-value");
}

#[test]
fn a_window_discards_versions_and_reports_it() {
    let forget = |n| VersionedRegister { forget: NonZeroU32::new(n), ..VersionedRegister::default() };
    let chain = "0 w b a, 0 ok, 0 w c b, 0 ok, 0 w d c, 0 ok";
    // The read began when d was known.
    let text = ops(&format!("{chain}, 1 r, 1 ok b"));
    assert_eq!(one(&judge_with(&text, &forget(3)), &text), "stale-read");
    let report = judge_with(&text, &forget(2));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["unknown-version"]);
    // The read began when a was known.
    let text = ops(&format!("1 r, {chain}, 1 ok b"));
    assert_eq!(judge_with(&text, &forget(3)).verdict, Verdict::Valid);
    assert!(
        note(&judge_with(&text, &forget(2)))
            .starts_with("The read at index 7 shows version \"b\", which is unknown or was forgotten")
    );
    // The write of b is in flight all the time.
    let text = ops("0 w b a, 1 w c b, 1 ok, 1 w d c, 1 ok, 1 w e d, 1 ok, 0 fail");
    let report = judge_with(&text, &forget(1));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["failed-write-observed"]);
    // With a window, the history must be sorted, and its ops must have processes.
    let out_of_order = text.clone() + "{:process 9, :time 0, :type :invoke, :f :read}";
    assert!(note(&judge_with(&out_of_order, &forget(1))).contains("With --forget a history must be sorted by time"));
    let nameless = text + "{:time 99, :type :invoke, :f :read}";
    assert!(note(&judge_with(&nameless, &forget(1))).ends_with("Check the history without --forget."));
}

#[test]
fn the_initial_version_can_be_given() {
    let start = |name: &str, value: &str| VersionedRegister::default().start(&Options::new().with(name, value));
    let wrong = |name: &str, value: &str| -> OptionError { start(name, value).map(|_| ()).unwrap_err() };
    assert_eq!(wrong("initial-write-id", "[").option, "initial-write-id");
    assert!(wrong("forget", "0").message.contains("from 1"));
    assert!(wrong("max-witnesses", "-1").message.contains("a number from 0 on"));

    let text = ops("0 r, 0 ok b, 1 w c b, 1 ok");
    valid(&text);
    let judge = |options: &Options| {
        let run = VersionedRegister::default().start(options).unwrap();
        history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
    };
    assert_eq!(judge(&Options::new().with("initial-write-id", "b").with("initial-value", "1")).verdict, Verdict::Valid);
    let report = judge(&Options::new().with("initial-write-id", "a"));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["garbage-read"]);
    let report = judge(&Options::new().with("initial-value", "7"));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["wrong-initial-value"]);
    let explanation = &report.anomalies[0].witnesses[0].explanation;
    assert!(
        explanation.ends_with("\"b\" is the initial version, which has the value 7: a contradiction!\n"),
        "{explanation}"
    );
    let report = judge(&Options::new().with("initial-write-id", "b").with("initial-value", "7"));
    assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["wrong-value"]);
}

#[test]
fn all_are_counted_and_the_first_of_each_key_is_shown() {
    let text = ops("0 w b a, 0 ok, 1 r, 1 ok a, 1 r, 1 ok a, 1 r, 1 ok a");
    let report = judge(&text);
    assert_eq!(one(&report, &text), "stale-read");
    assert_eq!((report.anomalies[0].count, report.anomalies[0].witnesses.len()), (3, 1));
    let none = judge_with(&text, &VersionedRegister { witnesses_max: 0, ..VersionedRegister::default() });
    assert_eq!((none.verdict, none.anomalies[0].witnesses.len()), (Verdict::Invalid, 0));
    let counts: Vec<(&str, u64)> = report.counts.iter().map(|(name, count)| (name.as_ref(), *count)).collect();
    let expected = [
        ("ok-count", 4),
        ("fail-count", 0),
        ("info-count", 0),
        ("nonclient-op-count", 0),
        ("read-count", 3),
        ("write-count", 1),
        ("accepted-write-count", 1),
        ("key-count", 1),
        ("passed-over-count", 0),
        ("observed-count", 4),
    ];
    assert_eq!(counts, expected);
}

/// A path of 200,000 versions is processed without recursion, and each version once.
#[test]
fn a_long_path_is_accepted_at_once() {
    let mut builder = history_core::HistoryBuilder::new();
    let n = 200_000_i64;
    let write = |id: i64, kind| {
        let op = history_core::NewOp::new(kind, id).f("write").value(id);
        op.with("write-id", id).with("prev-write-id", id - 1)
    };
    for id in (1..=n).rev() {
        builder.push_op(&write(id, history_core::OpKind::Invoke)).unwrap();
    }
    for id in (1..=n).rev() {
        builder.push_op(&write(id, history_core::OpKind::Ok)).unwrap();
    }
    let report = check(&builder.build(), &VersionedRegister::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Valid);
    assert!(report.counts.contains(&("accepted-write-count".into(), n.unsigned_abs())));
}

/// A read changes nothing, so a violation remains one without a read that does not record its version.
#[test]
fn a_read_without_an_id_hides_no_violation() {
    let unread = "{:process 2, :type :invoke, :f :read}\n{:process 2, :type :ok, :f :read, :value 1}\n";
    let (stale, fresh) = (ops("0 w b a, 0 ok, 1 r, 1 ok a"), ops("0 w b a, 0 ok, 1 r, 1 ok b"));
    let says = |report: &Report, what: &str| report.notes.iter().any(|note| note.starts_with(what));
    for (stale, fresh) in [(format!("{unread}{stale}"), format!("{unread}{fresh}")), (stale + unread, fresh + unread)] {
        let report = judge(&stale);
        assert_eq!(report.anomaly_types().collect::<Vec<_>>(), ["stale-read"], "{stale}");
        assert!(report.is_partial && says(&report, "The verdict ignores the op at index "), "{stale}: {report:?}");
        let report = judge(&fresh);
        assert_eq!((report.verdict, report.anomalies.len()), (Verdict::Unknown, 0), "{fresh}: {report:?}");
        assert!(says(&report, "No verdict, because of the op at index "), "{fresh}: {report:?}");
        for (text, expected) in [(&stale, true), (&fresh, false)] {
            let in_order = Options::new().with("in-order", "true");
            let mut run = VersionedRegister::default().start(&in_order).unwrap();
            for op in History::parse(text).unwrap().ops() {
                _ = run.observe(&op).unwrap();
            }
            assert_eq!(run.is_violated(), expected, "{text}");
        }
    }
}
