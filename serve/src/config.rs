//! The configuration of a server: what it serves, to which clients, and how it checks histories.

use crate::guard::token::Token;
use crate::live::Live;
use std::fmt;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The configuration of a server: what it serves, and to which clients.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The directory with the runs. No file above it is served.
    pub directory: PathBuf,
    /// The address; port 0 selects any free port. An address that other machines can reach requires a token.
    pub listen: SocketAddr,
    /// The token that every request must contain.
    pub token: Option<Token>,
    /// Names of the server, besides its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Whether nothing may be written: no index is stored, and no history is checked.
    pub is_read_only: bool,
    /// How histories are checked; if absent, no history is checked.
    pub judge: Option<Judge>,
    /// A run in progress, if there is one to show.
    pub live: Option<Live>,
}

/// How histories are checked: by a program that takes the options of `histcheck report`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judge {
    /// The program. The server starts it for each check.
    pub program: PathBuf,
    /// The checkers to choose from, each with a sentence on what it checks.
    pub checkers: Vec<(String, String)>,
    /// The time limit of a check.
    pub timeout: Duration,
    /// The memory limit of a check, in bytes.
    pub memory_bytes: u64,
    /// The maximum number of bytes of a history that is received.
    pub history_bytes_max: u64,
    /// Determines which checkers understand a history.
    pub suggest: Option<Suggest>,
}

/// Determines which checkers understand a history, from its first bytes: the most likely one first. If not even its
/// first op can be read, returns the reason.
#[derive(Clone)]
pub struct Suggest(pub SuggestFn);

/// A checker that understands a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggested {
    /// The name of the checker.
    pub checker: String,
    /// Whether the checker understands the history only if each key is checked separately.
    pub keyed: bool,
}

/// The function type of a [`Suggest`].
pub type SuggestFn = Arc<dyn Fn(&mut (dyn Read + Send)) -> Result<Vec<Suggested>, String> + Send + Sync>;

impl fmt::Debug for Suggest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Suggest").finish_non_exhaustive()
    }
}

impl Judge {
    /// Limits checks to 5 minutes and 4 GB, and histories to 1 GiB.
    pub fn new(program: PathBuf, checkers: Vec<(String, String)>) -> Judge {
        Judge {
            program,
            checkers,
            timeout: Duration::from_mins(5),
            memory_bytes: 4_000_000_000,
            history_bytes_max: 1 << 30,
            suggest: None,
        }
    }
}

impl Config {
    /// Serves the runs in a directory, at `127.0.0.1:8090`, without a token.
    pub fn new(directory: PathBuf) -> Config {
        Config {
            directory,
            listen: (Ipv4Addr::LOCALHOST, 8090).into(),
            token: None,
            hosts: Vec::new(),
            is_read_only: false,
            judge: None,
            live: None,
        }
    }

    /// Verifies that a server which other machines can reach has a token.
    ///
    /// # Errors
    ///
    /// A sentence that states what is missing.
    pub fn check(&self) -> Result<(), String> {
        if self.token.is_none() && !self.listen.ip().is_loopback() {
            return Err(format!("{} is reachable from other machines, so it needs a token", self.listen));
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
