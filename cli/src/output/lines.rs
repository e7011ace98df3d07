//! Finds the lines of ops in a file, by reading it once more up to the last op needed.
//!
//! Storing the lines of all ops would cost memory for every history, but only a few lines are ever needed.

use crate::judge::input::Input;
use history_core::Op;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The lines of the ops with these indices. Ops that are not found again are absent, for example after standard input.
pub(crate) fn find(input: &Input, indices: impl IntoIterator<Item = u64>) -> BTreeMap<u64, u64> {
    let mut wanted: Vec<u64> = indices.into_iter().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = BTreeMap::new();
    if wanted.is_empty() || input.is_stdin() {
        return found;
    }
    let mut wanted = wanted.into_iter().peekable();
    let look = |op: &Op<'_>| {
        // Indices increase, so smaller ones will not occur any more.
        while wanted.next_if(|index| *index < op.index).is_some() {}
        let place = op.position.and_then(history_core::Position::line_and_column);
        if let (Some(_), Some((line, _))) = (wanted.next_if_eq(&op.index), place) {
            found.insert(op.index, line);
        }
        Ok(if wanted.peek().is_none() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    // The history was read before. If it cannot be read again, the lines found so far are used.
    let _ = input.open().and_then(|reader| reader.without_pairing().for_each(look));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_are_found_by_their_indices_wherever_they_stand() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.edn");
        let op = |index: u64| format!("{{:index {index}, :process 0, :type :invoke, :f :read}}");
        std::fs::write(&path, format!("\n{} {}\n\n{}\n]", op(3), op(5), op(9))).unwrap();
        let input = Input::new(path.into());
        let lines = |indices: &[u64]| find(&input, indices.iter().copied()).into_iter().collect::<Vec<_>>();
        assert_eq!(lines(&[9, 3, 5, 3]), [(3, 2), (5, 2), (9, 4)]);
        // Errors after the last op do not matter, nor do indices that do not occur.
        assert_eq!(lines(&[0, 4, 5, 77]), [(5, 2)]);
        assert_eq!(lines(&[]), []);
    }

    #[test]
    fn ops_without_indices_have_their_positions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.jsonl");
        let op = |kind: &str| format!("{{\"process\": 0, \"type\": \"{kind}\", \"f\": \"read\"}}\n");
        std::fs::write(&path, op("invoke") + &op("ok") + &op("invoke")).unwrap();
        let input = Input::new(path.into());
        assert_eq!(find(&input, [1, 2]).into_iter().collect::<Vec<_>>(), [(1, 2), (2, 3)]);
        assert!(find(&Input::new("-".into()), [1]).is_empty());
    }
}
