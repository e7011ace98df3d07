//! Micro-ops in their most common form, `["r",15,null]` or `[:append 5 3]`, read at once.
//!
//! Text that differs from this form in any byte is left to the tokenizers. They give the same result for text of this
//! form, so nothing else changes.

use super::number::Run;
use super::{DEPTH_MAX, Scanner};
use crate::cast::Cast as _;
use crate::values::tape::{Node, Tag, own};

impl Scanner<'_> {
    /// Reads the rest of a micro-op after its opening bracket, with its name next, if it is a name of lowercase
    /// letters, a small integer, and a third value: such an integer, nil, or integers in brackets. Returns whether it
    /// has this form; if not, `pos` does not change.
    #[inline]
    pub(super) fn mop<const JSON: bool>(&mut self) -> bool {
        let (from, ints) = (self.pos, self.tape.ints.len());
        let read = if self.stack.len() < DEPTH_MAX { self.parts_of_mop::<JSON>() } else { None };
        if let Some(parts) = read {
            own(&mut self.tape.nodes).extend_from_slice(&parts);
        } else {
            self.pos = from;
            own(&mut self.tape.ints).truncate(ints);
        }
        read.is_some()
    }

    #[inline]
    fn parts_of_mop<const JSON: bool>(&mut self) -> Option<[Node; 4]> {
        let name = self.pos + 1;
        self.pos = name;
        while self.peek()?.is_ascii_lowercase() {
            self.pos += 1;
        }
        let len = (self.pos - name).to_u32();
        if len == 0 || JSON && !self.pass(b"\"") {
            return None;
        }
        self.pass_separator::<JSON>()?;
        let key = self.small_int()?;
        self.pass_separator::<JSON>()?;
        let last = self.last_of_mop::<JSON>()?;
        let f = Node { tag: if JSON { Tag::Str } else { Tag::Keyword }, a: len, b: name.to_u64() };
        let key = Node { tag: Tag::Int, a: 0, b: key.cast_unsigned() };
        let whole = Node { tag: Tag::Vector, a: 3, b: self.tape.nodes.len().to_u64() + 4 };
        Some([whole, f, key, last])
    }

    /// Reads the third value, and the bracket after it.
    #[inline]
    fn last_of_mop<const JSON: bool>(&mut self) -> Option<Node> {
        let last = match self.peek()? {
            b'n' if self.pass(if JSON { b"null" } else { b"nil" }) => Node { tag: Tag::Nil, a: 0, b: 0 },
            b'-' | b'0'..=b'9' => Node { tag: Tag::Int, a: 0, b: self.small_int()?.cast_unsigned() },
            b'[' => {
                self.pos += 1;
                let start = self.tape.ints.len();
                let is_run = matches!(self.peek()?, b'-' | b'0'..=b'9');
                let is_closed = if is_run { matches!(self.int_run(b']', JSON), Run::Closed) } else { self.pass(b"]") };
                let len = is_closed.then(|| self.tape.ints.len() - start)?;
                Node { tag: Tag::IntVector, a: len.to_u32(), b: start.to_u64() }
            }
            _ => return None,
        };
        self.pass(b"]").then_some(last)
    }

    /// Skips the separator: a comma in JSON, with or without a space, and a space in EDN.
    #[inline]
    fn pass_separator<const JSON: bool>(&mut self) -> Option<()> {
        if JSON {
            let passed = self.pass(b",").then_some(());
            self.pass(b" ");
            return passed;
        }
        self.pass(b" ").then_some(())
    }

    #[inline]
    fn pass(&mut self, text: &[u8]) -> bool {
        let is_next = self.bytes[self.pos..].starts_with(text);
        if is_next {
            self.pos += text.len();
        }
        is_next
    }
}

#[cfg(test)]
mod tests {
    use crate::cast::Cast as _;
    use crate::{History, HistoryError};
    use proptest::prelude::*;

    /// Reads an op with these micro-ops. Returns the op with names in lowercase, or the error and its position.
    fn read(opening: &str, mops: &str, closing: &str) -> Result<String, (String, usize)> {
        let fault =
            |error: HistoryError| (error.message.to_lowercase(), error.position.map_or(0, |at| at.column.to_usize()));
        let history = History::parse(&format!("{opening}{mops}{closing}")).map_err(fault)?;
        Ok(format!("{:?}", history.value(0).to_datum()).to_lowercase())
    }

    /// Compares the result with that of the same text in capitals, which this module leaves to the tokenizers.
    fn check(json: bool, mops: &[(String, String)]) {
        let (opening, closing) =
            if json { (r#"{"type":"ok","value":["#, "]}") } else { ("{:type :ok, :value [", "]}") };
        let text = |capitals: bool| {
            let one = |(name, rest): &(String, String)| {
                let name = if capitals { name.to_uppercase() } else { name.clone() };
                format!("{name}{rest}")
            };
            mops.iter().map(one).collect::<Vec<_>>().join(if json { "," } else { " " })
        };
        assert_eq!(read(opening, &text(false), closing), read(opening, &text(true), closing), "{}", text(false));
    }

    /// The usual forms of the parts of micro-ops, and their other forms.
    struct Parts {
        names: (&'static [&'static str], &'static [&'static str]),
        separators: (&'static str, &'static [&'static str]),
    }

    const JSON: Parts = Parts {
        names: (&[r#"["r""#, r#"["append""#], &[r#"[ "w""#, r#"["""#, r#"["a-b""#, r#"["r"#]),
        separators: (",", &[", ", ",  ", " ,", ":", ""]),
    };
    const EDN: Parts = Parts {
        names: (&["[:r", "[:append"], &["[ :w", "[:", "[:a-b", "(:r", "[:r/s"]),
        separators: (" ", &["  ", ", ", "\n", ""]),
    };
    const KEYS: &[&str] = &["1", "15", "-7", "0", "123456789012345678"];
    const NO_KEYS: &[&str] =
        &["-0", "007", "1.5", "2e3", "12N", "1234567890123456789", "null", "nil", "[]", "[1]", "-", ""];
    const VALUES: &[&str] = &["1", "-5", "null", "nil", "[]", "[1,2]", "[1 2]", "[-3]"];
    const NO_VALUES: &[&str] = &[
        "-0",
        "007",
        "1.5",
        "12N",
        "1234567890123456789",
        "nul",
        "nulls",
        "ni",
        "nile",
        "[1, 2",
        "[1,\"a\"]",
        "[[1],2]",
        "{}",
        "-",
        "",
    ];
    const ENDS: &[&str] = &[" ]", "", "]]", ",]", "}", " 1]"];

    /// Micro-ops in which at most one part has an unusual form: the bracket with the name, and the rest.
    fn mops(parts: &Parts) -> impl Strategy<Value = Vec<(String, String)>> {
        let good = |items: &'static [&'static str]| prop::sample::select(items);
        let (names, odd_names) = parts.names;
        let (separator, separators) = parts.separators;
        let odd = (good(odd_names), good(separators), good(NO_KEYS), good(separators), good(NO_VALUES), good(ENDS));
        let mop = (0..8, good(names), good(KEYS), good(VALUES), odd);
        let mop = mop.prop_map(move |(which, name, key, value, odd)| {
            let part = |at, good: &'static str, odd| if which == at { odd } else { good };
            let (first, second) = (part(1, separator, odd.1), part(3, separator, odd.3));
            let (key, value, end) = (part(2, key, odd.2), part(4, value, odd.4), part(5, "]", odd.5));
            (part(0, name, odd.0).to_owned(), format!("{first}{key}{second}{value}{end}"))
        });
        prop::collection::vec(mop, 1..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn a_micro_op_is_read_as_one_that_is_written_otherwise(json in mops(&JSON), edn in mops(&EDN)) {
            check(true, &json);
            check(false, &edn);
        }
    }

    #[test]
    fn a_colon_alone_is_no_name() {
        let (message, column) = read("{:type :ok, :value [", "[: 1 2]", "]}").unwrap_err();
        assert_eq!((message.as_str(), column), ("unexpected end of input after this character", 22));
    }

    #[test]
    fn what_is_nested_as_deep_as_it_may_be_holds_no_micro_op() {
        for (open, mop) in [("[", r#"["r",1,2]"#), ("[", "[:r 1 2]")] {
            let text = |depth: usize| format!("{}{mop}{}", open.repeat(depth), "]".repeat(depth));
            let (before, after) =
                if mop.contains('"') { (r#"{"type":"ok","value":"#, "}") } else { ("{:type :ok, :value ", "}") };
            // The op is one level, and the micro-op another.
            let deepest = super::DEPTH_MAX - 2;
            assert!(read(before, &text(deepest), after).is_ok());
            let (message, _) = read(before, &text(deepest + 1), after).unwrap_err();
            assert_eq!(message, "values are nested more than 512 deep here");
        }
    }
}
