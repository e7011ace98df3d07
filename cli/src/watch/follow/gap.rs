//! Text that may be missing from a history, because its file was emptied or replaced while it was followed.
//!
//! Text that was added after the last read, and before the file was emptied, is lost. A file that had the name for a
//! short time may never have been opened. Only consecutive indices show that no op is missing, and only up to the last
//! op: only an op of the new text shows whether ops at the end are missing.

use crate::watch::refused::lower;
use history_core::{NextStep, Report};

/// The position of missing ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::watch) enum Gap {
    None,
    /// After the ops that were read: no op of the new text was read yet.
    Behind,
    /// Between the ops that were read, or before them.
    Before,
}

/// The warning, which is printed at once.
pub(in crate::watch) const WARNING: &str = "the history's file was emptied or replaced. Some of its ops may not have been read, and \
                                  no consecutive indices show that all were: from here on the verdict can only be unknown";

/// Removes from a report what is no longer certain: the history is never valid, and it is invalid only if that
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

    /// The gap of a feed of these lines, if the file was replaced before the line with that number.
    fn gap(lines: &[&str], replaced_before: Option<usize>) -> Gap {
        let (sender, inbox) = inbox();
        let mut begins = Vec::from([0]);
        for line in lines {
            begins.push(begins.last().unwrap() + line.len() + 1);
            sender.send(Arrival::Some(format!("{line}\n").into_bytes())).unwrap();
        }
        sender.send(Arrival::Cut).unwrap();
        let shared = Arc::new(Shared::default());
        if let Some(number) = replaced_before {
            shared.replace(u64::try_from(begins[number]).unwrap());
        }
        let mut feed = Feed::followed(inbox, &ReadAs::default(), shared);
        let mut batch = Batch::new();
        while feed.read_batch(&mut batch).unwrap() {}
        feed.gap()
    }

    #[test]
    fn only_indices_show_that_nothing_is_missing() {
        let op = |index: &str| format!("{{:process 0, :type :ok, :f :read, :value 1{index}}}");
        let (bare, three, four, five) = (op(""), op(", :index 3"), op(", :index 4"), op(", :index 5"));
        assert_eq!(gap(&[&bare, &bare], Some(1)), Gap::Before);
        assert_eq!(gap(&[&three, &five], Some(1)), Gap::Before);
        assert_eq!(gap(&[&three, &four], Some(1)), Gap::None);
        assert_eq!(gap(&[&bare, &bare], None), Gap::None, "it only grew");
    }

    /// More text may have been written and removed before it was read: `[3 4]` does not exclude a 5.
    #[test]
    fn only_an_op_of_the_new_text_shows_that_nothing_is_missing_before_it() {
        let op = |index: u64| format!("{{:process 0, :type :ok, :f :read, :value 1, :index {index}}}");
        let (three, four, five) = (&*op(3), &*op(4), &*op(5));
        assert_eq!(gap(&[three, four], Some(2)), Gap::Behind);
        assert_eq!(gap(&[three, four, five], Some(2)), Gap::None);
        assert_eq!(gap(&[three, four, "  {:process"], Some(2)), Gap::Behind, "no op yet");
        assert_eq!(gap(&[three, four, "  ", five], Some(2)), Gap::None);
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
