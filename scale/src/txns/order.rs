//! Whether an order of all operations obeys dependencies between concurrent ones, and real time.
//!
//! The dependencies come in windows, by the index at which both of their operations are known to run. At the end of
//! each window, every operation that has completed by then gets a place in the order, after all operations that come
//! before it: those that it depends on, and those that completed before it was invoked. If that is impossible, there is
//! a cycle.
//!
//! So what is kept is what is in flight. An operation that is still running may get a place, too, because one that has
//! completed depends on it, directly or not. If it turns out later that a third one comes before it, that is a cycle:
//! the third one was invoked after the completed one had completed. All others wait.
//!
//! An operation without dependencies is on no cycle, and is never named. O(dependencies * log of those of a window).

use history_core::cast::Cast as _;
use history_core::hash::HashMap;
use history_core::share::{Dependency, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An order on its way through a history.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Dependencies on operations that have no place yet.
    waiting: Vec<Dependency>,
    /// Operations in flight that have a place, by their invocations.
    running: HashMap<u64, Running>,
    /// Those of them that are known to have no completion.
    endless: HashMap<u64, Box<[u64]>>,
}

/// An operation in flight that has a place.
#[derive(Debug)]
struct Running {
    completed: u64,
    /// Why: operations, each of which depends on the one before, up to one that has completed. By their invocations.
    because: Box<[u64]>,
}

/// There is no such order: these operations come each before the next one, and the last one before the first. By their
/// invocations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cyclic(pub(crate) Vec<u64>);

impl Order {
    /// Takes the dependencies that are known before the index `end`, or all others if there is none.
    pub(crate) fn take(
        &mut self,
        dependencies: impl IntoIterator<Item = Dependency>,
        end: Option<u64>,
    ) -> Result<(), Cyclic> {
        for dependency in dependencies {
            let Dependency { from, to } = dependency;
            if let Some(because) = self.why_placed(to) {
                return Err(Cyclic([&[from.invoked, to.invoked], because].concat()));
            }
            if self.why_placed(from).is_none() {
                self.waiting.push(dependency);
            }
        }
        let window = Window::new(&self.waiting, |span| end.is_none_or(|end| span.completed < end));
        let has_place = window.order()?;
        self.waiting.retain(|dependency| !has_place[window.at(dependency.from)]);
        self.running.retain(|_, running| end.is_some_and(|end| running.completed >= end));
        for at in (0..window.spans.len()).filter(|at| has_place[*at]) {
            let Span { invoked, completed } = window.spans[at];
            if completed == u64::MAX {
                self.endless.insert(invoked, window.because(at));
            } else if end.is_some_and(|end| completed >= end) {
                self.running.insert(invoked, Running { completed, because: window.because(at) });
            }
        }
        Ok(())
    }

    /// Why an operation has a place, if it has one and is in flight.
    fn why_placed(&self, span: Span) -> Option<&[u64]> {
        let running = self.running.get(&span.invoked).map(|running| &running.because);
        running.or_else(|| self.endless.get(&span.invoked)).map(|because| &**because)
    }
}

/// Of an operation that is not due for the sake of another one.
const ITSELF: u32 = u32::MAX;

/// The operations of the dependencies at hand.
struct Window {
    /// In the order of their invocations.
    spans: Vec<Span>,
    /// Dependencies, as positions of both ends, by the second one.
    by_to: Vec<(u32, u32)>,
    /// The same, by the first one.
    by_from: Vec<(u32, u32)>,
    /// Whether each operation is to get a place.
    is_due: Vec<bool>,
    /// The operation for whose sake each is due: one that depends on it.
    due_for: Vec<u32>,
}

impl Window {
    /// With all operations due that `is_due` says, and those that come before them.
    fn new(dependencies: &[Dependency], is_due: impl Fn(&Span) -> bool) -> Window {
        let mut spans: Vec<Span> =
            dependencies.iter().flat_map(|dependency| [dependency.from, dependency.to]).collect();
        spans.sort_unstable();
        spans.dedup();
        let is_due = spans.iter().map(is_due).collect();
        let due_for = vec![ITSELF; spans.len()];
        let mut window = Window { spans, by_to: Vec::new(), by_from: Vec::new(), is_due, due_for };
        let at = |span: Span| window.at(span).to_u32();
        let mut pairs: Vec<(u32, u32)> =
            dependencies.iter().map(|dependency| (at(dependency.from), at(dependency.to))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        window.by_from.clone_from(&pairs);
        pairs.sort_unstable_by_key(|(from, to)| (*to, *from));
        window.by_to = pairs;
        window.spread();
        window
    }

    fn at(&self, span: Span) -> usize {
        self.spans.binary_search(&span).expect("one of the dependencies at hand")
    }

    /// What comes before something due is due. (What completed before it was invoked is due already.)
    fn spread(&mut self) {
        let mut reached: Vec<usize> = (0..self.spans.len()).filter(|at| self.is_due[*at]).collect();
        while let Some(at) = reached.pop() {
            for (from, _) in group(&self.by_to, at, |(_, to)| *to) {
                let from = from.to_usize();
                if !std::mem::replace(&mut self.is_due[from], true) {
                    self.due_for[from] = at.to_u32();
                    reached.push(from);
                }
            }
        }
    }

    /// The operations for whose sake one is due, up to one that has completed.
    fn because(&self, at: usize) -> Box<[u64]> {
        let next = |at: &u32| Some(self.due_for[at.to_usize()]).filter(|next| *next != ITSELF);
        std::iter::successors(next(&at.to_u32()), next).map(|at| self.spans[at.to_usize()].invoked).collect()
    }

    /// A cycle among the operations that are due and have no place, the first of which to complete is `first`: each of
    /// them comes after another one.
    fn cycle(&self, has_place: &[bool], first: usize) -> Cyclic {
        let mut path: Vec<usize> = vec![first];
        let mut seen: HashMap<usize, usize> = HashMap::default();
        loop {
            let at = path[path.len() - 1];
            if let Some(begin) = seen.insert(at, path.len() - 1) {
                // Each came after the next one of the path.
                return Cyclic(path[begin + 1..].iter().rev().map(|at| self.spans[*at].invoked).collect());
            }
            let before = group(&self.by_to, at, |(_, to)| *to).iter().map(|(from, _)| from.to_usize());
            path.push(before.into_iter().find(|from| !has_place[*from]).unwrap_or(first));
        }
    }

    /// Puts what is due in order. What has a place then.
    fn order(&self) -> Result<Vec<bool>, Cyclic> {
        let due = || (0..self.spans.len()).filter(|at| self.is_due[*at]);
        let mut has_place = vec![false; self.spans.len()];
        // How many wait for a place of each that comes before it.
        let mut before: Vec<u32> = vec![0; self.spans.len()];
        self.by_to.iter().for_each(|(_, to)| before[to.to_usize()] += 1);
        let mut by_completion: Vec<usize> = due().collect();
        by_completion.sort_unstable_by_key(|at| self.spans[*at].completed);
        let mut first_completed = by_completion.iter().copied().peekable();
        let mut ready: BinaryHeap<Reverse<usize>> = due().filter(|at| before[*at] == 0).map(Reverse).collect();
        loop {
            while first_completed.next_if(|at| has_place[*at]).is_some() {}
            let Some(first) = first_completed.peek() else { return Ok(has_place) };
            // The one invoked first: if something without a place completed before that, nothing can come next.
            let next = ready.pop().filter(|Reverse(next)| self.spans[*next].invoked < self.spans[*first].completed);
            let Some(Reverse(next)) = next else { return Err(self.cycle(&has_place, *first)) };
            has_place[next] = true;
            for (_, to) in group(&self.by_from, next, |(from, _)| *from) {
                let to = to.to_usize();
                before[to] -= 1;
                if before[to] == 0 && self.is_due[to] {
                    ready.push(Reverse(to));
                }
            }
        }
    }
}

/// Of pairs that are ordered by `of`, those where it is `at`.
fn group(pairs: &[(u32, u32)], at: usize, of: impl Fn(&(u32, u32)) -> u32) -> &[(u32, u32)] {
    let begin = pairs.partition_point(|pair| of(pair).to_usize() < at);
    let len = pairs[begin..].partition_point(|pair| of(pair).to_usize() == at);
    &pairs[begin..begin + len]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random and are the same each time.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % end.to_u64()).to_usize()
        }
    }

    /// Operations at random times, some without an end, and dependencies between some that are concurrent.
    fn random(dice: &mut Dice) -> (Vec<Span>, Vec<Dependency>) {
        let count = 2 + dice.below(7);
        let mut events: Vec<usize> = (0..2 * count).map(|event| event / 2).collect();
        for at in 0..events.len() {
            // Mostly near to where it was, so that not all are concurrent.
            let other = (at + dice.below(6)).min(events.len() - 1);
            events.swap(at, other);
        }
        let at =
            |op: usize| events.iter().enumerate().filter(move |(_, other)| **other == op).map(|(at, _)| at.to_u64());
        let spans: Vec<Span> = (0..count)
            .map(|op| {
                let ends = at(op).collect::<Vec<_>>();
                let completed = if dice.below(5) == 0 { u64::MAX } else { ends[1] };
                Span { invoked: ends[0], completed }
            })
            .collect();
        let mut dependencies = Vec::new();
        for _ in 0..dice.below(2 * count) {
            let (from, to) = (spans[dice.below(count)], spans[dice.below(count)]);
            if from != to && from.invoked < to.completed && to.invoked < from.completed {
                dependencies.push(Dependency { from, to });
            }
        }
        dependencies.sort_unstable_by_key(Dependency::known);
        (spans, dependencies)
    }

    /// Whether some operation comes before itself, worked out naively.
    fn is_cyclic(spans: &[Span], dependencies: &[Dependency]) -> bool {
        let n = spans.len();
        let mut before = vec![vec![false; n]; n];
        for (a, one) in spans.iter().enumerate() {
            for (b, other) in spans.iter().enumerate() {
                before[a][b] =
                    one.completed < other.invoked || dependencies.contains(&Dependency { from: *one, to: *other });
            }
        }
        for via in 0..n {
            for a in 0..n {
                for b in 0..n {
                    before[a][b] |= before[a][via] && before[via][b];
                }
            }
        }
        (0..n).any(|at| before[at][at])
    }

    /// The windows end at these indices, and with the history.
    fn ordered(dependencies: &[Dependency], ends: &[u64]) -> Result<(), Cyclic> {
        let (mut order, mut rest) = (Order::default(), dependencies);
        for end in ends.iter().map(|end| Some(*end)).chain([None]) {
            let len = rest.partition_point(|dependency| end.is_none_or(|end| dependency.known() < end));
            order.take(rest[..len].iter().copied(), end)?;
            rest = &rest[len..];
        }
        Ok(())
    }

    /// As the naive answer, in whatever windows the dependencies come; and a cycle is one.
    #[test]
    fn finds_every_cycle_and_no_other() {
        let mut dice = Dice(7);
        let (mut cyclic, mut acyclic) = (0, 0);
        for _ in 0..20_000 {
            let (spans, dependencies) = random(&mut dice);
            let expected = is_cyclic(&spans, &dependencies);
            let mut ends: Vec<u64> = (0..dice.below(5)).map(|_| dice.below(2 * spans.len()).to_u64()).collect();
            ends.sort_unstable();
            let all: Vec<u64> = (0..2 * spans.len().to_u64()).collect();
            for ends in [&[][..], &ends, &all] {
                let ordered = ordered(&dependencies, ends);
                assert_eq!(ordered.is_err(), expected, "{spans:?} {dependencies:?} {ends:?}");
                if let Err(Cyclic(cycle)) = ordered {
                    let span = |at: usize| *spans.iter().find(|span| span.invoked == cycle[at % cycle.len()]).unwrap();
                    for at in 0..cycle.len() {
                        let (from, to) = (span(at), span(at + 1));
                        let depends = dependencies.contains(&Dependency { from, to });
                        assert!(
                            depends || from.completed < to.invoked,
                            "{cycle:?} {spans:?} {dependencies:?} {ends:?}"
                        );
                    }
                }
            }
            cyclic += usize::from(expected);
            acyclic += usize::from(!expected);
        }
        assert!(cyclic > 3000 && acyclic > 3000, "{cyclic} {acyclic}");
    }

    /// Of a history without an end only what is in flight is kept.
    #[test]
    fn keeps_what_is_in_flight() {
        let mut order = Order::default();
        for at in 0..10_000 {
            let span = |at: u64| Span { invoked: 2 * at, completed: 2 * at + 7 };
            order.take([Dependency { from: span(at), to: span(at + 1) }], Some(2 * at + 3)).unwrap();
            assert!(order.waiting.len() + order.running.len() < 30, "{order:?}");
        }
    }
}
