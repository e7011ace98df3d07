//! The meaning of recorded ops: histories as clients write them, with few fields or with more than necessary.

use check_register::Linearizable;
use check_register::models::{
    CasRegister, Counter, FifoQueue, Kv, MultiRegister, Mutex, OwnerMutex, ReentrantMutex, Semaphore, Set, Spec, Stack,
};
use history_core::{
    Budget, Checker as _, Format, History, IntervalWriter, Keyed, Options, Reader, Report, Verdict, Writer, check,
};
use std::fmt::Write as _;

fn verdict<S: Spec + Clone + Default + 'static>(ops: &str) -> Verdict {
    let history = History::parse(ops).expect("a history");
    let report = Linearizable::<S>::default().check(&history).expect("a history of a size");
    // All ops were decoded. A note may state the assumption of a refusal.
    assert!(report.verdict == Verdict::Invalid || report.notes.is_empty(), "{:?}", report.notes);
    report.verdict
}

#[test]
fn the_reason_of_an_info_owns_no_lock() {
    let ops = |releaser: u32| {
        verdict::<OwnerMutex>(&format!(
            "{{:process 0, :type :invoke, :f :acquire, :value nil}}
             {{:process 0, :type :info,   :f :acquire, :value :timed-out}}
             {{:process 1, :type :invoke, :f :release, :value {releaser}}}
             {{:process 1, :type :ok,     :f :release, :value {releaser}}}"
        ))
    };
    assert_eq!(ops(0), Verdict::Valid);
    assert_eq!(ops(1), Verdict::Invalid);
}

#[test]
fn the_reason_of_an_info_is_no_number_of_permits() {
    let ops = |acquired: u32| {
        verdict::<Semaphore>(&format!(
            "{{:process 0, :type :invoke, :f :release, :value nil}}
             {{:process 0, :type :info,   :f :release, :value :timed-out}}
             {{:process 1, :type :invoke, :f :acquire, :value {acquired}}}
             {{:process 1, :type :ok,     :f :acquire, :value {acquired}}}"
        ))
    };
    assert_eq!(ops(2), Verdict::Valid);
    assert_eq!(ops(3), Verdict::Invalid);
}

#[test]
fn the_result_of_a_lock_is_not_its_owner() {
    // A fenced lock returns a token with each acquisition, and no value on release.
    let ops = |releaser: u32| {
        format!(
            "{{:process 0, :type :invoke, :f :acquire, :value nil}}
             {{:process 0, :type :ok,     :f :acquire, :value 17}}
             {{:process {releaser}, :type :invoke, :f :release, :value nil}}
             {{:process {releaser}, :type :ok,     :f :release, :value nil}}"
        )
    };
    assert_eq!(verdict::<OwnerMutex>(&ops(0)), Verdict::Valid);
    assert_eq!(verdict::<ReentrantMutex>(&ops(0)), Verdict::Valid);
    assert_eq!(verdict::<OwnerMutex>(&ops(1)), Verdict::Invalid);
}

#[test]
fn a_client_that_continues_under_another_name_still_owns_the_lock() {
    for client in ["\"w1\"", "0", "\"0\""] {
        let ops = |unknown: &str, releaser: &str| {
            format!(
                "{{\"client\": {client}, \"call\": 0, \"return\": 1, \"input\": \"acquire\"}}
                 {{\"client\": {client}, \"call\": 2, \"input\": \"{unknown}\"}}
                 {{\"client\": {releaser}, \"call\": 4, \"return\": 5, \"input\": \"release\"}}"
            )
        };
        for unknown in ["acquire", "release"] {
            let own = ops(unknown, client);
            assert_eq!(verdict::<OwnerMutex>(&own), Verdict::Valid, "{own}");
            assert_eq!(verdict::<ReentrantMutex>(&own), Verdict::Valid, "{own}");
            // The same history, written in another format and read again, gives the same verdict.
            let history = History::parse(&own).unwrap();
            let mut intervals = IntervalWriter::new(Vec::new());
            history.ops().for_each(|op| intervals.write(&op).unwrap());
            for format in [Format::Edn, Format::Json] {
                let mut writer = Writer::new(Vec::new(), format);
                history.ops().for_each(|op| writer.write(&op).unwrap());
                let again = String::from_utf8(writer.finish().unwrap()).unwrap();
                assert_eq!(verdict::<OwnerMutex>(&again), Verdict::Valid, "{again}");
            }
            let again = String::from_utf8(intervals.finish().unwrap()).unwrap();
            assert_eq!(verdict::<OwnerMutex>(&again), Verdict::Valid, "{again}");
            assert_eq!(verdict::<OwnerMutex>(&ops(unknown, "\"w2\"")), Verdict::Invalid);
            assert_eq!(verdict::<OwnerMutex>(&ops(unknown, "1")), Verdict::Invalid);
        }
    }
}

#[test]
fn a_client_with_a_longer_name_owns_the_lock() {
    let ops = |releaser: &str| {
        verdict::<OwnerMutex>(&format!(
            "{{:process 0, :type :invoke, :f :acquire, :value {{:client \"n1\", :uid 1}}}}
             {{:process 0, :type :ok,     :f :acquire, :value {{:client \"n1\", :uid 1, :fence 4}}}}
             {{:process 1, :type :invoke, :f :release, :value {{:client \"{releaser}\", :uid 2}}}}
             {{:process 1, :type :ok,     :f :release, :value {{:client \"{releaser}\", :uid 2}}}}"
        ))
    };
    assert_eq!(ops("n1"), Verdict::Valid);
    assert_eq!(ops("n2"), Verdict::Invalid);
}

#[test]
fn a_refused_semaphore_reports_its_assumed_number_of_permits() {
    let ops = "{:process 0, :type :invoke, :f :acquire, :value 2}
               {:process 0, :type :ok,     :f :acquire, :value 2}";
    let history = History::parse(ops).expect("a history");
    let refused = Linearizable::<Semaphore>::default().check(&history).expect("a history of a size");
    assert_eq!(refused.verdict, Verdict::Invalid);
    let note = "The semaphore was assumed to have 1 permit at first: if this is wrong, pass the number with --initial.";
    assert_eq!(refused.notes, [note]);
    let enough = Linearizable { model: Semaphore { permits: 2 }, ..Linearizable::default() };
    let report = enough.check(&history).expect("a history of a size");
    assert_eq!((report.verdict, report.notes.len()), (Verdict::Valid, 0));
}

#[test]
fn an_acquire_that_completes_with_another_number_is_not_understood() {
    let text = "{:process 0, :type :invoke, :f :acquire, :value 1} {:process 0, :type :ok, :f :acquire, :value 2}";
    let report = Linearizable::<Semaphore>::default().check(&History::parse(text).unwrap()).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown, "{:?}", report.notes);
}

#[test]
fn a_mutex_may_be_held_at_the_start() {
    let judge = |initial: &str, f: &str| {
        let text = format!("{{:process 0, :type :invoke, :f :{f}}} {{:process 0, :type :ok, :f :{f}}}");
        let options = Options::new().with("initial", initial);
        let mutex = Linearizable::<Mutex>::default().with_options(&options).unwrap();
        mutex.check(&History::parse(&text).unwrap()).unwrap().verdict
    };
    for (initial, acquired, released) in [
        ("true", Verdict::Invalid, Verdict::Valid),
        ("false", Verdict::Valid, Verdict::Invalid),
        ("nil", Verdict::Valid, Verdict::Invalid),
    ] {
        assert_eq!((judge(initial, "acquire"), judge(initial, "release")), (acquired, released), "{initial}");
    }
}

/// A client named by digits is the client with this number, also as an owner and as the initial holder.
#[test]
fn an_owner_is_the_same_in_every_notation() {
    let text = r#"{"process":"3","type":"invoke","f":"acquire","value":null} {"process":"3","type":"ok","f":"acquire"}
        {"process":4,"type":"invoke","f":"release","value":"3"} {"process":4,"type":"ok","f":"release"}"#;
    assert_eq!(
        Linearizable::<OwnerMutex>::default().check(&History::parse(text).unwrap()).unwrap().verdict,
        Verdict::Valid
    );
    for (initial, by) in [("\"w1\"", "w1"), ("w1", "w1"), (":w1", "w1"), ("\"3\"", "3"), ("3", "3")] {
        let text = format!(
            r#"{{"process":"{by}","type":"invoke","f":"release","value":null}} {{"process":"{by}","type":"ok","f":"release"}}"#
        );
        let run = Linearizable::<OwnerMutex>::default().start(&Options::new().with("initial", initial)).unwrap();
        let report = check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap();
        assert_eq!(report.verdict, Verdict::Valid, "{initial}");
    }
}

/// A refusal names the operation, the owner and the key.
#[test]
fn a_refusal_names_owners_and_keys() {
    fn explain<S: Spec + Clone + Default + 'static>(ops: &str) -> String {
        let report = Linearizable::<S>::default().check(&History::parse(ops).unwrap()).unwrap();
        assert_eq!(report.verdict, Verdict::Invalid, "{ops}");
        report.anomalies[0].witnesses[0].explanation.clone()
    }
    let text = "{:process 0, :type :invoke, :f :acquire} {:process 0, :type :ok, :f :acquire}
                {:process 1, :type :invoke, :f :release} {:process 1, :type :ok, :f :release}";
    let explanation_text = explain::<OwnerMutex>(text);
    assert!(
        explanation_text.contains("= acquire by 0") && explanation_text.contains("= release by 1"),
        "{explanation_text}"
    );
    let text = "{:process 0, :type :invoke, :value [[:write 4 1]]} {:process 0, :type :ok, :value [[:write 4 1]]}
                {:process 0, :type :invoke, :value [[:read 4 nil]]} {:process 0, :type :ok, :value [[:read 4 2]]}";
    let explanation_text = explain::<MultiRegister>(text);
    assert!(
        explanation_text.contains("= write of 1 under 4") && explanation_text.contains("= read of 2 under 4"),
        "{explanation_text}"
    );
}

/// The invocation and the completion differ in more than a result. If the completion decided, a prefix could be invalid
/// and the whole valid: there could be no verdict while a history is being written.
#[test]
fn a_completion_that_contradicts_its_invocation_is_ignored() {
    fn explain<S: Spec + Clone + Default + 'static>(invoked: &str, completed: &str) -> String {
        let text = format!("{{:process 0, :type :invoke, {invoked}}}\n{{:process 0, :type :ok, {completed}}}");
        let report = Linearizable::<S>::default().check(&History::parse(&text).unwrap()).unwrap();
        assert_eq!(report.verdict, Verdict::Unknown, "{text}");
        report.notes.concat()
    }
    let explanation_text = explain::<CasRegister>(":f :write, :value 1", ":f :write, :value 2");
    assert!(explanation_text.contains("[:write 1] was invoked, [:write 2] completed"), "{explanation_text}");
    let explanation_text = explain::<CasRegister>(":f :read", ":f :write, :value 2");
    assert!(explanation_text.contains("the completion has :f :write, its invocation :f :read"), "{explanation_text}");
    explain::<CasRegister>(":f :write, :value 1", ":f :read, :value 1");
    explain::<CasRegister>(":f :write", ":f :write, :value 1");
    explain::<CasRegister>(":f :cas, :value [1 2]", ":f :cas, :value [1 3]");
    explain::<Kv>(":f :put, :key 1, :value a", ":f :put, :key 2, :value a");
    explain::<Kv>(":f :get, :key 1", ":f :get, :key 2, :value a");
    explain::<Kv>(":f :put, :key 1, :value a", ":f :append, :key 1, :value a");
    explain::<MultiRegister>(":f :txn, :value [[:write 1 1]]", ":f :txn, :value [[:write 2 1]]");
    explain::<MultiRegister>(":f :txn", ":f :txn, :value [[:write 2 1]]");
    let explanation_text =
        explain::<MultiRegister>(":f :txn, :value [[:read 1 nil]]", ":f :txn, :value [[:read 2 nil]]");
    assert!(explanation_text.contains("other keys than its invocation"), "{explanation_text}");
    explain::<MultiRegister>(":f :txn, :value [[:write 1 1]]", ":f :txn, :value [[:write 1 1] [:read 1 1]]");
    explain::<MultiRegister>(
        ":f :txn, :value [[:read 1 nil] [:write 1 1]]",
        ":f :txn, :value [[:write 1 1] [:read 1 1]]",
    );
    explain::<Stack>(":f :pop", ":f :push, :value 1");
    explain::<FifoQueue>(":f :enqueue, :value 1", ":f :enqueue, :value 2");
    explain::<Set>(":f :add, :value 1", ":f :add, :value 2");
    explain::<Counter>(":f :add, :value 1", ":f :add, :value 2");
    explain::<Semaphore>(":f :release", ":f :release, :value 2");
    explain::<Mutex>(":f :acquire", ":f :release");
}

/// Nil is neither a string nor the empty string, so what was put is unknown.
#[test]
fn a_put_without_a_value_may_have_put_anything() {
    for f in ["put", "append"] {
        for completed in ["info", "ok"] {
            let text = format!(
                "{{:process 0, :type :invoke, :f :{f}, :key 1}} {{:process 0, :type :{completed}, :f :{f}, :key 1}}
                 {{:process 1, :type :invoke, :f :get, :key 1}} {{:process 1, :type :ok, :f :get, :key 1, :value \"b\"}}"
            );
            let report = Linearizable::<Kv>::default().check(&History::parse(&text).unwrap()).unwrap();
            assert_eq!(report.verdict, Verdict::Unknown, "{text}");
            let why = format!("the value of :{f} is nil; expected a string");
            assert!(report.notes[0].contains(&why), "{:?}", report.notes);
        }
    }
}

#[test]
fn a_counter_may_be_read_beyond_64_bits() {
    let read = |value: &str| {
        verdict::<Counter>(&format!(
            "{{:process 0, :type :invoke, :f :add, :value 9223372036854775807}}
             {{:process 0, :type :ok,     :f :add, :value 9223372036854775807}}
             {{:process 0, :type :invoke, :f :add, :value 1}}
             {{:process 0, :type :ok,     :f :add, :value 1}}
             {{:process 0, :type :invoke, :f :read}}
             {{:process 0, :type :ok,     :f :read, :value {value}}}"
        ))
    };
    assert_eq!(read("9223372036854775808"), Verdict::Valid);
    assert_eq!(read("-9223372036854775808"), Verdict::Invalid);
    assert_eq!(read("9223372036854775809"), Verdict::Invalid);
    assert_eq!(read(&"9".repeat(60)), Verdict::Invalid);
}

#[test]
fn no_set_contains_an_element_twice() {
    let text = |found: &str| {
        format!(
            "{{:process 0, :type :invoke, :f :add, :value 1}}\n{{:process 0, :type :ok, :f :add, :value 1}}
             {{:process 0, :type :invoke, :f :read}}\n{{:process 0, :type :ok, :f :read, :value {found}}}"
        )
    };
    let judge = |found: &str| Linearizable::<Set>::default().check(&History::parse(&text(found)).unwrap()).unwrap();
    assert_eq!(judge("[1]").verdict, Verdict::Valid);
    let report = judge("[1 1]");
    assert_eq!(report.verdict, Verdict::Invalid);
    let explanation = &report.anomalies[0].witnesses[0].explanation;
    assert!(explanation.contains("read of #{1}, one of them twice"), "{explanation}");
}

#[test]
fn a_completion_adds_what_it_found() {
    // Another operation follows, so that there is something to check.
    fn holds<S: Spec + Clone + Default + 'static>(invoked: &str, completed: &str, then: &str) {
        let text = format!(
            "{{:process 0, :type :invoke, {invoked}}}\n{{:process 0, :type :ok, {completed}}}
             {{:process 0, :type :invoke, {then}}}\n{{:process 0, :type :ok, {then}}}"
        );
        assert_eq!(verdict::<S>(&text), Verdict::Valid, "{text}");
    }
    holds::<CasRegister>(":f :write, :value 1", ":f :write", ":f :read, :value 1");
    holds::<CasRegister>(":f :read, :value 7", ":f :read, :value nil", ":f :write, :value 1");
    holds::<Kv>(":f :put, :key 1, :value a", ":f :put", ":f :get, :key 1, :value a");
    holds::<MultiRegister>(
        ":f :txn, :value [[:write 1 1] [:read 1 nil] [:read 2 nil]]",
        ":f :txn, :value [[:write 1 1] [:read 1 1] [:read 2 nil]]",
        ":f :txn, :value [[:read 1 1]]",
    );
    // A completion with only one of the results.
    holds::<MultiRegister>(
        ":f :txn, :value [[:write 1 1] [:read 1 nil] [:read 2 nil]]",
        ":f :txn, :value [[:write 1 1] [:read 1 1]]",
        ":f :txn, :value [[:read 1 1]]",
    );
    holds::<FifoQueue>(":f :dequeue", ":f :dequeue, :value nil", ":f :enqueue, :value 1");
    holds::<Set>(":f :read", ":f :read, :value #{}", ":f :add, :value 1");
    holds::<Counter>(":f :read", ":f :read, :value 0", ":f :add, :value 1");
}

const STALE: &str = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 7}";

#[test]
fn an_op_that_cannot_be_decoded_hides_no_violation() {
    let judge = |unread: &str| {
        let history = History::parse(&format!("{STALE} {unread}")).unwrap();
        Linearizable::<CasRegister>::default().check(&history).unwrap()
    };
    let report = judge("{:process 0, :type :invoke, :f :foo}");
    assert_eq!(report.verdict, Verdict::Invalid);
    let note = "The verdict covers only the ops before the op at index 2 (line 1): cas-register has no operation :foo; \
                expected :read value, :write value, :cas [old new].";
    assert_eq!(report.notes, [note]);
    // The write is in flight all the time: its completion cannot be decoded, so it may have written the value that was
    // read.
    let open = "{:process 1, :type :invoke, :f :write, :value 7}";
    let text = format!("{open} {STALE} {{:process 1, :type :ok, :f :write, :value 8}}");
    let report = Linearizable::<CasRegister>::default().check(&History::parse(&text).unwrap()).unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].starts_with("No verdict, because of the op at index 3 (line 1): "), "{report:?}");
    // An operation without an invocation may have begun before the read.
    let report = judge("{:type :ok, :f :write, :value 7}");
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.notes[0].contains("the completion has no invocation"), "{report:?}");
    assert_eq!(judge("{:type :invoke, :f :write, :value 7}").verdict, Verdict::Invalid);
}

/// Checks a history by key.
fn keyed(text: &str) -> Report {
    let checker = Linearizable::<CasRegister>::default();
    let run = Keyed::start(&checker, &Options::new()).unwrap();
    history_core::check_history(Box::new(run), &History::parse(text).unwrap(), &Budget::default()).unwrap()
}

#[test]
fn an_op_of_one_key_that_cannot_be_decoded_hides_no_violation_of_another() {
    let stale = "{:process 0, :type :invoke, :f :read, :value [1 nil]} {:process 0, :type :ok, :f :read, :value [1 7]}";
    let valid = "{:process 0, :type :invoke, :f :write, :value [2 7]} {:process 0, :type :ok, :f :write, :value [2 7]}";
    let report = keyed(&format!("{valid} {stale} {{:process 0, :type :invoke, :f :read}}"));
    assert_eq!(report.verdict, Verdict::Invalid);
    let note = "The verdict covers only the ops before the op at index 4 (line 1): the op has no key; \
                expected a value of the form [key value].";
    assert_eq!(report.notes, [note]);
    let verdicts: Vec<_> = report.keys.iter().map(|key| (key.key.to_string(), key.verdict)).collect();
    assert_eq!(verdicts, [("2".to_owned(), Verdict::Unknown), ("1".to_owned(), Verdict::Invalid)]);
    let report = keyed(&format!("{valid} {{:process 0, :type :invoke, :f :read}}"));
    assert_eq!(report.verdict, Verdict::Unknown);
    // A key without a verdict, before and after.
    let foo = "{:process 1, :type :invoke, :f :foo, :value [3 nil]}";
    for text in [format!("{foo} {stale}"), format!("{stale} {foo}")] {
        let report = keyed(&text);
        assert_eq!(report.verdict, Verdict::Invalid, "{report:?}");
        assert!(report.notes[0].starts_with("Key 3: No verdict, "), "{report:?}");
    }
}

#[test]
fn a_key_that_is_not_linearizable_ends_the_search_of_the_others() {
    // Twenty elements pushed at the same time, of which the first and the last are equal, and popped in some order, the
    // last one twice: there are 20!/2 orders to search.
    let mut text = String::new();
    let mut op = |process: usize, kind: &str, f: &str, key: usize, value: usize| {
        _ = writeln!(text, "{{:process {process}, :type :{kind}, :f :{f}, :value [{key} {value}]}}");
    };
    for kind in ["invoke", "ok"] {
        (0..60).for_each(|at| op(at, kind, "push", at / 20, at % 20 % 19));
    }
    for (key, value) in (0..3).flat_map(|key| (0..20).chain([19]).map(move |value| (key, value))) {
        op(0, "invoke", "pop", key, value % 19);
        op(0, "ok", "pop", key, value % 19);
    }
    op(0, "invoke", "pop", 3, 7);
    op(0, "ok", "pop", 3, 7);
    let checker = Linearizable::<Stack>::default();
    let run = Keyed::start(&checker, &Options::new()).unwrap();
    let report =
        history_core::check_history(Box::new(run), &History::parse(&text).unwrap(), &Budget::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Invalid);
    let note = "Key 0 and 2 more: The search ended early, because another key is not linearizable.";
    assert_eq!(report.notes, [note]);
    let verdicts: Vec<Verdict> = report.keys.iter().map(|key| key.verdict).collect();
    assert_eq!(verdicts, [Verdict::Unknown, Verdict::Unknown, Verdict::Unknown, Verdict::Invalid]);
}
