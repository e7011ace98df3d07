//! Operations that are still referenced: when they were in flight, and their outcome.

use check_register::engine::ids::ClassId;
use check_register::engine_id;

engine_id! {
    /// An operation.
    pub(crate) OpIx
}

impl OpIx {
    /// Represents no operation.
    pub(crate) const NONE: OpIx = OpIx(u32::MAX);
}

/// The number of a call or return in the order of processing.
pub(crate) type Seq = u64;

/// An event of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The operation is called, and its result is known.
    Known,
    /// The operation is called.
    Open,
    /// The operation is called, and will never return.
    Crashed,
    /// The operation returns with the known result.
    Returns,
    /// The operation returns, with this effect and result.
    Completes(Option<ClassId>),
    /// The operation did not happen.
    Fails,
    /// The operation may have happened, with this effect.
    Crashes(Option<ClassId>),
}

/// The known outcome of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// Unknown so far.
    Open,
    /// It returns, and its result is known.
    Returns,
    /// It may have happened, or may still happen; its outcome remains unknown.
    Crashed,
    /// It did not happen.
    Failed,
    /// It was in flight for so long that it was treated as crashed.
    PassedOver,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpRow {
    /// Its client.
    pub(crate) client: i64,
    /// When it was called, in the caller's unit.
    pub(crate) start: u64,
    /// When it returned, if known.
    pub(crate) finish: u64,
    /// Determines which of two operations returns first.
    pub(crate) ret: u64,
    /// The number of its call.
    pub(crate) seq: Seq,
    /// The operation, as far as it is known.
    pub(crate) class: Option<ClassId>,
    pub(crate) fate: Fate,
    /// Whether it has not ended yet.
    pub(crate) in_flight: bool,
}

/// Represents no time.
pub(crate) const NEVER: u64 = u64::MAX;

/// The operations. Rows are reused: see [`Ops::collect`].
#[derive(Debug, Default)]
pub(crate) struct Ops {
    rows: Vec<OpRow>,
    free: Vec<OpIx>,
    /// The number of rows after the last collection.
    collected: usize,
}

/// With fewer rows than this, a collection is not worthwhile.
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

    /// The number of rows, including free ones.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Frees all rows except those to keep. Passes the classes of the kept rows to `mark`.
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
