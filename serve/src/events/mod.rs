//! `/events`: notifies pages of changes through server-sent events; and a run in progress ([`live`]).

pub(crate) mod live;

use crate::http::answer::{self, Answer};
use crate::state::State;
use hyper::StatusCode;
use hyper::body::Bytes;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;

/// The time between two keep-alive messages, which detect that the client is gone.
const SIGN: Duration = Duration::from_secs(20);

/// Reserves a place for a page that receives events.
fn room(state: &State) -> Option<OwnedSemaphorePermit> {
    Arc::clone(&state.followers).try_acquire_owned().ok()
}

/// The response if there is no free place.
fn full() -> Answer {
    answer::error(StatusCode::SERVICE_UNAVAILABLE, "too many pages are connected to this server: reload manually")
}

/// Streams changes of the list of runs. A slow page misses nothing: it receives the number of the latest change, not
/// each change.
pub(crate) fn answer(state: &State) -> Answer {
    let Some(permit) = room(state) else { return full() };
    let mut changes = state.watcher.changes();
    let watcher = Arc::clone(&state.watcher);
    let (sender, pieces) = mpsc::channel::<io::Result<Bytes>>(1);
    tokio::spawn(async move {
        loop {
            let generation = *changes.borrow_and_update();
            // Keeps the watcher active, because a page that only waits sends no requests.
            drop(watcher.snapshot());
            if sender.send(Ok(format!("event: runs\ndata: {generation}\n\n").into())).await.is_err() {
                break;
            }
            while timeout(SIGN, changes.changed()).await.is_err() {
                if sender.send(Ok(Bytes::from_static(b": still here\n\n"))).await.is_err() {
                    return drop(permit);
                }
            }
        }
        drop(permit);
    });
    answer::events(pieces)
}
