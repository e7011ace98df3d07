//! Adds links to a report, from its ops to the rows of the history: a report does not contain the address of its
//! server.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;

/// The maximum length of a report that gets links, in bytes; a longer one is sent unchanged.
const BYTES_MAX: u64 = 16 << 20;
/// The text with which a report marks an op. It is followed by the index, [`END`], the visible text, and [`CLOSED`].
const MARK: &str = "<span class=\"op\" data-op=\"";
const END: &str = "\">";
const CLOSED: &str = "</span>";
/// The maximum number of digits of an index.
const DIGITS_MAX: usize = 20;

/// The report of this size with links to the rows of a run; `None` if it is too long, or names no op.
pub(super) fn linked((file, bytes): (File, u64), run: &str) -> Option<String> {
    if bytes > BYTES_MAX {
        return None;
    }
    let mut html = String::new();
    file.take(bytes).read_to_string(&mut html).ok()?;
    with_links(&html, &format!("/rows/{}", crate::http::query::encoded(run)))
}

fn with_links(html: &str, rows: &str) -> Option<String> {
    let mut parts = html.split(MARK);
    let mut out = String::with_capacity(html.len() + html.len() / 8);
    out.push_str(parts.next()?);
    let mut count = 0;
    for part in parts {
        if let Some((index, shown, after)) = link(part) {
            // The link replaces the page that contains the report's frame.
            _ = write!(out, "<a class=\"op\" target=\"_top\" href=\"{rows}?at={index}\">{shown}</a>{after}");
            count += 1;
        } else {
            out.push_str(MARK);
            out.push_str(part);
        }
    }
    (count > 0).then_some(out)
}

/// Parses the index, the visible text, and the text after it.
fn link(part: &str) -> Option<(&str, &str, &str)> {
    let (index, rest) = part.split_once(END)?;
    let (shown, after) = rest.split_once(CLOSED)?;
    let is_index = (1..=DIGITS_MAX).contains(&index.len()) && index.bytes().all(|byte| byte.is_ascii_digit());
    (is_index && !shown.contains('<')).then_some((index, shown, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_ops_become_links() {
        let html = "a<span class=\"op\" data-op=\"17\">index 17</span>, b<span class=\"op\" data-op=\"1\" onclick=\"x\">y</span>";
        let expected = "a<a class=\"op\" target=\"_top\" href=\"/rows/r?at=17\">index 17</a>, b<span class=\"op\" data-op=\"1\" onclick=\"x\">y</span>";
        assert_eq!(with_links(html, "/rows/r").unwrap(), expected);
        assert_eq!(with_links("<p>no op", "/rows/r"), None);
        assert_eq!(with_links("<span class=\"op\" data-op=\"1\"><b>x</span>", "/rows/r"), None);
    }
}
