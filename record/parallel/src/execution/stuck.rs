//! Finds managed threads that wait for something outside the schedule, such as a lock of std that another managed
//! thread holds across a pause point. As all managed threads run on one OS thread, such a wait would never end.
//!
//! The OS thread that runs an execution records each step. A watchdog thread checks it ten times a second. If no step
//! was taken for a second, and the system reports all that time that the OS thread sleeps in a futex, no schedule can
//! continue. As nothing can be unwound either, the process ends with a report. A thread that computes, reads a file or
//! sleeps is not affected. On systems that do not report what a thread waits for (other than Linux), nothing is found.

use crate::ThreadId;
use crate::ids::byte;
use std::collections::HashMap;
use std::io::Write as _;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::time::Duration;

/// The time between two checks.
const LOOK: Duration = Duration::from_millis(100);

/// The number of consecutive checks that find a thread waiting at the same step before the process ends.
const LOOKS_MAX: u32 = 10;

/// The exit code of a test binary that failed.
const EXIT_CODE: i32 = 101;

/// The number of the system call that waits for a futex.
const FUTEX: Option<&str> = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    Some("202")
} else if cfg!(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "riscv64"))) {
    Some("98")
} else {
    None
};

static ALL: Mutex<Vec<Weak<Notes>>> = Mutex::new(Vec::new());

/// The last step of an OS thread, as the watchdog reads it.
#[derive(Debug)]
pub(crate) struct Notes {
    /// The file in which the system reports what the thread waits for.
    path: Option<String>,
    /// The name of the thread, which is that of the test.
    name: String,
    /// Whether an execution is under way.
    is_active: AtomicBool,
    /// The number of steps in all executions.
    steps: AtomicU64,
    /// The managed thread that took the last step, and the place of the step: an address in `places`.
    thread: AtomicU8,
    place: AtomicUsize,
    places: Mutex<HashMap<usize, &'static Location<'static>>>,
}

/// The notes of this OS thread, with the places that are known to be in them.
#[derive(Debug)]
pub(crate) struct Noting {
    notes: Arc<Notes>,
    /// Addresses of places, indexed by their low bits.
    known: [usize; 64],
}

impl Noting {
    pub(crate) fn new() -> Noting {
        static START: Once = Once::new();
        START.call_once(|| {
            if FUTEX.is_some() {
                // If the thread cannot be started, nothing is found, as on other systems.
                _ = std::thread::Builder::new().name("record-parallel".into()).spawn(watch);
            }
        });
        let task = std::fs::read_link("/proc/thread-self").ok();
        let current = std::thread::current();
        let notes = Arc::new(Notes {
            path: task.map(|task| format!("/proc/{}/syscall", task.display())),
            name: current.name().unwrap_or("without a name").to_owned(),
            is_active: AtomicBool::new(false),
            steps: AtomicU64::new(0),
            thread: AtomicU8::new(0),
            place: AtomicUsize::new(0),
            places: Mutex::default(),
        });
        lock(&ALL).push(Arc::downgrade(&notes));
        Noting { notes, known: [0; 64] }
    }

    pub(crate) fn set_active(&self, is_active: bool) {
        self.notes.is_active.store(is_active, Relaxed);
        self.notes.thread.store(0, Relaxed);
        self.notes.place.store(0, Relaxed);
    }

    /// Records a step of a thread.
    #[inline]
    pub(crate) fn step(&mut self, thread: ThreadId, place: &'static Location<'static>) {
        let address = std::ptr::from_ref(place).addr();
        let slot = &mut self.known[address / align_of::<Location<'_>>() % 64];
        if *slot != address {
            *slot = address;
            lock(&self.notes.places).insert(address, place);
        }
        let Notes { steps, thread: last, place, .. } = &*self.notes;
        last.store(thread.0, Relaxed);
        place.store(address, Relaxed);
        steps.store(steps.load(Relaxed) + 1, Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Notes {
    /// Returns true if an execution is under way and its OS thread waits for a futex.
    fn waits(&self) -> bool {
        let call = self.path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        self.is_active.load(Relaxed) && call.is_some_and(|call| call.split(' ').next() == FUTEX)
    }

    fn report(&self) -> String {
        let places = lock(&self.places);
        let place = places.get(&self.place.load(Relaxed));
        let after = place.map_or("its start".to_owned(), |place| format!("the pause point at {place}"));
        let thread = ThreadId(byte(self.thread.load(Relaxed)));
        format!(
            "\nrecord-parallel: thread {thread} of an execution waits for something that is not under the schedule, after \
             {after} (in the test {}).\nIt waits in the system: for a lock, a channel or a thread of std, or in \
             std::thread::park. All threads of an execution run in turns on one thread of the system, so whoever it waits for \
             cannot continue, and nothing would ever end.\nUse record_parallel::sync and record_parallel::thread, or do not \
             hold a lock of std over an operation on them. The process ends.\n",
            self.name
        )
    }
}

/// Ends the process with a report.
pub(crate) fn end_process(report: &str) -> ! {
    // Written directly, so that the test harness does not capture it.
    _ = std::io::stderr().write_all(report.as_bytes());
    std::process::exit(EXIT_CODE)
}

/// Checks all OS threads that run executions, for ever.
fn watch() {
    let mut seen: Vec<(Weak<Notes>, u64, u32)> = Vec::new();
    loop {
        std::thread::sleep(LOOK);
        seen.extend(lock(&ALL).drain(..).map(|notes| (notes, 0, 0)));
        seen.retain_mut(|(notes, last, looks)| {
            let Some(notes) = notes.upgrade() else { return false };
            let steps = notes.steps.load(Relaxed);
            *looks = if steps == *last && notes.waits() { *looks + 1 } else { 0 };
            *last = steps;
            if *looks >= LOOKS_MAX {
                end_process(&notes.report());
            }
            true
        });
    }
}
