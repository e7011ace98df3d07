//! The evidence for a history that is not linearizable: the longest linearizations, and the states they lead to.

use crate::Conflict;
use crate::engine::ids;
use crate::engine::ids::StateId;
use crate::engine::paths::PathId;
use crate::search::just_in_time::{Detail, JustInTime};
use crate::search::mask::Mask;
use crate::search::part::{Kind, Part};
use crate::search::seen::Config;
use crate::search::transitions::Transitions;
use crate::search::{Limits, Progress, Refused, placing};
use history_core::Budget;
use history_core::hash::{HashMap, HashSet};
use std::cmp::Reverse;

/// The evidence, in operations of the part.
pub(crate) struct Evidence {
    /// The operation that cannot be placed.
    pub(crate) op: u32,
    /// The operation that returned last before it, and that can be placed.
    pub(crate) last: Option<u32>,
    /// Linearizations of all operations that had returned, and of some that had not, by the state each leads to: the
    /// first one found for each state, at most `ENDS_MAX`.
    pub(crate) ends: Vec<(String, Vec<u32>)>,
    /// For operations in flight: the longest order found that places the operation, unless it is one of `ends`. At most
    /// `OTHERS_MAX`.
    pub(crate) others: Vec<Vec<u32>>,
    /// The number of further states.
    pub(crate) more_ends: usize,
    /// Whether there are no other states.
    pub(crate) all_ends: bool,
}

/// The maximum number of states that are listed.
const ENDS_MAX: usize = 16;

/// The maximum number of further orders, each for some operations in flight.
const OTHERS_MAX: usize = 16;

/// The maximum number of configurations of the relaxed search that are tried for an order.
const TRIED_MAX: usize = 64;

/// The maximum number of events before a refusal for which the states are searched although a conflict is known. States
/// of a collection may be as large as the history, so the search for them can take long even if a monitor was fast.
const SEARCHED_MAX: usize = 10_000;

/// Finds the evidence for a refusal. `ends` is empty if that takes too long.
pub(crate) fn find_evidence<'m>(
    part: &Part,
    refused: &Refused,
    (transitions, more_transitions): (&mut Transitions<'m>, &dyn Fn() -> Transitions<'m>),
    kinds: &[Kind],
) -> Evidence {
    let before = &part.events[..refused.event];
    let last = before.iter().rev().find(|event| event.is_return()).map(|event| ids::number(event.op()));
    let op = ids::number(part.events[refused.event].op());
    let mut evidence = Evidence { op, last, ends: Vec::new(), others: Vec::new(), more_ends: 0, all_ends: false };
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
    let Some((engine, is_certain, is_all)) = search_again(part, refused, transitions, kinds) else { return };
    evidence.all_ends = is_all;
    let (before, reached) = engine.configs();
    let remembers = part.visibility.any_pends || kinds.contains(&Kind::Begins);
    let mut settlement = remembers.then(more_transitions);
    let mut order_of = |config: &Config<W>| {
        let mut path = engine.paths.get(config.path, PathId::ROOT);
        if let Some(transitions) = &mut settlement {
            path = transitions.settle(part, &path);
        }
        placing::place(part, &path)
    };
    let mut states: HashSet<StateId> = HashSet::default();
    let mut listed = Vec::new();
    for (at, config) in before.iter().chain(reached).enumerate() {
        if !is_certain && (evidence.ends.len() == ENDS_MAX || at == TRIED_MAX) {
            break;
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
        // States may differ only in the operations that they store, which the description does not show.
        if remembers && evidence.ends.iter().any(|(other, _)| *other == state) {
            states.insert(config.state);
            continue;
        }
        let order = order_of(config);
        if order.is_some() || is_certain {
            states.insert(config.state);
        }
        match order {
            Some(order) => {
                evidence.ends.push((state, order));
                listed.push(at);
            }
            None => evidence.all_ends = false,
        }
    }
    let longest = longest_with(&engine);
    let others = longest.into_iter().filter(|(at, _)| !listed.contains(at)).take(OTHERS_MAX);
    evidence.others = others.filter_map(|(_, config)| order_of(config)).collect();
    keep_longest(evidence, |op| part.ops[ids::index(op)].ret > ids::number(refused.event));
}

/// Repeats the search up to the refusal. Returns whether each of its configurations is possible, and whether there are
/// no others; `None` if that takes too long.
fn search_again<'e, const W: usize>(
    part: &'e Part,
    refused: &Refused,
    transitions: &mut Transitions<'_>,
    kinds: &'e [Kind],
) -> Option<(JustInTime<'e, W>, bool, bool)> {
    /// Steps per event, and in addition to these.
    const EFFORT: (u64, u64) = (64, 1_000_000);
    const CONFIGS_MAX: usize = 200_000;
    // The limit is counted in steps: it is the same on every machine, and low.
    let budget = Budget::default();
    let limits = Limits::new(&budget, CONFIGS_MAX);
    let until = EFFORT.0 * ids::count(refused.event) + EFFORT.1;
    // Without crashed operations to place, the two are the same.
    let detail = if part.visibility.is_searched() { Detail::All } else { Detail::Sum };
    let mut engine = JustInTime::<W>::new(part, kinds, transitions.init(), detail);
    let mut progress = engine.advance(transitions, until, &limits);
    if detail == Detail::All && engine.at != refused.event {
        // There are too many crashed operations to count them class by class. Some configurations of the relaxed search
        // can be placed.
        engine = JustInTime::new(part, kinds, transitions.init(), Detail::Sum);
        progress = engine.advance(transitions, until, &limits);
    }
    if engine.at != refused.event {
        return None;
    }
    let is_certain = engine.is_exact() == (detail == Detail::All);
    // If the search has not completed this return, there may be other configurations.
    let is_all = is_certain && progress == Progress::Refused { event: refused.event };
    Some((engine, is_certain, is_all))
}

/// Drops further orders that are not the longest for any operation in flight. If states store operations, the lengths
/// of the orders cannot be determined from the configurations.
fn keep_longest(evidence: &mut Evidence, is_in_flight: impl Fn(u32) -> bool) {
    let mut longest: HashMap<u32, usize> = HashMap::default();
    for order in evidence.ends.iter().map(|(_, order)| order).chain(&evidence.others) {
        for op in order.iter().filter(|op| is_in_flight(**op)) {
            let length = longest.entry(*op).or_default();
            *length = order.len().max(*length);
        }
    }
    let mut known: HashSet<Vec<u32>> = evidence.ends.iter().map(|(_, order)| order.clone()).collect();
    evidence.others.retain(|order| {
        let is_longest = order.iter().any(|op| longest.get(op) == Some(&order.len()));
        is_longest && known.insert(order.clone())
    });
}

/// For each operation in flight that was placed: the configuration that placed it and the most others, once each, with
/// its position among all configurations.
fn longest_with<'e, const W: usize>(engine: &'e JustInTime<'_, W>) -> Vec<(usize, &'e Config<W>)> {
    let (before, reached) = engine.configs();
    let configs: Vec<&Config<W>> = before.iter().chain(reached).collect();
    let ahead: Vec<u32> = configs.iter().map(|config| engine.ahead(config)).collect();
    let longest = |slot: u32| {
        let with_it = (0..configs.len()).filter(|at| configs[*at].mask.has(slot));
        // Of several, the one that was found first.
        with_it.max_by_key(|at| (ahead[*at], Reverse(*at)))
    };
    let mut chosen: Vec<usize> = engine.in_flight().filter_map(longest).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|at| (at, configs[at])).collect()
}
