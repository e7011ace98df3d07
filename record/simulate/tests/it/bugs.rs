//! Every bug has the effect of its name, and no worse one.

use crate::common::graph::{Edge, Graph, is_internally_wrong};
use crate::common::{Did, Recorded, Txn, assert_bites};
use record_simulate::{Bug, Kind, ListAppend};
use std::collections::{HashMap, HashSet};

/// A kind of error in a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wrong {
    /// A cycle of ww edges.
    G0,
    /// A cycle of ww and wr edges.
    G1c,
    /// A cycle of ww and wr edges with one rw edge.
    GSingle,
    /// A cycle of ww, wr and rw edges without two rw edges in a row.
    GNonadjacent,
    /// A cycle of ww, wr and rw edges.
    G2,
    /// A cycle of ww, wr, rw and process edges without two rw edges in a row.
    NonadjacentProcess,
    /// A cycle of ww, wr, rw and real-time edges without two rw edges in a row.
    NonadjacentRealTime,
    /// A cycle of ww, wr, rw and process edges.
    G2Process,
    /// A cycle of ww, wr, rw and real-time edges.
    G2RealTime,
    /// An ok read shows an append of a failed transaction.
    Aborted,
    /// An ok read ends in an append that its transaction has followed with another.
    Intermediate,
    /// A read contradicts its own transaction.
    Internal,
    /// A transaction reads what it appends later.
    Future,
    /// A read shows an element twice.
    Duplicate,
    /// Of two reads of a key neither is a prefix of the other, even without elements of failed transactions.
    Incompatible,
    /// Two transactions read the same version of a key, and then append to it.
    LostUpdate,
}

use Wrong::*;

const ALL: [Wrong; 16] = [
    G0,
    G1c,
    GSingle,
    GNonadjacent,
    NonadjacentProcess,
    NonadjacentRealTime,
    G2,
    G2Process,
    G2RealTime,
    Aborted,
    Intermediate,
    Internal,
    Future,
    Duplicate,
    Incompatible,
    LostUpdate,
];
const CYCLES: [Wrong; 9] =
    [G0, G1c, GSingle, GNonadjacent, NonadjacentProcess, NonadjacentRealTime, G2, G2Process, G2RealTime];

/// The errors that a lost update can cause, which cannot occur without one.
const SKEWS: [Wrong; 9] =
    [LostUpdate, GSingle, GNonadjacent, NonadjacentProcess, NonadjacentRealTime, G2, G2Process, G2RealTime, Internal];

/// By bug: the errors that a history of some thousand transactions must have, and the errors that it may have too.
fn expected(bug: Bug) -> (Vec<Wrong>, Vec<Wrong>) {
    let (must, may): (&[Wrong], &[Wrong]) = match bug {
        Bug::None => (&[], &[]),
        Bug::StaleRead => (&[NonadjacentProcess, NonadjacentRealTime, G2Process, G2RealTime], &[]),
        Bug::SessionStale => (&[NonadjacentRealTime, G2RealTime], &[]),
        Bug::StrongSnapshotIsolation => (&[G2, G2Process, G2RealTime], &[]),
        Bug::SessionSnapshotIsolation => (&[NonadjacentRealTime, G2, G2Process, G2RealTime], &[]),
        Bug::SnapshotIsolation => (&CYCLES[4..], &[]),
        Bug::LongFork => (&CYCLES[3..], &[]),
        Bug::LostUpdate => (&SKEWS[..8], &[Internal]),
        Bug::CursorStability => (&SKEWS[1..], &[]),
        Bug::ReadCommitted => (&SKEWS, &[]),
        Bug::ReadUncommitted => (&ALL[1..12], &[LostUpdate]),
        Bug::StaleKeys | Bug::PlantedGSingle => (&CYCLES[2..], &[]),
        Bug::AbortedRead | Bug::FalseFail => (&[Aborted], &[]),
        // The other appends of a transaction may be visible, and the dropped one may be one of two to a key.
        Bug::DroppedWrite => (
            &[NonadjacentRealTime, G2RealTime],
            &[NonadjacentProcess, G0, G1c, GSingle, GNonadjacent, G2, G2Process, Intermediate, LostUpdate],
        ),
        Bug::DuplicateWrite => (&[Duplicate], &ALL),
        Bug::ReorderedAppend => (&[Incompatible], &ALL[..13]),
        Bug::Internal => (&[Internal], &[]),
        // Another transaction may read the list at the right time and append to it. If a transaction appends twice, it
        // can read the second item before the first.
        Bug::FutureRead => (&[Future], &[LostUpdate, Internal]),
        Bug::DirtyWrite => (&CYCLES, &[LostUpdate]),
        Bug::PlantedG1c => (&CYCLES[1..], &[]),
        _ => panic!("{bug} is not in this table"),
    };
    (must.to_vec(), may.to_vec())
}

fn find_all(history: &Recorded) -> HashSet<Wrong> {
    let graph = Graph::of(history);
    let of = |kinds: &[Edge]| graph.has_cycle(kinds);
    let found = ALL.into_iter().filter(|wrong| match wrong {
        G0 => of(&[Edge::Ww]),
        G1c => of(&[Edge::Ww, Edge::Wr]),
        GSingle => graph.has_cycle_of_one_rw(),
        GNonadjacent => graph.has_cycle_of_lone_rw(&[Edge::Ww, Edge::Wr]),
        NonadjacentProcess => graph.has_cycle_of_lone_rw(&[Edge::Ww, Edge::Wr, Edge::Process]),
        NonadjacentRealTime => graph.has_cycle_of_lone_rw(&[Edge::Ww, Edge::Wr, Edge::RealTime]),
        G2 => of(&[Edge::Ww, Edge::Wr, Edge::Rw]),
        G2Process => of(&[Edge::Ww, Edge::Wr, Edge::Rw, Edge::Process]),
        G2RealTime => of(&[Edge::Ww, Edge::Wr, Edge::Rw, Edge::RealTime]),
        Aborted => shows_aborted(history),
        Intermediate => shows_intermediate(history),
        Internal => ok(history).any(is_internally_wrong),
        Future => ok(history).any(Txn::reads_what_it_writes_later),
        Duplicate => ok(history).any(shows_duplicate),
        Incompatible => shows_incompatible(history),
        LostUpdate => loses_update(history),
    });
    found.collect()
}

fn ok(history: &Recorded) -> impl Iterator<Item = &Txn> {
    history.txns.iter().filter(|txn| txn.is_ok())
}

fn failed(history: &Recorded) -> HashSet<(i64, i64)> {
    history.txns.iter().filter(|txn| txn.kind == Kind::Fail).flat_map(Txn::appends).collect()
}

fn shows_aborted(history: &Recorded) -> bool {
    let failed = failed(history);
    ok(history).flat_map(Txn::reads).any(|(key, list)| list.iter().any(|value| failed.contains(&(key, *value))))
}

fn shows_intermediate(history: &Recorded) -> bool {
    let mut followed = HashMap::new();
    for txn in ok(history) {
        let appends: Vec<_> = txn.appends().collect();
        for (i, append) in appends.iter().enumerate() {
            if appends[i + 1..].iter().any(|later| later.0 == append.0) {
                followed.insert(*append, txn.invoked);
            }
        }
    }
    ok(history).any(|txn| {
        let last = |(key, list): (i64, &[i64])| list.last().and_then(|value| followed.get(&(key, *value)).copied());
        txn.reads().filter_map(last).any(|writer| writer != txn.invoked)
    })
}

fn shows_duplicate(txn: &Txn) -> bool {
    txn.reads().any(|(_, list)| list.iter().collect::<HashSet<_>>().len() < list.len())
}

fn shows_incompatible(history: &Recorded) -> bool {
    let failed = failed(history);
    let mut longest: HashMap<i64, Vec<i64>> = HashMap::new();
    let reads: Vec<(i64, Vec<i64>)> = ok(history)
        .flat_map(Txn::reads)
        .map(|(key, list)| (key, list.iter().copied().filter(|value| !failed.contains(&(key, *value))).collect()))
        .collect();
    for (key, list) in &reads {
        let longest = longest.entry(*key).or_default();
        if list.len() > longest.len() {
            longest.clone_from(list);
        }
    }
    reads.iter().any(|(key, list)| !longest[key].starts_with(list))
}

fn loses_update(history: &Recorded) -> bool {
    let mut updates = HashMap::new();
    for txn in ok(history) {
        let mut touched = HashSet::new();
        for (i, did) in txn.did.iter().enumerate() {
            let (Did::Append(key, _) | Did::Read(key, _)) = did;
            let appends = |did: &Did| matches!(did, Did::Append(k, _) if k == key);
            if let (true, Did::Read(_, Some(list))) = (touched.insert(*key), did)
                && txn.did[i..].iter().any(appends)
            {
                *updates.entry((*key, list.clone())).or_insert(0) += 1;
            }
        }
    }
    updates.values().any(|updates| *updates > 1)
}

fn history(bug: Bug, seed: u64) -> Recorded {
    // Few keys, so that transactions share keys; short lists, for speed; and every op is answered, so that the
    // definitions are sufficient.
    let (writes_per_key_min, writes_per_key_max) = (8, 32);
    let few = ListAppend { keys: 8, writes_per_key_min, writes_per_key_max, info_rate: 0.0, ..ListAppend::default() };
    let parameters = ListAppend { txns: 2000, seed, bug, ..few };
    Recorded::of(&parameters)
}

#[test]
fn each_bug_bites_and_does_nothing_else() {
    for bug in Bug::ALL {
        let (must, may) = expected(bug);
        for seed in 0..2 {
            let found = find_all(&history(bug, seed));
            assert_bites(bug, seed, &found, &must, &may);
        }
    }
}

#[test]
fn a_bug_that_applies_to_nothing_does_nothing() {
    // A planted bug is applied once or not at all.
    let takes_no_rate = [Bug::None, Bug::PlantedG1c, Bug::PlantedGSingle];
    for bug in Bug::ALL.into_iter().filter(|bug| !takes_no_rate.contains(bug)) {
        let parameters =
            ListAppend { txns: 1000, bug, bug_rate: Some(0.0), keys: 8, info_rate: 0.0, ..ListAppend::default() };
        assert_eq!(find_all(&Recorded::of(&parameters)), HashSet::new(), "{bug}");
    }
}

#[test]
fn clients_ask_for_the_same_whatever_the_bug() {
    let asked = |bug| history(bug, 5).txns.into_iter().map(|txn| txn.asked).collect::<Vec<_>>();
    let without = asked(Bug::None);
    for bug in Bug::ALL {
        let mut asked = asked(bug);
        if matches!(bug, Bug::PlantedG1c | Bug::PlantedGSingle) {
            for end in [0, without.len() - 1] {
                let planted = asked[end].pop().expect("one micro-operation more than without the bug");
                assert!(matches!(planted, Did::Append(-1, 1) | Did::Read(-1, None)), "{bug}: {planted:?}");
            }
        }
        assert!(asked == without, "{bug}");
    }
}

#[test]
fn a_store_with_a_bug_does_not_refuse_much_more_than_a_correct_one() {
    for bug in Bug::ALL {
        let history = Recorded::of(&ListAppend { txns: 4000, bug, ..ListAppend::default() });
        let refused = history.txns.iter().filter(|txn| txn.kind == Kind::Fail).count();
        assert!(refused < 1200, "{bug}: {refused} of 4000 failed");
    }
}
