//! Places transactions in an order that may have happened but were not observed.
//!
//! The end of the order is always possible. But another share may show that such a transaction did happen, and then
//! mostly soon after its invocation. So it gets the first place, after all transactions that had completed by then, at
//! which none of its writes hides a value that is read: the next use of each key is a write.

use check_isolation::{Transactions, TxnId};
use history_core::cast::Cast as _;

/// The maximum number of steps from one place to the next for one transaction. Beyond it, the transaction stays at the
/// end.
const STEPS_MAX: usize = 4096;

/// The order, with transactions that are neither certain nor observed as early as possible.
pub(super) fn early(txns: &Transactions, is_certain: impl Fn(TxnId) -> bool, order: Vec<TxnId>) -> Vec<TxnId> {
    let mut is_seen = vec![false; txns.len()];
    for read in txns.all_reads().iter().filter(|read| read.writer != TxnId::NONE) {
        is_seen[read.writer.at()] = true;
    }
    let is_unseen = |txn: &TxnId| !is_certain(*txn) && !is_seen[txn.at()];
    let (mut unseen, seen): (Vec<TxnId>, Vec<TxnId>) = order.into_iter().partition(is_unseen);
    if unseen.is_empty() {
        return seen;
    }
    unseen.sort_unstable_by_key(|txn| (txns.begin(*txn), *txn));
    let uses = Uses::new(txns, &seen);
    let mut places: Vec<(usize, TxnId)> = unseen.into_iter().map(|txn| (uses.place(txns, txn), txn)).collect();
    places.sort_by_key(|(place, _)| *place);
    let mut places = places.into_iter().peekable();
    let mut all = Vec::with_capacity(txns.len());
    for at in 0..=seen.len() {
        while let Some((_, txn)) = places.next_if(|(place, _)| *place == at) {
            all.push(txn);
        }
        all.extend(seen.get(at));
    }
    all
}

/// The uses of keys in an order.
struct Uses {
    /// For each key, the places that use it, and whether the key is read there before it is written.
    of_key: Vec<Vec<(u32, bool)>>,
    /// For each place, the first end of all transactions at or after it.
    first_end: Vec<u64>,
}

impl Uses {
    fn new(txns: &Transactions, order: &[TxnId]) -> Uses {
        let mut of_key = vec![Vec::new(); txns.keys()];
        let mut first_end = vec![u64::MAX; order.len()];
        let mut first = u64::MAX;
        for (at, txn) in order.iter().enumerate().rev() {
            first = first.min(txns.end(*txn));
            first_end[at] = first;
        }
        for (at, txn) in order.iter().enumerate() {
            for read in txns.reads(*txn) {
                of_key[read.key.at()].push((at.to_u32(), true));
            }
            for key in txns.writes(*txn) {
                let uses = &mut of_key[key.at()];
                if uses.last().is_none_or(|(last, _)| last.to_usize() != at) {
                    uses.push((at.to_u32(), false));
                }
            }
        }
        Uses { of_key, first_end }
    }

    /// The place before which a transaction can be inserted.
    fn place(&self, txns: &Transactions, txn: TxnId) -> usize {
        let begin = txns.begin(txn);
        let mut place = self.first_end.partition_point(|end| *end < begin);
        for _ in 0..STEPS_MAX {
            let later = txns.writes(txn).iter().map(|key| self.next_write(*key, place)).max().unwrap_or(place);
            if later <= place {
                return place;
            }
            place = later;
        }
        self.first_end.len()
    }

    /// This place, unless the next use of the key reads it; then the next place that writes the key without reading it.
    fn next_write(&self, key: check_isolation::KeyId, place: usize) -> usize {
        let uses = &self.of_key[key.at()];
        let from = uses.partition_point(|(at, _)| at.to_usize() < place);
        match uses.get(from) {
            Some((_, true)) => {
                let write = uses[from..].iter().find(|(_, reads)| !reads);
                write.map_or(self.first_end.len(), |(at, _)| at.to_usize())
            }
            _ => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use check_isolation::{KeyId, NewTxn, Read};

    const FIRST: TxnId = TxnId::NONE;

    struct History(Transactions);

    impl History {
        fn push(&mut self, begin: u64, end: Option<u64>, reads: &[(usize, TxnId)], writes: &[usize]) -> TxnId {
            let reads: Vec<Read> =
                reads.iter().map(|(key, writer)| Read { key: KeyId::new(*key), writer: *writer }).collect();
            let writes: Vec<KeyId> = writes.iter().map(|key| KeyId::new(*key)).collect();
            self.0.push(&NewTxn { begin: Some(begin), end, reads: &reads, writes: &writes, ..NewTxn::default() })
        }

        /// The new place of a transaction that was last.
        fn place(&self, txn: TxnId) -> usize {
            let mut order: Vec<TxnId> = self.0.ids().filter(|other| *other != txn).collect();
            let others = order.clone();
            order.push(txn);
            let order = early(&self.0, |row| self.0.end(row) != u64::MAX, order);
            let rest: Vec<TxnId> = order.iter().copied().filter(|other| *other != txn).collect();
            assert_eq!(rest, others);
            order.iter().position(|other| *other == txn).unwrap()
        }
    }

    #[test]
    fn an_unobserved_transaction_is_placed_where_it_hides_no_value() {
        let mut history = History(Transactions::default());
        let one = history.push(0, Some(1), &[], &[0, 1]);
        let unseen = history.push(2, None, &[], &[0]);
        assert_eq!(history.place(unseen), 1, "after the completed transactions, and before no other");
        // That key is read and then written.
        history.push(3, Some(4), &[(0, one)], &[]);
        assert_eq!(history.place(unseen), 2);
        history.push(5, Some(6), &[(1, one)], &[0]);
        assert_eq!(history.place(unseen), 2);
        // A transaction that reads a key before it writes it would observe it.
        let mut history = History(Transactions::default());
        let one = history.push(0, Some(1), &[], &[0, 1]);
        let unseen = history.push(2, None, &[], &[0, 1]);
        history.push(3, Some(4), &[(0, one)], &[0]);
        history.push(5, Some(6), &[], &[0]);
        assert_eq!(history.place(unseen), 2, "key 1 is not used any more");
        history.push(7, Some(8), &[(1, one)], &[]);
        assert_eq!(history.place(unseen), 4, "behind all");
    }

    #[test]
    fn an_observed_transaction_keeps_its_place() {
        let mut history = History(Transactions::default());
        let seen = history.push(0, None, &[], &[0]);
        history.push(1, Some(2), &[(1, FIRST)], &[]);
        history.push(3, Some(4), &[(0, seen)], &[]);
        let order: Vec<TxnId> = [1, 0, 2].map(TxnId::new).into();
        assert_eq!(early(&history.0, |row| row != seen, order.clone()), order);
    }
}
