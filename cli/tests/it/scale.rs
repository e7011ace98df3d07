//! `histcheck scale`: it has the same results as one machine; and what it rejects.

use crate::{histcheck, stderr, stdout};
use snapbox::str;

#[test]
fn the_report_is_that_of_one_machine() {
    for (checker, file) in [("list-append", "keyed.edn"), ("list-append", "valid.edn"), ("bank,stats", "keyed.edn")] {
        for output in ["json", "edn", "text"] {
            let words = format!("-m {checker} --keyed --output {output} {file}");
            let one = histcheck(&words).assert();
            for workers in [1, 2, 4, 7] {
                let many = histcheck(&format!("scale {words} --workers {workers}")).assert();
                assert_eq!(stdout(&many), stdout(&one), "{words}");
                assert_eq!(stderr(&many), stderr(&one), "{words}");
                assert_eq!(many.get_output().status, one.get_output().status, "{words}");
            }
        }
    }
}

#[test]
fn transactions_are_split_by_key() {
    let dir = tempfile::tempdir().unwrap();
    for (bug, says_all) in [("none", true), ("none", false), ("stale-read", true)] {
        let make = format!("gen list-append --txns 500 --bug {bug} --seed 4 -f jsonl -o lists.jsonl");
        histcheck(&make).current_dir(dir.path()).assert().code(0);
        if !says_all {
            let path = dir.path().join("lists.jsonl");
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(path, without_last_value(&text)).unwrap();
        }
        let words = "-m list-append --output json lists.jsonl";
        let one = histcheck(words).current_dir(dir.path()).assert();
        assert_eq!(stdout(&one).contains("does not say all that it read"), !says_all, "{}", stdout(&one));
        let many = histcheck(&format!("scale {words} --workers 3")).current_dir(dir.path()).assert();
        assert_eq!(stdout(&many), stdout(&one), "{bug}");
        let limited = format!("scale {words} --spill . --max-memory 1GB");
        let limited = histcheck(&limited).current_dir(dir.path()).assert();
        assert_eq!(stdout(&limited), stdout(&one), "{bug}: it fits");
    }
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["lists.jsonl"], "temporary files have no names");
}

/// The same history, whose last ok op has no value.
fn without_last_value(text: &str) -> String {
    let ok = text.rfind("\"type\":\"ok\"").unwrap();
    let value = ok + text[ok..].find("\"value\":").unwrap();
    let end = value + text[value..].find('\n').unwrap();
    format!("{}\"value\":null}}{}", &text[..value], &text[end..])
}

const VALID: &str = "\
{:process 0, :type :invoke, :f :write, :value [:x 1]}
{:process 0, :type :ok, :f :write, :value [:x 1]}
{:process 0, :type :invoke, :f :read, :value [:x nil]}
{:process 0, :type :ok, :f :read, :value [:x 1]}
{:process 1, :type :invoke, :f :read, :value [:y nil]}
{:process 1, :type :ok, :f :read, :value [:y nil]}
";

/// A directory with the history of a test. Its only node has a log.
fn test_with_log(history: &str, config: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("run/n1")).unwrap();
    std::fs::write(dir.path().join("run/history.edn"), history).unwrap();
    std::fs::write(dir.path().join("run/n1/db.log"), "fine\npanic: disk full\n").unwrap();
    std::fs::write(dir.path().join("histcheck.toml"), format!("[profile.default]\n{config}")).unwrap();
    dir
}

/// Options of a profile and of the command line apply as they do to `histcheck`.
#[test]
fn logs_of_nodes_and_torn_histories_are_read_as_by_one_machine() {
    let torn = &VALID[..VALID.len() - 20];
    let log = "log-file-pattern = \"panic\"\nlog-file = \"db.log\"\n";
    let fine = "log-file-pattern = \"absent\"\nlog-file = \"db.log\"\n";
    let words = " --log-file-pattern panic --log-file db.log --accept-torn";
    for (history, config, words, code) in [
        (VALID, log, "", 1),
        (VALID, fine, "", 0),
        (VALID, "", words, 1),
        (torn, "accept-torn = true\n", "", 0),
        (torn, "", words, 1),
        (torn, log, "", 255),
    ] {
        let dir = test_with_log(history, config);
        for output in ["text", "json"] {
            let words = format!("-m cas-register --keyed --output {output} run{words}");
            let one = histcheck(&words).current_dir(dir.path()).assert().code(code);
            let many = histcheck(&format!("scale {words} --workers 2")).current_dir(dir.path()).assert().code(code);
            assert_eq!(stdout(&many), stdout(&one), "{config}{words}");
            assert_eq!(stderr(&many), stderr(&one), "{config}{words}");
        }
    }
}

#[test]
fn a_profile_with_limits_is_refused() {
    let limits = "timeout = \"5m\"\nmax-memory = \"2GB\"\n";
    for (config, names) in [(limits, "timeout"), ("timeout = 60\njobs = 2\n", "timeout")] {
        let dir = test_with_log(VALID, config);
        let said = histcheck("scale -m cas-register --keyed run").current_dir(dir.path()).assert().code(254);
        let expected = format!("error: histcheck.toml: histcheck scale has no option {names}\n");
        assert!(stderr(&said).starts_with(&expected), "{}", stderr(&said));
    }
    let dir = test_with_log(VALID, "jobs = 2\ndirectory = \"out\"\n");
    histcheck("scale -m cas-register --keyed run").current_dir(dir.path()).assert().code(0);
}

#[test]
fn what_cannot_be_split_is_refused() {
    histcheck("scale -m bank valid.edn").assert().code(254).stdout_eq("").stderr_eq(str![[r#"
error: scale checks each key separately, but bank without --keyed checks a history as a whole: pass --keyed if each op is about one key, else check it on one machine
...
"#]]);
    histcheck("scale -m cas-register --keyed=auto valid.edn").assert().code(254).stdout_eq("");
    let workers =
        |workers: u32| histcheck(&format!("scale -m cas-register --keyed --workers {workers} valid.edn")).assert();
    let said = stderr(&workers(257).code(254));
    assert!(said.starts_with("error: invalid value '257' for '--workers <N>': 257 is not in 1..=256\n"), "{said}");
    workers(0).code(254);
    histcheck("scale -m cas-register --keyed --spill . --max-memory 1GB valid.edn").assert().code(254).stderr_eq(str![
        [r#"
error: --spill is for transactions; with --keyed, use more machines
...
"#]
    ]);
    histcheck("scale -m list-append --spill none --max-memory 1GB valid.edn").assert().code(254).stderr_eq(str![[r#"
error: --spill: none is not a directory
...
"#]]);
    histcheck("scale -m list-append --max-memory 1GB valid.edn").assert().code(254);
    histcheck("scale -m linearizable-register --keyed valid.edn").assert().code(254).stderr_eq(str![[r#"
error: linearizable-register separates the keys itself, but scale must do this: pass -m cas-register --keyed instead
...
"#]]);
    histcheck("scale -m cas-register --keyed -").assert().code(254).stderr_eq(str![[r#"
error: <stdin> can be read only once, but scale reads files more than once
...
"#]]);
    histcheck("scale -m cas-register --keyed no*match.edn").assert().code(254).stderr_eq(str![[r#"
error: no file matches no*match.edn
...
"#]]);
}

#[test]
fn patterns_stand_for_files() {
    let one = histcheck("-m list-append --keyed keyed.edn").assert();
    let many = histcheck("scale -m list-append --keyed --workers 2 key?d.edn").assert().code(1);
    assert_eq!(stdout(&many), stdout(&one));
}

/// A missing file is an error of that file only; the others are checked.
#[test]
fn a_file_that_is_not_there() {
    let said = histcheck("scale -m list-append --keyed --workers 2 none.edn keyed.edn").assert().code(255);
    assert!(stdout(&said).ends_with("keyed.edn\tfalse\n"), "{}", stdout(&said));
    assert!(stderr(&said).contains("none.edn: error"), "{}", stderr(&said));
}

#[test]
fn the_hostfile_has_to_fit() {
    let dir = tempfile::tempdir().unwrap();
    let hosts = dir.path().join("hosts.txt");
    let with = |text: &str, process: u32| {
        std::fs::write(&hosts, text).unwrap();
        let hosts = hosts.display();
        histcheck(&format!("scale -m list-append --keyed --hostfile {hosts} --process {process} keyed.edn"))
    };
    with("127.0.0.1:4\n", 1).assert().code(254).stderr_eq(str![[r#"
error: --process 1: [..]hosts.txt has 1 addresses, counted from 0
...
"#]]);
    with("127.0.0.1\n", 0).assert().code(254).stderr_eq(str![[r#"
error: --hostfile: [..]hosts.txt: expected host:port, found 127.0.0.1
...
"#]]);
    histcheck("scale -m list-append --keyed --process 0 keyed.edn").assert().code(254);
}

/// The whole network 127.0.0.0/8 is this machine, so each run of these tests uses its own address.
#[cfg(target_os = "linux")]
fn host(port: u16) -> String {
    let [_, a, b, c] = std::process::id().to_be_bytes();
    format!("127.{}.{b}.{c}:{port}", a | 0x80)
}

#[cfg(target_os = "linux")]
#[test]
fn several_processes_agree_or_say_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let run = |at: u16, words: [&str; 2]| {
        let hosts = dir.path().join(format!("hosts-{at}.txt"));
        std::fs::write(&hosts, format!("{} # first\n\n{}\n", host(21_000 + at), host(21_001 + at))).unwrap();
        let one = |process: usize| {
            let hosts = hosts.display();
            let words = words[process];
            histcheck(&format!(
                "scale -m list-append --keyed --workers 2 --hostfile {hosts} --process {process} {words}"
            ))
        };
        std::thread::scope(|scope| {
            let second = scope.spawn(|| one(1).assert());
            [one(0).assert(), second.join().unwrap()]
        })
    };
    let expected = stdout(&histcheck("-m list-append --keyed --output json keyed.edn").assert());
    let [first, second] = run(0, ["--output json keyed.edn", "keyed.edn"]);
    assert_eq!(stdout(&first.code(1)), expected);
    second.code(0).stdout_eq("").stderr_eq("");
    for [first, second] in [
        run(10, ["keyed.edn", "-c serializable keyed.edn"]),
        run(20, ["keyed.edn", "valid.edn"]),
        run(30, ["keyed.edn", "keyed.edn --not-clients 3"]),
        run(40, ["keyed.edn valid.edn", "valid.edn keyed.edn"]),
    ] {
        for one in [first, second] {
            let one = one.code(255).stdout_eq("");
            assert!(stderr(&one).contains("have different"), "{}", stderr(&one));
        }
    }
}

/// Each of two processes has a valid history with the same name and size. Parts of both would not be a history.
#[cfg(target_os = "linux")]
#[test]
fn files_of_one_size_are_not_taken_for_the_same() {
    let dirs = [VALID.to_owned(), VALID.replace("1]", "2]")].map(|history| test_with_log(&history, ""));
    let hosts = dirs[0].path().join("hosts.txt");
    std::fs::write(&hosts, format!("{}\n{}\n", host(21_200), host(21_201))).unwrap();
    let one = |process: usize| {
        let hosts = hosts.display();
        let words = format!("scale -m cas-register --keyed --hostfile {hosts} --process {process} run/history.edn");
        histcheck(&words).current_dir(dirs[process].path()).assert()
    };
    let all = std::thread::scope(|scope| {
        let second = scope.spawn(|| one(1));
        [one(0), second.join().unwrap()]
    });
    for one in all {
        let one = one.code(255).stdout_eq("");
        assert!(stderr(&one).contains("have different histories or contents"), "{}", stderr(&one));
    }
}

/// The error names the process that was not started, and there is no verdict.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_missing_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let hosts = dir.path().join("hosts.txt");
    std::fs::write(&hosts, format!("{}\n{}\n", host(21_100), host(21_101))).unwrap();
    let words =
        format!("scale -m list-append --keyed --connect-timeout 0.2s --hostfile {} --process 0", hosts.display());
    let said = histcheck(&format!("{words} keyed.edn")).assert().code(255).stdout_eq("");
    let expected =
        format!("error: process 1 ({}) could not be reached within 200ms, so there is no verdict", host(21_101));
    assert!(stderr(&said).starts_with(&expected), "{}", stderr(&said));
}
