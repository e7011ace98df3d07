//! Anomalies on a page: a witness as text, as a picture, and with the operations around it.

use super::gather::{Around, Bar, Half};
use super::timeline;
use histcheck_draw::bands::Band;
use histcheck_draw::graph::{self, PlotOptions};
use histcheck_draw::text;
use history_core::Witness;
use history_core::cast::Cast as _;
use maud::{Markup, PreEscaped, html};

/// The maximum number of characters of a witness's explanation.
const PROSE_CHARS_MAX: usize = 12_000;

/// The explanation of a witness, its picture, its ops, and the operations around it.
pub(super) fn block(
    witness: &Witness,
    around: Option<&Around>,
    bands: &[Band],
    title: &str,
    is_object: bool,
) -> Markup {
    let limit = witness.ops.first().filter(|_| is_object).map(|op| op.index);
    html! {
        @if let Some(picture) = cycle(witness, bands, title) {
            figure {
                div.scroll tabindex="0" role="region" aria-label={ "Picture of " (title) } { (picture) }
                figcaption { "Each box is a transaction; each arrow shows why one precedes the other." }
            }
        }
        pre.prose { bdi { (text::shown(&witness.explanation, PROSE_CHARS_MAX).trim_end()) } }
        @if let Some(around) = around.filter(|around| !around.bars.is_empty()) {
            (figure(around, limit, &format!("Operations around {title}")))
            (ops(around))
        }
    }
}

fn cycle(witness: &Witness, bands: &[Band], title: &str) -> Option<Markup> {
    if witness.steps.is_empty() {
        return None;
    }
    let faults = bands.iter().filter(|band| band.lane.is_none()).cloned().collect();
    let options = PlotOptions { title: text::shown(title, 80), faults, ..PlotOptions::default() };
    Some(match graph::svg(&witness.ops, &witness.steps, &options) {
        Ok(svg) => PreEscaped(svg),
        Err(why) => html! { p.note { (why) } },
    })
}

/// A timeline. No order was found that includes the ops after op `limit`.
pub(super) fn figure(around: &Around, limit: Option<u64>, title: &str) -> Markup {
    let left_out: u64 = around.columns.iter().map(|(_, left_out)| left_out).sum::<u64>() + around.left_out_behind;
    html! {
        figure {
            div.scroll tabindex="0" role="region" aria-label=(title) { (timeline::draw(around, limit, title)) }
            figcaption {
                "A row for each process, a bar for each operation, from its invocation to its completion, in the order of the history."
                @if left_out > 0 { " " (text::count(left_out, "op of clients is", "ops of clients are")) " not shown." }
            }
        }
    }
}

/// The operations of a timeline as a table: the witness's are expanded, the others collapsed.
fn ops(around: &Around) -> Markup {
    let has_hosts = around.bars.iter().any(|bar| !host(bar).is_empty());
    let rows = |named: bool| around.bars.iter().filter(move |bar| bar.name.is_some() == named).collect::<Vec<_>>();
    let table = |bars: &[&Bar]| {
        html! {
            div.scroll tabindex="0" role="region" aria-label="Operations" {
                table {
                    thead { tr { th scope="col" { "Name" } th scope="col" { "Process" } @if has_hosts { th scope="col" { "Node" } } th scope="col" { "Operation" } th scope="col" { "Invoked" } th scope="col" { "Completed" } } }
                    tbody {
                        @for bar in bars {
                            tr {
                                th scope="row" { (bar.name.as_deref().unwrap_or("")) }
                                td.number { (around.rows[bar.row]) }
                                @if has_hosts { td { bdi { (host(bar)) } } }
                                td.what { bdi { (bar.label) } }
                                td.place { (place(bar.invoked.as_ref(), false)) }
                                td.place { (place(bar.completed.as_ref(), true)) }
                            }
                        }
                    }
                }
            }
        }
    };
    let (own, others) = (rows(true), rows(false));
    html! {
        @if !own.is_empty() { (table(&own)) }
        @if !others.is_empty() {
            details { summary { (text::count(others.len().to_u64(), "more operation", "more operations")) " around" } (table(&others)) }
        }
    }
}

/// The node that processed an operation.
fn host(bar: &Bar) -> &str {
    bar.invoked.as_ref().or(bar.completed.as_ref()).map_or("", |half| half.host.as_str())
}

fn place(half: Option<&Half>, says_kind: bool) -> Markup {
    html! {
        @match half {
            None => { "\u{2013}" },
            Some(half) => {
                @if says_kind { span class={ "kind " (half.kind.name()) } { (half.kind.name()) } " " }
                // `histcheck serve` turns these into links.
                span.op data-op=(half.index) { "index " (half.index) }
                @if let Some(line) = half.line { ", line " (line) }
                @if let Some(time) = half.time_ns { ", " (text::duration(time)) }
            },
        }
    }
}
