//! What the checkers of transactions say about themselves: their tables of anomalies and consistency levels, as data.

use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::CYCLES;
use crate::lattice;
use crate::model::{Model, ModelSet};
use history_core::{About, AboutAnomaly, AboutLevel, Parts, Subject};

/// What holds for every workload of transactions.
pub(crate) fn about() -> About {
    let mut about = About::new(Subject::Transactions).with_parts(Parts::Transactions);
    about.anomalies = AnomalySet::ALL.iter().map(anomaly).collect();
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

fn level(model: Model) -> AboutLevel {
    let mut about = AboutLevel::new(model.name(), model.summary());
    about.aliases = model.aliases().iter().map(|alias| (*alias).into()).collect();
    about.implies = model.implies().map(|weaker| weaker.name().into()).collect();
    about.forbids = model.forbids().map(|kind| kind.name().into()).collect();
    about.is_decided = model.is_decided() || model.is_decided_exactly();
    about.because = model.decision().into();
    about
}
