//! The assertions of the fuzz targets; a panic is a finding.
//!
//! Each target accepts any bytes and returns a short account of the result, with which a fuzzer without coverage
//! distinguishes inputs.

mod markup;
mod models;
mod pages;
mod sessions;
mod watching;

use check_jepsen::{
    bank, comments, counter, long_fork, queue, sequential, set, set_full, stats, total_queue, unique_ids,
};
use history_core::{
    Budget, Checker, ErrorKind, Format, HistoryError, Options, Reader, Report, Severity, Verdict, Writer,
};
use std::ops::ControlFlow;

pub use models::models;
pub use pages::pages;
pub use sessions::sessions;
pub use watching::watching;

/// A target: what it is called and what it does.
pub type Target = (&'static str, fn(&[u8]) -> String);

/// All targets.
pub const TARGETS: [Target; 10] = [
    ("edn", edn),
    ("json", json),
    ("intervals", intervals),
    ("table", table),
    ("sessions", sessions),
    ("validate", validate),
    ("workloads", workloads),
    ("models", models),
    ("watching", watching),
    ("pages", pages),
];

/// Any bytes as EDN.
pub fn edn(data: &[u8]) -> String {
    format(data, Format::Edn)
}

/// Any bytes as JSON, which `serde_json` must take or refuse alike.
pub fn json(data: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(data) {
        acceptance(text);
    }
    format(data, Format::Json)
}

/// Any bytes as intervals. What is read is a history: every completion has its invocation.
pub fn intervals(data: &[u8]) -> String {
    format(data, Format::Intervals)
}

/// Any bytes as Jepsen's table.
pub fn table(data: &[u8]) -> String {
    format(data, Format::Table)
}

/// Any bytes as whatever they look like: there must be errors exactly where reading fails.
pub fn validate(data: &[u8]) -> String {
    let whole = drain(Reader::new(data));
    let problems = history_core::validate(Reader::new(data), 20);
    assert_eq!(problems.is_history(), whole.error.is_none(), "{:#?}", problems.list);
    match &whole.error {
        None => assert_eq!(problems.ops, whole.ops.len() as u64),
        Some(error) => {
            let first = problems.list.iter().find(|problem| problem.severity == Severity::Error).expect("an error");
            let same = first.message == error.message && first.position == error.position;
            // For a bracket or an op that is not closed, the reported position is its beginning, which is before the
            // fault.
            let of_whole = ["not closed before the next", "the text ends before the history does"];
            assert!(same || of_whole.iter().any(|of| first.message.contains(of)), "{first}\n{error}");
        }
    }
    let rules: Vec<_> = problems.counts.iter().map(|(rule, count)| (rule.name(), count.ilog2())).collect();
    format!("{rules:?} {} {}", problems.complete, account(&whole))
}

/// Any bytes as a history of each of Jepsen's workloads: what is not a history is an error, all else has an answer, the
/// same however the text is read, and is invalid exactly if something was found.
pub fn workloads(data: &[u8]) -> String {
    let checkers: [&dyn Checker; 13] = [
        &bank::Bank::default(),
        &counter::Counter::default(),
        &set::Set::default(),
        &set_full::SetFull::default(),
        &set_full::SetFull { linearizable: true },
        &long_fork::LongFork::default(),
        &long_fork::LongFork { general: true, ..long_fork::LongFork::default() },
        &comments::Comments::default(),
        &sequential::Sequential::default(),
        &queue::Queue::default(),
        &total_queue::TotalQueue::default(),
        &unique_ids::UniqueIds::default(),
        &stats::Stats::default(),
    ];
    let mut said = String::new();
    for checker in checkers {
        let judge = |mut reader: Reader<'_>| -> Result<Report, HistoryError> {
            let run = checker.start(&Options::new()).expect("options that nobody gave are fine");
            history_core::check(run, &mut reader, &Budget::default())
        };
        let judged = judge(Reader::new(data));
        let again = judge(Reader::new(data).with_block_bytes(64));
        // Compared as text, ##NaN equals itself.
        let is_same = again == judged || format!("{again:?}") == format!("{judged:?}");
        assert!(is_same, "{}: {again:?}\n{judged:?}", checker.name());
        let Ok(report) = judged else { return "no history".into() };
        assert_eq!(report.verdict == Verdict::Invalid, !report.anomalies.is_empty(), "{report:?}");
        let (types, notes) = (report.anomaly_types().collect::<Vec<_>>(), report.notes.len());
        said += &format!("{} {types:?} {notes} ", report.verdict.name());
        said.extend(report.counts.iter().map(|(_, count)| count.min(&2).to_string()));
    }
    said
}

/// The result of reading a text.
#[derive(Debug, PartialEq)]
struct Read {
    ops: Vec<String>,
    error: Option<HistoryError>,
}

fn drain(mut reader: Reader<'_>) -> Read {
    let mut ops = Vec::new();
    let ended = reader.for_each(|op| {
        ops.push(format!("{op:?}"));
        Ok(ControlFlow::Continue(()))
    });
    Read { ops, error: ended.err() }
}

/// The same with two threads, which read pieces in turn.
fn drain_on_threads(reader: Reader<'_>) -> Read {
    let mut ops = Vec::new();
    let ended = reader.with_threads(2).for_each_ahead(|op| {
        ops.push(format!("{op:?}"));
        Ok(ControlFlow::Continue(()))
    });
    Read { ops, error: ended.err() }
}

fn format(data: &[u8], format: Format) -> String {
    let reader = || Reader::new(data).with_format(format);
    let whole = drain(reader());
    let block_bytes = 1 + data.first().map_or(0, |b| usize::from(*b) % 64);
    assert_eq!(drain(reader().with_block_bytes(block_bytes)), whole, "in blocks of {block_bytes}");
    assert_eq!(drain_on_threads(reader().with_block_bytes(block_bytes)), whole, "on threads, blocks of {block_bytes}");
    if let Some(error) = &whole.error {
        let placed = matches!(error.kind, ErrorKind::Syntax | ErrorKind::Pairing);
        assert!(error.position.is_some() || !placed || error.message.contains("UTF-16"), "{error}");
    }
    round_trip(reader);
    account(&whole)
}

/// Everything that can be read can be written, and reads as the same again.
fn round_trip<'a>(reader: impl Fn() -> Reader<'a>) {
    let write = |reader: Reader<'_>| {
        let mut reader = reader.without_pairing();
        let mut writer = Writer::new(Vec::new(), Format::Edn);
        let ended = reader.for_each(|op| {
            writer.write(op).expect("a vector takes all");
            Ok(ControlFlow::Continue(()))
        });
        ended.map(|()| writer.finish().expect("a vector takes all"))
    };
    let Ok(text) = write(reader()) else { return };
    if text.is_empty() {
        return;
    }
    let again = write(Reader::new(&text[..]).with_format(Format::Edn)).expect("what was written can be read");
    assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&text));
}

/// Asserts that JSON objects are rejected for their syntax exactly if `serde_json` rejects them, except for the
/// extensions: words for NaN and infinities, and deeper nesting.
fn acceptance(text: &str) {
    if !text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{')
        || text.contains("NaN")
        || text.contains("Infinity")
    {
        return;
    }
    let ours = drain(Reader::new(text.as_bytes()).with_format(Format::Json).without_pairing()).error;
    let mut theirs = None;
    for value in serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>() {
        theirs = value.err().map(|error| error.to_string());
    }
    if theirs.as_ref().is_some_and(|error| error.contains("recursion limit")) {
        return;
    }
    match ours {
        None => assert_eq!(theirs, None, "taken, but it is no JSON"),
        Some(error) if error.kind == ErrorKind::Syntax => assert!(theirs.is_some(), "{error}"),
        // A value that is not an op comes before the possible syntax error.
        Some(_) => {}
    }
}

fn account(read: &Read) -> String {
    let words = |message: &str| message.chars().filter(|c| c.is_ascii_lowercase() || *c == ' ').collect::<String>();
    let error = read.error.as_ref().map(|error| words(&error.message));
    let shape: String = read
        .ops
        .iter()
        .take(4)
        .map(|op| op.chars().filter(|c| "[]{}()#:\"\\.".contains(*c)).collect::<String>())
        .collect();
    let shape: String = shape.chars().take(60).collect();
    format!("{} {error:?} {shape}", read.ops.len().min(5))
}
