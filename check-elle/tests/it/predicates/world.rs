//! Small worlds of transactions with predicate reads, made from a seed, and a search of all orders for an explanation.

use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Predicate {
    True,
    Equals(i64),
    Even,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mop {
    /// `None`: a deletion.
    Mutate(usize, Option<i64>),
    Read(usize, Option<i64>),
    /// The value that it showed of each key.
    Select(Predicate, [Option<i64>; KEYS]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Ok,
    Info,
    Fail,
}

#[derive(Debug)]
pub(super) struct Txn {
    pub(super) mops: Vec<Mop>,
    pub(super) fate: Fate,
    /// The transactions of earlier rounds have completed when this round begins.
    pub(super) round: usize,
}

pub(super) const KEYS: usize = 2;

#[derive(Debug)]
pub(super) struct World {
    pub(super) init: [Option<i64>; KEYS],
    pub(super) txns: Vec<Txn>,
}

impl Predicate {
    pub(super) fn matches(self, value: i64) -> bool {
        match self {
            Predicate::True => true,
            Predicate::Equals(other) => value == other,
            Predicate::Even => value % 2 == 0,
        }
    }
}

/// Random numbers from a seed: `splitmix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

impl World {
    /// Makes a world in which each key has at most `mutations_max` mutations. Reads usually show versions that exist.
    pub(super) fn new(seed: u64, mutations_max: usize) -> World {
        let mut random = Random(seed);
        let init = std::array::from_fn(|_| [None, Some(0), Some(1)][random.below(3)]);
        let count = 1 + random.below(3);
        let mut left = [mutations_max; KEYS];
        let mut txns = Vec::new();
        for _ in 0..count {
            let fate = [Fate::Ok, Fate::Ok, Fate::Ok, Fate::Ok, Fate::Info, Fate::Fail][random.below(6)];
            let mops = (0..=random.below(3)).map(|_| {
                let key = random.below(KEYS);
                if left[key] > 0 && random.below(3) == 0 {
                    left[key] -= 1;
                    return Mop::Mutate(key, [None, Some(0), Some(1), Some(2)][random.below(4)]);
                }
                // The results of reads are filled in when all versions are known.
                if random.below(2) == 0 {
                    return Mop::Read(key, None);
                }
                let predicate = [Predicate::True, Predicate::Equals(0), Predicate::Equals(1), Predicate::Even];
                Mop::Select(predicate[random.below(4)], [None; KEYS])
            });
            txns.push(Txn { mops: mops.collect(), fate, round: random.below(2) });
        }
        txns.sort_by_key(|txn: &Txn| txn.round);
        let mut world = World { init, txns };
        world.fill(&mut random);
        world
    }

    fn fill(&mut self, random: &mut Random) {
        let versions: Vec<Vec<Option<i64>>> = (0..KEYS).map(|key| self.versions(key)).collect();
        for txn in &mut self.txns {
            let mut own: [Option<Option<i64>>; KEYS] = [None; KEYS];
            for mop in &mut txn.mops {
                let mut shows = |key: usize| match random.below(12) {
                    0 => [None, Some(0), Some(1), Some(2), Some(3)][random.below(5)],
                    _ => own[key].unwrap_or(versions[key][random.below(versions[key].len())]),
                };
                match mop {
                    Mop::Mutate(key, value) => own[*key] = Some(*value),
                    Mop::Read(key, value) => *value = shows(*key),
                    Mop::Select(predicate, shown) => {
                        *shown = std::array::from_fn(|key| shows(key).filter(|value| predicate.matches(*value)));
                        if random.below(20) == 0 {
                            shown[random.below(KEYS)] = Some(1);
                        }
                    }
                }
            }
        }
    }

    /// Returns the initial value of a key and all values ever written to it.
    fn versions(&self, key: usize) -> Vec<Option<i64>> {
        let written = self.txns.iter().flat_map(|txn| &txn.mops).filter_map(move |mop| match mop {
            Mop::Mutate(own, value) if *own == key => Some(*value),
            _ => None,
        });
        std::iter::once(self.init[key]).chain(written).collect()
    }

    /// Returns true if some read could have been wrong.
    pub(super) fn has_evidence(&self) -> bool {
        let is_written = |key: usize| self.init[key].is_some() || self.versions(key).len() > 1;
        let is_evidence = |mop: &Mop| match mop {
            Mop::Read(key, _) => is_written(*key),
            Mop::Select(..) => (0..KEYS).any(is_written),
            Mop::Mutate(..) => false,
        };
        self.txns.iter().any(|txn| txn.fate == Fate::Ok && txn.mops.iter().any(is_evidence))
    }

    /// Returns true if some order of all ok transactions, and some of those that may have happened, explains the reads.
    /// With `by_time` the order must agree with real time.
    pub(super) fn is_serializable(&self, by_time: bool) -> bool {
        self.extends(self.init, &mut Vec::new(), by_time)
    }

    fn extends(&self, state: [Option<i64>; KEYS], done: &mut Vec<usize>, by_time: bool) -> bool {
        let ok_left = |at: &usize| self.txns[*at].fate == Fate::Ok && !done.contains(at);
        let rest: Vec<usize> = (0..self.txns.len()).filter(ok_left).collect();
        if rest.is_empty() {
            return true;
        }
        for at in 0..self.txns.len() {
            let txn = &self.txns[at];
            let is_early = by_time && rest.iter().any(|other| self.txns[*other].round < txn.round && *other != at);
            if done.contains(&at) || txn.fate == Fate::Fail || is_early {
                continue;
            }
            if let Some(next) = apply(state, txn) {
                done.push(at);
                let holds = self.extends(next, done, by_time);
                done.pop();
                if holds {
                    return true;
                }
            }
        }
        false
    }

    /// Writes the world as a history: first the universe, then the transactions of each round concurrently.
    pub(super) fn text(&self) -> String {
        let name = |key: usize| ["x", "y"][key];
        let value = |value: &Option<i64>| value.map_or("nil".to_owned(), |value| value.to_string());
        let map = |shown: &[Option<i64>; KEYS]| {
            let entry = |key: usize| shown[key].map(|value| format!(":{} {value}", name(key)));
            format!("{{{}}}", (0..KEYS).filter_map(entry).collect::<Vec<_>>().join(", "))
        };
        let mut text = String::new();
        if self.init.iter().any(Option::is_some) {
            let init = map(&self.init);
            for kind in ["invoke", "ok"] {
                _ = writeln!(text, "{{:process 9, :type :{kind}, :f :init, :value {init}}}");
            }
        }
        for round in 0..2 {
            for invoked in [true, false] {
                for (process, txn) in self.txns.iter().enumerate().filter(|(_, txn)| txn.round == round) {
                    let mops = txn.mops.iter().map(|mop| match mop {
                        Mop::Mutate(key, None) => format!("[:delete :{}]", name(*key)),
                        Mop::Mutate(key, written) if self.init[*key].is_none() => {
                            format!("[:insert :{} {}]", name(*key), value(written))
                        }
                        Mop::Mutate(key, written) => format!("[:w :{} {}]", name(*key), value(written)),
                        Mop::Read(key, shown) => {
                            format!("[:r :{} {}]", name(*key), if invoked { "nil".to_owned() } else { value(shown) })
                        }
                        Mop::Select(predicate, shown) => {
                            let predicate = match predicate {
                                Predicate::True => ":true".to_owned(),
                                Predicate::Equals(value) => format!("[:= {value}]"),
                                Predicate::Even => "[:mod 2 0]".to_owned(),
                            };
                            format!("[:rp {predicate} {}]", if invoked { "nil".to_owned() } else { map(shown) })
                        }
                    });
                    let kind = match txn.fate {
                        _ if invoked => "invoke",
                        Fate::Ok => "ok",
                        Fate::Info => "info",
                        Fate::Fail => "fail",
                    };
                    let mops = mops.collect::<Vec<_>>().join(" ");
                    _ = writeln!(text, "{{:process {process}, :type :{kind}, :f :txn, :value [{mops}]}}");
                }
            }
        }
        text
    }
}

/// Returns the state after a transaction, if its reads show the state before it and its own writes. The reads of a
/// transaction that may not have happened are ignored.
fn apply(mut state: [Option<i64>; KEYS], txn: &Txn) -> Option<[Option<i64>; KEYS]> {
    for mop in &txn.mops {
        match mop {
            Mop::Mutate(key, value) => state[*key] = *value,
            _ if txn.fate != Fate::Ok => {}
            Mop::Read(key, value) if state[*key] == *value => {}
            Mop::Select(predicate, shown)
                if (0..KEYS).all(|key| state[key].filter(|value| predicate.matches(*value)) == shown[key]) => {}
            Mop::Read(..) | Mop::Select(..) => return None,
        }
    }
    Some(state)
}
