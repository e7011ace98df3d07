//! Transactions that happened, as columns: sessions, real time, external reads with their writers, and keys written.

use crate::ids::{KeyId, TxnId};
use history_core::cast::Cast as _;

/// An absent session, in a column of sessions.
pub(crate) const NO_SESSION: u32 = u32::MAX;

/// An external read: one whose value is not from its own transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The key.
    pub key: KeyId,
    /// The transaction whose last write of the key was read; `TxnId::NONE` for the first state.
    pub writer: TxnId,
}

/// Two writers of a key whose order is known: from a read of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownOrder {
    /// The key.
    pub key: KeyId,
    /// The transaction that wrote it first.
    pub before: TxnId,
    /// The transaction that wrote it later.
    pub after: TxnId,
}

/// The transactions of a history that happened: the input of [`decide`](crate::decide()).
///
/// Rows are in an order that extends that of each session; if in doubt the order of completion, near which commit
/// orders are also searched for. Adding a transaction takes time linear in it.
///
/// ```
/// use check_isolation::{KeyId, Level, NewTxn, Outcome, Read, Transactions, TxnId};
///
/// // Write skew: two transactions that each miss what the other wrote.
/// let (x, y) = (KeyId::new(0), KeyId::new(1));
/// let mut txns = Transactions::default();
/// let read = |key| Read { key, writer: TxnId::NONE };
/// txns.push(&NewTxn { reads: &[read(x)], writes: &[y], ..NewTxn::default() });
/// txns.push(&NewTxn { reads: &[read(y)], writes: &[x], ..NewTxn::default() });
/// let decide = |name: &str| check_isolation::decide(&txns, name.parse().unwrap(), &Default::default());
/// assert!(matches!(decide("snapshot-isolation"), Outcome::Holds(_)));
/// assert!(matches!(decide("serializable"), Outcome::Violated(_)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    session: Vec<u32>,
    begin: Vec<u64>,
    end: Vec<u64>,
    /// Nondecreasing; the last entry is `reads.len()`.
    reads_end: Vec<u32>,
    reads: Vec<Read>,
    /// Nondecreasing; the last entry is `writes.len()`.
    writes_end: Vec<u32>,
    /// For each transaction in the order of keys, without duplicates.
    writes: Vec<KeyId>,
    /// For each transaction, the bits of the keys that it writes: see [`bit`].
    write_bits: Vec<u64>,
    orders: Vec<KnownOrder>,
    keys: usize,
}

/// The bit of a key in a set of keys: its number modulo 64. Two keys may share a bit, so such a set can only show that
/// a key is not in it.
#[inline]
pub(crate) fn bit(key: KeyId) -> u64 {
    1 << (key.number() & 63)
}

/// A transaction to add to [`Transactions`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NewTxn<'a> {
    /// The number of its session, if it is in one.
    pub session: Option<u32>,
    /// The position in the history of its invocation, if known.
    pub begin: Option<u64>,
    /// The position in the history of its completion, if it is known when the transaction ended.
    pub end: Option<u64>,
    /// Its external reads in the order of the transaction. Writers may be rows that are added later.
    pub reads: &'a [Read],
    /// The keys it writes, in any order.
    pub writes: &'a [KeyId],
}

impl Transactions {
    /// Adds a transaction, the next row.
    ///
    /// # Panics
    ///
    /// If there are more than 2^32 - 2 rows, reads or writes.
    pub fn push(&mut self, txn: &NewTxn<'_>) -> TxnId {
        txn.reads.iter().for_each(|read| self.push_read(*read));
        txn.writes.iter().for_each(|key| self.push_write(*key));
        self.close(txn.session, txn.begin, txn.end)
    }

    /// Adds an external read to the next row.
    #[inline]
    pub(crate) fn push_read(&mut self, read: Read) {
        self.keys = self.keys.max(read.key.at() + 1);
        self.reads.push(read);
    }

    /// Adds a key that is written to the next row.
    #[inline]
    pub(crate) fn push_write(&mut self, key: KeyId) {
        self.keys = self.keys.max(key.at() + 1);
        self.writes.push(key);
    }

    /// Adds the next row, with the reads and writes added so far.
    pub(crate) fn close(&mut self, session: Option<u32>, begin: Option<u64>, end: Option<u64>) -> TxnId {
        let id = TxnId::new(self.len());
        self.session.push(session.unwrap_or(NO_SESSION));
        self.begin.push(begin.unwrap_or(0));
        self.end.push(end.unwrap_or(u64::MAX));
        let from = self.writes_end.last().map_or(0, |end| end.to_usize());
        let own = &mut self.writes[from..];
        self.write_bits.push(own.iter().fold(0, |bits, key| bits | bit(*key)));
        if own.len() > 1 {
            own.sort_unstable();
            let mut kept = 1;
            for at in 1..own.len() {
                if own[kept - 1] != own[at] {
                    own[kept] = own[at];
                    kept += 1;
                }
            }
            self.writes.truncate(from + kept);
        }
        assert!(self.reads.len().max(self.writes.len()).max(self.len()) < u32::MAX.to_usize(), "too many rows");
        self.reads_end.push(self.reads.len().to_u32());
        self.writes_end.push(self.writes.len().to_u32());
        id
    }

    /// Adds an order of two writers of a key that is known.
    pub fn push_order(&mut self, order: KnownOrder) {
        self.orders.push(order);
    }

    /// The number of transactions.
    pub fn len(&self) -> usize {
        self.session.len()
    }

    /// Returns true if there are no transactions.
    pub fn is_empty(&self) -> bool {
        self.session.is_empty()
    }

    /// A number that is greater than that of every key.
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// All transactions, in the order of their rows.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TxnId> + use<> {
        (0..self.len()).map(TxnId::new)
    }

    /// The external reads of a transaction, in its order.
    #[inline]
    pub fn reads(&self, txn: TxnId) -> &[Read] {
        &self.reads[self.reads_range(txn)]
    }

    /// The range of a transaction's reads among all reads.
    #[inline]
    pub(crate) fn reads_range(&self, txn: TxnId) -> std::ops::Range<usize> {
        let at = txn.at();
        let from = if at == 0 { 0 } else { self.reads_end[at - 1].to_usize() };
        from..self.reads_end[at].to_usize()
    }

    /// All external reads, transaction by transaction.
    pub fn all_reads(&self) -> &[Read] {
        &self.reads
    }

    /// The keys that a transaction writes, in order, each once.
    #[inline]
    pub fn writes(&self, txn: TxnId) -> &[KeyId] {
        &self.writes[self.writes_range(txn)]
    }

    /// The bits of the keys that a transaction writes.
    #[inline]
    pub(crate) fn write_bits(&self, txn: TxnId) -> u64 {
        self.write_bits[txn.at()]
    }

    /// The range of a transaction's written keys among all.
    #[inline]
    pub(crate) fn writes_range(&self, txn: TxnId) -> std::ops::Range<usize> {
        let at = txn.at();
        let from = if at == 0 { 0 } else { self.writes_end[at - 1].to_usize() };
        from..self.writes_end[at].to_usize()
    }

    /// The number of writes.
    pub(crate) fn write_count(&self) -> usize {
        self.writes.len()
    }

    /// Returns true if a transaction writes a key.
    #[inline]
    pub fn is_writer(&self, txn: TxnId, key: KeyId) -> bool {
        self.writes(txn).binary_search(&key).is_ok()
    }

    /// The orders of writers that are known.
    pub fn orders(&self) -> &[KnownOrder] {
        &self.orders
    }

    /// The session of a transaction, if it is in one.
    #[inline]
    pub fn session(&self, txn: TxnId) -> Option<u32> {
        let session = self.session[txn.at()];
        (session != NO_SESSION).then_some(session)
    }

    /// Puts a transaction into a session.
    pub(crate) fn set_session(&mut self, txn: TxnId, session: u32) {
        self.session[txn.at()] = session;
    }

    /// Sets the writer of the read at a position among all reads.
    pub(crate) fn set_writer(&mut self, read: usize, writer: TxnId) {
        self.reads[read].writer = writer;
    }

    /// Drops all other rows than those to keep, in place. No kept row may read from a dropped one, and there must be no
    /// known orders, because these name rows by number.
    pub(crate) fn retain(&mut self, is_kept: &[bool]) {
        debug_assert!(self.orders.is_empty(), "orders name rows by number");
        let mut number_of = vec![TxnId::NONE; self.len()];
        let (mut reads_end, mut writes_end) = (Vec::new(), Vec::new());
        let (mut kept, mut reads, mut writes) = (0, 0, 0);
        for txn in (0..self.len()).map(TxnId::new).filter(|txn| is_kept[txn.at()]) {
            number_of[txn.at()] = TxnId::new(kept);
            let (reads_of, writes_of) = (self.reads_range(txn), self.writes_range(txn));
            let counts = (reads_of.len(), writes_of.len());
            self.reads.copy_within(reads_of, reads);
            self.writes.copy_within(writes_of, writes);
            (reads, writes) = (reads + counts.0, writes + counts.1);
            self.write_bits[kept] = self.write_bits[txn.at()];
            self.session[kept] = self.session[txn.at()];
            self.begin[kept] = self.begin[txn.at()];
            self.end[kept] = self.end[txn.at()];
            reads_end.push(reads.to_u32());
            writes_end.push(writes.to_u32());
            kept += 1;
        }
        (self.reads_end, self.writes_end) = (reads_end, writes_end);
        self.write_bits.truncate(kept);
        self.session.truncate(kept);
        self.begin.truncate(kept);
        self.end.truncate(kept);
        self.reads.truncate(reads);
        self.writes.truncate(writes);
        for read in self.reads.iter_mut().filter(|read| read.writer != TxnId::NONE) {
            read.writer = number_of[read.writer.at()];
        }
    }

    /// Removes a transaction from its session.
    pub(crate) fn isolate(&mut self, txn: TxnId) {
        self.session[txn.at()] = NO_SESSION;
    }

    /// The position of a transaction's invocation; 0 if it is not known.
    #[inline]
    pub fn begin(&self, txn: TxnId) -> u64 {
        self.begin[txn.at()]
    }

    /// The position of a transaction's completion; `u64::MAX` if it is not known that it was over.
    #[inline]
    pub fn end(&self, txn: TxnId) -> u64 {
        self.end[txn.at()]
    }

    /// The reader of the read at a position among all.
    pub(crate) fn reader(&self, read: usize) -> TxnId {
        TxnId::new(self.reads_end.partition_point(|end| end.to_usize() <= read))
    }
}
