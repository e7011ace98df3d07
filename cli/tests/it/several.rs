//! Several histories: those in a directory, and several in parallel.

use crate::{check, fixtures, histcheck, stderr, stdout};
use std::fs;
use std::path::Path;

/// A Jepsen store with three tests, of which the second is the latest.
fn store() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (test, file) in [("bank/1", "valid.edn"), ("shop/1", "stale.edn"), ("shop/2", "valid.edn")] {
        fs::create_dir_all(dir.path().join("store").join(test)).unwrap();
        fs::copy(fixtures().join(file), dir.path().join("store").join(test).join("history.edn")).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("2", dir.path().join("store/shop/latest")).unwrap();
    dir
}

/// The summary line.
const SUM: &str = "3 histories: 2 true, 1 false\n";

#[test]
fn a_directory_stands_for_all_histories_in_it() {
    let dir = store();
    let run = |words: &str| histcheck(words).current_dir(dir.path()).assert();
    let all = "store/bank/1\ttrue\nstore/shop/1\tfalse\nstore/shop/2\ttrue\n";
    run("-m list-append store").code(1).stdout_eq(all).stderr_eq(SUM);
    run("-m list-append --timeout 100 store").code(1).stdout_eq(all).stderr_eq(SUM);
    run("-m list-append store/bank store/shop/2").code(0).stdout_eq("store/bank/1\ttrue\nstore/shop/2\ttrue\n");
    let validated = stdout(&run("validate store").code(0));
    assert_eq!(
        validated.lines().filter(|line| line.contains('\t')).map(|line| &line[..12]).collect::<Vec<_>>(),
        ["store/bank/1", "store/shop/1", "store/shop/2"]
    );
    run("-m list-append store -d out").code(1);
    for folder in ["bank-1", "shop-1", "shop-2"] {
        let report = fs::read_to_string(dir.path().join("out").join(folder).join("report.txt")).unwrap();
        assert!(report.starts_with(&format!("store/{}", folder.replace('-', "/"))), "{report}");
    }
}

#[test]
fn a_directory_without_histories_says_what_was_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::copy(fixtures().join("valid.edn"), dir.path().join("valid.edn")).unwrap();
    for words in ["-m list-append empty valid.edn", "-m list-append --timeout 100 empty valid.edn", "validate empty"] {
        let assert = histcheck(words).current_dir(dir.path()).assert().code(255);
        let said = stderr(&assert).replace("2 histories: 1 true, 1 not checked\n", "");
        assert_eq!(
            said,
            "empty: error: no history found in this directory or below it\n  expected Jepsen tests (directories with a \
             history.edn, .jsonl, .json or .txt), or files named *.edn, *.json, *.jsonl or *.ndjson, optionally with .gz or \
             .zst; to check a file with another name, pass its path\n",
            "{words}"
        );
        assert_eq!(stdout(&assert), if words.starts_with("-m") { "valid.edn\ttrue\n" } else { "" });
    }
}

/// All files below a directory, with their content.
fn tree(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push((path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn jobs_change_no_byte() {
    // Histories of different sizes, so that they do not end in the order in which they begin.
    let large = tempfile::tempdir().unwrap();
    let path = large.path().join("large.edn");
    histcheck("gen list-append --txns 3000 --bug lost-update -o").arg(&path).assert().code(0);
    let files = format!(
        "{} valid.edn stale.edn nowhere.edn keyed.edn unpaired.edn {} reverse.edn ./stale.edn store letter.txt",
        path.display(),
        path.display()
    );
    for words in ["", "-v --keyed=auto", "--output json", "--output edn --timeout 100"] {
        let one = check(&format!("{words} {files}"));
        for jobs in ["2", "3", "100", "0"] {
            let several = check(&format!("{words} {files} --jobs {jobs}"));
            assert_eq!(stdout(&several), stdout(&one), "{words} --jobs {jobs}");
            assert_eq!(stderr(&several), stderr(&one), "{words} --jobs {jobs}");
            several.code(one.get_output().status.code().unwrap());
        }
    }
    let directory = |words: &str| {
        let dir = tempfile::tempdir().unwrap();
        check(&format!("{files} {words} -d {}", dir.path().display())).code(255);
        tree(dir.path())
    };
    let one = directory("");
    assert!(one.len() > 10, "{}", one.len());
    for words in ["--jobs 3", "--jobs 1 --timeout 100", "-j 2 --timeout 100"] {
        let several = directory(words);
        assert!(several == one, "{words}: {:?}", several.iter().map(|(path, _)| path).collect::<Vec<_>>());
    }
}

#[test]
fn as_many_jobs_as_make_sense() {
    for words in ["--jobs -1", "--jobs many", "--jobs 65536", "--jobs"] {
        check(&format!("valid.edn {words}")).code(254);
    }
    check("--jobs 65535 valid.edn").code(0);
}

#[test]
fn colours_are_the_same_whichever_process_writes() {
    let run = |words: &str| {
        histcheck(&format!("-m list-append -v stale.edn unpaired.edn {words}")).env("CLICOLOR_FORCE", "1").assert()
    };
    let (here, elsewhere) = (run(""), run("--timeout 100"));
    assert!(stdout(&here).contains('\u{1b}') && stderr(&here).contains('\u{1b}'));
    assert_eq!(stdout(&elsewhere), stdout(&here));
    assert_eq!(stderr(&elsewhere), stderr(&here));
}

#[test]
fn whoever_wants_to_see_no_more_ends_all_jobs() {
    // Standard output is closed, and a history never ends.
    let (reader, _writer) = std::io::pipe().unwrap();
    let (closed, out) = std::io::pipe().unwrap();
    drop(closed);
    let mut command = std::process::Command::new(snapbox::cmd::cargo_bin!("histcheck"));
    command.args(["-m", "list-append", "-j", "2", "valid.edn", "-"]).current_dir(fixtures());
    let output = command.stdin(reader).stdout(out).stderr(std::process::Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(255), &b""[..]));
}

/// A program that is replaced while it runs (by an upgrade or a new build) still starts its own version.
#[cfg(target_os = "linux")]
#[test]
fn processes_of_their_own_are_of_the_program_that_runs() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("histcheck");
    // Another process copies it. Otherwise, a process that another test starts at the same time would inherit the open
    // file, and a file that is open for writing cannot be run.
    let copied = std::process::Command::new("cp").arg(snapbox::cmd::cargo_bin!("histcheck")).arg(&program).status();
    assert!(copied.unwrap().success());
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = std::process::Command::new(&program);
    command.args("-m list-append --jobs 1 --timeout 1000".split(' ')).arg(&pipe).arg("stale.edn");
    let piped = command.current_dir(fixtures()).stdout(std::process::Stdio::piped());
    let started = piped.stderr(std::process::Stdio::null()).spawn().unwrap();
    // Opening returns as soon as a process reads. The first check is running, and the second has not begun.
    let mut writer = fs::File::options().write(true).open(&pipe).unwrap();
    fs::remove_file(&program).unwrap();
    fs::write(&program, "#!/bin/sh\necho another program\n").unwrap();
    std::io::Write::write_all(&mut writer, &fs::read(fixtures().join("valid.edn")).unwrap()).unwrap();
    drop(writer);
    let ended = started.wait_with_output().unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(text, format!("{}\ttrue\nstale.edn\tfalse\n", pipe.display()));
    assert_eq!(ended.status.code(), Some(1));
}

/// If the system starts no more threads, the existing ones do all the work.
#[cfg(target_os = "linux")]
#[test]
fn more_jobs_than_there_is_room_for_threads_make_no_panic() {
    let program = snapbox::cmd::cargo_bin!("histcheck").display().to_string();
    let files = ["valid.edn", "stale.edn"].map(|file| format!("{file} ").repeat(20)).concat();
    // Address space for the program and a few stacks. The minimum for the program differs between builds.
    let judged: Vec<_> = [100_000, 200_000, 400_000, 800_000]
        .into_iter()
        .filter_map(|kilobytes| {
            let script = format!("ulimit -v {kilobytes}; exec {program} -m list-append --jobs 30 {files}");
            let ended =
                std::process::Command::new("sh").args(["-c", &script]).current_dir(fixtures()).output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(!said.contains("panicked") && !said.contains("allocation"), "{kilobytes}: {said}");
            assert!(said.contains("address space is limited"), "{kilobytes}: {said}");
            (ended.status.code() == Some(1)).then(|| String::from_utf8(ended.stdout).unwrap())
        })
        .collect();
    let expected = stdout(&check(&files).code(1));
    assert!(!judged.is_empty() && judged.iter().all(|text| *text == expected), "{judged:?}");
}
