//! A fuzzer that any toolchain can build: mutates the seeds, and keeps the inputs for which a target returns a new
//! account.
//!
//!     mutate SECONDS [SEED] [TARGET...]
//!
//! It has less information than libFuzzer, which observes the branches taken, but it runs everywhere. On a panic it
//! writes the input to `artifacts/TARGET/` and prints how to run it alone: `mutate --run TARGET FILE`.

use histcheck_fuzz_targets::{TARGETS, Target};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, panic};

/// The maximum length of an input in bytes.
const BYTES_MAX: usize = 2000;

/// The maximum number of inputs that are kept.
const POOL_MAX: usize = 20_000;

/// Parts of histories.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "#{",
    "#_",
    "#a ",
    "#jepsen.history.Op",
    "##NaN",
    "##Inf",
    "\"",
    "\\",
    "\\u00e9",
    "\\ud83d",
    "\\n",
    ":",
    ",",
    ";",
    "\n",
    "\r\n",
    "\t",
    " ",
    "nil",
    "null",
    "true",
    "0",
    "-1",
    "01",
    "1.5",
    "1e9",
    "1e999",
    "12N",
    "1/2",
    "0x1f",
    "1.5M",
    "NaN",
    "-Infinity",
    "123456789012345678",
    "1234567890123456789",
    ":type",
    ":ok",
    ":invoke",
    ":info",
    ":process",
    ":index 1",
    "\"type\":\"ok\"",
    "\"type\":\"invoke\"",
    "\"process\":0",
    "\"value\":",
    ":value ",
    "[:append 1 2]",
    "[:r 1 [1 2]]",
    "[\"append\",1,2]",
    "{:type :ok}",
    ":f :read",
    ":f :add",
    ":f :enqueue",
    ":f :dequeue",
    ":f :drain",
    ":f :generate",
    "{0 1, 1 -1}",
    "#{1 2}",
    "{\"type\":\"ok\"}",
    "{:process 0 :type :invoke}",
    "{:process 0 :type :ok}",
    "0\t:invoke\t:read\tnil\n",
    "0\t:ok\t:read\t3\t:e\n",
    "{\"client\":0,\"call\":1,\"return\":2,\"input\":\"r\"}\n",
    "{\"client\":0,\"call\":2,\"input\":[\"w\",1,2],",
    "\"client\":",
    "\"call\":",
    "\"return\":",
    "\"input\":",
    "\"output\":",
    "\"key\":",
    "INFO  a.b - ",
    ":timed-out",
    "\u{feff}",
    "é",
    "😀",
    "\0",
    "[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16]",
];

/// The xorshift generator of Marsaglia.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [run, target, file] = &args[..]
        && run == "--run"
    {
        let (_, target) = TARGETS.iter().find(|(name, _)| name == target).expect("a target");
        println!("{}", target(&fs::read(file).expect("a file")));
        return ExitCode::SUCCESS;
    }
    let Some(seconds) = args.first().and_then(|text| text.parse().ok()) else {
        eprintln!("usage: mutate SECONDS [SEED] [TARGET...], or mutate --run TARGET FILE");
        return ExitCode::FAILURE;
    };
    let seed = args.get(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let names = args.get(2..).unwrap_or_default();
    let targets: Vec<&Target> =
        TARGETS.iter().filter(|(name, _)| names.is_empty() || names.iter().any(|n| n == name)).collect();
    let each = Duration::from_secs_f64(seconds).div_f64(targets.len().max(1) as f64);
    let ok = targets.iter().all(|target| fuzz(target, each, seed));
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Fuzzes one target. Returns true if nothing was found.
fn fuzz((name, target): &Target, time: Duration, seed: u64) -> bool {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut pool = seeds(&here.join("seeds").join(name));
    assert!(!pool.is_empty(), "no seeds for {name}");
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut known = HashSet::new();
    let end = Instant::now() + time;
    let mut runs = 0_u64;
    let seeded = pool.len();
    while Instant::now() < end || runs < seeded as u64 {
        let input = if runs < seeded as u64 { pool[runs as usize].clone() } else { mutated(&pool, &mut random) };
        runs += 1;
        let Ok(account) = panic::catch_unwind(|| target(&input)) else {
            let path = save(&here.join("artifacts").join(name), &input);
            eprintln!("{name}: found after {runs} runs: {:?}", String::from_utf8_lossy(&input));
            eprintln!("replay: mutate --run {name} {}", path.display());
            return false;
        };
        if known.insert(hash(account.as_bytes())) {
            if pool.len() < POOL_MAX {
                pool.push(input);
            } else {
                let at = random.below(pool.len());
                pool[at] = input;
            }
        }
    }
    println!("{name}: {runs} runs, {} kinds of inputs, nothing found", known.len());
    true
}

fn seeds(dir: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| fs::read(path).ok()).collect()
}

fn save(dir: &Path, input: &[u8]) -> PathBuf {
    let path = dir.join(format!("crash-{:016x}", hash(input)));
    if let Err(error) = fs::create_dir_all(dir).and_then(|()| fs::write(&path, input)) {
        eprintln!("{}: {error}", path.display());
    }
    path
}

/// The hash of Fowler, Noll and Vo.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

/// One of the inputs, changed in a few places.
fn mutated(pool: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    // Half of the time, this is a recent input.
    let at =
        if random.below(2) == 0 { random.below(pool.len()) } else { pool.len() - 1 - random.below(pool.len().min(50)) };
    let mut input = pool[at].clone();
    for _ in 0..=random.below(4) {
        let (a, b) = (random.below(input.len() + 1), random.below(input.len() + 1));
        let (start, end) = (a.min(b), a.max(b));
        match random.below(8) {
            0 if !input.is_empty() => input[start.min(end.saturating_sub(1))] ^= 1 << random.below(8),
            1 if !input.is_empty() => input[start.min(end.saturating_sub(1))] = random.next() as u8,
            2 => drop(input.drain(start..end.min(start + 1 + random.below(8)))),
            3 => drop(input.drain(start..end)),
            4 => {
                let copy = input[start..end].to_vec();
                input.splice(start..start, copy);
            }
            5 => {
                let other = &pool[random.below(pool.len())];
                let from = random.below(other.len() + 1);
                input.truncate(start);
                input.extend_from_slice(&other[from..]);
            }
            6 => input.truncate(end),
            _ => {
                let piece = PIECES[random.below(PIECES.len())].bytes();
                input.splice(start..start, piece);
            }
        }
    }
    input.truncate(BYTES_MAX);
    input
}
