//! The outcome: the report on a history that was read to its end.

use super::clock::Clock;
use super::register::{Doubt, Register};
use super::registers::Registers;
use super::{NAME, Packed};
use crate::engine::ids;
use history_core::{Coverage, Expected, NextStep, Report, Verdict};

/// The number of ops of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) ok: u64,
    pub(crate) fail: u64,
    pub(crate) info: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

/// The maximum number of doubts that are reported one by one.
const DOUBTS_TOLD_MAX: usize = 3;

const EXPECTED: Expected =
    Expected { ops: ":read and :write, with :write-id and :prev-write-id", observation: "ok op" };

pub(crate) const NAMELESS_FORGOTTEN: &str = "Some ops have no process, or no invocation, so the order in which ops \
    began is unknown, and with --forget earlier versions are not kept. Check the history without --forget.";

pub(crate) const TIED: &str = "Some ops begin at the same time as others end. If those of the later lines began \
    later, this history is not linearizable; if they overlapped, it is. Record more precise times.";

/// The next step if versions were discarded.
pub(crate) fn keep_all() -> NextStep {
    NextStep::option("forget", "Keep all versions: check the history without --forget.")
}

/// The next step if times contradict each other, or are too coarse.
pub(crate) fn record_times() -> NextStep {
    NextStep::option(
        "in-order",
        "Record precise times, or no times. If the ops in the file are in the order of events, pass --in-order.",
    )
}

/// A report that contains only the reason and the next step.
pub(crate) fn unknown(note: String, next: NextStep) -> Report {
    let mut report = Report::new(NAME, Verdict::Unknown);
    report.notes.push(note);
    report.next.push(next);
    report
}

/// The reason why a history whose ops are not in the order of their times cannot be checked by them, if it cannot.
pub(crate) fn why_no_order(clock: &Clock, registers: &Registers, index: u64) -> Option<(String, NextStep)> {
    if let Some(index) = clock.contradiction() {
        let note = format!(
            "No verdict, because the times of a process decrease at index {index}: neither the times nor the order of \
             the file is the order of events. Record correct times, or none."
        );
        return Some((note, record_times()));
    }
    registers.has_forgotten.then(|| {
        let note = format!(
            "No verdict, because the op at index {index} is earlier than those before it. With --forget a history \
             must be sorted by time: sort it, or check it without --forget."
        );
        (note, keep_all())
    })
}

pub(crate) fn report(registers: Registers, counts: Counts, others: u64, mut notes: Vec<String>) -> Report {
    let doubts: Vec<&Register> = registers.all.iter().filter(|register| register.doubt.is_some()).collect();
    let verdict = if doubts.is_empty() && notes.is_empty() { Verdict::Valid } else { Verdict::Unknown };
    notes.extend(doubts.iter().take(DOUBTS_TOLD_MAX).map(|register| explain_doubt(&registers, register)));
    if doubts.len() > DOUBTS_TOLD_MAX {
        notes.push(format!("The same is true of {} more keys.", doubts.len() - DOUBTS_TOLD_MAX));
    }
    let mut report = Report::new(NAME, verdict.and(registers.findings.verdict()));
    report.notes = notes;
    // Each chain begins with a version that no write created.
    let chain: u64 = registers.all.iter().map(|register| u64::from(register.head_place)).sum();
    report.counts = vec![
        ("ok-count".into(), counts.ok),
        ("fail-count".into(), counts.fail),
        ("info-count".into(), counts.info),
        ("nonclient-op-count".into(), others),
        ("read-count".into(), counts.reads),
        ("write-count".into(), counts.writes),
        ("accepted-write-count".into(), chain),
        ("key-count".into(), ids::count(registers.all.len())),
    ];
    for register in &doubts {
        report.add_next(match register.doubt {
            Some(Doubt::Twice { .. }) => NextStep::new("Let every write of a test propose a write-id of its own."),
            _ => keep_all(),
        });
    }
    report.anomalies = registers.findings.into_anomalies();
    let clients = counts.reads + counts.writes + counts.ok + counts.fail + counts.info;
    Coverage::of_counts(clients, counts.ok).conclude(&EXPECTED, &mut report);
    report
}

fn explain_doubt(registers: &Registers, register: &Register) -> String {
    let key = match register.key {
        Packed::NIL => String::new(),
        key => format!("Key {}: ", registers.interner.datum(key)),
    };
    match register.doubt {
        Some(Doubt::Twice { id, first, second }) => {
            let id = registers.interner.datum(id);
            let first = match registers.settings.initial_id {
                Some(initial) if registers.interner.datum(initial) == id => {
                    "that is the id of the initial version".to_owned()
                }
                _ => format!("so does the one at index {first}"),
            };
            format!(
                "{key}The write at index {second} proposes write-id {id}, and {first}: which of the two an op saw is \
                 unknown. Later ops were not checked."
            )
        }
        Some(Doubt::Forgotten { id, index }) => format!(
            "{key}The read at index {index} shows version {}, which is unknown or was forgotten, and began so long \
             before that it may be correct. Check the history with a greater --forget, or without it.",
            registers.interner.datum(id)
        ),
        None => key,
    }
}
