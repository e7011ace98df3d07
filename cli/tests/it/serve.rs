//! `histcheck serve`: a server of this program, and a history that it checks.

#![cfg(all(unix, feature = "serve"))]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server that is killed at the end of its test.
struct Served(Child, String);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program() -> Command {
    let mut program = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
    program.arg("serve");
    program
}

fn serve(directory: &std::path::Path) -> Served {
    let mut command = program();
    command
        .args(["--listen", "127.0.0.1:0"])
        .arg(directory)
        .current_dir(directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    Served(child, address)
}

impl Served {
    fn ask(&self, line: &str, body: &str) -> serde_json::Value {
        let mut stream = TcpStream::connect(&self.1).unwrap();
        let (host, length) = (&self.1, body.len());
        write!(
            stream,
            "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn check(&self, query: &str, history: &str) -> serde_json::Value {
        let check = self.ask(&format!("POST /api/check?{query}"), history);
        let address = format!("GET /api/checks/{}", check["id"].as_str().unwrap_or_else(|| panic!("{check}")));
        loop {
            let check = self.ask(&address, "");
            if !["waiting", "running"].contains(&check["stage"].as_str().unwrap()) {
                return check;
            }
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_dropped_history_gets_the_verdict_of_the_command_line() {
    let directory = tempfile::tempdir().unwrap();
    let served = serve(directory.path());
    let history = std::fs::read_to_string("examples/g-single.edn").unwrap();
    let check = served.check("checker=list-append&name=g-single.edn", &history);
    assert_eq!((&check["stage"], &check["result"]["valid"]), (&"done".into(), &false.into()), "{check}");
    let types = check["result"]["anomaly_types"].as_array().unwrap();
    assert!(types.contains(&"G-single-item".into()), "{check}");
    let weaker = served.check("checker=list-append&levels=read-committed", &history);
    assert_eq!(weaker["result"]["valid"], true, "{weaker}");
    let broken = served.check("checker=list-append", "{:process 0, :type :invoke}\n{:process 0 :type :nope}\n");
    assert_eq!(broken["result"]["error"]["line"], 2, "{broken}");
    let no_such_option = served.check("checker=list-append&levels=none-such", &history);
    assert_eq!(no_such_option["stage"], "failed", "{no_such_option}");
    assert!(no_such_option["messages"].as_str().unwrap().contains("none-such"), "{no_such_option}");
}

#[test]
fn a_check_takes_its_options_from_the_page_alone() {
    let ok = |f: &str, value: &str| {
        let op = |kind: &str| format!("{{:process 0, :type {kind}, :f {f}, :value {value}}}\n");
        op(":invoke") + &op(":ok")
    };
    let history = ok(":write", "[0 1]") + &ok(":write", "[1 2]") + &ok(":read", "[0 1]");
    let directory = tempfile::tempdir().unwrap();
    // The directory in which a server is started may contain a profile, which is for other histories.
    std::fs::write(directory.path().join("histcheck.toml"), "[profile.default]\nkeyed = true\nmodel = \"stats\"\n")
        .unwrap();
    let served = serve(directory.path());
    for (keyed, valid) in [("yes", true), ("no", false)] {
        let check = served.check(&format!("checker=register&keyed={keyed}"), &history);
        let told = (&check["result"]["checker"], &check["result"]["valid"]);
        assert_eq!(
            told,
            (&"register".into(), &valid.into()),
            "as one register, it holds what was written to another key"
        );
    }
}

#[test]
fn what_makes_no_sense_is_said_before_anything_is_served() {
    let said = |words: &[&str]| {
        let output = program().args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(254), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&["/nonexistent"]).contains("/nonexistent is not a directory"));
    assert!(said(&["--listen", "0.0.0.0:0"]).contains("needs a token"));
    assert!(said(&["--listen", "8090"]).contains("expected an address and a port"));
    assert!(said(&["--token", "short"]).contains("16 to 256"));
    assert!(said(&["--token", "@/nonexistent"]).contains("cannot read /nonexistent"));
}

#[test]
fn a_check_ends_with_whoever_asked_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let made = Command::new("mkfifo").arg(directory.path().join("h.edn")).status().unwrap();
    assert!(made.success());
    // The pipe has no writer, so the check never ends by itself.
    let script = "\"$1\" report --only-while=$$ -m bank -d d h.edn & echo started; wait";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(snapbox::cmd::cargo_bin!("histcheck")).current_dir(directory.path());
    let mut shell = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = BufReader::new(shell.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    // This is SIGKILL, which cannot be handled.
    shell.kill().unwrap();
    shell.wait().unwrap();
    // Both processes have this output, which ends when the last of them ends.
    output.read_to_string(&mut String::new()).unwrap();
}

/// A command with `--serve`, and its page.
fn with_page(words: &[&str], directory: &std::path::Path) -> (Served, BufReader<std::process::ChildStderr>) {
    let mut command = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
    command.args(words).arg("--serve=127.0.0.1:0").current_dir(directory);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("http://") {
        line.clear();
        assert!(notes.read_line(&mut line).unwrap() > 0, "there is no address");
    }
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    (Served(child, address), notes)
}

#[test]
fn a_watched_history_is_shown_while_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let (mut served, _notes) = with_page(&["watch", "-m", "list-append", "--keep-going", "-"], directory.path());
    let mut writer = served.0.stdin.take().unwrap();
    // The page receives the checked ops, although no more ops arrive.
    let until = |served: &Served, ops: u64| loop {
        let live = served.ask("GET /api/live", "");
        if live["ops"] == ops {
            return live;
        }
        std::thread::yield_now();
    };
    writeln!(writer, "{{:process 1, :type :invoke, :f :txn, :value [[:append :x 1]], :time 0}}").unwrap();
    let live = until(&served, 1);
    assert_eq!(
        (&live["open"], &live["verdict"], &live["about"]["checkers"][0]),
        (&1.into(), &"running".into(), &"list-append".into())
    );
    writeln!(writer, "{{:process 0, :type :invoke, :f :txn, :value [[:r :x nil]], :time 1000}}").unwrap();
    writeln!(writer, "{{:process 0, :type :ok, :f :txn, :value [[:r :x [1]]], :time 4000}}").unwrap();
    writeln!(writer, "{{:process :nemesis, :type :info, :f :start-partition, :value nil}}").unwrap();
    writeln!(writer, "{{:process 1, :type :fail, :f :txn, :value [[:append :x 1]], :time 9000}}").unwrap();
    let live = until(&served, 5);
    assert_eq!(
        (&live["verdict"], &live["violations"][0]["index"], &live["faults"][0]["what"]),
        (&"false".into(), &4.into(), &"partition".into()),
        "{live}"
    );
    assert_eq!(
        (&live["violations"][0]["anomaly_types"][0], &live["ok"], &live["fail"]),
        (&"G1a".into(), &1.into(), &1.into()),
        "{live}"
    );
    assert!(live["violations"][0]["explanation"].as_str().unwrap().contains(":x"), "{live}");
    let medians: Vec<u64> =
        live["columns"].as_array().unwrap().iter().filter_map(|column| column["p50_ns"].as_u64()).collect();
    assert!(medians.iter().any(|median| (3000..=3750).contains(median)), "{medians:?}");
    drop(writer);
    assert_eq!(served.0.wait().unwrap().code(), Some(1), "it ends with its history");
}

#[cfg(all(target_os = "linux", feature = "live-sqlite"))]
#[test]
fn a_killed_watch_leaves_no_directory() {
    use crate::live_process::{Started, until};
    let place = tempfile::tempdir().unwrap();
    let mut program = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
    program.args(["watch", "-m", "counter", "--serve=127.0.0.1:0", "--listen", "127.0.0.1:0"]);
    let mut started = Started::spawn(program, place.path());
    started.until("live at http://");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    started.signal("KILL");
    until("no directory is left", || std::fs::read_dir(place.path()).unwrap().count() == 0);
}

#[test]
fn a_page_stays_until_an_interrupt_if_it_is_asked_to() {
    let directory = tempfile::tempdir().unwrap();
    let words = ["watch", "-m", "register", "--keep-serving", "-"];
    let (mut served, mut notes) = with_page(&words, directory.path());
    drop(served.0.stdin.take());
    let mut line = String::new();
    while !line.contains("press Ctrl-C") {
        line.clear();
        assert!(notes.read_line(&mut line).unwrap() > 0, "it ended");
    }
    let live = served.ask("GET /api/live", "");
    assert!(live["end"].is_object(), "{live}");
    let interrupted = Command::new("kill").args(["-INT", &served.0.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(served.0.wait().unwrap().code(), Some(255), "an empty history is an error, with a page or without");
}

#[cfg(feature = "live")]
#[test]
fn a_run_is_shown_with_its_rows() {
    let directory = tempfile::tempdir().unwrap();
    let words = ["live", "--store", "toy", "--reads", "local", "--latency", "2ms", "-d", "run"];
    let (mut served, mut notes) = with_page(&words, directory.path());
    let mut stream = TcpStream::connect(&served.1).unwrap();
    write!(stream, "GET /api/live HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n\r\n", served.1).unwrap();
    // The page receives updates to the end, which waits for it.
    let mut seen = String::new();
    std::thread::spawn(move || notes.read_to_string(&mut String::new()));
    stream.read_to_string(&mut seen).unwrap();
    let pieces: Vec<serde_json::Value> =
        seen.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    let last = pieces.last().unwrap();
    assert_eq!((&last["end"]["verdict"], &last["verdict"]), (&"false".into(), &"false".into()), "{last}");
    assert!(last["violations"][0]["index"].is_u64() && last["ops"].as_u64().unwrap() > 0, "{last}");
    assert_eq!((&pieces[0]["about"]["name"], &pieces[0]["about"]["has_rows"]), (&"toy".into(), &true.into()));
    assert_eq!(served.0.wait().unwrap().code(), Some(1));
}

#[test]
fn a_page_answers_to_its_own_names_and_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (served, _notes) = with_page(&["watch", "-m", "bank", "-"], directory.path());
    let status = |line: &str, headers: &str| {
        let mut stream = TcpStream::connect(&served.1).unwrap();
        write!(stream, "{line} HTTP/1.1\r\nConnection: close\r\n{headers}Content-Length: 0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    for path in ["/live", "/api/live", "/"] {
        assert_eq!(status(&format!("GET {path}"), "Host: localhost\r\n"), 200, "{path}");
        assert_eq!(status(&format!("GET {path}"), "Host: evil.example\r\n"), 403, "{path}");
    }
    let followed = "Host: evil.example\r\nAccept: text/event-stream\r\n";
    assert_eq!(status("GET /api/live", followed), 403, "DNS that leads a foreign name to us");
    for (line, origin) in
        [("POST /api/check?checker=bank", ""), ("POST /api/suggest", "Origin: http://evil.example\r\n")]
    {
        assert_eq!(status(line, &format!("Host: localhost\r\n{origin}")), 403, "{line}");
    }
    for path in ["/files/../history.edn", "/zip/.", "/rows/."] {
        assert_eq!(status(&format!("GET {path}"), "Host: localhost\r\n"), 404, "{path}: there are no files");
    }
}

#[test]
fn a_page_is_for_this_machine_alone() {
    for address in ["0.0.0.0:8090", "192.168.1.1:1", "8090"] {
        let mut command = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
        let output = command.args(["watch", "-m", "bank", "-"]).arg(format!("--serve={address}")).output().unwrap();
        assert_eq!(output.status.code(), Some(254), "{address}");
    }
}
