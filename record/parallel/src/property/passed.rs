//! How much a test has tried.

/// What a test that found no failure has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Passed {
    /// Programs.
    pub cases: u64,
    /// Executions of all of them.
    pub executions: u64,
}
