//! The pages. They work without scripts; the scripts update them.

mod check;
mod compare;
mod layout;
mod list;
mod live;
mod rows;
mod run;

pub(crate) use check::check;
pub(crate) use compare::compare;
pub(crate) use layout::{login, problem};
pub(crate) use list::list;
pub(crate) use live::live;
pub(crate) use rows::{count as row_count, rows};
pub(crate) use run::run;

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("style.css");
pub(crate) const STYLE_ADDRESS: &str = "/style.css";
/// The icon in the tab of a browser.
pub(crate) const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><rect width=\"16\" height=\"16\" rx=\"3\" fill=\"#0a6b46\"/><path d=\"M3.5 8.5l3 3 6-7\" fill=\"none\" stroke=\"#fff\" stroke-width=\"2\"/></svg>";
pub(crate) const ICON_ADDRESS: &str = "/icon.svg";
/// The script that updates a page.
pub(crate) const SCRIPT: &str = include_str!("page.js");
pub(crate) const SCRIPT_ADDRESS: &str = "/page.js";
/// The script that draws a run in progress.
pub(crate) const LIVE_SCRIPT: &str = include_str!("live.js");
pub(crate) const LIVE_SCRIPT_ADDRESS: &str = "/live.js";
/// The script for scrolling through rows.
pub(crate) const ROWS_SCRIPT: &str = include_str!("rows.js");
pub(crate) const ROWS_SCRIPT_ADDRESS: &str = "/rows.js";
