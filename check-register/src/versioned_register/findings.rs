//! Findings: the kinds of violations, the number of each, and witnesses of the first few.

use history_core::{Anomaly, Verdict, Witness};

/// A kind of violation of the rules of a versioned register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    CyclicVersions,
    FailedWriteObserved,
    FutureRead,
    GarbageRead,
    LostUpdate,
    StaleRead,
    UnknownVersion,
    WrongInitialValue,
    WrongValue,
}

/// All kinds, in the order of their names.
const KINDS: [(Kind, &str); 9] = [
    (Kind::CyclicVersions, "cyclic-versions"),
    (Kind::FailedWriteObserved, "failed-write-observed"),
    (Kind::FutureRead, "future-read"),
    (Kind::GarbageRead, "garbage-read"),
    (Kind::LostUpdate, "lost-update"),
    (Kind::StaleRead, "stale-read"),
    (Kind::UnknownVersion, "unknown-version"),
    (Kind::WrongInitialValue, "wrong-initial-value"),
    (Kind::WrongValue, "wrong-value"),
];

impl Kind {
    /// The bits of the kinds that do not depend on the order of the ops.
    pub(crate) const LASTING: u16 = Kind::WrongValue.bit();

    pub(crate) const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The violations found so far.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    found: [(u64, Vec<Witness>); KINDS.len()],
    witnesses_max: usize,
}

impl Findings {
    pub(crate) fn new(witnesses_max: usize) -> Findings {
        Findings { found: Default::default(), witnesses_max }
    }

    /// Counts a violation, and keeps a witness if it `is_first` of its kind for its key and there are not too many.
    /// Returns true if a witness was kept.
    pub(crate) fn add(&mut self, kind: Kind, is_first: bool, explain: impl FnOnce() -> Witness) -> bool {
        let (count, witnesses) = &mut self.found[kind as usize];
        *count += 1;
        let keeps = is_first && witnesses.len() < self.witnesses_max;
        if keeps {
            witnesses.push(explain());
        }
        keeps
    }

    /// Removes all violations that depend on the order of the ops.
    pub(crate) fn clear_ordered(&mut self) {
        self.clear(|kind| kind.bit() & Kind::LASTING == 0);
    }

    /// Removes all violations that do not depend on the order of the ops.
    pub(crate) fn clear_lasting(&mut self) {
        self.clear(|kind| kind.bit() & Kind::LASTING != 0);
    }

    fn clear(&mut self, which: impl Fn(Kind) -> bool) {
        for (kind, _) in KINDS {
            if which(kind) {
                self.found[kind as usize] = Default::default();
            }
        }
    }

    /// Returns true if nothing was found.
    pub(crate) fn is_clean(&self) -> bool {
        self.found.iter().all(|(count, _)| *count == 0)
    }

    pub(crate) fn verdict(&self) -> Verdict {
        if self.is_clean() { Verdict::Valid } else { Verdict::Invalid }
    }

    /// The violations as anomalies of a report.
    pub(crate) fn into_anomalies(self) -> Vec<Anomaly> {
        let all = KINDS.into_iter().zip(self.found);
        let found = all.filter(|(_, (count, _))| *count > 0);
        found.map(|((_, name), (count, witnesses))| Anomaly { name: name.into(), count, witnesses }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_by_name() {
        assert!(KINDS.is_sorted_by_key(|(_, name)| *name));
        for (at, (kind, _)) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, at);
        }
    }

    #[test]
    fn all_are_counted_and_the_first_are_kept() {
        let mut findings = Findings::new(1);
        assert_eq!(findings.verdict(), Verdict::Valid);
        assert!(findings.add(Kind::StaleRead, true, Witness::default));
        assert!(!findings.add(Kind::StaleRead, true, || unreachable!()));
        assert!(findings.add(Kind::WrongValue, true, Witness::default));
        assert!(!findings.add(Kind::WrongValue, false, || unreachable!()));
        findings.clear_ordered();
        assert_eq!(findings.verdict(), Verdict::Invalid);
        let [Anomaly { name, count: 2, witnesses }] = &findings.into_anomalies()[..] else { panic!() };
        assert_eq!((name.as_ref(), witnesses.len()), ("wrong-value", 1));
    }
}
