//! The reduced search against all schedules, on random programs: with channels and pointers that are dropped, one-time
//! initialization, and sleeps; and with picks: time-outs, waits that end without a notification, weak exchanges,
//! numbers.
//!
//! `HISTCHECK_PROGRAMS=20000 cargo test -p record-parallel-tests --release oracle -- --nocapture` tries more programs.

use crate::noting::Seen;
use record_parallel::scheduler::{Exhaustive, Reduced, Scheduler};
use record_parallel::sync::atomic::{AtomicU32, Ordering::SeqCst};
use record_parallel::sync::{Arc, Condvar, Mutex, Once, OnceLock, Weak, mpsc};
use record_parallel::{Explored, thread};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc as StdArc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

/// The maximum number of executions of a program; larger programs are skipped.
const EXECUTIONS_MAX: u64 = 1_500;

/// An instruction of a thread. It is skipped if the thread has none of the objects that it needs.
#[derive(Clone, Copy, Debug)]
enum Instruction {
    Load(usize),
    Store(usize),
    Add(usize),
    /// Changes the number if it is 0, and fails otherwise.
    Exchange(usize),
    Swap(usize),
    CloneSender,
    DropSender,
    Send,
    TrySend,
    TryReceive,
    Receive,
    DropReceiver,
    /// Creates the value, with a store and a load in between.
    Init(usize),
    /// Panics during the initialization, and catches the panic.
    InitPanics,
    Get,
    Set,
    CallOnce(usize),
    IsDone,
    CloneArc,
    DropArc,
    TryUnwrap,
    GetMut,
    Count,
    Downgrade,
    Upgrade,
    DropWeak,
    Sleep,
    /// Loads up to three times, and yields in between.
    Poll(usize),
    Lock,
    TryLock,
    /// Panics while it holds the lock, and catches the panic.
    LockPanics,
    Wait,
    Notify,
    /// Checks the condition once, and waits at most once.
    WaitOnce,
    WaitTimed,
    ReceiveTimed,
    Park,
    ParkTimed,
    /// Unparks the first thread, if its handle is stored already.
    Unpark,
    ExchangeWeakly(usize),
    Choose,
    /// Loads until the number is set, without informing the scheduler.
    Spin(usize),
}

const ALL: [Instruction; 50] = {
    use Instruction::*;
    [
        Load(0),
        Load(1),
        Store(0),
        Store(1),
        Add(0),
        Exchange(0),
        Exchange(1),
        Swap(1),
        CloneSender,
        DropSender,
        DropSender,
        Send,
        TrySend,
        TryReceive,
        TryReceive,
        Receive,
        DropReceiver,
        Init(0),
        Init(1),
        InitPanics,
        Get,
        Get,
        Set,
        CallOnce(0),
        CallOnce(1),
        IsDone,
        CloneArc,
        DropArc,
        DropArc,
        TryUnwrap,
        GetMut,
        Count,
        Downgrade,
        Upgrade,
        DropWeak,
        Sleep,
        Lock,
        TryLock,
        LockPanics,
        Wait,
        WaitOnce,
        WaitTimed,
        ReceiveTimed,
        Park,
        ParkTimed,
        Unpark,
        ExchangeWeakly(0),
        ExchangeWeakly(1),
        Choose,
        Spin(1),
    ]
};

/// A random number generator with the same numbers on every machine.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    /// Draws two or three threads of one to three instructions each, six at most in total. There are only a few kinds,
    /// so that the threads access the same objects.
    fn program(&mut self) -> Vec<Vec<Instruction>> {
        let mut kinds: Vec<Instruction> = (0..3 + self.below(4)).map(|_| ALL[self.below(ALL.len())]).collect();
        if self.below(4) == 0 {
            // Threads that sleep repeatedly must not be treated as if they waited for others.
            kinds.truncate(2);
            kinds.extend([Instruction::Sleep, Instruction::Poll(self.below(2)), Instruction::Store(0)]);
        }
        let mut left = 6;
        let mut threads = Vec::new();
        for _ in 0..2 + self.below(2) {
            let count = (1 + self.below(3)).min(left);
            left -= count;
            let mut draw = || {
                let drawn = kinds[self.below(kinds.len())];
                // A thread that waits needs another one that notifies it.
                let waits = matches!(drawn, Instruction::Wait | Instruction::WaitOnce | Instruction::WaitTimed);
                if waits && self.below(2) == 0 { Instruction::Notify } else { drawn }
            };
            threads.push((0..count).map(|_| draw()).collect());
        }
        threads
    }
}

/// Records the thread that drops it.
struct Value {
    seen: StdArc<StdMutex<Seen>>,
}

impl Drop for Value {
    fn drop(&mut self) {
        let who = thread::current().name().and_then(|name| name.parse().ok()).unwrap_or(0);
        note(&self.seen, who, 7777);
    }
}

fn note(seen: &StdMutex<Seen>, thread: usize, what: u32) {
    seen.lock().unwrap_or_else(PoisonError::into_inner)[thread].push(what);
}

/// The objects that all threads share and that no thread drops.
struct Shared {
    numbers: [AtomicU32; 2],
    cell: OnceLock<u32>,
    once: Once,
    lock: Mutex<u32>,
    changed: Condvar,
    threads: StdMutex<Vec<thread::Thread>>,
}

/// The objects of one thread.
struct Own {
    me: usize,
    shared: StdArc<Shared>,
    seen: StdArc<StdMutex<Seen>>,
    senders: Vec<mpsc::SyncSender<u32>>,
    receiver: Option<mpsc::Receiver<u32>>,
    arcs: Vec<Arc<Value>>,
    weaks: Vec<Weak<Value>>,
}

impl Own {
    fn note(&self, what: u32) {
        note(&self.seen, self.me, what);
    }

    fn run(&mut self, instruction: Instruction, mine: u32) {
        use Instruction::*;
        let shared = StdArc::clone(&self.shared);
        let seen = match instruction {
            Load(of) => Some(shared.numbers[of].load(SeqCst)),
            Store(of) => {
                shared.numbers[of].store(of as u32 * mine + 1, SeqCst);
                None
            }
            Add(of) => Some(shared.numbers[of].fetch_add(1, SeqCst)),
            Exchange(of) => Some(shared.numbers[of].compare_exchange(0, mine, SeqCst, SeqCst).unwrap_or_else(|n| n)),
            Swap(of) => Some(shared.numbers[of].swap(1, SeqCst)),
            Init(_) | InitPanics | Get | Set | CallOnce(_) | IsDone => Some(self.once(instruction, mine)),
            CloneArc | DropArc | TryUnwrap | GetMut | Count | Downgrade | Upgrade | DropWeak => self.count(instruction),
            CloneSender | DropSender | Send | TrySend | TryReceive | Receive | ReceiveTimed | DropReceiver => {
                self.channel(instruction, mine)
            }
            Sleep => {
                thread::sleep(Duration::from_secs(1));
                None
            }
            Poll(of) => (0..3).find(|_| {
                let is_set = shared.numbers[of].load(SeqCst) != 0;
                if !is_set {
                    thread::yield_now();
                }
                is_set
            }),
            Lock | TryLock | LockPanics | Wait | Notify | WaitOnce | WaitTimed => self.lock(instruction, mine),
            ExchangeWeakly(of) => {
                Some(shared.numbers[of].compare_exchange_weak(0, mine, SeqCst, SeqCst).unwrap_or_else(|n| n + 1000))
            }
            Choose => Some(record_parallel::choose(2)),
            Spin(of) => {
                while shared.numbers[of].load(SeqCst) == 0 {}
                None
            }
            Park => {
                thread::park();
                None
            }
            ParkTimed => {
                thread::park_timeout(Duration::from_secs(1));
                None
            }
            Unpark => {
                let first = shared.threads.lock().unwrap_or_else(PoisonError::into_inner).first().cloned();
                first.iter().for_each(thread::Thread::unpark);
                None
            }
        };
        if let Some(seen) = seen {
            self.note(seen);
        }
    }

    fn once(&self, instruction: Instruction, mine: u32) -> u32 {
        let shared = &*self.shared;
        match instruction {
            Instruction::Init(of) => *shared.cell.get_or_init(|| {
                shared.numbers[of].store(mine, SeqCst);
                self.note(shared.numbers[1 - of].load(SeqCst));
                mine
            }),
            Instruction::InitPanics => {
                let body = || *shared.cell.get_or_init(|| panic!("{}", shared.numbers[0].swap(mine, SeqCst)));
                catch_unwind(AssertUnwindSafe(body)).unwrap_or(9999)
            }
            Instruction::Get => shared.cell.get().copied().unwrap_or(9999),
            Instruction::Set => u32::from(shared.cell.set(mine).is_ok()),
            Instruction::CallOnce(of) => {
                let body = || {
                    shared.numbers[of].store(mine, SeqCst);
                    assert_eq!(of, 0, "caught");
                };
                u32::from(catch_unwind(AssertUnwindSafe(|| shared.once.call_once(body))).is_ok())
            }
            _ => u32::from(shared.once.is_completed()),
        }
    }

    fn count(&mut self, instruction: Instruction) -> Option<u32> {
        match instruction {
            Instruction::CloneArc => {
                let arc = self.arcs.last()?.clone();
                self.arcs.push(arc);
                None
            }
            Instruction::DropArc => {
                drop(self.arcs.pop());
                None
            }
            Instruction::TryUnwrap => match Arc::try_unwrap(self.arcs.pop()?) {
                Ok(_) => Some(1),
                Err(arc) => {
                    self.arcs.push(arc);
                    Some(0)
                }
            },
            Instruction::GetMut => Some(u32::from(Arc::get_mut(self.arcs.last_mut()?).is_some())),
            Instruction::Count => {
                let arc = self.arcs.last()?;
                Some((Arc::strong_count(arc) * 10 + Arc::weak_count(arc)) as u32)
            }
            Instruction::Downgrade => {
                let weak = Arc::downgrade(self.arcs.last()?);
                self.weaks.push(weak);
                None
            }
            Instruction::Upgrade => Some(u32::from(self.weaks.last()?.upgrade().is_some())),
            _ => {
                drop(self.weaks.pop());
                None
            }
        }
    }

    fn channel(&mut self, instruction: Instruction, mine: u32) -> Option<u32> {
        match instruction {
            Instruction::CloneSender => {
                let sender = self.senders.last()?.clone();
                self.senders.push(sender);
                None
            }
            Instruction::DropSender => {
                drop(self.senders.pop());
                None
            }
            Instruction::Send => Some(u32::from(self.senders.last()?.send(mine).is_ok())),
            Instruction::TrySend => Some(match self.senders.last()?.try_send(mine) {
                Ok(()) => 0,
                Err(mpsc::TrySendError::Full(_)) => 9998,
                Err(mpsc::TrySendError::Disconnected(_)) => 9999,
            }),
            Instruction::TryReceive => Some(match self.receiver.as_ref()?.try_recv() {
                Ok(message) => message,
                Err(mpsc::TryRecvError::Empty) => 9998,
                Err(mpsc::TryRecvError::Disconnected) => 9999,
            }),
            Instruction::Receive => Some(self.receiver.as_ref()?.recv().unwrap_or(9999)),
            Instruction::ReceiveTimed => Some(match self.receiver.as_ref()?.recv_timeout(Duration::from_secs(1)) {
                Ok(message) => message,
                Err(mpsc::RecvTimeoutError::Timeout) => 9998,
                Err(mpsc::RecvTimeoutError::Disconnected) => 9999,
            }),
            _ => {
                drop(self.receiver.take());
                None
            }
        }
    }

    fn lock(&self, instruction: Instruction, mine: u32) -> Option<u32> {
        let shared = &*self.shared;
        let locked = || shared.lock.lock().unwrap_or_else(PoisonError::into_inner);
        match instruction {
            Instruction::Lock => Some(std::mem::replace(&mut *locked(), mine)),
            Instruction::TryLock => Some(match shared.lock.try_lock() {
                Ok(value) => *value,
                Err(std::sync::TryLockError::Poisoned(value)) => 1000 + **value.get_ref(),
                Err(std::sync::TryLockError::WouldBlock) => 9999,
            }),
            Instruction::LockPanics => {
                let body = || {
                    let _guard = shared.lock.lock();
                    panic!("{}", shared.numbers[0].swap(mine, SeqCst));
                };
                catch_unwind(AssertUnwindSafe(body)).err().map(|_| u32::from(shared.lock.is_poisoned()))
            }
            Instruction::Wait => {
                let mut value = locked();
                while *value == 0 {
                    value = shared.changed.wait(value).unwrap_or_else(PoisonError::into_inner);
                }
                Some(std::mem::take(&mut *value))
            }
            Instruction::WaitOnce => {
                let mut value = locked();
                if *value == 0 {
                    value = shared.changed.wait(value).unwrap_or_else(PoisonError::into_inner);
                }
                Some(*value)
            }
            Instruction::WaitTimed => {
                let time = Duration::from_secs(1);
                let waited = shared.changed.wait_timeout(locked(), time).unwrap_or_else(PoisonError::into_inner);
                Some(*waited.0 + 1000 * u32::from(waited.1.timed_out()))
            }
            _ => {
                *locked() = mine;
                shared.changed.notify_one();
                None
            }
        }
    }
}

/// Runs the program of each thread. The values that a thread sees are recorded outside of the schedule.
fn run(programs: &[Vec<Instruction>], bound: usize, seen: &StdArc<StdMutex<Seen>>) {
    *seen.lock().unwrap_or_else(PoisonError::into_inner) = vec![Vec::new(); programs.len() + 1];
    let uses = |wanted: fn(&Instruction) -> bool| programs.iter().flatten().any(wanted);
    use Instruction::*;
    let has_channel = uses(|of| {
        matches!(of, CloneSender | DropSender | Send | TrySend | TryReceive | Receive | ReceiveTimed | DropReceiver)
    });
    let has_arc =
        uses(|of| matches!(of, CloneArc | DropArc | TryUnwrap | GetMut | Count | Downgrade | Upgrade | DropWeak));
    let shared = StdArc::new(Shared {
        numbers: [AtomicU32::new(0), AtomicU32::new(0)],
        cell: OnceLock::new(),
        once: Once::new(),
        lock: Mutex::new(0),
        changed: Condvar::new(),
        threads: StdMutex::default(),
    });
    let (sender, receiver) = has_channel.then(|| mpsc::sync_channel::<u32>(bound)).unzip();
    let mut receiver = receiver;
    let arc = has_arc.then(|| Arc::new(Value { seen: StdArc::clone(seen) }));
    for (at, program) in programs.iter().enumerate() {
        let (program, me) = (program.clone(), at + 1);
        let weaks = if me == 1 { arc.iter().map(Arc::downgrade).collect() } else { Vec::new() };
        let mut own = Own {
            me,
            shared: StdArc::clone(&shared),
            seen: StdArc::clone(seen),
            senders: sender.iter().cloned().collect(),
            receiver: receiver.take(),
            arcs: arc.iter().cloned().collect(),
            weaks,
        };
        let body = move || {
            for (at, instruction) in program.iter().enumerate() {
                own.run(*instruction, (me * 10 + at) as u32);
            }
        };
        let handle = thread::Builder::new().name(me.to_string()).spawn(body).unwrap();
        shared.threads.lock().unwrap_or_else(PoisonError::into_inner).push(handle.thread().clone());
    }
}

/// All results that the threads of a program can see, or `None` if a deadlock is possible; and statistics of the
/// search.
fn outcomes<S: Scheduler + 'static>(
    programs: &StdArc<Vec<Vec<Instruction>>>,
    bound: usize,
    scheduler: S,
) -> (Option<BTreeSet<Seen>>, Explored) {
    let programs = StdArc::clone(programs);
    crate::noting::outcomes(scheduler, move |seen| run(&programs, bound, seen))
}

#[test]
fn the_reduced_search_sees_what_all_schedules_show() {
    let wanted = std::env::var("HISTCHECK_PROGRAMS").ok().map_or(250, |text| text.parse().unwrap());
    let (mut compared, mut deadlocks, mut skipped, mut full_sum, mut reduced_sum) = (0, 0, 0, 0, 0);
    let mut kinds = BTreeSet::new();
    let seed = std::env::var("HISTCHECK_SEED").ok().map_or(1, |text| text.parse::<u64>().unwrap());
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15 ^ seed);
    while compared < wanted {
        let (programs, bound) = (StdArc::new(draw.program()), draw.below(3));
        let (all, full) = outcomes(&programs, bound, Exhaustive::new().executions_max(EXECUTIONS_MAX));
        if all.is_some() && !full.is_complete {
            assert!(full.executions + full.redundant >= EXECUTIONS_MAX, "{programs:?}");
            skipped += 1;
            continue;
        }
        let (some, reduced) = outcomes(&programs, bound, Reduced::new());
        assert_eq!(some, all, "{programs:?}, {bound}");
        assert!(all.is_none() || reduced.is_complete, "{programs:?}, {bound}");
        assert!(reduced.executions <= full.executions, "{programs:?}, {bound}: {reduced:?}, {full:?}");
        compared += 1;
        deadlocks += u64::from(all.is_none());
        (full_sum, reduced_sum) = (full_sum + full.executions, reduced_sum + reduced.executions + reduced.redundant);
        kinds.extend(programs.iter().flatten().map(|of| format!("{of:?}")));
    }
    println!(
        "{compared} programs alike ({deadlocks} deadlocks), {skipped} too large; {full_sum} executions, reduced {reduced_sum}"
    );
    // Ensures that the programs were varied enough: nearly every instruction was in some program.
    assert!(kinds.len() > 45 || wanted < 250, "{kinds:?}");
}
