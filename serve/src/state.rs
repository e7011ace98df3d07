//! What all requests share.

use crate::config::Config;
use crate::guard::token::Attempts;
use crate::runs::watcher::Watcher;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Pages that follow at one time.
const FOLLOWERS_MAX: usize = 512;

/// What all requests share.
pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) watcher: Arc<Watcher>,
    pub(crate) attempts: Attempts,
    /// Room for pages that follow what changes.
    pub(crate) followers: Arc<Semaphore>,
}

impl State {
    pub(crate) fn new(config: Config) -> State {
        State {
            watcher: Watcher::start(config.directory.clone(), config.is_read_only),
            attempts: Attempts::default(),
            followers: Arc::new(Semaphore::new(FOLLOWERS_MAX)),
            config,
        }
    }
}
