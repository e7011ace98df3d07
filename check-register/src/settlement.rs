//! The report of a model about when the operations that its states stored took effect.

use std::any::Any;

/// A step of a linearization, for [`Shortcuts::settle`](crate::Shortcuts::settle).
#[derive(Debug)]
pub struct Settlement<'s, S, O> {
    /// The number of the step. Steps are numbered from 1.
    pub step: u64,
    /// The kind of the step.
    pub moment: Moment,
    /// The operation; at [`Moment::Finish`] that of the step before.
    pub op: &'s O,
    /// The state before.
    pub before: &'s S,
    /// The state after.
    pub after: &'s S,
    pub(crate) notes: &'s mut Option<Box<dyn Any>>,
    pub(crate) happened: &'s mut Vec<(u64, u64)>,
}

/// The kind of a step of a linearization.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// [`Shortcuts::pend`](crate::Shortcuts::pend) stored a crashed operation.
    Pend,
    /// [`Shortcuts::begin`](crate::Shortcuts::begin) stored an operation in progress.
    Begin {
        /// Its number while it is in progress.
        flight: u32,
    },
    /// [`Shortcuts::end`](crate::Shortcuts::end) was called because an operation has returned.
    End {
        /// Its number.
        flight: u32,
    },
    /// [`Model::step`](crate::Model::step) placed an operation.
    Place,
    /// There are no more steps.
    Finish,
}

impl<S, O> Settlement<'_, S, O> {
    /// The data that the model stored at the previous steps: the default at the first one. The type must be the same at
    /// all steps.
    pub fn notes<N: Default + 'static>(&mut self) -> &mut N {
        if !self.notes.as_ref().is_some_and(|notes| notes.is::<N>()) {
            *self.notes = Some(Box::new(N::default()));
        }
        self.notes.as_mut().and_then(|notes| notes.downcast_mut()).expect("notes of this type were just made")
    }

    /// The operation that was remembered at step `began` took effect just before step `step`. Of those that took
    /// effect before the same step the one named first was the first.
    pub fn happened(&mut self, step: u64, began: u64) {
        self.happened.push((step, began));
    }
}
