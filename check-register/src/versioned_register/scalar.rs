//! Values that users give: text of a command line in EDN or JSON, packed.

use super::packed::{Interner, Packed};
use history_core::{Datum, HistoryBuilder, HistoryError, NewOp, OpKind, Value};

/// The value that a text represents. A bare word (EDN's symbol), a UUID, and text that is not a value at all are
/// strings.
pub(crate) fn parse(text: &str) -> Result<Datum, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err("expected a value, found nothing (\"\" is the empty string)".to_owned());
    }
    if trimmed.len() == 36 && trimmed.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()) {
        return Ok(Datum::Str(trimmed.to_owned()));
    }
    match Datum::parse(trimmed) {
        Some(datum) => Ok(datum),
        None if trimmed.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) => {
            Ok(Datum::Str(trimmed.to_owned()))
        }
        None => Err(format!("expected an EDN or JSON value, such as 0, \"text\" or :word, found {trimmed}")),
    }
}

/// Packs a value that does not come from a history.
pub(crate) fn pack(interner: &mut Interner, datum: &Datum) -> Result<Packed, HistoryError> {
    let mut builder = HistoryBuilder::new();
    builder.push_op(&NewOp::new(OpKind::Ok, 0).value(datum.clone()))?;
    let history = builder.build();
    let value: Value<'_> = history.op(0).value;
    Ok(interner.pack(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_edn_or_json_or_a_word() {
        for (text, value) in [
            ("0", "0"),
            (" -7 ", "-7"),
            ("\"0\"", "\"0\""),
            ("abc", "\"abc\""),
            (":abc", ":abc"),
            ("nil", "nil"),
            ("null", "nil"),
            ("true", "true"),
            ("[1, 2]", "[1 2]"),
            ("{\"a\": 1}", "{\"a\" 1}"),
            ("{\"a\":1}", "{\"a\" 1}"),
            ("00000000-0000-0000-0000-000000000000", "\"00000000-0000-0000-0000-000000000000\""),
            ("1-2-3", "\"1-2-3\""),
        ] {
            assert_eq!(parse(text).map(|datum| datum.to_string()), Ok(value.to_owned()), "{text}");
        }
    }

    #[test]
    fn text_that_is_not_a_value_is_refused() {
        for text in
            ["", "  ", "1 2", "1] :f [2", "1] :x [2", "1]} {:type :ok, :value [2", "[", "\"", "1] :process 3 :y [1"]
        {
            assert!(parse(text).is_err(), "{text}: {:?}", parse(text));
        }
    }
}
