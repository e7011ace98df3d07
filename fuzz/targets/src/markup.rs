//! Asserts that a text is well-formed: XML, or the HTML of the generated pages.

/// HTML elements without an end tag.
const VOID: [&str; 4] = ["meta", "br", "input", "hr"];

/// Asserts that elements are closed in order, attributes are quoted and not given twice, and references are known.
pub(crate) fn assert_well_formed(text: &str, is_html: bool) {
    let mut rest = if is_html { text.strip_prefix("<!DOCTYPE html>").expect("a page") } else { text };
    let mut open: Vec<&str> = Vec::new();
    while let Some(at) = rest.find('<') {
        assert_text(&rest[..at], open.is_empty());
        rest = &rest[at + 1..];
        let end = end_of_tag(rest).unwrap_or_else(|| panic!("a tag without end: {rest}"));
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closes what is not open");
            continue;
        }
        let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
        assert!(!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "an element {name:?}");
        assert_attributes(attributes, is_html);
        if is_html && (name == "script" || name == "style") {
            // The first such end tag closes it, independently of the text before it.
            let (_, behind) = rest.split_once(&format!("</{name}>")).expect("it is closed");
            rest = behind;
        } else if !(is_closed || is_html && VOID.contains(&name)) {
            open.push(name);
        }
    }
    assert_text(rest, true);
    assert!(open.is_empty(), "never closed: {open:?}");
}

/// The end of a tag: the first `>` outside of quotes.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    text.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    })
}

fn assert_attributes(mut rest: &str, is_html: bool) {
    let mut names = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return;
        }
        let end = rest.find(['=', ' ', '\n']).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-:".contains(&byte);
        assert!(!name.is_empty() && name.bytes().all(is_name), "an attribute {name:?}");
        assert!(!names.contains(&name), "{name} twice");
        assert!(!name.starts_with("on"), "a handler: {name}");
        names.push(name);
        let Some(value) = behind.strip_prefix("=\"") else {
            assert!(is_html && !behind.starts_with('='), "no quoted value: {name}{behind}");
            rest = behind;
            continue;
        };
        let (value, behind) = value.split_once('"').expect("a closing quote");
        assert!(!value.contains('<'), "{value}");
        assert_text(value, false);
        rest = behind;
    }
}

/// Asserts that every reference in a text is known, and that there is only white space where only elements are allowed.
fn assert_text(text: &str, is_outside: bool) {
    assert!(!is_outside || text.trim().is_empty(), "text outside: {text:?}");
    assert!(!text.contains("]]>"), "{text:?}");
    for (at, _) in text.match_indices('&') {
        // The last ones occur in a page's buttons.
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&larr;", "&rarr;", "&minus;"];
        assert!(known.iter().any(|known| text[at..].starts_with(known)), "{:?}", &text[at..]);
    }
}

#[cfg(test)]
mod tests {
    use super::assert_well_formed;

    #[test]
    fn what_is_not_well_formed_is_found() {
        assert_well_formed("<a x=\"1>\" y=\"&lt;\">t<b/>&amp;</a>\n", false);
        assert_well_formed("<!DOCTYPE html>\n<p hidden><br>a<style>p>a{}</style></p>", true);
        for text in [
            "<a>",
            "</a>",
            "<a></b>",
            "<a><b></a></b>",
            "<a x=1></a>",
            "<a x=\"1\" x=\"2\"></a>",
            "<a>&nbsp;</a>",
            "<a>&</a>",
            "<a",
            "t",
            "<a x></a>",
            "<a x=\"<\"></a>",
            "<a>]]></a>",
            "<a onclick=\"\"></a>",
            "<a><br></a>",
            "<!-- -->",
        ] {
            assert!(std::panic::catch_unwind(|| assert_well_formed(text, false)).is_err(), "{text}");
        }
    }
}
