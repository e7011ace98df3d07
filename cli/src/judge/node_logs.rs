//! `--log-file-pattern`: searches the logs of a test's nodes, and combines the result with the verdict on its history.
//!
//! Jepsen has a checker of this name. It reads no ops, so here it is an option. The directory of a test contains a
//! directory for each node, with the files that were downloaded from it. Each line that matches is reported with its
//! node and its number. A test without a match is valid. If no node has the file, nothing was searched, so the verdict
//! is unknown.

use crate::judge::input::Input;
use history_core::{Anomaly, Datum, ErrorKind, HistoryError, NextStep, Report, Verdict, Witness};
use regex::bytes::Regex;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// The name of this part of the report, as in Jepsen.
const NAME: &str = "log-file-pattern";
/// The anomaly for a line that matches.
const ANOMALY: &str = "log-line";
/// The maximum number of lines that a report shows.
const SHOWN_MAX: usize = 10;
/// The maximum length of a line that is searched, in bytes. The rest of a longer line is searched as a separate line.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// The maximum number of characters of a line that are shown.
const SHOWN_CHARS_MAX: usize = 500;

/// The pattern, and the file to search.
#[derive(Debug)]
pub(crate) struct NodeLogs {
    pattern: Regex,
    /// The path of the file in the directory of a node.
    file: PathBuf,
}

/// The result of searching the logs of a test.
#[derive(Default)]
struct Found {
    nodes: u64,
    lines: u64,
    matches: u64,
    witnesses: Vec<Witness>,
}

impl NodeLogs {
    /// Searches for `pattern` in the file with this name in the directory of each node.
    ///
    /// # Errors
    ///
    /// If the pattern is not a regular expression, or the name is not a relative path of a file.
    pub(crate) fn new(pattern: &str, file: &Path) -> Result<NodeLogs, String> {
        let pattern = Regex::new(pattern).map_err(|error| format!("--log-file-pattern: {error}"))?;
        let is_below = file.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !is_below || file.as_os_str().is_empty() {
            let file = file.display();
            return Err(format!(
                "--log-file: expected a path below the directory of a node, such as db.log, found {file}"
            ));
        }
        Ok(NodeLogs { pattern, file: file.to_owned() })
    }

    /// The report on a history, together with findings in the logs of its test.
    ///
    /// # Errors
    ///
    /// If the history is not in a directory, or a log cannot be read.
    pub(crate) fn beside(&self, input: &Input, mut judged: Report) -> Result<Report, HistoryError> {
        let logs = self.search(&directory_of(input)?)?;
        let name = format!("{},{NAME}", judged.checker);
        let mut report = Report::new(name, judged.verdict.and(logs.verdict));
        let parts = std::mem::take(&mut judged.checkers);
        if parts.is_empty() {
            report.checkers.push(judged);
        } else {
            report.notes = judged.notes;
            report.next = judged.next;
            report.checkers = parts;
        }
        report.checkers.push(logs);
        Ok(report)
    }

    fn search(&self, directory: &Path) -> Result<Report, HistoryError> {
        let mut found = Found::default();
        for node in nodes(directory).map_err(|error| failed(directory, &error))? {
            let path = directory.join(&node).join(&self.file);
            if path.is_file() {
                self.search_file(&node, &path, &mut found).map_err(|error| failed(&path, &error))?;
            }
        }
        let verdict = match (found.nodes, found.matches) {
            (0, _) => Verdict::Unknown,
            (_, 0) => Verdict::Valid,
            _ => Verdict::Invalid,
        };
        let mut report = Report::new(NAME, verdict);
        if found.nodes == 0 {
            let (file, directory) = (self.file.display(), directory.display());
            report.notes.push(format!("No log was searched: no directory in {directory} has a file {file}."));
            let what = "Set --log-file to the name of the log in the directories of the nodes.";
            report.add_next(NextStep::option("log-file", what));
        }
        if found.matches > 0 {
            report.anomalies.push(Anomaly { name: ANOMALY.into(), count: found.matches, witnesses: found.witnesses });
        }
        let counts = [("log-file-count", found.nodes), ("line-count", found.lines), ("match-count", found.matches)];
        report.counts = counts.map(|(name, count)| (name.into(), count)).into();
        Ok(report)
    }

    fn search_file(&self, node: &str, path: &Path, found: &mut Found) -> io::Result<()> {
        let mut file = BufReader::new(File::open(path)?);
        let (mut line, mut number) = (Vec::new(), 1);
        found.nodes += 1;
        while file.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? > 0 {
            let is_whole = line.ends_with(b"\n");
            found.lines += u64::from(is_whole);
            let text = line.trim_ascii_end();
            if self.pattern.is_match(text) {
                found.matches += 1;
                if found.witnesses.len() < SHOWN_MAX {
                    found.witnesses.push(self.witness(node, number, text));
                }
            }
            number += u64::from(is_whole);
            line.clear();
        }
        Ok(())
    }

    fn witness(&self, node: &str, number: u64, text: &[u8]) -> Witness {
        let text: String = String::from_utf8_lossy(text).chars().take(SHOWN_CHARS_MAX).collect();
        let explanation = format!("{node}/{}, line {number}: {text}", self.file.display());
        let facts: [(_, Datum); 3] =
            [("node".into(), node.into()), ("line".into(), number.into()), ("text".into(), text.into())];
        Witness::new(Vec::new(), explanation).with_facts(facts.into())
    }
}

/// The directory of the test of a history: the given directory, or the one that contains the file.
fn directory_of(input: &Input) -> Result<PathBuf, HistoryError> {
    let path = Path::new(input.path());
    let no_directory = || {
        HistoryError::new(ErrorKind::Io, "--log-file-pattern needs the directory of a test")
            .expected("that directory instead of standard input")
    };
    if input.is_stdin() {
        return Err(no_directory());
    }
    if path.is_dir() {
        return Ok(path.to_owned());
    }
    let parent = path.parent().ok_or_else(no_directory)?;
    Ok(if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent.to_owned() })
}

/// The names of all directories in a directory, sorted.
fn nodes(directory: &Path) -> io::Result<Vec<String>> {
    let mut nodes = Vec::new();
    for entry in directory.read_dir()? {
        let entry = entry?;
        if entry.path().is_dir() {
            nodes.extend(entry.file_name().into_string().ok());
        }
    }
    nodes.sort_unstable();
    Ok(nodes)
}

fn failed(path: &Path, error: &io::Error) -> HistoryError {
    HistoryError::new(ErrorKind::Io, format!("reading {} failed: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(pattern: &str, file: &str) -> Result<NodeLogs, String> {
        NodeLogs::new(pattern, Path::new(file))
    }

    fn store(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let store = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = store.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        store
    }

    #[test]
    fn lines_that_match_are_named_by_node_and_number() {
        let store = store(&[
            ("n2/db.log", b"fine\npanic: b\xff\r\nalso fine\npanic: again"),
            ("n1/db.log", b"fine\n"),
            ("n3/other.log", b"panic: elsewhere\n"),
        ]);
        let report = logs("panic|fatal", "db.log").unwrap().search(store.path()).unwrap();
        assert_eq!(report.verdict, Verdict::Invalid);
        let found = report.anomaly(ANOMALY).unwrap();
        let said: Vec<&str> = found.witnesses.iter().map(|one| one.explanation.as_str()).collect();
        assert_eq!(said, ["n2/db.log, line 2: panic: b\u{fffd}", "n2/db.log, line 4: panic: again"]);
        let counts: Vec<u64> = report.counts.iter().map(|(_, count)| *count).collect();
        assert_eq!((found.count, counts), (2, vec![2, 4, 2]));
    }

    #[test]
    fn without_a_log_nothing_is_known() {
        let store = store(&[("n1/other.log", b"panic\n")]);
        let report = logs("panic", "db.log").unwrap().search(store.path()).unwrap();
        assert_eq!(report.verdict, Verdict::Unknown);
        assert!(report.notes[0].starts_with("No log was searched"), "{:?}", report.notes);
        let report = logs("absent", "other.log").unwrap().search(store.path()).unwrap();
        assert_eq!(report.verdict, Verdict::Valid);
    }

    #[test]
    fn long_lines_are_searched_in_parts_and_counted_once() {
        let mut long = vec![b'x'; 2 << 20];
        long.extend_from_slice(b"\nend\n");
        let store = store(&[("n1/db.log", &long)]);
        let report = logs("end", "db.log").unwrap().search(store.path()).unwrap();
        let found = report.anomaly(ANOMALY).unwrap();
        assert_eq!(found.witnesses[0].explanation, "n1/db.log, line 2: end");
    }

    #[test]
    fn what_is_no_pattern_or_no_name_is_refused() {
        assert!(logs("(", "db.log").unwrap_err().contains("unclosed group"));
        for name in ["", "/etc/passwd", "../db.log", "./db.log"] {
            assert!(logs("x", name).unwrap_err().contains("--log-file: expected a path"), "{name}");
        }
    }
}
