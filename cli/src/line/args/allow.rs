//! `--allow`: an option of checkers, which accepts names of known anomalies as well.
//!
//! A checker takes the names that it can allow: these are no violations, and its verdict says so. The other names are
//! known anomalies: they change only the exit code, not the verdict.

use clap::ArgMatches;
use history_core::{Checker, Options};

/// The name of the checkers' option.
pub(crate) const ALLOW: &str = "allow";

/// The name of the option for known anomalies.
pub(crate) const ALLOW_ANOMALIES: &str = "allow-anomalies";

/// Returns true if this command accepts known anomalies; a command that ends at a violation does not. The option has a
/// default, so it has a value if the command has the option. The lookup of an unknown option fails only in builds with
/// debug assertions.
pub(crate) fn may_be_known(matches: &ArgMatches) -> bool {
    matches.try_contains_id(ALLOW_ANOMALIES).unwrap_or(false)
}

/// The names given to [`ALLOW`] that the checker takes itself.
pub(crate) fn taken_by<'n>(checker: &dyn Checker, allowed: &'n str) -> Vec<&'n str> {
    let has_option = checker.options().iter().any(|spec| spec.name == ALLOW);
    let takes = |name: &&str| {
        let mut options = Options::new();
        options.set(ALLOW, *name);
        checker.start(&options).is_ok()
    };
    names(allowed).filter(|name| has_option && takes(name)).collect()
}

/// The names in a comma-separated list.
pub(crate) fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}
