//! A text with one value, as users write it on a command line.

use super::syntax::Scanner;
use super::syntax::edn::Read;
use crate::values::tape::Tape;
use crate::{Datum, Value};

impl Datum {
    /// The one value in a text, as JSON, or else as EDN; `None` if it is neither, or several values. A single word is a
    /// string, as in a shell, and not a symbol of EDN, which hardly any history has.
    ///
    /// JSON comes first because `{"x":1}` would be EDN as well: a map from a string to the keyword `:1`.
    ///
    /// ```
    /// use history_core::Datum;
    ///
    /// let shown = |text| Datum::parse(text).map(|value| value.to_string());
    /// assert_eq!(shown(r#"{"x":1}"#).as_deref(), Some(r#"{"x" 1}"#));
    /// assert_eq!(shown("{:x [1 2]}").as_deref(), Some("{:x [1 2]}"));
    /// assert_eq!(shown("null").as_deref(), Some("nil"));
    /// assert_eq!(shown("absent").as_deref(), Some(r#""absent""#));
    /// assert_eq!(shown("1 2"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Datum> {
        one(text, json).or_else(|| one(text, edn)).map(|value| match value {
            Datum::Symbol(word) => Datum::Str(word),
            value => value,
        })
    }
}

/// Returns the value that `read` finds in a text, if the text contains nothing else. `read` returns whether there is a
/// value.
fn one(text: &str, read: impl Fn(&mut Scanner<'_>) -> Option<bool>) -> Option<Datum> {
    // The newline shows that the last token is complete, and ends a comment.
    let (text, mut tape) = (format!("{text}\n"), Tape::default());
    let mut scanner = Scanner::new(text.as_bytes(), 0, &mut tape);
    let node = scanner.next_node();
    let is_one = read(&mut scanner)? && !read(&mut scanner)?;
    tape.source = text.into();
    is_one.then(|| Value::at(&tape, node).to_datum())
}

fn json(scanner: &mut Scanner<'_>) -> Option<bool> {
    scanner.skip_json_space();
    if scanner.peek().is_none() {
        return Some(false);
    }
    scanner.json_value().ok().map(|()| true)
}

fn edn(scanner: &mut Scanner<'_>) -> Option<bool> {
    loop {
        scanner.skip_edn_space();
        if scanner.peek().is_none() {
            return Some(false);
        }
        if scanner.edn_value().ok()? == Read::Value {
            return Some(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_json_where_it_can_be() {
        for (text, value) in [
            ("0", Some("0")),
            (" -7 ; a comment", Some("-7")),
            ("#_ignored 3", Some("3")),
            (r#"{"x":1.5,"y":true,"z":null}"#, Some(r#"{"x" 1.5, "y" true, "z" nil}"#)),
            (r#"{"x":"a"}"#, Some(r#"{"x" "a"}"#)),
            (r#"{"x" :a}"#, Some(r#"{"x" :a}"#)),
            ("[[\"x\",1],[\"y\",-1]]", Some(r#"[["x" 1] ["y" -1]]"#)),
            ("nil", Some("nil")),
            ("word", Some("\"word\"")),
            ("[word]", Some("[word]")),
            ("", None),
            ("  ; nothing", None),
            ("1 2", None),
            ("[1", None),
            ("1]", None),
            ("{\"x\":1} 2", None),
        ] {
            assert_eq!(Datum::parse(text).map(|datum| datum.to_string()).as_deref(), value, "{text}");
        }
    }
}
