//! Pictures of cycles and components of transactions, as SVG.

mod channel;
mod draw;
mod lanes;
mod layout;
mod mops;
mod place;
mod rank;
mod spread;
mod style;
mod txn_box;
mod zone;

use crate::bands::Band;
pub use history_core::figure::{STEPS_MAX, TXNS_MAX};
use history_core::{Step, WitnessOp};
use std::fmt;

/// Options for pictures of graphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotOptions {
    /// The title above the picture; none if empty: `"G-single-item"`.
    pub title: String,
    /// The maximum size of the output in bytes.
    pub max_plot_bytes: usize,
    /// Faults of the run: each transaction names those during which it completed.
    pub faults: Vec<Band>,
}

impl Default for PlotOptions {
    /// No title, and 65,536 bytes.
    fn default() -> PlotOptions {
        PlotOptions { title: String::new(), max_plot_bytes: 65_536, faults: Vec::new() }
    }
}

/// A picture that was not drawn. Its `Display` is a sentence that can be in the picture's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// It would exceed [`PlotOptions::max_plot_bytes`].
    Bytes {
        /// The limit.
        bytes_max: usize,
    },
    /// It has more transactions than [`TXNS_MAX`].
    Txns {
        /// The number of transactions.
        count: usize,
    },
    /// It has more steps than [`STEPS_MAX`].
    Steps {
        /// The number of steps.
        count: usize,
    },
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("No picture was drawn, because ")?;
        match self {
            TooLarge::Bytes { bytes_max } => {
                write!(f, "it would need more than {bytes_max} bytes; pass a larger --max-plot-bytes.")
            }
            TooLarge::Txns { count } => {
                write!(f, "{count} transactions are more than the maximum of {TXNS_MAX}.")
            }
            TooLarge::Steps { count } => {
                write!(f, "{count} relations are more than the maximum of {STEPS_MAX}.")
            }
        }
    }
}

impl std::error::Error for TooLarge {}

/// Draws transactions and the relations between them as SVG.
///
/// Draws both a single cycle, as in a [`Witness`](history_core::Witness), and a component with several relations
/// between two transactions. A transaction is a box with its micro-ops; the edge of a step leads from one of its two
/// micro-ops to the other, or, if it has none (`process`, `realtime`), from box to box. A cycle is drawn in its order
/// from top to bottom, so that only its last edge leads up; any other graph is in the order of indices, so that an edge
/// that leads up leads back in time. A step from an op to itself, or to none of `ops`, is not drawn, and a line below
/// the picture states the number of these. The two ends of a long list are shown; of more than two dozen micro-ops,
/// those with edges and the first ones are shown.
///
/// Equal arguments give equal bytes. Takes time quadratic in the number of steps, and for each step linear in the
/// number of micro-ops.
///
/// # Errors
///
/// If the picture exceeds a limit. None has more than [`TXNS_MAX`] transactions or [`STEPS_MAX`] steps.
///
/// ```
/// use check_elle::list_append::ListAppend;
/// use histcheck_draw::graph::{self, PlotOptions};
/// use history_core::Checker;
///
/// let history = history_core::History::parse(
///     "{:type :ok, :value [[:append :x 1] [:r :y []]]} {:type :ok, :value [[:append :y 1] [:r :x []]]}
///      {:type :ok, :value [[:r :x [1]] [:r :y [1]]]}",
/// )?;
/// let report = ListAppend::default().check(&history)?;
/// let cycle = &report.anomaly("G2-item").unwrap().witnesses[0];
/// let svg = graph::svg(&cycle.ops, &cycle.steps, &PlotOptions::default()).unwrap();
/// assert!(svg.starts_with("<svg ") && svg.contains("append :x 1"));
/// # Ok::<(), history_core::HistoryError>(())
/// ```
pub fn svg(ops: &[WitnessOp], steps: &[Step], options: &PlotOptions) -> Result<String, TooLarge> {
    if ops.len() > TXNS_MAX {
        return Err(TooLarge::Txns { count: ops.len() });
    }
    if steps.len() > STEPS_MAX {
        return Err(TooLarge::Steps { count: steps.len() });
    }
    draw::draw(&layout::layout(ops, steps, &options.faults), ops, steps, options)
}

#[cfg(test)]
mod geometry_tests;
#[cfg(test)]
mod samples;
