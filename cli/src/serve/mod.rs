//! `histcheck serve`, and the page with which `histcheck watch` and `histcheck live` show a run in progress.
//!
//! The crate `histcheck-serve` is the server. This module has the options ([`args`]), the command ([`command`]), and
//! the page of a run ([`page`]). Without the server, the page exists but shows nothing.

#[cfg(feature = "serve")]
pub(crate) mod args;
#[cfg(feature = "serve")]
mod command;
#[cfg(not(feature = "serve"))]
pub(crate) mod no_page;
#[cfg(feature = "serve")]
pub(crate) mod page;
#[cfg(all(feature = "serve", target_os = "linux"))]
mod relay;
pub(crate) mod rest;
pub(crate) mod shown;

#[cfg(feature = "serve")]
pub(crate) use command::{Serve, run};
#[cfg(not(feature = "serve"))]
pub(crate) use no_page as page;
