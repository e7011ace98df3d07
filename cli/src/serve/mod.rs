//! `histcheck serve`, and the page of a run that `histcheck watch` and `histcheck live` show while it goes on.
//!
//! The library `histcheck-serve` is the server. Around it are the options ([`args`]) and the command ([`command`]), and
//! the page of a run ([`page`]), which is there without the server, too: it then shows nothing.

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
