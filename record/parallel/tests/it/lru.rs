//! A small cache that evicts the least recently used key. It has one lock for the values and one for the order of use:
//! between the two, other threads see one change without the other. Budget: 1,000 executions.

use proptest::prelude::*;
use record_parallel::property::{Outcome, Parallel, ParallelModel, Program};
use record_parallel::scheduler::{Exhaustive, Pct, Random, Reduced, miss_probability};
use record_parallel::sync::Mutex;
use std::collections::BTreeMap;

const CAPACITY: usize = 2;

struct Cache {
    /// In a correct cache, operations hold this lock throughout.
    whole: Mutex<()>,
    values: Mutex<BTreeMap<u8, u8>>,
    /// The keys; the one used last comes last.
    order: Mutex<Vec<u8>>,
    is_broken: bool,
}

impl Cache {
    fn touch(&self, key: u8) {
        let mut order = self.order.lock().unwrap();
        order.retain(|of| *of != key);
        order.push(key);
    }

    fn get(&self, key: u8) -> Option<u8> {
        let _whole = (!self.is_broken).then(|| self.whole.lock().unwrap());
        let value = self.values.lock().unwrap().get(&key).copied();
        if value.is_some() {
            self.touch(key);
        }
        value
    }

    fn put(&self, key: u8, value: u8) {
        let _whole = (!self.is_broken).then(|| self.whole.lock().unwrap());
        self.values.lock().unwrap().insert(key, value);
        self.touch(key);
        let mut order = self.order.lock().unwrap();
        if order.len() > CAPACITY {
            let oldest = order.remove(0);
            drop(order);
            self.values.lock().unwrap().remove(&oldest);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Command {
    Get(u8),
    Put(u8, u8),
}

use Command::{Get, Put};

struct Lru {
    is_broken: bool,
}

impl ParallelModel for Lru {
    type Command = Command;
    type Response = Option<u8>;
    /// Keys with their values; the one used last comes last.
    type State = Vec<(u8, u8)>;
    type System = Cache;

    fn init(&self) -> Vec<(u8, u8)> {
        Vec::new()
    }

    fn start(&self) -> Cache {
        Cache { whole: Mutex::new(()), values: Mutex::default(), order: Mutex::default(), is_broken: self.is_broken }
    }

    fn generate(&self, _: &Vec<(u8, u8)>) -> BoxedStrategy<Command> {
        prop_oneof![(0_u8..4).prop_map(Get), (0_u8..4, 0_u8..9).prop_map(|(key, value)| Put(key, value))].boxed()
    }

    fn step(&self, cache: &Vec<(u8, u8)>, command: &Command) -> (Vec<(u8, u8)>, Option<u8>) {
        let mut cache = cache.clone();
        let (Get(key) | Put(key, _)) = *command;
        let old = cache.iter().position(|(of, _)| *of == key).map(|at| cache.remove(at).1);
        if let Put(_, value) = *command {
            cache.push((key, value));
            if cache.len() > CAPACITY {
                cache.remove(0);
            }
            return (cache, None);
        }
        cache.extend(old.map(|value| (key, value)));
        (cache, old)
    }

    fn run_real(&self, cache: &Cache, command: &Command) -> Outcome<Option<u8>> {
        match *command {
            Get(key) => Outcome::Returned(cache.get(key)),
            Put(key, value) => {
                cache.put(key, value);
                Outcome::Returned(None)
            }
        }
    }
}

fn lru(is_broken: bool) -> Parallel<Lru> {
    Parallel::new(Lru { is_broken })
}

/// One branch puts a third key, which evicts the least recently used one, while the other branch reads the first two.
fn small() -> Program<Command> {
    Program {
        prefix: vec![Put(0, 1), Put(1, 1)],
        branches: vec![vec![Put(2, 1), Get(0)], vec![Get(0), Get(1)]],
        suffix: vec![],
    }
}

#[test]
fn it_is_found_within_its_budget() {
    let found = lru(true).verify(&small(), Exhaustive::new().preemptions_max(1)).unwrap_err();
    let steps = found.failure.steps.len() as u32;
    assert!(miss_probability(3, steps, 2, 1000) < 0.002, "{steps}");
    for seed in 0..20 {
        lru(true).verify(&small(), Random::new(seed, 1000)).unwrap_err();
        lru(true).verify(&small(), Pct::new(seed, 2, 1000)).unwrap_err();
    }
}

#[test]
fn it_is_found_from_programs_at_random() {
    let found = lru(true).run().unwrap_err();
    assert!(found.program.len() <= 6, "{found}");
    assert!(found.failure.preemptions() <= 2, "{found}");
}

#[test]
fn the_fixed_cache_passes() {
    lru(false).check();
    lru(false).check_sequentially(20);
    lru(true).check_sequentially(20);
    let explored = lru(false).verify(&small(), Reduced::new()).unwrap();
    assert!(explored.is_complete && explored.executions >= 6, "{explored:?}");
}
