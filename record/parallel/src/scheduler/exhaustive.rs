//! Exhaustive: every schedule, depth first; or every one with a bounded number of preemptions.
//!
//! Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded Programs" (PLDI 2007):
//! most bugs take few preemptions, and with k steps there are in the order of k^c schedules with c of them.
//!
//! A thread that yields may continue immediately, or other threads go first. A thread that yields in a loop must wait
//! for the others at some point, as otherwise its schedules would be endless; `fairness` determines when, and why no
//! behaviour is lost. Before the thread has to wait, it is run alone, once from each such point: if its loop ends
//! within [`ROUNDS_MAX`] rounds, all schedules from there count like any others; if not, the thread waits.

use super::fairness::{Fairness, may_hide_changes};
use super::{Choice, Ended, Pick, Scheduler};
use crate::{ThreadId, ThreadSet};

/// A thread that yields this many times in a row without a change is assumed to be in a loop that waits for another
/// thread.
const ROUNDS_MAX: u32 = 64;

/// Tries schedule after schedule. Those with fewer changes of thread towards the end come first.
#[derive(Clone, Debug)]
pub struct Exhaustive {
    preemptions_max: Option<u32>,
    picks_max: Option<u32>,
    executions_max: u64,
    begun: u64,
    /// The choices of this execution, and the untried alternatives of each.
    frames: Vec<Frame>,
    depth: usize,
    preemptions: u32,
    /// The number of picks of this execution that are not 0.
    picks: u32,
    fairness: Fairness,
    /// A thread that is run alone to find out whether its loop ends, and the first frame of that run.
    alone: Option<(ThreadId, usize)>,
    /// Whether the loop of that thread does not end. The rest of this execution is then redundant.
    is_redundant: bool,
    /// The thread whose loop did not end, and the first step at which it was run alone.
    circled: Option<(ThreadId, usize)>,
    /// Whether schedules were omitted that might have had other results.
    is_cut: bool,
    is_complete: bool,
    error: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum Frame {
    /// The choice of the next thread.
    Next {
        chosen: ThreadId,
        left: ThreadSet,
        /// Threads that wait because they seem to loop, and that were not yet run alone from here.
        circling: ThreadSet,
    },
    /// The current value of a pick; higher values are untried.
    Pick { value: u32, options: u32 },
}

impl Frame {
    fn is_done(self) -> bool {
        match self {
            Frame::Next { left, circling, .. } => left.is_empty() && circling.is_empty(),
            Frame::Pick { value, options } => value + 1 >= options,
        }
    }
}

impl Exhaustive {
    /// Creates a scheduler for every schedule.
    pub fn new() -> Exhaustive {
        Exhaustive {
            preemptions_max: None,
            picks_max: None,
            executions_max: u64::MAX,
            begun: 0,
            frames: Vec::new(),
            depth: 0,
            preemptions: 0,
            picks: 0,
            fairness: Fairness::default(),
            alone: None,
            is_redundant: false,
            circled: None,
            is_cut: false,
            is_complete: false,
            error: None,
        }
    }

    /// Limits the search to schedules with at most this many preemptions: switches from a thread that could continue
    /// and did not yield.
    #[must_use]
    pub fn preemptions_max(mut self, preemptions: u32) -> Exhaustive {
        self.preemptions_max = Some(preemptions);
        self
    }

    /// Limits the search to schedules with at most this many [picks](Pick) other than 0.
    #[must_use]
    pub fn picks_max(mut self, picks: u32) -> Exhaustive {
        self.picks_max = Some(picks);
        self
    }

    /// Sets the maximum number of executions. The search may then not be complete.
    #[must_use]
    pub fn executions_max(mut self, executions: u64) -> Exhaustive {
        self.executions_max = executions;
        self
    }

    /// The alternatives at a new point of the search. `fair` contains the threads that need not wait.
    fn frame(&self, choice: &Choice<'_>, fair: ThreadSet) -> Option<Frame> {
        let bound = self.preemptions_max == Some(self.preemptions) && !choice.yielded();
        if let Some(chosen) = choice.current().filter(|_| bound) {
            return Some(Frame::Next { chosen, left: ThreadSet::default(), circling: ThreadSet::default() });
        }
        let circles = |thread: &ThreadId| !fair.contains(*thread) && self.fairness.idle(*thread) > 0;
        let circling = choice.ready().iter().filter(circles).fold(ThreadSet::default(), ThreadSet::with);
        let chosen = match self.alone {
            Some((thread, _)) => thread,
            None => fairly(choice, fair)?,
        };
        Some(Frame::Next { chosen, left: fair.without(chosen), circling: circling.without(chosen) })
    }

    /// Decides whether a thread that is run alone continues. Returns true if its loop does not end.
    fn circles(&mut self, choice: &Choice<'_>, fair: ThreadSet) -> bool {
        let Some((thread, from)) = self.alone.filter(|_| self.depth == self.frames.len()) else { return false };
        if !choice.ready().contains(thread) || fair.contains(thread) {
            // The thread waits for something else, or has left its loop.
            self.alone = None;
            return false;
        }
        let is_long = choice.step() >= choice.steps_max / 2;
        if self.fairness.idle(thread) < ROUNDS_MAX && !is_long {
            return false;
        }
        self.is_cut |= is_long;
        self.frames.truncate(from + 1);
        self.is_redundant = true;
        let alone = choice.steps.iter().rev().take_while(|step| step.thread == thread).count();
        self.circled = Some((thread, choice.step() - alone));
        true
    }
}

/// The thread that continues by default, among those that need not wait.
fn fairly(choice: &Choice<'_>, fair: ThreadSet) -> Option<ThreadId> {
    choice.undisturbed().filter(|thread| fair.contains(*thread)).or_else(|| fair.first())
}

impl Default for Exhaustive {
    fn default() -> Exhaustive {
        Exhaustive::new()
    }
}

impl Scheduler for Exhaustive {
    fn begin(&mut self) -> bool {
        self.depth = 0;
        self.preemptions = 0;
        self.picks = 0;
        self.is_cut |= self.fairness.is_cut();
        self.fairness.begin();
        self.alone = None;
        self.is_redundant = false;
        self.circled = None;
        if self.begun > 0 {
            while self.frames.pop_if(|frame| frame.is_done()).is_some() {}
            let from = self.frames.len().saturating_sub(1);
            match self.frames.last_mut() {
                None => {
                    self.is_complete = !self.is_cut;
                    return false;
                }
                Some(Frame::Pick { value, .. }) => *value += 1,
                Some(Frame::Next { chosen, left, circling }) => {
                    if let Some(next) = left.first() {
                        *chosen = next;
                        left.remove(next);
                    } else if let Some(next) = circling.first() {
                        *chosen = next;
                        circling.remove(next);
                        self.alone = Some((next, from));
                    }
                }
            }
        }
        self.begun += 1;
        self.begun <= self.executions_max
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        let fair = self.fairness.fair(choice);
        if self.is_redundant || self.circles(choice, fair) {
            return fairly(choice, fair);
        }
        if self.depth == self.frames.len() {
            let frame = self.frame(choice, fair)?;
            self.frames.push(frame);
        }
        let Frame::Next { chosen, .. } = self.frames[self.depth] else {
            self.error = Some("the program is not deterministic: it picks something less in this run".into());
            return None;
        };
        self.depth += 1;
        if !choice.ready().contains(chosen) {
            self.error = Some(format!("the program is not deterministic: thread {chosen} cannot continue in this run"));
            return None;
        }
        if choice.current().is_some_and(|current| current != chosen && !choice.yielded()) {
            self.preemptions += 1;
        }
        Some(chosen)
    }

    fn pick(&mut self, _: Pick, options: u32) -> Option<u32> {
        if self.is_redundant {
            return Some(0);
        }
        if self.depth == self.frames.len() {
            let options = if self.picks_max == Some(self.picks) { 1 } else { options };
            self.frames.push(Frame::Pick { value: 0, options });
        }
        let Frame::Pick { value, .. } = self.frames[self.depth] else {
            self.error = Some("the program is not deterministic: it picks something more in this run".into());
            return None;
        };
        self.depth += 1;
        self.picks += u32::from(value > 0);
        Some(value)
    }

    fn end(&mut self, ended: &Ended<'_>) -> bool {
        self.is_cut |= self.circled.is_some_and(|(thread, from)| may_hide_changes(ended.steps, thread, from));
        !self.is_redundant
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn error(&self) -> Option<String> {
        self.error.clone()
    }
}
