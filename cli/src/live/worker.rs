//! `histcheck live worker`: runs clients or a whole node of a run on another machine.

use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use record_live::serve;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;

/// The task of a worker.
pub(crate) enum Worker {
    /// Run clients, each of which is this command.
    Clients {
        /// The address to listen on.
        address: String,
        command: String,
    },
    /// Be the node that this machine is, controlled through standard input; its files are in this directory.
    Node(PathBuf),
}

/// Serves until there is no more work.
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
