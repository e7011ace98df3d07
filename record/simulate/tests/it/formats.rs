//! A history can be read back in every format, and is the same history in all of them.

use history_core::{Datum, History, Op, OpKind};
use record_simulate::{
    Bug, Format, Kind, ListAppend, Mop, Object, ObjectKey, ObjectOp, ObjectValue, Objects, OverLists, OverRegisters,
    Payload, Process, RegisterMop, RwRegister, SimOp, Transactions, Workload,
};

fn parameters<W: Workload>(bug: Bug) -> Transactions<W> {
    let (info_rate, lost_rate) = (0.05, 0.05);
    Transactions { txns: 2000, bug, info_rate, lost_rate, nemesis: true, ..Transactions::default() }
}

fn text<W: Workload>(parameters: &Transactions<W>, format: Format) -> String {
    String::from_utf8(parameters.simulation().unwrap().write(Vec::new(), format).unwrap()).unwrap()
}

/// The value that the reader should return for an op.
fn datum(op: &SimOp<'_>) -> Datum {
    let ints = |list: &[i64]| Datum::Vector(list.iter().copied().map(Datum::from).collect());
    let of_lists = |mop| match mop {
        Mop::Append { key, value } => ["append".into(), key.into(), value.into()],
        Mop::Read { key, list } => ["r".into(), key.into(), list.map_or(Datum::Nil, ints)],
    };
    let of_registers = |mop| match mop {
        RegisterMop::Write { key, value } => ["w".into(), key.into(), value.into()],
        RegisterMop::Read { key, value } => ["r".into(), key.into(), value.map_or(Datum::Nil, Datum::from)],
    };
    let mops: Vec<[Datum; 3]> = match op.payload {
        Payload::Lists(mops) => mops.iter().map(of_lists).collect(),
        Payload::Registers(mops) => mops.iter().map(of_registers).collect(),
        _ => return Datum::Nil,
    };
    Datum::Vector(mops.into_iter().map(|mop| Datum::Vector(mop.into())).collect())
}

/// Replaces EDN's keywords by the strings that JSON has instead.
fn as_strings(datum: Datum) -> Datum {
    match datum {
        Datum::Keyword(name) => Datum::Str(name),
        Datum::Vector(items) => Datum::Vector(items.into_iter().map(as_strings).collect()),
        Datum::Map(items) => {
            Datum::Map(items.into_iter().map(|(key, item)| (as_strings(key), as_strings(item))).collect())
        }
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
        assert_reads_back(&parameters::<OverLists>(bug));
    }
    for bug in [Bug::None, Bug::ReadUncommitted, Bug::PlantedG1c] {
        assert_reads_back(&parameters::<OverRegisters>(bug));
    }
}

fn assert_reads_back<W: Workload>(parameters: &Transactions<W>) {
    for format in Format::ALL {
        let history = History::parse(&text(parameters, format)).unwrap();
        let (mut ops, mut nemesis) = (0, 0);
        let result = parameters.simulation().unwrap().run(&mut |op| {
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

#[test]
fn the_history_of_nothing_is_empty() {
    let nothing = ListAppend { txns: 0, ..ListAppend::default() };
    assert_eq!(Format::ALL.map(|format| text(&nothing, format)), ["", "[]\n", ""]);
    let nothing = RwRegister { txns: 0, ..RwRegister::default() };
    assert_eq!(Format::ALL.map(|format| text(&nothing, format)), ["", "[]\n", ""]);
}

#[test]
fn an_error_of_the_sink_ends_the_simulation() {
    let mut ops = 0;
    let result = ListAppend { txns: 9, ..ListAppend::default() }.simulation().unwrap().run(&mut |_| {
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
    assert_eq!(error.to_string(), "xml is not a format: expected edn, json or jsonl");
}

fn object_datum(op: ObjectOp<'_>, format: Format) -> Datum {
    let ints = |list: &[i64]| list.iter().copied().map(Datum::from).collect::<Vec<_>>();
    let mop = |mop: &RegisterMop, shown: bool, [write, read]: [&'static str; 2]| match *mop {
        RegisterMop::Write { key, value } => [write.into(), key.into(), value.into()],
        RegisterMop::Read { key, value } => {
            [read.into(), key.into(), value.filter(|_| shown).map_or(Datum::Nil, Datum::from)]
        }
    };
    let value = match op.value {
        ObjectValue::Nil => Datum::Nil,
        ObjectValue::Int(n) => n.into(),
        ObjectValue::Cas(old, new) => Datum::Vector(vec![old.into(), new.into()]),
        ObjectValue::Set(elements) if format == Format::Edn => Datum::Set(ints(elements)),
        ObjectValue::Set(elements) | ObjectValue::List(elements) => Datum::Vector(ints(elements)),
        ObjectValue::Balances(balances) => {
            let account = |n: i64| if format == Format::Edn { n.into() } else { n.to_string().as_str().into() };
            Datum::Map((0..).zip(balances).map(|(n, balance)| (account(n), (*balance).into())).collect())
        }
        ObjectValue::Transfer { from, to, amount } => Datum::Map(vec![
            ("from".into(), i64::from(from).into()),
            ("to".into(), i64::from(to).into()),
            ("amount".into(), amount.into()),
        ]),
        ObjectValue::Subkey(key, subkey) => Datum::Vector(vec![key.into(), i64::from(subkey).into()]),
        ObjectValue::Subkeys(key, subkeys) => {
            let found = |subkey: &i64| if *subkey < 0 { Datum::Nil } else { (*subkey).into() };
            Datum::Vector(vec![key.into(), Datum::Vector(subkeys.iter().map(found).collect())])
        }
        ObjectValue::Id(id) => Datum::Str(id.to_string()),
        ObjectValue::Text(text) => text.into(),
        ObjectValue::Piece(n) => Datum::Str(format!("{n},")),
        ObjectValue::Mops { mops, shown } => {
            Datum::Vector(mops.iter().map(|one| Datum::Vector(mop(one, shown, ["write", "read"]).into())).collect())
        }
        ObjectValue::Group { mops, shown } => {
            Datum::Vector(mops.iter().map(|one| Datum::Vector(mop(one, shown, ["w", "r"]).into())).collect())
        }
        ObjectValue::Owner(client) => Datum::Map(vec![("client".into(), i64::from(client).into())]),
        other => panic!("{other:?}"),
    };
    match op.key {
        Some(ObjectKey::InValue(key)) => Datum::Vector(vec![key.into(), value]),
        _ => value,
    }
}

fn assert_same_object(read: &Op<'_>, op: &SimOp<'_>, format: Format) {
    let Payload::Object(object) = op.payload else { panic!("{op:?}") };
    assert_eq!(as_strings(read.value.to_datum()), object_datum(object, format), "{format:?}, op {}", op.index);
    assert_eq!((read.f, read.time), (Some(op.f), i64::try_from(op.time_ns).ok()), "{format:?}");
    let field = |name: &str| read.extra.get(name).map(history_core::Value::to_datum);
    let id = |id: Option<record_simulate::WriteId>| id.map(|id| Datum::Str(id.to_string()));
    assert_eq!(field("write-id"), id(object.write_id));
    assert_eq!(field("prev-write-id"), id(object.prev_write_id));
    let key = match object.key {
        Some(ObjectKey::Field(key)) => Some(key.into()),
        Some(ObjectKey::NamedField(key)) => Some(Datum::Str(key.to_string())),
        _ => None,
    };
    assert_eq!(field("key"), key);
}

#[test]
fn ops_on_objects_read_back() {
    for object in Object::ALL {
        for keyed in [false, true] {
            let (keyed, info_rate) = (keyed && !object.has_keys(), 0.05);
            let parameters = Objects { keyed, info_rate, ..Objects::of(object) };
            for format in Format::ALL {
                let text = parameters.simulation().unwrap().write(Vec::new(), format).unwrap();
                let history = History::parse(&String::from_utf8(text).unwrap()).unwrap();
                let mut ops = 0;
                let result = parameters.simulation().unwrap().run(&mut |op| {
                    assert_same_object(&history.op(ops), op, format);
                    ops += 1;
                    Ok(())
                });
                result.unwrap();
                let expected = if object.has_last() { 2002 } else { 2000 };
                assert_eq!((history.len(), ops), (expected, expected), "{object}");
            }
        }
    }
}
