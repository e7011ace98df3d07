//! What is known online, tested against what is known of the same history afterwards.

mod clients;
mod handle;
#[path = "../../../check-register/tests/it/hidden.rs"]
mod hidden;
mod larger;
#[path = "../../../check-register/tests/it/nothing.rs"]
mod nothing;
mod online_equals_batch;
mod prose;
mod vacuous;
