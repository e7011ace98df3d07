//! Timelines: a history as one self-contained page, with a row for each process and a bar for each operation.
//!
//! The input is pure data, the output HTML: the checker of the history describes the content as a [`Timeline`], and
//! [`html`] writes it. The page needs no network and no other file. It draws on a canvas only what is visible, so that
//! it is fast up to 100,000 bars; of a longer history a checker chooses the part around the failure. Without script,
//! the page contains the verdict, the operation that does not fit, and the steps before it as text.
//!
//! A linearization is drawn as instants: each operation takes effect at one, between its start and its end
//! (Herlihy and Wing, "Linearizability: A Correctness Condition for Concurrent Objects", TOPLAS 1990, section 2).
//! [`instants`] finds them from the order alone.

mod by_key;
mod data;
mod instants;
mod overlay;
mod page;

pub(crate) use by_key::by_key;
pub use instants::{NotInTime, instants};
pub use overlay::lay_over;

use history_core::cast::Cast as _;
pub use history_core::figure::{BARS_MAX, Bar, BarStatus, ORDERS_MAX, Order, Scale, Step, Timeline};
use std::fmt;

/// The maximum number of characters of a text. Of a longer one, the beginning and the end are shown.
const CHARS_MAX: usize = 2000;

/// The maximum size of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageOptions {
    /// The maximum number of bytes of the page.
    pub bytes_max: usize,
}

impl Default for PageOptions {
    /// 32 MiB. A page of 100,000 bars and as many steps with short texts takes 3 to 5 MB.
    fn default() -> PageOptions {
        PageOptions { bytes_max: 32 << 20 }
    }
}

/// The reason why a timeline has no page. Its `Display` is a sentence that can replace the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineError {
    /// It has more than [`BARS_MAX`] bars.
    Bars {
        /// The number of bars.
        count: usize,
    },
    /// It has more than [`ORDERS_MAX`] orders.
    Orders {
        /// The number of orders.
        count: usize,
    },
    /// Even with shortened texts it would exceed [`PageOptions::bytes_max`].
    Bytes {
        /// The limit.
        bytes_max: usize,
    },
    /// A bar is in a row that does not exist, or ends before it starts.
    Bar {
        /// Its position in [`Timeline::bars`].
        at: usize,
    },
    /// An order names a bar that does not exist, or names one twice.
    Order {
        /// Its position in [`Timeline::orders`].
        at: usize,
        /// The bar's position in [`Timeline::bars`].
        bar: u32,
    },
}

impl fmt::Display for TimelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("No timeline was drawn, because ")?;
        match self {
            TimelineError::Bars { count } => write!(f, "{count} operations are more than the maximum of {BARS_MAX}."),
            TimelineError::Orders { count } => write!(f, "{count} orders are more than the maximum of {ORDERS_MAX}."),
            TimelineError::Bytes { bytes_max } => write!(f, "it would need more than {bytes_max} bytes."),
            TimelineError::Bar { at } => write!(f, "bar {at} has no row, or ends before it starts."),
            TimelineError::Order { at, bar } => write!(
                f,
                "order {at} places bar {bar}, which does not exist or is \
                placed twice."
            ),
        }
    }
}

impl std::error::Error for TimelineError {}

/// Writes the page of a timeline.
///
/// Equal timelines give equal bytes. Takes time in proportion to the length of all texts, and n log n in bars.
///
/// The page does not verify its orders: it draws each step as near to the previous one as its operation's bar permits,
/// and a sentence on it gives the number of steps that could not keep their order. [`instants`] determines this
/// beforehand.
///
/// # Errors
///
/// If the timeline is too large, or points at rows or bars that do not exist.
///
/// ```
/// use histcheck_draw::timeline::{self, Bar, BarStatus, Order, PageOptions, Scale, Step, Timeline};
///
/// let bar = |row, start, end, label: &str, status| Bar {
///     row, index: start as u64, completed: Some(end as u64), start, end: Some(end),
///     label: label.into(), detail: String::new(), status,
/// };
/// let timeline = Timeline {
///     title: "history.edn is not linearizable".into(),
///     summary: "The read at index 2 saw 2, which nobody wrote.".into(),
///     scale: Scale::Positions,
///     rows: vec!["process 0".into(), "process 1".into()],
///     bars: vec![bar(0, 0, 1, "write 1", BarStatus::Placed), bar(1, 2, 3, "read -> 2", BarStatus::Refused)],
///     orders: vec![Order {
///         before: "nil".into(),
///         steps: vec![Step { bar: 0, state: "1".into() }],
///         refusal: "The register holds 1, and the read saw 2.".into(),
///         ..Order::default()
///     }],
///     ..Timeline::default()
/// };
/// let page = timeline::html(&timeline, &PageOptions::default())?;
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("The register holds 1, and the read saw 2."));
/// # Ok::<(), timeline::TimelineError>(())
/// ```
pub fn html(timeline: &Timeline, options: &PageOptions) -> Result<String, TimelineError> {
    verify(timeline)?;
    // The least important parts are omitted first: the other orders, then the ends of long texts.
    for (orders_max, chars_max) in
        [(ORDERS_MAX, CHARS_MAX), (ORDERS_MAX / 2, CHARS_MAX), (1, CHARS_MAX), (1, 200), (1, 40)]
    {
        let shown = data::Shown::new(timeline, orders_max, chars_max);
        if let Some(page) = page::write(timeline, &shown, options.bytes_max) {
            return Ok(page);
        }
    }
    Err(TimelineError::Bytes { bytes_max: options.bytes_max })
}

/// Verifies that all positions exist, and that no limit is exceeded.
fn verify(timeline: &Timeline) -> Result<(), TimelineError> {
    let bars = &timeline.bars;
    if bars.len() > BARS_MAX {
        return Err(TimelineError::Bars { count: bars.len() });
    }
    if timeline.orders.len() > ORDERS_MAX {
        return Err(TimelineError::Orders { count: timeline.orders.len() });
    }
    for (at, bar) in bars.iter().enumerate() {
        if bar.row.to_usize() >= timeline.rows.len() || bar.end.is_some_and(|end| end < bar.start) {
            return Err(TimelineError::Bar { at });
        }
    }
    // For each bar, the last order that placed it, counted from 1.
    let mut placed_by = vec![0; bars.len()];
    for (at, order) in timeline.orders.iter().enumerate() {
        let steps = order.steps.iter().map(|step| step.bar);
        for bar in order.earlier.iter().copied().chain(steps) {
            match placed_by.get_mut(bar.to_usize()) {
                Some(by) if *by <= at => *by = at + 1,
                _ => return Err(TimelineError::Order { at, bar }),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
