//! `histcheck serve`: a server of this program, and a history that it checks.

#![cfg(all(unix, feature = "serve"))]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server that ends with its test.
struct Served(Child, String);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program() -> Command {
    let mut program = Command::new(snapbox::cmd::cargo_bin!("histcheck"));
    program.arg("serve");
    program
}

fn serve(directory: &std::path::Path) -> Served {
    let mut command = program();
    command.args(["--listen", "127.0.0.1:0"]).arg(directory).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    Served(child, address)
}

impl Served {
    fn ask(&self, line: &str, body: &str) -> serde_json::Value {
        let mut stream = TcpStream::connect(&self.1).unwrap();
        let (host, length) = (&self.1, body.len());
        write!(
            stream,
            "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn check(&self, query: &str, history: &str) -> serde_json::Value {
        let check = self.ask(&format!("POST /api/check?{query}"), history);
        let address = format!("GET /api/checks/{}", check["id"].as_str().unwrap_or_else(|| panic!("{check}")));
        loop {
            let check = self.ask(&address, "");
            if !["waiting", "running"].contains(&check["stage"].as_str().unwrap()) {
                return check;
            }
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_dropped_history_gets_the_verdict_of_the_command_line() {
    let directory = tempfile::tempdir().unwrap();
    let served = serve(directory.path());
    let history = std::fs::read_to_string("examples/g-single.edn").unwrap();
    let check = served.check("checker=list-append&name=g-single.edn", &history);
    assert_eq!((&check["stage"], &check["result"]["valid"]), (&"done".into(), &false.into()), "{check}");
    let types = check["result"]["anomaly_types"].as_array().unwrap();
    assert!(types.contains(&"G-single-item".into()), "{check}");
    let weaker = served.check("checker=list-append&levels=read-committed", &history);
    assert_eq!(weaker["result"]["valid"], true, "{weaker}");
    let broken = served.check("checker=list-append", "{:process 0, :type :invoke}\n{:process 0 :type :nope}\n");
    assert_eq!(broken["result"]["error"]["line"], 2, "{broken}");
    let no_such_option = served.check("checker=list-append&levels=none-such", &history);
    assert_eq!(no_such_option["stage"], "failed", "{no_such_option}");
    assert!(no_such_option["messages"].as_str().unwrap().contains("none-such"), "{no_such_option}");
}

#[test]
fn what_makes_no_sense_is_said_before_anything_is_served() {
    let said = |words: &[&str]| {
        let output = program().args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(254), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&["/nonexistent"]).contains("/nonexistent is not a directory"));
    assert!(said(&["--listen", "0.0.0.0:0"]).contains("needs a token"));
    assert!(said(&["--listen", "8090"]).contains("expected an address and a port"));
    assert!(said(&["--token", "short"]).contains("16 to 256"));
    assert!(said(&["--token", "@/nonexistent"]).contains("cannot read /nonexistent"));
}
