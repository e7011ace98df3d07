//! Writes the line of an op as JSON: bytes appended to a buffer.
//!
//! A recorder writes two lines for each operation, so this is written without the formatting machinery.

use crate::request::{Field, Fields, Request};
use serde_json::Value as Json;

/// The process that performs an op, and its node.
#[derive(Clone, Copy, Debug)]
pub struct Performer<'h> {
    /// The process, which performs one op at a time.
    pub process: u64,
    /// The node that its client talks to.
    pub host: &'h str,
}

/// The line of an op after its index and time: the fields of the request, replaced by those of the response.
pub(super) fn op(
    kind: &str,
    who: Performer<'_>,
    request: &Request,
    answer: Option<&Fields>,
    error: Option<&str>,
) -> Vec<u8> {
    const MOST: usize = 192;
    let mut line = Vec::with_capacity(MOST);
    line.extend_from_slice(b"\"type\":");
    quoted(&mut line, kind);
    name(&mut line, "process");
    unsigned(&mut line, who.process);
    name(&mut line, "f");
    quoted(&mut line, request.f());
    request.each_field(&mut |field, value| {
        if answer.is_none_or(|answer| !answer.contains_key(field)) {
            name(&mut line, field);
            match value {
                Field::Null => line.extend_from_slice(b"null"),
                Field::Number(number) => signed(&mut line, number),
                Field::Text(text) => quoted(&mut line, text),
                Field::Json(value) => json(&mut line, &value),
            }
        }
    });
    for (field, value) in answer.into_iter().flatten() {
        name(&mut line, field);
        json(&mut line, value);
    }
    let host = Some(who.host).filter(|host| !host.is_empty());
    for (field, text) in [("error", error), ("host", host)] {
        if let Some(text) = text {
            name(&mut line, field);
            quoted(&mut line, text);
        }
    }
    line.extend_from_slice(b"}\n");
    line
}

/// The name of a field that is not the first one.
fn name(line: &mut Vec<u8>, name: &str) {
    line.push(b',');
    quoted(line, name);
    line.push(b':');
}

/// A text in quotes.
pub(super) fn quoted(line: &mut Vec<u8>, text: &str) {
    // Most texts consist of letters and digits, which need no escapes.
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        line.push(b'"');
        line.extend_from_slice(text.as_bytes());
        line.push(b'"');
    } else {
        // Writing to memory cannot fail.
        _ = serde_json::to_writer(line, text);
    }
}

fn json(line: &mut Vec<u8>, value: &Json) {
    // Writing to memory cannot fail.
    _ = serde_json::to_writer(line, value);
}

fn signed(line: &mut Vec<u8>, number: i64) {
    if number < 0 {
        line.push(b'-');
    }
    unsigned(line, number.unsigned_abs());
}

/// A number in decimal digits.
pub(super) fn unsigned(line: &mut Vec<u8>, mut number: u64) {
    const DIGITS: usize = 20;
    let mut digits = [b'0'; DIGITS];
    let mut first = DIGITS;
    loop {
        first -= 1;
        digits[first] = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Outcome;
    use serde_json::json;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut line = Vec::new();
        write(&mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 1, 9, 10, 1_234_567_890, u64::MAX] {
            assert_eq!(text(|line| unsigned(line, number)), number.to_string());
        }
        for number in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(text(|line| signed(line, number)), number.to_string());
        }
    }

    #[test]
    fn texts_are_quoted_as_json_has_them() {
        for word in ["", "w1-2", "a b", "\"", "\\", "\n", "\u{2028}é", "\u{0}"] {
            assert_eq!(text(|line| quoted(line, word)), Json::from(word).to_string());
        }
    }

    #[test]
    fn an_answer_takes_the_place_of_the_fields_that_it_has() {
        let who = Performer { process: 12, host: "n1" };
        let write = Request::WriteVersion { key: 1, value: -2, id: "a b".into(), previous: "0".into() };
        let line = |answer, error| format!("{{{}", String::from_utf8(op("ok", who, &write, answer, error)).unwrap());
        assert_eq!(
            line(None, None),
            "{\"type\":\"ok\",\"process\":12,\"f\":\"write\",\"key\":1,\"value\":-2,\"write-id\":\"a b\",\
             \"prev-write-id\":\"0\",\"host\":\"n1\"}\n"
        );
        let Outcome::Ok(answer) = Outcome::version(3, "w\n") else { panic!("it happened") };
        let with_answer: Json = serde_json::from_str(&line(Some(&answer), Some("it's late"))).unwrap();
        assert_eq!(
            with_answer,
            json!({"type": "ok", "process": 12, "f": "write", "key": 1, "value": 3, "write-id": "w\n", "prev-write-id": "0",
                "error": "it's late", "host": "n1"})
        );
    }
}
