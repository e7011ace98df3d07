//! Ops that were refused because of their writers, and their effect on the verdict.

use history_core::{NextStep, Report, Verdict};

/// The maximum number of refusals that the report names; the others are counted.
const NAMED_MAX: usize = 4;
/// The maximum number of warnings about refusals. If standard error is a pipe that is not read, more of them would fill
/// the pipe and block the watch.
const WARNED_MAX: usize = 10;
/// The maximum number of characters in a warning: it may quote the text of a writer.
const WARNING_CHARS_MAX: usize = 500;

/// The possible errors in the recorded history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// None: each op that took effect was recorded before it did.
    #[default]
    None,
    /// From here on, operations may take effect that are not recorded.
    FromHere,
    /// Operations may have taken effect before they were recorded, or without being recorded.
    FromTheBeginning,
}

/// A refused writer or message, without which the history continues.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The subject of a sentence.
    pub(super) who: String,
    pub(super) why: String,
    pub(super) doubt: Doubt,
}

impl Refusal {
    pub(super) fn sentence(&self) -> String {
        format!("{} was refused: {}", self.who, self.why)
    }
}

/// All refusals so far.
#[derive(Debug, Default)]
pub(super) struct Refused {
    count: usize,
    named: Vec<String>,
    doubt: Doubt,
}

impl Refused {
    /// Adds a refusal. Returns the warning to print, unless there were too many.
    pub(super) fn add(&mut self, refusal: &Refusal) -> Option<String> {
        self.count += 1;
        self.doubt = self.doubt.max(refusal.doubt);
        let sentence = refusal.sentence();
        let warning = (self.count <= WARNED_MAX).then(|| {
            let is_last = self.count == WARNED_MAX;
            let end = if is_last { "\nfurther refusals are counted, but not reported" } else { "" };
            match sentence.char_indices().nth(WARNING_CHARS_MAX) {
                Some((at, _)) => format!("{}...{end}", &sentence[..at]),
                None => format!("{sentence}{end}"),
            }
        });
        if self.named.len() < NAMED_MAX {
            self.named.push(sentence);
        }
        warning
    }

    pub(super) fn doubt(&self) -> Doubt {
        self.doubt
    }

    /// Removes from a report what is not certain: the history is never valid, and it is invalid only if that
    /// `was_certain` before there was doubt, or if there is no doubt.
    pub(super) fn qualify(&self, report: &mut Report, was_certain: bool) {
        if self.count == 0 {
            return;
        }
        let stands = match self.doubt {
            Doubt::None => true,
            Doubt::FromHere => was_certain,
            Doubt::FromTheBeginning => false,
        };
        let was_invalid = report.verdict == Verdict::Invalid;
        lower(report, stands);
        report.notes.extend(self.named.iter().cloned());
        if self.count > self.named.len() {
            report.notes.push(format!("{} more were refused.", self.count - self.named.len()));
        }
        report.notes.push("Refused ops are missing, so the rest cannot prove that the history is valid.".into());
        report.add_next(NextStep::new("Correct the writers as described in the notes, and watch again."));
        if !stands && was_invalid {
            report.notes.push(
                "An operation that took effect may be missing, or may be recorded after it began. The anomaly may be caused by \
                 that, so it is no proof of a violation."
                    .into(),
            );
        }
    }
}

/// Removes the uncertain statements of a report and of its members.
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
            (D::FromTheBeginning, false, V::Unknown, V::Unknown),
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
            let is_taken_back = report.notes.iter().any(|note| note.contains("it is no proof of a violation"));
            assert_eq!(
                is_taken_back,
                verdict == V::Invalid && left == V::Unknown,
                "{doubt:?} {was_certain} {verdict:?}"
            );
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

    #[test]
    fn warnings_are_few_and_short() {
        let mut refused = Refused::default();
        let why = "\u{e9}".repeat(WARNING_CHARS_MAX);
        let refusal = Refusal { who: "writer 1".into(), why: why.clone(), doubt: Doubt::None };
        let warnings: Vec<String> = (0..20).filter_map(|_| refused.add(&refusal)).collect();
        assert_eq!(warnings.len(), WARNED_MAX);
        let first = &warnings[0];
        assert!(first.starts_with("writer 1 was refused: \u{e9}") && first.ends_with("\u{e9}..."), "{first}");
        assert_eq!(first.chars().count(), WARNING_CHARS_MAX + 3);
        let last = &warnings[WARNED_MAX - 1];
        assert!(last.ends_with("...\nfurther refusals are counted, but not reported"), "{last}");
        assert_eq!(refused.named[0], format!("writer 1 was refused: {why}"), "the report has a limit of its own");
    }
}
