//! A tree of choices, walked leaf by leaf: code that takes its numbers from [`Choices`] runs once for every
//! combination.
//!
//! Bounded-exhaustive testing by re-execution: no states are stored, only the path to the current leaf.

/// A source of chosen numbers.
#[derive(Clone, Debug)]
pub(crate) enum Choices {
    /// The current leaf: for each choice, the number chosen and the number of alternatives; and how many choices this
    /// run has made.
    Tree { path: Vec<(usize, usize)>, asked: usize },
    /// A random leaf: the state of a generator.
    Random(u64),
    /// A leaf given by numbers; when they are used up, every choice is 0. Shrinking works on these numbers.
    Given(std::vec::IntoIter<u16>),
}

impl Choices {
    /// The first leaf of the tree.
    pub(crate) fn first() -> Choices {
        Choices::Tree { path: Vec::new(), asked: 0 }
    }

    /// Chooses a number less than `n`.
    pub(crate) fn pick(&mut self, n: usize) -> usize {
        assert!(n > 0, "there is nothing to choose from");
        match self {
            Choices::Random(state) => (split_mix(state) % n as u64) as usize,
            Choices::Given(numbers) => usize::from(numbers.next().unwrap_or_default()) % n,
            Choices::Tree { path, asked } => {
                if *asked == path.len() {
                    path.push((0, n));
                }
                let (answer, of) = path[*asked];
                assert_eq!(of, n, "the same questions in every run");
                *asked += 1;
                answer
            }
        }
    }

    /// Chooses one of these items.
    pub(crate) fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.pick(items.len())]
    }

    /// Returns true once in `n` times; false when the given numbers are used up.
    pub(crate) fn rarely(&mut self, n: usize) -> bool {
        self.pick(n) == n - 1
    }

    /// Moves to the next leaf of the tree; returns false after the last one.
    pub(crate) fn advance(&mut self) -> bool {
        let Choices::Tree { path, asked } = self else { return false };
        *asked = 0;
        while let Some((answer, of)) = path.pop() {
            if answer + 1 < of {
                path.push((answer + 1, of));
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
