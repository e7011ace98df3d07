//! The number of threads that check histories, and that read one history: fewer if address space is limited.

/// Address space of the program itself, and of the main thread's stack.
const PROGRAM_BYTES: u64 = 64 << 20;

/// Address space of a worker: its stack, the heap that the allocator reserves for each thread (128 MiB, of which it
/// returns half), and a small history.
const WORKER_BYTES: u64 = 160 << 20;

/// The maximum number of threads that read one history. The thread that orders their results keeps up with about this
/// number.
const READERS_MAX: usize = 8;

/// `jobs`, or fewer if the address space of this process is limited (`ulimit -v`): at least one.
pub(super) fn that_fit(jobs: usize) -> usize {
    limit_bytes().map_or(jobs, |limit_bytes| within(limit_bytes, jobs))
}

/// The number of threads that read each history, if this number of histories are checked in parallel: its share of the
/// cores.
pub(super) fn that_read(jobs: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    share(cores, jobs, that_fit)
}

fn share(cores: usize, jobs: usize, that_fit: impl Fn(usize) -> usize) -> usize {
    let threads = (cores / jobs.max(1)).min(READERS_MAX);
    // The thread that checks and the one that orders ops are always needed.
    let fit = that_fit((threads + 2) * jobs) / jobs.max(1);
    threads.min(fit.saturating_sub(2)).max(1)
}

#[cfg(unix)]
fn limit_bytes() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::As).current
}

#[cfg(not(unix))]
fn limit_bytes() -> Option<u64> {
    None
}

fn within(limit_bytes: u64, jobs: usize) -> usize {
    let fit = limit_bytes.saturating_sub(PROGRAM_BYTES) / WORKER_BYTES;
    jobs.min(usize::try_from(fit).unwrap_or(usize::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_leaves_at_least_one_worker_and_never_adds_any() {
        assert_eq!(within(60 << 20, 30), 1);
        assert_eq!(within(400 << 20, 30), 2);
        assert_eq!(within(u64::MAX, 30), 30);
        assert_eq!(within(0, 1), 1);
    }

    #[test]
    fn histories_share_the_cores() {
        let all = |count| count;
        assert_eq!([1, 2, 3, 8, 20].map(|jobs| share(8, jobs, all)), [8, 4, 2, 1, 1]);
        assert_eq!((share(1, 1, all), share(64, 1, all)), (1, 8));
        assert_eq!([1, 4, 6, 100].map(|fit| share(8, 1, |count| count.min(fit))), [1, 2, 4, 8]);
    }
}
