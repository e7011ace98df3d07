//! Plugins that were built with a frozen copy of the interface load here: older ones, and newer ones that need no new
//! features.
#![cfg(feature = "host")]

use histcheck_plugin::host::{self, LoadErrorKind, Trust};
use histcheck_plugin::{
    Budget, Checker, Client, Datum, ErrorKind, Keyed, Options, Reader, Report, Verdict, check, check_ahead,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Only one build at a time: all builds write to the same path, from which the libraries are copied.
static BUILDS: Mutex<()> = Mutex::new(());

/// Builds a crate outside of the workspace, as users build theirs.
fn build(folder: &str, features: &str) -> PathBuf {
    let _one = BUILDS.lock().unwrap_or_else(PoisonError::into_inner);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen").join(folder).join("Cargo.toml");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    let name = format!("{}frozen_plugin{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    // Both crates write this file. If it exists, cargo would treat it as up to date, although the other crate may have
    // overwritten it.
    _ = std::fs::remove_file(target.join("debug/deps").join(&name));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--features", features]).arg("--manifest-path").arg(manifest);
    let built = cargo.arg("--target-dir").arg(&target).status().unwrap();
    assert!(built.success(), "{folder} does not build");
    let own = target.join(format!("{folder}-{features}-{name}"));
    // It is copied under another name first, because a file that a process has loaded must not be overwritten.
    let half = target.join(format!("{}-{folder}-{features}-half", std::process::id()));
    std::fs::copy(target.join("debug").join(name), &half).unwrap();
    std::fs::rename(half, &own).unwrap();
    own
}

const TEXT: &str = r#"
    {:process 0, :type :invoke, :f :read, :value nil, :time 3}
    {:process 0, :type :ok, :f :read, :value 5}
    {:process 1, :type :invoke, :f "re\u0061d", :value [1 2]}
    {:process 1, :type :ok, :f "re\u0061d", :value [10 20]}
"#;

fn judge(checker: &dyn Checker, text: &str) -> Report {
    let run = checker.start(&Options::new()).unwrap();
    check_ahead(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap()
}

fn everything_crosses(checker: &dyn Checker) {
    assert_eq!((checker.name(), checker.summary()), ("frozen", "Was built long ago."));
    assert_eq!((checker.options()[0].name, checker.options()[0].value_name), ("frost", "DEGREES"));
    let refused = checker.start(&Options::new().with("frost", "100")).err().unwrap();
    assert_eq!(refused.to_string(), "--frost: that is not cold");

    let report = judge(checker, TEXT);
    assert_eq!(report.verdict, Verdict::Valid);
    assert_eq!(report.counts, [("ok".into(), 2), ("sum".into(), 35)]);

    // Small blocks give many batches, and cut ops.
    let run = checker.start(&Options::new()).unwrap();
    let mut reader = Reader::new(TEXT.as_bytes()).with_block_bytes(64);
    assert_eq!(check(run, &mut reader, &Budget::default()).unwrap(), report);

    // Single ops, with values without their keys.
    let text = "{:process 0, :type :invoke, :f :r, :value [7 nil]} {:process 0, :type :ok, :f :r, :value [7 [1 2]]}";
    let run = Keyed::start(checker, &Options::new()).unwrap();
    let report = check(Box::new(run), &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Valid);
    assert_eq!(report.keys[0].key, Datum::Int(7));

    let text = TEXT.to_owned() + "{:process 2, :type :invoke, :f :x} {:process 2, :type :ok, :f :boom}";
    let report = judge(checker, &text);
    assert_eq!(report.verdict, Verdict::Invalid);
    let witness = &report.anomaly("boom").unwrap().witnesses[0];
    assert_eq!((witness.ops[0].index, &witness.ops[0].value), (5, &Datum::Keyword("bang".into())));

    // A plugin without names gets a number for a client with a name; the report contains the name.
    let named = text.replace(":process 2", ":process :w2").replace(":process 1", ":process \"w\\u0031\"");
    let mut expected = report.clone();
    assert_eq!(report.anomalies[0].witnesses[0].ops[0].process, Some(Client::Number(2)));
    expected.anomalies[0].witnesses[0].ops[0].process = Some(Client::Name("w2".into()));
    assert_eq!(judge(checker, &named), expected);

    let mut run = checker.start(&Options::new()).unwrap();
    let mut seen = Vec::new();
    Reader::new(text.as_bytes())
        .for_each(|op| {
            let flow = run.observe(op)?;
            seen.push((run.is_violated(), run.configurations()));
            Ok(flow)
        })
        .unwrap();
    let counts = [0, 1, 1, 2, 2, 3].map(Some);
    assert_eq!(seen, [false, false, false, false, false, true].into_iter().zip(counts).collect::<Vec<_>>());
    assert_eq!(run.violation().unwrap(), report);

    let text = "{:process 2, :type :invoke, :f :x}\n{:process 2, :type :ok, :f :nonsense}";
    let run = checker.start(&Options::new()).unwrap();
    let error = check(run, &mut Reader::new(text.as_bytes()), &Budget::default()).unwrap_err();
    assert_eq!(
        (error.kind, error.to_string()),
        (ErrorKind::Unexpected, "line 2, column 1: this is nonsense; expected sense".into())
    );
}

#[test]
fn a_plugin_of_interface_1_0_loads() {
    let library = host::load(&build("1_0", ""), Trust::All).unwrap();
    everything_crosses(library.checkers[0].as_ref());
}

#[test]
fn a_newer_plugin_loads_unless_it_needs_more() {
    let library = host::load(&build("1_9", ""), Trust::All).unwrap();
    everything_crosses(library.checkers[0].as_ref());

    let path = build("1_9", "needy");
    let error = host::load(&path, Trust::All).err().unwrap();
    assert_eq!(error.kind, LoadErrorKind::TooNew);
    let said = "needs telepathy and time-travel, which this histcheck (plugin interface 1.0) lacks; use one with interface 1.9";
    assert_eq!(error.to_string(), format!("{} {said}", path.display()));
}

#[test]
fn what_is_no_plugin_is_refused_in_a_sentence() {
    let kind = |path: &Path| host::load(path, Trust::All).err().map(|error| (error.kind, error.to_string()));
    let (missing, said) = kind(Path::new("nowhere.so")).unwrap();
    assert_eq!(missing, LoadErrorKind::Missing);
    assert_eq!(
        said,
        "nowhere.so does not exist; pass the path of the library that `cargo build` wrote to its target directory"
    );
    let (text, said) = kind(Path::new("Cargo.toml")).unwrap();
    assert_eq!(text, LoadErrorKind::NotALibrary);
    assert!(!said.contains('\n'), "{said}");
    assert_eq!(kind(Path::new("src")).unwrap().0, LoadErrorKind::NotALibrary);
}
