//! The page of a check, and the forms that start one.

use super::layout::{badge, page};
use crate::check::{Checks, Record, Stage, Wanted};
use crate::http::query::encoded;
use crate::runs::outcome;
use crate::state::State;
use histcheck_draw::text;
use maud::{Markup, html};
use serde_json::Value;

/// The time in milliseconds until the page of a check in progress is updated.
const LOOK_AGAIN_MS: u32 = 500;

/// The page of a check; `None` if there is none with this id.
pub(crate) fn check(state: &State, id: &str) -> Option<Markup> {
    let (record, folder) = state.checks.as_ref()?.find(id)?;
    let again = record.stage.is_open().then_some(LOOK_AGAIN_MS);
    let result = (record.stage == Stage::Done).then(|| folder.result()).flatten();
    let title = record.name.as_ref().unwrap_or(&record.run);
    Some(page(
        &format!("Check of {}", text::shown(title, 200)),
        &html! {
            div id="live" data-look-again=[again] {
                h1 { "Check of " bdi { (text::shown(title, 300)) } }
                p role="status" {
                    @match record.stage {
                        Stage::Waiting => { "Waiting for earlier checks." },
                        Stage::Running => { "Checking for " (seconds(&record)) " s." },
                        Stage::Done => { (verdict(result.as_ref())) },
                        Stage::Failed => { "The check failed; there is no result." },
                        Stage::Cancelled => { "Cancelled." },
                        Stage::Interrupted => { "The server stopped before the check ended." },
                    }
                }
                @if record.stage.is_open() {
                    form method="post" action={ "/checks/" (record.id) "/cancel" } { button type="submit" { "Cancel" } }
                }
                p.note { "Checker: " (in_words(&record)) }
                p { a href={ "/runs/" (encoded(&record.run)) } { "The run" } }
                @if let Some(error) = result.as_ref().and_then(|result| result.get("error")) { (problem(error)) }
                @if record.stage == Stage::Failed { pre { (text::shown(&folder.messages(), 8000)) } }
                @if folder.open("report.html").is_ok() {
                    @let address = format!("/checks/{}/report.html", record.id);
                    h2 { "Report" }
                    p { a href=(address) { "Open the report on a separate page" } }
                    iframe.report src=(address) title="Report" sandbox="allow-top-navigation-by-user-activation" {}
                }
                @if result.is_some() { p { a href={ "/checks/" (record.id) "/result.json" } { "The result as JSON" } } }
            }
        },
    ))
}

/// The parameters of the check, in words.
fn in_words(record: &Record) -> String {
    let Wanted { checkers, levels, keyed } = &record.wanted;
    let levels = if levels.is_empty() { String::new() } else { format!(", levels {levels}") };
    format!("{checkers}{levels}{}", if *keyed { ", each key separately" } else { "" })
}

fn seconds(record: &Record) -> u64 {
    let now = crate::runs::run::millis(std::time::SystemTime::now());
    now.saturating_sub(record.begun_ms) / 1000
}

fn verdict(result: Option<&Value>) -> Markup {
    let found = result.and_then(|result| outcome::result(result.to_string().as_bytes()));
    let outcome = found.unwrap_or_default();
    html! { (badge(outcome.verdict)) " " bdi { (super::layout::names(&outcome.anomalies, 8)) } }
}

/// The reason why a history could not be checked: the position, and what was expected.
fn problem(error: &Value) -> Markup {
    let of = |name: &str| error.get(name).and_then(Value::as_str).map(|part| text::shown(part, 2000));
    let number = |name: &str| error.get(name).and_then(Value::as_u64);
    html! {
        div.notice role="alert" {
            p {
                @if let (Some(line), Some(column)) = (number("line"), number("column")) { b { "Line " (line) ", column " (column) ": " } }
                bdi { (of("message").unwrap_or_default()) }
            }
            @if let Some(around) = of("text") { pre { (around) } }
            @if let Some(expected) = of("expected") { p { "Expected " bdi { (expected) } } }
        }
    }
}

/// The choice of a checker.
fn choice(checks: &Checks, is_required: bool) -> Markup {
    html! {
        label { "Checker"
            select name="checker" required[is_required] {
                option value="" { @if is_required { "choose" } @else { "suggest a checker" } }
                @for (name, summary) in &checks.judge().checkers { option value=(name) title=(summary) { (name) } }
            }
        }
        label { "Levels (optional)" input type="text" name="levels" placeholder="serializable" pattern="[A-Za-z0-9_,\\-]*"; }
        label { "Keys" select name="keyed" { option value="no" { "all together" } option value="yes" { "each separately" } } }
    }
}

/// The form that checks a run again, and the list of its earlier checks here.
pub(super) fn again(checks: &Checks, run: &str) -> Markup {
    let before = checks.of(run);
    html! {
        h2 { "Check again" }
        form.filter method="post" action="/check" data-suggest=[checks.judge().suggest.is_some().then(|| encoded(run))] {
            input type="hidden" name="run" value=(encoded(run));
            (choice(checks, true))
            button type="submit" { "Check" }
            p.note role="status" {}
        }
        @if !before.is_empty() {
            ul.checks {
                @for record in before.iter().take(50) {
                    li { a href={ "/checks/" (record.id) } { (record.id) } " " (in_words(record)) ": " (record.stage.name()) }
                }
            }
        }
    }
}

/// The area for dropping histories.
pub(super) fn drop_zone(checks: &Checks) -> Markup {
    html! {
        details.drop id="drop" data-bytes-max=(checks.judge().history_bytes_max) {
            summary { "Check a history" }
            form.filter {
                (choice(checks, checks.judge().suggest.is_none()))
                label { "File" input type="file" name="file"; }
                label.wide { "Or the history itself" textarea name="text" rows="4" spellcheck="false" placeholder="{:process 0, :type :invoke, :f :read, :value nil}" {} }
                button type="submit" { "Check" }
                p.note role="status" id="dropped" { "Drop a file anywhere on this page, choose one, or paste it. It stays on this machine." }
                noscript { p { "This needs JavaScript; " code { "curl --data-binary @FILE 'ADDRESS/api/check?checker=NAME'" } " works without it." } }
            }
        }
    }
}
