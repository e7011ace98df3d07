//! What several objects share: operations of queues, texts, and sequences that share their common part with the
//! previous one.

mod polynomial;
pub(super) mod queue_op;
pub(super) mod sequence;
pub(super) mod text;
