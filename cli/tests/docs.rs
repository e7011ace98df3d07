//! Runs every shell line of the book, page by page, and compares the output with the page.
//!
//! In a block of `console`, `$ ` begins a line for the shell and `> ` continues it; `? 1` is an exit code other than 0,
//! and the lines after it are the output, including standard error. `[..]` represents anything within a line, `...` any
//! lines. Each page has its own directory, which contains `cli/examples` as in the source, and nothing else: a page
//! must show everything that it needs. A block such as `python file=recorder.py` is a file. Blocks of `console slow`
//! build crates, and are run with `-- --ignored`; those of `console needs=go` are run if that program is installed.

#![cfg(unix)]

use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::{Assert, IntoData as _};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A step of a page.
#[derive(Debug, PartialEq)]
enum Step {
    File { name: String, text: String },
    Run { line: usize, command: String, code: i32, output: String, slow: bool, needs: Option<String> },
}

#[test]
fn the_book_does_what_it_says() {
    let pages = pages();
    assert!(pages.len() > 15, "the book is there: {pages:?}");
    let (mut run, mut wrong) = (0, Vec::new());
    for page in pages {
        run += follow(&page, false, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run > 20, "only {run} lines were run");
}

/// The crates are built as a user would build them.
#[test]
#[ignore = "builds plugins from nothing; .ci/run does it"]
fn the_book_builds_what_it_says() {
    let mut wrong = Vec::new();
    let is_slow = |step: &Step| matches!(step, Step::Run { slow: true, .. });
    let slow: Vec<PathBuf> = pages().into_iter().filter(|page| steps(&text(page)).iter().any(is_slow)).collect();
    assert!(!slow.is_empty());
    for page in slow {
        follow(&page, true, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A line outside of `console` blocks that looks like a shell command would never be run.
#[test]
fn no_shell_line_stands_outside_of_console_blocks() {
    let programs = ["histcheck ", "cargo ", "./", "java ", "python3 ", "go "];
    for page in pages() {
        let mut within = None;
        for (at, line) in text(&page).lines().enumerate() {
            if let Some(info) = line.strip_prefix("```") {
                within = if within.is_none() { Some(info.to_owned()) } else { None };
                continue;
            }
            let is_code = line.starts_with("    ")
                || within.as_deref().is_some_and(|info| ["", "sh", "bash", "text"].contains(&info));
            let is_shell = programs.iter().any(|program| line.trim_start().starts_with(program));
            // .ci/run runs the two commands of the README.
            let is_first = page.parent() == Some(Path::new(ROOT)) && line.starts_with("    cargo ");
            assert!(is_first || !(is_code && is_shell), "{}:{}: {line}", page.display(), at + 1);
        }
    }
}

#[test]
fn no_link_leads_nowhere() {
    let (mut links, mut dead) = (0, Vec::new());
    for page in pages() {
        let text = text(&page);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        for target in targets.filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let path = target.split('#').next().unwrap_or(target);
            links += 1;
            // Pages that the book includes are in other folders, and are linked from there.
            if !path.is_empty() && !page.with_file_name(path).exists() {
                dead.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(links > 50, "only {links} were looked at");
    assert_eq!(dead, [] as [String; 0]);
}

#[test]
fn a_page_is_taken_apart() {
    let page = "# A page\n\n```python file=a.py\nprint(1)\n```\n\n```console\n$ one \\\n> two\n? 3\nout\n\n$ four\n```\n\
                ```console slow needs=go\n$ five\n...\n```\n";
    let run = |line, command: &str, code, output: &str, slow, needs: Option<&str>| Step::Run {
        line,
        command: command.into(),
        code,
        output: output.into(),
        slow,
        needs: needs.map(str::to_owned),
    };
    assert_eq!(
        steps(page),
        [
            Step::File { name: "a.py".into(), text: "print(1)\n".into() },
            run(8, "one \\\ntwo", 3, "out\n", false, None),
            run(13, "four", 0, "", false, None),
            run(16, "five", 0, "...\n", true, Some("go")),
        ]
    );
}

#[test]
fn a_page_that_lies_is_caught() {
    let place = tempfile::tempdir().unwrap();
    let page = place.path().join("page.md");
    std::fs::write(&page, "```console\n$ echo one\ntwo\n\n$ true\n? 1\n\n$ echo right\nri[..]t\n```\n").unwrap();
    let mut wrong = Vec::new();
    assert_eq!(follow(&page, false, &mut wrong), 3);
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(wrong[0].contains("page.md:2") && wrong[0].contains("one"), "{}", wrong[0]);
    assert!(wrong[1].contains("page.md:5") && wrong[1].contains("exit code 0, not 1"), "{}", wrong[1]);
}

/// All pages, in order: those of the book, and those of the crates.
fn pages() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(ROOT).join("docs")];
    let crates = [
        "",
        "history-core",
        "check-elle",
        "check-register",
        "check-jepsen",
        "check-log",
        "check-online",
        "record/parallel",
        "plugins/abi",
        "plugins/process",
    ];
    let mut pages: Vec<PathBuf> = crates.map(|folder| Path::new(ROOT).join(folder).join("README.md")).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn text(page: &Path) -> String {
    std::fs::read_to_string(page).unwrap()
}

/// Divides a page into steps.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines().enumerate().map(|(at, line)| (at + 1, line));
    while let Some((_, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        let words: Vec<&str> = info.split_whitespace().collect();
        let setting = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        if words.first() == Some(&"console") {
            let slow = words.contains(&"slow");
            runs(&block, slow, setting("needs"), &mut steps);
        } else if let Some(name) = setting("file") {
            let text = block.iter().flat_map(|(_, line)| [line, "\n"]).collect();
            steps.push(Step::File { name: name.to_owned(), text });
        }
    }
    steps
}

/// Divides a block of `console` into steps.
fn runs(block: &[(usize, &str)], is_slow: bool, needed: Option<&str>, steps: &mut Vec<Step>) {
    for (at, text) in block {
        if let Some(first) = text.strip_prefix("$ ") {
            let (command, needs) = (first.to_owned(), needed.map(str::to_owned));
            steps.push(Step::Run { line: *at, command, code: 0, output: String::new(), slow: is_slow, needs });
            continue;
        }
        let Some(Step::Run { command, code, output, .. }) = steps.last_mut() else { continue };
        if let Some(more) = text.strip_prefix("> ") {
            *command += "\n";
            *command += more;
        } else if let Some(told) = text.strip_prefix("? ").and_then(|told| told.parse().ok()) {
            *code = told;
        } else {
            *output += text;
            *output += "\n";
        }
    }
    // The empty line before the next command is not output.
    for step in steps {
        if let Step::Run { output, .. } = step {
            output.truncate(output.trim_end().len());
            if !output.is_empty() {
                *output += "\n";
            }
        }
    }
}

/// Executes a page. Returns the number of lines run. Output that differs from the page is added to `wrong`.
fn follow(page: &Path, slow_too: bool, wrong: &mut Vec<String>) -> usize {
    let begun = tempfile::tempdir().unwrap();
    let (mut place, mut run) = (furnish(begun.path()), 0);
    for step in steps(&text(page)) {
        match step {
            Step::File { name, text } => {
                let file = place.join(name);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, text).unwrap();
            }
            Step::Run { slow: true, .. } if !slow_too => {}
            Step::Run { needs: Some(program), line, .. } if !is_there(&program) => {
                eprintln!("{}:{line}: not run, for there is no {program} here", page.display());
            }
            Step::Run { command, .. } if command.starts_with("cd ") => place.push(&command[3..]),
            Step::Run { line, command, code, output, .. } => {
                run += 1;
                let (got, said) = shell(&place, &command);
                let at = format!("{}:{line}: $ {command}", page.display());
                if got != code {
                    wrong.push(format!("{at}\nexit code {got}, not {code}:\n{said}"));
                } else if let Err(difference) =
                    Assert::new().action_env(DEFAULT_ACTION_ENV).try_eq(None, said.into_data(), output.into_data())
                {
                    wrong.push(format!("{at}\n{difference}"));
                }
            }
        }
    }
    run
}

/// Creates the directory in which a page begins, next to a clone.
fn furnish(begun: &Path) -> PathBuf {
    let root = Path::new(ROOT).canonicalize().unwrap();
    std::os::unix::fs::symlink(&root, begun.join("histcheck")).unwrap();
    let place = begun.join("page");
    std::fs::create_dir_all(place.join("cli/examples")).unwrap();
    for entry in std::fs::read_dir(Path::new(ROOT).join("cli/examples")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), place.join("cli/examples").join(entry.file_name())).unwrap();
    }
    // Provides the crates that are not in a registry yet.
    std::fs::create_dir(place.join(".cargo")).unwrap();
    let crates = [
        ("history-core", "history-core"),
        ("check-elle", "check-elle"),
        ("check-register", "check-register"),
        ("check-jepsen", "check-jepsen"),
        ("check-log", "check-log"),
        ("check-online", "check-online"),
        ("record-parallel", "record/parallel"),
        ("histcheck-plugin", "plugins/abi"),
    ];
    let rows = crates.map(|(name, path)| format!("{name}.path = '{}'\n", root.join(path).display()));
    std::fs::write(place.join(".cargo/config.toml"), format!("[patch.crates-io]\n{}", rows.concat())).unwrap();
    place
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Runs a line. Returns its exit code, and all its output.
fn shell(place: &Path, command: &str) -> (i32, String) {
    let built = Path::new(env!("CARGO_BIN_EXE_histcheck")).parent().unwrap();
    let paths = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    let path = std::env::join_paths([built.to_owned()].into_iter().chain(paths)).unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(place)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        // The pages show the results of crates, not their speed: all are built without optimization, and share
        // dependencies.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true")
        .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_BUILD_BUILD_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside"))
        .env_remove("HISTCHECK_PLUGINS")
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stdout).into_owned())
}
