//! Histories built by a program.

use history_core::{Datum, ErrorKind, HistoryBuilder, HistoryError, NewOp, OpKind, Pair, Process, Value};

/// The error of adding an op to a history of one op.
fn refusal(op: &NewOp<'_>) -> HistoryError {
    let mut builder = HistoryBuilder::new();
    builder.push(OpKind::Invoke, 0, "read", Datum::Nil).unwrap();
    let error = builder.push_op(op).map(|_| ()).unwrap_err();
    // After the error, nothing is added, and each call returns the same error.
    assert_eq!(builder.push(OpKind::Ok, 0, "read", 3).map(|_| ()), Err(error.clone()));
    let history = builder.build();
    assert_eq!((history.len(), history.partner(0)), (1, None));
    error
}

#[test]
fn what_fits_no_history_is_refused() {
    for (op, kind, message) in [
        (
            NewOp::new(OpKind::Invoke, 0),
            ErrorKind::Pairing,
            "process 0 invokes an op while its op with index 0 is in flight; expected the completion of that op first",
        ),
        (
            NewOp::new(OpKind::Ok, 1),
            ErrorKind::Pairing,
            "process 1 completes an op without having invoked one; expected an invocation by that process before it",
        ),
        (
            NewOp::new(OpKind::Ok, 0).index(1),
            ErrorKind::Pairing,
            "this op has an index, though those before it have none; expected an index in every op, or in none",
        ),
        (
            NewOp::new(OpKind::Ok, 0).with("value", 3),
            ErrorKind::NotAnOp,
            "value is not an extra field; expected the method with this name",
        ),
    ] {
        let error = refusal(&op);
        assert_eq!((error.kind, error.to_string().as_str()), (kind, message));
    }
}

#[test]
fn values_nest_as_deeply_as_in_a_text() {
    let nested = |depth| (0..depth).fold(Datum::Nil, |inner, _| Datum::Vector(vec![inner]));
    let mut builder = HistoryBuilder::new();
    builder.push(OpKind::Info, "n", "f", nested(511)).unwrap();
    let error = builder.push(OpKind::Info, "n", "f", nested(600)).map(|_| ()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Limit);
}

#[test]
fn an_op_has_what_it_was_given() {
    let mut builder = HistoryBuilder::new();
    let op = NewOp::new(OpKind::Invoke, "7").f("cas").value(vec![1, 2]).index(3).time_ns(-4).with("error", "x");
    builder.push_op(&op).unwrap();
    let history = builder.build();
    let op = history.op(0);
    assert_eq!((op.index, op.time, op.process, op.kind), (3, Some(-4), Process::Client(7), OpKind::Invoke));
    assert_eq!((op.f, op.pair, op.position), (Some("cas"), Pair::Invokes { slot: 0 }, None));
    assert_eq!(op.value.as_seq().unwrap().as_ints(), Some(&[1, 2][..]));
    let extra: Vec<String> = op.extra.iter().map(|(key, value)| format!("{key} {value}")).collect();
    assert_eq!(extra, [":error \"x\""]);
}

#[test]
fn many_ops_are_in_order() {
    let mut builder = HistoryBuilder::new();
    for i in 0..10_000_i64 {
        builder.push(OpKind::Invoke, i % 3, "f", i).unwrap();
        builder.push(OpKind::Ok, i % 3, "f", i.to_string()).unwrap();
    }
    let history = builder.build();
    assert_eq!(history.len(), 20_000);
    for at in 0..history.len() {
        let op = history.op(at);
        assert_eq!(op.index, at as u64);
        assert_eq!(history.partner(at), Some(at ^ 1));
        match op.value {
            Value::Int(i) => assert_eq!(2 * i, i64::try_from(at).unwrap()),
            Value::Str(text) => assert_eq!(text, (at / 2).to_string()),
            other => panic!("{other}"),
        }
    }
    assert!(HistoryBuilder::new().build().is_empty());
}
