//! set-full: elements are added while all of them are read, and every read counts.
//!
//! For an element whose add was invoked, among the `ok` reads that completed after that:
//!
//! - It is **known** from the completion of its add (`ok`) or of the first read that shows it, whichever comes first.
//! - *Last present* is the latest invocation of a read that shows it, *last absent* of one that does not.
//! - It is **stable** if it is present, and last so later than absent: from then on every read showed it. Its stable
//!   latency is the time from when it was known until just after it was last absent, at least 0; 0 if it never was
//!   absent.
//! - It is **lost** if it is known, and last absent later than last present and than it was known.
//! - Otherwise it was **never read**.
//! - It is **stale** if it is stable with a latency of a millisecond or more.
//!
//! An `ok` read whose result cannot be decoded may show and lack anything. So an element is lost only if it is last
//! absent later than all of these, too. A read that shows an element twice, or a stale element, is wrong whatever they
//! show.
//!
//! An add without a value adds the element of its `ok` completion. If that has no value either, or the outcome is
//! unknown, or a read showed the element before the completion, the history is not valid.
//!
//! "Later" is by index, latencies are by time. If the clock goes back, a read is assumed to have been invoked no
//! earlier than the reads before it. If the times of a history are missing, a stable element is stale if the read in
//! which it was last absent was invoked after it was known.
//!
//! An `ok` read is **observed**: without one the verdict is unknown.
//!
//! A history is invalid if an element is lost, or is twice in one read; otherwise unknown if none is stable; otherwise
//! invalid if one is stale and the set has to be linearizable; otherwise valid. After Jepsen's `checker/set-full`. An
//! element that is added again is the same element: elements are never removed, so its first add counts.
//!
//! Before the end it is certain that an element is twice in one read, and, if the set has to be linearizable, that a
//! read lacks an element that it must show: whatever follows, that one will be stale or lost (`late`). An element that
//! is lost so far may reappear.
//!
//! Time is linear in the elements that reads show. Reads are not compared: for each element, the number of the last
//! read that showed it is stored, and if that was not the previous one, the gap shows where it was absent (`track`).
//! Memory: 36 bytes per element in addition to the element itself, and 48 per read.

mod late;
mod report;
mod track;

use crate::fold::{self, InFlight, Workload, WorkloadRun};
use crate::witness::OpRef;
use history_core::{
    Checker, Expected, Op, OpFault, OpKind, OpUse, OptionError, OptionKind, OptionSpec, Options, Pair, Report, Run,
};
use late::Late;
use track::{ReadId, Tracks};

use crate::elements::{ElemId, Elements};

/// The set-full checker.
///
/// ```
/// use check_jepsen::set_full::SetFull;
/// use history_core::{Checker, History, Verdict};
///
/// let history = History::parse("
///     {:process 0, :type :invoke, :f :add, :value 1} {:process 0, :type :ok, :f :add, :value 1}
///     {:process 1, :type :invoke, :f :read}          {:process 1, :type :ok, :f :read, :value #{1}}
///     {:process 1, :type :invoke, :f :read}          {:process 1, :type :ok, :f :read, :value #{}}
/// ")?;
/// let report = SetFull::default().check(&history)?;
/// assert_eq!(report.verdict, Verdict::Invalid);
/// assert_eq!(report.anomaly("lost").unwrap().count, 1);
/// # Ok::<(), history_core::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetFull {
    /// Whether the set has to be linearizable: stale elements make a history invalid.
    pub linearizable: bool,
}

const LINEARIZABLE: OptionSpec = OptionSpec::new(
    "linearizable",
    OptionKind::Flag,
    "Require elements to be visible immediately: a read that lacks an element 1 ms or more after it was known makes \
     the history invalid.",
);

impl Checker for SetFull {
    fn name(&self) -> &'static str {
        "set-full"
    }

    fn summary(&self) -> &'static str {
        "Elements added to a set that is read throughout: none is lost; reports how long each takes to become visible."
    }

    fn options(&self) -> &[OptionSpec] {
        &[LINEARIZABLE]
    }

    fn about(&self) -> history_core::About {
        history_core::About::default().with_parts(history_core::Parts::Values)
    }

    fn start(&self, options: &Options) -> Result<Box<dyn Run>, OptionError> {
        let linearizable = self.linearizable || options.flag(LINEARIZABLE.name);
        Ok(Box::new(WorkloadRun::new(SetFullRun::new(SetFull { linearizable }))))
    }
}

/// A read, numbered by its invocation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Read {
    invoked: OpRef,
    completed: OpRef,
}

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
enum Flight {
    Add(ElemId),
    /// An add without a value, with the number of reads completed before it.
    Unrecorded(u32),
    /// A read, with the number of elements that it must show if the set is linearizable.
    Read(ReadId, u32),
}

#[derive(Clone, Debug)]
struct SetFullRun {
    options: SetFull,
    elements: Elements,
    tracks: Tracks,
    reads: Vec<Read>,
    /// By element: the op by which it is known, or none. May be shorter than the number of elements.
    known: Vec<OpRef>,
    in_flight: InFlight<Flight>,
    pairs: fold::Pairs,
    duplicates: report::Duplicates,
    /// Present if the set must be linearizable.
    late: Option<Late>,
    /// The latest time at which a read was invoked.
    latest_ns: i64,
    /// The last invoked `ok` read whose result cannot be decoded: elements that earlier reads lack may have reappeared
    /// in it.
    unread: Option<ReadId>,
    /// Whether the invocation of some add has no value.
    has_unrecorded: bool,
}

impl SetFullRun {
    fn new(options: SetFull) -> SetFullRun {
        SetFullRun {
            options,
            elements: Elements::default(),
            tracks: Tracks::default(),
            reads: Vec::new(),
            known: Vec::new(),
            in_flight: InFlight::default(),
            pairs: fold::Pairs::default(),
            duplicates: report::Duplicates::default(),
            late: options.linearizable.then(Late::default),
            latest_ns: i64::MIN,
            unread: None,
            has_unrecorded: false,
        }
    }

    fn know(&mut self, id: ElemId, op: &Op<'_>) {
        self.known.resize(self.known.len().max(id.at() + 1), OpRef::NONE);
        let known = &mut self.known[id.at()];
        if *known == OpRef::NONE {
            *known = OpRef::of(op);
            if let Some(late) = &mut self.late {
                late.know(id);
            }
        }
    }

    fn add(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        if op.kind == OpKind::Invoke {
            if op.value.is_nil() {
                self.has_unrecorded = true;
                self.in_flight.put(op, Flight::Unrecorded(self.tracks.number_completed()));
                return Ok(());
            }
            let id = self.elements.id(op.value)?;
            self.tracks.begin(id);
            self.in_flight.put(op, Flight::Add(id));
            return Ok(());
        }
        let invoked = match self.in_flight.take(op.pair) {
            Some(Flight::Add(id)) => Some(id),
            Some(Flight::Unrecorded(before)) => return self.end_unrecorded(op, before),
            Some(Flight::Read(..)) => {
                return Err(OpFault::Blocking("the completion is an add, its invocation a read".into()));
            }
            None => None,
        };
        if op.kind != OpKind::Ok {
            return Ok(());
        }
        let id = fold::completed_element(op.value, invoked, |value| self.elements.id(value))?;
        if !self.tracks.is_begun(id) {
            return Err(fold::unpaired());
        }
        self.know(id, op);
        Ok(())
    }

    /// Ends an add whose invocation has no value, and which so many reads preceded.
    #[cold]
    fn end_unrecorded(&mut self, op: &Op<'_>, before: u32) -> Result<(), OpFault> {
        if op.kind != OpKind::Ok || op.value.is_nil() {
            return Ok(());
        }
        let id = self.elements.id(op.value)?;
        let is_shown = self.tracks.begin_late(id, before);
        self.know(id, op);
        if is_shown {
            let reason = "a read shows its element before the add completes, and its invocation has no value";
            return Err(OpFault::Undecodable(reason.into()));
        }
        Ok(())
    }

    fn read(&mut self, op: &Op<'_>) -> Result<(), OpFault> {
        match op.kind {
            OpKind::Invoke => {
                if op.pair == Pair::Alone {
                    return Err(fold::unpaired());
                }
                let read = ReadId::new(self.reads.len())?;
                let invoked = OpRef::of(op).not_before(self.latest_ns);
                self.latest_ns = invoked.time_ns().unwrap_or(self.latest_ns);
                self.reads.push(Read { invoked, completed: OpRef::NONE });
                let must = self.late.as_mut().map_or(0, |late| late.must(invoked, &self.known));
                self.in_flight.put(op, Flight::Read(read, must));
                Ok(())
            }
            OpKind::Ok => match self.in_flight.take(op.pair) {
                Some(Flight::Read(read, must)) => self.completed(read, must, op),
                Some(Flight::Add(_) | Flight::Unrecorded(_)) => {
                    Err(OpFault::Blocking("the completion is a read, its invocation an add".into()))
                }
                None => Err(fold::unpaired()),
            },
            OpKind::Fail | OpKind::Info => Ok(()),
        }
    }

    /// Records an `ok` read whose result cannot be decoded.
    #[cold]
    fn ignore(&mut self, read: ReadId, reason: String) -> OpFault {
        self.unread = self.unread.max(Some(read));
        OpFault::Undecodable(reason)
    }

    fn completed(&mut self, read: ReadId, must: u32, op: &Op<'_>) -> Result<(), OpFault> {
        let seq = match fold::collection(op.value) {
            Ok(seq) => seq,
            Err(reason) => return Err(self.ignore(read, reason)),
        };
        if let Some([key, values]) = self.pairs.keyed(op.value) {
            let ids = [self.elements.id(key)?, self.elements.id(values)?];
            if !ids.into_iter().any(|id| self.tracks.is_begun(id)) {
                return Err(self.ignore(read, fold::keyed("read")));
            }
        }
        self.reads[read.at()].completed = OpRef::of(op);
        let SetFullRun { elements, tracks, .. } = self;
        tracks.open(read);
        elements.each(seq, |id| {
            tracks.show(id);
            Ok(())
        })?;
        self.tracks.close();
        for id in self.tracks.take_first_seen() {
            self.know(id, op);
        }
        if !self.tracks.twice.is_empty() {
            let twice = std::mem::take(&mut self.tracks.twice);
            self.duplicates.push(OpRef::of(op), twice);
        } else if let Some(late) = &mut self.late {
            late.look(must, seq, &mut self.elements, &self.tracks)?;
        }
        Ok(())
    }
}

impl Workload for SetFullRun {
    const EXPECTED: Expected =
        Expected { ops: ":add of an element, and :read of all elements", observation: "ok :read" };
    const ADDS: Option<&'static str> = Some("add");

    fn take(&mut self, op: &Op<'_>) -> Result<OpUse, OpFault> {
        match op.f {
            Some("add") => {
                self.pairs.note(op);
                self.add(op).map(|()| OpUse::Understood)
            }
            Some("read") => self.read(op).map(|()| fold::observed_if(op.kind == OpKind::Ok)),
            _ => Ok(OpUse::PassedOver),
        }
    }

    fn is_violated(&self) -> bool {
        !self.duplicates.is_empty() || self.late.as_ref().is_some_and(Late::is_certain)
    }

    fn report(self, whole: bool) -> Report {
        self.conclude(whole)
    }
}
