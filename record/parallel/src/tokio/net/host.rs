//! A host: the listeners on its ports, its tasks, and whether it is up.

use super::connection::{Connection, Side};
use super::link::{NetworkSettings, Wires};
use super::mailbox::Mailbox;
use super::program::Program;
use crate::object::Object;
use crate::op::Kind;
use crate::runtime;
use crate::tokio::executor;
use crate::tokio::scope::{self, Scope};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::Waker;

const OPEN: [bool; 2] = [true; 2];

/// The maximum number of hosts of a network: the number of addresses.
pub(super) const HOSTS_MAX: usize = 250;

/// The maximum number of connections that wait to be accepted.
pub(super) const BACKLOG: usize = 1024;

/// The first port for sockets that do not request one.
const EPHEMERAL: u16 = 49_152;

/// The state shared by the hosts of a network.
pub(super) struct World {
    pub(super) wires: Arc<Wires>,
    hosts: Mutex<Vec<Arc<Node>>>,
    connections: Mutex<Vec<Weak<Connection>>>,
    /// The wakers of tasks that wait to connect.
    connecting: Mutex<Vec<Waker>>,
}

/// A host.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) number: usize,
    /// The object that represents the ports.
    ports: Object,
    world: Arc<World>,
    pub(super) state: Mutex<State>,
}

pub(super) struct State {
    /// How often the host was started.
    pub(super) starts: u32,
    pub(super) is_up: bool,
    pub(super) scope: Arc<Scope>,
    pub(super) program: Option<Arc<Program>>,
    listeners: BTreeMap<u16, Arc<Queue>>,
    mailboxes: BTreeMap<u16, Arc<Mailbox>>,
    next_port: u16,
}

/// Connections that wait to be accepted, and the tasks that wait to accept. Only the host itself can connect to a
/// loopback address.
pub(super) struct Queue {
    is_loopback: bool,
    state: Mutex<(VecDeque<End>, Vec<Waker>)>,
}

/// A side of a connection.
pub(super) struct End {
    pub(super) connection: Arc<Connection>,
    pub(super) side: Side,
    pub(super) local: SocketAddr,
    pub(super) peer: SocketAddr,
    pub(super) made: &'static Location<'static>,
}

impl Drop for End {
    fn drop(&mut self) {
        self.connection.pause(Kind::Disconnect, self.made);
        self.connection.drop_side(self.side);
    }
}

impl World {
    pub(super) fn new(settings: NetworkSettings, made: &'static Location<'static>) -> Arc<World> {
        let wires = Arc::new(Wires::new(settings, made));
        Arc::new(World { wires, hosts: Mutex::default(), connections: Mutex::default(), connecting: Mutex::default() })
    }

    /// All hosts.
    pub(super) fn hosts(&self) -> MutexGuard<'_, Vec<Arc<Node>>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host with this name.
    pub(super) fn find(&self, name: &str) -> Option<Arc<Node>> {
        self.hosts().iter().find(|host| host.name == name).cloned()
    }

    /// Adds a host.
    pub(super) fn add(self: &Arc<World>, name: &str, made: &'static Location<'static>) -> Arc<Node> {
        assert!(self.find(name).is_none(), "the network has a host {name:?} already");
        let mut hosts = self.hosts();
        let number = hosts.len();
        assert!(number < HOSTS_MAX, "a network has no more than {HOSTS_MAX} hosts");
        let host = Arc::new_cyclic(|own: &Weak<Node>| {
            let own: Weak<dyn std::any::Any + Send + Sync> = own.clone();
            let state = State {
                starts: 0,
                is_up: true,
                scope: Scope::on(own, name, made),
                program: None,
                listeners: BTreeMap::new(),
                mailboxes: BTreeMap::new(),
                next_port: EPHEMERAL,
            };
            let ports = Object::new("ports", made);
            Node { name: name.to_owned(), number, ports, world: Arc::clone(self), state: Mutex::new(state) }
        });
        hosts.push(Arc::clone(&host));
        host
    }

    /// Stores a connection, in order to update it when its links are stopped or restored.
    fn note(&self, connection: &Arc<Connection>) {
        let mut all = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|own| own.strong_count() > 0);
        all.push(Arc::downgrade(connection));
    }

    fn connections(&self) -> Vec<Arc<Connection>> {
        let all = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).collect()
    }

    /// Updates all messages and waiting tasks after links were stopped or restored.
    pub(super) fn relink(&self) {
        for connection in self.connections() {
            connection.relink();
        }
        let hosts = self.hosts().clone();
        for host in hosts {
            let mailboxes: Vec<Arc<Mailbox>> = host.state().mailboxes.values().cloned().collect();
            for mailbox in mailboxes {
                executor::wake_all(mailbox.relink());
            }
        }
        self.wake_connecting();
    }

    /// Stores the waker of a task that waits to connect.
    pub(super) fn leave(&self, waker: &Waker) {
        let waker = waker.clone();
        self.connecting.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    }

    fn wake_connecting(&self) {
        let wakers = std::mem::take(&mut *self.connecting.lock().unwrap_or_else(PoisonError::into_inner));
        executor::wake_all(wakers);
    }
}

impl Node {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// A pause point before an operation on the ports.
    pub(super) fn pause(&self, kind: Kind, place: &'static Location<'static>) {
        self.ports.pause_at(kind, place, || OPEN);
        self.ports.acquire(true);
        self.ports.release();
    }

    /// Records that the current step changes the ports as well.
    fn touch(&self) {
        self.ports.touch_too(|| OPEN);
    }

    /// Records the place where the task waits for the ports.
    pub(super) fn awaits(&self, place: &'static Location<'static>) {
        executor::awaits(Some(&self.ports), place);
    }

    /// The host's address on the network.
    pub(super) fn ip(&self) -> IpAddr {
        let last = crate::ids::byte(self.number + 1);
        IpAddr::V4(Ipv4Addr::new(192, 168, 0, last))
    }

    /// The host of an address, as seen from this one.
    pub(super) fn at(self: &Arc<Node>, ip: IpAddr) -> Option<Arc<Node>> {
        if ip.is_loopback() || ip.is_unspecified() || ip == self.ip() {
            return Some(Arc::clone(self));
        }
        self.world.hosts().iter().find(|host| host.ip() == ip).cloned()
    }

    /// Fails if the host is down or was started again since: `starts` is the number of starts when an object was
    /// created.
    pub(super) fn is_alive(&self, starts: u32) -> io::Result<()> {
        let state = self.state();
        if state.is_up && state.starts == starts {
            return Ok(());
        }
        Err(io::Error::new(ErrorKind::NetworkDown, format!("the host {:?} has crashed", self.name)))
    }

    /// The address at which to listen. Fails if it is not an address of this host.
    fn own(&self, address: SocketAddr) -> io::Result<IpAddr> {
        let ip = address.ip();
        let is_own = ip.is_loopback() || ip.is_unspecified() || ip == self.ip();
        if is_own { Ok(ip) } else { Err(ErrorKind::AddrNotAvailable.into()) }
    }

    /// Listens at an address. Returns the address with the actual port.
    pub(super) fn listen(&self, address: SocketAddr) -> io::Result<(SocketAddr, Arc<Queue>)> {
        let ip = self.own(address)?;
        let mut state = self.state();
        let port = state.free_port(address.port(), |state, port| state.listeners.contains_key(&port))?;
        let queue = Arc::new(Queue { is_loopback: ip.is_loopback(), state: Mutex::default() });
        state.listeners.insert(port, Arc::clone(&queue));
        Ok((SocketAddr::new(ip, port), queue))
    }

    /// Opens a UDP port. Returns the address with the actual port.
    pub(super) fn receive(&self, address: SocketAddr) -> io::Result<(SocketAddr, Arc<Mailbox>)> {
        let ip = self.own(address)?;
        let mut state = self.state();
        let port = state.free_port(address.port(), |state, port| state.mailboxes.contains_key(&port))?;
        let mailbox = Arc::new(Mailbox::new(&self.world.wires));
        state.mailboxes.insert(port, Arc::clone(&mailbox));
        Ok((SocketAddr::new(ip, port), mailbox))
    }

    /// The UDP socket on a port.
    pub(super) fn mailbox(&self, port: u16) -> Option<Arc<Mailbox>> {
        self.state().mailboxes.get(&port).cloned()
    }

    /// Closes a port, if this queue still owns it. Connections that were not accepted are reset.
    pub(super) fn close(&self, port: u16, queue: &Arc<Queue>) {
        let mut state = self.state();
        if state.listeners.get(&port).is_some_and(|own| Arc::ptr_eq(own, queue)) {
            state.listeners.remove(&port);
        }
        drop(state);
        queue.refuse();
        self.world.wake_connecting();
    }

    /// Closes a UDP port, if this mailbox still owns it.
    pub(super) fn stop_receiving(&self, port: u16, mailbox: &Arc<Mailbox>) {
        let mut state = self.state();
        if state.mailboxes.get(&port).is_some_and(|own| Arc::ptr_eq(own, mailbox)) {
            state.mailboxes.remove(&port);
        }
    }

    /// Opens a connection to a port of another host, or of this one. Returns `None` if the backlog of the port is full.
    pub(super) fn open(
        &self,
        to: &Arc<Node>,
        address: SocketAddr,
        place: &'static Location<'static>,
    ) -> io::Result<Option<End>> {
        let is_loopback = address.ip().is_loopback() || address.ip().is_unspecified();
        let queue = to.state().listeners.get(&address.port()).cloned();
        let queue = queue.filter(|queue| to.number == self.number || !queue.is_loopback);
        let Some(queue) = queue else { return Err(ErrorKind::ConnectionRefused.into()) };
        if queue.state().0.len() >= BACKLOG {
            return Ok(None);
        }
        self.touch();
        let port = self.state().next_port();
        let (own, peer) = if is_loopback { (address.ip(), address) } else { (self.ip(), address) };
        let local = SocketAddr::new(own, port);
        let connection = Arc::new(Connection::new(&self.world.wires, [self.number, to.number], place));
        self.world.note(&connection);
        let end = |side, local, peer| End { connection: Arc::clone(&connection), side, local, peer, made: place };
        let ends = (end(0, local, peer), end(1, peer, local));
        let mut state = queue.state();
        state.0.push_back(ends.1);
        let wakers = std::mem::take(&mut state.1);
        drop(state);
        executor::wake_all(wakers);
        Ok(Some(ends.0))
    }

    /// Closes all connections and ports of the host.
    pub(super) fn crash(&self) {
        let queues: Vec<Arc<Queue>> = {
            let mut state = self.state();
            state.is_up = false;
            state.mailboxes.clear();
            std::mem::take(&mut state.listeners).into_values().collect()
        };
        for connection in self.world.connections() {
            connection.crash(self.number);
        }
        for queue in queues {
            queue.refuse();
        }
        self.world.wake_connecting();
    }

    /// Starts the host again, without open ports.
    pub(super) fn restart(self: &Arc<Node>, made: &'static Location<'static>) {
        let own: Weak<Node> = Arc::downgrade(self);
        let mut state = self.state();
        state.starts += 1;
        state.is_up = true;
        state.scope = Scope::on(own, &self.name, made);
    }
}

impl State {
    /// The requested port, or any free one if it is 0.
    fn free_port(&mut self, port: u16, is_used: impl Fn(&State, u16) -> bool) -> io::Result<u16> {
        if port != 0 {
            return if is_used(self, port) { Err(ErrorKind::AddrInUse.into()) } else { Ok(port) };
        }
        for _ in EPHEMERAL..=u16::MAX {
            let port = self.next_port();
            if !is_used(self, port) {
                return Ok(port);
            }
        }
        Err(ErrorKind::AddrInUse.into())
    }

    fn next_port(&mut self) -> u16 {
        let port = self.next_port;
        self.next_port = port.checked_add(1).unwrap_or(EPHEMERAL);
        port
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, (VecDeque<End>, Vec<Waker>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection that came first. If there is none, stores a waker.
    pub(super) fn accept(&self, world: &World, waker: &Waker) -> Option<End> {
        let waker = waker.clone();
        let mut state = self.state();
        let was_full = state.0.len() >= BACKLOG;
        let Some(end) = state.0.pop_front() else {
            if !state.1.iter().any(|own| own.will_wake(&waker)) {
                state.1.push(waker);
            }
            return None;
        };
        drop(state);
        if was_full {
            world.wake_connecting();
        }
        Some(end)
    }

    /// Resets connections that were not accepted.
    fn refuse(&self) {
        let (ends, wakers) = std::mem::take(&mut *self.state());
        executor::wake_all(wakers);
        for end in &ends {
            // The step names only the ports, and the other side may be about to write.
            end.connection.touch_too();
            end.connection.abort(end.side);
        }
        drop(ends);
    }
}

thread_local! {
    /// The default host, in the execution with this serial number.
    static LOCAL: RefCell<Option<(u64, Arc<Node>)>> = const { RefCell::new(None) };
}

/// The host on which the caller's tasks run: `localhost` by default.
pub(super) fn current() -> Arc<Node> {
    if let Some(host) = scope::current().and_then(|scope| scope.host()?.upgrade())
        && let Ok(host) = host.downcast::<Node>()
    {
        return host;
    }
    let made = Location::caller();
    let new = || World::new(NetworkSettings::default(), made).add("localhost", made);
    let Some(serial) = runtime::with(|execution| execution.serial()) else {
        static OUTSIDE: OnceLock<Arc<Node>> = OnceLock::new();
        return Arc::clone(OUTSIDE.get_or_init(new));
    };
    let known =
        LOCAL.with_borrow(|local| local.as_ref().filter(|(of, _)| *of == serial).map(|(_, host)| Arc::clone(host)));
    known.unwrap_or_else(|| {
        let host = new();
        if let Some((_, before)) = LOCAL.replace(Some((serial, Arc::clone(&host)))) {
            // The hosts of an execution with cut-off threads are leaked, as its threads are: to drop them would be part
            // of the current execution.
            if before.state().listeners.is_empty() {
                before.world.hosts().clear();
            }
        }
        host
    })
}
