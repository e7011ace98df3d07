//! Random programs of atomics with all orderings, fences and a lock: the reduced search against all schedules, and
//! their results against the axioms.
//!
//! `HISTCHECK_PROGRAMS=20000 cargo test -p record-parallel-tests --release memory::random -- --nocapture` tries more
//! programs.

use super::axioms::allowed;
use crate::noting::{Seen, outcomes};
use record_parallel::scheduler::{Exhaustive, Reduced};
use record_parallel::sync::Mutex;
use record_parallel::sync::atomic::{AtomicU32, Ordering, fence};
use record_parallel::thread;
use std::sync::{Arc, Mutex as StdMutex};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// The maximum number of executions of a program; larger programs are skipped.
const EXECUTIONS_MAX: u64 = 3_000;

#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction {
    Load(usize, Ordering),
    Store(usize, Ordering),
    Add(usize, Ordering),
    Exchange(usize, Ordering, Ordering),
    Swap(usize, Ordering),
    Fence(Ordering),
    Lock,
}

/// A random number generator with the same numbers on every machine.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    fn instruction(&mut self) -> Instruction {
        let of = self.below(2);
        match self.below(12) {
            0..4 => Instruction::Load(of, self.of(&[Relaxed, Relaxed, Acquire, SeqCst])),
            4..8 => Instruction::Store(of, self.of(&[Relaxed, Relaxed, Release, SeqCst])),
            8 => Instruction::Add(of, self.of(&[Relaxed, Acquire, Release, AcqRel, SeqCst])),
            9 => Instruction::Exchange(
                of,
                self.of(&[Relaxed, Acquire, Release, AcqRel, SeqCst]),
                self.of(&[Relaxed, Acquire, SeqCst]),
            ),
            10 if of == 0 => Instruction::Swap(0, self.of(&[Relaxed, Acquire, Release, SeqCst])),
            10 => Instruction::Lock,
            _ => Instruction::Fence(self.of(&[Acquire, Release, AcqRel, SeqCst])),
        }
    }

    /// Draws two or three threads of up to four instructions each, six in total.
    fn program(&mut self) -> Vec<Vec<Instruction>> {
        let mut left = 6;
        let mut threads = Vec::new();
        for _ in 0..2 + self.below(2) {
            let count = (1 + self.below(4)).min(left);
            left -= count;
            threads.push((0..count).map(|_| self.instruction()).collect());
        }
        threads
    }
}

fn run(programs: &[Vec<Instruction>], seen: &Arc<StdMutex<Seen>>) {
    *seen.lock().unwrap() = vec![Vec::new(); programs.len()];
    let shared = Arc::new(([AtomicU32::new(0), AtomicU32::new(0)], Mutex::new(0)));
    for (me, program) in programs.iter().enumerate() {
        let (program, seen, shared) = (program.clone(), Arc::clone(seen), Arc::clone(&shared));
        thread::spawn(move || {
            for (at, instruction) in program.iter().enumerate() {
                let mine = (me * 10 + at + 1) as u32;
                let note = match *instruction {
                    Instruction::Load(of, order) => Some(shared.0[of].load(order)),
                    Instruction::Store(of, order) => {
                        shared.0[of].store(mine, order);
                        None
                    }
                    Instruction::Add(of, order) => Some(shared.0[of].fetch_add(100, order)),
                    Instruction::Exchange(of, success, failure) => {
                        Some(shared.0[of].compare_exchange(0, mine, success, failure).unwrap_or_else(|n| n + 1000))
                    }
                    Instruction::Swap(of, order) => Some(shared.0[of].swap(1, order)),
                    Instruction::Fence(order) => {
                        fence(order);
                        None
                    }
                    Instruction::Lock => Some(std::mem::replace(&mut *shared.1.lock().unwrap(), mine)),
                };
                if let Some(note) = note {
                    seen.lock().unwrap()[me].push(note);
                }
            }
        });
    }
}

#[test]
fn the_reduced_search_sees_all_that_may_be_read() {
    let wanted = std::env::var("HISTCHECK_PROGRAMS").ok().map_or(300, |text| text.parse().unwrap());
    let seed = std::env::var("HISTCHECK_SEED").ok().map_or(1, |text| text.parse::<u64>().unwrap());
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15 ^ seed);
    let (mut judged, mut fewer) = (0, 0);
    let (mut compared, mut skipped, mut full_sum, mut reduced_sum) = (0, 0, 0, 0);
    while compared < wanted {
        let programs = Arc::new(draw.program());
        let search = |is_reduced| {
            let programs = Arc::clone(&programs);
            let body = move |seen: &Arc<StdMutex<Seen>>| run(&programs, seen);
            if is_reduced {
                outcomes(Reduced::new(), body)
            } else {
                outcomes(Exhaustive::new().executions_max(EXECUTIONS_MAX), body)
            }
        };
        let (all, full) = search(false);
        if !full.is_complete {
            skipped += 1;
            continue;
        }
        let (some, reduced) = search(true);
        assert_eq!(some, all, "{programs:?}");
        assert!(reduced.is_complete && reduced.executions <= full.executions, "{programs:?}: {reduced:?}, {full:?}");
        let has_lock = programs.iter().flatten().any(|of| matches!(of, Instruction::Lock));
        if let Some(seen) = all.filter(|_| !has_lock) {
            let allowed = allowed(&programs);
            let wrong: Vec<&Seen> = seen.difference(&allowed).collect();
            assert!(wrong.is_empty(), "{programs:?} cannot see {wrong:?}");
            judged += 1;
            fewer += usize::from(seen.len() < allowed.len());
        }
        compared += 1;
        (full_sum, reduced_sum) = (full_sum + full.executions, reduced_sum + reduced.executions + reduced.redundant);
    }
    println!("{judged} programs judged by the axioms, of {fewer} not all outcomes were found");
    println!("{compared} programs alike, {skipped} too large; {full_sum} executions, reduced {reduced_sum}");
}
