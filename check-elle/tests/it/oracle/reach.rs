//! Reachability along edges: Warshall's closure, with one bit for each pair of nodes.

/// Reachability between numbered nodes.
pub(crate) struct Reach {
    words_per_row: usize,
    rows: Vec<u64>,
}

impl Reach {
    /// Makes a relation without edges on this number of nodes.
    pub(crate) fn new(nodes: usize) -> Reach {
        let words_per_row = nodes.div_ceil(64);
        Reach { words_per_row, rows: vec![0; words_per_row * nodes] }
    }

    pub(crate) fn add(&mut self, from: usize, to: usize) {
        self.rows[from * self.words_per_row + to / 64] |= 1 << (to % 64);
    }

    pub(crate) fn contains(&self, from: usize, to: usize) -> bool {
        self.rows[from * self.words_per_row + to / 64] >> (to % 64) & 1 != 0
    }

    /// Replaces edges by paths: computes the transitive closure.
    pub(crate) fn closed(mut self) -> Reach {
        let nodes = self.rows.len().checked_div(self.words_per_row).unwrap_or(0);
        for via in 0..nodes {
            for from in 0..nodes {
                if self.contains(from, via) {
                    for word in 0..self.words_per_row {
                        self.rows[from * self.words_per_row + word] |= self.rows[via * self.words_per_row + word];
                    }
                }
            }
        }
        self
    }
}
