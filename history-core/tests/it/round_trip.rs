//! Histories are written and read again unchanged, in every format.

use crate::common::write_all;
use history_core::{Datum, Format, History, HistoryBuilder, NewOp, Op, OpKind, Reader, Value, Writer};
use proptest::prelude::*;

/// Names that keywords, symbols and tags can have.
fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z][a-z0-9*+!?<>=_.-]{0,8}", "[a-z]{1,3}/[a-z]{1,3}", "[äöü日]{1,3}"]
        .prop_filter("words of EDN's own", |name| !matches!(name.as_str(), "nil" | "true" | "false"))
}

fn atom() -> impl Strategy<Value = Datum> {
    prop_oneof![
        Just(Datum::Nil),
        any::<bool>().prop_map(Datum::Bool),
        any::<i64>().prop_map(Datum::Int),
        (-20..20_i64).prop_map(Datum::Int),
        any::<f64>().prop_filter("NaN has many bits", |x| !x.is_nan()).prop_map(Datum::Float),
        Just(Datum::Float(f64::NAN)),
        "-?[1-9][0-9]{19,30}".prop_map(Datum::Big),
        "-?[1-9][0-9]{0,5}/[1-9][0-9]{0,5}".prop_map(Datum::Big),
        "-?[1-9][0-9]{0,5}\\.[0-9]{1,5}M".prop_map(Datum::Big),
        any::<char>().prop_map(Datum::Char),
        any::<String>().prop_map(Datum::Str),
        name().prop_map(Datum::Keyword),
        name().prop_map(Datum::Symbol),
    ]
}

fn datum() -> impl Strategy<Value = Datum> {
    atom().prop_recursive(4, 40, 6, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..6);
        let ints = prop::collection::vec(any::<i64>().prop_map(Datum::Int), 0..40);
        prop_oneof![
            items.clone().prop_map(Datum::Vector),
            ints.prop_map(Datum::Vector),
            items.clone().prop_map(Datum::List),
            items.prop_map(Datum::Set),
            prop::collection::vec((inner.clone(), inner.clone()), 0..4).prop_map(Datum::Map),
            (name(), inner).prop_map(|(tag, value)| Datum::Tagged(tag, Box::new(value))),
        ]
    })
}

/// The next event of a history.
#[derive(Clone, Debug)]
struct Event {
    client: i64,
    kind: OpKind,
    f: Option<String>,
    value: Datum,
    time: Option<i64>,
    error: Option<Datum>,
    extra: Vec<(String, Datum)>,
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![Just(OpKind::Ok), Just(OpKind::Fail), Just(OpKind::Info)];
    let f = prop::option::of(prop_oneof![4 => name(), 1 => "[ -~]{1,8}"]);
    let extra = prop::collection::vec(("x-[a-z]{1,4}", datum()), 0..3);
    (-1..4_i64, kind, f, datum(), prop::option::of(any::<i64>()), prop::option::of(datum()), extra)
        .prop_map(|(client, kind, f, value, time, error, extra)| Event { client, kind, f, value, time, error, extra })
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(event(), 1..12)
}

/// A history of these events; client -1 is the nemesis.
fn build(events: &[Event], indices: bool) -> History {
    let mut builder = HistoryBuilder::new();
    let (mut busy, mut numbers) = ([false; 4], [0, 1, 2, 3]);
    for (at, event) in events.iter().enumerate() {
        let mut op = match usize::try_from(event.client) {
            Err(_) => NewOp::new(event.kind, "the nemesis"),
            Ok(client) if !std::mem::replace(&mut busy[client], true) => NewOp::new(OpKind::Invoke, numbers[client]),
            Ok(client) => {
                busy[client] = false;
                let number = numbers[client];
                if event.kind == OpKind::Info {
                    numbers[client] += 4;
                }
                NewOp::new(event.kind, number)
            }
        };
        op.f = event.f.as_deref();
        op.value = event.value.clone();
        op.index = indices.then_some(3 * at as u64);
        op.time_ns = event.time;
        op.extra = event.extra.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        op.extra.extend(event.error.iter().map(|error| ("error", error.clone())));
        builder.push_op(&op).unwrap();
    }
    builder.build()
}

/// An op as text; `form` converts its values.
fn show(op: &Op<'_>, form: impl Fn(Value<'_>) -> Datum) -> String {
    let value = form(op.value);
    let mut parts =
        vec![format!("{} {:?} {:?} {:?} {:?} {value:?} {:?}", op.index, op.time, op.process, op.kind, op.f, op.pair)];
    parts.extend(op.extra.iter().map(|(key, value)| format!("{:?}={:?}", key.as_name(), form(value))));
    parts.join(" ")
}

fn as_it_is(value: Value<'_>) -> Datum {
    value.to_datum()
}

/// The value that JSON represents for this one.
fn as_json(value: Value<'_>) -> Datum {
    match value {
        Value::Keyword(s) | Value::Symbol(s) => Datum::Str(s.into()),
        Value::Char(c) => Datum::Str(c.into()),
        Value::Big(text) if text.contains(['/', '.']) => Datum::Str(text.into()),
        Value::Vector(items) | Value::List(items) | Value::Set(items) => {
            Datum::Vector(items.iter().map(as_json).collect())
        }
        Value::Map(entries) => {
            let key = |key: Value<'_>| Datum::Str(key.as_name().map_or_else(|| key.to_string(), str::to_owned));
            Datum::Map(entries.iter().map(|(k, v)| (key(k), as_json(v))).collect())
        }
        Value::Tagged(_, tagged) => as_json(tagged.value()),
        other => other.to_datum(),
    }
}

/// The same with the items of all lists sorted, because the writer chooses the order of a set's items.
fn sorted(datum: Datum) -> Datum {
    match datum {
        Datum::Vector(items) => {
            let mut items: Vec<Datum> = items.into_iter().map(sorted).collect();
            items.sort_by_key(|item| format!("{item:?}"));
            Datum::Vector(items)
        }
        Datum::Map(entries) => Datum::Map(entries.into_iter().map(|(key, value)| (key, sorted(value))).collect()),
        other => other,
    }
}

/// The op that the table represents: without indices and times, and with no further field but one.
fn as_table(op: &Op<'_>, at: usize) -> String {
    let text = format!("{at} None {:?} {:?} {:?} {}", op.process, op.kind, op.f, op.value);
    if let Some(error) = op.extra.get("error") {
        // Jepsen prints strings without quotes, so a bare word is a string.
        let error = match error.to_datum() {
            Datum::Symbol(s) => Datum::Str(s),
            other => other,
        };
        return format!("{text} Some(\"error\")={error}");
    }
    text
}

fn read_again(text: &str, block_bytes: usize) -> History {
    let mut reader = Reader::new(text.as_bytes()).with_block_bytes(block_bytes);
    History::read(&mut reader).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn edn_keeps_everything(events in events(), indices: bool, block_bytes in 1..300_usize) {
        let history = build(&events, indices);
        let text = write_all(history.ops(), Format::Edn);
        let again = read_again(&text, block_bytes);
        prop_assert_eq!(again.len(), history.len());
        for (a, b) in history.ops().zip(again.ops()) {
            prop_assert_eq!(show(&a, as_it_is), show(&b, as_it_is), "{}", &text);
        }
        prop_assert_eq!(write_all(again.ops(), Format::Edn), text);
    }

    #[test]
    fn json_keeps_what_it_has_room_for(events in events(), block_bytes in 1..300_usize) {
        let history = build(&events, true);
        let text = write_all(history.ops(), Format::Json);
        let again = read_again(&text, block_bytes);
        prop_assert_eq!(again.len(), history.len());
        for (a, b) in history.ops().zip(again.ops()) {
            prop_assert_eq!(show(&a, |it| sorted(as_json(it))), show(&b, |it| sorted(as_it_is(it))), "{}", &text);
            if !show(&a, as_it_is).contains("Set(") {
                prop_assert_eq!(show(&a, as_json), show(&b, as_it_is), "{}", &text);
            }
        }
    }

    #[test]
    fn the_table_keeps_what_it_has_room_for(events in events(), block_bytes in 1..300_usize) {
        let events: Vec<Event> = events.into_iter().map(|event| Event { extra: Vec::new(), ..event }).collect();
        let history = build(&events, true);
        let text = write_all(history.ops(), Format::Table);
        let again = read_again(&text, block_bytes);
        prop_assert_eq!(again.len(), history.len());
        for (at, (a, b)) in history.ops().zip(again.ops()).enumerate() {
            prop_assert_eq!(as_table(&a, at), as_table(&b, at), "{}", &text);
        }
    }

    #[test]
    fn whatever_names_a_program_gives_what_is_written_is_a_history(
        f in any::<String>(), process: String, text: String, extra: String,
    ) {
        prop_assume!(!["index", "time", "process", "type", "f", "value"].contains(&extra.as_str()));
        let words = Datum::Vector(vec![
            Datum::Keyword(text.clone()),
            Datum::Symbol(text.clone()),
            Datum::Tagged(text.clone(), Box::new(1.into())),
        ]);
        let op = NewOp { f: Some(&f), ..NewOp::new(OpKind::Info, process.as_str()) };
        let op = op.value(words);
        for format in [Format::Edn, Format::Json, Format::Table] {
            let mut builder = HistoryBuilder::new();
            // The table cannot represent further fields.
            let op = if format == Format::Table { op.clone() } else { op.clone().with(&extra, 1) };
            builder.push_op(&op).unwrap();
            let history = builder.build();
            let text = write_all(history.ops(), format);
            let again = read_again(&text, 64);
            prop_assert_eq!(again.op(0).f, Some(f.as_str()), "{}", &text);
            prop_assert_eq!(again.op(0).process, history.op(0).process, "{}", &text);
        }
    }

    #[test]
    fn a_copied_history_is_the_same(events in events()) {
        let history = build(&events, true);
        let mut copy = HistoryBuilder::new();
        for op in history.ops() {
            copy.push_op(&NewOp::from(&op)).unwrap();
        }
        let copy = copy.build();
        for (a, b) in history.ops().zip(copy.ops()) {
            prop_assert_eq!(show(&a, as_it_is), show(&b, as_it_is));
        }
    }
}

/// A symbol may begin like a number. Written as a string, it would be a different value, and as a key the name of a
/// field.
#[test]
fn symbols_that_begin_with_signs_stay_symbols() {
    let text = "{:index 0, :type :ok, :process 1, :value {--1 2, ---1a :b, - :c}}\n";
    let history = read_again(text, 64);
    assert_eq!(write_all(history.ops(), Format::Edn), text);
}

#[test]
fn the_table_refuses_fields_that_it_has_no_column_for() {
    let text = "{:process 0, :type :invoke, :f :read, :value nil, :time 5}
        {:process 0, :type :ok, :f :read, :value 3, :time 6, :error :late, :key :x}";
    let history = History::parse(text).unwrap();
    let mut writer = Writer::new(Vec::new(), Format::Table);
    writer.write(&history.op(0)).unwrap();
    assert_eq!(
        writer.write(&history.op(1)).unwrap_err().to_string(),
        "line 2, column 9: the op with index 1 cannot be written as txt: it has a field :key; expected an op with process, \
         type, f, value and error only, or the format edn or json"
    );
    assert_eq!(String::from_utf8(writer.finish().unwrap()).unwrap(), "0\t:invoke\t:read\tnil\n");
}
