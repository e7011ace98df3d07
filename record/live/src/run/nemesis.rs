//! The nemesis: a seeded schedule of faults, whose steps wait for events.
//!
//! A round is: a pause; a fault at a target; until the primary has changed, or ten seconds; a short time more, in which two
//! nodes may both believe to be the primary; the end of the fault; until the store is settled, or twenty seconds. The
//! target is resolved when
//! the fault begins, so that it hits the node that is the primary at that moment. Every step is an op of the process
//! `nemesis`.

use crate::chance::Chance;
use crate::client::Store;
use crate::error::LiveError;
use crate::fault::Fault;
use crate::run::recorder::Recorder;
use crate::run::stop::Stop;
use history_core::cast::Cast as _;
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Which node a fault hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The primary; a random node if nobody knows it.
    #[default]
    Primary,
    /// A random node.
    Random,
}

/// Which faults a run has, and when.
#[derive(Clone, Debug)]
pub struct Nemesis {
    /// The kinds, from which each round picks one. Without any there are no faults.
    pub faults: Vec<Fault>,
    /// What they hit.
    pub target: Target,
    /// The mean pause between two rounds.
    pub every: Duration,
    /// How long a fault goes on after the primary has changed.
    pub longer: Duration,
}

impl Default for Nemesis {
    fn default() -> Nemesis {
        Nemesis {
            faults: Vec::new(),
            target: Target::Primary,
            every: Duration::from_secs(2),
            longer: Duration::from_secs(2),
        }
    }
}

/// What the nemesis is doing, for those who show it.
#[derive(Debug, Default)]
pub struct Faults {
    begun: AtomicU64,
    now: Mutex<Option<String>>,
}

impl Faults {
    /// How many faults took hold.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// The fault that is on.
    pub fn now(&self) -> Option<String> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, fault: Option<String>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }
}

/// Waits of a round at most.
const CHANGE_MAX: Duration = Duration::from_secs(10);
const SETTLE_MAX: Duration = Duration::from_secs(20);
/// Between two looks at the store.
const LOOK: Duration = Duration::from_millis(100);

/// Plays rounds until the run ends, and then ends all faults.
pub(crate) fn run(
    nemesis: &Nemesis,
    store: &dyn Store,
    recorder: &Recorder,
    faults: &Faults,
    seed: u64,
    stop: &Stop,
) -> Result<(), LiveError> {
    let mut chance = Chance::new(seed, u64::MAX);
    let played = rounds(nemesis, store, recorder, faults, &mut chance, stop);
    let healed = if faults.now().is_some() { heal(store, recorder, faults) } else { Ok(()) };
    played.and(healed)
}

fn rounds(
    nemesis: &Nemesis,
    store: &dyn Store,
    recorder: &Recorder,
    faults: &Faults,
    chance: &mut Chance,
    stop: &Stop,
) -> Result<(), LiveError> {
    if nemesis.faults.is_empty() {
        return Ok(());
    }
    while !stop.wait(chance.pause(nemesis.every)) {
        let fault = *chance.pick(&nemesis.faults);
        let random = u32::try_from(chance.below(store.nodes().len().to_u64())).unwrap_or(0);
        let primary = store.primary();
        let node = match nemesis.target {
            Target::Primary => primary.unwrap_or(random),
            Target::Random => random,
        };
        let name = &store.nodes()[node.to_usize()];
        faults.set(Some(format!("{fault} {name}")));
        store.begin(fault, &[node])?;
        faults.begun.fetch_add(1, Ordering::Relaxed);
        recorder.nemesis(&fault.to_string(), &json!([name]));
        until(CHANGE_MAX, stop, || store.primary().is_some_and(|now| Some(now) != primary));
        stop.wait(nemesis.longer);
        heal(store, recorder, faults)?;
        until(SETTLE_MAX, stop, || store.is_settled());
    }
    Ok(())
}

fn heal(store: &dyn Store, recorder: &Recorder, faults: &Faults) -> Result<(), LiveError> {
    store.heal()?;
    recorder.nemesis("heal", &serde_json::Value::Null);
    faults.set(None);
    Ok(())
}

fn until(most: Duration, stop: &Stop, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while began.elapsed() < most && !is_so() {
        if stop.wait(LOOK) {
            return;
        }
    }
}
