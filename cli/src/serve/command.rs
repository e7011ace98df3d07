//! The command `histcheck serve`: messages to the user, from the start of the server to its end.

use crate::judge::signals;
use crate::output::diagnose;
use crate::output::exit::{self, Exit};
use histcheck_serve::{Config, Server};
use history_core::visible;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::{Command, Stdio};

/// The task: a server to start.
#[derive(Debug)]
pub(crate) struct Serve {
    pub(crate) config: Config,
    /// Whether to open it in the user's browser.
    pub(crate) opens: bool,
}

/// Serves until an interrupt.
pub(crate) fn run(job: Serve) -> Exit {
    let place = visible::line(&job.config.directory.display().to_string()).into_owned();
    let (listen, has_token) = (job.config.listen, job.config.token.is_some());
    let server = match Server::bind(job.config) {
        Ok(server) => server,
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            diagnose::error(&format!(
                "{listen} is in use; choose another address with --listen, or any free port with --listen 127.0.0.1:0"
            ));
            return Exit::FAILED;
        }
        Err(error) => {
            diagnose::error(&format!("cannot serve {place} at {listen}: {error}"));
            return Exit::FAILED;
        }
    };
    let stop = server.stop();
    if let Err(error) = signals::on_each(move || stop.stop()) {
        diagnose::warning(&format!("cannot catch signals: {error}"));
    }
    let address = address(server.address());
    if let Err(error) = writeln!(io::stdout(), "{address}").and_then(|()| io::stdout().flush()) {
        return exit::stopped(&error);
    }
    diagnose::note(&format!("serving {place}; press Ctrl-C to stop"));
    if !has_token && cfg!(unix) {
        diagnose::note("every user of this machine can open it; --token prevents that");
    }
    if job.opens && !open(&address) {
        diagnose::note("no browser could be opened: open the address above");
    }
    match server.run() {
        Ok(()) => Exit::OK,
        Err(error) => {
            diagnose::error(&format!("the server ended: {error}"));
            Exit::FAILED
        }
    }
}

/// The address for a browser. A server that listens on all addresses is reached at the loopback address.
pub(super) fn address(listen: SocketAddr) -> String {
    let mut listen = listen;
    if listen.ip().is_unspecified() {
        listen.set_ip(if listen.is_ipv4() {
            std::net::Ipv4Addr::LOCALHOST.into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    format!("http://{listen}/")
}

/// Opens an address in the user's browser.
fn open(address: &str) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    // Some programs return only when the browser ends.
    std::thread::spawn(move || child.wait());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_can_be_opened() {
        let of = |listen: &str| address(listen.parse().unwrap());
        assert_eq!(of("127.0.0.1:8090"), "http://127.0.0.1:8090/");
        assert_eq!(of("0.0.0.0:1"), "http://127.0.0.1:1/");
        assert_eq!(of("[::]:1"), "http://[::1]:1/");
    }
}
