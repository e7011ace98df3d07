//! The engines for one part, which take turns.

use super::just_in_time::{Detail, JustInTime};
use super::part::Part;
use super::paths::Placed;
use super::transitions::Transitions;
use super::wing_gong::WingGong;
use super::{Decision, Progress, Question, Reason, Refused, origins, placing};
use crate::Engine;
use crate::engine::ids;

/// A path in which the operations that states stored are placed where they took effect.
pub(super) fn settle(question: &Question<'_, '_>, path: &[Placed]) -> Vec<Placed> {
    if !path.iter().any(|placed| matches!(placed, Placed::Marked(_))) {
        return path.to_vec();
    }
    // This uses separate states, because those of the engines are still in use.
    (question.more_transitions)().settle(question.part, path)
}

/// The engines on one part.
pub(super) struct Engines<'q, 'm, const W: usize> {
    just_in_time: Option<JustInTime<'q, W>>,
    /// Created at its first turn.
    wing_gong: Option<(WingGong<'q, W>, Transitions<'m>)>,
    /// Whether each engine (just-in-time, Wing and Gong's) is excluded or has reached its limit.
    full: (bool, bool),
    /// A refusal that holds in any case: engines search only the events before it.
    pub(super) known: Option<Refused>,
}

impl<'q, 'm, const W: usize> Engines<'q, 'm, W> {
    /// With fewer events than this, a second engine is not worthwhile.
    const EVENTS_MIN: usize = 200;

    pub(super) fn new(question: &mut Question<'q, 'm>, known: Option<Refused>) -> Engines<'q, 'm, W> {
        let full = (question.engine == Engine::WingGong, question.engine == Engine::JustInTime);
        let mut engines = Engines { just_in_time: None, wing_gong: None, full, known };
        // If effects do not last there are few states but many combinations of uses, which the relaxed search does not
        // distinguish.
        let is_fleeting = question.part.visibility.is_fleeting();
        engines.start_just_in_time(question, if is_fleeting { Detail::Sum } else { Detail::All });
        engines
    }

    /// The event up to which to search.
    fn end(&self, part: &Part) -> usize {
        self.known.as_ref().map_or(part.events.len(), |known| known.event)
    }

    fn start_just_in_time(&mut self, question: &mut Question<'q, 'm>, detail: Detail) {
        let init = question.transitions.init();
        self.just_in_time = Some(JustInTime::new(question.part, question.kinds, init, detail));
    }

    /// Runs a turn of each engine that is not full. Returns `None` if the answer is still unknown.
    pub(super) fn turn(&mut self, question: &mut Question<'q, 'm>, until: u64) -> Option<Decision> {
        if !self.full.0
            && let Some(decision) = self.turn_just_in_time(question, until)
        {
            return Some(decision);
        }
        if !self.full.1
            && let Some(decision) = self.turn_wing_gong(question, until)
        {
            return Some(decision);
        }
        (self.full == (true, true)).then_some(Decision::Unknown(Reason::Full))
    }

    /// Runs the search that is tried before all others.
    pub(super) fn begin(&mut self, question: &mut Question<'q, 'm>) -> Option<Decision> {
        let is_worth = !self.full.1 && question.part.events.len() >= Self::EVENTS_MIN;
        if !is_worth {
            return None;
        }
        self.run_ahead(question).or_else(|| self.find_unmet(question))
    }

    /// Looks for an operation that needs an effect which no operation can have had. If there is one, the events after
    /// it are not searched. Returns the decision if everything before it is known to be linearizable.
    pub(super) fn find_unmet(&mut self, question: &Question<'q, 'm>) -> Option<Decision> {
        let unmet = origins::find_unmet(question.part, question.origin);
        let event = unmet.filter(|event| *event < self.end(question.part))?;
        self.known = Some(Refused { event, is_first: false, conflict: None });
        let is_first = self.wing_gong.as_ref().is_some_and(|(engine, _)| engine.furthest == event);
        is_first.then_some(Decision::Refused(Refused { event, is_first, conflict: None }))
    }

    /// Runs Wing and Gong's search as long as it advances: on a linearizable history this takes a fraction of the steps
    /// of exploring all configurations. Returns `None` if it begins to step back.
    fn run_ahead(&mut self, question: &mut Question<'q, 'm>) -> Option<Decision> {
        /// Steps that are always allowed, and steps per event that it has passed. Half of them would usually be enough.
        const STEPS: u64 = 64;
        const STEPS_PER_EVENT: u64 = 2;
        let mut until = STEPS;
        while !self.full.1 {
            match self.turn_wing_gong(question, until) {
                // This search stores each configuration that it has reached, over the whole history. Without these, the
                // budget may be enough for the other engine.
                Some(Decision::Unknown(Reason::Spent(_))) => {
                    self.wing_gong = None;
                    break;
                }
                Some(decision) => return Some(decision),
                None => {}
            }
            let furthest = self.wing_gong.as_ref().map_or(0, |(engine, _)| engine.furthest);
            let further = STEPS + STEPS_PER_EVENT * ids::count(furthest);
            if further <= until {
                break;
            }
            until = further;
        }
        None
    }

    fn turn_just_in_time(&mut self, question: &mut Question<'q, 'm>, until: u64) -> Option<Decision> {
        let (limits, part, end) = (question.limits, question.part, self.end(question.part));
        while let Some(engine) = &mut self.just_in_time {
            engine.end = end;
            match engine.advance(question.transitions, until, limits) {
                Progress::Paused => break,
                Progress::Linearizable => {
                    let path = settle(question, &engine.linearization());
                    if let Some(order) = placing::place(part, &path) {
                        return Some(Decision::Linearizable(order));
                    }
                    if engine.is_exact() {
                        // Reached only if a model does not settle the operations that its states stored.
                        return Some(Decision::Linearizable(placing::operations(&path)));
                    }
                    self.start_just_in_time(question, Detail::All);
                }
                Progress::Refused { event }
                    if engine.is_exact() || engine.is_refusal_exact(part, |path| settle(question, path)) =>
                {
                    return Some(Decision::Refused(Refused { event, is_first: true, conflict: None }));
                }
                Progress::Refused { event } => return Some(self.refuse_sooner(question, event, until)),
                Progress::Full => {
                    self.full.0 = true;
                    self.just_in_time = None;
                }
                Progress::Spent(spent) => return Some(Decision::Unknown(Reason::Spent(spent))),
            }
        }
        None
    }

    fn turn_wing_gong(&mut self, question: &mut Question<'q, 'm>, until: u64) -> Option<Decision> {
        let end = self.end(question.part);
        let (engine, transitions) = self.wing_gong.get_or_insert_with(|| {
            let mut transitions = (question.more_transitions)();
            let init = transitions.init();
            (WingGong::new(question.part, question.kinds, init), transitions)
        });
        engine.end = end;
        match engine.advance(transitions, until, question.limits) {
            Progress::Paused => {}
            Progress::Linearizable => {
                let path = settle(question, &engine.linearization());
                let order = placing::place(question.part, &path);
                return Some(Decision::Linearizable(order.unwrap_or_else(|| placing::operations(&path))));
            }
            Progress::Refused { event } => {
                return Some(Decision::Refused(Refused { event, is_first: true, conflict: None }));
            }
            Progress::Full => {
                self.full.1 = true;
                self.wing_gong = None;
            }
            Progress::Spent(spent) => return Some(Decision::Unknown(Reason::Spent(spent))),
        }
        None
    }

    /// Decides after the relaxed search refused the history at `event`: the exact search may refuse it earlier, if it
    /// gets that far.
    fn refuse_sooner(&mut self, question: &mut Question<'q, 'm>, event: usize, until: u64) -> Decision {
        self.start_just_in_time(question, Detail::All);
        let found = self
            .just_in_time
            .as_mut()
            .map(|engine| engine.advance(question.transitions, until.saturating_mul(4), question.limits));
        Decision::Refused(match found {
            Some(Progress::Refused { event }) => Refused { event, is_first: true, conflict: None },
            _ => Refused { event, is_first: false, conflict: None },
        })
    }
}
