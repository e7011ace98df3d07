//! Decides levels exactly, if cycles of known dependencies do not decide them: is there an order of commits that
//! explains the history?
//!
//! `check-isolation` searches for such an order. It decides only levels that the search for cycles leaves open: those
//! that are defined by which transactions a read observes, and others if the order of some versions is unknown. Each
//! result has implications: a level that does not hold rules out the stronger ones, and one that holds implies the
//! weaker ones.

#[cfg(feature = "exact")]
mod commits;
#[cfg(feature = "exact")]
mod decide;
#[cfg(feature = "exact")]
mod happened;
#[cfg(feature = "exact")]
mod levels;
#[cfg(feature = "exact")]
mod recorded;
#[cfg(feature = "exact")]
mod unseen;

use crate::model::{Model, ModelSet};
#[cfg(feature = "exact")]
pub(crate) use commits::{dependencies, has_serial_order, is_strict};
#[cfg(feature = "exact")]
pub(crate) use decide::decide;
#[cfg(feature = "exact")]
pub(crate) use happened::{External, Happened, key_of};
use history_core::{Anomaly, OptionError, OptionKind, OptionSpec};

/// Whether levels that the search for cycles leaves open are decided exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exact {
    /// Such levels are not decided exactly: a level is then unknown, or holds as far as was searched.
    No,
    /// The number of steps is limited so that they take about as long as the rest of the check. A level that needs more
    /// steps is treated as with [`Exact::No`].
    Limited,
    /// The number of steps is limited only by the budget.
    Full,
}

impl Default for Exact {
    /// [`Exact::Limited`]; without the feature `exact`, [`Exact::No`].
    fn default() -> Exact {
        if cfg!(feature = "exact") { Exact::Limited } else { Exact::No }
    }
}

pub(crate) const EXACT: OptionSpec = OptionSpec::new(
    "exact",
    OptionKind::Text,
    "Decide levels that cycles leave open by looking for a commit order: no, limited (about the time of the rest) or full.",
)
.with_value_name("HOW")
.with_default("limited");

/// Returns true if no commit order of a level allows a transaction that contradicts itself, although the level may not
/// forbid this by name.
pub(crate) fn forbids_internal(model: Model) -> bool {
    #[cfg(feature = "exact")]
    return levels::broken_by(check_isolation::Axiom::MonotonicAtomicView, check_isolation::Base::None).contains(model);
    #[cfg(not(feature = "exact"))]
    return model.prohibited().contains(crate::anomaly::AnomalyType::INTERNAL)
        || ["consistent-view", "monotonic-atomic-view", "repeatable-read"].contains(&model.name());
}

impl Exact {
    /// Parses the value of the option.
    pub(crate) fn parse(text: &str) -> Result<Exact, OptionError> {
        let wrong = |message: &str| Err(OptionError::new(EXACT.name, message));
        match text {
            "no" => Ok(Exact::No),
            "limited" | "full" if !cfg!(feature = "exact") => wrong("this build lacks the feature exact"),
            "limited" => Ok(Exact::Limited),
            "full" => Ok(Exact::Full),
            _ => wrong("expected no, limited or full"),
        }
    }
}

/// The first step of a decision, if it was made earlier, during another search.
#[derive(Debug, Default)]
pub(crate) enum Prepared {
    #[default]
    Nothing,
    /// The transactions of an analysis that happened.
    #[cfg(feature = "exact")]
    Transactions(Option<Box<Happened>>),
}

/// The results of the decisions.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Levels for which an order was found.
    pub(crate) holds: ModelSet,
    /// Levels without an order, and all stronger ones.
    pub(crate) violated: ModelSet,
    /// Levels that were not decided, each with the reason as a clause.
    pub(crate) open: Vec<(Model, String)>,
    /// Levels for which no definition, or no search, determines whether predicate reads satisfy them, each with the
    /// reason as a clause.
    pub(crate) ambiguous: Vec<(Model, &'static str)>,
    /// The anomalies that show that the violated ones do not hold.
    pub(crate) anomalies: Vec<Anomaly>,
    /// Whether a read of a transaction contradicts an earlier write of it. That rules out all of these levels, and is
    /// an [`INTERNAL`](crate::anomaly::AnomalyType::INTERNAL).
    pub(crate) contradicts_itself: bool,
    /// Whether each requested level is decided.
    pub(crate) is_complete: bool,
}

impl Answers {
    /// Why no order that was found or refuted decides a level, as a clause, if so.
    pub(crate) fn why_ambiguous(&self, model: Model) -> Option<&'static str> {
        self.ambiguous.iter().find(|(other, _)| *other == model).map(|(_, why)| *why)
    }

    /// Why a level was not decided, as a clause, if it was tried.
    pub(crate) fn why_open(&self, model: Model) -> Option<&str> {
        self.open.iter().find(|(open, _)| *open == model).map(|(_, why)| &**why)
    }
}
