//! The laws of the closures over the tables of anomalies and models, and their consequences.

use check_elle::anomaly::{AnomalySet, AnomalyType};
use check_elle::cycle_spec::{CYCLE_EXISTS, CYCLES, CycleExistsSpec, CycleSpec, Family, Relations, RwUse, Suffix};
use check_elle::lattice::{
    Boundary, UNKNOWN, boundary, implied_by, implying, order_needed, prohibited, redundant_cycle_exists, reportable,
    rules_out,
};
use check_elle::model::{Model, ModelSet};

fn anomaly(name: &str) -> AnomalyType {
    name.parse::<AnomalyType>().unwrap()
}

fn anomalies(names: &str) -> AnomalySet {
    names.split_whitespace().map(anomaly).collect()
}

fn model(name: &str) -> Model {
    name.parse::<Model>().unwrap()
}

fn names(anomalies: AnomalySet) -> Vec<&'static str> {
    anomalies.iter().map(AnomalyType::name).collect()
}

#[test]
fn nothing_implies_itself() {
    for anomaly in AnomalySet::ALL.iter() {
        let above: AnomalySet = anomaly.implies().flat_map(|other| other.implied().iter()).collect();
        assert!(!above.contains(anomaly), "{anomaly} is a kind of itself");
    }
    for model in ModelSet::ALL.iter() {
        let below: ModelSet = model.implies().flat_map(|other| other.weaker().iter()).collect();
        assert!(!below.contains(model) && !model.weaker().contains(model), "{model} is weaker than itself");
        assert!(!model.stronger().contains(model), "{model} is stronger than itself");
    }
}

#[test]
fn closures_obey_their_laws() {
    for a in AnomalySet::ALL.iter() {
        for b in AnomalySet::ALL.iter() {
            let (one, both) = (AnomalySet::from(a), AnomalySet::from_iter([a, b]));
            assert_eq!(a.implied().contains(b), b.implying().contains(a), "{a}, {b}: each the converse of the other");
            for closure in [implied_by, implying] {
                assert!(both.is_subset(closure(both)), "{both:?}: holds what it closes");
                assert_eq!(closure(closure(both)), closure(both), "{both:?}: idempotent");
                assert!(closure(one).is_subset(closure(both)), "{both:?}: monotone");
            }
            assert!(rules_out(one).is_subset(rules_out(both)), "{both:?}: more anomalies, fewer models");
        }
        let direct = a.implies().fold(AnomalySet::EMPTY, |all, other| all.union(other.implied()));
        assert_eq!(a.implied(), direct.union(a.into()), "{a}: itself and what follows from what it implies directly");
    }
    for strong in ModelSet::ALL.iter() {
        for weak in ModelSet::ALL.iter() {
            assert_eq!(strong.weaker().contains(weak), weak.stronger().contains(strong), "{strong}, {weak}");
        }
        for weak in strong.weaker().iter() {
            assert!(weak.prohibited().is_subset(strong.prohibited()), "{strong} allows what {weak} prohibits");
            assert!(weak.weaker().is_subset(strong.weaker()), "{strong} implies {weak}, not what that implies");
        }
        assert_eq!(implying(strong.prohibited()), strong.prohibited(), "{strong}: closed under implication");
    }
}

#[test]
fn the_impossible_models_are_closed_upwards() {
    for found in AnomalySet::ALL.iter() {
        let impossible = rules_out(found.into());
        for model in impossible.iter() {
            assert!(model.stronger().is_subset(impossible), "{found} rules out {model} but not all stronger ones");
        }
        // Derived in the opposite direction: from the anomalies up to the models, as in the definition.
        let direct = ModelSet::ALL.iter().filter(|model| model.forbids().any(|one| found.implied().contains(one)));
        let expected = direct.fold(ModelSet::EMPTY, |all, model| all.union(model.stronger()).union(model.into()));
        assert_eq!(impossible, expected, "{found}");
    }
}

#[test]
fn strict_serializable_is_the_strongest_but_for_what_nobody_can_rule_out() {
    let strict = Model::STRICT_SERIALIZABLE;
    assert_eq!(strict.weaker().union(strict.into()), ModelSet::ALL);
    let allowed = AnomalySet::ALL.difference(strict.prohibited());
    // Snapshot isolation forbids G-SI, in that spelling. The anomalies that count as GSI are forbidden under other
    // names.
    assert_eq!(names(allowed.difference(UNKNOWN)), ["GSIa", "GSIb", "GSI"]);
    assert_eq!(reportable(strict.into(), AnomalySet::EMPTY), strict.prohibited().union(UNKNOWN));
}

#[test]
fn naming_an_anomaly_prohibits_what_implies_it() {
    let asked = prohibited(ModelSet::EMPTY, anomalies("G-single-item-process internal"));
    assert_eq!(names(asked), ["G-single-item", "G-single-item-process", "internal"]);
    assert!(prohibited(ModelSet::EMPTY, AnomalySet::EMPTY).is_empty());
    let both = prohibited(model("PL-1").into(), anomalies("lost-update"));
    assert_eq!(names(both), ["G0", "lost-update", "duplicate-elements", "cyclic-versions", "PL-1-cycle-exists"]);
}

#[test]
fn anomalies_draw_the_boundary_of_the_weakest_models() {
    let weakest = |found: &str| boundary(anomalies(found)).not.join(" ");
    assert_eq!(weakest("G0"), "read-uncommitted");
    assert_eq!(weakest("duplicate-elements"), "read-uncommitted");
    assert_eq!(weakest("cyclic-versions"), "read-uncommitted");
    assert_eq!(weakest("G1a"), "read-committed");
    assert_eq!(weakest("G1b"), "read-committed");
    assert_eq!(weakest("G1c"), "read-committed");
    assert_eq!(weakest("dirty-update"), "read-committed");
    assert_eq!(weakest("future-read"), "read-committed");
    assert_eq!(weakest("incompatible-order"), "read-committed");
    assert_eq!(weakest("internal"), "read-atomic");
    assert_eq!(weakest("lost-update"), "cursor-stability update-atomic");
    assert_eq!(weakest("G-single-item"), "consistent-view repeatable-read");
    assert_eq!(weakest("G-nonadjacent-item"), "repeatable-read snapshot-isolation");
    assert_eq!(weakest("G2-item"), "repeatable-read");
    assert_eq!(weakest("G2"), "serializable");
    assert_eq!(weakest("G0-process"), "strong-session-read-uncommitted");
    assert_eq!(weakest("G1c-process"), "strong-session-read-committed");
    assert_eq!(weakest("G-single-item-process"), "strong-session-snapshot-isolation");
    assert_eq!(weakest("G2-item-process"), "strong-session-serializable");
    assert_eq!(weakest("G0-realtime"), "strong-read-uncommitted");
    assert_eq!(weakest("G1c-realtime"), "strong-read-committed");
    assert_eq!(weakest("G-single-item-realtime"), "strong-snapshot-isolation");
    assert_eq!(weakest("G2-item-realtime"), "strict-serializable");
    assert_eq!(weakest("cycle-search-timeout empty-transaction-graph"), "");
    assert_eq!(weakest("internal G2-item"), "read-atomic repeatable-read", "each where nothing weaker is ruled out");
    assert_eq!(weakest("G2-item G1a"), "read-committed");

    assert_eq!(boundary(AnomalySet::EMPTY), Boundary::default());
    let stale = boundary(anomalies("G-single-item-realtime"));
    assert_eq!(stale.also_not, ["strict-serializable"]);
    let all = boundary(anomalies("G0"));
    assert_eq!(all.not.len() + all.also_not.len(), 25, "PL-1 and all that imply it; not sessions, not single objects");
    assert!(all.also_not.is_sorted());
}

/// Returns true if cycles of a type use only the edges of a spec, where realtime edges include process edges.
fn is_within(cycle: CycleSpec, spec: CycleExistsSpec) -> bool {
    let family = match cycle.family {
        Family::G0 => true,
        Family::G1c => spec.relations.contains(Relations::WR),
        Family::GSingle | Family::GNonadjacent => spec.rw != RwUse::None,
        Family::G2 => spec.rw == RwUse::Free,
    };
    let process = spec.relations.contains(Relations::PROCESS);
    let realtime = spec.relations.contains(Relations::REALTIME);
    let suffix = match cycle.suffix {
        Suffix::None => true,
        Suffix::Process => process || realtime,
        Suffix::Realtime => realtime,
    };
    family && suffix
}

#[test]
fn cycles_are_searched_for_worst_first() {
    assert_eq!(CYCLES.len(), 15);
    for (at, spec) in CYCLES.iter().enumerate() {
        let family = match spec.family {
            Family::G0 => "G0",
            Family::G1c => "G1c",
            Family::GSingle => "G-single-item",
            Family::GNonadjacent => "G-nonadjacent-item",
            Family::G2 => "G2-item",
        };
        let suffix = match spec.suffix {
            Suffix::None => "",
            Suffix::Process => "-process",
            Suffix::Realtime => "-realtime",
        };
        assert_eq!(spec.anomaly.name(), format!("{family}{suffix}"));
        for earlier in &CYCLES[..at] {
            let is_kind = spec.anomaly.implied().contains(earlier.anomaly);
            assert!(!is_kind, "{} comes after {}, which it implies", spec.anomaly, earlier.anomaly);
        }
    }
    assert!(CYCLES.is_sorted_by_key(|spec| (spec.suffix, spec.family)));
}

#[test]
fn a_model_prohibits_exactly_the_cycles_that_its_component_would_show() {
    assert_eq!(CYCLE_EXISTS.len(), 13);
    for (at, spec) in CYCLE_EXISTS.iter().enumerate() {
        let model = spec.anomaly.name().strip_suffix("-cycle-exists").unwrap();
        assert_eq!(model.parse::<Model>(), Ok(spec.model));
        assert!(spec.relations.contains(Relations::WW) && !spec.relations.contains(Relations::RW), "{model}");
        assert!(spec.model.forbids().any(|anomaly| anomaly == spec.anomaly), "{model}");
        for cycle in CYCLES {
            let rules_out = spec.model.prohibited().contains(cycle.anomaly);
            assert_eq!(rules_out, is_within(*cycle, *spec), "{} and {model}", cycle.anomaly);
        }
        for earlier in &CYCLE_EXISTS[..at] {
            assert!(!earlier.model.weaker().contains(spec.model), "{} is stronger than {model}", earlier.model);
        }
    }
}

#[test]
fn a_cycle_of_no_known_type_is_left_out_where_it_says_nothing_new() {
    let kept = |found: &str| {
        let found = anomalies(found);
        names(found.difference(redundant_cycle_exists(found))).join(" ")
    };
    // Read skew rules out snapshot isolation and all stronger models, but not strong read uncommitted.
    let found = "G-single-item strong-PL-1-cycle-exists strong-PL-2-cycle-exists \
                 strong-snapshot-isolation-cycle-exists PL-SS-cycle-exists";
    assert_eq!(kept(found), "G-single-item strong-PL-1-cycle-exists");
    assert_eq!(kept("G0 PL-1-cycle-exists PL-SS-cycle-exists"), "G0");
    assert_eq!(kept("internal PL-SI-cycle-exists PL-2.99-cycle-exists"), "internal PL-2.99-cycle-exists");
    assert_eq!(
        kept("PL-SI-cycle-exists PL-2.99-cycle-exists PL-3-cycle-exists"),
        "PL-SI-cycle-exists PL-2.99-cycle-exists"
    );
    assert_eq!(kept("cycle-search-timeout PL-SS-cycle-exists"), "cycle-search-timeout PL-SS-cycle-exists");
    assert!(redundant_cycle_exists(anomalies("G0 G1a")).is_empty(), "only cycle-exists forms are left out");
}

#[test]
fn order_edges_are_added_only_if_their_anomalies_may_be_reported() {
    let needed = |name: &str| order_needed(reportable(model(name).into(), AnomalySet::EMPTY));
    assert_eq!(needed("serializable"), Suffix::None);
    assert_eq!(needed("read-uncommitted"), Suffix::None);
    assert_eq!(needed("strong-session-PL-1"), Suffix::Process);
    assert_eq!(needed("strong-session-serializable"), Suffix::Process);
    assert_eq!(needed("strong-PL-1"), Suffix::Realtime);
    assert_eq!(needed("strict-serializable"), Suffix::Realtime);
    let named = |name: &str| order_needed(prohibited(ModelSet::EMPTY, anomalies(name)));
    assert_eq!(named("G1-realtime"), Suffix::Realtime, "G1c-realtime is one");
    assert_eq!(named("strong-session-PL-2-cycle-exists"), Suffix::Process);
    assert_eq!(named("G2-item"), Suffix::None);
}
