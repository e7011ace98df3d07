//! Hash maps whose time a history cannot spoil: a universal hash with a random key.
//!
//! Maps are keyed by what stands in a history: processes, keys, elements, ids of writes. Whoever writes a history chooses these.
//! With a hash that they can compute they choose them so that all collide, and every look-up walks over all that is there.
//! So the hash has a key, drawn anew by each process, and what is promised is a theorem on keyed hashes, not an opinion on mixing.
//!
//! # The hash
//!
//! What is hashed is a sequence of 64-bit words `x`: an integer is one word; bytes are their number and then as many
//! words as hold them (two at the least). For up to [`WORDS`] words it is vector multiply-shift: the upper 64 bits of
//! `b + a[0] * x[0] + a[1] * x[1] + ...` modulo 2^128, where `b` and all `a` are random 128-bit numbers. Longer sequences are
//! cut into blocks of so many words. The upper 60 bits of the block's sum are its digest; the digests of all blocks but
//! the last are the coefficients of a polynomial, which is evaluated modulo 2^61 - 1 at a random place; the result is
//! one word more of the last block.
//!
//! - Up to [`WORDS`] words this is strongly universal: for any two different sequences the two hashes are
//!   independent, and each is uniform over all 2^64 numbers, the low bits as well as the upper seven (a `HashMap` of the standard
//!   library uses both). So a fixed pair has one hash with probability 2^-64, and one bucket of 2^k with probability 2^-k. Dietzfelbinger,
//!   "Universal hashing and k-wise independent random variables via integer arithmetic without primes" (STACS 1996);
//!   Thorup, "High speed hashing for integers and strings" (arXiv 1504.06804, sections 3.3 and 3.4): multiplication has to be modulo at least
//!   2^(64 + 64 - 1).
//! - Beyond, the probability that a fixed pair of sequences of at most `m` blocks has one hash is below `(m + 2) / 2^60`: digests of
//!   different blocks are equal with probability 2^-60, and different polynomials agree at no more places than their degree
//!   (Carter and Wegman, "Universal classes of hash functions", 1979; Dietzfelbinger et al., "Polynomial hash functions are
//!   reliable", 1992). The first coefficient is one, so the number of blocks is told apart, too.
//! - Two sequences are not told apart if one is the other with zeros behind it. `Hash` rules that out: no value's sequence may
//!   begin with another value's.
//! - A fixed bijection follows (see [`spread`]). It changes nothing of the above. It is there because the sum is linear:
//!   the numbers 0, 1, 2, ... would otherwise be spread evenly with most keys and in clumps with a few.
//!
//! # What is not promised
//!
//! The theorems are on histories that were written without knowledge of the key. Nothing that histcheck prints depends on the key,
//! but how long it takes may; this is not a cryptographic hash, and who can watch one process for long enough while
//! feeding it (`histcheck watch --listen`) may learn something.
//!
//! # The key
//!
//! Per process, because a key is a hundred bytes: 13 outputs of the standard library's SipHash-1-3, whose own key is
//! from the operating system ([`std::hash::RandomState`]). On targets where the standard library has no source of
//! randomness (`wasm32-unknown-unknown`) neither has this.
//!
//! Iteration over a map goes in an order that differs from run to run, so nothing that is printed may depend on it: a
//! test of the command line compares the reports of several runs byte by byte.
//!
//! # What was not chosen
//!
//! - `rustc-hash`: no key at all, and inverted by one multiplication.
//! - SipHash-1-3, the standard library's: as safe as any, but about ten times the work for an integer, and
//!   histories of a million ops look some millions of them up.
//! - `foldhash`: by its documentation only "minimally DoS-resistant"; its key is made from addresses and the clock; and for
//!   0.2 pairs are known that collide with probability 2^-27 over all keys (its issue 50).
//! - `ahash`: uses AES only where the compiler may assume it (`-C target-cpu`), else a folded multiplication; for the AES variant, too,
//!   pairs are known that collide with probability 2^-20 (its issue 292).
//! - `gxhash`: has collisions that do not depend on the key (its issue 83).

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::OnceLock;

/// The standard library's map, with this hash. Made by `default()`.
pub type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// The standard library's set, with this hash. Made by `default()`.
pub type HashSet<T> = std::collections::HashSet<T, RandomState>;

/// Words of a block.
const WORDS: usize = 4;

/// The field of the polynomial: 2^61 - 1, a prime.
const PRIME: u64 = (1 << 61) - 1;

/// What is random. Each of the numbers is independent of all others.
#[derive(Clone, Copy)]
struct Secret {
    /// For each word of a block.
    word: [u128; WORDS],
    /// For the value of the polynomial.
    blocks: u128,
    /// Where a block's sum begins.
    start: u128,
    /// Where the polynomial is evaluated.
    place: u64,
}

static SECRET: OnceLock<Secret> = OnceLock::new();

impl Secret {
    /// The one of this process.
    #[inline]
    fn of_process() -> &'static Secret {
        SECRET.get_or_init(|| Secret::random(&std::hash::RandomState::new()))
    }

    /// Numbers that nobody knows who does not know the key of `source`.
    #[cold]
    fn random(source: &impl BuildHasher) -> Secret {
        let narrow = |at: u64| source.hash_one(at);
        let wide = |at: u64| u128::from(narrow(2 * at)) << 64 | u128::from(narrow(2 * at + 1));
        Secret {
            word: [wide(0), wide(1), wide(2), wide(3)],
            blocks: wide(4),
            start: wide(5),
            place: narrow(12) & PRIME,
        }
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
    /// Shows nothing of the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RandomState(..)")
    }
}

impl BuildHasher for RandomState {
    type Hasher = UniversalHasher;

    #[inline]
    fn build_hasher(&self) -> UniversalHasher {
        UniversalHasher { secret: self.0, sum: self.0.start, at: 0, blocks: 0 }
    }
}

/// The hash of a value, for tables that are not a [`HashMap`].
#[inline]
pub fn hash_one(value: &(impl Hash + ?Sized)) -> u64 {
    RandomState::default().hash_one(value)
}

/// The hash, as far as it was fed: see the [module](self).
#[derive(Clone)]
pub struct UniversalHasher {
    secret: &'static Secret,
    /// Of the words of the last block.
    sum: u128,
    /// Words in the last block, at most [`WORDS`].
    at: usize,
    /// The polynomial of all other blocks, up to multiples of [`PRIME`]; 0 exactly if there are none.
    blocks: u64,
}

impl std::fmt::Debug for UniversalHasher {
    /// Shows nothing of the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UniversalHasher(..)")
    }
}

impl UniversalHasher {
    #[inline]
    fn word(&mut self, word: u64) {
        if self.at == WORDS {
            self.end_block();
        }
        self.sum = self.sum.wrapping_add(self.secret.word[self.at].wrapping_mul(u128::from(word)));
        self.at += 1;
    }

    /// Words that hold more than 16 bytes; the last one may begin in the one before it.
    fn long(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        if let (false, Some(last)) = (rest.is_empty(), bytes.last_chunk()) {
            self.word(u64::from_le_bytes(*last));
        }
    }

    #[inline]
    fn end_block(&mut self) {
        let digest = (self.sum >> 68) as u64;
        // `blocks` is below 2^63, so the product is below 2^124, and `sum` does not overflow.
        let product = u128::from(self.blocks.max(1)) * u128::from(self.secret.place);
        let sum = (product as u64 & PRIME) + (product >> 61) as u64 + digest;
        // Not reduced further, so it is never 0.
        self.blocks = (sum & PRIME) + (sum >> 61) + PRIME;
        self.sum = self.secret.start;
        self.at = 0;
    }
}

/// Two words that hold up to 16 bytes; with their number they are told apart.
#[inline]
fn ends(bytes: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)));
    }
    match *bytes {
        [first, .., last] => (u64::from(first) | u64::from(bytes[bytes.len() / 2]) << 8, u64::from(last)),
        [only] => (u64::from(only), 0),
        [] => (0, 0),
    }
}

/// A fixed bijection that is not linear.
#[inline]
fn spread(x: u64) -> u64 {
    let x = (x ^ (x >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ (x >> 32)
}

impl Hasher for UniversalHasher {
    #[inline]
    fn finish(&self) -> u64 {
        let sum = self.sum.wrapping_add(self.secret.blocks.wrapping_mul(u128::from(self.blocks)));
        spread((sum >> 64) as u64)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        if bytes.len() <= 16 {
            let (first, last) = ends(bytes);
            self.word(first);
            self.word(last);
        } else {
            self.long(bytes);
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
        self.word(i as u64);
        self.word((i >> 64) as u64);
    }

    #[inline]
    fn write_usize(&mut self, i: usize) {
        self.word(i as u64);
    }
}
