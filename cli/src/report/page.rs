//! The page: the history and checker, the result, its explanation, and statistics.

use super::facts::{CHARS_MAX, Facts};
use super::meaning;
use super::{severity, statistics, witness};
use histcheck_draw::bands::Band;
use histcheck_draw::lattice::{Lattice, Standing};
use histcheck_draw::{plot, text};
use history_core::cast::Cast as _;
use history_core::figure::{Content, Figure, Series};
use history_core::{Anomaly, Datum, HistoryError, KeyReport, Report, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const CSS: &str = include_str!("style.css");
/// The maximum number of keys that are named.
const KEYS_MAX: usize = 100;
/// Bytes reserved for the end of a page.
const RESERVE: usize = 2048;

/// A page, and how many of its parts were omitted.
pub(super) struct Page {
    pub(super) html: String,
    pub(super) left_out: u64,
}

/// A page under construction.
struct Draft<'a> {
    facts: &'a Facts<'a>,
    body: String,
    bytes_max: usize,
    left_out: u64,
    /// The number of witnesses drawn so far.
    drawn: usize,
}

/// Writes a page of at most this number of bytes, or the smallest page with the verdict.
pub(super) fn write(facts: &Facts<'_>, bytes_max: usize) -> Page {
    let verdict = facts.judged.ok().map(|report| report.verdict);
    let top = html! { (head(facts, verdict)) (summary(facts, verdict)) }.into_string();
    let room = bytes_max.saturating_sub(top.len() + RESERVE);
    let mut draft = Draft { facts, body: String::new(), bytes_max: room, left_out: 0, drawn: 0 };
    match facts.judged {
        Ok(report) => draft.report(report, 2),
        Err(error) => draft.add(error_block(error)),
    }
    draft.beginning();
    draft.add(statistics::section(facts));
    draft.plots();
    draft.add(reading(&facts.gathered.performance.bands()));
    let notice = (draft.left_out > 0).then(|| {
        html! {
            p.notice role="note" {
                (text::count(draft.left_out, "part of this page was", "parts of this page were"))
                " omitted: the page is limited to " (text::grouped(bytes_max.to_u64())) " bytes. "
                code { "--max-report-bytes" } " sets a larger limit."
            }
        }
    });
    let html = html! {
        (PreEscaped(&top)) @if let Some(notice) = &notice { (notice) }
        (PreEscaped(&draft.body))
        (PreEscaped("</main>"))
        footer { p { "histcheck " (env!("CARGO_PKG_VERSION")) ". This page needs no network and no script." } }
        (PreEscaped("</body>\n</html>\n"))
    };
    Page { html: html.into_string(), left_out: draft.left_out }
}

/// Everything before the body. The head contains the verdict for programs.
pub(super) fn head_of(title: &str, [verdict, checker, found, strongest, not]: [&str; 5]) -> Markup {
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">\n"))
        head {
            meta charset="utf-8";
            meta name="histcheck-verdict" content=(verdict);
            meta name="histcheck-checker" content=(checker);
            meta name="histcheck-found" content=(found);
            @if !strongest.is_empty() { meta name="histcheck-strongest" content=(strongest); }
            @if !not.is_empty() { meta name="histcheck-not" content=(not); }
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
            meta name="color-scheme" content="light dark";
            title { (title) }
            style { (PreEscaped(CSS)) }
        }
        (PreEscaped("<body>\n"))
    }
}

fn head(facts: &Facts<'_>, verdict: Option<Verdict>) -> Markup {
    let (_, word, _) = meaning::badge(verdict);
    let (checker, found) = facts.judged.map(|report| (&*report.checker, severity::found(report))).unwrap_or_default();
    let (checker, found) = (text::shown(checker, 120), text::shown(&found, CHARS_MAX));
    let verdict = verdict.map_or("error", Verdict::name);
    let not = facts.judged.map(|report| report.not.join(", ")).unwrap_or_default();
    let title = format!("{}: {word}", text::shown(facts.name, 200));
    head_of(&title, [verdict, &checker, &found, &strongest(facts), &not])
}

/// The strongest consistency levels that hold, if the checker knows any.
fn strongest(facts: &Facts<'_>) -> String {
    let report = facts.judged.ok().filter(|report| report.checkers.is_empty());
    let lattice = report.map(|report| Lattice::of(facts.about.of(&report.checker), report));
    lattice.map(|lattice| lattice.strongest().join(", ")).unwrap_or_default()
}

fn badge(verdict: Option<Verdict>) -> Markup {
    let (mark, word, class) = meaning::badge(verdict);
    html! { span class={ "badge " (class) } { span aria-hidden="true" { (mark) " " } (word) } }
}

fn summary(facts: &Facts<'_>, verdict: Option<Verdict>) -> Markup {
    let checker = facts.judged.map(|report| report.checker.clone()).unwrap_or_default();
    html! {
        header {
            p.kicker { "histcheck" @if !checker.is_empty() { " \u{b7} " (text::shown(&checker, 120)) } }
            h1 { bdi { (text::shown(facts.name, 300)) } }
            p.verdict {
                (badge(verdict)) " "
                @match facts.judged {
                    Ok(report) => { (text::shown(&meaning::sentence(report, facts.about, facts.asked), CHARS_MAX)) },
                    Err(_) => { "This file could not be checked, so there is no result about the system under test." },
                }
            }
        }
        (PreEscaped("<main>\n"))
    }
}

fn heading(level: u8, id: Option<&str>, content: &Markup) -> Markup {
    html! {
        @match level {
            2 => { h2 id=[id] { (content) } },
            3 => { h3 id=[id] { (content) } },
            4 => { h4 id=[id] { (content) } },
            _ => { h5 id=[id] { (content) } },
        }
    }
}

fn plain(text: &str) -> Markup {
    html! { (text) }
}

impl Draft<'_> {
    /// Adds a part, if it fits.
    fn add(&mut self, part: Markup) {
        let part = part.into_string();
        if self.body.len() + part.len() <= self.bytes_max {
            self.body += &part;
            self.body.push('\n');
        } else {
            self.left_out += 1;
        }
    }

    fn report(&mut self, report: &Report, level: u8) {
        if !report.notes.is_empty() {
            self.add(html! {
                @for note in report.notes.iter().take(KEYS_MAX) { p.note { b { "Note: " } bdi { (text::shown(note, 4 * CHARS_MAX)) } } }
            });
        }
        if !report.next.is_empty() {
            self.add(html! {
                @for step in report.next.iter().take(KEYS_MAX) { p.note { b { "Next step: " } bdi { (text::shown(&step.what, 4 * CHARS_MAX)) } } }
            });
        }
        for one in &report.checkers {
            let name = text::shown(&one.checker, 80);
            self.add(html! {
                (heading(level, None, &html! { (name) " " (badge(Some(one.verdict))) }))
                p { (text::shown(&meaning::sentence(one, self.facts.about, self.facts.asked), CHARS_MAX)) }
            });
            self.report(one, level + 1);
        }
        if !report.checkers.is_empty() {
            return;
        }
        if !report.keys.is_empty() {
            self.add(keys(report, level));
        }
        if !report.anomalies.is_empty() {
            self.add(heading(level, None, &plain("Anomalies")));
        }
        for anomaly in &report.anomalies {
            self.anomaly(report, anomaly, level + 1);
        }
        // If nothing could be decided, there is nothing to show about levels.
        let lattice = Lattice::of(self.facts.about.of(&report.checker), report);
        if lattice.says_something() {
            self.add(ruled_out(report, &lattice, self.facts.asked, level));
        }
    }

    fn anomaly(&mut self, report: &Report, anomaly: &Anomaly, level: u8) {
        let shown = anomaly.witnesses.len().min(super::WITNESSES_MAX);
        let name = text::shown(&anomaly.name, 80);
        let about = self.facts.about.of(&report.checker).anomaly(&anomaly.name);
        self.add(html! {
            (heading(level, None, &html! { (name) @if anomaly.count > 1 { " " small { "\u{d7} " (text::grouped(anomaly.count)) } } }))
            @if let Some(about) = about { p { (text::shown(&about.summary, CHARS_MAX)) } }
            @if anomaly.count > shown.to_u64() && shown > 0 {
                p.note { (text::count(shown.to_u64(), "anomaly is", "anomalies are")) " shown below, of " (text::grouped(anomaly.count)) "." }
            }
        });
        for (at, witness) in anomaly.witnesses.iter().take(super::WITNESSES_MAX).enumerate() {
            let around = self.facts.around.get(self.drawn);
            self.drawn += 1;
            let title = if shown > 1 { format!("{name}, {} of {shown}", at + 1) } else { name.clone() };
            let is_refused = about.is_some_and(|about| about.begins_with_refused);
            let bands = self.facts.gathered.performance.bands();
            let part = witness::block(witness, around, &bands, &title, is_refused);
            self.add(html! {
                section.witness {
                    @if shown > 1 { (heading(level + 1, None, &plain(&title))) }
                    @if let Some(log) = log_of(report, &anomaly.name, at) { (log) }
                    (part)
                }
            });
        }
    }

    /// Adds plots of the run over time.
    fn plots(&mut self) {
        let performance = &self.facts.gathered.performance;
        let drawn = plot::plots(performance).into_iter();
        let mut plots: Vec<Markup> =
            drawn.map(|plot| picture(plot.path.trim_end_matches(".svg"), plot.content)).collect();
        let figures = self.facts.judged.map(series).unwrap_or_default();
        plots.extend(figures.into_iter().map(|series| picture(&series.title, plot::draw_series(series, performance))));
        if plots.is_empty() {
            return;
        }
        self.add(html! { h2 { "Over time" } });
        for plot in plots {
            self.add(plot);
        }
    }

    /// Adds the beginning of a history without witnesses.
    fn beginning(&mut self) {
        if self.drawn > 0 {
            return;
        }
        if let Some(around) = self.facts.around.first().filter(|around| !around.bars.is_empty()) {
            self.add(html! {
                h2 { "Start of the history" }
                (witness::figure(around, None, "The first operations of this history"))
            });
        }
    }
}

/// The part of a log that a witness concerns.
fn log_of(report: &Report, anomaly: &str, at: usize) -> Option<Markup> {
    let name = format!("{anomaly}/{at}");
    let is_log = |figure: &&Figure| figure.name == name && matches!(figure.content, Content::Log(_));
    let drawing = histcheck_draw::draw(report.figures.iter().find(is_log)?, &histcheck_draw::Limits::default());
    Some(picture(&format!("log of {name}"), drawing.content))
}

/// A picture, which scrolls if it does not fit.
fn picture(name: &str, svg: String) -> Markup {
    let label = format!("Picture of {}", text::shown(name, CHARS_MAX));
    html! { figure { div.scroll tabindex="0" role="region" aria-label=(label) { (PreEscaped(svg)) } } }
}

/// The series that checkers counted over time.
fn series(report: &Report) -> Vec<&Series> {
    let own = report.figures.iter().filter_map(|figure| match &figure.content {
        Content::Series(series) => Some(&**series),
        _ => None,
    });
    own.chain(report.checkers.iter().flat_map(series)).collect()
}

fn ruled_out(report: &Report, lattice: &Lattice<'_>, asked: Option<&str>, level: u8) -> Markup {
    html! {
        (heading(level, None, &plain(if report.not.is_empty() { "What holds" } else { "Consistency levels ruled out" })))
        figure {
            div.scroll tabindex="0" role="region" aria-label="Consistency levels" { (lattice.draw()) }
            figcaption { "A line leads from each level down to those it implies." }
        }
        @if let Some(asked) = asked {
            p.note { "histcheck searched only for violations of " (text::shown(asked, 200)) ": other levels may hold or not." }
        }
        dl.standing {
            @for standing in [Standing::Not, Standing::AlsoNot, Standing::Unknown, Standing::Holds] {
                @let names = lattice.names(standing);
                @if !names.is_empty() {
                    dt class=(standing.class()) {
                        i aria-hidden="true" { (standing.mark()) } " " (sentence_case(standing.words()))
                    }
                    dd { (names.join(", ")) }
                }
            }
        }
    }
}

fn sentence_case(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn keys(report: &Report, level: u8) -> Markup {
    let count = |name: &str| report.counts.iter().find(|(other, _)| other == name).map(|(_, count)| *count);
    let shown: Vec<_> = report.keys.iter().filter(|key| key.verdict != Verdict::Valid).take(KEYS_MAX).collect();
    html! {
        (heading(level, None, &plain("Keys")))
        @if let (Some(all), Some(valid)) = (count("key-count"), count("valid-key-count")) {
            p { "Each key was checked separately: " (text::grouped(valid)) " of " (text::count(all, "key is", "keys are")) " valid." }
        }
        @if !shown.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Keys that are not valid" {
                table {
                    thead { tr { th scope="col" { "Key" } th scope="col" { "Verdict" } th scope="col" { "Found" } } }
                    tbody {
                        @for key in shown {
                            tr {
                                th scope="row" { bdi { (key_text(&key.key)) } }
                                td { (badge(Some(key.verdict))) }
                                td { (key_found(key)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn key_found(key: &KeyReport) -> String {
    let names = key.anomaly_types.iter().map(AsRef::as_ref);
    let all: Vec<&str> = names.chain(key.notes.iter().map(String::as_str)).collect();
    text::shown(&all.join(", "), CHARS_MAX)
}

fn key_text(key: &Datum) -> String {
    text::shown(&key.to_string(), 80)
}

fn error_block(error: &HistoryError) -> Markup {
    html! {
        h2 { "Error" }
        p {
            @if let Some(position) = error.position { b {
                @match position.line_and_column() {
                    Some((line, column)) => { "Line " (text::grouped(line)) ", column " (text::grouped(column)) ": " }
                    None => { "Byte " (text::grouped(position.offset)) ": " }
                }
            } }
            bdi { (text::shown(&error.message, 4 * CHARS_MAX)) } "."
        }
        @if let (Some(position), Some(snippet)) = (error.position, &error.snippet) {
            @let before: String = snippet.text.chars().take(snippet.caret).collect();
            @let at: String = snippet.text.chars().skip(snippet.caret).take(1).collect();
            @let behind: String = snippet.text.chars().skip(snippet.caret + 1).collect();
            pre.excerpt {
                span.line { (position.line) " | " }
                bdi {
                    @if (snippet.caret.to_u64()) < position.column - 1 { "\u{2026}" }
                    (text::shown(&before, 400)) mark { (if at.is_empty() { " ".to_owned() } else { text::shown(&at, 4) }) } (text::shown(&behind, 400))
                }
            }
        }
        @if let Some(expected) = &error.expected { p { "Expected: " bdi { (text::shown(expected, 4 * CHARS_MAX)) } "." } }
        p.note { code { "histcheck validate" } " lists all errors of a file." }
    }
}

/// Instructions for reading the pictures.
fn reading(bands: &[Band]) -> Markup {
    html! {
        h2 { "How to read the timelines" }
        ul.legend {
            li { i.key.ok {} "ok: the operation happened" }
            li { i.key.fail {} "\u{d7} fail: the operation did not happen" }
            li { i.key.info {} "? info, or \u{2026} never completed: the operation may have happened" }
            li { i.key.ok.on {} "with a name and a thick edge: an operation of the witness" }
            li { i.key.gap {} "dotted line: ops between are not shown" }
            @if bands.iter().any(|band| band.lane.is_none()) { li { i.key.fault {} "a fault was on" } }
            @if bands.iter().any(|band| band.lane.is_some()) { li { i.key.annotation {} "an annotation, between the ops before and after it" } }
        }
        p { "An operation may have taken effect at any moment of its bar. If one bar ends before another begins, the first came first; "
            "where bars overlap, either may have." }
    }
}
