//! The query of an address, and percent-encoding.

use std::fmt::Write as _;

/// The maximum number of pairs in a query.
const PAIRS_MAX: usize = 100;

/// The pairs of a query, or of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a query; `None` if it is not UTF-8, or has too many pairs.
    pub(crate) fn parse(text: &str) -> Option<Query> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(&name.replace('+', " "))?, decoded(&value.replace('+', " "))?))
        };
        let all: Option<Vec<_>> = pairs.take(PAIRS_MAX + 1).map(pair).collect();
        all.filter(|all| all.len() <= PAIRS_MAX).map(Query)
    }

    /// The last value with a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All names, for callers that must reject unknown ones.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// Decodes percent-encoding; `None` if the result is not UTF-8.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Encodes a text as a part of an address. Slashes are not encoded.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// An address with a query.
pub(crate) fn address<'a>(path: &str, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_text_can_be_decoded() {
        let text = "a b/\u{e4}&=%?#\"<'";
        assert_eq!(decoded(&encoded(text)).unwrap(), text);
        let query = Query::parse("a=1&b=%20+c&a=2&d").unwrap();
        assert_eq!(
            (query.get("a"), query.get("b"), query.get("d"), query.get("e")),
            (Some("2"), Some("  c"), Some(""), None)
        );
        for wrong in ["%", "%4", "%zz", "%ff", "%+1"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
        assert_eq!(Query::parse(&"a=1&".repeat(101)), None);
    }
}
