//! Judges many histories (all of a world, or the cases) with the checker, the oracle, and the definitions of the
//! levels.

use super::against::{agree_in, checker, compare};
use super::cases::{Case, edn};
use super::choices::Choices;
use super::lattice;
use super::names::Names;
use super::world::World;
use super::worlds::{Kind, Size, history};
use super::{Question, Workload, judge, laws};
use history_core::{History, Verdict};

/// Judges every history of a world, or only `samples` of them, distributed evenly over the choices that make one. The
/// questions for each history follow from its number. Panics with the first few histories that are judged wrongly.
pub(crate) fn judge_each<'a>(size: &Size, samples: Option<u64>, questions: impl Fn(u64) -> Vec<Question<'a>>) -> u64 {
    let mut choices = Choices::first();
    let mut judged = 0;
    let mut wrong: Vec<String> = Vec::new();
    loop {
        if samples.is_some() {
            choices = Choices::Random(judged);
        }
        let text = history(&mut choices, size);
        let parsed = History::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut world = World::read(&parsed, size.kind == Kind::Register).ok();
        for question in questions(judged) {
            if let (Some(world), Workload::RwRegister(sources)) = (&mut world, &question.workload) {
                world.assume(sources);
            }
            if let Err(why) = judge_one(&parsed, world.as_ref(), &question) {
                let Question { models, anomalies, workload, .. } = question;
                wrong.push(format!("{why}\nmodels {models:?}, anomalies {anomalies:?}, {workload:?}\n{text}"));
            }
        }
        judged += 1;
        let more = match samples {
            Some(samples) => judged < samples,
            None => choices.advance(),
        };
        if !more || wrong.len() >= 10 {
            assert!(wrong.is_empty(), "wrong about {} of {judged} histories\n\n{}", wrong.len(), wrong.join("\n"));
            return judged;
        }
    }
}

fn judge_one(history: &History, world: Option<&World>, question: &Question<'_>) -> Result<(), String> {
    let report = checker(history, question);
    agree_in(world, history, question, &report)?;
    world.map_or(Ok(()), |world| laws::hold(world, question, report.verdict))
}

/// Returns the number of histories of a world in which the laws refuse an always-valid and an always-invalid checker.
pub(crate) fn caught_constants(size: &Size, question: &Question<'_>) -> [u32; 2] {
    let mut choices = Choices::first();
    let mut caught = [0, 0];
    loop {
        let history = History::parse(&history(&mut choices, size)).expect("a history");
        let world = World::of(&history, &question.workload);
        for (caught, verdict) in caught.iter_mut().zip([Verdict::Valid, Verdict::Invalid]) {
            *caught += u32::from(world.as_ref().is_ok_and(|world| laws::hold(world, question, verdict).is_err()));
        }
        if !choices.advance() {
            return caught;
        }
    }
}

/// Returns the cases that the oracle judges wrongly, with the differences.
pub(crate) fn oracle_errs(cases: &[Case]) -> Vec<String> {
    let error = |case: &Case| {
        let history = History::parse(&edn(case.history)).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let got = match judge(&history, &case.question()) {
            Ok(judgement) => (judgement.verdict.name(), judgement.anomaly_types),
            Err(_) => ("unknown", Names::new()),
        };
        let expected = (case.verdict, case.types.split_whitespace().map(lattice::name).collect());
        (got != expected).then(|| format!("{}: expected {expected:?}, not {got:?}", case.name))
    };
    cases.iter().filter_map(error).collect()
}

/// Returns the cases that the checker judges wrongly, with the differences.
pub(crate) fn checker_errs(cases: &[Case]) -> Vec<String> {
    let error = |case: &Case| {
        compare(&edn(case.history), &case.question(), checker).err().map(|why| format!("{}: {why}", case.name))
    };
    cases.iter().filter_map(error).collect()
}
