//! What all requests share.

use crate::check::Checks;
use crate::config::Config;
use crate::guard::token::Attempts;
use crate::rows::library::Library;
use crate::runs::watcher::Watcher;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Pages that follow at one time.
const FOLLOWERS_MAX: usize = 512;
/// Histories that are received at one time.
const UPLOADS_MAX: usize = 4;

/// What all requests share.
pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) watcher: Arc<Watcher>,
    /// Where the rows of histories are.
    pub(crate) library: Arc<Library>,
    pub(crate) attempts: Attempts,
    /// Room for pages that follow what changes.
    pub(crate) followers: Arc<Semaphore>,
    /// Room for histories that are being received.
    pub(crate) uploads: Semaphore,
    /// Nothing if no history may be checked.
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
            uploads: Semaphore::new(UPLOADS_MAX),
            checks,
            followers: Arc::new(Semaphore::new(FOLLOWERS_MAX)),
            config,
        }
    }
}
