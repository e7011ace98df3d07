//! Reading ahead: text becomes ops on one thread while they are judged on another.

use history_core::state::Damaged;
use history_core::{Batch, HistoryError, Position, Reader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Batches that wait to be judged. Whoever reads more waits too.
const WAITING_MAX: usize = 2;

/// The ops of a text, which another thread reads as soon as the first batch is asked for.
pub(super) struct Ahead {
    state: State,
    place: Place,
    /// What the end of the text was.
    end: Option<Result<bool, HistoryError>>,
    saves: Saves,
}

/// After which batches the reader's state is saved: that takes time for each process that there has been.
#[derive(Clone, Default)]
struct Saves {
    every: Option<Duration>,
    after_next: Arc<AtomicBool>,
}

enum State {
    Ready(Box<Reader<'static>>),
    Reading {
        parts: Receiver<Part>,
        /// Takes batches that were judged, to be filled again.
        judged: Sender<Batch>,
    },
}

struct Part {
    batch: Batch,
    more: Result<bool, HistoryError>,
    place: Place,
}

/// What the reader says after a batch.
pub(super) struct Place {
    pub(super) ops: u64,
    pub(super) in_flight: usize,
    /// Whether indices show that no op was left out.
    pub(super) is_consecutive: bool,
    /// Whether ops' positions are not those in the text that came.
    pub(super) is_compressed: bool,
    pub(super) dropped_client_orders: u64,
    /// Where the op begins that the end of the text cut.
    pub(super) cut_off: Option<Position>,
    /// Names for clients that no process had; at the end only.
    pub(super) unmatched: Vec<String>,
    pub(super) read_on: ReadOn,
}

/// What is known of a place from which a text can be read on.
#[derive(Debug)]
pub(super) enum ReadOn {
    /// It was not asked for in time; it will be known after one of the next batches, or at the end.
    Later,
    /// The text cannot be read from there.
    Never,
    /// The byte where the next op is read, and the reader's state.
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

    /// Lets a batch come with a place from which the text can be read on after each such time.
    pub(super) fn save_every(&mut self, time: Duration) {
        self.saves.every = Some(time);
    }

    /// Goes on behind a [place](ReadOn::At), before anything was read.
    pub(super) fn resume(self, state: &[u8]) -> Result<Ahead, Damaged> {
        match self.state {
            State::Ready(reader) => Ok(Ahead::new(reader.resume(state)?)),
            State::Reading { .. } => Err(Damaged),
        }
    }

    /// As [`Reader::read_batch`].
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

    /// What the reader said after the last batch.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Lets one of the next batches come with a place from which the text can be read on.
    pub(super) fn want_save(&self) {
        self.saves.after_next.store(true, Ordering::Relaxed);
    }
}

/// Reads on a thread of its own, to the end or until nobody takes what is read.
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

    /// All batches: their lengths, and how the text ends.
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
