//! Where a watched history comes from, and what ends it.

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

/// Where the history comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
    Listen {
        address: Address,
        /// Whether the history ends when the last writer is gone.
        until_closed: bool,
    },
}

/// A source that is ready to be read.
pub(super) struct Opened {
    pub(super) feed: Feed,
    /// What it is called, where it could not be known before.
    pub(super) name: Option<String>,
    /// Ends a history that does not end by itself.
    pub(super) end: Box<dyn Fn() + Send>,
    /// Lets threads bring what there is.
    pub(super) begin: Box<dyn FnOnce()>,
    /// To be kept until all was read.
    pub(super) unlink: Option<Unlink>,
}

/// Opens a source; nothing is brought before it [begins](Opened::begin).
pub(super) fn open(source: &Source, read_as: &ReadAs) -> Result<Opened, String> {
    match source {
        Source::Stdin => Ok(stream(read_as, || Ok(std::io::stdin()))),
        Source::File(path) if path.is_dir() => Err(format!("{} is a directory; pass a file in it", path.display())),
        Source::File(path) if is_stream(path) => {
            let path = path.clone();
            // A pipe opens when someone else opens it to write.
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
                // Whoever starts the writers needs to know, above all where any free port would do.
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

/// Whether there is something that can be read only once.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// What comes from a pipe, and ends where that does.
fn stream<S: Read>(read_as: &ReadAs, open: impl FnOnce() -> std::io::Result<S> + Send + 'static) -> Opened {
    let (sender, inbox) = inbox();
    let end = cut(sender.clone());
    let begin = Box::new(move || {
        thread::spawn(move || bring(open(), &sender));
    });
    Opened { feed: Feed::stream(inbox, read_as), name: None, end, begin, unlink: None }
}

/// What is in a file, now and later; behind what was read of it before, if it was opened before.
pub(super) fn file(path: &Path, read_as: &ReadAs, shared: Arc<Shared>) -> Opened {
    let ((sender, inbox), is_over, path) = (inbox(), Arc::new(AtomicBool::new(false)), path.to_owned());
    // Who follows the file has yet to look what is in it by now.
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

/// Cuts the history after what has been brought by then. That may have to wait; another signal must not.
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
