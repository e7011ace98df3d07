//! A client on another machine.

use super::link::{Link, Unanswered};
use super::message::{Answer, Of, What};
use crate::client::{Client, FailedStart, Seat};
use crate::error::LiveError;
use crate::request::{Outcome, Request};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How much longer a response may take than the request's own timeout.
const SLACK: Duration = Duration::from_secs(1);

/// A client in a worker.
pub(crate) struct RemoteClient {
    link: Arc<Link>,
    client: u64,
    timeout: Duration,
    is_broken: bool,
    failed_start: Option<FailedStart>,
}

impl RemoteClient {
    /// Connects to a worker, and opens a client there. `who` is the name of the worker, for messages.
    pub(crate) fn connect(who: &str, address: SocketAddr, seat: &Seat, of: Of) -> Result<RemoteClient, LiveError> {
        let who = format!("{who} at {address}");
        let lost = |error: io::Error| LiveError::store(format!("cannot connect to {who}: {error}"));
        let stream = TcpStream::connect_timeout(&address, seat.timeout).map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        // A server that sends nothing is not a worker.
        stream.set_read_timeout(Some(seat.timeout)).map_err(lost)?;
        stream.set_write_timeout(Some(seat.timeout)).map_err(lost)?;
        let link = Link::start(&who, stream.try_clone().map_err(lost)?, stream)?;
        RemoteClient::open(link, seat, of)
    }

    /// Opens a client.
    pub(crate) fn open(link: Arc<Link>, seat: &Seat, of: Of) -> Result<RemoteClient, LiveError> {
        let client = link.number();
        let timeout = seat.timeout + SLACK;
        let opened = link.call(What::Open { client, seat: *seat, of }, timeout);
        opened.map_err(|error| error.at(link.who()))?;
        Ok(RemoteClient { link, client, timeout, is_broken: false, failed_start: None })
    }
}

impl Client for RemoteClient {
    fn invoke(&mut self, request: &Request) -> Result<Outcome, LiveError> {
        let what = What::Invoke { client: self.client, request: request.clone() };
        match self.link.call(what, self.timeout) {
            Ok(Answer::Outcome { outcome, is_broken, failed_start }) => {
                self.is_broken = is_broken;
                self.failed_start = failed_start.map(|start| {
                    let what = format!("{}: {}", self.link.who(), start.what);
                    FailedStart { what, ..start }
                });
                Ok(outcome)
            }
            Ok(Answer::Done(_)) => Err(LiveError::store(format!("{} sent an unexpected answer", self.link.who()))),
            Err(Unanswered::Refused(error)) => Err(error),
            Err(Unanswered::NotSent) => {
                self.is_broken = true;
                Ok(Outcome::Fail("the worker has ended".to_owned()))
            }
            Err(Unanswered::Lost(why)) => {
                self.is_broken = true;
                Ok(Outcome::unanswered(request, why))
            }
        }
    }

    fn is_broken(&self) -> bool {
        self.is_broken
    }

    fn failed_start(&self) -> Option<FailedStart> {
        self.failed_start.clone()
    }

    fn end(&mut self) -> Result<(), LiveError> {
        match self.link.call(What::End { client: self.client }, self.timeout) {
            Err(Unanswered::Refused(error)) => Err(error),
            // A worker that is gone sends no more output.
            _ => Ok(()),
        }
    }
}

impl Drop for RemoteClient {
    fn drop(&mut self) {
        self.link.tell(What::Close { client: self.client });
    }
}
