//! Ops without a process: any client may have done them.

use crate::unread::{INVALID, UNKNOWN, assert_judged, both, completions, judge, ops, polled};
use history_core::{NAMELESS, Verdict};

/// Removes process 9.
fn nameless(text: &str) -> String {
    text.replace(":process 9, ", "")
}

/// Sends of messages 10 to 15 to two logs, at offsets 0 to 5.
fn sends() -> String {
    let all = |list: &str| list.to_owned() + &list.replace(":x", ":y");
    let list: Vec<String> = (0..6).map(|at| format!("[:send :x [{at} 1{at}]] ")).collect();
    both(0, "send", "nil", &format!("[{}]", all(&list.concat())))
}

/// Polls of everything, so that nothing is lost.
fn ending() -> String {
    let all = "[[0 10] [1 11] [2 12] [3 13] [4 14] [5 15]]";
    both(7, "poll", "[[:poll]]", &format!("[[:poll {{:x {all}, :y {all}}}]]"))
}

/// The verdict on an op without a process between two ops of process 1, with and without invocations.
#[track_caller]
fn assert_between(first: &str, op: &str, last: &str, name: &str, is_certain: bool) {
    for text in [sends() + first + op + last + &ending(), completions(&(sends() + first + op + last + &ending()))] {
        // The same op of another process does not matter.
        assert_judged(&text, (INVALID, &[name]), "");
        let (expected, note) = if is_certain {
            ((INVALID, &[name][..]), String::new())
        } else {
            ((UNKNOWN, &[][..]), format!("Some ops have no process, so whether a {name} across them is an anomaly"))
        };
        assert_judged(&nameless(&text), expected, &note);
    }
    // Before and after the two, it hides nothing.
    for text in [sends() + op + first + last + &ending(), sends() + first + last + op + &ending()] {
        assert_judged(&nameless(&text), (INVALID, &[name]), "");
    }
}

#[test]
fn a_poll_without_a_process_may_be_of_any_consumer() {
    let poll = |got: &str| both(9, "poll", "[[:poll]]", &format!("[[:poll {got}]]"));
    let txn = both(9, "txn", "[[:poll]]", "[[:poll {:x [[1 11]]}]]");
    let skip =
        |op: &str, is_certain| assert_between(&polled(1, "[0 10]"), op, &polled(1, "[2 12]"), "poll-skip", is_certain);
    skip(&poll("{:x [[1 11]]}"), false);
    skip(&txn, false);
    skip(&poll("{:x [[nil 11]]}"), false);
    // It shows nothing of this log, or did not move its client.
    skip(&poll("{:y [[1 11]]}"), true);
    skip(&poll("{:x []}"), true);
    skip(&poll("{:x [[1 11]]}").replace(":ok", ":fail"), true);
    // A consumer that goes back did so at the op or after it, unless the places of its messages are not compared.
    let back = |op: &str, is_certain| {
        assert_between(&polled(1, "[2 12]"), op, &polled(1, "[1 11]"), "nonmonotonic-poll", is_certain);
    };
    back(&poll("{:x [[3 13]]}"), true);
    back(&poll("{:x [[1 11] [2 12]]}"), true);
    back(&poll("{:x [[3 13] [0 10]]}").replace("]}]]}", "]}]], :rebalance-log [{:keys [:x]}]}"), false);
}

#[test]
fn a_poll_of_a_message_without_a_place_may_be_between() {
    let unplaced = both(9, "poll", "[[:poll]]", "[[:poll {:x [[nil 7]]}]]");
    let text = ops(&["3i send [[:send :x 7]]", "3k send [[:send :x [nil 7]]]"]) + &sends() + &polled(1, "[2 12]");
    let text = text + &unplaced + &polled(1, "[1 11]") + &ending();
    assert_judged(&text, (INVALID, &["nonmonotonic-poll"]), "");
    assert_judged(&nameless(&text), (UNKNOWN, &[]), "whether a nonmonotonic-poll across them is an anomaly");
}

#[test]
fn an_assignment_without_a_process_may_be_of_any_client() {
    let back = |op: &str, is_certain| {
        assert_between(&polled(1, "[0 10]"), op, &polled(1, "[0 10]"), "nonmonotonic-poll", is_certain);
    };
    for f in ["assign", "subscribe"] {
        back(&both(9, f, "[:y]", "[:y]"), false);
        back(&both(9, f, "[]", "[]"), false);
        back(&both(9, f, "[:y :x :x]", "[:y :x :x]"), true);
        back(&both(9, f, "[:y]", "[:y]").replace(":ok", ":fail"), true);
    }
    back(&both(9, "assign", "[:x]", "[:x]").replace("[:x]}", "[:x], :seek-to-beginning? true}"), false);
    // One removes the log, and another one, of another key, does not restore it.
    back(&(both(9, "assign", "[:y]", "[:y]") + &both(9, "assign", "[:x]", "[:x]")), false);
    back(&(both(9, "assign", "[:x]", "[:x]") + &both(9, "assign", "[:x]", "[:x]")), true);
}

#[test]
fn a_producer_without_a_process_may_have_no_position() {
    let send = |process: u8, message: &str| both(process, "send", "nil", &format!("[[:send :z {message}]]"));
    let end = || both(7, "poll", "[[:poll]]", "[[:poll {:z [[0 10] [1 11] [2 12] [3 13]]}]]");
    let text = |op: &str| {
        nameless(&(send(1, "[2 12]") + op + &send(1, "[1 11]") + &send(3, "[0 10]") + &send(4, "[3 13]") + &end()))
    };
    let name = "nonmonotonic-send";
    for op in ["", &both(9, "send", "nil", "[[:send :y [0 10]]]"), &both(9, "assign", "[:z]", "[:z]")] {
        let polls_y = polled(8, "[0 10]").replace(":x", ":y");
        let polls_y = if op.contains(":y") { polls_y } else { String::new() };
        assert_judged(&(text(op) + &polls_y), (INVALID, &[name]), "");
    }
    let note = "whether a nonmonotonic-send across them is an anomaly";
    assert_judged(&text(&both(9, "assign", "[:y]", "[:y]")), (UNKNOWN, &[]), note);
    // The place of its message is unknown, or known.
    let unplaced = text(&both(9, "send", "nil", "[[:send :z [nil 7]]]")) + &polled(8, "[nil 7]").replace(":x", ":z");
    assert_judged(&unplaced, (UNKNOWN, &[]), note);
    let placed = text(&both(9, "send", "nil", "[[:send :z [4 14]]]")) + &polled(8, "[4 14]").replace(":x", ":z");
    assert_judged(&placed, (INVALID, &[name]), "");
}

#[test]
fn nothing_holds_if_an_invocation_has_no_process() {
    let (note, what) = NAMELESS;
    let valid = sends() + &ending();
    assert_judged(&valid, (Verdict::Valid, &[]), "");
    for op in [
        ops(&["9i poll [[:poll]]"]),
        ops(&["9i send [[:send :x 16]]"]),
        ops(&["9i assign [:x]"]),
        ops(&["9i crash nil"]),
        both(9, "poll", "[[:poll]]", "[[:poll {:x [[0 10]]}]]"),
        ops(&["9i send [[:send :x 16]]", "9x send [[:send :x 16]]"]),
    ] {
        let before = sends() + &op + &ending();
        assert_judged(&before, (Verdict::Valid, &[]), "");
        for text in [nameless(&before), nameless(&(valid.clone() + &op))] {
            assert_judged(&text, (UNKNOWN, &[]), note);
            let report = judge(&text);
            assert!(report.next.iter().any(|step| step.what == what), "{text}{:?}", report.next);
            assert!(!report.notes.iter().any(|note| note.contains("agrees with real time")), "{:?}", report.notes);
        }
        // A violation remains.
        let text = nameless(&(before + &polled(1, "[0 10] [2 12]")));
        assert_judged(&text, (INVALID, &["int-poll-skip"]), "");
        assert!(!judge(&text).notes.iter().any(|known| known == note), "{text}");
    }
    // A history of completions only has no invocations.
    let text = nameless(&completions(&(valid + &both(9, "poll", "[[:poll]]", "[[:poll {:x [[0 10]]}]]"))));
    assert_judged(&text, (UNKNOWN, &[]), "The invocation of the op at index 0 is unknown");
    assert!(!judge(&text).notes.iter().any(|known| known == note), "{text}");
}
