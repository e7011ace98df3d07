//! Sorts calls and returns by their times and by the order of each client.

use super::clock_error::widen;
use super::{Called, ClientId, Clients, End, Row};
use crate::cast::Cast as _;
use crate::error::{ErrorKind, HistoryError};

/// The calls and returns of all rows in order: rows, and in the lowest bit whether this is the return. O(n log n).
///
/// A client gets a new number or name after an operation with an unknown outcome, as in Jepsen's histories. Returns
/// also the number of operations that are not ordered after the previous one of the same client.
pub(super) fn sort(rows: &mut [Row], clients: &mut Clients, error_ns: i64) -> Result<(Vec<u32>, u64), HistoryError> {
    let mut by_client = take_turns(rows);
    let mut dropped = 0;
    let handed_over = hand_over(rows, &by_client, clients);
    if error_ns == 0 {
        handed_over?;
    } else {
        // It is no error if two clients return and call at the same time, because both are widened.
        handed_over.or_else(|error| if is_coarse(&error) { Ok(()) } else { Err(error) })?;
        dropped = widen(rows, &by_client, clients, error_ns);
        // The sort is stable: the operations of each client keep their order.
        by_client.sort_by_key(|i| rows[i.to_usize()].client);
    }
    number(rows, &by_client, clients)?;
    let mut events = Vec::with_capacity(2 * rows.len());
    for (i, row) in rows.iter().enumerate() {
        let event = 2 * i.to_u32();
        events.push(event);
        if row.end != End::Never {
            events.push(event + 1);
        }
    }
    // Computes each key once: looking it up in the rows for each comparison would be much slower.
    events.sort_by_cached_key(|event| key(rows, *event));
    Ok((events, dropped))
}

/// The sort key of an event: time; then calls, a client's returns with its calls after them, other returns; then values
/// that make the order unique.
fn key(rows: &[Row], event: u32) -> (i64, u8, u32) {
    let row = &rows[(event >> 1).to_usize()];
    match (event & 1 == 1, row) {
        (false, Row { takes_over: false, .. }) => (row.call_ns, 0, event),
        (false, _) => (row.call_ns, 1, 2 * row.turn),
        (true, Row { hands_over: true, .. }) => (row.return_ns, 1, 2 * row.turn + 1),
        (true, _) => (row.return_ns, 2, event),
    }
}

/// The rows of each client in the order in which it called them. Of calls at the same time, those that never returned
/// come first, then those that returned first. Those that also returned at the same time have no order ([`hand_over`]).
fn take_turns(rows: &mut [Row]) -> Vec<u32> {
    let mut by_client: Vec<u32> = (0..rows.len().to_u32()).collect();
    // The sort is stable: rows that are alike keep the order of the text.
    by_client.sort_by_cached_key(|i| {
        let row = &rows[i.to_usize()];
        (row.client, row.call_ns, row.end != End::Never, row.return_ns)
    });
    for (turn, i) in by_client.iter().enumerate() {
        rows[i.to_usize()].turn = turn.to_u32();
    }
    by_client
}

/// Examines each operation and the previous one of its client: whether they overlap, and whether one ends when the
/// other begins.
fn hand_over(rows: &mut [Row], by_client: &[u32], clients: &Clients) -> Result<(), HistoryError> {
    let mut shared: Vec<(i64, ClientId, u32)> = Vec::new();
    let mut overlap: Option<(usize, usize)> = None;
    let mut tie: Option<(usize, usize)> = None;
    // The client's last operation that has an end, and the last one that returned. A client whose operation timed out
    // continued at an unknown time.
    let (mut ended, mut returned): (Option<usize>, Option<usize>) = (None, None);
    for i in by_client {
        let at = i.to_usize();
        let row = rows[at];
        let of_client = |last: &usize| rows[*last].client == row.client;
        (ended, returned) = (ended.filter(of_client), returned.filter(of_client));
        if let Some(last) = ended.filter(|last| row.call_ns < rows[*last].return_ns) {
            let lines = (at.max(last), at.min(last));
            overlap = Some(overlap.map_or(lines, |first| first.min(lines)));
        }
        if let Some(last) =
            ended.filter(|last| (row.call_ns, row.return_ns) == (rows[*last].call_ns, rows[*last].return_ns))
            && row.end != End::Never
        {
            let lines = (at.max(last), at.min(last));
            tie = Some(tie.map_or(lines, |first| first.min(lines)));
        }
        if let Some(last) = returned.filter(|last| row.call_ns == rows[*last].return_ns) {
            rows[last].hands_over = true;
            rows[at].takes_over = true;
            shared.push((row.call_ns, row.client, *i));
        }
        if row.end != End::Never {
            ended = Some(at);
        }
        if row.end == End::Returned {
            returned = Some(at);
        }
    }
    if let Some((later, earlier)) = overlap {
        return Err(overlaps(rows, later, earlier, clients));
    }
    if let Some((later, earlier)) = tie {
        return Err(undecided(rows, later, earlier, clients));
    }
    shared.sort_unstable();
    match shared.windows(2).find(|two| two[0].0 == two[1].0 && two[0].1 != two[1].1) {
        Some(two) => Err(coarse(rows, two[0], two[1], clients)),
        None => Ok(()),
    }
}

#[cold]
fn overlaps(rows: &[Row], later: usize, earlier: usize, clients: &Clients) -> HistoryError {
    let client = &clients.names[rows[later].client.0.to_usize()];
    HistoryError::new(
        ErrorKind::Pairing,
        format!("this operation of client {client} overlaps the one in line {}", rows[earlier].line),
    )
    .expected("at most one operation in flight per client")
    .at(rows[later].position())
}

/// The error if two operations of a client begin and end at the same time. Lines have no order, so nothing shows which
/// was first.
#[cold]
fn undecided(rows: &[Row], later: usize, earlier: usize, clients: &Clients) -> HistoryError {
    let client = &clients.names[rows[later].client.0.to_usize()];
    let message = format!(
        "this operation of client {client} has the same call and return as the one in line {}, so their order is \
         ambiguous",
        rows[earlier].line
    );
    HistoryError::new(ErrorKind::Pairing, message)
        .expected("more precise times, or operations without a client, which then overlap")
        .at(rows[later].position())
}

/// Returns true if an error is that of [`coarse`].
fn is_coarse(error: &HistoryError) -> bool {
    error.expected.as_deref() == Some(MORE_PRECISE)
}

const MORE_PRECISE: &str = "more precise times, or operations without a client, which are ordered by time only";

#[cold]
fn coarse(
    rows: &[Row],
    (time, client, i): (i64, ClientId, u32),
    (_, other, j): (i64, ClientId, u32),
    clients: &Clients,
) -> HistoryError {
    let name = |id: ClientId| &clients.names[id.0.to_usize()];
    let (earlier, later) = (i.min(j).to_usize(), i.max(j).to_usize());
    let message = format!(
        "at {time} both client {} and client {} return from one operation and call the next (here and in line {}), so \
         their order is ambiguous",
        name(client),
        name(other),
        rows[earlier].line
    );
    HistoryError::new(ErrorKind::Pairing, message).expected(MORE_PRECISE).at(rows[later].position())
}

/// Gives numbers to clients that the history does not name, and new numbers or names to those that continue after an
/// operation with an unknown outcome.
fn number(rows: &mut [Row], by_client: &[u32], clients: &mut Clients) -> Result<(), HistoryError> {
    let numbers =
        clients.called.iter().filter_map(|called| if let Called::Number(n) = called { Some(*n) } else { None });
    let mut next = numbers.max().map_or(Some(0), |max| max.max(-1).checked_add(1));
    clients.invented_from = next;
    let mut fresh = |row: &Row| {
        let number = next.ok_or_else(|| {
            let message = "no number is left for a client, because another client has the greatest number";
            HistoryError::new(ErrorKind::Limit, message).expected("smaller numbers").at(row.position())
        })?;
        next = number.checked_add(1);
        Ok::<Called, HistoryError>(Called::Number(number))
    };
    let mut last: Option<(ClientId, bool)> = None;
    let mut now = ClientId::default();
    // The number of times that the current client continued.
    let mut times = 0;
    for i in by_client {
        let i = i.to_usize();
        let client = rows[i].client;
        let goes_on = last.filter(|(other, _)| *other == client);
        match goes_on {
            Some((_, false)) => {}
            Some((_, true)) => {
                let called = match clients.called[client.0.to_usize()].clone() {
                    Called::Name(name) => clients.next_name(&name, &mut times),
                    Called::Number(_) | Called::Nothing => Called::Nothing,
                };
                let called = if called == Called::Nothing { fresh(&rows[i])? } else { called };
                now = clients.go_on(client, called);
            }
            None => {
                (now, times) = (client, 0);
                if clients.called[client.0.to_usize()] == Called::Nothing {
                    clients.called[client.0.to_usize()] = fresh(&rows[i])?;
                }
            }
        }
        last = Some((client, rows[i].end != End::Returned));
        rows[i].client = now;
    }
    Ok(())
}
