//! Conflicts: a few operations that contradict each other, whatever else happened.

/// Operations that contradict each other. `O` represents an operation.
///
/// Found if values are distinct, so that no search is needed; the operations alone prove it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Conflict<O = usize> {
    /// The read returned a value that was never written.
    NeverWritten {
        /// The read.
        read: O,
    },
    /// The read returned before its value's write was called.
    BeforeWrite {
        /// The read.
        read: O,
        /// The write.
        write: O,
    },
    /// The register must have held one value from the return of `first` to the call of `last`, and another at some
    /// time between.
    Between {
        /// It wrote or read the one value, and returned before any other that did; `None` for the initial value.
        first: Option<O>,
        /// It read the same value, and was called after all others.
        last: O,
        /// It wrote or read the other value, and returned before any other that did.
        other_first: O,
        /// It wrote or read the other value, and was called after all others.
        other_last: O,
    },
    /// A value was removed that no operation had begun to insert.
    NeverPut {
        /// The operation that removed it.
        take: O,
    },
    /// A value was taken out by an operation that returned before its put was called.
    BeforePut {
        /// The operation that removed it.
        take: O,
        /// The operation that inserted it.
        put: O,
    },
    /// A value that was put in once was taken out twice.
    TakenTwice {
        /// One of the operations that removed it.
        take: O,
        /// The operation that also removed it.
        other: O,
    },
    /// The collection cannot have been empty while the operation was in flight that found it empty: each value was
    /// inserted before the previous one was removed, the first of them before the operation was called.
    NeverEmpty {
        /// The operation that found the collection empty.
        nothing: O,
        /// The values that were present, in the order of time.
        values: Vec<Held<O>>,
    },
    /// No order of these operations is right, whatever else happened. None of the values can be omitted.
    Values {
        /// The operations on each value.
        values: Vec<Held<O>>,
    },
    /// Two reads of a set, each of which returned a value that the other did not.
    Reads {
        /// One of the reads.
        read: O,
        /// The other one.
        other: O,
    },
    /// A read of a set that did not return an initial value.
    WithoutInitial {
        /// The read.
        read: O,
    },
    /// The results of reads of a set require that `first` took effect before `second`, which had returned when `first`
    /// was called.
    Backwards {
        /// It must be first, but was called after the other had returned.
        first: O,
        /// It returned before the other was called.
        second: O,
        /// A read that shows the value that `first` added, and not the one that `second` added.
        read: Option<O>,
    },
}

/// A value, with the operations that moved it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held<O = usize> {
    /// The operation that inserted it; `None` if it is an initial value.
    pub put: Option<O>,
    /// The operation that removed it; `None` if none did.
    pub take: Option<O>,
}

impl<O: Copy> Held<O> {
    fn map<P>(self, f: impl Fn(O) -> P) -> Held<P> {
        Held { put: self.put.map(&f), take: self.take.map(&f) }
    }
}

impl<O> Conflict<O> {
    /// Returns true if a monitor found the conflict, and not the decision for registers of distinct values.
    pub(crate) fn is_of_collection(&self) -> bool {
        !matches!(self, Conflict::NeverWritten { .. } | Conflict::BeforeWrite { .. } | Conflict::Between { .. })
    }
}

impl<O: Copy> Conflict<O> {
    /// All operations of the conflict; those of values are in the order of the values.
    pub fn operations(&self) -> Vec<O> {
        let of_values = |values: &[Held<O>]| values.iter().flat_map(|held| [held.put, held.take]).flatten().collect();
        match *self {
            Conflict::NeverWritten { read: one }
            | Conflict::NeverPut { take: one }
            | Conflict::WithoutInitial { read: one } => {
                vec![one]
            }
            Conflict::BeforeWrite { read: one, write: other }
            | Conflict::BeforePut { take: one, put: other }
            | Conflict::TakenTwice { take: one, other }
            | Conflict::Reads { read: one, other } => vec![one, other],
            Conflict::Between { first, last, other_first, other_last } => {
                first.into_iter().chain([last, other_first, other_last]).collect()
            }
            Conflict::NeverEmpty { nothing, ref values } => {
                let values: Vec<O> = of_values(values);
                std::iter::once(nothing).chain(values).collect()
            }
            Conflict::Values { ref values } => of_values(values),
            Conflict::Backwards { first, second, read } => [first, second].into_iter().chain(read).collect(),
        }
    }

    /// The same conflict with each operation replaced by `f`.
    pub(crate) fn map<P>(&self, f: impl Fn(O) -> P) -> Conflict<P> {
        let all = |values: &[Held<O>]| values.iter().map(|held| held.map(&f)).collect();
        match *self {
            Conflict::NeverWritten { read } => Conflict::NeverWritten { read: f(read) },
            Conflict::BeforeWrite { read, write } => Conflict::BeforeWrite { read: f(read), write: f(write) },
            Conflict::Between { first, last, other_first, other_last } => Conflict::Between {
                first: first.map(&f),
                last: f(last),
                other_first: f(other_first),
                other_last: f(other_last),
            },
            Conflict::NeverPut { take } => Conflict::NeverPut { take: f(take) },
            Conflict::BeforePut { take, put } => Conflict::BeforePut { take: f(take), put: f(put) },
            Conflict::TakenTwice { take, other } => Conflict::TakenTwice { take: f(take), other: f(other) },
            Conflict::NeverEmpty { nothing, ref values } => {
                Conflict::NeverEmpty { nothing: f(nothing), values: all(values) }
            }
            Conflict::Values { ref values } => Conflict::Values { values: all(values) },
            Conflict::Reads { read, other } => Conflict::Reads { read: f(read), other: f(other) },
            Conflict::WithoutInitial { read } => Conflict::WithoutInitial { read: f(read) },
            Conflict::Backwards { first, second, read } => {
                Conflict::Backwards { first: f(first), second: f(second), read: read.map(&f) }
            }
        }
    }
}
