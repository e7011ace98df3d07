//! Observations of a user's own harness, placed among the ops by time.

use super::Band;
use crate::text;
use history_core::Op;
use history_core::cast::Cast as _;

/// The maximum number of characters of a text and of a lane's name.
const TEXT_CHARS_MAX: usize = 200;
const LANE_CHARS_MAX: usize = 24;

/// A line of a log, or an event with an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The text.
    pub text: String,
    /// Annotations of one lane are drawn side by side.
    pub lane: String,
    /// The time of its beginning in nanoseconds, as in ops.
    pub from_ns: i64,
    /// The time of its end; equal to the beginning if it is a moment.
    pub until_ns: i64,
}

/// Annotations, and the ops beside which they are placed.
#[derive(Clone, Debug, Default)]
pub struct Annotations {
    all: Vec<Placed>,
    /// Times that no op has reached yet, in descending order: each with a position in `all`, and whether it is an end.
    ahead: Vec<(i64, usize, bool)>,
    /// The last index plus one.
    next_index: u64,
}

#[derive(Clone, Debug)]
struct Placed {
    annotation: Annotation,
    first: Option<u64>,
    last: Option<u64>,
}

impl Annotations {
    /// Creates annotations, in any order. One that ends before it begins is a moment.
    pub fn new(all: Vec<Annotation>) -> Annotations {
        let placed = |it: Annotation| Placed {
            annotation: Annotation {
                text: text::shown(&it.text, TEXT_CHARS_MAX),
                lane: text::clipped(&it.lane, LANE_CHARS_MAX),
                until_ns: it.until_ns.max(it.from_ns),
                ..it
            },
            first: None,
            last: None,
        };
        let all: Vec<Placed> = all.into_iter().map(placed).collect();
        let times =
            |(at, it): (usize, &Placed)| [(it.annotation.from_ns, at, false), (it.annotation.until_ns, at, true)];
        let mut ahead: Vec<(i64, usize, bool)> = all.iter().enumerate().flat_map(times).collect();
        ahead.sort_unstable_by(|one, other| other.cmp(one));
        Annotations { all, ahead, next_index: 0 }
    }

    /// Places the annotations whose times are not later than an op's.
    pub(super) fn observe(&mut self, op: &Op<'_>) {
        self.next_index = op.index + 1;
        let Some(time) = op.time else { return };
        while let Some((_, at, is_end)) = self.ahead.pop_if(|(ahead, ..)| *ahead <= time) {
            let placed = &mut self.all[at];
            *(if is_end { &mut placed.last } else { &mut placed.first }) = Some(op.index);
        }
    }

    /// The number of annotations that are entirely before or after the times of a run.
    pub(super) fn outside(&self, (first_ns, last_ns): (i64, i64)) -> u64 {
        let is_outside = |it: &&Placed| it.annotation.until_ns < first_ns || it.annotation.from_ns > last_ns;
        self.all.iter().filter(is_outside).count().to_u64()
    }

    /// The number of annotations.
    pub(super) fn len(&self) -> u64 {
        self.all.len().to_u64()
    }

    /// The annotations as bands. Those later than all ops are placed after the last one.
    pub(super) fn bands(&self) -> impl Iterator<Item = Band> + '_ {
        self.all.iter().map(|Placed { annotation, first, last }| Band {
            what: annotation.text.clone(),
            lane: Some(annotation.lane.clone()),
            first: first.unwrap_or(self.next_index),
            last: Some(last.unwrap_or(self.next_index)),
            from_ns: Some(annotation.from_ns),
            until_ns: Some(annotation.until_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history_core::History;

    #[test]
    fn annotations_are_placed_at_the_first_op_that_is_not_before_them() {
        let annotation =
            |text: &str, from_ns, until_ns| Annotation { text: text.into(), lane: "n1".into(), from_ns, until_ns };
        let mut annotations =
            Annotations::new(vec![annotation("b", 15, 25), annotation("a", 10, 10), annotation("late", 99, 0)]);
        let ops = "{:process 0, :type :invoke, :f :x, :time 10} {:process 0, :type :ok, :f :x, :time 20}
            {:process 0, :type :invoke, :f :x, :time 30}";
        History::parse(ops).unwrap().ops().for_each(|op| annotations.observe(&op));
        let seen: Vec<_> = annotations.bands().map(|band| (band.what, band.first, band.last, band.until_ns)).collect();
        let expected = [("b", 1, 2, 25), ("a", 0, 0, 10), ("late", 3, 3, 99)];
        assert_eq!(seen, expected.map(|(what, first, last, until)| (what.to_owned(), first, Some(last), Some(until))));
    }
}
