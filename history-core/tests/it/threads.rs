//! The result of reading a text does not depend on the number of threads.

use crate::common::op_bytes_max;
use crate::common::texts::TEXTS;
use history_core::{ClientRule, ErrorKind, Format, HistoryError, Reader, TimeUnit};
use std::fmt::Write;
use std::io;
use std::ops::ControlFlow;

/// All data of the ops, how reading ended, and the state of the reader after that.
#[derive(Debug, PartialEq)]
struct Read {
    ops: Vec<String>,
    error: Option<HistoryError>,
    format: Option<Format>,
    in_flight: usize,
    bytes: Option<u64>,
    unmatched: Vec<String>,
}

/// Reads everything, and returns how many pieces were read on several threads.
fn drain(mut reader: Reader<'_>, threads: usize) -> (Read, u64) {
    let rule = ClientRule::default();
    reader = reader.with_threads(threads).with_client_rule(rule);
    let mut ops = Vec::new();
    let ended = reader.for_each_ahead(|op| {
        ops.push(format!("{op:?} {:?}", op.extra.iter().collect::<Vec<_>>()));
        Ok(ControlFlow::Continue(()))
    });
    let error = ended.err();
    // After an error, the number of bytes depends on the size of blocks, so it is not compared.
    let bytes = error.is_none().then(|| reader.bytes());
    let unmatched = reader.unmatched().map(str::to_owned).collect();
    let read = Read { ops, error, format: reader.format(), in_flight: reader.in_flight(), bytes, unmatched };
    (read, reader.pieces())
}

/// Asserts that reading on one thread and on several gives the same result. Returns how many pieces were read on
/// several threads.
fn check(text: &[u8], block_bytes: usize, threads: usize) -> u64 {
    let (alone, none) = drain(Reader::new(text), 1);
    assert_eq!(none, 0);
    let (read, pieces) = drain(Reader::new(text).with_block_bytes(block_bytes), threads);
    assert_eq!(read, alone, "blocks of {block_bytes}, {threads} threads: {}", String::from_utf8_lossy(text));
    pieces
}

/// The layout of a history's text: before all ops, one op, between ops, and after all.
struct Layout {
    name: &'static str,
    before: &'static str,
    op: fn(&mut String, usize, &str, &str),
    between: &'static str,
    after: &'static str,
}

fn edn(out: &mut String, process: usize, kind: &str, list: &str) {
    write!(out, "{{:process {process}, :type :{kind}, :f :txn, :value [[:r 1 [{list}]]], :time {process}}}").unwrap();
}

fn edn_over_lines(out: &mut String, process: usize, kind: &str, list: &str) {
    write!(out, "{{:process {process},\n :type :{kind}, ; \"a comment\n :f :txn\n{{:k 1}} 2 :value\n[{list}]}}")
        .unwrap();
}

fn json(out: &mut String, process: usize, kind: &str, list: &str) {
    let list = list.replace(' ', ",");
    write!(out, r#"{{"process":{process},"type":"{kind}","f":"é\n","value":[["r",1,[{list}]]],"time":{process}}}"#)
        .unwrap();
}

fn json_over_lines(out: &mut String, process: usize, kind: &str, list: &str) {
    let list = list.replace(' ', ",\n      ");
    write!(
        out,
        "{{\n    \"process\": {process},\n    \"type\": \"{kind}\",\n    \"value\": [\n      {list}\n    ]\n  }}"
    )
    .unwrap();
}

const LAYOUTS: [Layout; 12] = [
    Layout { name: "lines of EDN", before: "", op: edn, between: "\n", after: "\n" },
    Layout { name: "no newline at the end", before: "", op: edn, between: "\n", after: "" },
    Layout { name: "CRLF", before: "\u{feff}", op: edn, between: "\r\n", after: "\r\n" },
    Layout { name: "records", before: "#op", op: edn, between: "\n#op", after: "\n; the end" },
    Layout { name: "a vector", before: "[", op: edn, between: "\n ", after: "]" },
    Layout {
        name: "several a line",
        before: "(",
        op: edn,
        between: " #_{:a \"\n\"} {:type :info, :process :n}\n",
        after: "\n)\n",
    },
    Layout { name: "EDN over lines", before: "", op: edn_over_lines, between: "\n", after: "\n" },
    Layout { name: "JSON Lines", before: "", op: json, between: "\n", after: "\n" },
    Layout { name: "an array", before: "[", op: json, between: ",\n", after: "]\n" },
    Layout { name: "commas first", before: "[\n", op: json, between: "\n,", after: "\n]" },
    Layout { name: "objects one after another", before: "", op: json, between: "", after: "" },
    Layout { name: "JSON over lines", before: "[\n  ", op: json_over_lines, between: ",\n  ", after: "\n]\n" },
];

/// A history of a few clients that read a list, which grows.
fn history(layout: &Layout, ops: usize) -> String {
    let mut out = layout.before.to_owned();
    let mut list = "1".to_owned();
    for i in 0..ops {
        if i > 0 {
            out.push_str(layout.between);
        }
        let kind = if i / 3 % 2 == 0 { "invoke" } else { "ok" };
        (layout.op)(&mut out, i % 3, kind, if kind == "ok" { &list } else { "0" });
        write!(list, " {}", i + 2).unwrap();
        if i % 20 == 0 {
            list.truncate(1);
        }
    }
    out + layout.after
}

#[test]
fn every_layout_is_read_alike() {
    for layout in &LAYOUTS {
        let text = history(layout, 300);
        let mut pieces = 0;
        for threads in [2, 3, 16] {
            for block_bytes in [16, 61, 100, 1000] {
                pieces += check(text.as_bytes(), block_bytes, threads);
            }
        }
        // With fewer pieces, the test would show nothing.
        assert!(pieces >= 30 || layout.between.is_empty(), "{}: only {pieces} pieces", layout.name);
    }
}

#[test]
fn a_long_history_is_read_alike_in_pieces_of_the_usual_size() {
    for layout in [&LAYOUTS[0], &LAYOUTS[7], &LAYOUTS[8], &LAYOUTS[11]] {
        let text = history(layout, 20_000);
        let (alone, _) = drain(Reader::new(text.as_bytes()), 1);
        let (read, pieces) = drain(Reader::new(text.as_bytes()), 2);
        assert!(read == alone && alone.error.is_none() && alone.ops.len() == 20_000, "{}", layout.name);
        assert!(pieces > 2, "{}: only {pieces} pieces of {} bytes", layout.name, text.len());
    }
}

#[test]
fn every_end_of_a_text_is_read_alike() {
    let mut pieces = 0;
    for layout in &LAYOUTS {
        let text = history(layout, 12);
        for end in 0..text.len() {
            pieces += check(&text.as_bytes()[..end], [16, 40][end % 2], 2);
        }
    }
    for (name, text) in TEXTS {
        for end in 0..text.len() {
            pieces += check(&text.as_bytes()[..end], [5, 16, 33][end % 3], 2);
        }
        assert_eq!(drain(Reader::new(text.as_bytes()).with_block_bytes(16), 2).0.error, None, "{name}");
    }
    assert!(pieces > 5000, "only {pieces} pieces");
}

/// Texts that change the meaning of an op, or of all text after them.
const SPOILERS: [&str; 40] = [
    "\"",
    "\\",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ",",
    ";",
    "\n",
    "\r\n",
    "#_",
    "#_ \n",
    "#x ",
    "#{",
    "#\"",
    "\\\"",
    "; \"\n",
    ":",
    "\"\n\"",
    " ",
    "\t",
    "é",
    "\u{0}",
    "null",
    ":a 1",
    "[[",
    "]]",
    "-",
    "1.",
    "12N",
    "{}",
    "{:type :ok}",
    "{\"type\":\"ok\"}",
    ", :index 7",
    ":process 9",
    "\\u00e9",
    "nil\n",
    "}\n{",
];

/// Pseudorandom numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// A text with insertions, deletions, duplicates or invalid bytes: one or a few of them.
fn spoil(text: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(12)).min(bytes.len());
        match random.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes[at] = b"\0\"\\[]{}(),:;#_-+.e0x/ \n\t\xc3\xff"[random.below(26)],
            2 => {
                let again = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, again));
            }
            _ => drop(bytes.splice(at..at, SPOILERS[random.below(SPOILERS.len())].bytes())),
        }
    }
    bytes
}

#[test]
fn spoilt_texts_are_read_alike() {
    let mut random = Random(1);
    let (mut pieces, mut good, mut seen) = (0, 0, 0);
    for seed in 0..6000 {
        let layout = &LAYOUTS[seed % LAYOUTS.len()];
        let text = spoil(&history(layout, 30), &mut random);
        let (block_bytes, threads) = ([8, 16, 33, 64, 120][random.below(5)], [2, 2, 2, 16][random.below(4)]);
        pieces += check(&text, block_bytes, threads);
        let (read, _) = drain(Reader::new(&text[..]), 1);
        good += usize::from(read.error.is_none());
        seen += read.ops.len();
    }
    // Some of the texts are rejected, at different places, and some are not.
    assert!(pieces > 20_000 && (500..5000).contains(&good) && seen > 50_000, "{pieces} {good} {seen}");
}

#[test]
fn a_source_that_fails_is_read_alike() {
    struct Fails<'a>(&'a [u8], usize);
    impl io::Read for Fails<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(out.len()).min(self.1);
            if count == 0 {
                return Err(io::Error::other("no more of it"));
            }
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
    for layout in &LAYOUTS {
        let text = history(layout, 30);
        for end in (0..text.len()).step_by(7) {
            let source = || Fails(&text.as_bytes()[..end], 9);
            let alone = drain(Reader::new(source()), 1).0;
            assert!(alone.error.is_some(), "{}", layout.name);
            assert_eq!(drain(Reader::new(source()).with_block_bytes(16), 2).0, alone, "{} up to {end}", layout.name);
        }
    }
}

#[test]
fn limits_and_units_hold_on_threads() {
    let text = history(&LAYOUTS[0], 300);
    let long = format!("{text}{{:type :ok, :value \"{}\"}}\n{text}", "x".repeat(2000));
    let limited = |reader: Reader<'static>| {
        let ops = history_core::Limits { ops_max: 200, ..op_bytes_max(1 << 20) };
        [reader.with_limits(ops)]
    };
    let leaked: &'static [u8] = text.leak().as_bytes();
    for [reader] in [limited(Reader::new(leaked)), limited(Reader::new(leaked).with_block_bytes(50))] {
        let (read, pieces) = drain(reader, 2);
        assert_eq!((read.ops.len(), read.error.unwrap().message.as_str()), (200, "more than 200 ops"));
        assert!(pieces < 300);
    }
    // A piece may be longer than the limit on ops. Then no pieces are read.
    for block_bytes in [50, 1 << 20] {
        let reader = Reader::new(long.as_bytes()).with_block_bytes(block_bytes).with_limits(op_bytes_max(1800));
        let (read, pieces) = drain(reader, 2);
        let message = read.error.unwrap().message;
        assert!(read.ops.len() == 300 && message.starts_with("an op is longer than 1800 bytes"), "{message}");
        assert_eq!(pieces > 0, block_bytes == 50);
    }
    let in_ms = |block_bytes| {
        let reader = Reader::new(leaked).with_block_bytes(block_bytes).with_time_unit(TimeUnit::Milliseconds);
        drain(reader, 2)
    };
    assert_eq!(in_ms(50).0, in_ms(1 << 20).0);
    assert!(in_ms(50).1 > 0 && in_ms(50).0.ops[2].contains("2000000"));
}

#[test]
fn whoever_stops_may_read_on() {
    let text = history(&LAYOUTS[7], 600);
    for stop_at in (0..600).step_by(23) {
        let mut reader = Reader::new(text.as_bytes()).with_block_bytes(50).with_threads(2);
        let mut indices = Vec::new();
        let stopped = reader.for_each_ahead(|op| {
            indices.push(op.index);
            Ok(if op.index == stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        assert_eq!((stopped, indices.len()), (Ok(()), usize::try_from(stop_at).unwrap() + 1));
        let rest = reader.for_each(|op| {
            indices.push(op.index);
            Ok(ControlFlow::Continue(()))
        });
        // Ops that were read ahead count as read. Some indices are therefore missing between the two parts, and none
        // occurs twice.
        assert_eq!(rest, Ok(()));
        assert!(indices.is_sorted_by(|a, b| a < b), "{indices:?}");
        assert_eq!(reader.ops(), 600);
    }
}

#[test]
fn an_error_of_who_sees_ops_has_the_text_there() {
    let text = history(&LAYOUTS[7], 600);
    for at in [0, 3, 100, 599] {
        let refuse = |reader: Reader<'_>, threads| {
            let mut reader = reader.with_threads(threads);
            let refused = reader.for_each_ahead(|op| {
                let error = HistoryError::new(ErrorKind::Unexpected, "no");
                if op.index == at { Err(error) } else { Ok(ControlFlow::Continue(())) }
            });
            (refused.unwrap_err(), reader.pieces())
        };
        let (alone, _) = refuse(Reader::new(text.as_bytes()), 1);
        let (error, pieces) = refuse(Reader::new(text.as_bytes()).with_block_bytes(200), 2);
        assert_eq!((&error, error.snippet.is_some()), (&alone, true));
        assert_eq!(error.position.unwrap().line, at + 1);
        assert_eq!(pieces > 0, at >= 100, "at {at} after {pieces} pieces");
    }
}

#[test]
fn short_texts_and_other_formats_take_no_threads() {
    let text = history(&LAYOUTS[0], 100);
    let reader = || Reader::new(text.as_bytes());
    assert_eq!(drain(reader(), 16).1, 0, "it is shorter than the first blocks");
    assert_eq!(drain(reader().with_block_bytes(50).eager(), 16).1, 0, "someone may wait for its ops");
    assert_eq!(drain(reader().with_block_bytes(50).growing(), 16).1, 0, "it may end anywhere");
    assert!(drain(reader().with_block_bytes(50), 16).1 > 0);
    let table = "0\t:invoke\t:read\tnil\n0\t:ok\t:read\t3\n".repeat(100);
    assert_eq!(drain(Reader::new(table.as_bytes()).with_block_bytes(50), 16).1, 0);
}

/// Ops of several lines are recognized by the beginning of their first line, so few pieces are read in vain.
#[test]
fn a_text_in_which_nothing_ends_with_a_line_is_left_alone_soon() {
    let op = "{:type :ok, :value \"\n{\n{\n\"} ";
    let text = op.repeat(3000);
    let pieces = check(text.as_bytes(), 50, 2);
    assert!(pieces < 20, "{pieces} pieces were read on threads");
}
