//! Clocks that are not exact: intervals that several machines recorded are widened, so that no false order is created.
//!
//! If each clock is off by at most `e`, then an operation certainly precedes another one of another client only if it
//! returned more than `2e` before the call. Widened by `e` on both sides, just these operations do not overlap.
//!
//! # The order of a client's own operations
//!
//! Operations recorded by one client use one clock: they are in order, however close they are. If two of them overlap
//! after widening, the first returns and the second is called at one moment instead, if a moment exists that creates no
//! order with operations of other clients: all that these call until the widened return they must have called by then,
//! and what returns from the widened call on returns later. Often no such moment exists: if two clients both return and
//! call again within twice the error, their four operations are a 2+2, which no order of calls and returns shows
//! (Fishburn, 1970). Then the order of one of the two clients is dropped, and counted: the later operation is assigned
//! to another client, because a client has at most one operation in flight. So everything that contradicts the ops
//! contradicts the intervals; the converse holds only if no order was dropped.

use super::{Called, ClientId, Clients, End, Row};
use crate::cast::Cast as _;
use crate::ops::index::Indices;
use crate::ops::pairing::Pairing;
use crate::{ErrorKind, Format, HistoryError, Reader};
use std::collections::BTreeMap;
use std::time::Duration;

impl Reader<'_> {
    /// Widens each interval by this duration on both sides, the maximum error of a clock
    /// ([`Format::Intervals`](crate::Format)). Other formats are then rejected: their ops have one order.
    #[must_use]
    pub fn with_clock_error(mut self, error: Duration) -> Self {
        self.clock_error_ns = i64::try_from(error.as_nanos()).unwrap_or(i64::MAX);
        self
    }

    /// The number of operations that are no longer ordered after the previous operation of the same client, because
    /// they overlap after [widening](Reader::with_clock_error) and their order cannot be represented together with that
    /// of other clients. Known once the first op was read. If there are any, a violation found in the ops is certain,
    /// but the operations may violate an order that the ops do not have.
    pub fn dropped_client_orders(&self) -> u64 {
        self.intervals.as_ref().map_or(0, |intervals| intervals.dropped_orders)
    }

    /// Starts again with the recorded times, as if no clock had an error, if orders of clients [were
    /// dropped](Reader::dropped_client_orders). Returns whether it does: all ops are then read once more.
    ///
    /// Each recorded interval lies within the widened one, and each client's intervals are in order. So what is true of
    /// these ops is true of the intervals for any clock errors, with the order of each client.
    ///
    /// # Errors
    ///
    /// If the recorded times do not determine an order.
    pub fn begin_as_recorded(&mut self) -> Result<bool, HistoryError> {
        let Some(intervals) = &mut self.intervals else { return Ok(false) };
        if !intervals.begin_as_recorded()? {
            return Ok(false);
        }
        self.pairing = self.pairing.as_ref().map(Pairing::afresh);
        (self.indices, self.ended, self.failed) = (Indices::default(), false, None);
        Ok(true)
    }
}

/// Rejects other formats, whose ops have one order.
pub(in crate::text::read) fn refuse(format: Format, clock_error_ns: i64) -> Result<(), HistoryError> {
    if clock_error_ns == 0 || format == Format::Intervals {
        return Ok(());
    }
    let message =
        format!("a clock error applies only to intervals, and this history is {format}, whose ops are in order");
    Err(HistoryError::new(ErrorKind::Unexpected, message).expected("intervals, or no clock error"))
}

/// Widens all rows, which are in order by client, and keeps the order of each client where that creates no other order.
/// Returns the number of operations that are no longer ordered after the previous one.
pub(super) fn widen(rows: &mut [Row], by_client: &[u32], clients: &mut Clients, error_ns: i64) -> u64 {
    for row in rows.iter_mut() {
        row.call_ns = row.call_ns.saturating_sub(error_ns);
        if row.end != End::Never {
            row.return_ns = row.return_ns.saturating_add(error_ns);
        }
        (row.takes_over, row.hands_over) = (false, false);
    }
    let mut moments = Moments::new(rows);
    let mut dropped = 0;
    let mut of_each: Vec<&[u32]> =
        by_client.chunk_by(|a, b| rows[a.to_usize()].client == rows[b.to_usize()].client).collect();
    // The order of clients is by name, so that the dropped orders do not depend on the order of lines.
    of_each.sort_by_cached_key(|own| clients.called[rows[own[0].to_usize()].client.0.to_usize()].clone());
    for own in of_each {
        dropped += keep_order(rows, own, &mut moments);
        assign(rows, own, clients);
    }
    dropped
}

/// Orders the operations of one client, as far as that creates no other order. Returns the number of operations that
/// are not ordered after the previous one.
fn keep_order(rows: &mut [Row], own: &[u32], moments: &mut Moments) -> u64 {
    let mut dropped = 0;
    // A client whose operation timed out continued at an unknown time, so its next operation is not ordered after it.
    let mut returned: Option<usize> = None;
    for i in own {
        let at = i.to_usize();
        if let Some(last) = returned
            && rows[at].call_ns <= rows[last].return_ns
        {
            match moments.between(&rows[last], &rows[at]) {
                Some(moment) => {
                    (rows[last].return_ns, rows[last].hands_over) = (moment, true);
                    (rows[at].call_ns, rows[at].takes_over) = (moment, true);
                    moments.handed_over.insert(moment, rows[at].client);
                }
                None => dropped += 1,
            }
        }
        if rows[at].end == End::Returned {
            returned = Some(at);
        }
    }
    dropped
}

/// Gives those of one client's operations that still overlap to further clients.
fn assign(rows: &mut [Row], own: &[u32], clients: &mut Clients) {
    /// A client, when its last operation returned, and whether another one followed at that moment.
    type Lane = (ClientId, Option<(i64, bool)>);
    let client = rows[own[0].to_usize()].client;
    let mut lanes: Vec<Lane> = vec![(client, None)];
    let mut names = 0;
    for i in own {
        let row = &mut rows[i.to_usize()];
        let is_free = |lane: &Lane| {
            lane.1.is_none_or(|(until, hands_over)| {
                until < row.call_ns || until == row.call_ns && hands_over && row.takes_over
            })
        };
        let at = lanes.iter().position(is_free).unwrap_or(lanes.len());
        if at == lanes.len() {
            lanes.push((another(client, clients, &mut names), None));
        }
        let lane = &mut lanes[at];
        row.client = lane.0;
        // After an operation with an unknown outcome the client is free, as without widening, and continues under
        // another number.
        if row.end == End::Returned {
            lane.1 = Some((row.return_ns, row.hands_over));
        }
    }
}

/// The times of calls and returns of clients, to find moments at which a client can do both.
struct Moments {
    /// The times of calls, widened, in order.
    calls: Vec<(i64, ClientId)>,
    returns: Vec<(i64, ClientId)>,
    /// For each call, the last one before it of another client; for each return, the first one after it.
    call_before: Vec<Option<usize>>,
    return_after: Vec<Option<usize>>,
    /// The moments at which a client returns from an operation and calls the next. No two clients do so at one moment.
    handed_over: BTreeMap<i64, ClientId>,
}

impl Moments {
    fn new(rows: &[Row]) -> Moments {
        let mut calls: Vec<_> = rows.iter().map(|row| (row.call_ns, row.client)).collect();
        // After an unknown outcome, nothing is ordered.
        let ended = rows.iter().filter(|row| row.end == End::Returned);
        let mut returns: Vec<_> = ended.map(|row| (row.return_ns, row.client)).collect();
        calls.sort_unstable();
        returns.sort_unstable();
        let mut call_before = vec![None; calls.len()];
        for i in 1..calls.len() {
            call_before[i] = if calls[i - 1].1 == calls[i].1 { call_before[i - 1] } else { Some(i - 1) };
        }
        let mut return_after = vec![None; returns.len()];
        for i in (1..returns.len()).rev() {
            return_after[i - 1] = if returns[i].1 == returns[i - 1].1 { return_after[i] } else { Some(i) };
        }
        Moments { calls, returns, call_before, return_after, handed_over: BTreeMap::new() }
    }

    /// Returns a moment at which the first of two operations of a client may return, and the second be called, so that
    /// no order with operations of other clients changes. O(log n).
    ///
    /// Calls and returns have their widened times. Moments of other clients are in `handed_over`, and rule out all
    /// moments of an overlap that contains them.
    fn between(&self, first: &Row, second: &Row) -> Option<i64> {
        let client = first.client;
        // Operations that returned before the first was called precede the second anyway.
        let (from, until) = (first.call_ns.max(second.call_ns), first.return_ns);
        if self.handed_over.range(from..=until).any(|(_, other)| *other != client) {
            return None;
        }
        let last = self.calls.partition_point(|call| call.0 <= until).checked_sub(1);
        let last = last.and_then(|i| if self.calls[i].1 == client { self.call_before[i] } else { Some(i) });
        let earliest = last.map_or(from, |i| self.calls[i].0.max(from));
        let next = self.returns.partition_point(|back| back.0 < from);
        let next = match self.returns.get(next) {
            Some(back) if back.1 == client => self.return_after[next],
            found => found.map(|_| next),
        };
        // If the call of the first was moved to a shared moment, its return does not move again.
        let moment = if first.hands_over { until } else { earliest };
        (earliest <= moment && next.is_none_or(|i| moment <= self.returns[i].0)).then_some(moment)
    }
}

/// Creates a further client that takes the place of `client`.
fn another(client: ClientId, clients: &mut Clients, names: &mut u32) -> ClientId {
    let Called::Name(name) = clients.called[client.0.to_usize()].clone() else {
        return clients.go_on(client, Called::Nothing);
    };
    let called = clients.next_name(&name, names);
    let next = clients.go_on(client, called.clone());
    if let Called::Name(name) = called {
        // Reserves the name, so that no client that continues later gets it.
        clients.by_name.insert(name, next);
    }
    next
}
