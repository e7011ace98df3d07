//! Pairs of transactions of which one is assumed to be committed before the other, and what else would do.
//!
//! Assumptions that turn out wrong are taken back with all later ones, and others made in their place.

use super::{Need, Why};
use crate::ids::TxnId;
use history_core::hash::HashMap;

/// One transaction is committed before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) before: TxnId,
    pub(super) after: TxnId,
}

struct Assumption {
    pair: Pair,
    /// One of these would do instead.
    others: Vec<Pair>,
}

/// All assumptions, in the order in which they were made.
#[derive(Default)]
pub(super) struct Assumed {
    all: Vec<Assumption>,
    /// For each transaction, the numbers of the assumptions on what comes before it.
    before: HashMap<TxnId, Vec<usize>>,
}

impl Assumed {
    /// The assumptions on what comes before a transaction, by number.
    #[inline]
    pub(super) fn before(&self, txn: TxnId) -> impl Iterator<Item = (usize, TxnId)> {
        let numbers = if self.all.is_empty() { None } else { self.before.get(&txn) };
        numbers.into_iter().flatten().map(|number| (*number, self.all[*number].pair.before))
    }

    /// Assumes something instead of one of these needs, which cannot all be met; by whom each is needed is given. Of
    /// all pairs that would do, the one of the least `moves`. If there is none, the last assumption on which the needs
    /// rest was wrong. `None` if there is none of these either.
    pub(super) fn instead_of(
        &mut self,
        needs: impl Iterator<Item = (Need, TxnId)>,
        moves: impl Fn(&Pair) -> u32,
    ) -> Option<Pair> {
        let (mut pairs, mut last) = (Vec::new(), None);
        for (need, by) in needs {
            match need.why {
                Why::Always => {}
                Why::Assumed(number) => last = last.max(Some(number)),
                Why::Reads(writer) => match self.number(Pair { before: writer, after: by }) {
                    Some(number) => last = last.max(Some(number)),
                    None => pairs.push(Pair { before: by, after: writer }),
                },
            }
        }
        while pairs.is_empty() {
            pairs = self.take_back(last?);
            last = last.and_then(|last| last.checked_sub(1));
        }
        pairs.sort_by_key(moves);
        let pair = pairs.remove(0);
        self.before.entry(pair.after).or_default().push(self.all.len());
        self.all.push(Assumption { pair, others: pairs });
        Some(pair)
    }

    /// The number of an assumption.
    fn number(&self, pair: Pair) -> Option<usize> {
        self.before(pair.after).find(|(_, before)| *before == pair.before).map(|(number, _)| number)
    }

    /// Takes back an assumption and all later ones. What would do instead of it.
    fn take_back(&mut self, number: usize) -> Vec<Pair> {
        let mut others = Vec::new();
        for assumption in self.all.drain(number..).rev() {
            if let Some(numbers) = self.before.get_mut(&assumption.pair.after) {
                numbers.pop();
            }
            others = assumption.others;
        }
        others
    }
}
