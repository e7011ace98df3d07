//! `histcheck watch` with several writers: an error of one writer does not affect the others.

use super::watch::Started;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::Command;

/// A client with its own connection.
struct Client(BufReader<UnixStream>);

impl Client {
    /// Connects to the socket on which a watch listens.
    fn new(address: &str) -> Client {
        Client(BufReader::new(UnixStream::connect(address.strip_prefix("unix:").unwrap()).unwrap()))
    }

    fn write(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn answer(&mut self) -> String {
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        answer
    }

    /// An operation of a counter, or of a register.
    fn op(&mut self, process: i64, f: &str, value: i64) {
        self.write(&line(process, "invoke", f, value));
        assert_eq!(self.answer(), format!("{{\"ack\":{process}}}\n"));
        self.write(&line(process, "ok", f, value));
    }

    /// All messages that it receives, up to the end of the connection.
    fn rest(mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        rest
    }
}

fn line(process: i64, kind: &str, f: &str, value: i64) -> String {
    format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
}

/// A watch of writers that connect to a socket in a directory, until the last of them disconnects.
fn listen(dir: &Path, model: &str) -> (Started, String) {
    let socket = dir.join("h.sock");
    let mut started = Started::new(&format!("watch -m {model} --until-closed --listen unix:{}", socket.display()));
    let address = started.address();
    (started, address)
}

/// Its completion arrives together with its invocation.
#[test]
fn one_of_several_that_does_not_wait_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (mut started, address) = listen(dir.path(), "counter");
    let (mut first, mut second) = (Client::new(&address), Client::new(&address));
    first.op(1, "add", 1);
    second.write(&(line(2, "invoke", "add", 1) + &line(2, "ok", "add", 1)));
    let told = second.rest();
    assert!(
        told.starts_with("{\"refused\":\"it completes an operation of process 2 whose invocation was not acknowledged"),
        "{told}"
    );
    // The add of the second writer is not recorded, so this read may be correct.
    first.op(1, "read", 2);
    drop(first);
    let warning = started.line();
    assert!(warning.starts_with(&format!("warning: writer 2 ({address}) was refused: it completes")), "{warning}");
    let (code, printed) = started.end();
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.starts_with(&format!("{address}\tunknown\n")), "{printed}");
    assert!(printed.contains("writer 2 (") && printed.contains("no proof of a violation"), "{printed}");
    assert!(!printed.contains("was proved"), "{printed}");
}

/// The connection of a single writer keeps its order.
#[test]
fn a_single_writer_need_not_wait() {
    for (reads, code) in [(1, 0), (2, 1)] {
        let dir = tempfile::tempdir().unwrap();
        let (started, address) = listen(dir.path(), "counter");
        // A connection without ops does not count as a writer.
        let mut stranger = Client::new(&address);
        let mut only = Client::new(&address);
        only.write(&(line(1, "invoke", "add", 1) + &line(1, "ok", "add", 1) + &line(2, "invoke", "add", 0)));
        // The process that does not wait gets no acknowledgement.
        assert_eq!(only.answer(), "{\"ack\":2}\n");
        only.write(&line(1, "invoke", "read", reads));
        only.write(&line(1, "ok", "read", reads));
        stranger.write("\n");
        drop((only, stranger));
        let (got, printed) = started.end();
        assert_eq!(got, Some(code), "{printed}");
    }
}

#[test]
fn a_writer_that_never_reads_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let (started, address) = listen(dir.path(), "counter");
    let mut only = Client::new(&address);
    // The acknowledgements are more than a socket holds.
    for _ in 0..20_000 {
        only.write(&line(1, "invoke", "add", 1));
        only.write(&line(1, "ok", "add", 1));
    }
    only.write(&(line(1, "invoke", "read", 20_000) + &line(1, "ok", "read", 20_000)));
    drop(only);
    let (code, printed) = started.end();
    assert_eq!(code, Some(0), "{printed}");
}

/// The last data written over TCP is lost if the connection is closed before all was read.
#[test]
fn a_connection_that_is_reset_is_not_all_there_was() {
    for (waits, code) in [(false, 0), (true, 2)] {
        let mut started = Started::new("watch -m counter --until-closed --listen 127.0.0.1:0");
        let address = started.address();
        let mut only = TcpStream::connect(&address).unwrap();
        let add = line(1, "invoke", "add", 0) + &line(1, "ok", "add", 0);
        let read = line(1, "invoke", "read", 0) + &line(1, "ok", "read", 0);
        let text = if waits { line(1, "invoke", "read", 0) } else { add + &read };
        only.write_all(text.as_bytes()).unwrap();
        if waits {
            // The acknowledgement has arrived, and is not read.
            assert_eq!(only.peek(&mut [0]).unwrap(), 1);
        }
        drop(only);
        let (got, printed) = started.end();
        assert_eq!(got, Some(code), "{printed}");
        assert_eq!(printed.contains("its connection was reset, so what it wrote last may be lost"), waits, "{printed}");
    }
}

/// It may continue as long as it is the only writer.
#[test]
fn a_single_writer_that_does_not_wait_makes_way_for_the_second() {
    for closes in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (mut started, address) = listen(dir.path(), "counter");
        let mut first = Client::new(&address);
        first.write(&(line(1, "invoke", "add", 1) + &line(1, "ok", "add", 1) + &line(3, "invoke", "add", 0)));
        // All its ops were recorded by now.
        assert_eq!(first.answer(), "{\"ack\":3}\n");
        let mut second = Client::new(&address);
        if closes {
            first.0.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
            assert_eq!(first.0.read(&mut [0]).unwrap(), 0);
            second.op(2, "add", 1);
            second.op(2, "read", 2);
            drop(second);
            assert_eq!(started.end().0, Some(0));
            continue;
        }
        second.op(2, "add", 1);
        let told = first.rest();
        assert!(told.contains("it does not wait for acknowledgements, but writer 2 ("), "{told}");
        second.op(2, "read", 7);
        drop(second);
        assert!(started.line().contains(&format!("warning: writer 1 ({address}) was refused")));
        let (code, printed) = started.end();
        assert_eq!(code, Some(2), "{printed}");
    }
}

/// Other writers cannot undo a violation that was certain before they came.
#[test]
fn a_violation_that_was_certain_before_stays_one() {
    for (reads, code) in [(7, 1), (0, 2)] {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("h.sock");
        let mut started =
            Started::new(&format!("watch -m counter --keep-going --until-closed --listen unix:{}", socket.display()));
        let address = started.address();
        let mut first = Client::new(&address);
        first.write(&(line(1, "invoke", "read", reads) + &line(1, "ok", "read", reads) + &line(3, "invoke", "add", 0)));
        first.answer();
        let mut second = Client::new(&address);
        second.op(2, "add", 1);
        drop(first);
        second.op(2, "read", 9);
        drop(second);
        let (got, printed) = started.end();
        assert_eq!(got, Some(code), "{printed}");
        assert!(printed.contains("Refused ops are missing"), "{printed}");
    }
}

/// An incomplete line of one writer is not combined with that of another.
#[test]
fn a_line_that_is_no_op_is_its_writers_fault() {
    let dir = tempfile::tempdir().unwrap();
    let (mut started, address) = listen(dir.path(), "register --initial 0");
    let (mut first, mut second) = (Client::new(&address), Client::new(&address));
    second.op(2, "write", 1);
    second.write(&line(2, "invoke", "read", 0));
    second.answer();
    first.write("{\"process\":1,\"type\":\"invoke\",\"f\":\"read\",\"note\":[\n");
    let told = first.rest();
    assert!(told.contains("line 1, column 48: the text ends before this [ is closed"), "{told}");
    // A stale read, which would be correct if it were only a note.
    second.write(&line(2, "ok", "read", 0));
    drop(second);
    assert!(started.line().starts_with(&format!("warning: writer 1 ({address}) was refused: line 1, column 48")));
    let (code, printed) = started.end();
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains(&format!("writer 1 ({address}) was refused")), "{printed}");
}

/// Invalid messages and clients: the ops of the others are still checked, and the verdict is not `true` without the
/// omitted ones.
#[test]
fn the_others_are_judged_on() {
    let invoke = line(5, "invoke", "add", 1);
    let ok = line(5, "ok", "add", 1);
    for (text, why, codes) in [
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "line 1, column 1: found a symbol in the place of an op", [2, 1]),
        ("[\n", "the text ends before this [ is closed", [2, 1]),
        ("\u{1f}\u{8b}\n", "line 1, column 1", [2, 1]),
        (&format!("{invoke}{invoke}"), "process 5 invokes an op while its op of line 6 is in flight", [2, 1]),
        // The operation took effect at an unknown time.
        (&ok, "process 5 completes an op without having invoked one", [2, 2]),
    ] {
        for (reads, code) in [1, 9].into_iter().zip(codes) {
            let dir = tempfile::tempdir().unwrap();
            let (mut started, address) = listen(dir.path(), "counter");
            let (mut good, mut bad) = (Client::new(&address), Client::new(&address));
            good.op(1, "add", 1);
            good.op(1, "add", 0);
            good.write(&line(2, "invoke", "add", 0));
            good.answer();
            bad.write(text);
            let told = bad.rest();
            assert!(told.contains(why) || text == ok, "{told}");
            good.op(1, "read", reads);
            drop(good);
            let warning = started.line();
            assert!(
                warning.contains(&format!("writer 2 ({address}) was refused")) && warning.contains(why),
                "{warning}"
            );
            let (got, printed) = started.end();
            assert_eq!(got, Some(code), "{text} {printed}");
        }
    }
}

#[test]
fn half_a_line_is_left_out_and_named() {
    let dir = tempfile::tempdir().unwrap();
    for (text, code) in [(line(1, "invoke", "add", 1).trim_end().to_owned(), 0), ("{\"process\":1,".to_owned(), 2)] {
        let (started, address) = listen(dir.path(), "counter");
        let mut client = Client::new(&address);
        client.op(1, "add", 1);
        client.op(1, "read", 1);
        client.write(&text);
        drop(client);
        let (got, printed) = started.end();
        assert_eq!(got, Some(code), "{printed}");
        assert_eq!(printed.contains("it closed its connection within a line: line 5"), code == 2, "{printed}");
    }
}

#[test]
fn a_line_that_never_ends_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (started, address) = listen(dir.path(), "counter");
    let (mut good, mut bad) = (Client::new(&address), Client::new(&address));
    good.op(1, "add", 1);
    let much = vec![b' '; 1 << 20];
    let written = (0..80).take_while(|_| bad.0.get_mut().write_all(&much).is_ok()).count();
    assert!((64..80).contains(&written), "{written} MiB");
    good.op(1, "add", 1);
    drop(good);
    let (code, printed) = started.end();
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("a line is longer than 67108864 bytes"), "{printed}");
}

/// More clients connect than there are file descriptors for.
#[test]
fn clients_wait_for_a_file_descriptor() {
    let dir = tempfile::tempdir().unwrap();
    let program = snapbox::cmd::cargo_bin!("histcheck").display().to_string();
    let shell = format!(
        "ulimit -n 32; exec {program} watch -m counter --until-closed --output json --listen unix:{}",
        dir.path().join("h.sock").display()
    );
    let mut started = Started::spawn(Command::new("sh").args(["-c", &shell]));
    let address = started.address();
    let mut clients: Vec<Client> = (0..40).map(|_| Client::new(&address)).collect();
    let line = started.line();
    assert!(line.contains(&address) && line.contains("new clients wait until others close"), "{line}");
    // Those who were accepted first disconnect first.
    for (process, mut client) in (0..).zip(clients.drain(..)) {
        client.op(process, "add", 1);
        if process == 39 {
            client.op(process, "read", 40);
        }
    }
    let mut rest = String::new();
    started.rest(&mut rest);
    assert_eq!(rest, "", "it is said once");
    let (code, printed) = started.end();
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("\"client-op-count\":82"), "{printed}");
}

#[test]
fn a_message_that_is_no_op_is_left_out_and_counted() {
    let ok = line(2, "ok", "add", 1);
    for (text, reads, code) in [("", 1, 0), ("GET / HTTP/1.1\r\n\r\n", 1, 2), ("[", 9, 2), (&ok, 9, 2)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.sock");
        let started = &mut Started::new(&format!("watch -m counter --listen unix-datagram:{}", path.display()));
        let address = started.address();
        let socket = UnixDatagram::unbound().unwrap();
        socket.connect(&path).unwrap();
        let all = [line(1, "invoke", "add", 1), line(1, "ok", "add", 1), text.to_owned()];
        let read = [line(1, "invoke", "read", reads), line(1, "ok", "read", reads)];
        all.iter().chain(&read).for_each(|message| _ = socket.send(message.trim_end().as_bytes()).unwrap());
        started.interrupt();
        let mut printed = String::new();
        started.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        assert_eq!(started.child.wait().unwrap().code(), Some(code), "{text} {printed}");
        assert!(printed.starts_with(&address), "{printed}");
        assert_eq!(printed.contains("message 3 was refused"), code == 2, "{printed}");
    }
}

#[test]
fn a_message_is_one_op() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("h.sock");
    let mut started = Started::new(&format!("watch -m counter --listen unix-datagram:{}", path.display()));
    started.address();
    let socket = UnixDatagram::unbound().unwrap();
    let both = line(1, "invoke", "add", 1) + &line(1, "ok", "add", 1);
    socket.send_to(both.as_bytes(), &path).unwrap();
    let warning = started.line();
    started.interrupt();
    assert_eq!(
        warning,
        "warning: message 1 was refused: line 2, column 1: the message has text after its op; expected one op per message\n"
    );
}

/// A client may close its direction of the connection, and read then.
#[test]
fn a_writer_that_has_written_all_gets_its_acknowledgements() {
    for last in ["\n", ""] {
        let dir = tempfile::tempdir().unwrap();
        let (started, address) = listen(dir.path(), "counter");
        let mut client = Client::new(&address);
        client.op(1, "add", 1);
        client.op(1, "read", 1);
        client.write(&(line(2, "invoke", "add", 1).trim_end().to_owned() + last));
        client.0.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(client.rest(), "{\"ack\":2}\n");
        assert_eq!(started.end().0, Some(0));
    }
    let mut started = Started::new("watch -m counter --until-closed --listen 127.0.0.1:0");
    let mut client = TcpStream::connect(started.address()).unwrap();
    client.write_all(line(3, "invoke", "add", 1).as_bytes()).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answers = String::new();
    client.read_to_string(&mut answers).unwrap();
    assert_eq!(answers, "{\"ack\":3}\n");
}

/// The acknowledgement is more than a socket holds.
#[test]
fn a_writer_that_has_written_all_may_read_slowly() {
    let dir = tempfile::tempdir().unwrap();
    let (started, address) = listen(dir.path(), "counter");
    let mut client = Client::new(&address);
    let name = "x".repeat(4 << 20);
    client.write(&format!("{{\"process\":\"{name}\",\"type\":\"invoke\",\"f\":\"start\"}}\n"));
    client.0.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
    let mut first = [0];
    client.0.read_exact(&mut first).unwrap();
    let mut other = Client::new(&address);
    other.op(1, "read", 0);
    assert!(client.rest() == format!("\"ack\":\"{name}\"}}\n"));
    drop(other);
    assert_eq!(started.end().0, Some(2), "nothing was added");
}

/// Standard error is a pipe that is not read, which more warnings would fill.
#[test]
fn many_refused_writers_do_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let (mut started, address) = listen(dir.path(), "counter");
    let mut good = Client::new(&address);
    for _ in 0..1000 {
        let mut bad = Client::new(&address);
        bad.0.get_ref().set_read_timeout(Some(std::time::Duration::from_mins(1))).unwrap();
        bad.write("nonsense\n");
        assert!(bad.rest().starts_with("{\"refused\":"));
    }
    good.op(1, "read", 7);
    drop(good);
    let mut printed = String::new();
    started.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert!(
        printed.starts_with(&format!("{address}\tfalse\n")) && printed.contains("996 more were refused."),
        "{printed}"
    );
    let mut warnings = String::new();
    started.rest(&mut warnings);
    assert_eq!(warnings.matches("warning: writer ").count(), 10, "{warnings}");
    assert!(warnings.contains("\n  further refusals are counted, but not reported\n"), "{warnings}");
}
