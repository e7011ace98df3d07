//! The work of clients in a run: one request after another, and a final one when all faults are over.

use super::line::Performer;
use super::nemesis::{SETTLE_MAX, until};
use super::patience;
use super::stop::Stop;
use super::{State, joined};
use crate::chance::Chance;
use crate::client::{Client, FailedStart, Seat, Stands};
use crate::error::LiveError;
use crate::request::{Outcome, Request};
use crate::workload::Plan;
use history_core::cast::Cast as _;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// The time before a rejected client tries again.
const AGAIN: Duration = Duration::from_millis(100);
/// After how many clients per seat that answered no request a run gives up.
const STARTS_MAX: u64 = 10;
/// The time between two checks whether the final requests have ended.
const LOOK: Duration = Duration::from_millis(10);
/// The maximum time of the final requests.
const LAST_MAX: Duration = Duration::from_secs(10);

/// A seat and the remaining requests of its clients.
pub(super) struct Sitting {
    seat: Seat,
    plan: Box<dyn Plan>,
}

impl State<'_, '_> {
    /// Performs the operations of one seat until the run is over.
    pub(super) fn work(&self, number: u32) -> Sitting {
        let _ended = self.end_if_unwinding();
        patience::is_of(&self.over);
        let mut sitting = self.sitting(number);
        self.requests(&mut sitting);
        sitting
    }

    fn sitting(&self, number: u32) -> Sitting {
        let live = self.live;
        let count = u32::try_from(live.store.nodes().len()).unwrap_or(1).max(1);
        let seat = Seat {
            number,
            seats: live.clients,
            node: number % count,
            nodes: count,
            process: u64::from(number),
            seed: live.seed,
            timeout: live.timeout,
            stands: live.stands,
        };
        Sitting { plan: live.workload.plan(&seat), seat }
    }

    fn requests(&self, sitting: &mut Sitting) {
        let mut client = None;
        self.requests_of(sitting, &mut client);
        self.ended(client);
    }

    /// Ends a client that has no more requests.
    fn ended(&self, client: Option<Box<dyn Client>>) {
        if let Some(Err(error)) = client.map(|mut client| client.end()) {
            self.fail(error);
        }
    }

    fn requests_of(&self, Sitting { seat, plan }: &mut Sitting, client: &mut Option<Box<dyn Client>>) {
        let live = self.live;
        let mut chance = Chance::new(live.seed, u64::from(seat.number));
        let mut is_new = false;
        while !self.over.is_set() {
            if client.is_none() {
                match live.store.client(seat) {
                    Ok(opened) => (*client, is_new) = (Some(opened), true),
                    // Before any operation has succeeded and any fault has begun, the error is not caused by a fault.
                    Err(error)
                        if self.recorder.counts().ok.load(Ordering::Relaxed) == 0 && self.faults.begun() == 0 =>
                    {
                        return self.fail(error);
                    }
                    Err(error) => {
                        if self.over.wait(AGAIN) {
                            let mut kept_out = self.kept_out.lock().unwrap_or_else(PoisonError::into_inner);
                            return kept_out.push(error.to_string());
                        }
                    }
                }
                continue;
            }
            if live.ops_max.is_some_and(|most| self.invoked.fetch_add(1, Ordering::Relaxed) >= most) {
                return;
            }
            let request = plan.next(&mut chance);
            let Some(outcome) = self.perform(client, seat, &request) else { return };
            plan.observe(&request, &outcome);
            // A client that fails immediately would be restarted again and again.
            if std::mem::take(&mut is_new) && client.is_none() && self.over.wait(AGAIN) {
                return;
            }
            if !live.pause.is_zero() && self.over.wait(chance.pause(live.pause)) {
                return;
            }
        }
    }

    /// Performs a request. Closes the client if it can no longer be used, and updates the seat's node and process.
    /// Returns `None` if the client failed.
    fn perform(&self, client: &mut Option<Box<dyn Client>>, seat: &mut Seat, request: &Request) -> Option<Outcome> {
        let open = client.as_mut()?;
        let host = self.live.store.nodes().get(seat.node.to_usize()).map_or("", String::as_str);
        let who = Performer { process: seat.process, host };
        self.recorder.invoke(who, request);
        let begun = Instant::now();
        let outcome = match open.invoke(request) {
            Ok(outcome) => outcome,
            Err(error) => {
                // It is unknown whether the request happened.
                self.recorder.complete(who, request, &Outcome::Info(error.to_string()));
                self.fail(error);
                return None;
            }
        };
        if let Some(start) = open.failed_start() {
            self.start_has_failed(&start);
        }
        self.recorder.counts().took.add(begun.elapsed());
        self.recorder.complete(who, request, &outcome);
        let is_indeterminate = matches!(outcome, Outcome::Info(_));
        let is_lost = is_indeterminate || request.is_read() && !matches!(outcome, Outcome::Ok(_));
        let turns = seat.stands == Stands::InHub && is_lost;
        if is_indeterminate || turns || open.is_broken() {
            *client = None;
        }
        seat.node = (seat.node + u32::from(turns)) % seat.nodes;
        seat.process += if is_indeterminate { u64::from(seat.seats) } else { 0 };
        Some(outcome)
    }

    /// A client has ended without having answered a request. Ends the run if its program does not seem to work: no
    /// operation has succeeded, and no fault explains the end.
    fn start_has_failed(&self, start: &FailedStart) {
        let count = self.failed_starts.fetch_add(1, Ordering::Relaxed) + 1;
        let is_certain = start.is_certain || count >= STARTS_MAX * u64::from(self.live.clients);
        if is_certain && self.recorder.counts().ok.load(Ordering::Relaxed) == 0 && self.faults.begun() == 0 {
            let times = if start.is_certain { String::new() } else { format!(", as did {} others", count - 1) };
            self.fail(LiveError::store(format!("{}{times}; no operation has succeeded", start.what)));
        }
    }

    /// Performs the workload's final requests, if it has any: after all faults, when the store has settled, unless the
    /// run was ended before. Returns whether all succeeded.
    pub(super) fn end(&self, sittings: Vec<Sitting>, is_used_up: bool) -> bool {
        let last = |Sitting { seat, mut plan }| Some((seat, plan.last()?));
        let asked: Vec<(Seat, Request)> = sittings.into_iter().filter_map(last).collect();
        if asked.is_empty() {
            return true;
        }
        if !is_used_up || self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return false;
        }
        let (store, stop) = (self.live.store, &self.live.stop);
        if self.faults.begun() > 0 {
            // After an interrupt, the run does not wait until servers are up again.
            match patience::within(stop, || store.heal()) {
                Ok(()) => {}
                Err(_) if stop.is_set() => return false,
                Err(error) => {
                    self.fail(error);
                    return false;
                }
            }
            until(SETTLE_MAX, stop, || store.is_settled());
        }
        let (end, began) = (Stop::new(), Instant::now());
        thread::scope(|scope| {
            let end = &end;
            let perform = |(seat, request)| scope.spawn(move || self.last(seat, &request, end));
            let threads: Vec<_> = asked.into_iter().map(perform).collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                thread::sleep(LOOK);
                self.recorder.try_flush();
                if stop.is_set() || began.elapsed() >= LAST_MAX {
                    end.set();
                }
            }
            threads.into_iter().all(joined)
        })
    }

    /// Performs a request until it succeeds. Returns whether it did.
    fn last(&self, mut seat: Seat, request: &Request, end: &Stop) -> bool {
        patience::is_of(end);
        let mut client = None;
        while !end.is_set() {
            if client.is_none() {
                client = self.live.store.client(&seat).ok();
            }
            match self.perform(&mut client, &mut seat, request) {
                Some(Outcome::Ok(_)) => {
                    self.ended(client);
                    return true;
                }
                _ => _ = end.wait(AGAIN),
            }
        }
        false
    }
}
