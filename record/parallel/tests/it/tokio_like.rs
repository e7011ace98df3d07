//! The module `tokio` compared with tokio: the same program compiles with either, and each type has tokio's auto
//! traits.

use std::marker::PhantomData;

/// Uses functions with the signatures that tokio gives them. Values that are sent to other tasks must be `Send`.
macro_rules! signatures {
    ($name:ident, $tokio:path) => {
        #[allow(dead_code, reason = "tokio's is compiled and not run")]
        mod $name {
            use std::io;
            use std::net::SocketAddr;
            use std::sync::Arc;
            use std::time::Duration;
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            use tokio::net::{TcpListener, TcpStream, UdpSocket};
            use tokio::sync::{
                AcquireError, Barrier, BarrierWaitResult, Mutex, MutexGuard, Notify, OnceCell, OwnedMutexGuard,
                OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit, RwLock, RwLockReadGuard,
                RwLockWriteGuard, Semaphore, SemaphorePermit, SetError, TryAcquireError, TryLockError, broadcast, mpsc,
                oneshot, watch,
            };
            use tokio::task::{AbortHandle, JoinError, JoinHandle, JoinSet};
            use $tokio as tokio;

            fn send<T: Send>(value: T) -> T {
                value
            }

            static _MUTEX: Mutex<Vec<u8>> = Mutex::const_new(Vec::new());
            static _LOCK: RwLock<u8> = RwLock::const_new(1);
            static _NOTIFY: Notify = Notify::const_new();
            static _SEMAPHORE: Semaphore = Semaphore::const_new(1);
            static _CELL: OnceCell<u8> = OnceCell::const_new();

            async fn locks() {
                let mutex = Arc::new(Mutex::new(1_u8));
                let guard: MutexGuard<'_, u8> = send(mutex.lock()).await;
                let tried: Result<MutexGuard<'_, u8>, TryLockError> = mutex.try_lock();
                assert!(tried.is_err());
                drop(tried);
                drop(guard);
                let guard: OwnedMutexGuard<u8> = send(Arc::clone(&mutex).lock_owned()).await;
                drop(guard);
                drop(Arc::clone(&mutex).try_lock_owned());
                let _: Option<u8> = Arc::into_inner(mutex).map(Mutex::into_inner);
                let lock = Arc::new(RwLock::new(1_u8));
                let guard: RwLockReadGuard<'_, u8> = send(lock.read()).await;
                drop(guard);
                let guard: RwLockWriteGuard<'_, u8> = send(lock.write()).await;
                drop(guard.downgrade());
                let guard: OwnedRwLockReadGuard<u8> = send(Arc::clone(&lock).read_owned()).await;
                drop(guard);
                let guard: OwnedRwLockWriteGuard<u8> = send(Arc::clone(&lock).write_owned()).await;
                drop(guard);
                assert!(lock.try_read().is_ok() && lock.try_write().is_ok());
            }

            async fn permits() {
                let semaphore = Arc::new(Semaphore::new(3));
                let one: Result<SemaphorePermit<'_>, AcquireError> = send(semaphore.acquire()).await;
                let two: Result<SemaphorePermit<'_>, TryAcquireError> = semaphore.try_acquire_many(2);
                assert!(one.is_ok() && two.is_ok() && semaphore.available_permits() == 0);
                drop((one, two));
                let all: Result<OwnedSemaphorePermit, AcquireError> =
                    send(Arc::clone(&semaphore).acquire_many_owned(3)).await;
                all.unwrap().forget();
                semaphore.close();
                let notify = Notify::new();
                notify.notify_one();
                send(notify.notified()).await;
                notify.notify_waiters();
                let barrier = Barrier::new(1);
                let passed: BarrierWaitResult = send(barrier.wait()).await;
                assert!(passed.is_leader());
                let cell: OnceCell<u8> = OnceCell::new();
                let value: &u8 = send(cell.get_or_init(|| async { 1 })).await;
                assert_eq!(*value, 1);
                let value: Result<&u8, ()> = send(cell.get_or_try_init(|| async { Err(()) })).await;
                assert_eq!(value, Ok(&1));
                let set: Result<(), SetError<u8>> = cell.set(2);
                assert!(set.unwrap_err().is_already_init_err() && cell.initialized());
            }

            async fn channels() {
                let (sender, mut receiver): (mpsc::Sender<u8>, mpsc::Receiver<u8>) = mpsc::channel(1);
                let sent: Result<(), mpsc::error::SendError<u8>> = send(sender.send(1)).await;
                let full: Result<(), mpsc::error::TrySendError<u8>> = sender.try_send(2);
                assert!(sent.is_ok() && full.is_err());
                let received: Option<u8> = send(receiver.recv()).await;
                let empty: Result<u8, mpsc::error::TryRecvError> = receiver.try_recv();
                assert!(received == Some(1) && empty.is_err());
                send(sender.reserve()).await.unwrap().send(3);
                let (sender, _receiver) = mpsc::unbounded_channel::<u8>();
                let sent: Result<(), mpsc::error::SendError<u8>> = sender.send(1);
                assert!(sent.is_ok() && !sender.is_closed());
                let (sender, receiver): (oneshot::Sender<u8>, oneshot::Receiver<u8>) = oneshot::channel();
                let sent: Result<(), u8> = sender.send(1);
                let received: Result<u8, oneshot::error::RecvError> = send(receiver).await;
                assert!(sent.is_ok() && received.is_ok());
                let (sender, mut receiver): (watch::Sender<u8>, watch::Receiver<u8>) = watch::channel(1);
                let sent: Result<(), watch::error::SendError<u8>> = sender.send(2);
                let changed: Result<(), watch::error::RecvError> = send(receiver.changed()).await;
                assert!(sent.is_ok() && changed.is_ok() && *receiver.borrow_and_update() == 2);
                let (sender, mut receiver) = broadcast::channel::<u8>(2);
                let sent: Result<usize, broadcast::error::SendError<u8>> = sender.send(1);
                let received: Result<u8, broadcast::error::RecvError> = send(receiver.recv()).await;
                assert!(sent.is_ok() && received.is_ok());
            }

            async fn tasks() {
                let task: JoinHandle<u8> = tokio::spawn(async { 1 });
                let abort: AbortHandle = task.abort_handle();
                let joined: Result<u8, JoinError> = send(task).await;
                assert_eq!(joined.unwrap(), 1);
                abort.abort();
                let blocking: JoinHandle<u8> = tokio::task::spawn_blocking(|| 2);
                assert_eq!(send(blocking).await.unwrap(), 2);
                send(tokio::task::yield_now()).await;
                let mut set: JoinSet<u8> = JoinSet::new();
                let _: AbortHandle = set.spawn(async { 3 });
                let next: Option<Result<u8, JoinError>> = send(set.join_next()).await;
                assert_eq!(next.unwrap().unwrap(), 3);
                let handle: tokio::runtime::Handle = tokio::runtime::Handle::current();
                let _: Result<u8, JoinError> = handle.spawn(async { 4 }).await;
            }

            async fn timers() {
                let second = Duration::from_secs(1);
                send(tokio::time::sleep(second)).await;
                let late: Result<u8, tokio::time::error::Elapsed> =
                    send(tokio::time::timeout(second, std::future::pending())).await;
                assert_eq!(late.unwrap_err().to_string(), "deadline has elapsed");
                let mut ticks: tokio::time::Interval = tokio::time::interval(second);
                let tick: tokio::time::Instant = send(ticks.tick()).await;
                assert!(tick.elapsed() < second);
                let deadline = tokio::time::Instant::now() + second;
                let sleep = tokio::time::sleep_until(deadline);
                tokio::pin!(sleep);
                assert!(!sleep.is_elapsed() && sleep.deadline() == deadline);
                sleep.as_mut().await;
            }

            async fn sockets() -> io::Result<()> {
                let listener: TcpListener = send(TcpListener::bind("127.0.0.1:0")).await?;
                let address: SocketAddr = listener.local_addr()?;
                let mut near: TcpStream = send(TcpStream::connect(address)).await?;
                let (mut far, peer): (TcpStream, SocketAddr) = send(listener.accept()).await?;
                assert_eq!(peer, near.local_addr()?);
                near.set_nodelay(true)?;
                send(near.write_all(b"ab")).await?;
                send(far.readable()).await?;
                let mut buffer = [0; 1];
                assert_eq!(send(far.peek(&mut buffer)).await?, 1);
                assert_eq!((far.read_u8().await?, send(far.read_exact(&mut buffer)).await?), (b'a', 1));
                let (_, mut writer) = near.split();
                send(writer.shutdown()).await?;
                assert_eq!(far.read(&mut buffer).await?, 0);
                let (reader, writer): (tokio::net::tcp::OwnedReadHalf, tokio::net::tcp::OwnedWriteHalf) =
                    far.into_split();
                let _far: TcpStream = reader.reunite(writer).unwrap();
                let socket: UdpSocket = send(UdpSocket::bind(("127.0.0.1", 0))).await?;
                let own: SocketAddr = socket.local_addr()?;
                assert_eq!(send(socket.send_to(b"a", own)).await?, 1);
                let (length, from): (usize, SocketAddr) = send(socket.recv_from(&mut buffer)).await?;
                assert_eq!((length, from), (1, own));
                socket.connect(own).await?;
                assert_eq!(socket.send(b"b").await?, 1);
                assert_eq!(socket.recv(&mut buffer).await?, 1);
                Ok(())
            }

            pub(super) async fn all() -> io::Result<()> {
                send(locks()).await;
                send(permits()).await;
                send(channels()).await;
                send(tasks()).await;
                send(timers()).await;
                send(sockets()).await
            }
        }
    };
}

signatures!(of_tokio, ::tokio);
signatures!(ours, record_parallel::tokio);

#[test]
fn a_program_for_tokio_compiles_and_does_what_it_says() {
    let program = || record_parallel::tokio::runtime::block_on(ours::all()).unwrap();
    program();
    let settings = crate::noting::settings(0);
    let explored = record_parallel::explore(&settings, record_parallel::scheduler::Random::new(0, 50), program);
    assert!(explored.is_ok(), "{}", explored.unwrap_err());
    // This only tests that tokio has these functions.
    drop(of_tokio::all());
}

struct Probe<T: ?Sized>(PhantomData<T>);

/// The default values, for types that do not implement the traits.
trait Not {
    const SEND: bool = false;
    const SYNC: bool = false;
}

impl<T: ?Sized> Not for Probe<T> {}

impl<T: ?Sized + Send> Probe<T> {
    const SEND: bool = true;
}
impl<T: ?Sized + Sync> Probe<T> {
    const SYNC: bool = true;
}

/// The auto traits that the types of a crate implement.
macro_rules! traits {
    ($name:ident, $tokio:path, [$($type:ty;)*]) => {
        fn $name() -> Vec<(&'static str, [bool; 2])> {
            use $tokio as tokio;
            vec![$((stringify!($type), [<Probe<$type>>::SEND, <Probe<$type>>::SYNC])),*]
        }
    };
}

macro_rules! both {
    ($($list:tt)*) => {
        traits!(of_ours, record_parallel::tokio, [$($list)*]);
        traits!(of_tokios, ::tokio, [$($list)*]);
    };
}

use std::cell::Cell;
use std::rc::Rc;

// `RwLock<Cell<u8>>` is missing: the one of this crate is not `Send`, since its readers share the value by a counted
// pointer.
both! {
    tokio::sync::Mutex<u8>; tokio::sync::Mutex<Cell<u8>>; tokio::sync::Mutex<Rc<u8>>;
    tokio::sync::MutexGuard<'static, u8>; tokio::sync::MutexGuard<'static, Cell<u8>>; tokio::sync::MutexGuard<'static, Rc<u8>>;
    tokio::sync::OwnedMutexGuard<u8>; tokio::sync::OwnedMutexGuard<Cell<u8>>;
    tokio::sync::RwLock<u8>; tokio::sync::RwLock<Rc<u8>>;
    tokio::sync::RwLockReadGuard<'static, u8>; tokio::sync::RwLockReadGuard<'static, Cell<u8>>;
    tokio::sync::RwLockWriteGuard<'static, u8>; tokio::sync::RwLockWriteGuard<'static, Cell<u8>>;
    tokio::sync::Notify; tokio::sync::Semaphore; tokio::sync::SemaphorePermit<'static>; tokio::sync::OwnedSemaphorePermit;
    tokio::sync::Barrier; tokio::sync::BarrierWaitResult;
    tokio::sync::OnceCell<u8>; tokio::sync::OnceCell<Cell<u8>>; tokio::sync::OnceCell<Rc<u8>>;
    tokio::sync::mpsc::Sender<u8>; tokio::sync::mpsc::Sender<Cell<u8>>; tokio::sync::mpsc::Sender<Rc<u8>>;
    tokio::sync::mpsc::Receiver<u8>; tokio::sync::mpsc::Receiver<Cell<u8>>; tokio::sync::mpsc::Receiver<Rc<u8>>;
    tokio::sync::mpsc::UnboundedSender<u8>; tokio::sync::mpsc::UnboundedReceiver<u8>;
    tokio::sync::oneshot::Sender<u8>; tokio::sync::oneshot::Sender<Cell<u8>>; tokio::sync::oneshot::Sender<Rc<u8>>;
    tokio::sync::oneshot::Receiver<u8>; tokio::sync::oneshot::Receiver<Cell<u8>>;
    tokio::sync::watch::Sender<u8>; tokio::sync::watch::Receiver<u8>; tokio::sync::watch::Sender<Rc<u8>>;
    tokio::sync::broadcast::Sender<u8>; tokio::sync::broadcast::Receiver<u8>; tokio::sync::broadcast::Receiver<Rc<u8>>;
    tokio::task::JoinHandle<u8>; tokio::task::JoinHandle<Rc<u8>>; tokio::task::JoinHandle<Cell<u8>>;
    tokio::task::AbortHandle; tokio::task::JoinError; tokio::task::JoinSet<u8>; tokio::task::LocalSet;
    tokio::runtime::Runtime; tokio::runtime::Handle; tokio::runtime::EnterGuard<'static>;
    tokio::time::Sleep; tokio::time::Interval; tokio::time::Instant;
    tokio::net::TcpListener; tokio::net::TcpStream; tokio::net::UdpSocket;
    tokio::net::tcp::ReadHalf<'static>; tokio::net::tcp::WriteHalf<'static>;
    tokio::net::tcp::OwnedReadHalf; tokio::net::tcp::OwnedWriteHalf;
    tokio::io::ReadHalf<u8>; tokio::io::WriteHalf<u8>; tokio::io::ReadHalf<Cell<u8>>; tokio::io::ReadHalf<Rc<u8>>;
}

#[test]
fn each_type_has_the_auto_traits_of_tokios() {
    let (ours, tokios) = (of_ours(), of_tokios());
    let differ: Vec<_> = ours.iter().zip(&tokios).filter(|(ours, tokios)| ours != tokios).collect();
    assert!(differ.is_empty(), "Send, Sync of ours and of tokio's: {differ:#?}");
    assert!(tokios.iter().any(|(_, traits)| *traits == [true; 2]) && tokios.iter().any(|(_, traits)| !traits[0]));
}
