//! Bodies of requests, read with limits on length and time.

use hyper::body::{Body as _, Bytes, Incoming};
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::timeout;

/// The maximum time to wait for more data.
const PIECE_TIME: Duration = Duration::from_secs(30);

/// Reads the next piece of a body; `None` at its end.
///
/// # Errors
///
/// If the client has disconnected, or sends nothing for too long.
pub(crate) async fn next(body: &mut Incoming) -> Result<Option<Bytes>, ()> {
    loop {
        let frame = timeout(PIECE_TIME, poll_fn(|context| Pin::new(&mut *body).poll_frame(context))).await;
        match frame {
            Ok(None) => return Ok(None),
            Ok(Some(Ok(frame))) => {
                // Other frames are trailers, which are ignored.
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Ok(Some(Err(_))) | Err(_) => return Err(()),
        }
    }
}

/// A complete body with a maximum size; `None` if it is larger or does not arrive.
pub(crate) async fn small(mut body: Incoming, bytes_max: usize) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    while let Some(piece) = next(&mut body).await.ok()? {
        if all.len() + piece.len() > bytes_max {
            return None;
        }
        all.extend_from_slice(&piece);
    }
    Some(all)
}
