//! Plots of a run over time, which the directory of a history gets besides the pictures of its checker.

use crate::judge::input::Input;
use crate::output::diagnose;
use histcheck_draw::Drawing;
use histcheck_draw::plot::{self, Performance};
use std::ops::ControlFlow;

/// Reads a history once more, and draws its latencies, rates and faults.
///
/// A checker may end before the history does, and the plots are of all of it. An error in the text was reported by whoever judged it:
/// then the plots are of what comes before.
pub(crate) fn plots(input: &Input) -> Vec<Drawing> {
    if !input.is_readable_again() {
        diagnose::hint(
            &input.place(),
            "note: no plots over time of what can be read only once; histcheck report draws them",
        );
        return Vec::new();
    }
    let mut performance = Performance::default();
    let read = input.open().and_then(|mut reader| {
        reader.for_each_batch_ahead(|batch| {
            batch.ops().for_each(|op| performance.observe(&op));
            Ok(ControlFlow::Continue(()))
        })
    });
    // Said before.
    let _ = read;
    plot::plots(&performance)
}
