//! Intervals: the ops that they become, the order of these, and what is rejected.

use crate::common::{error, read};
use history_core::{
    Client, ErrorKind, Format, History, IntervalWriter, Limits, Op, OpKind, Reader, Rule, TimeUnit, validate,
};
use std::fmt::Write;
use std::ops::ControlFlow;

/// The ops of a text, each as a line.
fn ops(text: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut reader = Reader::new(text.as_bytes());
    let ended = reader.for_each(|op| {
        seen.push(shown(op));
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(ended, Ok(()), "{text}");
    assert_eq!(reader.format(), Some(Format::Intervals));
    seen
}

fn shown(op: &Op<'_>) -> String {
    let mut text = format!("{:?} {} {} {} {}", op.time.unwrap(), op.kind.name(), op.index, op.f.unwrap(), op.value);
    write!(text, " by {}", Client::of(op).unwrap()).unwrap();
    for (key, value) in op.extra.iter() {
        write!(text, " {key} {value}").unwrap();
    }
    text
}

#[test]
fn intervals_become_ops_in_order_of_time() {
    let text = r#"
        {"client": 1, "call": 20, "return": 40, "input": ["read"], "output": 3}
        {"client": 0, "call": 10, "return": 30, "input": {"f": "write", "value": 3}, "output": null}

        {"client": 0, "call": 50, "return": null, "input": ["cas", 3, 4]}"#;
    assert_eq!(
        ops(text),
        [
            "10 invoke 0 write 3 by 0",
            "20 invoke 1 read nil by 1",
            "30 ok 2 write 3 by 0",
            "40 ok 3 read 3 by 1",
            "50 invoke 4 cas [3 4] by 0",
        ]
    );
    let array = format!("[{}]", text.replace("}\n", "},\n").replace(",\n\n", ",\n"));
    assert_eq!(ops(&array), ops(text));
    let history = History::parse(text).unwrap();
    assert_eq!((history.partner(0), history.partner(4)), (Some(2), None));
}

#[test]
fn an_input_has_several_forms() {
    let value = |input: &str| ops(&format!(r#"{{"client":0,"call":1,"input":{input}}}"#)).remove(0);
    for (input, op) in [
        (r#""read""#, "read nil by 0"),
        (r#"["read"]"#, "read nil by 0"),
        (r#"["read",null]"#, "read nil by 0"),
        (r#"["write",3]"#, "write 3 by 0"),
        (r#"["cas",1,2]"#, "cas [1 2] by 0"),
        (r#"["cas",[1,2]]"#, "cas [1 2] by 0"),
        (r#"["txn",["r",1,null],["w",2,[3,[4]]]]"#, r#"txn [["r" 1 nil] ["w" 2 [3 [4]]]] by 0"#),
        (r#"["mixed",1,"a",{"b":[{}]},2]"#, r#"mixed [1 "a" {"b" [{}]} 2] by 0"#),
        (r#"{"f":"write","value":3}"#, "write 3 by 0"),
        (r#"{"op":"read"}"#, "read nil by 0"),
        (r#"{"key":"x","op":"put","value":"v","ttl":[1,[2]]}"#, r#"put "v" by 0 "key" "x" "ttl" [1 [2]]"#),
    ] {
        assert_eq!(value(input), format!("1 invoke 0 {op}"), "{input}");
    }
}

#[test]
fn an_output_is_the_value_of_what_was_asked_for() {
    let completion = |fields: &str| ops(&format!(r#"{{"client":0,"call":1,"return":2,{fields}}}"#)).remove(1);
    for (fields, op) in [
        (r#""input":["read"],"output":3"#, "ok 1 read 3 by 0"),
        (r#""input":["read"],"output":[1,2]"#, "ok 1 read [1 2] by 0"),
        (r#""input":["read"],"output":null"#, "ok 1 read nil by 0"),
        (r#""input":["read"]"#, "ok 1 read nil by 0"),
        (r#""input":["write",3],"output":null"#, "ok 1 write 3 by 0"),
        (r#""input":["write",3],"output":3"#, r#"ok 1 write 3 by 0 "output" 3"#),
        (r#""input":["cas",1,2],"output":[1,2]"#, r#"ok 1 cas [1 2] by 0 "output" [1 2]"#),
        (r#""input":["cas",1,2],"output":true"#, r#"ok 1 cas [1 2] by 0 "output" true"#),
        (r#""input":["cas",1,2],"output":false,"type":"fail""#, r#"fail 1 cas [1 2] by 0 "output" false"#),
        (r#""input":["cas",1,2],"type":"info","error":["x",{}]"#, r#"info 1 cas [1 2] by 0 "error" ["x" {}]"#),
        (r#""input":["txn",[["r",1,null]]],"output":[["r",1,5]]"#, r#"ok 1 txn [["r" 1 5]] by 0"#),
        (
            r#""input":["txn",["r",1,null],["w",1,2]],"output":[["r",1,5],["w",1,2]]"#,
            r#"ok 1 txn [["r" 1 5] ["w" 1 2]] by 0"#,
        ),
        // Without results, the input is not repeated: its nils would be results.
        (r#""input":["txn",[["append",1,2],["r",1,null]]]"#, "ok 1 txn nil by 0"),
        (r#""input":["txn",["r",1,null],["w",1,2]],"output":true"#, r#"ok 1 txn nil by 0 "output" true"#),
        (r#""input":["poll",[["poll"]]]"#, "ok 1 poll nil by 0"),
        (r#""input":["txn",[["r",1,null]]],"type":"info""#, r#"info 1 txn [["r" 1 nil]] by 0"#),
        (r#""input":["txn",[["w",1,2]]]"#, r#"ok 1 txn [["w" 1 2]] by 0"#),
        (r#""input":{"f":"get","key":"k"},"output":"v","host":"n1""#, r#"ok 1 get "v" by 0 "key" "k" "host" "n1""#),
    ] {
        assert_eq!(completion(fields), format!("2 {op}"), "{fields}");
    }
}

#[test]
fn an_output_that_may_mean_anything_is_refused() {
    for output in ["false", "0", "1", r#""OK""#, "{}", "[true, 1]", "[1, 2, 3]"] {
        let text = format!(r#"{{"client":0,"call":1,"return":2,"input":["cas",1,2],"output":{output}}}"#);
        let said = error(&text);
        assert!(said.starts_with("line 1, column 1: the input has a value, and the output, "), "{said}");
        assert!(said.ends_with(r#"the value of the input again, or "type": "fail" or "info""#), "{said}");
    }
}

#[test]
fn a_client_that_gave_up_goes_on_under_another_number_or_name() {
    let text = r#"
        {"client": 4, "call": 1, "return": null, "input": "a"}
        {"client": 4, "call": 2, "return": 3, "input": "b", "type": "info"}
        {"client": "4", "call": 3, "return": 4, "input": "c", "type": "fail"}
        {"client": "x", "call": 5, "return": 6, "input": "d", "type": "info"}
        {"client": "x", "call": 7, "return": 8, "input": "e", "type": "info"}
        {"client": "x", "call": 9, "return": 9, "input": "h"}
        {"client": "x.2", "call": 9, "return": 11, "input": "i"}
        {"client": null, "call": 7, "return": 9, "input": "f"}
        {"call": 7, "return": 10, "input": "g"}"#;
    assert_eq!(
        ops(text),
        [
            r#"1 invoke 0 a nil by 4 "original-client" "4""#,
            r#"2 invoke 1 b nil by 5 "original-client" "4""#,
            r#"3 invoke 2 c nil by 6 "original-client" "4""#,
            r#"3 info 3 b nil by 5 "original-client" "4""#,
            r#"4 fail 4 c nil by 6 "original-client" "4""#,
            r#"5 invoke 5 d nil by x "original-client" "x""#,
            r#"6 info 6 d nil by x "original-client" "x""#,
            r#"7 invoke 7 e nil by x.3 "original-client" "x""#,
            "7 invoke 8 f nil by 7",
            "7 invoke 9 g nil by 8",
            r#"8 info 10 e nil by x.3 "original-client" "x""#,
            r#"9 invoke 11 h nil by x.4 "original-client" "x""#,
            "9 invoke 12 i nil by x.2",
            r#"9 ok 13 h nil by x.4 "original-client" "x""#,
            "9 ok 14 f nil by 7",
            "10 ok 15 g nil by 8",
            "11 ok 16 i nil by x.2",
        ]
    );
}

#[test]
fn an_original_client_of_the_history_stays() {
    let text = r#"
        {"client": "w.2", "call": 1, "return": null, "input": "a", "original-client": "w"}
        {"client": "w.2", "call": 2, "return": 3, "input": {"f": "b", "original-client": "w"}, "error": 7}"#;
    assert_eq!(
        ops(text),
        [
            r#"1 invoke 0 a nil by w.2 "original-client" "w""#,
            r#"2 invoke 1 b nil by w.2.2 "original-client" "w""#,
            r#"3 ok 2 b nil by w.2.2 "original-client" "w" "error" 7"#,
        ]
    );
}

#[test]
fn what_is_no_interval_is_refused_with_its_place() {
    const SHAPE: &str = r#"expected an interval, such as {"client": 0, "call": 10, "return": 25, "input": ["write", 3], "output": null}"#;
    const INPUT: &str = r#"expected an input such as {"f": "write", "value": 3}, ["write", 3] or "read""#;
    let good = r#"{"client":0,"call":1,"return":2,"input":"read"}"#;
    for (line, said) in [
        ("3", format!("found an integer in the place of an interval; {SHAPE}")),
        (r#"{"client":0,"return":2,"input":"read"}"#, format!("the interval has no call; {SHAPE}")),
        (r#"{"client":0,"call":null,"return":2,"input":"read"}"#, format!("the interval's call is null; {SHAPE}")),
        (r#"{"client":0,"call":3,"return":4}"#, format!("the interval has no input; {SHAPE}")),
        (r#"{"client":0,"call":3,"input":"r","f":"r"}"#, format!("an interval does not have a field f; {SHAPE}")),
        (
            r#"{"client":0,"call":3,"input":{"f":"r","time":1}}"#,
            format!("an interval does not have a field time; {SHAPE}"),
        ),
        (
            r#"{"client":0,"call":3,"call":3,"input":"r"}"#,
            "the interval has two fields named call; expected each field once".into(),
        ),
        (
            r#"{"client":0,"call":3,"input":{"f":"r","key":1},"key":1}"#,
            "the interval has two keys; expected one key".into(),
        ),
        (
            r#"{"client":0,"call":4,"return":3,"input":"r"}"#,
            "the interval returns before its call; expected a return that is not before its call".into(),
        ),
        (
            r#"{"client":0,"call":1.5,"return":3,"input":"r"}"#,
            "the interval's call is 1.5; expected nanoseconds, as an integer; \
             or the unit of such times (--time-unit s, ms, us or ns)"
                .into(),
        ),
        (
            r#"{"client":0,"call":1,"return":"3","input":"r"}"#,
            "the interval's return is \"3\"; expected nanoseconds, as an integer".into(),
        ),
        (
            r#"{"client":0,"call":1e300,"input":"r"}"#,
            "the interval's call is 1e300; expected nanoseconds between -2^63 and 2^63".into(),
        ),
        (
            r#"{"client":0,"call":99999999999999999999,"input":"r"}"#,
            "the interval's call is 99999999999999999999; expected nanoseconds between -2^63 and 2^63".into(),
        ),
        (r#"{"client":[],"call":3,"input":"r"}"#, "the interval's client is []; expected an integer or a name".into()),
        (
            r#"{"client":0,"call":3,"return":4,"input":"r","type":"invoke"}"#,
            "the interval's type is \"invoke\"; expected ok, fail or info".into(),
        ),
        (
            r#"{"client":0,"call":3,"input":"r","type":"ok"}"#,
            "the interval is ok, but has no return; expected the time of its return, or the type info".into(),
        ),
        (
            r#"{"client":0,"call":3,"input":"r","output":5}"#,
            "the interval has an output, but no return; expected the time of its return".into(),
        ),
        (r#"{"client":0,"call":3,"input":3}"#, format!("the interval's input is 3; {INPUT}")),
        (r#"{"client":0,"call":3,"input":[]}"#, format!("the interval's input is []; {INPUT}")),
        (r#"{"client":0,"call":3,"input":[3]}"#, format!("the interval's input is [3]; {INPUT}")),
        (r#"{"client":0,"call":3,"input":{"value":3}}"#, format!("the interval's input is {{\"value\" 3}}; {INPUT}")),
        (
            r#"{"client":0,"call":3,"input":{"f":"r","op":"r"}}"#,
            format!("the interval's input is {{\"f\" \"r\", \"op\" \"r\"}}; {INPUT}"),
        ),
    ] {
        let text = format!("{good}\n {line}\n{good}");
        assert_eq!(error(&text), format!("line 2, column 2: {said}"), "{line}");
        assert_eq!(read(&text).ops.len(), 0, "nothing is handed out before all is read");
        let found = validate(Reader::new(text.as_bytes()), 10);
        let told: Vec<_> = found.list.iter().map(|problem| (problem.rule, problem.position.unwrap().line)).collect();
        assert_eq!(told, [(Rule::NotAnOp, 2)], "{line}");
    }
    let said = error(format!("{good}\n{{\"client\":0,\"call\":x"));
    assert_eq!(said, "line 2, column 20: found 'x' in the place of a value; expected a JSON value");
}

#[test]
fn a_client_that_overlaps_itself_is_refused_with_both_lines() {
    let text = "{\"client\":\"a\",\"call\":5,\"return\":9,\"input\":\"r\"}\n\n{\"client\":\"a\",\"call\":1,\"return\":6,\"input\":\"r\"}";
    let read = read(text);
    let error = read.error.unwrap();
    assert_eq!(
        error.to_string(),
        "line 3, column 1: this operation of client \"a\" overlaps the one in line 1; \
         expected at most one operation in flight per client"
    );
    assert_eq!(error.kind, ErrorKind::Pairing);
    assert!(error.snippet.unwrap().text.starts_with("{\"client\":\"a\",\"call\":1"));
    let found = validate(Reader::new(text.as_bytes()), 10);
    assert_eq!(found.list[0].position.unwrap().line, 3);
    assert!(!found.is_history());
}

#[test]
fn operations_of_one_client_at_one_instant_are_refused_in_any_order_of_lines() {
    let read = r#"{"client":"a","call":4,"return":4,"input":"dequeue","output":1}"#;
    let write = r#"{"client":"a","call":4,"return":4,"input":["enqueue",1]}"#;
    for lines in [[read, write], [write, read]] {
        let said = "line 2, column 1: this operation of client \"a\" has the same call and return as the one in line 1, so \
                    their order is ambiguous; expected more precise times, or operations without a client, which then \
                    overlap";
        assert_eq!(error(lines.join("\n")), said);
    }
    // An operation that takes time comes after one that takes none. Operations without a client overlap.
    assert_eq!(ops(&[&read.replace("4,\"input", "5,\"input"), write].join("\n"))[1], "4 ok 1 enqueue 1 by a");
    assert_eq!(ops(&[read, write].join("\n").replace("\"a\"", "null"))[1], "4 invoke 1 enqueue 1 by 1");
}

/// Nil is a result, and no result is none, also after a conversion.
#[test]
fn results_that_are_nil_are_written() {
    for (asked, got, output) in [
        ("[[:r 1 nil]]", "[[:r 1 nil]]", r#""output":[["r",1,null]]"#),
        ("[[:poll]]", "[[:poll]]", r#""output":[["poll"]]"#),
        ("[[:append 1 2] [:r 1 nil]]", "nil", ""),
        ("[[:append 1 2]]", "[[:append 1 2]]", ""),
        // These are no micro-ops.
        ("[7 [1 nil]]", "[7 [1 nil]]", ""),
    ] {
        let text = format!(
            "{{:process 0, :type :invoke, :f :txn, :value {asked}, :time 1}}
             {{:process 0, :type :ok, :f :txn, :value {got}, :time 2}}"
        );
        let mut writer = IntervalWriter::new(Vec::new());
        let history = History::parse(&text).unwrap();
        history.ops().for_each(|op| writer.write(&op).unwrap());
        let written = String::from_utf8(writer.finish().unwrap()).unwrap();
        assert!(written.contains(output) && written.contains("output") != output.is_empty(), "{written}");
        let again = History::parse(&written).unwrap();
        let shown = |value: &str| value.replace([':', '"'], "");
        assert_eq!(shown(&again.op(1).value.to_string()), shown(got), "{written}");
    }
}

#[test]
fn operations_of_one_client_at_one_instant_are_not_written() {
    let ops = |times: [i64; 4]| {
        let kinds = [("invoke", times[0]), ("ok", times[1]), ("invoke", times[2]), ("ok", times[3])];
        let text: String =
            kinds.map(|(kind, time)| format!("{{:process 0, :type :{kind}, :f :r, :time {time}}}")).concat();
        let mut writer = IntervalWriter::new(Vec::new());
        let history = History::parse(&text).unwrap();
        history.ops().try_for_each(|op| writer.write(&op)).map_err(|error| error.to_string())
    };
    assert!(ops([4, 4, 4, 4]).unwrap_err().contains("its client called and returned twice at this time"));
    assert_eq!((ops([4, 4, 4, 5]), ops([3, 4, 4, 4]), ops([4, 4, 5, 5])), (Ok(()), Ok(()), Ok(())));
}

#[test]
fn two_clients_that_hand_over_at_one_time_are_refused() {
    let line = |client: i64, call: i64, end: i64| {
        format!("{{\"client\":{client},\"call\":{call},\"return\":{end},\"input\":\"r\"}}\n")
    };
    let text = [line(0, 1, 5), line(1, 2, 5), line(1, 5, 6), line(0, 5, 7)].concat();
    assert_eq!(
        error(&text),
        "line 4, column 1: at 5 both client 0 and client 1 return from one operation and call the next (here and in line \
         3), so their order is ambiguous; expected more precise times, or operations without a client, which \
         are ordered by time only"
    );
}

#[test]
fn a_client_may_have_any_number() {
    let line =
        |client: &str, call: i64| format!("{{\"client\":{client},\"call\":{call},\"return\":9,\"input\":\"r\"}}\n");
    let max = i64::MAX.to_string();
    assert_eq!(ops(&(line(&max, 1) + &line("-5", 2))).len(), 4);
    assert_eq!(
        error(line(&max, 1) + &line("null", 2)),
        "line 2, column 1: no number is left for a client, because another client has the greatest number; expected smaller numbers"
    );
    assert!(ops(&(line("-5", 1) + &line("null", 2)))[1].ends_with("by 0"));
}

#[test]
fn times_of_another_unit_are_exact() {
    let text = r#"{"client":0,"call":1700000000.123456789,"return":1700000000.1234567891,"input":"r"}"#;
    let mut reader = Reader::new(text.as_bytes()).with_time_unit(TimeUnit::Seconds);
    let mut times = Vec::new();
    let read = reader.for_each(|op| {
        times.extend(op.time);
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(read, Ok(()));
    assert_eq!(times, [1_700_000_000_123_456_789; 2]);
    assert!(validate(Reader::new(text.as_bytes()).with_time_unit(TimeUnit::Seconds), 9).list.is_empty());
}

#[test]
fn limits_hold() {
    let text = "{\"client\":null,\"call\":1,\"return\":1,\"input\":\"r\"}\n".repeat(3);
    let limited = |limits: Limits| {
        let mut reader = Reader::new(text.as_bytes()).with_limits(limits);
        reader.for_each(|_| Ok(ControlFlow::Continue(()))).map_err(|error| error.to_string())
    };
    assert_eq!(limited(Limits { ops_max: 6, ..Limits::default() }), Ok(()));
    assert_eq!(limited(Limits { ops_max: 5, ..Limits::default() }), Err("line 3, column 1: more than 5 ops".into()));
    assert_eq!(
        limited(Limits { held_bytes_max: 100, ..Limits::default() }),
        Err("line 3, column 1: more than 100 bytes of intervals, which are sorted in memory; \
             expected a shorter history, or one in another format"
            .into())
    );
    assert_eq!(
        limited(Limits { op_bytes_max: 10, ..Limits::default() }).unwrap_err(),
        "line 1, column 1: an op is longer than 10 bytes"
    );
}

#[test]
fn an_op_is_not_taken_for_an_interval() {
    for (text, format) in [
        (r#"{"type":"ok","process":0,"f":"r","call":3,"return":4}"#, Format::Json),
        (r#"{"type":"ok","call":3,"value":4,"input":3}"#, Format::Json),
        (r#"{"type":"ok","call":3}"#, Format::Json),
        (r#"{"call":3,"input":"r"}"#, Format::Intervals),
        (r#" [ {"input":"r","call":3}]"#, Format::Intervals),
    ] {
        let read = read(text);
        assert_eq!((read.error, read.format), (None, Some(format)), "{text}");
    }
    assert_eq!("intervals".parse(), Ok(Format::Intervals));
    let mut forced = Reader::new(&br#"{"type":"ok"}"#[..]).with_format(Format::Intervals);
    let error = forced.for_each(|_| Ok(ControlFlow::Continue(()))).unwrap_err();
    assert_eq!(error.message, "the interval has no call");
}

/// An operation of a small history: client, call, return, and whether it is known to have happened.
type Span = (usize, i64, Option<i64>, bool);

/// Returns true if the first operation returned before the second was called, by the definition.
fn precedes(world: &[Span], a: usize, b: usize) -> bool {
    let ((client, call, Some(end), ok), (other, next, next_end, _)) = (world[a], world[b]) else { return false };
    // Of two operations of one client at the same time, the one that ends then is first. Of those that only begin then,
    // the first is one that never ended, then one that ended at once, then the others. Two that end at once are
    // rejected.
    let follows = || next_end.is_some_and(|next_end| next_end > next);
    let own = ok && client == other && end == next && (call < end || follows());
    a != b && (end < next || own)
}

/// The reason why no sequence of calls and returns has this order, if there is none.
fn refused(world: &[Span]) -> Option<&'static str> {
    let of = |i: usize| world[i];
    let all = 0..world.len();
    for (a, b) in all.clone().flat_map(|a| (0..a).map(move |b| (a, b))) {
        let ((client, call, Some(end), _), (other, next, Some(next_end), _)) = (of(a), of(b)) else { continue };
        if client == other && !(end <= next || next_end <= call) {
            return Some("overlaps");
        }
    }
    // Of an operation that never returned, only the call is used.
    for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))) {
        let ((client, call, Some(end), _), (other, next, None, _)) = (of(a), of(b)) else { continue };
        if client == other && call < next && next < end {
            return Some("overlaps");
        }
    }
    for (a, b) in all.clone().flat_map(|a| (0..a).map(move |b| (a, b))) {
        if (of(a).0, of(a).1, of(a).2) == (of(b).0, of(b).1, of(b).2) && of(a).2.is_some() {
            return Some("the same call and return");
        }
    }
    let handed = |a: usize, b: usize| a != b && of(a).0 == of(b).0 && of(a).2 == Some(of(b).1) && precedes(world, a, b);
    for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))).filter(|(a, b)| handed(*a, *b)) {
        for (c, d) in all.clone().flat_map(|c| all.clone().map(move |d| (c, d))).filter(|(c, d)| handed(*c, *d)) {
            if of(a).0 != of(c).0 && of(b).1 == of(d).1 {
                return Some("is ambiguous");
            }
        }
    }
    None
}

/// Checks every history of `size` of these operations. Returns how many became ops, and how many were rejected.
fn judge_all(spans: &[Span], size: u32) -> (usize, usize) {
    let (mut judged, mut turned_down) = (0, 0);
    for code in 0..spans.len().pow(size) {
        let world: Vec<Span> = (0..size).map(|i| spans[code / spans.len().pow(i) % spans.len()]).collect();
        let mut text = String::new();
        for (client, call, end, ok) in &world {
            let end = end.map_or("null".into(), |end| end.to_string());
            let kind = if *ok { "" } else { ",\"type\":\"info\"" };
            writeln!(text, "{{\"client\":{client},\"call\":{call},\"return\":{end},\"input\":\"r\"{kind}}}").unwrap();
        }
        let mut at = vec![[usize::MAX; 2]; world.len()];
        let mut seen = 0;
        let ended = Reader::new(text.as_bytes()).for_each(|op| {
            let row = op.position.unwrap().line as usize - 1;
            at[row][usize::from(op.kind != OpKind::Invoke)] = seen;
            seen += 1;
            Ok(ControlFlow::Continue(()))
        });
        if let Some(why) = refused(&world) {
            turned_down += 1;
            assert!(ended.unwrap_err().message.contains(why), "{text}");
            continue;
        }
        judged += 1;
        assert_eq!(ended, Ok(()), "{text}");
        for (a, b) in (0..world.len()).flat_map(|a| (0..world.len()).map(move |b| (a, b))) {
            let shown = a != b && at[a][1] < at[b][0];
            assert_eq!(shown, precedes(&world, a, b), "{a} {b}\n{text}");
        }
    }
    (judged, turned_down)
}

/// Every history of a few operations of two clients within three time steps has exactly the order of its times.
#[test]
fn the_order_of_ops_is_that_of_the_times() {
    let mut spans: Vec<Span> = Vec::new();
    for client in 0..2 {
        for call in 0..3 {
            spans.push((client, call, None, false));
            spans.extend((call..3).map(|end| (client, call, Some(end), true)));
        }
    }
    let (judged, turned_down) = judge_all(&spans, 4);
    assert!(judged > 10_000 && turned_down > 10_000, "{judged} {turned_down}");
    let ended = spans.iter().filter(|(_, _, end, _)| end.is_some());
    let gave_up: Vec<Span> = ended.map(|(client, call, end, _)| (*client, *call, *end, false)).collect();
    spans.extend(gave_up);
    let (judged, turned_down) = judge_all(&spans, 3);
    assert!(judged > 10_000 && turned_down > 1000, "{judged} {turned_down}");
}
