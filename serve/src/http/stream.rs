//! Bodies that are produced while they are sent: a slow reader blocks no thread, and only one piece is in memory.

use super::answer::Content;
use hyper::body::Bytes;
use std::io;
use tokio::sync::mpsc;

/// A producer of a body, piece by piece.
pub(crate) trait Source: Send + 'static {
    /// Returns the next piece; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Bytes>>;
}

/// The content that a source produces.
pub(crate) fn content(mut source: impl Source, length: Option<u64>) -> Content {
    let (sender, pieces) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let Ok((back, piece)) = tokio::task::spawn_blocking(move || {
                let piece = source.next();
                (source, piece)
            })
            .await
            else {
                return;
            };
            source = back;
            let Some(piece) = piece.transpose() else { return };
            let is_last = piece.is_err();
            // An error means that the client has disconnected.
            if sender.send(piece).await.is_err() || is_last {
                return;
            }
        }
    });
    Content::Pieces(pieces, length)
}
