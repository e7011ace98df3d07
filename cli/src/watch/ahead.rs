//! Reading ahead: text becomes ops on one thread while they are judged on another.

use history_core::state::Damaged;
use history_core::{Batch, HistoryError, Position, Reader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Batches that wait to be judged. Whoever reads more waits too.
const WAITING_MAX: usize = 2;

/// Operations in flight up to which saving the reader's state after each batch takes less than a tenth of the time.
const IN_FLIGHT_MAX: usize = 1000;

/// The ops of a text, which another thread reads as soon as the first batch is asked for.
pub(super) struct Ahead {
    state: State,
    place: Place,
    /// What the end of the text was.
    end: Option<Result<bool, HistoryError>>,
    saves: Saves,
}

/// After which batches the reader's state is saved.
#[derive(Clone, Default)]
struct Saves {
    after_each: bool,
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
    fn of(reader: &Reader<'_>, is_end: bool, saves: &Saves) -> Place {
        let is_cheap = saves.after_each && reader.in_flight() <= IN_FLIGHT_MAX;
        let read_on = if is_end || is_cheap || saves.after_next.swap(false, Ordering::Relaxed) {
            reader.save().map_or(ReadOn::Never, |(byte, state)| ReadOn::At(byte, state))
        } else {
            ReadOn::Later
        };
        let unmatched = if is_end { reader.unmatched().map(str::to_owned).collect() } else { Vec::new() };
        Place {
            ops: reader.ops(),
            in_flight: reader.in_flight(),
            dropped_client_orders: reader.dropped_client_orders(),
            cut_off: reader.cut_off(),
            unmatched,
            read_on,
        }
    }
}

impl Ahead {
    pub(super) fn new(reader: Reader<'static>) -> Ahead {
        let saves = Saves::default();
        let place = Place::of(&reader, false, &saves);
        Ahead { state: State::Ready(Box::new(reader)), place, end: None, saves }
    }

    /// Lets each batch come with a place from which the text can be read on, as long as that is cheap.
    pub(super) fn save_after_each(&mut self) {
        self.saves.after_each = true;
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
        loop {
            let mut batch = to_fill.try_recv().unwrap_or_default();
            let more = reader.read_batch(&mut batch);
            let is_end = !matches!(more, Ok(true));
            let place = Place::of(&reader, is_end, &saves);
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
    fn a_place_to_read_on_from_comes_with_each_batch_or_once_it_is_wanted() {
        let lost = |process| format!("{{:process {process}, :type :invoke, :f :read}}\n");
        let text: String = (0..200_000).map(lost).collect();
        let mut ahead = Ahead::new(Reader::new(std::io::Cursor::new(text.into_bytes())));
        ahead.save_after_each();
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
        let (wanted, end) = (saved[3..].iter().filter(|saved| **saved).count(), saved.last());
        assert_eq!((wanted, end), (2, Some(&true)), "one that was wanted, and the end: {saved:?}");
    }
}
