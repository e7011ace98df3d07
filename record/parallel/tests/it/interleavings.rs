//! The number of schedules, counted by running all of them, against the closed form; and the reduced search against all
//! schedules.

use crate::noting::Seen;
use proptest::prelude::*;
use record_parallel::scheduler::{Exhaustive, Reduced, Scheduler};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Condvar, Mutex, RwLock, mpsc};
use record_parallel::{Explored, Settings, explore, thread};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex};

fn settings() -> Settings {
    Settings { repeated: 1, ..Settings::default() }
}

/// Threads that take these numbers of steps, all on one atomic or each on its own.
fn steps_of(counts: &'static [u32], is_shared: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let atomics: Vec<Arc<AtomicU32>> = counts.iter().map(|_| Arc::default()).collect();
        for (at, count) in counts.iter().enumerate() {
            let atomic = Arc::clone(&atomics[if is_shared { 0 } else { at }]);
            thread::spawn(move || (0..*count).for_each(|_| _ = atomic.fetch_add(1, SeqCst)));
        }
    }
}

fn factorial(n: u64) -> u64 {
    (1..=n).product()
}

#[test]
fn every_interleaving_is_run_once() {
    for counts in [&[1_u32, 1][..], &[2, 2], &[4, 2], &[3, 5], &[1, 1, 1], &[2, 2, 2], &[3, 2, 1], &[1, 1, 1, 1, 1]] {
        let all: u64 = counts.iter().map(|n| u64::from(*n)).sum();
        let multinomial = factorial(all) / counts.iter().map(|n| factorial(u64::from(*n))).product::<u64>();
        let run = |scheduler| explore(&settings(), scheduler, steps_of(counts, true)).unwrap();
        let explored = run(Exhaustive::new());
        assert_eq!((explored.executions, explored.is_complete), (multinomial, true), "{counts:?}");
        assert_eq!(explored.steps, multinomial * all);
        // Steps on one atomic all depend on each other, so no two interleavings are of the same kind.
        let reduced = explore(&settings(), Reduced::new(), steps_of(counts, true)).unwrap();
        assert_eq!((reduced.executions, reduced.is_complete), (multinomial, true), "{counts:?}");
        // Steps on different atomics are independent.
        let reduced = explore(&settings(), Reduced::new(), steps_of(counts, false)).unwrap();
        assert_eq!((reduced.executions, reduced.redundant), (1, 0), "{counts:?}");
    }
    assert_eq!(explore(&settings(), Exhaustive::new(), steps_of(&[4, 2], true)).unwrap().executions, 15);
}

/// The number of interleavings of a and b steps with at most `bound` preemptions, counted by enumerating all words of
/// a's and b's.
fn words(a: u32, b: u32, bound: u32) -> u64 {
    let mut count = 0;
    for word in 0_u32..1 << (a + b) {
        if word.count_ones() != b {
            continue;
        }
        let (mut left, mut preemptions, mut last) = ([a, b], 0, None);
        for at in 0..a + b {
            let who = (word >> at & 1) as usize;
            if last.is_some_and(|last: usize| last != who && left[last] > 0) {
                preemptions += 1;
            }
            left[who] -= 1;
            last = Some(who);
        }
        count += u64::from(preemptions <= bound);
    }
    count
}

#[test]
fn a_bound_of_preemptions_admits_what_it_says() {
    for (counts, a, b) in [(&[2, 2][..], 2, 2), (&[4, 3], 4, 3), (&[1, 5], 1, 5)] {
        for bound in 0..6 {
            let scheduler = Exhaustive::new().preemptions_max(bound);
            let explored = explore(&settings(), scheduler, steps_of(counts, true)).unwrap();
            assert_eq!(explored.executions, words(a, b, bound), "{counts:?}, {bound}");
        }
    }
}

#[test]
fn a_limit_of_executions_leaves_the_search_incomplete() {
    for limit in [14, 15, 16] {
        let explored = explore(&settings(), Exhaustive::new().executions_max(limit), steps_of(&[4, 2], true)).unwrap();
        let reduced = explore(&settings(), Reduced::new().executions_max(limit), steps_of(&[4, 2], true)).unwrap();
        for Explored { executions, is_complete, .. } in [explored, reduced] {
            assert_eq!((executions, is_complete), (limit.min(15), limit >= 15));
        }
    }
}

/// An instruction of a small program, on one of a few objects.
#[derive(Clone, Copy, Debug)]
enum Instruction {
    Load(usize),
    Store(usize),
    Add(usize),
    /// Skips the next instruction if the atomic is 0.
    SkipIfZero(usize),
    Lock(usize),
    /// Unlocks the lock that was acquired last.
    Unlock,
    TryLock(usize),
    Read,
    Write,
    Send,
    Receive,
    TryReceive,
    Wait,
    Notify,
    Park,
    Unpark(usize),
}

fn instruction() -> impl Strategy<Value = Instruction> {
    use Instruction::{
        Add, Load, Lock, Notify, Park, Read, Receive, Send, SkipIfZero, Store, TryLock, TryReceive, Unlock, Unpark,
        Wait, Write,
    };
    prop_oneof![
        3 => (0_usize..2).prop_map(Load),
        3 => (0_usize..2).prop_map(Store),
        1 => (0_usize..2).prop_map(Add),
        2 => (0_usize..2).prop_map(SkipIfZero),
        3 => (0_usize..2).prop_map(Lock),
        2 => Just(Unlock),
        1 => (0_usize..2).prop_map(TryLock),
        1 => Just(Read),
        1 => Just(Write),
        1 => Just(Send),
        1 => Just(Receive),
        1 => Just(TryReceive),
        1 => Just(Wait),
        2 => Just(Notify),
        1 => Just(Park),
        1 => (0_usize..3).prop_map(Unpark),
    ]
}

/// Runs the program of each thread. The values that a thread sees are recorded outside of the schedule.
fn run(programs: &[Vec<Instruction>], seen: &Arc<StdMutex<Seen>>) {
    struct Shared {
        atomics: [AtomicU32; 2],
        locks: [Mutex<u32>; 2],
        register: RwLock<u32>,
        flag: Mutex<bool>,
        changed: Condvar,
        threads: StdMutex<Vec<thread::Thread>>,
    }
    *seen.lock().unwrap() = vec![Vec::new(); programs.len()];
    let shared = Arc::new(Shared {
        atomics: [AtomicU32::new(0), AtomicU32::new(0)],
        locks: [Mutex::new(0), Mutex::new(0)],
        register: RwLock::new(0),
        flag: Mutex::new(false),
        changed: Condvar::new(),
        threads: StdMutex::default(),
    });
    // The drops of both ends are steps, so only programs that use the channel have one.
    let uses = |of: &Instruction| matches!(of, Instruction::Send | Instruction::Receive | Instruction::TryReceive);
    let has_channel = programs.iter().flatten().any(uses);
    let (sender, mut receiver) = has_channel.then(|| mpsc::sync_channel::<u32>(1)).unzip();
    for (me, program) in programs.iter().enumerate() {
        let all = Arc::clone(&shared);
        let (program, seen, shared) = (program.clone(), Arc::clone(seen), Arc::clone(&shared));
        // Only the first thread receives.
        let (sender, receiver) = (sender.clone(), receiver.take());
        let body = move || {
            let me_u32 = me as u32;
            let mut held = Vec::new();
            let mut skip = false;
            for (at, instruction) in program.iter().enumerate() {
                if std::mem::take(&mut skip) {
                    continue;
                }
                let mine = me_u32 * 100 + at as u32 + 1;
                let mut note = None;
                match *instruction {
                    Instruction::Load(of) => note = Some(shared.atomics[of].load(SeqCst)),
                    Instruction::Store(of) => shared.atomics[of].store(mine, SeqCst),
                    Instruction::Add(of) => note = Some(shared.atomics[of].fetch_add(1, SeqCst)),
                    Instruction::SkipIfZero(of) => skip = shared.atomics[of].load(SeqCst) == 0,
                    Instruction::Lock(of) => {
                        let mut guard = shared.locks[of].lock().unwrap();
                        note = Some(std::mem::replace(&mut *guard, mine));
                        held.push(guard);
                    }
                    Instruction::Unlock => drop(held.pop()),
                    Instruction::TryLock(of) => {
                        let taken = shared.locks[of].try_lock().ok();
                        note = Some(taken.as_deref().copied().unwrap_or(9999));
                    }
                    Instruction::Read => note = Some(*shared.register.read().unwrap()),
                    Instruction::Write => *shared.register.write().unwrap() = mine,
                    Instruction::Send => {
                        note = sender.as_ref().and_then(|sender| sender.send(mine).is_err().then_some(9999));
                    }
                    Instruction::Receive => note = receiver.as_ref().and_then(|receiver| receiver.recv().ok()),
                    Instruction::TryReceive => {
                        note = receiver.as_ref().map(|receiver| receiver.try_recv().unwrap_or(9999));
                    }
                    Instruction::Wait => {
                        let mut flag = shared.flag.lock().unwrap();
                        while !*flag {
                            flag = shared.changed.wait(flag).unwrap();
                        }
                        *flag = false;
                    }
                    Instruction::Notify => {
                        *shared.flag.lock().unwrap() = true;
                        shared.changed.notify_one();
                    }
                    Instruction::Park => thread::park(),
                    Instruction::Unpark(of) => {
                        let threads = shared.threads.lock().unwrap();
                        let thread = threads.get(of).cloned();
                        drop(threads);
                        thread.iter().for_each(thread::Thread::unpark);
                    }
                }
                if let Some(note) = note {
                    seen.lock().unwrap()[me].push(note);
                }
            }
        };
        let handle = thread::spawn(body);
        all.threads.lock().unwrap().push(handle.thread().clone());
    }
    drop(sender);
}

/// All results that the threads of a program can see, or `None` if a deadlock is possible; and statistics of the
/// search.
fn outcomes<S: Scheduler + 'static>(
    programs: &Arc<Vec<Vec<Instruction>>>,
    scheduler: S,
) -> (Option<BTreeSet<Seen>>, Explored) {
    let programs = Arc::clone(programs);
    crate::noting::outcomes(scheduler, move |seen| run(&programs, seen))
}

/// Programs with this number of threads, and at most six instructions: most longer programs have too many schedules to
/// run all.
fn programs(threads: usize) -> impl Strategy<Value = Vec<Vec<Instruction>>> {
    let few = |programs: &Vec<Vec<Instruction>>| programs.iter().map(Vec::len).sum::<usize>() <= 6;
    prop::collection::vec(prop::collection::vec(instruction(), 1..4), threads).prop_filter("few instructions", few)
}

/// The definition of a correct reduced search: it finds all possible results of a program.
fn sees_all(programs: Vec<Vec<Instruction>>) -> Result<(), TestCaseError> {
    let programs = Arc::new(programs);
    let (all, full) = outcomes(&programs, Exhaustive::new().executions_max(10_000));
    if all.is_some() && !full.is_complete {
        return Ok(());
    }
    let (some, reduced) = outcomes(&programs, Reduced::new());
    prop_assert_eq!(&some, &all);
    prop_assert!(all.is_none() || reduced.is_complete);
    prop_assert!(all.is_none() || reduced.executions <= full.executions);
    Ok(())
}

// Two tests, so that they run in parallel.
proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_reduced_search_sees_all_that_two_threads_can_see(programs in programs(2)) {
        sees_all(programs)?;
    }

    #[test]
    fn the_reduced_search_sees_all_that_three_threads_can_see(programs in programs(3)) {
        sees_all(programs)?;
    }
}

/// The thread that must be tried before another thread's step is asleep, and a third one has to come before it.
#[test]
fn a_thread_that_sleeps_does_not_hide_others() {
    use Instruction::{Load, Lock, Store, TryLock};
    let programs = Arc::new(vec![vec![Store(0)], vec![Load(0), Lock(0)], vec![Load(0), TryLock(0)]]);
    let (all, _) = outcomes(&programs, Exhaustive::new());
    let (some, _) = outcomes(&programs, Reduced::new());
    assert_eq!(all.as_ref().map(BTreeSet::len), Some(12));
    assert_eq!(some, all);
    let programs = Arc::new(vec![vec![Store(1)], vec![Store(0), Load(1)], vec![Lock(0), Load(1)]]);
    let (all, _) = outcomes(&programs, Exhaustive::new());
    let (some, _) = outcomes(&programs, Reduced::new());
    assert_eq!(all.as_ref().map(BTreeSet::len), Some(4));
    assert_eq!(some, all);
}
