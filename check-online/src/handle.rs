//! A checker on a separate thread, fed by several threads through a bounded channel: a thread that is faster than the
//! checker waits for it, and nothing is lost.

use crate::{FeedError, Online, OnlineModel, Outcome, Span};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The messages to the checker's thread.
enum Message<O> {
    Feed(Span<O>),
    Crash { client: u32, start: u64, op: O },
    Idle { client: u32, until: u64 },
    Pause(u32),
    Stop(u32),
    Resume { client: u32, at: u64, answer: SyncSender<Result<(), FeedError>> },
    Join { at: u64, answer: SyncSender<Result<u32, FeedError>> },
    Finish(SyncSender<Result<Outcome<O>, FeedError>>),
}

/// The messages from the checker's thread.
struct Shared<O> {
    outcome: Mutex<(Outcome<O>, Option<FeedError>)>,
    /// Whether there is anything new to publish besides progress.
    is_news: AtomicBool,
}

/// Feeds an [`Online`] checker that runs on a separate thread. Clones feed the same checker, from any thread. The spans
/// of one client must arrive in order, so feed each client from one thread.
///
/// The checker's thread ends with the last handle.
///
/// ```
/// use check_online::{Online, Outcome, Span};
/// use check_register::models::{PlainRegister, RegisterOp::{Read, Write}};
///
/// let handle = Online::new(PlainRegister::default(), 2).spawn(1_000);
/// let writer = handle.clone();
/// let thread = std::thread::spawn(move || writer.feed(Span::new(0, 1, 2, Write(7))));
/// handle.feed(Span::new(1, 3, 4, Read(8)))?;
/// thread.join().unwrap()?;
/// assert!(matches!(handle.finish()?, Outcome::Violation(_)));
/// # Ok::<(), check_online::FeedError>(())
/// ```
pub struct OnlineHandle<O> {
    sender: SyncSender<Message<O>>,
    shared: Arc<Shared<O>>,
}

impl<O> fmt::Debug for OnlineHandle<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnlineHandle").finish_non_exhaustive()
    }
}

impl<O> Clone for OnlineHandle<O> {
    fn clone(&self) -> OnlineHandle<O> {
        OnlineHandle { sender: self.sender.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<M: OnlineModel<State: 'static, Op: 'static> + Send + 'static> Online<M> {
    /// Starts a thread that checks the spans fed through the handle. At most `waiting_max` spans wait in the channel; a
    /// thread that feeds more waits.
    pub fn spawn(self, waiting_max: usize) -> OnlineHandle<M::Op> {
        let (sender, receiver) = sync_channel(waiting_max);
        let outcome = Mutex::new((self.outcome(), None));
        let shared = Arc::new(Shared { outcome, is_news: AtomicBool::new(false) });
        let teller = Arc::clone(&shared);
        thread::spawn(move || serve(self, &receiver, &teller));
        OnlineHandle { sender, shared }
    }
}

/// Processes messages until all senders are dropped.
fn serve<M: OnlineModel>(mut online: Online<M>, receiver: &Receiver<Message<M::Op>>, shared: &Shared<M::Op>) {
    let publish = |taken: Result<Outcome<M::Op>, FeedError>| {
        if let Ok(Outcome::Ok) = taken {
            return;
        }
        let mut published = shared.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match taken {
            // A violation is final, and the first error is the cause of all others.
            Ok(outcome) if !matches!(published.0, Outcome::Violation(_)) => published.0 = outcome,
            Ok(_) => return,
            Err(error) => _ = published.1.get_or_insert(error),
        }
        shared.is_news.store(true, Ordering::Release);
    };
    for message in receiver {
        match message {
            Message::Feed(span) => publish(online.feed(span)),
            Message::Crash { client, start, op } => publish(online.crash(client, start, op)),
            Message::Idle { client, until } => publish(online.idle(client, until)),
            Message::Pause(client) => publish(online.pause(client)),
            Message::Stop(client) => publish(online.stop(client)),
            // If the sender no longer waits for the answer, it does not need it.
            Message::Resume { client, at, answer } => _ = answer.send(online.resume(client, at)),
            Message::Join { at, answer } => _ = answer.send(online.join(at)),
            Message::Finish(answer) => {
                let outcome = online.finish();
                let mut published = shared.outcome.lock().unwrap_or_else(PoisonError::into_inner);
                // The handle must be closed before the answer is sent: messages sent after this are not processed.
                let error = published.1.replace(FeedError::Closed);
                published.0 = outcome.clone();
                shared.is_news.store(true, Ordering::Release);
                drop(published);
                _ = answer.send(error.map_or(Ok(outcome), Err));
                return;
            }
        }
    }
}

impl<O> OnlineHandle<O> {
    /// Feeds the next span of a client. Waits while the channel is full. The outcome is not immediately known: see
    /// [`OnlineHandle::outcome`].
    ///
    /// # Errors
    ///
    /// If a span that was fed before, by any handle, was not accepted, or the checker was finished.
    pub fn feed(&self, span: Span<O>) -> Result<(), FeedError> {
        self.send(Message::Feed(span))
    }

    /// The same without waiting: returns the span if the channel is full.
    ///
    /// # Errors
    ///
    /// As for [`OnlineHandle::feed`].
    pub fn try_feed(&self, span: Span<O>) -> Result<Option<Span<O>>, FeedError> {
        self.error()?;
        match self.sender.try_send(Message::Feed(span)) {
            Ok(()) => Ok(None),
            Err(TrySendError::Full(Message::Feed(span))) => Ok(Some(span)),
            Err(_) => Err(FeedError::Closed),
        }
    }

    /// Records that a client calls an operation that will never return: see [`Online::crash`].
    ///
    /// # Errors
    ///
    /// As for [`OnlineHandle::feed`].
    pub fn crash(&self, client: u32, start: u64, op: O) -> Result<(), FeedError> {
        self.send(Message::Crash { client, start, op })
    }

    /// Records that a client has nothing in flight, and calls nothing up to `until`.
    ///
    /// # Errors
    ///
    /// As for [`OnlineHandle::feed`].
    pub fn idle(&self, client: u32, until: u64) -> Result<(), FeedError> {
        self.send(Message::Idle { client, until })
    }

    /// Records that a client calls nothing until it is resumed.
    ///
    /// # Errors
    ///
    /// As for [`OnlineHandle::feed`].
    pub fn pause(&self, client: u32) -> Result<(), FeedError> {
        self.send(Message::Pause(client))
    }

    /// Records that a client will never call anything again.
    ///
    /// # Errors
    ///
    /// As for [`OnlineHandle::feed`].
    pub fn stop(&self, client: u32) -> Result<(), FeedError> {
        self.send(Message::Stop(client))
    }

    /// Records that a client continues: its next call starts after `at`. Waits for the result.
    ///
    /// # Errors
    ///
    /// As for [`Online::resume`], and if the checker was finished.
    pub fn resume(&self, client: u32, at: u64) -> Result<(), FeedError> {
        let (answer, answered) = sync_channel(1);
        self.send(Message::Resume { client, at, answer })?;
        answered.recv().unwrap_or(Err(FeedError::Closed))
    }

    /// Adds a client and returns its number. Waits for the result.
    ///
    /// # Errors
    ///
    /// As for [`Online::join`], and if the checker was finished.
    pub fn join(&self, at: u64) -> Result<u32, FeedError> {
        let (answer, answered) = sync_channel(1);
        self.send(Message::Join { at, answer })?;
        answered.recv().unwrap_or(Err(FeedError::Closed))
    }

    fn send(&self, message: Message<O>) -> Result<(), FeedError> {
        self.error()?;
        self.sender.send(message).map_err(|_| FeedError::Closed)
    }

    fn error(&self) -> Result<(), FeedError> {
        if !self.shared.is_news.load(Ordering::Acquire) {
            return Ok(());
        }
        let published = self.shared.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        published.1.map_or(Ok(()), Err)
    }
}

impl<O: Clone> OnlineHandle<O> {
    /// The outcome of the spans that have been checked so far.
    pub fn outcome(&self) -> Outcome<O> {
        if !self.shared.is_news.load(Ordering::Acquire) {
            return Outcome::Ok;
        }
        self.shared.outcome.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Stops all clients. Waits until everything that was fed has been checked; the outcome is then final. Other
    /// handles cannot feed any more; spans that they feed at the same time may or may not be checked.
    ///
    /// # Errors
    ///
    /// As for [`OnlineHandle::feed`].
    pub fn finish(self) -> Result<Outcome<O>, FeedError> {
        let (answer, answered) = sync_channel(1);
        self.send(Message::Finish(answer))?;
        answered.recv().unwrap_or(Err(FeedError::Closed))
    }
}
