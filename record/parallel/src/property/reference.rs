//! References to the responses of earlier commands, such as a handle that the object creates.
//!
//! A generated command contains the position of the command whose response it needs. The response replaces the
//! reference when the command runs, when the validity of the program is decided, and when the history is checked.

use super::{ParallelModel, Program};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The response of an earlier command, as a part of a later one.
///
/// ```
/// use record_parallel::property::Reference;
///
/// let first: Reference<u64> = Reference::to(0);
/// assert_eq!(format!("{first:?}"), "#0");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Reference<R>(Target<R>);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Target<R> {
    /// The command at this position.
    Command(usize),
    /// The response, in an `Arc` since cloning it may be a step of the schedule.
    Response(Arc<R>),
}

impl<R> Reference<R> {
    /// A reference to the command at a position in a program.
    ///
    /// Positions count from 0: first the commands of the prefix, then those of each branch, then those of the suffix. A
    /// command may refer to earlier commands of its own part and to those of the prefix, a command of the suffix to all
    /// commands before it. In generated programs, take references from
    /// [`ParallelModel::generate_after`]: they follow the command when others are removed or moved.
    pub fn to(position: usize) -> Reference<R> {
        Reference(Target::Command(position))
    }

    /// The response.
    ///
    /// # Panics
    ///
    /// If the command has not run yet. [`ParallelModel::step`], [`ParallelModel::run_real`] and the other methods that
    /// receive a command get it with all responses, except [`ParallelModel::generate_after`].
    pub fn response(&self) -> &R {
        match &self.0 {
            Target::Response(response) => response,
            Target::Command(position) => panic!(
                "command #{position} has no response yet; if a command runs that refers to it, \
                 ParallelModel::references does not return all references"
            ),
        }
    }

    /// The position of the command, if its response is not known yet.
    fn position(&self) -> Option<usize> {
        match self.0 {
            Target::Command(position) => Some(position),
            Target::Response(_) => None,
        }
    }
}

/// Shows the response; if it is not known yet, `#` and the position of the command.
impl<R: fmt::Debug> fmt::Debug for Reference<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Target::Command(position) => write!(f, "#{position}"),
            Target::Response(response) => response.fmt(f),
        }
    }
}

/// The positions to which a command refers.
pub(crate) fn positions<M: ParallelModel>(model: &M, command: &M::Command) -> Vec<usize> {
    let mut command = command.clone();
    model.references(&mut command).iter().filter_map(|reference| reference.position()).collect()
}

/// The positions of all commands of a program to which another command refers.
pub(crate) fn referred_to<M: ParallelModel>(model: &M, program: &Program<M::Command>) -> BTreeSet<usize> {
    program.commands().flat_map(|command| positions(model, command)).collect()
}

/// The command with responses instead of its references; `None` if one is missing.
pub(crate) fn with_responses<M: ParallelModel>(
    model: &M,
    command: &M::Command,
    response: impl Fn(usize) -> Option<Arc<M::Response>>,
) -> Option<M::Command> {
    let mut command = command.clone();
    for reference in model.references(&mut command) {
        if let Some(position) = reference.position() {
            reference.0 = Target::Response(response(position)?);
        }
    }
    Some(command)
}

/// The command with other positions in its references.
pub(crate) fn moved<M: ParallelModel>(
    model: &M,
    command: &M::Command,
    position: impl Fn(usize) -> usize,
) -> M::Command {
    let mut command = command.clone();
    for reference in model.references(&mut command) {
        if let Some(before) = reference.position() {
            *reference = Reference::to(position(before));
        }
    }
    command
}

/// The first command that refers to a command that does not always run before it.
pub(crate) fn dangling<'p, M: ParallelModel>(model: &M, program: &'p Program<M::Command>) -> Option<&'p M::Command> {
    let is_dangling = |(at, command): &(usize, &M::Command)| {
        let (own, ..) = program.place(*at);
        let is_suffix = *at >= program.len() - program.suffix.len();
        let is_earlier = |position: usize| {
            let (branch, ..) = program.place(position);
            position < *at && (is_suffix || branch.is_none() || branch == own)
        };
        !positions(model, command).into_iter().all(is_earlier)
    };
    program.commands().enumerate().find(is_dangling).map(|(_, command)| command)
}
