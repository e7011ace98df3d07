//! `histcheck live worker`: clients of a run on another machine, or a whole node of it.

use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use record_live::serve;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;

/// What a worker serves.
pub(crate) enum Worker {
    /// Clients, each of which is this command.
    Clients {
        /// Where it listens.
        address: String,
        command: String,
    },
    /// The node that this machine is, from standard input; what belongs to it is in this directory.
    Node(PathBuf),
}

/// Serves until there is nothing left to do.
pub(crate) fn serve_run(worker: &Worker) -> Exit {
    let served = match worker {
        Worker::Node(directory) => serve::node(directory),
        Worker::Clients { address, command } => {
            let listener = match TcpListener::bind(address) {
                Ok(listener) => listener,
                Err(error) => {
                    diagnose::error(&format!("--listen: cannot listen at {address}: {error}"));
                    return Exit::FAILED;
                }
            };
            let at = listener.local_addr().map_or_else(|_| address.clone(), |at| at.to_string());
            if let Err(error) = writeln!(io::stdout(), "listening at {at}") {
                return exit::stopped(&error);
            }
            serve::listen(&listener, command)
        }
    };
    match served {
        Ok(()) => Exit::OK,
        Err(error) => {
            diagnose::error(&format!("the worker has ended: {error}"));
            Exit::FAILED
        }
    }
}
