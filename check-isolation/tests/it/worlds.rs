//! Small worlds: all histories of a size, and random ones.

use check_isolation::{KeyId, KnownOrder, NewTxn, Read, Transactions, TxnId};

/// A small generator of pseudo-random numbers: splitmix64, by Steele, Lea and Flood (2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % u64::try_from(n).unwrap()).unwrap()
    }
}

/// An operation: a key, and whether it writes.
pub(crate) type Op = (usize, bool);

/// Sessions and intervals, one of each per transaction.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) sessions: Vec<u32>,
    pub(crate) times: Vec<(u64, Option<u64>)>,
}

/// The external reads of these transactions: transaction and key, in order.
pub(crate) fn external(txns: &[Vec<Op>]) -> Vec<(usize, usize)> {
    let mut reads = Vec::new();
    for (txn, ops) in txns.iter().enumerate() {
        for (at, (key, is_write)) in ops.iter().enumerate() {
            if !is_write && !ops[..at].contains(&(*key, true)) {
                reads.push((txn, *key));
            }
        }
    }
    reads
}

/// The possible writers of each read's value: none (the initial state), or another transaction that writes the key.
pub(crate) fn choices(txns: &[Vec<Op>], reads: &[(usize, usize)]) -> Vec<Vec<TxnId>> {
    let writers = |(reader, key): &(usize, usize)| {
        let others = (0..txns.len()).filter(|txn| txn != reader && txns[*txn].contains(&(*key, true)));
        std::iter::once(TxnId::NONE).chain(others.map(TxnId::new)).collect()
    };
    reads.iter().map(writers).collect()
}

/// The transactions, with these writers of their reads.
pub(crate) fn build(txns: &[Vec<Op>], reads: &[(usize, usize)], writers: &[TxnId], frame: &Frame) -> Transactions {
    let mut all = Transactions::default();
    for (at, ops) in txns.iter().enumerate() {
        let of_txn = reads.iter().zip(writers).filter(|((reader, _), _)| *reader == at);
        let read: Vec<Read> =
            of_txn.map(|((_, key), writer)| Read { key: KeyId::new(*key), writer: *writer }).collect();
        let writes: Vec<KeyId> = ops.iter().filter(|op| op.1).map(|op| KeyId::new(op.0)).collect();
        let (begin, end) = frame.times[at];
        all.push(&NewTxn { session: Some(frame.sessions[at]), begin: Some(begin), end, reads: &read, writes: &writes });
    }
    all
}

/// A random history of `n` transactions.
pub(crate) fn random(random: &mut Random, n: usize, keys: usize, ops: usize) -> Transactions {
    let txns: Vec<Vec<Op>> =
        (0..n).map(|_| (0..=random.below(ops)).map(|_| (random.below(keys), random.below(2) == 0)).collect()).collect();
    let reads = external(&txns);
    let writers: Vec<TxnId> =
        choices(&txns, &reads).iter().map(|choices| choices[random.below(choices.len())]).collect();
    let sessions = 1 + random.below(n);
    let frame = random_frame(random, n, sessions);
    build(&txns, &reads, &writers, &frame)
}

/// For each key, adds a known order of some of its writers, which the others follow: as reads of a list do.
pub(crate) fn add_orders(random: &mut Random, txns: &mut Transactions) {
    for key in (0..txns.keys()).map(KeyId::new) {
        let mut writers: Vec<TxnId> = txns.ids().filter(|txn| txns.is_writer(*txn, key)).collect();
        for at in 1..writers.len() {
            writers.swap(at, random.below(at + 1));
        }
        let shown = random.below(writers.len() + 1);
        for at in 1..writers.len() {
            let before = if at < shown { at } else { shown };
            if before > 0 {
                txns.push_order(KnownOrder { key, before: writers[before - 1], after: writers[at] });
            }
        }
    }
}

/// Sessions whose transactions are sequential and overlap with those of others; rows are in the order of completion.
fn random_frame(random: &mut Random, n: usize, sessions: usize) -> Frame {
    let mut free_at = vec![0; sessions];
    let mut now = 1;
    let mut frame = Frame { sessions: Vec::new(), times: Vec::new() };
    for _ in 0..n {
        let session = random.below(sessions);
        let begin = free_at[session].max(now - u64::try_from(random.below(8)).unwrap().min(now)) + 1;
        let end = begin.max(now) + 1;
        (now, free_at[session]) = (end + 1, end);
        frame.sessions.push(session.try_into().unwrap());
        frame.times.push((begin, Some(end)));
    }
    frame
}
