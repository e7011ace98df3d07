//! Converts an answer into a report.

use super::decoder::Decoder;
use super::explanation::Explainer;
use super::recorded::Recorded;
use super::subject::{ModelSubject, Subject};
use super::{Linearizable, timelines};
use crate::engine::ids;
use crate::history::Columns;
use crate::models::Spec;
use crate::{Answer, Outcome, Reason};
use history_core::{Anomaly, Budget, Report};

/// The number of ops of each kind.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) ok: u64,
    pub(super) fail: u64,
    pub(super) info: u64,
}

/// The maximum number of parts with witnesses.
const WITNESSES_MAX: usize = 8;

/// The report on a history.
pub(super) fn report<S: Spec>(
    checker: &Linearizable<S>,
    columns: &Columns<S::Op>,
    recorded: &Recorded,
    (counts, decoder): (Counts, &Decoder<S::Op>),
    answer: &Answer,
    budget: &Budget,
) -> Report {
    let subject = ModelSubject { model: &checker.model, columns };
    let mut report = of_answer(&subject, recorded, counts, answer);
    decoder.conclude::<S>(&mut report);
    if budget.figures {
        (report.figures, report.artifacts) = timelines::of(&subject, recorded, answer);
    }
    report
}

/// Creates the report on an answer.
fn of_answer(subject: &dyn Subject, recorded: &Recorded, counts: Counts, answer: &Answer) -> Report {
    let mut report = Report::new(subject.name(), answer.verdict());
    let (mut refused, mut unknown, mut stopped) = (0, 0, 0);
    let mut witnesses = Vec::new();
    for part in &answer.parts {
        match &part.outcome {
            Outcome::Linearizable(_) => {}
            Outcome::Refused(refusal) => {
                refused += 1;
                if witnesses.len() < WITNESSES_MAX {
                    witnesses.push(Explainer::new(subject, recorded).refusal(part.part.as_deref(), refusal));
                }
            }
            Outcome::Unknown(Reason::OtherPart) => stopped += 1,
            Outcome::Unknown(reason) => {
                unknown += 1;
                if unknown == 1 {
                    let of = part.part.as_ref().map(|part| format!(" of {part}")).unwrap_or_default();
                    report.notes.push(format!("No verdict{of}, because {}.", reason.because()));
                }
                if let Some(step) = reason.next() {
                    report.add_next(step);
                }
            }
        }
    }
    if unknown > 1 {
        report.notes.push(format!("There is no verdict on {} more parts either.", unknown - 1));
    }
    report.is_partial = refused > 0 && unknown + stopped > 0;
    match stopped {
        0 => {}
        1 if answer.parts.len() == 1 => {
            report.notes.push("The search ended early, because another key is not linearizable.".into());
        }
        1 => report.notes.push("The search of one part ended early, because another part is not linearizable.".into()),
        _ => report
            .notes
            .push(format!("The search of {stopped} parts ended early, because another part is not linearizable.")),
    }
    report.notes.extend(recorded.participants.note());
    if refused > 0 {
        report.notes.extend(subject.assumes());
        report.anomalies.push(Anomaly { name: super::NONLINEARIZABLE.into(), count: refused, witnesses });
    }
    report.counts = vec![
        ("ok-count".into(), counts.ok),
        ("fail-count".into(), counts.fail),
        ("info-count".into(), counts.info),
        ("nonclient-op-count".into(), recorded.participants.others()),
        ("part-count".into(), ids::count(answer.parts.len())),
    ];
    report
}
