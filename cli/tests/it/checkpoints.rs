//! `histcheck watch --checkpoint`: a watch that is stopped or killed, and another one that continues.

use super::watch::{Started, stale_reads};
use super::{histcheck, stderr, stdout};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;

/// A directory with a history that grows, and the options to watch it.
struct Place {
    dir: tempfile::TempDir,
    history: PathBuf,
    checkpoint: PathBuf,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let (history, checkpoint) = (dir.path().join("history.jsonl"), dir.path().join("run.checkpoint"));
        Place { dir, history, checkpoint }
    }

    fn append(&self, text: &str) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.history).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    /// The options, with a checkpoint after each batch.
    fn words(&self, options: &str) -> String {
        let (history, checkpoint) = (self.history.display(), self.checkpoint.display());
        format!("watch {options} --checkpoint {checkpoint} --checkpoint-interval 1ns {history}")
    }

    /// Watches to the current end of the history. Returns the first note, the exit code, and the output.
    fn watch(&self, options: &str) -> (String, Option<i32>, String) {
        let mut watch = Started::new(&self.words(options));
        let note = watch.line();
        watch.interrupt();
        let (code, printed) = watch.end();
        (note, code, printed)
    }

    fn refused(&self, options: &str) -> String {
        let refused = histcheck(&self.words(options)).assert().code(255);
        assert_eq!(stdout(&refused), "");
        stderr(&refused)
    }
}

/// The text that is printed for each op that proves a violation.
const PROOF: &str = "was found at the op at index";

/// The ops that are reported as proofs.
fn proofs(printed: &str) -> BTreeSet<String> {
    let lines = printed.lines().filter(|line| line.contains(PROOF));
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_watch_that_is_killed_goes_on() {
    let place = Place::new();
    let options = "-m list-append --keep-going";
    let mut printed = String::new();
    for round in 0..3 {
        place.append(&stale_reads(20 * round..20 * round + 10));
        let mut watch = Started::new(&place.words(options));
        let note = watch.line();
        let begins = if round == 0 { "note: no checkpoint at " } else { "note: continuing from " };
        assert!(note.starts_with(begins), "{note}");
        let mut lines = BufReader::new(watch.child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut until_proof = || {
            for line in lines.by_ref() {
                printed.extend([&*line, "\n"]);
                if line.contains(PROOF) {
                    return;
                }
            }
        };
        until_proof();
        // The following ops are read after a checkpoint.
        place.append(&stale_reads(20 * round + 10..20 * round + 20));
        (0..11 + 4 * round).for_each(|_| until_proof());
        watch.child.kill().unwrap();
        watch.child.wait().unwrap();
        printed.extend(lines.map(|line| line + "\n"));
    }
    let (note, code, last) = place.watch(options);
    assert!(note.starts_with("note: continuing from "), "{note}");
    printed += &last;
    let text = fs::read_to_string(&place.history).unwrap();
    let whole = histcheck("watch -m list-append --keep-going").stdin(text).assert().code(1);
    assert_eq!((code, proofs(&printed)), (Some(1), proofs(&stdout(&whole))));
    assert_eq!(proofs(&printed).len(), 60);
    // The last report counts all of them.
    let counted = |text: &str| text.lines().rfind(|line| line.contains("ops proved a violation")).map(str::to_owned);
    assert_eq!(counted(&last), counted(&stdout(&whole)));
    assert!(counted(&last).is_some_and(|line| line.contains("60 ops proved")), "{last}");
}

/// With a checker that saves no state, the verdict is the same, and nothing is reported twice.
#[test]
fn a_checker_without_a_state_checks_the_ops_again() {
    let place = Place::new();
    let op = |kind: &str, f: &str, value: &str| {
        format!("{{\"process\":0,\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let read = |value: &str| op("invoke", "read", "null") + &op("ok", "read", value);
    place.append(&(op("invoke", "add", "1") + &op("ok", "add", "1") + &read("1")));
    let (_, code, printed) = place.watch("-m counter --keep-going");
    assert_eq!(code, Some(0), "{printed}");
    place.append(&read("7"));
    let (note, code, printed) = place.watch("-m counter --keep-going");
    assert!(note.contains("after 4 ops, which are checked again: the checker saves no state"), "{note}");
    assert_eq!((code, printed.matches("\tfalse\n").count()), (Some(1), 2), "{printed}");
    let (note, code, printed) = place.watch("-m counter --keep-going");
    assert!(note.contains("after 6 ops"), "{note}");
    assert_eq!((code, printed.matches("\tfalse\n").count()), (Some(1), 1), "only the verdict: {printed}");
    assert!(printed.contains("The violation was found at the op at index 5 (line 6)"), "{printed}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let place = Place::new();
    place.append(&stale_reads(0..2));
    let options = "-m list-append --keep-going";
    place.watch(options);
    let checkpoint = fs::read(&place.checkpoint).unwrap();
    assert!(place.refused("-m list-append").contains("it was written with other options"));
    assert!(place.refused("-m rw-register --keep-going").contains("it was written with other options"));
    for changed in ["--format json", "--time-unit us", "--clock-error 1ms"] {
        let words = format!("{options} {changed}");
        assert!(place.refused(&words).contains("it was written with other options"), "{changed}");
    }
    let with = |bytes: &[u8], why: &str| {
        fs::write(&place.checkpoint, bytes).unwrap();
        let said = place.refused(options);
        assert!(said.contains(why) && said.contains("remove the checkpoint"), "{said}");
        assert_eq!(fs::read(&place.checkpoint).unwrap(), bytes, "it stays");
    };
    with(b"", "it is not a checkpoint");
    with(&checkpoint[..checkpoint.len() - 1], "it is damaged");
    let mut damaged = checkpoint.clone();
    damaged[100] ^= 4;
    with(&damaged, "it is damaged");
    let mut other = checkpoint.clone();
    other[21] += 1;
    with(&other, "it is damaged");
    fs::write(&place.checkpoint, &checkpoint).unwrap();
    // The history is shorter, another one of greater length, or missing.
    for history in [stale_reads(0..1), stale_reads(7..12)] {
        fs::write(&place.history, history).unwrap();
        assert!(place.refused(options).contains("it is another history, or was replaced"));
    }
    fs::remove_file(&place.history).unwrap();
    assert!(place.refused(options).contains("does not exist, and the checkpoint covers its first"));
    place.append(&stale_reads(0..3));
    let (_, code, printed) = place.watch(options);
    assert_eq!((code, proofs(&printed).len()), (Some(1), 2), "the new one, and the verdict's: {printed}");
}

/// The interval is long, so the first batch has no position from which reading can continue. It may also be the last
/// one.
#[test]
fn at_a_limit_a_checkpoint_is_written_before_it_is_time_to() {
    for keys in [1, 2000] {
        let place = Place::new();
        let reads = |keys| stale_reads(keys).replace("[]]", "[1]]");
        place.append(&reads(0..keys));
        let words = place.words("-m list-append --max-memory 1").replace("1ns", "1h");
        let limited = histcheck(&words).assert().code(2);
        assert!(stdout(&limited).contains("the memory limit of 1 bytes was reached"), "{}", stdout(&limited));
        place.append(&reads(keys..keys + 1));
        let limited = histcheck(&words).assert().code(2);
        assert!(stderr(&limited).contains("note: continuing from"), "{}", stderr(&limited));
    }
}

#[test]
fn a_checkpoint_that_is_too_large_is_not_written() {
    let place = Place::new();
    place.append(&stale_reads(0..2));
    let mut watch = Started::new(&place.words("-m list-append --keep-going --checkpoint-max-size 100"));
    watch.line();
    watch.interrupt();
    let mut said = String::new();
    watch.rest(&mut said);
    assert_eq!(watch.end().0, Some(1));
    assert_eq!(said.matches("more than 100 bytes (--checkpoint-max-size)").count(), 1, "{said}");
    assert!(!place.checkpoint.exists());
}

#[test]
fn a_checkpoint_needs_a_file_that_can_be_read_from_the_middle() {
    let place = Place::new();
    let checkpoint = place.checkpoint.display();
    let piped = histcheck(&format!("watch -m counter --checkpoint {checkpoint}")).stdin("").assert().code(254);
    assert!(stderr(&piped).contains("--checkpoint needs a history in a file"), "{}", stderr(&piped));
    histcheck(&format!("watch -m counter --checkpoint {checkpoint} --listen 127.0.0.1:0")).assert().code(254);
    histcheck("watch -m counter --checkpoint a a").assert().code(254);
    histcheck("watch -m counter --checkpoint-interval 3 a").assert().code(254);
    histcheck("watch -m counter --checkpoint a --checkpoint-interval 0 b").assert().code(254);
    // The directory does not exist.
    let nowhere = histcheck("watch -m counter --checkpoint nowhere/a b").assert().code(255);
    assert!(stderr(&nowhere).contains("cannot write nowhere/a"), "{}", stderr(&nowhere));
    let mut compressed = GzEncoder::new(fs::File::create(&place.history).unwrap(), Compression::fast());
    compressed.write_all(stale_reads(0..1).as_bytes()).unwrap();
    compressed.finish().unwrap();
    let mut watch = Started::new(&place.words("-m list-append --keep-going"));
    watch.line();
    watch.interrupt();
    let mut said = String::new();
    watch.rest(&mut said);
    assert_eq!(watch.end().0, Some(255));
    assert!(said.contains("cannot be read from the middle: a checkpoint needs text"), "{said}");
}

#[test]
fn a_limit_ends_what_is_checked_again() {
    let place = Place::new();
    let op =
        |kind: &str, value: u32| format!("{{\"process\":0,\"type\":\"{kind}\",\"f\":\"add\",\"value\":{value}}}\n");
    place.append(&(op("invoke", 1) + &op("ok", 1)));
    place.watch("-m counter");
    let kept = fs::read(&place.checkpoint).unwrap();
    // These ops would end the watch, too, but later.
    place.append(&op("invoke", 2));
    let ended = histcheck(&place.words("-m counter --max-memory 1")).assert().code(2);
    assert!(stdout(&ended).contains("The watch ended after 1 ops: the memory limit"), "{}", stdout(&ended));
    assert_eq!(fs::read(&place.checkpoint).unwrap(), kept, "it covers more than was checked again");
}

/// Opening a pipe would wait for its writer without end.
#[test]
fn a_checkpoint_is_not_a_pipe() {
    let place = Place::new();
    place.append(&stale_reads(0..1));
    assert!(std::process::Command::new("mkfifo").arg(&place.checkpoint).status().unwrap().success());
    let refused = place.refused("-m list-append");
    assert!(refused.contains("run.checkpoint is not a regular file, so it cannot hold a checkpoint"), "{refused}");
    let nameless = histcheck("watch -m counter a --checkpoint").arg("").assert().code(254);
    assert!(stderr(&nameless).contains("--checkpoint needs a path"), "{}", stderr(&nameless));
}

#[test]
fn two_watches_do_not_share_a_checkpoint() {
    let place = Place::new();
    place.append(&stale_reads(0..1));
    let mut first = Started::new(&place.words("-m list-append --keep-going"));
    first.line();
    let refused = place.refused("-m list-append --keep-going");
    assert!(
        refused.contains("another watch uses ") && refused.contains("run.checkpoint; pass another file"),
        "{refused}"
    );
    first.interrupt();
    assert_eq!(first.end().0, Some(1));
    let (note, code, _) = place.watch("-m list-append --keep-going");
    assert!(note.starts_with("note: continuing from ") && code == Some(1), "{note}");
    let names: BTreeSet<_> = fs::read_dir(place.dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["history.jsonl", "run.checkpoint"].map(Into::into).into());
}
