//! `histcheck watch`: verdicts while a history is being written.

use super::{histcheck, stderr, stdout};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

pub(super) const READ_OF_1: &str = r#"{"process":0,"type":"invoke","f":"read","value":null}
{"process":0,"type":"ok","f":"read","value":1}
"#;

/// An add of 1, and a read of the counter.
pub(super) fn counted(reads: i64) -> String {
    format!(
        r#"{{"process":0,"type":"invoke","f":"add","value":1}}
{{"process":0,"type":"ok","f":"add","value":1}}
{{"process":0,"type":"invoke","f":"read","value":null}}
{{"process":0,"type":"ok","f":"read","value":{reads}}}
"#
    )
}

/// A watch in progress, and its standard error, line by line.
pub(super) struct Started {
    pub(super) child: Child,
    said: BufReader<std::process::ChildStderr>,
}

impl Started {
    pub(super) fn new(words: &str) -> Started {
        let mut command = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
        command.args(words.split_whitespace());
        Started::spawn(&mut command)
    }

    pub(super) fn spawn(command: &mut Command) -> Started {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Started { child, said }
    }

    pub(super) fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line
    }

    /// The address on which it listens, from its first line.
    pub(super) fn address(&mut self) -> String {
        let line = self.line();
        line.trim().strip_prefix("note: listening on ").unwrap_or_else(|| panic!("{line}")).to_owned()
    }

    /// Appends the rest of its standard error.
    #[cfg(unix)]
    pub(super) fn rest(&mut self, rest: &mut String) {
        self.said.read_to_string(rest).unwrap();
    }

    #[cfg(unix)]
    pub(super) fn interrupt(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }

    /// The exit code and what was printed, once it has ended.
    pub(super) fn end(mut self) -> (Option<i32>, String) {
        let mut printed = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        (self.child.wait().unwrap().code(), printed)
    }
}

#[test]
fn a_pipe_is_judged_when_it_ends() {
    let valid = histcheck("watch -m counter").stdin(counted(1)).assert().code(0);
    assert!(stdout(&valid).starts_with("-\ttrue\n"), "{}", stdout(&valid));
    // The checker knows the violation only at the end.
    let invalid = histcheck("watch -m list-append -")
        .stdin(READ_OF_1.replace("\"value\":1", "\"value\":[[\"r\",1,[1]]]"))
        .assert();
    assert!(stdout(&invalid).starts_with("-\t"), "{}", stdout(&invalid));
}

/// At a limit, a violation that was found is reported; otherwise the verdict is unknown.
#[test]
fn a_limit_ends_the_watch() {
    let limited = histcheck("watch -m counter --max-memory 1").stdin(counted(1)).assert().code(2);
    assert!(stdout(&limited).starts_with("-\tunknown\n"), "{}", stdout(&limited));
    assert!(stdout(&limited).contains("the memory limit of 1 bytes was reached"), "{}", stdout(&limited));
    let violated = histcheck("watch -m counter --max-memory 1 --keep-going").stdin(counted(7)).assert().code(1);
    let last = stdout(&violated);
    assert!(last.contains("The watch ended after 4 ops: the memory limit"), "{last}");
    histcheck("watch -m counter --max-memory 99000000000 --timeout 9000").stdin(counted(1)).assert().code(0);
    // Its standard input remains open.
    let (code, printed) = Started::new("watch -m counter --timeout 0.001").end();
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("The watch ended after 0 ops: the time limit of 0.001 s was reached"), "{printed}");
    histcheck("watch -m counter --timeout 0").stdin(counted(1)).assert().code(254);
}

/// Stale reads of list-append, one per key.
pub(crate) fn stale_reads(keys: std::ops::Range<u32>) -> String {
    let op = |process: u32, kind: &str, mop: String| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"txn\",\"value\":[{mop}]}}\n")
    };
    let stale = |key: u32| {
        let (append, read) = (format!("[\"append\",{key},1]"), format!("[\"r\",{key},[]]"));
        let written = op(0, "invoke", append.clone()) + &op(0, "ok", append);
        written + &op(1, "invoke", format!("[\"r\",{key},null]")) + &op(1, "ok", read)
    };
    keys.map(stale).collect()
}

/// Each op that proves a violation is reported, up to a limit, and all are counted.
#[test]
fn violations_after_the_first_are_reported() {
    let text = stale_reads(0..103);
    let first = stdout(&histcheck("watch -m list-append").stdin(text.clone()).assert().code(1));
    assert_eq!(first.matches("-\tfalse\n").count(), 1, "{first}");
    assert!(first.contains("The violation was found at the op at index 3 (line 4)"), "{first}");
    let all = stdout(&histcheck("watch -m list-append --keep-going").stdin(text).assert().code(1));
    assert_eq!(all.matches("-\tfalse\n").count(), 101, "{all}");
    assert!(all.contains("The violation was found at the op at index 7 (line 8)"), "{all}");
    assert_eq!(all.matches("Further violations are counted, but not reported.").count(), 1, "{all}");
    assert!(all.contains("103 ops proved a violation, the last one at index 411."), "{all}");
}

/// Each of several checkers is watched as if it were alone; the first violation of any ends the watch.
#[test]
fn several_checkers_are_watched_at_once() {
    let text = stale_reads(0..3);
    let said = stdout(&histcheck("watch -m stats,list-append").stdin(text.clone()).assert().code(1));
    assert!(said.contains("The violation was found at the op at index 3 (line 4)"), "{said}");
    assert!(said.contains("list-append: false"), "{said}");
    let all = histcheck("watch -m stats,rw-register").stdin(text).assert();
    assert!(
        stderr(&all).contains("note: at strict-serializable, rw-register keeps all transactions"),
        "{}",
        stderr(&all)
    );
}

/// Below read committed, a prefix may violate a level that the whole satisfies.
#[test]
fn at_read_uncommitted_a_violation_is_of_the_history_so_far() {
    let op = |process: u32, kind: &str, value: &str| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"txn\",\"value\":[{value}]}}\n")
    };
    let (first, second) = (r#"["append",1,1],["append",2,1]"#, r#"["append",1,2],["append",2,2]"#);
    let crossed = op(0, "invoke", first)
        + &op(1, "invoke", second)
        + &op(1, "ok", second)
        + &op(2, "invoke", r#"["r",1,null],["r",2,null]"#)
        + &op(2, "ok", r#"["r",1,[1,2]],["r",2,[2,1]]"#);
    let text = crossed + &op(0, "fail", first);
    let so_far =
        "The history up to here is violated. A transaction that fails later, or a read that contradicts an earlier";
    let watch = "watch -m list-append -c read-uncommitted";
    let stopped = stdout(&histcheck(watch).stdin(text.clone()).assert().code(1));
    assert!(stopped.contains("-\tfalse") && stopped.contains(so_far) && stopped.contains("\n  G0\n"), "{stopped}");
    assert!(stopped.contains("The violation was found at the op at index 4 (line 5)"), "{stopped}");
    // The history continues, and the failed op removes the violation.
    let whole = stdout(&histcheck(&format!("{watch} --keep-going")).stdin(text.clone()).assert().code(0));
    let (found, end) = whole.split_once("-\ttrue\n").unwrap();
    assert!(found.contains("-\tfalse") && found.contains(so_far), "{whole}");
    assert!(
        end.contains("The ops up to index 4 violate what the whole history obeys.") && !end.contains("proved"),
        "{end}"
    );
    assert_eq!(stdout(&histcheck("-m list-append -c read-uncommitted -").stdin(text).assert().code(0)), "-\ttrue\n");
}

/// At the start, a watch warns about memory that may grow.
#[test]
fn what_may_grow_is_said_at_the_start() {
    let text = "{\"process\":0,\"type\":\"invoke\",\"f\":\"txn\",\"value\":[]}\n";
    let said = |words: &str| stderr(&histcheck(words).stdin(text).assert().code(2));
    assert_eq!(said("watch -m list-append"), "");
    assert_eq!(said("watch -m rw-register --linearizable-keys"), "");
    let all = said("watch -m rw-register");
    assert!(all.contains("note: at strict-serializable, rw-register keeps all transactions, up to 200000"), "{all}");
    assert!(all.contains("--linearizable-keys"), "{all}");
    let serializable = said("watch -m list-append -c serializable");
    assert!(serializable.contains("unless the history is strict-serializable"), "{serializable}");
    let whole = said("watch -m list-append -c consistent-view");
    let note =
        "list-append keeps the whole history in memory, twice, and judges it again whenever it has grown by an eighth";
    assert!(whole.contains(note), "{whole}");
    let ordered = tempfile::NamedTempFile::new().unwrap();
    let order = ordered.path().display();
    let whole = said(&format!("watch -m rw-register --transaction-order {order}"));
    assert!(whole.contains("note: rw-register keeps the whole history in memory, and reports violations at its end"));
}

/// The watch warns at once that there will be no verdict.
#[test]
fn what_will_stay_unknown_is_said_at_once() {
    let op = |kind: &str, mop: &str| {
        format!("{{\"process\":0,\"type\":\"{kind}\",\"f\":\"txn\",\"value\":[[\"{mop}\",1,1]]}}\n")
    };
    let text = [op("invoke", "append"), op("ok", "add"), op("invoke", "append"), op("ok", "add")].concat();
    let ended = histcheck("watch -m list-append,unhandled-exceptions").stdin(text).assert().code(2);
    let said = stderr(&ended);
    let warning = "warning: list-append does not understand the op at index 1, so the verdict will not be true: ";
    assert_eq!(said.matches("warning: ").count(), 1, "{said}");
    assert!(said.contains(warning), "{said}");
}

#[test]
fn a_pipe_that_ends_within_the_history_is_an_error() {
    let text = format!("[{}", counted(1).trim_end().replace('\n', ",\n"));
    for cut in [
        "[",
        &text[..text.len()],
        &text[..text.len() - 7],
        "[{\"type\":\"invoke\"}",
        "{\"type\":\"invoke\"}\n{\"type\"",
    ] {
        let watched = histcheck("watch -m counter").stdin(cut.to_owned()).assert().code(255);
        let judged = histcheck("-m counter -").stdin(cut.to_owned()).assert().code(255);
        assert_eq!(stderr(&watched), stderr(&judged));
        assert!(stderr(&watched).contains("error: "), "{}", stderr(&watched));
        assert_eq!(stdout(&watched), "");
    }
    histcheck("watch -m counter").stdin(format!("{text}]")).assert().code(0);
}

/// An interrupt may arrive at any time, and a file is followed while it is being written.
#[cfg(unix)]
#[test]
fn a_history_that_is_cut_counts_up_to_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.json");
    let text = format!("[{}", counted(7).trim_end().replace('\n', ",\n"));
    for (cut, is_file) in [(0, true), (7, true), (0, false), (7, false)] {
        let text = format!("{},\n{{\"process\":0", &text[..text.len()]);
        let text = &text[..text.len() - cut];
        let file = if is_file { path.to_str().unwrap() } else { "-" };
        std::fs::write(&path, text).unwrap();
        let mut started = Started::new(&format!("watch --keep-going -m counter {file}"));
        let mut writer = started.child.stdin.take().unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        // The output shows that the history was read.
        let mut printed = BufReader::new(started.child.stdout.take().unwrap());
        printed.read_line(&mut String::new()).unwrap();
        started.interrupt();
        let mut rest = String::new();
        printed.read_to_string(&mut rest).unwrap();
        assert!(rest.contains(&format!("{file}\tfalse")), "{rest}");
        assert_eq!(started.child.wait().unwrap().code(), Some(1));
        assert!(started.line().contains("incomplete op at line 5"), "{file}");
    }
}

/// Makes a pipe with a name.
#[cfg(unix)]
fn named_pipe(dir: &std::path::Path) -> std::path::PathBuf {
    let path = dir.join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_as_standard_input_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = named_pipe(dir.path());
    for (text, code) in [(counted(1), 0), (counted(7), 1), ("[".to_owned(), 255)] {
        let started = Started::new(&format!("watch -m counter {}", path.display()));
        std::fs::write(&path, text).unwrap();
        let (got, printed) = started.end();
        assert_eq!(got, Some(code), "{printed}");
        assert_eq!(printed.starts_with(path.to_str().unwrap()), code < 255, "{printed}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_wait_for_a_pipes_writer() {
    let dir = tempfile::tempdir().unwrap();
    let path = named_pipe(dir.path());
    let mut started = Started::new(&format!("watch -m counter {}", path.display()));
    // SIGINT is the second signal for which the watch sets a handler; before that, it would kill the process.
    let status = format!("/proc/{}/status", started.child.id());
    let catches = |status: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim().to_owned();
        u64::from_str_radix(&mask, 16).unwrap() & 0b10 != 0
    };
    while !catches(&std::fs::read_to_string(&status).unwrap()) {
        std::thread::yield_now();
    }
    started.interrupt();
    assert!(started.line().contains("it contains no op"));
    assert_eq!(started.end(), (Some(255), String::new()));
}

#[test]
fn bad_text_is_an_error_with_its_place() {
    let assert =
        histcheck("watch -m counter").stdin("{\"type\":\"invoke\",\"process\":0}\n{\"type\":\"nope\"}\n").assert();
    let assert = assert.code(255);
    assert!(stderr(&assert).starts_with("<stdin>:2:1: error: the op's type is"), "{}", stderr(&assert));
    assert_eq!(stdout(&assert), "");
}

#[test]
fn writers_connect_and_the_last_one_ends_the_history() {
    let mut started = Started::new("watch -m counter --listen 127.0.0.1:0 --until-closed --output json");
    let address = started.address();
    let mut writers = [0, 1].map(|_| BufReader::new(TcpStream::connect(&address).unwrap()));
    // Valid whichever client is read first.
    let added = counted(1).replace("\"process\":0", "\"process\":1").replace("\"value\":1", "\"value\":0");
    let end = added.match_indices('\n').nth(1).unwrap().0 + 1;
    for (writer, text) in writers.iter_mut().zip([&counted(1), &added[..end]]) {
        for line in text.split_inclusive('\n') {
            writer.get_mut().write_all(line.as_bytes()).unwrap();
            if line.contains("invoke") {
                let mut ack = String::new();
                writer.read_line(&mut ack).unwrap();
                assert!(ack.starts_with("{\"ack\":"), "{ack}");
            }
        }
    }
    drop(writers);
    let (code, printed) = started.end();
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("\"valid\":true") && printed.contains("\"client-op-count\":6"), "{printed}");
    assert!(printed.contains(&format!("\"file\":\"{address}\"")), "the port is the one it got: {printed}");
}

/// The watch has printed something before the interrupt, so it has read up to there.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("h.sock");
    let mut started = Started::new(&format!("watch -m counter --keep-going --listen unix:{}", socket.display()));
    assert!(started.line().contains("listening"));
    let mut writer = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    writer.write_all(counted(7).as_bytes()).unwrap();
    let mut printed = BufReader::new(started.child.stdout.take().unwrap());
    let mut first = String::new();
    printed.read_line(&mut first).unwrap();
    assert_eq!(first, format!("unix:{}\tfalse\n", socket.display()));
    started.interrupt();
    let mut rest = String::new();
    printed.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("The history continues."), "{rest}");
    assert!(rest.contains(&first), "the verdict on all of it comes at the end: {rest}");
    assert_eq!(started.child.wait().unwrap().code(), Some(1));
    assert!(!socket.exists(), "a socket's file goes with it");
}

/// The content of the file at the time of the interrupt counts, although the file was not read for a while.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_file_where_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.jsonl");
    for (text, verdict) in [(counted(7), "false"), (counted(1), "true")] {
        let mut started = Started::new(&format!("watch --keep-going -m register {}", path.display()));
        assert!(started.line().contains("does not exist yet"));
        std::fs::write(&path, text.replace("add", "write")).unwrap();
        started.interrupt();
        let (_, printed) = started.end();
        let last = printed.lines().rfind(|line| line.starts_with(path.to_str().unwrap())).unwrap();
        assert!(last.ends_with(&format!("\t{verdict}")), "{printed}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn nobody_listens_in_the_place_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("precious");
    std::fs::write(&path, "history").unwrap();
    let assert = histcheck(&format!("watch -m counter --listen unix:{}", path.display())).assert().code(255);
    assert!(stderr(&assert).contains("a file that is not a socket"), "{}", stderr(&assert));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "history");
}

#[test]
fn a_violation_ends_the_watch_while_writers_go_on() {
    for (model, text) in [("counter", counted(7)), ("register", READ_OF_1.to_owned())] {
        let mut started = Started::new(&format!("watch -m {model}"));
        let mut writer = started.child.stdin.take().unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        // The pipe remains open, but the watch ends.
        let (code, printed) = started.end();
        assert_eq!(code, Some(1), "{model}: {printed}");
        assert!(printed.starts_with("-\tfalse\n  note: The violation was found at the op at index "), "{printed}");
        drop(writer);
    }
}

#[test]
fn what_makes_no_sense_is_wrong_usage() {
    for (words, why) in [
        ("watch", "missing -m"),
        ("watch -m counter --listen 0.0.0.0:1", "other machines"),
        ("watch -m counter --listen 127.0.0.1:1 file", "cannot be used with"),
        #[cfg(unix)]
        ("watch -m counter --listen unix-datagram:h.sock --until-closed", "has no connections"),
        ("watch -m counter --listen 127.0.0.1:1 -f intervals", "found format intervals"),
        ("watch -m counter --until-closed", "--listen"),
        ("watch -m counter a b", "unexpected argument"),
    ] {
        let assert = histcheck(words).assert().code(254);
        assert!(stderr(&assert).contains(why), "{words}: {}", stderr(&assert));
    }
}

/// The output names the op at which the violation is certain, and later ops are not read.
#[test]
fn transactions_are_judged_op_by_op() {
    let op = |process: u32, kind: &str, value: &str| {
        format!("{{\"type\":\"{kind}\",\"process\":{process},\"f\":\"txn\",\"value\":{value}}}\n")
    };
    let stale = [
        op(0, "invoke", r#"[["append",1,1]]"#),
        op(0, "ok", r#"[["append",1,1]]"#),
        op(1, "invoke", r#"[["r",1,null]]"#),
        op(1, "ok", r#"[["r",1,[]]]"#),
        op(1, "invoke", r#"[["r",1,null]]"#),
    ]
    .concat();
    let watched = histcheck("watch -m list-append --output json").stdin(stale.clone()).assert().code(1);
    let printed = stdout(&watched);
    assert!(printed.contains("The violation was found at the op at index 3 (line 4)."), "{printed}");
    assert!(printed.contains("G-single-item-realtime"), "{printed}");
    // A stale read is serializable.
    histcheck("watch -m list-append -c serializable").stdin(stale).assert().code(0);
}

/// A watch that ends at a violation has not seen the end, so it reports nothing that depends on the end.
#[test]
fn nothing_is_lost_where_a_violation_ends_the_watch() {
    let op = |process: u32, f: &str, asked: &str, got: &str| {
        let line = |kind: &str, value: &str| format!("{{:process {process}, :type {kind}, :f {f}, :value {value}}}\n");
        line(":invoke", asked) + &line(":ok", got)
    };
    let history = op(0, ":send", "[[:send 0 1]]", "[[:send 0 [0 1]]]")
        + &op(2, ":txn", "[[:send 0 2]]", "[[:send 0 [1 2]]]")
        + &op(1, ":txn", "[[:send 1 7] [:poll]]", "[[:send 1 [0 7]] [:poll {1 [[0 7]], 0 [[1 2]]}]]")
        + &op(0, ":poll", "[[:poll]]", "[[:poll {0 [[0 1] [1 2]], 1 [[0 7]]}]]");
    for models in ["kafka", "kafka,stats"] {
        let words = format!("watch --output json -m {models} -");
        let said = stdout(&histcheck(&words).stdin(history.clone()).assert().code(1));
        let line: serde_json::Value = serde_json::from_str(&said).unwrap();
        let kafka = if models == "kafka" { &line } else { &line["checkers"]["kafka"] };
        assert_eq!(kafka["anomaly_types"], serde_json::json!(["precommitted-read"]), "{said}");
    }
}

/// Ops of transactions, as `process kind [micro-ops]` per line.
fn txns(lines: &str) -> String {
    let op = |line: &str| {
        let [process, kind, value] = line.trim().splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        format!("{{:process {process}, :type :{kind}, :f :txn, :value {value}}}\n")
    };
    lines.trim().lines().map(op).collect()
}

/// A value that is read before it is written only contradicts real time.
#[test]
fn a_value_read_too_early_rules_out_levels_with_real_time_alone() {
    let lists = txns("0 invoke [[:r 0 nil]]\n0 ok [[:r 0 [1]]]\n1 invoke [[:append 0 1]]\n1 ok [[:append 0 1]]");
    let registers = lists.replace(":append", ":w").replace("[:r 0 [1]]", "[:r 0 1]");
    for (model, history) in
        [("list-append", &lists), ("isolation", &lists), ("rw-register", &registers), ("isolation", &registers)]
    {
        let words = format!("watch -m {model} -c strict-serializable --output json -");
        let said = stdout(&histcheck(&words).stdin(history.clone()).assert().code(1));
        let line: serde_json::Value = serde_json::from_str(&said).unwrap();
        let has = |list: &str, level: &str| line[list].as_array().unwrap().contains(&level.into());
        assert!(has("not", "strict-serializable"), "{model}: {said}");
        for level in ["read-committed", "serializable", "snapshot-isolation"] {
            assert!(has("not_checked", level), "{model}, {level}: {said}");
        }
        histcheck(&format!("watch -m {model} -c serializable -")).stdin(history.clone()).assert().code(0);
    }
}
