//! The specification of cycles to search for: the named types, worst first, and the models that the existence of some
//! cycle rules out.

use crate::anomaly::{self, AnomalyType};
use crate::model::{self, Model};

/// A type of cycle by its ww, wr and rw edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// ww alone.
    G0,
    /// ww and wr, at least one wr.
    G1c,
    /// ww and wr, and exactly one rw.
    GSingle,
    /// Two or more rw, no two of them adjacent, the last and the first included.
    GNonadjacent,
    /// Two or more rw, some two of them adjacent.
    G2,
}

/// A type of cycle by the edges in it that order transactions whatever they read and wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suffix {
    /// No such edge.
    None,
    /// At least one process edge, and no realtime edge.
    Process,
    /// At least one realtime edge.
    Realtime,
}

/// A type of cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CycleSpec {
    /// The type of such a cycle.
    pub anomaly: AnomalyType,
    /// The data edges that it may have.
    pub family: Family,
    /// Its other edges.
    pub suffix: Suffix,
}

macro_rules! cycle {
    ($anomaly:literal, $family:ident, $suffix:ident) => {
        CycleSpec { anomaly: anomaly::named($anomaly), family: Family::$family, suffix: Suffix::$suffix }
    };
}

/// All types of cycles, in the order of the search: worst first.
#[rustfmt::skip] // As a table.
pub const CYCLES: &[CycleSpec] = &[
    cycle!("G0",                          G0,           None),
    cycle!("G1c",                         G1c,          None),
    cycle!("G-single-item",               GSingle,      None),
    cycle!("G-nonadjacent-item",          GNonadjacent, None),
    cycle!("G2-item",                     G2,           None),
    cycle!("G0-process",                  G0,           Process),
    cycle!("G1c-process",                 G1c,          Process),
    cycle!("G-single-item-process",       GSingle,      Process),
    cycle!("G-nonadjacent-item-process",  GNonadjacent, Process),
    cycle!("G2-item-process",             G2,           Process),
    cycle!("G0-realtime",                 G0,           Realtime),
    cycle!("G1c-realtime",                G1c,          Realtime),
    cycle!("G-single-item-realtime",      GSingle,      Realtime),
    cycle!("G-nonadjacent-item-realtime", GNonadjacent, Realtime),
    cycle!("G2-item-realtime",            G2,           Realtime),
];

/// Some of the relations between transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Relations(
    /// Of the five lowest bits only.
    u8,
);

impl Relations {
    /// A transaction overwrote the write of another one.
    pub const WW: Relations = Relations(1);
    /// It read the write of another one.
    pub const WR: Relations = Relations(1 << 1);
    /// It overwrote the value that another one read.
    pub const RW: Relations = Relations(1 << 2);
    /// It came after another one of the same process.
    pub const PROCESS: Relations = Relations(1 << 3);
    /// It was invoked after another one had completed.
    pub const REALTIME: Relations = Relations(1 << 4);

    /// Those in either.
    #[must_use]
    pub const fn union(self, other: Relations) -> Relations {
        Relations(self.0 | other.0)
    }

    /// Whether all of the others are among these.
    pub const fn contains(self, others: Relations) -> bool {
        self.0 & others.0 == others.0
    }

    /// A bit for each: 1 for ww, then wr, rw, process and realtime.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// How rw edges count towards the cycles that rule a model out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RwUse {
    /// Not at all.
    None,
    /// Only right after another edge, so that no two are adjacent: the cycles are of d and d;rw.
    OneHop,
    /// Like the other edges.
    Free,
}

/// The cycles that rule a model out, whatever their types.
///
/// There is one if and only if the graph of the steps named here has a component of two transactions or more: no search
/// is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CycleExistsSpec {
    /// The type reported if there is such a cycle and no named anomaly rules out the model.
    pub anomaly: AnomalyType,
    /// The model.
    pub model: Model,
    /// The relations of its steps: the d of [`RwUse::OneHop`]. Never rw: see the next field. With realtime, process
    /// steps are included, which follow from it if the invocations of transactions are known.
    pub relations: Relations,
    /// Whether and how rw edges count too.
    pub rw: RwUse,
}

impl CycleExistsSpec {
    /// The edges that it may have in addition to ww, wr and rw.
    pub const fn suffix(self) -> Suffix {
        if self.relations.contains(Relations::REALTIME) {
            Suffix::Realtime
        } else if self.relations.contains(Relations::PROCESS) {
            Suffix::Process
        } else {
            Suffix::None
        }
    }
}

macro_rules! exists {
    ($model:literal, [$($relation:ident),+], $rw:ident) => {
        CycleExistsSpec {
            anomaly: anomaly::named(concat!($model, "-cycle-exists")),
            model: model::named($model),
            relations: Relations(0)$(.union(Relations::$relation))+,
            rw: RwUse::$rw,
        }
    };
}

/// All such cycles, weaker models before stronger ones: of ww, wr and rw, then with process edges, then with realtime
/// edges.
#[rustfmt::skip] // As a table.
pub const CYCLE_EXISTS: &[CycleExistsSpec] = &[
    exists!("PL-1",                              [WW],               None),
    exists!("PL-2",                              [WW, WR],           None),
    exists!("PL-SI",                             [WW, WR],           OneHop),
    exists!("PL-2.99",                           [WW, WR],           Free),
    exists!("PL-3",                              [WW, WR],           Free),
    exists!("strong-session-PL-1",               [WW, PROCESS],      None),
    exists!("strong-session-PL-2",               [WW, WR, PROCESS],  None),
    exists!("strong-session-snapshot-isolation", [WW, WR, PROCESS],  OneHop),
    exists!("strong-session-serializable",       [WW, WR, PROCESS],  Free),
    exists!("strong-PL-1",                       [WW, REALTIME],     None),
    exists!("strong-PL-2",                       [WW, WR, REALTIME], None),
    exists!("strong-snapshot-isolation",         [WW, WR, REALTIME], OneHop),
    exists!("PL-SS",                             [WW, WR, REALTIME], Free),
];
