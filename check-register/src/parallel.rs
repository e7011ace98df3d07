//! Work on several threads, with the same results in the same order as on one. Without the feature `parallel` it is one.

/// Histories of fewer operations are judged before a thread has started.
pub(crate) const WORTH_OPS: usize = 20_000;

/// What `f` makes of each number below `count`, in their order; on several threads if it is `worth` it. Each thread has a
/// context of its own.
#[cfg(feature = "parallel")]
pub(crate) fn map_with<C, R: Send>(
    worth: bool,
    count: usize,
    context: impl Fn() -> C + Sync,
    f: impl Fn(&mut C, usize) -> R + Sync,
) -> Vec<R> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    if !worth || count < 2 {
        let mut context = context();
        return (0..count).map(|at| f(&mut context, at)).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    // Whoever is free takes the next one: they differ much in how long they take.
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
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What `f` makes of each number below `count`, in their order.
#[cfg(not(feature = "parallel"))]
pub(crate) fn map_with<C, R>(
    _: bool,
    count: usize,
    context: impl Fn() -> C,
    mut f: impl FnMut(&mut C, usize) -> R,
) -> Vec<R> {
    let mut context = context();
    (0..count).map(|at| f(&mut context, at)).collect()
}
