//! `histcheck live` with stores that require no installation: SQLite, commands, and nodes on a simulated network.

use crate::live_process::Started;
use crate::{stderr, stdout};
use serde_json::Value;
use snapbox::cmd::{Command, OutputAssert};
use std::fs;
use std::io::BufRead as _;
use std::path::Path;

/// Runs it with these words, and with others that may contain spaces.
pub(crate) fn live(words: &str, more: &[&str]) -> OutputAssert {
    let program = Command::new(snapbox::cmd::cargo_bin!("histcheck")).arg("live");
    program.args(words.split_whitespace()).args(more).env_remove("CLICOLOR_FORCE").assert()
}

fn text(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap()
}

#[test]
fn without_locks_sqlite_is_refused_with_evidence() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("run");
    let path = directory.to_str().unwrap();
    let run = live("--store sqlite --locks none --seed 3 -d", &[path]).code(1);
    let said = stdout(&run);
    assert!(said.starts_with(&format!("{path}/history.jsonl\tfalse\n")), "{said}");
    assert!(said.contains("seed 3.") && said.contains("The violation was proved by the op at index"), "{said}");
    let (history, page) = (text(&directory, "history.jsonl"), text(&directory, "report.html"));
    assert!(history.lines().count() > 10 && page.contains("content=\"false\""));
    assert!(text(&directory, "run.json").contains(r#""--seed","3""#) && directory.join("logs").is_dir());
    // The minimal history shows the violation, too.
    let minimal = directory.join("minimal.jsonl");
    assert!(text(&directory, "minimal.jsonl").lines().count() < history.lines().count());
    crate::check(minimal.to_str().unwrap()).code(1);
    // Another run replaces the files of this one. The history of another program is kept.
    live("--store sqlite --ops 200 -d", &[path]).code(0);
    assert!(!minimal.exists());
    fs::remove_file(directory.join("run.json")).unwrap();
    let refused = live("--store sqlite --ops 200 -d", &[path]).code(255);
    assert!(stderr(&refused).contains("choose another directory"), "{}", stderr(&refused));
}

#[test]
fn a_run_is_run_again() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    live("--store toy --faults isolate --every 20ms --longer 5ms --timeout 50ms --minutes 0.06 -d", &[&path("a")])
        .code(0);
    live("", &["--replay", &path("a"), "-d", &path("b")]).code(0);
    // The operations of a client depend only on the seed, except where they depend on results: which key is read, and
    // when.
    let asked = |name: &str| -> Vec<String> {
        let history = text(&place.path().join(name), "history.jsonl");
        let ops = history.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let of_first = ops.filter(|op| op["type"] == "invoke" && op["process"] == 0);
        of_first.map(|op| format!("{} {}", op["f"], op["key"])).take(20).collect()
    };
    let (first, second) = (asked("a"), asked("b"));
    // A client whose request timed out continues as another process after some time.
    let both = first.len().min(second.len());
    assert!(both > 0 && first[..both] == second[..both], "{first:?} {second:?}");
    // The faults are those of the schedule.
    let begun = |name: &str| -> Vec<Value> {
        let schedule = text(&place.path().join(name), "schedule.jsonl");
        let steps = schedule.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        steps.filter(|step| step["step"] == "begin").map(|step| step["nodes"].clone()).collect()
    };
    let (first, second) = (begun("a"), begun("b"));
    let both = first.len().min(second.len());
    assert!(both > 0 && first[..both] == second[..both], "{first:?} {second:?}");
    let refused = live("", &["--replay", &path("a"), "-d", &path("a")]).code(254);
    assert!(stderr(&refused).contains("overwrite"), "{}", stderr(&refused));
    live("", &["--replay", &path("nowhere")]).code(254);
}

#[test]
fn reads_from_backups_are_refused_and_those_from_the_primary_are_not() {
    let lazy = live("--store toy --reads local --latency 2ms", &[]).code(1);
    let said = stdout(&lazy);
    assert!(said.starts_with("toy\tfalse\n") && said.contains("The violation was proved by the op at index"), "{said}");
    assert!(said.contains("Nodes and faults:") && said.contains("through n"), "{said}");
    let strict = live("--store toy --ops 2000 --output json", &[]).code(0);
    let report: Value = serde_json::from_str(&stdout(&strict)).unwrap();
    assert_eq!(report["valid"], true);
}

/// A client that runs transactions: it reads a transaction, and writes it with the results of its reads.
const CLIENT: &str = r#"
import json, os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)
db.execute("create table if not exists lists (k integer primary key, v text)")
for line in sys.stdin:
    try:
        db.execute("begin immediate")
        out = []
        for f, key, value in json.loads(line)["value"]:
            row = db.execute("select v from lists where k = ?", (key,)).fetchone()
            held = json.loads(row[0]) if row else []
            if f == "append" and (sys.argv[2] == "sound" or value % 7 > 0):
                db.execute("insert or replace into lists values (?, ?)", (key, json.dumps(held + [value])))
            out.append([f, key, held if f == "r" else value])
        db.execute("commit")
        answer = {"type": "ok", "value": out}
    except sqlite3.Error as error:
        try:
            db.execute("rollback")
        except sqlite3.Error:
            pass
        answer = {"type": "fail", "error": str(error)}
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn clients_of_any_language_are_driven() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("client.py"), CLIENT).unwrap();
    let client = |how: &str| format!("python3 {0}/client.py {0}/{how}.db {how}", place.path().display());
    let sound = live("-m list-append --ops 300 --clients 4 --timeout 20s --exec", &[&client("sound")]).code(0);
    assert!(stdout(&sound).starts_with("exec\ttrue\n"), "{}", stdout(&sound));
    // One append in seven is acknowledged and lost.
    live("-m list-append --ops 300 --clients 4 --timeout 20s --exec", &[&client("lossy")]).code(1);
}

#[test]
fn clients_on_other_machines_are_driven() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("client.py"), CLIENT).unwrap();
    let client = format!("python3 {0}/client.py {0}/db sound", place.path().display());
    let (mut workers, mut addresses) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let (worker, address) = Worker::start(&client);
        workers.push(worker);
        addresses.push(address);
    }
    let run = live("-m list-append --ops 300 --clients 4 --timeout 20s --workers", &[&addresses.join(",")]).code(0);
    assert!(stdout(&run).starts_with("workers\ttrue\n"), "{}", stdout(&run));
    drop(workers);
    let run = live("-m list-append --ops 300 --workers", &[&addresses.join(",")]).code(255);
    assert!(stderr(&run).contains("cannot connect to the worker at"), "{}", stderr(&run));
}

/// A worker process, which is killed at the end.
struct Worker(std::process::Child);

impl Worker {
    /// Starts a worker. Returns the address on which it listens.
    fn start(client: &str) -> (Worker, String) {
        let mut command = std::process::Command::new(snapbox::cmd::cargo_bin!("histcheck"));
        command.args(["live", "worker", "--listen", "127.0.0.1:0", "--", client]).stdout(std::process::Stdio::piped());
        let mut worker = command.spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(worker.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening at ").unwrap().to_owned();
        (Worker(worker), address)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended by itself, which the test then shows.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn nothing_tested_is_never_valid() {
    let refuses = r#"while read -r line; do echo '{"type":"fail","error":"closed on Sundays"}'; done"#;
    let run = live("-m list-append --ops 100 --exec", &[refuses]).code(255);
    assert!(stderr(&run).contains("no operation succeeded") && stdout(&run).is_empty(), "{}", stderr(&run));
    let run = live("--store toy --faults isolate --every 1h --ops 100", &[]).code(255);
    assert!(stderr(&run).contains("before a fault took effect"), "{}", stderr(&run));
}

/// A run that does not begin leaves the history of an earlier one.
#[test]
fn a_run_that_does_not_begin_keeps_the_earlier_one() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("run");
    let path = directory.to_str().unwrap();
    live("--store sqlite --locks none --seed 3 -d", &[path]).code(1);
    let names = ["history.jsonl", "schedule.jsonl", "run.json", "report.html", "minimal.jsonl"];
    let earlier = names.map(|name| text(&directory, name));
    for (command, why) in [
        ("no-such-command", "(no-such-command) ended without an answer: exit status: 127 (a command was not found)"),
        ("read -r line; echo hello", "JSON object"),
        (r#"while read -r line; do echo '{"type":"fail"}'; done"#, "no operation succeeded"),
    ] {
        let run = live("-m cas-register --ops 50 -d", &[path, "--exec", command]).code(255);
        let said = stderr(&run);
        assert!(stdout(&run).is_empty() && said.contains(why), "{said}");
        assert!(said.contains("run still contains the earlier run"), "{said}");
        assert!(names.map(|name| text(&directory, name)) == earlier, "{command}");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), names.len() + 1, "and the logs");
    }
    live("--store toy --ops 50 -d", &[path]).code(0);
    assert!(text(&directory, "run.json").contains("toy"));
    let mut left: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["history.jsonl", "logs", "report.html", "run.json", "schedule.jsonl"]);
}

#[test]
fn what_does_not_work_is_named() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    let nonsense =
        live("-m cas-register --ops 50 -d", &[path.to_str().unwrap(), "--exec", "read -r line; echo hello; cat"])
            .code(255);
    let said = stderr(&nonsense);
    assert!(said.contains("echo hello") && said.contains("JSON object"), "{said}");
    assert!(said.contains("the history before this error has"), "{said}");
    assert!(path.join("history.jsonl").is_file(), "what was recorded is kept");
    let dies = live("-m cas-register --maelstrom", &["echo out of cheese >&2; exit 3"]).code(255);
    let said = stderr(&dies);
    assert!(said.contains(" has ended") && said.contains("out of cheese"), "{said}");
    for (words, why) in [
        ("--store sqlite --faults isolate", "sqlite has no fault isolate"),
        ("--exec true -m set-full --faults command", "--faults command needs --fault and --heal"),
    ] {
        let run = live(words, &[]);
        assert!(stderr(&run).contains(why), "{words}: {}", stderr(&run));
        assert!(matches!(run.get_output().status.code(), Some(254 | 255)), "{words}");
    }
}

#[test]
fn wrong_usage_is_told_with_a_tip() {
    for (words, why) in [
        ("", "missing --store"),
        ("--store nowhere", "nowhere"),
        ("--store toy --locks none", "it is an option of sqlite"),
        ("--store sqlite --locks some", "--locks: expected one of default, none, found some"),
        ("--store sqlite --locks none --journal wal", "--locks none and --journal wal exclude each other"),
        ("--store sqlite --faults power-cut,full-disk", "power-cut and full-disk need different file systems"),
        ("--store toy --workload bank", "toy has no workload bank; expected one of cas-register"),
        ("--store sqlite -m counter", "missing --workload"),
        ("--store sqlite --nodes 3", "--nodes: expected 1 for sqlite, found 3"),
        ("--store toy --faults fire", "unknown fault \"fire\""),
        ("--store toy --every soon", "expected a time such as 250ms"),
        ("--store toy --minutes 0", "--minutes: expected a number above 0"),
        ("--store toy --loss 101", "expected at most 100 percent"),
        ("--exec true --maelstrom true -m cas-register", "exclude each other"),
        ("--exec true --fault true -m cas-register", "--fault and --heal need each other"),
        ("--store etcd --ssh", "--nodes"),
        ("--store etcd --ssh --nodes 3", "--ssh needs the names of machines"),
        ("--store etcd --ssh --nodes a,b", "etcd needs 3 nodes, but --nodes names 2"),
        ("--store etcd --nodes a,b,c", "--nodes: the names of the nodes of etcd are fixed"),
        ("--store sqlite --ssh --nodes a", "--ssh needs a cluster of servers; sqlite is not one"),
        ("--store toy --world proxies", "--world needs a cluster of servers; toy is not one"),
        ("--store galera --world proxies", "--world proxies is not possible for galera"),
        ("--workers nowhere -m cas-register", "expected HOST:PORT, found \"nowhere\""),
        ("--workers 127.0.0.1:1 --nodes a,b -m cas-register", "--nodes has 2 names, but there are 1 workers"),
        ("worker", "--listen"),
        ("worker --listen 127.0.0.1:0", "missing -- COMMAND"),
        ("worker --listen nowhere -- cat", "cannot listen at nowhere"),
    ] {
        let run = live(words, &[]);
        assert!(stderr(&run).contains(why), "{words}: {}", stderr(&run));
        assert!(matches!(run.get_output().status.code(), Some(254 | 255)), "{words}");
    }
}

#[test]
fn the_stores_are_listed() {
    let list = stdout(&live("--stores", &[]).code(0));
    assert!(
        list.contains("redis-sentinel\n") && list.contains("--exec COMMAND\n") && list.contains("no requirements"),
        "{list}"
    );
    let rows = stdout(&live("--stores --output json", &[]).code(0));
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let etcd = rows.iter().find(|row| row["name"] == "etcd").unwrap();
    assert_eq!(etcd["needs"][0]["package"], "etcd-server");
    assert!(stdout(&live("--stores --output edn", &[]).code(0)).starts_with("{:name"));
}

#[test]
fn an_interrupt_ends_with_a_verdict() {
    for signal in ["INT", "TERM"] {
        let place = tempfile::tempdir().unwrap();
        let mut started = Started::new(&["--store", "toy", "--faults", "isolate", "--every", "10ms"], place.path());
        started.until("begins");
        started.signal(signal);
        let (code, out, error) = started.end();
        assert_eq!(code, Some(0), "{out}{error}");
        assert!(out.starts_with("toy\ttrue\n") && out.contains("interrupted."), "{out}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "no directory stays");
    }
}

/// A request without an answer does not delay the verdict, whatever its timeout. This test does not wait for an hour.
#[test]
fn an_interrupt_does_not_wait_for_requests() {
    let place = tempfile::tempdir().unwrap();
    let client = r#"read -r line; echo '{"type":"ok","value":null}'; touch "$TMPDIR/asked"; exec sleep 4000"#;
    let words = ["--exec", client, "-m", "set-full", "--timeout", "1h", "--clients", "2"];
    let started = Started::new(&words, place.path());
    crate::live_process::until("a client is asked", || place.path().join("asked").exists());
    started.signal("INT");
    let (code, out, error) = started.end();
    assert!(matches!(code, Some(0..=2)) && out.contains("interrupted."), "{code:?} {out}{error}");
}

/// Elements that lagging reads do not show are not lost: only the final reads could show that, and an interrupted run
/// has none.
#[test]
fn an_interrupted_run_says_nothing_of_what_nobody_has_read() {
    let place = tempfile::tempdir().unwrap();
    let client = r#"
        while read -r line; do
            case $line in
                *add*) touch "$TMPDIR/added"; echo '{"type":"ok"}' ;;
                *) echo '{"type":"ok","value":[]}'; [ ! -e "$TMPDIR/added" ] || touch "$TMPDIR/read" ;;
            esac
        done"#;
    let started = Started::new(&["--exec", client, "-m", "set-full", "--clients", "1"], place.path());
    crate::live_process::until("a read follows an add", || place.path().join("read").exists());
    started.signal("INT");
    let (code, out, error) = started.end();
    assert!(matches!(code, Some(0 | 2)) && out.contains("did not all succeed"), "{code:?} {out}{error}");
}

/// The final requests begin when the operations are used up. This one is never answered, whichever client sends it.
#[test]
fn an_interrupt_during_the_last_requests_ends_with_a_verdict() {
    let place = tempfile::tempdir().unwrap();
    let client = r#"
        read -r line
        if [ ! -e "$TMPDIR/first" ]; then
            touch "$TMPDIR/first"
            case $line in *add*) echo '{"type":"ok"}' ;; *) echo '{"type":"ok","value":[]}' ;; esac
            read -r line || exit 0
        fi
        touch "$TMPDIR/last"
        exec sleep 4000"#;
    let words = ["--exec", client, "-m", "set-full", "--timeout", "1h", "--clients", "1", "--ops", "1"];
    let started = Started::new(&words, place.path());
    crate::live_process::until("the last request is sent", || place.path().join("last").exists());
    started.signal("INT");
    let (code, out, error) = started.end();
    assert!(matches!(code, Some(0..=2)) && out.contains("interrupted."), "{code:?} {out}{error}");
}

/// When the command is killed, all its processes end, even if they are paused or are just being started.
#[test]
fn nothing_is_left_behind_by_a_killed_run() {
    for words in [
        &["--store", "toy", "--faults", "pause", "--every", "10ms"][..],
        &[
            "--exec",
            "sleep 1000 & sleep 1001; cat",
            "-m",
            "cas-register",
            "--fault",
            "true",
            "--heal",
            "true",
            "--every",
            "1ms",
        ],
    ] {
        let place = tempfile::tempdir().unwrap();
        let mut started = Started::new(words, place.path());
        started.until("begins");
        let all = started.descendants();
        assert!(all.len() > 3, "{all:?}");
        started.signal("KILL");
        all.iter().for_each(crate::live_process::Id::until_gone);
        crate::live_process::until("no directory is left", || fs::read_dir(place.path()).unwrap().count() == 0);
    }
}
