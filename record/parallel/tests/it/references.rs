//! A table with handles that no model can predict: commands refer to the responses of earlier commands.

use history_core::Datum;
use proptest::prelude::*;
use proptest::sample::select;
use record_parallel::Settings;
use record_parallel::property::{Outcome, Parallel, ParallelModel, Program, Reference};
use record_parallel::scheduler::Reduced;
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Arc, Mutex};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Command {
    Open,
    Close(Reference<Answer>),
}

use Command::{Close, Open};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Answer {
    Handle(u64),
    WasOpen(bool),
}

/// The fault of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The table checks whether a handle is open, and closes it in a second step.
    ClosesTwice,
    /// All handles are equal.
    RepeatsHandles,
    /// The table is full after one handle, and fails to open another.
    IsFull,
    FullAndClosesTwice,
    /// The model does not report that a command contains a reference.
    ForgetsReferences,
    /// All handles are equal; commands may refer to any position, and simplification changes positions.
    RefersAnywhere,
}

struct Table(Fault);

#[derive(Default)]
struct System {
    /// The number of handles opened so far, and the set of open handles.
    handles: Mutex<(u64, BTreeSet<u64>)>,
}

/// All handles opened so far, and the open ones.
type Handles = (BTreeSet<u64>, BTreeSet<u64>);

fn handle(command: &Command) -> u64 {
    match command {
        Close(reference) => match reference.response() {
            Answer::Handle(handle) => *handle,
            // A handle that was never opened.
            Answer::WasOpen(_) => u64::MAX,
        },
        Open => panic!("it has no handle"),
    }
}

impl ParallelModel for Table {
    type Command = Command;
    type Response = Answer;
    type State = Handles;
    type System = System;

    fn init(&self) -> Handles {
        Handles::default()
    }

    fn start(&self) -> System {
        System::default()
    }

    fn generate(&self, _: &Handles) -> BoxedStrategy<Command> {
        match self.0 {
            Fault::ForgetsReferences => Just(close(0)).boxed(),
            Fault::RefersAnywhere => prop_oneof![1 => (0_usize..60).prop_map(close), 4 => Just(Open)].boxed(),
            _ => Just(Open).boxed(),
        }
    }

    fn generate_after(&self, state: &Handles, earlier: &[(Reference<Answer>, Command)]) -> BoxedStrategy<Command> {
        let opened = earlier.iter().filter(|(_, command)| *command == Open).map(|(answer, _)| answer.clone());
        let opened: Vec<Reference<Answer>> = opened.collect();
        if opened.is_empty() || matches!(self.0, Fault::ForgetsReferences | Fault::RefersAnywhere) {
            return self.generate(state);
        }
        prop_oneof![Just(Open), select(opened).prop_map(Close)].boxed()
    }

    fn references<'c>(&self, command: &'c mut Command) -> Vec<&'c mut Reference<Answer>> {
        match command {
            Close(reference) if self.0 != Fault::ForgetsReferences => vec![reference],
            _ => vec![],
        }
    }

    fn step(&self, (given, open): &Handles, command: &Command) -> (Handles, Answer) {
        let (mut given, mut open) = (given.clone(), open.clone());
        match command {
            Open => {
                // Any handle that was not used before is correct.
                let handle = given.last().map_or(0, |last| last + 1);
                given.insert(handle);
                open.insert(handle);
                ((given, open), Answer::Handle(handle))
            }
            Close(_) => {
                let was_open = open.remove(&handle(command));
                ((given, open), Answer::WasOpen(was_open))
            }
        }
    }

    fn accept(&self, state: &Handles, command: &Command, answer: &Answer) -> Vec<Handles> {
        let (given, open) = state;
        match answer {
            Answer::Handle(handle) if *command == Open && !given.contains(handle) => {
                let with = |handles: &BTreeSet<u64>| handles.iter().copied().chain([*handle]).collect();
                vec![(with(given), with(open))]
            }
            Answer::Handle(_) => vec![],
            Answer::WasOpen(_) => {
                let (after, expected) = self.step(state, command);
                if expected == *answer { vec![after] } else { vec![] }
            }
        }
    }

    fn record(&self, command: &Command, _: Option<&Answer>) -> (String, Datum) {
        match command {
            Open => ("open".to_owned(), Datum::Nil),
            Close(_) => ("close".to_owned(), Datum::from(handle(command))),
        }
    }

    fn run_real(&self, system: &System, command: &Command) -> Outcome<Answer> {
        if *command == Open {
            let (count, open) = &mut *system.handles.lock().unwrap();
            if matches!(self.0, Fault::IsFull | Fault::FullAndClosesTwice) && *count == 1 {
                return Outcome::Failed;
            }
            *count += 1;
            let repeats = matches!(self.0, Fault::RepeatsHandles | Fault::RefersAnywhere);
            let handle = if repeats { 7 } else { *count * 7919 % 1009 };
            open.insert(handle);
            return Outcome::Returned(Answer::Handle(handle));
        }
        let handle = handle(command);
        if matches!(self.0, Fault::ClosesTwice | Fault::FullAndClosesTwice) {
            let is_open = system.handles.lock().unwrap().1.contains(&handle);
            system.handles.lock().unwrap().1.remove(&handle);
            return Outcome::Returned(Answer::WasOpen(is_open));
        }
        Outcome::Returned(Answer::WasOpen(system.handles.lock().unwrap().1.remove(&handle)))
    }
}

fn test(fault: Fault) -> Parallel<Table> {
    Parallel::new(Table(fault)).suffix_max(1)
}

/// Closes the handle that the command at this position opened.
fn close(position: usize) -> Command {
    Close(Reference::to(position))
}

/// Two branches that close the same handle.
fn both_close() -> Program<Command> {
    Program { prefix: vec![Open], branches: vec![vec![close(0)]; 2], suffix: vec![] }
}

#[test]
fn a_correct_table_passes_and_handles_are_closed_at_once() {
    let passed = test(Fault::None).run().unwrap();
    assert_eq!(passed.cases, 100);
    let statistics = test(Fault::None).statistics();
    assert!(statistics.pairs[&("Close".to_owned(), "Close".to_owned())] > 20, "{statistics}");
    assert!(test(Fault::None).verify(&both_close(), Reduced::new()).unwrap().is_complete);
}

#[test]
fn what_is_closed_twice_is_shrunk_to_one_handle() {
    for seed in 0..20 {
        let found = test(Fault::ClosesTwice).seed(seed).run().unwrap_err();
        assert_eq!(found.program, both_close(), "seed {seed}:\n{found}");
        let report = found.to_string();
        assert!(
            report.starts_with("case") && report.contains("  first     #0 Open\n  branch 1  Close(#0)\n"),
            "{report}"
        );
        // The handle is 856 = 7919 modulo 1009.
        assert_eq!(report.matches("Close(Handle(856)) -> WasOpen(true)\n").count(), 2, "{report}");
        let again = test(Fault::ClosesTwice).replay(&found.replay).unwrap_err();
        assert_eq!((again.program, again.operations), (found.program, found.operations));
    }
}

#[test]
fn a_response_that_no_model_predicts_may_be_wrong() {
    let found = test(Fault::RepeatsHandles).run().unwrap_err();
    assert!(found.to_string().contains("Handle(7)"), "{found}");
    assert_eq!(found.program.commands().collect::<Vec<_>>(), [&Open, &Open]);
}

#[test]
fn without_the_response_it_refers_to_a_command_does_not_run() {
    let program = Program { prefix: vec![Open, Open], branches: vec![vec![close(1)], vec![close(0)]], suffix: vec![] };
    let explored = test(Fault::IsFull).verify(&program, Reduced::new()).unwrap();
    assert!(explored.is_complete);
    // The command would panic without a handle.
    test(Fault::IsFull).run().unwrap();
}

#[test]
fn small_programs_are_enumerated_where_references_lead_somewhere() {
    let sizes = |fault| Parallel::new(Table(fault)).prefix_max(1).branches(2..=2).commands_max(1);
    let commands = [Open, close(0)];
    // Of 12 programs, these are valid: 4 whose prefix opens a handle, and one that only opens handles in its branches.
    let all = sizes(Fault::None).enumerate(&commands).unwrap();
    assert_eq!((all.programs, all.skipped, all.is_complete), (5, 7, true));
    let found = sizes(Fault::ClosesTwice).enumerate(&commands).unwrap_err();
    assert_eq!(found.program, both_close());
    // A branch may close a handle that it has opened. Only the first branch can, since `close` refers to a fixed
    // position.
    let within = Parallel::new(Table(Fault::None)).prefix_max(0).branches(2..=2).commands_max(2);
    assert_eq!(within.enumerate(&commands).unwrap().programs, 4 + 2);
}

fn refusal(program: &Program<Command>) -> String {
    let verify = || _ = test(Fault::None).verify(program, Reduced::new());
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(verify)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn what_leads_nowhere_is_refused() {
    let other_branch = Program { prefix: vec![], branches: vec![vec![Open], vec![close(0)]], suffix: vec![] };
    let itself = Program { prefix: vec![close(0)], ..Program::default() };
    for (program, command) in [(other_branch, "Close(#0)"), (itself, "Close(#0)")] {
        let expected = format!("{command} refers to a command that does not always run before it");
        assert_eq!(refusal(&program), expected);
    }
    let mut many = Program { prefix: vec![], branches: vec![vec![Open; 4]; 3], suffix: vec![] };
    many.suffix = (0..12).map(close).collect();
    assert!(refusal(&many).contains("more than 10000 states"), "{}", refusal(&many));
}

#[test]
fn what_comes_last_refers_to_the_branches() {
    let program = Program { prefix: vec![], branches: vec![vec![Open], vec![Open]], suffix: vec![close(1), close(0)] };
    assert!(test(Fault::None).verify(&program, Reduced::new()).unwrap().is_complete);
}

#[test]
fn a_command_that_did_not_run_is_not_in_the_history() {
    let program = Program {
        prefix: vec![Open, Open, close(1)],
        branches: vec![vec![close(0)], vec![close(0), close(1)]],
        suffix: vec![],
    };
    let found = test(Fault::FullAndClosesTwice).verify(&program, Reduced::new()).unwrap_err();
    // The record of a command calls `handle`, which panics without a response.
    assert!(!found.edn().contains('#'), "{}", found.edn());
    assert!(found.to_string().contains("Close(#1) -> failed"), "{found}");
}

/// An object whose responses are counted pointers under the schedule: to clone a response is a step.
struct Shared;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Asked {
    New,
    Get(Reference<Number>),
}

#[derive(Clone, Debug)]
struct Number(u32, Arc<AtomicU32>);

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.0 == other.0
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash(hasher);
    }
}

impl ParallelModel for Shared {
    type Command = Asked;
    type Response = Number;
    type State = u32;
    type System = ();

    fn init(&self) -> u32 {
        0
    }

    fn start(&self) {}

    fn generate(&self, _: &u32) -> BoxedStrategy<Asked> {
        Just(Asked::New).boxed()
    }

    fn references<'c>(&self, command: &'c mut Asked) -> Vec<&'c mut Reference<Number>> {
        match command {
            Asked::Get(reference) => vec![reference],
            Asked::New => vec![],
        }
    }

    fn step(&self, count: &u32, command: &Asked) -> (u32, Number) {
        let number = |count| Number(count, Arc::new(AtomicU32::new(0)));
        match command {
            Asked::New => (*count, number(0)),
            Asked::Get(_) => (count + 1, number(count + 1)),
        }
    }

    fn run_real(&self, (): &(), command: &Asked) -> Outcome<Number> {
        Outcome::Returned(match command {
            Asked::New => Number(0, Arc::new(AtomicU32::new(0))),
            Asked::Get(reference) => {
                let Number(_, count) = reference.response();
                Number(count.fetch_add(1, SeqCst) + 1, Arc::clone(count))
            }
        })
    }
}

#[test]
fn no_lock_is_held_over_a_response() {
    let get = Asked::Get(Reference::to(0));
    let program = Program { prefix: vec![Asked::New], branches: vec![vec![get.clone()], vec![get]], suffix: vec![] };
    let settings = Settings::default().leaks_allowed();
    let explored = Parallel::new(Shared).settings(settings).verify(&program, Reduced::new()).unwrap();
    assert!(explored.is_complete);
}

#[test]
#[should_panic(expected = "ParallelModel::references does not return all references")]
fn a_reference_that_the_model_forgets_is_named() {
    _ = test(Fault::ForgetsReferences).run();
}

#[test]
fn references_that_lead_nowhere_do_not_keep_programs_from_shrinking() {
    for seed in 0..20 {
        let found = test(Fault::RefersAnywhere).seed(seed).run().unwrap_err();
        assert_eq!(found.program.commands().collect::<Vec<_>>(), [&Open, &Open], "seed {seed}");
    }
}
