//! Reads ahead: one thread parses the text while another checks the ops.

use history_core::state::Damaged;
use history_core::{Batch, HistoryError, Position, Reader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum number of batches that wait to be checked. When it is reached, the reader waits.
const WAITING_MAX: usize = 2;

/// The ops of a text. Another thread starts to read it when the first batch is requested.
pub(super) struct Ahead {
    state: State,
    place: Place,
    /// The result at the end of the text.
    end: Option<Result<bool, HistoryError>>,
    saves: Saves,
}

/// Determines after which batches the reader's state is saved. Saving takes time proportional to the number of
/// processes.
#[derive(Clone, Default)]
struct Saves {
    every: Option<Duration>,
    after_next: Arc<AtomicBool>,
}

enum State {
    Ready(Box<Reader<'static>>),
    Reading {
        parts: Receiver<Part>,
        /// Returns checked batches to the reader, to be filled again.
        judged: Sender<Batch>,
    },
}

struct Part {
    batch: Batch,
    more: Result<bool, HistoryError>,
    place: Place,
}

/// The state of the reader after a batch.
pub(super) struct Place {
    pub(super) ops: u64,
    pub(super) in_flight: usize,
    /// Whether consecutive indices show that no op is missing.
    pub(super) is_consecutive: bool,
    /// Whether the text is compressed, so that positions of ops are not positions in the received bytes.
    pub(super) is_compressed: bool,
    pub(super) dropped_client_orders: u64,
    /// The beginning of the op that the end of the text cuts.
    pub(super) cut_off: Option<Position>,
    /// Names in the client rule that no process had; set only at the end.
    pub(super) unmatched: Vec<String>,
    pub(super) read_on: ReadOn,
}

/// A position from which reading can continue.
#[derive(Debug)]
pub(super) enum ReadOn {
    /// No position was requested in time. One will be known after one of the next batches, or at the end.
    Later,
    /// Reading cannot continue from any position.
    Never,
    /// The byte at which the next op begins, and the reader's state.
    At(u64, Vec<u8>),
}

impl Place {
    fn of(reader: &Reader<'_>, is_end: bool, is_saved: bool) -> Place {
        let read_on = if is_saved {
            reader.save().map_or(ReadOn::Never, |(byte, state)| ReadOn::At(byte, state))
        } else {
            ReadOn::Later
        };
        let unmatched = if is_end { reader.unmatched().map(str::to_owned).collect() } else { Vec::new() };
        Place {
            ops: reader.ops(),
            in_flight: reader.in_flight(),
            is_consecutive: reader.is_consecutive(),
            is_compressed: reader.is_compressed(),
            dropped_client_orders: reader.dropped_client_orders(),
            cut_off: reader.cut_off(),
            unmatched,
            read_on,
        }
    }
}

impl Ahead {
    pub(super) fn new(reader: Reader<'static>) -> Ahead {
        let (saves, place) = (Saves::default(), Place::of(&reader, false, false));
        Ahead { state: State::Ready(Box::new(reader)), place, end: None, saves }
    }

    /// Requests a position from which reading can continue, each time this much time has passed.
    pub(super) fn save_every(&mut self, time: Duration) {
        self.saves.every = Some(time);
    }

    /// Continues from a [position](ReadOn::At). Nothing may have been read before.
    pub(super) fn resume(self, state: &[u8]) -> Result<Ahead, Damaged> {
        match self.state {
            State::Ready(reader) => Ok(Ahead::new(reader.resume(state)?)),
            State::Reading { .. } => Err(Damaged),
        }
    }

    /// The same as [`Reader::read_batch`].
    pub(super) fn read_batch(&mut self, batch: &mut Batch) -> Result<bool, HistoryError> {
        if let State::Ready(reader) = &mut self.state {
            let reader = std::mem::replace(reader.as_mut(), Reader::new(std::io::empty()));
            self.state = begin(reader, self.saves.clone());
        }
        let State::Reading { parts, judged } = &self.state else { unreachable!("it has just begun") };
        if let Some(end) = &self.end {
            *batch = Batch::new();
            return end.clone();
        }
        let _ = judged.send(std::mem::take(batch));
        let part = parts.recv().expect("the thread that reads does not end before the text");
        (*batch, self.place) = (part.batch, part.place);
        self.end = (!matches!(part.more, Ok(true))).then(|| part.more.clone());
        part.more
    }

    /// The state of the reader after the last batch.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Requests a position from which reading can continue, with one of the next batches.
    pub(super) fn want_save(&self) {
        self.saves.after_next.store(true, Ordering::Relaxed);
    }
}

/// Reads on a separate thread, to the end or until the receiver is dropped.
fn begin(mut reader: Reader<'static>, saves: Saves) -> State {
    let (to_judge, parts): (SyncSender<Part>, Receiver<Part>) = sync_channel(WAITING_MAX);
    let (judged, to_fill) = channel::<Batch>();
    thread::spawn(move || {
        let mut last_saved = Instant::now();
        loop {
            let mut batch = to_fill.try_recv().unwrap_or_default();
            let more = reader.read_batch(&mut batch);
            let is_end = !matches!(more, Ok(true));
            let is_due = saves.every.is_some_and(|every| last_saved.elapsed() >= every);
            let is_saved = saves.after_next.swap(false, Ordering::Relaxed) || is_due || matches!(more, Ok(false));
            if is_saved {
                last_saved = Instant::now();
            }
            let place = Place::of(&reader, is_end, is_saved);
            if to_judge.send(Part { batch, more, place }).is_err() || is_end {
                return;
            }
        }
    });
    State::Reading { parts, judged }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPS: &str = "{:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read}\n";

    /// Reads all batches. Returns their lengths, and the result at the end.
    fn read(text: String) -> (Ahead, Vec<usize>, Result<bool, HistoryError>) {
        let mut ahead = Ahead::new(Reader::new(std::io::Cursor::new(text.into_bytes())));
        let (mut batch, mut lens) = (Batch::new(), Vec::new());
        loop {
            let more = ahead.read_batch(&mut batch);
            lens.push(batch.len());
            if !matches!(more, Ok(true)) {
                return (ahead, lens, more);
            }
        }
    }

    #[test]
    fn every_op_comes_once_and_then_the_end_again_and_again() {
        let (mut ahead, lens, end) = read(OPS.repeat(20_000));
        assert_eq!((lens.iter().sum::<usize>(), end), (40_000, Ok(false)));
        assert!(lens.len() > 2 * WAITING_MAX, "{lens:?}");
        let mut batch = Batch::new();
        assert_eq!((ahead.read_batch(&mut batch), batch.len(), ahead.place().ops), (Ok(false), 0, 40_000));
    }

    #[test]
    fn an_error_comes_behind_the_ops_before_it_and_stays() {
        let (mut ahead, lens, end) = read(OPS.repeat(20_000) + "{:process 0, :type :no}");
        assert_eq!(lens.iter().sum::<usize>(), 40_000);
        let error = end.unwrap_err();
        assert_eq!(ahead.read_batch(&mut Batch::new()).unwrap_err().to_string(), error.to_string());
    }

    #[test]
    fn a_place_to_read_on_from_comes_once_it_is_wanted_and_at_the_end() {
        let mut ahead = Ahead::new(Reader::new(std::io::Cursor::new(OPS.repeat(100_000).into_bytes())));
        let mut batch = Batch::new();
        let mut saved = Vec::new();
        for at in 0.. {
            let more = ahead.read_batch(&mut batch).unwrap();
            saved.push(matches!(ahead.place().read_on, ReadOn::At(..)));
            match more {
                true if at == 2 => ahead.want_save(),
                true => {}
                false => break,
            }
        }
        let (count, end) = (saved.iter().filter(|saved| **saved).count(), saved.last());
        assert_eq!((count, end), (2, Some(&true)), "one that was wanted, and the end: {saved:?}");
    }
}
