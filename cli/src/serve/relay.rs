//! News of a run inside of a world of its own, whose network nobody outside can reach: through a socket that is a file.

use histcheck_serve::{Live, LiveEnd, LiveTick, LiveViolation};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

/// Bytes of a line, at most.
const LINE_BYTES_MAX: u64 = 4 << 20;
/// How long the other side may not read: what is lost then are figures.
const PATIENCE: Duration = Duration::from_millis(200);

/// A piece of news.
#[derive(Serialize, Deserialize)]
pub(super) enum Message {
    Tick(LiveTick),
    Violation(LiveViolation),
    End(LiveEnd),
}

/// Reaches whoever shows the page.
pub(super) fn connect(path: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Sends a piece of news. A page that cannot be reached does not keep the run from going on.
pub(super) fn send(stream: &mut UnixStream, message: &Message) {
    if let Ok(mut line) = serde_json::to_vec(message) {
        line.push(b'\n');
        let _ = stream.write_all(&line);
    }
}

/// Passes on what comes to a path, on a thread of its own.
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
                // A line that a time limit has cut.
                Err(_) => {}
            }
        }
    });
    Ok(())
}
