//! What there is to say of a history that is not linearizable: how far it was, and what it could have come to.

use crate::search::just_in_time::JustInTime;
use crate::search::mask::Mask;
use crate::search::part::Part;
use crate::search::transitions::Transitions;
use crate::search::{Limits, Progress, Refused, placing};
use history_core::Budget;

/// The evidence, in operations of the part.
pub(crate) struct Evidence {
    /// The operation that cannot be placed.
    pub(crate) op: u32,
    /// The one that returned last before it, and could be.
    pub(crate) last: Option<u32>,
    /// Linearizations of all that returned before, and of some that had not, by the state each leads to: the first found of
    /// each state, at most `ENDS_MAX`.
    pub(crate) ends: Vec<(String, Vec<u32>)>,
    /// Further states.
    pub(crate) more_ends: usize,
}

/// States that are listed. More are no help.
const ENDS_MAX: usize = 16;

/// Finds the evidence for a refusal. `ends` is empty where that takes too long.
pub(crate) fn find_evidence(
    part: &Part,
    refused: &Refused,
    transitions: &mut Transitions<'_>,
    reads_only: &[bool],
) -> Evidence {
    let before = &part.events[..refused.event];
    let last = before.iter().rev().find(|event| event.is_return()).map(|event| event.op() as u32);
    let op = part.events[refused.event].op() as u32;
    let mut evidence = Evidence { op, last, ends: Vec::new(), more_ends: 0 };
    match part.slots as usize {
        ..=64 => find_ends::<1>(&mut evidence, part, refused, transitions, reads_only),
        slots if slots <= Mask::<16>::SLOTS => find_ends::<16>(&mut evidence, part, refused, transitions, reads_only),
        _ => {}
    }
    evidence
}

fn find_ends<const W: usize>(
    evidence: &mut Evidence,
    part: &Part,
    refused: &Refused,
    transitions: &mut Transitions<'_>,
    reads_only: &[bool],
) {
    /// Steps an event, and in all besides.
    const EFFORT: (u64, u64) = (64, 4_000_000);
    const CONFIGS_MAX: usize = 1_000_000;
    // Counted in steps: the same on every machine, and soon over.
    let budget = Budget::default();
    let limits = Limits::new(&budget, CONFIGS_MAX);
    let until = EFFORT.0 * refused.event as u64 + EFFORT.1;
    let exact = !part.crashed.is_empty();
    let mut engine = JustInTime::<W>::new(part, reads_only, transitions.init(), exact);
    if engine.advance(transitions, until, &limits) != (Progress::Refused { event: refused.event }) {
        return;
    }
    let (before, reached) = engine.configs();
    let mut states = Vec::new();
    for config in before.iter().chain(reached) {
        if states.contains(&config.state) {
            continue;
        }
        if states.len() == ENDS_MAX {
            evidence.more_ends += 1;
            continue;
        }
        states.push(config.state);
        let order = placing::place(part, &engine.paths.get(config.path));
        evidence.ends.push((transitions.describe_state(config.state), order.unwrap_or_default()));
    }
}
