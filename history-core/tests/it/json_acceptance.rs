//! JSON is accepted exactly if `serde_json` accepts it, except for the documented extensions.

use crate::common::read;
use history_core::{Datum, ErrorKind, History};
use proptest::prelude::*;
use serde_json::{Deserializer, Value as Json};

/// The extensions: words for numbers that JSON cannot represent.
const WORDS: [&str; 2] = ["NaN", "Infinity"];

/// Returns true if `serde_json` parses the text as a sequence of values.
fn is_json(text: &str) -> bool {
    Deserializer::from_str(text).into_iter::<Json>().all(|value| value.is_ok())
}

/// Asserts that a text is rejected for its syntax exactly if `serde_json` rejects it.
fn agree(text: &str) {
    if WORDS.iter().any(|word| text.contains(word)) {
        return;
    }
    let ours = read(text).error;
    match ours.as_ref().map(|error| error.kind) {
        None => assert!(is_json(text), "taken, but it is no JSON: {text}"),
        Some(ErrorKind::Syntax) => assert!(!is_json(text), "{} {text}", ours.unwrap()),
        // A value that is not an op comes before the possible syntax error.
        Some(_) => {}
    }
}

/// Compares a value of `serde_json` with an EDN value. Floats are compared only as far as its parser is exact.
fn same(json: &Json, ours: &Datum) -> bool {
    match (json, ours) {
        (Json::Null, Datum::Nil) => true,
        (Json::Bool(a), Datum::Bool(b)) => a == b,
        (Json::String(a), Datum::Str(b)) => a == b,
        (Json::Number(a), Datum::Int(b)) => a.as_i64() == Some(*b) || *b == 0 && a.as_f64() == Some(0.0),
        (Json::Number(a), Datum::Float(b)) => a.as_f64().is_some_and(|a| (a - b).abs() <= a.abs() * 1e-15),
        (Json::Number(a), Datum::Big(b)) => {
            a.to_string() == *b
                || a.as_f64().is_some_and(|a| b.parse::<f64>().is_ok_and(|b| (a - b).abs() <= a.abs() * 1e-15))
        }
        (Json::Array(a), Datum::Vector(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Datum::Map(b)) => {
            a.len() == b.len()
                && b.iter()
                    .all(|(key, value)| matches!(key, Datum::Str(key) if a.get(key).is_some_and(|a| same(a, value))))
        }
        _ => false,
    }
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        (-9..99_i64).prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 30, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec(-99..99_i64, 0..30).prop_map(Json::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

/// Pieces of valid JSON and of almost valid JSON.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"\\n\"",
        "\"\\x\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\ud83dx\"",
        "\"\\ude00\"",
        "\"\\u12\"",
        "\"\t\"",
        "\"\u{7f}\"",
        "\"é\"",
        "\\",
        "1",
        "-1",
        "0",
        "-0",
        "01",
        "-01",
        "1.5",
        "1.",
        ".5",
        "1e5",
        "1e",
        "1E+5",
        "1e-",
        "-",
        "+1",
        "1e999",
        "123456789012345678",
        "1234567890123456789",
        "12345678901234567890",
        "true",
        "false",
        "null",
        "nul",
        "tru",
        "nullx",
        "TRUE",
        " ",
        "\n",
        "\t",
        "\r",
        "\u{b}",
        "\u{a0}",
        "[1,2,3]",
        "[1,2,",
        "[1, 2 ,3]",
        "[1 2]",
        "[]",
        "{}",
        "{\"a\":1}",
        "{\"a\" : [1]}",
        "{\"a\",1}",
        "//",
        "#",
    ])
}

proptest! {
    #[test]
    fn values_are_those_of_serde_json(value in json()) {
        for text in [
            format!("{{\"type\":\"ok\",\"value\":{value}}}"),
            format!("{{\"type\":\"ok\",\"value\":{value:#}}}"),
        ] {
            let history = History::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let ours = history.op(0).value.to_datum();
            prop_assert!(same(&value, &ours), "{} {}", text, ours);
        }
    }

    #[test]
    fn pieces_of_json_are_taken_or_refused_alike(pieces in prop::collection::vec(piece(), 0..7)) {
        let value = pieces.concat();
        agree(&format!("{{\"type\":\"ok\",\"value\":{value}}}"));
        agree(&format!("{{\"type\":\"ok\",\"value\":[{value}]}}"));
        agree(&format!("{{\"type\":\"ok\",\"value\":{{{value}}}}}"));
    }

    #[test]
    fn broken_json_is_refused_alike(value in json(), at: prop::sample::Index, with in piece(), cut in 0..3_usize) {
        let mut text = format!("{{\"type\":\"ok\",\"value\":{value}}}");
        let start = text.floor_char_boundary(20 + at.index(text.len() - 20));
        let end = text.ceil_char_boundary((start + cut).min(text.len()));
        text.replace_range(start..end, with);
        agree(&text);
    }
}

#[test]
fn every_single_byte_edit_of_a_value_is_taken_or_refused_alike() {
    let text = r#"{"type":"ok","value":[1,-2.5e3,"a\u00e9\ud83d\ude00b",{"k":null},true,[],{},[1,2,3]]}"#;
    for at in 21..text.len() - 1 {
        for byte in 0..0x80_u8 {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] = byte;
            agree(std::str::from_utf8(&bytes).unwrap());
            bytes.insert(at, text.as_bytes()[at]);
            agree(std::str::from_utf8(&bytes).unwrap());
        }
        agree(&[&text[..at], &text[at + 1..]].concat());
    }
}

#[test]
fn the_extensions_are_taken() {
    for word in ["NaN", "Infinity", "-Infinity"] {
        let text = format!("{{\"type\":\"ok\",\"value\":{word}}}");
        assert!(!is_json(&text));
        assert_eq!(read(&text).error, None);
    }
}
