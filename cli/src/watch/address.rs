//! Addresses to which clients write, as the user gives them.

use std::fmt;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::PathBuf;

/// The address to which clients write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    #[cfg(unix)]
    Unix(PathBuf),
    /// A Unix datagram socket: each message is an op.
    #[cfg(unix)]
    Datagram(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            #[cfg(unix)]
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            #[cfg(unix)]
            Address::Datagram(path) => write!(f, "unix-datagram:{}", path.display()),
        }
    }
}

impl Address {
    /// Parses an address: `127.0.0.1:PORT`, `[::1]:PORT`, `unix:PATH`, `unix-datagram:PATH`.
    ///
    /// # Errors
    ///
    /// If it is not an address, or if other machines could write to it: writers are not authenticated.
    pub(crate) fn parse(text: &str) -> Result<Address, String> {
        for scheme in ["unix", "unix-datagram"] {
            let Some(path) = text.strip_prefix(scheme).and_then(|rest| rest.strip_prefix(':')) else { continue };
            #[cfg(not(unix))]
            return Err(format!("cannot listen on {path}: this system has no Unix sockets"));
            #[cfg(unix)]
            return match (path, scheme) {
                ("", _) => Err(format!("{scheme}: needs a path")),
                (path, "unix") => Ok(Address::Unix(path.into())),
                (path, _) => Ok(Address::Datagram(path.into())),
            };
        }
        let address = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address: SocketAddr = address.as_deref().unwrap_or(text).parse().map_err(|_| {
            format!(
                "{text} is not an address: expected 127.0.0.1:PORT (0 = any free port), unix:PATH or \
                 unix-datagram:PATH"
            )
        })?;
        if !address.ip().is_loopback() {
            return Err(format!(
                "{text} can be reached from other machines, and writers are not authenticated: use 127.0.0.1:PORT, and forward the \
                 port if needed"
            ));
        }
        Ok(Address::Tcp(address))
    }

    /// Returns true if clients have connections that they can close.
    pub(crate) fn has_connections(&self) -> bool {
        match self {
            #[cfg(unix)]
            Address::Datagram(_) => false,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_this_machines() {
        assert_eq!(Address::parse("127.0.0.1:80"), Ok(Address::Tcp(([127, 0, 0, 1], 80).into())));
        assert_eq!(Address::parse("localhost:0"), Ok(Address::Tcp(([127, 0, 0, 1], 0).into())));
        assert!(Address::parse("[::1]:80").is_ok());
        assert!(Address::parse("0.0.0.0:80").unwrap_err().contains("other machines"));
        assert!(Address::parse("80").unwrap_err().contains("not an address"));
        #[cfg(unix)]
        assert_eq!(Address::parse("unix:/run/h"), Ok(Address::Unix("/run/h".into())));
        #[cfg(unix)]
        assert_eq!(Address::parse("unix-datagram:/run/h"), Ok(Address::Datagram("/run/h".into())));
        #[cfg(unix)]
        assert!(Address::parse("unix:").is_err() && Address::parse("unix-datagram:").is_err());
    }
}
