//! A network of hosts, as tests use it: starts programs on hosts, and injects faults.

use super::host::{Node, World};
use super::link::{Link, NetworkSettings};
use super::program::Program;
use crate::execution::Execution;
use crate::op::Kind;
use crate::runtime;
use crate::tokio::executor::{self, Task};
use crate::tokio::scope::{self, Scope};
use crate::tokio::task::{self, JoinHandle};
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;

/// A simulated network. Its hosts' tasks are cancelled when it is dropped.
///
/// The schedule chooses the moment of each of its commands if a separate thread or task calls it.
///
/// ```
/// use record_parallel::net::Network;
/// use record_parallel::tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use record_parallel::tokio::net::{TcpListener, TcpStream};
/// use record_parallel::tokio::time::{Duration, timeout};
///
/// record_parallel::check(|| {
///     let network = Network::new();
///     network.host("server").run(|| async {
///         let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
///         while let Ok((mut stream, _)) = listener.accept().await {
///             _ = stream.write_all(b"hello").await;
///         }
///     });
///     network.host("client").block_on(async {
///         network.partition("client", "server");
///         let connect = timeout(Duration::from_secs(1), TcpStream::connect("server:80"));
///         assert!(connect.await.is_err(), "nothing gets through");
///         network.repair("client", "server");
///         let Ok(mut stream) = TcpStream::connect("server:80").await else {
///             return; // the server does not listen yet
///         };
///         let mut text = String::new();
///         stream.read_to_string(&mut text).await.unwrap();
///         assert_eq!(text, "hello");
///     });
/// });
/// ```
pub struct Network {
    world: Arc<World>,
}

/// A host of a [`Network`].
#[derive(Clone)]
pub struct Host {
    node: Arc<Node>,
}

impl Network {
    /// Creates a network with the default settings.
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "reports contain the place of its creation")]
    pub fn new() -> Network {
        Network::with(NetworkSettings::default())
    }

    /// Creates a network with these settings.
    ///
    /// # Panics
    ///
    /// If the buffers have no room.
    #[track_caller]
    pub fn with(settings: NetworkSettings) -> Network {
        assert!(settings.buffer_bytes > 0, "NetworkSettings::buffer_bytes must not be 0: nothing could be written");
        Network { world: World::new(settings, Location::caller()) }
    }

    /// The host with this name; created if there is none.
    ///
    /// # Panics
    ///
    /// If there are 250 hosts already.
    #[track_caller]
    pub fn host(&self, name: &str) -> Host {
        let known = self.world.find(name);
        Host { node: known.unwrap_or_else(|| self.world.add(name, Location::caller())) }
    }

    #[track_caller]
    fn number(&self, name: &str) -> usize {
        let host = self.world.find(name);
        host.unwrap_or_else(|| panic!("the network has no host {name:?}: Network::host makes one")).number
    }

    #[track_caller]
    fn pair(&self, a: &str, b: &str) -> (usize, usize) {
        assert!(a != b, "a host always reaches itself: name two hosts, not {a:?} twice");
        (self.number(a), self.number(b))
    }

    /// Executes a change of the network as a step.
    fn command(&self, kind: Kind, what: &str, place: &'static Location<'static>, change: impl FnOnce()) {
        self.world.wires.object.pause_at(kind, place, || [true; 2]);
        runtime::with(|execution| {
            Execution::depend_on_all(execution);
            execution.remark(what.to_owned());
        });
        change();
        self.world.relink();
    }

    fn cut(&self, links: &[Link], is_cut: bool, what: &str, place: &'static Location<'static>) {
        let kind = if is_cut { Kind::Partition } else { Kind::Repair };
        self.command(kind, what, place, || {
            for link in links {
                self.world.wires.set_cut(*link, is_cut);
            }
        });
    }

    /// Stops all messages between two hosts, in both directions. Datagrams are lost; data of a connection waits until
    /// the partition ends, or until the connection breaks.
    #[track_caller]
    pub fn partition(&self, a: &str, b: &str) {
        let (from, to) = self.pair(a, b);
        self.cut(&[(from, to), (to, from)], true, &format!("{a} and {b}"), Location::caller());
    }

    /// The same in one direction. Acknowledgements of data that a connection carries in the other direction arrive.
    #[track_caller]
    pub fn partition_one_way(&self, from: &str, to: &str) {
        self.cut(&[self.pair(from, to)], true, &format!("{from} to {to}"), Location::caller());
    }

    /// Stops all messages between a host and all other existing hosts, in both directions.
    #[track_caller]
    pub fn isolate(&self, name: &str) {
        let own = self.number(name);
        let others = (0..self.world.hosts().len()).filter(|other| *other != own);
        let links: Vec<Link> = others.flat_map(|other| [(own, other), (other, own)]).collect();
        self.cut(&links, true, name, Location::caller());
    }

    /// Ends a partition of two hosts, in both directions.
    #[track_caller]
    pub fn repair(&self, a: &str, b: &str) {
        let (from, to) = self.pair(a, b);
        self.cut(&[(from, to), (to, from)], false, &format!("{a} and {b}"), Location::caller());
    }

    /// Ends all partitions.
    #[track_caller]
    pub fn repair_all(&self) {
        let count = self.world.hosts().len();
        let links: Vec<Link> = (0..count).flat_map(|from| (0..count).map(move |to| (from, to))).collect();
        self.cut(&links, false, "all", Location::caller());
    }

    #[track_caller]
    fn set_held(&self, a: &str, b: &str, is_held: bool, place: &'static Location<'static>) {
        let (from, to) = self.pair(a, b);
        let kind = if is_held { Kind::Hold } else { Kind::Release };
        self.command(kind, &format!("{a} and {b}"), place, || {
            for link in [(from, to), (to, from)] {
                self.world.wires.set_held(link, is_held);
            }
        });
    }

    /// Delays all messages between two hosts, in both directions, including datagrams.
    #[track_caller]
    pub fn hold(&self, a: &str, b: &str) {
        self.set_held(a, b, true, Location::caller());
    }

    /// Delivers the delayed messages, in the order in which they were sent.
    #[track_caller]
    pub fn release(&self, a: &str, b: &str) {
        self.set_held(a, b, false, Location::caller());
    }

    /// Crashes a host: its tasks end at their current points, between any two operations; messages that it sent and
    /// that a partition stops are lost, its connections are reset, and its ports are closed. Values of its tasks are
    /// dropped, without any effect on the network. Like a disk, memory that is shared with others is not changed.
    ///
    /// A crash can occur between operations of this crate's types. Data that represents the disk should use types of
    /// [`sync`](crate::sync), or call [`Resource::touch`](crate::Resource::touch): no search covers a crash before an
    /// access to a type of std.
    ///
    /// Closures of `spawn_blocking` end at their next operation, and threads that are not tasks continue. A task that
    /// holds a [`sync::Mutex`](crate::sync::Mutex), which would be poisoned, continues until it has unlocked it: no
    /// search covers a crash before an operation under such a lock.
    #[track_caller]
    pub fn crash(&self, name: &str) {
        self.number(name);
        let place = Location::caller();
        if let Some(node) = self.world.find(name) {
            self.crash_at(&node, place);
        }
    }

    /// Starts a host again: the program of [`run`](Host::run) starts from the beginning. If the host is up, it is
    /// crashed before.
    #[track_caller]
    pub fn restart(&self, name: &str) {
        self.number(name);
        let place = Location::caller();
        if let Some(node) = self.world.find(name) {
            let is_up = node.state().is_up;
            if is_up {
                self.crash_at(&node, place);
            }
            self.command(Kind::Restart, name, place, || node.restart(place));
            Host { node }.start(place);
        }
    }

    fn crash_at(&self, node: &Arc<Node>, place: &'static Location<'static>) {
        self.command(Kind::Crash, &node.name, place, || node.crash());
        let scope = Arc::clone(&node.state().scope);
        scope.kill(place);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let hosts = std::mem::take(&mut *self.world.hosts());
        for host in hosts {
            let scope = Arc::clone(&host.state().scope);
            scope.shut_down();
            let program = host.state().program.take();
            drop(program);
        }
    }
}

impl Host {
    /// The name of the host, by which other hosts find its address.
    pub fn name(&self) -> &str {
        &self.node.name
    }

    /// The address of the host.
    pub fn ip(&self) -> IpAddr {
        self.node.ip()
    }

    /// Returns true if the host has not crashed.
    #[track_caller]
    pub fn is_up(&self) -> bool {
        self.node.pause(Kind::Load, Location::caller());
        self.node.state().is_up
    }

    /// Runs a program on the host now, unless the host has crashed, and whenever it is [restarted](Network::restart).
    /// The captured variables of the closure survive a crash, like a disk.
    #[track_caller]
    pub fn run<F>(&self, mut program: impl FnMut() -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let place = Location::caller();
        let body = move |scope: &Arc<Scope>| drop(task::spawn_at(scope, program(), place));
        self.node.state().program = Some(Arc::new(Program::new(Box::new(body), place)));
        self.start(place);
    }

    fn start(&self, place: &'static Location<'static>) {
        let (program, scope) = {
            let state = self.node.state();
            (state.program.clone(), Arc::clone(&state.scope))
        };
        if let Some(program) = program {
            program.start(&scope, place);
        }
    }

    /// Starts a task on the host.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let scope = Arc::clone(&self.node.state().scope);
        task::spawn_on(&scope, future)
    }

    /// Runs a future on the host, by this thread. It does not end if the host crashes: its connections then fail.
    ///
    /// # Panics
    ///
    /// If the caller is part of a task.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        assert!(
            executor::task().is_none(),
            "Cannot start a runtime from within a runtime: the caller is part of a task, which could not be polled meanwhile"
        );
        let scope = Arc::clone(&self.node.state().scope);
        let task = Task::new(Location::caller());
        let _entered = scope::enter(Some(Arc::clone(&task)), &scope);
        task.run(pin!(future)).expect("no handle can abort the task")
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("settings", &self.world.wires.settings).finish_non_exhaustive()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("name", &self.node.name).field("ip", &self.ip()).finish()
    }
}
