//! The content of queues and stacks, with the possible effects of operations in progress and of crashed ones, as one
//! state.
//!
//! The search need not try when such operations take effect, because one state represents all possibilities: see
//! [`Shortcuts::pend`](crate::Shortcuts::pend) and [`Shortcuts::begin`](crate::Shortcuts::begin).
//!
//! **Puts of a first-in-first-out queue.** Values leave in the order in which they were put in, so takes give the
//! order of puts. Puts can be given instants between their calls and returns in the order of the values' takes if and
//! only if, of no two values, one leaves first whose put was called when the other's had returned (each instant is
//! the latest call of those that left so far). So it is enough to know of each value how many of the values that are
//! in it, in the order of their puts' returns, must leave before it: those whose puts had returned when its put was
//! called. Who finds nothing shows that every put that had returned was taken; those under way are still to come.
//! Where order does not matter the same holds, and no value waits for another.
//!
//! **Crashed operations.** Let L be any linearization. It can be changed, by exchanging neighbours, so that
//!
//! 1. *no crashed take takes what a crashed put has put*: both can be left out. What was in the collection between them
//!    hindered others, and who took something else still can. A crashed put that is never taken can be left out for the
//!    same reason, and a crashed take that finds nothing.
//! 2. *crashed takes stand just before a take that returned, and are needed there.* A crashed take can be moved after a
//!    put: in a queue it takes its value nevertheless; in a stack it takes its value when what was pushed onto it is
//!    gone, and if it never is, no operation met the value's absence and the take can be left out. So it meets a take
//!    that returned. If that one is admitted without it, the crashed take may come later still (of equal values it
//!    takes the other one); and one at the end is omitted. What such takes remove is then forced: in a queue and a
//!    stack whatever must leave before the value that is returned; everything, before a take that found nothing. Where
//!    order does not matter only the latter needs them.
//! 3. *the value of a crashed put hinders no operation.* In a stack and where order does not matter the put can stand
//!    just before the take that returns its value. In a first-in-first-out queue it is a put under way that never
//!    returns, and nothing waits for it.
//!
//! So it is enough to count crashed takes, and to keep crashed puts like those under way. A take that returned a
//! value prefers one that is there to one whose put is under way, and that to a crashed one, if it could be returned
//! no sooner: the others remain of use. Only if it must wait for more others is there a choice.

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
    /// In the order of the returns of their puts; sorted if order does not matter.
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
    /// So many of the first items must leave before it does.
    behind: u32,
    flight: u32,
}

/// Equal puts that crashed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct CrashedPut {
    behind: u32,
    value: i64,
    /// Not 0.
    count: u32,
}

/// Where a value came from that was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// This item.
    Item(usize),
    /// The put under way of this number.
    Flying(u32),
    /// A crashed put of this value.
    Crashed(i64),
    /// Nothing was taken.
    Nothing,
}

/// A way for a take to go.
pub(super) struct Taken {
    pub(super) state: QueueState,
    /// So many crashed takes removed what had to leave before: the first items of a queue, the last of a stack.
    pub(super) crashed: usize,
    pub(super) source: Source,
}

impl QueueState {
    /// A collection of these, the oldest first.
    pub(super) fn new(values: &[i64]) -> QueueState {
        QueueState { items: values.iter().map(|value| alone(*value)).collect(), ..QueueState::default() }
    }

    /// The values in it whose puts returned, in that order; sorted if order does not matter.
    pub fn values(&self) -> impl Iterator<Item = i64> {
        self.items.iter().map(|item| item.value)
    }

    /// How many there are of these.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// With one more value, which is the youngest.
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

    /// How many items stand before a put that begins now, as far as it matters.
    fn behind(&self, discipline: Discipline) -> u32 {
        if discipline == Discipline::Fifo { ids::number(self.items.len()) } else { 0 }
    }

    /// With a put that may happen from now on until it ends; of a queue, not a stack.
    pub(super) fn begin_put(&self, discipline: Discipline, value: i64, flight: u32) -> QueueState {
        let mut state = self.clone();
        state.flying.push(Flying { value, behind: self.behind(discipline), flight });
        state
    }

    /// A put under way has happened. If its value was not taken yet, it is there now.
    pub(super) fn end_put(&self, discipline: Discipline, flight: u32) -> QueueState {
        let mut state = self.clone();
        if let Some(at) = state.flying.iter().position(|flying| flying.flight == flight) {
            let Flying { value, behind, .. } = state.flying.remove(at);
            let beside = self.behind(discipline) - behind;
            state.add(discipline, Item { value, beside });
        }
        state
    }

    /// With a crashed put that may happen from now on.
    pub(super) fn pend_put(&self, discipline: Discipline, value: i64) -> QueueState {
        let behind = self.behind(discipline);
        let mut state = self.clone();
        state.puts.push(CrashedPut { behind, value, count: 1 });
        state.tidy();
        state
    }

    /// With a crashed take that may happen from now on.
    pub(super) fn pend_take(&self) -> QueueState {
        QueueState { takes: self.takes + 1, ..self.clone() }
    }

    /// The ways to take a value: at most one, unless the value is there more than once.
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
        // The first one is after the fewest.
        if let Some(put) = self.puts.iter().find(|put| put.value == value) {
            add(&mut ways, ids::index(put.behind), Source::Crashed(value));
        }
        ways.retain(|(before, _)| *before <= most);
        ways.into_iter().map(|(before, source)| self.taken(discipline, before, source)).collect()
    }

    /// The way for a take that found nothing.
    pub(super) fn take_nothing(&self, discipline: Discipline) -> Option<Taken> {
        let crashed = self.items.len();
        (crashed <= ids::index(self.takes)).then(|| self.taken(discipline, crashed, Source::Nothing))
    }

    /// The ways to take who knows what: what may leave first, the value of a put under way or crashed, or nothing.
    pub(super) fn take_any(&self, discipline: Discipline) -> Vec<Taken> {
        let mut ways: Vec<Source> = Vec::new();
        let may_leave: Vec<usize> = match discipline {
            Discipline::Fifo => self.items.behind_at_most(0),
            // The first of each value.
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

    /// After crashed takes removed so many that stood before it and a value was taken.
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

    /// The first so many items leave, whatever must leave before them.
    fn remove_first(&mut self, discipline: Discipline, count: usize) {
        if count == 0 {
            return;
        }
        if discipline == Discipline::Fifo {
            // What had to leave behind some of these is the first now.
            for at in self.items.behind_at_most(count - 1).into_iter().filter(|at| *at >= count) {
                if let Some(item) = self.items.get(at) {
                    self.items.replace(at, Item { beside: ids::number(at - count), ..item });
                }
            }
        }
        (0..count).for_each(|_| self.items.remove(0));
        self.move_up(|behind| behind.saturating_sub(ids::number(count)));
    }

    /// An item leaves.
    fn remove_item(&mut self, discipline: Discipline, at: usize) {
        if discipline == Discipline::Fifo {
            // Those behind it that did not have to wait for it have one less beside them.
            for later in self.items.behind_at_most(at).into_iter().filter(|later| *later > at) {
                if let Some(item) = self.items.get(later) {
                    self.items.replace(later, Item { beside: item.beside - 1, ..item });
                }
            }
        }
        self.items.remove(at);
        self.move_up(|behind| if ids::index(behind) > at { behind - 1 } else { behind });
    }

    /// Some items left; what is under way or crashed is after fewer.
    fn move_up(&mut self, less: impl Fn(u32) -> u32) {
        self.flying.iter_mut().for_each(|flying| flying.behind = less(flying.behind));
        if self.puts.last().is_some_and(|put| put.behind > 0) {
            self.puts.iter_mut().for_each(|put| put.behind = less(put.behind));
            self.tidy();
        }
    }

    /// Crashed puts sorted, equal ones together.
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

/// A value that is there as if its put had met no other.
fn alone(value: i64) -> Item {
    Item { value, beside: 0 }
}

fn is_flying(source: Source) -> bool {
    matches!(source, Source::Flying(_))
}
