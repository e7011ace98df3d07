//! The current state of a run, updated by a task of the server.

use super::frame::{Fault, Known};
use super::news::{Follower, Live, LiveFault, News};
use crate::runs::watcher::locked;
use hyper::body::Bytes;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The time between two updates.
const EVERY: Duration = Duration::from_millis(500);

/// The state of a run for pages.
#[derive(Debug)]
pub(crate) struct Board {
    live: Live,
    begin: Instant,
    known: Mutex<Known>,
    pieces: watch::Sender<Arc<Piece>>,
}

/// An update, created once for all pages.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// The number of the update.
    pub(crate) sequence: u64,
    /// The change since the previous update. A page that missed that one gets the whole state instead.
    pub(crate) change: Bytes,
    /// Whether the change cannot be expressed, so that all pages need the whole state.
    pub(crate) is_whole: bool,
    /// Whether this is the last update.
    pub(crate) is_last: bool,
    whole: OnceLock<Bytes>,
}

impl Board {
    pub(crate) fn new(live: Live) -> Board {
        let known = Known { about: Arc::clone(&live.about), ..Known::default() };
        let (pieces, _) = watch::channel(Arc::default());
        Board { live, begin: Instant::now(), known: Mutex::new(known), pieces }
    }

    /// A receiver that is notified of updates.
    pub(crate) fn pieces(&self) -> watch::Receiver<Arc<Piece>> {
        self.pieces.subscribe()
    }

    /// Counts a page until the result is dropped.
    pub(crate) fn follower(&self) -> Follower {
        self.live.follower()
    }

    /// The whole current state.
    pub(crate) fn whole(&self, piece: &Piece) -> Bytes {
        piece.whole.get_or_init(|| locked(&self.known).whole().into()).clone()
    }

    /// The whole current state, for clients that do not receive updates. It includes a violation and the end as soon as
    /// they are reported.
    pub(crate) fn now(&self) -> String {
        if self.live.has_urgent() {
            self.look();
        }
        locked(&self.known).whole()
    }

    pub(crate) fn name(&self) -> &str {
        &self.live.about.name
    }

    pub(crate) fn has_ended(&self) -> bool {
        locked(&self.known).end.is_some()
    }

    /// Adds updates until the run has ended.
    pub(crate) async fn keep(&self) {
        loop {
            let is_last = self.look();
            if is_last {
                return;
            }
            let _ = tokio::time::timeout(EVERY, self.live.urgent()).await;
        }
    }

    /// Adds the news since the last call. Returns whether the run has ended.
    fn look(&self) -> bool {
        // Updates are in order: a thread that waits for this lock also sees the news that were taken.
        let mut known = locked(&self.known);
        let news = self.live.take();
        let time_ms = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (columns, width) = (known.columns(), known.series.width_ms);
        known.take(news, time_ms);
        let piece = Piece {
            sequence: known.sequence,
            change: known.change(columns).into(),
            is_whole: known.series.width_ms != width,
            is_last: known.end.is_some(),
            whole: OnceLock::new(),
        };
        let is_last = piece.is_last;
        self.pieces.send_replace(Arc::new(piece));
        is_last
    }
}

impl Known {
    fn take(&mut self, news: News, time_ms: u64) {
        self.sequence += 1;
        self.time_ms = time_ms;
        self.series.add(time_ms, news.tick.as_ref());
        if let Some(tick) = news.tick {
            tick.faults.iter().for_each(|fault| self.fault(fault, time_ms));
            self.tick = tick;
        }
        self.violations.extend(news.violations);
        self.violations_count = news.violations_count;
        self.end = news.end.or(self.end.take());
    }

    fn fault(&mut self, fault: &LiveFault, time_ms: u64) {
        const KEPT_MAX: usize = 1000;
        let mut open = self.faults.iter_mut().filter(|fault| fault.until_ms.is_none());
        match fault {
            LiveFault::Begin(what) => {
                if self.faults.len() >= KEPT_MAX {
                    self.faults.remove(0);
                }
                self.faults.push(Fault { what: what.clone(), from_ms: time_ms, until_ms: None });
            }
            LiveFault::End(what) => {
                if let Some(fault) = open.find(|fault| fault.what == *what) {
                    fault.until_ms = Some(time_ms);
                }
            }
            LiveFault::EndAll => open.for_each(|fault| fault.until_ms = Some(time_ms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{LiveAbout, LiveEnd, LiveTick, LiveViolation, Meter};
    use serde_json::Value;

    fn change(board: &Board) -> Value {
        serde_json::from_slice(&board.pieces().borrow().change).unwrap()
    }

    #[test]
    fn news_are_shown_at_the_next_update() {
        let live = Live::new(LiveAbout::new("a\u{202e}", vec!["bank".into()]));
        let board = Board::new(live.clone());
        let mut tick =
            LiveTick { ops: 7, open: 2, faults: vec![LiveFault::Begin("kill n1".into())], ..LiveTick::default() };
        tick.latencies.add(5000);
        live.tick(&mut tick);
        assert_eq!(tick.latencies.count(), 0, "the latencies were taken");
        assert!(!board.look());
        let seen = change(&board);
        assert_eq!(
            (&seen["ops"], &seen["columns"][0]["ops"], &seen["verdict"]),
            (&7.into(), &7.into(), &"running".into())
        );
        assert_eq!((&seen["faults"][0]["what"], &seen["faults"][0]["until_ms"]), (&"kill n1".into(), &Value::Null));
        tick.faults.push(LiveFault::EndAll);
        live.tick(&mut tick);
        live.violation(LiveViolation { index: Some(3), explanation: "because".into(), ..LiveViolation::default() });
        assert!(!board.look());
        let seen = change(&board);
        assert_eq!((&seen["verdict"], &seen["violations"][0]["index"]), (&"false".into(), &3.into()));
        assert!(seen["faults"][0]["until_ms"].is_u64());
        live.end(LiveEnd { verdict: Some("false".into()), notes: Vec::new() });
        assert!(board.look() && board.has_ended());
        let whole = board.now();
        assert!(!whole.contains('\u{202e}') && whole.contains("\"about\""), "{whole}");
    }

    #[test]
    fn a_violation_and_the_end_are_shown_on_request() {
        let live = Live::new(LiveAbout::default());
        let board = Board::new(live.clone());
        live.violation(LiveViolation { index: Some(3), ..LiveViolation::default() });
        assert!(board.now().contains("\"index\":3"), "{}", board.now());
        live.end(LiveEnd { verdict: Some("false".into()), notes: Vec::new() });
        let now: Value = serde_json::from_str(&board.now()).unwrap();
        assert_eq!(now["end"]["verdict"], "false");
        assert!(board.pieces.borrow().is_last && board.look(), "pages that receive updates get it, too");
    }

    #[test]
    fn each_tick_of_a_burst_is_seen() {
        let live = Live::new(LiveAbout::default());
        let board = Board::new(live.clone());
        let mut meter = Meter::new(live);
        for ops in 1..=3 {
            meter.pass(ops, 0, None);
        }
        board.look();
        assert_eq!(change(&board)["ops"], 3, "no further batch is needed");
    }
}
