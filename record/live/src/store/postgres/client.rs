//! How clients of PostgreSQL find their server: like libpq with several hosts and `target_session_attrs=read-write`.
//!
//! A client begins with the server of its own node, and uses the first one that is not a standby.

use super::wire::Connection;
use crate::request::Request;
use crate::store::sql::{Connector, QueryError, Session};
use std::net::SocketAddr;
use std::time::Duration;

/// How long a client waits for a server that may be down before it tries the next one.
const CONNECT_MAX: Duration = Duration::from_millis(300);

pub(super) struct PostgresConnector {
    /// The servers, in the order in which they are tried.
    pub(super) hosts: Vec<SocketAddr>,
    pub(super) timeout: Duration,
    pub(super) level: &'static str,
    /// Whether single reads use the client's own server, whatever its role.
    pub(super) reads_here: bool,
}

impl PostgresConnector {
    fn reads_here(&self, request: &Request) -> bool {
        self.reads_here && request.is_read() && !matches!(request, Request::Txn(_))
    }
}

impl Connector for PostgresConnector {
    fn open(&mut self, request: &Request) -> Result<Box<dyn Session>, String> {
        let open = |host: &SocketAddr| Connection::open(*host, self.timeout.min(CONNECT_MAX), self.timeout);
        if self.reads_here(request) {
            return match self.hosts.first().map(open) {
                Some(Ok(connection)) => Ok(Box::new(connection)),
                Some(Err(error)) => Err(format!("{error:?}")),
                None => Err("there is no server".to_owned()),
            };
        }
        let mut why = String::new();
        for host in &self.hosts {
            match open(host).and_then(|mut connection| self.is_primary(&mut connection).map(|is| (connection, is))) {
                Ok((connection, true)) => return Ok(Box::new(connection)),
                Ok((_, false)) => why = format!("{why}{host} is a standby; "),
                Err(QueryError::Server { code, message }) => why = format!("{why}{host}: {code} {message}; "),
                Err(QueryError::Lost(error)) => why = format!("{why}{error}; "),
            }
        }
        Err(format!("no primary: {}", why.trim_end_matches("; ")))
    }

    fn differs(&self, before: &Request, request: &Request) -> bool {
        self.reads_here(before) != self.reads_here(request)
    }
}

impl PostgresConnector {
    fn is_primary(&self, connection: &mut Connection) -> Result<bool, QueryError> {
        let answer = connection.query("select pg_is_in_recovery()")?;
        let is_primary = answer.rows == [[Some("f".to_owned())]];
        if is_primary {
            connection.query(&format!("set default_transaction_isolation = '{}'", self.level))?;
        }
        Ok(is_primary)
    }
}
