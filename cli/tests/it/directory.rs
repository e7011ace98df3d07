//! `--directory`.

use crate::{histcheck, stdout};
use std::fs;
use std::path::{Path, PathBuf};

/// All files below a folder, relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            // Skips the list of files.
            if path.ends_with(".histcheck") {
                continue;
            }
            if path.is_dir() { folders.push(path) } else { found.push(path.strip_prefix(folder).unwrap().to_owned()) }
        }
    }
    found.sort();
    found
}

#[test]
fn the_files_of_one_history_lie_in_the_directory_itself() {
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("made/on/demand");
    let account = stdout(&histcheck("-m list-append -v stale.edn").assert());
    histcheck("-m list-append stale.edn -d").arg(&made).assert().code(1).stdout_eq("stale.edn\tfalse\n").stderr_eq("");
    let expected = ["G-single-item-realtime/0.svg", "G-single-item-realtime.txt", "report.txt", "sccs/0.svg"];
    assert_eq!(files(&made), expected.map(Path::new));
    let picture = fs::read_to_string(made.join("G-single-item-realtime/0.svg")).unwrap();
    assert!(picture.starts_with("<svg ") && picture.contains("realtime"), "{picture}");
    let report = fs::read_to_string(made.join("report.txt")).unwrap();
    let unindented = |text: &str| text.lines().map(|line| line.trim_start().to_owned()).collect::<Vec<_>>();
    assert_eq!(unindented(&report), unindented(&account), "the report says what -v says");
}

/// A read that takes 2 ms during a partition.
const TIMED: &str = "{:process :nemesis, :type :info, :f :start-partition, :time 0}
{:process 0, :type :invoke, :f :read, :time 1000000}
{:process 0, :type :ok, :f :read, :value nil, :time 3000000}
{:process :nemesis, :type :info, :f :stop-partition, :time 4000000}
";

#[test]
fn a_history_with_times_gets_plots_over_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("timed.edn");
    fs::write(&path, TIMED).unwrap();
    let out = dir.path().join("out");
    histcheck("-m stats -d").arg(&out).arg(&path).assert().code(0);
    let expected = ["latency-quantiles.svg", "latency-raw.svg", "rate.svg", "report.txt"];
    assert_eq!(files(&out), expected.map(Path::new));
    let plot = fs::read_to_string(out.join("latency-raw.svg")).unwrap();
    assert!(plot.contains("read: 1 completion") && plot.contains("fault: partition"), "{plot}");
}

#[test]
fn annotations_are_drawn_beside_the_ops() {
    let dir = tempfile::tempdir().unwrap();
    let (path, events) = (dir.path().join("timed.edn"), dir.path().join("events.jsonl"));
    fs::write(&path, TIMED.replace(":value nil", ":value 7")).unwrap();
    fs::write(&events, r#"{"time": 2000000, "text": "leader changed <b>", "lane": "n1"}"#).unwrap();
    let out = dir.path().join("out");
    histcheck("-m register -d").arg(&out).arg("--annotations").arg(&events).arg(&path).assert().code(1);
    for file in ["latency-raw.svg", "rate.svg", "timeline.html"] {
        let page = fs::read_to_string(out.join(file)).unwrap();
        assert!(page.contains("leader changed"), "{file}: {page}");
        assert!(!page.contains("changed <b>"), "{file}: {page}");
    }
    let report = dir.path().join("report");
    histcheck("report -m register -d").arg(&report).arg("--annotations").arg(&events).arg(&path).assert().code(1);
    let page = fs::read_to_string(report.join("report.html")).unwrap();
    assert!(page.contains("class=\"annotation\"") && page.contains("leader changed &lt;b&gt;"), "{page}");
}

#[test]
fn annotations_that_cannot_be_read_are_refused_with_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let events = dir.path().join("events.jsonl");
    fs::write(&events, "\n{\"text\": \"when?\"}").unwrap();
    let assert =
        histcheck("-m list-append valid.edn -d").arg(dir.path()).arg("--annotations").arg(&events).assert().code(254);
    let expected = "events.jsonl, line 2: expected \"time\", or \"from\" and \"to\", as integers in nanoseconds";
    assert!(crate::stderr(&assert).contains(expected), "{}", crate::stderr(&assert));
    let assert = histcheck("-m list-append valid.edn stale.edn --annotations").arg(&events).assert().code(254);
    assert!(crate::stderr(&assert).contains("--annotations takes one history"), "{}", crate::stderr(&assert));
    fs::write(&events, "").unwrap();
    let assert = histcheck("-m list-append valid.edn --annotations").arg(&events).assert().code(0);
    assert!(crate::stderr(&assert).contains("has no effect without --directory"), "{}", crate::stderr(&assert));
}

#[test]
fn what_can_be_read_only_once_gets_no_plots_and_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let assert = histcheck("-m stats - -d").arg(dir.path()).stdin(TIMED).assert().code(0);
    let note =
        "<stdin>: note: no plots over time, because the history can be read only once; histcheck report draws them\n";
    assert!(crate::stderr(&assert).starts_with(note), "{}", crate::stderr(&assert));
    assert_eq!(files(dir.path()), [Path::new("report.txt")]);
    let report = dir.path().join("report");
    histcheck("report -m stats - -d").arg(&report).stdin(TIMED).assert().code(0);
    let page = fs::read_to_string(report.join("report.html")).unwrap();
    assert!(page.contains("<h2>Over time</h2>") && page.contains("fault: partition"), "{page}");
}

#[test]
fn several_histories_get_a_folder_each() {
    let dir = tempfile::tempdir().unwrap();
    let words = "-m list-append valid.edn ./valid.edn truncated.edn - store/shop/20240229T120000.000Z -d";
    let assert = histcheck(words).arg(dir.path()).stdin("{:type :ok, :value []}").assert().code(255);
    assert_eq!(stdout(&assert).lines().count(), 4);
    let folders: Vec<_> = files(dir.path()).into_iter().filter(|file| file.ends_with("report.txt")).collect();
    assert_eq!(
        folders,
        ["20240229T120000.000Z", "stdin", "valid.edn", "valid.edn-2"].map(|name| Path::new(name).join("report.txt")),
        "none for what could not be judged"
    );
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error_beside_the_verdict() {
    let assert = histcheck("-m list-append stale.edn valid.edn -d letter.txt/below").assert().code(255);
    assert_eq!(stdout(&assert), "stale.edn\tfalse\nvalid.edn\ttrue\n");
    assert!(
        crate::stderr(&assert).starts_with("error: cannot write letter.txt/below/stale.edn/"),
        "{}",
        crate::stderr(&assert)
    );
}

#[test]
fn a_sentence_stands_where_a_picture_would_be_too_large() {
    let dir = tempfile::tempdir().unwrap();
    histcheck("-m list-append stale.edn -b 100 -d").arg(dir.path()).assert().code(1).stderr_eq("");
    assert!(!files(dir.path()).iter().any(|file| file.ends_with("0.svg")));
    let sentence = fs::read_to_string(dir.path().join("sccs/0.txt")).unwrap();
    assert!(sentence.contains("more than 100 bytes"), "{sentence}");
}

#[test]
fn an_earlier_runs_pictures_go_with_its_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let (history, out) = (dir.path().join("h.edn"), dir.path().join("out"));
    for (file, code) in [("stale.edn", 1), ("valid.edn", 0)] {
        fs::copy(crate::fixtures().join(file), &history).unwrap();
        histcheck("-m list-append -d").arg(&out).arg(&history).assert().code(code);
    }
    assert_eq!(files(&out), [Path::new("report.txt")]);
}

#[test]
fn no_folder_is_an_option_to_other_programs() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["-rf.edn", "b\u{202e}.edn"] {
        fs::copy(crate::fixtures().join("valid.edn"), dir.path().join(name)).unwrap();
    }
    let out = dir.path().join("out");
    histcheck("-m list-append -d").arg(&out).arg(dir.path()).assert().code(0);
    assert_eq!(files(&out), [Path::new("_rf.edn/report.txt"), Path::new("b_.edn/report.txt")]);
}

#[test]
fn hidden_histories_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.edn", ".b.edn", ".c.jsonl", ".d.txt"] {
        fs::copy(crate::fixtures().join("valid.edn"), dir.path().join(name)).unwrap();
    }
    let assert = histcheck("-m list-append").arg(dir.path()).assert().code(0);
    let path = dir.path().display();
    let note = format!(
        "note: skipped 2 hidden files (names that begin with a dot) in {path} and below; to check one, pass its path\n"
    );
    assert_eq!(crate::stderr(&assert), note);
    assert_eq!(stdout(&assert), format!("{path}/a.edn\ttrue\n"));
}

#[cfg(unix)]
#[test]
fn a_pipe_at_the_place_of_a_report_holds_nobody_up() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("report.txt");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    histcheck("-m list-append valid.edn -d").arg(dir.path()).assert().code(0).stderr_eq("");
    assert_eq!(fs::read_to_string(&pipe).unwrap(), "valid.edn\ttrue\n");
}

#[test]
fn logs_get_their_lag_and_what_was_unseen_over_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    histcheck("gen kafka --ops 300 --seed 1 -o").arg(&path).assert().success();
    let out = dir.path().join("out");
    histcheck("-m kafka -d").arg(&out).arg(&path).assert().code(0);
    for (file, title) in [("unseen.svg", "Acknowledged messages"), ("realtime-lag.svg", "Realtime lag")] {
        let plot = fs::read_to_string(out.join(file)).unwrap();
        assert!(plot.starts_with("<svg ") && plot.contains(title), "{file}: {plot}");
    }
    let report = dir.path().join("report");
    histcheck("report -m kafka,stats -d").arg(&report).arg(&path).assert().code(0);
    let page = fs::read_to_string(report.join("report.html")).unwrap();
    assert!(page.contains("Acknowledged messages") && page.contains("Realtime lag"), "{page}");
}
