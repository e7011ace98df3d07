//! Names in reports: the checker's, and those of levels.

use crate::level::Level;
use std::borrow::Cow;

/// The checker's name.
pub(crate) const NAME: &str = "isolation";

/// The names of levels as reports list them, in order.
pub(crate) fn names(levels: impl Iterator<Item = Level>) -> Vec<Cow<'static, str>> {
    let mut names: Vec<Cow<'static, str>> = levels.map(|level| level.name().into()).collect();
    names.sort_unstable();
    names
}
