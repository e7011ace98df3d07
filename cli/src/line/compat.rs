//! The options of elle-cli: all are accepted. Those without an effect on the checker give a warning.

use histcheck_front::options::CONSISTENCY_LEVELS;
use history_core::OptionKind;

/// An option of elle-cli for some of its checkers.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) short: Option<char>,
    pub(crate) kind: OptionKind,
    pub(crate) value_name: &'static str,
    /// The reason why a checker without this option does not need it.
    pub(crate) why_not: &'static str,
}

const FOR_TRANSACTIONS: &str = "it is for checkers of transactions";
const FOR_BANK: &str = "it is for the bank workload";

/// The options in the order of elle-cli's help. General options (-m, -f, -v, -d, -p) are not listed: they belong to no
/// checker.
pub(crate) const KNOWN: &[Known] = &[
    known(CONSISTENCY_LEVELS, Some('c'), OptionKind::Names, "LEVELS", FOR_TRANSACTIONS),
    known("anomalies", Some('a'), OptionKind::Names, "ANOMALIES", FOR_TRANSACTIONS),
    known(
        "cycle-search-timeout",
        Some('s'),
        OptionKind::Integer,
        "MS",
        "no search for cycles takes so long that it needs a limit",
    ),
    known(
        "plot-timeout",
        Some('t'),
        OptionKind::Integer,
        "MS",
        "plots of cycles are not drawn, or are drawn fast enough without a limit",
    ),
    known("group-size", Some('g'), OptionKind::Integer, "N", "it is for the long-fork workload"),
    known("allow-negative-balances", Some('n'), OptionKind::Flag, "", FOR_BANK),
    known("max-transfer", None, OptionKind::Integer, "AMOUNT", "it is for generating histories, not for checking them"),
    known("total-amount", Some('o'), OptionKind::Integer, "AMOUNT", FOR_BANK),
];

const fn known(
    name: &'static str,
    short: Option<char>,
    kind: OptionKind,
    value_name: &'static str,
    why_not: &'static str,
) -> Known {
    Known { name, short, kind, value_name, why_not }
}

/// The option of elle-cli with this name.
pub(crate) fn find(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

/// A help paragraph on the options of elle-cli that are not among `names`.
pub(crate) fn paragraph(names: &[&str]) -> String {
    let missing = KNOWN.iter().filter(|known| !names.contains(&known.name));
    let listed: Vec<String> = missing
        .map(|known| match known.short {
            Some(short) => format!("-{short}/--{}", known.name),
            None => format!("--{}", known.name),
        })
        .collect();
    if listed.is_empty() {
        return String::new();
    }
    format!("Accepted for compatibility with elle-cli, with a warning, but without effect: {}.\n\n", listed.join(", "))
}
