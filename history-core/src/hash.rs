//! Hash maps that a hostile history cannot slow down: a universal hash with a random key.
//!
//! The keys of maps come from a history: processes, keys, elements, ids of writes. Whoever writes a history chooses
//! these. If the hash could be computed in advance, they could choose keys that all collide, and every look-up would
//! compare with all entries. The hash therefore has a random key, new in each process, and its guarantee is a theorem.
//!
//! # The hash
//!
//! The input is a sequence of 64-bit words `x`. An integer is one word, as are up to seven bytes; up to 16 bytes are
//! three words: their number, and two that contain them. For up to eight words the hash is vector multiply-shift: the
//! upper 64 bits of `b + a[0] * x[0] + a[1] * x[1] + ...` modulo 2^128, where `b` and all `a` are random 128-bit
//! numbers. Longer sequences are cut into blocks of eight words. The upper 60 bits of a block's sum are its digest. The
//! digests of all blocks but the last are the coefficients of a polynomial, which is evaluated modulo 2^61 - 1 at a
//! random place; its value is one additional word of the last block. For more than 16 bytes, such a hash with its own
//! random numbers is the word after their number.
//!
//! - For up to eight words this is strongly universal: the hashes of any two different sequences are independent, and
//!   each is uniform over all 2^64 numbers, including the low bits and the upper seven (a `HashMap` uses both). So two
//!   sequences have the same hash with probability 2^-64, and the same one of 2^k buckets with probability 2^-k.
//!   Dietzfelbinger, "Universal hashing and k-wise independent random variables via integer arithmetic without primes"
//!   (STACS 1996); Thorup, "High speed hashing for integers and strings" (arXiv 1504.06804).
//! - For longer sequences, two of at most `m` blocks have the same hash with probability below `(m + 2) / 2^60`:
//!   digests of different blocks are equal with probability 2^-60, and different polynomials agree at no more places
//!   than their degree (Carter and Wegman, "Universal classes of hash functions", 1979). The first coefficient is one,
//!   so the number of blocks is distinguished, too. More than 16 bytes add the same for their own blocks, of 64 bytes
//!   each.
//! - Two sequences are not distinguished if one is the other followed by zeros. The contract of `Hash` excludes this
//!   case: no value's sequence may be a prefix of another value's.
//! - A fixed bijection follows, which does not affect the above. It is needed because sums are linear: with most keys
//!   they distribute 0, 1, 2, ... evenly, but with one key in a hundred they form clusters, and a search of a full
//!   table takes more than twice as many steps, and up to twenty times. With the bijection, no key in 3,000 took 1.7
//!   times as many, on rows and on grids.
//!
//! # What is not promised
//!
//! The theorem applies to pairs of values chosen without knowledge of the key, and to numbers that are truly random;
//! these are as random as `SipHash` makes them. The output of histcheck does not depend on the key, but its running
//! time may. This is not a cryptographic hash: a client that sends data to one process for long and measures its time
//! (`histcheck watch --listen`) may learn something about the key.
//!
//! # The key
//!
//! There is one key per process, because it takes 336 bytes: outputs of the standard library's `SipHash-1-3`, whose own
//! key comes from the operating system ([`std::hash::RandomState`]). On targets where the standard library has no
//! source of randomness (`wasm32-unknown-unknown`) this key is not random either.
//!
//! The order in a map differs from run to run, so no output may depend on it: a test of the command line compares the
//! reports of several runs byte by byte.
//!
//! # What was not chosen
//!
//! - `rustc-hash`: it has no key, and one multiplication inverts it.
//! - `SipHash-1-3`, the hash of the standard library's maps: as safe as any. Looking up an integer took 9 ns with it, 2
//!   with this hash and 1.4 with `rustc-hash`; a string of 40 bytes took 22, 14 and 8.
//! - `foldhash`: "minimally DoS-resistant" by its documentation; its key is derived from addresses and the clock; for
//!   version 0.2, there are known pairs that collide under one key in 2^27 (its issue 50).
//! - `ahash`: it uses AES only where the compiler may assume it (`-C target-cpu`), else a folded multiplication; also
//!   with AES, there are known pairs that collide under one key in 2^20 (its issue 292).
//! - `gxhash`: has collisions that do not depend on the key (its issue 83).

use crate::cast::{Cast as _, low_u64};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::OnceLock;

/// The standard library's map with this hash. Create it with `default()`.
pub type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// The standard library's set with this hash. Create it with `default()`.
pub type HashSet<T> = std::collections::HashSet<T, RandomState>;

/// Words of a block.
const WORDS: usize = 8;

/// The field of the polynomial: 2^61 - 1, a prime.
const PRIME: u64 = (1 << 61) - 1;

/// The random numbers for one sequence of words. Each is independent of all others.
#[derive(Clone, Copy)]
struct Sums {
    /// The factor for each word of a block.
    word: [u128; WORDS],
    /// The initial value of a block's sum.
    start: u128,
    /// The point at which the polynomial is evaluated.
    place: u64,
}

/// The secret key of the hash.
#[derive(Clone, Copy)]
struct Secret {
    /// The numbers for the words of a value.
    value: Sums,
    /// The factor for the polynomial of a value's blocks, which is one word of its last block.
    blocks: u128,
    /// The numbers for bytes, which are hashed to words of a value.
    bytes: Sums,
}

static SECRET: OnceLock<Secret> = OnceLock::new();

impl Secret {
    /// The key of this process.
    #[inline]
    fn of_process() -> &'static Secret {
        SECRET.get_or_init(|| Secret::random(&std::hash::RandomState::new()))
    }

    /// Numbers that depend on the secret key of `source`.
    #[cold]
    fn random(source: &impl BuildHasher) -> Secret {
        let mut at = 0_u64;
        let mut narrow = || {
            at += 1;
            source.hash_one(at)
        };
        let mut wide = || u128::from(narrow()) << 64 | u128::from(narrow());
        let mut sums = || Sums { word: std::array::from_fn(|_| wide()), start: wide(), place: low_u64(wide()) & PRIME };
        Secret { value: sums(), bytes: sums(), blocks: wide() }
    }
}

/// The key of this process, as maps hold it.
#[derive(Clone, Copy)]
pub struct RandomState(&'static Secret);

impl Default for RandomState {
    #[inline]
    fn default() -> RandomState {
        RandomState(Secret::of_process())
    }
}

impl std::fmt::Debug for RandomState {
    /// Does not reveal the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RandomState(..)")
    }
}

impl BuildHasher for RandomState {
    type Hasher = UniversalHasher;

    #[inline]
    fn build_hasher(&self) -> UniversalHasher {
        UniversalHasher { secret: self.0, sum: self.0.value.start, at: 0, blocks: 0 }
    }
}

/// The hash of a value, for tables that are not a [`HashMap`].
#[inline]
pub fn hash_one(value: &(impl Hash + ?Sized)) -> u64 {
    RandomState::default().hash_one(value)
}

/// The state of the hash: see the [module](self).
#[derive(Clone)]
pub struct UniversalHasher {
    secret: &'static Secret,
    /// The sum of the words of the last block so far.
    sum: u128,
    /// The number of words in the last block, at most [`WORDS`].
    at: usize,
    /// The polynomial of all other blocks, up to multiples of [`PRIME`]; 0 exactly if there are none.
    blocks: u64,
}

impl std::fmt::Debug for UniversalHasher {
    /// Does not reveal the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UniversalHasher(..)")
    }
}

impl UniversalHasher {
    #[inline]
    fn word(&mut self, word: u64) {
        let Sums { word: factors, start, place } = &self.secret.value;
        if self.at == WORDS {
            self.blocks = end_block(self.blocks, *place, self.sum);
            self.sum = *start;
            self.at = 0;
        }
        // `at` is below `WORDS`; the remainder only removes the bounds check.
        self.sum = add(self.sum, factors[self.at % WORDS], word);
        self.at += 1;
    }
}

/// Adds the digest of a full block to the polynomial. The result is never 0, because it is not reduced further.
#[cold]
fn end_block(blocks: u64, place: u64, sum: u128) -> u64 {
    horner(blocks.max(1), place, sum) + PRIME
}

#[inline]
fn add(sum: u128, factor: u128, word: u64) -> u128 {
    sum.wrapping_add(factor.wrapping_mul(u128::from(word)))
}

/// Adds one coefficient, the digest of a block with this sum: `value * place + digest`, below 2^62 and modulo
/// [`PRIME`].
fn horner(value: u64, place: u64, sum: u128) -> u64 {
    // `value` is below 2^63, so the product is below 2^124, and `sum` does not overflow.
    let product = u128::from(value) * u128::from(place);
    let sum = (low_u64(product) & PRIME) + (product >> 61).to_u64() + (sum >> 68).to_u64();
    (sum & PRIME) + (sum >> 61)
}

/// Packs up to seven bytes into a word, in order.
#[inline]
fn short(bytes: &[u8]) -> u64 {
    let (bits, half) = (8 * bytes.len(), bytes.len() / 2);
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // For 5 to 7 bytes, the two halves overlap and have the same bytes there.
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (bits - 32);
    }
    match *bytes {
        [first, .., last] => u64::from(first) | u64::from(bytes[half]) << (8 * half) | u64::from(last) << (bits - 8),
        [only] => u64::from(only),
        [] => 0,
    }
}

/// A hash of more than 16 bytes, for comparison with hashes of equally many bytes.
#[inline(never)]
fn digest(bytes: &[u8], Sums { word: factors, start, place }: &Sums) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<{ 8 * WORDS }>();
    let sum_of = |bytes: &[u8]| {
        let words = bytes.as_chunks().0.iter().zip(factors);
        words.fold(*start, |sum, (word, factor)| add(sum, *factor, u64::from_le_bytes(*word)))
    };
    let value = blocks.iter().fold(0, |value, block| horner(value, *place, sum_of(block)));
    let mut sum = sum_of(rest);
    if let (1.., Some(last)) = (rest.len() % 8, bytes.last_chunk()) {
        // The last eight bytes may begin in the previous word.
        sum = add(sum, factors[rest.len() / 8], u64::from_le_bytes(*last));
    }
    if blocks.is_empty() { (sum >> 64).to_u64() } else { horner(value, *place, sum) }
}

/// A fixed bijection that is not linear.
#[inline]
fn spread(x: u64) -> u64 {
    (x ^ (x >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Hasher for UniversalHasher {
    #[inline]
    fn finish(&self) -> u64 {
        let sum = self.sum.wrapping_add(self.secret.blocks.wrapping_mul(u128::from(self.blocks)));
        spread((sum >> 64).to_u64())
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let length = bytes.len().to_u64();
        let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
            self.word(length << 56 | short(bytes));
            return;
        };
        self.word(0xff << 56 | length);
        if bytes.len() <= 16 {
            self.word(u64::from_le_bytes(*first));
            self.word(u64::from_le_bytes(*last));
        } else {
            self.word(digest(bytes, &self.secret.bytes));
        }
    }

    #[inline]
    fn write_u8(&mut self, i: u8) {
        self.word(u64::from(i));
    }

    #[inline]
    fn write_u16(&mut self, i: u16) {
        self.word(u64::from(i));
    }

    #[inline]
    fn write_u32(&mut self, i: u32) {
        self.word(u64::from(i));
    }

    #[inline]
    fn write_u64(&mut self, i: u64) {
        self.word(i);
    }

    #[inline]
    fn write_u128(&mut self, i: u128) {
        self.word(low_u64(i));
        self.word((i >> 64).to_u64());
    }

    #[inline]
    fn write_usize(&mut self, i: usize) {
        self.word(i.to_u64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::hash::{BuildHasherDefault, DefaultHasher};

    /// Returns a state whose key is the same in each run.
    fn state(number: u64) -> RandomState {
        struct Source(u64);
        impl BuildHasher for Source {
            type Hasher = DefaultHasher;
            fn build_hasher(&self) -> DefaultHasher {
                let mut hasher = BuildHasherDefault::<DefaultHasher>::default().build_hasher();
                hasher.write_u64(self.0);
                hasher
            }
        }
        RandomState(Box::leak(Box::new(Secret::random(&Source(number)))))
    }

    #[test]
    fn sequences_that_differ_anywhere_have_different_hashes() {
        let state = state(1);
        let mut hashes = BTreeSet::new();
        let mut insert = |bytes: &[u8]| assert!(hashes.insert(state.hash_one(bytes)), "{bytes:?}");
        for length in 0..150 {
            let mut bytes = vec![0; length];
            insert(&bytes);
            for at in 0..length {
                bytes[at] = 1;
                insert(&bytes);
                bytes[at] = 0x80;
                insert(&bytes);
                bytes[at] = 0;
            }
        }
        // Compares all words of several blocks. The number of words comes first, because no sequence may be a prefix of
        // another one.
        let words = (0_u64..20).flat_map(|length| (0..length).map(move |at| (length, at)));
        let hash = |(length, place): (u64, u64)| {
            let mut hasher = state.build_hasher();
            hasher.write_u64(length | 1 << 32);
            (0..length).for_each(|at| hasher.write_u64(u64::from(at == place)));
            hasher.finish()
        };
        assert!(words.map(hash).all(|hash| hashes.insert(hash)));
    }

    #[test]
    fn a_pair_shares_a_bucket_or_a_tag_with_few_keys() {
        // Maps use the low bits to choose a bucket, and the upper seven as a tag that is compared first.
        let pairs: [(&[u64], &[u64]); 6] = [
            (&[0], &[1]),
            (&[0], &[1 << 63]),
            (&[0, 0], &[1, u64::MAX]),
            (&[5, 6], &[6, 5]),
            (&[0; 9], &[0, 0, 1, 0, 0, 0, 0, 0, 0]),
            (&[0; 9], &[0, 0, 0, 0, 0, 0, 0, 0, 1 << 40]),
        ];
        let keys = 20_000_u64;
        let states: Vec<RandomState> = (0..keys).map(state).collect();
        for (one, other) in pairs {
            let hash = |state: &RandomState, words: &[u64]| {
                let mut hasher = state.build_hasher();
                for word in words {
                    hasher.write_u64(*word);
                }
                hasher.finish()
            };
            let differences: Vec<u64> = states.iter().map(|state| hash(state, one) ^ hash(state, other)).collect();
            let share = |bits: u64| differences.iter().filter(|difference| **difference & bits == 0).count().to_u64();
            // The expected number is 156, with a standard deviation of 12.
            for bits in [0x7f, 0x7f << 57] {
                assert!((90..230).contains(&share(bits)), "{one:?} and {other:?}: {}", share(bits));
            }
        }
    }

    #[test]
    fn numbers_that_flood_one_key_are_harmless_under_another() {
        let (known, unknown) = (state(1), state(2));
        let bucket = |state: &RandomState, number: &u64| state.hash_one(number) % (1 << 11);
        let flooding: Vec<u64> = (0..).filter(|number| bucket(&known, number) == 0).take(2_000).collect();
        let buckets: BTreeSet<u64> = flooding.iter().map(|number| bucket(&unknown, number)).collect();
        // The expected number is 1,277.
        assert!(buckets.len() > 1_150, "{}", buckets.len());
    }

    #[test]
    fn equal_values_have_one_hash_in_one_process() {
        assert_eq!(hash_one("a"), hash_one(&String::from("a")));
        assert_ne!(hash_one(&1), state(1).hash_one(1));
        assert!(!format!("{:?}", RandomState::default()).contains(char::is_numeric));
    }
}
