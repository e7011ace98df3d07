//! An example of an object that the crate does not know: a ring in a file, through which one process passes numbers to
//! another. Its accesses are pause points, since each is announced to a resource.

use record_parallel::scheduler::{Exhaustive, Random, Reduced};
use record_parallel::{Explored, Failure, Resource, Settings, Touch, explore, thread};
use std::cell::RefCell;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Arc, Mutex};

const SLOTS: u8 = 2;

/// Byte 0 counts the numbers written, byte 1 those read; then come the slots.
struct Ring {
    file: Mutex<File>,
    /// A resource for each byte: accesses to different bytes are independent.
    bytes: [Resource; 4],
    /// Whether the writer increments its count before it fills the slot.
    is_broken: bool,
}

thread_local! {
    /// Created once: the file is the same in each execution, and is filled with zeros when a ring is created.
    static FILE: RefCell<Option<File>> = const { RefCell::new(None) };
}

impl Ring {
    fn new(is_broken: bool) -> Ring {
        let file = FILE.with_borrow_mut(|file| {
            let file = file.get_or_insert_with(|| {
                let path =
                    std::env::temp_dir().join(format!("ring-{}-{:?}", std::process::id(), std::thread::current().id()));
                let options = File::options().read(true).write(true).create_new(true).open(&path);
                std::fs::remove_file(path).unwrap();
                options.unwrap()
            });
            file.try_clone().unwrap()
        });
        let ring =
            Ring { file: Mutex::new(file), bytes: [(); 4].map(|()| Resource::new("byte of the ring")), is_broken };
        (0..4).for_each(|at| ring.store(at, 0));
        ring
    }

    fn load(&self, at: u8) -> u8 {
        self.bytes[usize::from(at)].touch(Touch::Read);
        let mut file = self.file.lock().unwrap();
        let mut byte = [0];
        file.seek(SeekFrom::Start(at.into())).unwrap();
        file.read_exact(&mut byte).unwrap();
        byte[0]
    }

    fn store(&self, at: u8, value: u8) {
        self.bytes[usize::from(at)].touch(Touch::Write);
        let mut file = self.file.lock().unwrap();
        file.seek(SeekFrom::Start(at.into())).unwrap();
        file.write_all(&[value]).unwrap();
    }

    fn push(&self, value: u8) {
        let written = self.load(0);
        while written - self.load(1) == SLOTS {
            thread::yield_now();
        }
        if self.is_broken {
            self.store(0, written + 1);
            self.store(2 + written % SLOTS, value);
        } else {
            self.store(2 + written % SLOTS, value);
            self.store(0, written + 1);
        }
    }

    fn pop(&self) -> u8 {
        let read = self.load(1);
        while self.load(0) == read {
            thread::yield_now();
        }
        let value = self.load(2 + read % SLOTS);
        self.store(1, read + 1);
        value
    }
}

fn program(is_broken: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let ring = Arc::new(Ring::new(is_broken));
        let other = Arc::clone(&ring);
        let writer = thread::spawn(move || (1..=3).for_each(|value| other.push(value)));
        assert_eq!([(); 3].map(|()| ring.pop()), [1, 2, 3]);
        writer.join().unwrap();
    }
}

fn reduced(is_broken: bool) -> Result<Explored, Box<Failure>> {
    explore(&Settings::default(), Reduced::new(), program(is_broken))
}

#[test]
fn a_ring_that_counts_too_early_is_found() {
    let failure = reduced(true).unwrap_err();
    assert!(failure.executions <= 10, "{failure}");
    assert!(failure.table().contains("write byte of the ring"), "{failure}");
    explore(&Settings::default(), Random::new(0, 100), program(true)).unwrap_err();
}

#[test]
fn the_right_ring_passes_under_all_schedules() {
    let explored = reduced(false).unwrap();
    assert!(explored.is_complete && explored.executions < 500, "{explored:?}");
}

/// The number of executions that each search takes if two threads access one resource, or two, in these ways.
fn executions(touches: [Touch; 2], is_one: bool) -> [u64; 2] {
    let program = move || {
        let both = Arc::new([(); 2].map(|()| Resource::new("file")));
        let other = Arc::clone(&both);
        thread::spawn(move || other[usize::from(!is_one)].touch(touches[0]));
        both[0].touch(touches[1]);
    };
    let full = explore(&Settings::default(), Exhaustive::new(), program).unwrap();
    let reduced = explore(&Settings::default(), Reduced::new(), program).unwrap();
    [full.executions, reduced.executions]
}

#[test]
fn the_reduced_search_uses_what_accesses_do() {
    use Touch::{Read, Write};
    assert_eq!(executions([Read, Read], true), [2, 1]);
    assert_eq!(executions([Write, Read], true), [2, 2]);
    assert_eq!(executions([Write, Write], true), [2, 2]);
    assert_eq!(executions([Write, Write], false), [2, 1]);
}
