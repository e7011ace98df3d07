//! The part of HTTP that etcd's JSON gateway needs: a POST on a connection that stays open.

use crate::dial::{Stream, dial};
use serde_json::Value as Json;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

/// The maximum size of a response, and of a line of its header, in bytes.
const BODY_MAX: usize = 64 << 20;
const LINE_MAX: u64 = 64 << 10;

/// A connection to a server.
pub(super) struct Http {
    stream: BufReader<Stream>,
    host: SocketAddr,
}

impl Http {
    /// Connects.
    pub(super) fn open(host: SocketAddr, timeout: Duration) -> io::Result<Http> {
        let stream = dial(host, timeout, timeout)?;
        Ok(Http { stream, host })
    }

    /// Sends a document and waits for the response: its status and its document.
    pub(super) fn post(&mut self, path: &str, body: &Json) -> io::Result<(u16, Json)> {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        if !self.stream.buffer().is_empty() {
            return Err(nonsense("an answer to no request"));
        }
        self.stream.get_mut().write_all(request.as_bytes())?;
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| nonsense(&status))?;
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(|_| nonsense(&line))?;
            }
            is_chunked |= line.starts_with("transfer-encoding:") && line.contains("chunked");
        }
        let body = if is_chunked { self.chunks()? } else { self.exactly(length)? };
        let body = serde_json::from_slice(&body).map_err(|_| nonsense(&String::from_utf8_lossy(&body)))?;
        Ok((status, body))
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let line = self.line()?;
            let length = usize::from_str_radix(line.trim(), 16).map_err(|_| nonsense(&line))?;
            all.extend(self.exactly(length)?);
            // Each chunk ends with an empty line, including the last one.
            self.line()?;
            if length == 0 {
                return Ok(all);
            }
            if all.len() > BODY_MAX {
                return Err(nonsense("an endless answer"));
            }
        }
    }

    fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        if length > BODY_MAX {
            return Err(nonsense("an endless answer"));
        }
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        (&mut self.stream).take(LINE_MAX).read_line(&mut line)?;
        let ended = line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n'));
        ended.map(str::to_owned).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

fn nonsense(text: &str) -> io::Error {
    let text: String = text.chars().take(100).collect();
    io::Error::new(io::ErrorKind::InvalidData, format!("invalid answer of etcd: {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::net::TcpListener;

    /// The parsed response.
    fn answered(answer: &'static str) -> io::Result<(u16, Json)> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).unwrap() > 0);
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let answer = Http::open(address, Duration::from_secs(10))?.post("/v3/kv/range", &json!({"key": "eA=="}));
        server.join().unwrap();
        answer
    }

    #[test]
    fn bodies_have_a_length_or_come_in_chunks() {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"a\": 12}";
        assert_eq!(answered(whole).unwrap(), (200, json!({"a": 12})));
        let chunks = "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n5\r\n: 12}\r\n0\r\n\r\n";
        assert_eq!(answered(chunks).unwrap(), (503, json!({"a": 12})));
    }

    #[test]
    fn other_answers_are_errors() {
        for answer in [
            "",
            "hello\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        ] {
            assert!(answered(answer).is_err(), "{answer}");
        }
    }
}
