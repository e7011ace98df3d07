//! The types of the module `tokio` compared with those of tokio: random programs of one thread, which poll and drop
//! futures directly, return the same values and wake the same futures.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

/// The number of programs of each kind.
const PROGRAMS: u64 = 3000;

/// A random number generator: Marsaglia's xorshift.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

#[derive(Default)]
struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Count>) {
        self.0.fetch_add(1, SeqCst);
    }
}

type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

/// At most four pending futures, each with the number of its wake-ups.
struct Futures<T> {
    all: Vec<(Boxed<T>, Arc<Count>)>,
    log: Vec<String>,
}

impl<T> Futures<T> {
    fn new() -> Futures<T> {
        Futures { all: Vec::new(), log: Vec::new() }
    }

    fn note(&mut self, what: impl std::fmt::Debug) {
        let wakes: Vec<u32> = self.all.iter().map(|(_, count)| count.0.load(SeqCst)).collect();
        self.log.push(format!("{what:?} {wakes:?}"));
    }

    fn add(&mut self, future: impl Future<Output = T> + 'static) {
        if self.all.len() < 4 {
            self.all.push((Box::pin(future), Arc::default()));
        }
    }

    /// Polls one of the futures. Returns its output if it is ready.
    fn poll(&mut self, rng: &mut Rng) -> Option<T> {
        let at = pick(rng, self.all.len())?;
        let (future, count) = &mut self.all[at];
        match future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(count)))) {
            Poll::Ready(value) => {
                drop(self.all.remove(at));
                Some(value)
            }
            Poll::Pending => {
                self.note("pending");
                None
            }
        }
    }

    fn drop_one(&mut self, rng: &mut Rng) {
        if let Some(at) = pick(rng, self.all.len()) {
            drop(self.all.remove(at));
        }
    }
}

fn pick(rng: &mut Rng, len: usize) -> Option<usize> {
    let len = u64::try_from(len).ok().filter(|len| *len > 0)?;
    usize::try_from(rng.below(len)).ok()
}

/// Runs a program with both crates, from the same random numbers, and compares their logs.
macro_rules! same {
    ($(fn $name:ident($tokio:ident, $rng:ident) -> $log:ty $body:block)*) => {$(
        #[test]
        fn $name() {
            fn ours(seed: u64) -> Vec<String> {
                use record_parallel::tokio as $tokio;
                let mut $rng = Rng(seed * 0x9e37_79b9 + 1);
                $body
            }
            fn real(seed: u64) -> Vec<String> {
                use ::tokio as $tokio;
                let mut $rng = Rng(seed * 0x9e37_79b9 + 1);
                $body
            }
            for seed in 0..PROGRAMS {
                let (ours, real) = (ours(seed), real(seed));
                let same = ours.iter().zip(&real).take_while(|(ours, real)| ours == real).count();
                assert_eq!(ours.get(same), real.get(same), "left: ours, right: tokio's; seed {seed}: {:?}", &ours[..same]);
            }
        }
    )*};
}

same! {
    fn semaphores(tokio, rng) -> Vec<String> {
        let semaphore = Arc::new(tokio::sync::Semaphore::new(rng.below(3) as usize));
        let mut futures = Futures::new();
        let mut permits = Vec::new();
        for _ in 0..24 {
            let many = rng.below(3) as u32;
            match rng.below(12) {
                0..3 => {
                    let semaphore = Arc::clone(&semaphore);
                    futures.add(semaphore.acquire_many_owned(many));
                }
                3..6 => match futures.poll(&mut rng) {
                    Some(Ok(permit)) => permits.push(permit),
                    Some(Err(error)) => futures.note(error.to_string()),
                    None => {}
                },
                6 => futures.drop_one(&mut rng),
                7 => _ = permits.pop(),
                8 => semaphore.add_permits(many as usize),
                9 => match Arc::clone(&semaphore).try_acquire_many_owned(many) {
                    Ok(permit) => permits.push(permit),
                    Err(error) => futures.note(error),
                },
                10 => {
                    let forgotten = semaphore.forget_permits(many as usize);
                    futures.note(forgotten);
                }
                _ if rng.below(8) == 0 => semaphore.close(),
                _ => if let Some(permit) = permits.pop() { permit.forget() },
            }
            futures.note((semaphore.available_permits(), semaphore.is_closed(), permits.len()));
        }
        futures.log
    }

    fn mutexes(tokio, rng) -> Vec<String> {
        let mutex = Arc::new(tokio::sync::Mutex::new(0));
        let mut futures = Futures::new();
        let mut guards = Vec::new();
        for _ in 0..24 {
            match rng.below(8) {
                0..2 => futures.add(Arc::clone(&mutex).lock_owned()),
                2..5 => if let Some(mut guard) = futures.poll(&mut rng) {
                    *guard += 1;
                    guards.push(guard);
                },
                5 => futures.drop_one(&mut rng),
                6 => _ = guards.pop(),
                _ => match Arc::clone(&mutex).try_lock_owned() {
                    Ok(guard) => guards.push(guard),
                    Err(error) => futures.note(error),
                },
            }
            let value = guards.last().map(|guard| **guard);
            futures.note(value);
        }
        futures.log
    }

    fn locks_of_readers_and_writers(tokio, rng) -> Vec<String> {
        let lock = Arc::new(tokio::sync::RwLock::new(0));
        let mut readers = Futures::new();
        let mut writers = Futures::new();
        let (mut reading, mut writing) = (Vec::new(), Vec::new());
        for _ in 0..30 {
            match rng.below(14) {
                0..2 => readers.add(Arc::clone(&lock).read_owned()),
                2..4 => writers.add(Arc::clone(&lock).write_owned()),
                4..6 => reading.extend(readers.poll(&mut rng)),
                6..8 => if let Some(mut guard) = writers.poll(&mut rng) {
                    *guard += 1;
                    writing.push(guard);
                },
                8 => readers.drop_one(&mut rng),
                9 => writers.drop_one(&mut rng),
                10 => _ = reading.pop(),
                11 => _ = writing.pop(),
                12 => if let Some(guard) = writing.pop() { reading.push(guard.downgrade()) },
                _ => {
                    let tried = (lock.try_read().is_ok(), lock.try_write().is_ok());
                    readers.note(tried);
                }
            }
            readers.note((reading.last().map(|guard| **guard), writing.last().map(|guard| **guard)));
            writers.note(reading.len());
        }
        readers.log.extend(writers.log);
        readers.log
    }

    fn notifications(tokio, rng) -> Vec<String> {
        let notify: &'static tokio::sync::Notify = Box::leak(Box::new(tokio::sync::Notify::new()));
        let mut futures = Futures::new();
        for _ in 0..24 {
            match rng.below(8) {
                0..2 => futures.add(notify.notified()),
                2..5 => if let Some(()) = futures.poll(&mut rng) { futures.note("notified") },
                5 => futures.drop_one(&mut rng),
                6 => if rng.below(3) == 0 { notify.notify_last() } else { notify.notify_one() },
                _ => if rng.below(2) == 0 { notify.notify_waiters() } else { notify.notify_one() },
            }
            futures.note(());
        }
        futures.log
    }

    fn channels_with_room(tokio, rng) -> Vec<String> {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1 + rng.below(2) as usize);
        let mut senders = vec![sender];
        let mut sends = Futures::new();
        let mut permits = Vec::new();
        let receives = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&receives));
        for number in 0..30_u32 {
            let sender = senders.last().cloned();
            match rng.below(12) {
                0..3 => if let Some(sender) = sender { sends.add(sender.reserve_owned()) },
                3..6 => match sends.poll(&mut rng) {
                    Some(Ok(permit)) => permits.push(permit),
                    Some(Err(error)) => sends.note(error.to_string()),
                    None => {}
                },
                6 => sends.drop_one(&mut rng),
                7 => if let Some(permit) = permits.pop() {
                    if rng.below(3) > 0 { drop(permit.send(number)) } else { drop(permit) }
                },
                8 => if let Some(sender) = sender {
                    let sent = sender.try_send(number).map_err(|error| error.to_string());
                    sends.note(sent);
                },
                9 => sends.note(receiver.try_recv()),
                10 => {
                    let received = receiver.poll_recv(&mut Context::from_waker(&waker));
                    sends.note(received);
                }
                _ => match rng.below(12) {
                    0 => receiver.close(),
                    1..4 => _ = senders.pop(),
                    _ => if let Some(sender) = sender { senders.push(sender) },
                },
            }
            sends.note((receiver.len(), receiver.capacity(), receiver.is_closed(), receives.0.load(SeqCst)));
        }
        sends.log
    }

    fn channels_without_limit(tokio, rng) -> Vec<String> {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let mut senders = vec![sender];
        let mut ends = Futures::new();
        let receives = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&receives));
        for number in 0..24_u32 {
            let sender = senders.last().cloned();
            match rng.below(8) {
                0..3 => if let Some(sender) = sender {
                    let sent = sender.send(number).is_ok();
                    ends.note((sent, sender.is_closed()));
                },
                3 => if let Some(sender) = sender { ends.add(async move { sender.closed().await }) },
                4 => if let Some(()) = ends.poll(&mut rng) { ends.note("closed") },
                5 => ends.note(receiver.try_recv()),
                6 => {
                    let received = receiver.poll_recv(&mut Context::from_waker(&waker));
                    ends.note(received);
                }
                _ => match rng.below(12) {
                    0 => receiver.close(),
                    1..4 => _ = senders.pop(),
                    4 => ends.drop_one(&mut rng),
                    _ => if let Some(sender) = sender { senders.push(sender) },
                },
            }
            ends.note((receiver.len(), receiver.is_closed(), receives.0.load(SeqCst)));
        }
        ends.log
    }

    fn channels_of_one_message(tokio, rng) -> Vec<String> {
        let (sender, receiver) = tokio::sync::oneshot::channel::<u32>();
        let (mut sender, mut receiver) = (Some(sender), Some(receiver));
        let counts = [Arc::new(Count::default()), Arc::new(Count::default())];
        let mut log = Vec::new();
        for number in 0..12 {
            match rng.below(9) {
                0 => if let Some(sender) = sender.take() { log.push(format!("{:?}", sender.send(number))) },
                1..3 => if let Some(mut own) = receiver.take() {
                    let waker = Waker::from(Arc::clone(&counts[0]));
                    match Pin::new(&mut own).poll(&mut Context::from_waker(&waker)) {
                        Poll::Ready(received) => log.push(format!("{:?}", received.ok())),
                        Poll::Pending => receiver = Some(own),
                    }
                },
                3 => if let Some(own) = &mut receiver {
                    let tried = own.try_recv();
                    log.push(format!("{tried:?}"));
                    if tried != Err(tokio::sync::oneshot::error::TryRecvError::Empty) { receiver = None }
                },
                4 => if let Some(own) = &mut receiver { own.close() },
                5..7 => if let Some(own) = &mut sender {
                    let waker = Waker::from(Arc::clone(&counts[1]));
                    log.push(format!("{:?}", own.poll_closed(&mut Context::from_waker(&waker))));
                },
                7 => if rng.below(4) == 0 { sender = None },
                _ => if rng.below(4) == 0 { receiver = None },
            }
            let wakes = counts.each_ref().map(|count| count.0.load(SeqCst));
            log.push(format!("{wakes:?} {:?}", sender.as_ref().map(tokio::sync::oneshot::Sender::is_closed)));
        }
        log
    }

    fn watched_values(tokio, rng) -> Vec<String> {
        let (sender, receiver) = tokio::sync::watch::channel(0);
        let mut sender = Some(sender);
        let mut receivers = vec![receiver];
        let mut futures = Futures::new();
        for number in 1..24 {
            match rng.below(12) {
                0 => if let Some(sender) = &sender { futures.note(sender.send(number).is_ok()) },
                1 => if let Some(sender) = &sender {
                    let is_changed = sender.send_if_modified(|value| {
                        *value += 1;
                        number % 2 == 0
                    });
                    futures.note(is_changed);
                },
                2..4 => if let Some(mut receiver) = receivers.last().cloned() {
                    futures.add(async move { receiver.changed().await.is_ok() });
                },
                4 => if let Some(mut receiver) = receivers.last().cloned() {
                    futures.add(async move { receiver.wait_for(|value| value % 3 == 0).await.is_ok() });
                },
                5..8 => if let Some(is_ok) = futures.poll(&mut rng) { futures.note(is_ok) },
                8 => futures.drop_one(&mut rng),
                9 => if let Some(receiver) = receivers.last_mut() {
                    let seen = match rng.below(4) {
                        0 => { receiver.mark_changed(); 0 }
                        1 => { receiver.mark_unchanged(); 0 }
                        2 => *receiver.borrow(),
                        _ => *receiver.borrow_and_update(),
                    };
                    futures.note(seen);
                },
                10 => match (&sender, receivers.last()) {
                    (Some(sender), _) if rng.below(2) == 0 => receivers.push(sender.subscribe()),
                    (_, Some(receiver)) => receivers.push(receiver.clone()),
                    _ => {}
                },
                _ => match rng.below(12) {
                    0 => sender = None,
                    1..5 => _ = receivers.pop(),
                    _ => {}
                },
            }
            let changed: Vec<_> = receivers.iter().map(|receiver| receiver.has_changed().ok()).collect();
            futures.note((sender.as_ref().map(|sender| (sender.receiver_count(), sender.is_closed())), changed));
        }
        futures.log
    }

    fn messages_for_all(tokio, rng) -> Vec<String> {
        let (sender, receiver) = tokio::sync::broadcast::channel(1 + rng.below(3) as usize);
        let mut senders = vec![sender];
        let mut receivers = vec![receiver];
        let mut futures = Futures::new();
        for number in 0..30_u32 {
            match rng.below(12) {
                0..3 => if let Some(sender) = senders.last() { futures.note(sender.send(number).ok()) },
                3 => if let Some(receiver) = receivers.pop() {
                    let mut receiver = receiver;
                    futures.add(async move { (receiver.recv().await, receiver.recv().await) });
                },
                4..7 => if let Some(both) = futures.poll(&mut rng) { futures.note(both) },
                7 => futures.drop_one(&mut rng),
                8 => if let Some(receiver) = receivers.last_mut() { futures.note(receiver.try_recv()) },
                9 => if let Some(sender) = senders.last() { receivers.push(sender.subscribe()) },
                10 => if let Some(receiver) = receivers.last() { receivers.push(receiver.resubscribe()) },
                _ => match rng.below(12) {
                    0 => _ = senders.pop(),
                    1..5 => _ = receivers.pop(),
                    _ => if let Some(sender) = senders.last().cloned() { senders.push(sender) },
                },
            }
            let lens: Vec<_> = receivers.iter().map(tokio::sync::broadcast::Receiver::len).collect();
            let sender = senders.last().map(|sender| (sender.len(), sender.receiver_count()));
            futures.note((lens, sender));
        }
        futures.log
    }
}
