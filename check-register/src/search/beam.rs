//! A beam search: just-in-time linearization with few configurations.
//!
//! Crashed operations create many configurations: each set of them that results in the same state is one, unless it
//! contains another. Most linearizations need few of these sets, so a search that keeps only the best ones usually
//! finds a linearization: see [`Detail::Few`]. It first uses crashed operations only where a return requires one,
//! then also where it does not. If it finds no linearization, one may exist nevertheless.

use super::just_in_time::{Detail, JustInTime};
use super::{Decision, Progress, Question, Reason, engines, placing};
use crate::engine::ids;

/// The maximum number of steps per event, and in addition to these.
const STEPS: (u64, u64) = (256, 100_000);

/// Searches the events before `end`. Returns `None` if no linearization is found.
pub(super) fn search<const W: usize>(question: &Question<'_, '_>, end: usize) -> Option<Decision> {
    [true, false].into_iter().find_map(|is_least| {
        let mut transitions = (question.more_transitions)();
        let init = transitions.init();
        let mut engine = JustInTime::<W>::new(question.part, question.kinds, init, Detail::Few { is_least });
        engine.end = end;
        match engine.advance(&mut transitions, STEPS.0 * ids::count(end) + STEPS.1, question.limits) {
            Progress::Linearizable => {
                let path = engines::settle(question, &engine.linearization());
                let order = placing::place(question.part, &path);
                Some(Decision::Linearizable(order.unwrap_or_else(|| placing::operations(&path))))
            }
            Progress::Spent(spent) => Some(Decision::Unknown(Reason::Spent(spent))),
            Progress::Paused | Progress::Refused { .. } | Progress::Full => None,
        }
    })
}
