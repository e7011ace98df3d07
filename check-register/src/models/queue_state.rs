//! The content of queues and stacks, with the possible effects of operations in progress and of crashed ones, as one
//! state.
//!
//! The search need not try when such operations take effect, because one state represents all possibilities: see
//! [`Shortcuts::pend`](crate::Shortcuts::pend) and [`Shortcuts::begin`](crate::Shortcuts::begin).
//!
//! **Puts of a first-in-first-out queue.** Values are removed in the order in which they were inserted, so takes
//! determine the order of puts. Puts can be given instants between their calls and returns in the order of the values'
//! takes if and only if no value is removed before another whose put had returned when its own was called (each instant
//! is the latest call of the puts whose values were removed so far). So it is enough to store for each value how many
//! of the values in the queue, in the order of their puts' returns, must be removed before it: those whose puts had
//! returned when its put was called. A take that finds nothing shows that the value of every put that had returned was
//! removed; puts in progress take effect later. If order does not matter the same holds, and no value waits for
//! another.
//!
//! **Crashed operations.** Any linearization can be changed, by exchanging neighbours, so that
//!
//! 1. *no crashed take removes the value of a crashed put*: both can be omitted. While the value was in the collection
//!    it could only hinder others, and a take that removed another value still can. For the same reason a crashed put
//!    whose value is never removed can be omitted, and so can a crashed take that finds nothing.
//! 2. *each crashed take is just before a take that returned, and is needed there.* A crashed take can be moved after a
//!    put: in a queue it still removes its value; in a stack it removes its value once the values that were pushed onto
//!    it are removed, and if they never are, no operation observed the value's absence and the take can be omitted. So
//!    it reaches a take that returned. If that one is admitted without it, the crashed take can be moved further (of
//!    equal values it removes the other one); at the end it is omitted. The values that such takes remove are then
//!    determined: in a queue and a stack all values that must be removed before the one that is returned; all values
//!    before a take that found nothing. If order does not matter, only a take that found nothing needs them.
//! 3. *the value of a crashed put hinders no operation.* In a stack, and if order does not matter, the put can be just
//!    before the take that returns its value. In a first-in-first-out queue it is a put in progress that never returns,
//!    and no value waits for it.
//!
//! So it is enough to count crashed takes, and to store crashed puts like puts in progress. A take that returned a
//! value prefers a value in the collection to one whose put is in progress, and that to the value of a crashed put,
//! unless the preferred one must wait for more others: the sources that are not used remain available. Only if it must
//! wait for more others is there a choice.

use super::shared::sequence::{Item, Sequence};
use crate::engine::ids;
use history_core::hash::HashSet;

/// The order in which values are removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Discipline {
    /// The oldest first.
    Fifo,
    /// Any.
    Unordered,
    /// The youngest first: a stack.
    Lifo,
}

/// The content of a [`Queue`](super::Queue).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct QueueState {
    /// The values in the order of the returns of their puts; sorted if order does not matter.
    items: Sequence,
    /// Values whose puts are in progress, in the order of their calls; not used for stacks.
    flying: Vec<Flying>,
    /// Crashed puts that may have happened, sorted.
    puts: Vec<CrashedPut>,
    /// Crashed takes that may have happened.
    takes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Flying {
    value: i64,
    /// The number of the first items that must be removed before it.
    behind: u32,
    flight: u32,
}

/// Equal crashed puts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct CrashedPut {
    behind: u32,
    value: i64,
    /// The number of these puts, not 0.
    count: u32,
}

/// The source of a value that was removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The item at this position.
    Item(usize),
    /// The put in progress with this number.
    Flying(u32),
    /// A crashed put of this value.
    Crashed(i64),
    /// No value was removed.
    Nothing,
}

/// A possible result of a take.
pub(super) struct Taken {
    pub(super) state: QueueState,
    /// The number of crashed takes that removed the values before it: the first items of a queue, the last ones of a
    /// stack.
    pub(super) crashed: usize,
    pub(super) source: Source,
}

impl QueueState {
    /// Creates a collection with these values, the oldest first.
    pub(super) fn new(values: &[i64]) -> QueueState {
        QueueState { items: values.iter().map(|value| alone(*value)).collect(), ..QueueState::default() }
    }

    /// The values in it whose puts returned, in that order; sorted if order does not matter.
    pub fn values(&self) -> impl Iterator<Item = i64> {
        self.items.iter().map(|item| item.value)
    }

    /// The number of values whose puts returned.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the state with one more value, which is the youngest.
    pub(super) fn put(&self, discipline: Discipline, value: i64) -> QueueState {
        let mut state = self.clone();
        state.add(discipline, alone(value));
        state
    }

    fn add(&mut self, discipline: Discipline, item: Item) {
        match discipline {
            Discipline::Unordered => self.items.insert(self.items.below(item.value), item),
            Discipline::Fifo | Discipline::Lifo => self.items.push(item),
        }
    }

    /// The number of items that precede a put that begins now, if order matters.
    fn behind(&self, discipline: Discipline) -> u32 {
        if discipline == Discipline::Fifo { ids::number(self.items.len()) } else { 0 }
    }

    /// Returns the state with a put that may take effect from now on until it returns. Not for stacks.
    pub(super) fn begin_put(&self, discipline: Discipline, value: i64, flight: u32) -> QueueState {
        let mut state = self.clone();
        state.flying.push(Flying { value, behind: self.behind(discipline), flight });
        state
    }

    /// Returns the state in which a put in progress has taken effect. If its value was not yet removed, it is in the
    /// collection now.
    pub(super) fn end_put(&self, discipline: Discipline, flight: u32) -> QueueState {
        let mut state = self.clone();
        if let Some(at) = state.flying.iter().position(|flying| flying.flight == flight) {
            let Flying { value, behind, .. } = state.flying.remove(at);
            let beside = self.behind(discipline) - behind;
            state.add(discipline, Item { value, beside });
        }
        state
    }

    /// Returns the state with a crashed put that may take effect from now on.
    pub(super) fn pend_put(&self, discipline: Discipline, value: i64) -> QueueState {
        let behind = self.behind(discipline);
        let mut state = self.clone();
        state.puts.push(CrashedPut { behind, value, count: 1 });
        state.tidy();
        state
    }

    /// Returns the state with a crashed take that may take effect from now on.
    pub(super) fn pend_take(&self) -> QueueState {
        QueueState { takes: self.takes + 1, ..self.clone() }
    }

    /// The possible results of taking a value: at most one, unless the value is present more than once.
    pub(super) fn take(&self, discipline: Discipline, value: i64) -> Vec<Taken> {
        let mut ways: Vec<(usize, Source)> = Vec::new();
        let add = |ways: &mut Vec<(usize, Source)>, before: usize, source: Source| {
            if ways.iter().all(|(other, better)| *other > before || is_flying(*better) && is_flying(source)) {
                ways.push((before, source));
            }
        };
        let most = ids::index(self.takes);
        let of_value = |at: usize| self.items.get(at).filter(|item| item.value == value);
        match discipline {
            Discipline::Fifo => {
                for at in self.items.behind_at_most(most) {
                    if let Some(item) = of_value(at) {
                        add(&mut ways, at - ids::index(item.beside), Source::Item(at));
                    }
                }
            }
            Discipline::Unordered => {
                let at = self.items.below(value);
                if of_value(at).is_some() {
                    add(&mut ways, 0, Source::Item(at));
                }
            }
            Discipline::Lifo => {
                let last = self.items.len().saturating_sub(most + 1)..self.items.len();
                if let Some(at) = last.rev().find(|at| of_value(*at).is_some()) {
                    add(&mut ways, self.items.len() - 1 - at, Source::Item(at));
                }
            }
        }
        for flying in self.flying.iter().filter(|flying| flying.value == value) {
            add(&mut ways, ids::index(flying.behind), Source::Flying(flying.flight));
        }
        // Puts are sorted, so the first one found waits for the fewest items.
        if let Some(put) = self.puts.iter().find(|put| put.value == value) {
            add(&mut ways, ids::index(put.behind), Source::Crashed(value));
        }
        ways.retain(|(before, _)| *before <= most);
        ways.into_iter().map(|(before, source)| self.taken(discipline, before, source)).collect()
    }

    /// The result of a take that found nothing, if that is possible.
    pub(super) fn take_nothing(&self, discipline: Discipline) -> Option<Taken> {
        let crashed = self.items.len();
        (crashed <= ids::index(self.takes)).then(|| self.taken(discipline, crashed, Source::Nothing))
    }

    /// The possible results of a take with an unknown result: of a value that can be removed first, of the value of a
    /// put that is in progress or crashed, or of nothing.
    pub(super) fn take_any(&self, discipline: Discipline) -> Vec<Taken> {
        let mut ways: Vec<Source> = Vec::new();
        let may_leave: Vec<usize> = match discipline {
            Discipline::Fifo => self.items.behind_at_most(0),
            // Only the first item of each value is used.
            Discipline::Unordered => (0..self.items.len()).collect(),
            Discipline::Lifo => self.items.len().checked_sub(1).into_iter().collect(),
        };
        let mut seen: HashSet<i64> = HashSet::default();
        for at in may_leave {
            if self.items.get(at).is_some_and(|item| seen.insert(item.value)) {
                ways.push(Source::Item(at));
            }
        }
        ways.extend(self.flying.iter().filter(|flying| flying.behind == 0).map(|f| Source::Flying(f.flight)));
        ways.extend(self.puts.iter().filter(|put| put.behind == 0).map(|put| Source::Crashed(put.value)));
        if self.items.is_empty() {
            ways.push(Source::Nothing);
        }
        ways.into_iter().map(|source| self.taken(discipline, 0, source)).collect()
    }

    /// The result after `crashed` takes removed the values before it and a value was removed from `source`.
    fn taken(&self, discipline: Discipline, crashed: usize, source: Source) -> Taken {
        let mut state = self.clone();
        state.takes -= ids::number(crashed);
        let mut removed = 0;
        if discipline == Discipline::Lifo {
            (0..crashed).for_each(|_| state.items.remove(state.items.len() - 1));
        } else {
            state.remove_first(discipline, crashed);
            removed = crashed;
        }
        match source {
            Source::Item(at) => state.remove_item(discipline, at - removed),
            Source::Flying(flight) => state.flying.retain(|flying| flying.flight != flight),
            Source::Crashed(value) => {
                if let Some(at) = state.puts.iter().position(|put| put.value == value) {
                    state.puts[at].count -= 1;
                    state.puts.retain(|put| put.count > 0);
                }
            }
            Source::Nothing => {}
        }
        Taken { state, crashed, source }
    }

    /// Removes the first `count` items, even if others must be removed before them.
    fn remove_first(&mut self, discipline: Discipline, count: usize) {
        if count == 0 {
            return;
        }
        if discipline == Discipline::Fifo {
            // An item that waited only for some of these now waits for none.
            for at in self.items.behind_at_most(count - 1).into_iter().filter(|at| *at >= count) {
                if let Some(item) = self.items.get(at) {
                    self.items.replace(at, Item { beside: ids::number(at - count), ..item });
                }
            }
        }
        (0..count).for_each(|_| self.items.remove(0));
        self.move_up(|behind| behind.saturating_sub(ids::number(count)));
    }

    /// Removes an item.
    fn remove_item(&mut self, discipline: Discipline, at: usize) {
        if discipline == Discipline::Fifo {
            // Later items that did not have to wait for it have one item less beside them.
            for later in self.items.behind_at_most(at).into_iter().filter(|later| *later > at) {
                if let Some(item) = self.items.get(later) {
                    self.items.replace(later, Item { beside: item.beside - 1, ..item });
                }
            }
        }
        self.items.remove(at);
        self.move_up(|behind| if ids::index(behind) > at { behind - 1 } else { behind });
    }

    /// Reduces the number of items that puts in progress and crashed puts wait for, after items were removed.
    fn move_up(&mut self, less: impl Fn(u32) -> u32) {
        self.flying.iter_mut().for_each(|flying| flying.behind = less(flying.behind));
        if self.puts.last().is_some_and(|put| put.behind > 0) {
            self.puts.iter_mut().for_each(|put| put.behind = less(put.behind));
            self.tidy();
        }
    }

    /// Sorts crashed puts and merges equal ones.
    fn tidy(&mut self) {
        self.puts.sort_unstable();
        self.puts.dedup_by(|later, kept| {
            let same = (later.behind, later.value) == (kept.behind, kept.value);
            if same {
                kept.count += later.count;
            }
            same
        });
    }
}

/// An item that waits for all items before it.
fn alone(value: i64) -> Item {
    Item { value, beside: 0 }
}

fn is_flying(source: Source) -> bool {
    matches!(source, Source::Flying(_))
}
