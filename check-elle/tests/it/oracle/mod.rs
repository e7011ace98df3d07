//! An oracle: determines the results of list-append and rw-register by methods that share no code with the checker and
//! are too slow for it.

pub(crate) mod against;
pub(crate) mod axioms;
pub(crate) mod canary;
pub(crate) mod cases;
pub(crate) mod choices;
pub(crate) mod crowd;
pub(crate) mod cycles;
pub(crate) mod direct;
pub(crate) mod enumeration;
pub(crate) mod exists;
pub(crate) mod graph;
pub(crate) mod lattice;
pub(crate) mod laws;
pub(crate) mod messy;
pub(crate) mod names;
pub(crate) mod reach;
pub(crate) mod register_cases;
pub(crate) mod registers;
pub(crate) mod semantic;
pub(crate) mod spoiled;
pub(crate) mod standing;
pub(crate) mod tamper;
pub(crate) mod text;
pub(crate) mod world;
pub(crate) mod worlds;

use graph::{Graph, Order};
use history_core::{History, Verdict};
use lattice::{also_is, forbids};
use names::Names;
use registers::Sources;
use standing::Standing;
use std::cell::RefCell;
use world::World;

/// A request: models, anomalies, and the workload.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Question<'a> {
    /// Friendly names.
    pub(crate) models: &'a [&'a str],
    /// Names of anomalies that are requested.
    pub(crate) anomalies: &'a [&'a str],
    /// Whether garbage reads are allowed.
    pub(crate) allow_garbage: bool,
    pub(crate) workload: Workload<'a>,
}

/// The type of the micro-ops, and for registers the sources of the version order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Workload<'a> {
    #[default]
    ListAppend,
    RwRegister(Sources<'a>),
}

/// The oracle's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    pub(crate) anomaly_types: Names,
    pub(crate) not: Names,
    pub(crate) also_not: Names,
    pub(crate) not_checked: Names,
    /// All types found, requested or not.
    pub(crate) found: Names,
    /// More types of cycles that may be reported. The checker reduces the pairs of versions that a source orders, so a
    /// ww step between two transactions may become several ww steps and one rw step. There is then always a worse type
    /// too, and the models follow from that one.
    pub(crate) may_be: Names,
}

/// The consequences of a question.
#[derive(Clone, Copy)]
struct Known {
    order: Order,
    /// The types that the question forbids.
    prohibited: Names,
}

impl<'a> Question<'a> {
    pub(crate) fn of_lists(models: &'a [&'a str]) -> Question<'a> {
        Question { models, ..Question::default() }
    }

    pub(crate) fn of_registers(models: &'a [&'a str], sources: Sources<'a>) -> Question<'a> {
        Question { models, workload: Workload::RwRegister(sources), ..Question::default() }
    }

    pub(crate) fn is_prohibited(&self, anomaly: &str) -> bool {
        let asked = also_is(anomaly).iter().any(|also| self.anomalies.contains(also));
        asked || self.models.iter().any(|model| forbids(model, anomaly))
    }

    /// Returns the order that the graph must include for this question.
    pub(crate) fn order(&self) -> Order {
        self.known().order
    }

    /// Returns the consequences of the question. Many histories have the same few questions, so the results are cached.
    fn known(&self) -> Known {
        thread_local! {
            static KNOWN: RefCell<Vec<(Names, Names, Known)>> = const { RefCell::new(Vec::new()) };
        }
        let of = |names: &[&str]| names.iter().map(|name| lattice::name(name)).collect::<Names>();
        let (models, anomalies) = (of(self.models), of(self.anomalies));
        KNOWN.with_borrow_mut(|known| {
            let is_asked = |(a, b, _): &&(Names, Names, Known)| (a, b) == (&models, &anomalies);
            if let Some((.., known)) = known.iter().find(is_asked) {
                return *known;
            }
            let all = lattice::anomalies();
            let prohibited = all.into_iter().filter(|name| *name != EMPTY && self.is_prohibited(name)).collect();
            let new = Known { order: self.work_out_order(), prohibited };
            known.push((models, anomalies, new));
            new
        })
    }

    fn work_out_order(&self) -> Order {
        let any = |suffix: &str, order: Order| {
            let needs = |name: &&str| name.ends_with(suffix) || exists::order_of(name) == Some(order);
            lattice::anomalies().into_iter().filter(needs).any(|name| self.is_prohibited(name))
        };
        match (any("-realtime", Order::Realtime), any("-process", Order::Process)) {
            (true, _) => Order::Realtime,
            (false, true) => Order::Process,
            (false, false) => standing::order(self),
        }
    }
}

/// Returns the types of cycles in each component.
fn types_there(graph: &Graph, order: Order) -> Vec<Names> {
    let suffix = match order {
        Order::None => "",
        Order::Process => "-process",
        Order::Realtime => "-realtime",
    };
    let name = |shape: cycles::Shape| {
        lattice::name(&format!("{}{}", shape.cycle_type(), if shape.ordered { suffix } else { "" }))
    };
    let components = graph.components();
    components.iter().map(|component| cycles::shapes(graph, component).into_iter().map(name).collect()).collect()
}

/// Returns the types of cycles to report: in each component, those that no worse type in that component implies.
pub(crate) fn cycle_types(graph: &Graph, order: Order) -> Names {
    let mut found = Names::new();
    for there in types_there(graph, order) {
        let implied = |name: &&str| there.iter().any(|other| other != name && also_is(other).contains(name));
        found.extend(there.iter().filter(|name| !implied(name)).copied());
    }
    found
}

/// Returns true if the history is small enough for the oracle to visit all cycles.
pub(crate) fn is_small(history: &History, question: &Question<'_>) -> bool {
    World::of(history, &question.workload).is_ok_and(|world| {
        let components = Graph::of(&world, question.order()).components();
        components.iter().all(|component| component.len() <= cycles::COMPONENT_MAX)
    })
}

/// Determines the result for a history.
///
/// # Errors
///
/// Why the history has no verdict.
pub(crate) fn judge(history: &History, question: &Question<'_>) -> Result<Judgement, String> {
    World::of(history, &question.workload).map(|world| judge_world(&world, question))
}

/// Determines the result for a history that has a verdict.
pub(crate) fn judge_world(world: &World, question: &Question<'_>) -> Judgement {
    let order = question.order();
    let all = Graph::unnamed(world, order);
    let graph = all.named();
    let orders = orders_there(world, order);
    let mut found = cycle_types(&graph, orders[0]);
    let direct = direct::types(world);
    // The value may have been written by an op whose micro-ops are unknown.
    let is_unsaid = world.has_unsaid && !question.allow_garbage && direct.contains(&"garbage-read");
    let is_allowed = |name: &&str| (question.allow_garbage || is_unsaid) && *name == "garbage-read";
    found.extend(direct.into_iter().filter(|name| !is_allowed(name)));
    if graph.is_empty() {
        found.insert(EMPTY);
    }
    let unnamed = exists::types(&graph, &orders);
    let standing =
        if is_unsaid { Standing::default() } else { Standing::of(world, &graph, &orders, &(&found | &unnamed)) };
    let mut judgement = conclude(&found, &unnamed, &standing, question);
    if world.has_nameless {
        // It is unknown which completions belong to these invocations.
        judgement.verdict = if judgement.verdict == Verdict::Valid { Verdict::Unknown } else { judgement.verdict };
        judgement.not_checked = &lattice::models() - &(&judgement.not | &judgement.also_not);
    }
    if world.versions.is_some() {
        judgement.may_be = types_there(&all, orders[0]).into_iter().flatten().collect();
    }
    judgement
}

/// Returns the orders whose edges the graph includes; the first one names the cycles. Where invocation times are
/// unknown, the realtime edges are those of processes.
fn orders_there(world: &World, order: Order) -> Vec<Order> {
    if order == Order::Realtime && world.lacks_invocations() {
        return vec![Order::Process, Order::Realtime];
    }
    vec![order]
}

const EMPTY: &str = "empty-transaction-graph";

/// Determines the verdict from the types found: those with their own names, and the `-cycle-exists` ones.
fn conclude(named: &Names, unnamed: &Names, standing: &Standing, question: &Question<'_>) -> Judgement {
    let found = named | unnamed;
    let prohibited = &found & &question.known().prohibited;
    let mut anomaly_types = prohibited;
    if named.contains(EMPTY) {
        anomaly_types.insert(EMPTY);
    }
    let verdict = match (prohibited.is_empty(), anomaly_types.is_empty()) {
        (false, _) => Verdict::Invalid,
        (true, false) => Verdict::Unknown,
        (true, true) if !standing.answers(question) => Verdict::Unknown,
        (true, true) => Verdict::Valid,
    };
    let (not, also_not) = if anomaly_types.is_empty() { Default::default() } else { lattice::ruled_out(&found) };
    let not_checked = &lattice::models() - &(&(&not | &also_not) | &standing.shown(question));
    let shown = anomaly_types;
    anomaly_types.retain(|name| !unnamed.contains(name) || !is_redundant(name, &shown, unnamed));
    Judgement { verdict, anomaly_types, not, also_not, not_checked, found, may_be: Names::new() }
}

/// Returns true if the other reported types already rule out the model of a `-cycle-exists` type: a named type forbids
/// the model, or a weaker model is ruled out.
fn is_redundant(name: &str, shown: &Names, unnamed: &Names) -> bool {
    let (cycles, others): (Names, Names) = shown.iter().copied().partition(|other| unnamed.contains(other));
    let model = exists::model_of(name);
    let weaker = |other: &&str| *other != name && lattice::implied(&model).contains(&exists::model_of(other));
    others.iter().any(|other| *other != EMPTY && forbids(&model, other)) || cycles.iter().any(weaker)
}
