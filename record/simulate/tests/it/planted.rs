//! A planted cycle is one wrong read, and nearly all transactions are in the component that it closes.

use crate::common::graph::{Edge, Graph};
use crate::common::{Did, Recorded, Txn};
use record_simulate::{Bug, KeyDistribution, ListAppend};

const PLANTED: [Bug; 2] = [Bug::PlantedG1c, Bug::PlantedGSingle];
const TXNS: usize = 4000;
/// With this seed the first transaction writes.
const SEED: u64 = 1;

fn parameters(bug: Bug) -> ListAppend {
    ListAppend { txns: TXNS as u64, seed: SEED, bug, ..ListAppend::default() }
}

fn largest_component(parameters: &ListAppend) -> usize {
    let history = Recorded::of(parameters);
    Graph::of(&history).component_of(0)
}

/// Removes the planted micro-operation.
fn mend(txn: &mut Txn) {
    assert_eq!(txn.asked.len(), txn.did.len());
    txn.asked.pop();
    txn.did.pop();
}

#[test]
fn one_read_closes_a_component_of_nearly_all_transactions() {
    for bug in PLANTED {
        let zipf = KeyDistribution::Zipf { s: 1.0 };
        for parameters in [parameters(bug), ListAppend { key_distribution: zipf, ..parameters(bug) }] {
            let found = largest_component(&parameters);
            assert!(found > TXNS * 9 / 10, "{bug}: {found} of {TXNS}; 4 in 100 did not happen or may not have");
        }
    }
}

#[test]
fn without_that_read_the_history_is_the_correct_one() {
    let correct = Recorded::of(&parameters(Bug::None));
    for bug in PLANTED {
        let mut planted = Recorded::of(&parameters(bug));
        let last = planted.txns.len() - 1;
        assert!(planted.txns[0].is_ok() && planted.txns[last].is_ok(), "{bug}");
        mend(&mut planted.txns[0]);
        mend(&mut planted.txns[last]);
        assert!(planted.txns.iter().zip(&correct.txns).all(|(p, c)| p.did == c.did || !c.is_ok()), "{bug}");
    }
}

#[test]
fn the_first_reads_what_the_last_writes_or_the_last_misses_what_the_first_wrote() {
    let seen = |bug| {
        let history = Recorded::of(&parameters(bug));
        [0, TXNS - 1].map(|t| history.txns[t].did.last().cloned().unwrap())
    };
    assert_eq!(seen(Bug::PlantedG1c), [Did::Read(-1, Some(vec![1])), Did::Append(-1, 1)]);
    assert_eq!(seen(Bug::PlantedGSingle), [Did::Append(-1, 1), Did::Read(-1, Some(vec![]))]);
}

#[test]
fn the_cycle_is_of_the_kind_it_is_named_for() {
    // With the other seed, the first transaction only reads, so a later one has to begin the cycle.
    for seed in [SEED, 3] {
        let history = |bug| Recorded::of(&ListAppend { seed, ..parameters(bug) });
        let cycle = |bug, kinds: &[Edge]| Graph::of(&history(bug)).has_cycle(kinds);
        assert!(cycle(Bug::PlantedG1c, &[Edge::Ww, Edge::Wr]), "seed {seed}");
        assert!(!cycle(Bug::PlantedG1c, &[Edge::Ww, Edge::Rw]), "seed {seed}: it needs the read");
        assert!(!cycle(Bug::PlantedGSingle, &[Edge::Ww, Edge::Wr]), "seed {seed}: it needs what was overwritten");
        assert!(Graph::of(&history(Bug::PlantedGSingle)).has_cycle_of_one_rw(), "seed {seed}");
    }
}

#[test]
fn both_ends_succeed_even_where_nothing_else_does() {
    for bug in PLANTED {
        let history = Recorded::of(&ListAppend { fail_rate: 1.0, info_rate: 0.0, txns: 50, ..parameters(bug) });
        let ok: Vec<usize> = (0..50).filter(|t| history.txns[*t].is_ok()).collect();
        assert_eq!(ok, [0, 49], "{bug}");
    }
}

#[test]
fn one_transaction_is_too_few_for_a_cycle() {
    for bug in PLANTED {
        for txns in [0, 1] {
            let history = Recorded::of(&ListAppend { txns, ..parameters(bug) });
            assert!(history.txns.iter().flat_map(|txn| &txn.did).all(|did| !matches!(did, Did::Append(-1, _))));
        }
    }
}

#[test]
fn where_each_read_has_a_past_of_its_own_large_components_come_by_themselves() {
    let parameters = ListAppend { bug: Bug::StaleKeys, ..parameters(Bug::None) };
    let history = Recorded::of(&parameters);
    let graph = Graph::of(&history);
    let sizes = (0..TXNS).step_by(400).map(|txn| graph.component_of(txn));
    let most = sizes.max().unwrap();
    assert!(most > TXNS * 9 / 10, "the component of none of ten has more than {most} of {TXNS}");
}
