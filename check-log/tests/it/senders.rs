//! Ops that may have sent a polled message: those without a value, and those that repeat a message.

use crate::unread::{INVALID, UNKNOWN, assert_judged, completions, judge, ops, polled, sent};
use history_core::Verdict;

#[test]
fn a_failed_op_that_repeats_a_message_is_a_second_send() {
    let note = "1 is sent to :x a second time";
    for invoked in ["1i send nil", "1i send [[:send :x 1]]", "1i txn nil"] {
        let f = if invoked.contains("txn") { "txn" } else { "send" };
        let failed = ops(&[invoked, &format!("1x {f} [[:send :x 1]]")]);
        let text = sent(1, 0) + &failed + &polled(2, "[0 1]");
        assert_judged(&text, (UNKNOWN, &[]), note);
        assert_judged(&completions(&text), (UNKNOWN, &[]), note);
        // The first send is in flight, or crashed.
        for ended in ["", "0n send [[:send :x 1]]", "0n send nil"] {
            let first = ops(&["0i send [[:send :x 1]]"]);
            let end = if ended.is_empty() { String::new() } else { ops(&[ended]) };
            assert_judged(&(first.clone() + &failed + &end + &polled(2, "[0 1]")), (UNKNOWN, &[]), note);
            assert_judged(&(first + &end + &failed + &polled(2, "[0 1]")), (UNKNOWN, &[]), note);
        }
        // It failed before the message was sent.
        assert_judged(&(failed.clone() + &sent(1, 0) + &polled(2, "[0 1]")), (Verdict::Valid, &[]), "");
        // Only failed ops sent the message.
        assert_judged(&(failed.clone() + &failed + &polled(2, "[0 1]")), (INVALID, &["G1a"]), "");
    }
    // An op whose invocation has no value completes, and another op in flight sends the same message.
    let text = ops(&["0i send [[:send :x 1]]", "1i send nil", "1k send [[:send :x [1 1]]]"]);
    assert_judged(&(text + &ops(&["0k send [[:send :x [0 1]]]"]) + &polled(2, "[1 1]")), (UNKNOWN, &[]), note);
    // The completion may be that of the invocation without a process.
    let text = ops(&["0i send [[:send :x 1]]", "0x send [[:send :x 1]]"]).replace(":process 0, ", "");
    assert_judged(&(text + &polled(2, "[0 1]")), (INVALID, &["G1a"]), "");
    // The completion without a process may be that of process 0.
    let nameless = ops(&["0x send [[:send :x 1]]"]).replace(":process 0, ", "");
    let text = ops(&["0i send [[:send :x 1]]"]) + &nameless + &polled(2, "[0 1]");
    assert_judged(&text, (UNKNOWN, &[]), note);
}

#[test]
fn a_crashed_op_without_a_value_may_have_sent_a_polled_message() {
    let note = "it may have sent a polled message, and neither its invocation nor its completion records";
    for f in ["send", "txn"] {
        let (invoked, crashed) = (format!("0i {f} nil"), format!("0n {f} nil"));
        let (before, after) = (polled(2, ""), polled(1, "[0 1]"));
        let text = before + &ops(&[&invoked, &crashed]) + &after;
        assert_judged(&text, (UNKNOWN, &[]), note);
        assert_judged(&completions(&text), (UNKNOWN, &[]), note);
        // Its invocation is unknown, so the polled message may have been sent before.
        let failed = ops(&["3i send [[:send :x 1]]", "3x send [[:send :x 1]]"]);
        let text = failed + &after + &ops(&[&invoked, &crashed]);
        assert_judged(&text, (INVALID, &["G1a"]), "");
        assert_judged(&completions(&text), (UNKNOWN, &[]), note);
    }
    let polled = polled(1, "[0 1]");
    // These ops send nothing.
    for f in ["poll", "assign", "subscribe"] {
        let text = completions(&(polled.clone() + &ops(&[&format!("0n {f} nil")])));
        assert_judged(&text, (INVALID, &["phantom-message"]), "");
    }
    // The crashed op may be that of the invocation without a process, which has a value.
    let nameless = |short: &[&str]| ops(short).replace(":process 0, ", "");
    let text = nameless(&["0i send [[:send :x 7]]", "0n send nil"]) + &polled;
    assert_judged(&text, (INVALID, &["phantom-message"]), "");
    let text = nameless(&["0i send [[:send :x 7]]", "0n send nil", "0n send nil"]) + &polled;
    assert_judged(&text, (UNKNOWN, &[]), note);
}

#[test]
fn an_op_that_is_not_understood_may_have_begun_before_a_poll() {
    let failed = ops(&["3i send [[:send :x 1]]", "3x send [[:send :x 1]]"]);
    let text = failed + &polled(1, "[0 1]") + &ops(&["0i send [[:send :x 7]]", "0k send :j"]);
    assert_judged(&text, (INVALID, &["G1a"]), "The verdict ignores the op at");
    assert_judged(&completions(&text), (UNKNOWN, &[]), "No verdict, because of the op at");
}

/// Only ok ops must not poll a message of a failed op.
#[test]
fn a_failed_op_without_a_value_may_be_the_sender_for_failed_and_crashed_polls() {
    let note = "may have failed to send, and neither its invocation nor its completion records what it was to send";
    let end = polled(2, "");
    for reader in ["1x poll [[:poll {:x [[0 1]]}]]", "1n poll [[:poll {:x [[0 1]]}]]"] {
        let reader = ops(&["1i poll [[:poll]]", reader]) + &end;
        for failed in [
            &["0i send nil", "0x send nil"],
            &["0i txn nil", "0x txn nil"],
            &["0i send nil", "0x send :j"],
            &["0i send :j", "0x send nil"],
            &["0i sned :j", "0x sned [[:send :y 1]]"],
        ] {
            for text in [ops(failed) + &reader, reader.clone() + &ops(failed)] {
                assert_judged(&text, (UNKNOWN, &[]), note);
                assert_judged(&(text.clone() + &polled(3, "[0 1]")), (INVALID, &["phantom-message"]), "");
            }
        }
        assert_judged(&completions(&(reader.clone() + &ops(&["0x send nil"]))), (UNKNOWN, &[]), note);
        // It is known which messages they were to send, or that there were none.
        for failed in [
            &["0i send [[:send :x 2]]", "0x send nil"],
            &["0i send [[:send :x 2]]", "0x send :j"],
            &["0i send nil", "0x send [[:send :x 2]]"],
            &["0i send :j", "0x send [[:send :x 2]]"],
            &["0i txn [[:poll]]", "0x txn nil"],
            &["0i poll nil", "0x poll nil"],
            &["0i assign nil", "0x assign :j"],
        ] {
            assert_judged(&(ops(failed) + &reader), (INVALID, &["phantom-message"]), "");
        }
    }
}

/// It is one op, whatever cannot be decoded in it.
#[test]
fn a_failed_op_with_a_wrong_rebalance_log_counts_once() {
    let failed = ops(&["0i send nil", "0x send nil"]).replace(":type :fail", ":rebalance-log 7, :type :fail");
    assert!(failed.contains(":rebalance-log"), "{failed}");
    let reader = ops(&["1i poll [[:poll]]", "1x poll [[:poll {:x [[0 1]]}]]"]) + &polled(2, "");
    let report = judge(&(failed + &reader));
    assert_eq!(report.verdict, UNKNOWN);
    let note = report.notes.iter().find(|note| note.contains("may have failed to send")).unwrap();
    assert!(note.starts_with("No verdict, because of the op at index 1"), "{note}");
    assert!(!note.contains("more op"), "{note}");
}
