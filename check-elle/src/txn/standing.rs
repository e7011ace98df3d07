//! Which models a history is known to obey: those of which all that rules them out was searched for in vain, and what
//! these imply. The others are unknown, unless something rules them out.
//!
//! A model that is not decided ([`Model::is_decided`]) can be known to hold only by a stronger one that is. So the
//! graph takes in the edges by which the nearest of these can be judged.

use super::Txns;
use super::analysis::Analysis;
use super::time::has_process_edges;
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::Suffix;
use crate::lattice::{self, NOT_SEARCHED, UNKNOWN};
use crate::model::{Model, ModelSet};

/// What is asked for by name, and not searched for.
#[derive(Clone, Copy)]
pub(crate) struct Undecided {
    pub(crate) models: ModelSet,
    pub(crate) anomalies: AnomalySet,
}

impl Undecided {
    /// Those among these.
    pub(crate) fn of(models: ModelSet, anomalies: AnomalySet) -> Undecided {
        let models = models.iter().filter(|model| !model.is_decided()).collect();
        Undecided { models, anomalies: anomalies.intersection(NOT_SEARCHED) }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.models.is_empty() && self.anomalies.is_empty()
    }

    /// Which edges to add to the graph, where those that are needed in any case are `needed`. Realtime edges are never
    /// added where process edges are needed: cycles by these would then have other names.
    pub(crate) fn order(self, needed: Suffix) -> Suffix {
        if needed != Suffix::None {
            return needed;
        }
        let least = |above: ModelSet| above.iter().map(order_of).min();
        let of_models = self.models.iter().filter_map(|model| least(decided_above(model)));
        let of_anomalies = self.anomalies.iter().filter_map(|anomaly| least(decided_against(anomaly)));
        of_models.chain(of_anomalies).max().unwrap_or(Suffix::None)
    }
}

/// The edges that it takes to see all that rules a model out.
fn order_of(model: Model) -> Suffix {
    lattice::order_needed(model.prohibited())
}

/// The decided models that imply a model.
fn decided_above(model: Model) -> ModelSet {
    model.stronger().iter().filter(|stronger| stronger.is_decided()).collect()
}

/// The decided models that an anomaly rules out.
fn decided_against(anomaly: AnomalyType) -> ModelSet {
    // The models spell it otherwise.
    let anomaly = if anomaly.implied().contains(AnomalyType::GSI) { AnomalyType::G_SI } else { anomaly };
    ModelSet::ALL.iter().filter(|model| model.is_decided() && model.prohibited().contains(anomaly)).collect()
}

/// What is not known of a history: each as a clause that says why, if so.
#[derive(Debug, Default)]
struct Doubts {
    /// Some read shows what was never written: no model forbids that by name, and none allows it.
    garbage: Option<String>,
    /// The order of all versions.
    versions: Option<String>,
    /// The order of each process.
    processes: Option<String>,
    /// When transactions were invoked.
    times: Option<String>,
}

/// What a history was found to be, and what is known of models by it.
pub(crate) struct Standing {
    /// All types of anomalies found.
    found: AnomalySet,
    /// The edges that the graph had in addition to ww, wr and rw.
    order: Suffix,
    /// Whether process edges were among them.
    has_process_edges: bool,
    doubts: Doubts,
    rests_on_order: fn(Model) -> bool,
    /// Decided models, all of whose anomalies were searched for and none found, where that is enough to know that they
    /// hold, and all that they imply.
    proven: ModelSet,
    /// The same, where it may not be enough, and what the proven ones imply.
    known: ModelSet,
    /// Decided models of which the order of versions, which is not known, leaves open whether they hold.
    open: ModelSet,
}

impl Standing {
    pub(crate) fn new<A: Analysis>(
        analysis: &A,
        found: AnomalySet,
        order: Suffix,
        components: &[Vec<u32>],
        has_read: bool,
    ) -> Standing {
        let mut standing = Standing {
            found,
            order,
            has_process_edges: has_process_edges(analysis.txns(), order),
            doubts: Doubts::default(),
            rests_on_order: A::rests_on_order,
            proven: ModelSet::EMPTY,
            known: ModelSet::EMPTY,
            open: ModelSet::EMPTY,
        };
        if !found.is_disjoint(UNKNOWN) || !has_read {
            return standing;
        }
        let garbage = analysis.direct().contains(AnomalyType::GARBAGE_READ);
        standing.doubts = Doubts {
            garbage: garbage.then(|| "a transaction read a value that was never written".to_owned()),
            versions: analysis.unordered(components),
            processes: unknown_process(analysis.txns()),
            times: unknown_time(analysis.txns()),
        };
        for model in ModelSet::ALL.iter().filter(|model| model.is_decided()) {
            if standing.obstacle(model).is_some() {
                continue;
            }
            if A::DOUBT_IS_OF_THIS_HISTORY && standing.doubts.versions.is_some() && A::rests_on_order(model) {
                standing.open.insert(model);
                continue;
            }
            standing.known.insert(model);
            if standing.doubt(model).is_none() {
                standing.proven.insert(model);
                standing.known = standing.known.union(model.weaker());
            }
        }
        // A stronger one may be proven nevertheless.
        standing.open = standing.open.difference(standing.known);
        standing
    }

    /// The models that are unknown, if these are reported as ruled out.
    pub(crate) fn open(&self, ruled_out: ModelSet) -> ModelSet {
        ModelSet::ALL.difference(ruled_out).difference(self.known)
    }

    /// The decided models among these of which it is open whether they hold, and why, as a sentence each.
    pub(crate) fn left_open(&self, asked: ModelSet) -> Vec<String> {
        let open = self.open.iter().filter(|model| asked.contains(*model));
        let versions = self.doubts.versions.as_deref().unwrap_or_default();
        open.map(|model| {
            format!("Whether {model} holds is unknown: {versions}, and possible orders were not searched.")
        })
        .collect()
    }

    /// Those of the undecided things asked for that remain so.
    pub(crate) fn remaining(&self, asked: Undecided) -> Undecided {
        let absent = |anomaly: &AnomalyType| !decided_against(*anomaly).is_disjoint(self.proven);
        Undecided {
            models: asked.models.difference(self.known),
            anomalies: asked.anomalies.iter().filter(|anomaly| !absent(anomaly)).collect(),
        }
    }

    /// Why each of these is not known, and what to ask for instead. `indices` are those of an example of an anomaly.
    pub(crate) fn notes(
        &self,
        checker: &str,
        remaining: Undecided,
        indices: impl Fn(AnomalyType) -> Vec<u64>,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        for model in remaining.models.iter() {
            let above = nearest(decided_above(model), Model::weaker);
            let below = nearest(model.weaker().iter().filter(|weaker| weaker.is_decided()).collect(), Model::stronger);
            let stronger = above.iter().map(|model| format!("{model} (stronger)"));
            let weaker = below.iter().map(|model| format!("{model} (weaker)"));
            notes.push(format!(
                "Whether {model} holds is unknown: {checker} does not decide it, because {}.{} The nearest levels \
                 that it decides: {}.",
                model.decision(),
                self.would_hold(above, &indices),
                stronger.chain(weaker).collect::<Vec<_>>().join(", "),
            ));
        }
        for anomaly in remaining.anomalies.iter() {
            let against = nearest(decided_against(anomaly), Model::weaker);
            let would = self.would_be_absent(against, &indices);
            notes.push(format!("Whether there is any {anomaly} is unknown: {checker} does not search for it.{would}"));
        }
        notes
    }

    /// What keeps the nearest stronger models from answering.
    fn would_hold(&self, above: ModelSet, indices: &impl Fn(AnomalyType) -> Vec<u64>) -> String {
        match self.why_not(above, indices) {
            Some((stronger, why)) => format!(" If {stronger} held, it would hold too, but {why}."),
            None => String::new(),
        }
    }

    fn would_be_absent(&self, against: ModelSet, indices: &impl Fn(AnomalyType) -> Vec<u64>) -> String {
        match self.why_not(against, indices) {
            Some((model, why)) => format!(" If {model} held, there would be none, but {why}."),
            None => String::new(),
        }
    }

    /// Of models that do not answer the first one, and why it does not.
    fn why_not(&self, models: ModelSet, indices: &impl Fn(AnomalyType) -> Vec<u64>) -> Option<(Model, String)> {
        let model = models.iter().next()?;
        let why = match self.obstacle(model) {
            Some(Obstacle::Found(anomaly)) => {
                let indices: Vec<String> = indices(anomaly).iter().take(8).map(u64::to_string).collect();
                let shown =
                    if indices.is_empty() { String::new() } else { format!(" (at index {})", indices.join(", ")) };
                format!("the history shows {anomaly}{shown}")
            }
            Some(Obstacle::NotSearched) => {
                "real time was not checked, because the order of processes was requested".to_owned()
            }
            None => self.doubt(model)?.to_owned(),
        };
        Some((model, why))
    }

    /// Why a decided model cannot be said to hold as far as was searched.
    fn obstacle(&self, model: Model) -> Option<Obstacle> {
        if let Some(anomaly) = self.found.intersection(model.prohibited()).iter().next() {
            return Some(Obstacle::Found(anomaly));
        }
        let was_searched = match order_of(model) {
            Suffix::None => true,
            Suffix::Process => self.has_process_edges,
            Suffix::Realtime => self.order == Suffix::Realtime,
        };
        (!was_searched).then_some(Obstacle::NotSearched)
    }

    /// Why a decided model, against which nothing was found, may not hold nevertheless: as a clause.
    fn doubt(&self, model: Model) -> Option<&str> {
        let Doubts { garbage, versions, processes, times } = &self.doubts;
        let of_order = match order_of(model) {
            Suffix::None => &None,
            Suffix::Process => processes,
            Suffix::Realtime => times,
        };
        let of_versions = versions.as_deref().filter(|_| (self.rests_on_order)(model));
        garbage.as_deref().or(of_order.as_deref()).or(of_versions)
    }
}

/// What keeps a decided model from being known to hold.
enum Obstacle {
    Found(AnomalyType),
    /// The graph had not the edges for it.
    NotSearched,
}

fn unknown_process<M: Copy>(txns: &Txns<M>) -> Option<String> {
    let lone = txns.ids().find(|txn| txns.is_ok(*txn) && txns.process(*txn).is_none())?;
    Some(format!("the process of the op at index {} is unknown", txns.index(lone)))
}

fn unknown_time<M: Copy>(txns: &Txns<M>) -> Option<String> {
    let sudden = txns.ids().find(|txn| txns.is_possible(*txn) && txns.invoked(*txn).is_none())?;
    Some(format!("the invocation of the op at index {} is unknown", txns.index(sudden)))
}

/// Those between which and the model in question, which lies `towards` there, no other of them lies.
fn nearest(models: ModelSet, towards: impl Fn(Model) -> ModelSet) -> ModelSet {
    models.iter().filter(|model| towards(*model).is_disjoint(models)).collect()
}
