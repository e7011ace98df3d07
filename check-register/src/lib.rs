//! Linearizability: versioned registers in linear time, and any model.

mod explain;
mod history;
mod ids;
mod judge;
mod model;
pub mod models;
mod object;
mod parallel;
mod search;
pub mod timeline;

pub use history::Operation;
pub use judge::{Answer, End, Engine, Outcome, PartAnswer, Refusal, Settings, check, check_with};
pub use model::{Access, Model};
pub use object::{AnyObject, Linearizable, checkers};
pub use search::Reason;
pub use search::distinct::Conflict;
