//! Ends a run that cannot continue: prints a line that names the lost process, and exits with code 255.
//!
//! Timely's threads panic when a connection breaks, and then all workers panic, too. A hook therefore examines each
//! panic before its thread unwinds: the name of a timely thread contains the process at the other end. This process
//! ends immediately, before any worker prints a result.

use super::{Cluster, WORKER, words};
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The exit code of a run without a result.
const EXIT: i32 = 255;

/// Ends this process on a fault. Kept as long as there are workers.
pub(crate) struct Fault {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    hosts: Vec<String>,
    /// Connections to other processes, which receive the reason when this one ends.
    listeners: Mutex<Vec<TcpStream>>,
    /// Whether there are workers.
    is_armed: AtomicBool,
    is_ending: AtomicBool,
}

impl Fault {
    /// For workers that are all in this process.
    pub(crate) fn of_process() -> Fault {
        Fault::arm(Shared::default())
    }

    /// For workers in several processes.
    pub(crate) fn of_cluster(cluster: &Cluster) -> Fault {
        Fault::arm(Shared { hosts: cluster.hosts.clone(), ..Shared::default() })
    }

    fn arm(shared: Shared) -> Fault {
        let shared = Arc::new(shared);
        shared.is_armed.store(true, Ordering::SeqCst);
        let (previous, hooked) = (std::panic::take_hook(), Arc::clone(&shared));
        std::panic::set_hook(Box::new(move |panic| {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or_default();
            let peer = ["timely:recv-", "timely:send-"].iter().find_map(|prefix| name.strip_prefix(prefix));
            if !hooked.is_armed.load(Ordering::SeqCst) {
                previous(panic);
            } else if let Some(peer) = peer.and_then(|number| number.parse().ok()) {
                hooked.end(&lost(&hooked.hosts, peer, "the connection is closed"));
            } else {
                previous(panic);
                // A panic in a checker's code is caught, and becomes an error of one history.
                if (name.starts_with(WORKER) || name.starts_with("timely:")) && !crate::keys::is_guarded() {
                    hooked.end("a worker panicked, which is a bug: please report it");
                }
            }
        }));
        Fault { shared }
    }

    /// Adds a connection to a process that receives the reason when this one ends.
    pub(crate) fn add_listener(&self, listener: TcpStream) {
        self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
    }

    /// Prints the reason why there is no result, and ends this process.
    pub(crate) fn end(&self, why: &str) -> ! {
        self.shared.end(why)
    }

    /// The same for a lost process.
    pub(crate) fn end_without(&self, peer: usize, why: &str) -> ! {
        self.shared.end(&lost(&self.shared.hosts, peer, why))
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        self.shared.is_armed.store(false, Ordering::SeqCst);
    }
}

impl Shared {
    fn end(&self, why: &str) -> ! {
        // Only the first thread prints a reason; the others wait for the end.
        if self.is_ending.swap(true, Ordering::SeqCst) {
            loop {
                std::thread::park();
            }
        }
        for listener in self.listeners.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            // A process that does not read this detects the end by itself.
            let _ = words::tell_end(listener, why);
        }
        let _ = writeln!(std::io::stderr(), "error: {why}");
        std::process::exit(EXIT)
    }
}

/// The message about a lost process.
fn lost(hosts: &[String], peer: usize, why: &str) -> String {
    let host = hosts.get(peer).map_or("unknown address", String::as_str);
    format!("process {peer} ({host}) was lost, so there is no verdict: {why}")
}
