//! The source of a watched history, and how the history ends.

use super::address::Address;
use super::feed::Feed;
use super::follow::{Follow, Shared};
use super::inbox::{ARRIVAL_BYTES, Arrival, Sender, inbox};
use super::listen;
use super::order::Order;
#[cfg(unix)]
use super::socket::datagram::DatagramSocket;
use super::socket::{Listener, Unlink};
use crate::output::diagnose;
use histcheck_front::ReadAs;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The source of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
    Listen {
        address: Address,
        /// Whether the history ends when the last writer disconnects.
        until_closed: bool,
    },
}

/// A source that is ready to be read.
pub(super) struct Opened {
    pub(super) feed: Feed,
    /// The name of the source, if it was not known before.
    pub(super) name: Option<String>,
    /// Ends a history that does not end by itself.
    pub(super) end: Box<dyn Fn() + Send>,
    /// Starts the threads that bring data.
    pub(super) begin: Box<dyn FnOnce()>,
    /// Must be kept until everything was read.
    pub(super) unlink: Option<Unlink>,
}

/// Opens a source. No data is brought before it [begins](Opened::begin).
pub(super) fn open(source: &Source, read_as: &ReadAs) -> Result<Opened, String> {
    match source {
        Source::Stdin => Ok(stream(read_as, || Ok(std::io::stdin()))),
        Source::File(path) if path.is_dir() => Err(format!("{} is a directory; pass a file in it", path.display())),
        Source::File(path) if is_stream(path) => {
            let path = path.clone();
            // Opening a pipe blocks until another process opens it for writing.
            Ok(stream(read_as, || File::open(path)))
        }
        Source::File(path) => Ok(file(path, read_as, Arc::default())),
        #[cfg(unix)]
        Source::Listen { address: Address::Datagram(path), .. } => {
            let socket = DatagramSocket::bind(path).map_err(|error| cannot_listen(source, &error))?;
            let (sender, inbox) = inbox();
            let (end, unlink) = (Box::new(socket.end(sender.clone())), Some(socket.unlink()));
            let name = Address::Datagram(path.clone()).to_string();
            let (said, read_as) = (name.clone(), read_as.clone());
            let begin = Box::new(move || {
                diagnose::note(&format!("listening on {said}"));
                thread::spawn(move || socket.run(&sender, &read_as));
            });
            Ok(Opened { feed: Feed::writers(inbox), name: Some(name), end, begin, unlink })
        }
        Source::Listen { address, until_closed } => {
            let listener = Listener::bind(address).map_err(|error| cannot_listen(source, &error))?;
            let ((sender, inbox), until_closed) = (inbox(), *until_closed);
            let (name, unlink) = (listener.name(), listener.unlink());
            let (said, order) = (name.clone(), Order::new(sender.clone(), read_as.merge()));
            let read_as = read_as.clone();
            let begin = Box::new(move || {
                // The program that starts the writers needs the address, above all if any free port was requested.
                diagnose::note(&format!("listening on {said}"));
                thread::spawn(move || listen::run(listener, order, &read_as, until_closed));
            });
            Ok(Opened { feed: Feed::writers(inbox), name: Some(name), end: cut(sender), begin, unlink })
        }
    }
}

fn cannot_listen(source: &Source, error: &std::io::Error) -> String {
    match source {
        Source::Listen { address, .. } => format!("cannot listen on {address}: {error}"),
        _ => error.to_string(),
    }
}

/// Returns true if a path can be read only once.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// The data of a pipe, which ends when the pipe ends.
fn stream<S: Read>(read_as: &ReadAs, open: impl FnOnce() -> std::io::Result<S> + Send + 'static) -> Opened {
    let (sender, inbox) = inbox();
    let end = cut(sender.clone());
    let begin = Box::new(move || {
        thread::spawn(move || bring(open(), &sender));
    });
    Opened { feed: Feed::stream(inbox, read_as), name: None, end, begin, unlink: None }
}

/// The current and later text of a file, after the part that was read before, if it was opened before.
pub(super) fn file(path: &Path, read_as: &ReadAs, shared: Arc<Shared>) -> Opened {
    let ((sender, inbox), is_over, path) = (inbox(), Arc::new(AtomicBool::new(false)), path.to_owned());
    // The thread that follows the file must first read the text that is in it by now.
    let over = Arc::clone(&is_over);
    let feed = Feed::followed(inbox, read_as, Arc::clone(&shared));
    let end = Box::new(move || over.store(true, Ordering::SeqCst));
    let begin = Box::new(move || {
        if !path.exists() {
            diagnose::note(&format!("{} does not exist yet; waiting for it", path.display()));
        }
        thread::spawn(move || Follow::new(path, shared).run(&sender, &is_over));
    });
    Opened { feed, name: None, end, begin, unlink: None }
}

/// Cuts the history after the data that was brought so far. This may have to wait, so it runs on a separate thread:
/// another signal must be handled at once.
fn cut<T: Send + 'static>(sender: Sender<T>) -> Box<dyn Fn() + Send> {
    Box::new(move || {
        let sender = sender.clone();
        thread::spawn(move || sender.send(Arrival::Cut));
    })
}

fn bring(source: std::io::Result<impl Read>, sender: &Sender<Vec<u8>>) {
    let mut source = match source {
        Ok(source) => source,
        Err(error) => {
            let _ = sender.send(Arrival::Failed(error));
            return;
        }
    };
    loop {
        let mut text = vec![0; ARRIVAL_BYTES];
        let arrival = match source.read(&mut text) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => Arrival::Failed(error),
            Ok(0) => Arrival::Ended,
            Ok(count) => {
                text.truncate(count);
                Arrival::Some(text)
            }
        };
        let last = !matches!(arrival, Arrival::Some(_));
        if sender.send(arrival).is_err() || last {
            return;
        }
    }
}
