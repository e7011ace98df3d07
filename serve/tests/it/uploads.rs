//! Tests of histories that are being received, and of incomplete ones.

#![cfg(unix)]

use crate::checks::{at_stage, json, judged};
use crate::client::{Served, put, serve};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

/// The part of the 12 bytes that an incomplete upload sends.
const HALF: &str = "{:index 0}\n";

fn serve_at(directory: &Path) -> Served {
    serve(|config| {
        judged(config);
        directory.clone_into(&mut config.directory);
    })
}

/// The names in the folder of dropped histories, including hidden ones.
fn dropped(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory.join("dropped")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// An upload whose last byte was not sent. The server has written all others.
fn half_an_upload(served: &Served, directory: &Path) -> TcpStream {
    let mut stream = TcpStream::connect(served.address).unwrap();
    let head = "POST /api/check?checker=finds HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 12";
    write!(stream, "{head}\r\n\r\n{HALF}").unwrap();
    let is_written = |name: &String| {
        let file = directory.join("dropped").join(name).join("history.edn");
        fs::read_to_string(file).is_ok_and(|text| text == HALF)
    };
    while !dropped(directory).iter().any(is_written) {
        std::thread::yield_now();
    }
    stream
}

#[test]
fn a_history_is_no_run_before_it_is_complete() {
    let directory = tempfile::tempdir().unwrap();
    let served = serve_at(directory.path());
    let mut stream = half_an_upload(&served, directory.path());
    // Another server of the directory lists its runs, and must not remove this upload.
    let other = serve_at(directory.path());
    assert_eq!(other.runs()["runs"].as_array().unwrap().len(), 0);
    stream.write_all(b"\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    let id = answer.split_once("\"id\":\"").unwrap().1.split_once('"').unwrap().0;
    let check = at_stage(&served, id, &["done"]);
    assert_eq!((&check["run"], dropped(directory.path())), (&format!("dropped/{id}").into(), vec![id.to_owned()]));
    let kept = fs::read_to_string(directory.path().join("dropped").join(id).join("history.edn")).unwrap();
    assert_eq!(kept, format!("{HALF}\n"));
}

#[test]
fn a_half_history_goes_with_its_client_or_its_server() {
    let directory = tempfile::tempdir().unwrap();
    let served = serve_at(directory.path());
    drop(half_an_upload(&served, directory.path()));
    while !dropped(directory.path()).is_empty() {
        std::thread::yield_now();
    }
    let _stream = half_an_upload(&served, directory.path());
    drop(served);
    assert_eq!(dropped(directory.path()), [""; 0]);
    // The folders that a killed server leaves, and others that are not the server's.
    put(directory.path(), "dropped/.receiving-1-0/history.edn", HALF);
    put(directory.path(), "dropped/.receiving-1-1/history.jsonl.gz", "");
    fs::create_dir(directory.path().join("dropped/.receiving-1-2")).unwrap();
    put(directory.path(), "dropped/.mine/history.edn", HALF);
    let served = serve_at(directory.path());
    assert_eq!(served.runs()["runs"].as_array().unwrap().len(), 0);
    assert_eq!(dropped(directory.path()), [".mine"]);
}

#[test]
fn a_history_that_is_announced_as_too_long_is_refused_at_once() {
    let served = serve(judged);
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head = "POST /api/check?checker=finds HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ";
    write!(stream, "{head}1000000000000\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("more than 1000 bytes"), "{answer}");
    assert!(!served.directory.path().join("dropped").exists());
    for (length, status) in [(1001, 413), (1000, 202)] {
        let answer = served.request("POST /api/check?checker=finds", "", &"x".repeat(length));
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    assert_eq!(json(&served.get("/api/checks"))["checks"].as_array().unwrap().len(), 1);
}
