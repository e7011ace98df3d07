//! Clients with names: which processes are clients, and that named clients are treated like numbered ones.

use crate::common::error;
use history_core::{
    Batch, Client, ClientRule, Format, History, HistoryBuilder, NewOp, Op, OpKind, Pair, Participants, Process, Reader,
    Rule, Writer, validate,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// The client of each op, if it is one of a client.
fn who(history: &History) -> Vec<Option<String>> {
    history.ops().map(|op| Client::of(&op).map(|client| client.to_string())).collect()
}

fn parse(text: &str) -> History {
    History::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn read_with(text: &str, rule: ClientRule) -> Result<History, String> {
    History::read(&mut Reader::new(text.as_bytes()).with_client_rule(rule)).map_err(|error| error.to_string())
}

#[test]
fn a_name_that_invokes_is_a_client_in_every_format() {
    let texts = [
        "{:process :w1, :type :invoke, :f :r} {:process \"w 2\", :type :invoke, :f :r} {:process w1, :type :ok, :f :r}",
        "{\"process\": \"w1\", \"type\": \"invoke\"} {\"process\": \"w 2\", \"type\": \"invoke\"} \
         {\"process\": \"w\\u0031\", \"type\": \"ok\"}",
        ":w1\t:invoke\t:r\tnil\n\"w 2\"\t:invoke\t:r\tnil\n\"w1\"\t:ok\t:r\tnil\n",
        r#"{"client": "w1", "call": 1, "return": 3, "input": "r"} {"client": "w 2", "call": 2, "input": "r"}"#,
    ];
    for text in texts {
        let history = parse(text);
        let expected = ["w1", "w 2", "w1"].map(|name| Some(name.to_owned()));
        assert_eq!(who(&history), expected, "{text}");
        assert!(history.ops().all(|op| op.process.is_client()), "{text}");
        assert_eq!((history.partner(2), history.partner(1)), (Some(0), None), "{text}");
        assert_eq!(history.op(0).process, history.op(2).process, "{text}");
        assert_ne!(history.op(0).process, history.op(1).process, "{text}");
    }
    let mut builder = HistoryBuilder::new();
    builder.push(OpKind::Invoke, "w1", "r", 1).unwrap().push(OpKind::Invoke, "w 2", "r", 1).unwrap();
    assert!(builder.push(OpKind::Ok, "w1", "r", 1).is_ok());
    assert_eq!(builder.build().partner(2), Some(0));
}

#[test]
fn numbers_and_names_do_not_meet() {
    let text = "{:process \"1\", :type :invoke} {:process :w1, :type :invoke} {:process 1, :type :ok} \
                {:process \"1x\", :type :invoke} {:process -7, :type :invoke}";
    let history = parse(text);
    assert_eq!(history.partner(2), Some(0), "digits are a number");
    let clients: Vec<Process<'_>> = [0, 1, 3, 4].map(|at| history.op(at).process).into();
    let distinct: std::collections::HashSet<_> = clients.iter().collect();
    assert_eq!(distinct.len(), 4, "{clients:?}");
    assert_eq!(
        error("{:process -9223372036854775807, :type :invoke}"),
        "line 1, column 1: the number of the process, -9223372036854775807, is below the minimum; \
         expected a number from -9223372032559808512 on"
    );
}

#[test]
fn pairing_is_as_strict_with_names() {
    let cases = [
        (
            "{:process :w1, :type :invoke}\n{:process :w1, :type :invoke}",
            "line 2, column 1: process w1 invokes an op while its op of line 1 is in flight; expected the completion of that op first",
        ),
        (
            "{:process 0, :type :invoke}\n{:process :w1, :type :ok}",
            "line 2, column 1: process w1 completes an op without having invoked one; \
             expected an invocation by that process before it",
        ),
        (
            "{:process :w1, :type :invoke}\n{:process :w1, :type :info}\n{:process :w1, :type :invoke}",
            "line 3, column 1: process w1 is used again after an info; \
             expected a new process name for a client that continues after a crash",
        ),
        (
            "{:process :w1, :type :invoke}\n{:process :w1, :type :ok}\n{:process :w1, :type :info}",
            "line 3, column 1: process w1 completes an op without having invoked one; \
             expected an invocation by that process before it",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text), expected);
        let problems = validate(Reader::new(text.as_bytes()), 9).list;
        assert_eq!(problems[0].to_string(), format!("error: {expected}"));
    }
}

#[test]
fn a_nemesis_is_no_client_whatever_it_does() {
    for name in ["nemesis", "Nemesis", "nemesis-2", "jepsen/nemesis"] {
        let text = format!(
            "{{:process {name}, :type :invoke, :f :kill}} {{:process {name}, :type :info, :f :kill}} \
             {{:process 0, :type :invoke}} {{:process {name}, :type :ok}} {{:process 0, :type :ok}}"
        );
        let history = parse(&text);
        let client = Some("0".to_owned());
        assert_eq!(who(&history), [None, None, client.clone(), None, client], "{name}");
        assert_eq!(history.op(0).process, Process::Other(name));
        assert_eq!(history.op(0).pair, Pair::Alone);
        let mut participants = Participants::new();
        history.ops().for_each(|op| _ = participants.see(&op));
        assert_eq!((participants.others(), participants.note()), (3, None), "everybody knows it");
    }
}

#[test]
fn a_name_with_info_only_is_no_client_where_others_invoke() {
    let text = "{:process :log, :type :info} {:process 0, :type :invoke} {:process :log, :type :info} \
                {:process :w1, :type :info} {:process :w1, :type :invoke} {:process :w1, :type :info}";
    let history = parse(text);
    let client = |name: &str| Some(name.to_owned());
    assert_eq!(who(&history), [None, client("0"), None, None, client("w1"), client("w1")], "from its invocation on");
    assert_eq!(history.partner(5), Some(4), "a crash");
    let mut participants = Participants::new();
    history.ops().for_each(|op| _ = participants.see(&op));
    let note = "3 ops were ignored, because their processes are not clients: 2 of log, 1 of w1.";
    assert_eq!((participants.others(), participants.note().as_deref()), (3, Some(note)));
    let notes: Vec<String> = validate(Reader::new(text.as_bytes()), 9).list.iter().map(ToString::to_string).collect();
    assert_eq!(notes.last().unwrap(), "note: 3 ops are of processes that are not clients (2 of log, 1 of w1)");
}

#[test]
fn a_name_with_info_only_is_a_client_where_nobody_invokes() {
    let text = "{:process :w1, :type :ok} {:process :w2, :type :info} {:process :nemesis, :type :info} {:process 3, :type :ok}";
    let clients = [Some("w1"), Some("w2"), None, Some("3")].map(|name| name.map(str::to_owned));
    assert_eq!(who(&parse(text)), clients);
    // An op without a process determines the kind of the history like other ops, except for an info.
    assert_eq!(who(&parse("{:type :ok} {:process :w2, :type :info}"))[1].as_deref(), Some("w2"));
    assert_eq!(who(&parse("{:type :invoke} {:process :w2, :type :info}"))[1], None);
    assert_eq!(who(&parse("{:type :info} {:process :w2, :type :info} {:process 1, :type :invoke}"))[1], None);
}

/// The omitted op may be a client's, and its write may be read: no verdict is possible without it.
#[test]
fn an_info_before_the_first_completion_that_nobody_invoked_is_unclear() {
    let unclear = "the history begins with a completion without an invocation, so whether the info of w2 at index 0 (line 1) is \
                   of a crashed client is unknown; expected --clients w2 or --not-clients w2";
    for second in ["{:process :w1, :type :ok}", "{:process 1, :type :fail}", "{:process 1, :type :info}", "{:type :ok}"]
    {
        let text = format!("{{:process :w2, :type :info}}\n{second}");
        assert_eq!(error(&text), format!("line 2, column 1: {unclear}"));
        let problems = validate(Reader::new(text.as_bytes()), 9).list;
        assert_eq!(problems[0].rule, Rule::UnclearClient);
        let client = read_with(&text, ClientRule::new().client("w2")).unwrap();
        assert_eq!(who(&client)[0].as_deref(), Some("w2"));
        let other = read_with(&text, ClientRule::new().other("w*")).map(|history| who(&history)[0].clone());
        assert_eq!(other, Ok(None));
    }
    assert_eq!(who(&parse("{:process :w2, :type :info} {:process 1, :type :invoke}"))[0], None);
    assert_eq!(who(&parse("{:process :nemesis, :type :info} {:process 1, :type :ok}"))[0], None);
}

#[test]
fn a_rule_comes_first() {
    let text = "{:process :nemesis, :type :invoke} {:process :chaos-1, :type :invoke} {:process :w1, :type :info}";
    let rule = ClientRule::new().client("nemesis").client("w1").other("chaos*");
    let error = read_with(text, rule.clone()).unwrap_err();
    assert!(error.contains("process w1 completes an op without having invoked one"), "{error}");
    let history = read_with(&text.replace(":info", ":invoke"), rule.clone()).unwrap();
    assert_eq!(who(&history), [Some("nemesis".to_owned()), None, Some("w1".to_owned())]);
    let mut builder = HistoryBuilder::new().with_client_rule(rule);
    history.ops().for_each(|op| _ = builder.push_op(&NewOp::from(&op)).unwrap());
    assert_eq!(who(&builder.build()), who(&history));
}

/// A text with all kinds of clients, over several blocks. Some of them crash.
fn long_text() -> String {
    let mut text = String::new();
    for i in 0..2000 {
        let client = match i % 7 {
            0 => "3".to_owned(),
            1 => ":nemesis".to_owned(),
            2 => "\"a b\"".to_owned(),
            3 => format!("\"w{i}\""),
            n => format!(":w{n}"),
        };
        let end = if i % 7 == 3 { "info" } else { "ok" };
        for kind in ["invoke", end] {
            writeln!(text, "{{:process {client}, :type :{kind}, :f :r, :value {i}, :node \"n\\u0031\"}}").unwrap();
        }
    }
    text
}

/// All data of an op.
fn shown(op: &Op<'_>) -> String {
    let extra: Vec<_> = op.extra.iter().map(|(key, value)| format!("{key} {value}")).collect();
    format!("{:?} {:?} {:?} {:?} {} {extra:?}", op.process, op.client_name, op.kind, op.pair, op.value)
}

#[test]
fn the_same_clients_have_the_same_numbers_however_ops_come() {
    let text = long_text();
    let history = parse(&text);
    let all: Vec<String> = history.ops().map(|op| shown(&op)).collect();
    for bytes in [300, 4096] {
        let mut seen = Vec::new();
        let mut reader = Reader::new(text.as_bytes()).with_block_bytes(bytes);
        let read = reader.for_each_ahead(|op| {
            seen.push(shown(op));
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!((read, &seen), (Ok(()), &all), "{bytes}");
    }
    let mut batch = Batch::new();
    for op in history.ops() {
        batch.assign(&op);
        assert_eq!(shown(&batch.op(0)), shown(&op));
    }
    let mut builder = HistoryBuilder::new();
    history.ops().for_each(|op| _ = builder.push_op(&NewOp::from(&op)).unwrap());
    assert_eq!(builder.build().ops().map(|op| shown(&op)).collect::<Vec<_>>(), all);
}

#[test]
fn what_is_written_has_the_names() {
    // The table cannot represent further fields.
    let history = parse(&long_text().replace(", :node \"n\\u0031\"", ""));
    for format in [Format::Edn, Format::Json, Format::Table] {
        let mut writer = Writer::new(Vec::new(), format);
        history.ops().for_each(|op| writer.write(&op).unwrap());
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let again = History::read(&mut Reader::new(text.as_bytes()).with_format(format)).unwrap();
        assert_eq!(who(&again), who(&history), "{format:?}");
    }
}

/// If numbers become names, the pairing of a history does not change.
#[test]
fn names_pair_as_numbers_do() {
    let mut numbered = String::new();
    let mut state = 7_u64;
    let mut next = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut clients: Vec<(u64, bool)> = (0..5).map(|client| (client, false)).collect();
    for _ in 0..3000 {
        let at = next(5) as usize;
        let (client, busy) = clients[at];
        let kind = if busy { ["ok", "ok", "fail", "info"][next(4) as usize] } else { "invoke" };
        writeln!(numbered, "{{:process {client}, :type :{kind}}}").unwrap();
        clients[at] = if kind == "info" { (client + 5, false) } else { (client, !busy) };
    }
    let named = numbered.replace(":process ", ":process :w");
    let mixed: String = numbered
        .lines()
        .map(|line| if line.contains("2,") { line.replace(":process ", ":process :w") } else { line.to_owned() })
        .collect();
    let numbered = parse(&numbered);
    for other in [parse(&named), parse(&mixed)] {
        let mut same: BTreeMap<String, String> = BTreeMap::new();
        for (at, (a, b)) in numbered.ops().zip(other.ops()).enumerate() {
            assert_eq!((a.pair, numbered.partner(at)), (b.pair, other.partner(at)));
            let (a, b) = (format!("{:?}", a.process), format!("{:?}", b.process));
            assert_eq!(same.entry(a).or_insert(b.clone()), &b);
        }
    }
}

/// A rule applies to numbers as to names, in every format and way of reading.
#[test]
fn a_number_may_be_left_out() {
    let text = "{:process 1, :type :ok, :value 1} {:process 1, :type :info} {:process 1, :type :info}
                {:process 10, :type :invoke} {:process -1, :type :invoke} {:process 10, :type :ok}";
    let left_out = |rule: ClientRule| -> Vec<String> {
        let history = read_with(text, rule.clone()).unwrap();
        let mut builder = HistoryBuilder::new().with_client_rule(rule);
        let mut reader = Reader::new(text.as_bytes()).without_pairing();
        let push = |op: &Op<'_>| builder.push_op(&NewOp::new(op.kind, op.process)).map(|_| ControlFlow::Continue(()));
        reader.for_each(push).unwrap();
        let names = |history: &History| -> Vec<String> {
            let other = |op: Op<'_>| if let Process::Other(name) = op.process { Some(name.to_owned()) } else { None };
            history.ops().filter_map(other).collect()
        };
        assert_eq!(names(&history), names(&builder.build()));
        names(&history)
    };
    assert_eq!(left_out(ClientRule::new().other("1")), ["1"; 3]);
    assert_eq!(left_out(ClientRule::new().other("1*").client("10")), ["1"; 3]);
    assert_eq!(left_out(ClientRule::new().other("1").other("-1")), ["1", "1", "1", "-1"]);
    assert!(read_with(text, ClientRule::new().client("1").other("1")).is_err(), "it is back after an info");
}

/// Clients of intervals get further numbers and names. The rule does not apply to these.
#[test]
fn a_rule_means_the_clients_of_the_history() {
    let said = |text: &str, rule: ClientRule| {
        let mut reader = Reader::new(text.as_bytes()).with_client_rule(rule);
        let mut said = Vec::new();
        let ended = reader.for_each(|op| {
            if op.kind == OpKind::Ok && op.pair != Pair::Alone {
                said.push(op.value.to_string());
            }
            Ok(ControlFlow::Continue(()))
        });
        ended.unwrap();
        let unmatched: Vec<&str> = reader.unmatched().collect();
        format!("{} not {}", said.join(" "), unmatched.join(" "))
    };
    let nameless = r#"{"call":1,"return":2,"input":"a","output":1} {"call":3,"return":4,"input":"a","output":2}"#;
    assert_eq!(said(nameless, ClientRule::new().other("1")), "1 2 not 1");
    for (name, next) in [("0", "2"), (r#""w""#, "w.2"), (r#""nemesis-probe""#, "nemesis-probe.2")] {
        let text = format!(
            r#"{{"client":{name},"call":1,"return":2,"input":"a","type":"info"}}
               {{"client":{name},"call":3,"return":4,"input":"a","output":3}}
               {{"client":1,"call":5,"return":6,"input":"a","output":5}}"#
        );
        let name = name.trim_matches('"');
        let client = || ClientRule::new().client("nemesis-probe");
        assert_eq!(
            said(&text, client().other(next)).replace("nemesis-probe ", ""),
            format!("3 5 not {next}"),
            "{name}"
        );
        assert_eq!(said(&text, ClientRule::new().other(name)), "5 not ", "{name}");
    }
}

#[test]
fn names_that_no_process_has_are_known() {
    let rule = ClientRule::new().client("w*").client("x").other("1").other("2");
    let text = "{:process :w1, :type :invoke} {:process 1, :type :invoke} {:process :nemesis, :type :info}";
    let mut reader = Reader::new(text.as_bytes()).with_client_rule(rule);
    assert_eq!(reader.unmatched().collect::<Vec<_>>(), ["w*", "x", "1", "2"]);
    reader.for_each(|_| Ok(ControlFlow::Continue(()))).unwrap();
    assert_eq!(reader.unmatched().collect::<Vec<_>>(), ["x", "2"]);
}
