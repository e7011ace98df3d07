//! Types of anomalies: a name, a sentence, and the types that each implies.

mod table;

use crate::names::equal;
use crate::set::closure::{converse, transitive};
use crate::set::{Row, RowSet};
use history_core::cast::Cast as _;
use history_core::state::{Damaged, In, Out, State};
use std::fmt;
use std::str::FromStr;
use table::ANOMALIES;

pub use crate::names::UnknownName;

/// A type of anomaly.
///
/// ```
/// use check_elle::anomaly::AnomalyType;
///
/// let read_skew = "G-single-item".parse::<AnomalyType>()?;
/// assert_eq!(read_skew, AnomalyType::G_SINGLE_ITEM);
/// assert!(read_skew.implies().any(|weaker| weaker.name() == "G-single"));
///
/// let error = "G-singel-item".parse::<AnomalyType>().unwrap_err();
/// assert_eq!(error.nearest, ["G-single-item"]);
/// # Ok::<(), check_elle::anomaly::UnknownName>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnomalyType(
    /// Less than `ANOMALIES.len()`.
    u8,
);

/// A set of types of anomalies.
pub type AnomalySet = RowSet<AnomalyType>;

const COUNT: usize = ANOMALIES.len();

/// For each anomaly, the types that it implies, directly or indirectly, without itself.
static IMPLIED: [u128; COUNT] = transitive(direct());

/// For each anomaly, the types that imply it, without itself.
static IMPLYING: [u128; COUNT] = converse(&transitive(direct()));

#[expect(missing_docs, reason = "summary() says what each of them is, from the table")]
impl AnomalyType {
    pub const G0: AnomalyType = named("G0");
    pub const G1C: AnomalyType = named("G1c");
    pub const G_SINGLE_ITEM: AnomalyType = named("G-single-item");
    pub const G_NONADJACENT_ITEM: AnomalyType = named("G-nonadjacent-item");
    pub const G2_ITEM: AnomalyType = named("G2-item");
    pub const G1A: AnomalyType = named("G1a");
    pub const G1B: AnomalyType = named("G1b");
    pub const INTERNAL: AnomalyType = named("internal");
    pub const FUTURE_READ: AnomalyType = named("future-read");
    pub const DIRTY_UPDATE: AnomalyType = named("dirty-update");
    pub const LOST_UPDATE: AnomalyType = named("lost-update");
    pub const DUPLICATE_ELEMENTS: AnomalyType = named("duplicate-elements");
    pub const INCOMPATIBLE_ORDER: AnomalyType = named("incompatible-order");
    pub const CYCLIC_VERSIONS: AnomalyType = named("cyclic-versions");
    pub const GSI: AnomalyType = named("GSI");
    pub const G_SI: AnomalyType = named("G-SI");
    pub const GARBAGE_READ: AnomalyType = named("garbage-read");
    pub const PREDICATE_READ_MISS: AnomalyType = named("predicate-read-miss");
    pub const INIT_READ_MISS: AnomalyType = named("init-read-miss");
    pub const PREDICATE_MISMATCH: AnomalyType = named("predicate-mismatch");
    pub const PL_2_99_CYCLE_EXISTS: AnomalyType = named("PL-2.99-cycle-exists");
    pub const EMPTY_TRANSACTION_GRAPH: AnomalyType = named("empty-transaction-graph");
    pub const CYCLE_SEARCH_TIMEOUT: AnomalyType = named("cycle-search-timeout");
}

impl AnomalyType {
    /// As Elle spells it: `"G-single-item"`.
    pub const fn name(self) -> &'static str {
        ANOMALIES[self.0 as usize].name
    }

    /// Its definition, in a sentence that names its source.
    pub const fn summary(self) -> &'static str {
        ANOMALIES[self.0 as usize].summary
    }

    /// The types that each anomaly of this type also is, by definition; not their own implications.
    pub fn implies(self) -> impl Iterator<Item = AnomalyType> {
        ANOMALIES[self.index()].implies.iter().map(|name| named(name))
    }

    /// The types that each anomaly of this type also is, directly or indirectly, including itself.
    pub const fn implied(self) -> AnomalySet {
        AnomalySet::from_bits(IMPLIED[self.0 as usize] | 1 << self.0)
    }

    /// The types whose anomalies are all of this type too, including itself.
    pub const fn implying(self) -> AnomalySet {
        AnomalySet::from_bits(IMPLYING[self.0 as usize] | 1 << self.0)
    }
}

impl State for AnomalyType {
    fn save(&self, out: &mut Out) {
        self.0.save(out);
    }

    fn load(from: &mut In<'_>) -> Result<AnomalyType, Damaged> {
        let number = u8::load(from)?;
        if usize::from(number) < COUNT { Ok(AnomalyType(number)) } else { Err(Damaged) }
    }
}

impl Row for AnomalyType {
    const COUNT: usize = COUNT;

    fn index(self) -> usize {
        usize::from(self.0)
    }

    fn at(index: usize) -> AnomalyType {
        assert!(index < COUNT, "no anomaly has the number {index}");
        AnomalyType(index.to_u8())
    }
}

impl fmt::Debug for AnomalyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AnomalyType {
    type Err = UnknownName;

    /// The anomaly of a name; upper and lower case are one.
    fn from_str(name: &str) -> Result<AnomalyType, UnknownName> {
        let names = || AnomalySet::ALL.iter().map(AnomalyType::name);
        AnomalySet::ALL
            .iter()
            .find(|anomaly| anomaly.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownName::new("anomaly", name, names().collect(), names()))
    }
}

impl fmt::Display for AnomalyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The anomaly with a name from this crate's tables; in a constant, an unknown name does not compile.
pub(crate) const fn named(name: &str) -> AnomalyType {
    let mut i = 0;
    while i < COUNT {
        if equal(ANOMALIES[i].name, name) {
            return AnomalyType(i as u8);
        }
        i += 1;
    }
    panic!("no anomaly has this name");
}

/// The anomalies with these names from this crate's tables, as bits.
pub(crate) const fn bits_of(names: &[&str]) -> u128 {
    let mut bits = 0;
    let mut i = 0;
    while i < names.len() {
        bits |= 1 << named(names[i]).0;
        i += 1;
    }
    bits
}

/// The anomalies and all that imply one of them, as bits.
pub(crate) const fn implying(anomalies: u128) -> u128 {
    let mut bits = anomalies;
    let mut i = 0;
    while i < COUNT {
        if anomalies >> i & 1 == 1 {
            bits |= IMPLYING[i];
        }
        i += 1;
    }
    bits
}

const fn direct() -> [u128; COUNT] {
    let mut rows = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        rows[i] = bits_of(ANOMALIES[i].implies);
        i += 1;
    }
    rows
}
