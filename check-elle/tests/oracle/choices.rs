//! A tree of choices, walked leaf by leaf: whatever asks [`Choices`] for numbers is run once for every answer there is.
//!
//! Bounded-exhaustive testing by re-execution: no states are stored, only the path to the current leaf.

/// Answers, one after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    /// For each question of the current run the answer, and how many there are.
    path: Vec<(usize, usize)>,
    asked: usize,
    /// Where questions are answered by a generator of numbers: its state.
    random: Option<u64>,
}

impl Choices {
    /// The leaf that a number leads to, evenly spread over the answers at each question.
    pub(crate) fn sample(number: u64) -> Choices {
        Choices { random: Some(number), ..Choices::default() }
    }

    /// A number less than `n`.
    pub(crate) fn pick(&mut self, n: usize) -> usize {
        assert!(n > 0, "there is nothing to choose from");
        if let Some(state) = &mut self.random {
            return (split_mix(state) % n as u64) as usize;
        }
        if self.asked == self.path.len() {
            self.path.push((0, n));
        }
        let (answer, of) = self.path[self.asked];
        assert_eq!(of, n, "the same questions in every run");
        self.asked += 1;
        answer
    }

    /// One of these.
    pub(crate) fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.pick(items.len())]
    }

    /// Goes on to the next leaf; false after the last one.
    pub(crate) fn advance(&mut self) -> bool {
        assert!(self.random.is_none(), "a sample is one leaf");
        self.asked = 0;
        while let Some((answer, of)) = self.path.pop() {
            if answer + 1 < of {
                self.path.push((answer + 1, of));
                return true;
            }
        }
        false
    }
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn every_leaf_is_met_once() {
    let mut choices = Choices::default();
    let mut leaves = Vec::new();
    loop {
        let first = choices.pick(3);
        let second = if first == 1 { choices.pick(2) } else { 0 };
        leaves.push((first, second));
        if !choices.advance() {
            break;
        }
    }
    assert_eq!(leaves, [(0, 0), (1, 0), (1, 1), (2, 0)]);
}
