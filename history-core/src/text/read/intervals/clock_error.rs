//! Clocks that are not exact: intervals that several machines recorded are widened, so that no order is made up.
//!
//! If each clock is off by at most `e`, then an operation certainly precedes another one of another client only if it
//! returned more than `2e` before the call. Widened by `e` on both sides, just these operations do not overlap. What
//! one client recorded, one clock has: its operations are in order, and after widening they may overlap. Those that do
//! are given to further clients, because an op in flight and its completion belong together by their client.

use super::{Called, ClientId, Clients, End, Row};
use crate::cast::Cast as _;
use crate::{ErrorKind, Format, HistoryError, Reader};
use std::time::Duration;

impl Reader<'_> {
    /// Widens each interval by this much on both sides, the most by which a clock is off
    /// ([`Format::Intervals`](crate::Format)). Another format is then refused: its ops have one order.
    #[must_use]
    pub fn with_clock_error(mut self, error: Duration) -> Self {
        self.clock_error_ns = i64::try_from(error.as_nanos()).unwrap_or(i64::MAX);
        self
    }
}

/// Refuses another format, whose ops have one order.
pub(in crate::text::read) fn refuse(format: Format, clock_error_ns: i64) -> Result<(), HistoryError> {
    if clock_error_ns == 0 || format == Format::Intervals {
        return Ok(());
    }
    let message = format!("a clock error is for intervals, and this history is {format}, whose ops are in order");
    Err(HistoryError::new(ErrorKind::Unexpected, message).expected("intervals, or no clock error"))
}

/// Widens a time.
pub(super) fn widened(call_ns: i64, return_ns: Option<i64>, error_ns: i64) -> (i64, Option<i64>) {
    (call_ns.saturating_sub(error_ns), return_ns.map(|time| time.saturating_add(error_ns)))
}

/// Widens all rows, which are in order by client, and gives those that then overlap to further clients.
pub(super) fn widen(rows: &mut [Row], by_client: &[u32], clients: &mut Clients, error_ns: i64) {
    /// A client, and when its last operation returned.
    type Lane = (ClientId, Option<i64>);
    let mut lanes: Vec<Lane> = Vec::new();
    let mut last: Option<ClientId> = None;
    let mut names = 0;
    for at in by_client {
        let row = &mut rows[at.to_usize()];
        let client = row.client;
        if last != Some(client) {
            (lanes, names) = (vec![(client, None)], 0);
        }
        last = Some(client);
        let ended = (row.end != End::Never).then_some(row.return_ns);
        let (call_ns, return_ns) = widened(row.call_ns, ended, error_ns);
        (row.call_ns, row.return_ns) = (call_ns, return_ns.unwrap_or_default());
        (row.takes_over, row.hands_over) = (false, false);
        let is_free = |lane: &Lane| lane.1.is_none_or(|until| until < call_ns);
        let at = lanes.iter().position(is_free).unwrap_or(lanes.len());
        if at == lanes.len() {
            lanes.push((another(client, clients, &mut names), None));
        }
        let lane = &mut lanes[at];
        // What never ended leaves its client free, as without widening: that continues under another number.
        (row.client, lane.1) = (lane.0, return_ns.or(lane.1));
    }
}

/// A further client in place of one.
fn another(client: ClientId, clients: &mut Clients, names: &mut u32) -> ClientId {
    let next = ClientId(clients.called.len().to_u32());
    let called = match clients.called[client.0.to_usize()].clone() {
        Called::Name(name) => {
            let called = clients.next_name(&name, names);
            if let Called::Name(name) = &called {
                // No client that continues may be called so.
                clients.by_name.insert(name.clone(), next);
            }
            called
        }
        Called::Number(_) | Called::Nothing => Called::Nothing,
    };
    clients.called.push(called);
    clients.names.push(clients.names[client.0.to_usize()].clone());
    next
}
