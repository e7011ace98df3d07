#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod clocks;
pub mod jepsen;
pub mod options;
pub mod read;
pub mod registry;
pub mod result;
pub mod setup;
pub mod source;
mod suggest;

pub use history_core;
pub use read::ReadAs;
pub use registry::Registry;
pub use setup::Setup;
pub use suggest::{Suggestion, suggest};
