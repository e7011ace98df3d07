//! Decides whether to try the fast path, depending on how often it failed.

/// Limits how often the reader tries to read plain ops, if there are few.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Luck {
    /// The cost of failed attempts. Each op reduces it by one.
    debt: u8,
}

impl Luck {
    /// With more debt than this, no attempt is made.
    const DEBT_MAX: u8 = 32;
    /// The cost of a failed attempt.
    const COST: u8 = 16;

    #[inline]
    pub(super) fn is_with(&mut self) -> bool {
        let is_with = self.debt <= Luck::DEBT_MAX;
        self.debt = self.debt.saturating_sub(1);
        is_with
    }

    #[cold]
    pub(super) fn fail(&mut self) {
        self.debt = self.debt.saturating_add(Luck::COST);
    }
}
