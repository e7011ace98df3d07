//! A server of a directory, and a client that sends exactly the given bytes.

use histcheck_serve::{Config, Server, Stop};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread::JoinHandle;
use tempfile::TempDir;

/// A server that ends when it is dropped.
pub(crate) struct Served {
    pub(crate) directory: TempDir,
    pub(crate) address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header by its lowercase name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}

/// Serves a store with a run of each kind.
pub(crate) fn serve(change: impl FnOnce(&mut Config)) -> Served {
    let directory = tempfile::tempdir().unwrap();
    put(
        directory.path(),
        "etcd/20260107T093012.123Z/history.edn",
        "{:index 0, :time 5}\n{:index 1, :time 61000000000}\n",
    );
    put(
        directory.path(),
        "etcd/20260107T093012.123Z/results.edn",
        "{:valid? false, :workload {:anomaly-types [:G1c]}}",
    );
    put(directory.path(), "redis/report.html", "<meta name=\"histcheck-verdict\" content=\"true\"><p>fine</p>");
    put(directory.path(), "redis/n/cycle.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
    put(directory.path(), "redis/timelines/a.html", "<script>1</script>");
    put(directory.path(), "<b>&\"'\u{202e}.jsonl", "{\"index\":0}\n");
    put(directory.path(), ".hidden.edn", "hidden");
    put(directory.path(), "redis/.hidden", "hidden");
    let mut config = Config::new(directory.path().to_owned());
    config.listen.set_port(0);
    change(&mut config);
    let server = Server::bind(config).unwrap();
    let (address, stop) = (server.address(), server.stop());
    let thread = std::thread::spawn(move || server.run().unwrap());
    Served { directory, address, stop, thread: Some(thread) }
}

pub(crate) fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

impl Served {
    /// Sends exactly these bytes, and reads until the server closes the connection.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, self.address.port())).unwrap();
        stream.write_all(request).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..at]).replace("\r\n", "\n");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut body = bytes.split_off((at + 4).min(bytes.len()));
        if head.contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Answer { status, head, body }
    }

    /// Sends a request with these headers, and only the required others.
    pub(crate) fn request(&self, line: &str, headers: &str, body: &str) -> Answer {
        let host = if headers.contains("Host: ") { String::new() } else { format!("Host: {}\r\n", self.address) };
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.send(format!("{line} HTTP/1.1\r\n{host}Connection: close\r\n{headers}{length}\r\n{body}").as_bytes())
    }

    pub(crate) fn get(&self, address: &str) -> Answer {
        self.request(&format!("GET {address}"), "", "")
    }

    /// The list of all runs, as soon as all are found.
    pub(crate) fn runs(&self) -> serde_json::Value {
        loop {
            let runs: serde_json::Value = serde_json::from_slice(&self.get("/api/runs").body).unwrap();
            if runs["complete"] == true {
                return runs;
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(at) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..at]).unwrap(), 16).unwrap();
        out.extend_from_slice(&bytes[at + 2..at + 2 + length]);
        bytes = &bytes[at + 4 + length..];
    }
    out
}
