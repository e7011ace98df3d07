//! The final requests of a run: an element that only a lagging server does not show is not lost.

use crate::setup::Setup;
use history_core::Verdict;
use record_live::{Client, Fault, LiveError, Nemesis, Outcome, Request, Seat, Step, Store};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

/// A set on two nodes. During a fault, the second node returns the state before it.
#[derive(Default)]
struct Lagging {
    nodes: Vec<String>,
    set: Arc<(Mutex<Set>, Condvar)>,
    /// Whether the elements added during the fault are lost when it ends.
    forgets: bool,
}

#[derive(Default)]
struct Set {
    elements: Vec<i64>,
    /// During and after the fault: the number of elements that the second node returns.
    shown: Option<usize>,
    was_cut: bool,
}

/// The number of elements added before the fault begins.
const BEFORE: usize = 100;

impl Store for Lagging {
    fn name(&self) -> &'static str {
        "lagging"
    }

    fn workloads(&self) -> &[&'static str] {
        &["set-full"]
    }

    fn nodes(&self) -> &[String] {
        &self.nodes
    }

    fn client(&self, seat: &Seat) -> Result<Box<dyn Client>, LiveError> {
        Ok(Box::new(Caller { set: Arc::clone(&self.set), lags: seat.node == 1 }))
    }

    fn begin(&self, _: Fault, _: &[u32]) -> Result<(), LiveError> {
        let mut set = self.set.0.lock().unwrap();
        (set.shown, set.was_cut) = (Some(set.elements.len()), true);
        self.set.1.notify_all();
        Ok(())
    }

    fn heal(&self) -> Result<(), LiveError> {
        let mut set = self.set.0.lock().unwrap();
        let shown = set.shown.take();
        if let (Some(shown), true) = (shown, self.forgets) {
            set.elements.truncate(shown);
        }
        Ok(())
    }

    fn heal_at_end(&self) -> Result<(), LiveError> {
        Ok(())
    }
}

struct Caller {
    set: Arc<(Mutex<Set>, Condvar)>,
    lags: bool,
}

impl Client for Caller {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let waits = |set: &mut Set| set.elements.len() >= BEFORE && !set.was_cut;
        let mut set = self.set.1.wait_while(self.set.0.lock().unwrap(), waits).unwrap();
        Ok(match request {
            Request::Add(element) => {
                set.elements.push(*element);
                Outcome::done()
            }
            _ => Outcome::value(set.elements[..set.shown.filter(|_| self.lags).unwrap_or(set.elements.len())].to_vec()),
        })
    }
}

fn verdict(forgets: bool, directory: &Path) -> Verdict {
    let store = Lagging { nodes: vec!["n1".into(), "n2".into()], forgets, ..Lagging::default() };
    let nemesis = Nemesis { replay: Some(vec![Step::Begin(Fault::Isolate, vec![1])]), ..Nemesis::default() };
    let ended = Setup { nemesis, ops_max: 1_000, ..Setup::new(&store, "set-full") }.run(directory).unwrap();
    assert_eq!(ended.ops, 2 * (1_000 + 8) + 2, "each client reads once more; the fault and its end are ops too");
    ended.report.verdict
}

#[test]
fn a_set_is_read_once_more_when_all_faults_are_over() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(verdict(false, directory.path()), Verdict::Valid);
}

#[test]
fn what_is_not_there_after_all_faults_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(verdict(true, directory.path()), Verdict::Invalid);
}
