//! Finds the outermost entries of a map in EDN, without parsing their contents.
//!
//! Jepsen's `results.edn` may contain whole histories. Of these, only the end matters here.

/// The entries of the map with which a text begins, each as its key and its value; `None` if the map is incomplete.
pub(super) fn entries(text: &str) -> Option<Vec<(&str, &str)>> {
    let (map, _) = form(text)?;
    // A record is a map after a tag.
    let map = map.find('{').filter(|at| *at == 0 || map.starts_with('#')).map(|at| &map[at..])?;
    let mut rest = map.strip_prefix('{')?.strip_suffix('}')?;
    let mut found = Vec::new();
    while let Some((key, after)) = form(rest) {
        let (value, after) = form(after)?;
        found.push((key, value));
        rest = after;
    }
    Some(found)
}

/// The elements of a vector, list or set.
pub(super) fn elements(text: &str) -> Vec<&str> {
    let inner = text.trim_start_matches('#').get(1..text.trim_start_matches('#').len().saturating_sub(1));
    let mut rest = inner.unwrap_or_default();
    let mut found = Vec::new();
    while let Some((element, after)) = form(rest) {
        found.push(element);
        rest = after;
    }
    found
}

/// The first form of a text, and the rest.
fn form(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut at = skip_blank(bytes, 0);
    while bytes[at..].starts_with(b"#_") {
        let discarded = end(bytes, at + 2)?;
        at = skip_blank(bytes, discarded);
    }
    let end = end(bytes, at)?;
    Some((text.get(at..end)?, text.get(end..)?))
}

/// The end of the form that begins here.
fn end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = skip_blank(bytes, from);
    let mut depth = 0_usize;
    loop {
        match *bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            // The character after a backslash may be a bracket or a quote.
            b'\\' => at = token_end(bytes, at + 2).min(bytes.len()),
            b'(' | b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b'#' => {
                // This begins a set, or a tag with the form after it.
                let is_set = matches!(bytes.get(at + 1), Some(b'{' | b'('));
                at = if is_set { at + 1 } else { token_end(bytes, at + 1) };
                at = skip_blank(bytes, at);
                continue;
            }
            _ => at = token_end(bytes, at + 1),
        }
        if depth == 0 {
            return Some(at);
        }
        at = skip_blank(bytes, at);
    }
}

fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn token_end(bytes: &[u8], from: usize) -> usize {
    let is_in = |byte: &u8| !byte.is_ascii_whitespace() && !b",()[]{}\";".contains(byte);
    from + bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|byte| is_in(byte)).count())
}

/// Skips white space, commas and comments.
fn skip_blank(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b';' => at += bytes[at..].iter().take_while(|byte| **byte != b'\n').count(),
            b',' => at += 1,
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_entries_count() {
        let text = "{:stats {:valid? true}, :note \"} :valid? \\\" true\" #_ :x ; }\n :c \\} :valid? false}";
        let found = entries(text).unwrap();
        assert_eq!(
            found,
            [(":stats", "{:valid? true}"), (":note", "\"} :valid? \\\" true\""), (":c", "\\}"), (":valid?", "false")]
        );
    }

    #[test]
    fn tags_belong_to_what_follows() {
        let found = entries("#jepsen.history.Op{:index 7, :value #{1 2}, :at #inst \"2026\"} rest").unwrap();
        assert_eq!(found, [(":index", "7"), (":value", "#{1 2}"), (":at", "#inst \"2026\"")]);
        assert_eq!(elements("#{:a [1 2]}"), [":a", "[1 2]"]);
        assert_eq!(elements("(:G0 :G1c)"), [":G0", ":G1c"]);
    }

    #[test]
    fn incomplete_maps_have_no_entries() {
        for text in ["", "{", "{:a", "{:a 1", "{:a}", "[1]", "}", "#", "\\", "\"", "{:a \"}", "{:a #_}", "\u{e4}{"] {
            assert_eq!(entries(text), None, "{text}");
        }
        let deep = "[".repeat(1 << 20);
        assert_eq!(entries(&deep), None, "the depth of recursion is limited");
    }
}
