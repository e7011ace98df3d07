//! The anomaly that a smaller history must show, distinguished from others of its kind.

use history_core::{About, Anomaly, Datum, Parts, Report, Verdict, Witness};

/// Facts of a witness that identify an anomaly.
const SUBJECTS: [&str; 5] = ["element", "id", "key", "part", "group"];

/// One anomaly.
pub(super) struct Target {
    pub(super) kind: String,
    /// Its witness in the whole history.
    pub(super) witness: Witness,
    /// The op at fault, which the result must contain. Absent for transactions: every anomaly in a closed sub-history
    /// is an anomaly of the whole.
    pub(super) pinned: Option<u64>,
    /// The kinds found in the whole history.
    kinds: Vec<String>,
    /// For transactions, all types of cycles: a closed part has no cycles that the whole does not have.
    cycles: Vec<String>,
    /// Whether the op at fault is the first op of a witness.
    begins_with_refused: bool,
    subjects: Vec<(String, Datum)>,
}

impl Target {
    /// Witnesses to start from: those of one type of anomaly, or of all types. Anomalies that only cast doubt on the
    /// history are used only if there are no others.
    ///
    /// # Errors
    ///
    /// If the requested type was not found: a sentence on what was found instead. The inner error is the reason if
    /// there is no witness.
    pub(super) fn candidates(
        report: &Report,
        kind: Option<&str>,
        about: &About,
    ) -> Result<Result<Vec<Target>, String>, String> {
        /// Each candidate is compared with the others, which takes time linear in the history.
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

    /// Returns true if a report on a part shows the same anomaly, and no new types. For transactions, cycles of any
    /// type are allowed: for each component only the worst cycles are listed, so the whole may list G1c where a part
    /// lists G1c-realtime.
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

    /// The keys on which transactions are related, as texts. Operations on other keys do not matter.
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
