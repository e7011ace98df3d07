//! Arranges distinct lists as rows: the branches of a trie first, then lists that are a prefix of another, with the
//! positions where they differ.

use history_core::Datum;
use history_core::cast::Cast as _;
use history_core::figure::KeyRead;
use history_core::hash::RandomState;
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// The maximum number of columns with an element.
const COLUMNS_MAX: usize = 60;
/// The number of columns shown before and after one in which rows differ.
const AROUND: usize = 2;
/// The minimum number of columns that are hidden.
const GAP_MIN: usize = 3;

/// A distinct list.
pub(super) struct Row {
    /// The numbers of its elements; equal elements have equal numbers.
    pub(super) elements: Vec<u32>,
    /// The reads that returned it, in their order.
    pub(super) reads: Vec<usize>,
}

impl Row {
    /// The length of the common prefix.
    pub(super) fn shared_with(&self, other: &Row) -> usize {
        self.elements.iter().zip(&other.elements).take_while(|(a, b)| a == b).count()
    }

    fn is_beginning_of(&self, other: &Row) -> bool {
        self.elements.len() < other.elements.len() && self.shared_with(other) == self.elements.len()
    }
}

/// All rows of a page, the longest first.
pub(super) struct Rows<'a> {
    pub(super) all: Vec<Row>,
    /// The number of rows that are not a prefix of another row. The other rows follow them.
    pub(super) branches: usize,
    /// The positions where rows differ from others, as row and position.
    pub(super) forks: BTreeSet<(usize, usize)>,
    /// The elements by their text, because values have neither an order nor a hash.
    elements: IndexMap<String, &'a Datum, RandomState>,
}

/// The content of a column.
#[derive(Debug, PartialEq)]
pub(super) enum Column {
    /// The elements at a position.
    At(usize),
    /// The number of elements between two positions, on which all rows agree.
    Gap { from: usize, to: usize },
    /// The number of further elements from a position on.
    Rest(usize),
}

impl<'a> Rows<'a> {
    pub(super) fn new(reads: &'a [KeyRead]) -> Rows<'a> {
        let longest = reads.iter().rev().max_by_key(|read| read.list.len());
        let mut elements = IndexMap::default();
        let mut number = |element: &'a Datum| elements.insert_full(element.to_string(), element).0.to_u32();
        // The longest list is numbered first, so its numbers increase, and lists that differ from it are sorted after
        // it.
        longest.into_iter().flat_map(|read| &read.list).for_each(|element| {
            number(element);
        });
        let mut all: Vec<(Vec<u32>, usize)> =
            reads.iter().enumerate().map(|(at, read)| (read.list.iter().map(&mut number).collect(), at)).collect();
        all.sort();
        let mut rows: Vec<Row> = Vec::new();
        for (list, at) in all {
            match rows.last_mut().filter(|row| row.elements == list) {
                // An op that reads the list twice counts once.
                Some(row) if row.reads.last().is_some_and(|last| reads[*last].index == reads[at].index) => {}
                Some(row) => row.reads.push(at),
                None => rows.push(Row { elements: list, reads: vec![at] }),
            }
        }
        let longest = longest.map_or(0, |longest| longest.list.len());
        let first = rows.iter().position(|row| row.elements.len() == longest).unwrap_or(0);
        // After sorting, a list is directly before those of which it is a prefix.
        let is_beginning = |at: usize| rows.get(at + 1).is_some_and(|next| rows[at].is_beginning_of(next));
        let keys: Vec<(bool, bool)> = (0..rows.len()).map(|at| (is_beginning(at), at != first)).collect();
        let mut keyed: Vec<((bool, bool), Row)> = keys.into_iter().zip(rows).collect();
        keyed.sort_by_key(|(key, _)| *key);
        let branches = keyed.iter().take_while(|((is_beginning, _), _)| !is_beginning).count();
        let rows = keyed.into_iter().map(|(_, row)| row).collect();
        let mut rows = Rows { all: rows, branches, forks: BTreeSet::new(), elements };
        rows.find_forks();
        rows
    }

    pub(super) fn element(&self, number: u32) -> &Datum {
        self.elements[number.to_usize()]
    }

    /// Keeps at most this number of rows. Prefixes of others are removed first, because they add no difference.
    pub(super) fn limit(&mut self, rows_max: usize) {
        self.all.truncate(rows_max);
        self.branches = self.branches.min(rows_max);
        self.find_forks();
    }

    /// Finds the positions where each row differs from the first row, and from the row above it.
    fn find_forks(&mut self) {
        self.forks.clear();
        for at in 1..self.all.len() {
            let above = if at == self.branches { 0 } else { at - 1 };
            for other in [0, above] {
                let shared = self.all[at].shared_with(&self.all[other]);
                let both = [at, other].iter().all(|row| shared < self.all[*row].elements.len());
                if both {
                    self.forks.extend([(at, shared), (other, shared)]);
                }
            }
        }
    }

    /// The columns: those around positions where rows differ. Others are only counted.
    pub(super) fn columns(&self) -> Vec<Column> {
        let length = self.all.iter().map(|row| row.elements.len()).max().unwrap_or(0);
        let differ = |at: usize| {
            let mut there = self.all.iter().filter_map(|row| row.elements.get(at));
            there.next().is_some_and(|first| there.any(|other| other != first))
        };
        let differing: Vec<bool> = (0..length).map(differ).collect();
        let is_near = |at: usize| {
            let around = at.saturating_sub(AROUND)..(at + AROUND + 1).min(length);
            at + 1 == length || differing[around].iter().any(|differ| *differ)
        };
        let (mut columns, mut shown, mut at) = (Vec::new(), 0, 0);
        while at < length {
            if shown == COLUMNS_MAX {
                columns.push(Column::Rest(at));
                break;
            }
            let end = (at..length).find(|place| is_near(*place)).unwrap_or(length);
            if end - at >= GAP_MIN {
                columns.push(Column::Gap { from: at, to: end });
                at = end;
            } else {
                columns.push(Column::At(at));
                shown += 1;
                at += 1;
            }
        }
        columns
    }
}
