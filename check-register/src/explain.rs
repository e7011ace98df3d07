//! What there is to say of a history that is not linearizable: how far it was, and what it could have come to.

use crate::Conflict;
use crate::engine::ids;
use crate::engine::ids::StateId;
use crate::engine::paths::PathId;
use crate::search::just_in_time::JustInTime;
use crate::search::mask::Mask;
use crate::search::part::{Kind, Part};
use crate::search::transitions::Transitions;
use crate::search::{Limits, Progress, Refused, placing};
use history_core::Budget;
use history_core::hash::HashSet;

/// The evidence, in operations of the part.
pub(crate) struct Evidence {
    /// The operation that cannot be placed.
    pub(crate) op: u32,
    /// The one that returned last before it, and could be.
    pub(crate) last: Option<u32>,
    /// Linearizations of all that returned before, and of some that had not, by the state each leads to: the first
    /// found of each state, at most `ENDS_MAX`.
    pub(crate) ends: Vec<(String, Vec<u32>)>,
    /// Further states.
    pub(crate) more_ends: usize,
    /// Whether there are no states but these.
    pub(crate) all_ends: bool,
}

/// States that are listed. More are no help.
const ENDS_MAX: usize = 16;

/// Configurations of the relaxed search that are tried for an order, at the most.
const TRIED_MAX: usize = 64;

/// Events before a refusal for which the states are looked for although a conflict is known. States of a collection may
/// be as large as the history, so a search for them can take long where a monitor did not.
const SEARCHED_MAX: usize = 10_000;

/// Finds the evidence for a refusal. `ends` is empty where that takes too long.
pub(crate) fn find_evidence<'m>(
    part: &Part,
    refused: &Refused,
    (transitions, more_transitions): (&mut Transitions<'m>, &dyn Fn() -> Transitions<'m>),
    kinds: &[Kind],
) -> Evidence {
    let before = &part.events[..refused.event];
    let last = before.iter().rev().find(|event| event.is_return()).map(|event| ids::number(event.op()));
    let op = ids::number(part.events[refused.event].op());
    let mut evidence = Evidence { op, last, ends: Vec::new(), more_ends: 0, all_ends: false };
    if refused.conflict.as_ref().is_some_and(Conflict::is_of_collection) && refused.event > SEARCHED_MAX {
        return evidence;
    }
    match ids::index(part.slots) {
        ..=64 => find_ends::<1>(&mut evidence, part, refused, (transitions, more_transitions), kinds),
        slots if slots <= Mask::<16>::SLOTS => {
            find_ends::<16>(&mut evidence, part, refused, (transitions, more_transitions), kinds);
        }
        _ => {}
    }
    evidence
}

fn find_ends<'m, const W: usize>(
    evidence: &mut Evidence,
    part: &Part,
    refused: &Refused,
    (transitions, more_transitions): (&mut Transitions<'m>, &dyn Fn() -> Transitions<'m>),
    kinds: &[Kind],
) {
    /// Steps an event, and in all besides.
    const EFFORT: (u64, u64) = (64, 1_000_000);
    const CONFIGS_MAX: usize = 200_000;
    // Counted in steps: the same on every machine, and soon over.
    let budget = Budget::default();
    let limits = Limits::new(&budget, CONFIGS_MAX);
    let until = EFFORT.0 * ids::count(refused.event) + EFFORT.1;
    let exact = part.visibility.is_searched();
    let mut engine = JustInTime::<W>::new(part, kinds, transitions.init(), exact);
    let mut progress = engine.advance(transitions, until, &limits);
    if exact && engine.at != refused.event {
        // Crashed operations are too many to be counted class by class. Of what the relaxed search finds, some can be
        // placed.
        engine = JustInTime::new(part, kinds, transitions.init(), false);
        progress = engine.advance(transitions, until, &limits);
    }
    if engine.at != refused.event {
        return;
    }
    let is_certain = engine.is_exact() == exact;
    // If it has not come to the end of this return, these are not all.
    evidence.all_ends = is_certain && progress == Progress::Refused { event: refused.event };
    let (before, reached) = engine.configs();
    let remembers = part.visibility.any_pends || kinds.contains(&Kind::Begins);
    let mut settlement = remembers.then(more_transitions);
    let mut states: HashSet<StateId> = HashSet::default();
    for (at, config) in before.iter().chain(reached).enumerate() {
        if !is_certain && (evidence.ends.len() == ENDS_MAX || at == TRIED_MAX) {
            return;
        }
        if states.contains(&config.state) {
            continue;
        }
        if evidence.ends.len() == ENDS_MAX {
            states.insert(config.state);
            evidence.more_ends += 1;
            continue;
        }
        let state = transitions.describe_state(config.state);
        // States may differ in what they remember alone, which readers are not shown.
        if remembers && evidence.ends.iter().any(|(other, _)| *other == state) {
            states.insert(config.state);
            continue;
        }
        let mut path = engine.paths.get(config.path, PathId::ROOT);
        if let Some(transitions) = &mut settlement {
            path = transitions.settle(part, &path);
        }
        let order = placing::place(part, &path);
        if order.is_some() || is_certain {
            states.insert(config.state);
        }
        match order {
            Some(order) => evidence.ends.push((state, order)),
            None => evidence.all_ends = false,
        }
    }
}
