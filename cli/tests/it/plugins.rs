//! Plugins: where they are found, messages about those that cannot be loaded, and the handling of those that misbehave.

use crate::{histcheck, stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Only one build at a time: all builds write to the same path, from which the libraries are copied.
static BUILDS: Mutex<()> = Mutex::new(());

/// The library of `plugins/misbehaving`, built with these features, as users build plugins: outside of the workspace.
fn misbehaving(features: &str) -> PathBuf {
    let _one = BUILDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/misbehaving/Cargo.toml");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    let name = format!("{}misbehaving{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    // All features write the same file. If it exists, cargo would not build it again.
    _ = fs::remove_file(target.join("debug/deps").join(&name));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--features", features]).arg("--manifest-path").arg(manifest);
    let built = cargo.arg("--target-dir").arg(&target).status().unwrap();
    assert!(built.success(), "plugins/misbehaving does not build with {features:?}");
    let own = target.join(format!("{features}-{name}"));
    // It is copied under another name first, because a file that a process has loaded must not be overwritten.
    let half = target.join(format!("{}-{features}-half", std::process::id()));
    fs::copy(target.join("debug").join(name), &half).unwrap();
    fs::rename(half, &own).unwrap();
    own
}

fn with(plugin: &Path, words: &str) -> snapbox::cmd::OutputAssert {
    histcheck(&format!("--plugin {} {words}", plugin.display())).assert()
}

/// The rest of a message, without the plugin's path, which differs between machines.
fn said(assert: &snapbox::cmd::OutputAssert, plugin: &Path) -> String {
    stderr(assert).replace(&plugin.display().to_string(), "PLUGIN")
}

#[test]
fn a_plugin_that_behaves_is_a_checker_like_any_other() {
    let plugin = misbehaving("");
    with(&plugin, "-m behave valid.edn provoke.edn")
        .code(0)
        .stdout_eq("valid.edn\ttrue\nprovoke.edn\ttrue\n")
        .stderr_eq("2 histories: 2 true\n");
    with(&plugin, "-m behave,stats valid.edn").code(0).stdout_eq("valid.edn\ttrue\n");
    let models = stdout(&histcheck(&format!("models --plugin={}", plugin.display())).assert().code(0));
    assert!(
        models.contains(&format!("behave\n    Does what it must not.\n    from: {}\n", plugin.display())),
        "{models}"
    );
    assert!(models.contains("from: histcheck\n"), "{models}");
}

#[test]
fn what_goes_wrong_in_one_history_costs_the_others_nothing() {
    let plugin = misbehaving("");
    let bug = "which is a bug of the plugin";
    for (name, what) in [
        ("panic-in-observe", format!("panicked when it received ops (no op like 0), {bug}")),
        ("panic-in-finish", format!("panicked when it finished (a value that is not text), {bug}")),
        ("panic-in-drop", format!("panicked when it finished (no end today), {bug}")),
        (
            "lie-in-path",
            format!(
                "sent an invalid answer when it finished (the path \"../../escaped.txt\" leaves the directory of artifacts), {bug}"
            ),
        ),
        (
            "lie-in-steps",
            format!("sent an invalid answer when it finished (a step goes from op 3 to op 4 of 0), {bug}"),
        ),
    ] {
        for limit in ["", "--timeout 100"] {
            let assert = with(&plugin, &format!("-m {name} {limit} valid.edn provoke.edn stale.edn"));
            let assert = assert.code(255).stdout_eq("valid.edn\ttrue\nstale.edn\ttrue\n");
            let error = format!("provoke.edn: error: the plugin's {name} of PLUGIN {what}\n");
            assert!(said(&assert, &plugin).contains(&error), "{}", said(&assert, &plugin));
        }
    }
    let assert = with(&plugin, "-m panic-in-start valid.edn").code(255).stdout_eq("");
    let error = format!("the plugin's panic-in-start of PLUGIN panicked when it began (no start today), {bug}\n");
    assert!(said(&assert, &plugin).contains(&error), "{}", said(&assert, &plugin));
}

#[test]
fn what_never_returns_ends_at_its_time() {
    let plugin = misbehaving("");
    for name in ["hang", "hang-in-finish"] {
        let assert = with(&plugin, &format!("-m {name} --timeout 0.2 valid.edn provoke.edn stale.edn"));
        let assert = assert.code(255).stdout_eq("valid.edn\ttrue\nstale.edn\ttrue\n");
        let error = format!(
            "provoke.edn: error: {name}, of a plugin, did not finish within 0.2 seconds and was stopped: the plugin ignored its limits, which is a bug of the plugin\n3 histories: 2 true, 1 not checked\n"
        );
        assert_eq!(stderr(&assert), error);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_takes_memory_without_end_ends_at_its_limit() {
    let plugin = misbehaving("");
    let assert = with(&plugin, "-m eat --max-memory 400000000 valid.edn provoke.edn stale.edn");
    let assert = assert.code(255).stdout_eq("valid.edn\ttrue\nstale.edn\ttrue\n");
    let error = "provoke.edn: error: eat, of a plugin, used more than 400000000 bytes of memory and was stopped: ";
    assert!(stderr(&assert).starts_with(error), "{}", stderr(&assert));
}

#[test]
fn what_ends_the_process_ends_only_its_own() {
    let plugin = misbehaving("");
    for name in ["abort", "exit"] {
        let assert = with(&plugin, &format!("-m {name} --timeout 100 --output json valid.edn provoke.edn stale.edn"));
        let assert = assert.code(255);
        let lines: Vec<serde_json::Value> =
            stdout(&assert).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["valid"], true);
        assert!(lines[1]["error"].to_string().contains("crashed"), "{}", lines[1]);
        assert_eq!(lines[2]["valid"], true);
        assert!(stderr(&assert).contains(&format!("{name} crashed (")), "{}", stderr(&assert));
    }
}

#[test]
fn what_a_process_leaves_behind_holds_no_verdict_up() {
    let plugin = misbehaving("");
    // The checker starts another program, which keeps the pipes open.
    let assert = with(&plugin, "-m leave --timeout 100 valid.edn provoke.edn stale.edn");
    let assert = assert.code(0).stdout_eq("valid.edn\ttrue\nprovoke.edn\ttrue\nstale.edn\ttrue\n");
    let left = stderr(&assert);
    for number in left.lines().filter_map(|line| line.strip_prefix("left ")) {
        assert!(Command::new("kill").arg(number).status().unwrap().success(), "it was still there: {left}");
    }
    assert!(left.starts_with("left "), "{left}");
}

#[test]
fn what_never_ends_loading_ends_at_its_time() {
    let (plugin, good) = (misbehaving("hangs-at-load"), misbehaving(""));
    let words = format!("--plugin {} -m behave --timeout 0.2 valid.edn stale.edn", good.display());
    let assert = with(&plugin, &words).code(255).stdout_eq("valid.edn\ttrue\nstale.edn\ttrue\n");
    let error = "error: plugin PLUGIN did not finish loading within 0.2 seconds, which is a bug of the plugin\n2 histories: 2 true\n";
    assert_eq!(said(&assert, &plugin), error);
}

#[test]
fn options_of_what_others_load_are_looked_at_before_any_history() {
    let plugin = misbehaving("");
    let assert = with(&plugin, "-m behave --timeout 100 --max-witnesses 3 valid.edn");
    let plain = with(&plugin, "-m behave --max-witnesses 3 valid.edn");
    assert_eq!(stderr(&assert), stderr(&plain));
    assert_eq!(assert.get_output().status.code(), plain.get_output().status.code());
}

#[cfg(unix)]
#[test]
fn what_is_no_whole_file_is_not_loaded() {
    let plugin = misbehaving("");
    let directory = tempfile::tempdir().unwrap();
    let whole = fs::read(&plugin).unwrap();
    for length in [5000, 100] {
        let cut = directory.path().join(format!("{length}.so"));
        fs::write(&cut, &whole[..length]).unwrap();
        let assert = with(&cut, "-m list-append valid.edn").code(255).stdout_eq("valid.edn\ttrue\n");
        let error = said(&assert, &cut);
        assert!(error.starts_with(&format!("error: plugin PLUGIN is truncated: it has {length} bytes, ")), "{error}");
        fs::remove_file(cut).unwrap();
    }
    let pipe = directory.path().join("x.so");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = "error: plugin PLUGIN is a pipe or a device; pass the path of a dynamic library\n";
    let assert = with(&pipe, "-m list-append valid.edn").code(255).stdout_eq("valid.edn\ttrue\n");
    assert_eq!(said(&assert, &pipe), error);
    let words = format!("--plugin-dir {} -m list-append valid.edn", directory.path().display());
    assert_eq!(said(&histcheck(&words).assert().code(255), &pipe), error);
}

#[test]
fn what_cannot_be_loaded_is_told_in_a_sentence() {
    for (features, what) in [
        ("exits-at-load", "ended the process that loaded it before listing its checkers, which is a bug of the plugin"),
        ("panics-at-load", "panicked while loading, which is a bug of the plugin: no checkers today"),
        (
            "no-symbol",
            "is a library, but not a plugin of histcheck: the crate of a plugin is a cdylib and calls export_checkers!",
        ),
        (
            "other-layout",
            "was built with a histcheck-plugin whose types have another layout; build it with the released \
             histcheck-plugin 1",
        ),
        ("garbage", "has a checker with the name \"no name, but words\": a name has letters, digits, - _ . and +"),
    ] {
        let plugin = misbehaving(features);
        // Other checkers still work.
        let assert = with(&plugin, "-m stats valid.edn").code(255).stdout_eq("valid.edn\ttrue\n");
        let errors = said(&assert, &plugin);
        let errors: Vec<&str> = errors.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(errors, [format!("error: plugin PLUGIN {what}")]);
        // The plugin's own checkers are missing.
        let assert = with(&plugin, "-m behave valid.edn").code(255).stdout_eq("");
        assert!(stderr(&assert).contains("invalid value 'behave'"), "{}", stderr(&assert));
    }
    let layout = misbehaving("other-layout");
    let assert = with(&layout, "--debug -m stats valid.edn").code(255);
    assert!(stderr(&assert).lines().count() > 10, "--debug says it all: {}", stderr(&assert));
    for (path, what) in [
        (
            "nowhere.so",
            "nowhere.so does not exist; pass the path of the library that `cargo build` wrote to its target directory",
        ),
        (
            "valid.edn",
            "valid.edn is not a dynamic library; pass the path of the library that `cargo build` wrote for a cdylib crate",
        ),
        ("store", "store is a directory; load all plugins in it with --plugin-dir store"),
    ] {
        let assert = histcheck(&format!("-m list-append --plugin {path} valid.edn")).assert().code(255);
        assert_eq!(stderr(&assert), format!("error: plugin {what}\n"));
    }
    for (path, what) in [
        ("nowhere", "nowhere does not exist; pass a directory of plugins"),
        ("valid.edn", "valid.edn is not a directory; pass a directory of plugins"),
    ] {
        let assert = histcheck(&format!("-m list-append --plugin-dir {path} valid.edn")).assert().code(255);
        assert_eq!(stderr(&assert), format!("error: plugin directory {what}\n"));
    }
    let assert = histcheck("-m list-append --plugin-dir store valid.edn").assert().code(0);
    assert!(stderr(&assert).starts_with("warning: no plugin in store: no file there ends in ."), "{}", stderr(&assert));
}

#[test]
fn plugins_are_found_where_they_were_put() {
    let plugin = misbehaving("");
    let directory = tempfile::tempdir().unwrap();
    let (first, second) = (directory.path().join("first"), directory.path().join("data/histcheck/plugins"));
    for folder in [&first, &second] {
        fs::create_dir_all(folder).unwrap();
        fs::copy(&plugin, folder.join("p").with_extension(std::env::consts::DLL_EXTENSION)).unwrap();
    }
    fs::write(first.join("README"), "no library").unwrap();
    let valid = |command: snapbox::cmd::Command| command.assert().code(0).stdout_eq("valid.edn\ttrue\n");
    valid(histcheck("-m behave valid.edn --plugin-dir").arg(&first));
    valid(histcheck("-m behave valid.edn").env("HISTCHECK_PLUGINS", &first));
    if cfg!(target_os = "linux") {
        valid(histcheck("-m behave valid.edn").env("XDG_DATA_HOME", directory.path().join("data")));
    }
    histcheck("-m behave valid.edn").assert().code(254).stdout_eq("");

    // A plugin that was not named causes only a warning.
    if cfg!(target_os = "linux") {
        let broken = second.join("broken.so");
        fs::write(&broken, "no library").unwrap();
        let assert = histcheck("-m behave valid.edn").env("XDG_DATA_HOME", directory.path().join("data")).assert();
        let warning = stderr(&assert.code(0).stdout_eq("valid.edn\ttrue\n"));
        assert!(
            warning.starts_with(&format!("warning: plugin {} is not a dynamic library", broken.display())),
            "{warning}"
        );
        fs::remove_file(broken).unwrap();
    }

    // Two checkers with the same name.
    let both = std::env::join_paths([&first, &second]).unwrap();
    let assert = histcheck("-m behave valid.edn").env("HISTCHECK_PLUGINS", &both).assert().code(254).stdout_eq("");
    let error = stderr(&assert);
    let file =
        |folder: &PathBuf| folder.join("p").with_extension(std::env::consts::DLL_EXTENSION).display().to_string();
    let (a, b) = (file(&first), file(&second));
    assert!(error.contains(&format!("two checkers are named behave: one from {a}, one from {b}")), "{error}");
    assert!(error.contains(&format!("choose {a}:behave or {b}:behave")), "{error}");
    valid(histcheck(&format!("valid.edn -m {b}:behave")).env("HISTCHECK_PLUGINS", &both));
    valid(histcheck("valid.edn -m histcheck:stats").env("HISTCHECK_PLUGINS", &both));
}

#[cfg(unix)]
#[test]
fn what_others_can_write_is_not_loaded_unasked() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let plugin = directory.path().join("p.so");
    fs::copy(misbehaving(""), &plugin).unwrap();
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o777)).unwrap();
    let assert = with(&plugin, "-m list-append valid.edn").code(255);
    let error = "error: plugin PLUGIN can be written by other users, and a plugin runs with your permissions; change that, or pass \
                 --trust\n";
    assert_eq!(said(&assert, &plugin), error);
    with(&plugin, "--trust -m behave valid.edn").code(0).stdout_eq("valid.edn\ttrue\n");
}

#[test]
fn limits_leave_verdicts_as_they_are() {
    let files = "valid.edn stale.edn nowhere.edn reverse.edn";
    for output in ["text", "json", "edn"] {
        let plain = crate::check(&format!("-v --output {output} {files}"));
        let limited = crate::check(&format!("-v --output {output} --timeout 100 --max-memory 4000000000 {files}"));
        assert_eq!(stdout(&limited), stdout(&plain));
        assert_eq!(stderr(&limited), stderr(&plain));
        limited.code(plain.get_output().status.code().unwrap());
    }
    let (plain, limited) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    crate::check(&format!("-d {} stale.edn ./stale.edn", plain.path().display())).code(1);
    crate::check(&format!("-d {} --timeout 100 stale.edn ./stale.edn", limited.path().display())).code(1);
    for folder in ["stale.edn", "stale.edn-2"] {
        let text = |root: &Path| fs::read_to_string(root.join(folder).join("report.txt")).unwrap();
        assert_eq!(text(limited.path()), text(plain.path()));
    }
    crate::check("--timeout 0 valid.edn").code(254);
    crate::check("--max-memory 0 valid.edn").code(254);
}

#[test]
fn a_checker_whose_time_is_up_knows_nothing() {
    // The pipe has no writer, so the history never ends.
    let (reader, _writer) = std::io::pipe().unwrap();
    let program = snapbox::cmd::cargo_bin!("histcheck");
    let mut command = Command::new(program);
    command.args(["-m", "list-append", "--timeout", "0.1", "-"]).stdin(reader);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "-\tunknown\n");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("No verdict, because the time limit was reached: list-append did not finish within"),
        "{error}"
    );
}

#[test]
fn a_new_plugin_is_the_template_by_another_name() {
    let directory = tempfile::tempdir().unwrap();
    let new = |name: &str| histcheck(&format!("plugin new {name}")).current_dir(directory.path()).assert();
    assert!(stdout(&new("my-check").code(0)).starts_with("Created the plugin my-check/."));
    let crate_of = directory.path().join("my-check");
    let manifest = fs::read_to_string(crate_of.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"my-check\""), "{manifest}");
    let tests = fs::read_to_string(crate_of.join("tests/plugin.rs")).unwrap();
    assert!(tests.contains("use my_check::LeaderLease;"), "{tests}");
    let error = stderr(&new("my-check").code(255));
    assert_eq!(error, "error: my-check exists already; choose another name, or remove it\n");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", directory.path().join("lnk")).unwrap();
        let error = stderr(&new("lnk").code(255));
        assert_eq!(error, "error: lnk exists already; choose another name, or remove it\n");
    }
    new("../out").code(254).stdout_eq("");
    new("Name").code(254).stdout_eq("");
}
