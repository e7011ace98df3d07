//! A history reads back as it was written, in every format; and it is the same history in all of them.

mod common;

use history_core::{Datum, History, Op, OpKind};
use record_simulate::{Bug, Format, Kind, ListAppend, Mop, Payload, Process, SimOp};

fn parameters(bug: Bug) -> ListAppend {
    let (info_rate, lost_rate) = (0.05, 0.05);
    ListAppend { txns: 2000, bug, info_rate, lost_rate, nemesis: true, ..ListAppend::default() }
}

fn text(parameters: &ListAppend, format: Format) -> String {
    String::from_utf8(parameters.simulation().unwrap().write(Vec::new(), format).unwrap()).unwrap()
}

/// What the reader should make of an op.
fn datum(op: &SimOp<'_>) -> Datum {
    let Payload::Lists(mops) = op.payload else { return Datum::Nil };
    let ints = |list: &[i64]| Datum::Vector(list.iter().copied().map(Datum::from).collect());
    let mop = |mop| match mop {
        Mop::Append { key, value } => vec!["append".into(), key.into(), value.into()],
        Mop::Read { key, list } => vec!["r".into(), key.into(), list.map_or(Datum::Nil, ints)],
    };
    Datum::Vector(mops.iter().map(|m| Datum::Vector(mop(m))).collect())
}

/// EDN's keywords as the strings that JSON has in their place.
fn as_strings(datum: Datum) -> Datum {
    match datum {
        Datum::Keyword(name) => Datum::Str(name),
        Datum::Vector(items) => Datum::Vector(items.into_iter().map(as_strings).collect()),
        other => other,
    }
}

fn assert_same(read: &Op<'_>, op: &SimOp<'_>, format: Format) {
    let kind = match op.kind {
        Kind::Invoke => OpKind::Invoke,
        Kind::Ok => OpKind::Ok,
        Kind::Fail => OpKind::Fail,
        Kind::Info => OpKind::Info,
    };
    let process = match op.process {
        Process::Client(n) => history_core::Process::Client(n),
        Process::Nemesis => history_core::Process::Other("nemesis"),
    };
    assert_eq!((read.index, read.kind, read.process), (op.index, kind, process), "{format:?}");
    assert_eq!((read.f, read.time), (Some(op.f), i64::try_from(op.time_ns).ok()), "{format:?}");
    assert_eq!(as_strings(read.value.to_datum()), datum(op), "{format:?}, op {}", op.index);
}

#[test]
fn what_is_written_reads_back_and_pairs() {
    for bug in [Bug::None, Bug::ReadUncommitted, Bug::ReorderedAppend] {
        for format in Format::ALL {
            let history = History::parse(&text(&parameters(bug), format)).unwrap();
            let (mut ops, mut nemesis) = (0, 0);
            let simulation = parameters(bug).simulation().unwrap();
            let result = simulation.run(&mut |op| {
                assert_same(&history.op(ops), op, format);
                nemesis += usize::from(op.process == Process::Nemesis);
                ops += 1;
                Ok(())
            });
            result.unwrap();
            assert_eq!(history.len(), ops);
            assert!(nemesis >= 4, "{nemesis} ops of the nemesis");
            let open = (0..ops).filter(|at| history.partner(*at).is_none()).count() - nemesis;
            assert!((60..140).contains(&open), "{open} ops of 2000 have no completion, at a rate of 0.05");
        }
    }
}

#[test]
fn the_history_of_nothing_is_empty() {
    let nothing = ListAppend { txns: 0, ..ListAppend::default() };
    assert_eq!(Format::ALL.map(|format| text(&nothing, format)), ["", "[]\n", ""]);
}

#[test]
fn an_error_of_the_sink_ends_the_simulation() {
    let mut ops = 0;
    let result = parameters(Bug::None).simulation().unwrap().run(&mut |_| {
        ops += 1;
        if ops == 3 { Err(std::io::Error::other("full")) } else { Ok(()) }
    });
    assert_eq!((ops, result.unwrap_err().to_string()), (3, "full".to_owned()));
}

#[test]
fn formats_have_names() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let error = "xml".parse::<Format>().unwrap_err();
    assert_eq!(error.to_string(), "xml is no format; there are edn, json and jsonl");
}
