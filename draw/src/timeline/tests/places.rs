//! Tests of positions: instants of an order, and the window around a failure.

use super::*;
use history_core::cast::Cast as _;
use history_core::figure::{Window, window};
use std::collections::BTreeSet;

/// Returns true if an order has instants, by the definition: no operation ended before the beginning of one that
/// precedes it in the order.
fn follows_time(spans: &[(i64, i64)]) -> bool {
    (0..spans.len()).all(|after| (0..after).all(|before| spans[after].1 >= spans[before].0))
}

/// Verifies the result of `instants` for intervals in this order, and returns the instants.
fn verify_instants(spans: &[(i64, i64)]) -> Result<Vec<i64>, NotInTime> {
    let bars: Vec<Bar> = spans.iter().map(|(start, end)| bar(*start, Some(*end))).collect();
    let steps: Vec<Step> = (0..spans.len().to_u32()).map(|bar| step(bar, "")).collect();
    let found = instants(&bars, &steps);
    match &found {
        Ok(at) => {
            assert_eq!(at.len(), spans.len());
            assert!(at.is_sorted(), "{spans:?} {at:?}");
            for (at, (start, end)) in at.iter().zip(spans) {
                assert!(start <= at && at <= end, "{spans:?} {at}");
            }
        }
        Err(NotInTime { step }) => {
            assert!(!follows_time(spans), "{spans:?}");
            let (low, high) = (&spans[..=*step], &spans[*step..]);
            assert!(low.iter().map(|span| span.0).max() > high.iter().map(|span| span.1).min(), "{spans:?} {step}");
            let earlier = &spans[..*step];
            assert!(earlier.is_empty() || (0..*step).all(|at| room(spans, at)), "{step} is not the first of {spans:?}");
        }
    }
    found
}

fn room(spans: &[(i64, i64)], at: usize) -> bool {
    spans[..=at].iter().map(|span| span.0).max() <= spans[at..].iter().map(|span| span.1).min()
}

#[test]
fn instants_exist_exactly_if_an_order_agrees_with_time() {
    let spans: Vec<(i64, i64)> = (0..5).flat_map(|start| (start..5).map(move |end| (start, end))).collect();
    let mut found = 0;
    for a in &spans {
        for b in &spans {
            for c in &spans {
                let order = [*a, *b, *c];
                assert_eq!(verify_instants(&order).is_ok(), follows_time(&order), "{order:?}");
                found += usize::from(follows_time(&order));
            }
        }
    }
    assert!(found > 100 && found < spans.len().pow(3) - 100, "both outcomes occur");
}

#[test]
fn instants_are_apart_if_there_is_room() {
    let four = verify_instants(&[(0, 10), (0, 10), (0, 10), (0, 10)]);
    assert_eq!(four, Ok(vec![2, 4, 6, 8]), "four of them share one interval");
    assert_eq!(verify_instants(&[(0, 10), (20, 40)]), Ok(vec![5, 30]), "single instants are in the middle");
    assert_eq!(verify_instants(&[]), Ok(vec![]));
    let far = verify_instants(&[(i64::MIN, i64::MAX), (i64::MIN, i64::MAX)]);
    assert!(far.is_ok(), "the largest numbers do not overflow");
}

#[test]
fn a_bar_without_end_lasts_to_the_last_one() {
    let bars = [bar(0, None), bar(10, Some(50))];
    assert_eq!(instants(&bars, &[step(1, ""), step(0, "")]), Ok(vec![23, 36]));
}

#[test]
fn an_order_that_contradicts_time_names_its_first_step() {
    let bars = [bar(0, Some(10)), bar(20, Some(30))];
    let error = instants(&bars, &[step(1, ""), step(0, "")]).unwrap_err();
    assert_eq!(error, NotInTime { step: 0 });
    assert_eq!(
        error.to_string(),
        "step 0 has no possible instant: an operation at or after it ended before one at or before it began"
    );
}

/// Operations as spans; one in ten crashed.
fn history() -> impl Strategy<Value = Vec<(i64, Option<i64>)>> {
    let op =
        (0..400_i64, 0..60_i64, 0..10).prop_map(|(start, long, crash)| (start, (crash > 0).then_some(start + long)));
    prop::collection::vec(op, 1..120)
}

proptest! {
    #[test]
    fn instants_are_valid_for_any_order(spans in prop::collection::vec((0..100_i64, 0..40_i64), 0..12)) {
        let spans: Vec<(i64, i64)> = spans.into_iter().map(|(start, long)| (start, start + long)).collect();
        prop_assert_eq!(verify_instants(&spans).is_ok(), follows_time(&spans));
    }

    #[test]
    fn a_window_contains_the_failure_and_is_complete_if_it_is_wider(
        ops in history(), around in any::<prop::sample::Index>(), bars_max in 1_usize..60, order in any::<prop::sample::Index>(),
    ) {
        let around = around.index(ops.len()).to_u32();
        let order: Vec<u32> = (0..ops.len().to_u32()).filter(|op| *op != around).take(order.index(ops.len())).collect();
        let chosen = window(ops.len(), |op| ops[op.to_usize()], around, &[&order], bars_max);
        prop_assert!(chosen.ops.is_sorted_by(|a, b| a < b), "no operation twice");
        prop_assert_eq!(chosen.ops.len(), bars_max.min(ops.len()), "all rows are used");
        prop_assert!(chosen.bar(around).is_some());
        prop_assert_eq!(chosen.is_whole(), chosen.note().is_none());
        let shown: BTreeSet<u32> = chosen.ops.iter().copied().collect();
        let steps_kept = order.len().min(bars_max / 4);
        prop_assert!(order.iter().rev().take(steps_kept).all(|op| shown.contains(op)), "the last steps are shown");
        prop_assert!(order.len() - chosen.skipped(&order) >= steps_kept);
        if !chosen.is_whole() {
            let (began, end) = ops[around.to_usize()];
            let until = end.unwrap_or(began);
            prop_assert!(chosen.extent.0 <= began && until <= chosen.extent.1);
            for (op, (start, end)) in ops.iter().enumerate().filter(|(op, _)| !shown.contains(&(op.to_u32()))) {
                let is_before = end.unwrap_or(*start) <= chosen.extent.0;
                prop_assert!(is_before || *start > until || chosen.extent.0 == began, "{op} is missing");
            }
        }
    }

    #[test]
    fn an_order_cut_to_a_window_has_the_same_states(ops in history(), bars_max in 4_usize..60) {
        let around = ops.len().to_u32() - 1;
        let order: Vec<u32> = (0..around).rev().collect();
        let chosen = window(ops.len(), |op| ops[op.to_usize()], around, &[&order], bars_max);
        let cut = chosen.order(&order, |steps| format!("after {steps}"));
        prop_assert_eq!(cut.skipped.to_usize() + cut.steps.len(), order.len());
        prop_assert_eq!(&cut.before, &format!("after {}", cut.skipped));
        for (nth, step) in cut.steps.iter().enumerate() {
            let at = cut.skipped.to_usize() + nth;
            prop_assert_eq!(chosen.ops[step.bar.to_usize()], order[at]);
            prop_assert_eq!(&step.state, &format!("after {}", at + 1));
        }
        let left_out = &order[..cut.skipped.to_usize()];
        let earlier: Vec<u32> = left_out.iter().filter_map(|op| chosen.bar(*op)).collect();
        prop_assert_eq!(cut.earlier, earlier);
        // The next step would refer to an operation that is not shown.
        prop_assert!(left_out.last().is_none_or(|op| chosen.bar(*op).is_none()));
    }
}

#[test]
fn a_short_history_is_shown_whole() {
    let chosen = window(3, |op| (i64::from(op) * 10, (op < 2).then_some(100)), 2, &[], 3);
    assert_eq!(chosen, Window { ops: vec![0, 1, 2], extent: (0, 100), ops_count: 3 });
    assert_eq!(chosen.note(), None);
}

#[test]
fn a_window_contains_recent_operations_and_a_few_later_ones() {
    let chosen = window(1000, |op| (i64::from(op) * 10, Some(i64::from(op) * 10 + 5)), 500, &[], 16);
    assert_eq!(chosen.ops, (487..=502).collect::<Vec<u32>>(), "an eighth of the operations are later");
    assert_eq!(chosen.extent, (4875, 5025));
    assert_eq!(chosen.note().unwrap(), "The page shows 16 of 1000 operations: those around the failure.");
}

#[test]
fn a_crashed_operation_that_a_late_step_needs_is_shown_and_truncated() {
    let span = |op| if op == 0 { (0, None) } else { (i64::from(op) * 10, Some(i64::from(op) * 10 + 5)) };
    let order: Vec<u32> = (1..499).chain([0, 499]).collect();
    let chosen = window(1000, span, 500, &[&order], 16);
    assert_eq!(chosen.bar(0), Some(0));
    assert!(chosen.extent.0 > 4000, "its row does not determine the width of the page");
}
