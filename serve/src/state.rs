//! The state that all requests share.

use crate::check::Checks;
use crate::config::Config;
use crate::guard::token::Attempts;
use crate::live::board::Board;
use crate::rows::library::Library;
use crate::runs::watcher::Watcher;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum number of pages that receive events at one time.
const FOLLOWERS_MAX: usize = 512;
/// The maximum number of histories that are received at one time.
const UPLOADS_MAX: usize = 4;

/// The maximum number of requests for rows at one time: each may read 64 MB and keep a thread busy.
const ROW_REQUESTS_MAX: usize = 4;
/// The maximum number of histories examined for suggestions at one time.
const SUGGESTING_MAX: usize = 2;

/// The state that all requests share.
pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) watcher: Arc<Watcher>,
    /// The rows of histories.
    pub(crate) library: Arc<Library>,
    pub(crate) attempts: Attempts,
    /// The run in progress, if there is one.
    pub(crate) board: Option<Arc<Board>>,
    /// Permits for pages that receive events.
    pub(crate) followers: Arc<Semaphore>,
    /// Permits for histories that are being received.
    pub(crate) uploads: Semaphore,
    /// Permits for requests for rows.
    pub(crate) row_requests: Arc<Semaphore>,
    /// Permits for histories that are examined for suggestions.
    pub(crate) suggesting: Semaphore,
    /// Absent if no history may be checked.
    pub(crate) checks: Option<Arc<Checks>>,
}

impl State {
    pub(crate) fn new(config: Config) -> State {
        let judge = config.judge.clone().filter(|_| !config.is_read_only);
        let checks = judge.map(|judge| Arc::new(Checks::new(config.directory.clone(), judge)));
        State {
            watcher: Watcher::start(config.directory.clone(), config.is_read_only),
            library: Arc::new(Library::new(config.directory.clone(), config.is_read_only)),
            attempts: Attempts::default(),
            board: config.live.clone().map(|live| Arc::new(Board::new(live))),
            uploads: Semaphore::new(UPLOADS_MAX),
            row_requests: Arc::new(Semaphore::new(ROW_REQUESTS_MAX)),
            suggesting: Semaphore::new(SUGGESTING_MAX),
            checks,
            followers: Arc::new(Semaphore::new(FOLLOWERS_MAX)),
            config,
        }
    }
}

impl State {
    /// Waits for a permit for a request to this address. The caller keeps the permit until the response is complete.
    pub(crate) async fn turn(&self, path: &str) -> Option<OwnedSemaphorePermit> {
        if !["/rows/", "/api/ops/"].iter().any(|rows| path.starts_with(rows)) {
            return None;
        }
        Arc::clone(&self.row_requests).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn only_some_requests_for_rows_are_answered_at_one_time() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::new(Config { is_read_only: true, ..Config::new(dir.path().to_owned()) });
        let mut context = Context::from_waker(Waker::noop());
        let mut turn = |path: &str| pin!(state.turn(path)).poll(&mut context);
        let mut inside = Vec::new();
        for _ in 0..ROW_REQUESTS_MAX {
            inside.push(turn("/rows/a"));
            assert!(inside.iter().all(|turn| matches!(turn, Poll::Ready(Some(_)))));
        }
        for path in ["/rows/a", "/api/ops/a"] {
            assert!(turn(path).is_pending(), "{path} waits");
        }
        for path in ["/", "/runs/a", "/rows.js", "/api/runs"] {
            assert!(matches!(turn(path), Poll::Ready(None)), "{path} does not wait");
        }
        inside.pop();
        assert!(turn("/api/ops/a").is_ready());
    }
}
