//! Counts the ops that pass a checker: a few additions per op, and one exchange with the server per batch.

use super::news::{Live, LiveFault, LiveTick};
use histcheck_draw::bands::Bands;
use history_core::{Op, OpKind, Pair};

/// Measures the ops that pass a checker, for a [`Live`].
#[derive(Debug)]
pub struct Meter {
    live: Live,
    tick: LiveTick,
    bands: Bands,
    /// Whether each fault that began has ended.
    ended: Vec<bool>,
}

impl Meter {
    /// Creates a meter without ops.
    pub fn new(live: Live) -> Meter {
        Meter { live, tick: LiveTick::default(), bands: Bands::default(), ended: Vec::new() }
    }

    /// Counts an op that was checked.
    #[inline]
    pub fn op(&mut self, op: &Op<'_>) {
        if !op.process.is_client() {
            self.nemesis(op);
            return;
        }
        match op.kind {
            OpKind::Invoke => return,
            OpKind::Ok => self.tick.completed[0] += 1,
            OpKind::Fail => self.tick.completed[1] += 1,
            OpKind::Info => self.tick.completed[2] += 1,
        }
        if let (Pair::Completes { invoked_time_ns: Some(begin), .. }, Some(end)) = (op.pair, op.time)
            && let Ok(took) = u64::try_from(end.saturating_sub(begin))
        {
            self.tick.latencies.add(took);
        }
    }

    /// Reports the progress of the checker. Call it after every batch: after the last batch of a burst, the next one
    /// may follow only hours later.
    pub fn pass(&mut self, ops: u64, open: u64, configurations: Option<u64>) {
        (self.tick.ops, self.tick.checked, self.tick.open) = (ops, ops, open);
        self.tick.configurations = configurations;
        self.live.tick(&mut self.tick);
    }

    #[cold]
    fn nemesis(&mut self, op: &Op<'_>) {
        self.bands.observe(op);
        for (at, band) in self.bands.faults().iter().enumerate() {
            if at == self.ended.len() {
                self.ended.push(false);
                self.tick.faults.push(LiveFault::Begin(band.what.clone()));
            }
            if band.last.is_some() && !self.ended[at] {
                self.ended[at] = true;
                self.tick.faults.push(LiveFault::End(band.what.clone()));
            }
        }
    }
}
