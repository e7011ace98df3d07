//! The content of the keys of a store: lists or registers.

use std::fmt::Debug;

/// The content of the keys of transactions. [`OverLists`] and [`OverRegisters`] are the only implementations.
pub trait Workload: sealed::Sealed + Copy + Debug + Default + PartialEq {
    /// The name of the checker: `"list-append"`.
    const NAME: &'static str;
}

/// Each key contains a list: transactions append to its end, and read all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OverLists;

/// Each key contains one value: transactions write it, and read the value that was written last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OverRegisters;

impl Workload for OverLists {
    const NAME: &'static str = "list-append";
}

impl Workload for OverRegisters {
    const NAME: &'static str = "rw-register";
}

/// The workload as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// All values that were written.
    Lists,
    /// Only the value that was written last.
    Registers,
}

pub(crate) mod sealed {
    use super::{Holds, OverLists, OverRegisters};

    /// Prevents other crates from adding workloads that the store does not support.
    pub trait Sealed {
        /// The content of a key that clients observe.
        const HOLDS: Holds;
    }

    impl Sealed for OverLists {
        const HOLDS: Holds = Holds::Lists;
    }

    impl Sealed for OverRegisters {
        const HOLDS: Holds = Holds::Registers;
    }
}
