//! The cost of operations outside of executions, compared with std.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The time of one operation in nanoseconds, for each crate.
macro_rules! costs {
    ($module:ident, $sync:path) => {
        mod $module {
            use std::hint::black_box;
            use sync::atomic::{AtomicU64, Ordering::SeqCst};
            use $sync as sync;

            pub fn load() -> impl FnMut() {
                let number = AtomicU64::new(1);
                move || _ = black_box(black_box(&number).load(SeqCst))
            }

            pub fn store() -> impl FnMut() {
                let number = AtomicU64::new(1);
                move || black_box(&number).store(2, SeqCst)
            }

            pub fn add() -> impl FnMut() {
                let number = AtomicU64::new(1);
                move || _ = black_box(black_box(&number).fetch_add(1, SeqCst))
            }

            pub fn lock() -> impl FnMut() {
                let mutex = sync::Mutex::new(1_u64);
                move || *black_box(&mutex).lock().unwrap() += 1
            }

            pub fn read_lock() -> impl FnMut() {
                let lock = sync::RwLock::new(1_u64);
                move || _ = black_box(*black_box(&lock).read().unwrap())
            }

            pub fn message() -> impl FnMut() {
                let (sender, receiver) = sync::mpsc::channel();
                move || {
                    sender.send(black_box(1_u64)).unwrap();
                    black_box(receiver.recv().unwrap());
                }
            }

            pub fn once() -> impl FnMut() {
                let once = sync::OnceLock::new();
                move || _ = black_box(black_box(&once).get_or_init(|| 1_u64))
            }

            pub fn pointer() -> impl FnMut() {
                let pointer = sync::Arc::new(1_u64);
                move || drop(black_box(sync::Arc::clone(black_box(&pointer))))
            }
        }
    };
}

costs!(ours, record_parallel::sync);
costs!(stds, std::sync);

const ROUNDS: u32 = 2_000_000;

fn once(operation: &mut dyn FnMut(&mut Duration)) -> Duration {
    let mut took = Duration::ZERO;
    operation(&mut took);
    took
}

fn timed(mut operation: impl FnMut()) -> impl FnMut(&mut Duration) {
    move |took| {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            operation();
        }
        *took = start.elapsed();
    }
}

/// Prints the best of seven, in turns.
pub fn print() {
    println!("{:24} {:>8} {:>8} {:>8}", "outside, ns", "ours", "std's", "more");
    macro_rules! row {
        ($($name:ident)*) => {
            $({
                let (mut ours, mut stds) = (timed(ours::$name()), timed(stds::$name()));
                let mut best = [Duration::MAX; 2];
                for _ in 0..7 {
                    best[0] = best[0].min(once(&mut ours));
                    best[1] = best[1].min(once(&mut stds));
                }
                let [a, b] = best.map(|time| time.as_secs_f64() * 1e9 / f64::from(ROUNDS));
                println!("{:24} {a:>8.2} {b:>8.2} {:>8.2}", stringify!($name), a - b);
            })*
        };
    }
    row!(load store add lock read_lock message once pointer);
    black_box(());
}
