//! Updates of a run in separate network namespaces, which cannot be reached from outside: passed through a Unix socket.

use histcheck_serve::{Live, LiveEnd, LiveTick, LiveViolation};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

/// The maximum length of a line in bytes.
const LINE_BYTES_MAX: u64 = 4 << 20;
/// How long to wait if the other side does not read. After that, updates of figures are lost.
const PATIENCE: Duration = Duration::from_millis(200);

/// An update.
#[derive(Serialize, Deserialize)]
pub(super) enum Message {
    Tick(LiveTick),
    Violation(LiveViolation),
    End(LiveEnd),
}

/// Connects to the process that shows the page.
pub(super) fn connect(path: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Sends an update. An unreachable page does not stop the run.
pub(super) fn send(stream: &mut UnixStream, message: &Message) {
    if let Ok(mut line) = serde_json::to_vec(message) {
        line.push(b'\n');
        let _ = stream.write_all(&line);
    }
}

/// Passes on the updates that arrive at a path, on a separate thread.
pub(super) fn receive(path: &Path, live: Live) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    std::thread::spawn(move || {
        let Ok((stream, _)) = listener.accept() else { return };
        let mut lines = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            let read = (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            if !matches!(read, Ok(1..)) {
                return;
            }
            match serde_json::from_slice(&line) {
                Ok(Message::Tick(mut tick)) => live.tick(&mut tick),
                Ok(Message::Violation(violation)) => live.violation(violation),
                Ok(Message::End(end)) => live.end(end),
                // The line was cut by a time limit.
                Err(_) => {}
            }
        }
    });
    Ok(())
}
