//! `histcheck.toml`.

use crate::{fixtures, histcheck, stderr, stdout};
use std::fs;
use std::path::Path;

fn place(config: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["valid.edn", "stale.edn"] {
        fs::copy(fixtures().join(name), dir.path().join(name)).unwrap();
    }
    fs::write(dir.path().join("histcheck.toml"), config).unwrap();
    dir
}

fn run(dir: &Path, words: &str) -> snapbox::cmd::OutputAssert {
    histcheck(words).current_dir(dir).assert()
}

const CONFIG: &str = "\
[profile.default]
model = \"list-append\"
timeout = \"100s\"

[profile.ci]
output = [\"junit=out.xml\"]
allow-anomalies = [\"G-single-item-realtime\"]
";

#[test]
fn a_profile_has_the_options_that_the_command_line_does_not_give() {
    let dir = place(CONFIG);
    assert_eq!(stdout(&run(dir.path(), "valid.edn stale.edn").code(1)), "valid.edn\ttrue\nstale.edn\tfalse\n");
    run(dir.path(), "--profile ci valid.edn stale.edn").code(0);
    assert!(fs::read_to_string(dir.path().join("out.xml")).unwrap().contains("tests=\"2\""));
    // The checker on the command line replaces that of the file; it is not added.
    assert!(stdout(&run(dir.path(), "-m stats --output json valid.edn").code(0)).contains("\"checker\":\"stats\""));
    let minimized = run(dir.path(), "minimize stale.edn").code(1);
    let warning = "warning: histcheck.toml: histcheck minimize has no option timeout: ignored";
    assert!(stderr(&minimized).contains(warning), "{}", stderr(&minimized));
    fs::rename(dir.path().join("histcheck.toml"), dir.path().join("other.toml")).unwrap();
    run(dir.path(), "valid.edn").code(254);
    run(dir.path(), "--config other.toml valid.edn").code(0);
}

/// An option on which a verdict may depend is not omitted silently: with each of these options, `histcheck` finds
/// something else.
#[test]
fn an_option_that_a_command_lacks_is_wrong_usage_if_a_verdict_may_depend_on_it() {
    let log = "log-file-pattern = \"panic\"\nlog-file = \"db.log\"\n";
    for (options, names) in [
        (log, "log-file, log-file-pattern"),
        ("accept-torn = true\n", "accept-torn"),
        ("allow-anomalies = [\"G1a\"]\n", "allow-anomalies"),
    ] {
        let dir = place(&format!("[profile.default]\nmodel = \"list-append\"\n{options}"));
        let said = stderr(&run(dir.path(), "watch valid.edn").code(254));
        let expected = format!("error: histcheck.toml: histcheck watch has no option {names}\n");
        assert!(said.starts_with(&expected), "{said}");
    }
    let about_output = "accept-torn = false\njobs = 2\nverbose = true\nquiet = false\n";
    let dir = place(&format!("[profile.default]\nmodel = \"list-append\"\n{about_output}"));
    // A file would be followed without an end.
    let history = fs::read(dir.path().join("valid.edn")).unwrap();
    histcheck("watch").current_dir(dir.path()).stdin(history).assert().code(0);
    let dir = place(&format!("[profile.default]\nmodel = \"list-append\"\n{log}"));
    let said = stderr(&run(dir.path(), "anonymize valid.edn").code(0));
    assert!(said.contains("histcheck anonymize has no option log-file, log-file-pattern: ignored"), "{said}");
}

/// Options for reading a history change the results and the output.
#[test]
fn validate_and_convert_read_as_the_profile_says() {
    let dir = place(
        "[profile.default]\nmodel = \"register\"\naccept-torn = true\noutput = [\"junit=x.xml\"]\ntime-unit = \"ms\"\n",
    );
    let ops = "{:process 0, :type :invoke, :f :read, :value nil, :time 1.5}\n{:process 0, :type :ok, :f :read, :value nil, :time 2}\n";
    fs::write(dir.path().join("ms.edn"), ops).unwrap();
    let validated = run(dir.path(), "validate ms.edn").code(0);
    assert!(stdout(&validated).contains("0 errors"), "{}", stdout(&validated));
    let warning =
        |command| format!("warning: histcheck.toml: histcheck {command} has no option accept-torn: ignored\n");
    assert_eq!(stderr(&validated), warning("validate"));
    let converted = run(dir.path(), "convert --to jsonl ms.edn").code(0);
    assert!(stdout(&converted).contains("1500000"), "{}", stdout(&converted));
    assert_eq!(stderr(&converted), warning("convert"));
    fs::remove_file(dir.path().join("histcheck.toml")).unwrap();
    run(dir.path(), "validate ms.edn").code(1);
}

#[test]
fn what_is_wrong_with_a_file_is_wrong_usage() {
    for (config, words, what) in [
        (CONFIG, "--profile no valid.edn", "histcheck.toml: unknown profile no; expected one of ci, default"),
        ("[profile.default]\nmodle = \"bank\"\n", "valid.edn", "histcheck.toml: unknown option modle"),
        ("[profile.default]\nplugin = \"x.so\"\n", "valid.edn", "is accepted only in a file that --config names"),
        ("[profile.default]\ntimeout = \"5x\"\n", "-m bank valid.edn", "expected a time above 0"),
        ("profile = 3", "valid.edn", "expected tables like [profile.default]"),
        ("", "--config none.toml valid.edn", "cannot read none.toml"),
    ] {
        let dir = place(config);
        let assert = run(dir.path(), words).code(254);
        assert!(stderr(&assert).contains(what), "{config}: {}", stderr(&assert));
    }
}
