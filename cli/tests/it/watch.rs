//! `histcheck watch`: verdicts while a history is being written.

use super::{histcheck, stderr, stdout};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

const READ_OF_1: &str = r#"{"process":0,"type":"invoke","f":"read","value":null}
{"process":0,"type":"ok","f":"read","value":1}
"#;

/// Adds to 1, and a read of it.
fn counted(reads: i64) -> String {
    format!(
        r#"{{"process":0,"type":"invoke","f":"add","value":1}}
{{"process":0,"type":"ok","f":"add","value":1}}
{{"process":0,"type":"invoke","f":"read","value":null}}
{{"process":0,"type":"ok","f":"read","value":{reads}}}
"#
    )
}

/// A watch that was started, and its standard error, line by line.
struct Started {
    child: Child,
    said: BufReader<std::process::ChildStderr>,
}

impl Started {
    fn new(words: &str) -> Started {
        let mut child = Command::new(snapbox::cmd::cargo_bin!("histcheck"))
            .args(words.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Started { child, said }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line
    }

    /// The exit code and what was printed, once it has ended.
    fn end(mut self) -> (Option<i32>, String) {
        let mut printed = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        (self.child.wait().unwrap().code(), printed)
    }
}

#[test]
fn a_pipe_is_judged_when_it_ends() {
    let valid = histcheck("watch -m counter").stdin(counted(1)).assert().code(0);
    assert!(stdout(&valid).starts_with("-\ttrue\n"), "{}", stdout(&valid));
    // What a checker knows only at the end comes then.
    let invalid = histcheck("watch -m list-append -")
        .stdin(READ_OF_1.replace("\"value\":1", "\"value\":[[\"r\",1,[1]]]"))
        .assert();
    assert!(stdout(&invalid).starts_with("-\t"), "{}", stdout(&invalid));
}

#[test]
fn a_history_that_is_cut_counts_up_to_there() {
    let text = format!("[{}", counted(1).trim_end().replace('\n', ",\n"));
    for cut in [0, 7] {
        let assert = histcheck("watch -m counter").stdin(text[..text.len() - cut].to_owned()).assert();
        // The only read is what is cut off, and without one there is nothing to check.
        let assert = assert.code(if cut > 0 { 2 } else { 0 });
        assert_eq!(stderr(&assert).contains("the end cuts the op at line 4"), cut > 0, "{}", stderr(&assert));
    }
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
    let line = started.line();
    let address = line.trim().strip_prefix("note: listening on ").unwrap().to_owned();
    let mut first = TcpStream::connect(&address).unwrap();
    let mut second = TcpStream::connect(&address).unwrap();
    first.write_all(counted(1).as_bytes()).unwrap();
    // Valid whoever is heard first.
    let added = counted(1).replace("\"process\":0", "\"process\":1").replace("\"value\":1", "\"value\":0");
    second.write_all(added.lines().take(2).flat_map(|line| [line, "\n"]).collect::<String>().as_bytes()).unwrap();
    drop((first, second));
    let (code, printed) = started.end();
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("\"valid\":true") && printed.contains("\"client-op-count\":6"), "{printed}");
}

/// An interrupt of a watch that has just said something, so that it is known to have read so far.
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
    let pid = started.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut rest = String::new();
    printed.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("The history goes on."), "{rest}");
    assert!(rest.contains(&first), "the verdict on all of it comes at the end: {rest}");
    assert_eq!(started.child.wait().unwrap().code(), Some(1));
    assert!(!socket.exists(), "a socket's file goes with it");
}

/// What stands in the file when the interrupt comes counts, though nobody has looked for a while.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_file_where_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.jsonl");
    for (text, verdict) in [(counted(7), "false"), (counted(1), "true")] {
        let mut started = Started::new(&format!("watch --keep-going -m register {}", path.display()));
        assert!(started.line().contains("does not exist yet"));
        let pid = started.child.id().to_string();
        std::fs::write(&path, text.replace("add", "write")).unwrap();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
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
    assert!(stderr(&assert).contains("there is something that is no socket"), "{}", stderr(&assert));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "history");
}

#[test]
fn a_violation_ends_the_watch_while_writers_go_on() {
    for (model, text) in [("counter", counted(7)), ("register", READ_OF_1.to_owned())] {
        let mut started = Started::new(&format!("watch -m {model}"));
        let mut writer = started.child.stdin.take().unwrap();
        writer.write_all(text.as_bytes()).unwrap();
        // The pipe stays open, and the watch ends all the same.
        let (code, printed) = started.end();
        assert_eq!(code, Some(1), "{model}: {printed}");
        assert!(printed.starts_with("-\tfalse\n  note: This has been certain since the op at index "), "{printed}");
        drop(writer);
    }
}

#[test]
fn what_makes_no_sense_is_wrong_usage() {
    for (words, why) in [
        ("watch", "say with -m"),
        ("watch -m counter --listen 0.0.0.0:1", "other machines"),
        ("watch -m counter --listen 127.0.0.1:1 file", "cannot be used with"),
        ("watch -m counter --until-closed", "--listen"),
        ("watch -m counter a b", "unexpected argument"),
    ] {
        let assert = histcheck(words).assert().code(254);
        assert!(stderr(&assert).contains(why), "{words}: {}", stderr(&assert));
    }
}
