//! A socket without connections: each message is an op, and all messages have one order.
//!
//! A message to a Unix socket is put into the receiver's only queue before the sender's call returns. So an invocation
//! that is sent before the store is called is in the queue by then, and a completion comes after everything that was
//! sent before it: the order of the queue is sound (see [`order`](crate::watch::order)) without acknowledgements.
//!
//! A message that is not an op is omitted. It may have been an invocation, whose sender does not wait for an answer, so
//! from there on operations may take effect that are not recorded.

use super::{Unlink, bind_path};
use crate::watch::feed::{FromWriters, Placed};
use crate::watch::inbox::{Arrival, Sender};
use crate::watch::refused::{Doubt, Refusal};
use histcheck_front::ReadAs;
use history_core::{Lines, Merge, Misplaced, OpKind};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The message with which an interrupt ends the queue. Before an interrupt, it is treated as an invalid message.
const END: &[u8] = b"\0the history ends\0";

/// The maximum length of a message in bytes. Systems only pass on much shorter ones.
const MESSAGE_BYTES_MAX: usize = 4 << 20;

/// A socket to which messages are sent.
pub(in crate::watch) struct DatagramSocket {
    socket: UnixDatagram,
    /// A socket that sends to it, even if another socket has its path by then.
    end: Arc<UnixDatagram>,
    path: PathBuf,
    is_over: Arc<AtomicBool>,
}

impl DatagramSocket {
    pub(in crate::watch) fn bind(path: &Path) -> io::Result<DatagramSocket> {
        let connect = |path: &Path| UnixDatagram::unbound()?.connect(path);
        let socket = bind_path(path, |path| UnixDatagram::bind(path), connect)?;
        socket.set_nonblocking(true)?;
        let end = UnixDatagram::unbound()?;
        end.connect(path)?;
        Ok(DatagramSocket { socket, end: Arc::new(end), path: path.to_owned(), is_over: Arc::default() })
    }

    pub(in crate::watch) fn unlink(&self) -> Unlink {
        Unlink::new(&self.path)
    }

    /// Returns the function that ends the history after all messages sent before: it sends a message that is not an op,
    /// which has its place in the queue.
    pub(in crate::watch) fn end(&self, sender: Sender<FromWriters>) -> impl Fn() + Send + 'static {
        let (end, is_over) = (Arc::clone(&self.end), Arc::clone(&self.is_over));
        move || {
            is_over.store(true, Ordering::SeqCst);
            let (end, sender) = (Arc::clone(&end), sender.clone());
            std::thread::spawn(move || {
                if end.send(END).is_err() {
                    let _ = sender.send(Arrival::Cut);
                }
            });
        }
    }

    /// Records the messages.
    pub(in crate::watch) fn run(self, sender: &Sender<FromWriters>, read_as: &ReadAs) {
        let mut messages = Messages { sender, lines: read_as.lines(), history: read_as.merge(), number: 0 };
        let mut bytes = vec![0; MESSAGE_BYTES_MAX];
        loop {
            let taken = match self.socket.recv(&mut bytes) {
                Ok(count) if bytes[..count] == *END && self.is_over.load(Ordering::SeqCst) => {
                    let _ = sender.send(Arrival::Cut);
                    return;
                }
                Ok(count) => messages.take(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait();
                    Ok(())
                }
                Err(error) => {
                    let _ = sender.send(Arrival::Failed(error));
                    return;
                }
            };
            if taken.is_err() {
                return;
            }
        }
    }

    fn wait(&self) {
        use rustix::event::{PollFd, PollFlags, poll};
        // An error shows when the socket is read.
        let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], None);
    }
}

/// The receiver of ops was dropped.
struct Gone;

struct Messages<'d> {
    sender: &'d Sender<FromWriters>,
    lines: Lines,
    history: Merge,
    /// The number of messages so far.
    number: u64,
}

impl Messages<'_> {
    /// Records the op of a message.
    fn take(&mut self, message: &[u8]) -> Result<(), Gone> {
        self.number += 1;
        if message.len() == MESSAGE_BYTES_MAX {
            return self.refuse(format!("it is longer than {} bytes", MESSAGE_BYTES_MAX - 1), Doubt::FromHere);
        }
        if let Err(mut error) = self.lines.read(message.trim_ascii_end()) {
            // The reader takes the message for a line.
            if error.expected.as_deref() == Some("one op per line") {
                error.message = "the message has text after its op".into();
                error.expected = Some("one op per message".into());
            }
            return self.refuse(error.to_string(), Doubt::FromHere);
        }
        let mut batch = self.lines.take();
        if batch.is_empty() {
            return Ok(());
        }
        if let Err(Misplaced { kind, error }) = self.history.add(&mut batch) {
            // A completion shows that an operation took effect before, even if the rest of the op is invalid.
            let began = kind != OpKind::Invoke;
            return self.refuse(error.to_string(), if began { Doubt::FromTheBeginning } else { Doubt::FromHere });
        }
        self.send(FromWriters::Ops(Placed::new(batch, &self.history)))
    }

    fn refuse(&self, why: String, doubt: Doubt) -> Result<(), Gone> {
        self.send(FromWriters::Refused(Refusal { who: format!("message {}", self.number), why, doubt }))
    }

    fn send(&self, arrival: FromWriters) -> Result<(), Gone> {
        self.sender.send(Arrival::Some(arrival)).map_err(|_| Gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::inbox::inbox;
    use rustix::event::{PollFd, PollFlags, poll};

    /// Another program has put its own socket at this path.
    #[test]
    fn the_end_comes_to_this_socket_whatever_has_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.sock");
        let socket = DatagramSocket::bind(&path).unwrap();
        let (unlink, (sender, mut inbox)) = (socket.unlink(), inbox());
        std::fs::remove_file(&path).unwrap();
        let other = UnixDatagram::bind(&path).unwrap();
        socket.end(sender.clone())();
        let mut both = [PollFd::new(&socket.socket, PollFlags::IN), PollFd::new(&other, PollFlags::IN)];
        poll(&mut both, None).unwrap();
        let came = both.map(|one| one.revents().contains(PollFlags::IN));
        assert_eq!(came, [true, false], "here, and not there");
        socket.run(&sender, &ReadAs::default());
        assert!(inbox.next().unwrap().is_none(), "it is over");
        drop(unlink);
        assert!(path.exists(), "the other program's socket stays");
    }

    #[test]
    fn a_sockets_file_is_removed_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h.sock");
        let socket = DatagramSocket::bind(&path).unwrap();
        drop(socket.unlink());
        assert!(!path.exists());
    }
}
