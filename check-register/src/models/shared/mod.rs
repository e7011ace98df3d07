//! What several objects share: operations of queues, texts, and sequences of which one shares what it has in common
//! with the one before.

mod polynomial;
pub(super) mod queue_op;
pub(super) mod sequence;
pub(super) mod text;
