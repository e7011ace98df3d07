//! Reading ahead: one thread reads ops while another checks them.

use super::Reader;
use super::handover::Handover;
use super::threads::Threads;
use crate::Op;
use crate::error::HistoryError;
use crate::ops::batch::Batch;
use std::ops::ControlFlow;
use std::thread::Builder;

impl Reader<'_> {
    /// Like [`Reader::for_each`], but reads on a separate thread: `see` receives the same ops in the same order, and
    /// the same error after the same op.
    ///
    /// Ops that were read ahead of a `Break` count as read.
    ///
    /// # Errors
    ///
    /// If the text is not a history, or `see` returned an error, which gets the op's position and the text there.
    pub fn for_each_ahead(
        &mut self,
        mut see: impl FnMut(&Op<'_>) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Result<(), HistoryError> {
        self.for_each_batch_ahead(|batch| batch.each(&mut see))
    }

    /// Like [`Reader::for_each_batch`], but reads on a separate thread.
    ///
    /// # Errors
    ///
    /// If the text is not a history, after the ops before the error; or the error of `see`.
    pub fn for_each_batch_ahead(
        &mut self,
        mut see: impl FnMut(&Batch) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Result<(), HistoryError> {
        let read = self.ahead(&mut see);
        // If no thread can be started, this one reads and checks.
        read.unwrap_or_else(|| self.for_each_batch(see))
    }

    /// Reads on a separate thread; returns `None` if none can be started.
    fn ahead(
        &mut self,
        see: &mut impl FnMut(&Batch) -> Result<ControlFlow<()>, HistoryError>,
    ) -> Option<Result<(), HistoryError>> {
        let (mut handover, to_see, seen) = Handover::new();
        // The closure owns this thread's ends of the channels, and drops them before the scope waits for the other
        // thread. When either thread ends, its channels close, and the other thread stops too.
        std::thread::scope(move |scope| {
            let read = move || self.read_ahead(&mut handover, |count| Threads::start(scope, count));
            Builder::new().spawn_scoped(scope, read).ok()?;
            let see_all = || {
                for (batch, more) in to_see {
                    if !batch.is_empty() && see(&batch)?.is_break() {
                        return Ok(());
                    }
                    if !more? {
                        return Ok(());
                    }
                    let _ = seen.send(batch);
                }
                Ok(())
            };
            Some(see_all())
        })
    }

    /// Reads to the end, or until the receiver stops. `start` starts the threads for it, if it can.
    fn read_ahead(&mut self, handover: &mut Handover, start: impl Fn(usize) -> Option<Threads>) {
        let mut threads = None;
        loop {
            let flow = if !self.is_for_threads() {
                let Some(mut batch) = handover.next() else { return };
                let more = self.read_batch(&mut batch);
                handover.put(batch, more)
            } else if let Some(threads) = threads.get_or_insert_with(|| start(self.plan.threads)) {
                self.read_on(threads, handover)
            } else {
                self.plan.threads = 1;
                continue;
            };
            if flow.is_break() {
                return;
            }
        }
    }
}
