//! Bodies that are produced while they are sent: a slow reader blocks no thread, and only one piece is in memory.

use super::answer::Content;
use hyper::body::Bytes;
use std::io;
use tokio::sync::mpsc;

/// What makes a body, piece by piece.
pub(crate) trait Source: Send + 'static {
    /// The next piece; nothing at the end.
    fn next(&mut self) -> io::Result<Option<Bytes>>;
}

/// Sends what a source makes.
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
            // Whoever waits no longer has left.
            if sender.send(piece).await.is_err() || is_last {
                return;
            }
        }
    });
    Content::Pieces(pieces, length)
}
