//! Models that can be judged online.

use check_register::Model;

/// A model whose states may go from thread to thread: where configurations are many, their steps are taken on several.
/// All models whose `State` is `Send` and `Sync` are.
pub trait OnlineModel: Model<State: Send + Sync> {}

impl<M: Model<State: Send + Sync>> OnlineModel for M {}
