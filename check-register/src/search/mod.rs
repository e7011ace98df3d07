//! The search for a linearization of one part of an object: engines with a common interface, and the choice between
//! them.
//!
//! Engines alternate, each turn longer than the one before, and the first answer is used. Wing and Gong's search
//! begins and runs as long as it does not step back. If the first turn finds no answer and there are crashed
//! operations, a beam search follows it once. Turns are counted in steps of the model and not in time, so the engine
//! that answers is the same on every machine.

mod beam;
pub(crate) mod conflict;
pub(crate) mod distinct;
mod engines;
pub(crate) mod just_in_time;
pub(crate) mod mask;
pub(crate) mod open;
pub(crate) mod origins;
pub(crate) mod part;
pub(crate) mod paths;
pub(crate) mod placing;
pub(crate) mod rules;
pub(crate) mod seen;
pub(crate) mod transitions;
pub(crate) mod wing_gong;

use crate::engine::IN_FLIGHT_MAX;
use crate::engine::ids;
use crate::engine::ids::ClassId;
use crate::monitor::Decided;
use crate::{Access, Conflict, Engine, monitor};
use engines::Engines;
use history_core::{Budget, NextStep, Spent};
use mask::Mask;
use origins::Origin;
use part::{Kind, Part};
use std::cell::Cell;
use transitions::Transitions;

/// The progress of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// The engine's turn is over.
    Paused,
    /// There is a linearization.
    Linearizable,
    /// There is no linearization: the operation that returns at this event cannot be placed.
    Refused {
        /// The position of the event in the part.
        event: usize,
    },
    /// The engine has reached the limit of configurations.
    Full,
    /// The budget ran out.
    Spent(Spent),
}

/// Up to this number of events a search is tried before a monitor, because it is usually faster.
const SEARCHED_FIRST: usize = 32;

/// The maximum memory per configuration in bytes, with all data that an engine stores for it.
const CONFIG_BYTES: usize = 100;

/// The bytes that an engine may always use, however small its limit of configurations: tables have a minimum size.
const BYTES_MIN: usize = 1 << 24;

/// The limits of an engine.
pub(crate) struct Limits<'b> {
    pub(crate) budget: &'b Budget,
    /// The maximum number of configurations held at one time; times `CONFIG_BYTES`, the maximum number of bytes.
    pub(crate) configs_max: usize,
    /// Calls of `check` until the budget is checked again.
    countdown: Cell<u32>,
}

impl<'b> Limits<'b> {
    pub(crate) fn new(budget: &'b Budget, configs_max: usize) -> Limits<'b> {
        Limits { budget, configs_max, countdown: Cell::new(1) }
    }

    /// Returns the reason to stop, if there is one, for an engine that has made `work` steps and holds this many
    /// configurations and bytes.
    #[inline]
    pub(crate) fn check(&self, work: u64, configs: usize, bytes: impl FnOnce() -> usize) -> Option<Progress> {
        /// Reading a clock takes as long as several steps.
        const EVERY: u32 = 256;
        if configs > self.configs_max {
            return Some(Progress::Full);
        }
        self.countdown.set(self.countdown.get() - 1);
        if self.countdown.get() > 0 {
            return None;
        }
        self.countdown.set(EVERY);
        let bytes = bytes();
        if let Err(spent) = self.budget.check(work, ids::count(bytes)) {
            return Some(Progress::Spent(spent));
        }
        (bytes > BYTES_MIN.max(self.configs_max.saturating_mul(CONFIG_BYTES))).then_some(Progress::Full)
    }
}

/// The result for a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// Operations of the part in an order that the model admits.
    Linearizable(Vec<u32>),
    /// There is no such order.
    Refused(Refused),
    /// No answer was found.
    Unknown(Reason),
}

/// Why a part is not linearizable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    /// The event up to and including which there is no linearization.
    pub(crate) event: usize,
    /// Whether there is a linearization up to each earlier event.
    pub(crate) is_first: bool,
    /// If values are distinct: the operations that contradict each other.
    pub(crate) conflict: Option<Conflict<u32>>,
}

/// Why no answer was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Reason {
    /// The budget ran out.
    Spent(Spent),
    /// All engines reached the limit of configurations: see
    /// [`Settings::configurations_max`](crate::Settings::configurations_max).
    Full,
    /// More than 8,192 operations were in flight at one time.
    InFlight,
    /// Another part is not linearizable, and the search had not ended when that was found.
    OtherPart,
    /// Only a [monitor](crate::Engine::Monitor) was permitted, and none can decide such operations.
    NoMonitor,
    /// Only a [beam search](crate::Engine::Beam) was permitted. It found no linearization among the configurations that
    /// it kept.
    Omitted,
}

impl Reason {
    /// What would give an answer; nothing if another part decided.
    pub fn next(self) -> Option<NextStep> {
        Some(match self {
            Reason::Spent(spent) => NextStep::spent(spent),
            Reason::Full => NextStep::option(
                "max-configurations",
                "Allow a greater --max-configurations, or record with fewer clients at once.",
            ),
            Reason::InFlight => NextStep::new(
                "Record fewer operations in flight at once, and let clients that time out end with fail where nothing \
                 can have happened.",
            ),
            Reason::NoMonitor | Reason::Omitted => {
                NextStep::option("engine", "Search for a linearization: leave out --engine, or --engine portfolio.")
            }
            Reason::OtherPart => return None,
        })
    }

    /// As a clause: `"the time limit was reached"`.
    pub fn because(self) -> &'static str {
        match self {
            Reason::Spent(spent) => spent.because(),
            Reason::Full => {
                "the search reached its maximum number of configurations, because many operations are in \
                flight at once"
            }
            Reason::InFlight => "more than 8,192 operations are in flight at once",
            Reason::NoMonitor => {
                "no monitor decides such operations: a value is put in twice, crashed ones may have taken too many \
                values, or the object has no monitor"
            }
            Reason::Omitted => {
                "the beam search found no linearization, and keeps only a few of the possible configurations"
            }
            Reason::OtherPart => "another part is not linearizable, so the search ended early",
        }
    }
}

/// A part and the model, as used by the engines.
pub(crate) struct Question<'q, 'm> {
    pub(crate) part: &'q Part,
    /// The steps of the model. Those of the previous part can be reused.
    pub(crate) transitions: &'q mut Transitions<'m>,
    /// Creates transitions for a second engine, because an engine discards the states that it no longer needs.
    pub(crate) more_transitions: &'q dyn Fn() -> Transitions<'m>,
    /// By class.
    pub(crate) kinds: &'q [Kind],
    /// By class: the effect that it has, and the effect that it needs.
    pub(crate) origin: &'q dyn Fn(ClassId) -> Origin,
    /// By class: its effect on the register, if the object is a register.
    pub(crate) access: &'q dyn Fn(ClassId) -> Option<Access>,
    pub(crate) initial: Option<i64>,
    /// The collection, if the object is one.
    pub(crate) object: Option<&'q monitor::Object<'q>>,
    pub(crate) limits: &'q Limits<'m>,
    pub(crate) engine: Engine,
}

const _: () = assert!(IN_FLIGHT_MAX == Mask::<128>::SLOTS, "the widest mask has room for all");

impl<'q, 'm> Question<'q, 'm> {
    /// Finds the answer. `None` if it takes more turns than `turns_max`.
    pub(crate) fn decide(&mut self, turns_max: Option<u32>) -> Option<Decision> {
        let mut known = None;
        if self.engine == Engine::Monitor || self.engine == Engine::Portfolio && self.part.events.len() > SEARCHED_FIRST
        {
            match self.monitor() {
                Some(Decision::Refused(refused)) if !refused.is_first && self.engine == Engine::Portfolio => {
                    known = Some(refused);
                }
                Some(decision) => return Some(decision),
                None if self.engine == Engine::Monitor => return Some(Decision::Unknown(Reason::NoMonitor)),
                None => {}
            }
        }
        let decision = match ids::index(self.part.slots) {
            ..=64 => self.decide_with::<1>(turns_max, known)?,
            65..=256 => self.decide_with::<4>(turns_max, known)?,
            257..=1024 => self.decide_with::<16>(turns_max, known)?,
            slots => match self.distinct() {
                Some(decision) if self.engine == Engine::Portfolio => decision,
                _ if slots <= IN_FLIGHT_MAX => self.decide_with::<128>(turns_max, known)?,
                _ => known.map_or(Decision::Unknown(Reason::InFlight), Decision::Refused),
            },
        };
        debug_assert!(self.is_no_later_than_unmet(&decision), "{decision:?}");
        Some(decision)
    }

    /// Returns true if a decision does not contradict `origins::find_unmet`.
    fn is_no_later_than_unmet(&self, decision: &Decision) -> bool {
        let unmet = origins::find_unmet(self.part, self.origin);
        match decision {
            Decision::Linearizable(_) => unmet.is_none(),
            Decision::Refused(refused) => unmet.is_none_or(|event| refused.event <= event),
            Decision::Unknown(_) => true,
        }
    }

    /// The answer for a register of distinct writes.
    fn distinct(&self) -> Option<Decision> {
        let access = |op: usize| (self.access)(self.part.ops[op].class);
        Some(match distinct::decide(self.part, access, self.initial)? {
            Ok(order) => Decision::Linearizable(order),
            Err((event, conflict)) => Decision::Refused(Refused { event, is_first: true, conflict: Some(conflict) }),
        })
    }

    /// The answer for a collection of distinct values.
    fn monitor(&self) -> Option<Decision> {
        let object = self.object?;
        if let Err(spent) = self.limits.budget.check(0, 0) {
            return Some(Decision::Unknown(Reason::Spent(spent)));
        }
        Some(match monitor::decide(self.part, object, self.limits.budget)? {
            Decided::Linearizable(order) => Decision::Linearizable(order),
            Decided::Refused { event, is_first, conflict } => Decision::Refused(Refused { event, is_first, conflict }),
        })
    }

    /// The answer of the monitor for a part on which a search was tried first, if the answer is final.
    fn monitor_of_few(&self) -> Option<Decision> {
        let decision = if self.part.events.len() > SEARCHED_FIRST { None } else { self.monitor() };
        decision.filter(|decision| !matches!(decision, Decision::Refused(refused) if !refused.is_first))
    }

    /// The answer by search; `known` is a refusal that may not be the first.
    fn decide_with<const W: usize>(&mut self, turns_max: Option<u32>, known: Option<Refused>) -> Option<Decision> {
        /// Steps per event in the first turn. Most histories need fewer.
        const TURN: u64 = 12;
        /// Turns spent on finding out whether a known refusal is the first.
        const SOONER: u32 = 1;
        if self.engine == Engine::Beam {
            let found = beam::search::<W>(self, self.part.events.len());
            return Some(found.unwrap_or(Decision::Unknown(Reason::Omitted)));
        }
        let mut until = TURN * (ids::count(self.part.events.len()) + 1_000);
        let mut engines = Engines::<'q, 'm, W>::new(self, known);
        let mut turns = 0;
        loop {
            let ahead = if turns == 0 { engines.begin(self) } else { None };
            let found = ahead.or_else(|| engines.turn(self, until));
            let found = match &engines.known {
                Some(known) => refuse_known(known, found, turns > SOONER),
                None => found,
            };
            if found.is_some() {
                return found;
            }
            if turns == 0 {
                if self.engine == Engine::Portfolio
                    && let Some(decision) = self.distinct().or_else(|| self.monitor_of_few())
                {
                    return Some(decision);
                }
                if let Some(decision) = engines.find_unmet(self) {
                    return Some(decision);
                }
                let is_searched = self.engine == Engine::Portfolio && self.part.visibility.is_searched();
                if is_searched
                    && engines.known.is_none()
                    && let Some(decision @ Decision::Linearizable(_)) = beam::search::<W>(self, self.part.events.len())
                {
                    return Some(decision);
                }
            }
            turns += 1;
            if engines.known.is_none() && turns_max.is_some_and(|max| turns >= max) {
                return None;
            }
            until = until.saturating_mul(4);
        }
    }
}

/// Combines a refusal that is already known with the result of the engines, which search only up to its event. Returns
/// `None` if they should continue.
fn refuse_known(known: &Refused, found: Option<Decision>, is_over: bool) -> Option<Decision> {
    let refused = |is_first| Some(Decision::Refused(Refused { is_first, ..known.clone() }));
    match found {
        Some(Decision::Refused(sooner)) => Some(Decision::Refused(sooner)),
        Some(Decision::Linearizable(_)) => refused(true),
        Some(Decision::Unknown(_)) => refused(false),
        None if is_over => refused(false),
        None => None,
    }
}
