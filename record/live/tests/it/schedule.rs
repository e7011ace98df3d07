//! The schedule that a run writes, and a run that replays it.

use crate::setup::Setup;
use record_live::store::Exec;
use record_live::{Fault, Nemesis, Step};
use std::time::Duration;

const APPENDS: &str = r#"while read -r line; do echo '{"type":"ok","value":null}'; done"#;

fn nodes() -> Vec<String> {
    vec!["a".to_owned(), "b".to_owned()]
}

/// The executed steps of a run whose clients wait for the first fault.
fn play(nemesis: Nemesis) -> Vec<Step> {
    let directory = tempfile::tempdir().unwrap();
    let begun = directory.path().join("begun").display().to_string();
    let store = Exec::new(format!("until [ -e {begun} ]; do sleep 0.01; done; {APPENDS}"))
        .with_nodes(nodes())
        .with_fault(format!("touch {begun}"), "true".to_owned());
    let ended = Setup { nemesis, ops_max: 400, ..Setup::new(&store, "set-full") }.run(directory.path()).unwrap();
    let steps = Step::read_all(&directory.path().join("schedule.jsonl"), &nodes()).unwrap();
    assert_eq!(ended.faults, u64::try_from(begins(&steps).len()).unwrap());
    steps
}

fn begins(steps: &[Step]) -> Vec<&Step> {
    steps.iter().filter(|step| matches!(step, Step::Begin(..))).collect()
}

#[test]
fn a_schedule_is_played_again() {
    let every = Duration::from_millis(1);
    let first = play(Nemesis { faults: vec![Fault::Command], every, longer: every, ..Nemesis::default() });
    let again = play(Nemesis { replay: Some(first.clone()), ..Nemesis::default() });
    assert!(!begins(&again).is_empty() && begins(&first).starts_with(&begins(&again)), "{again:?} of {first:?}");
}

#[test]
fn faults_that_never_come_are_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let store = Exec::new(APPENDS);
    let steps = vec![Step::Wait(Duration::from_hours(1)), Step::Begin(Fault::Command, vec![0])];
    let nemesis = Nemesis { replay: Some(steps), ..Nemesis::default() };
    let setup = Setup { nemesis, ops_max: 40, ..Setup::new(&store, "set-full") };
    let error = setup.run(directory.path()).unwrap_err().to_string();
    assert!(error.contains("before a fault took effect"), "{error}");
}
