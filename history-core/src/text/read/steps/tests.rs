//! Tests that plain ops give the same result as the general reader.

use super::super::Format;
use super::super::blocks::Block;
use super::super::place::Place;
use super::{Steps, error};
use crate::error::HistoryError;
use crate::ops::batch::Batch;
use crate::ops::row::Row;
use crate::text::syntax::DEPTH_MAX;

/// The result of reading a text up to some byte: the ops, the position, and how many ops were plain.
type Read = (Vec<String>, Result<usize, HistoryError>, usize);

fn read(text: &str, to: usize, format: Format, takes_plain: bool) -> Read {
    let (mut batch, mut steps) = (Batch::new(), Steps::new(format));
    let mut plain = 0;
    steps.take_plain(takes_plain);
    let last = to == text.len();
    *batch.tape.source.to_mut() = text[..to].to_owned() + if last { "\n" } else { "" };
    let block = Block { start: 0, end: to, carried: 0, over: last, last, place: Place::default() };
    let mut rows = Vec::new();
    let read = steps.run(&mut batch, &block, usize::MAX, |batch, found, place| {
        plain += usize::from(found.plain.is_some());
        rows.push(match found.plain {
            Some(plain) => Row::of_plain(&plain, place.position()),
            None => Row::read(&batch.tape, found.node, place.position(), None).map_err(|fault| error(fault, place))?,
        });
        Ok(())
    });
    *batch.records.to_mut() = rows;
    let shown = |at| {
        let (op, row) = (batch.op(at), &batch.records[at]);
        let extra: Vec<String> = op.extra.iter().map(|(key, value)| format!("{key} {value}")).collect();
        let head = (op.kind, op.process, op.time, row.index(), op.f, row.f().is_some(), op.position);
        format!("{head:?} {} {extra:?}", op.value)
    };
    ((0..batch.len()).map(shown).collect(), read, plain)
}

/// Reads a text with and without plain ops, and compares the results. Returns how many ops were plain.
fn compare(text: &str, to: usize, format: Format) -> usize {
    let (ops, ended, plain) = read(text, to, format, true);
    let (expected, expected_end, none) = read(text, to, format, false);
    assert_eq!((&ops, &ended), (&expected, &expected_end), "{}", &text[..to]);
    assert_eq!(none, 0);
    plain
}

/// The fields of an op: each with its usual value, and its other values.
const FIELDS: [(&str, &[&str], &[&str]); 6] = [
    ("type", &["@ok", "@invoke", "@fail", "@info"], &["@okay", "@o", "1", "null", "@infor", "\"okx"]),
    (
        "process",
        &["0", "12", "-3"],
        &["@nemesis", "null", "1.5", "1234567890123456789", "9999999999999999999", "0123456789012345678", "01"],
    ),
    ("f", &["@read", "@txn"], &["@", "\"re\\u0061d\"", "3", "null", "[]"]),
    (
        "value",
        &["1", "null", "[1,2]", "[[@r,5,null]]", "[]"],
        &["{@a:1}", "{@a:{@b:[{}]}}", "[{@a:[1,{}]}]", "1.5", "12345678901234567890", "", "]", "{", "[1"],
    ),
    ("time", &["5", "1700000000000000000"], &["null", "-5", "1e3", "17000000000000000000", "00"]),
    ("index", &["3"], &["-3", "null", "0.5"]),
];

/// The text of an op with these fields, in one of the formats.
fn op(json: bool, fields: &[(&str, &str)], comma: &str, gap: &str, end: &str) -> String {
    let quote = |(name, value): &(&str, &str)| {
        if json { format!("\"{name}\":{gap}{value}") } else { format!(":{name}{gap}{value}") }
    };
    let fields: Vec<String> = fields.iter().map(quote).collect();
    let text = format!("{{{}{end}", fields.join(comma));
    if json { quoted(&text) } else { text.replace("null", "nil").replace('@', ":") }
}

/// The text with each name after an `@` in quotes.
fn quoted(text: &str) -> String {
    let mut all = String::new();
    for (at, part) in text.split('@').enumerate() {
        let name = if at == 0 { 0 } else { part.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(part.len()) };
        all += if at == 0 { "" } else { "\"" };
        all += &part[..name];
        all += if at == 0 { "" } else { "\"" };
        all += &part[name..];
    }
    all
}

/// Ops with each order of fields, followed by one that differs in one part: a value, the text between the fields, or
/// the number of fields.
#[test]
fn an_op_that_differs_in_one_thing_is_read_as_by_itself() {
    let mut judged = 0;
    for (json, turn) in [true, false].into_iter().flat_map(|json| (0..FIELDS.len()).map(move |turn| (json, turn))) {
        let format = if json { Format::Json } else { Format::Edn };
        let (comma, gap) = if json { (",", "") } else { (", ", " ") };
        let mut usual: Vec<(&str, &str)> = FIELDS.iter().map(|(name, usual, _)| (*name, usual[0])).collect();
        usual.rotate_left(turn);
        let same = op(json, &usual, comma, gap, "}");
        let mut others: Vec<String> = Vec::new();
        for (at, (name, _)) in usual.iter().enumerate() {
            let (_, ok, odd) = FIELDS.iter().find(|(field, ..)| field == name).unwrap();
            for value in ok.iter().chain(*odd) {
                let mut fields = usual.clone();
                fields[at].1 = value;
                others.extend(["}", " }", ",}", "", "]", "}}"].map(|end| op(json, &fields, comma, gap, end)));
            }
            let mut twice = usual.clone();
            twice[(at + 1) % usual.len()] = usual[at];
            others.push(op(json, &twice, comma, gap, "}"));
            others.push(op(json, &usual[..at], comma, gap, "}"));
        }
        usual.push(("error", "3"));
        others.push(op(json, &usual, comma, gap, "}"));
        usual.pop();
        for odd in [",", ", ", " ,", " , ", ",,", " ", "", ";\n", ",#_x "] {
            others.push(op(json, &usual, odd, gap, "}"));
            others.push(op(json, &usual, comma, odd, "}"));
        }
        for other in others {
            // A key is compared only if enough text follows it.
            let text = format!("{same}\n{same}\n{other}\n{same}\n{}", "\n".repeat(20));
            assert!(compare(&text, text.len(), format) > 0, "{text}");
            (0..text.len()).step_by(7).for_each(|cut| _ = compare(&text, cut, format));
            judged += 1;
        }
    }
    assert!(judged > 2000, "{judged}");
}

/// A key that directly followed a string cannot follow a number.
#[test]
fn a_number_ends_before_the_next_key() {
    let text = "{:process \"a\":type :ok}\n{:process 5:type :ok}\n".to_owned() + &"\n".repeat(20);
    compare(&text, text.len(), Format::Edn);
    assert!(read(&text, text.len(), Format::Edn, true).1.is_err());
}

/// Two places may have the same key, if the text in one of them was too long to be kept.
#[test]
fn a_field_that_is_there_twice_is_found() {
    let usual = r#"{"type":"ok","f":"a","value":1}"#;
    let long = r#"{"f":"a","a-name-that-is-too-long-to-be-kept":1,"type":"ok"}"#;
    let twice = r#"{"f":"a","f":"b","type":"ok"}"#;
    // The number of ops before this one determines whether it is tried as a plain op.
    for times in 20..60 {
        let text = format!("{usual}\n{}{twice}\n{}", format!("{long}\n").repeat(times), "\n".repeat(20));
        compare(&text, text.len(), Format::Json);
        let (_, ended, _) = read(&text, text.len(), Format::Json, true);
        assert_eq!(ended.unwrap_err().message, "the op has two fields named f");
    }
}

#[test]
fn ops_that_are_like_those_before_are_plain() {
    let json = r#"{"type":"invoke","f":"read","value":null,"process":3,"time":1700000000000000000,"index":0}"#;
    let edn = "{:type :invoke, :f :read, :value nil, :process 3, :time 1700000000000000000, :index 0}";
    for (line, format) in [(json, Format::Json), (edn, Format::Edn)] {
        let text = format!("{line}\n").repeat(50);
        // The first op sets the keys, and after the last one there is too little text.
        assert_eq!(compare(&text, text.len(), format), 48, "{line}");
    }
}

#[test]
fn where_ops_are_not_plain_few_are_tried() {
    let line = r#"{"type":"ok","f":"read","value":1,"error":"none","process":0}"#;
    let plain = r#"{"type":"ok","f":"read","value":1,"process":0}"#;
    let text = [format!("{plain}\n").repeat(2), format!("{line}\n").repeat(100), format!("{plain}\n").repeat(100)];
    let found = compare(&text.concat(), text.concat().len(), Format::Json);
    assert!((60..102).contains(&found), "{found}");
}

#[test]
fn values_are_as_deep_as_in_any_op() {
    for (format, line) in [(Format::Json, r#"{"type":"ok","value":V}"#), (Format::Edn, "{:type :ok, :value V}")] {
        for depth in DEPTH_MAX - 3..DEPTH_MAX + 2 {
            let deep = "[".repeat(depth) + &"]".repeat(depth);
            let text = format!("{}\n", line.replace('V', "1")).repeat(3) + &line.replace('V', &deep) + &"\n".repeat(20);
            compare(&text, text.len(), format);
        }
    }
}
