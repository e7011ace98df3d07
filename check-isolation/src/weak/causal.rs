//! What causal consistency forces: for each read and each chain the last visible writer of the key is before what was read.
//!
//! What reaches a transaction along base and reads is a number for each chain. These are computed in topological order for a few
//! chains at a time, as many as fill a line of the cache, so memory is linear whatever the number of chains is. Time is O(arcs · chains)
//! and O(reads · chains that write the key · log).

use super::{Forced, Known, check};
use crate::chains::{Chains, Writers};
use crate::csr::Csr;
use crate::ids::TxnId;
use history_core::cast::Cast as _;
use history_core::{Budget, Spent};

/// Chains that are looked at together.
const BLOCK: usize = 16;

type Clock = [u32; BLOCK];

pub(super) fn forced(known: &Known<'_>, budget: &Budget) -> Result<Vec<Forced>, Spent> {
    let chains = Chains::new(known.txns, &known.frame, &known.order);
    let writers = Writers::new(known.txns, &chains);
    let (graph, clocks, forced) = (known.seen(), Vec::new(), Vec::new());
    let mut pass = Pass { known, graph, chains: &chains, writers: &writers, clocks, forced };
    for from in (0..chains.count).step_by(BLOCK) {
        let steps = (known.graph.len() * from).to_u64();
        check(budget, steps, known.graph.len() * size_of::<Clock>())?;
        pass.run(from);
    }
    Ok(pass.forced)
}

struct Pass<'k> {
    known: &'k Known<'k>,
    graph: &'k Csr,
    chains: &'k Chains,
    writers: &'k Writers,
    /// For each node, how many of each chain's transactions reach it, or are it.
    clocks: Vec<Clock>,
    forced: Vec<Forced>,
}

impl Pass<'_> {
    /// Looks at the chains `from..from + BLOCK`.
    fn run(&mut self, from: usize) {
        self.clocks.clear();
        self.clocks.resize(self.graph.len(), [0; BLOCK]);
        for node in &self.known.order {
            let node = node.to_usize();
            let mut clock = self.clocks[node];
            if node < self.known.txns.len() {
                self.look(TxnId::new(node), from, &clock);
                let own = self.chains.of[node].to_usize();
                if (from..from + BLOCK).contains(&own) {
                    clock[own - from] = self.chains.at[node] + 1;
                    self.clocks[node] = clock;
                }
            }
            for next in self.graph.row(node) {
                let next = &mut self.clocks[next.to_usize()];
                for (next, own) in next.iter_mut().zip(&clock) {
                    *next = (*next).max(*own);
                }
            }
        }
    }

    fn look(&mut self, txn: TxnId, from: usize, clock: &Clock) {
        if clock.iter().all(|count| *count == 0) {
            return;
        }
        for at in self.known.txns.reads_range(txn) {
            let read = self.known.txns.all_reads()[at];
            let groups = self.writers.groups(read.key);
            let first = groups.partition_point(|group| group.chain.to_usize() < from);
            for group in groups[first..].iter().take_while(|group| group.chain.to_usize() < from + BLOCK) {
                let block_chain = group.chain.to_usize() - from;
                let Some(last) = self.writers.last_within(*group, clock[block_chain]) else { continue };
                if last == read.writer {
                    continue;
                }
                let is_before = read.writer != TxnId::NONE
                    && self.clocks[read.writer.at()][block_chain] > self.chains.at[last.at()];
                if !is_before {
                    self.forced.push(Forced { first: last, second: read.writer, read: at.to_u32() });
                }
            }
        }
    }
}
