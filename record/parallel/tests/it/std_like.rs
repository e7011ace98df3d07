//! The crate compared with std: the same program compiles with either, and each type has the auto traits of std's.

use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Uses functions with the signatures that std gives them.
macro_rules! signatures {
    ($name:ident, $sync:path, $thread:path, $hint:path) => {
        mod $name {
            use std::io;
            use std::time::Duration;
            use sync::atomic::{AtomicBool, AtomicI8, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering};
            use sync::mpsc::{self, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender};
            use sync::mpsc::{TryRecvError, TrySendError};
            use sync::{Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, LockResult, Mutex, MutexGuard};
            use sync::{Once, OnceLock, OnceState, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockResult};
            use sync::{WaitTimeoutResult, Weak};
            use thread::{JoinHandle, Scope, ScopedJoinHandle, Thread};
            use $hint as hint;
            use $sync as sync;
            use $thread as thread;

            static _ATOMIC: AtomicUsize = AtomicUsize::new(1);
            static _MUTEX: Mutex<Vec<u8>> = Mutex::new(Vec::new());
            static _LOCK: RwLock<u8> = RwLock::new(1);
            static _ONCE: Once = Once::new();
            static _CELL: OnceLock<u8> = OnceLock::new();
            static _LAZY: LazyLock<Vec<u8>> = LazyLock::new(Vec::new);
            static _CONDVAR: Condvar = Condvar::new();

            type Wait<'a> = LockResult<(MutexGuard<'a, u8>, WaitTimeoutResult)>;

            pub(super) fn locks() {
                let _: for<'a> fn(&'a Mutex<u8>) -> LockResult<MutexGuard<'a, u8>> = Mutex::lock;
                let _: for<'a> fn(&'a Mutex<u8>) -> TryLockResult<MutexGuard<'a, u8>> = Mutex::try_lock;
                let _: fn(&Mutex<u8>) -> bool = Mutex::is_poisoned;
                let _: fn(&Mutex<u8>) = Mutex::clear_poison;
                let _: fn(&mut Mutex<u8>) -> LockResult<&mut u8> = Mutex::get_mut;
                let _: fn(Mutex<u8>) -> LockResult<u8> = Mutex::into_inner;
                let _: for<'a> fn(&'a RwLock<u8>) -> LockResult<RwLockReadGuard<'a, u8>> = RwLock::read;
                let _: for<'a> fn(&'a RwLock<u8>) -> LockResult<RwLockWriteGuard<'a, u8>> = RwLock::write;
                let _: for<'a> fn(&'a RwLock<u8>) -> TryLockResult<RwLockReadGuard<'a, u8>> = RwLock::try_read;
                let _: for<'a> fn(&'a RwLock<u8>) -> TryLockResult<RwLockWriteGuard<'a, u8>> = RwLock::try_write;
                let _: for<'a> fn(RwLockWriteGuard<'a, u8>) -> RwLockReadGuard<'a, u8> =
                    |guard| RwLockWriteGuard::downgrade(guard);
                let _: for<'a> fn(&Condvar, MutexGuard<'a, u8>) -> LockResult<MutexGuard<'a, u8>> = Condvar::wait;
                let _: for<'a> fn(&Condvar, MutexGuard<'a, u8>, Duration) -> Wait<'a> = Condvar::wait_timeout;
                let _: fn(&Condvar) = Condvar::notify_one;
                let _: fn(&Condvar) = Condvar::notify_all;
                let _: fn(usize) -> Barrier = Barrier::new;
                let _: fn(&Barrier) -> BarrierWaitResult = Barrier::wait;
                let _: fn(&BarrierWaitResult) -> bool = BarrierWaitResult::is_leader;
                let unsized_lock: Box<Mutex<[u8]>> = Box::new(Mutex::new([1, 2]));
                assert_eq!(unsized_lock.lock().unwrap().len(), 2);
            }

            pub(super) fn once() {
                let _: fn(&Once, fn()) = |once, f| once.call_once(f);
                let _: fn(&Once, fn(&OnceState)) = |once, f| once.call_once_force(f);
                let _: fn(&Once) = Once::wait;
                let _: fn(&Once) = Once::wait_force;
                let _: fn(&Once) -> bool = Once::is_completed;
                let _: fn(&OnceLock<u8>) -> &u8 = OnceLock::wait;
                let _: fn(&OnceLock<u8>) -> Option<&u8> = OnceLock::get;
                let _: fn(&mut OnceLock<u8>) -> Option<u8> = OnceLock::take;
                let _: fn(&OnceLock<u8>, u8) -> Result<(), u8> = OnceLock::set;
                let _: fn(&OnceLock<u8>) -> OnceLock<u8> = Clone::clone;
                assert_eq!(OnceLock::from(1).get(), Some(&1));
                let _: fn(&LazyLock<u8>) -> &u8 = LazyLock::force;
                let _: fn(&mut LazyLock<u8>) -> &mut u8 = LazyLock::force_mut;
                let _: fn(&LazyLock<u8>) -> Option<&u8> = LazyLock::get;
                let captured = 3;
                assert_eq!(*LazyLock::new(move || captured), 3);
            }

            pub(super) fn atomics() {
                type Exchange<A, T> = fn(&A, T, T, Ordering, Ordering) -> Result<T, T>;
                let _: Exchange<AtomicU8, u8> = AtomicU8::compare_exchange;
                let _: Exchange<AtomicPtr<u8>, *mut u8> = AtomicPtr::compare_exchange_weak;
                let _: Exchange<AtomicBool, bool> = AtomicBool::compare_exchange;
                let _: fn(&AtomicU64, u64, Ordering) -> u64 = AtomicU64::fetch_max;
                let _: fn(&AtomicI8, i8, Ordering) -> i8 = AtomicI8::fetch_nand;
                let _: fn(&AtomicBool, Ordering) -> bool = AtomicBool::fetch_not;
                let _: fn(&AtomicPtr<u8>, usize, Ordering) -> *mut u8 = AtomicPtr::fetch_ptr_add;
                let _: fn(&AtomicPtr<u8>, usize, Ordering) -> *mut u8 = AtomicPtr::fetch_or;
                let _: fn(&AtomicU8) -> *mut u8 = AtomicU8::as_ptr;
                let _: fn(&mut AtomicU8) -> &mut u8 = AtomicU8::get_mut;
                let _: fn(Ordering) = sync::atomic::fence;
                let _: fn(Ordering) = sync::atomic::compiler_fence;
                let number = AtomicU8::new(1);
                assert_eq!(number.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_add(1)), Ok(1));
                assert_eq!(number.try_update(Ordering::SeqCst, Ordering::SeqCst, |_| None), Err(2));
                assert_eq!(number.update(Ordering::SeqCst, Ordering::SeqCst, |n| n * 2), 2);
                assert_eq!(number.into_inner(), 4);
                let flag = AtomicBool::new(false);
                assert!(!flag.fetch_not(Ordering::SeqCst) && flag.into_inner());
            }

            pub(super) fn channels() {
                let _: fn() -> (Sender<u8>, Receiver<u8>) = mpsc::channel;
                let _: fn(usize) -> (SyncSender<u8>, Receiver<u8>) = mpsc::sync_channel;
                let _: fn(&Sender<u8>, u8) -> Result<(), SendError<u8>> = Sender::send;
                let _: fn(&SyncSender<u8>, u8) -> Result<(), TrySendError<u8>> = SyncSender::try_send;
                let _: fn(&Receiver<u8>) -> Result<u8, RecvError> = Receiver::recv;
                let _: fn(&Receiver<u8>) -> Result<u8, TryRecvError> = Receiver::try_recv;
                let _: fn(&Receiver<u8>, Duration) -> Result<u8, RecvTimeoutError> = Receiver::recv_timeout;
                let _: for<'a> fn(&'a Receiver<u8>) -> mpsc::Iter<'a, u8> = Receiver::iter;
                let _: for<'a> fn(&'a Receiver<u8>) -> mpsc::TryIter<'a, u8> = Receiver::try_iter;
                let _: fn(Receiver<u8>) -> mpsc::IntoIter<u8> = IntoIterator::into_iter;
            }

            pub(super) fn threads() {
                let _: fn(JoinHandle<u8>) -> thread::Result<u8> = JoinHandle::join;
                let _: fn(&JoinHandle<u8>) -> &Thread = JoinHandle::thread;
                let _: fn(&JoinHandle<u8>) -> bool = JoinHandle::is_finished;
                let _: fn(thread::Builder, fn() -> u8) -> io::Result<JoinHandle<u8>> = thread::Builder::spawn;
                let _: fn(Duration) = thread::park_timeout;
                let _: fn(&Thread) = Thread::unpark;
                let _: fn() = hint::spin_loop;
                let mut data = [1, 2];
                let (first, second) = data.split_at_mut(1);
                let sum = thread::scope(|scope| {
                    let one: ScopedJoinHandle<'_, u32> = scope.spawn(|| {
                        first[0] += 1;
                        // A thread of a scope can start another one without owning the scope.
                        scope.spawn(|| 1_u32).join().unwrap()
                    });
                    thread::Builder::new().name("two".into()).spawn_scoped(scope, || second[0] += 1).unwrap();
                    one.join().unwrap()
                });
                assert_eq!((sum, data), (1, [2, 3]));
                fn nested<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, number: &'env AtomicU8) {
                    scope.spawn(move || number.fetch_add(1, Ordering::SeqCst));
                }
                let number = AtomicU8::new(0);
                thread::scope(|scope| nested(scope, &number));
                assert_eq!(number.into_inner(), 1);
            }

            pub(super) fn pointers() {
                let _: fn(Arc<u8>) -> Result<u8, Arc<u8>> = Arc::try_unwrap;
                let _: fn(Arc<u8>) -> Option<u8> = Arc::into_inner;
                let _: fn(&Arc<u8>) -> Weak<u8> = Arc::downgrade;
                let _: fn(&Weak<u8>) -> Option<Arc<u8>> = Weak::upgrade;
                let _: fn(&mut Arc<u8>) -> &mut u8 = Arc::make_mut;
                let _: fn(&mut Arc<u8>) -> Option<&mut u8> = Arc::get_mut;
                let _: fn(&Arc<u8>) -> usize = Arc::strong_count;
                let text: Arc<str> = Arc::from("text");
                assert_eq!(text.len(), 4);
            }

            pub(super) fn all() {
                for part in [locks, once, atomics, channels, threads, pointers] {
                    part();
                }
            }
        }
    };
}

signatures!(of_std, std::sync, std::thread, std::hint);
signatures!(ours, record_parallel::sync, record_parallel::thread, record_parallel::hint);

#[test]
fn a_program_for_std_compiles_and_does_the_same() {
    of_std::all();
    ours::all();
    record_parallel::check(ours::all);
}

struct Probe<T: ?Sized>(PhantomData<T>);

/// The default values, for types that do not implement the traits.
trait Not {
    const SEND: bool = false;
    const SYNC: bool = false;
    const UNWIND_SAFE: bool = false;
    const REF_UNWIND_SAFE: bool = false;
}

impl<T: ?Sized> Not for Probe<T> {}

impl<T: ?Sized + Send> Probe<T> {
    const SEND: bool = true;
}
impl<T: ?Sized + Sync> Probe<T> {
    const SYNC: bool = true;
}
impl<T: ?Sized + UnwindSafe> Probe<T> {
    const UNWIND_SAFE: bool = true;
}
impl<T: ?Sized + RefUnwindSafe> Probe<T> {
    const REF_UNWIND_SAFE: bool = true;
}

/// The auto traits that the types of a crate implement.
macro_rules! traits {
    ($name:ident, $sync:path, $thread:path, [$($type:ty;)*]) => {
        fn $name() -> Vec<(&'static str, [bool; 4])> {
            use $sync as sync;
            use $thread as thread;
            vec![$((
                stringify!($type),
                [
                    <Probe<$type>>::SEND,
                    <Probe<$type>>::SYNC,
                    <Probe<$type>>::UNWIND_SAFE,
                    <Probe<$type>>::REF_UNWIND_SAFE,
                ],
            )),*]
        }
    };
}

macro_rules! both {
    ($($list:tt)*) => {
        traits!(of_ours, record_parallel::sync, record_parallel::thread, [$($list)*]);
        traits!(of_stds, std::sync, std::thread, [$($list)*]);
    };
}

use std::cell::Cell;
use std::rc::Rc;

both! {
    sync::Mutex<u8>; sync::Mutex<Cell<u8>>; sync::Mutex<Rc<u8>>; sync::Mutex<&'static mut u8>;
    sync::MutexGuard<'static, u8>; sync::MutexGuard<'static, Cell<u8>>;
    sync::RwLock<u8>; sync::RwLock<Cell<u8>>; sync::RwLock<Rc<u8>>;
    sync::RwLockReadGuard<'static, u8>; sync::RwLockReadGuard<'static, Cell<u8>>;
    sync::RwLockWriteGuard<'static, u8>; sync::RwLockWriteGuard<'static, Cell<u8>>;
    sync::Condvar; sync::Barrier; sync::BarrierWaitResult; sync::Once; sync::WaitTimeoutResult;
    sync::OnceLock<u8>; sync::OnceLock<Cell<u8>>; sync::OnceLock<Rc<u8>>;
    sync::LazyLock<u8>; sync::LazyLock<Cell<u8>>; sync::LazyLock<Rc<u8>>;
    sync::Arc<u8>; sync::Arc<Cell<u8>>; sync::Arc<Rc<u8>>; sync::Weak<u8>; sync::Weak<Cell<u8>>;
    sync::mpsc::Sender<u8>; sync::mpsc::Sender<Cell<u8>>; sync::mpsc::Sender<Rc<u8>>;
    sync::mpsc::SyncSender<u8>; sync::mpsc::SyncSender<Cell<u8>>; sync::mpsc::SyncSender<Rc<u8>>;
    sync::mpsc::Receiver<u8>; sync::mpsc::Receiver<Cell<u8>>; sync::mpsc::Receiver<Rc<u8>>;
    sync::mpsc::IntoIter<u8>; sync::mpsc::Iter<'static, u8>; sync::mpsc::TryIter<'static, u8>;
    sync::atomic::AtomicBool; sync::atomic::AtomicU8; sync::atomic::AtomicI8; sync::atomic::AtomicU16;
    sync::atomic::AtomicI16; sync::atomic::AtomicU32; sync::atomic::AtomicI32; sync::atomic::AtomicU64;
    sync::atomic::AtomicI64; sync::atomic::AtomicUsize; sync::atomic::AtomicIsize;
    sync::atomic::AtomicPtr<u8>; sync::atomic::AtomicPtr<Rc<u8>>;
    thread::Thread; thread::ThreadId; thread::Builder; thread::JoinHandle<u8>;
    thread::ScopedJoinHandle<'static, u8>; thread::Scope<'static, 'static>; thread::LocalKey<Rc<u8>>;
}

#[test]
fn each_type_has_the_auto_traits_of_stds() {
    let (ours, stds) = (of_ours(), of_stds());
    let differ: Vec<_> = ours.iter().zip(&stds).filter(|(ours, stds)| ours != stds).collect();
    assert!(differ.is_empty(), "Send, Sync, UnwindSafe, RefUnwindSafe of ours and of std's: {differ:#?}");
    assert!(stds.iter().any(|(_, traits)| *traits == [true; 4]) && stds.iter().any(|(_, traits)| !traits[0]));
}
