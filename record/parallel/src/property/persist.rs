//! Seeds of failures, kept in proptest's file of regressions next to the source.

use super::program::Program;
use proptest::test_runner::{FailurePersistence as _, FileFailurePersistence, PersistedSeed};
use std::fmt::Debug;

/// The place where proptest stores seeds by default: a folder `proptest-regressions` next to `src`. For a source file
/// outside of a `src` folder, where proptest would store none, the seeds are stored next to that file.
fn file(source: &str) -> FileFailurePersistence {
    if std::path::Path::new(source).components().any(|part| part.as_os_str() == "src") {
        FileFailurePersistence::default()
    } else {
        FileFailurePersistence::WithSource("proptest-regressions")
    }
}

/// The seeds that are kept for a source file.
pub(crate) fn load(source: &'static str) -> Vec<u64> {
    file(source).load_persisted_failures2(Some(source)).iter().filter_map(|seed| from_text(&seed.to_string())).collect()
}

/// Stores a seed, with the shrunk program as a comment.
pub(crate) fn save<C: Debug>(source: &'static str, seed: u64, program: &Program<C>) {
    if let Ok(persisted) = to_text(seed).parse::<PersistedSeed>() {
        file(source).save_persisted_failure2(Some(source), persisted, program);
    }
}

/// A seed in proptest's format for its generator `ChaCha`: 32 bytes in hexadecimal.
fn to_text(seed: u64) -> String {
    // The least significant byte comes first.
    format!("cc {:016x}{:048x}", seed.swap_bytes(), 0)
}

/// Reads a seed of this crate. Seeds of other tests in the same file are converted to a number as well.
fn from_text(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("cc ")?.trim();
    let words = (0..4).map(|at| u64::from_str_radix(hex.get(16 * at..16 * at + 16)?, 16).ok());
    words.sum_xor()
}

trait SumXor {
    fn sum_xor(self) -> Option<u64>;
}

impl<I: Iterator<Item = Option<u64>>> SumXor for I {
    fn sum_xor(mut self) -> Option<u64> {
        self.try_fold(0, |sum, word| Some(sum ^ word?.swap_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::{from_text, to_text};
    use proptest::test_runner::PersistedSeed;

    #[test]
    fn a_written_seed_is_parsed_to_the_same_seed() {
        for seed in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
            let persisted: PersistedSeed = to_text(seed).parse().unwrap();
            assert_eq!(from_text(&persisted.to_string()), Some(seed));
        }
        assert_eq!(from_text("xs 1 2 3 4"), None);
    }
}
