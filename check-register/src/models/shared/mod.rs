//! The common parts of several models: operations of queues, texts, and sequences that share memory with the sequences
//! from which they were created.

mod polynomial;
pub(super) mod queue_op;
pub(super) mod sequence;
pub(super) mod text;
