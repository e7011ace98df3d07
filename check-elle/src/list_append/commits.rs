//! Searches for an order of commits that agrees with all edges of the graph, without building the graph.
//!
//! Transactions are committed one by one: each when it completes, or earlier if another one needs it. A transaction
//! needs the transactions from which its edges in the graph lead: the writers of the values that it read and of those
//! after which it appended, and all readers of the latter. Each is committed after those it needs and before all that
//! were invoked after it completed. So every edge agrees with the order of commits, including those of processes and of
//! real time. So the graph has no cycle, and need not be built.
//!
//! If a transaction needs itself, or one that was not invoked yet, data and real time contradict each other. The graph
//! then shows the consequences.

use super::edges::Sources;
use super::mop::What;
use crate::ids::{ElemId, TxnId};
use history_core::OpKind;

/// The progress of a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Open,
    /// The transactions that it needs are being committed.
    Waits,
    Committed,
}

/// Returns true if such an order exists, and some transaction observed another one. O(micro-ops); returns `false` also
/// for a history that would take longer.
///
/// Requires that the reads of the history agree and return only appended elements.
pub(super) fn are_ordered(from: &Sources<'_>) -> bool {
    let mut commits = Commits {
        from,
        standing: vec![Standing::Open; from.txns.len()],
        waiting: Vec::new(),
        oks: 0,
        readers_left: 4 * from.txns.all_mops().len(),
        shows_another: false,
    };
    commits.all() && commits.shows_another
}

struct Commits<'a> {
    from: &'a Sources<'a>,
    standing: Vec<Standing>,
    /// A stack: a transaction, above it all transactions that it needs, and so on.
    waiting: Vec<TxnId>,
    /// The number of transactions that have completed `ok`.
    oks: u32,
    /// The remaining number of readers to visit. Histories with many appends after a version with many readers exceed
    /// it, and are left to the graph.
    readers_left: usize,
    shows_another: bool,
}

impl Commits<'_> {
    fn all(&mut self) -> bool {
        let txns = self.from.txns;
        let oks = txns.ids().filter(|txn| txns.is_ok(*txn)).all(|txn| {
            let is_committed = self.commit(txn);
            self.oks += 1;
            is_committed
        });
        // A transaction that may have happened may have done so at the end.
        oks && txns.ids().filter(|txn| txns.kind(*txn) == OpKind::Info).all(|txn| self.commit(txn))
    }

    /// Commits a transaction after all that it needs. Returns true if this is possible.
    fn commit(&mut self, txn: TxnId) -> bool {
        self.waiting.push(txn);
        while let Some(txn) = self.waiting.last().copied() {
            match self.standing[txn.at()] {
                Standing::Open => {
                    let is_invoked = self.from.txns.oks_before(txn).is_some_and(|oks| oks <= self.oks);
                    self.standing[txn.at()] = Standing::Waits;
                    if !is_invoked || !self.need_all(txn) {
                        return false;
                    }
                }
                Standing::Waits | Standing::Committed => {
                    self.standing[txn.at()] = Standing::Committed;
                    self.waiting.pop();
                }
            }
        }
        true
    }

    /// Pushes all transactions that a transaction needs. Returns true if none of them needs it.
    fn need_all(&mut self, txn: TxnId) -> bool {
        let Sources { states, txns, orders, readers } = *self.from;
        let writer = |elem: ElemId| states.elem[elem.at()].writer;
        txns.mops(txn).iter().all(|mop| match mop.what() {
            What::Unseen => true,
            What::Read(state) => states.last(state).is_none_or(|elem| self.need(writer(elem), txn)),
            What::Write(elem) => {
                let before = orders.before(mop.key, elem);
                let readers = before.map_or_else(|| readers.of_empty(mop.key), |before| readers.of(before));
                let Some(left) = self.readers_left.checked_sub(readers.len()) else { return false };
                self.readers_left = left;
                before.is_none_or(|before| self.need(writer(before), txn))
                    && readers.iter().all(|reader| self.need(*reader, txn))
            }
        })
    }

    /// Pushes `other`, unless it is committed already. Returns true if it does not wait for `txn`.
    #[inline]
    fn need(&mut self, other: TxnId, txn: TxnId) -> bool {
        if other == txn {
            return true;
        }
        self.shows_another = true;
        match self.standing[other.at()] {
            Standing::Open => {
                self.waiting.push(other);
                true
            }
            Standing::Waits => false,
            Standing::Committed => true,
        }
    }
}

#[cfg(all(test, feature = "exact"))]
mod tests {
    use crate::cycle_spec::Suffix;
    use crate::graph::scc::components;
    use crate::graph::views::Masked;
    use crate::graph::{Graph, Mask};
    use crate::list_append::analysis::Lists;
    use crate::list_append::run::ListAppendRun;
    use crate::txn::analysis::Analysis as _;
    use crate::txn::expected::Expected;
    use crate::txn::fold::TxnRun;
    use crate::txn::online::tests::{Bugs, Random, bugs, history};
    use history_core::cast::Cast as _;
    use history_core::{Budget, History, Run as _};

    fn lists(text: &str) -> Lists {
        let mut run = TxnRun::new(ListAppendRun::new(Expected::default()));
        for op in History::parse(text).unwrap().ops() {
            let _ = run.observe(&op).unwrap();
        }
        run.known(&Budget::default()).unwrap()
    }

    fn has_cycle(graph: &Graph) -> bool {
        !components(&Masked { graph, mask: Mask::ALL }).large.is_empty()
    }

    fn relates_by_data(lists: &Lists, graph: &Graph) -> bool {
        let txns = 0..lists.txns.len().to_u32();
        txns.into_iter().any(|txn| graph.out(txn).any(|(_, relation)| relation.is_data()))
    }

    /// The number of random histories that have an order, and that have a cycle; each has exactly one of the two.
    fn judge(seeds: std::ops::Range<u64>, txns: u64, bugs: impl Fn(&mut Random) -> Bugs) -> [u32; 2] {
        let mut count = [0, 0];
        for seed in seeds {
            let mut random = Random(seed);
            let text = history(seed, txns, bugs(&mut random), false);
            let lists = lists(&text);
            let graph = lists.graph(Suffix::Realtime).graph;
            let (has_cycle, is_ordered) = (has_cycle(&graph), lists.is_ordered());
            count[0] += u32::from(is_ordered);
            count[1] += u32::from(has_cycle);
            let is_for_it = lists.direct.types().is_empty() && relates_by_data(&lists, &graph);
            assert_eq!(is_ordered, is_for_it && !has_cycle, "seed {seed}\n{text}");
        }
        count
    }

    #[test]
    fn there_is_an_order_if_the_graph_has_no_cycle() {
        let [ordered, cyclic] = judge(0..6000, 6, bugs);
        assert!(ordered > 1000 && cyclic > 1000, "{ordered}, {cyclic}");
        let [ordered, cyclic] = judge(0..400, 60, |_| Bugs { torn: 30, ..Bugs::default() });
        assert!(ordered > 100 && cyclic > 50, "{ordered}, {cyclic}");
        let [ordered, cyclic] = judge(0..400, 60, |_| Bugs::default());
        assert!(ordered > 390 && cyclic == 0, "{ordered}, {cyclic}");
    }

    #[test]
    fn transactions_invoked_later_are_not_needed() {
        let stale = "
            {:process 0, :type :invoke, :value [[:append :x 1]]}
            {:process 0, :type :ok, :value [[:append :x 1]]}
            {:process 1, :type :invoke, :value [[:r :x nil]]}
            {:process 1, :type :ok, :value [[:r :x []]]}";
        assert!(!lists(stale).is_ordered());
        assert!(lists(&stale.replace("[]]]", "[1]]]")).is_ordered());
    }

    #[test]
    fn many_readers_before_many_appends_are_left_to_the_graph() {
        let mops = ["[[:append :x 1]]".to_owned()]
            .into_iter()
            .chain((0..20).map(|_| "[[:r :x [1]]]".to_owned()))
            .chain((2..32).map(|element| format!("[[:append :x {element}]]")));
        let line = |(process, mops): (u32, String)| {
            ["invoke", "ok"].map(|kind| format!("{{:process {process}, :type :{kind}, :value {mops}}}\n")).concat()
        };
        let text: String = (0..).zip(mops).map(line).collect();
        let lists = lists(&text);
        assert!(!lists.is_ordered());
        assert!(!has_cycle(&lists.graph(Suffix::Realtime).graph));
    }
}
