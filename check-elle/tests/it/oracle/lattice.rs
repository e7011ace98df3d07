//! Which anomalies imply which, and which models they rule out: the specification's lists, repeated as text.

use super::names::Names;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Left: an anomaly. Right: the anomalies that it also is. `S` represents each suffix, `X` each of [`SIX`].
const ALSO_IS: &[(&str, &str)] = &[
    ("G0", "G1c G0-process"),
    ("G0-process", "G1c-process G0-realtime"),
    ("G0-realtime", "G1c-realtime"),
    ("G1a", "G1"),
    ("G1b", "G1"),
    ("garbage-read", "G1"),
    ("G1c", "G1 G1c-process"),
    ("G1c-process", "G1c-realtime G1-process"),
    ("G1c-realtime", "G1-realtime"),
    ("G1", "G1-process"),
    ("G1-process", "G1-realtime"),
    ("G-single", "GSIb"),
    ("GSIa", "GSI"),
    ("GSIb", "GSI"),
    ("incompatible-order", "G1a"),
    ("dirty-update", "G1a"),
    ("future-read", "G1c"),
    ("lost-update", "write-skew G2-item"),
    ("write-skew", "G2"),
];

/// The same for each suffix.
const ALSO_IS_SUFFIXED: &[(&str, &str)] = &[
    ("G-single-item", "G-single G-nonadjacent-item"),
    ("G-single", "G-nonadjacent"),
    ("G-nonadjacent-item", "G-nonadjacent G2-item"),
    ("G-nonadjacent", "G2"),
    ("G2-item", "G2"),
];

/// Each of these is also its `-process` form, and the `-process` form is also the `-realtime` form.
const SIX: [&str; 6] = ["G-single-item", "G-single", "G-nonadjacent-item", "G-nonadjacent", "G2-item", "G2"];

/// Friendly names. Left: a model. Right: the weaker models that it implies.
const IMPLIES: &[(&str, &str)] = &[
    (
        "strict-serializable",
        "serializable linearizable snapshot-isolation strong-snapshot-isolation strong-session-serializable \
         session-serializable",
    ),
    ("session-serializable", "1SR"),
    ("strong-session-serializable", "serializable strong-session-snapshot-isolation"),
    ("strong-snapshot-isolation", "strong-session-snapshot-isolation strong-read-committed"),
    ("strong-session-snapshot-isolation", "snapshot-isolation strong-session-read-committed"),
    ("strong-read-committed", "strong-session-read-committed strong-read-uncommitted"),
    ("strong-session-read-committed", "read-committed strong-session-read-uncommitted"),
    ("strong-read-uncommitted", "strong-session-read-uncommitted"),
    ("strong-session-read-uncommitted", "read-uncommitted"),
    ("serializable", "repeatable-read update-serializable snapshot-isolation view-serializable"),
    ("update-serializable", "forward-consistent-view"),
    ("forward-consistent-view", "consistent-view"),
    ("consistent-view", "cursor-stability monotonic-view"),
    (
        "snapshot-isolation",
        "forward-consistent-view monotonic-atomic-view monotonic-snapshot-read parallel-snapshot-isolation prefix",
    ),
    ("repeatable-read", "cursor-stability monotonic-atomic-view"),
    ("cursor-stability", "read-committed"),
    ("monotonic-view", "read-committed"),
    ("monotonic-snapshot-read", "read-committed"),
    ("monotonic-atomic-view", "read-committed"),
    ("read-committed", "read-uncommitted"),
    ("parallel-snapshot-isolation", "causal-cerone update-atomic"),
    ("prefix", "causal-cerone"),
    ("causal-cerone", "read-atomic"),
    ("update-atomic", "read-atomic"),
    ("read-atomic", "monotonic-atomic-view"),
    ("linearizable", "sequential"),
    ("sequential", "causal"),
    ("causal", "writes-follow-reads PRAM"),
    ("PRAM", "monotonic-reads monotonic-writes read-your-writes"),
];

/// Left: a model. Right: the anomalies that the model itself forbids.
const FORBIDS: &[(&str, &str)] = &[
    ("read-uncommitted", "G0 duplicate-elements cyclic-versions PL-1-cycle-exists"),
    ("read-committed", "G1 PL-2-cycle-exists"),
    ("cursor-stability", "G1 G-cursor lost-update"),
    ("monotonic-view", "G1 G-monotonic"),
    ("monotonic-snapshot-read", "G1 G-MSR"),
    ("consistent-view", "G1 G-single predicate-read-miss"),
    ("forward-consistent-view", "G1 G-SIb"),
    ("update-serializable", "G1 G-update"),
    ("repeatable-read", "G1 G2-item lost-update PL-2.99-cycle-exists"),
    ("causal-cerone", "internal G1a"),
    ("parallel-snapshot-isolation", "internal G1a"),
    ("prefix", "internal G1a"),
    ("read-atomic", "internal G1a future-read predicate-read-miss"),
    ("update-atomic", "lost-update"),
    ("snapshot-isolation", "internal G1 G-SI G-nonadjacent PL-SI-cycle-exists"),
    ("serializable", "internal G1 G2 predicate-read-miss PL-3-cycle-exists"),
    ("strong-session-read-uncommitted", "G0-process strong-session-PL-1-cycle-exists"),
    ("strong-read-uncommitted", "G0-realtime strong-PL-1-cycle-exists"),
    ("strong-session-read-committed", "G1c-process strong-session-PL-2-cycle-exists"),
    ("strong-read-committed", "G1c-realtime strong-PL-2-cycle-exists"),
    (
        "strong-session-snapshot-isolation",
        "internal G1-process G-nonadjacent-process strong-session-snapshot-isolation-cycle-exists",
    ),
    ("strong-snapshot-isolation", "internal G1-realtime G-nonadjacent-realtime strong-snapshot-isolation-cycle-exists"),
    ("strong-session-serializable", "G1-process G2-process strong-session-serializable-cycle-exists"),
    ("strict-serializable", "G1 G1c-realtime G2-realtime PL-SS-cycle-exists"),
];

/// Anomalies that are in none of the lists.
const OTHERS: &str = "cycle-search-timeout empty-transaction-graph";

/// All names, sorted.
pub(super) static ALL: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let suffixed =
        SIX.iter().flat_map(|six| ["", "-process", "-realtime"].map(|suffix| &*format!("{six}{suffix}").leak()));
    let pairs = [ALSO_IS, IMPLIES, FORBIDS].into_iter().flatten();
    let words = pairs.flat_map(|(left, right)| [left, right]).chain([&OTHERS]).flat_map(|text| text.split_whitespace());
    let all: BTreeSet<&str> = words.chain(suffixed).collect();
    all.into_iter().collect()
});

/// Returns a name as [`Names`] stores it.
pub(crate) fn name(text: &str) -> &'static str {
    ALL[ALL.binary_search(&text).unwrap_or_else(|_| panic!("{text} is no name of an anomaly or model"))]
}

fn words(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split_whitespace().map(name)
}

/// All consequences of the lists, computed once.
struct Lattice {
    /// For each anomaly, all anomalies that it also is, itself included.
    also_is: BTreeMap<&'static str, Names>,
    /// For each model, itself and all weaker models.
    implied: BTreeMap<&'static str, Names>,
    /// For each model, all anomalies that rule it out.
    ruled_out_by: BTreeMap<&'static str, Names>,
}

static LATTICE: LazyLock<Lattice> = LazyLock::new(|| {
    let also_is = closures(all_anomalies(), also_is_directly);
    let implied = closures(all_models(), |model| right_of(IMPLIES, model));
    let forbidden = |model: &str| -> Names {
        let forbids: Names = implied[model].iter().flat_map(|weaker| right_of(FORBIDS, weaker)).collect();
        also_is.iter().filter(|(_, also)| !also.is_disjoint(&forbids)).map(|(name, _)| *name).collect()
    };
    let ruled_out_by = implied.keys().map(|model| (*model, forbidden(model))).collect();
    Lattice { also_is, implied, ruled_out_by }
});

/// Returns the names to the right of a name.
fn right_of(list: &[(&str, &'static str)], name: &str) -> Vec<&'static str> {
    list.iter().filter(|(left, _)| *left == name).flat_map(|(_, right)| words(right)).collect()
}

/// Returns for each name all names that follow from it, itself included.
fn closures(names: Names, directly: impl Fn(&str) -> Vec<&'static str>) -> BTreeMap<&'static str, Names> {
    let closure = |name: &'static str| {
        let mut all = Names::from_iter([name]);
        loop {
            let more: Vec<&str> = all.iter().flat_map(|name| directly(name)).collect();
            let before = all.len();
            all.extend(more);
            if all.len() == before {
                return (name, all);
            }
        }
    };
    names.into_iter().map(closure).collect()
}

fn also_is_directly(anomaly: &str) -> Vec<&'static str> {
    let mut also = right_of(ALSO_IS, anomaly);
    let (base, suffix) = match anomaly.rsplit_once('-') {
        Some((base, suffix @ ("process" | "realtime"))) => (base, format!("-{suffix}")),
        _ => (anomaly, String::new()),
    };
    also.extend(right_of(ALSO_IS_SUFFIXED, base).into_iter().map(|word| name(&format!("{word}{suffix}"))));
    match suffix.as_str() {
        "" if SIX.contains(&base) => also.push(name(&format!("{base}-process"))),
        "-process" if SIX.contains(&base) => also.push(name(&format!("{base}-realtime"))),
        _ => {}
    }
    also
}

fn all_anomalies() -> Names {
    let suffixed =
        SIX.iter().flat_map(|six| ["", "-process", "-realtime"].map(|suffix| name(&format!("{six}{suffix}"))));
    let implying = ALSO_IS.iter().flat_map(|(left, right)| words(left).chain(words(right)));
    let forbidden = FORBIDS.iter().flat_map(|(_, right)| words(right));
    suffixed.chain(implying).chain(forbidden).collect()
}

fn all_models() -> Names {
    IMPLIES.iter().flat_map(|(stronger, weaker)| words(weaker).chain(words(stronger))).collect()
}

/// Returns all models that the lists name.
pub(crate) fn models() -> Names {
    static MODELS: LazyLock<Names> = LazyLock::new(|| LATTICE.implied.keys().copied().collect());
    *MODELS
}

/// Returns all anomalies that the lists name.
pub(crate) fn anomalies() -> Names {
    static ANOMALIES: LazyLock<Names> = LazyLock::new(|| LATTICE.also_is.keys().copied().collect());
    *ANOMALIES
}

/// Returns the anomalies that an anomaly also is, itself included.
pub(crate) fn also_is(anomaly: &str) -> &'static Names {
    &LATTICE.also_is[anomaly]
}

/// Returns true if a model, or a model that it implies, forbids an anomaly or something that the anomaly also is.
pub(crate) fn forbids(model: &str, anomaly: &str) -> bool {
    LATTICE.ruled_out_by[model].contains(anomaly)
}

/// Returns a model and all weaker ones.
pub(crate) fn implied(model: &str) -> &'static Names {
    &LATTICE.implied[model]
}

/// Returns the weakest models that these anomalies rule out, and the stronger models that are ruled out with them.
pub(crate) fn ruled_out(anomalies: &Names) -> (Names, Names) {
    // Many histories show the same few sets.
    thread_local! {
        static KNOWN: RefCell<BTreeMap<Names, (Names, Names)>> = const { RefCell::new(BTreeMap::new()) };
    }
    KNOWN.with_borrow_mut(|known| match known.get(anomalies) {
        Some(out) => *out,
        None => *known.entry(*anomalies).or_insert_with(|| work_out_ruled_out(anomalies)),
    })
}

fn work_out_ruled_out(anomalies: &Names) -> (Names, Names) {
    let is_out = |(_, by): &(&&str, &Names)| !by.is_disjoint(anomalies);
    let out: Names = LATTICE.ruled_out_by.iter().filter(is_out).map(|(model, _)| *model).collect();
    let is_weakest = |model: &&str| LATTICE.implied[model].iter().filter(|weaker| out.contains(weaker)).count() == 1;
    out.iter().copied().partition(is_weakest)
}
