//! Whether it is worth it to try the fast way, by how often it was in vain.

/// How often plain ops are looked for, as long as there are few.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Luck {
    /// What attempts in vain have cost. Each op works off one.
    debt: u8,
}

impl Luck {
    /// With more debt than this, nothing is tried.
    const DEBT_MAX: u8 = 32;
    /// What an attempt costs that was in vain.
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
