//! The workloads: the generated histories, and their checkers.

use crate::case::{Case, Random};
use record_simulate::{Bug, Format, Object, ObjectBug, Objects, Simulation, Transactions, Workload};

/// The kind of values in a workload's ops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Values {
    /// Micro-ops `[f key value]`.
    Mops,
    /// Integers without a meaning, alone or in a collection.
    Plain,
    /// Strings to which text is appended, with a field `key`.
    Strings,
    /// Texts without a meaning.
    Ids,
    /// Values with a meaning, which must not be renamed.
    Meaningful,
}

/// A workload and a checker for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) workload: &'static str,
    pub(crate) checker: &'static str,
    pub(crate) values: Values,
    /// Whether the checker has a choice of engines.
    pub(crate) has_engines: bool,
    /// Whether only precedence in real time matters, not the order of two completions.
    pub(crate) is_of_precedence: bool,
    /// Whether a bug of the store can make a history invalid.
    pub(crate) can_be_invalid: bool,
}

const fn jepsen(workload: &'static str, values: Values) -> World {
    World { workload, checker: workload, values, has_engines: false, is_of_precedence: true, can_be_invalid: true }
}

const fn object(workload: &'static str, checker: &'static str, values: Values) -> World {
    World { checker, has_engines: true, ..jepsen(workload, values) }
}

pub(crate) const WORLDS: &[World] = &[
    jepsen("list-append", Values::Mops),
    jepsen("rw-register", Values::Mops),
    object("register", "register", Values::Plain),
    object("cas-register", "cas-register", Values::Plain),
    object("multi-register", "multi-register", Values::Mops),
    object("kv", "kv", Values::Strings),
    object("mutex", "mutex", Values::Meaningful),
    object("owner-mutex", "owner-mutex", Values::Plain),
    object("reentrant-mutex", "reentrant-mutex", Values::Plain),
    object("semaphore", "semaphore", Values::Meaningful),
    object("fifo-queue", "fifo-queue", Values::Plain),
    object("unordered-queue", "unordered-queue", Values::Plain),
    object("stack", "stack", Values::Plain),
    object("deque", "deque", Values::Plain),
    object("priority-queue", "priority-queue", Values::Meaningful),
    object("set", "linearizable-set", Values::Plain),
    object("counter", "linearizable-counter", Values::Meaningful),
    jepsen("versioned-register", Values::Plain),
    jepsen("bank", Values::Meaningful),
    jepsen("counter", Values::Meaningful),
    // Jepsen's set checker uses only the last read.
    World { is_of_precedence: false, ..jepsen("set", Values::Plain) },
    jepsen("set-full", Values::Plain),
    jepsen("queue", Values::Plain),
    jepsen("total-queue", Values::Plain),
    jepsen("unique-ids", Values::Ids),
    jepsen("long-fork", Values::Meaningful),
    jepsen("comments", Values::Plain),
    jepsen("sequential", Values::Meaningful),
    World { can_be_invalid: false, checker: "stats", ..jepsen("register", Values::Plain) },
];

/// A history of a workload, and whether its store has a bug.
pub(crate) fn generate(world: &World, seed: u64) -> (Case, bool) {
    let mut random = Random::new(seed);
    let has_bug = random.below(2) == 0;
    let simulation = match world.workload {
        "list-append" => transactions::<record_simulate::OverLists>(&mut random, seed, has_bug),
        "rw-register" => transactions::<record_simulate::OverRegisters>(&mut random, seed, has_bug),
        name => objects(name.parse().unwrap(), &mut random, seed, has_bug),
    };
    let text = simulation.write(Vec::new(), Format::Edn).unwrap();
    (Case::parse(&text), has_bug)
}

fn transactions<W: Workload>(random: &mut Random, seed: u64, has_bug: bool) -> Simulation {
    let bugs: Vec<Bug> = Bug::of::<W>().filter(|bug| *bug != Bug::None).collect();
    let parameters = Transactions::<W> {
        txns: 10 + random.below(40),
        seed,
        clients: 2 + random.below(6) as u32,
        keys: 1 + random.below(6) as u32,
        writes_per_key_min: 4,
        writes_per_key_max: 32,
        bug: if has_bug { random.one_of(&bugs) } else { Bug::None },
        lost_rate: random.one_of(&[0.0, 0.01, 0.02]),
        nemesis: random.below(4) == 0,
        ..Transactions::default()
    };
    parameters.simulation().unwrap()
}

fn objects(object: Object, random: &mut Random, seed: u64, has_bug: bool) -> Simulation {
    let bugs: Vec<ObjectBug> = ObjectBug::of(object).filter(|bug| *bug != ObjectBug::None).collect();
    let bug = if has_bug { random.one_of(&bugs) } else { ObjectBug::None };
    let parameters = Objects {
        ops: 20 + random.below(30),
        seed,
        clients: 2 + random.below(4) as u32,
        think_ns: random.one_of(&[0, 30_000, 100_000]),
        bug,
        bug_rate: (has_bug && bug.default_rate() < 1.0).then_some(0.2),
        info_rate: random.one_of(&[0.0, 0.01, 0.02]),
        lost_rate: random.one_of(&[0.0, 0.01]),
        nemesis: random.below(4) == 0,
        // The number of permits that the checker assumes.
        permits: if object == Object::Semaphore { 1 } else { 2 },
        ..Objects::of(object)
    };
    parameters.simulation().unwrap()
}
