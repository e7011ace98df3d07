//! Data for plots of a run over time, which the directory of a history contains in addition to its checker's pictures.

use crate::judge::input::Input;
use crate::output::diagnose;
use histcheck_draw::bands::Annotations;
use histcheck_draw::plot::Performance;
use std::ops::ControlFlow;

/// Reads a history once more for its latencies, rates and faults.
///
/// A checker may end before the history does, but the plots show all of it. An error in the text was reported when the
/// history was checked: then the plots show the part before it.
pub(crate) fn read(input: &Input, annotations: &Annotations) -> Performance {
    let mut performance = Performance::new(annotations.clone());
    if input.is_readable_again() {
        let read = input.open().and_then(|mut reader| {
            reader.for_each_batch_ahead(|batch| {
                batch.ops().for_each(|op| performance.observe(&op));
                Ok(ControlFlow::Continue(()))
            })
        });
        // The error was reported before.
        _ = read;
    } else {
        let note = "note: no plots over time, because the history can be read only once; histcheck report draws them";
        diagnose::hint(&input.place(), note);
    }
    performance
}
