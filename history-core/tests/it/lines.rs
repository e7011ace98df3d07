//! Ops that arrive as single lines: each line alone, and all lines as one history.

use history_core::{Batch, Format, HistoryError, Lines, Merge, OpKind, Pair};

fn line(text: &str) -> Result<Lines, HistoryError> {
    let mut lines = Lines::new(None);
    lines.read(text.as_bytes())?;
    Ok(lines)
}

const INVOKE: &str = r#"{"process": 1, "type": "invoke", "f": "get", "key": "x"}"#;

/// Merging the lines of one writer gives the same result as reading the whole text, however the lines are batched.
#[test]
fn lines_of_one_writer_are_the_history_that_they_are_in_one_text() {
    let texts = [
        format!("{INVOKE}\n{}\n", INVOKE.replace("invoke", "ok")),
        "{:process 0, :type :invoke, :f :txn, :value [[:append 1 22] [:r 1 nil]]}\n\
         {:process :nemesis, :type :info, :f :kill, :value \"n\\u0031\"}\n\
         {:process 0, :type :ok, :f :txn, :value [[:append 1 22] [:r 1 [11 12 13 14 15 16 17 18 19 20 21 22]]]}\n\
         {:process 3, :type :invoke, :f :txn, :value [[:r 1 nil]]}\n\
         {:process 3, :type :fail, :f :txn, :value [[:r 1 [11 12 13 14 15 16 17 18 19 20 21 22 23]]], :error 1.5}\n"
            .to_owned(),
        "{\"index\":3,\"process\":0,\"type\":\"ok\"}\n{\"index\":7,\"process\":0,\"type\":\"ok\"}\n".to_owned(),
    ];
    for text in texts {
        let whole = crate::common::read(&text);
        assert_eq!(whole.error, None);
        for batched in [1, 2, 5] {
            let (mut lines, mut history, mut ops) = (Lines::new(None), Merge::default(), Vec::new());
            let all: Vec<&str> = text.split_inclusive('\n').collect();
            for some in all.chunks(batched) {
                for line in some {
                    lines.read(line.as_bytes()).unwrap();
                }
                let mut batch = lines.take();
                history.add(&mut batch).unwrap();
                ops.extend(batch.ops().map(|op| format!("{op:?}")));
            }
            assert_eq!(ops, whole.ops, "{batched} at a time");
            assert_eq!(history.ops(), whole.ops.len() as u64);
        }
    }
}

#[test]
fn a_line_is_one_op_and_nothing_else() {
    for (text, why) in [
        (r#"{"process":1,"type":"invoke","f":"get","note":["#, "the text ends before this [ is closed"),
        ("]}", "without an opening bracket"),
        ("[", "the text ends before"),
        ("[]", "found a vector in the place of an op"),
        ("GET / HTTP/1.1", "found a symbol in the place of an op"),
        (r#"{"type":"ok"} {"type":"ok"}"#, "this line has text after its op"),
        (r#"{"type":"ok"} }"#, "this line has text after its op"),
        (r#"{"client":0,"call":1,"return":2,"input":"r"}"#, "the map has no :type"),
        ("{:type :nope}", "the op's type is :nope"),
        ("\u{1f}\u{8b}", ""),
    ] {
        let error = line(text).expect_err(text);
        assert!(error.message.contains(why), "{text}: {error}");
        assert_eq!(error.position.map(|position| position.line), Some(1), "{text}");
    }
    assert!(Lines::new(None).read(b"{:a \xff}").unwrap_err().message.contains("not UTF-8"));
}

#[test]
fn what_is_wrong_with_a_line_is_wrong_with_no_other() {
    let mut lines = Lines::new(None);
    assert!(lines.read(b"nonsense").is_err(), "and what is nonsense shows no format");
    for text in [INVOKE, "  \r", r#"{"process":2,"type":"invoke","note":["#, r#"{"process":3,"type":"invoke"}"#] {
        let read = lines.read(text.as_bytes());
        assert_eq!(read.is_err(), text.ends_with('['), "{text}: {read:?}");
        if let Err(error) = read {
            assert_eq!(error.position.map(|position| (position.line, position.column)), Some((4, 37)));
        }
    }
    let mut batch = lines.take();
    Merge::default().add(&mut batch).unwrap();
    let ops: Vec<String> = batch.ops().map(|op| format!("{:?} {}", op.process, op.place())).collect();
    assert_eq!(ops, ["Client(1) index 0 (line 1)", "Client(3) index 1 (line 2)"]);
    assert!(lines.take().is_empty());
}

#[test]
fn a_line_of_edn_may_have_a_comment() {
    for text in ["{:type :ok} ; it was", "#_{:type :no} {:type :ok}", "#jepsen.history.Op{:type :ok}"] {
        assert_eq!(line(text).unwrap().batch().len(), 1, "{text}");
    }
    for text in ["; none", "#_ none"] {
        assert!(line(text).unwrap().batch().is_empty(), "{text}");
    }
    let mut lines = Lines::new(Some(Format::Json));
    assert!(lines.read(b"{:type :ok}").unwrap_err().message.contains("in the place of a key"));
}

/// Adds lines. Returns the error of the last one.
fn add(history: &mut Merge, texts: &[&str]) -> (Batch, Option<(OpKind, String)>) {
    let mut lines = Lines::new(None);
    for text in texts {
        lines.read(text.as_bytes()).unwrap();
    }
    let mut batch = lines.take();
    let wrong = history.add(&mut batch).err();
    (batch, wrong.map(|wrong| (wrong.kind, wrong.error.message)))
}

/// A rejected op has no effect on later ops, from any client.
#[test]
fn an_op_that_does_not_fit_is_as_if_it_had_never_come() {
    let (invoke, ok) = ("{:process 1, :type :invoke}", "{:process 1, :type :ok}");
    let mut history = Merge::default();
    assert_eq!(add(&mut history, &[invoke]).1, None);
    let (batch, wrong) = add(&mut history, &["{:process 2, :type :invoke}", invoke, "{:process 5, :type :invoke}"]);
    assert_eq!((batch.len(), wrong.as_ref().map(|wrong| wrong.0)), (1, Some(OpKind::Invoke)));
    assert!(wrong.unwrap().1.contains("process 1 invokes an op while its op of line 1 is in flight"));
    let wrong = add(&mut history, &["{:process 9, :type :ok}"]).1.unwrap();
    assert!(wrong.0 == OpKind::Ok && wrong.1.contains("process 9 completes an op without having invoked one"));
    let wrong = add(&mut history, &["{:index 9, :process 9, :type :invoke}"]).1.unwrap();
    assert!(wrong.1.contains("has an index, though those before it have none"));
    assert_eq!((history.ops(), history.in_flight()), (2, 2));
    let (batch, wrong) = add(&mut history, &[ok, "{:process 2, :type :info}"]);
    assert_eq!((batch.op(0).index, wrong), (2, None));
    assert_eq!(batch.op(0).pair, Pair::Completes { slot: 0, invoked: 0, invoked_time_ns: None });
    for back in ["{:process 2, :type :invoke}", "{:process 2, :type :ok}"] {
        assert!(add(&mut history, &[back]).1.unwrap().1.contains("process 2 is used again after an info"));
    }
    assert_eq!((history.ops(), history.in_flight()), (4, 0));
}

#[test]
fn a_history_of_completions_takes_no_invocation() {
    let mut history = Merge::default();
    assert_eq!(add(&mut history, &["{:process 1, :type :ok}"]).1, None);
    assert!(history.is_of_completions());
    let wrong = add(&mut history, &["{:process 2, :type :invoke}"]).1.unwrap();
    assert!(wrong.1.contains("this op is an invocation"));
    assert_eq!(add(&mut history, &["{:process 1, :type :ok}"]).1, None);
    assert!(history.is_of_completions());
}
