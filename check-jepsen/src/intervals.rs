//! Sets of elements as short texts: runs of integers by their ends, as Jepsen writes them.

use crate::elements::{ElemId, Elements};
use std::fmt::Write;

/// A set as text: `#{-1 3..9 12 "x"}`. Integers come first, in order; `3..9` is 3 to 9, including both. The first `max`
/// runs and other elements are written; `...` represents the rest.
pub(crate) fn interval_set(elements: &Elements, ids: impl Iterator<Item = ElemId>, max: usize) -> String {
    let (mut ints, mut others) = (Vec::new(), Vec::new());
    for id in ids {
        match elements.as_int(id) {
            Some(int) => ints.push(int),
            None => others.push(elements.datum(id).to_string()),
        }
    }
    ints.sort_unstable();
    ints.dedup();
    others.sort_unstable();
    others.dedup();
    let runs = ints.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        run => format!("{}..{}", run[0], run[run.len() - 1]),
    });
    let mut text = String::from("#{");
    for (at, part) in runs.chain(others.iter().cloned()).enumerate() {
        if at > 0 {
            text.push(' ');
        }
        if at == max {
            text.push_str("...");
            break;
        }
        _ = write!(text, "{part}");
    }
    text.push('}');
    text
}

/// The maximum number of runs in a note.
pub(crate) const NOTE_RUNS_MAX: usize = 32;

/// The maximum number of runs in a file.
pub(crate) const FILE_RUNS_MAX: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::History;

    fn set(values: &str, max: usize) -> String {
        let history = History::parse(&format!("{{:type :ok, :value [{values}]}}")).unwrap();
        let mut elements = Elements::default();
        let seq = history.op(0).value.as_seq().unwrap();
        let ids: Vec<ElemId> = seq.iter().map(|value| elements.id(value).unwrap()).collect();
        interval_set(&elements, ids.into_iter(), max)
    }

    #[test]
    fn runs_are_written_by_their_ends() {
        assert_eq!(set("", 9), "#{}");
        assert_eq!(set("5", 9), "#{5}");
        assert_eq!(set("5 4 7 9 8 1 5", 9), "#{1 4..5 7..9}");
        assert_eq!(set("-1 0 1 [0 1] \"b\" :a 9223372036854775807 9223372036854775806", 9), {
            "#{-1..1 9223372036854775806..9223372036854775807 \"b\" :a [0 1]}"
        });
        assert_eq!(set("1 3 5 7 \"x\"", 4), "#{1 3 5 7 ...}");
        assert_eq!(set("1 3 5 \"x\"", 4), "#{1 3 5 \"x\"}");
    }
}
