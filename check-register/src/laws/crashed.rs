//! Laws of effects: when an operation that may not have happened can be omitted or delayed.

use super::{Broken, World};
use history_core::hash::HashSet;

impl World<'_> {
    pub(super) fn breaks_crashed(&self) -> Option<Broken> {
        self.breaks_left_out().or_else(|| self.breaks_put_off()).or_else(|| self.breaks_needs())
    }

    /// Returns true if one operation may observe another, by the number of its effect or without one.
    fn sees(&self, op: usize, other: usize) -> bool {
        let mut effects = Vec::new();
        match self.shortcuts.effect(&other) {
            Some(effect) => self.shortcuts.sees(&op, &mut effects) || effects.contains(&effect),
            None => self.shortcuts.may_see(&op, &other),
        }
    }

    /// By operation, and by other operation: whether the first may observe the second.
    fn sight(&self) -> Vec<Vec<bool>> {
        let all = 0..self.ops;
        all.clone().map(|op| all.clone().map(|other| self.sees(op, other)).collect()).collect()
    }

    /// An operation that no other operation observes can be omitted: all others are permitted without it.
    fn breaks_left_out(&self) -> Option<Broken> {
        let sight = self.sight();
        let times = self.states.len() * self.ops;
        for other in 0..self.ops {
            let blind: Vec<usize> = (0..).zip(&sight).filter(|(_, seen)| !seen[other]).map(|(op, _)| op).collect();
            for word in Self::words(&blind, times) {
                let with = [&[other], &word[..]].concat();
                for state in self.states.iter().copied() {
                    if self.admits(state, &with) && !self.admits(state, &word) {
                        let law = if self.shortcuts.effect(&other).is_some() { "sees" } else { "may_see" };
                        let expected =
                            format!("also admitted without {}, because no other op sees it", self.name(other));
                        let found = "admitted only with it".into();
                        return Some(self.broken(law, state, &with, (expected, found)));
                    }
                }
            }
        }
        None
    }

    /// An operation whose effect does not last can be delayed until just before one that observes it and is not
    /// permitted without it.
    fn breaks_put_off(&self) -> Option<Broken> {
        let fleeting = self.which(|op| self.shortcuts.effect(op).is_some() && !self.shortcuts.effect_lasts(op));
        let sight = self.sight();
        let all: Vec<usize> = (0..self.ops).collect();
        let words = Self::words(&all, self.states.len() * fleeting.len());
        for other in fleeting {
            for (word, state) in
                words.iter().flat_map(|word| self.states.iter().copied().map(move |state| (word, state)))
            {
                let with = [&[other], &word[..]].concat();
                if !self.admits(state, &with) || self.admits(state, word) {
                    continue;
                }
                let is_place = |at: &usize| {
                    sight[word[*at]][other]
                        && self.run(&[state], &word[..*at]).into_iter().any(|before| {
                            let late = [&[other], &word[*at..]].concat();
                            !self.admits(before, &word[*at..=*at]) && self.admits(before, &late)
                        })
                };
                if !(0..word.len()).any(|at| is_place(&at)) {
                    let expected = format!(
                        "admitted with {} later, directly before an op that observes it and is not admitted without it",
                        self.name(other)
                    );
                    let found = "no such place: the effect lasts".into();
                    return Some(self.broken("effect_lasts", state, &with, (expected, found)));
                }
            }
        }
        None
    }

    /// An operation that needs an effect is admitted only after an operation that has it.
    fn breaks_needs(&self) -> Option<Broken> {
        /// The maximum number of states that are examined for one effect.
        const REACHED_MAX: usize = 1_000;
        for op in 0..self.ops {
            let Some(needs) = self.shortcuts.needs(&op) else { continue };
            let others = self.which(|other| self.shortcuts.effect(other) != Some(needs));
            let mut reached = vec![(self.model.init(), Vec::new())];
            let mut seen: HashSet<usize> = HashSet::default();
            let mut at = 0;
            while let Some((state, word)) = reached.get(at).cloned() {
                if self.admits(state, &[op]) {
                    let expected = format!("{} is not admitted before an op of effect {needs}", self.name(op));
                    let word = [&word[..], &[op]].concat();
                    let texts = (expected, "it is admitted".into());
                    return Some(self.broken("needs", self.model.init(), &word, texts));
                }
                for other in others.iter().filter(|_| reached.len() < REACHED_MAX).copied().collect::<Vec<_>>() {
                    for next in self.step(&[state], other) {
                        if seen.insert(next) {
                            reached.push((next, [&word[..], &[other]].concat()));
                        }
                    }
                }
                at += 1;
            }
        }
        None
    }
}
