#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "models")]
mod any_object;
mod checker;
mod command;
#[cfg(feature = "models")]
mod model;
mod peer;
mod pool;
#[cfg_attr(not(feature = "models"), expect(dead_code, reason = "the protocol also has lines for models"))]
mod protocol;
mod report;
mod run;
#[cfg(feature = "models")]
mod steps;
#[cfg(feature = "models")]
mod text;

#[cfg(feature = "models")]
pub use any_object::AnyObject;
pub use checker::load;
pub use command::{PREFIX, is_command};
pub use peer::Limits;
