#![doc = include_str!("../README.md")]
#![warn(missing_debug_implementations)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
mod ask;
mod check;
mod config;
mod connection;
mod events;
mod files;
mod guard;
mod http;
mod login;
mod pages;
mod route;
mod runs;
mod server;
mod state;

pub use config::{Config, Judge};
pub use guard::token::Token;
pub use server::{Server, Stop};
