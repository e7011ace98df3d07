//! Managed threads as coroutines: each has its own stack, and all run in turns on one OS thread.
//!
//! A switch between coroutines takes some tens of nanoseconds; passing control between OS threads takes some
//! microseconds. The disadvantage: all managed threads share the variables of `std::thread_local!`.

use generator::{Generator, Gn};
use send_wrapper::SendWrapper;
use std::cell::RefCell;

/// The size of a thread's stack in bytes. Only the used part takes memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StackSize(usize);

impl StackSize {
    /// The requested size, but at least the size that a panic needs.
    pub(crate) fn of(bytes: usize) -> StackSize {
        StackSize(bytes.clamp(1 << 16, 1 << 32))
    }

    fn words(self) -> usize {
        self.0 / size_of::<usize>()
    }
}

impl Default for StackSize {
    /// A mebibyte.
    fn default() -> StackSize {
        StackSize(1 << 20)
    }
}

/// The function that a coroutine runs to its end.
pub(crate) type Job = Box<dyn FnOnce()>;

thread_local! {
    /// The job for a coroutine that is about to be resumed and has none.
    static JOB: RefCell<Option<Job>> = const { RefCell::new(None) };
}

/// A stack with the code that runs on it.
pub(crate) struct Coroutine {
    generator: Generator<'static, (), ()>,
    size: StackSize,
}

impl Coroutine {
    fn new(size: StackSize) -> Coroutine {
        // When its body ends, a coroutine loses its stack. So the body runs one job after another, and ends only if
        // there is none.
        let body = || {
            while let Some(job) = JOB.take() {
                job();
                suspend();
            }
        };
        Coroutine { generator: Gn::<()>::new_opt(size.words(), body), size }
    }

    /// Runs the coroutine until it calls [`suspend`] or its job is done.
    pub(crate) fn resume(&mut self) {
        self.generator.resume();
    }
}

/// A stack for code that borrows from the code that resumes it.
pub(crate) struct Fiber<'a>(Generator<'a, (), ()>);

impl<'a> Fiber<'a> {
    pub(crate) fn new(size: StackSize, body: impl FnOnce() + 'a) -> Fiber<'a> {
        // A generator may be sent to another OS thread together with the values on its stack. This one is never sent,
        // and the wrapper would panic if it were. `suspend` does not support the generators from the constructors for
        // values that are not `Send`.
        let body = SendWrapper::new(body);
        Fiber(Gn::<()>::new_opt(size.words(), move || body.take()()))
    }

    /// Runs the fiber until it calls [`suspend`] or its body is done. Returns true if the body is done.
    pub(crate) fn resume(&mut self) -> bool {
        self.0.resume();
        self.0.is_done()
    }
}

/// Returns true if a panic is the report that a stack was too small.
pub(crate) fn is_overflow(payload: &(dyn std::any::Any + Send)) -> bool {
    matches!(payload.downcast_ref(), Some(generator::Error::StackErr))
}

/// Suspends this coroutine and continues the code that resumed it, until it is resumed again.
pub(crate) fn suspend() {
    // The alternative, a handle, lives on the coroutine's stack, and code deep inside a program under test could reach
    // it only through a pointer.
    #[expect(deprecated, reason = "there is no other way to suspend that needs no handle")]
    generator::yield_with(());
}

/// Coroutines that wait for a job. Creating a stack takes longer than a short execution.
#[derive(Default)]
pub(crate) struct Pool(Vec<Coroutine>);

impl Pool {
    /// Returns a coroutine that runs `job` when it is resumed next.
    pub(crate) fn get(&mut self, job: Job, size: StackSize) -> Coroutine {
        let usual = if size == StackSize::default() { self.0.pop() } else { None };
        JOB.set(Some(job));
        usual.unwrap_or_else(|| Coroutine::new(size))
    }

    /// Takes back a coroutine whose job is done.
    pub(crate) fn put(&mut self, mut coroutine: Coroutine) {
        if coroutine.size == StackSize::default() {
            self.0.push(coroutine);
        } else {
            coroutine.resume();
        }
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
    use super::{Pool, StackSize, suspend};
    use std::sync::{Arc, Mutex};

    #[test]
    fn coroutines_run_in_turns_and_are_reused() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut pool = Pool::default();
        for round in 0..2 {
            let job = |name: char| {
                let log = Arc::clone(&log);
                Box::new(move || {
                    for at in 0..2 {
                        log.lock().unwrap().push((round, name, at));
                        suspend();
                    }
                })
            };
            let mut both = ['a', 'b'].map(|name| {
                let mut coroutine = pool.get(job(name), StackSize::default());
                coroutine.resume();
                coroutine
            });
            for _ in 0..2 {
                both.iter_mut().for_each(super::Coroutine::resume);
            }
            for coroutine in both {
                pool.put(coroutine);
            }
            assert_eq!(pool.0.len(), 2);
        }
        let expected = |round| [(round, 'a', 0), (round, 'b', 0), (round, 'a', 1), (round, 'b', 1)];
        assert_eq!(*log.lock().unwrap(), [expected(0), expected(1)].concat());
    }
}
