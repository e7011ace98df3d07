//! Schedules: the thread of each step and its picks, as a short string.

use crate::ThreadId;
use crate::ids::{index, small};
use crate::op::{Picks, Step, extra};
use std::fmt;
use std::str::FromStr;

/// The maximum number of steps of one schedule.
const STEPS_MAX: u64 = 100_000_000;

/// The thread of each step of an execution.
///
/// A schedule is written as the letters of the threads, each with the number of its consecutive steps if there are
/// several. Steps omitted at the end run without preemptions: a thread runs until it must wait or is done, followed by
/// the one with the lowest number.
///
/// After a step, `?1` is a [pick](crate::scheduler::Pick) of it other than 0. In `ab2c?1a` the step of `c` has one. If
/// a step has several, those before the last one that is not 0 are written as well.
///
/// ```
/// use record_parallel::Schedule;
///
/// let schedule: Schedule = "a2bc12b".parse()?;
/// assert_eq!(schedule.threads().count(), 16);
/// assert_eq!(schedule.to_string(), "a2bc12b");
/// let schedule: Schedule = "ab2c?1a".parse()?;
/// assert_eq!(schedule.to_string(), "ab2c?1a");
/// assert!("a0".parse::<Schedule>().is_err());
/// # Ok::<(), record_parallel::ScheduleError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedule {
    runs: Vec<Run>,
}

/// Consecutive steps of one thread: at least one. Picks belong to the last step, so a step with picks ends its run; the
/// last pick is not 0. The next run is of another thread, unless this run has picks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Run {
    thread: ThreadId,
    steps: u32,
    picks: Vec<u8>,
}

impl Schedule {
    /// The thread of each step.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.runs.iter().flat_map(|run| std::iter::repeat_n(run.thread, index(run.steps)))
    }

    /// The thread of each step, and its picks.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (ThreadId, &[u8])> {
        self.runs.iter().flat_map(|run| {
            let plain = std::iter::repeat_n((run.thread, &[][..]), index(run.steps) - 1);
            plain.chain(std::iter::once((run.thread, &run.picks[..])))
        })
    }

    /// The schedule of an execution, without the undisturbed steps at its end.
    pub(crate) fn of(steps: &[Step]) -> Schedule {
        let is_written = |step: &Step| !step.has(extra::UNDISTURBED) || !step.picks.said().is_empty();
        let written = steps.iter().rposition(is_written).map_or(0, |last| last + 1);
        Schedule::in_full(&steps[..written])
    }

    /// The schedule with every step of an execution.
    pub(crate) fn in_full(steps: &[Step]) -> Schedule {
        steps.iter().map(|step| (step.thread, step.picks)).collect()
    }

    /// The number of steps of the run at this position.
    pub(crate) fn run(&self, at: usize) -> Option<u32> {
        self.runs.get(at).map(|run| run.steps)
    }

    /// The same schedule with another number of steps in one of its runs.
    pub(crate) fn with_run(&self, at: usize, steps: u32) -> Schedule {
        let mut changed = self.clone();
        changed.runs[at].steps = steps;
        changed
    }

    fn push(&mut self, thread: ThreadId, more: u32) {
        match self.runs.last_mut() {
            Some(last) if last.thread == thread && last.picks.is_empty() => {
                last.steps = last.steps.saturating_add(more);
            }
            _ => self.runs.push(Run { thread, steps: more, picks: Vec::new() }),
        }
    }
}

impl FromIterator<(ThreadId, Picks)> for Schedule {
    fn from_iter<I: IntoIterator<Item = (ThreadId, Picks)>>(steps: I) -> Schedule {
        let mut schedule = Schedule::default();
        for (thread, picks) in steps {
            schedule.push(thread, 1);
            if let Some(last) = schedule.runs.last_mut() {
                last.picks.extend(picks.said());
            }
        }
        schedule
    }
}

impl FromIterator<ThreadId> for Schedule {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> Schedule {
        threads.into_iter().map(|thread| (thread, Picks::default())).collect()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.runs.is_empty() {
            return f.write_str("-");
        }
        for Run { thread, steps, picks } in &self.runs {
            match steps {
                1 => write!(f, "{thread}")?,
                _ => write!(f, "{thread}{steps}")?,
            }
            picks.iter().try_for_each(|pick| write!(f, "?{pick}"))?;
        }
        Ok(())
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
            let mut picks = Vec::new();
            while rest.next_if(|(_, c)| *c == '?').is_some() {
                let digits: String =
                    std::iter::from_fn(|| rest.next_if(|(_, c)| c.is_ascii_digit())).map(|(_, c)| c).collect();
                let pick =
                    digits.parse::<u8>().map_err(|_| error(at, "expected a number from 0 to 255 after \"?\""))?;
                picks.push(pick);
            }
            picks.truncate(picks.iter().rposition(|pick| *pick > 0).map_or(0, |last| last + 1));
            if let Some(last) = schedule.runs.last_mut() {
                last.picks = picks;
            }
        }
        Ok(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::{STEPS_MAX, Schedule};
    use crate::ThreadId;
    use proptest::prelude::*;

    #[test]
    fn picks_belong_to_the_step_before_them() {
        let schedule: Schedule = "ab2?0?3b2c?1?0".parse().unwrap();
        let steps: Vec<(char, Vec<u8>)> =
            schedule.steps().map(|(thread, picks)| (thread.letter(), picks.to_vec())).collect();
        let none = Vec::new;
        let expected = [('a', none()), ('b', none()), ('b', vec![0, 3]), ('b', none()), ('b', none()), ('c', vec![1])];
        assert_eq!(steps, expected);
        assert_eq!(schedule.to_string(), "ab2?0?3b2c?1");
        assert_eq!("a?0b".parse::<Schedule>(), "ab".parse());
    }

    proptest! {
        #[test]
        fn a_written_schedule_is_parsed_to_the_same_schedule(numbers in prop::collection::vec(0_usize..52, 0..60)) {
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
    fn invalid_schedules_are_reported_with_their_place() {
        for (text, message) in [
            ("", "not a schedule: the text is empty (an empty schedule is \"-\") at position 0 of \"\""),
            ("a2-", "not a schedule: expected the letter of a thread at position 2 of \"a2-\""),
            ("?1", "not a schedule: expected the letter of a thread at position 0 of \"?1\""),
            ("ab?", "not a schedule: expected a number from 0 to 255 after \"?\" at position 1 of \"ab?\""),
            ("ab?256", "not a schedule: expected a number from 0 to 255 after \"?\" at position 1 of \"ab?256\""),
            ("ab0", "not a schedule: expected 1 to 100000000 steps at position 1 of \"ab0\""),
        ] {
            assert_eq!(text.parse::<Schedule>().unwrap_err().to_string(), message);
        }
        assert!(format!("a{STEPS_MAX}0").parse::<Schedule>().is_err());
        assert!(format!("a{STEPS_MAX}b1").parse::<Schedule>().is_err());
        assert!("a99999999999999999999999".parse::<Schedule>().is_err());
    }
}
