//! Replay: the same judgement in another order of the ops than that of the file.
//!
//! Of a version three moments decide: when its write was invoked, when it was first shown, and the latest invocation of
//! a read that shows it. Of two ops that show it the one that completed later says nothing more of when it was known,
//! and of two reads the one that was invoked earlier is stale only if the other is. So a history whose ops came in a
//! disorder needs no second look: at most three events a version are sorted and gone through again.

use super::findings::Kind;
use super::registers::{Registers, Seen};
use super::versions::{At, ClientId, NO_READ, State, VersionId, Versions, flag};
use super::witness::ReadOp;
use history_core::HistoryError;

/// What orders the ops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Index,
    /// Ops of one time are in the order of the file.
    TimeThenIndex,
    /// Ops of one time overlap: none of them is known to have ended before another began.
    Time,
}

impl Order {
    /// Whether a completion is known to have come before an invocation.
    pub(crate) fn is_before(self, completed: At, invoked: At) -> bool {
        match self {
            Order::Index => completed.index < invoked.index,
            Order::TimeThenIndex => (completed.time_ns, completed.index) < (invoked.time_ns, invoked.index),
            Order::Time => completed.time_ns < invoked.time_ns,
        }
    }
}

/// First completions and last reads by time, a row for each version.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByTime {
    first: Vec<Option<Seen>>,
    /// The invocation, and the completion.
    last_read: Vec<Option<(At, Seen)>>,
}

impl ByTime {
    /// From what was seen while the order was that of the times.
    pub(crate) fn new(versions: &Versions) -> ByTime {
        let mut by_time = ByTime::default();
        for version in versions.ids() {
            by_time.reset(version, versions);
        }
        by_time
    }

    pub(crate) fn reset(&mut self, version: VersionId, versions: &Versions) {
        self.first.resize(versions.rows().max(self.first.len()), None);
        self.last_read.resize(self.first.len(), None);
        let row = &versions[version];
        let seen = Seen { at: row.first, client: row.observer, is_read: row.has(flag::READ_FIRST) };
        self.first[version.at()] = row.has(flag::OBSERVED).then_some(seen);
        self.last_read[version.at()] = last_read(versions, version);
    }

    /// Its first completion and last read. A first version that only a prev-id names has neither, and perhaps no row.
    fn get(&self, version: VersionId) -> (Option<Seen>, Option<(At, Seen)>) {
        let at = version.at();
        (self.first.get(at).copied().flatten(), self.last_read.get(at).copied().flatten())
    }

    pub(crate) fn observe(&mut self, version: VersionId, seen: Seen) {
        let first = &mut self.first[version.at()];
        if first.is_none_or(|first| seen.at.time_ns < first.at.time_ns) {
            *first = Some(seen);
        }
    }

    pub(crate) fn read(&mut self, version: VersionId, invoked: At, seen: Seen) {
        let last = &mut self.last_read[version.at()];
        if last.is_none_or(|(last, _)| invoked.time_ns >= last.time_ns) {
            *last = Some((invoked, seen));
        }
    }
}

fn last_read(versions: &Versions, version: VersionId) -> Option<(At, Seen)> {
    let row = &versions[version];
    // When it completed is not kept, because it is not needed.
    let at = At { index: row.last_read_index, time_ns: super::versions::NO_TIME };
    let seen = Seen { at, client: row.reader, is_read: true };
    (row.last_read_index != NO_READ).then_some((row.last_read, seen))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Propose,
    LastRead,
    Observe,
}

/// Judges anew everything that depends on the order of ops.
pub(crate) fn replay(registers: &mut Registers, order: Order) -> Result<(), HistoryError> {
    registers.rewind();
    registers.order = order;
    let by_time = registers.by_time.take();
    let versions: Vec<VersionId> = registers.versions.ids().collect();
    let mut last_reads: Vec<Option<(At, Seen)>> = vec![None; registers.versions.rows()];
    let mut proposed = vec![0; registers.versions.rows()];
    let mut events = Vec::new();
    for version in &versions {
        let at = version.at();
        let (first, last_read) = match &by_time {
            Some(by_time) if order != Order::Index => by_time.get(*version),
            _ => {
                let row = &registers.versions[*version];
                let seen = Seen { at: row.first, client: row.observer, is_read: row.has(flag::READ_FIRST) };
                (row.has(flag::OBSERVED).then_some(seen), last_read(&registers.versions, *version))
            }
        };
        last_reads[at] = last_read;
        let row = &mut registers.versions[*version];
        if let Some(seen) = first {
            (row.first, row.observer) = (seen.at, seen.client);
            row.flags = row.flags & !flag::READ_FIRST | if seen.is_read { flag::READ_FIRST } else { 0 };
            events.push((seen.at, What::Observe, *version));
        }
        // A write without a recorded invocation may have begun at any time. The others are proposed when their time
        // comes.
        proposed[at] = row.flags & flag::PROPOSED;
        if row.has(flag::PROPOSED) && !row.has(flag::NAMELESS) {
            row.flags &= !flag::PROPOSED;
            events.push((row.written, What::Propose, *version));
        }
        if let Some((invoked, _)) = last_read {
            events.push((invoked, What::LastRead, *version));
        }
    }
    match order {
        Order::Index => events.sort_unstable_by_key(|(at, what, _)| (at.index, *what as u8)),
        Order::TimeThenIndex => events.sort_unstable_by_key(|(at, what, _)| (at.time_ns, at.index, *what as u8)),
        Order::Time => events.sort_unstable_by_key(|(at, what, _)| (at.time_ns, *what == What::Observe, at.index)),
    }
    let heads_at = run(registers, &events)?;
    for version in &versions {
        registers.versions[*version].flags |= proposed[version.at()];
    }
    for version in versions {
        let row = &registers.versions[version];
        let (key, is_stale) = (row.key, row.state == State::Accepted && row.place < heads_at[version.at()]);
        if let (true, Some((invoked, seen))) = (is_stale, last_reads[version.at()]) {
            let read = ReadOp { seen, invoked: Some(invoked), id: row.id, value: row.value };
            registers.report(key, Kind::StaleRead, |explainer| explainer.stale_read(version, &read));
        }
    }
    registers.by_time = by_time;
    Ok(())
}

/// The places of the heads when the last read of each version began.
fn run(registers: &mut Registers, events: &[(At, What, VersionId)]) -> Result<Vec<u32>, HistoryError> {
    let mut heads_at = vec![0; registers.versions.rows()];
    for (_, what, version) in events {
        let row = &registers.versions[*version];
        let key = row.key;
        if registers.register(key).stopped {
            continue;
        }
        match what {
            What::Propose => {
                registers.versions[*version].flags |= flag::PROPOSED;
                registers.proposed(*version);
            }
            What::LastRead => heads_at[version.at()] = registers.register(key).head_place,
            What::Observe if row.state == State::Idle => {
                let client: ClientId = row.observer;
                let seen = Seen { at: row.first, client, is_read: row.has(flag::READ_FIRST) };
                registers.walk(*version, seen)?;
            }
            What::Observe => {}
        }
    }
    Ok(heads_at)
}
