//! `histcheck convert`.

use crate::{histcheck, stderr, stdout};
use std::fs;
use std::path::Path;

const EDN: &str = "\
{:index 0, :type :ok, :process 0, :f :txn, :value [[:w 3 17] [:r 4 nil]]}
{:index 1, :type :ok, :process 1, :f :txn, :value [[:r 3 17]]}
";

fn convert(words: &str, path: &Path) -> snapbox::cmd::OutputAssert {
    histcheck("convert").arg(path).args(words.split_whitespace()).assert()
}

#[test]
fn every_format_is_written_and_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    fs::write(&path, EDN).unwrap();
    for name in ["json", "jsonl", "txt", "plume", "dbcop", "dbcop-json", "hist", "cobra"] {
        let out = dir.path().join(format!("out-{name}"));
        let written = histcheck("convert --to").arg(name).arg(&path).arg("-o").arg(&out).assert().code(0);
        assert_eq!(stderr(&written), "", "{name}");
        assert_eq!(
            stdout(&convert("--to edn", &out).code(0)).replace("\"w\"", ":w").replace("\"r\"", ":r"),
            EDN,
            "{name}"
        );
        let judged = histcheck("-m rw-register -c serializable").arg(&path).arg(&out).assert();
        let verdicts: Vec<String> =
            stdout(&judged).lines().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())).collect();
        assert!(verdicts.len() == 2 && verdicts[0] == verdicts[1], "{name}: {}", stderr(&judged));
    }
    assert!(dir.path().join("out-cobra/T1.log").is_file());
}

#[test]
fn the_extension_says_the_format_and_the_compression() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("h.edn"), dir.path().join("h.plume.zst"));
    fs::write(&path, EDN).unwrap();
    histcheck("convert").arg(&path).arg("-o").arg(&out).assert().code(0);
    assert!(fs::read(&out).unwrap().starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
    assert_eq!(stdout(&convert("--to edn", &out).code(0)), EDN);
}

#[test]
fn what_cannot_be_written_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("h.edn"), dir.path().join("h.plume"));
    fs::write(&path, format!("{EDN}{{:index 2, :type :ok, :process 0, :f :txn, :value [[:w :x 1]]}}\n")).unwrap();
    let refused = histcheck("convert").arg(&path).arg("-o").arg(&out).assert().code(255);
    let said = stderr(&refused);
    assert!(
        said.contains("h.edn:3:1: error: the op with index 2 cannot be written as plume: expected a number from 0 on as the key, found :x"),
        "{said}"
    );
    let intervals = |words: &str| {
        let assert = histcheck(&format!("convert --to intervals {words}")).arg(&path).arg("-o").arg(&out).assert();
        stderr(&assert.code(255))
    };
    assert!(intervals("").contains("the op with index 0 cannot be written as an interval: it has no time"));
    let said = intervals("--index-times");
    assert!(said.contains("the op with index 0 cannot be written as an interval: it has no invocation"), "{said}");
    let names: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["h.edn"]);
    assert_eq!(stdout(&convert("--to hist --renumber", &path).code(0)), "[1:=1 2==?]\n[3:=2]\n---\n[1==1]\n");
}

#[test]
fn intervals_keep_the_order_of_operations() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    let text = "{:type :invoke, :process 0, :f :write, :value 3, :time 5}\n{:type :ok, :process 0, :f :write, :value 3, :time 9}\n\
        {:type :invoke, :process 1, :f :read, :time 9}\n{:type :ok, :process 1, :f :read, :value 3, :time 12}\n\
        {:type :invoke, :process 2, :f :read, :time 13}\n";
    fs::write(&path, text).unwrap();
    let said = stderr(&convert("--to intervals", &path).code(255));
    assert!(
        said.contains("h.edn:3:1: error: the op with index 2 cannot be written as an interval: it is called no later"),
        "{said}"
    );
    let wanted = "\
{\"client\":0,\"call\":0,\"return\":1,\"input\":{\"f\":\"write\",\"value\":3}}
{\"client\":1,\"call\":2,\"return\":3,\"input\":{\"f\":\"read\"},\"output\":3}
{\"client\":2,\"call\":4,\"input\":{\"f\":\"read\"}}
";
    assert_eq!(stdout(&convert("--to intervals --index-times", &path).code(0)), wanted);
    fs::write(&path, wanted).unwrap();
    assert_eq!(stdout(&convert("--to intervals", &path).code(0)), wanted);
}

#[test]
fn names_that_json_would_merge_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    fs::write(&path, "{:type :ok, :f :txn, :value [[:r :r 1]]}\n{:type :ok, :f :txn, :value [[:r \"r\" 1]]}\n")
        .unwrap();
    let said = stderr(&convert("--to jsonl", &path).code(255));
    assert!(
        said.contains(
            "h.edn:2:1: error: the op with index 1 cannot be written: r is a string here and a keyword before"
        ),
        "{said}"
    );
}

/// Each history is `false` as EDN, and would be `true` as JSON.
#[test]
fn values_that_json_would_merge_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    for (added, read, why) in [
        ("[:x 1]", "[\"x\" 1]", "x is a string here and a keyword before"),
        ("[:r 1]", "[\"r\" 1]", "r is a string here and a keyword before"),
        ("\"x\"", "\\x", "x is a character here and a string before"),
        ("#uuid \"a\"", "\"a\"", "a is a string here and a #uuid before"),
        ("1/2", "\"1/2\"", "1/2 is a string here and a number before"),
        ("{1 2}", "{\"1\" 2}", "1 is a string here and an integer before"),
        ("1", "#foo 1", "JSON has no tags, and #foo 1 would be 1"),
    ] {
        let text = format!(
            "{{:process 0, :type :ok, :f :add, :value {added}}}\n{{:process 0, :type :ok, :f :read, :value [{read}]}}\n"
        );
        fs::write(&path, text).unwrap();
        let said = stderr(&convert("--to json", &path).code(255));
        assert!(said.contains(&format!("h.edn:2:1: error: the op with index 1 cannot be written: {why}")), "{said}");
    }
    let keys = "{:process 0, :type :ok, :f :txn, :value [[:poll {1.5 [[0 5]]}]]}";
    fs::write(&path, keys).unwrap();
    let said = stderr(&convert("--to json", &path).code(255));
    assert!(said.contains("1.5 is a key of a map, and JSON has only strings as keys"), "{said}");
    // Equal sets become equal arrays.
    let sets = "{:process 0, :type :invoke, :f :write, :value #{10 2 a}}\n{:process 0, :type :ok, :f :write, :value #{a 2 10}}\n";
    fs::write(&path, sets).unwrap();
    let json = stdout(&convert("--to jsonl", &path).code(0));
    assert_eq!(json.matches("[2,10,\"a\"]").count(), 2, "{json}");
    // The tag is around a pair of a key and a value, and the function of a micro-op is a name in any notation.
    let text = "{:process 0, :type :ok, :f :txn, :value #t [0 [[:r \"r\" 1]]]}\n{:process 0, :type :ok, :f :txn, :value [[:r \"r\" 1]]}\n";
    fs::write(&path, text).unwrap();
    convert("--to jsonl", &path).code(0);
}

#[test]
fn options_that_the_format_has_no_use_for_are_refused() {
    for (words, wanted) in [
        ("convert a.edn", "no output format given"),
        ("convert a.edn --to edn --renumber", "--renumber needs a format of another checker, found edn"),
        ("convert a.edn --to json --lossy", "--lossy needs a format of another checker, found json"),
        ("convert a.edn --to plume --index-times", "--index-times needs the output format intervals"),
    ] {
        let said = stderr(&histcheck(words).assert().code(254));
        assert!(said.contains(wanted), "{words}: {said}");
    }
}

/// The table has no column for a key: this is an error of the history, not of standard output.
#[test]
fn what_the_table_cannot_hold_is_an_error_of_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.edn");
    let op = "{:type :ok, :process 0, :f :read, :value 1";
    fs::write(&path, format!("{op}}}\n{op}, :key 1}}\n")).unwrap();
    let refused = convert("--to txt", &path).code(255);
    let said = stderr(&refused);
    assert!(
        said.contains("keys.edn:2:1: error: the op with index 1 cannot be written as txt: it has a field :key"),
        "{said}"
    );
}
