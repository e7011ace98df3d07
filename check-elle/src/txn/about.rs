//! The descriptions of the transaction checkers: their tables of anomalies and consistency levels, as data.

use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::CYCLES;
use crate::lattice;
use crate::model::{Model, ModelSet};
use history_core::{About, AboutAnomaly, AboutLevel, Parts, Subject};

/// The description that applies to every workload of transactions.
pub(crate) fn about() -> About {
    let mut about = About::new(Subject::Transactions).with_parts(Parts::Transactions);
    about.anomalies = AnomalySet::ALL.iter().map(anomaly).collect();
    #[cfg(feature = "exact")]
    about.anomalies.push(no_commit_order());
    about.levels = ModelSet::ALL.iter().map(level).collect();
    about
}

fn anomaly(kind: AnomalyType) -> AboutAnomaly {
    let mut about = AboutAnomaly::new(kind.name(), kind.summary());
    about.implies = kind.implies().map(|weaker| weaker.name().into()).collect();
    about.is_cycle = CYCLES.iter().any(|spec| spec.anomaly == kind);
    about.is_doubt = lattice::UNKNOWN.contains(kind);
    about
}

/// The anomaly of a level that is decided exactly, if there is no cycle of dependencies.
#[cfg(feature = "exact")]
fn no_commit_order() -> AboutAnomaly {
    let (name, summary) = check_isolation::NO_COMMIT_ORDER;
    let mut about = AboutAnomaly::new(name, summary);
    about.is_of_a_level = true;
    about
}

fn level(model: Model) -> AboutLevel {
    let mut about = AboutLevel::new(model.name(), model.summary());
    about.aliases = model.aliases().iter().map(|alias| (*alias).into()).collect();
    about.implies = model.implies().map(|weaker| weaker.name().into()).collect();
    about.forbids = model.forbids().map(|kind| kind.name().into()).collect();
    about.is_decided = model.is_decided() || model.is_decided_exactly();
    about.because = model.decision().into();
    about
}
