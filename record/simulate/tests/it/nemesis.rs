//! The nemesis cuts and repairs the network in turn. While it is cut, more requests get no answer.

use crate::common::Recorded;
use record_simulate::{Kind, ListAppend};

fn parameters() -> ListAppend {
    ListAppend { txns: 20_000, nemesis: true, info_rate: 0.0, ..ListAppend::default() }
}

#[test]
fn it_cuts_and_heals_in_turn_and_leaves_the_network_whole() {
    let history = Recorded::of(&parameters());
    let acts: Vec<_> = history.nemesis.iter().map(|(_, f)| *f).collect();
    assert!(acts.len() >= 40, "{} ops of the nemesis", acts.len());
    for round in acts.chunks(4) {
        assert_eq!(round, ["start-partition", "start-partition", "stop-partition", "stop-partition"]);
    }
}

#[test]
fn requests_go_unanswered_while_the_network_is_cut_and_only_then() {
    let history = Recorded::of(&parameters());
    // From the end of the cut to the beginning of the repair.
    let cuts: Vec<_> = history.nemesis.chunks(4).map(|round| (round[1].0, round[2].0)).collect();
    let (mut asked, mut unanswered) = (0, 0);
    for txn in &history.txns {
        let within = |(cut, healed): &(u64, u64)| (*cut..=*healed).contains(&txn.time_ns.0);
        if cuts.iter().any(within) {
            (asked, unanswered) = (asked + 1, unanswered + u32::from(txn.kind == Kind::Info));
        } else {
            let near = |(cut, healed): &(u64, u64)| (*cut..=healed + 100_000).contains(&txn.time_ns.0);
            assert!(txn.kind != Kind::Info || cuts.iter().any(near), "{txn:?} has no answer");
        }
    }
    assert!(asked > 2000, "only {asked} requests fall in a cut");
    assert!((asked / 5..asked / 3).contains(&unanswered), "{unanswered} of {asked}");
}

#[test]
fn nobody_is_disturbed_unless_it_is_asked_for() {
    assert_eq!(Recorded::of(&ListAppend { nemesis: false, ..parameters() }).nemesis, []);
}
