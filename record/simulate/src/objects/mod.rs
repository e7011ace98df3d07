//! Objects of which every operation takes effect at one instant: linearizable by construction, or broken in a chosen
//! way.
//!
//! An operation is drawn when a client sends a request. It is performed in one step some time later, before the client
//! gets the answer. The behaviour of an object is a [`models::Model`], one per file; [`store`] adds keys, failures and
//! bugs to all of them.

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
