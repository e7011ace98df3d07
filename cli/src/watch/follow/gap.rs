//! Text that may be missing from a history, since its file was emptied or replaced while it was followed.
//!
//! What was added to a file after the last look, and before it was emptied, is gone; and a file that had the name for a
//! short time may never have been opened. Only consecutive indices show that nothing is missing.

use crate::watch::refused::lower;
use history_core::{NextStep, Report};

/// What is said as soon as it happens.
pub(in crate::watch) const WARNING: &str = "the history's file was emptied or replaced. Some of its ops may not have been read, and \
                                  no consecutive indices show that all were: from here on the verdict can only be unknown";

/// Makes a report say no more than is known: never that all is valid, and that something is not only if it
/// `was_certain` before.
pub(in crate::watch) fn qualify(report: &mut Report, was_certain: bool) {
    lower(report, was_certain);
    report.notes.push(
        "The history's file was emptied or replaced while it was watched. Some of its ops may not have been read, and no \
         consecutive indices show that all were."
            .into(),
    );
    report.add_next(NextStep::new(
        "Give each op an index (0, 1, 2 and so on, continued in the next file), or let the history be one file that only grows.",
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::feed::Feed;
    use crate::watch::follow::Shared;
    use crate::watch::inbox::{Arrival, inbox};
    use histcheck_front::ReadAs;
    use history_core::{Batch, Verdict};
    use std::sync::Arc;

    /// Whether a feed of these lines has a gap, if their file was replaced in between.
    fn has_gap(lines: &[&str], is_replaced: bool) -> bool {
        let (sender, inbox) = inbox();
        for line in lines {
            sender.send(Arrival::Some(format!("{line}\n").into_bytes())).unwrap();
        }
        sender.send(Arrival::Cut).unwrap();
        let shared = Arc::new(Shared::default());
        if is_replaced {
            shared.replace(0);
        }
        let mut feed = Feed::followed(inbox, &ReadAs::default(), shared);
        let mut batch = Batch::new();
        while feed.read_batch(&mut batch).unwrap() {}
        feed.has_gap()
    }

    #[test]
    fn only_indices_show_that_nothing_is_missing() {
        let op = |index: &str| format!("{{:process 0, :type :ok, :f :read, :value 1{index}}}");
        let (bare, three, four, five) = (op(""), op(", :index 3"), op(", :index 4"), op(", :index 5"));
        assert!(has_gap(&[&bare, &bare], true));
        assert!(has_gap(&[&three, &five], true));
        assert!(!has_gap(&[&three, &four], true));
        assert!(!has_gap(&[&bare, &bare], false), "it only grew");
    }

    #[test]
    fn a_verdict_says_no_more_than_is_known() {
        use Verdict as V;
        for (verdict, was_certain, left) in
            [(V::Valid, false, V::Unknown), (V::Invalid, false, V::Unknown), (V::Invalid, true, V::Invalid)]
        {
            let mut report = Report::new("all", verdict);
            qualify(&mut report, was_certain);
            assert_eq!(report.verdict, left, "{verdict:?} {was_certain}");
            assert!(report.notes[0].contains("emptied or replaced"));
        }
    }
}
