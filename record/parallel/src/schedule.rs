//! Schedules: who takes each step, as one short string.

use crate::ThreadId;
use crate::ids::{index, small};
use crate::op::{Step, extra};
use std::fmt;
use std::str::FromStr;

/// Steps of one schedule, at most.
const STEPS_MAX: u64 = 100_000_000;

/// Who takes each step of an execution.
///
/// Written as the threads' letters, each with the number of steps that it takes in a row if there are several. What is
/// omitted at the end continues undisturbed: a thread runs until it must wait or is done, and then comes the one with
/// the lowest number.
///
/// ```
/// use record_parallel::Schedule;
///
/// let schedule: Schedule = "a2bc12b".parse()?;
/// assert_eq!(schedule.threads().count(), 16);
/// assert_eq!(schedule.to_string(), "a2bc12b");
/// assert!("a0".parse::<Schedule>().is_err());
/// # Ok::<(), record_parallel::ScheduleError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedule {
    /// No two neighbours are of one thread, and none is of no steps.
    runs: Vec<(ThreadId, u32)>,
}

impl Schedule {
    /// Who takes each step.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.runs.iter().flat_map(|(thread, steps)| std::iter::repeat_n(*thread, index(*steps)))
    }

    /// The schedule of an execution, without what continues undisturbed at its end.
    pub(crate) fn of(steps: &[Step]) -> Schedule {
        let said = steps.iter().rposition(|step| !step.has(extra::UNDISTURBED)).map_or(0, |last| last + 1);
        steps[..said].iter().map(|step| step.thread).collect()
    }

    /// The schedule of an execution, every step of it.
    pub(crate) fn in_full(steps: &[Step]) -> Schedule {
        steps.iter().map(|step| step.thread).collect()
    }

    fn push(&mut self, thread: ThreadId, more: u32) {
        match self.runs.last_mut() {
            Some((last, steps)) if *last == thread => *steps = steps.saturating_add(more),
            _ => self.runs.push((thread, more)),
        }
    }
}

impl FromIterator<ThreadId> for Schedule {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> Schedule {
        let mut schedule = Schedule::default();
        threads.into_iter().for_each(|thread| schedule.push(thread, 1));
        schedule
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.runs.is_empty() {
            return f.write_str("-");
        }
        self.runs.iter().try_for_each(|(thread, steps)| match steps {
            1 => write!(f, "{thread}"),
            _ => write!(f, "{thread}{steps}"),
        })
    }
}

/// Why a text is not a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleError(pub(crate) String);

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScheduleError {}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        let error =
            |at: usize, what: &str| ScheduleError(format!("not a schedule: {what} at position {at} of {text:?}"));
        let mut schedule = Schedule::default();
        let mut total = 0_u64;
        let mut rest = text.char_indices().peekable();
        if text == "-" {
            return Ok(schedule);
        }
        if text.is_empty() {
            return Err(error(0, "the text is empty (an empty schedule is \"-\")"));
        }
        while let Some((at, letter)) = rest.next() {
            let thread = ThreadId::from_letter(letter).ok_or_else(|| error(at, "expected the letter of a thread"))?;
            let mut steps: Option<u64> = None;
            while let Some((_, digit)) = rest.next_if(|(_, c)| c.is_ascii_digit()) {
                let digit = u64::from(u32::from(digit) - u32::from('0'));
                steps = Some((steps.unwrap_or(0) * 10 + digit).min(STEPS_MAX + 1));
            }
            let steps = steps.unwrap_or(1);
            total += steps;
            if steps == 0 || total > STEPS_MAX {
                return Err(error(at, &format!("expected 1 to {STEPS_MAX} steps")));
            }
            schedule.push(thread, small(steps));
        }
        Ok(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::{STEPS_MAX, Schedule};
    use crate::ThreadId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_schedule_is_what_it_is_written_as(numbers in prop::collection::vec(0_usize..52, 0..60)) {
            let threads: Vec<ThreadId> = numbers.into_iter().filter_map(ThreadId::new).collect();
            let schedule: Schedule = threads.iter().copied().collect();
            prop_assert_eq!(schedule.threads().collect::<Vec<_>>(), threads);
            prop_assert_eq!(schedule.to_string().parse::<Schedule>(), Ok(schedule));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            let _ = text.parse::<Schedule>();
        }
    }

    #[test]
    fn what_is_no_schedule_is_told_with_its_place() {
        for (text, told) in [
            ("", "not a schedule: the text is empty (an empty schedule is \"-\") at position 0 of \"\""),
            ("a2-", "not a schedule: expected the letter of a thread at position 2 of \"a2-\""),
            ("ab0", "not a schedule: expected 1 to 100000000 steps at position 1 of \"ab0\""),
        ] {
            assert_eq!(text.parse::<Schedule>().unwrap_err().to_string(), told);
        }
        assert!(format!("a{STEPS_MAX}0").parse::<Schedule>().is_err());
        assert!(format!("a{STEPS_MAX}b1").parse::<Schedule>().is_err());
        assert!("a99999999999999999999999".parse::<Schedule>().is_err());
    }
}
