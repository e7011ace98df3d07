//! The common parts of all pages, and pages with a single message.

use super::{ICON_ADDRESS, SCRIPT_ADDRESS, STYLE_ADDRESS};
use crate::runs::outcome::Verdict;
use histcheck_draw::text;
use hyper::StatusCode;
use maud::{DOCTYPE, Markup, html};

/// A page. `main` is everything below its heading.
pub(super) fn page(title: &str, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " \u{b7} histcheck" }
                link rel="stylesheet" href=(STYLE_ADDRESS);
                link rel="icon" href=(ICON_ADDRESS);
                script src=(SCRIPT_ADDRESS) defer {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                header { a.home href="/" { "histcheck" } }
                main id="main" { (main) }
                footer { p { "histcheck " (env!("CARGO_PKG_VERSION")) } }
            }
        }
    }
}

/// A verdict, which is readable without its colour.
pub(super) fn badge(verdict: Option<Verdict>) -> Markup {
    let (mark, word, class) = match verdict {
        Some(Verdict::Valid) => ("\u{2713}", "valid", "valid"),
        Some(Verdict::Invalid) => ("\u{2715}", "invalid", "invalid"),
        Some(Verdict::Unknown) => ("?", "unknown", "unknown"),
        Some(Verdict::Error) => ("!", "error", "error"),
        None => ("\u{2013}", "no verdict", "none"),
    };
    html! { span class={ "badge " (class) } { span aria-hidden="true" { (mark) " " } (word) } }
}

/// A list of untrusted names, with a maximum number of them.
pub(super) fn names(names: &[String], shown_max: usize) -> String {
    let shown: Vec<String> = names.iter().take(shown_max).map(|name| text::shown(name, 80)).collect();
    let more = names.len().saturating_sub(shown_max);
    let end = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &end
}

/// A page with an error.
pub(crate) fn problem(status: StatusCode, message: &str) -> Markup {
    let title = status.canonical_reason().unwrap_or("Error");
    page(title, &html! { h1 { (title) } p { (text::shown(message, 600)) } p { a href="/" { "All runs" } } })
}

/// The form for the token.
pub(crate) fn login(back: &str, was_wrong: bool) -> Markup {
    page(
        "Token",
        &html! {
            h1 { "This server requires a token" }
            p { "The token was chosen at the start of the server, with " code { "histcheck serve --token" } "." }
            @if was_wrong { p.notice role="alert" { "Wrong token." } }
            form.login method="post" action="/login" {
                input type="hidden" name="to" value=(back);
                label { "Token " input type="password" name="token" autocomplete="current-password" required autofocus; }
                button type="submit" { "Continue" }
            }
        },
    )
}
