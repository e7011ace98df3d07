//! Single cases: the verdict, and its explanation.

use check_log::Kafka;
use history_core::{Budget, Checker, History, Options, Reader, Report, Verdict};

fn judge(text: &str, options: &[(&str, &str)]) -> Report {
    let options = options.iter().fold(Options::new(), |all, (name, value)| all.with(*name, *value));
    let run = Kafka::default().start(&options).unwrap();
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

fn types(report: &Report) -> Vec<&str> {
    report.anomaly_types().collect()
}

/// An operation without concurrent ones.
fn op(process: u32, kind: &str, f: &str, asked: &str, got: &str) -> String {
    format!(
        "{{:process {process}, :type :invoke, :f :{f}, :value {asked}}}\n{{:process {process}, :type :{kind}, :f :{f}, :value {got}}}\n"
    )
}

fn send(value: u32, offset: u64) -> String {
    op(0, "ok", "send", &format!("[[:send :x {value}]]"), &format!("[[:send :x [{offset} {value}]]]"))
}

fn poll(process: u32, list: &str) -> String {
    op(process, "ok", "poll", "[[:poll]]", &format!("[[:poll {{:x {list}}}]]"))
}

#[test]
fn offsets_may_be_far_apart() {
    let far = (1_u64 << 62) - 1;
    let text = send(1, 0) + &send(2, far) + &send(3, far + 7) + &poll(1, &format!("[[0 1] [{far} 2] [{} 3]]", far + 7));
    assert_eq!(judge(&text, &[]).verdict, Verdict::Valid);
    let text = send(1, 0) + &send(2, far) + &send(3, far + 7) + &poll(1, &format!("[[0 1] [{} 3]]", far + 7));
    assert_eq!(types(&judge(&text, &[])), ["int-poll-skip", "lost-write", "unseen"]);
}

#[test]
fn a_poll_of_nothing_leaves_the_consumer_where_it_is() {
    let sends = send(1, 0) + &send(2, 1) + &send(3, 2);
    let text = sends + &poll(1, "[[0 1]]") + &poll(1, "[]") + &poll(1, "[[2 3]]") + &poll(2, "[[0 1] [1 2] [2 3]]");
    assert_eq!(types(&judge(&text, &[])), ["poll-skip"]);
    let report = judge(&text, &[("sub-via", "subscribe")]);
    assert_eq!((report.verdict, types(&report)), (Verdict::Valid, vec!["poll-skip"]));
    assert!(report.notes.iter().any(|note| note.contains("that these options allow: poll-skip")));
}

#[test]
fn seeking_to_the_beginning_starts_anew() {
    let assign = "{:process 1, :type :invoke, :f :assign, :value [:x]}
                  {:process 1, :type :ok, :f :assign, :value [:x], :seek-to-beginning? true}\n";
    let text = send(1, 0) + &poll(1, "[[0 1]]") + assign + &poll(1, "[[0 1]]");
    assert_eq!(judge(&text, &[]).verdict, Verdict::Valid);
    let text = send(1, 0) + &poll(1, "[[0 1]]") + &assign.replace("true", "false") + &poll(1, "[[0 1]]");
    assert_eq!(types(&judge(&text, &[])), ["nonmonotonic-poll"]);
}

#[test]
fn a_message_of_an_open_send_may_be_polled() {
    let open = "{:process 3, :type :invoke, :f :send, :value [[:send :x 2]]}\n";
    let text = send(1, 0) + open + &poll(1, "[[0 1] [1 2]]");
    assert_eq!(judge(&text, &[]).verdict, Verdict::Valid);
    let report = judge(&(send(1, 0) + &poll(1, "[[0 1] [1 2]]")), &[]);
    assert_eq!((report.verdict, types(&report)), (Verdict::Invalid, vec!["phantom-message"]));
    // The message was polled before its send was invoked.
    let text = send(1, 0) + &poll(1, "[[0 1] [1 2]]") + open;
    assert_eq!(types(&judge(&text, &[])), ["G1c-realtime"]);
}

/// A crashed op may have results for only some of its sends: the others are at their positions in the invocation.
#[test]
fn results_of_a_part_keep_the_order_of_the_sends() {
    let log = poll(1, "[[0 1] [1 2] [2 3]]");
    for kind in ["info", "fail"] {
        for got in [
            "[[:send :x 1] [:send :x [1 2]] [:send :x 3]]",
            "[[:send :x [1 2]]]",
            "[[:send :x [1 2]] [:send :x [2 3]]]",
        ] {
            let sent = op(0, kind, "send", "[[:send :x 1] [:send :x 2] [:send :x 3]]", got);
            let report = judge(&(sent + &log), &[]);
            let expected: &[&str] = if kind == "fail" { &["G1a"] } else { &[] };
            assert_eq!(types(&report), expected, "{kind} {got}");
        }
    }
    // A poll between two sends stays after the first of them.
    let asked = "[[:send :x 1] [:poll] [:send :x 2]]";
    let got = "[[:poll {}] [:send :x [1 2]]]";
    assert_eq!(judge(&(op(0, "info", "txn", asked, got) + &poll(1, "[[0 1] [1 2]]")), &[]).verdict, Verdict::Valid);
    let report =
        judge(&(op(0, "info", "send", "[[:send :x 1] [:send :x 2]]", "[[:send :x 2] [:send :x 1]]") + &log), &[]);
    assert_eq!(report.verdict, Verdict::Unknown, "sends in another order");
}

#[test]
fn unseen_messages_are_allowed_in_a_history_cut_short() {
    let text = send(1, 0) + &poll(1, "[[0 1]]") + &send(2, 1);
    let report = judge(&text, &[]);
    assert_eq!((report.verdict, types(&report)), (Verdict::Invalid, vec!["unseen"]));
    assert!(report.notes.iter().any(|note| note.contains("does not end with polls")), "{:?}", report.notes);
    assert_eq!(judge(&text, &[("cut-short", "true")]).verdict, Verdict::Valid);
}

#[test]
fn a_cycle_of_polls_is_a_violation_in_either_mode() {
    let text = "
        {:process 0, :type :invoke, :f :txn, :value [[:send :x 1] [:poll]]}
        {:process 1, :type :invoke, :f :txn, :value [[:send :y 2] [:poll]]}
        {:process 0, :type :ok, :f :txn, :value [[:send :x [0 1]] [:poll {:y [[0 2]]}]]}
        {:process 1, :type :ok, :f :txn, :value [[:send :y [0 2]] [:poll {:x [[0 1]]}]]}";
    for ww_deps in ["false", "true"] {
        let report = judge(text, &[("ww-deps", ww_deps)]);
        assert_eq!((report.verdict, types(&report)), (Verdict::Invalid, vec!["G1c"]), "{ww_deps}");
        let witness = &report.anomalies[0].witnesses[0];
        assert!(
            witness.explanation.contains("T1 < T2, because T1 sent 1 to :x which was polled by T2."),
            "{witness:?}"
        );
    }
    // One step depends on the order of x.
    let text = "
        {:process 0, :type :invoke, :f :txn, :value [[:send :x 2] [:send :y 1]]}
        {:process 1, :type :invoke, :f :txn, :value [[:send :x 1] [:poll]]}
        {:process 0, :type :ok, :f :txn, :value [[:send :x [1 2]] [:send :y [0 1]]]}
        {:process 1, :type :ok, :f :txn, :value [[:send :x [0 1]] [:poll {:y [[0 1]]}]]}
        {:process 2, :type :invoke, :f :poll, :value [[:poll]]}
        {:process 2, :type :ok, :f :poll, :value [[:poll {:x [[0 1] [1 2]]}]]}";
    assert_eq!(judge(text, &[]).verdict, Verdict::Valid);
    let report = judge(text, &[("ww-deps", "true")]);
    assert_eq!((report.verdict, types(&report)), (Verdict::Valid, vec!["G1c"]));
    assert!(report.anomalies[0].witnesses[0].explanation.contains("sent 1 to :x before T1 sent 2"));
}

#[test]
fn keys_in_json_maps_are_the_integers_they_spell() {
    let text = r#"
        {"process": 0, "type": "invoke", "f": "send", "value": [["send", 7, 1], ["send", 7, 2]]}
        {"process": 0, "type": "ok", "f": "send", "value": [["send", 7, [0, 1]], ["send", 7, [1, 2]]]}
        {"process": 1, "type": "invoke", "f": "poll", "value": [["poll"]]}
        {"process": 1, "type": "ok", "f": "poll", "value": [["poll", {"7": [[0, 1], [1, 2]]}]]}"#;
    assert_eq!(judge(text, &[]).verdict, Verdict::Valid);
}

#[test]
fn what_cannot_be_decoded_is_unknown_and_named() {
    for (bad, why) in [
        ("[[:poll 3]]", "expected a poll's map of key to messages, found an integer"),
        ("[[:poll {:x [[0.5 1]]}]]", "expected an offset (an integer from 0), found 0.5"),
        ("[[:poll {:x [[-1 1]]}]]", "expected an offset (an integer from 0), found -1"),
        ("[[:poll {:x [7]}]]", "expected a pair [offset message], found 7"),
        ("[[:poll {:x 7}]]", "expected a vector of [offset message] pairs, found an integer"),
        ("[[:poll {:x [[0 nil]]}]]", "expected a message (neither nil nor a vector), found [0 nil]"),
        ("[[:send :x 1]]", "expected no :send in an op of :f :poll"),
        ("7", "expected a vector of micro-ops, found an integer"),
        ("[[:append :x 1]]", "expected [:send key message] or [:poll messages], found [:append :x 1]"),
    ] {
        let text = send(1, 0) + &poll(1, "[[0 1]]") + &op(2, "ok", "poll", "[[:poll]]", bad);
        let report = judge(&text, &[]);
        assert_eq!(report.verdict, Verdict::Unknown, "{bad}");
        assert!(report.notes[0].contains(&format!("at index 5 (line 6): {why}")), "{bad}: {}", report.notes[0]);
        // The anomalies that the other ops show remain.
        let text = text + &poll(3, "[[0 1] [1 1]]");
        let report = judge(&text, &[]);
        assert_eq!(
            (report.verdict, types(&report)),
            (Verdict::Invalid, vec!["duplicate", "int-nonmonotonic-poll"]),
            "{bad}"
        );
        assert!(report.notes[0].starts_with("The verdict ignores the op at index 5"), "{}", report.notes[0]);
    }
}

#[test]
fn a_message_that_is_sent_twice_ends_what_can_be_said() {
    let text = send(1, 0) + &send(1, 1) + &poll(1, "[[0 1] [1 1]]");
    let report = judge(&text, &[]);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("1 is sent to :x a second time"), "{}", report.notes[0]);
    // After a failure, the message may be sent again.
    let failed = op(0, "fail", "send", "[[:send :x 1]]", "[[:send :x 1]]");
    assert_eq!(judge(&(failed.clone() + &send(1, 0) + &poll(1, "[[0 1]]")), &[]).verdict, Verdict::Valid);
    // But not after it was polled.
    assert_eq!(types(&judge(&(failed + &poll(1, "[[0 1]]") + &send(1, 0)), &[])), ["G1a", "G1c-realtime"]);
}

#[test]
fn keys_that_are_reassigned_during_an_op_may_jump() {
    let sends = send(1, 0) + &send(2, 1) + &send(3, 2) + &poll(2, "[[0 1] [1 2] [2 3]]");
    let jump = poll(1, "[[0 1] [2 3]]");
    assert_eq!(types(&judge(&(sends.clone() + &jump), &[])), ["int-poll-skip"]);
    let excused = jump.replace("]}]]}", "]}]], :rebalance-log [{:keys [:x]}]}");
    assert_eq!(judge(&(sends.clone() + &excused), &[]).verdict, Verdict::Valid, "{excused}");
    let other = excused.replace("{:keys [:x]}", "{:keys [:y]}");
    assert_eq!(types(&judge(&(sends.clone() + &other), &[])), ["int-poll-skip"]);
    let bad = judge(&(sends + &excused.replace("[{:keys [:x]}]", "7")), &[]);
    assert!(bad.notes[0].contains("expected a :rebalance-log of maps with :keys, found 7"), "{}", bad.notes[0]);
}

#[test]
fn lag_is_counted_from_the_first_message_that_was_not_seen() {
    let text = "
        {:process 0, :type :invoke, :f :send, :value [[:send :x 1]], :time 0}
        {:process 0, :type :ok, :f :send, :value [[:send :x [0 1]]], :time 5000000}
        {:process 1, :type :invoke, :f :poll, :value [[:poll]], :time 6000000}
        {:process 1, :type :ok, :f :poll, :value [[:poll {:x []}]], :time 7000000}";
    let report = judge(text, &[]);
    assert!(report.counts.contains(&("worst-realtime-lag-ns".into(), 1_000_000)), "{:?}", report.counts);
}

#[test]
fn an_unknown_way_to_subscribe_is_refused() {
    let error = Kafka::default().start(&Options::new().with("sub-via", "magic")).err().unwrap();
    assert_eq!(error.to_string(), "--sub-via: expected assign or subscribe, found magic");
}

#[test]
fn all_errors_shows_all() {
    let mut text: String = (0..40).map(|value| send(value, u64::from(value))).collect();
    text += &op(9, "ok", "poll", "[[:poll]]", "[[:poll {:x [[39 39]]}]]");
    let count = |options: &[(&str, &str)]| judge(&text, options).anomaly("lost-write").unwrap().witnesses.len();
    assert_eq!((count(&[]), count(&[("all-errors", "true")])), (32, 39));
}

/// Sends of 1 to 100, each `step` offsets after the previous one.
fn hundred(step: u64) -> (String, Vec<String>) {
    let sends = (1..=100).map(|at| send(at, step * u64::from(at))).collect();
    (sends, (1..=100).map(|at: u64| format!("[{} {at}]", step * at)).collect())
}

#[test]
fn what_many_consumers_poll_is_compared_message_by_message() {
    // Adjacent messages, messages with gaps, and messages too far apart for one word.
    for step in [1, 3, 40] {
        let (sends, list) = hundred(step);
        let all = |list: &[String]| format!("[{}]", list.join(" "));
        let valid = sends.clone() + &(1..5).map(|process| poll(process, &all(&list))).collect::<String>();
        assert_eq!(judge(&valid, &[]).verdict, Verdict::Valid, "{step}");
        for at in [1, 30, 31, 32, 33, 34, 64, 65, 98] {
            let mut without = list.clone();
            without.remove(at);
            let report = judge(&(valid.clone() + &poll(7, &all(&without))), &[]);
            assert_eq!(types(&report), ["int-poll-skip"], "{step} {at}");
            let witness = &report.anomalies[0].witnesses[0];
            let skipped = &witness.facts.iter().find(|(name, _)| name == "skipped").unwrap().1;
            assert_eq!(skipped.to_string(), format!("[{}]", at + 1));
            let shown = witness.ops[0].value.to_string();
            assert_eq!(shown, format!("[[:poll {{:x {}}}]]", all(&without)), "{step} {at}");
            let mut swapped = list.clone();
            swapped.swap(at, at - 1);
            let report = judge(&(valid.clone() + &poll(7, &all(&swapped))), &[]);
            assert_eq!(types(&report), ["int-nonmonotonic-poll", "int-poll-skip"], "{step} {at}");
            // Another message is at its offset.
            let mut wrong = list.clone();
            wrong[at] = format!("[{} 100]", step * (u64::try_from(at).unwrap() + 1));
            let report = judge(&(valid.clone() + &poll(7, &all(&wrong))), &[]);
            assert!(report.anomaly("inconsistent-offsets").is_some(), "{step} {at}: {:?}", types(&report));
            assert!(report.anomaly("duplicate").is_some(), "{step} {at}");
        }
    }
}

#[test]
fn a_message_that_is_known_late_parts_what_was_polled_before() {
    // Message 3 at offset 2 was unknown when the others were polled twice.
    let known = send(1, 0) + &send(2, 1) + &send(4, 3) + &send(5, 4);
    let polls = poll(1, "[[0 1] [1 2] [3 4] [4 5]]") + &poll(2, "[[0 1] [1 2] [3 4] [4 5]]");
    let late = op(4, "ok", "send", "[[:send :x 3]]", "[[:send :x [2 3]]]");
    let text = known + &polls + &late + &poll(3, "[[0 1] [1 2] [2 3] [3 4] [4 5]]");
    let report = judge(&text, &[]);
    assert_eq!((types(&report), report.anomalies[0].count), (vec!["int-poll-skip"], 2));
}

#[test]
fn a_failed_send_of_what_had_been_polled_is_a_second_send() {
    let text = "
        {:process 0, :type :ok, :f :send, :value [[:send :x [0 1]] [:send :x [1 2]]]}
        {:process 1, :type :ok, :f :poll, :value [[:poll {:x [[0 1] [1 2]]}]]}
        {:process 2, :type :fail, :f :send, :value [[:send :x 2]]}";
    let report = judge(text, &[]);
    assert_eq!((report.verdict, types(&report)), (Verdict::Unknown, vec![]));
    assert!(report.notes[0].contains("2 is sent to :x a second time"), "{}", report.notes[0]);
}

#[test]
fn a_message_whose_every_send_failed_is_aborted() {
    let failed = |process| op(process, "fail", "send", "[[:send :x 2]]", "[[:send :x 2]]");
    let polled = poll(1, "[[0 1] [1 2]]");
    let text = send(1, 0) + &failed(2) + &failed(3) + &polled;
    assert_eq!(types(&judge(&text, &[])), ["G1a"]);
    // The second send was in progress, or its message is the one that was polled.
    let second = op(3, "ok", "send", "[[:send :x 2]]", "[[:send :x [1 2]]]");
    assert_eq!(judge(&(send(1, 0) + &failed(2) + &second + &polled), &[]).verdict, Verdict::Valid);
    assert_eq!(types(&judge(&(send(1, 0) + &failed(2) + &polled + &second), &[])), ["G1a", "G1c-realtime"]);
}

#[test]
fn a_message_that_another_op_sent_as_well_depends_on_that() {
    // The completion without a process shows the message of the operation in flight at an offset. Process 1 polls this
    // message, and process 0 polls a message that process 1 sent.
    let text = "
        {:process 0, :type :invoke, :f :txn, :value [[:send 0 1] [:poll]]}
        {:type :ok, :f :send, :value [[:send 0 [0 1]]]}
        {:process 1, :type :invoke, :f :txn, :value [[:poll] [:send 1 5]]}
        {:process 1, :type :ok, :f :txn, :value [[:poll {0 [[0 1]]}] [:send 1 [0 5]]]}
        {:process 0, :type :ok, :f :txn, :value [[:send 0 [0 1]] [:poll {1 [[0 5]]}]]}";
    assert_eq!(types(&judge(text, &[])), ["G1c"]);
    let text = "
        {:process 0, :type :invoke, :f :txn, :value [[:send 0 1] [:poll]]}
        {:type :ok, :f :send, :value [[:send 0 [0 1]]]}
        {:process 0, :type :ok, :f :txn, :value [[:send 0 [0 1]] [:poll {0 [[0 1]]}]]}";
    assert_eq!(types(&judge(text, &[])), ["precommitted-read"]);
}

#[test]
fn what_an_op_that_is_not_understood_may_have_sent_is_not_aborted() {
    let failed = op(0, "fail", "send", "[[:send 0 1]]", "[[:send 0 1]]");
    let odd = op(1, "ok", "txn", "[[:send 0 1] [:cas 3]]", "[[:send 0 [0 1]] [:cas 3]]");
    let polled = op(2, "ok", "poll", "[[:poll]]", "[[:poll {0 [[0 1]]}]]");
    for times in [1, 2] {
        let report = judge(&(failed.repeat(times) + &odd + &polled), &[]);
        assert_eq!((report.verdict, types(&report)), (Verdict::Unknown, vec![]), "{times}");
    }
    // Messages that were polled before are certain.
    assert_eq!(types(&judge(&(failed + &polled + &odd), &[])), ["G1a"]);
}

#[test]
fn an_invocation_without_a_value_is_known_by_its_completion() {
    let invoked = |f: &str| format!("{{:process 0, :type :invoke, :f :{f}, :value nil}}\n");
    let ended = |kind: &str, f: &str, value: &str| format!("{{:process 0, :type :{kind}, :f :{f}, :value {value}}}\n");
    let polled = op(2, "ok", "poll", "[[:poll]]", "[[:poll {0 [[0 1]]}]]");
    let verdict = |text: &str| judge(text, &[]).verdict;
    for (kind, f, value) in [("ok", "send", "[[:send 0 [0 1]]]"), ("info", "txn", "[[:send 0 1]]")] {
        let text = invoked(f) + &ended(kind, f, value) + &polled;
        assert_eq!(verdict(&text), Verdict::Valid, "{text}");
    }
    // It began before the poll and sent the polled message, although that became known only later.
    assert_eq!(verdict(&(invoked("send") + &polled + &ended("ok", "send", "[[:send 0 [0 1]]]"))), Verdict::Valid);
    assert_eq!(types(&judge(&(invoked("send") + &ended("fail", "send", "[[:send 0 1]]") + &polled), &[])), ["G1a"]);
    // It is unknown what these operations sent, or whether they did.
    for hidden in
        [invoked("send"), invoked("txn") + &ended("info", "txn", "nil"), invoked("txn") + &ended("ok", "txn", "nil")]
    {
        assert_eq!(verdict(&(hidden.clone() + &polled)), Verdict::Unknown, "{hidden}");
        let failed = op(1, "fail", "send", "[[:send 0 1]]", "[[:send 0 1]]");
        assert_eq!(verdict(&(hidden.clone() + &failed + &polled)), Verdict::Unknown, "{hidden}");
        // A message that was polled before was not sent by them.
        assert_eq!(types(&judge(&(failed + &polled + &hidden), &[])), ["G1a"], "{hidden}");
        // Another op sent everything that was polled; an acknowledged message may be lost.
        let sent = op(1, "ok", "send", "[[:send 0 1]]", "[[:send 0 [0 1]]]");
        let expected = if hidden.contains(":ok") { Verdict::Unknown } else { Verdict::Valid };
        assert_eq!(verdict(&(hidden.clone() + &sent + &polled)), expected, "{hidden}");
    }
    let failed = invoked("send") + &ended("fail", "send", "nil") + &polled;
    assert_eq!(types(&judge(&failed, &[])), ["phantom-message"], "it sent nothing");
    let poll = "{:process 0, :type :invoke, :f :poll, :value nil}\n".to_owned();
    assert_eq!(types(&judge(&(poll + &polled), &[])), ["phantom-message"], "it sends nothing");
}

#[test]
fn the_greatest_offset_ends_a_run() {
    let (before, last) = (i64::MAX - 1, i64::MAX);
    let sent =
        op(0, "ok", "send", "[[:send :x 1] [:send :x 2]]", &format!("[[:send :x [{before} 1]] [:send :x [{last} 2]]]"));
    let polled = |process| poll(process, &format!("[[{before} 1] [{last} 2]]"));
    assert_eq!(judge(&(sent + &polled(1) + &polled(2)), &[]).verdict, Verdict::Valid);
}

#[test]
fn nothing_is_certain_while_senders_are_unknown() {
    let text = "
        {:process 0, :type :ok, :f :send, :value [[:send :x [0 1]]]}
        {:process 1, :type :fail, :f :send, :value [[:send :x 2]]}
        {:process 2, :type :ok, :f :poll, :value [[:poll {:x [[0 1] [1 2]]}]]}
        {:process 3, :type :ok, :f :send, :value [[:send :x [1 2]]]}";
    let checker = Kafka::default();
    let mut run = checker.start(&Options::new()).unwrap();
    for op in History::parse(text).unwrap().ops() {
        _ = run.observe(&op).unwrap();
        assert!(!run.is_violated(), "at the op at index {}", op.index);
    }
    assert_eq!(types(&judge(text, &[])), [""; 0]);
}

/// While an invocation does not record what it sends, the sender of a polled message is not certain.
#[test]
fn a_violation_says_nothing_of_messages_that_an_op_in_flight_may_have_sent() {
    let text = "
        {:process 0, :type :invoke, :f :send, :value [[:send :x 1] [:send :x 2]]}
        {:process 0, :type :ok, :f :send, :value [[:send :x [0 1]] [:send :x [1 2]]]}
        {:process 1, :type :invoke, :f :send, :value [[:send :x 3]]}
        {:process 1, :type :fail, :f :send, :value [[:send :x 3]]}
        {:process 2, :type :invoke, :f :send, :value nil}
        {:process 3, :type :invoke, :f :poll, :value [[:poll]]}
        {:process 3, :type :ok, :f :poll, :value [[:poll {:x [[1 2] [0 1]], :y [[0 9]], :z [[0 3]]}]]}";
    for polled in
        [text.to_owned(), text.replace(":z [[0 3]]", ":x [[1 2] [0 1] [2 3]]").replacen(":x [[1 2] [0 1]], ", "", 1)]
    {
        let mut run = Kafka::default().start(&Options::new()).unwrap();
        for op in History::parse(&polled).unwrap().ops() {
            _ = run.observe(&op).unwrap();
        }
        assert!(run.is_violated(), "{polled}");
        let violation = run.violation().unwrap();
        for report in [violation, run.finish_early(&Budget::default()).unwrap()] {
            assert_eq!(report.verdict, Verdict::Invalid, "{polled}");
            let of_senders = |name: &str| ["G1a", "phantom-message"].contains(&name);
            assert!(!report.anomaly_types().any(of_senders), "{:?}: {polled}", types(&report));
        }
    }
}

#[test]
fn a_misspelled_function_may_have_sent_what_was_polled() {
    let polled = op(2, "ok", "poll", "[[:poll]]", "[[:poll {0 [[0 1]]}]]");
    for f in ["sends", "Txn"] {
        let text = op(1, "ok", f, "[[:send 0 1]]", "[[:send 0 [0 1]]]") + &polled;
        let report = judge(&text, &[]);
        assert_eq!(report.verdict, Verdict::Unknown, "{f}");
        let reason = format!("expected :send, :poll or :txn as the function of micro-ops, found :{f}");
        assert!(report.notes.iter().any(|note| note.contains(&reason)), "{:?}", report.notes);
    }
    // An op without micro-operations sends nothing.
    let text = op(1, "ok", "list-topics", "nil", "[0 1]") + &polled;
    assert_eq!(types(&judge(&text, &[])), ["phantom-message"]);
}

#[test]
fn what_says_nothing_of_itself_is_unknown() {
    let note = |report: &Report, what: &str| report.notes.iter().any(|note| note.contains(what));
    // The position of the client is unknown: it may poll messages again.
    let twice = send(1, 0) + &poll(1, "[[0 1]]");
    for f in ["assign", "subscribe"] {
        let report = judge(&(twice.clone() + &op(1, "ok", f, "nil", "nil") + &poll(1, "[[0 1]]")), &[]);
        assert_eq!(report.verdict, Verdict::Unknown, "{f}");
        assert!(note(&report, "expected a vector of keys, found nil"), "{:?}", report.notes);
        // An assignment that failed changed nothing.
        let report = judge(&(twice.clone() + &op(1, "fail", f, "nil", "nil") + &poll(1, "[[0 1]]")), &[]);
        assert_eq!(types(&report), ["nonmonotonic-poll"], "{f}");
    }
    // It may have sent the missing messages, and polled any.
    let seen = send(2, 1) + &poll(1, "[[1 2]]");
    for (f, asked) in [("send", "nil"), ("txn", "nil"), ("poll", "nil"), ("poll", "[[:poll]]")] {
        let report = judge(&(seen.clone() + &op(2, "ok", f, asked, "nil")), &[]);
        assert_eq!(report.verdict, Verdict::Unknown, "{f} {asked}");
        assert!(note(&report, "expected a vector of micro-ops, found nil"), "{:?}", report.notes);
        assert_eq!(judge(&(seen.clone() + &op(2, "fail", f, asked, "nil")), &[]).verdict, Verdict::Valid, "{f}");
    }
}

#[test]
fn without_invocations_real_time_is_unknown() {
    let polled = "{:process 0, :type :ok, :f :poll, :value [[:poll {:x [[0 1]]}]]}\n";
    let sent = "{:process 0, :type :ok, :f :send, :value [[:send :x [0 1]]]}\n";
    for text in [polled.to_owned() + sent, sent.to_owned() + polled] {
        let report = judge(&text, &[]);
        assert_eq!(report.verdict, Verdict::Unknown, "{text}");
        assert!(report.notes.iter().any(|note| note.contains("The invocation of the op at index 0 is unknown")));
    }
    // An anomaly that does not depend on real time remains.
    let report = judge(&(sent.to_owned() + "{:process 1, :type :ok, :f :poll, :value [[:poll {:x [[0 2]]}]]}"), &[]);
    assert_eq!(report.verdict, Verdict::Invalid);
}

#[test]
fn ops_without_a_log_in_common_are_unknown() {
    let note = "No two ops are about the same log";
    let other = op(0, "ok", "send", "[[:send :y 1]]", "[[:send :y [0 1]]]");
    for text in [send(1, 0), send(1, 0) + &other] {
        let report = judge(&text, &[("cut-short", "true")]);
        assert_eq!(report.verdict, Verdict::Unknown, "{text}");
        assert!(report.notes.iter().any(|found| found.contains(note)), "{:?}", report.notes);
    }
    assert_eq!(judge(&(send(1, 0) + &send(2, 1)), &[("cut-short", "true")]).verdict, Verdict::Valid);
}

#[test]
fn polls_without_offsets_are_said_to_be_unchecked() {
    let send = |value: u32| op(0, "ok", "send", &format!("[[:send :x {value}]]"), &format!("[[:send :x {value}]]"));
    let note = |text: &str| {
        let report = judge(text, &[]);
        assert_eq!(report.verdict, Verdict::Valid);
        report.notes.into_iter().find(|note| note.starts_with("No op says the offset of message"))
    };
    let said = note(&(send(7) + &send(8) + &poll(1, "[[nil 7] [nil 7] [nil 8]]")));
    assert_eq!(
        said.as_deref(),
        Some(
            "No op says the offset of message 7 of :x and 1 more: whether polls repeat, reorder or skip it was not checked."
        )
    );
    assert_eq!(note(&(self::send(7, 0) + &self::send(8, 1) + &poll(1, "[[nil 7] [nil 8]]"))), None);
}
