//! Models that can be checked online.

use check_register::Model;

/// A model whose states may be sent between threads: if there are many configurations, their steps are computed on
/// several threads. All models whose `State` is `Send` and `Sync` implement it.
pub trait OnlineModel: Model<State: Send + Sync> {}

impl<M: Model<State: Send + Sync>> OnlineModel for M {}
