//! Ops that cannot be decoded: which anomalies are still certain, and which are not.

use history_core::{Budget, Checker, History, Options, Report, Verdict};

pub(crate) fn judge(text: &str) -> Report {
    let run = check_log::Kafka::default().start(&Options::new()).unwrap();
    history_core::check_history(run, &History::parse(text).unwrap(), &Budget::default()).unwrap()
}

fn types(report: &Report) -> Vec<&str> {
    report.anomaly_types().collect()
}

/// `1k poll V`: the completion of process 1 (`i`: its invocation; `k`: ok, `x`: fail, `n`: info).
pub(crate) fn ops(short: &[&str]) -> String {
    let op = |short: &&str| {
        let (process, rest) = short.split_at(1);
        let (kind, rest) = rest.split_once(' ').unwrap();
        let (f, value) = rest.split_once(' ').unwrap();
        let kind = ["invoke", "ok", "fail", "info"]["ikxn".find(kind).unwrap()];
        format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n")
    };
    short.iter().map(op).collect()
}

pub(crate) fn both(process: u8, f: &str, invoked: &str, completed: &str) -> String {
    ops(&[&format!("{process}i {f} {invoked}"), &format!("{process}k {f} {completed}")])
}

pub(crate) fn sent(message: u8, offset: u8) -> String {
    both(0, "send", &format!("[[:send :x {message}]]"), &format!("[[:send :x [{offset} {message}]]]"))
}

pub(crate) fn polled(process: u8, messages: &str) -> String {
    both(process, "poll", "[[:poll]]", &format!("[[:poll {{:x [{messages}]}}]]"))
}

/// The completions of a history, without its invocations.
pub(crate) fn completions(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.contains(":invoke")).collect()
}

#[track_caller]
pub(crate) fn assert_judged(text: &str, expected: (Verdict, &[&str]), note: &str) {
    let report = judge(text);
    let types: Vec<&str> = report.anomaly_types().collect();
    assert_eq!((report.verdict, &types[..]), expected, "{text}{:?}", report.notes);
    let is_known = note.is_empty() || report.notes.iter().any(|known| known.contains(note));
    assert!(is_known, "{text}{:?}", report.notes);
    let mut run = check_log::Kafka::default().start(&Options::new()).unwrap();
    for op in History::parse(text).unwrap().ops() {
        let stops = run.observe(&op).unwrap().is_break();
        assert!(!run.is_violated() || expected.0 == Verdict::Invalid, "{text} at the op at index {}", op.index);
        if stops {
            break;
        }
    }
}

pub(crate) const INVALID: Verdict = Verdict::Invalid;
pub(crate) const UNKNOWN: Verdict = Verdict::Unknown;

/// The types of anomalies for a message that consumers have passed.
const LOST: &[&str] = &["lost-write", "unseen"];

/// The functions of ops that may have polled or sent anything, and of those that only assign.
const ODD: &[(&str, bool)] = &[("poll", true), ("send", true), ("txn", true), ("assign", false), ("subscribe", false)];

#[test]
fn positions_of_other_processes_stay_known() {
    let two = sent(1, 0) + &sent(2, 1) + &sent(3, 2);
    let cases = [
        ("nonmonotonic-poll", two.clone() + &polled(1, "[0 1] [1 2] [2 3]"), polled(1, "[0 1]")),
        ("poll-skip", two + &polled(2, "[1 2]") + &polled(1, "[0 1]"), polled(1, "[2 3]")),
        (
            "nonmonotonic-send",
            both(1, "send", "[[:send :x 5]]", "[[:send :x [5 5]]]"),
            both(1, "send", "[[:send :x 4]]", "[[:send :x [4 4]]]") + &polled(3, "[4 4] [5 5]"),
        ),
    ];
    for (name, text, last) in &cases {
        for (f, _) in ODD {
            let odd = both(9, f, ":j", ":j");
            // Before all ops, between the two, and at the end.
            for text in [format!("{odd}{text}{last}"), format!("{text}{odd}{last}"), format!("{text}{last}{odd}")] {
                assert_judged(&text, (INVALID, &[name]), "The verdict ignores the op at index ");
            }
        }
    }
    // The position of its own process is lost between the two ops, and only there.
    let (name, text, last) = &cases[0];
    for (f, _) in ODD {
        let odd = both(1, f, ":j", ":j");
        assert_judged(&format!("{text}{odd}{last}"), (UNKNOWN, &[]), "No verdict, because of the op at");
        assert_judged(&format!("{odd}{text}{last}"), (INVALID, &[name]), "The verdict ignores the op at");
        assert_judged(&format!("{text}{last}{odd}"), (INVALID, &[name]), "The verdict ignores the op at");
        // The process of the op is unknown.
        let nameless = odd.replace(":process 1, ", "");
        assert_judged(&format!("{text}{nameless}{last}"), (UNKNOWN, &[]), "No verdict, because of the op");
    }
}

/// Messages that were sent by an op whose completion is not understood have no place in the order of its process any
/// more.
#[test]
fn sends_with_an_odd_completion_are_not_compared() {
    let odd = ops(&["1i send [[:send :x 1]]", "1k send :j"]);
    let text = odd + &both(1, "send", "[[:send :x 2]]", "[[:send :x [1 2]]]") + &polled(2, "[0 1] [1 2]");
    assert_judged(&text, (UNKNOWN, &[]), "No verdict, because of the op at index 1");
    // The same for a completion with another function: the process continued after it.
    for completion in
        ["frob [[:send :x [0 1]]]", "poll [[:poll {:x [[0 1]]}]]", "assign [:x]", "txn [[:send :x [0 1]]]"]
    {
        let odd = ops(&["1i send [[:send :x 1]]", &format!("1k {completion}")]);
        let text = odd + &both(1, "send", "[[:send :x 2]]", "[[:send :x [1 2]]]") + &polled(2, "[0 1] [1 2]");
        assert_judged(&text, (UNKNOWN, &[]), "No verdict, because of the op at index 1");
    }
}

#[test]
fn what_failed_need_not_be_decoded() {
    let right = sent(1, 0) + &polled(1, "[0 1]");
    let aborted = ops(&["0i send [[:send :x 1]]", "0x send [[:send :x 1]]"]) + &polled(1, "[0 1]");
    let lost = sent(1, 0) + &sent(2, 1) + &polled(1, "[1 2]");
    let phantom = polled(1, "[0 1]") + &polled(2, "[0 1]");
    for f in ["poll", "send", "txn", "assign", "subscribe", "sned"] {
        let value = if f == "sned" { "[[:send :x 9]]" } else { ":j" };
        let (invoked, failed) = (ops(&[&format!("9i {f} {value}")]), ops(&[&format!("9x {f} {value}")]));
        for (text, expected) in [
            (&right, (Verdict::Valid, &[][..])),
            (&aborted, (INVALID, &["G1a"][..])),
            (&lost, (INVALID, LOST)),
            (&phantom, (INVALID, &["phantom-message"][..])),
        ] {
            assert_judged(&format!("{invoked}{failed}{text}"), expected, "kafka ignored 2 of ");
            assert_judged(&format!("{invoked}{text}{failed}"), expected, "kafka ignored 2 of ");
        }
        // The operation may have happened.
        for ended in [String::new(), failed.replace(":fail", ":info"), failed.replace(":fail", ":ok")] {
            assert_judged(&format!("{invoked}{right}{ended}"), (UNKNOWN, &[]), "No verdict, because of the op at");
        }
        // There are no other ops.
        assert_judged(&format!("{invoked}{failed}"), (UNKNOWN, &[]), "No verdict, because of the op at index 0 (");
    }
    // The messages that it was to send are known from its invocation, and were not sent.
    for failed in ["0x send :j", "0x send [[:send :x 7]]", "0x sned [[:send :x 7]]"] {
        let text = ops(&["0i send [[:send :x 1]]", failed]) + &polled(1, "[0 1]");
        assert_judged(&text, (INVALID, &["G1a"]), "kafka ignored 1 of ");
    }
}

#[test]
fn what_only_assigns_sends_and_polls_nothing() {
    let aborted = ops(&["0i send [[:send :x 1]]", "0x send [[:send :x 1]]"]) + &polled(1, "[0 1]");
    let lost = sent(1, 0) + &sent(2, 1) + &polled(1, "[1 2]");
    let unseen = sent(1, 0) + &polled(1, "[0 1]") + &sent(2, 1);
    let phantom = polled(1, "[0 1]") + &polled(2, "[0 1]");
    for (f, may_touch) in ODD {
        let cases = [(&aborted, &["G1a"][..]), (&lost, LOST), (&unseen, &["unseen"]), (&phantom, &["phantom-message"])];
        for (text, names) in cases {
            for odd in [
                both(9, f, ":j", ":j"),
                ops(&[&format!("9i {f} :j")]),
                ops(&[&format!("9i {f} :j"), &format!("9n {f} :j")]),
            ] {
                let expected = if *may_touch { (UNKNOWN, &[][..]) } else { (INVALID, names) };
                let note =
                    if *may_touch { "No verdict, because of the op at" } else { "The verdict ignores the op at" };
                assert_judged(&format!("{odd}{text}"), expected, note);
            }
        }
    }
    // Only the completion is an assignment.
    let odd = ops(&["9i send [[:send :x 7]]", "9k assign [:x]"]);
    assert_judged(&(odd + &phantom), (UNKNOWN, &[]), "No verdict, because of the op at");
}

/// In EDN, 7 and "7" are two keys.
#[test]
fn a_key_that_is_an_integer_and_a_string_may_be_two_keys() {
    let text = |first: &str, second: &str, polled: &str| {
        format!(
            "{{:process 0, :type :invoke, :f :send, :value [[:send {first} 1]]}}
             {{:process 0, :type :ok, :f :send, :value [[:send {first} [0 1]]]}}
             {{:process 1, :type :invoke, :f :send, :value [[:send {second} 2]]}}
             {{:process 1, :type :ok, :f :send, :value [[:send {second} [0 2]]]}}
             {{:process 1, :type :invoke, :f :poll, :value [[:poll]]}}
             {{:process 1, :type :ok, :f :poll, :value [[:poll {polled}]]}}"
        )
    };
    let (int, string) = ("7", "\"7\"");
    for (first, second, polled, at) in [
        (int, string, "{7 [[0 1]], \"7\" [[0 2]]}", "at index 2 "),
        (string, int, "{7 [[0 2]], \"7\" [[0 1]]}", "at index 2 "),
        (string, ":x", "{7 [[0 1]]}", "at index 5 "),
    ] {
        let report = judge(&text(first, second, polled));
        assert_eq!(report.verdict, Verdict::Unknown, "{first} {second} {polled}: {:?}", types(&report));
        assert!(report.notes[0].contains(at) && report.notes[0].contains("whether it is one key is unknown"));
    }
    // Assignments say nothing about messages. A violation in another log is certain.
    let twice = sent(1, 0) + &sent(2, 0);
    let report = judge(&(text(int, string, "{}") + &twice));
    assert_eq!((report.verdict, types(&report)), (Verdict::Invalid, vec!["inconsistent-offsets"]));
    let assigned = both(1, "assign", "[\"7\"]", "[\"7\"]");
    assert_eq!(judge(&(text(int, ":x", "{7 [[0 1]], :x [[0 2]]}") + &assigned)).verdict, Verdict::Valid);
    let same = judge(&text(int, int, "{\"7\" [[0 1]]}"));
    assert_eq!((same.verdict, types(&same)), (Verdict::Invalid, vec!["inconsistent-offsets", "lost-write", "unseen"]));
}

/// Without the result of a poll, it is unknown what the op polled.
#[test]
fn a_completion_without_a_poll_of_its_invocation_is_not_understood() {
    let lost = |asked: &str, got: &str| {
        let f = if asked.contains("send") || got.contains("send") { "txn" } else { "poll" };
        sent(1, 0) + &both(1, f, asked, got) + &sent(3, 2) + &polled(0, "[2 3]")
    };
    for (asked, got, counts) in [
        ("[[:poll] [:send :x 2]]", "[[:send :x [1 2]]]", "(0) than its invocation at index 2 (1)"),
        ("[[:poll]]", "[]", "(0) than its invocation at index 2 (1)"),
        ("[[:poll] [:poll]]", "[[:poll {}]]", "(1) than its invocation at index 2 (2)"),
        ("[[:poll] [:send :x 2] [:poll]]", "[[:poll {}] [:send :x [1 2]]]", "(1) than its invocation at index 2 (2)"),
    ] {
        assert_judged(&lost(asked, got), (UNKNOWN, &[]), &format!("the op has fewer polls {counts}"));
        // Its sends are known, so another anomaly remains.
        let twice = both(3, "poll", "[[:poll]]", "[[:poll {:x [[0 1] [0 1]]}]]");
        let note = "The verdict ignores the op at index 3";
        assert_judged(&(lost(asked, got) + &twice), (INVALID, &["int-nonmonotonic-poll"]), note);
    }
    // These completions contain the polls, without results.
    for (asked, got) in [
        ("[[:poll] [:send :x 2]]", "[[:poll] [:send :x [1 2]]]"),
        ("[[:poll]]", "[[:poll]]"),
        ("[[:poll]]", "[[:poll] [:poll]]"),
        ("nil", "[]"),
    ] {
        assert_judged(&lost(asked, got), (INVALID, LOST), "");
    }
    // A crashed or failed op may omit results.
    for kind in ["n", "x"] {
        let text = sent(1, 0) + &ops(&["1i poll [[:poll]]", &format!("1{kind} poll []")]) + &sent(3, 2);
        assert_judged(&(text + &polled(0, "[2 3]")), (INVALID, LOST), "");
    }
}
