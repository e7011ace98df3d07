//! `completions` and `man`.

use crate::{histcheck, stderr, stdout};
use std::path::Path;
use std::process::Command;

#[test]
fn each_shell_has_completions() {
    for (shell, mark) in [
        ("bash", "complete -F _histcheck -o nosort -o bashdefault -o default histcheck"),
        ("zsh", "#compdef histcheck"),
        ("fish", "complete -c histcheck"),
    ] {
        let text = stdout(&histcheck(&format!("completions {shell}")).assert().code(0).stderr_eq(""));
        assert!(text.contains(mark), "{shell}");
        for word in ["list-append", "sarif", "elle-cli", "consistency-models", "unknown"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
        assert!(!text.contains("histcheck:list-append"), "{shell}");
    }
    histcheck("completions").assert().code(254);
    histcheck("completions tcsh").assert().code(254);
}

/// Tests the script with bash, if it is installed.
#[cfg(unix)]
#[test]
fn bash_completes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("histcheck.bash");
    std::fs::write(&script, stdout(&histcheck("completions bash").assert())).unwrap();
    let completed = |line: &str| {
        let program = r#"
            source "$1"; shift; compopt() { :; }
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _histcheck histcheck "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[*]}"
        "#;
        let mut bash = Command::new("bash");
        bash.args(["-c", program, "bash"]).arg(&script).args(line.split(' '));
        String::from_utf8(bash.output().unwrap().stdout).unwrap()
    };
    if Command::new("bash").arg("--version").output().is_err() {
        return;
    }
    assert_eq!(completed("histcheck wa"), "watch\n");
    assert_eq!(completed("histcheck -m cas"), "cas-register\n");
    assert_eq!(completed("histcheck --output s"), "sarif\n");
    assert_eq!(completed("histcheck -m set watch --unknown "), "pass fail\n");
    assert_eq!(completed("histcheck validate --output s"), "\n");
}

/// In fish, an option that waits for its value is not a subcommand.
#[test]
fn values_of_options_are_completed_in_fish() {
    let text = stdout(&histcheck("completions fish").assert());
    let needs_command = text.split("function __fish_histcheck_needs_command").nth(1).unwrap();
    let needs_command = needs_command.split("\nend\n").next().unwrap();
    assert!(needs_command.contains("or return 0\n"), "{needs_command}");
}

#[test]
fn a_page_for_each_command_says_what_its_help_says() {
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man/man1");
    histcheck(&format!("man -d {}", pages.display())).assert().code(0).stdout_eq("").stderr_eq("");
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    let main = page("histcheck.1");
    assert_eq!(stdout(&histcheck("man").assert().code(0)), main);
    for (name, said) in [
        ("histcheck.1", "255  some file could not be checked"),
        ("histcheck.1", "compatibility with elle"),
        ("histcheck-watch.1", "until\\-closed"),
        ("histcheck-validate.1", "max\\-each"),
        ("histcheck-gen-cas-register.1", "\\-\\-seed"),
        ("histcheck-plugin-new.1", "Create a crate for a checker plugin"),
        ("histcheck-completions.1", "fish"),
        ("histcheck-models.1", "List the checkers"),
    ] {
        assert!(page(name).contains(said), "{name}: {said}\n{}", page(name));
    }
    let names = std::fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let of_help: Vec<String> = names.filter(|name| name.contains("-help")).collect();
    assert!(of_help.is_empty() && !main.contains("help(1)"), "they say the same once more: {of_help:?} {main}");
    // The lines of an example keep their columns.
    assert!(main.contains("\n.nf\n") && main.contains("\n         {:process 0, :type :ok,     :f :txn, "), "{main}");
    // The page contains neither a date nor a path of the machine that built it.
    assert!(
        main.contains(&format!(".TH histcheck 1  \"histcheck {}\" histcheck\n", env!("CARGO_PKG_VERSION"))),
        "{main}"
    );
    let again = stdout(&histcheck("man").assert());
    assert_eq!(again, main);
}

#[test]
fn a_directory_that_cannot_be_is_told() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let below: &Path = &file.path().join("man1");
    let assert = histcheck(&format!("man -d {}", below.display())).assert().code(255).stdout_eq("");
    assert!(stderr(&assert).starts_with("error: cannot write manual pages into "), "{}", stderr(&assert));
}
