//! Interrupts: the results so far are printed, and no process remains.

use crate::fixtures;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command, Stdio};

/// Several times the capacity of a pipe: once this much was written, most of it was read.
const PLENTY: usize = 1 << 20;

/// Ops of list-append, at least this many bytes.
fn ops(value: &str) -> String {
    let mut text = String::new();
    while text.len() < PLENTY {
        _ = writeln!(text, r#"{{"process":0,"type":"invoke","f":"txn","value":{value}}}"#);
        _ = writeln!(text, r#"{{"process":0,"type":"ok","f":"txn","value":{value}}}"#);
    }
    text
}

struct Started {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Started {
    fn new(words: &str) -> Started {
        let mut command = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
        command.args(words.split_whitespace()).current_dir(fixtures());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Started { child, said }
    }

    /// Sends a signal to this process only, not to its children.
    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line
    }

    /// The exit code, and what was written to standard output and standard error.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut error) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.said.read_to_string(&mut error).unwrap();
        (self.child.wait().unwrap().code(), out, error)
    }
}

const NOTE: &str = "note: interrupted: printing the verdicts known so far; a second interrupt exits at once\n";

#[test]
fn an_interrupt_tells_what_is_known_and_names_what_was_not_begun() {
    for (signal, words) in
        [("INT", ""), ("TERM", ""), ("INT", "--timeout 1000"), ("TERM", "--max-memory 4000000000 -j 1")]
    {
        let mut started = Started::new(&format!("-m list-append {words} valid.edn - stale.edn keyed.edn"));
        let mut stdin = started.child.stdin.take().unwrap();
        stdin.write_all(ops("[]").as_bytes()).unwrap();
        started.signal(signal);
        // The pipe stays open.
        let (code, out, error) = started.end();
        assert_eq!((code, &out[..]), (Some(255), "valid.edn\ttrue\n-\tunknown\n"), "{words}: {error}");
        let lines: Vec<&str> = error.lines().collect();
        assert!(lines.iter().any(|line| format!("{line}\n") == NOTE), "{words}: {error}");
        let cut = lines.iter().find(|line| line.contains("Interrupted after ")).unwrap();
        assert!(cut.starts_with("<stdin>: unknown: Interrupted after "), "{cut}");
        for name in ["stale.edn", "keyed.edn"] {
            let line = format!("{name}: error: not checked: interrupted before it was started");
            assert!(lines.contains(&&*line), "{words}: {error}");
        }
        assert_eq!(lines.last(), Some(&"4 histories: 1 true, 1 unknown, 2 not checked"), "{words}: {error}");
        assert_eq!(lines.len(), 5, "{words}: {error}");
        drop(stdin);
    }
}

#[test]
fn what_was_broken_before_the_interrupt_is_invalid() {
    for words in ["", "--timeout 1000"] {
        let mut started = Started::new(&format!("-m unique-ids {words} -"));
        let mut stdin = started.child.stdin.take().unwrap();
        let generate = r#"{"process":0,"type":"invoke","f":"generate"}"#;
        let text = format!("{generate}\n{}\n", r#"{"process":0,"type":"ok","f":"generate","value":1}"#).repeat(2);
        stdin.write_all(text.as_bytes()).unwrap();
        // The checker ignores these ops, so it continues to read for long.
        stdin.write_all(ops("[]").as_bytes()).unwrap();
        started.signal("INT");
        let (code, out, error) = started.end();
        assert_eq!((code, &out[..]), (Some(1), "-\tfalse\n"), "{words}: {error}");
    }
}

#[test]
fn an_interrupt_ends_all_jobs() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe.edn");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for words in ["", "--timeout 1000"] {
        let pipe = pipe.to_str().unwrap();
        let mut started = Started::new(&format!("-m list-append -j 2 {words} {pipe} - stale.edn"));
        let mut stdin = started.child.stdin.take().unwrap();
        stdin.write_all(ops("[]").as_bytes()).unwrap();
        // Opening returns once the other process reads.
        let writer = File::options().write(true).open(pipe).unwrap();
        started.signal("INT");
        let (code, out, error) = started.end();
        assert_eq!((code, out), (Some(255), format!("{pipe}\tunknown\n-\tunknown\n")), "{words}: {error}");
        assert!(
            error.contains(&format!("{pipe}: unknown: Interrupted before the first op was read")),
            "{words}: {error}"
        );
        assert!(error.contains("stale.edn: error: not checked"), "{words}: {error}");
        drop((writer, stdin));
    }
}

#[test]
fn a_pipe_that_nobody_opens_can_be_interrupted() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe.edn");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut started = Started::new(&format!("-m list-append unpaired.edn {}", pipe.display()));
    assert!(started.line().starts_with("unpaired.edn:3:3: error: "));
    started.signal("INT");
    let (code, out, error) = started.end();
    // The history may have been started by then, or not.
    match code {
        Some(255) if out.is_empty() => assert!(error.contains("not checked"), "{error}"),
        _ => assert_eq!((code, out), (Some(255), format!("{}\tunknown\n", pipe.display())), "{error}"),
    }
}

#[test]
fn the_second_interrupt_ends_at_once() {
    for words in ["", "--timeout 1000"] {
        // The output is more than a pipe holds, and nothing reads it, so the program cannot end by itself.
        let files = "stale.edn ".repeat(2000);
        let mut started = Started::new(&format!("-m list-append --output json {words} {files}"));
        // Signals are caught once a result was printed.
        started.child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        started.signal("INT");
        loop {
            // This line is among the names of histories that were not checked.
            let line = started.line();
            assert_ne!(line, "", "{words}: it ended by itself");
            if line == NOTE {
                break;
            }
        }
        started.signal("INT");
        assert_eq!(started.child.wait().unwrap().code(), Some(130), "{words}");
    }
}

#[test]
fn no_process_is_left_behind() {
    let mut started = Started::new("-m list-append --timeout 1000 -");
    let mut stdin = started.child.stdin.take().unwrap();
    stdin.write_all(ops("[]").as_bytes()).unwrap();
    started.signal("KILL");
    started.child.wait().unwrap();
    // As long as the process reads, more can be written.
    let more = ops("[]");
    let error = loop {
        if let Err(error) = stdin.write_all(more.as_bytes()) {
            break error;
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}
