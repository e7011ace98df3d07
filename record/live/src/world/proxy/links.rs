//! The links between proxies: cut, slow, or cut at random.

use crate::chance::Chance;
use crate::error::LiveError;
use crate::fault::Fault;
use crate::fault::partition::{Cuts, cuts};
use history_core::cast::Cast as _;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The delay of data from and to slow nodes.
const LATE: Duration = Duration::from_millis(100);
/// The probability in percent that data on a lossy link cuts the connection.
const LOSS_PERCENT: u64 = 10;

/// The fate of data that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It arrives.
    Arrives,
    /// Its connection is cut.
    Breaks,
}

/// The links between nodes, and those to the hub.
pub(super) struct Links {
    count: u32,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    cut: Cuts,
    slow: BTreeSet<u32>,
    lossy: BTreeSet<u32>,
    chance: Chance,
    is_over: bool,
}

impl Links {
    /// Links between this number of nodes, all of which work.
    pub(super) fn new(count: usize, seed: u64) -> Links {
        let (cut, slow, lossy) = (Cuts::new(), BTreeSet::new(), BTreeSet::new());
        let state = State { cut, slow, lossy, chance: Chance::new(seed, u64::from(u32::MAX)), is_over: false };
        Links { count: count.to_u32(), state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The number of the hub, the place of callers that are not nodes.
    pub(super) fn hub(&self) -> u32 {
        self.count
    }

    /// Waits while the link is cut, and for its delay. Returns the fate of the data.
    pub(super) fn cross(&self, from: u32, to: u32) -> Fate {
        let mut state = self.lock();
        while state.cut.contains(&(from, to)) && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let touches = |nodes: &BTreeSet<u32>| from != to && (nodes.contains(&from) || nodes.contains(&to));
        let (is_slow, is_lossy) = (touches(&state.slow), touches(&state.lossy));
        if state.is_over || is_lossy && state.chance.percent(LOSS_PERCENT) {
            return Fate::Breaks;
        }
        drop(state);
        if is_slow {
            thread::sleep(LATE);
        }
        Fate::Arrives
    }

    /// Begins a fault at these nodes.
    pub(super) fn begin(&self, fault: Fault, nodes: &[u32]) -> Result<(), LiveError> {
        let mut state = self.lock();
        match fault {
            Fault::Delay => state.slow = nodes.iter().copied().collect(),
            Fault::Loss => state.lossy = nodes.iter().copied().collect(),
            Fault::LinkDown => {
                state.cut = cuts(Fault::Isolate, nodes, self.count + 1);
            }
            _ => {
                let cut = cuts(fault, nodes, self.count);
                if cut.is_empty() {
                    return Err(LiveError::Unsupported("a partition needs nodes on both sides".to_owned()));
                }
                state.cut = cut;
            }
        }
        Ok(())
    }

    /// Makes all links work.
    pub(super) fn heal(&self) {
        let mut state = self.lock();
        state.cut.clear();
        state.slow.clear();
        state.lossy.clear();
        self.changed.notify_all();
    }

    /// Ends all links.
    pub(super) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Returns true if [`Links::end`] was called.
    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
