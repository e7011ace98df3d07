//! Tests of timelines: data is written as a page, and read back.

mod pages;
mod places;

use super::*;
use proptest::prelude::*;

/// A bar with these numbers, and no texts.
fn bar(start: i64, end: Option<i64>) -> Bar {
    Bar {
        row: 0,
        index: start.unsigned_abs(),
        completed: None,
        start,
        end,
        label: String::new(),
        detail: String::new(),
        status: BarStatus::Placed,
    }
}

fn step(bar: u32, state: &str) -> Step {
    Step { bar, state: state.into() }
}

/// A register with two processes: a write, a read that sees it, a crashed write, and a read that cannot be placed.
fn register() -> Timeline {
    let bar = |row, index, completed: Option<u64>, label: &str, status| Bar {
        row,
        completed,
        label: label.into(),
        status,
        index,
        ..bar(index.cast_signed() * 100, completed.map(|index| index.cast_signed() * 100))
    };
    let mut crashed = bar(1, 2, None, "write 2", BarStatus::Pending);
    crashed.detail = "error: timeout".into();
    Timeline {
        title: "register".into(),
        summary: "The read of 3 fits nowhere.".into(),
        rows: vec!["process 0".into(), "process 1".into()],
        bars: vec![
            bar(0, 5, Some(7), "read -> 3", BarStatus::Refused),
            bar(0, 0, Some(3), "write 1", BarStatus::Placed),
            bar(1, 1, Some(4), "read -> 1", BarStatus::Placed),
            crashed,
        ],
        orders: vec![Order {
            before: "nil".into(),
            steps: vec![step(1, "1"), step(2, "1")],
            refusal: "The register holds 1, and the read saw 3.".into(),
            ..Order::default()
        }],
        ..Timeline::default()
    }
}
