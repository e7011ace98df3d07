//! The models that a history is known to satisfy: those whose violations were all searched for without result, and
//! those that they imply. The others are unknown, unless an anomaly rules them out.
//!
//! A model that is not decided ([`Model::is_decided`]) can be known to hold only if a stronger decided model holds. So
//! the graph includes the edges that the nearest of these need.

mod next;

use super::Txns;
use super::analysis::Analysis;
use super::time::has_process_edges;
use crate::anomaly::{AnomalySet, AnomalyType};
use crate::cycle_spec::Suffix;
use crate::exact::{self, Answers, Exact};
use crate::lattice::{self, NOT_SEARCHED, UNKNOWN};
use crate::model::{self, Model, ModelSet};
use crate::set::Row as _;
use history_core::{SESSIONLESS, UNTIMED};
use std::sync::LazyLock;

pub(crate) use next::{Lacks, RECORD_READS};

const READ_COMMITTED: Model = model::named("read-committed");
const REPEATABLE_READ: Model = model::named("repeatable-read");
const MONOTONIC_ATOMIC_VIEW: Model = model::named("monotonic-atomic-view");

/// Why a level does not hold although Elle's table permits an `internal` anomaly in it, as a clause.
pub(crate) const CONTRADICTION: &str = "a read contradicts what its transaction read or wrote before";

/// The requested names that are not searched for.
#[derive(Clone, Copy)]
pub(crate) struct Undecided {
    pub(crate) models: ModelSet,
    pub(crate) anomalies: AnomalySet,
}

impl Undecided {
    /// The undecided names among these.
    pub(crate) fn of(models: ModelSet, anomalies: AnomalySet) -> Undecided {
        let models = models.iter().filter(|model| !model.is_decided()).collect();
        Undecided { models, anomalies: anomalies.intersection(NOT_SEARCHED) }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.models.is_empty() && self.anomalies.is_empty()
    }

    /// The edges to add to the graph if `needed` are needed in any case. Realtime edges are never added if process
    /// edges are needed, because cycles with these would then have other names.
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

/// The edges needed to find everything that rules out a model.
pub(crate) fn order_of(model: Model) -> Suffix {
    static ALL: LazyLock<Vec<Suffix>> =
        LazyLock::new(|| ModelSet::ALL.iter().map(|model| lattice::order_needed(model.prohibited())).collect());
    ALL[model.index()]
}

/// Returns true if a model forbids cycles of wr edges.
pub(crate) fn follows_reads(model: Model) -> bool {
    model.prohibited().contains(AnomalyType::G1C)
}

/// The decided models that imply a model.
fn decided_above(model: Model) -> ModelSet {
    model.stronger().iter().filter(|stronger| stronger.is_decided()).collect()
}

/// The decided models that an anomaly rules out.
fn decided_against(anomaly: AnomalyType) -> ModelSet {
    // The models use another name for this anomaly.
    let anomaly = if anomaly.implied().contains(AnomalyType::GSI) { AnomalyType::G_SI } else { anomaly };
    ModelSet::ALL.iter().filter(|model| model.is_decided() && model.prohibited().contains(anomaly)).collect()
}

/// Why parts of a history are unknown, each as a clause.
#[derive(Debug, Default)]
struct Doubts {
    /// Some read returned a value that was never written: no model forbids this by name, and none permits it.
    garbage: Option<String>,
    /// Some read returned a value that never existed, unless it existed before the history.
    unexplained: Option<String>,
    /// The order of all versions is unknown.
    versions: Option<String>,
    /// The order of each process is unknown.
    processes: Option<String>,
    /// Invocation times are unknown.
    times: Option<String>,
}

/// The properties of a history, and what follows for models.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(crate) struct Standing {
    /// Whether any model can be known to hold.
    is_judged: bool,
    /// The same, and no anomaly without a cycle was found that rules out read committed, and with it every level that
    /// has an axiom. A commit order concerns only which transactions observed which others: it does not show a failed
    /// append in the middle of a list, or a duplicate element.
    can_be_decided: bool,
    /// Whether the unknown order of versions leaves a model open, instead of only in doubt.
    doubt_is_of_this_history: bool,
    /// Whether some reads have no edges.
    hides_reads: bool,
    /// Whether some predicate read missed a write of a transaction.
    misses_by_predicates: bool,
    /// All types of anomalies found.
    found: AnomalySet,
    /// The edges of the graph in addition to ww, wr and rw.
    order: Suffix,
    /// Whether process edges are among them.
    has_process_edges: bool,
    doubts: Doubts,
    rests_on_order: fn(Model) -> bool,
    /// Decided models whose anomalies were all searched for without result, if this suffices to conclude that they
    /// hold, and all models that they imply.
    proven: ModelSet,
    /// The same if this may not suffice, and the models that the proven ones imply.
    known: ModelSet,
    /// Known models that the unknown order of versions, or a read of a value that was never written, may still rule
    /// out.
    assumed: ModelSet,
    /// Decided models that are open: the order of versions is unknown, or a transaction contradicts itself and Elle's
    /// table has no name for that at these levels.
    open: ModelSet,
}

impl Standing {
    pub(crate) fn new<A: Analysis>(
        analysis: &A,
        found: AnomalySet,
        order: Suffix,
        components: &[Vec<u32>],
        may_hold: bool,
    ) -> Standing {
        let mut standing = Standing {
            is_judged: found.is_disjoint(UNKNOWN) && may_hold,
            can_be_decided: may_hold && analysis.direct().is_disjoint(READ_COMMITTED.prohibited()),
            doubt_is_of_this_history: A::DOUBT_IS_OF_THIS_HISTORY,
            hides_reads: analysis.hides_reads(),
            misses_by_predicates: analysis.misses_by_predicates(),
            found,
            order,
            has_process_edges: has_process_edges(analysis.txns(), order),
            doubts: Doubts::default(),
            rests_on_order: A::rests_on_order,
            proven: ModelSet::EMPTY,
            known: ModelSet::EMPTY,
            assumed: ModelSet::EMPTY,
            open: ModelSet::EMPTY,
        };
        if !standing.is_judged {
            return standing;
        }
        let garbage = analysis.direct().contains(AnomalyType::GARBAGE_READ);
        standing.doubts = Doubts {
            garbage: garbage.then(|| "a transaction read a value that was never written".to_owned()),
            unexplained: analysis.unexplained(),
            versions: analysis.unordered(components),
            processes: unknown_process(analysis.txns()),
            times: unknown_time(analysis.txns()),
        };
        for model in ModelSet::ALL.iter().filter(|model| model.is_decided()) {
            if standing.obstacle(model).is_some() {
                continue;
            }
            let rests_on_order = standing.doubts.versions.is_some() && A::rests_on_order(model);
            let is_unexplained = standing.doubts.unexplained.is_some() && follows_reads(model);
            if is_unexplained || standing.is_contradicted(model) || A::DOUBT_IS_OF_THIS_HISTORY && rests_on_order {
                standing.open.insert(model);
                continue;
            }
            standing.known.insert(model);
            if standing.doubt(model).is_none() {
                standing.proven.insert(model);
                standing.known = standing.known.union(standing.weaker(model));
            } else if !A::DOUBT_IS_OF_THIS_HISTORY && (rests_on_order || standing.doubts.garbage.is_some()) {
                standing.assumed.insert(model);
            }
        }
        standing.assumed = standing.assumed.difference(standing.with_weaker(standing.proven));
        // A stronger model may be proven nevertheless.
        standing.open = standing.open.difference(standing.known);
        standing
    }

    /// The requested models that cycles do not decide for certain.
    pub(crate) fn to_decide(&self, asked: ModelSet) -> ModelSet {
        if !self.can_be_decided {
            return ModelSet::EMPTY;
        }
        // In Elle's table, some models allow a transaction's reads to contradict each other. Their axioms do not.
        let is_internal = self.found.contains(AnomalyType::INTERNAL);
        let proven = if is_internal { ModelSet::EMPTY } else { self.proven };
        let certain = self.with_weaker(proven);
        let is_doubted = |model: Model| {
            self.known.contains(model)
                && !self.doubt_is_of_this_history
                && self.doubts.versions.is_some()
                && (self.rests_on_order)(model)
        };
        let in_doubt =
            |model: &Model| !model.is_decided() || self.open.contains(*model) || is_doubted(*model) || is_internal;
        asked.difference(certain).iter().filter(in_doubt).collect()
    }

    /// Adds the results of exact decisions.
    pub(crate) fn learn(&mut self, answers: &Answers) {
        for model in answers.holds.iter().filter(|_| self.is_judged) {
            self.known.insert(model);
            self.assumed = self.assumed.difference(model.into());
            if self.doubt_of_order(model).is_none() {
                self.proven.insert(model);
                self.known = self.known.union(self.weaker(model));
                self.assumed = self.assumed.difference(self.weaker(model));
            }
        }
        self.known = self.known.difference(answers.violated);
        self.open = self.open.difference(self.known).difference(answers.violated);
    }

    /// The models that are unknown, if `ruled_out` are reported as ruled out and `asked` were requested. A requested
    /// model counts as known if no violation was found. Other models do not, if they hold only by assumption.
    pub(crate) fn open(&self, ruled_out: ModelSet, asked: ModelSet) -> ModelSet {
        let answered = self.with_weaker(asked.intersection(self.known));
        let shown = self.known.difference(self.assumed.difference(answered));
        ModelSet::ALL.difference(ruled_out).difference(shown)
    }

    /// The decided models among these that are open, each with the reason as a sentence.
    pub(crate) fn left_open(&self, asked: ModelSet, answers: &Answers) -> Vec<String> {
        let open = self.open.iter().filter(|model| asked.contains(*model));
        open.map(|model| {
            if let Some(why) = self.doubts.unexplained.as_ref().filter(|_| follows_reads(model)) {
                return format!("Whether {model} holds is unknown: {why}.");
            }
            let doubt = match &self.doubts.versions {
                _ if self.is_contradicted(model) => CONTRADICTION,
                versions => versions.as_deref().unwrap_or_default(),
            };
            let orders = match (answers.why_ambiguous(model), answers.why_open(model)) {
                (Some(why), _) => why.to_owned(),
                (None, Some(why)) => format!("no order that decides it was found: {why}"),
                (None, None) => "possible orders were not searched".to_owned(),
            };
            format!("Whether {model} holds is unknown: {doubt}, and {orders}.")
        })
        .collect()
    }

    /// Notes on the requested real time and order of processes that are unknown.
    pub(crate) fn unknown_order(&self) -> impl Iterator<Item = &'static str> + use<> {
        let lacks_times = self.order == Suffix::Realtime && self.doubts.times.is_some();
        let lacks_processes = self.order != Suffix::None && self.doubts.processes.is_some();
        lacks_times.then_some(UNTIMED).into_iter().chain(lacks_processes.then_some(SESSIONLESS))
    }

    /// The requested undecided names that remain undecided.
    pub(crate) fn remaining(&self, asked: Undecided) -> Undecided {
        let absent = |anomaly: &AnomalyType| !decided_against(*anomaly).is_disjoint(self.proven);
        Undecided {
            models: asked.models.difference(self.known),
            anomalies: asked.anomalies.iter().filter(|anomaly| !absent(anomaly)).collect(),
        }
    }

    /// Why each of these is unknown, and what to request instead. `indices` returns those of an example of an anomaly.
    pub(crate) fn notes(
        &self,
        checker: &str,
        remaining: Undecided,
        exact: Exact,
        answers: &Answers,
        indices: impl Fn(AnomalyType) -> Vec<u64>,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        for model in remaining.models.iter() {
            let is_decided = |model: &Model| model.is_decided() || exact != Exact::No && model.is_decided_exactly();
            let above = nearest(model.stronger().iter().filter(is_decided).collect(), Model::weaker);
            let below = nearest(model.weaker().iter().filter(is_decided).collect(), Model::stronger);
            let stronger = above.iter().map(|model| format!("{model} (stronger)"));
            let weaker = below.iter().map(|model| format!("{model} (weaker)"));
            notes.push(format!(
                "Whether {model} holds is unknown{}.{} The nearest levels that it decides: {}.",
                self.why_undecided(checker, model, exact, answers),
                self.would_hold(nearest(decided_above(model), Model::weaker), &indices),
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

    /// Why a model is not decided, as the text that follows "it is unknown".
    fn why_undecided(&self, checker: &str, model: Model, exact: Exact, answers: &Answers) -> String {
        if !model.is_decided_exactly() {
            return format!(": {checker} does not decide it, because {}", model.decision());
        }
        if let Some(why) = answers.why_ambiguous(model) {
            return format!(": {why}");
        }
        if let Some(why) = answers.why_open(model) {
            return format!(": no commit order that decides it was found, because {why}");
        }
        match (self.doubts.garbage.as_ref().or(self.doubts.unexplained.as_ref()), exact) {
            (_, Exact::No) => ": with --exact no, no commit order is looked for, which would decide it".to_owned(),
            (Some(doubt), _) => format!(": {doubt}"),
            (None, _) => String::new(),
        }
    }

    /// The obstacle that prevents the nearest stronger models from deciding the model, as a sentence.
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

    /// The first of the models that do not hold for certain, and the reason.
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

    /// The models that a model implies in this history. Repeatable read concerns items, so a predicate read that misses
    /// a write may still violate an axiom of a model that it implies.
    fn weaker(&self, model: Model) -> ModelSet {
        let is_of_items = self.misses_by_predicates && model == REPEATABLE_READ;
        let apart = if is_of_items { MONOTONIC_ATOMIC_VIEW.into() } else { ModelSet::EMPTY };
        model.weaker().difference(apart)
    }

    /// These models, and all that they imply.
    fn with_weaker(&self, models: ModelSet) -> ModelSet {
        models.iter().fold(models, |all, model| all.union(self.weaker(model)))
    }

    /// Returns true if a transaction contradicts itself, and a model's axiom forbids this although the table permits
    /// it, or the contradiction may hide an anomaly that the model forbids.
    fn is_contradicted(&self, model: Model) -> bool {
        let is_internal = self.found.contains(AnomalyType::INTERNAL) && exact::forbids_internal(model);
        is_internal || self.hides_reads && follows_reads(model)
    }

    /// Why a decided model cannot be reported to hold, as far as was searched.
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

    /// Why a decided model without known violations may nevertheless not hold, as a clause.
    fn doubt(&self, model: Model) -> Option<&str> {
        let Doubts { garbage, versions, .. } = &self.doubts;
        let of_versions = versions.as_deref().filter(|_| (self.rests_on_order)(model));
        garbage.as_deref().or(self.doubt_of_order(model)).or(of_versions)
    }

    /// Why the process order or the real time that a model needs is not completely known.
    fn doubt_of_order(&self, model: Model) -> Option<&str> {
        match order_of(model) {
            Suffix::None => None,
            Suffix::Process => self.doubts.processes.as_deref(),
            Suffix::Realtime => self.doubts.times.as_deref(),
        }
    }
}

/// What prevents a decided model from being known to hold.
enum Obstacle {
    Found(AnomalyType),
    /// The graph lacked the edges for the model.
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

/// The models for which no other of them lies in the direction `towards`: those nearest to the model in question.
fn nearest(models: ModelSet, towards: impl Fn(Model) -> ModelSet) -> ModelSet {
    models.iter().filter(|model| towards(*model).is_disjoint(models)).collect()
}
