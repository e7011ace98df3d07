//! Assigns the steps of an execution to commands.

use crate::Schedule;
use crate::op::{Step, ThreadId, extra};

/// The threads of a program: thread 0 runs the prefix and the suffix, the threads of the branches are found by their
/// names.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    /// The thread of each branch.
    pub(crate) threads: Vec<ThreadId>,
}

impl Lanes {
    /// The branch of a thread; `None` for the prefix and the suffix. Threads that the object started itself belong to
    /// no branch.
    #[expect(clippy::option_option, reason = "a lane is a branch or the prefix, here and wherever records are kept")]
    pub(crate) fn lane(&self, thread: ThreadId) -> Option<Option<usize>> {
        match self.threads.iter().position(|of| *of == thread) {
            None => (thread.at() == 0).then_some(None),
            branch => Some(branch),
        }
    }
}

/// For each step, the command that it belongs to: its lane, and its number in that lane.
pub(crate) fn commands_of_steps(steps: &[Step], lanes: &Lanes) -> Vec<Option<(Option<usize>, usize)>> {
    // For each lane, the prefix last: the number of the current or next command, and whether it is running.
    let mut now = vec![(0_usize, false); lanes.threads.len() + 1];
    let of = |step: &Step| {
        let lane = lanes.lane(step.thread)?;
        let (number, is_running) = &mut now[lane.unwrap_or(lanes.threads.len())];
        *is_running |= step.has(extra::CALL);
        let command = is_running.then_some((lane, *number));
        if step.has(extra::RETURN) && *is_running {
            *is_running = false;
            *number += 1;
        }
        command
    };
    steps.iter().map(of).collect()
}

/// The schedule of an execution for the program without one command. The steps of the command are removed; if its
/// branch is then empty, the letters of the threads after it change.
pub(crate) fn without_command(
    steps: &[Step],
    lanes: &Lanes,
    lane: Option<usize>,
    number: usize,
    is_last: bool,
) -> Schedule {
    let gone = if is_last { lane.map(|branch| lanes.threads[branch]) } else { None };
    let commands = commands_of_steps(steps, lanes);
    let kept = steps.iter().zip(commands).filter(|(_, command)| *command != Some((lane, number)));
    let left = kept.filter(|(step, _)| Some(step.thread) != gone).map(|(step, _)| match gone {
        Some(gone) if step.thread > gone => (ThreadId(step.thread.0 - 1), step.picks),
        _ => (step.thread, step.picks),
    });
    left.collect()
}
