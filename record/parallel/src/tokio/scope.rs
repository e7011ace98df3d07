//! The owner of tasks: cancels the remaining tasks when the runtime is dropped.

use super::executor::{self, Entered, Task};
use super::turn::Turn;
use crate::execution::Execution;
use crate::object::Object;
use crate::op::Kind;
use crate::{runtime, thread};
use std::any::Any;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The tasks of a runtime.
pub(crate) struct Scope {
    object: Object,
    made: &'static Location<'static>,
    /// The host on which the tasks run, if there is one, and the host's name.
    host: Option<(HostRef, String)>,
    /// The turn in a runtime of one thread, whose tasks are polled one at a time.
    turn: Option<Arc<Turn>>,
    state: Mutex<Members>,
}

/// A host. Its type is private to the network.
pub(crate) type HostRef = Weak<dyn Any + Send + Sync>;

#[derive(Default)]
struct Members {
    is_over: bool,
    /// The tasks that were not joined: the id, the task (`None` for a blocking closure), and its thread.
    all: Vec<(u64, Option<Arc<Task>>, thread::JoinHandle<()>)>,
}

impl Scope {
    pub(super) fn new(made: &'static Location<'static>) -> Arc<Scope> {
        Arc::new(Scope { object: Object::new("runtime", made), made, host: None, turn: None, state: Mutex::default() })
    }

    /// Creates the scope of a runtime of one thread.
    pub(super) fn of_one_thread(made: &'static Location<'static>) -> Arc<Scope> {
        let turn = Some(Arc::new(Turn::new(made)));
        Arc::new(Scope { object: Object::new("runtime", made), made, host: None, turn, state: Mutex::default() })
    }

    /// The turn, in a runtime of one thread.
    pub(super) fn turn(&self) -> Option<Arc<Turn>> {
        self.turn.clone()
    }

    /// Creates the scope of a host.
    pub(super) fn on(host: HostRef, name: &str, made: &'static Location<'static>) -> Arc<Scope> {
        let host = Some((host, name.to_owned()));
        Arc::new(Scope { object: Object::new("host", made), made, host, turn: None, state: Mutex::default() })
    }

    /// The host on which the tasks run.
    pub(super) fn host(&self) -> Option<HostRef> {
        self.host.as_ref().map(|(host, _)| host.clone())
    }

    /// The name of the tasks' threads.
    pub(super) fn name(&self) -> Option<String> {
        self.host.as_ref().map(|(_, name)| format!("on {name}"))
    }

    fn state(&self) -> MutexGuard<'_, Members> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the scope accepts no more tasks.
    pub(crate) fn is_over(&self) -> bool {
        self.state().is_over
    }

    pub(crate) fn add(&self, id: u64, task: Option<Arc<Task>>, handle: thread::JoinHandle<()>) {
        self.state().all.push((id, task, handle));
    }

    /// Removes a task whose end was reported.
    pub(crate) fn forget(&self, id: u64) {
        let mut state = self.state();
        let at = state.all.iter().position(|(own, ..)| *own == id);
        let joined = at.map(|at| state.all.swap_remove(at));
        drop(state);
        drop(joined);
    }

    /// Cancels all remaining tasks, and waits for them.
    pub(super) fn shut_down(&self) {
        let is_empty = {
            let mut state = self.state();
            state.is_over |= state.all.is_empty();
            state.all.is_empty()
        };
        if is_empty || (runtime::is_active() && !runtime::is_managed()) {
            return;
        }
        self.object.pause_at(Kind::Shutdown, self.made, || [true; 2]);
        // Any task may be among the remaining ones.
        runtime::with(Execution::depend_on_all);
        let all = {
            let mut state = self.state();
            state.is_over = true;
            std::mem::take(&mut state.all)
        };
        for (_, task, _) in &all {
            if let Some(task) = task {
                task.abort(true, self.made);
            }
        }
        for (_, _, handle) in all {
            _ = handle.join();
        }
    }
}

impl Scope {
    /// Ends all remaining tasks at their current points, and waits for them. Blocking closures end at their next pause
    /// point, and are not waited for. Nor is the caller's task, if it is one of them.
    pub(super) fn kill(&self, place: &'static Location<'static>) {
        if !runtime::is_managed() {
            return self.shut_down();
        }
        let all = {
            let mut state = self.state();
            state.is_over = true;
            std::mem::take(&mut state.all)
        };
        let own = runtime::with(|execution| execution.current());
        for (_, _, handle) in &all {
            if let Some(thread) = handle.thread().managed() {
                runtime::kill(thread);
            }
        }
        for (_, task, handle) in all {
            if task.is_some() && handle.thread().managed() != own {
                _ = handle.join_at(place);
            }
        }
    }
}

/// The runtime to which the caller belongs.
pub(super) fn current() -> Option<Arc<Scope>> {
    executor::context()?.downcast().ok()
}

/// Sets the current task of the caller's thread, or none, and this runtime as the owner of new tasks.
pub(super) fn enter(task: Option<Arc<Task>>, scope: &Arc<Scope>) -> Entered {
    let scope = Arc::clone(scope);
    executor::enter(task, Some(scope))
}
