//! The number of operations completed per second, by outcome.

use super::axis::{PANEL, Time, step};
use super::frame::{self, Mark, Panel};
use super::performance::{Function, OUTCOMES, Performance};
use crate::text;
use maud::html;
use std::fmt::Write as _;

/// The approximate number of steps of a line.
const COLUMNS: usize = 64;

/// Draws the rates, unless all ops have the same time.
pub(super) fn draw(run: &Performance, time: Time) -> Option<String> {
    let panels: Vec<Panel> = run.functions.iter().filter_map(|function| panel(run, function, time)).collect();
    (!panels.is_empty())
        .then(|| frame::draw("Completions per second", time, run, &super::outcomes(Mark::Line), &panels))
}

/// A column: its beginning and end, and the completions per 1000 s with each outcome.
type Column = (i64, i64, [u64; OUTCOMES]);

fn columns(run: &Performance, function: &Function) -> Vec<Column> {
    let used = run.bins.used();
    let width = used.div_ceil(COLUMNS).max(1);
    let column = |first: usize| {
        let end = (first + width).min(used);
        let (from, until) = (run.bins.span(first).0, run.bins.span(end - 1).1);
        let length = u128::try_from(i128::from(until) - i128::from(from)).ok().filter(|length| *length > 0)?;
        let mut rates = [0; OUTCOMES];
        for (outcome, rate) in rates.iter_mut().enumerate() {
            let count: u128 = (first..end).map(|bin| u128::from(function.completions[bin * OUTCOMES + outcome])).sum();
            *rate = u64::try_from(count * 1_000_000_000_000 / length).unwrap_or(u64::MAX);
        }
        Some((from, until, rates))
    };
    (0..used).step_by(width).filter_map(column).collect()
}

fn panel(run: &Performance, function: &Function, time: Time) -> Option<Panel> {
    let columns = columns(run, function);
    let most = columns.iter().flat_map(|(.., rates)| rates).copied().max().filter(|most| *most > 0)?;
    let y = |rate: u64| {
        PANEL - i64::try_from(u128::from(rate) * u128::from(PANEL.unsigned_abs()) / u128::from(most)).unwrap_or(PANEL)
    };
    let step = step(most).max(1);
    let marks = (0..=most / step).step_by(2).map(|at| (y(at * step), per_second(at * step))).collect();
    let lines: [String; OUTCOMES] = std::array::from_fn(|outcome| {
        let mut line = String::new();
        if columns.iter().any(|(.., rates)| rates[outcome] > 0) {
            for (at, (from, until, rates)) in columns.iter().enumerate() {
                let (letter, x) = if at == 0 { ('M', time.x(*from)) } else { ('L', time.x(*from)) };
                _ = write!(line, "{letter}{x} {}H{}", y(rates[outcome]), time.x(*until));
            }
        }
        line
    });
    let body = html! { @for (outcome, line) in lines.iter().enumerate() { g class={ "o" (outcome) } { path class="l" d=(line) {} } } };
    Some(Panel { title: super::title_of(function), marks, body })
}

/// Converts a rate per 1000 s to one per second.
fn per_second(rate: u64) -> String {
    let (whole, part) = (rate / 1000, rate % 1000);
    let part = format!(".{part:03}");
    format!("{}{}/s", text::grouped(whole), part.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_per_second() {
        assert_eq!([0, 1, 500, 1000, 2_500_000].map(per_second), ["0/s", "0.001/s", "0.5/s", "1/s", "2,500/s"]);
    }
}
