//! Objects of which every operation takes effect at one instant: linearizable by construction, or broken in a chosen
//! way.
//!
//! An operation is drawn when a client asks, and done in one step some time later, before the client is answered. What
//! an object does is a [`models::Model`], one a file; [`store`] brings keys, failures and bugs to all of them alike.

mod bug;
mod choose;
mod flight;
mod keys;
mod models;
mod object;
mod parameters;
mod store;
mod values;
mod wrong_read;

pub use bug::{ObjectBug, UnknownObjectBug};
pub use object::{Object, UnknownObject};
pub use parameters::Objects;
