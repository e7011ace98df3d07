//! Random programs of tasks: the reduced search finds the same results as all schedules.
//!
//! `HISTCHECK_PROGRAMS=2000 cargo test -p record-parallel-tests tasks::oracle -- --nocapture` tries more programs.

use crate::noting::outcomes_within;
use record_parallel::scheduler::{Exhaustive, Reduced};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::tokio::runtime::block_on;
use record_parallel::tokio::sync::{Mutex, Notify, RwLock, Semaphore, mpsc};
use record_parallel::tokio::task::{AbortHandle, yield_now};
use record_parallel::tokio::time::{Duration, sleep};
use record_parallel::tokio::{select, spawn};
use std::sync::{Arc, Mutex as StdMutex};

/// The maximum number of schedules of one program; programs with more are not compared.
const EXECUTIONS_MAX: u64 = 4_000;

#[derive(Clone, Copy, Debug)]
enum Act {
    Load,
    Add,
    Lock,
    LockAndYield,
    TryLock,
    Read,
    Write,
    NotifyOne,
    NotifyAll,
    Notified,
    NotifiedOrYield,
    Acquire,
    AcquireTwo,
    Release,
    Send,
    TryReceive,
    Receive,
    Yield,
    Sleep,
    Abort,
    Panic,
}

const ACTS: [Act; 21] = [
    Act::Load,
    Act::Add,
    Act::Lock,
    Act::LockAndYield,
    Act::TryLock,
    Act::Read,
    Act::Write,
    Act::NotifyOne,
    Act::NotifyAll,
    Act::Notified,
    Act::NotifiedOrYield,
    Act::Acquire,
    Act::AcquireTwo,
    Act::Release,
    Act::Send,
    Act::TryReceive,
    Act::Receive,
    Act::Yield,
    Act::Sleep,
    Act::Abort,
    Act::Panic,
];

struct Shared {
    number: AtomicU32,
    mutex: Mutex<u32>,
    lock: RwLock<u32>,
    notify: Notify,
    semaphore: Semaphore,
    sender: mpsc::UnboundedSender<u32>,
}

/// The objects of the second task only: the receiver, and the first task.
struct Own {
    receiver: mpsc::UnboundedReceiver<u32>,
    first: AbortHandle,
}

async fn act(shared: &Shared, own: Option<&mut Own>, act: Act) -> u32 {
    match act {
        Act::Load => shared.number.load(SeqCst),
        Act::Add => shared.number.fetch_add(1, SeqCst),
        Act::Lock => {
            let mut guard = shared.mutex.lock().await;
            *guard += 1;
            *guard
        }
        Act::LockAndYield => {
            let mut guard = shared.mutex.lock().await;
            yield_now().await;
            *guard += 1;
            *guard
        }
        Act::TryLock => shared.mutex.try_lock().map_or(99, |guard| *guard),
        Act::Read => *shared.lock.read().await,
        Act::Write => {
            let mut guard = shared.lock.write().await;
            *guard += 1;
            *guard
        }
        Act::NotifyOne => {
            shared.notify.notify_one();
            0
        }
        Act::NotifyAll => {
            shared.notify.notify_waiters();
            0
        }
        Act::Notified => {
            shared.notify.notified().await;
            1
        }
        Act::NotifiedOrYield => {
            select! {
                () = shared.notify.notified() => 1,
                () = yield_now() => 2,
            }
        }
        Act::Acquire => {
            let _permit = shared.semaphore.acquire().await.unwrap();
            shared.number.load(SeqCst)
        }
        Act::AcquireTwo => {
            select! {
                permit = shared.semaphore.acquire_many(2) => {
                    drop(permit.unwrap());
                    1
                }
                () = yield_now() => 2,
            }
        }
        Act::Release => {
            shared.semaphore.add_permits(1);
            0
        }
        Act::Send => {
            shared.sender.send(1).unwrap();
            0
        }
        Act::TryReceive => own.map_or(8, |own| own.receiver.try_recv().unwrap_or(9)),
        Act::Receive => match own {
            Some(own) => own.receiver.recv().await.unwrap_or(9),
            None => 8,
        },
        Act::Yield => {
            yield_now().await;
            0
        }
        Act::Sleep => {
            sleep(Duration::from_secs(1)).await;
            shared.number.load(SeqCst)
        }
        Act::Abort => {
            if let Some(own) = own {
                own.first.abort();
            }
            0
        }
        Act::Panic => panic!("as it was told"),
    }
}

/// Runs the program, and records what each task has seen, and how it ended.
fn run(acts: &[Vec<Act>; 2], seen: &Arc<StdMutex<Vec<Vec<u32>>>>) {
    *seen.lock().unwrap() = vec![Vec::new(); 2];
    block_on(async {
        let (sender, receiver) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            number: AtomicU32::new(0),
            mutex: Mutex::new(0),
            lock: RwLock::new(0),
            notify: Notify::new(),
            semaphore: Semaphore::new(1),
            sender,
        });
        let start = |number: usize, mut own: Option<Own>| {
            let (shared, seen, acts) = (Arc::clone(&shared), Arc::clone(seen), acts[number].clone());
            spawn(async move {
                for next in acts {
                    let result = act(&shared, own.as_mut(), next).await;
                    seen.lock().unwrap()[number].push(result);
                }
            })
        };
        let first = start(0, None);
        let own = Own { receiver, first: first.abort_handle() };
        let second = start(1, Some(own));
        for (number, task) in [first, second].into_iter().enumerate() {
            let end = match task.await {
                Ok(()) => 100,
                Err(error) if error.is_cancelled() => 101,
                Err(_) => 102,
            };
            seen.lock().unwrap()[number].push(end);
        }
    });
}

#[test]
fn the_reduced_search_comes_to_all_that_tasks_can_come_to() {
    let programs = std::env::var("HISTCHECK_PROGRAMS").map_or(40, |text| text.parse().unwrap());
    let (mut compared, mut deadlocks) = (0, 0);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(n).unwrap()).unwrap()
    };
    for _ in 0..programs {
        let acts: [Vec<Act>; 2] = std::array::from_fn(|_| (0..=below(2)).map(|_| ACTS[below(ACTS.len())]).collect());
        let surprises = u32::from(below(4) == 0);
        let (own, other) = (acts.clone(), acts.clone());
        let full = Exhaustive::new().executions_max(EXECUTIONS_MAX);
        let (full, explored) = outcomes_within(surprises, full, move |seen| run(&own, seen));
        if full.is_some() && !explored.is_complete {
            continue;
        }
        let (reduced, explored) = outcomes_within(surprises, Reduced::new(), move |seen| run(&other, seen));
        assert!(reduced.is_none() || explored.is_complete, "{acts:?}: {explored:?}");
        assert_eq!(full, reduced, "left: exhaustive, right: reduced; surprises {surprises}, {acts:?}");
        compared += 1;
        deadlocks += u32::from(full.is_none());
    }
    eprintln!("{compared} of {programs} programs compared, {deadlocks} of them with deadlocks");
    assert!(compared > programs / 3, "{compared} of {programs}");
}
