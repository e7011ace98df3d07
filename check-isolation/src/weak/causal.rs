//! What causal consistency forces: for each read and each chain the last visible writer of the key is before what was read.
//!
//! What reaches a transaction along base and reads is a number for each chain. These are computed in topological order for some
//! chains at a time, and forgotten once the last transaction that read from this one was looked at, so memory is linear whatever the
//! number of chains is. Time is O(arcs · chains) and O(reads · chains that write the key · log).

use super::{Forced, Known, check};
use crate::chains::{Chains, Writers};
use crate::csr::Csr;
use crate::ids::TxnId;
use history_core::cast::Cast as _;
use history_core::{Budget, Spent};

/// Of each of so many chains, how many transactions reach a node, or are it.
type Clock<const CHAINS: usize> = [u32; CHAINS];

/// Stands for no clock.
const NONE: u32 = u32::MAX;

pub(super) fn forced(known: &Known<'_>, budget: &Budget) -> Result<Vec<Forced>, Spent> {
    let chains = Chains::new(known.txns, &known.frame, &known.order);
    match chains.count {
        0..=16 => passes::<16>(known, &chains, budget),
        17..=32 => passes::<32>(known, &chains, budget),
        _ => passes::<64>(known, &chains, budget),
    }
}

/// Looks at all chains, so many at a time.
fn passes<const CHAINS: usize>(known: &Known<'_>, chains: &Chains, budget: &Budget) -> Result<Vec<Forced>, Spent> {
    let writers = Writers::new(known.txns, chains);
    let mut readers = vec![0_u32; known.graph.len()];
    for read in known.txns.all_reads().iter().filter(|read| read.writer != TxnId::NONE) {
        readers[read.writer.at()] += 1;
    }
    let mut pass = Pass::<CHAINS> {
        known,
        graph: known.seen(),
        chains,
        writers: &writers,
        clocks: Vec::new(),
        free: Vec::new(),
        clock_of: Vec::new(),
        waits: Vec::new(),
        forced: Vec::new(),
    };
    for from in (0..chains.count).step_by(CHAINS) {
        let steps = (known.graph.len() * from).to_u64();
        check(budget, steps, pass.clocks.len() * size_of::<Clock<CHAINS>>())?;
        pass.run(from, &readers);
    }
    Ok(pass.forced)
}

struct Pass<'k, const CHAINS: usize> {
    known: &'k Known<'k>,
    graph: &'k Csr,
    chains: &'k Chains,
    writers: &'k Writers,
    clocks: Vec<Clock<CHAINS>>,
    /// Clocks that nobody needs any more.
    free: Vec<u32>,
    /// The clock of each node that has one.
    clock_of: Vec<u32>,
    /// For each transaction, how many of its readers were not yet looked at.
    waits: Vec<u32>,
    forced: Vec<Forced>,
}

impl<const CHAINS: usize> Pass<'_, CHAINS> {
    /// Looks at the chains `from..from + CHAINS`.
    fn run(&mut self, from: usize, readers: &[u32]) {
        self.clock_of.clear();
        self.clock_of.resize(self.graph.len(), NONE);
        self.waits.clear();
        self.waits.extend_from_slice(readers);
        self.free.clear();
        self.free.extend(0..self.clocks.len().to_u32());
        let known = self.known;
        for node in &known.order {
            let node = node.to_usize();
            let own = self.own_clock(node);
            let mut clock = self.clocks[own];
            let is_txn = node < known.txns.len();
            if is_txn {
                self.look(TxnId::new(node), from, &clock);
                let chain = self.chains.of[node].to_usize();
                if (from..from + CHAINS).contains(&chain) {
                    clock[chain - from] = self.chains.at[node] + 1;
                    self.clocks[own] = clock;
                }
            }
            for next in self.graph.row(node) {
                let next = self.own_clock(next.to_usize());
                for (next, own) in self.clocks[next].iter_mut().zip(&clock) {
                    *next = (*next).max(*own);
                }
            }
            if is_txn {
                for read in known.txns.reads(TxnId::new(node)).iter().filter(|read| read.writer != TxnId::NONE) {
                    self.waits[read.writer.at()] -= 1;
                    self.forget(read.writer.at());
                }
            }
            self.forget(node);
        }
    }

    /// The clock of a node, as far as it is known.
    #[inline]
    fn own_clock(&mut self, node: usize) -> usize {
        if self.clock_of[node] == NONE {
            self.clock_of[node] = if let Some(free) = self.free.pop() {
                self.clocks[free.to_usize()] = [0; CHAINS];
                free
            } else {
                self.clocks.push([0; CHAINS]);
                (self.clocks.len() - 1).to_u32()
            };
        }
        self.clock_of[node].to_usize()
    }

    /// Forgets the clock of a node that was passed, once all of its readers were.
    #[inline]
    fn forget(&mut self, node: usize) {
        if self.waits[node] == 0 && self.clock_of[node] != NONE {
            self.free.push(self.clock_of[node]);
            self.clock_of[node] = NONE;
        }
    }

    fn look(&mut self, txn: TxnId, from: usize, clock: &Clock<CHAINS>) {
        if clock.iter().all(|count| *count == 0) {
            return;
        }
        for at in self.known.txns.reads_range(txn) {
            let read = self.known.txns.all_reads()[at];
            let groups = self.writers.groups(read.key);
            let first = groups.partition_point(|group| group.chain.to_usize() < from);
            for group in groups[first..].iter().take_while(|group| group.chain.to_usize() < from + CHAINS) {
                let block_chain = group.chain.to_usize() - from;
                let Some(last) = self.writers.last_within(*group, clock[block_chain]) else { continue };
                if last == read.writer {
                    continue;
                }
                let is_before = read.writer != TxnId::NONE
                    && self.clocks[self.clock_of[read.writer.at()].to_usize()][block_chain] > self.chains.at[last.at()];
                if !is_before {
                    self.forced.push(Forced { first: last, second: read.writer, read: at.to_u32() });
                }
            }
        }
    }
}
