//! Channels with many senders: with room for a limited number of messages, or for any number.
//!
//! A sender first acquires a permit, in the order in which senders arrived, and then adds its message. These are two
//! steps: between them, others observe less room and no message.

mod bounded;
mod channel;
pub mod error;
mod unbounded;

pub use bounded::{OwnedPermit, Permit, Receiver, Sender, WeakSender, channel};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
