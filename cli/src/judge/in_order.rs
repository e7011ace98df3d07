//! Runs jobs in parallel and returns their results in the order of the jobs.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope};

/// The stack of a worker: that of the main thread, which does the work if there is only one worker.
const STACK_BYTES: usize = 8 << 20;

/// Calls `work` for each number below `count`, with this number of `workers` in parallel, and passes the results to
/// `consume`, on this thread, in the order of the numbers.
///
/// With one worker, this thread does the work and holds one result. With more, at most twice as many jobs as there are
/// workers are started before the first of them is consumed. This limits the number of waiting results.
///
/// If `consume` breaks, no more jobs are started, and `stop` is called to end those in progress. The same happens if
/// `work` panics; the panic then continues in this thread.
pub(crate) fn in_order<T: Send, B>(
    workers: usize,
    count: usize,
    work: impl Fn(usize) -> T + Sync,
    mut consume: impl FnMut(usize, T) -> ControlFlow<B>,
    stop: impl Fn(),
) -> ControlFlow<B> {
    let workers = workers.min(count);
    if workers <= 1 {
        return (0..count).try_for_each(|at| consume(at, work(at)));
    }
    let (permit, permits) = channel::<()>();
    let (done, results) = channel();
    let queue = Queue { next: AtomicUsize::new(0), count, permits: Mutex::new(permits) };
    for _ in 0..2 * workers {
        // The receiver still exists, so this cannot fail.
        let _ = permit.send(());
    }
    let (queue, work) = (&queue, &work);
    std::thread::scope(|scope| {
        // Both channels are dropped before the scope waits for the workers, which end without permits.
        let (permit, results) = (permit, results);
        let threads = (0..workers).filter(|_| spawn(scope, queue, work, done.clone())).count();
        drop(done);
        if threads == 0 {
            return (0..count).try_for_each(|at| consume(at, work(at)));
        }
        let mut waiting = BTreeMap::new();
        for at in 0..count {
            let result = loop {
                if let Some(result) = waiting.remove(&at) {
                    break result;
                }
                // A worker sends a result for every job that it took, even after a panic.
                let Ok((at, result)) = results.recv() else { return ControlFlow::Continue(()) };
                waiting.insert(at, result);
            };
            let told = match result {
                Ok(result) => consume(at, result),
                Err(panic) => {
                    stop();
                    drop(permit);
                    resume_unwind(panic)
                }
            };
            if told.is_break() {
                stop();
                return told;
            }
            let _ = permit.send(());
        }
        ControlFlow::Continue(())
    })
}

struct Queue {
    next: AtomicUsize,
    count: usize,
    /// A permit for each job that may be started.
    permits: Mutex<Receiver<()>>,
}

impl Queue {
    fn next(&self) -> Option<usize> {
        self.permits.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()?;
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        (at < self.count).then_some(at)
    }
}

type Done<T> = (usize, Result<T, Box<dyn Any + Send>>);

/// Starts a worker. Returns false if that fails.
fn spawn<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    queue: &'s Queue,
    work: &'s (impl Fn(usize) -> T + Sync),
    done: Sender<Done<T>>,
) -> bool {
    let take = move || {
        while let Some(at) = queue.next() {
            let result = catch_unwind(AssertUnwindSafe(|| work(at)));
            if done.send((at, result)).is_err() {
                return;
            }
        }
    };
    // If this thread cannot be started, the other workers do its work.
    Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, take).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;

    fn all(workers: usize, count: usize, work: impl Fn(usize) -> usize + Sync) -> Vec<(usize, usize)> {
        let mut told = Vec::new();
        let flow = in_order(
            workers,
            count,
            work,
            |at, result| {
                told.push((at, result));
                ControlFlow::<()>::Continue(())
            },
            || unreachable!("nothing went wrong"),
        );
        assert_eq!(flow, ControlFlow::Continue(()));
        told
    }

    #[test]
    fn whatever_ends_first_the_order_is_kept() {
        for (workers, count) in [(0, 3), (1, 3), (2, 0), (2, 1), (2, 2), (3, 100), (8, 5)] {
            let expected: Vec<_> = (0..count).map(|at| (at, at * at)).collect();
            assert_eq!(all(workers, count, |at| at * at), expected, "{workers} workers");
        }
    }

    #[test]
    fn the_first_is_told_first_though_it_ends_last() {
        // The first job ends after the others that may be started have ended.
        let (begun, others_done) = (Barrier::new(2), Barrier::new(2));
        let told = all(2, 4, |at| {
            match at {
                0 => _ = (begun.wait(), others_done.wait()),
                1 => _ = begun.wait(),
                3 => _ = others_done.wait(),
                _ => {}
            }
            at
        });
        assert_eq!(told, [(0, 0), (1, 1), (2, 2), (3, 3)]);
    }

    #[test]
    fn no_more_wait_than_twice_the_workers() {
        let (told, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let flow = in_order(
            3,
            200,
            |at| {
                most.fetch_max(at - told.load(Ordering::SeqCst), Ordering::SeqCst);
            },
            |at, ()| {
                told.store(at + 1, Ordering::SeqCst);
                ControlFlow::<()>::Continue(())
            },
            || {},
        );
        assert_eq!(flow, ControlFlow::Continue(()));
        assert!(most.load(Ordering::SeqCst) < 6, "{most:?}");
    }

    #[test]
    fn a_break_ends_what_is_under_way_and_begins_nothing() {
        let (begun, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let flow = in_order(
            2,
            1000,
            |at| {
                begun.fetch_add(1, Ordering::SeqCst);
                while at > 0 && !stopped.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
                at
            },
            |at, _| ControlFlow::Break(at),
            || stopped.store(true, Ordering::SeqCst),
        );
        assert_eq!(flow, ControlFlow::Break(0));
        assert!(begun.load(Ordering::SeqCst) <= 4, "{begun:?}");
    }

    #[test]
    fn a_panic_goes_on_here() {
        let caught = catch_unwind(AssertUnwindSafe(all_but_one_that_panics));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"no seven"));
    }

    fn all_but_one_that_panics() {
        let work = |at| assert!(at != 7, "no seven");
        let _ = in_order(2, 100, work, |_, ()| ControlFlow::<()>::Continue(()), || {});
    }
}
