//! Compressed sparse rows: lists of numbers by row, in two flat arrays.

use history_core::cast::Cast as _;

/// Lists of numbers, one for each row.
#[derive(Debug, Default)]
pub(crate) struct Csr {
    /// Nondecreasing, with one entry more than there are rows; the last is `items.len()`. If there are no rows, it is
    /// empty or contains only 0.
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Csr {
    /// Creates the lists of all `(row, item)` that `each` emits, in this order. Calls `each` twice.
    pub(crate) fn new(rows: usize, each: impl Fn(&mut dyn FnMut(usize, u32))) -> Csr {
        let mut offsets = vec![0_u32; rows + 1];
        each(&mut |row, _| offsets[row + 1] += 1);
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let mut next = offsets.clone();
        let mut items = vec![0; offsets[rows].to_usize()];
        each(&mut |row, item| {
            items[next[row].to_usize()] = item;
            next[row] += 1;
        });
        Csr { offsets, items }
    }

    /// The list of a row.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[u32] {
        &self.items[self.range(row)]
    }

    /// The range of a row's list among all items.
    #[inline]
    pub(crate) fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row].to_usize()..self.offsets[row + 1].to_usize()
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// A topological order of the rows, if each item is an arc from its row. Rows on and after cycles are missing.
    pub(crate) fn topological(&self) -> Vec<u32> {
        let mut waits = vec![0_u32; self.len()];
        for item in &self.items {
            waits[item.to_usize()] += 1;
        }
        let mut order: Vec<u32> = (0..self.len().to_u32()).filter(|row| waits[row.to_usize()] == 0).collect();
        let mut at = 0;
        while at < order.len() {
            for item in self.row(order[at].to_usize()) {
                waits[item.to_usize()] -= 1;
                if waits[item.to_usize()] == 0 {
                    order.push(*item);
                }
            }
            at += 1;
        }
        order
    }

    /// A short cycle, as rows; empty if there is none. It is the shortest one through some of the rows that are on
    /// cycles.
    pub(crate) fn cycle(&self) -> Vec<u32> {
        const TRIES_MAX: usize = 256;
        let order = self.topological();
        if order.len() == self.len() {
            return Vec::new();
        }
        let mut is_left = vec![true; self.len()];
        for row in &order {
            is_left[row.to_usize()] = false;
        }
        let mut best: Vec<u32> = Vec::new();
        let mut search = Search::new(self.len());
        let starts = self.on_a_cycle(&is_left).into_iter().chain((0..self.len()).filter(|row| is_left[*row]));
        for start in starts.take(TRIES_MAX) {
            let enough = if best.is_empty() { usize::MAX } else { best.len() - 1 };
            if let Some(found) = search.cycle_through(self, start, &is_left, enough) {
                best = found;
            }
            if best.len() == 2 {
                break;
            }
        }
        best
    }

    /// The rows of one cycle, given rows that are each reached from another one of them.
    fn on_a_cycle(&self, is_left: &[bool]) -> Vec<usize> {
        let mut before = vec![u32::MAX; self.len()];
        for row in (0..self.len()).filter(|row| is_left[*row]) {
            for item in self.row(row).iter().filter(|item| is_left[item.to_usize()]) {
                before[item.to_usize()] = row.to_u32();
            }
        }
        let Some(mut at) = is_left.iter().position(|left| *left) else { return Vec::new() };
        let mut met = vec![false; self.len()];
        while !met[at] {
            met[at] = true;
            at = before[at].to_usize();
        }
        let mut cycle = vec![at];
        let mut next = before[at].to_usize();
        while next != at {
            cycle.push(next);
            next = before[next].to_usize();
        }
        cycle
    }
}

/// Breadth-first searches, with reused buffers.
struct Search {
    came_from: Vec<u32>,
    touched: Vec<u32>,
}

impl Search {
    fn new(rows: usize) -> Search {
        Search { came_from: vec![u32::MAX; rows], touched: Vec::new() }
    }

    /// A shortest cycle through a row, of at most `longest` rows.
    fn cycle_through(&mut self, graph: &Csr, start: usize, may: &[bool], longest: usize) -> Option<Vec<u32>> {
        for row in self.touched.drain(..) {
            self.came_from[row.to_usize()] = u32::MAX;
        }
        let mut waiting = vec![start.to_u32()];
        let mut length = 1;
        while !waiting.is_empty() && length <= longest {
            let mut next = Vec::new();
            for row in waiting {
                for item in graph.row(row.to_usize()).iter().filter(|item| may[item.to_usize()]) {
                    if item.to_usize() == start {
                        return Some(self.back(row, start));
                    }
                    if self.came_from[item.to_usize()] == u32::MAX {
                        self.came_from[item.to_usize()] = row;
                        self.touched.push(*item);
                        next.push(*item);
                    }
                }
            }
            waiting = next;
            length += 1;
        }
        None
    }

    fn back(&self, from: u32, start: usize) -> Vec<u32> {
        let mut cycle = vec![from];
        while cycle[cycle.len() - 1].to_usize() != start {
            cycle.push(self.came_from[cycle[cycle.len() - 1].to_usize()]);
        }
        cycle.reverse();
        cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(rows: usize, arcs: &[(usize, u32)]) -> Csr {
        Csr::new(rows, |emit| arcs.iter().for_each(|(from, to)| emit(*from, *to)))
    }

    #[test]
    fn the_shortest_cycle_is_found_behind_a_longer_one() {
        let long: Vec<(usize, u32)> = (0..50).map(|at| (at, (at.to_u32() + 1) % 50)).collect();
        let mut arcs = long.clone();
        assert_eq!(graph(60, &arcs).cycle().len(), 50);
        arcs.extend([(49, 50), (50, 51), (51, 52), (52, 51)]);
        assert_eq!(graph(60, &arcs).cycle(), [51, 52]);
    }

    #[test]
    fn a_path_of_a_million_rows_has_an_order_and_no_cycle() {
        let n = 1_000_000;
        let path = Csr::new(n, |emit| (1..n).for_each(|at| emit(at, at.to_u32() - 1)));
        assert_eq!(path.topological().first(), Some(&(n.to_u32() - 1)));
        assert_eq!(path.topological().len(), n);
        assert!(path.cycle().is_empty());
    }
}
