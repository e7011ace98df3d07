//! `--baseline`: the anomalies of an earlier report. The same anomalies are known in this run.
//!
//! An anomaly is the same as one of the baseline if it is of the same history, checker and type, and if the evidence is
//! the same: the keys that its witness names, or the ops if it names no key. So a test that is run again on the same
//! keys passes, and an anomaly on another key fails. A history is the same if its file has the same name. If the
//! baseline is of a single history, the file may now have another name; then the ops must be the same as well.

use history_core::{Anomaly, Report, Witness};
use std::collections::BTreeSet;

/// The results of an earlier run, one element per history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Baseline(Vec<History>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct History {
    file: String,
    found: Vec<Found>,
    /// For keys that were checked separately: the checker, the key, and a type of anomaly on the key.
    keys: BTreeSet<(String, String, String)>,
}

/// The anomalies of one type of a checker.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    checker: String,
    anomaly: String,
    count: u64,
    witnesses: Vec<Evidence>,
}

/// The evidence that a witness names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Evidence {
    keys: BTreeSet<String>,
    /// The indices of the ops.
    ops: BTreeSet<u64>,
}

impl Evidence {
    fn of(witness: &Witness) -> Evidence {
        let of_steps = witness.steps.iter().filter_map(|step| step.key.as_ref());
        let of_facts = witness.facts.iter().filter(|(name, _)| name == "key").map(|(_, value)| value);
        Evidence {
            keys: of_steps.chain(of_facts).map(ToString::to_string).collect(),
            ops: witness.ops.iter().map(|op| op.index).collect(),
        }
    }

    /// Returns true if the evidence is the same. The ops are compared if `to_the_op`, or if there are no keys.
    fn is_like(&self, other: &Evidence, to_the_op: bool) -> bool {
        self.keys == other.keys && (!(to_the_op || self.keys.is_empty()) || self.ops == other.ops)
    }
}

impl Baseline {
    /// Adds the report on a history.
    pub(super) fn add(&mut self, file: &str, report: &Report) {
        let mut history = History { file: plain(file).to_owned(), found: Vec::new(), keys: BTreeSet::new() };
        history.take(report);
        self.0.push(history);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The histories that a file may be, each with whether the ops of their evidence must be the same.
    fn of_file(&self, file: &str) -> Vec<(&History, bool)> {
        let file = plain(file);
        if let [only] = &self.0[..] {
            return vec![(only, only.file != file)];
        }
        self.0.iter().filter(|history| history.file == file).map(|history| (history, false)).collect()
    }

    /// Returns true if an anomaly is known: all witnesses are known, and if some are not shown, there are no more than
    /// before.
    pub(super) fn has(&self, file: &str, checker: &str, anomaly: &Anomaly) -> bool {
        self.of_file(file).into_iter().any(|(history, to_the_op)| {
            let is_it = |found: &&Found| found.checker == checker && found.anomaly == anomaly.name;
            history.found.iter().find(is_it).is_some_and(|found| {
                let is_known = |witness: &Witness| {
                    let evidence = Evidence::of(witness);
                    found.witnesses.iter().any(|known| known.is_like(&evidence, to_the_op))
                };
                let all_shown = u64::try_from(anomaly.witnesses.len()).is_ok_and(|shown| shown >= anomaly.count);
                anomaly.witnesses.iter().all(is_known)
                    && (all_shown && !anomaly.witnesses.is_empty() || anomaly.count <= found.count)
            })
        })
    }

    /// Returns true if a type of anomaly is known for a key.
    pub(super) fn has_key(&self, file: &str, checker: &str, key: &str, anomaly: &str) -> bool {
        let row = (checker.to_owned(), key.to_owned(), anomaly.to_owned());
        self.of_file(file).into_iter().any(|(history, _)| history.keys.contains(&row))
    }
}

impl History {
    fn take(&mut self, report: &Report) {
        for anomaly in &report.anomalies {
            self.found.push(Found {
                checker: report.checker.to_string(),
                anomaly: anomaly.name.to_string(),
                count: anomaly.count,
                witnesses: anomaly.witnesses.iter().map(Evidence::of).collect(),
            });
        }
        for key in &report.keys {
            let row =
                |name: &std::borrow::Cow<'_, str>| (report.checker.to_string(), key.key.to_string(), name.to_string());
            self.keys.extend(key.anomaly_types.iter().map(row));
        }
        report.checkers.iter().for_each(|report| self.take(report));
    }
}

/// A path without `./` at its beginning.
fn plain(file: &str) -> &str {
    file.strip_prefix("./").unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::{Datum, OpKind, Verdict, WitnessOp};

    fn witness(keys: &[&str], ops: &[u64]) -> Witness {
        let op = |index: &u64| WitnessOp {
            name: "T".into(),
            index: *index,
            process: None,
            kind: OpKind::Ok,
            time_ns: None,
            value: Datum::Nil,
        };
        let facts = keys.iter().map(|key| ("key".into(), Datum::Str((*key).into()))).collect();
        Witness::new(ops.iter().map(op).collect(), "").with_facts(facts)
    }

    fn anomaly(count: u64, witnesses: Vec<Witness>) -> Anomaly {
        Anomaly { name: "G0".into(), count, witnesses }
    }

    fn baseline(files: &[&str]) -> Baseline {
        let mut report = Report::new("c", Verdict::Invalid);
        report.anomalies = vec![anomaly(2, vec![witness(&["x"], &[1, 2]), witness(&[], &[5])])];
        let mut baseline = Baseline::default();
        for file in files {
            baseline.add(file, &report);
        }
        baseline
    }

    #[test]
    fn the_same_keys_are_known_and_others_are_not() {
        let baseline = baseline(&["a.edn", "b.edn"]);
        let has = |file, checker, anomaly: &Anomaly| baseline.has(file, checker, anomaly);
        let again = anomaly(1, vec![witness(&["x"], &[7, 9])]);
        assert!(has("a.edn", "c", &again) && has("./b.edn", "c", &again));
        assert!(!has("c.edn", "c", &again), "another file");
        assert!(!has("a.edn", "d", &again), "another checker");
        assert!(!has("a.edn", "c", &Anomaly { name: "G1c".into(), ..again.clone() }), "another type");
        assert!(!has("a.edn", "c", &anomaly(1, vec![witness(&["y"], &[1, 2])])), "another key");
        assert!(!has("a.edn", "c", &anomaly(1, vec![witness(&["x", "y"], &[1, 2])])), "one more key");
        assert!(!has("a.edn", "c", &anomaly(2, vec![witness(&["x"], &[1]), witness(&["y"], &[2])])), "one of two");
        assert!(has("a.edn", "c", &anomaly(1, vec![witness(&[], &[5])])), "ops, where there is no key");
        assert!(!has("a.edn", "c", &anomaly(1, vec![witness(&[], &[6])])));
        assert!(has("a.edn", "c", &anomaly(3, vec![witness(&["x"], &[1]); 3])), "more on the same key");
        assert!(!has("a.edn", "c", &anomaly(3, vec![witness(&["x"], &[1])])), "more that are not shown");
    }

    #[test]
    fn a_baseline_of_one_history_is_of_others_only_to_the_op() {
        let baseline = baseline(&["a.edn"]);
        assert!(baseline.has("z.edn", "c", &anomaly(1, vec![witness(&["x"], &[1, 2])])));
        assert!(!baseline.has("z.edn", "c", &anomaly(1, vec![witness(&["x"], &[1, 3])])));
        assert!(baseline.has("a.edn", "c", &anomaly(1, vec![witness(&["x"], &[1, 3])])));
    }
}
