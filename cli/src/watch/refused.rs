//! What was omitted from a history because of its writers, and what the verdict is worth without it.

use history_core::{NextStep, Report, Verdict};

/// Refusals that the report names; the others are counted.
const NAMED_MAX: usize = 4;

/// What may be wrong with what was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// Nothing: each op that took effect was recorded before it did.
    #[default]
    None,
    /// From here on, ops may take effect that are not recorded.
    FromHere,
    /// Ops may have taken effect before they were recorded, and others without.
    FromTheBeginning,
}

/// A writer, or a message, that the history continues without.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// As the subject of a sentence.
    pub(super) who: String,
    pub(super) why: String,
    pub(super) doubt: Doubt,
}

impl Refusal {
    pub(super) fn sentence(&self) -> String {
        format!("{} was refused: {}", self.who, self.why)
    }
}

/// All that was refused so far.
#[derive(Debug, Default)]
pub(super) struct Refused {
    count: usize,
    named: Vec<String>,
    doubt: Doubt,
}

impl Refused {
    pub(super) fn add(&mut self, refusal: &Refusal) {
        self.count += 1;
        self.doubt = self.doubt.max(refusal.doubt);
        if self.named.len() < NAMED_MAX {
            self.named.push(refusal.sentence());
        }
    }

    pub(super) fn doubt(&self) -> Doubt {
        self.doubt
    }

    /// Makes a report say no more than is known: never that all is valid, and that something is not only if it
    /// `was_certain` before there was doubt, or if there is none.
    pub(super) fn qualify(&self, report: &mut Report, was_certain: bool) {
        if self.count == 0 {
            return;
        }
        let stands = match self.doubt {
            Doubt::None => true,
            Doubt::FromHere => was_certain,
            Doubt::FromTheBeginning => false,
        };
        lower(report, stands);
        report.notes.extend(self.named.iter().cloned());
        if self.count > self.named.len() {
            report.notes.push(format!("{} more were refused.", self.count - self.named.len()));
        }
        report.notes.push("Refused ops are missing, so the rest cannot prove that the history is valid.".into());
        report.add_next(NextStep::new("Correct the writers as described in the notes, and watch again."));
        if !stands {
            report.notes.push(
                "An operation that took effect may be missing, or may be recorded after it began. The anomaly may be caused by \
                 that, so it is no proof of a violation."
                    .into(),
            );
        }
    }
}

/// Takes back what a report, and those that it consists of, cannot say.
pub(super) fn lower(report: &mut Report, invalid_stands: bool) {
    let verdicts = std::iter::once(&mut report.verdict).chain(report.keys.iter_mut().map(|key| &mut key.verdict));
    verdicts.filter(|verdict| **verdict != Verdict::Invalid || !invalid_stands).for_each(|v| *v = Verdict::Unknown);
    report.checkers.iter_mut().for_each(|report| lower(report, invalid_stands));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_no_more_than_is_known() {
        use {Doubt as D, Verdict as V};
        for (doubt, was_certain, verdict, left) in [
            (D::None, false, V::Valid, V::Unknown),
            (D::None, false, V::Unknown, V::Unknown),
            (D::None, false, V::Invalid, V::Invalid),
            (D::FromHere, false, V::Invalid, V::Unknown),
            (D::FromHere, true, V::Invalid, V::Invalid),
            (D::FromTheBeginning, true, V::Invalid, V::Unknown),
        ] {
            let mut refused = Refused::default();
            refused.add(&Refusal { who: "writer 1".into(), why: "why".into(), doubt });
            let mut report = Report::new("all", verdict);
            report.checkers.push(Report::new("one", verdict));
            refused.qualify(&mut report, was_certain);
            assert_eq!(
                (report.verdict, report.checkers[0].verdict),
                (left, left),
                "{doubt:?} {was_certain} {verdict:?}"
            );
            assert_eq!(report.notes[0], "writer 1 was refused: why");
        }
    }

    #[test]
    fn without_refusals_a_report_stays_as_it_is() {
        let mut report = Report::new("all", Verdict::Valid);
        Refused::default().qualify(&mut report, false);
        assert_eq!(report, Report::new("all", Verdict::Valid));
    }

    #[test]
    fn many_refusals_are_counted() {
        let mut refused = Refused::default();
        for number in 0..9 {
            refused.add(&Refusal { who: format!("writer {number}"), why: "why".into(), doubt: Doubt::None });
        }
        let mut report = Report::new("all", Verdict::Valid);
        refused.qualify(&mut report, false);
        assert_eq!((report.notes.len(), report.notes[4].as_str()), (6, "5 more were refused."));
    }
}
