//! The requirements of causal consistency: for each read and each chain, the last visible writer of the key is before
//! the version that was read.
//!
//! The transactions that reach one along base and reads are a number for each chain. These numbers are computed in
//! topological order for some chains at a time, and dropped after the last successor was examined, so memory is linear
//! for any number of chains. Time is O(arcs · chains) and, in the worst case, O(reads · chains that write the key ·
//! log): [`recent`] examines only a few writers if there are few chains.

use super::recent::{Clock, Recent};
use super::{Backwards, Forced, check};
use crate::base::Frame;
use crate::chains::{Chains, Writers};
use crate::ids::TxnId;
use crate::transactions::Transactions;
use history_core::cast::Cast as _;
use history_core::{Budget, Spent};
use std::cell::OnceCell;

/// The number of an absent clock.
const NONE: u32 = u32::MAX;

/// The forced orders; `order` is a topological order of all nodes.
pub(super) fn forced(
    backwards: &Backwards<'_>,
    frame: &Frame,
    order: &[u32],
    budget: &Budget,
) -> Result<Vec<Forced>, Spent> {
    let txns = backwards.txns;
    let chains = Chains::new(txns, frame, order);
    match chains.count {
        0..=16 => passes::<16>(backwards, order, &chains, Recent::new(txns, &chains), budget),
        17..=32 => passes::<32>(backwards, order, &chains, Recent::new(txns, &chains), budget),
        _ => passes::<64>(backwards, order, &chains, Recent::new(txns, &chains), budget),
    }
}

/// Examines all chains, `CHAINS` at a time.
fn passes<const CHAINS: usize>(
    backwards: &Backwards<'_>,
    order: &[u32],
    chains: &Chains,
    recent: Recent<CHAINS>,
    budget: &Budget,
) -> Result<Vec<Forced>, Spent> {
    let nodes = backwards.nodes();
    let mut arcs_out = vec![0; nodes];
    (0..nodes).for_each(|node| backwards.each_seen(node, |before| arcs_out[before] += 1));
    let mut pass = Pass::<CHAINS> {
        txns: backwards.txns,
        backwards,
        order,
        arcs_out,
        chains,
        recent,
        writers: OnceCell::new(),
        clocks: Vec::new(),
        free: Vec::new(),
        clock_of: Vec::new(),
        waits: Vec::new(),
        forced: Vec::new(),
    };
    for from in (0..chains.count).step_by(CHAINS) {
        let steps = (nodes * from).to_u64();
        check(budget, steps, pass.clocks.len() * size_of::<Clock<CHAINS>>())?;
        pass.run(from);
    }
    Ok(pass.forced)
}

struct Pass<'k, const CHAINS: usize> {
    txns: &'k Transactions,
    backwards: &'k Backwards<'k>,
    order: &'k [u32],
    /// For each node, the number of arcs from it.
    arcs_out: Vec<u32>,
    chains: &'k Chains,
    recent: Recent<CHAINS>,
    /// Computed only if `recent` does not suffice.
    writers: OnceCell<Writers>,
    clocks: Vec<Clock<CHAINS>>,
    /// Clocks that can be reused.
    free: Vec<u32>,
    /// The clock of each node, if it has one.
    clock_of: Vec<u32>,
    /// For each node, the number of arcs from it to nodes that were not examined yet.
    waits: Vec<u32>,
    forced: Vec<Forced>,
}

impl<const CHAINS: usize> Pass<'_, CHAINS> {
    /// Examines the chains `from..from + CHAINS`.
    fn run(&mut self, from: usize) {
        self.clock_of.clear();
        self.clock_of.resize(self.arcs_out.len(), NONE);
        self.waits.clone_from(&self.arcs_out);
        self.free.clear();
        self.free.extend(0..self.clocks.len().to_u32());
        self.recent.begin(from, self.chains);
        let (txns, backwards) = (self.txns, self.backwards);
        for node in self.order {
            let node = node.to_usize();
            let mut clock = [0; CHAINS];
            backwards.each_seen(node, |before| {
                // A transaction that observes it also observes what it observed. Most versions that are read are old,
                // and the previous transaction of the session observed them too.
                if before < txns.len() && self.has(&clock, TxnId::new(before), from) {
                    return;
                }
                let other = &self.clocks[self.clock_of[before].to_usize()];
                for (own, other) in clock.iter_mut().zip(other) {
                    *own = (*own).max(*other);
                }
            });
            if node < txns.len() {
                self.look(TxnId::new(node), from, &clock);
                let chain = self.chains.of[node].to_usize();
                if (from..from + CHAINS).contains(&chain) {
                    clock[chain - from] = self.chains.at[node] + 1;
                }
                self.recent.push(txns, self.chains, TxnId::new(node), &clock);
            }
            if self.waits[node] > 0 {
                self.keep(node, clock);
            }
            backwards.each_seen(node, |before| {
                self.waits[before] -= 1;
                if self.waits[before] == 0 {
                    self.free.push(self.clock_of[before]);
                }
            });
        }
    }

    /// Returns true if a transaction is in a clock of the chains from `from` on.
    #[inline]
    fn has(&self, clock: &Clock<CHAINS>, txn: TxnId, from: usize) -> bool {
        let chain = self.chains.of[txn.at()].to_usize().wrapping_sub(from);
        clock.get(chain).is_some_and(|count| *count > self.chains.at[txn.at()])
    }

    /// Keeps the clock of a node until all its successors were examined.
    #[inline]
    fn keep(&mut self, node: usize, clock: Clock<CHAINS>) {
        self.clock_of[node] = if let Some(free) = self.free.pop() {
            self.clocks[free.to_usize()] = clock;
            free
        } else {
            self.clocks.push(clock);
            (self.clocks.len() - 1).to_u32()
        };
    }

    fn look(&mut self, txn: TxnId, from: usize, clock: &Clock<CHAINS>) {
        if clock.iter().all(|count| *count == 0) {
            return;
        }
        for at in self.txns.reads_range(txn) {
            let read = self.txns.all_reads()[at];
            // Only writers that the read's own writer did not observe matter. Nothing is before the first state. Clocks
            // of writers are far apart in memory, and seldom needed.
            let saw = |chain: usize| match read.writer {
                TxnId::NONE => 0,
                writer => self.clocks[self.clock_of[writer.at()].to_usize()][chain],
            };
            let forced = &mut self.forced;
            let mut each = |first| forced.push(Forced { first, second: read.writer, read: at.to_u32() });
            if !self.recent.each_missed(read, clock, saw, &mut each) {
                let writers = self.writers.get_or_init(|| Writers::new(self.txns, self.chains));
                let groups = writers.groups(read.key);
                let first = groups.partition_point(|group| group.chain.to_usize() < from);
                for group in groups[first..].iter().take_while(|group| group.chain.to_usize() < from + CHAINS) {
                    let chain = group.chain.to_usize() - from;
                    let last = writers.last_within(*group, clock[chain]);
                    last.filter(|last| saw(chain) <= self.chains.at[last.at()]).into_iter().for_each(&mut each);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Frame;
    use crate::csr::Csr;
    use crate::ids::KeyId;
    use crate::level::Base;
    use crate::transactions::{NewTxn, Read, Transactions};

    /// Transactions of sessions that observe each other late, and sometimes too late: each reads a version that was
    /// current up to `lag` transactions ago.
    fn late(sessions: u32, keys: usize, lag: usize, mut seed: u64) -> Transactions {
        let mut below = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33).to_usize() % n
        };
        let mut txns = Transactions::default();
        let mut writers: Vec<Vec<TxnId>> = vec![Vec::new(); keys];
        for at in 0..2000 {
            let seen = at - below(lag + 1).min(at);
            let read = |key: usize| {
                let writer = writers[key].iter().rev().find(|writer| writer.at() < seen);
                Read { key: KeyId::new(key), writer: writer.copied().unwrap_or(TxnId::NONE) }
            };
            let reads: Vec<Read> = (0..=below(3)).map(|_| below(keys)).map(read).collect();
            let writes: Vec<KeyId> = (0..below(3)).map(|_| KeyId::new(below(keys))).collect();
            let session = Some(below(sessions.to_usize()).to_u32());
            let id = txns.push(&NewTxn { session, reads: &reads, writes: &writes, ..NewTxn::default() });
            txns.writes(id).iter().for_each(|key| writers[key.at()].push(id));
        }
        txns
    }

    /// The forced orders, computed with recent writers and without.
    fn both<const CHAINS: usize>(txns: &Transactions) -> [Vec<(u32, TxnId)>; 2] {
        let frame = Frame::new(txns, Base::Session);
        let backwards = Backwards::new(txns, &frame);
        let order = backwards.order(&Csr::default()).unwrap();
        let chains = Chains::new(txns, &frame, &order);
        [Recent::new(txns, &chains), Recent::none()].map(|recent| {
            let forced = passes::<CHAINS>(&backwards, &order, &chains, recent, &Budget::default()).unwrap();
            let mut forced: Vec<(u32, TxnId)> = forced.iter().map(|case| (case.read, case.first)).collect();
            forced.sort_unstable();
            forced
        })
    }

    #[test]
    fn a_read_can_miss_only_recent_writers() {
        let mut missed = 0;
        for seed in 0..24 {
            let keys = [3, 30, 300][seed % 3];
            for lag in [0, 20, 200] {
                let [with, without] = both::<16>(&late(8, keys, lag, seed.to_u64()));
                assert_eq!(with, without, "{keys} keys, lag {lag}, seed {seed}");
                missed += with.len();
                // More chains than one pass examines.
                let [with, without] = both::<16>(&late(40, keys, lag, seed.to_u64()));
                assert_eq!(with, without, "{keys} keys, lag {lag}, seed {seed}, 40 sessions");
            }
        }
        assert!(missed > 10_000, "{missed}");
    }
}
