//! Which operations may observe a crashed operation, and until when: until the last of them returns.

use super::Part;
use crate::engine::ids;
use crate::engine::ids::ClassId;
use crate::search::rules::Rules;
use history_core::hash::HashMap;
use std::collections::BinaryHeap;

/// What may observe the crashed classes, each given by its position in [`Part::crashed`].
#[derive(Debug, Default)]
pub(crate) struct Visibility {
    /// By crashed class: the event from which on no operation can observe whether more of its operations happen.
    pub(crate) until: Vec<u32>,
    /// By crashed class: whether states store its operations at their calls, so that the search need not place them.
    pub(crate) pends: Vec<bool>,
    /// Whether any entry of `pends` is true.
    pub(crate) any_pends: bool,
    /// By crashed class: whether its effect lasts when the state changes again.
    pub(crate) lasts: Vec<bool>,
    /// By crashed class: the other crashed classes whose effects do not last and which it may observe.
    pub(crate) chain: Vec<Vec<u32>>,
    /// By class of operations: the crashed classes whose effects do not last and which it may observe.
    seen: HashMap<ClassId, Vec<u32>>,
}

impl Visibility {
    /// O(n), plus the square of the crashed classes in the worst case.
    pub(crate) fn new(part: &Part, rules: &dyn Rules) -> Visibility {
        let pends = rules.pend(&part.crashed);
        let lasts: Vec<bool> = part.crashed.iter().map(|class| rules.effect_lasts(*class)).collect();
        let fleeting: Vec<u32> =
            (0..ids::number(lasts.len())).filter(|at| !lasts[ids::index(*at)] && !pends[ids::index(*at)]).collect();
        let mut by_effect: HashMap<u64, Vec<u32>> = HashMap::default();
        for at in &fleeting {
            if let Some(effect) = rules.effect(part.crashed[ids::index(*at)]) {
                by_effect.entry(effect).or_default().push(*at);
            }
        }
        let mut effects = Vec::new();
        let mut seen_by = |class: ClassId| {
            effects.clear();
            if rules.sees(class, &mut effects) {
                return fleeting.clone();
            }
            let mut seen: Vec<u32> =
                effects.iter().filter_map(|effect| by_effect.get(effect)).flatten().copied().collect();
            seen.sort_unstable();
            seen.dedup();
            seen
        };
        let mut seen: HashMap<ClassId, Vec<u32>> = HashMap::default();
        if !fleeting.is_empty() {
            for op in part.ops.iter().filter(|op| !op.is_crashed()) {
                seen.entry(op.class).or_insert_with(|| seen_by(op.class));
            }
        }
        let chain = part.crashed.iter().map(|class| seen_by(*class)).collect();
        let until = until(part, rules, &pends);
        Visibility { until, any_pends: pends.contains(&true), pends, lasts, chain, seen }
    }

    /// Returns true if the search has to place operations of any crashed class.
    pub(crate) fn is_searched(&self) -> bool {
        self.pends.contains(&false)
    }

    /// Returns true if the search has to place operations of several crashed classes and none of their effects lasts.
    pub(crate) fn is_fleeting(&self) -> bool {
        let mut searched = self.lasts.iter().zip(&self.pends).filter(|(_, pends)| !**pends).map(|(lasts, _)| *lasts);
        let first = searched.next();
        let second = searched.next();
        first == Some(false) && second == Some(false) && !searched.any(|lasts| lasts)
    }

    /// The crashed classes whose effects do not last and which operations of a class may observe.
    pub(crate) fn seen(&self, class: ClassId) -> &[u32] {
        self.seen.get(&class).map_or(&[], Vec::as_slice)
    }
}

/// The maximum number of pairs of operations that are compared.
const PAIRS_MAX: usize = 1 << 22;

/// The observer that is processed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seer {
    /// Operations of this class that returned.
    Returned(ClassId),
    /// The crashed class at this position.
    Crashed(u32),
}

/// The computation of `until`: observers are processed from the latest to the earliest, so the first one to observe a
/// class determines its end.
struct Spread<'a> {
    rules: &'a dyn Rules,
    part: &'a Part,
    /// By crashed class: the event from which on no operation processed so far observes it.
    until: Vec<u32>,
    /// Observers still to be processed, with the event until which each one observes.
    next: BinaryHeap<(u32, Seer)>,
    /// Crashed classes by effect, for effects that no processed operation observes.
    by_effect: HashMap<u64, Vec<u32>>,
    /// Crashed classes whose effects have no number; empty if there are too many to compare.
    unnumbered: Vec<u32>,
    /// Whether some operation observes all effects with a number.
    all_seen: bool,
    scratch: Vec<u64>,
}

impl Spread<'_> {
    fn raise(&mut self, at: u32, until: u32) {
        if self.until[ids::index(at)] < until {
            self.until[ids::index(at)] = until;
            self.next.push((until, Seer::Crashed(at)));
        }
    }

    /// Raises the end of the crashed classes that operations of `class` may observe to event `until`.
    fn look(&mut self, class: ClassId, until: u32) {
        let mut effects = std::mem::take(&mut self.scratch);
        effects.clear();
        if self.rules.sees(class, &mut effects) && !self.all_seen {
            self.all_seen = true;
            let all: Vec<u32> = self.by_effect.drain().flat_map(|(_, crashed)| crashed).collect();
            for at in all {
                self.raise(at, until);
            }
        }
        for effect in &effects {
            let crashed = self.by_effect.remove(effect).unwrap_or_default();
            for at in crashed {
                self.raise(at, until);
            }
        }
        self.scratch = effects;
        for at in 0..self.unnumbered.len() {
            let crashed = self.unnumbered[at];
            let other = self.part.crashed[ids::index(crashed)];
            if self.until[ids::index(crashed)] < until && self.rules.may_see(class, other) {
                self.raise(crashed, until);
            }
        }
    }
}

/// For each crashed class of a part, the event from which on no operation can observe whether it happened. A crashed
/// operation that matters may observe others, which then matter as long, unless it is pending. O(n log n), plus the
/// number of pairs for effects without a number.
fn until(part: &Part, rules: &dyn Rules, pends: &[bool]) -> Vec<u32> {
    let mut last: HashMap<ClassId, u32> = HashMap::default();
    for op in part.ops.iter().filter(|op| !op.is_crashed()) {
        // An operation still observes at the event of its return.
        let until = last.entry(op.class).or_insert(0);
        *until = (op.ret + 1).max(*until);
    }
    let mut by_effect: HashMap<u64, Vec<u32>> = HashMap::default();
    let mut unnumbered = Vec::new();
    for (at, class) in (0..).zip(&part.crashed) {
        match rules.effect(*class) {
            Some(effect) => by_effect.entry(effect).or_default().push(at),
            None => unnumbered.push(at),
        }
    }
    let mut until = vec![0; part.crashed.len()];
    if unnumbered.len().saturating_mul(last.len() + part.crashed.len()) > PAIRS_MAX {
        unnumbered.drain(..).for_each(|at: u32| until[ids::index(at)] = ids::number(part.events.len()));
    }
    let known: Vec<(u32, Seer)> = (0..)
        .zip(&until)
        .filter(|(_, until)| **until > 0)
        .map(|(at, until)| (*until, Seer::Crashed(at)))
        .chain(last.iter().map(|(class, until)| (*until, Seer::Returned(*class))))
        .collect();
    let mut spread =
        Spread { rules, part, until, next: known.into(), by_effect, unnumbered, all_seen: false, scratch: Vec::new() };
    while let Some((until, seer)) = spread.next.pop() {
        match seer {
            Seer::Returned(class) => spread.look(class, until),
            // An outdated entry: the class was raised and processed since. A pending class observes nothing.
            Seer::Crashed(at) if spread.until[ids::index(at)] > until || pends[ids::index(at)] => {}
            Seer::Crashed(at) => spread.look(part.crashed[ids::index(at)], until),
        }
    }
    spread.until
}
