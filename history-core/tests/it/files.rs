//! Histories in files, compressed or not.

use crate::common::texts::TEXTS;
use crate::common::{drain, read, write_all};
use history_core::{Format, History, Reader, create, open, session_logs};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A temporary directory for one test, removed when dropped.
struct Dir(PathBuf);

impl Dir {
    fn new(test: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("history-core-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

/// The error of opening or reading a path.
fn failure(path: impl AsRef<Path>) -> String {
    match open(path) {
        Err(error) => error.to_string(),
        Ok(reader) => drain(reader).error.expect("it can be read").to_string(),
    }
}

#[test]
fn every_text_is_read_alike_compressed_or_not() {
    let dir = Dir::new("alike");
    for (name, text) in TEXTS {
        let whole = read(text);
        for content in [text.as_bytes().to_vec(), gzip(text.as_bytes()), zstd(text.as_bytes())] {
            // The content determines the format, not the name.
            assert_eq!(drain(open(dir.write(name, &content)).unwrap()), whole, "{name}");
            for size in [1, 7, 64] {
                assert_eq!(drain(Reader::new(&content[..]).with_block_bytes(size)), whole, "{name} {size}");
            }
        }
    }
}

#[test]
fn members_and_frames_one_after_another_are_one_text() {
    let (a, b): (&[u8], &[u8]) = (b"{:type :ok} {:ty", b"pe :ok}");
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    for content in
        [[gzip(a), gzip(b)].concat(), [zstd(a), zstd(b)].concat(), [skippable.to_vec(), zstd(a), zstd(b)].concat()]
    {
        let read = drain(Reader::new(&content[..]));
        assert_eq!((read.error, read.ops.len()), (None, 2));
    }
}

#[test]
fn what_is_written_to_a_file_is_read_from_it() {
    let dir = Dir::new("create");
    // A table cannot represent other fields.
    let history = History::parse(&TEXTS[0].1.replace(" :x 0x1f", "")).unwrap();
    for (name, format) in [
        ("h.edn", Format::Edn),
        ("h.json.gz", Format::Json),
        ("h.jsonl.zst", Format::Json),
        ("h.txt", Format::Table),
        ("h.edn.zst", Format::Edn),
        ("h", Format::Edn),
        ("h.gz", Format::Edn),
    ] {
        let path = dir.0.join(name);
        let mut writer = create(&path, None).unwrap();
        for op in history.ops() {
            writer.write(&op).unwrap();
        }
        writer.finish().unwrap();
        let mut reader = open(&path).unwrap();
        let again = History::read(&mut reader).unwrap();
        assert_eq!(reader.format(), Some(format), "{name}");
        assert_eq!(
            write_all(again.ops(), Format::Table),
            write_all(
                History::read(&mut Reader::new(write_all(history.ops(), format).as_bytes())).unwrap().ops(),
                Format::Table
            )
        );
        let head = fs::read(&path).unwrap();
        assert_eq!(name.contains(".gz"), head.starts_with(&[0x1f, 0x8b]), "{name}");
        assert_eq!(name.contains(".zst"), head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]), "{name}");
    }
    // A requested format has priority over the name.
    let path = dir.0.join("odd.edn");
    let mut writer = create(&path, Some(Format::Json)).unwrap();
    history.ops().take(1).for_each(|op| writer.write(&op).unwrap());
    writer.finish().unwrap();
    assert!(fs::read_to_string(&path).unwrap().starts_with("{\"index\":0,"));
    assert!(create(dir.0.join("no/such/dir.edn"), None).is_err());
}

#[test]
fn compressed_files_that_are_cut_or_damaged_are_errors() {
    let text = "{:type :ok, :value \"0123456789\"}\n".repeat(2000);
    for (name, whole) in [("gzip", gzip(text.as_bytes())), ("zstd", zstd(text.as_bytes()))] {
        for cut in (0..whole.len()).step_by(7).chain(whole.len() - 12..whole.len()) {
            let read = drain(Reader::new(&whole[..cut]));
            assert!(read.error.is_some(), "{name} cut at {cut} of {}", whole.len());
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            // Damage in some bytes has no effect. The ops that are read are always a prefix of those written.
            let read = drain(Reader::new(&damaged[..]));
            assert!(read.error.is_some() || read.ops.len() == 2000, "{name} at {at}");
        }
    }
    let mut tail = gzip(b"{:type :ok}\n");
    tail.extend(b"garbage behind");
    assert!(drain(Reader::new(&tail[..])).error.unwrap().to_string().contains("reading failed"));
}

#[test]
fn a_file_that_unpacks_without_end_meets_a_limit() {
    // A string of half a gigabyte would not reach the limit, which is set for a gigabyte.
    let mut bomb = b"{:type :ok, :value \"".to_vec();
    bomb.resize(20 << 20, b'x');
    for packed in [gzip(&bomb), zstd(&bomb)] {
        assert!(packed.len() < 200_000);
        let read = drain(Reader::new(&packed[..]).with_limits(crate::common::op_bytes_max(1 << 20)));
        assert_eq!(
            read.error.unwrap().to_string(),
            "line 1, column 1: an op is longer than 1048576 bytes: the string that begins at line 1, column 20 is not closed"
        );
    }
}

#[test]
fn a_store_directory_gives_its_best_history() {
    let dir = Dir::new("store");
    assert_eq!(
        failure(&dir.0),
        "this directory contains no history; expected one of history.edn, history.jsonl, \
         history.json, history.txt, history.bincode, each also with .gz or .zst"
    );
    dir.write("test.jepsen", b"JEPSEN\0\0\0\x01");
    let error = failure(&dir.0);
    assert!(
        error.starts_with(
            "this directory contains its history only in Jepsen's binary format, which histcheck does not read; "
        ),
        "{error}"
    );
    assert!(error.contains("history.edn") && error.contains("jepsen.store/write-history!"), "{error}");
    assert_eq!(
        failure(dir.0.join("test.jepsen")).split(';').next(),
        Some("this is Jepsen's binary format, which histcheck does not read")
    );
    // From the worst to the best: each is preferred to the previous ones.
    for (name, content, format) in [
        ("history.txt", b"0\t:invoke\t:read\tnil\n".to_vec(), Format::Table),
        ("history.json", b"[]".to_vec(), Format::Json),
        ("history.jsonl.zst", zstd(b"{\"type\":\"ok\"}"), Format::Json),
        ("history.edn.gz", gzip(b"{:type :ok}"), Format::Edn),
        ("history.edn", b"{:type :ok} {:type :ok}".to_vec(), Format::Edn),
    ] {
        dir.write(name, content);
        let read = drain(open(&dir.0).unwrap());
        assert_eq!((read.error, read.format), (None, Some(format)), "{name}");
    }
    assert_eq!(drain(open(&dir.0).unwrap()).ops.len(), 2);
}

#[test]
fn what_cannot_be_opened_is_an_error() {
    assert!(failure("no/such/file.edn").starts_with("opening failed: "), "{}", failure("no/such/file.edn"));
}

#[test]
fn a_log_and_its_compressed_copy_are_one_session() {
    let dir = Dir::new("logs");
    for name in ["T10.log", "T2.log.gz", "T2.log", "T3.log.zst", "T.log", "Tx.log", "T4.txt"] {
        dir.write(name, "");
    }
    let logs = session_logs(&dir.0);
    let names: Vec<_> = logs.iter().map(|log| log.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["T2.log", "T3.log.zst", "T10.log"]);
}
