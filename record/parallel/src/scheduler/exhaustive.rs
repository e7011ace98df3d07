//! Exhaustive: every schedule, depth first; or every one with a bounded number of preemptions.
//!
//! Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded Programs" (PLDI 2007): most bugs take
//! few preemptions, and with k steps there are in the order of k^c schedules with c of them.
//!
//! A thread that yields lets others go first if any can: schedules in which it goes on at once are left out, or those of a
//! thread that spins would have no end.

use super::{Choice, Scheduler};
use crate::{ThreadId, ThreadSet};

/// Tries schedule after schedule. Those with fewer changes of thread towards the end come first.
#[derive(Clone, Debug)]
pub struct Exhaustive {
    preemptions_max: Option<u32>,
    executions_max: u64,
    begun: u64,
    /// The choices of this execution, and what is still to be tried at each.
    frames: Vec<Frame>,
    depth: usize,
    preemptions: u32,
    is_complete: bool,
    error: Option<String>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    chosen: ThreadId,
    left: ThreadSet,
}

impl Exhaustive {
    /// Every schedule.
    pub fn new() -> Exhaustive {
        Exhaustive {
            preemptions_max: None,
            executions_max: u64::MAX,
            begun: 0,
            frames: Vec::new(),
            depth: 0,
            preemptions: 0,
            is_complete: false,
            error: None,
        }
    }

    /// Only those with so many preemptions at most: a preemption takes the baton from a thread that could go on and did not yield.
    #[must_use]
    pub fn preemptions_max(mut self, preemptions: u32) -> Exhaustive {
        self.preemptions_max = Some(preemptions);
        self
    }

    /// No more executions than this. The search may then not be complete.
    #[must_use]
    pub fn executions_max(mut self, executions: u64) -> Exhaustive {
        self.executions_max = executions;
        self
    }

    fn options(&self, choice: &Choice<'_>) -> ThreadSet {
        let willing = choice.willing();
        match choice.current() {
            Some(current) if willing.contains(current) && self.preemptions_max == Some(self.preemptions) => {
                ThreadSet::default().with(current)
            }
            _ => willing,
        }
    }
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
        if self.begun > 0 {
            while self.frames.pop_if(|frame| frame.left.is_empty()).is_some() {}
            let Some(frame) = self.frames.last_mut() else {
                self.is_complete = true;
                return false;
            };
            if let Some(next) = frame.left.first() {
                *frame = Frame { chosen: next, left: frame.left.without(next) };
            }
        }
        self.begun += 1;
        self.begun <= self.executions_max
    }

    fn next(&mut self, choice: &Choice<'_>) -> Option<ThreadId> {
        if self.depth == self.frames.len() {
            let options = self.options(choice);
            let chosen = choice.current().filter(|current| options.contains(*current)).or_else(|| options.first())?;
            self.frames.push(Frame { chosen, left: options.without(chosen) });
        }
        let chosen = self.frames[self.depth].chosen;
        self.depth += 1;
        if !choice.ready().contains(chosen) {
            self.error = Some(format!("the program did something else this time: thread {chosen} cannot go on"));
            return None;
        }
        if choice.current().is_some_and(|current| current != chosen && !choice.yielded()) {
            self.preemptions += 1;
        }
        Some(chosen)
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn error(&self) -> Option<String> {
        self.error.clone()
    }
}
