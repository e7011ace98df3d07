//! The anomaly that a smaller history must show, distinguished from others of its kind.

use history_core::{About, Anomaly, Datum, Parts, Report, Verdict, Witness};

/// Facts that say what an anomaly is about.
const SUBJECTS: [&str; 5] = ["element", "id", "key", "part", "group"];

/// One anomaly.
pub(super) struct Target {
    pub(super) kind: String,
    /// Its witness in the whole history.
    pub(super) witness: Witness,
    /// The op that is wrong: what is found in less must be about it. Absent for transactions, of whose anomalies every
    /// one in a closed sub-history is one of the whole.
    pub(super) pinned: Option<u64>,
    /// The kinds found in the whole history.
    kinds: Vec<String>,
    /// Of transactions, the kinds of cycles: a closed part has no cycles that the whole does not have.
    cycles: Vec<String>,
    /// Whether the first op of a witness is the one that is wrong.
    begins_with_refused: bool,
    subjects: Vec<(String, Datum)>,
}

impl Target {
    /// Witnesses to begin with: those of a kind, or of all kinds. Of what only casts doubt on the history, only if
    /// there is nothing else.
    ///
    /// # Errors
    ///
    /// If the kind that was asked for is not there: what was found instead. Within, if there is nothing to begin with:
    /// why.
    pub(super) fn candidates(
        report: &Report,
        kind: Option<&str>,
        about: &About,
    ) -> Result<Result<Vec<Target>, String>, String> {
        /// Each is compared with the others, which takes as long as the history is.
        const CANDIDATES_MAX: usize = 32;
        let kinds: Vec<String> = report.anomaly_types().map(str::to_owned).collect();
        let is_meant = |anomaly: &&Anomaly| kind.is_none_or(|kind| anomaly.name.eq_ignore_ascii_case(kind));
        let mut found: Vec<&Anomaly> = report.anomalies.iter().filter(is_meant).collect();
        if let (Some(kind), true) = (kind, found.is_empty()) {
            return Err(format!("no anomaly {kind} in this history; found: {}", kinds.join(", ")));
        }
        let is_doubt = |anomaly: &Anomaly| about.anomaly(&anomaly.name).is_some_and(|anomaly| anomaly.is_doubt);
        if found.iter().any(|anomaly| !is_doubt(anomaly) && !anomaly.witnesses.is_empty()) {
            found.retain(|anomaly| !is_doubt(anomaly));
        }
        let witnesses = found.iter().flat_map(|anomaly| anomaly.witnesses.iter().map(move |one| (*anomaly, one)));
        let targets: Vec<Target> =
            witnesses.take(CANDIDATES_MAX).map(|(anomaly, one)| Target::new(anomaly, one, &kinds, about)).collect();
        Ok(match (targets.is_empty(), kind) {
            (false, _) => Ok(targets),
            (true, Some(_)) => Err(format!("{} has no witness to start from", found[0].name)),
            (true, None) => Err("no anomaly has a witness to start from".to_owned()),
        })
    }

    fn new(anomaly: &Anomaly, witness: &Witness, kinds: &[String], about: &About) -> Target {
        let is_of_transactions = about.reduction.parts == Parts::Transactions;
        let begins_with_refused = about.begins_with_refused(&anomaly.name);
        let pinned = match () {
            () if is_of_transactions => None,
            () if begins_with_refused => witness.ops.first(),
            () => witness.ops.last(),
        };
        let cycles = about.anomalies.iter().filter(|anomaly| is_of_transactions && anomaly.is_cycle);
        let subjects = witness.facts.iter().filter(|(name, _)| SUBJECTS.contains(&name.as_ref()));
        let subjects = subjects.map(|(name, datum)| (name.to_string(), datum.clone())).collect();
        Target {
            kind: anomaly.name.to_string(),
            pinned: pinned.map(|op| op.index),
            subjects: if is_of_transactions { Vec::new() } else { subjects },
            witness: witness.clone(),
            kinds: kinds.to_vec(),
            cycles: cycles.map(|anomaly| anomaly.name.to_string()).collect(),
            begins_with_refused,
        }
    }

    /// Whether a report on less shows the same, and nothing of a kind that was not there before. For transactions a
    /// cycle is nothing new: of one component only the worst cycles are listed, so the whole may list G1c in the place
    /// of a part's G1c-realtime.
    pub(super) fn is_in(&self, report: &Report) -> bool {
        let Some(anomaly) = report.anomaly(&self.kind) else { return false };
        let is_same = |witness: &Witness| {
            let about = |(name, datum): &(String, Datum)| {
                witness.facts.iter().any(|(other, value)| other == name && value == datum)
            };
            self.pinned.is_none_or(|index| witness.ops.iter().any(|op| op.index == index))
                && self.subjects.iter().all(about)
                && (!self.begins_with_refused || witness.ops.first().map(|op| op.index) == self.pinned)
        };
        report.verdict == Verdict::Invalid
            && report.anomaly_types().all(|kind| {
                self.cycles.iter().any(|cycle| cycle == kind) || self.kinds.iter().any(|known| known == kind)
            })
            && anomaly.witnesses.iter().any(is_same)
    }

    /// The keys that transactions meet on, as texts: what has nothing to do with them does not matter.
    pub(super) fn keys(&self) -> Vec<String> {
        let of_steps = self.witness.steps.iter().filter_map(|step| step.key.as_ref());
        let of_facts = self.witness.facts.iter().filter(|(name, _)| name == "key").map(|(_, key)| key);
        let mut keys: Vec<String> = of_steps.chain(of_facts).map(Datum::to_string).collect();
        if keys.is_empty() {
            let mops = self.witness.ops.iter().filter_map(|op| match &op.value {
                Datum::Vector(mops) | Datum::List(mops) => Some(mops.iter()),
                _ => None,
            });
            keys = mops
                .flatten()
                .filter_map(|mop| match mop {
                    Datum::Vector(mop) | Datum::List(mop) => mop.get(1).map(Datum::to_string),
                    _ => None,
                })
                .collect();
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
