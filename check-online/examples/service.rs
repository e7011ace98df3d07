//! A service on tokio that is checked while it runs: a key-value store with a cache that somebody forgot to invalidate.
//!
//! `cargo run -p check-online --example service` finds the bug; `-- correct` runs the store without it.
//!
//! Clients record the start and the end of each request, on one clock, and feed this to a checker on a separate thread.
//! If the checker is slower, clients wait for it: nothing is lost.

use check_online::{FeedError, Online, OnlineHandle, Outcome, Span};
use check_register::{Model, Shortcuts};
use history_core::Budget;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

const CLIENTS: u32 = 4;
const KEYS: u64 = 3;
const REQUESTS: u64 = 2_000;

/// A request: its key, and the value that it read or wrote.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Request {
    Get(u64, u64),
    Put(u64, u64),
}

/// A map from keys to numbers, initially 0. Each key is a part that is checked separately.
struct Store;

impl Model for Store {
    type State = u64;
    type Op = Request;
    type Next = Option<u64>;

    fn init(&self) -> u64 {
        0
    }

    fn step(&self, held: &u64, op: &Request, _: &Budget) -> Option<u64> {
        match *op {
            Request::Get(_, found) => (found == *held).then_some(found),
            Request::Put(_, put) => Some(put),
        }
    }

    fn shortcuts(&self) -> &dyn Shortcuts<Self::State, Self::Op> {
        self
    }
}

impl Shortcuts<u64, Request> for Store {
    fn reads_only(&self, op: &Request) -> bool {
        matches!(op, Request::Get(..))
    }

    fn part(&self, op: &Request) -> Option<u64> {
        let (Request::Get(key, _) | Request::Put(key, _)) = *op;
        Some(key)
    }

    fn states_are_of_parts(&self) -> bool {
        true
    }
}

/// The service. It reads its cache first, and fills it after a miss.
#[derive(Default)]
struct Service {
    store: Mutex<HashMap<u64, u64>>,
    cache: Mutex<HashMap<u64, u64>>,
    is_correct: bool,
}

impl Service {
    async fn get(&self, key: u64) -> u64 {
        if !self.is_correct
            && let Some(found) = self.cache.lock().await.get(&key)
        {
            return *found;
        }
        let found = self.store.lock().await.get(&key).copied().unwrap_or(0);
        // The bug: a put may have happened since, and then the value that is inserted into the cache is stale.
        tokio::task::yield_now().await;
        self.cache.lock().await.insert(key, found);
        found
    }

    async fn put(&self, key: u64, value: u64) {
        self.store.lock().await.insert(key, value);
        tokio::task::yield_now().await;
        self.cache.lock().await.remove(&key);
    }
}

/// A clock shared by all clients: each instant is used once.
#[derive(Default)]
struct Clock(AtomicU64);

impl Clock {
    fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// Sends requests until a violation is found.
async fn client(
    client: u32,
    service: Arc<Service>,
    clock: Arc<Clock>,
    checker: OnlineHandle<Request>,
) -> Result<(), FeedError> {
    for at in 0..REQUESTS {
        let key = (at * 7 + u64::from(client) * 5) % KEYS;
        let start = clock.now();
        let op = if (at + u64::from(client)).is_multiple_of(3) {
            let value = at * u64::from(CLIENTS) + u64::from(client) + 1;
            service.put(key, value).await;
            Request::Put(key, value)
        } else {
            Request::Get(key, service.get(key).await)
        };
        let mut span = Span::new(client, start, clock.now(), op);
        // Waits for the checker without blocking other tasks.
        while let Some(back) = checker.try_feed(span)? {
            span = back;
            tokio::task::yield_now().await;
        }
        if checker.outcome() != Outcome::Ok {
            break;
        }
    }
    checker.stop(client)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let is_correct = std::env::args().nth(1).is_some_and(|arg| arg == "correct");
    let checker = Online::new(Store, CLIENTS).spawn(1_000);
    let service = Arc::new(Service { is_correct, ..Service::default() });
    let clock = Arc::new(Clock::default());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|at| tokio::spawn(client(at, Arc::clone(&service), Arc::clone(&clock), checker.clone())))
        .collect();
    for client in clients {
        client.await??;
    }
    let outcome = checker.finish()?;
    match &outcome {
        Outcome::Ok => println!("{} requests, and all is well.", u64::from(CLIENTS) * REQUESTS),
        Outcome::Violation(violation) => print!("The store is not linearizable.\n{violation}"),
        Outcome::Unknown(reason) => println!("No verdict, because {}.", reason.because()),
    }
    let expected = if is_correct { "Ok" } else { "Violation" };
    assert!(format!("{outcome:?}").starts_with(expected), "this was not to be");
    Ok(())
}
