//! Instants of an order: one in each operation's interval, none before the instant of the previous step.
//!
//! A step can be no earlier than the start of any operation up to it (E), and no later than the end of any operation
//! from it on (L). The order has instants if and only if E <= L at each step. Both E and L are nondecreasing, and so is
//! every choice between them step by step. Steps with the same L share the time up to L evenly, so that they are apart
//! if possible.

use super::{Bar, Step};
use history_core::cast::Cast as _;
use std::fmt;

/// An order that contradicts the times: an operation ended before one that is ordered before it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInTime {
    /// The position of the first step that has no instant.
    pub step: usize,
}

impl fmt::Display for NotInTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "step {} has no possible instant: an operation at or after it ended before one at or before it began",
            self.step
        )
    }
}

impl std::error::Error for NotInTime {}

/// For each step an instant within its bar; they never decrease.
///
/// A bar without end lasts as long as the last of the bars. Takes linear time.
///
/// # Errors
///
/// If there are no such instants: the order is not a linearization of these bars.
///
/// # Panics
///
/// If a step names a bar that does not exist.
///
/// ```
/// use histcheck_draw::timeline::{Bar, BarStatus, Step, instants};
///
/// let bar = |start, end| Bar {
///     row: 0, index: 0, completed: None, start, end: Some(end),
///     label: String::new(), detail: String::new(), status: BarStatus::Placed,
/// };
/// let step = |bar| Step { bar, state: String::new() };
/// let bars = [bar(0, 30), bar(10, 20)];
/// assert_eq!(instants(&bars, &[step(0), step(1)]), Ok(vec![6, 15]));
/// assert_eq!(instants(&bars, &[step(1), step(0)]), Ok(vec![15, 22]));
/// ```
pub fn instants(bars: &[Bar], order: &[Step]) -> Result<Vec<i64>, NotInTime> {
    let edge = bars.iter().map(|bar| bar.end.unwrap_or(bar.start)).max().unwrap_or(0);
    let span = |step: &Step| {
        let bar = &bars[step.bar.to_usize()];
        (i128::from(bar.start), i128::from(bar.end.unwrap_or(edge)))
    };
    let spans: Vec<(i128, i128)> = order.iter().map(span).collect();
    let placed = place(&spans);
    match placed.late.first() {
        Some(step) => Err(NotInTime { step: *step }),
        // Each instant is within a bar, whose ends are `i64`.
        None => Ok(placed.at.iter().map(|at| at.to_i64()).collect()),
    }
}

/// Instants, and the steps that do not fit their order.
pub(super) struct Placed {
    /// One for each step, within its interval. Nondecreasing if `late` is empty.
    pub(super) at: Vec<i128>,
    /// The positions of steps with E > L. They are placed where their interval is nearest to E.
    pub(super) late: Vec<usize>,
}

/// Chooses instants for intervals in the given order.
pub(super) fn place(spans: &[(i128, i128)]) -> Placed {
    let mut latest: Vec<i128> = spans.iter().map(|span| span.1).collect();
    for at in (1..latest.len()).rev() {
        latest[at - 1] = latest[at - 1].min(latest[at]);
    }
    let mut placed = Placed { at: Vec::with_capacity(spans.len()), late: Vec::new() };
    let (mut earliest, mut same_until) = (i128::MIN, 0);
    let mut last = i128::MIN;
    for (at, (start, end)) in spans.iter().enumerate() {
        earliest = earliest.max(*start);
        let limit = latest[at];
        if earliest > limit {
            placed.late.push(at);
            placed.at.push(earliest.min(*end));
            continue;
        }
        while same_until < spans.len() && (same_until <= at || latest[same_until] == limit) {
            same_until += 1;
        }
        let from = last.max(earliest);
        last = from + (limit - from) / (same_until - at + 1) as i128;
        placed.at.push(last);
    }
    placed
}
