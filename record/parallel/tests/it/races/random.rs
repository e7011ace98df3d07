//! Random programs with cells: the reduced search finds races in the same programs as the full search.

use super::{read, search, write};
use record_parallel::scheduler::{Exhaustive, Reduced};
use record_parallel::sync::Mutex;
use record_parallel::sync::atomic::{AtomicU32, Ordering, fence};
use record_parallel::{Cause, Settings, thread};
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use Ordering::{Acquire, Relaxed, Release, SeqCst};

#[derive(Clone, Copy, Debug)]
enum Instruction {
    Read,
    Write,
    Store(usize, Ordering),
    /// The instructions after this are executed only if the atomic was stored to.
    Guard(usize, Ordering),
    Add(usize, Ordering),
    Fence(Ordering),
    Lock,
    Unlock,
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn instruction(&mut self) -> Instruction {
        let number = self.below(2);
        match self.below(12) {
            0 => Instruction::Read,
            1 | 2 => Instruction::Write,
            3 | 4 => Instruction::Store(number, [Relaxed, Release, Release, SeqCst][self.below(4)]),
            5..8 => Instruction::Guard(number, [Relaxed, Acquire, Acquire, SeqCst][self.below(4)]),
            8 => Instruction::Add(number, [Relaxed, Acquire, Release, SeqCst][self.below(4)]),
            9 => Instruction::Fence([Acquire, Release, SeqCst][self.below(3)]),
            10 => Instruction::Lock,
            _ => Instruction::Unlock,
        }
    }

    fn program(&mut self) -> Vec<Vec<Instruction>> {
        (0..2 + self.below(2)).map(|_| (0..=self.below(4)).map(|_| self.instruction()).collect()).collect()
    }
}

fn run(program: &[Vec<Instruction>]) {
    let shared = StdArc::new(([(); 2].map(|()| AtomicU32::new(0)), Mutex::new(())));
    let spawn = |instructions: &Vec<Instruction>| {
        let (shared, instructions) = (StdArc::clone(&shared), instructions.clone());
        thread::spawn(move || {
            let (atomics, mutex) = &*shared;
            let mut guard = None;
            for instruction in instructions {
                match instruction {
                    Instruction::Read => read(),
                    Instruction::Write => write(),
                    Instruction::Store(number, order) => atomics[number].store(1, order),
                    Instruction::Guard(number, order) if atomics[number].load(order) == 0 => return,
                    Instruction::Add(number, order) => _ = atomics[number].fetch_add(1, order),
                    Instruction::Fence(order) => fence(order),
                    Instruction::Lock if guard.is_none() => guard = mutex.lock().ok(),
                    Instruction::Guard(..) | Instruction::Lock => {}
                    Instruction::Unlock => guard = None,
                }
            }
        })
    };
    let threads: Vec<_> = program.iter().map(spawn).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

fn compare(programs: u64) {
    static PROGRAM: StdMutex<Vec<Vec<Instruction>>> = StdMutex::new(Vec::new());
    let (mut with, mut without) = (0, 0);
    for seed in 0..programs {
        let program = Chance(seed).program();
        PROGRAM.lock().unwrap().clone_from(&program);
        let body = || {
            let program = PROGRAM.lock().unwrap().clone();
            run(&program);
        };
        let settings = Settings { surprises_max: 0, repeated: 0, ..Settings::default() };
        for settings in [settings, settings.sequentially_consistent()] {
            let full = search(settings, Exhaustive::new().executions_max(20_000), body);
            let reduced = search(settings, Reduced::new(), body);
            let is_whole = full.as_ref().map_or(true, |explored| explored.is_complete);
            assert!(reduced.as_ref().map_or(true, |explored| explored.is_complete), "{program:?}");
            if !is_whole {
                continue;
            }
            assert_eq!(full.is_err(), reduced.is_err(), "{seed}: {program:?}\n{full:?}\n{reduced:?}");
            let Err(failure) = full else {
                without += 1;
                continue;
            };
            assert!(matches!(failure.cause, Cause::Race(_)), "{failure}");
            with += 1;
        }
    }
    assert!(with > programs / 4 && without > programs / 4, "{with} with a race, {without} without");
}

#[test]
fn both_searches_find_the_same_races() {
    compare(400);
}

/// `cargo test --release -p record-parallel --test it races -- --ignored`
#[test]
#[ignore = "it takes minutes"]
fn both_searches_find_the_same_races_of_many_programs() {
    compare(20_000);
}
