//! Objects of which every operation takes effect at one instant: linearizable by construction, or broken in a chosen
//! way.
//!
//! An operation is drawn when a client asks, and done in one step some time later, before the client is answered. What
//! an object does is a [`model::Model`], one a file; [`store`] brings keys, failures and bugs to all of them alike.

mod bank;
mod bug;
mod choose;
mod counter;
mod flight;
mod ids;
mod keys;
mod kv;
mod locks;
mod long_fork;
mod model;
mod multi_register;
mod object;
mod parameters;
mod register;
mod sequences;
mod sequential;
mod set;
mod store;
mod value;
mod versioned;
mod wrong_read;

pub use bug::{ObjectBug, UnknownObjectBug};
pub use object::{Object, UnknownObject};
pub use parameters::Objects;
pub use value::{ObjectKey, ObjectOp, ObjectValue, WriteId};
