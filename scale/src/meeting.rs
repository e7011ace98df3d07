//! Meetings: rounds in which every worker sends bytes to any workers. When the round ends, each has received everything
//! sent to it.
//!
//! A round is a time of one timely dataflow: an exchange by the receiver's number, and a probe after it, which detects
//! when nothing of that time can arrive any more. Every worker has the same rounds in the same order.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use timely::dataflow::operators::vec::Map as _;
use timely::dataflow::operators::{Exchange as _, Input as _, Probe as _};
use timely::worker::Worker;

/// The maximum time between two checks for arrivals, if nothing wakes this worker.
const LOOK: Duration = Duration::from_millis(100);

/// Bytes for one worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Parcel {
    to: u64,
    round: u64,
    from: u64,
    /// The number of parcels that its sender sent before.
    seq: u64,
    bytes: Bytes,
}

/// Parcels by round, sender, and their order.
type Received = BTreeMap<(u64, u64, u64), Vec<u8>>;

/// The messages that a worker sends in a round, each with the number of its receiver.
type Sent = Vec<(usize, Vec<u8>)>;
/// The messages that a worker receives in a round, each with the number of its sender.
type Got = Vec<(u64, Vec<u8>)>;

/// The worker's connection to timely. Timely owns its threads, which may outlive the caller. So each worker has a
/// separate thread, which passes its parcels to timely's thread.
pub(crate) struct Seat {
    sent: Receiver<Sent>,
    got: Sender<Got>,
    who: Sender<(usize, usize)>,
}

/// A worker's seat in all meetings.
pub(crate) struct Meeting {
    sent: Sender<Sent>,
    got: Receiver<Got>,
    own: usize,
    workers: usize,
}

/// A seat before its worker has accepted it.
pub(crate) struct Invitation {
    sent: Sender<Sent>,
    got: Receiver<Got>,
    who: Receiver<(usize, usize)>,
}

/// Creates both ends of a seat.
pub(crate) fn seat() -> (Invitation, Seat) {
    let ((sent, to_send), (gotten, got), (to_who, who)) = (channel(), channel(), channel());
    (Invitation { sent, got, who }, Seat { sent: to_send, got: gotten, who: to_who })
}

/// The message if a thread of timely ended before its worker; that thread reports the reason.
const ENDED: &str = "a thread of timely that runs as long as its worker";

impl Seat {
    /// Transports the messages of the worker at this seat, until it leaves.
    pub(crate) fn serve(self, worker: &mut Worker) {
        let received = Rc::new(RefCell::new(Received::new()));
        let shelf = Rc::clone(&received);
        let (mut input, probe) = worker.dataflow::<u64, _, _>(|scope| {
            let (input, parcels) = scope.new_input::<Vec<Parcel>>();
            let taken = parcels.exchange(|parcel: &Parcel| parcel.to).map(move |parcel: Parcel| {
                let place = (parcel.round, parcel.from, parcel.seq);
                shelf.borrow_mut().insert(place, parcel.bytes.0);
            });
            (input, taken.probe().0)
        });
        // When the worker has left, the loop ends.
        let _ = self.who.send((worker.index(), worker.peers()));
        let (from, mut seq) = (number(worker.index()), 0);
        for (round, parcels) in (0_u64..).zip(self.sent) {
            for (to, bytes) in parcels {
                input.send(Parcel { to: number(to), round, from, seq, bytes: Bytes(bytes) });
                // Flushes each parcel, so that a message does not grow with the round.
                input.flush();
                seq += 1;
            }
            input.advance_to(round + 1);
            while probe.less_than(&(round + 1)) {
                worker.step_or_park(Some(LOOK));
            }
            let later = received.borrow_mut().split_off(&(round + 1, 0, 0));
            let now = std::mem::replace(&mut *received.borrow_mut(), later);
            let _ = self.got.send(now.into_iter().map(|((_, from, _), bytes)| (from, bytes)).collect());
        }
    }
}

impl Invitation {
    /// Accepts the seat. All workers must do so.
    pub(crate) fn accept(self) -> Meeting {
        let (own, workers) = self.who.recv().expect(ENDED);
        Meeting { sent: self.sent, got: self.got, own, workers }
    }
}

impl Meeting {
    /// The number of this worker.
    pub(crate) fn own(&self) -> usize {
        self.own
    }

    /// The number of workers.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Returns true if this worker is the one that returns the results.
    pub(crate) fn is_first(&self) -> bool {
        self.own == 0
    }

    /// Sends bytes to workers. Returns everything that workers sent to this one in the same round, each with the number
    /// of its sender: in the order of senders, and for each sender in the order of sending.
    pub(crate) fn exchange(&mut self, parcels: Sent) -> Got {
        self.sent.send(parcels).expect(ENDED);
        self.got.recv().expect(ENDED)
    }

    /// Exchanges one value per worker. Returns the values in the order of the workers.
    pub(crate) fn all<T: Serialize + de::DeserializeOwned>(&mut self, own: &T) -> Vec<T> {
        let bytes = to_bytes(own);
        let received = self.exchange((0..self.workers).map(|to| (to, bytes.clone())).collect());
        received.iter().map(|(_, bytes)| from_bytes(bytes)).collect()
    }

    /// Returns the value of the first worker, which must pass `Some`.
    pub(crate) fn told_by_first<T: Serialize + de::DeserializeOwned>(&mut self, own: Option<&T>) -> T {
        let workers = self.workers();
        let bytes = own.filter(|_| self.is_first()).map(to_bytes);
        let parcels = bytes.iter().flat_map(|bytes| (0..workers).map(|to| (to, bytes.clone())));
        let received = self.exchange(parcels.collect());
        let (_, bytes) = received.first().expect("the first worker sends a message");
        from_bytes(bytes)
    }
}

fn number(worker: usize) -> u64 {
    u64::try_from(worker).unwrap_or(u64::MAX)
}

/// Serializes a value for another worker of this version.
pub(crate) fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("maps have names as keys")
}

/// Deserializes a value of a worker of this version.
pub(crate) fn from_bytes<T: de::DeserializeOwned>(bytes: &[u8]) -> T {
    serde_json::from_slice(bytes).expect("a worker of this version wrote the value")
}

/// Bytes that serde serializes as bytes, not as a sequence.
#[derive(Clone)]
struct Bytes(Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        struct BytesVisitor;
        impl de::Visitor<'_> for BytesVisitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}
