//! Laws for verdicts, tested on generated histories of every workload: a change of names, times, the format, or the way
//! of reading must not change the verdict.
//!
//! `HISTCHECK_LAWS=N` tests N histories instead of 2,000; `HISTCHECK_LAWS_SEED=S` begins at another seed. If a law
//! fails, the test prints the seed, the workload, the law, and the smallest history for which it fails.

#![cfg(all(feature = "elle", feature = "register", feature = "jepsen", feature = "online"))]

mod binary;
mod canary;
mod case;
mod judge;
mod law;
mod rename;
mod shrink;
mod table;
mod world;

use judge::{Honest, How, Judge};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use world::{WORLDS, World};

/// The default number of histories.
const HISTORIES: u64 = 2000;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is {text}")))
}

/// The verdicts of each workload, with whether its store had a bug, and how often they occurred.
type Seen = BTreeMap<(&'static str, bool, &'static str), u64>;

/// Tests every law on this number of histories, beginning at a seed.
fn try_all(judge: &dyn Judge, from: u64, count: u64) -> Result<Seen, String> {
    let (next, seen, failure) = (AtomicU64::new(from), Mutex::new(Seen::new()), Mutex::new(None));
    let work = || {
        while failure.lock().unwrap().is_none() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= from + count {
                return;
            }
            match law::try_one(judge, seed) {
                Ok(key) => *seen.lock().unwrap().entry(key).or_default() += 1,
                Err(message) => {
                    failure.lock().unwrap().get_or_insert(message);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(2, usize::from)).for_each(|_| _ = scope.spawn(work));
    });
    failure.into_inner().unwrap().map_or(Ok(seen.into_inner().unwrap()), Err)
}

/// Verifies that every workload had verdicts of both kinds: a checker with a constant verdict obeys all other laws.
/// laws.
fn both_kinds(seen: &Seen) -> Result<(), String> {
    for World { workload, checker, .. } in WORLDS.iter().filter(|world| world.can_be_invalid) {
        for verdict in ["true", "false"] {
            let count: u64 = seen.iter().filter(|(key, _)| (key.0, key.2) == (*checker, verdict)).map(|(_, n)| n).sum();
            if count == 0 {
                return Err(format!("no history of {workload} was {verdict} to {checker}"));
            }
        }
    }
    Ok(())
}

#[test]
fn verdicts_obey_the_laws() {
    let (from, count) = (number("HISTCHECK_LAWS_SEED", 0), number("HISTCHECK_LAWS", HISTORIES));
    let seen = try_all(&Honest, from, count).unwrap_or_else(|message| panic!("{message}"));
    assert_eq!(seen.values().sum::<u64>(), count);
    if count >= HISTORIES {
        both_kinds(&seen).unwrap_or_else(|message| panic!("{message}: {seen:#?}"));
    }
}

/// If there are too many configurations, the laws do not apply, so this must be rare.
#[test]
fn searches_come_to_their_end() {
    let count = 10 * WORLDS.len() as u64;
    let lost = |how: fn(&World) -> How| {
        let found = (0..count).filter(|seed| {
            let world = &WORLDS[(*seed % WORLDS.len() as u64) as usize];
            let (case, _) = world::generate(world, *seed);
            law::has_too_many(&Honest.judge(world, &case.edn(), &how(world)))
        });
        found.count()
    };
    let (in_the_end, watched) = (lost(|_| How::default()), lost(law::watching));
    assert!(in_the_end <= 2 && watched <= 8, "{in_the_end} and {watched} of {count}");
}
