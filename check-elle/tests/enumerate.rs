//! Every history of a small world, judged by the checker and by the oracle.

mod oracle;

use history_core::History;
use oracle::against::{checker, compare};
use oracle::cases::{CASES, Case, edn};
use oracle::choices::Choices;
use oracle::lattice::Names;
use oracle::worlds::{Clock, Fate, Lists, Size, history};
use oracle::{Question, judge, laws};

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
        compare(&edn(case.history), &question, &checker).err().map(|why| format!("{}: {why}", case.name))
    };
    let wrong: Vec<String> = CASES.iter().filter_map(ask).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const FATES: &[Fate] = &[Fate::Ok, Fate::Fail, Fate::Info, Fate::Open];
const CLOCKS: &[Clock] = &[Clock::None, Clock::Some];

/// Judges every history of a world, or only `samples` of them, spread evenly over the choices that make one.
fn judge_all(size: &Size, samples: Option<u64>) -> u64 {
    let models: Vec<&str> = laws::models().collect();
    let mut choices = Choices::default();
    let mut judged = 0;
    let mut wrong: Vec<String> = Vec::new();
    loop {
        if samples.is_some() {
            choices = Choices::sample(judged);
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
    let report = compare(text, question, &checker)?;
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
