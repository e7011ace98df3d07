//! The nemesis: a seeded schedule of faults, whose steps wait for events.
//!
//! A round is: a pause; a fault at a target; a wait until the primary has changed, at most ten seconds; a short
//! additional time, in which two nodes may both believe that they are the primary; the end of the fault; a wait until
//! the store is settled, at most twenty seconds. The target is resolved when the fault begins, so that it is the node
//! that is the primary at that time. Every step is an op of the process `nemesis`, and is written to the schedule, from
//! which it can be replayed.

use crate::chance::Chance;
use crate::client::Store;
use crate::error::LiveError;
use crate::fault::Fault;
use crate::run::recorder::Recorder;
use crate::run::schedule::{Schedule, Step};
use crate::run::stop::Stop;
use history_core::cast::Cast as _;
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The node that a fault affects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The primary; a random node if it is unknown.
    #[default]
    Primary,
    /// A random node.
    Random,
}

/// The faults of a run, and their times.
#[derive(Clone, Debug)]
pub struct Nemesis {
    /// The kinds, from which each round picks one. If empty, there are no faults.
    pub faults: Vec<Fault>,
    /// What they hit.
    pub target: Target,
    /// The mean pause between two rounds.
    pub every: Duration,
    /// Time that a fault lasts after the primary has changed.
    pub longer: Duration,
    /// Steps to play in place of random rounds, as an earlier run wrote them down.
    pub replay: Option<Vec<Step>>,
}

impl Nemesis {
    /// Whether there are faults in the run.
    pub fn has_faults(&self) -> bool {
        match &self.replay {
            Some(steps) => steps.iter().any(|step| matches!(step, Step::Begin(..))),
            None => !self.faults.is_empty(),
        }
    }
}

impl Default for Nemesis {
    fn default() -> Nemesis {
        Nemesis {
            faults: Vec::new(),
            target: Target::Primary,
            every: Duration::from_secs(2),
            longer: Duration::from_secs(2),
            replay: None,
        }
    }
}

/// The activity of the nemesis, for displays.
#[derive(Debug, Default)]
pub struct Faults {
    begun: AtomicU64,
    now: Mutex<Option<String>>,
}

impl Faults {
    /// The number of faults that took effect.
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

/// The maximum waits of a round.
const CHANGE_MAX: Duration = Duration::from_secs(10);
pub(crate) const SETTLE_MAX: Duration = Duration::from_secs(20);
/// The time between two queries of the store.
const LOOK: Duration = Duration::from_millis(100);

/// Executes the schedule.
pub(crate) struct Player<'p> {
    pub(crate) store: &'p dyn Store,
    pub(crate) recorder: &'p Recorder,
    pub(crate) faults: &'p Faults,
    pub(crate) schedule: Schedule,
    pub(crate) stop: &'p Stop,
    /// The node that was the primary when the last fault began.
    pub(crate) primary: Option<u32>,
}

impl Player<'_> {
    /// Executes the schedule until the run ends, and then ends all faults.
    pub(crate) fn run(&mut self, nemesis: &Nemesis, seed: u64) -> Result<(), LiveError> {
        let played = match &nemesis.replay {
            Some(steps) => steps.iter().try_for_each(|step| self.play(step)),
            None if nemesis.faults.is_empty() => Ok(()),
            None => self.rounds(nemesis, &mut Chance::new(seed, u64::MAX)),
        };
        let healed = if self.faults.now().is_some() { self.end() } else { Ok(()) };
        // If the run is over, an error of its last step is ignored. But an error in ending the faults is returned,
        // because the store may still have a fault.
        if self.stop.is_set() { healed } else { played.and(healed) }
    }

    fn rounds(&mut self, nemesis: &Nemesis, chance: &mut Chance) -> Result<(), LiveError> {
        let count = u32::try_from(self.store.nodes().len()).unwrap_or(u32::MAX);
        while !self.stop.is_set() {
            self.play(&Step::Wait(chance.pause(nemesis.every)))?;
            let fault = *chance.pick(&nemesis.faults);
            let random = u32::try_from(chance.below(u64::from(count))).unwrap_or(0);
            let target = match nemesis.target {
                Target::Primary if !self.stop.is_set() => self.store.primary().unwrap_or(random),
                _ => random,
            };
            self.play(&Step::Begin(fault, fault.nodes(target, count, chance)))?;
            if count > 1 {
                self.play(&Step::UntilPrimaryChanges(CHANGE_MAX))?;
            }
            self.play(&Step::Wait(nemesis.longer))?;
            self.play(&Step::Heal)?;
            self.play(&Step::UntilSettled(SETTLE_MAX))?;
        }
        Ok(())
    }

    /// Executes a step, unless the run has ended.
    fn play(&mut self, step: &Step) -> Result<(), LiveError> {
        if self.stop.is_set() {
            return Ok(());
        }
        let (store, names) = (self.store, self.store.nodes());
        let happened = match step {
            Step::Wait(pause) => {
                self.stop.wait(*pause);
                None
            }
            Step::Begin(fault, nodes) => {
                let hit: Vec<&String> = nodes.iter().map(|node| &names[node.to_usize()]).collect();
                let listed = hit.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ");
                self.primary = store.primary();
                self.faults.set(Some(format!("{fault} {listed}")));
                // Recorded first, so that no effect of the fault precedes it.
                self.recorder.nemesis(&fault.to_string(), &json!(hit));
                store.begin(*fault, nodes)?;
                self.faults.begun.fetch_add(1, Ordering::Relaxed);
                None
            }
            Step::UntilPrimaryChanges(most) => {
                let before = self.primary;
                Some(until(*most, self.stop, || store.primary().is_some_and(|now| Some(now) != before)))
            }
            Step::Heal => return self.heal(step),
            Step::UntilSettled(most) => Some(until(*most, self.stop, || store.is_settled())),
        };
        self.schedule.played(step, names, happened)
    }

    /// Ends the active faults when the run ends.
    fn end(&mut self) -> Result<(), LiveError> {
        self.store.heal_at_end()?;
        self.healed(&Step::Heal)
    }

    fn heal(&mut self, step: &Step) -> Result<(), LiveError> {
        self.store.heal()?;
        self.healed(step)
    }

    fn healed(&mut self, step: &Step) -> Result<(), LiveError> {
        self.recorder.nemesis("heal", &serde_json::Value::Null);
        self.faults.set(None);
        self.schedule.played(step, self.store.nodes(), None)
    }
}

/// Waits until the condition is true. Returns whether it became true in time.
pub(crate) fn until(most: Duration, stop: &Stop, mut is_so: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !is_so() {
        if began.elapsed() >= most || stop.wait(LOOK) {
            return false;
        }
    }
    true
}
