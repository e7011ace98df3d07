//! Work on several threads, with the same results in the same order as on one. Without the feature `parallel`, there is
//! one thread.
//!
//! For checkers. Threads are started for one call and end with it; a panic in a thread continues in the caller.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

/// The feature changes the implementation, but not the types of arguments: a program that compiles with it compiles
/// without it.
const HAS_THREADS: bool = cfg!(feature = "parallel");

/// Histories of fewer operations are checked in less time than a thread needs to start.
pub const WORTH_OPS: usize = 20_000;

/// The results of two functions, called in parallel if it is `worth` it.
pub fn both<A, B: Send>(worth: bool, a: impl FnOnce() -> A, b: impl FnOnce() -> B + Send) -> (A, B) {
    if !worth || !HAS_THREADS {
        return (a(), b());
    }
    let b = Mutex::new(Some(b));
    let run = || {
        let b = b.lock().unwrap_or_else(PoisonError::into_inner).take();
        b.map(|b| b())
    };
    let (a, result) = std::thread::scope(|scope| {
        // If no thread can be started, this one runs both functions.
        let other = std::thread::Builder::new().spawn_scoped(scope, run);
        let a = a();
        let joined =
            |other: ScopedJoinHandle<'_, _>| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (a, other.map_or_else(|_| run(), joined))
    });
    // `b` is called exactly once, in either thread.
    (a, result.expect("a function that was called"))
}

/// The results of `f` for each item, in their order; on several threads if it is `worth` it.
///
/// ```
/// let squares = history_core::parallel::map(true, &[1, 2, 3], |item| item * item);
/// assert_eq!(squares, [1, 4, 9]);
/// ```
pub fn map<T: Sync, R: Send>(worth: bool, items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_with(worth, items.len(), || (), |(), at| f(&items[at]))
}

/// The results of `f` for each number below `count`, in their order; on several threads if it is `worth` it. Each
/// thread has its own context.
pub fn map_with<C, R: Send>(
    worth: bool,
    count: usize,
    context: impl Fn() -> C + Sync,
    f: impl Fn(&mut C, usize) -> R + Sync,
) -> Vec<R> {
    if !worth || !HAS_THREADS || count < 2 {
        let mut context = context();
        return (0..count).map(|at| f(&mut context, at)).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    // Each thread that is free takes the next item, because items take very different times.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut context = context();
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return done;
            }
            done.push((at, f(&mut context, at)));
        }
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        // If no more threads can be started, the existing ones do the work.
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(spawn).collect();
        let mut all = work();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        let squares: Vec<u32> = items.iter().map(|item| item * item).collect();
        for worth in [false, true] {
            assert_eq!(map(worth, &items, |item| item * item), squares);
            assert_eq!(map(worth, &[] as &[u32], |item| *item), []);
            assert_eq!(both(worth, || items.len(), || items[7]), (1000, 7));
        }
    }
}
