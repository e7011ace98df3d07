//! A connection with NATS' protocol, as far as requests with one response require it.

use crate::dial::{Stream, dial};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

/// The maximum length of a message and of a line, in bytes: anything longer is not a response to these requests.
const LENGTH_MAX: usize = 64 << 20;
const LINE_MAX: u64 = 1 << 20;

/// A connection to a server.
pub(super) struct Connection {
    stream: BufReader<Stream>,
    /// The prefix of the subjects for responses.
    inbox: String,
    requests: u64,
}

/// There is no server to respond to a request, so nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoResponders;

impl Connection {
    /// Connects.
    pub(super) fn open(server: SocketAddr, timeout: Duration) -> io::Result<Connection> {
        let stream = dial(server, timeout, timeout)?;
        let mut connection = Connection { stream, inbox: String::new(), requests: 0 };
        let hello = connection.line()?;
        let info: serde_json::Value = hello
            .strip_prefix("INFO ")
            .and_then(|info| serde_json::from_str(info).ok())
            .ok_or_else(|| nonsense(&hello))?;
        let server = info["server_id"].as_str().unwrap_or_default();
        connection.inbox = format!("_INBOX.{server}.{}", info["client_id"]);
        let inbox = &connection.inbox;
        let options = r#"{"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"protocol":1}"#;
        let begin = format!("CONNECT {options}\r\nSUB {inbox}.* 1\r\nPING\r\n");
        connection.stream.get_mut().write_all(begin.as_bytes())?;
        loop {
            let line = connection.line()?;
            if line == "PONG" {
                return Ok(connection);
            }
            connection.other(&line)?;
        }
    }

    /// Sends a request and waits for its response.
    pub(super) fn request(
        &mut self,
        subject: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> io::Result<Result<String, NoResponders>> {
        self.requests += 1;
        let reply = format!("{}.{}", self.inbox, self.requests);
        let message = if headers.is_empty() {
            format!("PUB {subject} {reply} {}\r\n{body}\r\n", body.len())
        } else {
            let lines: String =
                headers.iter().fold(String::new(), |all, (name, value)| all + name + ": " + value + "\r\n");
            let head = format!("NATS/1.0\r\n{lines}\r\n");
            format!("HPUB {subject} {reply} {} {}\r\n{head}{body}\r\n", head.len(), head.len() + body.len())
        };
        self.stream.get_mut().write_all(message.as_bytes())?;
        loop {
            let line = self.line()?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let (head, total) = match words[..] {
                ["MSG", .., total] => ("0", total),
                ["HMSG", .., head, total] => (head, total),
                _ => {
                    self.other(&line)?;
                    continue;
                }
            };
            let length =
                |text: &str| text.parse().ok().filter(|length| *length <= LENGTH_MAX).ok_or_else(|| nonsense(&line));
            let (head, total) = (length(head)?, length(total)?);
            let mut bytes = vec![0; total + 2];
            self.stream.read_exact(&mut bytes)?;
            bytes.truncate(total);
            // This is the late response to an earlier request.
            if words[1] != reply {
                continue;
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let (head, body) = text.split_at_checked(head).ok_or_else(|| nonsense(&line))?;
            return Ok(if head.starts_with("NATS/1.0 503") { Err(NoResponders) } else { Ok(status(head, body)) });
        }
    }

    /// Handles a line that is not a message.
    fn other(&mut self, line: &str) -> io::Result<()> {
        match line.split(' ').next() {
            Some("PING") => self.stream.get_mut().write_all(b"PONG\r\n"),
            Some("PONG" | "+OK" | "INFO") => Ok(()),
            _ => Err(nonsense(line)),
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        (&mut self.stream).take(LINE_MAX).read_line(&mut line)?;
        match line.strip_suffix("\r\n") {
            Some(line) => Ok(line.to_owned()),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// The response of a server that has its status or the number of a message in the header: both as one document.
fn status(head: &str, body: &str) -> String {
    if head.is_empty() {
        return body.to_owned();
    }
    let mut lines = head.lines();
    let code: Option<u64> = lines
        .next()
        .and_then(|line| line.strip_prefix("NATS/1.0 "))
        .and_then(|status| status.split(' ').next()?.parse().ok());
    let sequence: Option<u64> = lines.find_map(|line| line.strip_prefix("Nats-Sequence: ")?.trim().parse().ok());
    serde_json::json!({"status": code, "sequence": sequence, "body": body}).to_string()
}

fn nonsense(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("invalid answer of NATS: {what:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// A server that sends this text for any request.
    fn server(says: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(says).unwrap();
            // The connection remains open until the client has ended.
            let _ = io::copy(&mut stream, &mut io::sink());
        });
        address
    }

    fn asked(says: &'static [u8]) -> io::Result<Result<String, NoResponders>> {
        let mut connection = Connection::open(server(says), Duration::from_secs(5))?;
        connection.request("a", &[("X", "1")], "body")
    }

    #[test]
    fn answers_are_found_behind_other_lines() {
        let late =
            b"INFO {\"server_id\":\"S\",\"client_id\":7}\r\nPONG\r\nPING\r\n+OK\r\nMSG _INBOX.S.7.0 1 4\r\nlate\r\n\
                     MSG _INBOX.S.7.1 1 2\r\nok\r\n";
        assert_eq!(asked(late).unwrap(), Ok("ok".to_owned()));
    }

    #[test]
    fn nobody_there_is_told_from_an_answer() {
        let nobody = b"INFO {\"server_id\":\"S\",\"client_id\":7}\r\nPONG\r\nHMSG _INBOX.S.7.1 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n";
        assert_eq!(asked(nobody).unwrap(), Err(NoResponders));
        let direct = b"INFO {\"server_id\":\"S\",\"client_id\":7}\r\nPONG\r\nHMSG _INBOX.S.7.1 1 32 34\r\n\
                       NATS/1.0\r\nNats-Sequence: 9\r\n\r\n\r\nhi\r\n";
        let text = asked(direct).unwrap().unwrap();
        assert!(text.contains("\"sequence\":9") && text.contains("hi"), "{text}");
    }

    #[test]
    fn nonsense_is_an_error() {
        for says in [
            &b"HTTP/1.1 400 Bad Request\r\n"[..],
            b"INFO {}\r\n-ERR 'no'\r\n",
            b"INFO {}\r\nPONG\r\nMSG a 1 99999999999\r\n",
        ] {
            assert!(asked(says).is_err(), "{}", String::from_utf8_lossy(says));
        }
    }
}
