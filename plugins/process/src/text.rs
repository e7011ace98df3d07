//! Values in messages to and from models: JSON, with the same text for equal values.
//!
//! Numbers keep all of their digits. Keys are sorted, as are the elements of sets, which become arrays.

use history_core::Datum;
use std::fmt::Write as _;

/// The text of a recorded value.
pub(crate) fn of(value: &Datum) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// The canonical text of a model's JSON; `None` if it is nested too deep.
pub(crate) fn canonical(json: &str) -> Option<String> {
    Datum::parse(json).map(|value| of(&value))
}

/// A text as a JSON string.
pub(crate) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The value of a field of an object.
pub(crate) fn field(object: &Datum, name: &str) -> Datum {
    let Datum::Map(entries) = object else { return Datum::Nil };
    let found = entries.iter().find(|(key, _)| matches!(key, Datum::Str(key) if key == name));
    found.map_or(Datum::Nil, |(_, value)| value.clone())
}

// Readers limit how deep values nest, which limits this recursion.
fn write(value: &Datum, out: &mut String) {
    match value {
        Datum::Nil => out.push_str("null"),
        Datum::Bool(_) | Datum::Int(_) => out.push_str(&value.to_string()),
        Datum::Big(digits) if digits.bytes().all(|b| b.is_ascii_digit() || b == b'-') => out.push_str(digits),
        // With as many digits as are necessary to parse the same number.
        Datum::Float(x) if x.is_finite() => {
            let _ = write!(out, "{x:?}");
        }
        Datum::Char(c) => out.push_str(&string(c.encode_utf8(&mut [0; 4]))),
        Datum::Str(text) | Datum::Keyword(text) => out.push_str(&string(text)),
        Datum::Big(_) | Datum::Float(_) | Datum::Symbol(_) => out.push_str(&string(&value.to_string())),
        Datum::Vector(items) | Datum::List(items) => array(items.iter().map(of), out),
        Datum::Set(items) => {
            let number = |item: &Datum| if let Datum::Int(number) = item { Some(*number) } else { None };
            let mut texts: Vec<_> = items.iter().map(|item| (number(item).is_none(), number(item), of(item))).collect();
            texts.sort_unstable();
            array(texts.into_iter().map(|(.., text)| text), out);
        }
        Datum::Map(entries) => object(entries.iter().map(|(key, value)| (name(key), of(value))), out),
        Datum::Tagged(tag, value) => {
            object([("tag".to_owned(), string(tag)), ("value".to_owned(), of(value))].into_iter(), out);
        }
    }
}

fn array(items: impl Iterator<Item = String>, out: &mut String) {
    out.push('[');
    out.push_str(&items.collect::<Vec<_>>().join(","));
    out.push(']');
}

/// Writes an object with these values, which are JSON texts.
pub(crate) fn object(entries: impl Iterator<Item = (String, String)>, out: &mut String) {
    let mut entries: Vec<(String, String)> = entries.collect();
    entries.sort();
    let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{}:{value}", string(key))).collect();
    out.push('{');
    out.push_str(&entries.join(","));
    out.push('}');
}

fn name(key: &Datum) -> String {
    match key {
        Datum::Str(name) | Datum::Keyword(name) => name.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_text() {
        let value = |json: &str| canonical(json).unwrap();
        assert_eq!(value(r#"{"b": [1, {"d":2,"c":"\n"}], "a": null}"#), r#"{"a":null,"b":[1,{"c":"\n","d":2}]}"#);
        assert_ne!(value("1"), value("1.0"));
        let edn = |text: &str| of(&Datum::parse(text).unwrap());
        assert_eq!((edn("#{2 :b 10}"), edn("#{:b 10 2}")), (r#"[2,10,"b"]"#.to_owned(), r#"[2,10,"b"]"#.to_owned()));
        assert_eq!(edn("{:b #inst \"t\" 1 x}"), r#"{"1":"x","b":{"tag":"inst","value":"t"}}"#);
    }

    #[test]
    fn numbers_keep_their_digits() {
        for number in
            ["36893488147419103239", "-1180591620717411303426", "0.22893928559866938", "1.1805916207174113e21"]
        {
            assert_eq!(canonical(number).as_deref(), Some(number));
        }
    }

    #[test]
    fn what_is_nested_deep_is_read_or_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(canonical(&nested(300)), Some(nested(300)));
        assert_eq!(canonical(&nested(100_000)), None);
    }
}
