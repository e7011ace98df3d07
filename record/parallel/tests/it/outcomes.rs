//! Commands that fail or have an unknown outcome; models with several possible steps; preconditions; persistence.

use proptest::prelude::*;
use record_parallel::property::{Outcome, Parallel, ParallelModel, Program};
use record_parallel::scheduler::{Exhaustive, Random};
use record_parallel::sync::Mutex;
use record_parallel::{Cause, thread};
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Command {
    /// The value is written later, at any time, by a thread of the store.
    Send(u8),
    /// The write is refused.
    Refuse(u8),
    Read,
}

use Command::{Read, Refuse, Send};

struct Store {
    value: Arc<Mutex<u8>>,
}

/// A register with delayed writes. If `lies`, a refused write happens nevertheless.
struct Register {
    lies: bool,
}

impl ParallelModel for Register {
    type Command = Command;
    type Response = u8;
    type State = u8;
    type System = Store;

    fn init(&self) -> u8 {
        0
    }

    fn start(&self) -> Store {
        Store { value: Arc::default() }
    }

    fn generate(&self, _: &u8) -> BoxedStrategy<Command> {
        prop_oneof![(1_u8..9).prop_map(Send), (10_u8..19).prop_map(Refuse), Just(Read)].boxed()
    }

    fn step(&self, value: &u8, command: &Command) -> (u8, u8) {
        match command {
            Send(new) | Refuse(new) => (*new, 0),
            Read => (*value, *value),
        }
    }

    fn run_real(&self, store: &Store, command: &Command) -> Outcome<u8> {
        match *command {
            Read => Outcome::Returned(*store.value.lock().unwrap()),
            Send(new) => {
                let value = Arc::clone(&store.value);
                thread::spawn(move || *value.lock().unwrap() = new);
                Outcome::Unknown
            }
            Refuse(new) => {
                if self.lies {
                    *store.value.lock().unwrap() = new;
                }
                Outcome::Failed
            }
        }
    }
}

#[test]
fn what_may_have_happened_may_be_seen_late_or_never() {
    Parallel::new(Register { lies: false }).cases(60).check();
    let program =
        Program { prefix: vec![Send(1)], branches: vec![vec![Read, Read], vec![Refuse(10), Read]], suffix: vec![] };
    let explored = Parallel::new(Register { lies: false }).verify(&program, Exhaustive::new()).unwrap();
    assert!(explored.is_complete && explored.executions > 20, "{explored:?}");
}

#[test]
fn what_failed_must_not_have_happened() {
    let found = Parallel::new(Register { lies: true }).run().unwrap_err();
    let commands: Vec<Command> = found.program.commands().copied().collect();
    assert!(matches!(commands[..], [Refuse(10), Read]), "{found}");
    assert_eq!(found.failure.preemptions(), 0);
    assert!(found.edn().contains(":type :fail"));
    assert!(matches!(found.failure.cause, Cause::NotLinearizable(_)));
}

/// A bag: a command takes any element. The bag must not be empty then.
struct Bag {
    forgets: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum BagCommand {
    Put(u8),
    Take,
}

use BagCommand::{Put, Take};

impl ParallelModel for Bag {
    type Command = BagCommand;
    type Response = u8;
    type State = Vec<u8>;
    type System = Mutex<Vec<u8>>;

    fn init(&self) -> Vec<u8> {
        Vec::new()
    }

    fn start(&self) -> Mutex<Vec<u8>> {
        Mutex::default()
    }

    fn generate(&self, _: &Vec<u8>) -> BoxedStrategy<BagCommand> {
        prop_oneof![any::<u8>().prop_map(Put), Just(Take)].boxed()
    }

    fn precondition(&self, bag: &Vec<u8>, command: &BagCommand) -> bool {
        *command != Take || !bag.is_empty()
    }

    fn step(&self, bag: &Vec<u8>, command: &BagCommand) -> (Vec<u8>, u8) {
        self.steps(bag, command).swap_remove(0)
    }

    fn steps(&self, bag: &Vec<u8>, command: &BagCommand) -> Vec<(Vec<u8>, u8)> {
        let without = |at| {
            let mut bag = bag.clone();
            let taken = bag.remove(at);
            (bag, taken)
        };
        match command {
            Put(element) => {
                let mut bag = bag.clone();
                bag.push(*element);
                bag.sort_unstable();
                vec![(bag, 0)]
            }
            Take => (0..bag.len()).map(without).collect(),
        }
    }

    fn run_real(&self, bag: &Mutex<Vec<u8>>, command: &BagCommand) -> Outcome<u8> {
        match command {
            Put(element) if self.forgets && *element >= 100 => {
                let before = bag.lock().unwrap().clone();
                *bag.lock().unwrap() = [before, vec![*element]].concat();
            }
            Put(element) => bag.lock().unwrap().push(*element),
            // In every order of a valid program, the precondition holds, and this code relies on it.
            Take => return Outcome::Returned(bag.lock().unwrap().pop().expect("the bag is not empty")),
        }
        Outcome::Returned(0)
    }
}

#[test]
fn preconditions_hold_in_every_order() {
    Parallel::new(Bag { forgets: false }).cases(200).check();
}

#[test]
fn commands_become_simple_without_losing_the_bug() {
    let found = Parallel::new(Bag { forgets: true }).cases(500).run().unwrap_err();
    let puts: Vec<u8> =
        found.program.commands().filter_map(|of| if let Put(n) = of { Some(*n) } else { None }).collect();
    // One element must be large for the bug to appear, and is shrunk to the smallest such value; the others are removed
    // or shrunk to the smallest value.
    assert!(puts.contains(&100) && puts.iter().all(|put| [0, 1, 100].contains(put)), "{found}");
    Parallel::new(Bag { forgets: true }).cases(500).replay(&found.replay).unwrap_err();
}

#[test]
#[should_panic(expected = "Take may be given where its precondition does not hold")]
fn a_program_that_makes_no_sense_is_refused() {
    let program = Program { prefix: vec![], branches: vec![vec![Put(1)], vec![Take]], suffix: vec![] };
    let _ = Parallel::new(Bag { forgets: false }).verify(&program, Random::new(0, 1));
}

#[test]
fn bad_replay_strings_are_told() {
    for (text, told) in [
        ("", "expected SEED/KEPT/MOVES/SCHEDULE, not \"\""),
        ("b", "expected SEED/KEPT/MOVES/SCHEDULE, not \"b\""),
        ("1/1/b", "expected SEED/KEPT/MOVES in \"1/1\""),
        ("x/1//b", "the seed is not a hexadecimal number in \"x/1/\""),
        ("1/x//b", "times 0, 1, P or the letter of a branch in \"1/x/\""),
        ("1/1//b!", "not a schedule: expected the letter of a thread at position 1"),
    ] {
        let panic = std::panic::catch_unwind(|| {
            let _ = Parallel::new(Bag { forgets: false }).replay(text);
        });
        let message = panic.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains(told), "{text:?}: {message}");
    }
}

#[test]
fn seeds_of_failures_are_kept_and_tried_first() {
    let folder = std::env::temp_dir().join(format!("record-parallel-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source: &'static str = Box::leak(folder.join("kept.rs").display().to_string().into_boxed_str());
    let nothing = || Parallel::new(Register { lies: true }).cases(0).persist(source);
    for content in [None, Some(""), Some("# nothing but a comment\ncc 12")] {
        if let Some(text) = content {
            std::fs::write(folder.join("kept.proptest-regressions"), text).unwrap();
        }
        let refused = std::panic::catch_unwind(|| nothing().run().is_ok()).unwrap_err();
        let message = refused.downcast::<&str>().unwrap();
        assert!(message.contains("a file of seeds that failed, which has one"), "{content:?}: {message}");
    }
    std::fs::remove_file(folder.join("kept.proptest-regressions")).unwrap();
    let found = Parallel::new(Register { lies: true }).persist(source).run().unwrap_err();
    let kept = std::fs::read_to_string(folder.join("kept.proptest-regressions")).unwrap();
    assert!(kept.contains("Refuse(10)") && kept.contains("\ncc "), "{kept}");
    let again = nothing().run().unwrap_err();
    assert_eq!((&again.replay, again.operations.len()), (&found.replay, found.operations.len()));
    again.save(folder.join("saved")).unwrap();
    let files = ["history.edn", "timeline.html", "schedule.html", "report.txt"];
    let saved = files.map(|name| folder.join("saved").join(name));
    assert_eq!(
        saved.map(|path| std::fs::read_to_string(path).unwrap()),
        [again.edn(), again.html(), again.failure.html(), again.to_string()]
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
