//! What a checker says about itself, for programs that show, shrink or watch what it finds.

use std::borrow::Cow;

/// Text that a built-in checker has as a literal and a plugin sends.
type Text = Cow<'static, str>;

/// What a checker says about itself ([`Checker::about`](crate::Checker::about)).
///
/// Every field has a default that promises nothing, so a checker fills in what it knows:
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
    /// What it judges.
    pub subject: Subject,
    /// Whether it checks each key separately on its own: histories of it are not to be split by key again.
    pub is_keyed: bool,
    /// What may be omitted from a history without making a violation.
    pub reduction: Reduction,
    /// Options to set while a history is watched, unless the user sets them: `("in-order", "true")`.
    pub watching: Vec<(Text, Text)>,
    /// The anomalies it can report, if it lists them.
    pub anomalies: Vec<AboutAnomaly>,
    /// The consistency levels it knows; a level comes after those that it implies or before, in any order.
    pub levels: Vec<AboutLevel>,
    /// The same of the checkers under whose names it may report: its parts, or the objects among which an option
    /// chooses.
    pub members: Vec<(Text, About)>,
}

/// What a checker judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Subject {
    /// Transactions, held against consistency levels.
    Transactions,
    /// One object, which is linearizable or not.
    Object,
    /// A workload with rules of its own.
    #[default]
    Workload,
}

/// What may be omitted from a history so that what is wrong with the rest is also wrong with the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, rename_all = "kebab-case"))]
#[non_exhaustive]
pub struct Reduction {
    /// What one part of a history needs from the others.
    pub parts: Parts,
    /// Whether an operation that fits nowhere still fits nowhere once all that was invoked after it, and all that
    /// failed, is omitted.
    pub prefix_decides: bool,
    /// Whether an operation that failed counts like one that did not.
    pub failed_count: bool,
    /// For [`Parts::Transactions`]: options under which the order of versions comes from the order of transactions. The
    /// first one that is set counts.
    pub version_orders: Vec<(Text, VersionOrder)>,
    /// For [`Parts::Reads`]: reads that the anomalies of some types need.
    pub kept_reads: Vec<KeptReads>,
}

/// What one part of a history needs from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Parts {
    /// Not known. What is left of a history has to be compared with the whole.
    #[default]
    Unknown,
    /// Every operation counts: none can be left out.
    Whole,
    /// Parts are micro-ops. A read needs all writes of the version it returned; of a list, of every element.
    Transactions,
    /// A read needs the writes of its value that it may have seen.
    Registers,
    /// Each value represents itself: it needs all operations on it.
    Values,
    /// All changes count; reads do not.
    Sums,
    /// Each read is judged alone or with another one, and keeps the writes of what it returned.
    Reads,
}

/// What relates the versions of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum VersionOrder {
    /// Each transaction, or any two that do not overlap in time.
    Transactions,
    /// Each transaction and the next one of its process.
    Processes,
    /// An order of all transactions, which an option gives.
    Given,
}

/// Reads without which an anomaly would not show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub struct KeptReads {
    /// The type of the anomaly.
    pub anomaly: Text,
    /// Which reads.
    pub which: WhichReads,
    /// An option that, if it is set, makes them superfluous.
    pub unless: Option<Text>,
}

/// Which reads of a history to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum WhichReads {
    /// The first one, which says what keys there are.
    First,
    /// The first one of known keys without nil, which says what they sum to; and the first one, if its keys are others.
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
    /// Whether it casts doubt on the history and is not a violation.
    pub is_doubt: bool,
    /// Whether a witness begins with the operation that no order of the operations before it admits.
    pub begins_with_refused: bool,
    /// Whether it says that a consistency level does not hold, and is nothing to forbid by its own name.
    pub is_of_a_level: bool,
}

/// A consistency level that a checker knows.
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
    /// Whether a history is always decided: the search for what breaks the level is complete.
    pub is_decided: bool,
    /// Why it is, or why it is not.
    pub because: Text,
}

impl About {
    /// Says what the checker judges and nothing else.
    #[must_use]
    pub fn new(subject: Subject) -> About {
        About { subject, ..About::default() }
    }

    /// Says what one part of a history needs from the others.
    #[must_use]
    pub fn with_parts(mut self, parts: Parts) -> About {
        self.reduction.parts = parts;
        self
    }

    /// Says that later and failed operations cannot matter ([`Reduction::prefix_decides`]).
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

    /// What is known about the checker under whose name a report came: one of the members, or else this one.
    pub fn of(&self, checker: &str) -> &About {
        self.members.iter().find(|(name, _)| name == checker).map_or(self, |(_, about)| about)
    }

    /// The anomaly of this type, if the checker lists it; upper and lower case are one.
    pub fn anomaly(&self, name: &str) -> Option<&AboutAnomaly> {
        self.anomalies.iter().find(|anomaly| anomaly.name.eq_ignore_ascii_case(name))
    }

    /// Whether witnesses of this type begin with an operation that was refused.
    pub fn begins_with_refused(&self, anomaly: &str) -> bool {
        self.anomaly(anomaly).is_some_and(|anomaly| anomaly.begins_with_refused)
    }
}

impl AboutLevel {
    /// A level of this name, and what it is. Nothing implies that it is decided.
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

    /// Says that a witness begins with the operation that no order admits.
    #[must_use]
    pub fn with_refused_first(mut self) -> AboutAnomaly {
        self.begins_with_refused = true;
        self
    }
}
