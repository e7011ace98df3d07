//! Nodes with Maelstrom's protocol.

use crate::setup::Setup;
use history_core::Verdict;
use record_live::store::maelstrom::{Conditions, Dialect, Maelstrom, Settings};
use record_live::{Fault, LiveError, Nemesis};
use std::path::Path;
use std::time::Duration;

fn settings(command: &[&str], logs: &Path) -> Settings {
    Settings {
        command: command.iter().map(|&part| part.to_owned()).collect(),
        nodes: ["n1", "n2", "n3"].map(str::to_owned).into(),
        conditions: Conditions { latency: Duration::from_millis(1), loss_percent: 0, seed: 3 },
        dialect: Dialect::GSet,
        primary: Some(0),
        logs: logs.to_owned(),
    }
}

const TOY: &str = env!("CARGO_BIN_EXE_maelstrom-toy");

fn partitions() -> Nemesis {
    Nemesis {
        faults: vec![Fault::Isolate],
        every: Duration::from_millis(50),
        longer: Duration::from_millis(50),
        ..Nemesis::default()
    }
}

#[test]
fn reads_from_backups_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = Maelstrom::start(settings(&[TOY, "--lazy"], directory.path())).unwrap();
    let ended = Setup { ops_max: 100_000, ..Setup::new(&store, "cas-register") }.run(directory.path()).unwrap();
    assert_eq!(ended.report.verdict, Verdict::Invalid);
    let violated = ended.violated.expect("the run ended at the violation");
    assert!(violated.index.is_some(), "the checker watches: {violated:?}");
    assert!(violated.ops < 100_000, "the run went on to its end: {violated:?}");
}

#[test]
fn a_single_copy_is_linearizable() {
    let directory = tempfile::tempdir().unwrap();
    let store = Maelstrom::start(settings(&[TOY], directory.path())).unwrap();
    let ended = Setup::new(&store, "cas-register").run(directory.path()).unwrap();
    assert_eq!(ended.report.verdict, Verdict::Valid, "{:?}", ended.report.notes);
}

#[test]
fn a_single_copy_is_linearizable_while_it_cannot_be_reached() {
    let directory = tempfile::tempdir().unwrap();
    let store = Maelstrom::start(settings(&[TOY], directory.path())).unwrap();
    let timeout = Duration::from_millis(100);
    let setup = Setup { nemesis: partitions(), timeout, ..Setup::new(&store, "cas-register") };
    let ended = setup.run(directory.path()).unwrap();
    assert_eq!(ended.report.verdict, Verdict::Valid, "{:?}", ended.report.notes);
    assert!(ended.faults > 0);
}

#[test]
fn a_node_that_ends_is_named_with_its_last_lines() {
    let directory = tempfile::tempdir().unwrap();
    let command = ["sh", "-c", "echo out of cheese >&2; exit 3"];
    let Err(error) = Maelstrom::start(settings(&command, directory.path())) else { panic!("it started") };
    let message = error.to_string();
    assert!(message.contains(" has ended") && message.contains("out of cheese"), "{message}");
}

#[test]
fn a_node_that_writes_nonsense_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let Err(error) = Maelstrom::start(settings(&["sh", "-c", "echo hello; cat > /dev/null"], directory.path())) else {
        panic!("it started")
    };
    let message = error.to_string();
    // Every node wrote this text; the order of reading is random.
    assert!(
        message.starts_with('n') && message.contains(" wrote \"hello\"") && message.contains("\"src\""),
        "{message}"
    );
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let Err(error) = Maelstrom::start(settings(&["/nowhere/node"], directory.path())) else { panic!("it started") };
    assert!(matches!(&error, LiveError::Start { .. }) && error.to_string().contains("/nowhere/node"), "{error}");
}

#[test]
fn logs_and_counters_of_a_single_copy_hold() {
    for workload in ["kafka", "g-counter", "pn-counter"] {
        let directory = tempfile::tempdir().unwrap();
        let store = Maelstrom::start(settings(&[TOY], directory.path())).unwrap();
        let ended = Setup::new(&store, workload).run(directory.path()).unwrap();
        assert_eq!(
            ended.report.verdict,
            Verdict::Valid,
            "{workload}: {:?} {:?}",
            ended.report.notes,
            ended.report.anomalies
        );
        let history = std::fs::read_to_string(directory.path().join("history.jsonl")).unwrap();
        let last = if workload == "kafka" { "\"to-end\":true" } else { "\"final?\":true" };
        assert!(history.contains(last), "{workload} ends with what makes the verdict mean something");
    }
}

#[test]
fn backups_that_miss_messages_are_found_in_logs_and_counters() {
    for (workload, anomalies) in [("kafka", ["poll-skip", "int-poll-skip"]), ("g-counter", ["wrong-sum", "wrong-sum"])]
    {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = settings(&[TOY, "--lazy"], directory.path());
        // Half of the primary's messages to other nodes are lost, but those to its own clients are not: nearly all
        // operations are theirs, and have known outcomes.
        settings.conditions.loss_percent = 50;
        let store = Maelstrom::start(settings).unwrap();
        let timeout = Duration::from_secs(1);
        let ended = Setup { timeout, ops_max: 400, ..Setup::new(&store, workload) }.run(directory.path()).unwrap();
        let found: Vec<&str> = ended.report.anomalies.iter().map(|anomaly| &*anomaly.name).collect();
        assert_eq!(ended.report.verdict, Verdict::Invalid, "{workload}: {:?}", ended.report.notes);
        assert!(anomalies.iter().any(|name| found.contains(name)), "{workload}: {found:?}");
    }
}
