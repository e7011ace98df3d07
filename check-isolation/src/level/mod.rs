//! Consistency levels: names, the axiom and the base order that decide each, and how they imply each other.

mod table;

use history_core::cast::Cast as _;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use table::{Decision, LEVELS};

/// The writers that a read must not miss: the part of a level's definition in addition to its [`Base`].
///
/// A level holds if there is a total order of the transactions that happened, which extends the base and the relation
/// of each writer to its readers, so that for every external read of x by t3 from t1, and every other t2 that writes x:
/// if t2 is **visible** to the read, then t2 is before t1. No t2 is before the first state. Biswas and Enea, "On the
/// Complexity of Checking Transactional Consistency" (OOPSLA 2019); Cerone, Bernardi and Gotsman (CONCUR 2015).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axiom {
    /// Nothing is visible [Adya: PL-2].
    ReadCommitted,
    /// t2 is visible if t3 read from it earlier in the transaction [Bailis et al. 2013].
    MonotonicAtomicView,
    /// t2 is visible if it is before t3 in the base, or t3 reads from it [Bailis et al. 2014; Cerone et al.].
    ReadAtomic,
    /// t2 is visible if a path of base and reads leads from it to t3 [Cerone et al.].
    Causal,
    /// t2 is visible if it is before, or is, a transaction from which one step of base or reads leads to t3 [Cerone et
    /// al.].
    Prefix,
    /// t2 is visible if a path of base, reads and overwrites leads from it to t3 [Sovran et al. 2011; Cerone et al.].
    ParallelSnapshot,
    /// As for prefix; and also if t2 is before, or is, a transaction before t3 that writes a key that t3 writes [Cerone
    /// et al.].
    Snapshot,
    /// t2 is visible if it is before t3 [Papadimitriou 1979].
    Serializable,
}

impl Axiom {
    /// Returns true if every history that obeys this axiom also obeys the other, with the same base.
    ///
    /// ```
    /// use check_isolation::Axiom;
    ///
    /// assert!(Axiom::Snapshot.is_at_least(Axiom::Prefix) && Axiom::Prefix.is_at_least(Axiom::Causal));
    /// assert!(!Axiom::ParallelSnapshot.is_at_least(Axiom::Prefix), "these two are incomparable");
    /// ```
    pub fn is_at_least(self, other: Axiom) -> bool {
        self >= other && (self, other) != (Axiom::ParallelSnapshot, Axiom::Prefix)
    }
}

/// The relation that every order must extend, in addition to the relation of writers to readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// Nothing.
    None,
    /// The transactions of each session are in their order (`strong-session-`).
    Session,
    /// A transaction that completed before another was invoked is before it; this includes the order of sessions
    /// (`strong-`).
    RealTime,
}

/// A consistency level.
///
/// ```
/// use check_isolation::{Axiom, Base, Level};
///
/// let level = "tcc".parse::<Level>().unwrap();
/// assert_eq!(level.name(), "strong-session-causal-cerone");
/// assert_eq!(level.decided_by(), Some((Axiom::Causal, Base::Session)));
/// assert!("sequential".parse::<Level>().unwrap().decided_by().is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(
    /// Less than `LEVELS.len()`.
    u8,
);

/// A set of levels, by their positions in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels(u64);

impl Level {
    /// All levels, in the order of the table.
    pub fn all() -> impl Iterator<Item = Level> {
        (0..LEVELS.len()).map(|at| Level(at.to_u8()))
    }

    /// The level of an axiom and a base, if it has a name.
    pub fn of(axiom: Axiom, base: Base) -> Option<Level> {
        Level::all().find(|level| level.decided_by() == Some((axiom, base)))
    }

    /// The name that reports use: `"serializable"`.
    pub fn name(self) -> &'static str {
        LEVELS[usize::from(self.0)].name
    }

    /// The other names of the level.
    pub fn aliases(self) -> &'static [&'static str] {
        LEVELS[usize::from(self.0)].aliases
    }

    /// The definition of the level, in one sentence.
    pub fn summary(self) -> &'static str {
        LEVELS[usize::from(self.0)].summary
    }

    /// The axiom and the base that decide the level; `None` if it has no axiom about transactions.
    pub fn decided_by(self) -> Option<(Axiom, Base)> {
        match LEVELS[usize::from(self.0)].decision {
            Decision::By(axiom, base) => Some((axiom, base)),
            Decision::No(_) => None,
        }
    }

    /// Why the level is not decided, as a clause, if it is not.
    pub fn undecided_because(self) -> Option<&'static str> {
        match LEVELS[usize::from(self.0)].decision {
            Decision::By(..) => None,
            Decision::No(why) => Some(why),
        }
    }

    /// The weaker levels that the level implies directly.
    pub fn implies(self) -> impl Iterator<Item = Level> {
        LEVELS[usize::from(self.0)].implies.iter().map(|name| name.parse().expect("a name in the table"))
    }

    /// All levels that this level implies, including itself.
    pub fn weaker(self) -> Levels {
        static WEAKER: LazyLock<Vec<Levels>> = LazyLock::new(|| Level::all().map(Level::all_implied).collect());
        WEAKER[usize::from(self.0)]
    }

    fn all_implied(self) -> Levels {
        let mut all = Levels::default();
        let mut waiting = vec![self];
        while let Some(level) = waiting.pop() {
            if !all.has(level) {
                all.insert(level);
                waiting.extend(level.implies());
            }
        }
        all
    }

    /// Returns true if every history that obeys this level also obeys the other.
    pub fn is_at_least(self, other: Level) -> bool {
        self.weaker().has(other)
    }
}

impl Levels {
    /// Adds a level.
    pub fn insert(&mut self, level: Level) {
        self.0 |= 1 << level.0;
    }

    /// Returns true if the set contains a level.
    pub fn has(self, level: Level) -> bool {
        self.0 >> level.0 & 1 == 1
    }

    /// The levels of the set, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Level> {
        Level::all().filter(move |level| self.has(*level))
    }
}

impl FromIterator<Level> for Levels {
    fn from_iter<I: IntoIterator<Item = Level>>(levels: I) -> Levels {
        let mut all = Levels::default();
        levels.into_iter().for_each(|level| all.insert(level));
        all
    }
}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no level has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLevel {
    /// The unknown name.
    pub name: String,
}

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = Level::all().map(Level::name).collect();
        write!(f, "unknown consistency level {:?}: expected one of {}", self.name, known.join(", "))
    }
}

impl std::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    /// The level of a name or an alias; the case of letters does not matter.
    fn from_str(name: &str) -> Result<Level, UnknownLevel> {
        let is_named = |level: &Level| {
            level.name().eq_ignore_ascii_case(name)
                || level.aliases().iter().any(|alias| alias.eq_ignore_ascii_case(name))
        };
        Level::all().find(is_named).ok_or_else(|| UnknownLevel { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_implications_name_levels() {
        let mut names: Vec<&str> =
            Level::all().flat_map(|level| level.aliases().iter().copied().chain([level.name()])).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(Level::all().count() < 64, "a set is a u64");
        for level in Level::all() {
            for weaker in level.implies() {
                assert!(!weaker.is_at_least(level), "{level} and {weaker} imply each other");
            }
        }
    }

    #[test]
    fn the_lattice_has_the_order_of_axioms_and_bases() {
        let level = |name: &str| name.parse::<Level>().unwrap();
        for (stronger, weaker) in [
            ("strict-serializable", "strong-session-monotonic-atomic-view"),
            ("strong-snapshot-isolation", "strong-session-prefix"),
            ("serializable", "parallel-snapshot-isolation"),
            ("strong-session-prefix", "tcc"),
            ("snapshot-isolation", "prefix"),
        ] {
            assert!(level(stronger).is_at_least(level(weaker)), "{stronger}, {weaker}");
        }
        assert!(!level("prefix").is_at_least(level("parallel-snapshot-isolation")));
        assert!(!level("parallel-snapshot-isolation").is_at_least(level("prefix")));
        assert!(
            !level("strict-serializable")
                .weaker()
                .iter()
                .any(|weaker| !level("strong-serializable").is_at_least(weaker))
        );
    }
}
