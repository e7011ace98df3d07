//! Tests of histories in all formats, read in whole and in parts, and of stored indexes.

use super::*;
use crate::http::query::Query;
use crate::rows::filter::Filter;
use crate::rows::window::Window;
use std::fmt::Write as _;
use std::io::Write as _;

const OPS: u64 = 3000;

/// Transactions of five clients. Each client uses its own key for a while.
fn ops(write: impl Fn(&mut String, u64, &str, &str)) -> String {
    let mut text = String::new();
    for row in 0..OPS {
        let kind = if row % 10 < 5 { "invoke" } else { "ok" };
        write(&mut text, row, kind, &format!("[[\"append\" {} {row}]]", row / 100));
    }
    text
}

fn edn(gap: &str) -> String {
    ops(|text, row, kind, value| {
        let value = value.replace("\"append\"", ":append");
        _ = write!(
            text,
            "{{:index {}, :time {}, :process {}, :type :{kind}, :f :txn, :value {value}}}{gap}",
            row * 2,
            row * 1000,
            row % 5
        );
    })
}

fn json(gap: &str) -> String {
    ops(|text, row, kind, value| {
        let (value, process) = (value.replace(' ', ","), row % 5);
        _ = write!(
            text,
            "{{\"index\":{},\"time\":{},\"process\":{process},\"type\":\"{kind}\",\"f\":\"txn\",\"value\":{value}}}{gap}",
            row * 2,
            row * 1000
        );
    })
}

fn gzip(text: &str) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap()
}

fn ready(library: &Arc<Library>, history: &str) -> (Arc<Index>, File) {
    loop {
        match library.find(history).unwrap() {
            Found::Ready(index, text) => return (index, text),
            Found::Building(read, bytes) => assert!(read <= bytes),
            Found::Failed(why) => panic!("{history}: {why}"),
        }
        std::thread::yield_now();
    }
}

fn filter(text: &str) -> Filter {
    Filter::of(&Query::parse(text).unwrap()).unwrap()
}

fn rows(window: &Window) -> Vec<u64> {
    window.rows.iter().map(|row| row.at).collect()
}

/// Asserts properties that every history has, in any format.
fn look(library: &Arc<Library>, history: &str) {
    let (index, text) = ready(library, history);
    assert_eq!((index.head.ops, index.head.problem.as_deref()), (OPS, None), "{history}");
    let mut shelf = Found::shelf(&index, text);
    let all = Filter::default();
    for from in [0, 1, 63, 64, 65, 1000, OPS - 1] {
        let window = shelf.forward(from, 100, &all).unwrap();
        assert_eq!(rows(&window), (from..OPS.min(from + 100)).collect::<Vec<_>>(), "{history} from {from}");
        assert_eq!((window.from, window.to), (from, OPS.min(from + 100)));
        for row in &window.rows {
            assert_eq!((row.index, row.time_ns), (row.at * 2, Some((row.at * 1000).to_i64())), "{history}");
            assert_eq!(row.process, (row.at % 5).to_string());
            assert!(row.value.contains(&row.at.to_string()), "{row:?}");
        }
        let window = shelf.backward(from, 100, &all).unwrap();
        assert_eq!(rows(&window), (from.saturating_sub(100)..from).collect::<Vec<_>>(), "{history} before {from}");
        let written = shelf.written(from).unwrap();
        assert!(
            written.starts_with('{') && written.ends_with('}') && written.matches("index").count() == 1,
            "{written}"
        );
    }
    assert_eq!(
        (shelf.row_of(2000).unwrap(), shelf.row_of(2001).unwrap(), shelf.row_of(u64::MAX).unwrap()),
        (1000, 1001, OPS - 1)
    );
    // All ops of a key, from either end, and no others.
    let key = filter("key=7");
    assert_eq!(rows(&shelf.forward(0, 500, &key).unwrap()), (700..800).collect::<Vec<_>>(), "{history}");
    assert_eq!(rows(&shelf.backward(OPS, 10, &key).unwrap()), (790..800).collect::<Vec<_>>(), "{history}");
    assert_eq!(rows(&shelf.forward(0, 3, &filter("process=4&type=ok")).unwrap()), [9, 19, 29]);
    assert_eq!(
        rows(&shelf.forward(0, 3, &filter("text=2999]]")).unwrap()).len()
            + rows(&shelf.forward(0, 3, &filter("text=2999")).unwrap()).len(),
        2
    );
    let none = shelf.forward(0, 3, &filter("process=5")).unwrap();
    assert_eq!((none.rows.len(), none.to), (0, OPS));
    // Each op of an operation leads to the other.
    let invocation = shelf.forward(13, 1, &all).unwrap().rows.remove(0);
    let completion = shelf.other_half(&invocation).unwrap().unwrap();
    assert_eq!((completion.at, shelf.other_half(&completion).unwrap().unwrap().at), (18, 13));
}

#[test]
fn each_format_has_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    let library = Arc::new(Library::new(dir.path().to_owned(), false));
    let put = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    put("lines.edn", edn("\n").as_bytes());
    put("space.edn", format!("; a comment\n\n  {}", edn(" ")).as_bytes());
    put("vector.edn", format!("[{}]\n", edn("\n ")).as_bytes());
    put("list.edn", format!(" ({})", edn(",\n")).as_bytes());
    put(
        "record.edn",
        edn("\n")
            .replace("{:index", "#jepsen.history.Op{:index")
            .replace("#jepsen", "")
            .replace(".history.Op", "")
            .as_bytes(),
    );
    put("lines.jsonl", json("\n").as_bytes());
    put("array.json", format!("[\n{}]\n", json(",\n").trim_end_matches(",\n")).as_bytes());
    put("packed.edn.gz", &gzip(&edn("\n")));
    for name in
        ["lines.edn", "space.edn", "vector.edn", "list.edn", "record.edn", "lines.jsonl", "array.json", "packed.edn.gz"]
    {
        look(&library, name);
    }
    // Another server finds the files of this one.
    let again = Arc::new(Library::new(dir.path().to_owned(), true));
    for name in ["lines.edn", "packed.edn.gz"] {
        assert!(matches!(again.find(name).unwrap(), Found::Ready(..)), "{name}");
        look(&again, name);
    }
}

#[test]
fn a_history_without_indices_is_numbered() {
    let dir = tempfile::tempdir().unwrap();
    let library = Arc::new(Library::new(dir.path().to_owned(), false));
    let op = |at| format!("{{:process {}, :type :ok, :f :read, :value {at}}}", at % 3);
    let text = (0..500).map(op).collect::<Vec<_>>().join("\n");
    fs::write(dir.path().join("h.edn"), text).unwrap();
    let (index, text) = ready(&library, "h.edn");
    let mut shelf = Found::shelf(&index, text);
    let window = shelf.forward(300, 2, &Filter::default()).unwrap();
    assert_eq!(
        window.rows.iter().map(|row| (row.index, row.line)).collect::<Vec<_>>(),
        [(300, Some(301)), (301, Some(302))]
    );
    assert_eq!((&index.head.functions[..], index.head.processes.len()), (&["read".to_owned()][..], 3));
}

#[test]
fn an_unreadable_op_is_reported_and_rows_before_it_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    let library = Arc::new(Library::new(dir.path().to_owned(), false));
    fs::write(dir.path().join("h.edn"), "{:process 0, :type :invoke}\n{:process 0, :type :nope}\n").unwrap();
    let (index, _) = ready(&library, "h.edn");
    assert_eq!(index.head.ops, 1);
    assert!(
        index.head.problem.as_ref().unwrap().starts_with("At line 2, column 1: the op's type is :nope"),
        "{:?}",
        index.head
    );
    fs::write(dir.path().join("none.edn"), "{:a 1}").unwrap();
    let why = loop {
        match library.find("none.edn").unwrap() {
            Found::Failed(why) => break why,
            Found::Building(..) => std::thread::yield_now(),
            Found::Ready(..) => panic!("there is no op"),
        }
    };
    assert!(why.contains("line 1"), "{why}");
    assert!(library.find("nothing.edn").is_err() && library.find("../h.edn").is_err());
}

#[test]
fn a_changed_history_is_read_again_and_a_read_only_library_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let library = Arc::new(Library::new(dir.path().to_owned(), true));
    fs::write(dir.path().join("h.edn"), edn("\n")).unwrap();
    look(&library, "h.edn");
    fs::write(dir.path().join("h.edn"), "{:process 0, :type :ok}\n").unwrap();
    // The file is shorter, so the old index is not used.
    let (index, _) = ready(&library, "h.edn");
    assert_eq!(index.head.ops, 1);
    fs::write(dir.path().join("h.edn.gz"), gzip(&edn("\n"))).unwrap();
    let why = loop {
        match library.find("h.edn.gz").unwrap() {
            Found::Failed(why) => break why,
            Found::Building(..) => std::thread::yield_now(),
            Found::Ready(..) => panic!("there is no copy to read"),
        }
    };
    assert!(why.contains("Decompress or convert"), "{why}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing was written");
}
