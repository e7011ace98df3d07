//! The page of a run in progress: figures, plots and the verdict so far, which the script updates.

use super::LIVE_SCRIPT_ADDRESS;
use super::layout::page;
use crate::state::State;
use histcheck_draw::text;
use maud::{Markup, html};

/// The plots over time: the id for the script, the title, and the names of its lines.
const PLOTS: [(&str, &str, &str); 3] = [
    ("rate", "Operations per second", "ok, fail and info, one on top of the other"),
    ("latency", "Latency", "median and 99th percentile, on a logarithmic scale"),
    ("open", "Operations in flight", ""),
];

/// The page; `None` if no run is in progress.
pub(crate) fn live(state: &State) -> Option<Markup> {
    let board = state.board.as_ref()?;
    let title = text::shown(board.name(), 200);
    Some(page(
        &title,
        &html! {
            h1 { bdi { (title) } " " span id="verdict" class="badge none" role="status" { "\u{2026}" } }
            p.note id="about" {}
            dl.facts id="figures" {
                @for (id, title) in [("ops", "Ops"), ("per-second", "Per second"), ("in-flight", "In flight"), ("p99", "99th percentile"), ("judged", "Judged"), ("fault", "Fault")] {
                    div { dt { (title) } dd data-figure=(id) { "\u{2013}" } }
                }
            }
            div id="violations" role="log" aria-label="Violations" {}
            @for (id, title, lines) in PLOTS {
                figure.plot {
                    figcaption { b { (title) } @if !lines.is_empty() { span.note { ", " (lines) } } span.note data-scale=(id) {} }
                    svg id={ "plot-" (id) } viewBox="0 0 960 160" preserveAspectRatio="none" role="img" aria-label=(title) {}
                }
            }
            p.note { "Bands show faults. Time is in seconds since the start of the run." }
            p.note id="connection" role="status" {}
            noscript { p.notice { "This page needs JavaScript; " code { "curl ADDRESS/api/live" } " works without it." } }
            script src=(LIVE_SCRIPT_ADDRESS) defer {}
        },
    ))
}
