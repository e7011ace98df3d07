#![doc = include_str!("../README.md")]
#![warn(missing_debug_implementations)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
mod ask;
mod check;
mod config;
mod events;
mod files;
mod guard;
mod http;
mod pages;
mod route;
mod rows;
mod runs;
mod server;
mod state;

pub use config::{Config, Judge};
pub use guard::token::Token;
pub use server::{Server, Stop};
