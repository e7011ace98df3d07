//! Combines the reports on all keys into one, whose size does not depend on the number of keys.

use super::keys::shown;
use crate::cast::Cast as _;
use crate::checking::coverage::is_unobserved;
use crate::checking::report::KeyReport;
use crate::figure::Content;
use crate::{Anomaly, Datum, NextStep, Report, Verdict};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Up to this number of keys, all are listed.
const ALL_LISTED_MAX: usize = 100;
/// The maximum number of keys listed that are not valid.
const LISTED_MAX: usize = 1000;
/// The maximum number of witnesses per anomaly, unless a single key has more.
const WITNESSES_MAX: usize = 8;
/// The maximum number of different notes, and of next steps.
const NOTES_MAX: usize = 8;
/// The maximum number of keys whose files are kept, and of files in all.
const ARTIFACT_KEYS_MAX: usize = 16;
const ARTIFACTS_MAX: usize = 256;

type Name = Cow<'static, str>;

/// The combined result of the keys so far.
pub(super) struct Merged {
    report: Report,
    lists_all: bool,
    keys: u64,
    by_verdict: [u64; 3],
    /// Keys without observed ops: the first of them, their number, and the reason.
    unobserved: Option<Note>,
    anomalies: BTreeMap<Name, Anomaly>,
    notes: Vec<Note>,
    /// The advice for a verdict: an option, and a sentence with the keys that it concerns.
    next: Vec<(Option<Name>, Note)>,
    notes_left_out: u64,
    not_listed: u64,
    with_artifacts: usize,
    artifacts_left_out: u64,
    /// For several checkers: the result of each, in their order.
    checkers: Vec<Merged>,
    keys_expected: usize,
}

/// A note on a key, and perhaps on others.
struct Note {
    text: String,
    first: String,
    keys: u64,
}

impl Note {
    /// Appends to the text the keys that the note concerns, out of `all`.
    fn of(self, all: u64) -> String {
        let Note { text, first, keys } = self;
        match keys - 1 {
            0 if all == 1 => text,
            others if others + 1 == all => format!("Every key: {text}"),
            0 => format!("Key {first}: {text}"),
            1 => format!("Key {first} and one more: {text}"),
            others => format!("Key {first} and {others} more: {text}"),
        }
    }
}

impl Merged {
    /// A report on this number of keys, none of which has been added yet.
    pub(super) fn new(checker: String, keys: usize) -> Merged {
        Merged {
            report: Report::new(checker, Verdict::Valid),
            lists_all: keys <= ALL_LISTED_MAX,
            keys: 0,
            by_verdict: [0; 3],
            unobserved: None,
            anomalies: BTreeMap::new(),
            notes: Vec::new(),
            next: Vec::new(),
            notes_left_out: 0,
            not_listed: 0,
            with_artifacts: 0,
            artifacts_left_out: 0,
            checkers: Vec::new(),
            keys_expected: keys,
        }
    }

    /// The verdict on all reports added so far.
    pub(super) fn verdict(&self) -> Verdict {
        self.checkers.iter().map(Merged::verdict).fold(self.report.verdict, Verdict::and)
    }

    /// Adds the report on the next key.
    pub(super) fn add(&mut self, key: &Datum, mut report: Report) {
        self.keys += 1;
        self.by_verdict[report.verdict as usize] += 1;
        self.list(key, &report);
        self.judge(key, &mut report);
        if self.checkers.is_empty() {
            let begun = |report: &Report| Merged::new(report.checker.clone().into_owned(), self.keys_expected);
            self.checkers = report.checkers.iter().map(begun).collect();
        }
        for (merged, report) in self.checkers.iter_mut().zip(report.checkers) {
            merged.add(key, report);
        }
        self.report.is_partial |= report.is_partial;
        for note in report.notes {
            self.note(key, note);
        }
        for step in report.next {
            self.next(key, step);
        }
        for anomaly in report.anomalies {
            self.anomaly(key, anomaly);
        }
        let lists = [
            (&mut self.report.not, report.not),
            (&mut self.report.also_not, report.also_not),
            (&mut self.report.not_checked, report.not_checked),
        ];
        for (all, these) in lists {
            for name in these {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
        }
        for (name, count) in report.counts {
            match self.report.counts.iter_mut().find(|(other, _)| *other == name) {
                Some((_, sum)) => *sum += count,
                None => self.report.counts.push((name, count)),
            }
        }
        let fit = self.with_artifacts < ARTIFACT_KEYS_MAX
            && self.report.artifacts.len() + report.artifacts.len() <= ARTIFACTS_MAX
            && self.report.figures.len() + report.figures.len() <= ARTIFACTS_MAX;
        if !fit {
            self.artifacts_left_out += (report.artifacts.len() + report.figures.len()).to_u64();
        } else if !report.artifacts.is_empty() || !report.figures.is_empty() {
            self.with_artifacts += 1;
            // A key is one part of a path.
            let folder = shown(key).replace('/', "_");
            for mut artifact in report.artifacts {
                artifact.path = format!("independent/{folder}/{}", artifact.path);
                self.report.artifacts.push(artifact);
            }
            for mut figure in report.figures {
                figure.name = format!("independent/{folder}/{}", figure.name);
                if let Content::Timeline(timeline) = &mut figure.content {
                    let within = timeline.key.take().map(|part| format!(", {part}")).unwrap_or_default();
                    timeline.key = Some(format!("key {}{within}", shown(key)));
                }
                self.report.figures.push(figure);
            }
        }
    }

    /// Adds the verdict on a key, unless none of its ops was observed: then it does not affect the combined verdict. If
    /// there are several checkers, each has its own verdict.
    fn judge(&mut self, key: &Datum, report: &mut Report) {
        if is_unobserved(report) {
            let text = std::mem::take(&mut report.notes).join(" ");
            self.unobserved.get_or_insert_with(|| Note { text, first: shown(key), keys: 0 }).keys += 1;
            return;
        }
        let of_checkers = report.checkers.iter().map(|report| report.verdict).fold(Verdict::Valid, Verdict::and);
        if report.checkers.is_empty() || report.verdict != of_checkers {
            self.report.verdict = self.report.verdict.and(report.verdict);
        }
    }

    fn list(&mut self, key: &Datum, report: &Report) {
        if !self.lists_all && report.verdict == Verdict::Valid {
            return;
        }
        if self.report.keys.len() >= LISTED_MAX {
            self.not_listed += 1;
            return;
        }
        self.report.keys.push(KeyReport {
            key: key.clone(),
            verdict: report.verdict,
            anomaly_types: report.anomaly_types().map(|name| name.to_owned().into()).collect(),
            notes: report.notes.clone(),
        });
    }

    fn note(&mut self, key: &Datum, text: String) {
        if let Some(note) = self.notes.iter_mut().find(|note| note.text == text) {
            note.keys += 1;
        } else if self.notes.len() < NOTES_MAX {
            self.notes.push(Note { text, first: shown(key), keys: 1 });
        } else {
            self.notes_left_out += 1;
        }
    }

    fn next(&mut self, key: &Datum, step: NextStep) {
        let NextStep { what, option } = step;
        let is_same = |(other, note): &&mut (Option<Name>, Note)| *other == option && note.text == *what;
        if let Some((_, note)) = self.next.iter_mut().find(is_same) {
            note.keys += 1;
        } else if self.next.len() < NOTES_MAX {
            self.next.push((option, Note { text: what.into_owned(), first: shown(key), keys: 1 }));
        }
    }

    fn anomaly(&mut self, key: &Datum, anomaly: Anomaly) {
        let empty = || Anomaly { name: anomaly.name.clone(), count: 0, witnesses: Vec::new() };
        let all = self.anomalies.entry(anomaly.name.clone()).or_insert_with(empty);
        all.count += anomaly.count;
        let witnesses_max = WITNESSES_MAX.max(anomaly.witnesses.len());
        for mut witness in anomaly.witnesses {
            if all.witnesses.len() >= witnesses_max {
                return;
            }
            witness.explanation = format!("In the history of key {}:\n{}", shown(key), witness.explanation);
            witness.facts.insert(0, ("independent-key".into(), key.clone()));
            all.witnesses.push(witness);
        }
    }

    /// Returns the report on all keys added.
    pub(super) fn into_report(mut self) -> Report {
        if let Some(Note { text, first, keys }) = self.unobserved.take() {
            self.report.notes.push(if keys == self.keys {
                self.report.verdict = self.report.verdict.and(Verdict::Unknown);
                if keys == 1 { text } else { format!("Every key: {text}") }
            } else {
                let more = if keys == 1 { String::new() } else { format!(" and {} more", keys - 1) };
                format!("The verdict covers {} of {} keys. Key {first}{more}: {text}", self.keys - keys, self.keys)
            });
        }
        for note in self.notes {
            self.report.notes.push(note.of(self.keys));
        }
        let left_out = [
            (self.notes_left_out, "notes about single keys"),
            (self.not_listed, "keys that are not valid"),
            (self.artifacts_left_out, "files about single keys"),
        ];
        for (count, what) in left_out.into_iter().filter(|(count, _)| *count > 0) {
            self.report.notes.push(format!("{count} more {what} were omitted."));
        }
        let also_not = &self.report.also_not;
        self.report.not.retain(|name| !also_not.contains(name));
        // A level that one key rules out is ruled out for the whole, even if other keys did not check it.
        let not = &self.report.not;
        self.report.not_checked.retain(|name| !not.contains(name) && !also_not.contains(name));
        self.report.not_checked.sort_unstable();
        self.report.anomalies = self.anomalies.into_values().collect();
        let [valid, unknown, invalid] = self.by_verdict;
        let counts = [
            ("key-count", self.keys),
            ("valid-key-count", valid),
            ("unknown-key-count", unknown),
            ("invalid-key-count", invalid),
        ];
        self.report.checkers = self.checkers.into_iter().map(Merged::into_report).collect();
        self.report.verdict =
            self.report.checkers.iter().map(|report| report.verdict).fold(self.report.verdict, Verdict::and);
        for (option, note) in self.next {
            // An option is advice for all keys, so its text lists none.
            let what = if option.is_some() { note.text } else { note.of(self.keys) };
            self.report.add_next(NextStep { what: what.into(), option });
        }
        // These counts are of this history's keys; they replace counts of the same name from the reports of single
        // keys.
        self.report.counts.retain(|(name, _)| counts.iter().all(|(own, _)| own != name));
        self.report.counts.extend(counts.map(|(name, count)| (name.into(), count)));
        self.report
    }
}
