//! Predicts the current version of a register, so that conditional writes also succeed after responses were lost.
//!
//! This is the current-value predictor of fast-jepsen. A proposed write is *pending* until its id is read; a write
//! whose response was lost may have happened, so the newest versions, including pending ones, are all candidates. Half
//! of the predictions are the newest version that was accepted, the others one of the last five candidates. Without it
//! a client whose write was lost would always propose the same stale version, and each write would need a read before
//! it.

use crate::chance::Chance;
use crate::request::FIRST_VERSION;
use std::collections::VecDeque;

/// The number of candidates that are kept.
const CANDIDATES: usize = 5;

/// One client's knowledge about the versions of a register.
#[derive(Debug, Default)]
pub(crate) struct Predictor {
    /// The newest version that was read or accepted.
    accepted: Option<String>,
    /// Versions that the register may have, the newest last.
    candidates: VecDeque<String>,
}

impl Predictor {
    /// Returns the version that a write with this id should name as the previous one.
    pub(crate) fn propose(&mut self, id: &str, chance: &mut Chance) -> String {
        let newest = self.accepted.clone().unwrap_or_else(|| FIRST_VERSION.to_owned());
        let last_is_accepted = self.candidates.back().is_none_or(|last| *last == newest);
        let guess = if last_is_accepted || self.candidates.is_empty() || chance.percent(50) {
            newest
        } else {
            chance.pick(self.candidates.make_contiguous()).clone()
        };
        self.remember(id);
        guess
    }

    /// Records that a version was read, or that a write of it was accepted.
    pub(crate) fn saw(&mut self, id: &str) {
        self.candidates.retain(|candidate| candidate != id);
        self.remember(id);
        self.accepted = Some(id.to_owned());
    }

    /// Records that a write of this version was rejected: the register will never have it.
    pub(crate) fn refused(&mut self, id: &str) {
        self.candidates.retain(|candidate| candidate != id);
    }

    fn remember(&mut self, id: &str) {
        if self.candidates.len() == CANDIDATES {
            self.candidates.pop_front();
        }
        self.candidates.push_back(id.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_losses_each_write_names_the_one_before() {
        let (mut predictor, mut chance) = (Predictor::default(), Chance::new(1, 1));
        let mut before = FIRST_VERSION.to_owned();
        for number in 0..100 {
            let id = format!("w{number}");
            assert_eq!(predictor.propose(&id, &mut chance), before);
            predictor.saw(&id);
            before = id;
        }
    }

    #[test]
    fn a_lost_write_is_guessed_before_long() {
        for held in ["w0", "lost"] {
            let (mut predictor, mut chance) = (Predictor::default(), Chance::new(2, 1));
            predictor.saw("w0");
            assert_eq!(predictor.propose("lost", &mut chance), "w0");
            // There was no response. Either version may be the current one, so each must be proposed soon.
            let found = (0..20).any(|number| {
                let id = format!("w{}", number + 1);
                let guess = predictor.propose(&id, &mut chance);
                if guess != held {
                    predictor.refused(&id);
                }
                guess == held
            });
            assert!(found, "{held}");
        }
    }
}
