//! The properties of pairing.

use history_core::{Datum, History, HistoryBuilder, NewOp, OpKind, Pair, Pairing, Process};
use proptest::prelude::*;
use std::collections::HashMap;

/// A history of four clients, each of which invokes and completes in turn, and of a nemesis. A client that crashes
/// continues under a new number, as in Jepsen.
fn history() -> impl Strategy<Value = History> {
    let kind = prop_oneof![3 => Just(OpKind::Ok), 1 => Just(OpKind::Fail), 1 => Just(OpKind::Info)];
    prop::collection::vec((0..5_usize, kind), 1..100).prop_map(|events| {
        let mut builder = HistoryBuilder::new();
        let (mut numbers, mut busy) = ([0, 1, 2, 3], [false; 4]);
        for (client, kind) in events {
            if client == 4 {
                builder.push(OpKind::Info, "nemesis", "kill", Datum::Nil).unwrap();
            } else if busy[client] {
                builder.push(kind, numbers[client], "f", Datum::Nil).unwrap();
                numbers[client] += if kind == OpKind::Info { 4 } else { 0 };
                busy[client] = false;
            } else {
                builder.push(OpKind::Invoke, numbers[client], "f", Datum::Nil).unwrap();
                busy[client] = true;
            }
        }
        builder.build()
    })
}

proptest! {
    #[test]
    fn a_completion_is_paired_with_its_process_last_invocation(history in history()) {
        let mut last = HashMap::new();
        let mut pairs = 0;
        for (at, op) in history.ops().enumerate() {
            let Process::Client(process) = op.process else {
                prop_assert_eq!((op.pair, history.partner(at)), (Pair::Alone, None));
                continue;
            };
            match op.pair {
                Pair::Invokes { .. } => {
                    prop_assert_eq!(op.kind, OpKind::Invoke);
                    prop_assert_eq!(last.insert(process, at), None, "nothing was in flight");
                }
                Pair::Completes { invoked, .. } => {
                    let invocation = last.remove(&process).unwrap();
                    prop_assert_eq!(invoked, history.op(invocation).index);
                    prop_assert_eq!(history.partner(at), Some(invocation));
                    prop_assert_eq!(history.partner(invocation), Some(at));
                    pairs += 1;
                }
                Pair::Alone => prop_assert!(false, "a client's op stands alone"),
            }
        }
        let unpaired = |at: &usize| history.op(*at).process.is_client() && history.partner(*at).is_none();
        prop_assert_eq!((0..history.len()).filter(unpaired).count(), last.len(), "those in flight");
        prop_assert_eq!(2 * pairs, (0..history.len()).filter(|at| history.partner(*at).is_some()).count());
    }

    #[test]
    fn slots_are_unique_among_ops_in_flight_and_small(history in history()) {
        let mut in_flight = Vec::new();
        let mut most = 0;
        for op in history.ops() {
            match op.pair {
                Pair::Invokes { slot } => {
                    prop_assert!(!in_flight.contains(&slot));
                    in_flight.push(slot);
                    most = most.max(in_flight.len());
                    prop_assert!((slot as usize) < most, "slot {} of at most {}", slot, most);
                }
                Pair::Completes { slot, .. } => {
                    let at = in_flight.iter().position(|taken| *taken == slot);
                    prop_assert!(at.is_some());
                    in_flight.swap_remove(at.unwrap());
                }
                Pair::Alone => {}
            }
        }
    }

    #[test]
    fn one_op_taken_out_is_noticed_or_leaves_a_history(history in history(), gone: prop::sample::Index) {
        let gone = gone.index(history.len());
        let mut builder = HistoryBuilder::new();
        let mut refused = None;
        for (at, op) in history.ops().enumerate().filter(|(at, _)| *at != gone) {
            if builder.push_op(&NewOp::from(&op)).is_err() {
                refused = Some(at);
                break;
            }
        }
        let process = history.op(gone).process;
        let later: Vec<usize> =
            (gone + 1..history.len()).filter(|at| history.op(*at).process == process && process.is_client()).collect();
        // Without its invocation, a completion is rejected at its position. Without its completion, the next invocation
        // of the process is rejected. If nothing was invoked before, the history may so far contain only completions.
        let invoked = |at| matches!(history.op(at).pair, Pair::Invokes { .. });
        match later.first() {
            None => prop_assert_eq!(refused, None),
            Some(next) if (0..gone).any(invoked) => prop_assert_eq!(refused, Some(*next)),
            Some(_) => {}
        }
    }
}

#[test]
fn pairing_can_be_fed_by_hand() {
    let history =
        History::parse("{:process 0, :type :invoke} {:process 1, :type :invoke} {:process 0, :type :ok}").unwrap();
    let mut pairing = Pairing::new();
    let pairs: Vec<Pair> = history.ops().map(|op| pairing.pair(&op).unwrap()).collect();
    assert_eq!(pairs[..2], [Pair::Invokes { slot: 0 }, Pair::Invokes { slot: 1 }]);
    assert_eq!(pairs[2], Pair::Completes { slot: 0, invoked: 0, invoked_time_ns: None });
    assert_eq!(pairing.open(), 1);
}

#[test]
fn the_time_of_the_invocation_comes_with_the_completion() {
    let text = "{:index 4, :process 0, :type :invoke, :time 7} {:index 9, :process 0, :type :info, :time 8}";
    let history = History::parse(text).unwrap();
    assert_eq!(history.op(1).pair, Pair::Completes { slot: 0, invoked: 4, invoked_time_ns: Some(7) });
}

#[test]
fn completions_without_any_invocation_stand_alone() {
    let history = History::parse("{:process 0, :type :ok} {:process 0, :type :ok} {:process 1, :type :fail}").unwrap();
    assert!(history.ops().all(|op| op.pair == Pair::Alone));
    // Ops without a process, or of a process that is not a client, do not show whether the history has invocations.
    let text = "{:process :nemesis, :type :info} {:type :ok} {:process 0, :type :invoke} {:process 0, :type :ok}";
    assert_eq!(History::parse(text).unwrap().partner(3), Some(2));
}

#[test]
fn the_value_of_an_operation_is_its_completions_or_else_its_invocations() {
    let text = "{:process 0, :type :invoke, :value 3} {:process 0, :type :ok}
        {:process 0, :type :invoke, :value 4} {:process 0, :type :ok, :value 5} {:process 0, :type :invoke}";
    let history = History::parse(text).unwrap();
    let values: Vec<String> = (0..history.len()).map(|at| history.value(at).to_string()).collect();
    assert_eq!(values, ["3", "3", "4", "5", "nil"]);
}

#[test]
fn pairing_can_be_left_off() {
    let text = "{:process 0, :type :invoke} {:process 0, :type :invoke}";
    let mut reader = history_core::Reader::new(text.as_bytes()).without_pairing();
    assert!(History::read(&mut reader).unwrap().ops().all(|op| op.pair == Pair::Alone));
}
