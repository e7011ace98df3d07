//! Checks one history. All workers take the same steps.
//!
//! 1. The first worker examines the beginning of the file and determines how it is read ([`plan`]).
//! 2. In rounds, each worker reads a range and sends its ops to the workers of their keys ([`part`]); the first
//!    worker joins the ranges ([`join`](crate::join)), and each worker feeds its keys ([`keys`](crate::keys)).
//! 3. If anything was irregular, all of that is dropped, and the first worker reads the history as a whole
//!    ([`whole`](crate::read::whole)).
//! 4. All workers search their keys, slice by slice, until one finds a violation or all are done, as one machine does.
//! 5. The first worker merges the reports on all keys, in order of first occurrence.
//!
//! All common decisions depend only on data that all workers have received, so they take the same steps.

use crate::job::{History, Job, Judged};
use crate::join::{Join, Joined};
use crate::keys::{Keys, guarded};
use crate::meeting::{Meeting, from_bytes, to_bytes};
use crate::packet::{Base, Packet};
use crate::read::part::{self, Part, Reading, Summary};
use crate::read::place::{self, Stamp};
use crate::read::plan::{self, Plan};
use crate::read::ranges::Ranges;
use crate::read::whole::{Whole, WholeEnd};
use crate::wire::{SentEnd, SentError};
use history_core::cast::Cast as _;
use history_core::keyed_parts::{Form, KeyEnd, KeyMerge};
use history_core::{Budget, ErrorKind, Format, HistoryError, Limits, Participants, Verdict};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;

/// The number of reports in one message.
const ENDS: usize = 256;

/// One worker's work on one history.
pub(crate) struct Session<'s> {
    pub(crate) meeting: &'s mut Meeting,
    pub(crate) job: &'s Job<'s>,
    pub(crate) history: &'s History,
}

/// A worker's summary of the range that it read, if it had one; or the reason why the range cannot be read.
type Summarized = Result<Option<Summary>, SentError>;

/// Something in the ranges is unusual: the history must be read as a whole.
pub(crate) struct Irregular;

/// The first worker's message after a round of ranges.
#[derive(Serialize, Deserialize)]
enum Round {
    Regular(Vec<Base>),
    Irregular,
    Failed(SentError),
}

/// The first worker's message after a round of a whole history.
#[derive(Serialize, Deserialize)]
struct WholeRound {
    is_over: bool,
    /// Whether keys are in a separate field, once that is known.
    is_field: Option<bool>,
}

/// How a history ended, as far as all workers need this.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum HowEnded {
    /// With its last op.
    Read,
    /// Before an op without a key.
    Unread,
    /// It cannot be checked.
    Failed,
}

impl Session<'_> {
    /// Checks the history. Returns the result to the first worker, and `None` to the others.
    pub(crate) fn judge(mut self) -> Option<Judged> {
        let (path, read_as) = (&self.history.path, &self.history.read_as);
        let stamp = Stamp::of(path);
        let of_txns = self.job.is_of_transactions();
        if of_txns && self.meeting.workers() == 1 {
            return self.alone();
        }
        let own = self.meeting.is_first().then(|| plan::plan(path, read_as, of_txns));
        let by_ranges = match self.meeting.told_by_first(own.as_ref()) {
            Plan::Ranges(reading) if of_txns => self.by_shares(reading),
            Plan::Ranges(reading) => self.by_ranges(reading),
            Plan::Whole => Err(Irregular),
        };
        let judged = by_ranges.unwrap_or_else(|Irregular| if of_txns { self.alone() } else { self.whole() });
        let same = self.meeting.all(&(Stamp::of(&self.history.path) == stamp));
        judged.map(|mut judged| {
            if same.contains(&false) {
                judged.outcome = Err(failed(&io::Error::other("the file changed while it was read")));
            }
            judged
        })
    }

    /// Reads the history by ranges, and checks it.
    fn by_ranges(&mut self, reading: Reading) -> Result<Option<Judged>, Irregular> {
        let (setup, unit) = (self.job.setup, self.history.read_as.time_unit);
        let form = reading.keys.form();
        let mut keys = match Keys::start(&*setup.checker, &setup.options, form, reading.format, unit) {
            Ok(keys) => keys,
            Err(error) => return Ok(self.say(Err(error))),
        };
        let join = match self.read_ranges(reading, &mut |packets, base| {
            keys.take(packets.iter().filter(|packet| packet.range == base.range), base);
        }) {
            Ok(join) => join,
            Err(None) => return Err(Irregular),
            Err(Some(error)) => return Ok(self.say(Err(error))),
        };
        if self.meeting.all(&keys.runs.trouble().is_some()).contains(&true) {
            return Err(Irregular);
        }
        if let Some(error) = self.first_failure(&keys) {
            return Ok(self.say(Err(error)));
        }
        let outcome = self.finish(keys, None, false, &join.totals().participants);
        Ok(outcome.map(|outcome| Judged { outcome, unmatched: Some(Vec::new()), decisions: Vec::new() }))
    }

    /// Reads all ranges in rounds. `take` receives this worker's packets of each round, and the base of each range.
    /// Returns the join of all ranges, which is complete only in the first worker. The error is the reason why the
    /// history cannot be read, or `None` if the ranges are irregular.
    pub(crate) fn read_ranges(
        &mut self,
        reading: Reading,
        take: &mut dyn FnMut(&[Packet], &Base),
    ) -> Result<Join, Option<HistoryError>> {
        let ranges = Ranges { len: reading.len, range_bytes: self.job.range_bytes.max(1) };
        let mut source = place::open(&self.history.path);
        let mut join = Join::default();
        let workers = self.meeting.workers().to_u64();
        for round in 0..ranges.count().div_ceil(workers) {
            let range = round * workers + self.meeting.own().to_u64();
            let part = if range < ranges.count() {
                let read = source.as_mut().map_err(|error| io::Error::new(error.kind(), error.to_string()));
                let unit = self.history.read_as.time_unit;
                read.and_then(|(source, _)| part::read(source, reading, unit, (ranges, range), workers.to_usize()))
                    .map(Some)
            } else {
                Ok(None)
            };
            let (packets, summaries) = self.send_part(part);
            let joined = self.meeting.is_first().then(|| join_round(&mut join, summaries, workers.to_usize()));
            let (bases, packets) = self.send_joined(joined, packets)?;
            for base in &bases {
                take(&packets, base);
            }
        }
        // A history without ops is treated as irregular, because it has no verdict.
        if self.meeting.told_by_first(Some(&(join.ops() == 0))) {
            return Err(None);
        }
        Ok(join)
    }

    /// Sends the parts of a range to their workers. Returns the packets for this worker; and in the first worker, the
    /// summary of each range and its completions without invocation.
    fn send_part(&mut self, part: io::Result<Option<Part>>) -> (Vec<Packet>, Vec<(Summarized, Packet)>) {
        let (part, summary) = match part {
            Ok(Some(mut part)) => {
                let summary = std::mem::take(&mut part.summary);
                (part, Ok(Some(summary)))
            }
            Ok(None) => (Part::default(), Ok(None)),
            Err(error) => (Part::default(), Err(SentError::from(&failed(&error)))),
        };
        let to_first = [to_bytes(&summary), part.completing.into_bytes()];
        let packets = parcels_of(part.packets);
        let parcels = to_first.into_iter().map(|bytes| (0, bytes)).chain(packets).collect();
        let is_first = self.meeting.is_first();
        let (mut own, mut summaries, mut sender) = (Vec::new(), Vec::new(), None);
        let mut summary = None;
        for (from, bytes) in self.meeting.exchange(parcels) {
            // The first worker receives two parcels from each sender before the packets.
            match (sender == Some(from), summary.take()) {
                (false, _) if is_first => {
                    sender = Some(from);
                    summary = Some(from_bytes(&bytes));
                }
                (_, Some(summary)) => summaries.push((summary, packet(bytes))),
                _ => own.push(packet(bytes)),
            }
        }
        (own, summaries)
    }

    /// Sends the result of joining the ranges of a round to all workers. Returns the base of each range, and all
    /// packets for this worker. The error is the reason why the history cannot be read, or `None` if the ranges are
    /// irregular.
    fn send_joined(
        &mut self,
        joined: Option<(Round, Vec<Joined>)>,
        mut packets: Vec<Packet>,
    ) -> Result<(Vec<Base>, Vec<Packet>), Option<HistoryError>> {
        let workers = self.meeting.workers();
        let mut parcels = Vec::new();
        if let Some((round, joined)) = joined {
            let round = to_bytes(&round);
            parcels.extend((0..workers).map(|to| (to, round.clone())));
            let all = joined.into_iter().flat_map(|joined| joined.packets);
            parcels.extend(all.map(|(to, packet)| (to, packet.into_bytes())));
        }
        let mut received = self.meeting.exchange(parcels).into_iter().map(|(_, bytes)| bytes);
        let round = from_bytes(&received.next().expect("the first worker sends a message"));
        packets.extend(received.map(packet));
        match round {
            Round::Regular(bases) => Ok((bases, packets)),
            Round::Irregular => Err(None),
            Round::Failed(error) => Err(Some(error.into())),
        }
    }

    /// Reads the history as a whole, and checks it.
    fn whole(&mut self) -> Option<Judged> {
        let workers = self.meeting.workers();
        let is_first = self.meeting.is_first();
        let mut whole = is_first.then(|| Whole::new(self.history.open(&Arc::default()), workers));
        let setup = self.job.setup;
        let mut keys: Option<Keys<'_>> = None;
        let bytes = self.job.range_bytes.saturating_mul(workers.to_u64()).to_usize();
        for number in 0.. {
            let mut parcels = Vec::new();
            if let Some(whole) = &mut whole {
                let packets = parcels_of(whole.next(number, bytes));
                let is_field = whole.form().map(|form| form == Form::Field);
                let round = to_bytes(&WholeRound { is_over: whole.is_over(), is_field });
                parcels.extend((0..workers).map(|to| (to, round.clone())));
                parcels.extend(packets);
            }
            let mut received = self.meeting.exchange(parcels).into_iter().map(|(_, bytes)| bytes);
            let round: WholeRound = from_bytes(&received.next().expect("the first worker sends a message"));
            if keys.is_none() && (round.is_field.is_some() || round.is_over) {
                let form = if round.is_field == Some(true) { Form::Field } else { Form::Pair };
                match Keys::start(&*setup.checker, &setup.options, form, Format::Edn, None) {
                    Ok(started) => keys = Some(started),
                    Err(error) => return self.say(Err(error)),
                }
            }
            let packets: Vec<Packet> = received.map(packet).collect();
            if let Some(keys) = &mut keys {
                keys.take(&packets, &Base::default());
            }
            if round.is_over {
                break;
            }
        }
        let keys = keys.expect("the keys began when the history was read, at the latest");
        self.end_whole(keys, whole.map(Whole::finish))
    }

    /// Ends a history that was read as a whole. Only the first worker has `end`.
    fn end_whole(&mut self, keys: Keys<'_>, end: Option<WholeEnd>) -> Option<Judged> {
        if let Some(error) = self.first_failure(&keys) {
            return self.say(Err(error));
        }
        // The reader finds ops without a key before it sends them.
        let troubles = self.meeting.all(&keys.runs.trouble().is_some());
        let own = end.as_ref().map(|end| match (&end.trouble, &end.error) {
            _ if troubles.contains(&true) => HowEnded::Failed,
            (Some(_), _) => HowEnded::Unread,
            (None, Some(_)) => HowEnded::Failed,
            (None, None) => HowEnded::Read,
        });
        let how = self.meeting.told_by_first(own.as_ref());
        let mut end = end;
        if how == HowEnded::Failed {
            let error = end.as_mut().and_then(|end| end.error.take());
            let lost = || HistoryError::new(ErrorKind::Unexpected, "an op came to the worker of another key: a bug");
            return self.say(Err(error.unwrap_or_else(lost)));
        }
        let nobody = Participants::new();
        let participants = end.as_ref().map_or(&nobody, |end| &end.participants);
        let trouble = end.as_ref().and_then(|end| end.trouble.clone());
        let outcome = self.finish(keys, trouble, how == HowEnded::Unread, participants)?;
        let WholeEnd { error, unmatched, decisions, dropped, .. } = end?;
        let mut outcome = outcome;
        if let Ok(report) = &mut outcome {
            histcheck_front::clocks::doubt(report, &self.job.setup.checker.about(), dropped);
        }
        // A violation is reported, whatever follows the op at which the history ends.
        let outcome = match (outcome, error) {
            (Ok(report), Some(error)) if report.verdict != Verdict::Invalid => Err(error),
            (outcome, _) => outcome,
        };
        Some(Judged { outcome, unmatched, decisions })
    }

    /// The error of the first op that a checker rejects, if there is one.
    fn first_failure(&mut self, keys: &Keys<'_>) -> Option<HistoryError> {
        let own = keys.failed().map(|(at, error)| (*at, SentError::from(error)));
        let all = self.meeting.all(&own);
        all.into_iter().flatten().min_by_key(|(at, _)| *at).map(|(_, error)| error.into())
    }

    /// Searches all keys, and merges their reports.
    fn finish(
        &mut self,
        mut keys: Keys<'_>,
        trouble: Option<String>,
        is_unread: bool,
        participants: &Participants,
    ) -> Option<Result<history_core::Report, HistoryError>> {
        let budget = Budget::default();
        let count: u64 = self.meeting.all(&keys.runs.keys().to_u64()).iter().sum();
        for slice in 0.. {
            let left: u64 = self.meeting.all(&keys.runs.searching().to_u64()).iter().sum();
            // A single remaining key needs no slices: its search continues to the end.
            if left < 2 {
                break;
            }
            let found = guarded(|| Ok(keys.runs.search(&budget, slice)));
            let found = found.map_err(|error| SentError::from(&error));
            match self.meeting.all(&found).into_iter().collect::<Result<Vec<bool>, _>>() {
                Ok(found) if found.contains(&true) => {
                    keys.runs.stop_search();
                    break;
                }
                Ok(_) => {}
                Err(error) => return self.meeting.is_first().then(|| Err(error.into())),
            }
        }
        let ended = guarded(|| Ok(keys.runs.finish(&budget, is_unread).map(SentEnd::from).collect::<Vec<_>>()));
        let parcels = match &ended {
            Ok(ends) => ends.chunks(ENDS).map(|ends| (0, to_bytes(&Ok::<_, SentError>(ends)))).collect(),
            Err(error) => vec![(0, to_bytes(&Err::<&[SentEnd], _>(SentError::from(error))))],
        };
        drop(ended);
        let received = self.meeting.exchange(parcels);
        if !self.meeting.is_first() {
            return None;
        }
        let mut ends = Vec::new();
        for (_, bytes) in received {
            match from_bytes::<Result<Vec<SentEnd>, SentError>>(&bytes) {
                Ok(more) => ends.extend(more),
                Err(error) => return Some(Err(error.into())),
            }
        }
        ends.sort_unstable_by_key(|end| end.first);
        let setup = self.job.setup;
        Some(guarded(|| {
            let mut merge = KeyMerge::start(&*setup.checker, &setup.options, trouble, count, &budget)?;
            ends.into_iter().try_for_each(|end| merge.add(KeyEnd::from(end)))?;
            Ok(merge.finish(participants))
        }))
    }

    /// Returns the result of the history in the first worker.
    pub(crate) fn say(&self, outcome: Result<history_core::Report, HistoryError>) -> Option<Judged> {
        self.meeting.is_first().then_some(Judged { outcome, unmatched: None, decisions: Vec::new() })
    }
}

/// Joins the ranges of a round.
fn join_round(join: &mut Join, summaries: Vec<(Summarized, Packet)>, workers: usize) -> (Round, Vec<Joined>) {
    let (mut bases, mut all) = (Vec::new(), Vec::new());
    for (summary, completing) in summaries {
        let summary = match summary {
            Ok(Some(summary)) => summary,
            // The last round may have fewer ranges than workers.
            Ok(None) => continue,
            Err(error) => return (Round::Failed(error), Vec::new()),
        };
        match join.add(summary, &completing, workers, Limits::default().ops_max) {
            Ok(joined) => {
                bases.push(joined.base);
                all.push(joined);
            }
            Err(_) => return (Round::Irregular, Vec::new()),
        }
    }
    (Round::Regular(bases), all)
}

/// The packets for the workers, in their order, each with the number of its worker; without those that contain no ops.
fn parcels_of(packets: Vec<Packet>) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let packets = packets.into_iter().enumerate().filter(|(_, packet)| !packet.heads.is_empty());
    packets.map(|(worker, packet)| (worker, packet.into_bytes()))
}

fn packet(bytes: Vec<u8>) -> Packet {
    Packet::from_bytes(bytes).expect("a worker of this version wrote the packet")
}

fn failed(error: &io::Error) -> HistoryError {
    HistoryError::new(ErrorKind::Io, format!("reading failed: {error}"))
}
