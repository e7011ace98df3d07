//! Channels of many senders: with room for some messages, or for any number.
//!
//! A sender first gets a permit, in the order in which senders arrived, and then adds its message: two steps, between
//! which others observe less room and no message.

mod bounded;
mod channel;
pub mod error;
mod unbounded;

pub use bounded::{OwnedPermit, Permit, Receiver, Sender, WeakSender, channel};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
