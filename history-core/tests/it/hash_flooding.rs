//! Hash maps with keys that were chosen to collide: they need no more comparisons than with other keys.

use history_core::hash::HashMap;
use std::cell::Cell;
use std::collections::HashMap as StdHashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};

/// The number of keys of one map.
const KEYS: usize = 20_000;

thread_local! {
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

/// A key that counts how often it is compared.
#[derive(Clone, Eq, Debug)]
struct Counted<K>(K);

impl<K: PartialEq> PartialEq for Counted<K> {
    fn eq(&self, other: &Counted<K>) -> bool {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0 == other.0
    }
}

impl<K: Hash> Hash for Counted<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// The number of comparisons while all keys, which differ, are inserted and then looked up.
fn comparisons<K: Hash + Eq + Clone, S: BuildHasher + Default>(keys: &[K]) -> u64 {
    let mut map: StdHashMap<Counted<K>, usize, S> = StdHashMap::default();
    COMPARISONS.set(0);
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(map.insert(Counted(key.clone()), at), None);
    }
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(map.get(&Counted(key.clone())), Some(&at));
    }
    COMPARISONS.get()
}

/// The hash of this project's maps.
type Ours = <HashMap<i64, u32> as Parts>::State;

trait Parts {
    type State;
}

impl<K, V, S> Parts for StdHashMap<K, V, S> {
    type State = S;
}

/// rustc-hash 2, for one integer or one string of 64 bytes. The keys below collide under it.
#[derive(Default)]
struct RustcHash(u64);

/// The multiplier of rustc-hash.
const K: u64 = 0xf135_7aea_2e62_a9c5;
/// The initial value for bytes, and the number that is mixed into every second word.
const SEEDS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];
const SECOND: u64 = 0xa409_3822_299f_31d0;

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn words(bytes: &[u8; 64]) -> [u64; 8] {
    std::array::from_fn(|at| u64::from_le_bytes(*bytes[8 * at..].first_chunk().unwrap()))
}

impl Hasher for RustcHash {
    fn write(&mut self, bytes: &[u8]) {
        let words = words(bytes.try_into().unwrap());
        let [mut a, mut b] = SEEDS;
        for pair in words[..6].chunks(2) {
            (a, b) = (b, fold(a ^ pair[0], SECOND ^ pair[1]));
        }
        self.write_u64(fold(a ^ words[6], b ^ words[7]) ^ 64);
    }

    fn write_u8(&mut self, i: u8) {
        self.write_u64(u64::from(i));
    }

    fn write_u64(&mut self, i: u64) {
        self.0 = self.0.wrapping_add(i).wrapping_mul(K);
    }

    fn write_i64(&mut self, i: i64) {
        self.write_u64(i.cast_unsigned());
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

/// The multiplicative inverse of `odd` modulo 2^64.
fn inverse(odd: u64) -> u64 {
    // Each step doubles the number of correct bits. An odd number is its own inverse modulo 8.
    (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))))
}

/// Integers whose hashes have 26 low bits and seven high bits in common: one bucket, one tag.
fn flooding_integers() -> Vec<i64> {
    let hashes = (0..KEYS as u64).map(|number| (number << 26).rotate_right(26));
    hashes.map(|hash| hash.wrapping_mul(inverse(K)).cast_signed()).collect()
}

/// Eight letters and digits, which are one word.
fn letters(mut number: u64) -> [u8; 8] {
    std::array::from_fn(|_| {
        let letter = b"abcdefghijklmnopqrstuvwxyz012345"[(number % 32) as usize];
        number /= 32;
        letter
    })
}

/// Strings of 64 letters and digits that have the same hash: words that choose a state, the word that cancels it, so
/// that the next one is multiplied by zero, and any word.
fn flooding_strings() -> Vec<String> {
    let word = |number: u64| u64::from_le_bytes(letters(number));
    let state = |number: u64| fold(SEEDS[0] ^ word(number), SECOND ^ word(0));
    let is_text = |word: u64| word.to_le_bytes().iter().all(u8::is_ascii_alphanumeric);
    let chosen = (0..1 << 32).find(|number| is_text(state(*number))).unwrap();
    let prefix = [letters(chosen), letters(0), letters(0), letters(0), state(chosen).to_le_bytes()];
    let string = |number| [&prefix.concat()[..], &letters(number), &letters(0), &letters(0)].concat();
    (0..KEYS as u64).map(|number| String::from_utf8(string(number)).unwrap()).collect()
}

/// Pseudorandom numbers: a bijection of the numbers from 0.
fn random_integers() -> impl Iterator<Item = i64> {
    (1..=KEYS as u64).map(|number| {
        let number = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (number ^ number >> 29).cast_signed()
    })
}

/// Asserts that keys chosen to collide need about as many comparisons as random keys.
fn assert_harmless<K: Hash + Eq + Clone>(flooding: &[K], random: &[K]) {
    let (flooding, random) = (comparisons::<K, Ours>(flooding), comparisons::<K, Ours>(random));
    // A look-up compares with the key itself, and with another key only if seven bits of their hashes are equal.
    assert!(random < 3 * KEYS as u64, "{random}");
    assert!(4 * flooding < 5 * random, "{flooding} comparisons, and {random} of random keys");
}

#[test]
fn integers_that_flood_rustc_hash_are_harmless() {
    let flooding = flooding_integers();
    assert_harmless(&flooding, &random_integers().collect::<Vec<_>>());
    let pair = |int: i64| (0_i64, int);
    let pairs: Vec<(i64, i64)> = flooding.iter().copied().map(pair).collect();
    assert_harmless(&pairs, &random_integers().map(pair).collect::<Vec<_>>());
}

#[test]
fn strings_that_flood_rustc_hash_are_harmless() {
    let random = |int: i64| [letters(int.cast_unsigned() >> 8); 8].concat();
    let random: Vec<String> = random_integers().map(|int| String::from_utf8(random(int)).unwrap()).collect();
    assert_harmless(&flooding_strings(), &random);
}

#[test]
fn the_flooding_keys_do_flood_rustc_hash() {
    // 2,000 keys are enough, because each is compared with all keys before it.
    let all = 2_000_u64;
    let (integers, strings) = (flooding_integers(), flooding_strings());
    assert!(comparisons::<_, BuildHasherDefault<RustcHash>>(&integers[..all as usize]) > all * (all - 1) / 2);
    assert!(comparisons::<_, BuildHasherDefault<RustcHash>>(&strings[..all as usize]) > all * (all - 1) / 2);
    let hash = |text: &String| BuildHasherDefault::<RustcHash>::default().hash_one(text.as_str());
    assert!(strings.iter().all(|text| hash(text) == hash(&strings[0])));
}
