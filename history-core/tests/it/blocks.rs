//! The result of reading a text does not depend on the size of the blocks.

use crate::common::texts::TEXTS;
use crate::common::{Read, drain, read, read_in_blocks};
use history_core::{ErrorKind, Format, HistoryError, Op, Reader};
use std::fmt::Write;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sizes of blocks that cut a text at all places.
const SIZES: [usize; 7] = [1, 2, 3, 5, 16, 61, 64];

/// Asserts that reading in blocks of all sizes gives the same result.
fn check(name: &str, text: &[u8], sizes: &[usize]) {
    let whole = read(text);
    for &size in sizes {
        let parts = read_in_blocks(text, size);
        assert_eq!(parts, whole, "{name} in blocks of {size}: {}", String::from_utf8_lossy(text));
    }
}

#[test]
fn every_text_is_read_alike_in_all_blocks() {
    let sizes: Vec<usize> = (1..=64).collect();
    for (name, text) in TEXTS {
        assert_eq!(read(text).error, None, "{name}");
        check(name, text.as_bytes(), &sizes);
    }
}

#[test]
fn every_prefix_is_read_alike_in_all_blocks() {
    for (name, text) in TEXTS {
        for end in 0..text.len() {
            check(name, &text.as_bytes()[..end], &[1, 7, 64]);
        }
    }
}

#[test]
fn every_corruption_is_read_alike_in_all_blocks() {
    for (name, text) in TEXTS {
        for at in 0..text.len() {
            for byte in *b"\0\"\\[]{}(),:;#_-+.e0x/ \n\t\xc3\xff" {
                let mut text = text.as_bytes().to_vec();
                text[at] = byte;
                check(name, &text, &[SIZES[at % SIZES.len()]]);
            }
        }
    }
}

#[test]
fn a_text_longer_than_a_block_is_read_alike() {
    let mut text = String::new();
    for i in 0..20_000 {
        writeln!(text, "{{:process {}, :type :ok, :f :read, :value \"é{i}\"}} ; {i}", i % 7).unwrap();
    }
    assert!(text.len() > 4 * (128 << 10));
    let whole = read_in_blocks(text.as_bytes(), text.len() + 1);
    assert_eq!(whole.error, None);
    assert_eq!(whole.ops.len(), 20_000);
    assert_eq!(read(&text), whole);
}

/// A source that returns one byte at a time, with an interruption before each.
struct Slow<'a>(&'a [u8], bool);

impl io::Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let one = self.0.len().min(1).min(out.len());
        out[..one].copy_from_slice(&self.0[..one]);
        self.0 = &self.0[one..];
        Ok(one)
    }
}

#[test]
fn a_slow_source_is_read_alike_eagerly_or_not() {
    for (name, text) in TEXTS {
        let whole = read(text);
        assert_eq!(drain(Reader::new(Slow(text.as_bytes(), false))), whole, "{name}");
        assert_eq!(drain(Reader::new(Slow(text.as_bytes(), false)).eager()), whole, "{name}");
        let small = Reader::new(Slow(text.as_bytes(), false)).eager().with_block_bytes(5);
        assert_eq!(drain(small), whole, "{name}");
    }
}

#[test]
fn a_source_that_grows_may_end_anywhere() {
    for (name, text) in TEXTS {
        let whole = read(text);
        if whole.format == Some(Format::Intervals) {
            continue; // These are sorted, so more text changes what comes first.
        }
        for end in 0..=text.len() {
            let part = &text.as_bytes()[..end];
            let mut reader = Reader::new(Slow(part, false)).growing().with_block_bytes(7);
            let (mut ops, mut batch) = (0, history_core::Batch::new());
            let ended = loop {
                match reader.read_batch(&mut batch) {
                    Ok(true) => {}
                    Ok(false) => break Ok(()),
                    Err(error) => break Err(error),
                }
                for op in batch.ops() {
                    assert_eq!(format!("{op:?}"), whole.ops[ops], "{name}, {end} bytes");
                    ops += 1;
                }
            };
            if let Err(error) = ended {
                assert_eq!((ops, error.kind), (0, ErrorKind::NotAnOp), "{name}, {end} bytes: {error}");
            }
            let Some(cut_off) = reader.cut_off() else { continue };
            // An op begins at the reported position, and the op that the end cuts is not among the ops that were read.
            let rest = &text[cut_off.offset as usize..];
            assert!(ops < whole.ops.len() || rest.starts_with(['#', ']', ')', ';']), "{name}, {end} bytes: {rest}");
            assert_eq!(rest.trim_start(), rest, "{name}, {end} bytes");
        }
        let mut reader = Reader::new(text.as_bytes()).growing();
        reader.for_each(|_| Ok(ControlFlow::Continue(()))).unwrap();
        assert_eq!((reader.ops(), reader.cut_off()), (whole.ops.len() as u64, None), "{name}");
    }
}

/// A source that reports at its end whether its text was cut.
struct Ends<'a>(&'a [u8], bool, Arc<AtomicBool>);

impl io::Read for Ends<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.2.store(self.0.is_empty() && self.1, Ordering::SeqCst);
        self.0.read(out)
    }
}

/// The reader may ask whether the text was cut only after its end.
#[test]
fn a_source_that_was_not_cut_has_to_be_whole() {
    let (mut errors, mut cut_off) = (0, 0);
    for (name, text) in TEXTS {
        for end in (0..=text.len()).filter(|end| end % 7 == 0 || *end == text.len()) {
            let part = &text.as_bytes()[..end];
            let ended = |is_cut: bool| {
                let flag = Arc::new(AtomicBool::new(false));
                Reader::new(Ends(part, is_cut, Arc::clone(&flag))).growing_if(flag)
            };
            let whole = read(part);
            assert_eq!(drain(ended(false)), whole, "{name}, {end} bytes");
            assert_eq!(drain(ended(true)), drain(Reader::new(part).growing()), "{name}, {end} bytes");
            errors += usize::from(whole.error.is_some());
            cut_off += usize::from(drain(ended(true)).error.is_some());
        }
    }
    assert!(cut_off < errors, "{cut_off} of {errors}");
}

/// A source that returns a text and then fails.
struct Broken<'a>(&'a [u8]);

impl io::Read for Broken<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::Error::other("the disk is gone")) } else { self.0.read(out) }
    }
}

#[test]
fn what_was_read_before_a_source_fails_is_given_out() {
    let text = "{:type :ok}\n{:type :ok, :value \"é";
    for size in 1..=64 {
        let Read { ops, error, .. } = drain(Reader::new(Broken(text.as_bytes())).with_block_bytes(size));
        assert_eq!(ops.len(), 1);
        assert_eq!(error.unwrap().to_string(), "line 2, column 22: reading failed: the disk is gone");
    }
    // The source failed in the middle of a character, which is not an error in the text.
    let cut = &text.as_bytes()[..text.len() - 1];
    let Read { error, .. } = drain(Reader::new(Broken(cut)));
    assert_eq!(error.unwrap().to_string(), "line 2, column 21: reading failed: the disk is gone");
    let Read { error, .. } = drain(Reader::new(Broken(b"")));
    assert_eq!(error.unwrap().to_string(), "reading failed: the disk is gone");
}

#[test]
fn an_eager_reader_gives_out_what_there_is() {
    struct Twice(u8);
    impl io::Read for Twice {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let text: &[u8] = match self.0 {
                0 => b"{:type :ok} {:type",
                1 => b" :ok} ",
                _ => b"",
            };
            // The reader first examines a few bytes of the source for compression.
            assert!(self.0 < 3, "asked again after the end");
            self.0 += 1;
            if out.len() < text.len() {
                self.0 -= 1;
            }
            let len = text.len().min(out.len());
            out[..len].copy_from_slice(&text[..len]);
            Ok(len)
        }
    }
    let mut twice = Twice(0);
    let mut head = [0; 18];
    io::Read::read_exact(&mut twice, &mut head).unwrap();
    let source = io::Read::chain(&head[..], twice);
    let mut reader = Reader::new(source).eager();
    let mut batch = history_core::Batch::new();
    let mut sizes = Vec::new();
    while reader.read_batch(&mut batch).unwrap() {
        sizes.push(batch.len());
    }
    assert_eq!(sizes, [1, 1]);
}

/// A source that returns text piece by piece, and must not be read after that.
struct Pieces<'a>(Vec<&'a str>);

impl io::Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let piece = self.0.first_mut().expect("nobody has more yet, and whoever asks waits");
        let count = piece.len().min(out.len());
        out[..count].copy_from_slice(&piece.as_bytes()[..count]);
        *piece = &piece[count..];
        self.0.retain(|piece| !piece.is_empty());
        Ok(count)
    }
}

#[test]
fn an_op_longer_than_a_block_is_handed_out_when_its_line_ends() {
    let part = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    // The first bytes show whether a source is compressed.
    let pieces = vec!["{:type", " :ok, :value \"", part, part, part, "a\"}\n"];
    let mut reader = Reader::new(Pieces(pieces)).eager().with_block_bytes(32);
    let mut batch = history_core::Batch::new();
    assert!(reader.read_batch(&mut batch).unwrap());
    assert_eq!(batch.len(), 1);
}

#[test]
fn reading_ahead_gives_the_same() {
    for (name, text) in TEXTS {
        for end in (0..=text.len()).rev().step_by(5) {
            let text = &text.as_bytes()[..end];
            let mut ops = Vec::new();
            let mut reader = Reader::new(text).with_block_bytes(64);
            let ended = reader.for_each_ahead(|op| {
                ops.push(format!("{op:?}"));
                Ok(ControlFlow::Continue(()))
            });
            assert_eq!(Read { ops, error: ended.err(), format: reader.format() }, read(text), "{name} up to {end}");
        }
    }
}

/// At the time of the stop, the other thread may be reading, passing a batch, or waiting.
#[test]
fn whoever_stops_is_not_kept_waiting() {
    let text = "{:type :ok}\n".repeat(100);
    for stop_at in (0..100).cycle().take(300) {
        let mut reader = Reader::new(text.as_bytes()).with_block_bytes(50);
        let mut seen = 0;
        let ended = reader.for_each_ahead(|op| {
            seen += 1;
            // Sometimes waits long enough for all batches to be full.
            (0..if op.index % 3 == 0 { 20 } else { 0 }).for_each(|_| std::thread::yield_now());
            Ok(if op.index == stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        assert_eq!((seen, ended), (stop_at + 1, Ok(())));
    }
}

#[test]
fn whoever_sees_ops_may_stop() {
    let text = "{:type :ok}\n".repeat(1000);
    for ahead in [false, true] {
        let stop = |stop: fn() -> Result<ControlFlow<()>, HistoryError>| {
            let mut seen = 0;
            let mut reader = Reader::new(text.as_bytes()).with_block_bytes(50);
            let see = |op: &Op<'_>| {
                seen += 1;
                if op.index == 700 { stop() } else { Ok(ControlFlow::Continue(())) }
            };
            let ended = if ahead { reader.for_each_ahead(see) } else { reader.for_each(see) };
            (seen, ended)
        };
        assert_eq!(stop(|| Ok(ControlFlow::Break(()))), (701, Ok(())));
        let (seen, ended) = stop(|| Err(HistoryError::new(ErrorKind::Unexpected, "no")));
        assert_eq!((seen, ended.as_ref().unwrap_err().to_string().as_str()), (701, "line 701, column 1: no"));
        assert_eq!(ended.unwrap_err().snippet.unwrap().text, "{:type :ok}");
    }
}

/// A writer that stops within an op and starts again leaves ops after the one that is not closed. By EDN's syntax, they
/// are a part of it.
#[test]
fn an_op_that_is_not_closed_hides_no_op_behind_it() {
    let ops = [
        "{:process 2, :type :invoke, :f :read, :value [[:r \"x\" {:y 1}]]}\n",
        "#jepsen.history.Op{:process 2, :type :invoke, :f :read, :value [[:r 1 nil]]}\n",
        "{\"process\": 2, \"type\": \"invoke\", \"f\": \"read\", \"value\": [\"x\", {\"y\": 1}]}\n",
    ];
    // A tag without its map belongs to the op after it.
    let begins = |op: &str| op.find('{').unwrap() + 1;
    let mut refused = 0;
    for (op, end, followers) in
        ops.iter().flat_map(|op| (begins(op)..op.len() - 1).flat_map(move |end| [(op, end, 1), (op, end, 2)]))
    {
        let text = format!("{op}{}\n{}", &op[..end], op.repeat(followers));
        for block_bytes in [7, 1 << 16] {
            let mut reader = Reader::new(text.as_bytes()).growing().with_block_bytes(block_bytes);
            let error = reader.for_each(|_| Ok(ControlFlow::Continue(()))).expect_err(&text);
            assert_eq!(reader.ops(), 1, "{text}");
            assert!(error.position.is_some_and(|position| position.line >= 2), "{text}\n{error}");
            refused += u32::from(error.message == "an op begins here, but the op at line 2 is not closed");
        }
        let mut reader = Reader::new(&text.as_bytes()[..op.len() + end]).growing();
        reader.for_each(|_| Ok(ControlFlow::Continue(()))).unwrap();
        assert_eq!((reader.ops(), reader.cut_off().map(|position| position.line)), (1, Some(2)), "{text}");
    }
    assert!(refused > 150, "{refused}");
}

/// A source that returns a text, and then no data without an end.
struct Waits<'a>(&'a [u8]);

impl io::Read for Waits<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        assert!(!self.0.is_empty(), "whoever reads on waits for ever");
        self.0.read(out)
    }
}

/// The error is reported before the end of the text, and without more text.
#[test]
fn an_op_that_is_not_closed_is_refused_at_once() {
    let op = "{:process 2, :type :info, :f :read, :value nil}\n";
    let text = format!("{op}{{:process 2, :type :info, :f\n{op}");
    let mut reader = Reader::new(Waits(text.as_bytes())).growing();
    let mut ops = 0;
    let error = reader.for_each(|_| {
        ops += 1;
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(
        (ops, error.unwrap_err().message.as_str()),
        (1, "an op begins here, but the op at line 2 is not closed")
    );
}
