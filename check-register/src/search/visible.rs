//! Who may see whether a crashed operation happened, and until when: until the last that may see it returns.

use super::part::Part;
use crate::Model;
use crate::ids::ClassId;
use rustc_hash::FxHashMap;

/// What is known of crashed classes, which are given by their positions in [`Part::crashed`].
#[derive(Debug, Default)]
pub(crate) struct Visibility {
    /// Of each, the event from which on nobody can see whether more of them happen.
    pub(crate) until: Vec<u32>,
    /// Of each, whether its effect lasts when the state changes again.
    pub(crate) lasts: Vec<bool>,
    /// Of each, the others whose effects it may see, of those that do not last.
    pub(crate) chain: Vec<Vec<u32>>,
    /// Of a class of operations, the crashed ones whose effects it may see, of those that do not last.
    seen: FxHashMap<ClassId, Vec<u32>>,
}

impl Visibility {
    /// O(n), plus the square of the crashed classes in the worst case.
    pub(crate) fn new<M: Model>(part: &Part, model: &M, classes: &[M::Op]) -> Visibility {
        let op = |class: &ClassId| &classes[class.at()];
        let lasts: Vec<bool> = part
            .crashed
            .iter()
            .map(|class| model.effect(op(class)).is_none() || model.effect_lasts(op(class)))
            .collect();
        let fleeting: Vec<u32> = (0..lasts.len() as u32).filter(|at| !lasts[*at as usize]).collect();
        let mut by_effect: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for at in &fleeting {
            if let Some(effect) = model.effect(op(&part.crashed[*at as usize])) {
                by_effect.entry(effect).or_default().push(*at);
            }
        }
        let mut effects = Vec::new();
        let mut seen_by = |class: ClassId| {
            effects.clear();
            if model.sees(op(&class), &mut effects) {
                return fleeting.clone();
            }
            let mut seen: Vec<u32> =
                effects.iter().filter_map(|effect| by_effect.get(effect)).flatten().copied().collect();
            seen.sort_unstable();
            seen.dedup();
            seen
        };
        let mut seen: FxHashMap<ClassId, Vec<u32>> = FxHashMap::default();
        if !fleeting.is_empty() {
            for op in part.ops.iter().filter(|op| !op.is_crashed()) {
                seen.entry(op.class).or_insert_with(|| seen_by(op.class));
            }
        }
        let chain = part.crashed.iter().map(|class| seen_by(*class)).collect();
        Visibility { until: until(part, model, classes), lasts, chain, seen }
    }

    /// The crashed classes whose effects operations of a class may see, of those that do not last.
    pub(crate) fn seen(&self, class: ClassId) -> &[u32] {
        self.seen.get(&class).map_or(&[], Vec::as_slice)
    }
}

/// Pairs of operations that are compared, at the most.
const PAIRS_MAX: usize = 1 << 22;

/// What is known while it is being found out.
struct Sight<'a, M: Model> {
    model: &'a M,
    classes: &'a [M::Op],
    /// By effect: the event from which on nobody sees it.
    effects: FxHashMap<u64, u32>,
    /// The event from which on nobody sees just anything.
    anything: u32,
    scratch: Vec<u64>,
}

impl<M: Model> Sight<'_, M> {
    /// Operations of this class see what they see until this event. Whether that is news.
    fn see(&mut self, class: ClassId, until: u32) -> bool {
        self.scratch.clear();
        let mut news = false;
        let mut raise = |known: &mut u32| {
            news |= *known < until;
            *known = until.max(*known);
        };
        if self.model.sees(&self.classes[class.at()], &mut self.scratch) {
            raise(&mut self.anything);
        }
        for effect in &self.scratch {
            raise(self.effects.entry(*effect).or_insert(0));
        }
        news
    }
}

/// For each crashed class of a part, the event from which on nobody can see whether it happened.
fn until<M: Model>(part: &Part, model: &M, classes: &[M::Op]) -> Vec<u32> {
    let end = part.events.len() as u32;
    let mut last: FxHashMap<ClassId, u32> = FxHashMap::default();
    let mut seers: Vec<ClassId> = Vec::new();
    for op in part.ops.iter().filter(|op| !op.is_crashed()) {
        // It still sees at the event at which it returns.
        let until = last.entry(op.class).or_insert_with(|| {
            seers.push(op.class);
            0
        });
        *until = (op.ret + 1).max(*until);
    }
    let mut sight = Sight { model, classes, effects: FxHashMap::default(), anything: 0, scratch: Vec::new() };
    for class in &seers {
        sight.see(*class, last[class]);
    }
    let effects: Vec<Option<u64>> = part.crashed.iter().map(|class| model.effect(&classes[class.at()])).collect();
    let unnumbered = effects.iter().filter(|effect| effect.is_none()).count();
    let compare = unnumbered * (seers.len() + part.crashed.len()) <= PAIRS_MAX;
    let may_see = |seer: ClassId, at: usize| model.may_see(&classes[seer.at()], &classes[part.crashed[at].at()]);
    let mut until: Vec<u32> = vec![0; part.crashed.len()];
    for (at, effect) in effects.iter().enumerate() {
        until[at] = match effect {
            Some(_) => 0,
            None if !compare => end,
            None => seers.iter().filter(|seer| may_see(**seer, at)).map(|seer| last[seer]).max().unwrap_or(0),
        };
    }
    // A crashed operation that matters may see others, which then matter as long.
    loop {
        let mut news = false;
        for at in 0..until.len() {
            let seen = effects[at].and_then(|effect| sight.effects.get(&effect).copied()).unwrap_or(0);
            let now = until[at].max(seen).max(if effects[at].is_some() { sight.anything } else { 0 });
            news |= now > until[at];
            until[at] = now;
            if now == 0 {
                continue;
            }
            news |= sight.see(part.crashed[at], now);
            for other in (0..until.len()).filter(|_| compare && unnumbered > 0) {
                if effects[other].is_none() && until[other] < now && may_see(part.crashed[at], other) {
                    until[other] = now;
                    news = true;
                }
            }
        }
        if !news {
            return until;
        }
    }
}
