//! The server: an address, and a task for each connection.

mod connection;

use crate::config::Config;
use crate::state::State;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

/// The maximum number of simultaneous connections. A further one waits until another is closed; inactive ones are
/// closed soon.
const CONNECTIONS_MAX: usize = 4096;
/// The time for requests to remove partial files when the server ends.
const END_TIME: Duration = Duration::from_millis(500);
/// The number of file descriptors reserved for other purposes.
const FILES_SPARE: u64 = 256;

/// A server that listens, and does not answer requests yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    config: Config,
    stop: Stop,
}

/// Ends a server.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Notify>);

impl Stop {
    /// Ends the server. Work in progress is dropped; files that it has written are complete.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Server {
    /// Creates a server that listens at the address.
    ///
    /// # Errors
    ///
    /// If there is no such directory, the address is in use or not one of this machine, or it needs a token and has
    /// none.
    pub fn bind(config: Config) -> io::Result<Server> {
        config.check().map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        // Reports the error at the start, not on every page.
        std::fs::read_dir(&config.directory)?;
        let listener = TcpListener::bind(config.listen)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address, config, stop: Stop::default() })
    }

    /// The address, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A handle for another thread to end the server.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Answers requests until the server is stopped.
    ///
    /// # Errors
    ///
    /// If the system denies a resource that the server needs.
    pub fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(16)
            .enable_io()
            .enable_time()
            .build()?;
        let state = Arc::new(State::new(self.config));
        let ending = Arc::clone(&state);
        let outcome = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            if let Some(board) = state.board.clone() {
                tokio::spawn(async move { board.keep().await });
            }
            tokio::spawn(async move { accept(&listener, &state).await });
            self.stop.0.notified().await;
            Ok(())
        });
        ending.library.end();
        if let Some(checks) = ending.checks.as_ref() {
            checks.end();
        }
        // Downloads in progress are not completed, but incomplete uploads are removed.
        runtime.shutdown_timeout(END_TIME);
        outcome
    }
}

async fn accept(listener: &tokio::net::TcpListener, state: &Arc<State>) {
    let room = Arc::new(Semaphore::new(connections_max()));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let state = Arc::clone(state);
                tokio::spawn(async move {
                    connection::serve(stream, state).await;
                    drop(permit);
                });
            }
            // The client has already disconnected, or there is no free file descriptor: some connections will be closed
            // soon.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// The number of connections that the system allows.
#[cfg(unix)]
fn connections_max() -> usize {
    use history_core::cast::Cast as _;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = CONNECTIONS_MAX.to_u64() + FILES_SPARE;
    let wanted = limit.maximum.map_or(wanted, |most| most.min(wanted));
    let now = limit.current.unwrap_or(u64::MAX);
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    let files = if now < wanted && setrlimit(Resource::Nofile, raised).is_ok() { wanted } else { now };
    usize::try_from(files.saturating_sub(FILES_SPARE)).unwrap_or(usize::MAX).clamp(16, CONNECTIONS_MAX)
}

#[cfg(not(unix))]
fn connections_max() -> usize {
    CONNECTIONS_MAX
}
