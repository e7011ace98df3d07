//! The relations that every order must extend, as a graph: the base of a level, and the relation of writers to readers.
//!
//! A node is a transaction. Real time is one chain of further nodes, called events. Each represents the moment when a
//! certain number of transactions have completed. Arcs lead from a completion to the next event that is needed, from
//! each event to the next one, and from each event to the transactions that were invoked then. These are at most 2n
//! arcs, whereas an arc for each pair would take n².

use crate::csr::Csr;
use crate::evidence::{Link, Relation};
use crate::ids::TxnId;
use crate::level::Base;
use crate::transactions::Transactions;
use history_core::cast::Cast as _;

/// The order of sessions or real time.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// For each transaction, the next one of its session; `TxnId::NONE` if there is none.
    pub(crate) next: Vec<TxnId>,
    /// For each transaction, the event after its completion; `u32::MAX` if no invocation follows it.
    pub(crate) ends_at: Vec<u32>,
    /// For each transaction, the event before its invocation; `u32::MAX` if there is none.
    pub(crate) begins_at: Vec<u32>,
    /// The number of events; each comes before the next.
    pub(crate) events: usize,
}

impl Frame {
    pub(crate) fn new(txns: &Transactions, base: Base) -> Frame {
        let mut frame = Frame {
            next: vec![TxnId::NONE; txns.len()],
            ends_at: vec![u32::MAX; txns.len()],
            begins_at: vec![u32::MAX; txns.len()],
            events: 0,
        };
        if base != Base::None {
            frame.link_sessions(txns);
        }
        if base == Base::RealTime {
            frame.add_events(txns);
        }
        frame
    }

    fn link_sessions(&mut self, txns: &Transactions) {
        let sessions = txns.ids().filter_map(|txn| txns.session(txn)).max().map_or(0, |most| most.to_usize() + 1);
        let mut last = vec![TxnId::NONE; sessions];
        for txn in txns.ids() {
            let Some(session) = txns.session(txn) else { continue };
            let last = &mut last[session.to_usize()];
            if *last != TxnId::NONE {
                self.next[last.at()] = txn;
            }
            *last = txn;
        }
    }

    /// Returns true if an event is between the completion of one transaction and the invocation of another.
    fn has_between(&self, from: TxnId, to: TxnId) -> bool {
        let (end, begin) = (self.ends_at[from.at()], self.begins_at[to.at()]);
        end != u32::MAX && begin != u32::MAX && end <= begin
    }

    fn add_events(&mut self, txns: &Transactions) {
        let mut ends: Vec<u64> = txns.ids().map(|txn| txns.end(txn)).filter(|end| *end != u64::MAX).collect();
        ends.sort_unstable();
        // For each transaction, the number of completions before its invocation. Rows are nearly in the order of
        // completion.
        let mut near = 0;
        let mut count = |is_before: &dyn Fn(u64) -> bool| {
            near = partition_point_near(&ends, near, is_before);
            near
        };
        let completed: Vec<u32> = txns.ids().map(|txn| count(&|end| end < txns.begin(txn)).to_u32()).collect();
        // For each such count, the number of smaller counts that some invocation needs.
        let mut events_below = vec![0_u32; ends.len() + 2];
        completed.iter().filter(|count| **count > 0).for_each(|count| events_below[count.to_usize() + 1] = 1);
        for count in 1..events_below.len() {
            events_below[count] += events_below[count - 1];
        }
        self.events = events_below[ends.len() + 1].to_usize();
        for txn in txns.ids() {
            if completed[txn.at()] > 0 {
                self.begins_at[txn.at()] = events_below[completed[txn.at()].to_usize()];
            }
            if txns.end(txn) != u64::MAX {
                let event = events_below[count(&|end| end <= txns.end(txn))];
                if event.to_usize() < self.events {
                    self.ends_at[txn.at()] = event;
                }
            }
        }
    }
}

/// The number of values, which are the first ones, that a test accepts. The search starts near `near` with doubling
/// steps.
fn partition_point_near(sorted: &[u64], near: usize, is_before: &dyn Fn(u64) -> bool) -> usize {
    let (mut low, mut high, mut step) = (near, near, 1);
    while low > 0 && !is_before(sorted[low - 1]) {
        low = low.saturating_sub(step);
        step *= 2;
    }
    step = 1;
    while high < sorted.len() && is_before(sorted[high]) {
        high = (high + step).min(sorted.len());
        step *= 2;
    }
    low + sorted[low..high].partition_point(|value| is_before(*value))
}

/// The graph with all arcs of the base, of reads and of known orders, and with further ones between transactions.
pub(crate) fn graph(txns: &Transactions, frame: &Frame, more: &[(TxnId, TxnId)]) -> Csr {
    Csr::new(txns.len() + frame.events, |emit| {
        emit_seen(txns, frame, emit);
        for order in txns.orders() {
            emit(order.before.at(), order.after.number());
        }
        for (from, to) in more {
            emit(from.at(), to.number());
        }
    })
}

/// The graph with the arcs of the base and of reads only: along these a transaction observes another. Overwriting a
/// version does not imply observing it.
pub(crate) fn seen(txns: &Transactions, frame: &Frame) -> Csr {
    Csr::new(txns.len() + frame.events, |emit| emit_seen(txns, frame, emit))
}

fn emit_seen(txns: &Transactions, frame: &Frame, emit: &mut dyn FnMut(usize, u32)) {
    let n = txns.len();
    for txn in txns.ids() {
        let at = txn.at();
        if frame.next[at] != TxnId::NONE {
            emit(at, frame.next[at].number());
        }
        if frame.ends_at[at] != u32::MAX {
            emit(at, n.to_u32() + frame.ends_at[at]);
        }
        if frame.begins_at[at] != u32::MAX {
            emit(n + frame.begins_at[at].to_usize(), txn.number());
        }
        for read in txns.reads(txn) {
            if read.writer != TxnId::NONE {
                emit(read.writer.at(), txn.number());
            }
        }
    }
    for event in 1..frame.events {
        emit(n + event - 1, (n + event).to_u32());
    }
}

/// The step from one transaction to another along an arc of the base, of reads or of known orders. Relations that make
/// one visible to the other are preferred.
pub(crate) fn link(txns: &Transactions, frame: &Frame, from: TxnId, to: TxnId) -> Link {
    Link { from, to, relation: relation(txns, frame, from, to).unwrap_or(Relation::RealTime) }
}

/// The relation of such an arc, if there is one.
pub(crate) fn relation(txns: &Transactions, frame: &Frame, from: TxnId, to: TxnId) -> Option<Relation> {
    let read = || txns.reads(to).iter().find(|read| read.writer == from).map(|read| Relation::Wr(read.key));
    let session = || (frame.next[from.at()] == to).then_some(Relation::Session);
    let real_time = || frame.has_between(from, to).then_some(Relation::RealTime);
    let order = || {
        let order = txns.orders().iter().find(|order| (order.before, order.after) == (from, to));
        order.map(|order| Relation::Ww(order.key))
    };
    read().or_else(session).or_else(real_time).or_else(order)
}

/// The steps along a path or cycle of nodes that begins with a transaction; events in it become real-time steps.
pub(crate) fn links(txns: &Transactions, frame: &Frame, nodes: &[u32], closed: bool) -> Vec<Link> {
    let mut met = nodes.iter().filter(|node| node.to_usize() < txns.len()).map(|node| TxnId::from(*node));
    let Some(first) = met.next() else { return Vec::new() };
    let mut all: Vec<TxnId> = std::iter::once(first).chain(met).collect();
    if closed {
        all.push(first);
    }
    all.windows(2).map(|pair| link(txns, frame, pair[0], pair[1])).collect()
}
