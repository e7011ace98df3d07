//! The positions of a history's parts: few enough to fit into memory, for histories of any length.

use super::traits::Traits;
use history_core::Format;
use serde::{Deserialize, Serialize};

/// The maximum number of parts of a history. If there are more, each two are combined.
pub(super) const PARTS_MAX: usize = 1 << 16;
/// The initial number of ops in a part; and the number of bytes after which a part ends, with any number of ops.
const PART_OPS: u64 = 64;
const PART_BYTES: u64 = 256 << 10;
/// The maximum number of names of functions and processes that are kept, for the forms.
const NAMES_MAX: usize = 64;

/// The positions of a history's parts.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) head: Head,
    pub(super) parts: Vec<Part>,
}

/// The data of an index about the whole history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The path of the history below the served directory.
    pub(super) history: String,
    /// The state of the file: if it is different now, the file is read again.
    pub(super) mark: String,
    /// The format of the text that contains the rows: EDN or JSON.
    pub(super) format: Format,
    /// The bracket around the ops, if there is one.
    pub(super) bracket: Option<char>,
    /// Whether the text is a copy, because the history cannot be read from the middle.
    pub(crate) is_copy: bool,
    pub(crate) ops: u64,
    /// The end of the text that has rows.
    pub(super) bytes: u64,
    /// The time of the last op that has one, in nanoseconds.
    pub(crate) length_ns: Option<i64>,
    pub(crate) functions: Vec<String>,
    pub(crate) processes: Vec<String>,
    /// The reason why there are no more rows, although the history continues.
    pub(crate) problem: Option<String>,
}

/// A part of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The number of ops before it.
    pub(super) row: u64,
    /// The number of bytes before it.
    pub(super) offset: u64,
    /// The number of lines before it.
    pub(super) lines: u64,
    /// The index of its first op.
    pub(super) index: u64,
    pub(super) traits: Traits,
}

/// An index under construction.
pub(super) struct Draft {
    pub(super) parts: Vec<Part>,
    /// The number of ops in a part: doubles each time that parts are combined.
    part_ops: u64,
    functions: Names,
    processes: Names,
}

/// Different names, in order of first occurrence, up to a maximum.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    last: usize,
}

impl Names {
    fn add(&mut self, name: &str) {
        // Most names are the same as the previous one, or one of a few.
        if self.all.get(self.last).is_some_and(|last| last == name) {
            return;
        }
        match self.all.iter().position(|known| known == name) {
            Some(at) => self.last = at,
            None if self.all.len() < NAMES_MAX => {
                self.last = self.all.len();
                self.all.push(name.to_owned());
            }
            None => {}
        }
    }
}

impl Draft {
    pub(super) fn new() -> Draft {
        Draft { parts: Vec::new(), part_ops: PART_OPS, functions: Names::default(), processes: Names::default() }
    }

    /// Adds an op that begins at `offset`, in row `row`, with this index.
    pub(super) fn add(&mut self, row: u64, offset: u64, lines: u64, index: u64, op: &Traits, names: [Option<&str>; 2]) {
        let is_full = self
            .parts
            .last()
            .is_none_or(|part| row - part.row >= self.part_ops || offset.saturating_sub(part.offset) >= PART_BYTES);
        if is_full {
            if self.parts.len() >= PARTS_MAX {
                self.join();
            }
            self.parts.push(Part { row, offset, lines, index, traits: Traits::default() });
        }
        if let Some(part) = self.parts.last_mut() {
            part.traits.join(op);
        }
        let [function, process] = names;
        if let Some(name) = function {
            self.functions.add(name);
        }
        if let Some(name) = process {
            self.processes.add(name);
        }
    }

    /// Combines each two parts.
    fn join(&mut self) {
        let joined = self.parts.chunks(2).map(|two| {
            let mut part = two[0];
            two[1..].iter().for_each(|second| part.traits.join(&second.traits));
            part
        });
        self.parts = joined.collect();
        self.part_ops *= 2;
    }

    /// The finished index, with the names.
    pub(super) fn done(self, head: Head) -> Index {
        let (mut functions, mut processes) = (self.functions.all, self.processes.all);
        functions.sort();
        processes.sort_by_key(|name| (name.parse::<i64>().unwrap_or(i64::MAX), name.clone()));
        Index { head: Head { functions, processes, ..head }, parts: self.parts }
    }
}

impl Index {
    /// The part that contains a row, or the last one.
    pub(super) fn part_of_row(&self, row: u64) -> usize {
        self.parts.partition_point(|part| part.row <= row).saturating_sub(1)
    }

    /// The part that contains the op with an index, if there is such an op.
    pub(super) fn part_of_index(&self, index: u64) -> usize {
        self.parts.partition_point(|part| part.index <= index).saturating_sub(1)
    }

    /// The end of a part: the row after its last one, and the byte.
    pub(super) fn end(&self, part: usize) -> (u64, u64) {
        self.parts.get(part + 1).map_or((self.head.ops, self.head.bytes), |next| (next.row, next.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::cast::Cast as _;

    #[test]
    fn parts_stay_few() {
        let mut draft = Draft::new();
        let ops = PARTS_MAX.to_u64() * PART_OPS + 1;
        for row in 0..ops {
            draft.add(row, row * 10, row, row * 2, &Traits::default(), [Some("read"), Some("1")]);
        }
        assert_eq!((draft.parts.len(), draft.part_ops), (PARTS_MAX / 2 + 1, PART_OPS * 2));
        let head = Head {
            history: String::new(),
            mark: String::new(),
            format: Format::Edn,
            bracket: None,
            is_copy: false,
            ops,
            bytes: ops * 10,
            length_ns: None,
            functions: Vec::new(),
            processes: Vec::new(),
            problem: None,
        };
        let index = draft.done(head);
        for row in [0, 1, 127, 128, 129, ops / 2, ops - 1] {
            let part = index.part_of_row(row);
            assert!(index.parts[part].row <= row && row < index.end(part).0, "{row}");
            assert_eq!(index.part_of_index(row * 2), part, "{row}");
        }
        assert_eq!(index.part_of_row(u64::MAX), index.parts.len() - 1);
        assert_eq!(
            (&index.head.functions[..], &index.head.processes[..]),
            (&["read".to_owned()][..], &["1".to_owned()][..])
        );
    }

    #[test]
    fn long_ops_make_parts_short() {
        let mut draft = Draft::new();
        for row in 0..4 {
            draft.add(row, row * PART_BYTES, row, row, &Traits::default(), [None; 2]);
        }
        assert_eq!(draft.parts.len(), 4);
    }
}
