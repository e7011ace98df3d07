//! Work on several threads, with the same results in the same order as on one. Without the feature `parallel` it is one.

/// Shorter histories are judged before a thread has started.
pub(crate) const WORTH_OPS: u64 = 20_000;

/// What `f` makes of each item, in their order; on several threads if it is `worth` it.
#[cfg(feature = "parallel")]
pub(crate) fn map<T: Sync, R: Send>(worth: bool, items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    if !worth {
        return items.iter().map(f).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    // Whoever is free takes the next one: items differ much in how long they take.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, f(item)));
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

/// What `f` makes of each item, in their order.
#[cfg(not(feature = "parallel"))]
pub(crate) fn map<T, R>(_: bool, items: &[T], f: impl Fn(&T) -> R) -> Vec<R> {
    items.iter().map(f).collect()
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
        }
    }
}
