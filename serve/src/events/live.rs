//! `/api/live`: a run in progress, as server-sent events, or as JSON for a single request.

use super::{SIGN, full, room};
use crate::http::answer::{self, Answer};
use crate::state::State;
use hyper::StatusCode;
use hyper::body::Bytes;
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Streams the updates of the run, or returns its current state once.
pub(crate) fn answer(state: &State, is_followed: bool) -> Answer {
    let Some(board) = &state.board else {
        let message = "no run in progress: `histcheck live --serve` and `histcheck watch --serve` show their runs";
        return answer::error(StatusCode::NOT_FOUND, message);
    };
    if !is_followed {
        return answer::of(StatusCode::OK, "application/json", board.now() + "\n");
    }
    let Some(permit) = room(state) else { return full() };
    let (board, mut pieces) = (Arc::clone(board), board.pieces());
    let (sender, out) = mpsc::channel::<io::Result<Bytes>>(1);
    let follower = board.follower();
    tokio::spawn(async move {
        let _following = (permit, follower);
        // Nothing was sent yet, so the first message contains the whole state.
        let mut sent = None;
        loop {
            let piece = Arc::clone(&pieces.borrow_and_update());
            let follows = sent.is_some_and(|sent| piece.sequence == sent + 1) && !piece.is_whole;
            let data = if follows { piece.change.clone() } else { board.whole(&piece) };
            sent = Some(piece.sequence);
            let event = [b"event: live\ndata: ", &data[..], b"\n\n"].concat();
            // If the client is slow, this task waits, and the client then gets the latest piece.
            if sender.send(Ok(event.into())).await.is_err() || piece.is_last {
                break;
            }
            loop {
                match timeout(SIGN, pieces.changed()).await {
                    Ok(Ok(())) => break,
                    Ok(Err(_)) => return,
                    Err(_) if sender.send(Ok(Bytes::from_static(b": still here\n\n"))).await.is_err() => return,
                    Err(_) => {}
                }
            }
        }
    });
    answer::events(out)
}
