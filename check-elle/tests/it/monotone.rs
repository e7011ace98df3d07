//! No level is valid where a weaker level is refused, and every report lists each level that is refused. Tested for
//! each pair of levels on random histories of both workloads: with invocations, without invocations, and with unnamed
//! clients; by cycles alone and decided exactly.

use crate::oracle::against::check;
use crate::oracle::choices::Choices;
use crate::oracle::messy::{Entry, as_registers, history};
use crate::oracle::registers::Sources;
use crate::oracle::{Question, Workload, lattice, text};
use check_elle::Exact;
use history_core::{History, Report, Verdict};
use std::collections::BTreeMap;

/// Returns the number of refused pairs, or the first contradiction between two levels.
fn refused_pairs(ops: &[Entry], workload: Workload<'_>, exact: Exact) -> Result<u32, String> {
    let text = text::edn(ops);
    let history = History::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let judge = |model: &'static str| {
        let report = check(&history, &Question { models: &[model], workload, ..Question::default() }, exact);
        (model, report)
    };
    let reports: BTreeMap<&str, Report> = lattice::models().into_iter().map(judge).collect();
    let verdicts: BTreeMap<&str, Verdict> = reports.iter().map(|(model, report)| (*model, report.verdict)).collect();
    for (asked, report) in &reports {
        let listed = || report.not.iter().chain(&report.also_not).chain(&report.not_checked);
        let refused = verdicts.iter().filter(|(_, verdict)| **verdict == Verdict::Invalid);
        if let Some((model, _)) = refused.into_iter().find(|(model, _)| listed().all(|other| other != **model)) {
            return Err(format!("{model} is invalid, and the report on {asked} says that it holds:\n{text}"));
        }
    }
    let mut refused = 0;
    for (stronger, verdict) in &verdicts {
        for weaker in lattice::implied(stronger).iter().filter(|weaker| verdicts[*weaker] == Verdict::Invalid) {
            if *verdict != Verdict::Invalid {
                return Err(format!("{weaker} is invalid, and {stronger} is {}:\n{text}", verdict.name()));
            }
            refused += u32::from(*weaker != *stronger);
        }
    }
    Ok(refused)
}

/// Alternates between full and no exact search.
fn exact(number: u64) -> Exact {
    if (number / 16).is_multiple_of(2) { Exact::Full } else { Exact::No }
}

#[test]
fn lists() {
    let mut refused = 0;
    for number in 0..2000 {
        let ops = history(&mut Choices::Random(number));
        refused +=
            refused_pairs(&ops, Workload::ListAppend, exact(number)).unwrap_or_else(|why| panic!("{number}: {why}"));
    }
    assert!(refused > 10_000, "{refused}");
}

#[test]
fn registers() {
    let mut refused = 0;
    let all: Vec<Sources<'_>> = Sources::combinations().collect();
    for number in 0..2000 {
        let ops = as_registers(history(&mut Choices::Random(number)));
        let workload = Workload::RwRegister(all[number as usize % all.len()]);
        refused += refused_pairs(&ops, workload, exact(number)).unwrap_or_else(|why| panic!("{number}: {why}"));
    }
    assert!(refused > 10_000, "{refused}");
}
