//! Plots of a run over time: latencies, rates, and active faults.
//!
//! [`Performance`] processes the ops of a history, in memory that does not grow with it; [`plots`] draws the counts. A
//! history of any length results in pictures of at most a few hundred kilobytes: up to 3000 operations are points, more
//! are a heat map.

mod axis;
mod bins;
mod clock;
mod frame;
mod latency;
mod over;
mod performance;
mod rate;
pub(crate) mod series;
mod style;

pub use performance::Performance;

use crate::Drawing;
use crate::text;
use axis::Time;
use frame::{Entry, Mark};
use history_core::figure::Series;
use performance::Function;

/// Draws the counts: `latency-raw.svg`, `latency-quantiles.svg`, `rate.svg` and `clock-skew.svg`, those for which the
/// history has the times.
///
/// ```
/// use histcheck_draw::plot::{Performance, plots};
/// use history_core::History;
///
/// let history = History::parse(
///     "{:process 0, :type :invoke, :f :read, :time 1000}
///      {:process 0, :type :ok, :f :read, :time 51000}",
/// )?;
/// let mut run = Performance::default();
/// history.ops().for_each(|op| run.observe(&op));
/// let paths: Vec<String> = plots(&run).into_iter().map(|plot| plot.path).collect();
/// assert_eq!(paths, ["latency-raw.svg", "latency-quantiles.svg", "rate.svg"]);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
pub fn plots(run: &Performance) -> Vec<Drawing> {
    let Some(range) = run.bins.range() else { return Vec::new() };
    let time = Time::new(range);
    let drawn = [
        ("latency-raw.svg", latency::raw(run, time)),
        ("latency-quantiles.svg", latency::quantiles(run, time)),
        ("rate.svg", rate::draw(run, time)),
        ("clock-skew.svg", clock::draw(run, range)),
    ];
    let drawing = |(path, content): (&str, Option<String>)| Some(Drawing { path: path.into(), content: content? });
    drawn.into_iter().filter_map(drawing).collect()
}

/// Draws numbers over the times of a run, with its faults and annotations.
pub fn draw_series(series: &Series, run: &Performance) -> String {
    let range = run.bins.range().or_else(|| series::range(series)).unwrap_or_default();
    series::draw(series, range, run, series::Shape::Lines)
}

/// The title of a function's panel.
fn title_of(function: &Function) -> String {
    let name = if function.name.is_empty() { "(no function)" } else { &function.name };
    format!("{}: {}", text::clipped(name, 40), text::count(function.operations, "completion", "completions"))
}

/// The entries of the legend for outcomes.
fn outcomes(mark: Mark) -> Vec<Entry> {
    let entry = |(class, words): (&'static str, &str)| Entry { class, mark, words: words.into() };
    [("o0", "ok"), ("o1", "fail"), ("o2", "info")].into_iter().map(entry).collect()
}
