//! Whether a judge chooses a version order that the history does not show.

use history_core::state::{Damaged, In, Out, State};

/// The treatment of dead versions that are in no known order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// They are kept until the next event, by which a judge that chooses may start; `true` if there are such versions.
    Later(bool),
    /// Their order stays unknown.
    None,
    /// They are put in some order. The number of choices so far.
    Made(u64),
}

impl State for Choice {
    fn save(&self, out: &mut Out) {
        match *self {
            Choice::None => (0_u64, 0),
            Choice::Later(is_there) => (1, u64::from(is_there)),
            Choice::Made(before) => (2, before),
        }
        .save(out);
    }

    fn load(from: &mut In<'_>) -> Result<Choice, Damaged> {
        match <(u64, u64)>::load(from)? {
            (0, _) => Ok(Choice::None),
            (1, is_there) => Ok(Choice::Later(is_there != 0)),
            (2, before) => Ok(Choice::Made(before)),
            _ => Err(Damaged),
        }
    }
}
