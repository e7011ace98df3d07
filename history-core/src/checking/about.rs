//! Description of a checker, for programs that show, minimize or watch its results.

use std::borrow::Cow;

/// Text: a literal in a built-in checker, owned if a plugin sends it.
type Text = Cow<'static, str>;

/// The description of a checker ([`Checker::about`](crate::Checker::about)).
///
/// Every field has a default that promises nothing, so a checker sets only the fields that apply to it:
///
/// ```
/// use history_core::{About, Parts, Subject};
///
/// let about = About::new(Subject::Workload).with_parts(Parts::Reads);
/// assert_eq!(about.of("any name"), &about);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, rename_all = "kebab-case"))]
#[non_exhaustive]
pub struct About {
    /// What the checker checks.
    pub subject: Subject,
    /// Whether the checker itself checks each key separately: its histories must not be split by key again.
    pub is_keyed: bool,
    /// What `minimize` may omit from a history without creating a violation.
    pub reduction: Reduction,
    /// Options to set while a history is watched, unless the user sets them: `("in-order", "true")`.
    pub watching: Vec<(Text, Text)>,
    /// The anomalies that the checker can report, if it lists them.
    pub anomalies: Vec<AboutAnomaly>,
    /// The consistency levels of the checker, in any order: a level may come before or after those that it implies.
    pub levels: Vec<AboutLevel>,
    /// The descriptions of the checkers under whose names this checker may report: its parts, or the objects among
    /// which an option chooses.
    pub members: Vec<(Text, About)>,
}

/// What a checker checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Subject {
    /// Transactions, checked against consistency levels.
    Transactions,
    /// One object, checked for linearizability.
    Object,
    /// A workload with rules of its own.
    #[default]
    Workload,
}

/// What may be omitted from a history so that any violation of the rest is also a violation of the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, rename_all = "kebab-case"))]
#[non_exhaustive]
pub struct Reduction {
    /// What one part of a history needs from the others.
    pub parts: Parts,
    /// Whether an operation that has no valid place in the order still has none after all operations invoked later, and
    /// all that failed, are omitted.
    pub prefix_decides: bool,
    /// Whether an operation that failed counts like one that did not fail.
    pub failed_count: bool,
    /// For [`Parts::Transactions`]: options under which the order of versions follows from the order of transactions.
    /// The first option that is set applies.
    pub version_orders: Vec<(Text, VersionOrder)>,
    /// For [`Parts::Reads`]: reads that the anomalies of some types need.
    pub kept_reads: Vec<KeptReads>,
}

/// What one part of a history needs from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Parts {
    /// Unknown: the rest of a history has to be compared with the whole.
    #[default]
    Unknown,
    /// Every operation counts: none can be omitted.
    Whole,
    /// Parts are micro-ops. A read needs all writes of the version it returned; of a list, of every element.
    Transactions,
    /// A read needs the writes of its value that it may have seen.
    Registers,
    /// Each value represents itself: it needs all operations on it.
    Values,
    /// All changes count; reads do not.
    Sums,
    /// Each read is checked alone or together with one other read, and needs the writes of the values that it returned.
    Reads,
}

/// What determines the order of the versions of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum VersionOrder {
    /// The order within each transaction, or of any two transactions that do not overlap in time.
    Transactions,
    /// Each transaction and the next one of its process.
    Processes,
    /// An order of all transactions, which an option gives.
    Given,
}

/// Reads without which an anomaly would not be found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub struct KeptReads {
    /// The type of the anomaly.
    pub anomaly: Text,
    /// Which reads.
    pub which: WhichReads,
    /// An option that makes these reads unnecessary if it is set.
    pub unless: Option<Text>,
}

/// Which reads of a history to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum WhichReads {
    /// The first read, which determines the set of keys.
    First,
    /// The first read of known keys without nil, which determines their sum; and the first read, if it has other keys.
    FirstSum,
}

/// An anomaly that a checker can report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, rename_all = "kebab-case"))]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct AboutAnomaly {
    /// Its type.
    pub name: Text,
    /// What it is, in a sentence or two.
    pub summary: Text,
    /// Types that each anomaly of this type also is.
    pub implies: Vec<Text>,
    /// Whether its witnesses are cycles.
    pub is_cycle: bool,
    /// Whether the anomaly casts doubt on the history, but is not a violation.
    pub is_doubt: bool,
    /// Whether a witness begins with an operation that is not valid after any order of the operations before it.
    pub begins_with_refused: bool,
    /// Whether the anomaly only reports that a consistency level does not hold: nothing forbids it by its own name.
    pub is_of_a_level: bool,
}

/// A consistency level of a checker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, rename_all = "kebab-case"))]
#[non_exhaustive]
pub struct AboutLevel {
    /// Its name.
    pub name: Text,
    /// Other names of it.
    pub aliases: Vec<Text>,
    /// What it is, in a sentence.
    pub summary: Text,
    /// Levels that it implies directly.
    pub implies: Vec<Text>,
    /// Types of anomalies that it forbids, in addition to those that a weaker level forbids.
    pub forbids: Vec<Text>,
    /// Whether every history is decided: the search for violations of the level is complete.
    pub is_decided: bool,
    /// Why every history is decided, or why not.
    pub because: Text,
}

impl About {
    /// Describes only the subject of the checker.
    #[must_use]
    pub fn new(subject: Subject) -> About {
        About { subject, ..About::default() }
    }

    /// Sets what one part of a history needs from the others.
    #[must_use]
    pub fn with_parts(mut self, parts: Parts) -> About {
        self.reduction.parts = parts;
        self
    }

    /// Declares that later and failed operations do not affect the result ([`Reduction::prefix_decides`]).
    #[must_use]
    pub fn with_prefix_deciding(mut self) -> About {
        self.reduction.prefix_decides = true;
        self
    }

    /// Adds an anomaly.
    #[must_use]
    pub fn with_anomaly(mut self, anomaly: AboutAnomaly) -> About {
        self.anomalies.push(anomaly);
        self
    }

    /// The description of the checker with this name: one of the members, or else this one.
    pub fn of(&self, checker: &str) -> &About {
        self.members.iter().find(|(name, _)| name == checker).map_or(self, |(_, about)| about)
    }

    /// The anomaly of this type, if the checker lists it. Upper and lower case are treated as equal.
    pub fn anomaly(&self, name: &str) -> Option<&AboutAnomaly> {
        self.anomalies.iter().find(|anomaly| anomaly.name.eq_ignore_ascii_case(name))
    }

    /// Whether witnesses of this type begin with an operation that was refused.
    pub fn begins_with_refused(&self, anomaly: &str) -> bool {
        self.anomaly(anomaly).is_some_and(|anomaly| anomaly.begins_with_refused)
    }
}

impl AboutLevel {
    /// Creates a level with this name and description. It is not decided by default (`is_decided`).
    #[must_use]
    pub fn new(name: impl Into<Text>, summary: impl Into<Text>) -> AboutLevel {
        AboutLevel { name: name.into(), summary: summary.into(), ..AboutLevel::default() }
    }
}

impl AboutAnomaly {
    /// An anomaly of this name, and what it is.
    #[must_use]
    pub fn new(name: impl Into<Text>, summary: impl Into<Text>) -> AboutAnomaly {
        AboutAnomaly { name: name.into(), summary: summary.into(), ..AboutAnomaly::default() }
    }

    /// Declares that a witness begins with an operation that is not valid after any order.
    #[must_use]
    pub fn with_refused_first(mut self) -> AboutAnomaly {
        self.begins_with_refused = true;
        self
    }
}
