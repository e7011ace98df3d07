//! Channels of many senders: with room for some messages, or for any number.
//!
//! A sender first gets a permit, in the order in which senders came, and then puts its message in: two steps, between
//! which others see less room and no message.

mod bounded;
mod channel;
pub mod error;
mod unbounded;

pub use bounded::{OwnedPermit, Permit, Receiver, Sender, WeakSender, channel};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
