#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
mod ask;
mod check;
mod config;
mod events;
mod files;
mod guard;
mod http;
mod live;
mod pages;
mod route;
mod rows;
mod runs;
mod server;
mod state;

pub use config::{Config, Judge, Suggest, SuggestFn, Suggested};
pub use guard::token::Token;
pub use live::{Latencies, Live, LiveAbout, LiveEnd, LiveFault, LiveTick, LiveViolation, Meter};
pub use server::{Server, Stop};
