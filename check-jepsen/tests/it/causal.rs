//! Compares causal with its definition: crashed writes can take effect at times that explain every op.

use crate::common::{anomalies, judge};
use check_jepsen::causal::Causal;
use history_core::Verdict;
use std::fmt::Write as _;

/// An op that ended, or is in flight for ever (`never`). Its position is its place in the history, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    f: &'static str,
    value: Option<i64>,
    end: &'static str,
    link: Link,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Link {
    Init,
    /// To the last ok op.
    Last,
    /// To the last op, whatever its outcome.
    Latest,
}

fn text(steps: &[Step]) -> String {
    let mut text = String::new();
    let mut process = 0;
    for (at, step) in steps.iter().enumerate() {
        let Step { f, end, .. } = *step;
        let value = step.value.map_or("nil".into(), |value| value.to_string());
        let invoked = if f == "write" { &value } else { "nil" };
        _ = writeln!(text, "{{:process {process}, :type :invoke, :f :{f}, :value {invoked}}}");
        let link = link(steps, at).map_or(":init".into(), |position| position.to_string());
        let extra = format!(":position {}, :link {link}", at + 1);
        if end != "never" {
            _ = writeln!(text, "{{:process {process}, :type :{end}, :f :{f}, :value {value}, {extra}}}");
        }
        process += i64::from(matches!(end, "info" | "never"));
    }
    text
}

/// The position to which an op links.
fn link(steps: &[Step], at: usize) -> Option<usize> {
    match steps[at].link {
        Link::Init => None,
        Link::Last => steps[..at].iter().rposition(|step| step.end == "ok").map(|last| last + 1),
        Link::Latest => (at > 0).then_some(at),
    }
}

/// Returns true if each crashed write can take effect before some later op, or never, such that every op is correct.
/// `anywhere`: the position of an op that never ended may be any.
fn is_explained(steps: &[Step], anywhere: bool) -> bool {
    let is_crashed = |step: &Step| matches!(step.end, "info" | "never") && step.f == "write";
    let crashed: Vec<usize> = (0..steps.len()).filter(|at| is_crashed(&steps[*at])).collect();
    let choices = steps.len() + 1;
    (0..choices.pow(crashed.len() as u32)).any(|choice| {
        let effect = |nth: usize| choice / choices.pow(nth as u32) % choices;
        runs(steps, &crashed.iter().enumerate().map(|(nth, at)| (*at, effect(nth))).collect::<Vec<_>>(), anywhere)
    })
}

/// Returns true if all ops are correct if each of these writes takes effect just before the op with that number, or
/// never.
fn runs(steps: &[Step], effects: &[(usize, usize)], anywhere: bool) -> bool {
    let (mut value, mut positions) = (0, Vec::<usize>::new());
    for (at, step) in steps.iter().enumerate() {
        let mut now: Vec<(usize, i64)> = effects
            .iter()
            .filter(|(_, effect)| *effect == at)
            .map(|(write, _)| (*write, steps[*write].value.unwrap()))
            .collect();
        now.sort_by_key(|(_, written)| *written);
        for (write, written) in now {
            if write >= at || written != value + 1 {
                return false;
            }
            value = written;
            if steps[write].end != "never" {
                positions.push(write + 1);
            }
        }
        if step.end != "ok" {
            continue;
        }
        // A read may have happened, too, though it changes nothing. No two ops have one position.
        let is_open = |position: usize| anywhere && steps[position - 1].end == "never";
        let is_linked = link(steps, at).is_none_or(|position| is_open(position) || positions.contains(&position));
        let is_right = match (step.f, step.value) {
            ("write", Some(written)) => std::mem::replace(&mut value, written) + 1 == written,
            (_, shown) => shown.is_none_or(|shown| shown == value),
        };
        if !is_linked || !is_right {
            return false;
        }
        positions = vec![at + 1];
    }
    true
}

#[test]
fn every_small_history_is_judged_by_the_definition() {
    let mut menu = Vec::new();
    for link in [Link::Init, Link::Last, Link::Latest] {
        for value in [None, Some(0), Some(1), Some(2)] {
            menu.push(Step { f: "read", value, end: "ok", link });
        }
        for value in [Some(1), Some(2)] {
            menu.push(Step { f: "write", value, end: "ok", link });
        }
    }
    for value in [Some(1), Some(2)] {
        menu.push(Step { f: "write", value, end: "info", link: Link::Init });
        menu.push(Step { f: "write", value, end: "fail", link: Link::Init });
        menu.push(Step { f: "write", value, end: "never", link: Link::Init });
    }
    menu.push(Step { f: "read", value: None, end: "never", link: Link::Init });
    let mut verdicts = [0; 3];
    for len in 1..=4_u32 {
        for number in 0..menu.len().pow(len) {
            let steps: Vec<Step> = (0..len).map(|at| menu[number / menu.len().pow(at) % menu.len()]).collect();
            // For histories of four, only a sample is tested, because there are too many.
            if len == 4 && number % 13 != 0 {
                continue;
            }
            let report = judge(&Causal::default(), &[], &text(&steps));
            let is_observed = steps.iter().any(|step| step.f == "read" && step.end == "ok" && step.value.is_some());
            let is_open = steps.iter().any(|step| step.end == "never");
            let is_withheld = is_open && report.notes.iter().any(|note| note.contains(UNPLACED));
            let expected = match (is_explained(&steps, false), is_observed) {
                // The link may be to an op in flight.
                (false, _) if is_explained(&steps, true) => Verdict::Unknown,
                // The link of an earlier op may be.
                (false, _) if is_withheld => Verdict::Unknown,
                (false, _) => Verdict::Invalid,
                (true, false) => Verdict::Unknown,
                (true, true) => Verdict::Valid,
            };
            assert_eq!(report.verdict, expected, "{steps:?}\n{:?}", report.notes);
            verdicts[expected as usize] += 1;
        }
    }
    assert!(verdicts.iter().all(|count| *count > 300), "{verdicts:?}");
}

/// The reason of a verdict that is withheld because of an op in flight.
const UNPLACED: &str = "its link may be the position of an op in flight";

const INIT: &str = "{:process 0, :type :ok, :f :read-init, :value 0, :position 1, :link :init}";

#[test]
fn each_fault_is_named_with_what_was_there() {
    for (op, name, why) in [
        (":f :read, :value 1, :position 2, :link 1", "wrong-read", "A2 shows 1, but the register holds 0."),
        (
            ":f :read, :value 0, :position 2, :link 7",
            "wrong-link",
            "A2 is linked to position 7, but the last position is 1.",
        ),
        (":f :write, :value 2, :position 2, :link 1", "wrong-write", "A2 writes 2, but the register holds 0, and each"),
    ] {
        let report = judge(&Causal::default(), &[], &format!("{INIT} {{:process 0, :type :ok, {op}}}"));
        assert_eq!(anomalies(&report), [(name, 1)]);
        let explanation = &report.anomalies[0].witnesses[0].explanation;
        assert!(explanation.contains(why), "{explanation}");
    }
    let crashed = format!(
        "{INIT} {{:process 1, :type :info, :f :write, :value 1, :position 2, :link 1}}
         {{:process 2, :type :ok, :f :read, :value 5, :position 3, :link 1}}"
    );
    let explanation = &judge(&Causal::default(), &[], &crashed).anomalies[0].witnesses[0].explanation;
    assert!(explanation.contains("A2 shows 5, but the register holds 0 or 1."), "{explanation}");
}

#[test]
fn what_has_no_order_is_unknown() {
    let overlap = "{:process 0, :type :invoke, :f :read} {:process 1, :type :invoke, :f :write, :value 1}
        {:process 0, :type :ok, :f :read, :value 0, :position 1, :link :init}
        {:process 1, :type :ok, :f :write, :value 1, :position 2, :link 1}";
    let unlinked = "{:process 0, :type :ok, :f :read, :value 0, :position 1}";
    let unplaced = "{:process 0, :type :ok, :f :read, :value 0, :link :init}";
    let keyed = "{:process 0, :type :ok, :f :read, :value [1 0], :position 1, :link :init}";
    for (text, reason) in [
        (overlap, "overlaps another op"),
        (unlinked, "no :link"),
        (unplaced, "no :position"),
        (keyed, "expected an integer as the op's value, found [1 0]"),
    ] {
        let report = judge(&Causal::default(), &[], text);
        assert_eq!(report.verdict, Verdict::Unknown, "{text}");
        assert!(report.notes[0].contains(reason), "{:?}", report.notes);
    }
}

/// A write in flight for ever counts as one that crashed.
#[test]
fn an_op_in_flight_counts_as_crashed_until_it_ends() {
    let init = "{:process 0, :type :invoke, :f :read-init} ".to_owned() + INIT;
    let invoked = |f: &str, value| format!("{{:process 0, :type :invoke, :f :{f}, :value {value}}}");
    let ended = |f: &str, kind, value, position| {
        format!("{{:process 0, :type :{kind}, :f :{f}, :value {value}, :position {position}, :link 1}}")
    };
    let read = |process, value, position, link| {
        format!(
            "{{:process {process}, :type :invoke, :f :read}}
             {{:process {process}, :type :ok, :f :read, :value {value}, :position {position}, :link {link}}}"
        )
    };
    let write = invoked("write", "1");
    let one = read(100, 1, 3, 1);
    let own = read(101, 1, 4, 2);
    let fail = ended("write", "fail", "1", "2");
    let info = ended("write", "info", "1", "2");
    let shows = "A2 shows 5, but the register holds 0 or 1.";
    for (ops, expected, reason) in [
        (vec![&write, &one], Verdict::Valid, ""),
        (vec![&write, &one, &info], Verdict::Valid, ""),
        (vec![&write, &read(100, 0, 3, 1), &info, &own], Verdict::Valid, ""),
        (vec![&write, &read(100, 0, 3, 1), &own], Verdict::Unknown, UNPLACED),
        (vec![&write, &own, &info], Verdict::Unknown, UNPLACED),
        (vec![&write, &one, &fail], Verdict::Unknown, "it failed, but another op began while it was in flight"),
        (vec![&write, &one, &ended("write", "ok", "1", "2")], Verdict::Unknown, "it overlaps another op, so which"),
        (vec![&write, &one, &read(100, 0, 5, 3)], Verdict::Invalid, "A2 shows 0, but the register holds 1."),
        (vec![&write, &read(100, 5, 3, 1)], Verdict::Invalid, shows),
        (vec![&write, &read(100, 5, 3, 1), &info, &own], Verdict::Invalid, shows),
        (vec![&write, &read(100, 5, 3, 1), &fail], Verdict::Invalid, shows),
        (vec![&write, &read(100, 5, 3, 1), &ended("write", "ok", "1", "2")], Verdict::Unknown, "it overlaps another"),
        (vec![&invoked("write", "nil"), &one], Verdict::Unknown, "it overlaps another op"),
        (vec![&invoked("read", "nil"), &read(100, 0, 3, 1)], Verdict::Valid, ""),
        (vec![&invoked("read", "nil"), &read(100, 0, 3, 2)], Verdict::Unknown, UNPLACED),
        (vec![&invoked("read", "nil"), &one], Verdict::Invalid, "A2 shows 1, but the register holds 0."),
        (vec![&invoked("read", "nil"), &ended("read", "info", "nil", "2"), &own], Verdict::Invalid, "position 2, but"),
    ] {
        let text = ops.iter().fold(init.clone(), |text, op| text + "\n" + op);
        let report = judge(&Causal::default(), &[], &text);
        let explanations = report.anomalies.iter().map(|anomaly| anomaly.witnesses[0].explanation.clone());
        let reasons: String = report.notes.iter().cloned().chain(explanations).collect();
        assert_eq!(report.verdict, expected, "{text}\n{reasons}");
        assert!(reasons.contains(reason), "{text}\n{reasons}");
    }
}

/// A write without a process, or a read without an invocation beside a write in flight: the write may explain the read.
#[test]
fn a_write_whose_end_is_unknown_may_explain_what_follows() {
    let init = "{:process 0, :type :invoke, :f :read-init} ".to_owned() + INIT;
    let invoked = "{:process 1, :type :invoke, :f :read} {:process 1, ";
    let read = ":type :ok, :f :read, :value 1, :position 2, :link 1}";
    for text in [
        format!("{init} {{:type :invoke, :f :write, :value 1}} {invoked}{read}"),
        format!("{init} {{:process 0, :type :invoke, :f :write, :value 1}} {{{read}"),
    ] {
        let report = judge(&Causal::default(), &[], &text);
        assert_eq!(report.verdict, Verdict::Unknown, "{text}: {:?}", anomalies(&report));
        assert!(report.notes[0].contains("the op has no invocation or completion"), "{:?}", report.notes);
    }
}

#[test]
fn a_read_that_cannot_be_decoded_hides_no_violation() {
    let unread = "{:process 0, :type :ok, :f :read, :value \"0\", :position 2, :link 1}";
    let read = |shown: u32, link: u32| {
        format!("{{:process 0, :type :ok, :f :read, :value {shown}, :position 3, :link {link}}}")
    };
    for (last, expected, note) in [
        (read(0, 2), Verdict::Unknown, "because of the op at index 1 (line 1): expected an integer as the op's value"),
        (read(1, 2), Verdict::Invalid, "ignores the op at index 1 (line 1): expected an integer as the op's value"),
        // The position of the read is the last one.
        (read(0, 1), Verdict::Invalid, "ignores the op at index 1 (line 1): expected an integer as the op's value"),
    ] {
        let report = judge(&Causal::default(), &[], &format!("{INIT} {unread} {last}"));
        assert_eq!(report.verdict, expected, "{last}: {:?}", report.notes);
        assert!(report.notes[0].contains(note), "{:?}", report.notes);
    }
}

#[test]
fn positions_are_equal_as_values_are() {
    let verdict = |position: &str, link: &str| {
        let text = format!(
            "{{:process 0, :type :ok, :f :write, :value 1, :position {position}, :link :init}}
             {{:process 0, :type :ok, :f :read, :value 1, :position 9, :link {link}}}"
        );
        judge(&Causal::default(), &[], &text).verdict
    };
    for (position, link) in
        [("{:a 1 :b 2}", "{:b 2 :a 1}"), ("(1 2)", "[1 2]"), ("#{1 2}", "#{2 1}"), ("\"x\"", "\"x\"")]
    {
        assert_eq!(verdict(position, link), Verdict::Valid, "{position} {link}");
    }
    for (position, link) in [("{:a 1 :b 2}", "{:b 1 :a 2}"), ("[1 2]", "[2 1]"), ("\"x\"", ":x"), ("1", "1.0")] {
        assert_eq!(verdict(position, link), Verdict::Invalid, "{position} {link}");
    }
}
