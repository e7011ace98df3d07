//! Operations that may have happened and do not record what they changed: other violations are then not certain.

use history_core::{Budget, Checker, Options, Reader, Report, Verdict};

/// Checks a history, with a checker of whole histories or with one that watches.
pub(crate) type Judge = fn(&dyn Checker, &str) -> Report;

pub(crate) fn judge(checker: &dyn Checker, text: &str) -> Report {
    let run = checker.start(&Options::new()).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

/// A transaction without micro-operations may have written a value that another one read, unless it failed or records
/// its writes.
pub(crate) fn assert_doubts_what_hidden_transactions_explain(checkers: &[Box<dyn Checker>], judge: Judge) {
    let checker = checkers.iter().find(|checker| checker.name() == "multi-register").unwrap();
    let invoked = "{:process 0, :type :invoke, :f :txn}";
    let ended = |kind: &str, value: &str| format!("{{:process 0, :type :{kind}, :f :txn, :value {value}}}");
    let read = "{:process 1, :type :invoke, :f :txn, :value [[:read :x nil]]}
        {:process 1, :type :ok, :f :txn, :value [[:read :x 5]]}";
    let texts = [
        (format!("{invoked} {read}"), Verdict::Unknown),
        (format!("{invoked} {} {read}", ended("info", "nil")), Verdict::Unknown),
        (format!("{invoked} {} {read}", ended("info", "[[:write :x 5]]")), Verdict::Unknown),
        (format!("{invoked} {} {read}", ended("ok", "nil")), Verdict::Unknown),
        (format!("{invoked} {read} {}", ended("info", "nil")), Verdict::Unknown),
        (format!("{invoked} {} {read}", ended("fail", "nil")), Verdict::Invalid),
        (format!("{invoked} {read} {}", ended("fail", "nil")), Verdict::Invalid),
        (format!("{invoked} {} {read}", ended("ok", "[[:read :x nil]]")), Verdict::Invalid),
        (format!("{invoked} {}", read.replace(":x 5", ":x nil")), Verdict::Valid),
    ];
    for (text, expected) in texts {
        // Another operation, so that there is something to check.
        let text = format!(
            "{{:process 2, :type :invoke, :f :txn, :value [[:write :y 1]]}}
             {{:process 2, :type :ok, :f :txn, :value [[:write :y 1]]}}
             {{:process 2, :type :invoke, :f :txn, :value [[:read :y nil]]}}
             {{:process 2, :type :ok, :f :txn, :value [[:read :y 1]]}} {text}"
        );
        let report = judge(checker.as_ref(), &text);
        assert_eq!(report.verdict, expected, "{text}: {:?}", report.notes);
        let is_said = report.notes.iter().any(|note| note.contains("op at index 4: it may have happened"));
        assert_eq!(is_said, expected == Verdict::Unknown, "{text}: {:?}", report.notes);
        assert_eq!(report.anomalies.is_empty(), expected != Verdict::Invalid, "{text}");
    }
}

/// A checker, a history, its verdict, and a part of some note.
type Case = (&'static str, &'static str, Verdict, &'static str);

const INVALID: Verdict = Verdict::Invalid;
const UNKNOWN: Verdict = Verdict::Unknown;

/// Violations that were complete before the first operation whose effect is not recorded.
const BEFORE_HIDDEN: &[Case] = &[
    (
        "multi-register",
        "1i W1 1k W1 2i R 2k R2 9i nil",
        INVALID,
        "covers only the ops before the op at index 4: it may have",
    ),
    ("multi-register", "1i W1 1k W1 2i R 2k R2 9i nil 9? nil", INVALID, "covers only the ops before the op at index 4"),
    ("multi-register", "1i W1 1k W1 2i R 2k R2 9i nil 9k nil", INVALID, "covers only the ops before the op at index 4"),
    ("multi-register", "1i W1 1k W1 2i R 2k R2 9i nil 9k :j", INVALID, "covers only the ops before the op at index 4"),
    ("multi-register", "1i W1 1k W1 2i R 2k R2 9i :j", INVALID, "covers only the ops before the op at index 4 ("),
    // It was called before the read returned, and may have written the value of the read.
    ("multi-register", "1i W1 1k W1 2i R 9i nil 2k R2", UNKNOWN, "because of the op at index 3: it may have"),
    ("multi-register", "1i W1 1k W1 2i R 9i :j 2k R2", UNKNOWN, "because of the op at index 3 ("),
    // The first read is wrong in any case; the second one may be right.
    (
        "multi-register",
        "1i W1 1k W1 2i R 2k R2 9i nil 3i R 3k R4",
        INVALID,
        "covers only the ops before the op at index 4",
    ),
    // An operation in flight at that point counts with its final outcome, or as one that did not happen.
    ("multi-register", "1i W1 2i R 2k R2 9i nil 1k W1", INVALID, "covers only the ops before the op at index 3"),
    ("multi-register", "1i W2 2i R 2k R2 9i nil 3i R 1k W2 3k R5", UNKNOWN, "because of the op at index 3"),
    // The same if the unknown operation ends first.
    ("multi-register", "1i W2 2i R 2k R2 9i :j 9k :j 1x W2", INVALID, "covers only the ops before the op at index 3 ("),
    ("multi-register", "1i W2 2i R 2k R2 9i :j 9? :j 1x W2", INVALID, "covers only the ops before the op at index 3 ("),
    ("multi-register", "1i W2 2i R 2k R2 9i :j 9k :j 1k W2", UNKNOWN, "because of the op at index 3 ("),
];

/// `1i W1`: process 1 invokes a transaction that writes 1 to x; `k` is ok, `x` is fail, and `?` is info.
fn transactions(short: &str) -> String {
    let words: Vec<&str> = short.split(' ').collect();
    let op = |word: &[&str]| {
        let (process, kind) = word[0].split_at(1);
        let kind = match kind {
            "i" => "invoke",
            "k" => "ok",
            "x" => "fail",
            _ => "info",
        };
        let value = match word[1].split_at(1) {
            ("W", value) => format!("[[:write :x {value}]]"),
            ("R", "") => "[[:read :x nil]]".to_owned(),
            ("R", value) => format!("[[:read :x {value}]]"),
            _ => word[1].to_owned(),
        };
        format!("{{:process {process}, :type :{kind}, :f :txn, :value {value}}}\n")
    };
    words.chunks(2).map(op).collect()
}

fn assert_case(
    (checkers, judge): (&[Box<dyn Checker>], Judge),
    (name, text, expected, note): (&str, &str, Verdict, &str),
) {
    let checker = checkers.iter().find(|checker| checker.name() == name).unwrap();
    let report = judge(checker.as_ref(), text);
    assert_eq!(report.verdict, expected, "{name}: {text}: {:?}", report.notes);
    // A checker that watches does not read the ops after a violation.
    let is_over = expected == INVALID && note.contains("covers only") && report.notes.is_empty();
    let is_noted = report.notes.iter().any(|known| known.contains(note));
    assert!(is_noted || note.is_empty() || is_over, "{name}: {text}: {:?}", report.notes);
    assert_eq!(report.anomalies.is_empty(), expected != Verdict::Invalid, "{name}: {text}");
}

pub(crate) fn assert_keeps_what_was_certain_before(checkers: &[Box<dyn Checker>], judge: Judge) {
    for (name, short, expected, note) in BEFORE_HIDDEN {
        assert_case((checkers, judge), (name, &transactions(short), *expected, note));
    }
}

/// By checker: ops that cannot be decoded; and a valid and an invalid history, as `f value f value ...`, where each
/// operation has an invocation and an `ok`.
const OBJECTS: &[(&str, &[&str], &str, &str)] = &[
    ("register", &[":drop nil"], "write 1, read 1", "write 1, read 2"),
    ("cas-register", &[":drop nil", ":cas nil", ":cas [1]"], "write 1, read 1", "write 1, read 2"),
    ("mutex", &[":drop nil"], "acquire nil, release nil", "release nil"),
    ("owner-mutex", &[":drop nil"], "acquire nil, release nil", "release nil"),
    ("semaphore", &[":drop nil", ":acquire -1"], "acquire 1", "acquire 9"),
    ("fifo-queue", &[":drop nil", ":enqueue nil"], "enqueue 1, dequeue 1", "enqueue 1, dequeue 2"),
    ("unordered-queue", &[":drop nil", ":enqueue nil"], "enqueue 1, dequeue 1", "enqueue 1, dequeue 2"),
    ("stack", &[":drop nil", ":push nil"], "push 1, pop 1", "push 1, pop 2"),
    ("priority-queue", &[":drop nil", ":insert nil"], "insert 1, delete-min 1", "insert 1, delete-min 2"),
    ("linearizable-set", &[":drop nil"], "add 1, read #{1}", "add 1, read #{2}"),
    ("linearizable-counter", &[":drop nil", ":add nil"], "add 1, read 1", "add 1, read 2"),
    (
        "multi-register",
        &[":drop nil", ":txn :j"],
        "txn [[:w :x 1]], txn [[:r :x 1]]",
        "txn [[:w :x 1]], txn [[:r :x 2]]",
    ),
];

/// The ops of sequential operations, all by process 0.
fn completed(ops: &str) -> String {
    let op = |op: &str| {
        let (f, value) = op.split_once(' ').unwrap();
        let invoked = if ["read", "dequeue", "pop", "delete-min"].contains(&f) { "nil" } else { value };
        let [invoke, ok] = [("invoke", invoked), ("ok", value)]
            .map(|(kind, value)| format!("{{:process 0, :type :{kind}, :f :{f}, :value {value}}}\n"));
        invoke + &ok
    };
    ops.split(", ").map(op).collect()
}

/// A failed operation did not happen, so it does not matter whether it can be decoded.
pub(crate) fn assert_ignores_what_failed(checkers: &[Box<dyn Checker>], judge: Judge) {
    for (name, undecodable, right, wrong) in OBJECTS {
        for op in *undecodable {
            let (f, value) = op.split_once(' ').unwrap();
            let op = |kind: &str| format!("{{:process 1, :type :{kind}, :f {f}, :value {value}}}\n");
            let (invoked, failed) = (op("invoke"), op("fail"));
            let (right, wrong) = (completed(right), completed(wrong));
            let case = |text: &str, expected, note| assert_case((checkers, judge), (name, text, expected, note));
            let ignored = "ignored 2 of ";
            case(&format!("{invoked}{failed}{right}"), Verdict::Valid, ignored);
            case(&format!("{invoked}{right}{failed}"), Verdict::Valid, ignored);
            case(&format!("{invoked}{failed}{wrong}"), Verdict::Invalid, ignored);
            case(&format!("{invoked}{wrong}{failed}"), Verdict::Invalid, ignored);
            case(&format!("{wrong}{invoked}{failed}"), Verdict::Invalid, "");
            // Operations that may have happened still make the verdict unknown.
            for ended in ["", &op("info"), &op("ok")] {
                case(&format!("{invoked}{right}{ended}"), Verdict::Unknown, "because of the op at index 0 (");
                case(&format!("{invoked}{wrong}{ended}"), Verdict::Unknown, "because of the op at index 0 (");
                case(&format!("{right}{invoked}{ended}"), Verdict::Unknown, "because of the op at index ");
                case(&format!("{wrong}{invoked}{ended}"), Verdict::Invalid, "covers only the ops before the op at");
            }
            // All ops belong to another workload.
            case(&format!("{invoked}{failed}{invoked}{failed}"), Verdict::Unknown, "because of the op at index 0 (");
        }
    }
}

/// A read changes nothing: if its result cannot be decoded, a violation by the other ops remains one.
pub(crate) fn assert_ignores_undecodable_reads(checkers: &[Box<dyn Checker>], judge: Judge) {
    for (name, unread) in [
        ("linearizable-set", completed("read :j")),
        ("linearizable-counter", completed("read :j")),
        ("linearizable-set", completed("read nil")),
        ("linearizable-counter", completed("read nil")),
    ] {
        let (_, _, right, wrong) = OBJECTS.iter().find(|(known, ..)| *known == name).unwrap();
        let (right, wrong) = (completed(right), completed(wrong));
        let case = |text: &str, expected, note| assert_case((checkers, judge), (name, text, expected, note));
        case(&format!("{unread}{wrong}"), Verdict::Invalid, "The verdict ignores the op at index 1 (");
        case(&format!("{wrong}{unread}"), Verdict::Invalid, "");
        case(&format!("{unread}{right}"), Verdict::Unknown, "because of the op at index 1 (");
        case(&format!("{right}{unread}"), Verdict::Unknown, "because of the op at index ");
        case(&unread, Verdict::Unknown, "because of the op at index 1 (");
    }
}

/// `i w` and `k w 5`: process 0 invokes and completes a write of nil and of 5; `n w` is an info. `r 5` is a read by
/// process 1, from its invocation to its completion. The writes of process 2 are complete: `w 5`.
fn with_late_values(write: &str, short: &str) -> String {
    let op = |process: u32, kind: &str, f: &str, value: &str| {
        format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n")
    };
    let operation = |process, f: &str, value: &str| op(process, "invoke", f, "nil") + &op(process, "ok", f, value);
    let known = |value: &str| op(2, "invoke", write, value) + &op(2, "ok", write, value);
    let each = |word: &str| match word.splitn(2, ' ').collect::<Vec<_>>()[..] {
        ["i"] => op(0, "invoke", write, "nil"),
        ["k", value] => op(0, "ok", write, value),
        ["n"] => op(0, "info", write, "nil"),
        ["x"] => op(0, "fail", write, "nil"),
        ["late", value] => operation(4, write, value),
        ["w", value] => known(value),
        ["r", value] => operation(1, "read", value),
        _ => panic!("{word}"),
    };
    short.split(", ").map(each).collect()
}

/// By checker: how a write is called, and a history with its verdicts by a checker of whole histories and by one that
/// watches.
const LATE: &[(&str, &str, &str, Verdict, Verdict)] = &[
    ("register", "write", "i, k 5, r 5", Verdict::Valid, Verdict::Valid),
    ("register", "write", "i, k 5, r 6", INVALID, INVALID),
    ("register", "write", "w 1, i, k 5, r 1", INVALID, INVALID),
    ("cas-register", "write", "i, k 5, r 5", Verdict::Valid, Verdict::Valid),
    ("linearizable-set", "add", "i, k 5, r #{5}", Verdict::Valid, Verdict::Valid),
    ("linearizable-set", "add", "i, k 5, r #{6}", INVALID, INVALID),
    ("linearizable-set", "add", "i, k 5, r #{}", INVALID, INVALID),
    // The read shows the value before the completion has it. Who watches has given up by then.
    ("register", "write", "i, r 5, k 5", Verdict::Valid, UNKNOWN),
    ("register", "write", "i, r 6, k 5", INVALID, UNKNOWN),
    ("cas-register", "write", "i, r 5, k 5, r 5", Verdict::Valid, UNKNOWN),
    ("linearizable-set", "add", "i, r #{5}, k 5", Verdict::Valid, UNKNOWN),
    // This read was wrong before the invocation.
    ("register", "write", "r 5, i, k 5", INVALID, INVALID),
    ("register", "write", "r 5, i, k 5, r 5", INVALID, INVALID),
    ("linearizable-set", "add", "r #{5}, i, k 5", INVALID, INVALID),
    // An operation that did not happen explains nothing.
    ("register", "write", "w 1, i, r 5, x", INVALID, INVALID),
    ("linearizable-set", "add", "w 1, i, r #{1 5}, x", INVALID, INVALID),
    // Nil is a value.
    ("register", "write", "w 1, i, k nil, r 1", INVALID, INVALID),
    ("register", "write", "w 1, i, r 1, k nil, r 1", INVALID, INVALID),
    ("linearizable-set", "add", "i, k nil, r #{nil}", Verdict::Valid, Verdict::Valid),
    ("linearizable-set", "add", "i, r #{nil}, k nil", Verdict::Valid, Verdict::Valid),
    ("linearizable-set", "add", "i, k nil, r #{}", INVALID, INVALID),
    // An operation that crashed may have written anything, as its completion would have recorded.
    ("register", "write", "w 1, i, n, r 5", UNKNOWN, UNKNOWN),
    ("register", "write", "w 1, i, r 5", UNKNOWN, UNKNOWN),
    ("register", "write", "w 1, r 5, i, n", INVALID, INVALID),
    ("register", "write", "w 1, i, n, r 1", Verdict::Valid, Verdict::Valid),
    ("linearizable-set", "add", "w 1, i, n, r #{1 nil}", Verdict::Valid, Verdict::Valid),
    ("linearizable-set", "add", "w 1, i, n, r #{1 5}", UNKNOWN, UNKNOWN),
    ("register", "write", "late 3, i, n, r 5", UNKNOWN, UNKNOWN),
    ("register", "write", "late 3, i, r 5", UNKNOWN, UNKNOWN),
    ("register", "write", "i, n, late 3, r 5", UNKNOWN, UNKNOWN),
    ("register", "write", "late 3, r 5, i, n", INVALID, INVALID),
    ("linearizable-set", "add", "late 3, i, n, r #{3 5}", UNKNOWN, UNKNOWN),
    ("linearizable-set", "add", "late 3, i, n, r #{3}", Verdict::Valid, Verdict::Valid),
];

/// If an invocation has no value, that of the `ok` completion counts.
pub(crate) fn assert_takes_values_of_completions(checkers: &[Box<dyn Checker>], judge: Judge, watches: bool) {
    for (name, write, short, whole, watched) in LATE {
        let checker = checkers.iter().find(|checker| checker.name() == *name).unwrap();
        let report = judge(checker.as_ref(), &with_late_values(write, short));
        let expected = if watches { *watched } else { *whole };
        assert_eq!(report.verdict, expected, "{name}: {short}: {:?}", report.notes);
        assert_eq!(report.anomalies.is_empty(), expected != INVALID, "{name}: {short}");
        let is_explained = report.notes.iter().any(|note| note.starts_with("No verdict, because of the op at index "));
        assert_eq!(is_explained, expected == UNKNOWN, "{name}: {short}: {:?}", report.notes);
    }
}

/// A put without a string hides only what it may have changed: its key.
pub(crate) fn assert_hides_only_one_key(checkers: &[Box<dyn Checker>], judge: Judge) {
    let checker = checkers.iter().find(|checker| checker.name() == "kv").unwrap();
    let op = |process: u32, kind: &str, f: &str, key: &str, value: &str| {
        format!("{{:process {process}, :type :{kind}, :f :{f}, :key {key}, :value {value}}}\n")
    };
    let operation =
        |f, key, value| op(1, "invoke", f, key, if f == "get" { "nil" } else { value }) + &op(1, "ok", f, key, value);
    let put = |key| operation("put", key, "\"x\"");
    let get = |key, value| operation("get", key, value);
    for key in [":a", "7"] {
        for end in [String::new(), op(0, "ok", "put", key, "nil"), op(0, "info", "put", key, "nil")] {
            let hidden = op(0, "invoke", "put", key, "nil");
            let (right, wrong) = (get(":b", "\"x\""), get(":b", "\"y\""));
            for (text, expected, note) in [
                (
                    format!("{hidden}{end}{}{wrong}", put(":b")),
                    INVALID,
                    format!("Of key {key}, the verdict covers only"),
                ),
                (format!("{}{hidden}{wrong}{end}", put(":b")), INVALID, String::new()),
                (format!("{hidden}{end}{}{right}", put(":b")), UNKNOWN, "No verdict, because of the op at".into()),
                // On its own key, it may explain everything after its invocation.
                (format!("{hidden}{end}{}", get(key, "\"y\"")), UNKNOWN, "No verdict, because of the op at".into()),
                (format!("{}{hidden}{end}", get(key, "\"y\"")), INVALID, String::new()),
                // An unknown function may change all keys.
                (
                    format!("{}{}{wrong}", op(3, "invoke", "clear", key, "nil"), put(":b")),
                    UNKNOWN,
                    "No verdict, because of the op at".into(),
                ),
            ] {
                let report = judge(checker.as_ref(), &text);
                assert_eq!(report.verdict, expected, "{text}: {:?}", report.notes);
                assert_eq!(report.anomalies.is_empty(), expected != INVALID, "{text}");
                let is_noted = note.is_empty() || report.notes.iter().any(|known| known.starts_with(&note));
                assert!(is_noted, "{text}: {:?}", report.notes);
            }
        }
    }
}
