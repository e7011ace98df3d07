//! The dependencies of one worker, pass by pass, in the order in which they become known: in memory, or in files if
//! memory is limited.
//!
//! Each pass over the history adds a run, which is sorted. Runs in files are read in blocks, each with a checksum:
//! wrong data from a disk is an error, and not another history. The files have no names, so the system removes them
//! when the process ends.

use flate2::Crc;
use history_core::cast::Cast as _;
use history_core::share::{Dependency, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write};
use std::path::Path;

/// The number of dependencies in a block of a file.
const BLOCK: usize = 1 << 11;

/// The approximate number of dependencies that a worker sends at a time.
const WINDOW: usize = 1 << 16;

/// The runs of all passes.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    all: Vec<Run>,
    /// For each run that has not ended, its next dependency, and its number.
    heads: BinaryHeap<Reverse<(u64, Dependency, usize)>>,
    /// The next dependencies, which were already taken from the runs.
    window: Vec<Dependency>,
}

#[derive(Debug)]
enum Run {
    Memory { all: Vec<Dependency>, next: usize },
    File { file: File, block: std::vec::IntoIter<Dependency> },
}

impl Run {
    fn next(&mut self) -> io::Result<Option<Dependency>> {
        match self {
            Run::Memory { all, next } => {
                *next += 1;
                Ok(all.get(*next - 1).copied())
            }
            Run::File { file, block } => {
                if block.len() == 0 {
                    *block = read_block(file)?.into_iter();
                }
                Ok(block.next())
            }
        }
    }
}

impl Runs {
    /// Adds a sorted run; in a file in `dir`, if that is given.
    pub(crate) fn add(&mut self, run: Vec<Dependency>, dir: Option<&Path>) -> io::Result<()> {
        let mut run = match dir {
            None => Run::Memory { all: run, next: 0 },
            Some(dir) => {
                let mut file = tempfile::tempfile_in(dir)?;
                run.chunks(BLOCK).try_for_each(|block| write_block(&mut file, block))?;
                file.rewind()?;
                Run::File { file, block: Vec::new().into_iter() }
            }
        };
        if let Some(first) = run.next()? {
            self.heads.push(Reverse((first.known(), first, self.all.len())));
            self.all.push(run);
        }
        Ok(())
    }

    /// Returns to the beginning of all runs.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        self.heads.clear();
        self.window.clear();
        for (number, run) in self.all.iter_mut().enumerate() {
            match run {
                Run::Memory { next, .. } => *next = 0,
                Run::File { file, block } => {
                    file.rewind()?;
                    *block = Vec::new().into_iter();
                }
            }
            if let Some(first) = run.next()? {
                self.heads.push(Reverse((first.known(), first, number)));
            }
        }
        Ok(())
    }

    /// Fills the window. Returns the index before which all known dependencies are in it; `None` if all remaining ones
    /// are.
    pub(crate) fn end(&mut self) -> io::Result<Option<u64>> {
        loop {
            let next = self.heads.peek().map(|Reverse((known, ..))| *known);
            let last = self.window.last().map(Dependency::known);
            if next.is_none() || self.window.len() >= WINDOW && next != last {
                return Ok(next);
            }
            let Some(Reverse((_, dependency, number))) = self.heads.pop() else { return Ok(None) };
            // Two runs have different keys, but may have the same transactions.
            if self.window.last() != Some(&dependency) {
                self.window.push(dependency);
            }
            if let Some(next) = self.all[number].next()? {
                self.heads.push(Reverse((next.known(), next, number)));
            }
        }
    }

    /// Takes the dependencies that are known before an index, which is at most [`Runs::end`]; or all others.
    pub(crate) fn take(&mut self, end: Option<u64>) -> Vec<Dependency> {
        let len = self.window.partition_point(|dependency| end.is_none_or(|end| dependency.known() < end));
        let rest = self.window.split_off(len);
        std::mem::replace(&mut self.window, rest)
    }
}

pub(crate) fn to_bytes(dependencies: &[Dependency]) -> Vec<u8> {
    let numbers = |Dependency { from, to }: &Dependency| [from.invoked, from.completed, to.invoked, to.completed];
    dependencies.iter().flat_map(numbers).flat_map(u64::to_le_bytes).collect()
}

/// Reverses [`to_bytes`].
pub(crate) fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = Dependency> {
    let (numbers, _) = bytes.as_chunks::<8>();
    let (dependencies, _) = numbers.as_chunks::<4>();
    dependencies.iter().map(|numbers| {
        let [from, completed, to, last] = numbers.map(u64::from_le_bytes);
        let from = Span { invoked: from, completed };
        Dependency { from, to: Span { invoked: to, completed: last } }
    })
}

fn write_block(file: &mut File, block: &[Dependency]) -> io::Result<()> {
    let bytes = to_bytes(block);
    let len = bytes.len().to_u32().to_le_bytes();
    file.write_all(&[&len[..], &checksum(&bytes), &bytes].concat())
}

/// Reads the next block; empty at the end.
fn read_block(file: &mut File) -> io::Result<Vec<Dependency>> {
    let (mut len, mut sum, mut bytes) = ([0; 4], [0; 4], Vec::new());
    if file.read(&mut len[..1])? == 0 {
        return Ok(Vec::new());
    }
    file.read_exact(&mut len[1..])?;
    file.read_exact(&mut sum)?;
    let len = u64::from(u32::from_le_bytes(len));
    file.take(len).read_to_end(&mut bytes)?;
    if bytes.len().to_u64() != len || checksum(&bytes) != sum {
        return Err(io::Error::other("a temporary file does not contain what was written to it"));
    }
    Ok(from_bytes(&bytes).collect())
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(from: u64, to: u64) -> Dependency {
        let span = |invoked| Span { invoked, completed: invoked + 100 };
        Dependency { from: span(from), to: span(to) }
    }

    #[test]
    fn dependencies_arrive_as_they_were_sent() {
        let span = |invoked, completed| Span { invoked, completed };
        let sent = [
            Dependency { from: span(1, 2), to: span(3, u64::MAX) },
            Dependency { from: span(u64::MAX - 1, 5), to: span(0, 1 << 40) },
        ];
        assert_eq!(from_bytes(&to_bytes(&sent)).collect::<Vec<_>>(), sent);
    }

    /// All dependencies are returned once, with any windows, in memory and in files.
    #[test]
    fn runs_are_merged() {
        let dir = tempfile::tempdir().unwrap();
        for dir in [None, Some(dir.path())] {
            let mut runs = Runs::default();
            let run =
                |step: u64| (0..150_000 / step).map(|at| dependency(at * step, at * step + 1)).collect::<Vec<_>>();
            for step in [1, 2, 3, 200_000] {
                runs.add(run(step), dir).unwrap();
            }
            let (mut all, mut windows) = (Vec::new(), 0);
            loop {
                let end = runs.end().unwrap();
                // Another worker may have fewer dependencies.
                let less = end.map(|end| end - end / 7);
                for end in [less, end] {
                    let taken = runs.take(end);
                    assert!(taken.iter().all(|taken| end.is_none_or(|end| taken.known() < end)));
                    all.extend(taken);
                }
                windows += 1;
                if end.is_none() {
                    break;
                }
            }
            assert_eq!(all, run(1));
            assert!(windows > 2);
        }
    }

    #[test]
    fn wrong_data_from_a_disk_is_an_error() {
        let block = [dependency(1, 2), dependency(3, 4)];
        let mut file = tempfile::tempfile().unwrap();
        write_block(&mut file, &block).unwrap();
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        for (at, is_cut) in (0..bytes.len()).map(|at| (at, false)).chain((1..bytes.len()).map(|at| (at, true))) {
            let mut wrong = bytes.clone();
            if is_cut {
                wrong.truncate(at);
            } else {
                wrong[at] ^= 1;
            }
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&wrong).unwrap();
            file.rewind().unwrap();
            let read = read_block(&mut file);
            assert!(read.is_err(), "{at} {is_cut} {read:?}");
        }
    }
}
