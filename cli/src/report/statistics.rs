//! The section of a page with statistics of a history.

use super::facts::{CHARS_MAX, Facts};
use super::gather::Statistics;
use histcheck_draw::text;
use history_core::OpKind;
use maud::{Markup, html};

/// The statistics of a history, and the counts of its checker.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let Statistics { ops, by_kind, by_function, .. } = &facts.gathered.statistics;
    let statistics = &facts.gathered.statistics;
    let completions: u64 = by_kind[1..].iter().sum();
    let client_ops: u64 = by_kind.iter().sum();
    let row = |what: &str, value: String| html! { div { dt { (what) } dd { (value) } } };
    let counts = facts.judged.map(|report| report.counts.clone()).unwrap_or_default();
    let rate = |ns: i64| {
        let per_second = u128::from(completions) * 1_000_000_000 / u128::from(ns.unsigned_abs().max(1));
        format!("{} completions per second", text::grouped(u64::try_from(per_second).unwrap_or(u64::MAX)))
    };
    html! {
        h2 { "The history" }
        @if let Some(why) = &facts.unread { p.note { b { "Note: " } (text::shown(why, CHARS_MAX)) } }
        dl.numbers {
            (row("Ops", text::grouped(*ops)))
            (row("Processes", text::grouped(statistics.processes)))
            @if statistics.others > 0 { (row("Ops of other processes than clients", text::grouped(statistics.others))) }
            @if let Some(ns) = statistics.duration_ns {
                (row("Duration", text::duration(ns)))
                @if ns > 0 && completions > 0 { (row("Rate", rate(ns))) }
            }
            @if by_kind[OpKind::Invoke as usize] > 0 {
                @let mean = statistics.concurrency_sum * 10 / client_ops.max(1);
                (row("In flight", format!("{} at most, {}.{} on average", text::grouped(statistics.concurrency_max), text::grouped(mean / 10), mean % 10)))
                (row("Never completed", text::grouped(statistics.open)))
            }
            (row("Failed", format!("{} ({} of completions)", text::grouped(by_kind[2]), text::percent(by_kind[2], completions))))
            (row("Unknown outcome", format!("{} ({} of completions)", text::grouped(by_kind[3]), text::percent(by_kind[3], completions))))
        }
        @if !by_function.is_empty() {
            h3 { "Ops by function" }
            div.scroll tabindex="0" role="region" aria-label="Ops by function" {
                table.counts {
                    thead { tr { th scope="col" { "Function" } @for kind in ["invoke", "ok", "fail", "info"] { th.number scope="col" { (kind) } } } }
                    tbody {
                        @for (f, counts) in by_function {
                            tr {
                                th scope="row" { bdi { (if f.is_empty() { "(none)".to_owned() } else { text::shown(f, 60) }) } }
                                @for count in counts { td.number { (text::grouped(*count)) } }
                            }
                        }
                    }
                    tfoot { tr { th scope="row" { "all" } @for count in by_kind { td.number { (text::grouped(*count)) } } } }
                }
            }
            @if statistics.functions_left_out { p.note { "Other functions are counted in the last row only." } }
        }
        @if !counts.is_empty() {
            h3 { "Counts of the checker" }
            dl.numbers { @for (name, count) in counts.iter().take(60) { (row(&text::shown(name, 80), text::grouped(*count))) } }
        }
    }
}
