//! What states are made of that share what they have in common with the states before them.

mod polynomial;
pub(super) mod sequence;
pub(super) mod text;
