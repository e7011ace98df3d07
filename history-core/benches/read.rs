//! The speed of reading histories, compared with reading the same bytes and with parsing the same JSON into trees.
//!
//!     cargo bench -p history-core --bench read [-- FILE...]
//!
//! Without files, the benchmark generates a history of list-append transactions, as EDN and as JSON Lines. It prints
//! megabytes (10^6 bytes) of text per second, the best of three runs, on one thread unless stated otherwise.

use history_core::{Reader, validate};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The length of the generated text in bytes.
const BYTES: usize = 100_000_000;
const RUNS: usize = 3;

fn main() {
    let given: Vec<PathBuf> = std::env::args().skip(1).filter(|arg| arg != "--bench").map(PathBuf::from).collect();
    if !given.is_empty() {
        for path in &given {
            measure(path);
        }
        return;
    }
    for (name, text) in [("edn", history(&EDN)), ("jsonl", history(&JSON))] {
        let path = std::env::temp_dir().join(format!("history-core-bench-{}.{name}", std::process::id()));
        fs::write(&path, text).expect("room for a temporary file");
        measure(&path);
        fs::remove_file(&path).expect("the file is ours");
    }
}

#[expect(clippy::cast_precision_loss, reason = "what is shown has four digits")]
fn measure(path: &Path) {
    let bytes = fs::metadata(path).expect("a file").len();
    println!("{} ({} MB)", path.display(), bytes / 1_000_000);
    let open = || File::open(path).expect("a file");
    let show = |what: &str, run: &dyn Fn()| {
        let best = (0..RUNS).map(|_| seconds(run)).fold(f64::INFINITY, f64::min);
        println!("  {what:<32} {:>7.0} MB/s", bytes as f64 / 1e6 / best);
    };
    show("read, bytes only", &|| {
        let mut block = vec![0; 128 << 10];
        let mut file = open();
        while file.read(&mut block).expect("bytes") > 0 {
            black_box(&block);
        }
    });
    let is_json = fs::read(path).is_ok_and(|text| text.starts_with(b"{\""));
    if is_json {
        show("serde_json, into values", &|| {
            let text = fs::read(path).expect("a file");
            for value in serde_json::Deserializer::from_slice(&text).into_iter::<serde_json::Value>() {
                black_box(value.expect("JSON"));
            }
        });
    }
    show("Reader", &|| read(Reader::new(open())));
    show("Reader, unpaired", &|| read(Reader::new(open()).without_pairing()));
    show("Reader, on a thread of its own", &|| {
        let ended = Reader::new(open()).for_each_ahead(|op| {
            black_box(op);
            Ok(ControlFlow::Continue(()))
        });
        ended.expect("a history");
    });
    for threads in [2, 4] {
        show(&format!("Reader, on {threads} threads"), &|| {
            let ended = Reader::new(open()).with_threads(threads).for_each_ahead(|op| {
                black_box(op);
                Ok(ControlFlow::Continue(()))
            });
            ended.expect("a history");
        });
    }
    show("validate", &|| {
        black_box(validate(Reader::new(open()), 10));
    });
}

fn read(mut reader: Reader<'_>) {
    let ended = reader.for_each(|op| {
        black_box(op);
        Ok(ControlFlow::Continue(()))
    });
    ended.expect("a history");
}

fn seconds(run: &dyn Fn()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// The text of an op in a format: its beginning, an append, a read without a result, a read, and the end.
struct Spelling {
    op: fn(&mut String, u64, u64, &str),
    append: fn(&mut String, u64, u64),
    read: fn(&mut String, u64, Option<&str>),
    between: char,
}

const EDN: Spelling = Spelling {
    op: |out, index, process, kind| {
        write!(
            out,
            "{{:index {index}, :type :{kind}, :process {process}, :f :txn, :time {}000, :value ",
            31 * (index + 1)
        )
        .expect("a string takes all");
    },
    append: |out, key, value| write!(out, "[:append {key} {value}]").expect("a string takes all"),
    read: |out, key, list| match list {
        Some(list) => write!(out, "[:r {key} [{list}]]").expect("a string takes all"),
        None => write!(out, "[:r {key} nil]").expect("a string takes all"),
    },
    between: ' ',
};

const JSON: Spelling = Spelling {
    op: |out, index, process, kind| {
        write!(
            out,
            "{{\"index\":{index},\"type\":\"{kind}\",\"process\":{process},\"f\":\"txn\",\"time\":{}000,\"value\":",
            31 * (index + 1)
        )
        .expect("a string takes all");
    },
    append: |out, key, value| write!(out, "[\"append\",{key},{value}]").expect("a string takes all"),
    read: |out, key, list| match list {
        Some(list) => write!(out, "[\"r\",{key},[{list}]]").expect("a string takes all"),
        None => write!(out, "[\"r\",{key},null]").expect("a string takes all"),
    },
    between: ',',
};

/// A history in which each transaction reads one key and appends to another. Once a key has 128 elements, the next key
/// takes its place.
fn history(spelling: &Spelling) -> String {
    let mut out = String::with_capacity(BYTES + 4096);
    let (mut index, mut random) = (0, 1_u64);
    let mut lists = vec![(0, 0, String::new()); 32];
    let mut keys = 0;
    while out.len() < BYTES {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (process, at) = ((random >> 33) % 20, (random >> 40) as usize % 32);
        let (key, len, list) = &mut lists[at];
        if *len == 128 || *key == 0 {
            keys += 1;
            (*key, *len) = (keys, 0);
            list.clear();
        }
        *len += 1;
        for kind in ["invoke", "ok"] {
            (spelling.op)(&mut out, index, process, kind);
            out.push('[');
            (spelling.read)(&mut out, *key, (kind == "ok").then_some(list));
            out.push(spelling.between);
            (spelling.append)(&mut out, *key, *len);
            out.push_str("]}\n");
            index += 1;
        }
        if *len > 1 {
            list.push(spelling.between);
        }
        write!(list, "{len}").expect("a string takes all");
    }
    out
}
