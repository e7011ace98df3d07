//! A prefix of a history of distinct values, as ranges of moments: see the [module](super).

use super::sheet::{Doing, NONE, Sheet};
use crate::search::part::{NEVER, Part};
use crate::{Conflict, Held};
use history_core::cast::Cast as _;

/// A value that matters: some operation removed it, or its put returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    /// The operation that inserted it; `NONE` for an initial value.
    pub(super) put: u32,
    /// The operation that removed it; `NONE` if none did.
    pub(super) take: u32,
    /// The put takes effect at one of `put_call..put_ret`, and the take at one of `take_call..take_ret`. If the take
    /// returned, the put took effect before: `put_ret <= take_ret` and `put_call <= take_call`.
    pub(super) put_call: u32,
    pub(super) put_ret: u32,
    pub(super) take_call: u32,
    pub(super) take_ret: u32,
    /// Values with a lower number are removed before it, if the collection has priorities.
    pub(super) priority: i64,
    /// Whether several pending takes may have removed it.
    pub(super) is_contested: bool,
}

impl Value {
    /// Returns true if put and take can be adjacent.
    pub(super) fn is_flushed(&self) -> bool {
        self.take_call < self.put_ret
    }

    /// The operations that moved it.
    pub(super) fn held(&self) -> Held<u32> {
        let known = |op: u32| (op != NONE).then_some(op);
        Held { put: known(self.put), take: known(self.take) }
    }
}

/// An operation that found the collection empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Nothing {
    pub(super) op: u32,
    pub(super) call: u32,
    pub(super) ret: u32,
}

/// A take that crashed: it may have removed any value from `call` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CrashedTake {
    pub(super) op: u32,
    pub(super) call: u32,
}

/// A prefix of a history.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Moments {
    /// The values in the order of their puts' calls.
    pub(super) values: Vec<Value>,
    /// The operations that found nothing, in the order of their calls.
    pub(super) nothings: Vec<Nothing>,
    /// The crashed takes in the order of their calls.
    pub(super) crashed: Vec<CrashedTake>,
    /// The last moment, at which values that no operation removed are removed.
    pub(super) end: u32,
}

impl Moments {
    /// The first `end` events of a part; or operations that contradict each other in any collection.
    pub(super) fn new(part: &Part, sheet: &Sheet, end: usize) -> Result<Moments, Conflict<u32>> {
        let from_start = sheet.initial.len().to_u32();
        let moment = moments_before(part, end, from_start);
        let last = end.checked_sub(1).map_or(from_start, |event| moment[event]);
        let never = last + 1;
        let (put, take, priority) = (NONE, NONE, 0);
        let unseen = Value {
            put,
            take,
            put_call: NONE,
            put_ret: NONE,
            take_call: last,
            take_ret: never,
            priority,
            is_contested: false,
        };
        let mut of_value = vec![unseen; sheet.put.len()];
        of_value.iter_mut().zip(&sheet.priority).for_each(|(value, priority)| value.priority = *priority);
        let mut order = sheet.initial.clone();
        for (at, value) in (0..).zip(&sheet.initial) {
            let seen = &mut of_value[value.to_usize()];
            (seen.put_call, seen.put_ret) = (at, at + 1);
        }
        let mut moments = Moments { end: last, ..Moments::default() };
        for (at, op) in (0..).zip(&part.ops) {
            if op.call.to_usize() >= end {
                break;
            }
            let call = moment[op.call.to_usize()];
            let ret = if op.ret.to_usize() < end { moment[op.ret.to_usize()] } else { NEVER };
            match sheet.doings[at.to_usize()] {
                Doing::Put(value) => {
                    order.push(value);
                    let seen = &mut of_value[value.to_usize()];
                    (seen.put, seen.put_call, seen.put_ret) = (at, call, ret);
                }
                Doing::Take(value) => {
                    let seen = &mut of_value[value.to_usize()];
                    let is_taken = seen.take != NONE && seen.take_ret != never;
                    if is_taken && ret != NEVER {
                        return Err(Conflict::TakenTwice { take: at, other: seen.take });
                    }
                    seen.is_contested = ret == NEVER && seen.take != NONE && !is_taken;
                    // The first of several takes that never return can represent the others, except for the end at
                    // which it acts.
                    if ret != NEVER || seen.take == NONE {
                        (seen.take, seen.take_call, seen.take_ret) = (at, call, ret.min(never));
                    }
                }
                Doing::Nothing if ret != NEVER => moments.nothings.push(Nothing { op: at, call, ret }),
                Doing::Any => moments.crashed.push(CrashedTake { op: at, call }),
                Doing::Nothing => {}
            }
        }
        moments.take_values(&of_value, sheet, &order)?;
        Ok(moments)
    }

    /// Adds the values whose puts were called, in this order, except for those that affect no operation.
    fn take_values(&mut self, of_value: &[Value], sheet: &Sheet, order: &[u32]) -> Result<(), Conflict<u32>> {
        let never = self.end + 1;
        for (value, put) in of_value.iter().zip(&sheet.put) {
            if value.take != NONE && value.take_ret != never {
                let take = value.take;
                if value.put_call == NONE {
                    return Err(match *put {
                        NONE => Conflict::NeverPut { take },
                        put => Conflict::BeforePut { take, put },
                    });
                }
                if value.take_ret <= value.put_call {
                    return Err(Conflict::BeforePut { take, put: value.put });
                }
            }
        }
        self.values.reserve(order.len());
        for id in order {
            let mut value = of_value[id.to_usize()];
            if value.put_ret == NEVER && (value.take == NONE || value.take_ret == never) {
                continue;
            }
            value.put_ret = value.put_ret.min(value.take_ret);
            value.take_call = value.take_call.max(value.put_call);
            self.values.push(value);
        }
        Ok(())
    }

    /// The same history in which the given crashed takes remove the given values, and the other crashed takes remove
    /// nothing.
    pub(super) fn with(&self, assigned: impl Iterator<Item = (usize, CrashedTake)>) -> Moments {
        let mut moments = Moments { crashed: Vec::new(), ..self.clone() };
        for (at, take) in assigned {
            let value = &mut moments.values[at];
            (value.take, value.take_call) = (take.op, take.call.max(value.put_call));
        }
        moments
    }

    /// Returns true if the take of some value is pending.
    pub(super) fn any_pending(&self) -> bool {
        self.values.iter().any(|value| value.take != NONE && value.take_ret > self.end)
    }

    /// The same history without pending takes.
    pub(super) fn pending_as_open(&self) -> Moments {
        let mut moments = self.clone();
        for value in moments.values.iter_mut().filter(|value| value.take_ret > self.end) {
            (value.take, value.take_call) = (NONE, self.end);
        }
        moments
    }

    /// The same history without the values that several pending takes may have removed.
    pub(super) fn without_contested(&self) -> Moments {
        let mut moments = self.clone();
        moments.values.retain(|value| !value.is_contested);
        moments
    }

    /// The same history without the values whose takes are pending.
    pub(super) fn without_pending(&self) -> Moments {
        let mut moments = self.clone();
        moments.values.retain(|value| value.take == NONE || value.take_ret <= self.end);
        moments
    }

    /// Positions of the values that no operation is known to remove.
    pub(super) fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.values.len()).filter(|at| self.values[*at].take == NONE)
    }

    /// The same history with only some of the values, without operations that found nothing, and with only the moments
    /// that these values need.
    pub(super) fn only(&self, values: &[usize]) -> Moments {
        let mut part = Moments {
            values: values.iter().map(|at| self.values[*at]).collect(),
            nothings: Vec::new(),
            crashed: self.crashed.clone(),
            end: self.end,
        };
        let mut used = vec![0, self.end, self.end + 1];
        for value in &part.values {
            used.extend([value.put_call, value.put_ret, value.take_call, value.take_ret]);
        }
        used.extend(part.crashed.iter().map(|take| take.call));
        used.sort_unstable();
        used.dedup();
        // All moments between two numbers in use are equivalent.
        let renamed = |moment: &mut u32| *moment = used.binary_search(moment).unwrap_or_default().to_u32();
        for value in &mut part.values {
            let used = [&mut value.put_call, &mut value.put_ret, &mut value.take_call, &mut value.take_ret];
            used.into_iter().for_each(renamed);
        }
        part.crashed.iter_mut().for_each(|take| renamed(&mut take.call));
        renamed(&mut part.end);
        part
    }
}

/// By event: the number of moments before it, plus `from_start`.
fn moments_before(part: &Part, end: usize, from_start: u32) -> Vec<u32> {
    let mut moment = from_start;
    let mut was_call = false;
    let events = part.events[..end].iter();
    events
        .map(|event| {
            moment += u32::from(was_call && event.is_return());
            was_call = !event.is_return();
            moment
        })
        .collect()
}
