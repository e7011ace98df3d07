//! Every history of small worlds, judged by the checker, by the oracle, and by what the levels mean.
//!
//! Two keys; what is read is any arrangement of any of the elements that were appended to the key, and in most worlds also
//! an element twice and one that nobody appended. Transactions are ok, failed, info (with their reads known, or not) or never
//! completed; their ops are interleaved in every way and spread over processes in every way, or there are no invocations.
//!
//! | transactions | micro-ops in each | histories | judged |
//! |---|---|---|---|
//! | 2 | 1 or 2 | 200,418 | all |
//! | 3 | 1 | 251,785 | all |
//! | 4, all ok | 1 | 231,672 | all |
//! | 3 | 1 or 2 | 8 · 10^8, estimated | 100,000 |
//! | 4 | 1 or 2 | 2 · 10^13, estimated | 100,000 |
//!
//! Each is held against one of the models that have laws, in turn.

mod oracle;

use history_core::{History, Verdict};
use oracle::against::{checker, compare};
use oracle::cases::{CASES, Case, edn};
use oracle::choices::Choices;
use oracle::cycles::{self, Shape};
use oracle::graph::{Graph, Relation};
use oracle::lattice::{self, Names};
use oracle::worlds::{Clock, Fate, Lists, Size, history};
use oracle::{Question, judge, laws};
use std::collections::BTreeSet;

#[test]
fn the_oracle_knows_the_cases() {
    let wrong: Vec<String> = CASES.iter().filter_map(|case| oracle_errs(case).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn oracle_errs(case: &Case) -> Result<(), String> {
    let question = Question { models: case.models, anomalies: &[] };
    let history = History::parse(&edn(case.history)).map_err(|error| format!("{}: {error}", case.name))?;
    let got = match judge(&history, &question) {
        Ok(judgement) => (judgement.verdict.name(), judgement.anomaly_types),
        Err(_) => ("unknown", Names::new()),
    };
    let expected = (case.verdict, case.types.split_whitespace().map(str::to_owned).collect());
    if got == expected { Ok(()) } else { Err(format!("{}: expected {expected:?}, not {got:?}", case.name)) }
}

#[test]
fn the_checker_agrees_on_the_cases() {
    let ask = |case: &Case| {
        let question = Question { models: case.models, anomalies: &[] };
        compare(&edn(case.history), &question, checker).err().map(|why| format!("{}: {why}", case.name))
    };
    let wrong: Vec<String> = CASES.iter().filter_map(ask).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_checker_agrees_on_each_type_asked_for_by_name() {
    for case in CASES {
        for anomaly in lattice::anomalies() {
            let question = Question { models: &[], anomalies: &[anomaly] };
            if let Err(why) = compare(&edn(case.history), &question, checker) {
                panic!("{}: {why}", case.name);
            }
        }
    }
}

const FATES: &[Fate] = &[Fate::Ok, Fate::Fail, Fate::Info, Fate::Open];
const CLOCKS: &[Clock] = &[Clock::None, Clock::Some];

/// Judges every history of a world, or only `samples` of them, spread evenly over the choices that make one.
fn judge_all(size: &Size, samples: Option<u64>) -> u64 {
    let models: Vec<&str> = laws::models().collect();
    let mut choices = Choices::first();
    let mut judged = 0;
    let mut wrong: Vec<String> = Vec::new();
    loop {
        if samples.is_some() {
            choices = Choices::Random(judged);
        }
        let text = history(&mut choices, size);
        let model = models[(judged * 5 / 3) as usize % models.len()];
        if let Err(why) = judge_one(&text, &Question { models: &[model], anomalies: &[] }) {
            wrong.push(why);
        }
        judged += 1;
        let more = match samples {
            Some(samples) => judged < samples,
            None => choices.advance(),
        };
        if !more || wrong.len() == 10 {
            assert!(wrong.is_empty(), "wrong about {} of {judged} histories\n\n{}", wrong.len(), wrong.join("\n"));
            return judged;
        }
    }
}

fn judge_one(text: &str, question: &Question<'_>) -> Result<(), String> {
    let report = compare(text, question, checker)?;
    let history = History::parse(text).map_err(|error| error.to_string())?;
    laws::hold(&history, question, report.verdict).map_err(|why| format!("{why}\nmodels {:?}\n{text}", question.models))
}

#[test]
fn two_transactions_of_two_micro_ops() {
    let size = Size { txns: 2, mops_max: 2, fates: FATES, clocks: CLOCKS, lists: Lists::Any };
    assert_eq!(judge_all(&size, None), 200_418);
}

#[test]
fn three_transactions_of_one_micro_op() {
    let size = Size { txns: 3, mops_max: 1, fates: FATES, clocks: CLOCKS, lists: Lists::Any };
    assert_eq!(judge_all(&size, None), 251_785);
}

#[test]
fn four_transactions_of_one_micro_op() {
    let size = Size { txns: 4, mops_max: 1, fates: &[Fate::Ok], clocks: CLOCKS, lists: Lists::Possible };
    assert_eq!(judge_all(&size, None), 231_672);
}

#[test]
fn three_transactions_of_two_micro_ops() {
    let size = Size { txns: 3, mops_max: 2, fates: FATES, clocks: CLOCKS, lists: Lists::Any };
    judge_all(&size, Some(100_000));
}

#[test]
fn four_transactions_of_two_micro_ops() {
    let size = Size { txns: 4, mops_max: 2, fates: FATES, clocks: CLOCKS, lists: Lists::Any };
    judge_all(&size, Some(100_000));
}

#[test]
fn every_leaf_is_met_once() {
    let mut choices = Choices::first();
    let mut leaves = Vec::new();
    loop {
        let first = choices.pick(3);
        let second = if first == 1 { choices.pick(2) } else { 0 };
        leaves.push((first, second));
        if !choices.advance() {
            break;
        }
    }
    assert_eq!(leaves, [(0, 0), (1, 0), (1, 1), (2, 0)]);
}

#[test]
fn the_oracle_sees_every_cycle() {
    for number in 0..300 {
        let mut choices = Choices::Random(number);
        let n = 2 + choices.pick(3);
        let kinds = [Relation::Ww, Relation::Wr, Relation::Rw, Relation::Order];
        let mut edge = |from, to| kinds.into_iter().filter(|_| from != to && choices.rarely(4)).collect();
        let edges = (0..n).map(|from| (0..n).map(|to| edge(from, to)).collect()).collect();
        let graph = Graph { edges };
        let seen: BTreeSet<Shape> =
            graph.components().iter().flat_map(|component| cycles::shapes(&graph, component)).collect();
        assert_eq!(seen, listed(&graph), "{number}: {graph:?}");
    }
}

/// The shapes of all cycles of a graph, each listed edge by edge.
fn listed(graph: &Graph) -> BTreeSet<Shape> {
    let mut shapes = BTreeSet::new();
    let mut paths: Vec<(Vec<usize>, Vec<Relation>)> = (0..graph.edges.len()).map(|node| (vec![node], vec![])).collect();
    while let Some((nodes, relations)) = paths.pop() {
        for (to, labels) in graph.edges[nodes[nodes.len() - 1]].iter().enumerate() {
            for label in labels {
                let relations = [&relations[..], &[*label]].concat();
                if to == nodes[0] {
                    shapes.insert(Shape::of_cycle(&relations));
                } else if !nodes.contains(&to) {
                    paths.push(([&nodes[..], &[to]].concat(), relations));
                }
            }
        }
    }
    shapes
}

#[test]
fn canary_the_laws_catch_constant_verdicts() {
    let size = Size { txns: 2, mops_max: 1, fates: FATES, clocks: CLOCKS, lists: Lists::Any };
    for model in laws::models() {
        let question = Question { models: &[model], anomalies: &[] };
        let mut choices = Choices::first();
        let mut caught = [0, 0];
        loop {
            let history = History::parse(&history(&mut choices, &size)).expect("a history");
            for (caught, verdict) in caught.iter_mut().zip([Verdict::Valid, Verdict::Invalid]) {
                *caught += u32::from(laws::hold(&history, &question, verdict).is_err());
            }
            if !choices.advance() {
                break;
            }
        }
        let [valid, invalid] = caught;
        // What read committed does not forbid may still be valid.
        assert!(valid > 0 || model == "read-committed", "{model}: always valid is not caught");
        assert!(invalid > 0, "{model}: always invalid is not caught");
    }
}
