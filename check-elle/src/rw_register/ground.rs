//! The ground for the order of two successive versions: the transactions that show it, and an explanation as a clause.

use super::analysis::Registers;
use super::sources::Source;
use super::within::Touch;
use crate::ids::{TxnId, VersionId};
use history_core::hash::HashMap;

/// The reason why one version comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// Every version comes after the initial one.
    Initial,
    /// The transaction read the earlier version and wrote the later one.
    Within(TxnId),
    /// The last version of the first transaction is the earlier one, the first version of the second transaction is the
    /// later one, and this source orders the first transaction before the second.
    Between(Source, TxnId, TxnId),
}

impl Ground {
    /// The transactions that show it.
    pub(super) fn txns(self) -> impl Iterator<Item = TxnId> {
        let (a, b) = match self {
            Ground::Initial => (None, None),
            Ground::Within(txn) => (Some(txn), None),
            Ground::Between(_, a, b) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b)
    }
}

impl Registers {
    /// The first ground among these sources.
    pub(super) fn ground(&self, before: VersionId, after: VersionId, sources: &[Source]) -> Option<Ground> {
        sources.iter().find_map(|source| match source {
            Source::InitialState => self.versions.is_initial(before).then_some(Ground::Initial),
            Source::WfrKeys => {
                let writer = self.versions.installer(after)?;
                let touch = self.touches.find(writer, self.versions.version[after.at()].key)?;
                (touch.read() == Some(before)).then_some(Ground::Within(writer))
            }
            Source::TransactionOrder => {
                let mut touches = self.touches_in_given_order(before);
                touches.sort_unstable_by_key(|(rank, _)| *rank);
                Self::between(*source, touches.into_iter().map(|(_, touch)| (0, touch)), before, after)
            }
            Source::SequentialKeys => self.between_in_process(*source, before, after),
            Source::LinearizableKeys => {
                self.between_in_time(before, after).or_else(|| self.between_in_process(*source, before, after))
            }
        })
    }

    fn between_in_process(&self, source: Source, before: VersionId, after: VersionId) -> Option<Ground> {
        let touches = self.touches.of_key(self.versions.version[before.at()].key);
        let known = touches.filter_map(|touch| Some((self.txns.process(touch.txn)?, touch)));
        Self::between(source, known, before, after)
    }

    /// The touches of a version's key, with the positions of their transactions in the given order.
    fn touches_in_given_order(&self, version: VersionId) -> Vec<(usize, Touch)> {
        let ranks: HashMap<TxnId, usize> =
            self.order.transactions.iter().enumerate().map(|(rank, txn)| (*txn, rank)).collect();
        let touches = self.touches.of_key(self.versions.version[version.at()].key);
        touches.filter_map(|touch| Some((*ranks.get(&touch.txn)?, touch))).collect()
    }

    /// Two successive touches in one row that show the order.
    fn between(
        source: Source,
        lines: impl Iterator<Item = (i64, Touch)>,
        before: VersionId,
        after: VersionId,
    ) -> Option<Ground> {
        let mut first: HashMap<i64, Touch> = HashMap::default();
        for (line, touch) in lines {
            if touch.first() == after
                && let Some(earlier) = first.get(&line)
            {
                return Some(Ground::Between(source, earlier.txn, touch.txn));
            }
            if touch.last() == before {
                first.entry(line).or_insert(touch);
            }
        }
        None
    }

    /// The first to complete of the transactions whose last version is `before`, if it completed before the invocation
    /// of the last to be invoked of those whose first version is `after`.
    fn between_in_time(&self, before: VersionId, after: VersionId) -> Option<Ground> {
        let key = self.versions.version[before.at()].key;
        let touches = self.touches.of_key(key);
        // Completions are in the order of transactions.
        let earlier = touches.clone().find(|touch| touch.last() == before && self.txns.is_ok(touch.txn))?;
        let later = touches.filter(|touch| touch.first() == after);
        let later = later.max_by_key(|touch| self.txns.oks_before(touch.txn))?;
        let invoked = self.txns.invoked(later.txn)?;
        let is_before = self.txns.index(earlier.txn) < invoked;
        is_before.then_some(Ground::Between(Source::LinearizableKeys, earlier.txn, later.txn))
    }

    /// A clause that explains the ground, to follow "because".
    pub(super) fn explain_ground(
        &self,
        ground: Ground,
        (before, after): (VersionId, VersionId),
        name: impl Fn(TxnId) -> String,
    ) -> String {
        let (v, w) = (self.value(before), self.value(after));
        match ground {
            Ground::Initial => format!("every version follows {v}"),
            Ground::Within(txn) => format!("{} read {v} and then wrote {w}", name(txn)),
            Ground::Between(Source::LinearizableKeys, a, b) if self.txns.invoked(b).is_some() => {
                let (a, b, begin) = (name(a), name(b), self.txns.invoked(b).unwrap_or_default());
                format!("{a}, with {v} last, completed before {b}, with {w} first, was invoked at index {begin}")
            }
            Ground::Between(source, a, b) => {
                let line = if source == Source::TransactionOrder { "in the order given" } else { "in its process" };
                format!("{}, with {v} last, came {line} before {}, with {w} first", name(a), name(b))
            }
        }
    }
}
