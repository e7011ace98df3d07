//! A key-value server of tasks, with a leader that accepts writes and a replica that answers reads. The broken version
//! confirms a write before the replica has it, so a read may be stale. Budget: 100 executions.

use proptest::prelude::*;
use record_parallel::property::{Outcome, Parallel, ParallelModel};
use record_parallel::scheduler::{Random, Reduced};
use record_parallel::tokio::runtime::Runtime;
use record_parallel::tokio::sync::{RwLock, mpsc, oneshot};
use std::collections::BTreeMap;
use std::sync::Arc;

type Values = BTreeMap<u8, u8>;

struct Write {
    key: u8,
    value: u8,
    done: oneshot::Sender<()>,
}

/// Receives writes in order, and sends them to the replica.
async fn lead(
    mut writes: mpsc::Receiver<Write>,
    copies: mpsc::Sender<(u8, u8, Option<oneshot::Sender<()>>)>,
    is_broken: bool,
) {
    while let Some(Write { key, value, done }) = writes.recv().await {
        let copy = if is_broken {
            _ = done.send(());
            (key, value, None)
        } else {
            (key, value, Some(done))
        };
        if copies.send(copy).await.is_err() {
            return;
        }
    }
}

/// Applies the writes that the leader sends.
async fn follow(mut copies: mpsc::Receiver<(u8, u8, Option<oneshot::Sender<()>>)>, values: Arc<RwLock<Values>>) {
    while let Some((key, value, done)) = copies.recv().await {
        values.write().await.insert(key, value);
        if let Some(done) = done {
            _ = done.send(());
        }
    }
}

struct Server {
    leader: mpsc::Sender<Write>,
    replica: Arc<RwLock<Values>>,
    runtime: Runtime,
}

impl Server {
    fn start(is_broken: bool) -> Server {
        let runtime = Runtime::new().unwrap();
        let (leader, writes) = mpsc::channel(1);
        let (sender, copies) = mpsc::channel(1);
        let replica = Arc::new(RwLock::new(Values::new()));
        drop(runtime.spawn(lead(writes, sender, is_broken)));
        drop(runtime.spawn(follow(copies, Arc::clone(&replica))));
        Server { leader, replica, runtime }
    }

    fn put(&self, key: u8, value: u8) {
        self.runtime.block_on(async {
            let (done, is_done) = oneshot::channel();
            assert!(self.leader.send(Write { key, value, done }).await.is_ok(), "the leader runs");
            is_done.await.unwrap();
        });
    }

    fn get(&self, key: u8) -> Option<u8> {
        self.runtime.block_on(async { self.replica.read().await.get(&key).copied() })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Command {
    Get(u8),
    Put(u8, u8),
}

struct Map {
    is_broken: bool,
}

impl ParallelModel for Map {
    type Command = Command;
    type Response = Option<u8>;
    type State = Values;
    type System = Server;

    fn init(&self) -> Values {
        Values::new()
    }

    fn start(&self) -> Server {
        Server::start(self.is_broken)
    }

    fn generate(&self, _: &Values) -> BoxedStrategy<Command> {
        let key = 0_u8..2;
        prop_oneof![
            key.clone().prop_map(Command::Get),
            (key, 1_u8..9).prop_map(|(key, value)| Command::Put(key, value))
        ]
        .boxed()
    }

    fn step(&self, values: &Values, command: &Command) -> (Values, Option<u8>) {
        match *command {
            Command::Get(key) => (values.clone(), values.get(&key).copied()),
            Command::Put(key, value) => {
                let mut values = values.clone();
                values.insert(key, value);
                (values, None)
            }
        }
    }

    fn run_real(&self, server: &Server, command: &Command) -> Outcome<Option<u8>> {
        Outcome::Returned(match *command {
            Command::Get(key) => server.get(key),
            Command::Put(key, value) => {
                server.put(key, value);
                None
            }
        })
    }
}

#[test]
fn a_stale_read_is_found_shrunk_and_replayed() {
    let parallel = || Parallel::new(Map { is_broken: true });
    let counterexample = parallel().run().unwrap_err();
    assert_eq!(counterexample.program.len(), 2, "{counterexample}");
    let text = counterexample.to_string();
    assert!(text.contains("the history is not linearizable") && text.contains("-> None (operation 1"), "{text}");
    let again = parallel().replay(&counterexample.replay).unwrap_err();
    assert_eq!(again.failure.table(), counterexample.failure.table());
}

#[test]
fn it_is_found_within_its_budget() {
    for seed in 0..20 {
        let failure = record_parallel::explore(&record_parallel::Settings::default(), Random::new(seed, 100), || {
            let server = Server::start(true);
            server.put(0, 1);
            assert_eq!(server.get(0), Some(1));
        });
        assert!(failure.is_err(), "seed {seed}");
    }
}

#[test]
fn the_server_that_waits_for_its_replica_passes() {
    Parallel::new(Map { is_broken: false }).check();
    let settings = crate::noting::settings(0);
    let explored = record_parallel::explore(&settings, Reduced::new(), || {
        let server = Server::start(false);
        server.put(0, 1);
        assert_eq!(server.get(0), Some(1));
    });
    assert!(explored.unwrap_or_else(|failure| panic!("{failure}")).is_complete);
}
