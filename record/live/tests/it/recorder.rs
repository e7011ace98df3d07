//! The recorder is sound: the recorded history of a correct register is linearizable, at any speed.

use crate::setup::Setup;
use history_core::Verdict;
use record_live::{Client, LiveError, Outcome, Request, Seat, Store};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Registers protected by a lock.
#[derive(Clone, Default)]
pub(crate) struct Locked {
    pub(crate) values: Arc<Mutex<HashMap<u32, i64>>>,
    pub(crate) nodes: Vec<String>,
    /// Whether it responds before it acts: then its responses are not those of a correct register.
    pub(crate) answers_first: bool,
}

impl Store for Locked {
    fn name(&self) -> &'static str {
        "locked"
    }

    fn workloads(&self) -> &[&'static str] {
        &["cas-register"]
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn client(&self, _: &Seat) -> Result<Box<dyn Client>, LiveError> {
        Ok(Box::new(Caller { store: self.clone(), later: None }))
    }
}

struct Caller {
    store: Locked,
    later: Option<Request>,
}

impl Client for Caller {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let mut values = self.store.values.lock().unwrap();
        let is_later = self.store.answers_first && matches!(request, Request::Write(..));
        let outcome = if is_later { Outcome::done() } else { perform(&mut values, request) };
        // Performed after the next request, so that even a client that is alone for a while reads the previous state.
        if let Some(later) = self.later.take() {
            perform(&mut values, &later);
        }
        self.later = is_later.then(|| request.clone());
        Ok(outcome)
    }
}

pub(crate) fn perform(values: &mut HashMap<u32, i64>, request: &Request) -> Outcome {
    match *request {
        Request::Read(key) => Outcome::value(values.get(&key).copied()),
        Request::Write(key, value) => {
            values.insert(key, value);
            Outcome::done()
        }
        Request::Cas { key, expected, new } if values.get(&key) == Some(&expected) => {
            values.insert(key, new);
            Outcome::done()
        }
        _ => Outcome::Fail("the register holds another value".into()),
    }
}

#[test]
fn a_correct_register_is_never_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = Locked { nodes: vec![String::new()], ..Locked::default() };
    let ended = Setup { ops_max: 20_000, ..Setup::new(&store, "cas-register") }.run(directory.path()).unwrap();
    assert_eq!(ended.report.verdict, Verdict::Valid, "{:?}", ended.report.notes);
    assert_eq!(ended.ops, 40_000);
}

/// The same store, whose writes happen after their completion: as if the recorder had recorded completions too early.
#[test]
fn a_completion_that_is_recorded_too_early_is_caught() {
    let directory = tempfile::tempdir().unwrap();
    let store = Locked { nodes: vec![String::new()], answers_first: true, ..Locked::default() };
    let ended = Setup { ops_max: 20_000, ..Setup::new(&store, "cas-register") }.run(directory.path()).unwrap();
    assert_eq!(ended.report.verdict, Verdict::Invalid);
}
