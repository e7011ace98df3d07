//! Consistency models: names, a definition in a sentence, the models that each implies, and the anomalies that rule it
//! out.

mod table;

use crate::anomaly::{self, AnomalySet, AnomalyType};
use crate::names::equal;
use crate::set::closure::{converse, transitive};
use crate::set::{Row, RowSet};
use history_core::cast::Cast as _;
use std::fmt;
use std::str::FromStr;
use table::{Decision, MODELS};

pub use crate::names::UnknownName;

/// A consistency level.
///
/// ```
/// use check_elle::model::Model;
///
/// let model = "PL-3".parse::<Model>()?;
/// assert_eq!(model.name(), "serializable");
/// assert_eq!(model, "conflict-serializable".parse::<Model>()?);
/// assert!(model.weaker().contains("snapshot-isolation".parse::<Model>()?));
///
/// let error = "serialisable".parse::<Model>().unwrap_err();
/// assert_eq!(error.nearest, ["serializable"]);
/// # Ok::<(), check_elle::model::UnknownName>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Model(
    /// Less than `MODELS.len()`.
    u8,
);

/// A set of consistency levels.
pub type ModelSet = RowSet<Model>;

const COUNT: usize = MODELS.len();

/// For each model, the weaker ones.
static WEAKER: [u128; COUNT] = transitive(direct());

/// For each model, the stronger ones.
static STRONGER: [u128; COUNT] = converse(&transitive(direct()));

/// For each model, every anomaly that rules it out.
static PROHIBITED: [u128; COUNT] = prohibited();

impl Model {
    /// The default level of a check.
    pub const STRICT_SERIALIZABLE: Model = named("strict-serializable");

    /// The usual name, which reports use: `"serializable"`.
    pub const fn name(self) -> &'static str {
        MODELS[self.0 as usize].name
    }

    /// Its other names: `"PL-3"`.
    pub const fn aliases(self) -> &'static [&'static str] {
        MODELS[self.0 as usize].aliases
    }

    /// Its definition, in a sentence that names its source.
    pub const fn summary(self) -> &'static str {
        MODELS[self.0 as usize].summary
    }

    /// The weaker models that it implies by definition; not their own implications.
    pub fn implies(self) -> impl Iterator<Item = Model> {
        MODELS[self.index()].implies.iter().map(|name| named(name))
    }

    /// The anomalies that it forbids by definition; not those that follow.
    pub fn forbids(self) -> impl Iterator<Item = AnomalyType> {
        MODELS[self.index()].forbids.iter().map(|name| anomaly::named(name))
    }

    /// All weaker models: whatever obeys this one obeys them. Itself excluded.
    pub fn weaker(self) -> ModelSet {
        ModelSet::from_bits(WEAKER[self.index()])
    }

    /// All stronger models: whatever breaks this one breaks them. Itself excluded.
    pub fn stronger(self) -> ModelSet {
        ModelSet::from_bits(STRONGER[self.index()])
    }

    /// Every anomaly that rules it out: forbidden by it or by a weaker model, or implying one that is.
    pub fn prohibited(self) -> AnomalySet {
        AnomalySet::from_bits(PROHIBITED[self.index()])
    }

    /// Whether the checkers of this crate search for everything that rules it out. A history that violates another
    /// model may have no anomaly that they find.
    ///
    /// ```
    /// use check_elle::model::Model;
    ///
    /// assert!("snapshot-isolation".parse::<Model>()?.is_decided());
    /// assert!(!"read-atomic".parse::<Model>()?.is_decided());
    /// # Ok::<(), check_elle::model::UnknownName>(())
    /// ```
    pub const fn is_decided(self) -> bool {
        matches!(MODELS[self.0 as usize].decision, Decision::Yes(_))
    }

    /// Whether cycles do not decide it, but looking for a commit order does: [`Exact`](crate::Exact).
    pub fn is_decided_exactly(self) -> bool {
        cfg!(feature = "exact") && matches!(MODELS[self.index()].decision, Decision::Exactly(_))
    }

    /// Why it is decided, or why not, as a clause.
    pub const fn decision(self) -> &'static str {
        match MODELS[self.0 as usize].decision {
            Decision::Yes(why) | Decision::Exactly(why) | Decision::No(why) => why,
        }
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name()).chain(self.aliases().iter().copied())
    }
}

impl Row for Model {
    const COUNT: usize = COUNT;

    fn index(self) -> usize {
        usize::from(self.0)
    }

    fn at(index: usize) -> Model {
        assert!(index < COUNT, "no model has the number {index}");
        Model(index.to_u8())
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Model {
    type Err = UnknownName;

    /// The model of a name or an alias; upper and lower case are one.
    fn from_str(name: &str) -> Result<Model, UnknownName> {
        let is_named = |model: &Model| model.names().any(|known| known.eq_ignore_ascii_case(name));
        ModelSet::ALL.iter().find(is_named).ok_or_else(|| {
            let known = ModelSet::ALL.iter().map(Model::name).collect();
            UnknownName::new("consistency level", name, known, ModelSet::ALL.iter().flat_map(Model::names))
        })
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The model with a name or alias from this crate's tables; in a constant, an unknown name does not compile.
pub(crate) const fn named(name: &str) -> Model {
    let mut i = 0;
    while i < COUNT {
        if equal(MODELS[i].name, name) {
            return Model(i as u8);
        }
        let mut alias = 0;
        while alias < MODELS[i].aliases.len() {
            if equal(MODELS[i].aliases[alias], name) {
                return Model(i as u8);
            }
            alias += 1;
        }
        i += 1;
    }
    panic!("no model has this name");
}

const fn direct() -> [u128; COUNT] {
    let mut rows = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        let mut j = 0;
        while j < MODELS[i].implies.len() {
            rows[i] |= 1 << named(MODELS[i].implies[j]).0;
            j += 1;
        }
        i += 1;
    }
    rows
}

const fn prohibited() -> [u128; COUNT] {
    let weaker = transitive(direct());
    let mut rows = [0; COUNT];
    let mut model = 0;
    while model < COUNT {
        let mut other = 0;
        while other < COUNT {
            if other == model || weaker[model] >> other & 1 == 1 {
                rows[model] |= anomaly::implying(anomaly::bits_of(MODELS[other].forbids));
            }
            other += 1;
        }
        model += 1;
    }
    rows
}
