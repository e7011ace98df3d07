//! The implications between anomalies and models: closures over the two tables.

use crate::anomaly::{self, AnomalySet};
use crate::cycle_spec::{CYCLE_EXISTS, CYCLES, Suffix};
use crate::model::{Model, ModelSet};
use std::sync::LazyLock;

pub use crate::set::RowSet;

/// The types that make a verdict unknown if no prohibited one was found.
pub const UNKNOWN: AnomalySet =
    AnomalySet::from_bits(anomaly::bits_of(&["empty-transaction-graph", "cycle-search-timeout"]));

/// The types that some model forbids, or that others count as, and for which there is no search.
pub const NOT_SEARCHED: AnomalySet = AnomalySet::from_bits(anomaly::bits_of(&[
    "write-skew",
    "GSIa",
    "GSIb",
    "GSI",
    "G-cursor",
    "G-monotonic",
    "G-MSR",
    "G-SIb",
    "G-SI",
    "G-update",
    "predicate-read-miss",
]));

/// Everything that anomalies of these types also are; themselves included.
///
/// ```
/// use check_elle::anomaly::AnomalyType;
/// use check_elle::lattice::implied_by;
///
/// let implied = implied_by(AnomalyType::LOST_UPDATE.into());
/// assert!(implied.contains(AnomalyType::G2_ITEM));
/// assert!(!implied.contains(AnomalyType::G_SINGLE_ITEM));
/// ```
pub fn implied_by(anomalies: AnomalySet) -> AnomalySet {
    anomalies.iter().fold(AnomalySet::EMPTY, |all, anomaly| all.union(anomaly.implied()))
}

/// Every type whose anomalies are all of one of these types, including themselves.
pub fn implying(anomalies: AnomalySet) -> AnomalySet {
    anomalies.iter().fold(AnomalySet::EMPTY, |all, anomaly| all.union(anomaly.implying()))
}

/// The types that make a history invalid: all that rule out one of the models, and the named types with all that imply
/// them.
///
/// ```
/// use check_elle::anomaly::{AnomalySet, AnomalyType};
/// use check_elle::lattice::prohibited;
/// use check_elle::model::Model;
///
/// let read_committed = "read-committed".parse::<Model>().unwrap();
/// let prohibited = prohibited(read_committed.into(), AnomalySet::EMPTY);
/// assert!(prohibited.contains(AnomalyType::G1A));
/// assert!(!prohibited.contains(AnomalyType::LOST_UPDATE));
/// ```
pub fn prohibited(models: ModelSet, named: AnomalySet) -> AnomalySet {
    models.iter().fold(implying(named), |all, model| all.union(model.prohibited()))
}

/// The types that a report may list: the prohibited ones, and those that make a verdict unknown.
pub fn reportable(models: ModelSet, named: AnomalySet) -> AnomalySet {
    prohibited(models, named).union(UNKNOWN)
}

/// The edges to add to the graph in addition to ww, wr and rw, so that all of these types of anomalies can be found.
///
/// Real time includes the order of processes, so process edges are only added to realtime edges if the invocations of
/// some transactions are unknown.
pub fn order_needed(reportable: AnomalySet) -> Suffix {
    let of_cycles = CYCLES.iter().filter(|spec| reportable.contains(spec.anomaly)).map(|spec| spec.suffix);
    let of_models = CYCLE_EXISTS.iter().filter(|spec| reportable.contains(spec.anomaly)).map(|spec| spec.suffix());
    of_cycles.chain(of_models).max().unwrap_or(Suffix::None)
}

/// The models that a history with these anomalies cannot obey.
pub fn rules_out(found: AnomalySet) -> ModelSet {
    ModelSet::ALL.iter().filter(|model| !model.prohibited().is_disjoint(found)).collect()
}

/// The models that a history does not obey, by friendly name, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boundary {
    /// The weakest ones: all models that any of these implies may still hold.
    pub not: Vec<&'static str>,
    /// The others, each stronger than one of the weakest.
    pub also_not: Vec<&'static str>,
}

/// The boundary between the models that may hold and those that anomalies rule out.
///
/// ```
/// use check_elle::anomaly::AnomalyType;
/// use check_elle::lattice::boundary;
///
/// let boundary = boundary(AnomalyType::G_SINGLE_ITEM.into());
/// assert_eq!(boundary.not, ["consistent-view", "repeatable-read"]);
/// assert!(boundary.also_not.contains(&"serializable"));
/// ```
pub fn boundary(found: AnomalySet) -> Boundary {
    boundary_of(rules_out(found))
}

/// The boundary below these models, which do not hold, nor do stronger ones.
pub(crate) fn boundary_of(impossible: ModelSet) -> Boundary {
    let weakest: ModelSet = impossible.iter().filter(|model| model.weaker().is_disjoint(impossible)).collect();
    Boundary { not: names(weakest), also_not: names(impossible.difference(weakest)) }
}

/// The found `M-cycle-exists` that are redundant, for a report to omit: a named anomaly among the found ones rules out
/// M, or the `M-cycle-exists` of a weaker model does.
pub fn redundant_cycle_exists(found: AnomalySet) -> AnomalySet {
    let unnamed: AnomalySet = CYCLE_EXISTS.iter().map(|spec| spec.anomaly).collect();
    let impossible = rules_out(found.difference(unnamed));
    let unnamed_models: ModelSet =
        CYCLE_EXISTS.iter().filter(|spec| found.contains(spec.anomaly)).map(|spec| spec.model).collect();
    CYCLE_EXISTS
        .iter()
        .filter(|spec| unnamed_models.contains(spec.model))
        .filter(|spec| impossible.contains(spec.model) || !spec.model.weaker().is_disjoint(unnamed_models))
        .map(|spec| spec.anomaly)
        .collect()
}

/// The friendly names of models, sorted.
pub(crate) fn names(models: ModelSet) -> Vec<&'static str> {
    static BY_NAME: LazyLock<Vec<Model>> = LazyLock::new(|| {
        let mut all: Vec<Model> = ModelSet::ALL.iter().collect();
        all.sort_unstable_by_key(|model| model.name());
        all
    });
    BY_NAME.iter().filter(|model| models.contains(**model)).map(|model| model.name()).collect()
}
