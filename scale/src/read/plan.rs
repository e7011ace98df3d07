//! Decides whether a history is read in ranges or as a whole, from the beginning of its file.

use super::part::Reading;
use super::place;
use crate::to::WhereKeys;
use histcheck_front::ReadAs;
use history_core::cast::Cast as _;
use history_core::keyed_parts::Form;
use history_core::{ClientRule, FirstValue, Format, Lines, OpKind, Process};
use serde::{Deserialize, Serialize};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

/// The number of bytes at the beginning that are examined.
const HEAD_BYTES: usize = 64 << 10;

/// How a history is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Plan {
    /// In ranges, as far as its beginning shows.
    Ranges(Reading),
    /// As a whole, by one worker.
    Whole,
}

/// The plan for a history with these settings. If `of_txns`, its ops are transactions, whose micro-ops contain the
/// keys.
pub(crate) fn plan(path: &Path, read_as: &ReadAs, of_txns: bool) -> Plan {
    let is_plain = read_as.clients == ClientRule::new()
        && read_as.first_value == FirstValue::default()
        && read_as.clock_error == Duration::ZERO
        && !read_as.accepts_torn;
    let by_ranges = || {
        let (mut source, len) = place::open(path).ok()?;
        let head = head(&mut *source).ok()?;
        of_head(&head, len, read_as)
    };
    match by_ranges().filter(|_| is_plain) {
        Some(reading) if of_txns => Plan::Ranges(Reading { keys: WhereKeys::MicroOps, ..reading }),
        Some(reading) => Plan::Ranges(reading),
        None => Plan::Whole,
    }
}

fn head(source: &mut dyn place::Source) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(HEAD_BYTES.to_u64()).read_to_end(&mut head)?;
    Ok(head)
}

/// How a file with this beginning is read, if each line is one op, and the first client's op is an invocation.
fn of_head(head: &[u8], len: u64, read_as: &ReadAs) -> Option<Reading> {
    let is_all = head.len().to_u64() == len;
    // The last line may be incomplete.
    let end = if is_all { head.len() } else { head.iter().rposition(|byte| *byte == b'\n')? };
    let text = &head[..end];
    let format = match read_as.format {
        Some(format) => format,
        None => histcheck_front::read::detect(text).ok()??,
    };
    if !matches!(format, Format::Edn | Format::Json) {
        return None;
    }
    let mut form = None;
    let lines = Lines::new(Some(format));
    let mut lines = read_as.time_unit.into_iter().fold(lines, Lines::with_time_unit);
    for line in text.split(|byte| *byte == b'\n') {
        lines.forget();
        lines.read(line).ok()?;
        if form.is_some() || lines.batch().is_empty() {
            continue;
        }
        let op = lines.batch().op(0);
        match op.process {
            Process::Client(_) if op.kind == OpKind::Invoke => form = Some(Form::of(&op)),
            Process::Other(_) if op.kind == OpKind::Info => {}
            _ => return None,
        }
    }
    let keys = if form? == Form::Field { WhereKeys::Field } else { WhereKeys::Pair };
    Some(Reading { format, keys, len })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(Format, bool)> {
        let reading = of_head(text.as_bytes(), text.len().to_u64(), &ReadAs::default());
        reading.map(|reading| (reading.format, reading.keys == WhereKeys::Field))
    }

    #[test]
    fn a_file_with_one_op_per_line_is_divided() {
        let json = r#"{"process": 0, "type": "invoke", "f": "read", "value": ["x", null]}"#;
        let edn = "{:process 0, :type :invoke, :f :read, :value [:x nil]}";
        let field = "{:process 0, :type :invoke, :f :read, :key 3}";
        assert_eq!(of(json), Some((Format::Json, false)));
        assert_eq!(of(&format!("{json}\n\n{json}\r\n")), Some((Format::Json, false)));
        assert_eq!(of(&format!("#jepsen.history.Op{edn}\n{field}\n")), Some((Format::Edn, false)));
        assert_eq!(of(&format!("{{:process :nemesis, :type :info}}\n{field}\n")), Some((Format::Edn, true)));
    }

    #[test]
    fn other_files_are_not_divided() {
        let edn = "{:process 0, :type :invoke, :f :read, :value [:x nil]}";
        for text in [
            String::new(),
            "\n\n".to_owned(),
            format!("[{edn}\n{edn}]"),
            format!("{edn} {edn}\n"),
            edn.replace(", ", ",\n"),
            edn.replace("invoke", "ok"),
            edn.replace(":process 0", ":process :w1"),
            edn.replace(":process 0, ", ""),
            "{:process :nemesis, :type :info}\n".to_owned(),
            "\u{feff}{:process 0, :type :invoke}".to_owned(),
            r#"{"process": 0, "f": "read", "call": 1, "return": 2, "value": 3}"#.to_owned(),
            "\u{1f}\u{8b}\u{8}\n".to_owned(),
        ] {
            assert_eq!(of(&text), None, "{text}");
        }
    }

    #[test]
    fn an_incomplete_line_is_not_examined() {
        let edn = "{:process 0, :type :invoke, :f :read, :value [:x nil]}";
        let head = format!("{edn}\n{}", &edn[..20]);
        assert!(of_head(head.as_bytes(), 1_000_000, &ReadAs::default()).is_some());
        assert!(of_head(head.as_bytes(), head.len().to_u64(), &ReadAs::default()).is_none());
        assert!(of_head(edn.as_bytes(), 1_000_000, &ReadAs::default()).is_none(), "no line ends");
    }
}
