//! Operations that something still refers to: when they were in flight, and what has become of them.

use check_register::engine::ids::ClassId;
use check_register::engine_id;

engine_id! {
    /// An operation.
    pub(crate) OpIx
}

impl OpIx {
    /// Stands for no operation.
    pub(crate) const NONE: OpIx = OpIx(u32::MAX);
}

/// Counts calls and returns in the order in which they are taken.
pub(crate) type Seq = u64;

/// What happens to an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// It is called, and its result is known.
    Known,
    /// It is called.
    Open,
    /// It is called, and will never return.
    Crashed,
    /// It returns as was known.
    Returns,
    /// It returns, and did this.
    Completes(Option<ClassId>),
    /// It did not happen.
    Fails,
    /// It may have done this.
    Crashes(Option<ClassId>),
}

/// What is known of how an operation ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// Nothing yet.
    Open,
    /// It returns, and its result is known.
    Returns,
    /// It may have happened, or may happen yet; its outcome stays unknown.
    Crashed,
    /// It did not happen.
    Failed,
    /// It was in flight for so long that it was passed over as if it had crashed.
    PassedOver,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpRow {
    /// Who does it.
    pub(crate) client: i64,
    /// When it was called, in the caller's unit.
    pub(crate) start: u64,
    /// When it returned, as far as it is known.
    pub(crate) finish: u64,
    /// Compares which of two operations returns first.
    pub(crate) ret: u64,
    /// Its call.
    pub(crate) seq: Seq,
    /// What it does, as far as it is known.
    pub(crate) class: Option<ClassId>,
    pub(crate) fate: Fate,
    /// Whether its end is still to come.
    pub(crate) in_flight: bool,
}

/// No time.
pub(crate) const NEVER: u64 = u64::MAX;

/// The operations. Rows are used again: see [`Ops::collect`].
#[derive(Debug, Default)]
pub(crate) struct Ops {
    rows: Vec<OpRow>,
    free: Vec<OpIx>,
    /// Rows that the last collection left.
    collected: usize,
}

/// With fewer rows than this it is not worth to look for those that are no longer used.
const COLLECT_MIN: usize = 1 << 13;

impl Ops {
    #[inline]
    pub(crate) fn push(&mut self, row: OpRow) -> OpIx {
        if let Some(op) = self.free.pop() {
            self.rows[op.at()] = row;
            return op;
        }
        self.rows.push(row);
        OpIx::new(self.rows.len() - 1)
    }

    #[inline]
    pub(crate) fn get(&self, op: OpIx) -> &OpRow {
        &self.rows[op.at()]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, op: OpIx) -> &mut OpRow {
        &mut self.rows[op.at()]
    }

    #[inline]
    pub(crate) fn wants_collect(&self) -> bool {
        self.rows.len() - self.free.len() > 2 * self.collected + COLLECT_MIN
    }

    /// The operations in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = OpIx> {
        (0..self.rows.len()).filter(|at| self.rows[*at].in_flight).map(OpIx::new)
    }

    /// How many rows there are, free ones too.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Frees all rows but those to keep. Gives the classes of those that are kept to `mark`.
    pub(crate) fn collect(&mut self, keep: &[bool], mut mark: impl FnMut(ClassId)) {
        self.free.clear();
        for (at, row) in self.rows.iter_mut().enumerate().rev() {
            if keep[at] {
                row.class.iter().for_each(|class| mark(*class));
            } else {
                row.in_flight = false;
                self.free.push(OpIx::new(at));
            }
        }
        self.collected = self.rows.len() - self.free.len();
    }
}
