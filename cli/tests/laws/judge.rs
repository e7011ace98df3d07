//! Checks a text: reads it in some way, with a checker and options.

use crate::table;
use crate::world::World;
use history_core::{Budget, Keyed, Options, Reader, Report, Run, Verdict};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How a text is read and checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct How {
    pub(crate) options: Options,
    pub(crate) is_keyed: bool,
    /// Whether it is checked op by op, with a look at the result after each, as in `watch`.
    pub(crate) is_watched: bool,
    pub(crate) block_bytes: Option<usize>,
    /// Whether there are limits, which are never reached.
    pub(crate) has_limits: bool,
}

/// A checker of texts.
pub(crate) trait Judge: Sync {
    fn judge(&self, world: &World, text: &[u8], how: &How) -> Report;
}

/// The maximum number of configurations of a search. The few histories that need more take seconds.
const CONFIGURATIONS_MAX: &str = "20000";

/// The checkers without a fault.
pub(crate) struct Honest;

impl Judge for Honest {
    fn judge(&self, world: &World, text: &[u8], how: &How) -> Report {
        table::with(world.checker, how.is_watched, |checker| {
            let mut options = how.options.clone();
            if world.has_engines && !how.is_watched {
                options.set("max-configurations", CONFIGURATIONS_MAX);
            }
            let run: Box<dyn Run + '_> = if how.is_keyed {
                Box::new(Keyed::start(checker, &options).unwrap())
            } else {
                checker.start(&options).unwrap()
            };
            let mut reader = Reader::new(text);
            if let Some(bytes) = how.block_bytes {
                reader = reader.with_block_bytes(bytes);
            }
            let budget = if how.has_limits { limits() } else { Budget::default() };
            if how.is_watched {
                return watch(run, &mut reader, &budget);
            }
            history_core::check(run, &mut reader, &budget).unwrap_or_else(|error| panic!("{error}"))
        })
    }
}

fn limits() -> Budget {
    let deadline = Instant::now() + Duration::from_secs(1_000_000);
    Budget::default().with_states_max(u64::MAX / 2).with_bytes_max(u64::MAX / 2).with_deadline(deadline)
}

/// A verdict that is certain before the end must not change.
fn watch(mut run: Box<dyn Run + '_>, reader: &mut Reader<'_>, budget: &Budget) -> Report {
    let mut known = None;
    let read = reader.for_each(|op| {
        let goes_on = run.observe(op)?;
        if known.is_none() && run.is_violated() {
            known = run.violation();
            let verdict = known.as_ref().map(|report| report.verdict);
            assert_eq!(verdict, Some(Verdict::Invalid), "a violation has its report");
        }
        // A watch continues after a violation until the checker needs no more ops.
        Ok(if goes_on.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    read.unwrap_or_else(|error| panic!("{error}"));
    let report = run.finish(budget).unwrap_or_else(|error| panic!("{error}"));
    assert!(known.is_none() || report.verdict == Verdict::Invalid, "it was violated: {report:?}");
    report
}
