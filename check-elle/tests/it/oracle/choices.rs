//! A tree of choices, walked leaf by leaf: whatever asks [`Choices`] for numbers is run once for every answer there is.
//!
//! Bounded-exhaustive testing by re-execution: no states are stored, only the path to the current leaf.

/// Answers, one after another.
#[derive(Clone, Debug)]
pub(crate) enum Choices {
    /// The current leaf: to each question the answer, and how many there are; and how many were asked in this run.
    Tree { path: Vec<(usize, usize)>, asked: usize },
    /// A leaf at random: the state of a generator.
    Random(u64),
    /// A leaf by given numbers; when they are used up, the first answer to each question. This is what shrinks.
    Given(std::vec::IntoIter<u16>),
}

impl Choices {
    /// The first leaf of the tree.
    pub(crate) fn first() -> Choices {
        Choices::Tree { path: Vec::new(), asked: 0 }
    }

    /// A number less than `n`.
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

    /// One of these.
    pub(crate) fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.pick(items.len())]
    }

    /// True once in `n` times; never when given numbers are used up.
    pub(crate) fn rarely(&mut self, n: usize) -> bool {
        self.pick(n) == n - 1
    }

    /// Goes on to the next leaf of the tree; false after the last one.
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
