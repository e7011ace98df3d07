//! How many histories are checked at a time where the system limits address space.

/// Address space of the program itself, and of the main thread's stack.
const PROGRAM_BYTES: u64 = 64 << 20;

/// Address space of a worker: a stack, the part of the heap that the allocator reserves for each thread (128 MiB of which it returns
/// half), and room for a small history.
const WORKER_BYTES: u64 = 160 << 20;

/// `jobs`, or fewer if the address space of this process is limited (`ulimit -v`): at least one.
pub(super) fn that_fit(jobs: usize) -> usize {
    limit_bytes().map_or(jobs, |limit_bytes| within(limit_bytes, jobs))
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
}
