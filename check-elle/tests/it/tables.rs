//! The tables of anomalies and models, compared with their sources in another form.

use check_elle::anomaly::{AnomalySet, AnomalyType};
use check_elle::model::{Model, ModelSet};
use std::collections::BTreeSet;

/// The anomalies that each anomaly also is, as chains; `S` represents nothing, -process and -realtime in turn.
const ANOMALY_CHAINS: &str = "
    G0 -> G1c, G0-process
    G0-process -> G1c-process, G0-realtime
    G0-realtime -> G1c-realtime
    G1a, G1b, G1c, garbage-read, predicate-mismatch -> G1 -> G1-process -> G1-realtime
    G1c -> G1c-process -> G1c-realtime
    G1c-process -> G1-process
    G1c-realtime -> G1-realtime
    G-singleS -> G-nonadjacentS -> G2S
    G-single-itemS -> G-singleS, G-nonadjacent-itemS
    G-nonadjacent-itemS -> G-nonadjacentS, G2-itemS
    G2-itemS -> G2S
    G-single -> G-single-process -> G-single-realtime
    G-single-item -> G-single-item-process -> G-single-item-realtime
    G-nonadjacent -> G-nonadjacent-process -> G-nonadjacent-realtime
    G-nonadjacent-item -> G-nonadjacent-item-process -> G-nonadjacent-item-realtime
    G2 -> G2-process -> G2-realtime
    G2-item -> G2-item-process -> G2-item-realtime
    G-single -> GSIb
    GSIa, GSIb -> GSI
    incompatible-order, dirty-update -> G1a
    future-read -> G1c
    lost-update -> write-skew, G2-item
    write-skew -> G2
";

/// The models that each model implies, as chains.
const MODEL_CHAINS: &str = "
    PL-SS -> PL-3, linearizable, PL-SI, strong-snapshot-isolation, strong-session-serializable, session-serializable
    session-serializable -> 1SR
    strong-session-serializable -> PL-3, strong-session-snapshot-isolation
    strong-snapshot-isolation -> strong-session-snapshot-isolation, strong-PL-2
    strong-session-snapshot-isolation -> PL-SI, strong-session-PL-2
    strong-PL-2 -> strong-session-PL-2, strong-PL-1
    strong-session-PL-2 -> PL-2, strong-session-PL-1
    strong-PL-1 -> strong-session-PL-1 -> PL-1
    PL-3 -> PL-2.99, PL-3U, PL-SI, view-serializable
    PL-3U -> PL-FCV -> PL-2+ -> PL-CS, PL-2L
    PL-SI -> PL-FCV, monotonic-atomic-view, PL-MSR, parallel-snapshot-isolation, prefix
    PL-2.99 -> PL-CS, monotonic-atomic-view
    PL-CS, PL-2L, PL-MSR, monotonic-atomic-view -> PL-2 -> PL-1
    parallel-snapshot-isolation -> causal-cerone, update-atomic
    prefix -> causal-cerone
    causal-cerone, update-atomic -> read-atomic -> monotonic-atomic-view
    linearizable -> sequential -> causal -> writes-follow-reads, PRAM
    PRAM -> monotonic-reads, monotonic-writes, read-your-writes
";

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

/// Returns the links of chains such as `a, b -> c -> d`: every name before an arrow with every name after it.
fn links(chains: &str) -> impl Iterator<Item = (&str, &str)> {
    let groups = chains.lines().flat_map(|line| {
        let groups: Vec<&str> = line.split("->").collect();
        groups.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
    });
    groups.flat_map(|(left, right)| {
        left.split(',').flat_map(move |from| right.split(',').map(move |to| (from.trim(), to.trim())))
    })
}

#[test]
fn anomalies_imply_what_their_sources_say_and_no_more() {
    let chains: String = ANOMALY_CHAINS
        .lines()
        .flat_map(|line| {
            let is_family = line.contains('S') && !line.contains("GSI");
            let suffixes = if is_family { &["", "-process", "-realtime"][..] } else { &["S"] };
            suffixes.iter().map(|suffix| line.replace('S', suffix))
        })
        .map(|line| line + "\n")
        .collect();
    let expected: BTreeSet<_> = links(&chains).map(|(from, to)| (anomaly(from).name(), anomaly(to).name())).collect();
    let table: BTreeSet<_> =
        AnomalySet::ALL.iter().flat_map(|from| from.implies().map(move |to| (from.name(), to.name()))).collect();
    assert_eq!(table, expected);
}

#[test]
fn models_imply_what_their_sources_say_and_no_more() {
    let expected: BTreeSet<_> = links(MODEL_CHAINS).map(|(from, to)| (model(from).name(), model(to).name())).collect();
    let table: BTreeSet<_> =
        ModelSet::ALL.iter().flat_map(|from| from.implies().map(move |to| (from.name(), to.name()))).collect();
    assert_eq!(table, expected);
}

#[test]
fn models_forbid_what_their_sources_say_and_no_more() {
    let expected = [
        ("PL-1", "G0 duplicate-elements cyclic-versions PL-1-cycle-exists"),
        ("PL-2", "G1 PL-2-cycle-exists"),
        ("PL-CS", "G1 G-cursor lost-update"),
        ("PL-2L", "G1 G-monotonic"),
        ("PL-MSR", "G1 G-MSR"),
        ("PL-2+", "G1 G-single predicate-read-miss init-read-miss"),
        ("PL-FCV", "G1 G-SIb"),
        ("PL-3U", "G1 G-update"),
        ("PL-2.99", "G1 G2-item lost-update init-read-miss PL-2.99-cycle-exists"),
        ("causal-cerone", "internal G1a"),
        ("parallel-snapshot-isolation", "internal G1a"),
        ("prefix", "internal G1a"),
        ("read-atomic", "internal G1a future-read predicate-read-miss init-read-miss"),
        ("update-atomic", "lost-update"),
        ("PL-SI", "internal G1 G-SI G-nonadjacent PL-SI-cycle-exists"),
        ("PL-3", "internal G1 G2 predicate-read-miss init-read-miss PL-3-cycle-exists"),
        ("strong-session-PL-1", "G0-process strong-session-PL-1-cycle-exists"),
        ("strong-session-PL-2", "G1c-process strong-session-PL-2-cycle-exists"),
        (
            "strong-session-snapshot-isolation",
            "internal G1-process G-nonadjacent-process strong-session-snapshot-isolation-cycle-exists",
        ),
        ("strong-session-serializable", "G1-process G2-process strong-session-serializable-cycle-exists"),
        ("strong-PL-1", "G0-realtime strong-PL-1-cycle-exists"),
        ("strong-PL-2", "G1c-realtime strong-PL-2-cycle-exists"),
        (
            "strong-snapshot-isolation",
            "internal G1-realtime G-nonadjacent-realtime strong-snapshot-isolation-cycle-exists",
        ),
        ("PL-SS", "G1 G1c-realtime G2-realtime PL-SS-cycle-exists"),
    ];
    for other in ModelSet::ALL.iter() {
        let row = expected.iter().find(|(name, _)| model(name) == other);
        assert_eq!(other.forbids().collect::<AnomalySet>(), anomalies(row.map_or("", |row| row.1)), "{other}");
    }
}

#[test]
fn every_name_is_found_and_means_one_thing() {
    let mut seen = BTreeSet::new();
    for anomaly in AnomalySet::ALL.iter() {
        assert_eq!(anomaly.name().parse::<AnomalyType>(), Ok(anomaly));
        assert_eq!(anomaly.name().to_uppercase().parse::<AnomalyType>(), Ok(anomaly));
        assert!(seen.insert(anomaly.name().to_lowercase()), "{anomaly} is there twice");
    }
    seen.clear();
    for model in ModelSet::ALL.iter() {
        for name in [model.name()].iter().chain(model.aliases()) {
            assert_eq!(name.parse(), Ok(model));
            assert_eq!(name.to_uppercase().parse(), Ok(model));
            assert!(seen.insert(name.to_lowercase()), "{name} is there twice");
        }
    }
    let aliases = "PL-2+ PL-3 PL-CS PL-FCV PL-MSR PL-2L PL-2 PL-1 PL-2.99 PL-SI PL-SS PL-3U conflict-serializable \
                   strong-serializable strong-session-PL-1 strong-session-PL-2 strong-PL-1 strong-PL-2";
    assert_eq!(ModelSet::ALL.iter().map(|model| model.aliases().len()).sum::<usize>(), aliases.split(' ').count());
    for alias in aliases.split(' ') {
        assert!(model(alias).aliases().contains(&alias), "{alias}");
    }
}

#[test]
fn summaries_are_sentences_of_their_own() {
    let mut seen = BTreeSet::new();
    let rows = AnomalySet::ALL
        .iter()
        .map(|one| (one.name(), one.summary()))
        .chain(ModelSet::ALL.iter().map(|one| (one.name(), one.summary())));
    for (name, summary) in rows {
        assert!(summary.ends_with('.') && summary.len() <= 120, "{name}: {summary}");
        assert!(seen.insert(summary) || name.ends_with("-cycle-exists"), "{name}: the sentence of another: {summary}");
    }
}

#[test]
fn unknown_names_get_help() {
    let nearest = |name: &str| name.parse::<Model>().unwrap_err().nearest;
    assert_eq!(nearest("strict-serialisable"), ["strict-serializable"]);
    assert_eq!(nearest("serializability"), ["serializable"]);
    assert_eq!(nearest("Repeatable_Read"), ["repeatable-read"]);
    assert_eq!(nearest("PL-4"), ["PL-3", "PL-2", "PL-1"], "all that are equally near");
    let nothing = "eventual".parse::<Model>().unwrap_err();
    assert!(nothing.nearest.is_empty(), "like nothing that is known");
    assert!(nothing.to_string().starts_with("unknown consistency level: \"eventual\". Known: strict-serializable, "));
    let misspelt = |bytes| format!("{:x<bytes$}", "strong-session-snapshot-isolation-cycle-exists");
    let nearest_anomaly = |name: &str| name.parse::<AnomalyType>().unwrap_err().nearest;
    assert_eq!(nearest_anomaly(&misspelt(64)).len(), 1, "a name with less than a third more");
    assert!(nearest_anomaly(&misspelt(65)).is_empty(), "too long for a misspelling");
    assert!(nearest("").is_empty());
    assert_eq!(nearest_anomaly("G3"), ["G0", "G1", "G2"], "in the order of the table");
    assert_eq!(nearest_anomaly("G1d"), ["G1c", "G1a", "G1b"], "three at most, of four");

    let error = "lost-updates".parse::<AnomalyType>().unwrap_err();
    assert_eq!(error.nearest, ["lost-update"]);
    assert_eq!(error.known.len(), AnomalySet::ALL.len());
    let message = error.to_string();
    assert!(message.starts_with("unknown anomaly: \"lost-updates\"; did you mean lost-update? Known: G0, G1c, "));
}

#[test]
fn the_table_of_prohibited_anomalies_stays_as_it_is() {
    let rows = ModelSet::ALL.iter().map(|model| {
        let prohibited = names(model.prohibited());
        let lines = prohibited.chunks(4).map(|names| names.join(" "));
        std::iter::once(format!("{model}:")).chain(lines).collect::<Vec<_>>().join("\n    ")
    });
    let table = rows.collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(table);
}
