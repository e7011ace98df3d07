//! A counter whose broken increment is a load and a store, so that one of two concurrent increments is lost.

use history_core::{Datum, Verdict};
use proptest::prelude::*;
use record_parallel::property::{Outcome, Parallel, ParallelModel, Program};
use record_parallel::scheduler::{Exhaustive, Reduced};
use record_parallel::sync::atomic::{AtomicI64, Ordering::SeqCst};
use record_parallel::{Cause, Settings};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Command {
    Increment,
    Get,
}

use Command::{Get, Increment};

struct Counter {
    is_broken: bool,
}

impl ParallelModel for Counter {
    type Command = Command;
    type Response = Option<i64>;
    type State = i64;
    type System = AtomicI64;

    fn init(&self) -> i64 {
        0
    }

    fn start(&self) -> AtomicI64 {
        AtomicI64::new(0)
    }

    fn generate(&self, _: &i64) -> BoxedStrategy<Command> {
        prop_oneof![Just(Increment), Just(Get)].boxed()
    }

    fn step(&self, count: &i64, command: &Command) -> (i64, Option<i64>) {
        match command {
            Increment => (count + 1, None),
            Get => (*count, Some(*count)),
        }
    }

    fn run_real(&self, count: &AtomicI64, command: &Command) -> Outcome<Option<i64>> {
        match command {
            Increment if self.is_broken => {
                let seen = count.load(SeqCst);
                count.store(seen + 1, SeqCst);
            }
            Increment => _ = count.fetch_add(1, SeqCst),
            Get => return Outcome::Returned(Some(count.load(SeqCst))),
        }
        Outcome::Returned(None)
    }

    fn record(&self, command: &Command, response: Option<&Option<i64>>) -> (String, Datum) {
        match command {
            Increment => ("add".into(), Datum::Int(1)),
            Get => ("read".into(), response.copied().flatten().map_or(Datum::Nil, Datum::Int)),
        }
    }
}

fn broken() -> Parallel<Counter> {
    Parallel::new(Counter { is_broken: true })
}

/// Two concurrent increments, and a read of the result.
fn smallest() -> Program<Command> {
    Program { prefix: vec![], branches: vec![vec![Increment, Get], vec![Increment]], suffix: vec![] }
}

#[test]
fn from_any_seed_it_is_two_increments_one_read_and_one_preemption() {
    for seed in 0..60 {
        let found = broken().seed(seed).run().unwrap_err();
        let count = |command| found.program.commands().filter(|of| **of == command).count();
        assert_eq!((count(Increment), count(Get)), (2, 1), "seed {seed}: {found}");
        assert_eq!(found.failure.preemptions(), 1, "seed {seed}: {found}");
        assert_eq!(found.program.prefix, []);
        assert!(matches!(found.failure.cause, Cause::NotLinearizable(_)), "{found}");
    }
}

#[test]
fn the_report_tells_all() {
    let found = broken().run().unwrap_err();
    insta::assert_snapshot!(found, @r"
    case 2, execution 45; 9 commands, shrunk to 3

    program:
      branch 1  Increment
      branch 2  Increment, Get

    schedule, with 1 preemption:
      step   b branch 1             c branch 2
         1   |                      load AtomicI64 1 = 0   record/parallel/tests/it/racy_counter.rs:50; Increment called
         2 * load AtomicI64 1 = 0   |                      record/parallel/tests/it/racy_counter.rs:50; Increment called
         3   store AtomicI64 1 = 1  |                      record/parallel/tests/it/racy_counter.rs:51; returned None
         4   |                      store AtomicI64 1 = 1  record/parallel/tests/it/racy_counter.rs:51; returned None
         5   |                      load AtomicI64 1 = 1   record/parallel/tests/it/racy_counter.rs:54; Get called; returned Some(1)
            * a preemption: the thread that ran before could have continued

    history:
      branch 2    0 to   3  Increment -> None
      branch 1    1 to   2  Increment -> None
      branch 2    4 to   5  Get -> Some(1)

    the history is not linearizable
      cannot be placed: Get -> Some(1) (operation 2, process 2, called at 4, returned at 5)
      the last one that can: Increment -> None (operation 1, process 2, called at 0, returned at 3)
      the state may be 2, after
        Increment -> None (operation 0, process 1, called at 1, returned at 2)
        Increment -> None (operation 1, process 2, called at 0, returned at 3)

    replay: HISTCHECK_REPLAY=24b9a799e7dc0fe3/000001101//cb cargo test NAME
    ");
    insta::assert_snapshot!(found.edn(), @r"
    {:index 0, :type :invoke, :process 2, :f :add, :value 1}
    {:index 1, :type :invoke, :process 1, :f :add, :value 1}
    {:index 2, :type :ok, :process 1, :f :add, :value 1}
    {:index 3, :type :ok, :process 2, :f :add, :value 1}
    {:index 4, :type :invoke, :process 2, :f :read, :value nil}
    {:index 5, :type :ok, :process 2, :f :read, :value 1}
    ");
    let page = found.html();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("not linearizable"));
}

#[test]
fn the_replay_string_replays() {
    let found = broken().seed(3).run().unwrap_err();
    let again = broken().seed(99).replay(&found.replay).unwrap_err();
    assert_eq!((&again.program, &again.replay), (&found.program, &found.replay));
    assert_eq!(again.failure.table(), found.failure.table());
    assert_eq!(again.operations, found.operations);
    Parallel::new(Counter { is_broken: false }).replay(&found.replay).expect("nothing is lost any more");
}

#[test]
fn the_history_says_the_same_to_other_checkers() {
    let found = broken().run().unwrap_err();
    let checker = check_register::Linearizable::<check_register::models::Counter>::default();
    let report = check(&checker, &found.edn());
    assert_eq!(report, Verdict::Invalid, "{}", found.edn());
}

fn check(checker: &dyn history_core::Checker, edn: &str) -> Verdict {
    let history = history_core::History::parse(edn).unwrap();
    let mut run = checker.start(&history_core::Options::default()).unwrap();
    for op in history.ops() {
        if run.observe(&op).unwrap().is_break() {
            break;
        }
    }
    run.finish(&history_core::Budget::default()).unwrap().verdict
}

#[test]
fn all_schedules_of_the_smallest_program_are_run() {
    // The branches take 3 and 2 steps if the increment is broken, 2 and 1 steps otherwise.
    let fixed = Parallel::new(Counter { is_broken: false });
    let explored = fixed.verify(&smallest(), Exhaustive::new()).unwrap();
    assert_eq!((explored.executions, explored.is_complete), (3, true));
    let larger = Program {
        prefix: vec![Increment],
        branches: vec![vec![Increment, Get, Increment, Get], vec![Increment, Get]],
        suffix: vec![],
    };
    assert_eq!(fixed.verify(&larger, Exhaustive::new()).unwrap().executions, 15, "6! / (4! 2!)");
    let reduced = fixed.verify(&larger, Reduced::new()).unwrap();
    assert!(reduced.is_complete && reduced.executions <= 15, "{reduced:?}");
    for executions in [broken().verify(&smallest(), Exhaustive::new()).unwrap_err().failure.executions, 10] {
        assert!(executions <= 10, "5! / (3! 2!)");
    }
    broken().verify(&smallest(), Reduced::new()).unwrap_err();
    assert!(broken().verify(&smallest(), Exhaustive::new().preemptions_max(0)).is_ok());
}

#[test]
fn the_fixed_counter_passes() {
    let passed = Parallel::new(Counter { is_broken: false }).run().unwrap();
    assert_eq!((passed.cases, passed.executions), (100, 4000));
}

#[test]
fn equal_seeds_give_equal_reports() {
    let reports: Vec<String> = (0..100).map(|_| broken().seed(7).run().unwrap_err().to_string()).collect();
    assert!(reports.iter().all(|report| *report == reports[0]));
    let settings = Settings { simplify_max: 1, ..Settings::default() };
    let hasty = broken().seed(7).settings(settings).run().unwrap_err();
    assert!(
        matches!(hasty.failure.cause, Cause::NotLinearizable(_)),
        "a small budget leaves it larger, not other: {hasty}"
    );
}

#[test]
fn statistics_say_what_runs_at_once() {
    let statistics = broken().cases(50).branches(2..=2).statistics();
    assert_eq!(statistics.programs, 50);
    assert_eq!(statistics.commands.keys().collect::<Vec<_>>(), ["Get", "Increment"]);
    assert_eq!(statistics.branches, [(2, 50)].into());
    let pair = |a: &str, b: &str| statistics.pairs.get(&(a.to_owned(), b.to_owned())).copied();
    assert!(pair("Get", "Increment").is_some_and(|count| (10..=50).contains(&count)), "{statistics}");
    assert!(pair("Increment", "Increment").is_some() && pair("Increment", "Get").is_none());
    let text = statistics.to_string();
    assert!(text.starts_with("50 programs, ") && text.contains("run Get and Increment at once"), "{text}");
    // Without branches no commands run concurrently.
    assert!(broken().branches(0..=0).statistics().pairs.is_empty());
}
