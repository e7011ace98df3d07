//! Replay: repeats the check in an order of the ops other than that of the file.
//!
//! Three moments of a version determine the result: the invocation of its write, its first observation, and the latest
//! invocation of a read that returned it. Of two ops that observed a version, the later completion adds nothing about
//! when it was known. Of two reads, the one that was invoked earlier is stale only if the other one is. So a history
//! whose ops are out of order need not be read again: at most three events per version are sorted and processed again.

use super::clock::Order;
use super::findings::Kind;
use super::ops::{ReadOp, Seen};
use super::registers::Registers;
use super::registers::by_time::last_read;
use super::versions::{At, ClientId, State, VersionId, flag};
use history_core::HistoryError;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Propose,
    LastRead,
    Observe,
}

/// Repeats everything that depends on the order of ops.
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
        // A write without a recorded invocation may have begun at any time. The others are proposed at their times.
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

/// Processes the events, and returns the place of the head at the last read of each version.
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
