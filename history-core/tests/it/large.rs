//! Texts that would take too long if reading were quadratic in anything, or overflow the stack if it were recursive.
//!
//! The tests measure no time: with quadratic time for these sizes, they would not end.

use crate::common::{drain, read};
use history_core::{Reader, Severity, validate};

/// Quadratic time for this many steps would be minutes.
const MANY: usize = if cfg!(debug_assertions) { 1 << 17 } else { 1 << 20 };

/// The number of ops and the error of a text. Validation must end too, and find as much.
fn ends(text: &str) -> (usize, Option<String>) {
    let read = read(text);
    let problems = validate(Reader::new(text.as_bytes()), 100);
    assert_eq!(problems.is_history(), read.error.is_none());
    (read.ops.len(), read.error.map(|error| error.message))
}

fn op(value: &str) -> String {
    format!("{{:type :ok, :value {value}}}")
}

#[test]
fn long_values() {
    let long = "x".repeat(16 * MANY);
    for text in [
        op(&format!("\"{long}\"")),
        op(&format!("\"\\n{long}\"")),
        op(&format!(":{long}")),
        op(&format!("\"{}\"", "\\n".repeat(4 * MANY))),
        op(&"1".repeat(MANY)),
        op(&format!("[{}]", "1 ".repeat(4 * MANY))),
        op(&format!("[{}:a {}]", "1 ".repeat(MANY), "1 ".repeat(MANY))),
        op(&format!("[{}]", "[1 :a] ".repeat(MANY))),
        op(&format!("{{{}}}", ":a 1 ".repeat(MANY))),
        op(&format!("#{{{}}}", "#a #b 1 ".repeat(MANY))),
        op(&format!("[{}]", "#_ 1 ".repeat(MANY))),
        op(&format!("{}1", "#_ 1 ".repeat(MANY))),
        op(&format!("{}1", ";\n".repeat(MANY))),
        format!("{{:type :ok{}}}", " :x 1".repeat(MANY / 4)),
        format!("{{\"type\":\"ok\",\"value\":\"{long}\"}}"),
        format!("{{\"type\":\"ok\",\"value\":[1{}]}}", ",1".repeat(4 * MANY)),
        format!("{{\"type\":\"ok\",\"value\":[{}1]}}", "{\"a\":[1,[]]},".repeat(MANY / 4)),
        format!("0\t:invoke\t:read\t\"{long}\""),
    ] {
        assert_eq!(ends(&text), (1, None), "{}...", &text[..60]);
    }
}

#[test]
fn long_values_in_small_blocks() {
    for text in [
        op(&format!("\"{}\"", "x".repeat(MANY))),
        op(&format!("[{}]", "1 ".repeat(MANY))),
        op(&format!("[{}]", "[1 :a] ".repeat(MANY))),
        format!("{};\n{{:type :ok}}", " ".repeat(MANY)),
        format!(";{}\n{{:type :ok}}", " ".repeat(MANY)),
        format!("[{}{{\"type\":\"ok\"}}]", " ".repeat(MANY)),
        format!("0\t:invoke\t:read\t\"{}\"", "x".repeat(MANY)),
    ] {
        let read = crate::common::read_in_blocks(text.as_bytes(), 1);
        assert_eq!((read.ops.len(), read.error), (1, None), "{}...", &text[..20]);
    }
}

#[test]
fn long_gaps() {
    for gap in [" ", "\n", ",", ";\n", "; a comment\n", "#_ 1 ", "#_ {:a 1} "] {
        let gap = gap.repeat(MANY);
        let text = format!("{gap}{{:type :ok}}{gap}{{:type :ok}}{gap}");
        assert_eq!(ends(&text), (2, None), "{}...", &gap[..10]);
        let text = format!("{gap}[{gap}{{:type :ok}}{gap}]{gap}");
        assert_eq!(ends(&text), (1, None), "{}...", &gap[..10]);
    }
    let comment = format!(";{}\n", "x".repeat(16 * MANY));
    assert_eq!(ends(&format!("{{:type :ok}}{comment}{{:type :ok}}{comment}")), (2, None));
    assert_eq!(ends(&comment).0, 0);
    let gap = " \n\t\r".repeat(MANY);
    assert_eq!(ends(&format!("{gap}[{gap}{{\"type\":\"ok\"}}{gap},{gap}{{\"type\":\"ok\"}}{gap}]{gap}")), (2, None));
}

#[test]
fn many_brackets() {
    for bracket in ["[", "(", "{", "#{", "#_", "#a ", "{:a ", "{\n", "[\n", "{:a\n", "#{\n"] {
        let (ops, error) = ends(&op(&bracket.repeat(MANY)));
        assert_eq!((ops, error.as_deref()), (0, Some("values are nested more than 512 deep here")), "{bracket:?}");
    }
    for bracket in ["[", "{\"a\":", "[\n"] {
        let text = format!("{{\"type\":\"ok\",\"value\":{}", bracket.repeat(MANY));
        assert!(ends(&text).1.unwrap().starts_with("values are nested more than 512"));
    }
}

#[test]
fn what_is_never_closed() {
    for begun in ["\"", "[", "{:a \"", "; ", "#_ "] {
        let text = format!("{{:type :ok}}\n{{:type :ok, :value {begun}{}", "1 2 3 abc\n".repeat(MANY));
        let (ops, error) = ends(&text);
        assert_eq!(ops, 1);
        assert!(error.is_some(), "{begun}");
    }
    // Each line leaves one bracket open, so it seems to contain all text after it.
    for line in
        ["{:type :ok, :value [1 2 3\n", "{:type :ok, :value \"a\n", "{:type :ok, :value {:a [\n", "{\n", "{:a\n"]
    {
        let text = format!("{{:type :ok}}\n{}", line.repeat(MANY));
        let problems = validate(Reader::new(text.as_bytes()), 100);
        assert!(problems.count(Severity::Error) > 0);
        assert!(read(&text).error.is_some());
    }
}

#[test]
fn many_errors() {
    for line in ["{:type :ok, :value }\n", "{:type [ok}\n", "{:type :okay}\n", "{:type :ok, :index 1}\n", "3\n"] {
        let text = format!("{{:type :ok}}\n{}", line.repeat(MANY));
        let problems = validate(Reader::new(text.as_bytes()), 100);
        assert!(problems.list.len() <= 100 + 3, "{line}");
        assert!(problems.count(Severity::Error) >= 100, "{line}");
    }
}

#[test]
fn many_lines_that_begin_no_op() {
    let text = format!("{{:type :ok}}\n{}{{:type :ok}}\n", "]\n".repeat(MANY));
    let problems = validate(Reader::new(text.as_bytes()), 100);
    assert_eq!((problems.ops, problems.count(Severity::Error), problems.complete), (2, 1, true));
}

#[test]
fn an_op_over_the_limit_ends_reading_and_not_validation() {
    let text = format!("{{:type :ok}}\n{}\n{{:type :ok}}\n", op(&format!("[{}]", "[1] ".repeat(MANY))));
    let limits = crate::common::op_bytes_max(MANY);
    let read = drain(Reader::new(text.as_bytes()).with_limits(limits));
    assert_eq!(
        read.error.unwrap().to_string(),
        format!(
            "line 2, column 1: an op is longer than {MANY} bytes: the [ that begins at line 2, column 20 is not closed"
        )
    );
    let problems = validate(Reader::new(text.as_bytes()).with_limits(limits), 10);
    assert_eq!((problems.ops, problems.count(Severity::Error), problems.complete), (2, 1, true));
}

#[test]
fn clients_without_number() {
    let text: String = (0..MANY / 4).fold(String::new(), |text, i| text + &format!("{{:process {i} :type :invoke}}\n"));
    assert_eq!(ends(&text), (MANY / 4, None));
}

/// A source of endless text that counts the bytes that were read.
struct Endless<'a> {
    text: &'a [u8],
    read: &'a std::sync::atomic::AtomicUsize,
}

impl std::io::Read for Endless<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.read.fetch_add(out.len(), std::sync::atomic::Ordering::Relaxed);
        // Far beyond every limit, so that a reader that ignores its limits ends.
        if count > 100 * MANY {
            return Ok(0);
        }
        for (at, byte) in out.iter_mut().enumerate() {
            *byte = if count + at < self.text.len() { self.text[count + at] } else { self.text[self.text.len() - 1] };
        }
        Ok(out.len())
    }
}

#[test]
fn no_more_is_read_of_what_never_ends_than_the_limit() {
    let limits = crate::common::op_bytes_max(2 * MANY);
    for (text, error) in [
        (&b"\0"[..], "line 1, column 1: an op is longer than 262144 bytes"),
        (
            b"{:type :ok, :value \"a",
            "line 1, column 1: an op is longer than 262144 bytes: the string that begins at line 1, column 20 is not closed",
        ),
        (
            b"{\"type\":\"ok\",\"value\":[\"a",
            "line 1, column 1: an op is longer than 262144 bytes: the string that begins at line 1, column 23 is not closed",
        ),
        (b"{:type :ok}\n{:type :ok, :f :a", "line 2, column 1: an op is longer than 262144 bytes"),
    ] {
        // At most two blocks beyond the limit are read.
        let most = 2 * MANY + 2 * (128 << 10) + 4096;
        let read = std::sync::atomic::AtomicUsize::new(0);
        let said = drain(Reader::new(Endless { text, read: &read }).with_limits(limits)).error.unwrap();
        assert_eq!(said.to_string(), error);
        let read = read.into_inner();
        assert!(read <= most, "{read} bytes: {error}");
        let read = std::sync::atomic::AtomicUsize::new(0);
        let problems = validate(Reader::new(Endless { text, read: &read }).with_limits(limits), 0);
        assert!(problems.count(Severity::Error) > 0);
        if text == b"\0" {
            let read = read.into_inner();
            assert!(read <= most, "{read} bytes by validation: {error}");
        }
    }
}

#[test]
fn an_op_of_too_many_values() {
    const VALUES_MAX: usize = 1 << 24;
    let op = |count: usize, item: &str, last: &str| {
        format!("{{\"process\":0,\"type\":\"invoke\",\"f\":\"f\",\"value\":[{}{last}]}}", item.repeat(count))
    };
    for item in ["[],", "0,"] {
        let error = drain(Reader::new(op(VALUES_MAX + 9, item, "[]").as_bytes())).error.unwrap();
        assert_eq!(error.kind, history_core::ErrorKind::Limit);
        assert!(
            error.to_string().ends_with("this op contains more than 16777216 values; expected an op with fewer values"),
            "{error}"
        );
    }
    // A list that contains only integers is one value, wherever blocks cut it.
    let read = drain(Reader::new(op(VALUES_MAX + 9, "0,", "0").as_bytes()));
    assert_eq!((read.ops.len(), read.error), (1, None));
}
