//! A stack: values are peeled off from the bottom, first those that can be at the bottom from one empty moment to
//! another.
//!
//! The `cover` of a moment is the number of spans that contain it. A moment in no span is *free*. A value whose put and
//! whose take both have a free moment is *peeled*: its span no longer counts, which frees more moments. The history is
//! linearizable exactly if all values that are not flushed are peeled, and each operation that found nothing has a
//! moment in no span of any value.
//!
//! *Peeling changes nothing.* If the rest has a linearization, it has one in which the stack is empty at both free
//! moments (see [`nothing`](super::nothing)), and the peeled value encloses the operations between them. *Some value
//! can be peeled*: in a linearization, take the value that is first put onto an empty stack and is not flushed. When it
//! is inserted and when it is removed the stack is otherwise empty, so no span contains either moment. The put and the
//! take of a flushed value are placed where they can be adjacent.

use super::moments::Moments;
use super::nothing::Empty;
use super::sheet::NONE;
use super::tree::{GreatestOf, LeastOf, Members, OUT};
use history_core::cast::Cast as _;

/// A linearization, if there is one.
///
/// Within one moment, the order is: takes, in the reverse order of peeling; operations that found nothing; puts, in the
/// order of peeling; flushed values.
pub(super) fn order(moments: &Moments) -> Option<Vec<u32>> {
    let peeled = Peeling::new(moments).peel();
    if peeled.iter().zip(&moments.values).any(|(peeled, value)| peeled.is_none() && !value.is_flushed()) {
        return None;
    }
    let empty = Empty::of(moments).firsts(moments)?;
    // Sort key: moment, kind of step, rank among these, and whether it is the second of two; then the operation.
    let mut steps: Vec<(u32, u8, u32, bool, u32)> = Vec::with_capacity(2 * moments.values.len() + empty.len());
    for ((at, value), peeled) in (0..).zip(&moments.values).zip(&peeled) {
        let (put, take) = match peeled {
            Some(Peeled { rank, put, take }) => {
                ((*put, 2, *rank, false, value.put), (*take, 0, NONE - rank, false, value.take))
            }
            None => ((value.take_call, 3, at, false, value.put), (value.take_call, 3, at, true, value.take)),
        };
        // A removal at the last moment may not have happened.
        let is_step = |step: &(u32, u8, u32, bool, u32)| step.4 != NONE && step.0 != moments.end;
        steps.extend([put, take].into_iter().filter(is_step));
    }
    steps.extend(moments.nothings.iter().zip(empty).map(|(nothing, moment)| (moment, 1, 0, false, nothing.op)));
    steps.sort_unstable();
    Some(steps.into_iter().map(|step| step.4).collect())
}

/// A value that was peeled.
#[derive(Clone, Copy, Debug)]
struct Peeled {
    /// The number of values that were peeled before.
    rank: u32,
    /// The last free moment of its put, and the first one of its take, when it was peeled. With other moments the
    /// values need not nest.
    put: u32,
    take: u32,
}

/// The positions of the values that cannot be peeled.
pub(super) fn rest(moments: &Moments) -> Vec<usize> {
    let peeled = Peeling::new(moments).peel();
    (0..peeled.len()).filter(|at| peeled[*at].is_none() && !moments.values[*at].is_flushed()).collect()
}

struct Peeling<'m> {
    moments: &'m Moments,
    /// By moment: the number of spans that contain it, plus `OUT` if it is known to be free.
    cover: LeastOf,
    free: Members,
    /// Puts without a free moment so far, in the order of their calls, with their returns.
    puts: Pending,
    takes: Pending,
    peeled: Vec<Option<Peeled>>,
    rank: u32,
}

/// Operations without a free moment so far.
struct Pending {
    /// The values, in the order of the operations' calls.
    order: Vec<u32>,
    returns: GreatestOf,
}

impl Pending {
    fn new(mut order: Vec<u32>, range: impl Fn(u32) -> (u32, u32)) -> Pending {
        order.sort_unstable_by_key(|value| range(*value).0);
        let returns = GreatestOf::new(order.iter().map(|value| range(*value).1));
        Pending { order, returns }
    }

    /// Removes an operation that has this moment, and returns its value.
    fn take_at(&mut self, moment: u32, call: impl Fn(u32) -> u32) -> Option<u32> {
        let first = self.returns.first_above(moment)?;
        let value = self.order[first];
        if call(value) > moment {
            return None;
        }
        self.returns.clear(first);
        Some(value)
    }
}

impl<'m> Peeling<'m> {
    fn new(moments: &'m Moments) -> Peeling<'m> {
        let values = &moments.values;
        let mut cover = vec![0_i32; moments.end.to_usize() + 2];
        let mut order = Vec::with_capacity(values.len());
        for (at, value) in (0..).zip(values) {
            if !value.is_flushed() {
                cover[value.put_ret.to_usize()] += 1;
                cover[value.take_call.to_usize()] -= 1;
                order.push(at);
            }
        }
        let mut now = 0;
        for change in &mut cover {
            now += *change;
            *change = now;
        }
        cover.truncate(moments.end.to_usize() + 1);
        let value = |at: u32| &values[at.to_usize()];
        Peeling {
            moments,
            cover: LeastOf::new(&cover),
            free: Members::new(cover.len()),
            puts: Pending::new(order.clone(), |at| (value(at).put_call, value(at).put_ret)),
            takes: Pending::new(order, |at| (value(at).take_call, value(at).take_ret)),
            peeled: vec![None; values.len()],
            rank: 0,
        }
    }

    /// By value: how it was peeled, if it was.
    fn peel(mut self) -> Vec<Option<Peeled>> {
        // By value: whether its put and its take have a free moment.
        let mut cleared = vec![(false, false); self.moments.values.len()];
        while self.cover.least() == 0 {
            let place = self.cover.place();
            self.cover.add(place, place + 1, OUT);
            self.free.insert(place);
            let moment = place.to_u32();
            let values = &self.moments.values;
            while let Some(at) = self.puts.take_at(moment, |at| values[at.to_usize()].put_call) {
                cleared[at.to_usize()].0 = true;
                self.peel_one(at, cleared[at.to_usize()]);
            }
            while let Some(at) = self.takes.take_at(moment, |at| values[at.to_usize()].take_call) {
                cleared[at.to_usize()].1 = true;
                self.peel_one(at, cleared[at.to_usize()]);
            }
        }
        self.peeled
    }

    fn peel_one(&mut self, at: u32, cleared: (bool, bool)) {
        if cleared != (true, true) {
            return;
        }
        let value = &self.moments.values[at.to_usize()];
        let put = self.free.before(value.put_ret.to_usize());
        let take = self.free.next(value.take_call.to_usize());
        if let (Some(put), Some(take)) = (put, take) {
            self.peeled[at.to_usize()] = Some(Peeled { rank: self.rank, put: put.to_u32(), take: take.to_u32() });
            self.rank += 1;
            self.cover.add(value.put_ret.to_usize(), value.take_call.to_usize(), -1);
        }
    }
}
