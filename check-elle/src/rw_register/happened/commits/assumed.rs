//! Pairs of transactions of which one is assumed to be committed before the other, and the alternatives.
//!
//! An assumption that turns out wrong is retracted with all later ones, and an alternative is assumed.

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
    /// Alternatives to `pair`.
    others: Vec<Pair>,
}

/// All assumptions, in the order in which they were made.
#[derive(Default)]
pub(super) struct Assumed {
    all: Vec<Assumption>,
    /// For each transaction, the numbers of the assumptions about transactions committed before it.
    before: HashMap<TxnId, Vec<usize>>,
}

impl Assumed {
    /// The assumptions about the transactions committed before `txn`: number and transaction.
    #[inline]
    pub(super) fn before(&self, txn: TxnId) -> impl Iterator<Item = (usize, TxnId)> {
        let numbers = if self.all.is_empty() { None } else { self.before.get(&txn) };
        numbers.into_iter().flatten().map(|number| (*number, self.all[*number].pair.before))
    }

    /// Assumes an alternative to one of these needs, which cannot all be met; each comes with the transaction that has
    /// it. Of all possible pairs, chooses the one with the fewest `moves`. If there is no alternative, the last
    /// assumption on which the needs are based was wrong, and an alternative to it is assumed. `None` if that has no
    /// alternative either.
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

    /// Retracts an assumption and all later ones. Returns the alternatives to it.
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
