//! `histcheck watch` and order: the ops of several writers have one order, and a later write is no violation where real
//! time does not count.

use super::watch::Started;
use crate::{histcheck, stdout};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

/// The number of operations of each client that shares a register: 200,000 ops in all.
const OPERATIONS: usize = 12_500;
const CLIENTS: usize = 8;

/// How the ops of a client are recorded.
enum Recorder {
    Acknowledged(BufReader<TcpStream>),
    Datagrams(UnixDatagram, PathBuf),
    File(std::fs::File),
    /// Sends invocations, and does not wait.
    Hasty(UnixStream),
    /// Sends them after the operation has ended.
    Late(BufReader<TcpStream>, String),
}

impl Recorder {
    fn invoke(&mut self, line: &str) {
        match self {
            Recorder::Acknowledged(stream) => {
                stream.get_mut().write_all(line.as_bytes()).unwrap();
                let mut ack = String::new();
                stream.read_line(&mut ack).unwrap();
            }
            Recorder::Late(_, late) => line.clone_into(late),
            other => other.complete(line),
        }
    }

    fn complete(&mut self, line: &str) {
        match self {
            Recorder::Acknowledged(stream) => stream.get_mut().write_all(line.as_bytes()).unwrap(),
            Recorder::Datagrams(socket, path) => _ = socket.send_to(line.as_bytes(), path).unwrap(),
            Recorder::File(file) => file.write_all(line.as_bytes()).unwrap(),
            // The receiver may be gone.
            Recorder::Hasty(stream) => _ = stream.write_all(line.as_bytes()),
            Recorder::Late(stream, late) => {
                let late = std::mem::take(late);
                let _ = stream.get_mut().write_all(late.as_bytes());
                let _ = stream.read_line(&mut String::new());
                let _ = stream.get_mut().write_all(line.as_bytes());
            }
        }
    }
}

/// Runs clients that share a register with a lock, each with its own recorder.
fn share_a_register(recorder: impl Fn() -> Recorder) {
    let (register, written) = (Arc::new(Mutex::new(0)), Arc::new(AtomicUsize::new(0)));
    let begin = Arc::new(Barrier::new(CLIENTS));
    let clients = (0..CLIENTS).map(|process| {
        let (mut recorder, register, written, begin) =
            (recorder(), Arc::clone(&register), Arc::clone(&written), Arc::clone(&begin));
        std::thread::spawn(move || {
            begin.wait();
            let op = |kind: &str, f: &str, value: &str| {
                format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
            };
            for i in 0..OPERATIONS {
                if i % 2 == 0 {
                    let value = written.fetch_add(1, Ordering::SeqCst) + 1;
                    recorder.invoke(&op("invoke", "write", &value.to_string()));
                    *register.lock().unwrap() = value;
                    recorder.complete(&op("ok", "write", &value.to_string()));
                } else {
                    recorder.invoke(&op("invoke", "read", "null"));
                    let value = *register.lock().unwrap();
                    recorder.complete(&op("ok", "read", &value.to_string()));
                }
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.join().unwrap();
    }
}

fn acknowledged(address: &str) -> Recorder {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    Recorder::Acknowledged(BufReader::new(stream))
}

const REGISTER: &str = "watch -m register --initial 0 --output json";

fn assert_all_is_valid(started: Started) {
    let (code, printed) = started.end();
    assert_eq!(code, Some(0), "{printed}");
    let count = format!("\"ok-count\":{}", CLIENTS * OPERATIONS);
    assert!(printed.contains("\"valid\":true") && printed.contains(&count), "{printed}");
}

#[test]
fn clients_that_wait_are_recorded_in_order() {
    let mut started = Started::new(&format!("{REGISTER} --until-closed --listen 127.0.0.1:0"));
    let address = started.address();
    share_a_register(|| acknowledged(&address));
    assert_all_is_valid(started);
}

#[test]
fn messages_are_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.sock");
    let mut started = Started::new(&format!("{REGISTER} --listen unix-datagram:{}", path.display()));
    assert_eq!(started.address(), format!("unix-datagram:{}", path.display()));
    share_a_register(|| Recorder::Datagrams(UnixDatagram::unbound().unwrap(), path.clone()));
    started.interrupt();
    assert_all_is_valid(started);
    assert!(!path.exists(), "a socket's file goes with it");
}

#[test]
fn lines_that_are_appended_to_a_file_are_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.jsonl");
    let mut started = Started::new(&format!("{REGISTER} {}", path.display()));
    assert!(started.line().contains("does not exist yet"));
    share_a_register(|| Recorder::File(OpenOptions::new().create(true).append(true).open(&path).unwrap()));
    started.interrupt();
    assert_all_is_valid(started);
}

/// The same clients, recorded in the wrong order: if these passed, the tests above would show nothing.
#[test]
fn clients_that_do_not_wait_do_not_pass() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.sock");
    let mut started = Started::new(&format!("{REGISTER} --until-closed --listen unix:{}", path.display()));
    started.address();
    share_a_register(|| Recorder::Hasty(UnixStream::connect(&path).unwrap()));
    let (code, printed) = started.end();
    assert!(matches!(code, Some(1 | 2)), "{code:?} {printed}");

    let mut started = Started::new(&format!("{REGISTER} --until-closed --listen 127.0.0.1:0"));
    let address = started.address();
    share_a_register(|| match acknowledged(&address) {
        Recorder::Acknowledged(stream) => Recorder::Late(stream, String::new()),
        other => other,
    });
    let (code, printed) = started.end();
    assert!(code == Some(1) && printed.contains("\"valid\":false"), "{code:?} {printed}");
}

/// Without real time, a value that was read may be written later: the end of a watch is not the end of the history.
#[test]
fn what_is_written_after_a_violation_is_no_garbage_below_real_time() {
    let op = |process: u32, value: &str| format!("{{:process {process}, :type :ok, :f :txn, :value [{value}]}}\n");
    let skew = op(0, "[:r :z [5]]") + &op(1, "[:r :x nil] [:append :y 1]") + &op(2, "[:r :y nil] [:append :x 1]");
    let text = skew + &op(3, "[:append :z 5]");
    for command in ["watch ", ""] {
        let words = format!("{command}-m list-append -c serializable --output json -");
        let said = stdout(&histcheck(&words).stdin(text.clone()).assert().code(1));
        assert!(said.contains("\"anomaly_types\":[\"G2-item\"]"), "{command}: {said}");
        assert!(said.contains("\"not\":[\"repeatable-read\"]"), "{command}: {said}");
    }
    let early = "{:process 0, :type :invoke, :f :txn, :value [[:r :y nil]]}
                 {:process 0, :type :ok, :f :txn, :value [[:r :y 1]]}
                 {:process 1, :type :invoke, :f :txn, :value [[:w :y 1]]}
                 {:process 1, :type :ok, :f :txn, :value [[:w :y 1]]}";
    let said = stdout(&histcheck("watch -m isolation -").stdin(early).assert().code(1));
    assert!(!said.contains("The strongest levels that hold"), "{said}");
}
