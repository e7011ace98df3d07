//! `histcheck minimize`.

use crate::{histcheck, stderr, stdout};
use std::fmt::Write as _;
use std::fs;

#[test]
fn what_is_written_is_judged_as_the_whole_was() {
    let dir = tempfile::tempdir().unwrap();
    for (model, workload, bug, name) in [
        ("list-append", "list-append --txns 300", "lost-update", "h.edn"),
        ("cas-register", "cas-register --ops 300", "stale-read", "h.jsonl"),
        ("bank", "bank --ops 300", "read-skew", "h.edn.gz"),
    ] {
        let (whole, less) = (dir.path().join(name), dir.path().join("less.edn"));
        histcheck(&format!("gen {workload} --bug {bug} --seed 4 -o")).arg(&whole).assert().code(0);
        let assert = histcheck(&format!("minimize -m {model}")).arg(&whole).arg("-o").arg(&less).assert().code(1);
        assert!(stdout(&assert).ends_with("\tfalse\n"), "the verdict on the whole");
        assert!(stderr(&assert).contains(" of 300 operations show "), "{}", stderr(&assert));
        let kind = stderr(&assert).split(" operations show ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        let judged = histcheck(&format!("-m {model} -v")).arg(&less).assert().code(1);
        assert!(stdout(&judged).contains(&kind), "{}", stdout(&judged));
        assert!(fs::read_to_string(&less).unwrap().lines().count() < 100);
    }
}

#[test]
fn the_anomaly_that_needs_the_fewest_operations_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, less) = (dir.path().join("h.edn"), dir.path().join("less.edn"));
    histcheck("gen list-append --txns 1000 --bug lost-update --seed 3 -o").arg(&whole).assert().code(0);
    let kept = |more: &str| -> usize {
        let assert =
            histcheck(&format!("minimize -m list-append {more}")).arg(&whole).arg("-o").arg(&less).assert().code(1);
        stderr(&assert).split(": ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    // The alphabetically first type needs dozens of operations.
    let (first, smallest) = (kept("--anomaly G-nonadjacent-item"), kept(""));
    assert!(smallest <= 5 && smallest < first, "{smallest} of {first}");
}

#[test]
fn without_a_file_it_is_printed_as_the_history_was_written() {
    let printed = stdout(&histcheck("minimize -m cas-register stale-register.edn").assert().code(1));
    assert!(printed.starts_with("{:index "), "{printed}");
    let json = stdout(&histcheck("gen cas-register --ops 200 --bug stale-read --seed 4 --format json").assert());
    let printed = stdout(&histcheck("minimize -m cas-register -").stdin(json).assert().code(1));
    assert!(printed.starts_with("{\"index\":"), "{printed}");
    let again = histcheck("-m cas-register -").stdin(printed).assert().code(1);
    assert_eq!(stdout(&again), "-\tfalse\n");
}

#[test]
fn of_what_is_not_wrong_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let less = dir.path().join("less.edn");
    for (file, code, says) in
        [("valid.edn", 0, "verdict is true"), ("twice.edn", 2, "verdict is unknown"), ("truncated.edn", 255, "error")]
    {
        let assert = histcheck(&format!("minimize -m list-append {file} -o")).arg(&less).assert().code(code);
        assert!(stderr(&assert).contains(says), "{}", stderr(&assert));
        assert!(!less.exists());
    }
}

#[test]
fn limits_and_names_are_told() {
    let few = histcheck("gen list-append --txns 300 --bug lost-update --seed 4").assert();
    let few = histcheck("minimize -m list-append - --max-checks 2").stdin(stdout(&few)).assert().code(1);
    assert!(stderr(&few).contains("reached the limit of 2 checks"), "{}", stderr(&few));
    let none = histcheck("minimize -m list-append stale.edn --anomaly G0").assert().code(255);
    assert!(
        stderr(&none).contains("no anomaly G0 in this history; found: G-single-item-realtime"),
        "{}",
        stderr(&none)
    );
    let stats = histcheck("minimize -m bank,stats transfers.edn").assert().code(254);
    assert!(stderr(&stats).contains("minimize takes one checker"), "{}", stderr(&stats));
}

#[test]
fn of_many_keys_one_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.edn");
    // Keys are used in turn, each with two writes. One of them has an additional read of the first write.
    let mut text = String::new();
    for key in ["a", "b", "c"] {
        for (f, asked, came) in
            [("write", "1", "1"), ("write", "2", "2"), ("read", "nil", if key == "b" { "1" } else { "2" })]
        {
            _ = writeln!(text, "{{:process 0, :type :invoke, :f :{f}, :value [:{key} {asked}]}}");
            _ = writeln!(text, "{{:process 0, :type :ok, :f :{f}, :value [:{key} {came}]}}");
        }
    }
    fs::write(&path, text).unwrap();
    for keyed in ["--keyed", "--keyed=auto"] {
        let printed = stdout(&histcheck(&format!("minimize -m register {keyed}")).arg(&path).assert().code(1));
        let values: Vec<&str> = printed.lines().map(|line| line.split(":value ").nth(1).unwrap()).collect();
        assert_eq!(values, ["[:b 1]}", "[:b 1]}", "[:b 2]}", "[:b 2]}", "[:b nil]}", "[:b 1]}"], "{printed}");
    }
    let printed = stdout(&histcheck("minimize -m list-append --keyed keyed.edn").assert().code(1));
    assert!(!printed.contains("[:a "), "{printed}");
    assert_eq!(stdout(&histcheck("-m list-append --keyed -").stdin(printed).assert().code(1)), "-\tfalse\n");
}

#[test]
fn the_history_itself_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("h.edn");
    histcheck("gen cas-register --ops 200 --bug stale-read --seed 4 -o").arg(&whole).assert().code(0);
    let before = fs::read(&whole).unwrap();
    let another_way = dir.path().join(".").join("h.edn");
    for out in [&whole, &another_way] {
        let assert = histcheck("minimize -m cas-register").arg(&whole).arg("-o").arg(out).assert().code(254);
        assert!(stderr(&assert).contains("would overwrite the history itself"), "{}", stderr(&assert));
        assert_eq!(fs::read(&whole).unwrap(), before);
    }
}

#[test]
fn what_is_written_is_compressed_as_its_name_says() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("less.jsonl");
    histcheck("minimize -m cas-register stale-register.edn -o").arg(&plain).assert().code(1);
    for (name, magic) in [("less.jsonl.gz", &[0x1f, 0x8b][..]), ("less.jsonl.zst", &[0x28, 0xb5, 0x2f, 0xfd][..])] {
        let packed = dir.path().join(name);
        histcheck("minimize -m cas-register stale-register.edn -o").arg(&packed).assert().code(1);
        assert!(fs::read(&packed).unwrap().starts_with(magic), "{name}");
        // The output is read again, and has the format of the input.
        let printed = stdout(&histcheck("minimize -m cas-register").arg(&packed).assert().code(1));
        assert_eq!(printed, fs::read_to_string(&plain).unwrap(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read(crate::fixtures().join("stale-register.edn")).unwrap();
    let pages = dir.path().join("pages").display().to_string();
    let from_file = stdout(&histcheck("minimize -m cas-register stale-register.edn").assert().code(1));
    for (name, words) in
        [("a", "minimize -m cas-register".to_owned()), ("b", format!("report -m cas-register -d {pages}"))]
    {
        let pipe = dir.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let (text, path) = (text.clone(), pipe.clone());
        let writer = std::thread::spawn(move || fs::write(path, text));
        let assert = histcheck(&words).arg(&pipe).timeout(std::time::Duration::from_mins(1)).assert().code(1);
        writer.join().unwrap().unwrap();
        if name == "a" {
            assert_eq!(stdout(&assert), from_file);
        }
    }
}

#[cfg(unix)]
#[test]
fn results_that_nobody_reads_are_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("less.edn").display().to_string();
    for words in [format!("valid.edn -o {out}"), format!("stale.edn -o {out}"), "stale.edn".to_owned()] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(snapbox::cmd::cargo_bin!("histcheck"));
        command.args("minimize -m list-append".split(' ')).args(words.split(' ')).current_dir(crate::fixtures());
        let ended = command.stdout(writer).stderr(std::process::Stdio::piped()).output().unwrap();
        assert_eq!(ended.status.code(), Some(255), "{words}");
    }
}

/// A cycle over several keys: the order of two writes of key 2 follows from a read of key 0.
#[test]
fn keys_that_the_witness_does_not_name_may_be_needed() {
    let needed = r#"{"index":0,"type":"invoke","process":5,"f":"txn","value":[["r",3,null],["w",0,4]]}
{"index":3,"type":"invoke","process":7,"f":"txn","value":[["w",2,3],["w",0,5]]}
{"index":5,"type":"invoke","process":1,"f":"txn","value":[["r",2,null],["r",0,null],["w",3,1]]}
{"index":8,"type":"invoke","process":6,"f":"txn","value":[["w",3,3],["w",2,2]]}
{"index":9,"type":"ok","process":1,"f":"txn","value":[["r",2,2],["r",0,5],["w",3,1]]}
{"index":11,"type":"ok","process":7,"f":"txn","value":[["w",2,3],["w",0,5]]}
{"index":14,"type":"ok","process":6,"f":"txn","value":[["w",3,3],["w",2,2]]}
{"index":15,"type":"ok","process":5,"f":"txn","value":[["r",3,3],["w",0,4]]}
"#;
    let mut whole = needed.to_owned();
    for (at, kind) in [(20, "invoke"), (21, "ok"), (22, "invoke"), (23, "ok")] {
        writeln!(whole, r#"{{"index":{at},"type":"{kind}","process":9,"f":"txn","value":[["w",8,{}]]}}"#, at / 2)
            .unwrap();
    }
    let assert = histcheck("minimize -m isolation -c serializable -").stdin(whole).assert().code(1);
    assert!(stderr(&assert).contains("4 of 6 operations show "), "{}", stderr(&assert));
    assert_eq!(stdout(&assert), needed);
}
