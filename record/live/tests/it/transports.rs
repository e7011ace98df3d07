//! Every way to reach a client gives a sound history: a correct register is never rejected, wherever its clients are. A
//! way that reorders is detected.

use crate::recorder::{Locked, perform};
use crate::setup::{Setup, checker};
use history_core::{Budget, Keyed, Options, Reader, Verdict};
use record_live::store::Exec;
use record_live::{Outcome, Request, Seat, Store, serve};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// The number of operations in a test that always runs, and in the long one.
const FEW: u64 = 10_000;
const MANY: u64 = 200_000;

fn locked() -> Locked {
    Locked { nodes: vec![String::new()], ..Locked::default() }
}

fn is_sound(store: &dyn Store, ops_max: u64) {
    let directory = tempfile::tempdir().unwrap();
    let ended = Setup { ops_max, ..Setup::new(store, "cas-register") }.run(directory.path()).unwrap();
    assert_eq!(ended.report.verdict, Verdict::Valid, "{:?}", ended.report.notes);
    assert_eq!(ended.ops, ops_max * 2);
    assert!(ended.ok > ops_max / 4, "{} of {ops_max} succeeded", ended.ok);
}

/// A register whose clients are in a worker, each with its own connection.
fn over_workers() -> Exec {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let store = locked();
    let opens = Arc::new(move |_: &[String], seat: &Seat| store.client(seat)) as Arc<serve::Opens>;
    // The thread ends with the tests.
    thread::spawn(move || serve::clients(&listener, &opens));
    Exec::over(&address.to_string()).unwrap()
}

/// A register whose clients are processes that forward lines to a server.
fn over_pipes() -> Exec {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let store = locked();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let store = store.clone();
            thread::spawn(move || answer_lines(&stream, &store));
        }
    });
    Exec::new(format!("exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & exec cat >&3'"))
}

fn answer_lines(stream: &TcpStream, store: &Locked) {
    stream.set_nodelay(true).unwrap();
    let mut out = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let op: Json = serde_json::from_str(&line).unwrap();
        let number = |value: &Json| value.as_i64().unwrap();
        let key = u32::try_from(number(&op["key"])).unwrap();
        let request = match op["f"].as_str().unwrap() {
            "read" => Request::Read(key),
            "write" => Request::Write(key, number(&op["value"])),
            _ => Request::Cas { key, expected: number(&op["value"][0]), new: number(&op["value"][1]) },
        };
        let answer = match perform(&mut store.values.lock().unwrap(), &request) {
            Outcome::Ok(fields) => match fields.get("value") {
                Some(value) => json!({"type": "ok", "value": value}),
                None => json!({"type": "ok"}),
            },
            Outcome::Fail(why) | Outcome::Info(why) => json!({"type": "fail", "error": why}),
        };
        if writeln!(out, "{answer}").is_err() {
            return;
        }
    }
}

#[test]
fn clients_of_workers_are_sound() {
    is_sound(&over_workers(), FEW);
}

#[test]
fn clients_that_are_processes_are_sound() {
    is_sound(&over_pipes(), FEW);
}

#[test]
#[ignore = "takes a minute: run it after a change to a transport or to the recorder"]
fn two_hundred_thousand_operations_over_each_transport_are_sound() {
    is_sound(&locked(), MANY);
    is_sound(&over_workers(), MANY);
    is_sound(&over_pipes(), MANY);
}

/// Clients that record their operations, each in its own stream, and the order in which a reader reads the streams.
#[derive(Default)]
struct Streams {
    clients: Vec<Vec<(usize, String)>>,
    /// The number of lines written.
    written: usize,
}

impl Streams {
    fn write(&mut self, client: usize, line: String) {
        self.clients.resize(self.clients.len().max(client + 1), Vec::new());
        self.clients[client].push((self.written, line));
        self.written += 1;
    }

    /// The history in the order of writing.
    fn in_order(&self) -> String {
        let mut all: Vec<&(usize, String)> = self.clients.iter().flatten().collect();
        all.sort_unstable();
        numbered(all.into_iter().map(|(_, line)| line))
    }

    /// The history of a reader that reads one stream to its end, and then the next one.
    fn one_by_one(&self) -> String {
        numbered(self.clients.iter().rev().flatten().map(|(_, line)| line))
    }
}

fn numbered<'l>(lines: impl Iterator<Item = &'l String>) -> String {
    let mut text = String::new();
    for (index, line) in lines.enumerate() {
        _ = writeln!(text, "{{\"index\":{index},{line}");
    }
    text
}

fn verdict(history: &str) -> Verdict {
    let checker = checker("cas-register");
    let run = Keyed::start(&*checker, &Options::default()).unwrap();
    history_core::check(Box::new(run), &mut Reader::new(history.as_bytes()), &Budget::default()).unwrap().verdict
}

/// Clients do not wait for an acknowledgement of an invocation, and a line of one stream may be read after later lines
/// of others: invocations are recorded late.
#[test]
fn a_transport_that_reorders_is_caught() {
    let store = locked();
    let mut streams = Streams::default();
    for value in 0..4 {
        let (writer, reader) = (0, 1);
        for (client, request) in [(writer, Request::Write(1, value)), (reader, Request::Read(1))] {
            let line = |kind: &str, value: &Json| {
                format!(
                    "\"type\":\"{kind}\",\"process\":{client},\"f\":\"{}\",\"key\":1,\"value\":{value}}}",
                    request.f()
                )
            };
            let asked = request.fields()["value"].clone();
            streams.write(client, line("invoke", &asked));
            let mut caller = store.client(&seat()).unwrap();
            let Outcome::Ok(fields) = caller.invoke(&request).unwrap() else { panic!("a register answers") };
            streams.write(client, line("ok", fields.get("value").unwrap_or(&asked)));
        }
    }
    assert_eq!(verdict(&streams.in_order()), Verdict::Valid, "{}", streams.in_order());
    assert_eq!(verdict(&streams.one_by_one()), Verdict::Invalid, "{}", streams.one_by_one());
}

fn seat() -> Seat {
    Seat {
        number: 0,
        seats: 1,
        node: 0,
        nodes: 1,
        process: 0,
        seed: 0,
        timeout: std::time::Duration::from_secs(5),
        stands: record_live::Stands::AtNode,
    }
}

#[test]
fn a_worker_that_is_none_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // The client may have disconnected already.
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n");
        }
    });
    let store = Exec::over(&address.to_string()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let error = Setup::new(&store, "cas-register").run(directory.path()).unwrap_err().to_string();
    assert!(error.contains(&address.to_string()) && error.contains("SSH-2.0"), "{error}");
}

#[test]
fn what_is_no_address_is_refused() {
    let error = Exec::over("localhost").unwrap_err().to_string();
    assert!(error.contains("expected HOST:PORT, found \"localhost\""), "{error}");
}
