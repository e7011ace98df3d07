//! What a server serves, to whom, and how histories are checked for it.

use crate::guard::token::Token;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// What a server serves, and to whom.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The directory with the runs. No file above it is served.
    pub directory: PathBuf,
    /// The address; port 0 is any that is free. Other addresses than those of this machine itself need a token.
    pub listen: SocketAddr,
    /// The token that every request must have.
    pub token: Option<Token>,
    /// Names under which the server is reached, besides its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Whether nothing may be written: no index, and no history is checked.
    pub is_read_only: bool,
}

impl Config {
    /// The runs in a directory, at `127.0.0.1:8090`, without a token.
    pub fn new(directory: PathBuf) -> Config {
        Config {
            directory,
            listen: (Ipv4Addr::LOCALHOST, 8090).into(),
            token: None,
            hosts: Vec::new(),
            is_read_only: false,
        }
    }

    /// Whether everybody who reaches the address may come in.
    ///
    /// # Errors
    ///
    /// A sentence on what is missing.
    pub fn check(&self) -> Result<(), String> {
        if self.token.is_none() && !self.listen.ip().is_loopback() {
            return Err(format!("{} is reached from other machines, so it needs a token", self.listen));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_need_a_token() {
        let config = |listen: &str| Config { listen: listen.parse().unwrap(), ..Config::new("/".into()) };
        assert_eq!(Config::new("/".into()).check(), Ok(()));
        assert_eq!(config("[::1]:0").check(), Ok(()));
        for listen in ["0.0.0.0:8090", "[::]:8090", "192.168.1.7:1", "[::ffff:127.0.0.1]:1"] {
            assert!(config(listen).check().is_err(), "{listen}");
            let token = Token::new("0123456789abcdef").ok();
            assert_eq!(Config { token, ..config(listen) }.check(), Ok(()));
        }
    }
}
