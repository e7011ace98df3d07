//! Values that a failed transaction wrote, and that a later one wrote again.

use crate::oracle::against::checker;
use crate::oracle::choices::Choices;
use crate::oracle::messy::{Entry, Shown, Who, as_registers, history};
use crate::oracle::registers::Sources;
use crate::oracle::{Question, text};
use check_elle::list_append::ListAppend;
use check_elle::rw_register::RwRegister;
use history_core::{Budget, Checker, History, Options, Reader, Report, Verdict};

struct Words {
    checker: Box<dyn Checker>,
    write: &'static str,
    /// Reads of the value, of nothing, and of a value that nobody wrote.
    reads: [&'static str; 3],
}

fn both() -> [Words; 2] {
    [
        Words {
            checker: Box::new(ListAppend::default()),
            write: "[[:append :x 1]]",
            reads: ["[[:r :x [1]]]", "[[:r :x []]]", "[[:r :x [1 2]]]"],
        },
        Words {
            checker: Box::new(RwRegister::default()),
            write: "[[:w :x 1]]",
            reads: ["[[:r :x 1]]", "[[:r :x nil]]", "[[:r :x 2]]"],
        },
    ]
}

fn edn(events: &[(u32, &str, &str)]) -> String {
    let op = |(process, kind, value): &(u32, &str, &str)| {
        format!("{{:process {process}, :type :{kind}, :f :txn, :value {value}}}\n")
    };
    events.iter().map(op).collect()
}

fn check(checker: &dyn Checker, text: &str, level: &str) -> Report {
    let mut options = Options::new();
    options.set("consistency-models", level);
    let run = checker.start(&options).expect("a level");
    history_core::check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).expect("a report")
}

/// The report, with the same verdict if the history is judged while it is written.
fn strict(checker: &dyn Checker, text: &str) -> Report {
    let report = check(checker, text, "strict-serializable");
    let watched = checker.start_online(&Options::new()).expect("no options are all right");
    let watched = history_core::check(watched, &mut Reader::new(text.as_bytes()), &Budget::default());
    assert_eq!(watched.expect("a report").verdict, report.verdict, "{}: watched\n{text}", checker.name());
    report
}

fn types(report: &Report) -> Vec<&str> {
    report.anomalies.iter().map(|anomaly| &*anomaly.name).collect()
}

#[test]
fn a_read_is_attributed_to_the_write_that_did_not_fail() {
    for Words { checker, write, reads: [seen, stale, garbage] } in both() {
        let with = |read: &str| {
            let tries = [(0, "invoke", write), (0, "fail", write), (0, "invoke", write), (0, "ok", write)];
            edn(&[&tries[..], &[(1, "invoke", read), (1, "ok", read)]].concat())
        };
        let report = strict(&*checker, &with(seen));
        assert_eq!(report.verdict, Verdict::Valid, "{report:?}");
        assert!(
            report.notes.iter().any(|note| note.starts_with(
                "A transaction that failed (index 1) wrote 1 to key :x, and a later one (index 3) wrote it again. Reads"
            )),
            "{:?}",
            report.notes
        );
        let report = strict(&*checker, &with(stale));
        assert_eq!((report.verdict, types(&report)), (Verdict::Invalid, vec!["G-single-item-realtime"]));
        assert_eq!(report.not, ["strong-snapshot-isolation"]);
        assert!(!report.is_partial, "no read shows the value, so nothing is in doubt");
        let report = strict(&*checker, &with(garbage));
        assert_eq!((report.verdict, types(&report)), (Verdict::Invalid, vec!["garbage-read"]));
    }
}

/// Either the cycle is one, or the read shows the failed write. Both violate read committed, and not the cycle alone.
#[test]
fn a_violation_that_rests_on_a_value_written_again_rules_out_what_an_aborted_read_does() {
    let tries = |write| [(0, "invoke", write), (0, "fail", write), (0, "invoke", write), (0, "ok", write)];
    for Words { checker, write, reads: [seen, stale, _] } in both() {
        let text =
            edn(&[&tries(write)[..], &[(1, "invoke", seen), (1, "ok", seen), (2, "invoke", stale), (2, "ok", stale)]]
                .concat());
        let report = strict(&*checker, &text);
        assert_eq!((report.verdict, types(&report)), (Verdict::Invalid, vec!["G-single-item-realtime"]));
        assert!(report.is_partial);
        let report = check(&*checker, &text, "serializable");
        assert_eq!(report.verdict, Verdict::Valid, "{report:?}");
    }
    let lists = ListAppend::default();
    // Appends of two transactions in both orders: G0, if it was the later one that the read shows.
    let writes = ["[[:append :x 1] [:append :y 1]]", "[[:append :x 2] [:append :y 2]]"];
    let reads = "[[:r :x [1 2]] [:r :y [2 1]]]";
    let mut events = tries(writes[0]).to_vec();
    let [_, _, invoked, ok] = [events[0], events[1], events[2], events[3]];
    events.truncate(2);
    events.extend([
        invoked,
        (1, "invoke", writes[1]),
        ok,
        (1, "ok", writes[1]),
        (2, "invoke", reads),
        (2, "ok", reads),
    ]);
    let report = strict(&lists, &edn(&events));
    assert_eq!((report.verdict, types(&report)), (Verdict::Invalid, vec!["G0"]));
    assert_eq!(report.not, ["read-committed"], "G0 would rule out read uncommitted");
    assert!(report.not_checked.iter().any(|level| level == "read-uncommitted"), "{:?}", report.not_checked);
    let report = check(&lists, &edn(&events), "read-uncommitted");
    assert_eq!(report.verdict, Verdict::Unknown, "aborted reads are allowed, so the read may show the failed appends");
}

#[test]
fn a_value_may_be_read_while_it_is_written_again() {
    for Words { checker, write, reads: [seen, ..] } in both() {
        let mut events =
            vec![(0, "invoke", write), (0, "fail", write), (1, "invoke", seen), (0, "invoke", write), (1, "ok", seen)];
        let open = strict(&*checker, &edn(&events));
        assert_eq!(open.verdict, Verdict::Valid, "{open:?}");
        events.push((0, "ok", write));
        assert_eq!(strict(&*checker, &edn(&events)).verdict, Verdict::Valid);
        events.pop();
        events.push((0, "fail", write));
        let failed = strict(&*checker, &edn(&events));
        assert_eq!((failed.verdict, types(&failed)[0]), (Verdict::Invalid, "G1a"));
    }
}

#[test]
fn a_value_that_was_read_before_it_was_written_again_is_in_doubt() {
    for Words { checker, write, reads: [seen, ..] } in both() {
        let text = edn(&[
            (0, "invoke", write),
            (0, "fail", write),
            (1, "invoke", seen),
            (1, "ok", seen),
            (0, "invoke", write),
            (0, "ok", write),
        ]);
        assert_eq!(check(&*checker, &text, "strict-serializable").verdict, Verdict::Unknown);
    }
}

#[test]
fn a_value_of_which_all_writes_failed_is_an_aborted_read() {
    for Words { checker, write, reads: [seen, ..] } in both() {
        let text = edn(&[
            (0, "invoke", write),
            (0, "fail", write),
            (0, "invoke", write),
            (0, "fail", write),
            (1, "invoke", seen),
            (1, "ok", seen),
        ]);
        let report = strict(&*checker, &text);
        assert_eq!((report.verdict, types(&report)[0]), (Verdict::Invalid, "G1a"));
        assert!(!report.notes.iter().any(|note| note.contains("wrote it again")), "{:?}", report.notes);
    }
}

#[test]
fn a_value_that_two_wrote_again_is_in_doubt() {
    for Words { checker, write, reads: [seen, ..] } in both() {
        let text = edn(&[
            (0, "invoke", write),
            (0, "fail", write),
            (0, "invoke", write),
            (1, "invoke", write),
            (0, "ok", write),
            (1, "ok", write),
            (2, "invoke", seen),
            (2, "ok", seen),
        ]);
        assert_eq!(check(&*checker, &text, "strict-serializable").verdict, Verdict::Unknown);
    }
}

/// The retry that fails is the one that was requested, whatever its completion reports.
#[test]
fn a_retry_that_fails_with_other_micro_ops_leaves_the_value_aborted() {
    for Words { checker, write, reads: [seen, ..] } in both() {
        for reported in ["[]", "[[:r :x nil]]", "[[:r :y nil]]"] {
            let text = edn(&[
                (0, "invoke", write),
                (0, "fail", write),
                (0, "invoke", write),
                (0, "fail", reported),
                (1, "invoke", seen),
                (1, "ok", seen),
            ]);
            let report = strict(&*checker, &text);
            assert_eq!((report.verdict, types(&report)[0]), (Verdict::Invalid, "G1a"), "{reported}");
        }
    }
}

/// Of two invocations by nobody, one failed. The other may have happened.
#[test]
fn a_completion_belongs_to_one_invocation_only() {
    for Words { checker, write, reads: [seen, ..] } in both() {
        let nobody = |kind: &str| format!("{{:type :{kind}, :f :txn, :value {write}}}\n");
        let read = edn(&[(1, "invoke", seen), (1, "ok", seen)]);
        let text = [nobody("invoke"), nobody("invoke"), nobody("fail"), read.clone()].concat();
        assert_eq!(check(&*checker, &text, "strict-serializable").verdict, Verdict::Unknown);
        let text = [edn(&[(0, "invoke", write), (0, "fail", write)]), nobody("invoke"), read].concat();
        assert_eq!(check(&*checker, &text, "strict-serializable").verdict, Verdict::Unknown);
    }
}

/// The history in which a failed write and a later one have one value, and the one in which the failed write has a
/// value that nothing else has. `None` if there are no such writes, or the value was read before it was written again.
fn written_again(choices: &mut Choices, mut ops: Vec<Entry>) -> Option<[Vec<Entry>; 2]> {
    fn written(mop: &mut Shown) -> Option<(usize, &mut u32)> {
        match mop {
            Shown::Append(key, value) | Shown::Write(key, value) => Some((*key, value)),
            Shown::Read(..) | Shown::Value(..) => None,
        }
    }
    let client = |op: &Entry| if let Who::Client(client) = op.who { Some(client) } else { None };
    let writes = |op: &Entry| -> Vec<(usize, u32)> {
        op.mops.clone().iter_mut().filter_map(written).map(|(key, value)| (key, *value)).collect()
    };
    let is_first = |at: usize, ops: &[Entry]| ops[at].kind == "invoke" || client(&ops[at]).is_none();
    let mut pairs = Vec::new();
    for (failed_at, failed) in ops.iter().enumerate().filter(|(_, op)| op.kind == "fail" && client(op).is_some()) {
        for (at, later) in ops.iter().enumerate().skip(failed_at + 1) {
            // Its completions come later, too, or there is no invocation.
            let has_invocations = ops.iter().any(|op| op.kind == "invoke");
            if client(later).is_none() || later.kind == "fail" || has_invocations && !is_first(at, &ops) {
                continue;
            }
            for (key, value) in writes(failed) {
                let again = writes(later).into_iter().filter(|(other, _)| *other == key);
                pairs.extend(again.map(|(_, again)| (key, value, again, at)));
            }
        }
    }
    let pairs: Vec<_> = pairs
        .into_iter()
        .filter(|(key, _, again, at)| {
            let shows = |mop: &Shown| match mop {
                Shown::Read(other, Some(list)) => other == key && list.contains(again),
                Shown::Value(other, Some(value)) => other == key && value == again,
                _ => false,
            };
            !ops[..=*at].iter().any(|op| op.kind == "ok" && op.mops.iter().any(shows))
        })
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let (key, value, again, _) = pairs[choices.pick(pairs.len())];
    let mut apart = ops.clone();
    for (ops, with) in [(&mut ops, again), (&mut apart, 777)] {
        for mop in ops.iter_mut().flat_map(|op| &mut op.mops) {
            if let Some((_, written)) = written(mop).filter(|(other, written)| *other == key && **written == value) {
                *written = with;
            }
        }
    }
    Some([ops, apart])
}

#[test]
fn a_history_with_values_written_again_has_the_verdict_of_the_one_in_which_the_failed_writes_have_their_own() {
    let levels = ["strict-serializable", "serializable", "snapshot-isolation", "read-committed"];
    for is_list in [true, false] {
        let (mut valid, mut invalid, mut doubted) = (0, 0, 0);
        for number in 0..6000_u64 {
            let mut choices = Choices::Random(number);
            let ops = history(&mut choices);
            let ops = if is_list { ops } else { as_registers(ops) };
            let Some([again, apart]) = written_again(&mut choices, ops) else { continue };
            let models = [choices.of(&levels)];
            let question = if is_list {
                Question::of_lists(&models)
            } else {
                Question::of_registers(&models, Sources { linearizable_keys: true, ..Sources::default() })
            };
            let [text, apart] = [again, apart].map(|ops| text::edn(&ops));
            let judge = |text: &str| checker(&History::parse(text).expect("a history"), &question);
            let (report, expected) = (judge(&text), judge(&apart));
            let why = || format!("{number}, {models:?}\n{text}\n{report:?}\n{expected:?}");
            assert_eq!((report.verdict, types(&report)), (expected.verdict, types(&expected)), "{}", why());
            let is_doubted = report.notes.iter().any(|note| note.contains("wrote it again"));
            let levels = |report: &Report| {
                let mut all: Vec<String> = report.not.iter().chain(&report.also_not).map(ToString::to_string).collect();
                all.sort_unstable();
                all
            };
            let (few, all) = (levels(&report), levels(&expected));
            assert!(few.iter().all(|level| all.contains(level)), "{}", why());
            assert!(is_doubted || few == all, "{}", why());
            match report.verdict {
                Verdict::Valid => valid += 1,
                Verdict::Invalid => invalid += 1,
                Verdict::Unknown => {}
            }
            doubted += u32::from(is_doubted);
        }
        assert!(valid > 20 && invalid > 100 && doubted > 20, "{is_list}: {valid}, {invalid}, {doubted}");
    }
}
