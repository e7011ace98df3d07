//! What causal consistency forces: for each read and each chain the last visible writer of the key is before what was read.
//!
//! What reaches a transaction along base and reads is a number for each chain. These are computed in topological order for some
//! chains at a time, and forgotten once the last transaction behind this one was looked at, so memory is linear whatever the
//! number of chains is. Time is O(arcs · chains) and, at the worst, O(reads · chains that write the key · log): [`recent`] looks at
//! a few writers where chains are few.

use super::recent::{Clock, Recent};
use super::{Forced, Known, check};
use crate::base;
use crate::chains::{Chains, Writers};
use crate::csr::Csr;
use crate::ids::TxnId;
use history_core::cast::Cast as _;
use history_core::{Budget, Spent};
use std::cell::OnceCell;

/// Stands for no clock.
const NONE: u32 = u32::MAX;

pub(super) fn forced(known: &Known<'_>, budget: &Budget) -> Result<Vec<Forced>, Spent> {
    let chains = Chains::new(known.txns, &known.frame, &known.order);
    match chains.count {
        0..=16 => passes::<16>(known, &chains, Recent::new(known.txns, &chains), budget),
        17..=32 => passes::<32>(known, &chains, Recent::new(known.txns, &chains), budget),
        _ => passes::<64>(known, &chains, Recent::new(known.txns, &chains), budget),
    }
}

/// Looks at all chains, so many at a time.
fn passes<const CHAINS: usize>(
    known: &Known<'_>,
    chains: &Chains,
    recent: Recent<CHAINS>,
    budget: &Budget,
) -> Result<Vec<Forced>, Spent> {
    let mut pass = Pass::<CHAINS> {
        known,
        seen: known.seen(),
        before: base::seen_from(known.txns, &known.frame),
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
        let steps = (known.graph.len() * from).to_u64();
        check(budget, steps, pass.clocks.len() * size_of::<Clock<CHAINS>>())?;
        pass.run(from);
    }
    Ok(pass.forced)
}

struct Pass<'k, const CHAINS: usize> {
    known: &'k Known<'k>,
    seen: &'k Csr,
    /// The arcs of `seen` by where they lead to.
    before: Csr,
    chains: &'k Chains,
    recent: Recent<CHAINS>,
    /// Needed only where `recent` does not suffice.
    writers: OnceCell<Writers>,
    clocks: Vec<Clock<CHAINS>>,
    /// Clocks that nobody needs any more.
    free: Vec<u32>,
    /// The clock of each node that has one.
    clock_of: Vec<u32>,
    /// For each node, how many arcs lead from it to nodes that were not yet looked at.
    waits: Vec<u32>,
    forced: Vec<Forced>,
}

impl<const CHAINS: usize> Pass<'_, CHAINS> {
    /// Looks at the chains `from..from + CHAINS`.
    fn run(&mut self, from: usize) {
        self.clock_of.clear();
        self.clock_of.resize(self.seen.len(), NONE);
        self.waits.clear();
        self.waits.extend((0..self.seen.len()).map(|node| self.seen.range(node).len().to_u32()));
        self.free.clear();
        self.free.extend(0..self.clocks.len().to_u32());
        self.recent.begin(from, self.chains);
        let known = self.known;
        for node in &known.order {
            let node = node.to_usize();
            let mut clock = [0; CHAINS];
            for before in self.before.row(node) {
                let other = &self.clocks[self.clock_of[before.to_usize()].to_usize()];
                for (own, other) in clock.iter_mut().zip(other) {
                    *own = (*own).max(*other);
                }
            }
            if node < known.txns.len() {
                self.look(TxnId::new(node), from, &clock);
                let chain = self.chains.of[node].to_usize();
                if (from..from + CHAINS).contains(&chain) {
                    clock[chain - from] = self.chains.at[node] + 1;
                }
                self.recent.push(known.txns, self.chains, TxnId::new(node), &clock);
            }
            if self.waits[node] > 0 {
                self.keep(node, clock);
            }
            for at in self.before.range(node) {
                let before = self.before.item(at).to_usize();
                self.waits[before] -= 1;
                if self.waits[before] == 0 {
                    self.free.push(self.clock_of[before]);
                }
            }
        }
    }

    /// Keeps the clock of a node until all behind it were looked at.
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
        for at in self.known.txns.reads_range(txn) {
            let read = self.known.txns.all_reads()[at];
            // What the writer saw is no news. Nothing is before the first state.
            let writer = match read.writer {
                TxnId::NONE => &[0; CHAINS],
                writer => &self.clocks[self.clock_of[writer.at()].to_usize()],
            };
            let forced = &mut self.forced;
            let mut each = |first| forced.push(Forced { first, second: read.writer, read: at.to_u32() });
            if !self.recent.each_missed(read, clock, writer, &mut each) {
                let writers = self.writers.get_or_init(|| Writers::new(self.known.txns, self.chains));
                let groups = writers.groups(read.key);
                let first = groups.partition_point(|group| group.chain.to_usize() < from);
                for group in groups[first..].iter().take_while(|group| group.chain.to_usize() < from + CHAINS) {
                    let chain = group.chain.to_usize() - from;
                    let last = writers.last_within(*group, clock[chain]);
                    last.filter(|last| writer[chain] <= self.chains.at[last.at()]).into_iter().for_each(&mut each);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Frame;
    use crate::ids::KeyId;
    use crate::level::Base;
    use crate::transactions::{NewTxn, Read, Transactions};

    /// Transactions of sessions that see each other late, and at times too late: each reads what was there up to `lag` transactions ago.
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

    /// What is forced, with a look at recent writers and without.
    fn both<const CHAINS: usize>(txns: &Transactions) -> [Vec<(u32, TxnId)>; 2] {
        let frame = Frame::new(txns, Base::Session);
        let graph = base::graph(txns, &frame, &[]);
        let order = graph.topological();
        let known = Known { txns, base: Base::Session, frame, graph, seen: None, order };
        let chains = Chains::new(txns, &known.frame, &known.order);
        [Recent::new(txns, &chains), Recent::none()].map(|recent| {
            let forced = passes::<CHAINS>(&known, &chains, recent, &Budget::default()).unwrap();
            let mut forced: Vec<(u32, TxnId)> = forced.iter().map(|case| (case.read, case.first)).collect();
            forced.sort_unstable();
            forced
        })
    }

    #[test]
    fn recent_writers_are_all_that_a_read_can_miss() {
        let mut missed = 0;
        for seed in 0..24 {
            let keys = [3, 30, 300][seed % 3];
            for lag in [0, 20, 200] {
                let [with, without] = both::<16>(&late(8, keys, lag, seed.to_u64()));
                assert_eq!(with, without, "{keys} keys, lag {lag}, seed {seed}");
                missed += with.len();
                // More chains than are looked at at once.
                let [with, without] = both::<16>(&late(40, keys, lag, seed.to_u64()));
                assert_eq!(with, without, "{keys} keys, lag {lag}, seed {seed}, 40 sessions");
            }
        }
        assert!(missed > 10_000, "{missed}");
    }
}
