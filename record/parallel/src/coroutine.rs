//! Managed threads as coroutines: each has a stack of its own, and all take turns on one thread of the system.
//!
//! A switch costs some tens of nanoseconds; handing a baton from one thread of the system to another costs some
//! microseconds. What is paid for it: `std::thread_local!` variables are shared by all managed threads.

use generator::{Generator, Gn};
use std::cell::RefCell;

/// Bytes of each thread's stack. Only what is used takes memory.
const STACK_BYTES: usize = 1 << 20;

/// What a coroutine does until it is done.
pub(crate) type Job = Box<dyn FnOnce()>;

thread_local! {
    /// The job for whoever is resumed next without one.
    static JOB: RefCell<Option<Job>> = const { RefCell::new(None) };
}

/// A stack with what runs on it.
pub(crate) struct Coroutine(Generator<'static, (), ()>);

impl Coroutine {
    fn new() -> Coroutine {
        // A body that ends takes its stack with it, so it continues with job after job. Without a job it ends.
        Coroutine(Gn::<()>::new_opt(STACK_BYTES / size_of::<usize>(), || {
            while let Some(job) = JOB.take() {
                job();
                suspend();
            }
        }))
    }

    /// Runs until [`suspend`] is called or its job is done.
    pub(crate) fn resume(&mut self) {
        self.0.resume();
    }
}

/// Goes back to whoever resumed this coroutine, until it is resumed again.
pub(crate) fn suspend() {
    // The handle that is offered instead lives on the coroutine's stack, and could be reached from the depth of a
    // program under test only through a pointer.
    #[expect(deprecated, reason = "there is no other way to suspend that needs no handle")]
    generator::yield_with(());
}

/// Coroutines that are waiting for a job. Making a stack costs more than a short execution.
#[derive(Default)]
pub(crate) struct Pool(Vec<Coroutine>);

impl Pool {
    /// A coroutine that has done `job` up to its first suspension, or all of it.
    pub(crate) fn start(&mut self, job: Job) -> Coroutine {
        let mut coroutine = self.0.pop().unwrap_or_else(Coroutine::new);
        JOB.set(Some(job));
        coroutine.resume();
        coroutine
    }

    /// Takes back a coroutine whose job is done.
    pub(crate) fn put(&mut self, coroutine: Coroutine) {
        self.0.push(coroutine);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for coroutine in &mut self.0 {
            coroutine.resume();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Pool, suspend};
    use std::sync::{Arc, Mutex};

    #[test]
    fn coroutines_take_turns_and_are_used_again() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let mut pool = Pool::default();
        for round in 0..2 {
            let job = |name: char| {
                let told = Arc::clone(&told);
                Box::new(move || {
                    for at in 0..2 {
                        told.lock().unwrap().push((round, name, at));
                        suspend();
                    }
                })
            };
            let mut both = [pool.start(job('a')), pool.start(job('b'))];
            for _ in 0..2 {
                both.iter_mut().for_each(super::Coroutine::resume);
            }
            for coroutine in both {
                pool.put(coroutine);
            }
            assert_eq!(pool.0.len(), 2);
        }
        let expected = |round| [(round, 'a', 0), (round, 'b', 0), (round, 'a', 1), (round, 'b', 1)];
        assert_eq!(*told.lock().unwrap(), [expected(0), expected(1)].concat());
    }
}
