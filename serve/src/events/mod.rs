//! `/events`: notifies pages of changes (server-sent events); and a run in progress ([`live`]).

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

/// Between two signs of life, which show that the other side is still there.
const SIGN: Duration = Duration::from_secs(20);

/// Room for a page that follows.
fn room(state: &State) -> Option<OwnedSemaphorePermit> {
    Arc::clone(&state.followers).try_acquire_owned().ok()
}

/// There is none.
fn full() -> Answer {
    answer::error(StatusCode::SERVICE_UNAVAILABLE, "too many pages are connected to this server: reload manually")
}

/// Follows the list of runs. A page that sleeps misses nothing: what it gets is the number of the latest change, not
/// each of them.
pub(crate) fn answer(state: &State) -> Answer {
    let Some(permit) = room(state) else { return full() };
    let mut changes = state.watcher.changes();
    let watcher = Arc::clone(&state.watcher);
    let (sender, pieces) = mpsc::channel::<io::Result<Bytes>>(1);
    tokio::spawn(async move {
        loop {
            let generation = *changes.borrow_and_update();
            // Nobody asks otherwise while a page only waits.
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
